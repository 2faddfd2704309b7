//! Opening a folder for a command that ends: opened, waited for, and walked page by page.
use super::{Dirs, Where, terminal::one_line};
use crate::Surroundings;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};
use touchstone_api::{ListRequest, RunRow, Sort, Span};
use touchstone_app::{
    app::{App, SuiteTrouble},
    error::{AppError, Code},
};

/// How long a folder may take; a very large one on a slow disk.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);
/// Rows asked for at once.
const PAGE: u32 = 500;

/// What was named: a folder, with its two directories when they were named by themselves.
pub(super) struct Place {
    folder: PathBuf,
    dirs: Dirs,
}

impl From<PathBuf> for Place {
    fn from(folder: PathBuf) -> Self {
        Self { folder, dirs: Dirs::default() }
    }
}

/// The place that the arguments name, if they name one. A directory of transcripts alone is a
/// folder, too.
pub(super) fn chosen(folder: Option<PathBuf>, dirs: Dirs) -> Option<Place> {
    let folder = folder
        .or_else(|| dirs.output_dir.clone())
        .or_else(|| dirs.input_dir.as_ref().map(|_| ".".into()))?;
    Some(Place { folder, dirs })
}

/// Opens it.
pub(super) fn open(app: &App, place: &Place) -> Result<(), AppError> {
    app.open_with(&place.folder, place.dirs.input_dir.as_deref(), place.dirs.output_dir.as_deref())
}

/// An engine that has read the folder.
pub(super) fn ready(asked: Where, here: &Surroundings) -> Result<App, AppError> {
    read(&chosen(asked.folder, asked.dirs).unwrap_or_else(|| PathBuf::from(".").into()), here)
}

/// Tells of suites and of a workspace file that cannot be read: what is shown without them is not
/// all.
pub(super) fn tell_unread(app: &App) -> Result<(), AppError> {
    for line in app.suite_trouble("")?.unreadable {
        let _ = writeln!(io::stderr(), "{}", one_line(&line));
    }
    Ok(())
}

/// What is wrong with the suites of the runs that pass the filter, told before anything that is
/// counted by them.
pub(super) fn suite_trouble(app: &App, filter: &str) -> Result<SuiteTrouble, AppError> {
    let trouble = app.suite_trouble(filter)?;
    for line in &trouble.lines {
        let _ = writeln!(io::stderr(), "{}", one_line(line));
    }
    Ok(trouble)
}

/// Says no where scorers of suites are left out and those would have been counted by: nothing is
/// measured in their place.
pub(super) fn check_scorers(left_out: Option<String>) -> Result<(), AppError> {
    left_out.map_or(Ok(()), |why| {
        let error = AppError::new(Code::BadRequest, why);
        Err(error.hint("Correct the scorers of the suite, or name others here with --scorer."))
    })
}

/// The same for one place.
pub(super) fn read(place: &Place, here: &Surroundings) -> Result<App, AppError> {
    let app = here.engine();
    open(&app, place)?;
    app.wait_ready(PATIENCE)?;
    Ok(app)
}

/// Where a run lies that is named by its file, or, in a file that holds many, by the file, `#` and
/// what it is called there.
pub(super) fn located(file: &Path) -> io::Result<(PathBuf, Option<String>)> {
    let whole = std::fs::canonicalize(file);
    let text = file.to_str().unwrap_or_default();
    let one_of_many = || {
        text.match_indices('#').find_map(|(at, _)| {
            let full = std::fs::canonicalize(&text[..at]).ok().filter(|full| full.is_file())?;
            Some((full, Some(text[at + 1..].to_owned())))
        })
    };
    whole.map(|full| (full, None)).or_else(|error| one_of_many().ok_or(error))
}

/// The folder of a run that was located, and its path there.
pub(super) fn below(full: &Path, member: Option<&str>) -> Option<(PathBuf, String)> {
    let name = full.file_name()?.to_str()?;
    let name = member.map_or_else(|| name.to_owned(), |member| format!("{name}#{member}"));
    Some((full.parent()?.to_path_buf(), name))
}

/// The same where directories were named: the place is what they are, and the path is below the
/// directory of transcripts.
pub(super) fn within(full: &Path, member: Option<&str>, dirs: &Dirs) -> Option<(Place, String)> {
    let (folder, name) = below(full, member)?;
    let Some(output) = &dirs.output_dir else {
        let dirs =
            Dirs { output_dir: dirs.input_dir.as_ref().map(|_| folder.clone()), ..dirs.clone() };
        return Some((Place { folder, dirs }, name));
    };
    let path = folder.strip_prefix(std::fs::canonicalize(output).ok()?).ok()?.join(name);
    Some((Place { folder, dirs: dirs.clone() }, path.to_str()?.to_owned()))
}

/// Hands every run that passes the filter to `each`, at most `limit` of them; none when the filter
/// is invalid.
pub(super) fn each_run<E: From<AppError>>(
    app: &App,
    filter: &str,
    sort: Sort,
    limit: u64,
    mut each: impl FnMut(RunRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = 0;
    loop {
        let span = Span { offset: u32::try_from(seen).unwrap_or(u32::MAX), limit: PAGE };
        let page = app.list_runs(ListRequest { filter: filter.to_owned(), sort, span })?;
        let nothing = page.rows.is_empty();
        for row in page.rows {
            if seen == limit {
                return Ok(());
            }
            each(row)?;
            seen += 1;
        }
        if nothing || seen >= page.total.min(limit) {
            return Ok(());
        }
    }
}
