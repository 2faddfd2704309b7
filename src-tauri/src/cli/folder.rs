//! Opening a folder for a command that ends: opened, waited for, and walked page by page.
use super::{Dirs, Where};
use crate::Surroundings;
use std::{path::PathBuf, time::Duration};
use touchstone_engine::{
    app::App,
    error::AppError,
    rows::{ListRequest, Misread, RunRow, Sort, Span},
};

/// How long a folder may take; a very large one on a slow disk.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);
/// Rows asked for at once.
const PAGE: u32 = 500;

/// What was named: a folder, or its two directories by themselves.
pub(super) struct Place {
    folder: PathBuf,
}

/// The place that the arguments name, if they name one.
pub(super) fn chosen(folder: Option<PathBuf>, dirs: Dirs) -> Option<Place> {
    dirs.output_dir.or(folder).or(dirs.input_dir).map(|folder| Place { folder })
}

/// Opens it.
pub(super) fn open(app: &App, place: &Place) -> Result<(), AppError> {
    app.open(&place.folder)
}

/// An engine that has read the folder.
pub(super) fn ready(asked: &Where, here: &Surroundings) -> Result<App, AppError> {
    let dirs = Dirs { input_dir: asked.dirs.input_dir.clone(), output_dir: asked.dirs.output_dir.clone() };
    let place = chosen(asked.folder.clone(), dirs).unwrap_or(Place { folder: ".".into() });
    read(&place, here)
}

/// The same for one path.
pub(super) fn read(place: &Place, here: &Surroundings) -> Result<App, AppError> {
    let app = here.engine();
    open(&app, place)?;
    app.wait_ready(PATIENCE)?;
    Ok(app)
}

impl From<PathBuf> for Place {
    fn from(folder: PathBuf) -> Self {
        Self { folder }
    }
}

/// Hands every run that passes the filter to `each`, at most `limit` of them; returns what of the filter was not understood.
pub(super) fn each_run<E: From<AppError>>(
    app: &App,
    filter: &str,
    sort: Sort,
    limit: u64,
    mut each: impl FnMut(RunRow) -> Result<(), E>,
) -> Result<Vec<Misread>, E> {
    let mut seen = 0;
    loop {
        let span = Span { offset: u32::try_from(seen).unwrap_or(u32::MAX), limit: PAGE };
        let page = app.list_runs(ListRequest { filter: filter.to_owned(), sort, span })?;
        let nothing = page.rows.is_empty();
        for row in page.rows {
            if seen == limit {
                return Ok(page.misread);
            }
            each(row)?;
            seen += 1;
        }
        if nothing || seen >= page.total.min(limit) {
            return Ok(page.misread);
        }
    }
}
