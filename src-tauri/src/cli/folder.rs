//! Opens a folder for a command: waits until its index is ready, and iterates over its runs page by
//! page.
use super::{DirArgs, FolderArgs, terminal::one_line};
use crate::Environment;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use touchstone_api::{ListRequest, RunRow, Sort, Span};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::folder::{SuiteProblems, buckets};

/// Maximum time to wait for a folder to be read, sized for a very large one on a slow disk.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);
/// Number of rows per request.
const PAGE: u32 = 500;
/// Maximum number of unreadable suites that are listed; further ones are only counted.
const SHOWN: usize = 20;

/// Location given on the command line: a folder, or its task and transcript directories.
pub(super) struct FolderLocation {
    folder: PathBuf,
    dirs: DirArgs,
}

impl From<PathBuf> for FolderLocation {
    fn from(folder: PathBuf) -> Self {
        Self { folder, dirs: DirArgs::default() }
    }
}

/// Returns the location that the arguments name, if any. A transcript directory by itself counts as
/// a folder.
pub(super) fn chosen(folder: Option<PathBuf>, dirs: DirArgs) -> Option<FolderLocation> {
    let folder = folder
        .or_else(|| dirs.output_dir.clone())
        .or_else(|| dirs.input_dir.as_ref().map(|_| ".".into()))?;
    Some(FolderLocation { folder, dirs })
}

/// Opens a folder, without waiting for its index.
pub(super) fn open(app: &App, place: &FolderLocation) -> Result<(), AppError> {
    app.folder().open_with(
        &place.folder,
        place.dirs.input_dir.as_deref(),
        place.dirs.output_dir.as_deref(),
    )
}

/// Returns an engine that has read the folder of the arguments, or the current one.
pub(super) fn ready(asked: FolderArgs, here: &Environment) -> Result<App, AppError> {
    read(&chosen(asked.folder, asked.dirs).unwrap_or_else(|| PathBuf::from(".").into()), here)
}

/// Prints the suites and the workspace file that could not be read, since the output is incomplete
/// without them. Returns all problems of the suites.
pub(super) fn tell_unread(app: &App) -> Result<SuiteProblems, AppError> {
    let trouble = app.folder().suite_trouble("")?;
    for line in trouble.unreadable.iter().take(SHOWN) {
        let _ = writeln!(io::stderr(), "{}", one_line(line));
    }
    let more = trouble.unreadable.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(io::stderr(), "And {more} more that could not be read.");
    }
    Ok(trouble)
}

/// Returns the problems of the suites of the runs that match the filter, and prints them. Called
/// before anything is counted by these suites.
pub(super) fn suite_trouble(app: &App, filter: &str) -> Result<SuiteProblems, AppError> {
    let trouble = app.folder().suite_trouble(filter)?;
    for line in &trouble.lines {
        let _ = writeln!(io::stderr(), "{}", one_line(line));
    }
    Ok(trouble)
}

/// Fails if scorers of suites are left out that would have been used for counting. Nothing else is
/// measured in their place.
pub(super) fn check_scorers(left_out: Option<String>) -> Result<(), AppError> {
    left_out.map_or(Ok(()), |why| {
        let error = AppError::new(Code::BadRequest, why);
        Err(error.hint("Correct the scorers of the suite, or name others here with --scorer."))
    })
}

/// Returns an engine that has read the folder of `place`.
pub(super) fn read(place: &FolderLocation, here: &Environment) -> Result<App, AppError> {
    let app = here.engine();
    match buckets::address_of(&place.folder) {
        Some(address) if place.dirs.input_dir.is_none() && place.dirs.output_dir.is_none() => {
            open_whole_bucket(&app, address)?;
        }
        _ => open(&app, place)?,
    }
    app.folder().wait_ready(PATIENCE)?;
    Ok(app)
}

/// Opens a bucket once all of it is copied, with progress on standard error.
fn open_whole_bucket(app: &App, address: &str) -> Result<(), AppError> {
    let mut told = Instant::now();
    app.folder().open_whole_bucket(address, |now| {
        if told.elapsed() < buckets::PROGRESS {
            return;
        }
        told = Instant::now();
        if now.elsewhere {
            let _ =
                writeln!(io::stderr(), "Waiting until another Touchstone has checked the bucket.");
            return;
        }
        let more = if now.listing { " or more" } else { "" };
        let why = now.problem.as_deref().map_or_else(String::new, |why| format!(" {why}"));
        let line = format!("Copying {} of {}{more} objects.{why}", now.copied, now.total);
        let _ = writeln!(io::stderr(), "{}", one_line(&line));
    })?;
    let (count, what) = match app.folder().objects_not_copied() {
        0 => return Ok(()),
        1 => ("1".to_owned(), "object of the bucket was not copied, so it is not counted"),
        n => (n.to_string(), "objects of the bucket were not copied, so they are not counted"),
    };
    let _ = writeln!(io::stderr(), "{count} {what}. `touchstone open` lists them under Problems.");
    Ok(())
}

/// Fails for a file in a bucket, which is only read.
pub(super) fn refuse_bucket(file: &Path) -> Result<(), AppError> {
    let folder = buckets::address_of(file).and_then(|_| file.parent()?.to_str());
    folder.map_or(Ok(()), |folder| Err(buckets::read_only_text(folder)))
}

/// Resolves the file of a run. A run inside a file that holds many is written as the file, `#` and
/// its name there.
pub(super) fn located(file: &Path) -> io::Result<(PathBuf, Option<String>)> {
    if let Some(address) = buckets::address_of(file) {
        let (path, member) = address.split_once('#').unzip();
        return Ok((path.unwrap_or(address).into(), member.map(str::to_owned)));
    }
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

/// Splits a located run into its directory and its path there.
pub(super) fn below(full: &Path, member: Option<&str>) -> Option<(PathBuf, String)> {
    let name = full.file_name()?.to_str()?;
    let name = member.map_or_else(|| name.to_owned(), |member| format!("{name}#{member}"));
    Some((full.parent()?.to_path_buf(), name))
}

/// Like `below`, for directories given by options: the place holds these, and the path is relative
/// to the transcript directory. `None` if the run is not inside it.
pub(super) fn within(
    full: &Path,
    member: Option<&str>,
    dirs: &DirArgs,
) -> Option<(FolderLocation, String)> {
    let (folder, name) = below(full, member)?;
    let Some(output) = &dirs.output_dir else {
        let dirs =
            DirArgs { output_dir: dirs.input_dir.as_ref().map(|_| folder.clone()), ..dirs.clone() };
        return Some((FolderLocation { folder, dirs }, name));
    };
    let path = folder.strip_prefix(std::fs::canonicalize(output).ok()?).ok()?.join(name);
    Some((FolderLocation { folder, dirs: dirs.clone() }, path.to_str()?.to_owned()))
}

/// Calls `each` for every run that matches the filter, at most `limit` times; never for an invalid
/// filter.
pub(super) fn each_run<E: From<AppError>>(
    app: &App,
    filter: &str,
    sort: &Sort,
    limit: u64,
    mut each: impl FnMut(RunRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = 0;
    loop {
        let span = Span { offset: u32::try_from(seen).unwrap_or(u32::MAX), limit: PAGE };
        let page = app.runs().list_runs(ListRequest {
            filter: filter.to_owned(),
            sort: sort.clone(),
            span,
        })?;
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
