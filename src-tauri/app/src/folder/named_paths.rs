//! Decides how paths that a person names are shown: which folder is opened, and which of its files
//! the list is limited to. Writes nothing.
use crate::error::{AppError, Code};
use crate::paths;
use fs_err as fs;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use touchstone_formats::benchmark;
use touchstone_imports::format::HEAD_BYTES;
use touchstone_imports::{Detected, NoFolder, registry};
use touchstone_store::filter::typed;
use touchstone_store::open::{self, Refused, reason};
use touchstone_store::roots::{FileId, Root};
use touchstone_store::scan;

/// Maximum number of files that a filter names.
const MOST_FILES: usize = 64;
/// Maximum length of a filter in bytes; longer ones are refused by its parser.
const LONGEST_FILTER: usize = 8_000;

/// Path that a person named, without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// A folder.
    Folder(PathBuf),
    /// A file, and the file whose row shows it: the file itself, or that of the run it is a part of.
    File { named: PathBuf, shown: PathBuf },
}

impl Named {
    /// Returns the path that the list shows.
    pub(crate) fn display_path(&self) -> &Path {
        match self {
            Named::Folder(folder) => folder,
            Named::File { shown, .. } => shown,
        }
    }

    /// Returns the innermost folder that holds everything of this path.
    fn folder(&self) -> PathBuf {
        match self {
            Named::Folder(folder) => folder.clone(),
            Named::File { named, shown } => {
                let parent = |path: &Path| path.parent().unwrap_or(Path::new("/")).to_path_buf();
                common(parent(named), &parent(shown))
            }
        }
    }
}

/// Folder to open, and what to show of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Folder that holds all paths.
    pub(crate) folder: PathBuf,
    /// Files and folders below it that are shown; empty for everything.
    pub(crate) shown: Vec<Named>,
}

/// Returns the folder that holds all of these paths. Fails if there are none, or if it is the home
/// folder or above it and was not named itself: reading it whole would take very long.
pub(crate) fn plan(paths: Vec<Named>, home: Option<&Path>) -> Result<Opening, AppError> {
    let all = paths.iter().map(Named::folder).reduce(|all, folder| common(all, &folder));
    let Some(folder) = all else {
        let error = AppError::new(Code::BadRequest, "No path was named.");
        return Err(error.hint("Name a folder, or files with results."));
    };
    if paths.iter().any(|path| matches!(path, Named::Folder(named) if *named == folder)) {
        return Ok(Opening { folder, shown: Vec::new() });
    }
    let too_wide = folder.parent().is_none() || home.is_some_and(|home| home.starts_with(&folder));
    if too_wide {
        let message = match paths.as_slice() {
            [_] => format!(
                "The folder of this file is {}, which would be read whole.",
                folder.display()
            ),
            _ => format!("These paths have only {} in common.", folder.display()),
        };
        let hint = match paths.as_slice() {
            [_] => "Move the file to a folder of its own, then open it there.",
            _ => "Open them one at a time.",
        };
        return Err(AppError::new(Code::BadRequest, message).hint(hint));
    }
    Ok(Opening { folder, shown: paths })
}

/// Returns the filter that shows these paths of an output directory, which holds them all; empty for
/// everything.
pub(crate) fn filter(shown: &[Named], output_dir: &Path) -> Result<String, AppError> {
    let mut filter = String::new();
    let mut values: Vec<String> = Vec::new();
    for path in shown {
        let value = match path {
            Named::Folder(folder) => match below(folder, output_dir) {
                Some(path) if !path.is_empty() => format!("{}*", typed(&format!("{path}/"))),
                _ => return Ok(String::new()),
            },
            Named::File { shown, .. } => match below(shown, output_dir) {
                Some(path) => file_value(&path),
                None => return Ok(String::new()),
            },
        };
        if !values.contains(&value) {
            let _ = write!(filter, "{}{value}", if values.is_empty() { "file:" } else { "," });
            values.push(value);
        }
    }
    if values.len() > MOST_FILES || filter.len() > LONGEST_FILTER {
        let message = format!("{} paths are too many to show by themselves.", values.len());
        return Err(AppError::new(Code::BadRequest, message).hint("Open their folder instead."));
    }
    Ok(filter)
}

/// Returns the filter for the runs of a file, by its path below the output directory.
pub(crate) fn filter_of_file(path: &str) -> String {
    format!("file:{}", file_value(path))
}

fn file_value(path: &str) -> String {
    typed(&row_path(path))
}

/// Fails if one of these paths would be missing in the list of an output directory that holds them
/// all: by its name, or because it is too deep.
pub(crate) fn check_listed(
    paths: &[Named],
    output_dir: &Path,
    deepest: usize,
) -> Result<(), AppError> {
    let Some((path, why)) =
        paths.iter().find_map(|path| Some((path, unlisted(path, output_dir, deepest)?)))
    else {
        return Ok(());
    };
    let message = format!(
        "{} cannot be shown in {}: {why}.",
        path.display_path().display(),
        output_dir.display()
    );
    Err(AppError::new(Code::BadRequest, message).hint("Open it by itself."))
}

/// Returns why a path is missing in the list of an output directory that holds it; `None` if it is
/// listed there.
fn unlisted(path: &Named, output_dir: &Path, deepest: usize) -> Option<String> {
    let shown = path.display_path().strip_prefix(output_dir).ok()?;
    let file = FileId::new(Root::Output, shown.as_os_str().as_bytes());
    if scan::is_hidden(&file) {
        return Some("hidden and temporary files and folders are never listed there".to_owned());
    }
    let folders = match path {
        Named::Folder(_) => file.depth(),
        Named::File { .. } => file.depth().saturating_sub(1),
    };
    (folders > deepest).then(|| format!("it is more than {deepest} folders deep"))
}

/// Returns the path of the row that shows a file: the files of a run in a benchmark folder share one,
/// without ending.
fn row_path(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match benchmark::member(name) {
        Some((stem, _)) if folder.is_empty() => stem.to_owned(),
        Some((stem, _)) => format!("{folder}/{stem}"),
        None => path.to_owned(),
    }
}

fn below(path: &Path, folder: &Path) -> Option<String> {
    Some(path.strip_prefix(folder).ok()?.to_string_lossy().into_owned())
}

/// Returns the innermost folder above both paths.
fn common(one: PathBuf, other: &Path) -> PathBuf {
    one.ancestors().find(|above| other.starts_with(above)).map(Path::to_path_buf).unwrap_or(one)
}

/// Returns a path without links, with its kind. Fails with a sentence if it is not there or is
/// neither a file nor a folder.
pub(crate) fn named(path: &Path) -> Result<Named, AppError> {
    let refused = |why: &str| {
        let message = format!("{} could not be opened: {why}.", path.display());
        AppError::new(Code::NotFound, message)
    };
    let check = "Check the path, or open the folder around it.";
    let full = fs::canonicalize(path).map_err(|error| refused(&reason(&error)).hint(check))?;
    let meta = fs::metadata(&full).map_err(|error| refused(&reason(&error)).hint(check))?;
    if meta.is_dir() {
        return Ok(Named::Folder(full));
    }
    if !meta.is_file() {
        return Err(refused("it is neither a file nor a folder").hint(check));
    }
    let name = full.file_name().unwrap_or_default().as_bytes();
    if scan::is_hidden(&FileId::new(Root::Output, name)) {
        let hint = "Copy it under another name, such as run.json, then open the copy.";
        return Err(refused("hidden and temporary files are never read as results").hint(hint));
    }
    // A file that cannot be read would be listed as damaged, which says less than the reason.
    head(&full).map_err(|why| refused(&why.to_string()).hint("Make it readable for you."))?;
    let shown = run_of(&full).unwrap_or_else(|| full.clone());
    Ok(Named::File { named: full, shown })
}

/// Returns the file that stands for the run that a file is a part of, if that is another file.
fn run_of(file: &Path) -> Option<PathBuf> {
    let owner = PathBuf::from(registry::owner(file.to_str()?, &NoFolder)?);
    let start = head(&owner).ok()?;
    let (_, detected) = registry::detect(owner.to_str()?, &start)?;
    matches!(detected, Detected::Run | Detected::Runs).then_some(owner)
}

/// Reads the beginning of a regular file, without following a link and without waiting.
fn head(file: &Path) -> Result<Vec<u8>, Refused> {
    let folder = file.parent().unwrap_or(Path::new("/")).to_path_buf();
    let name = file.file_name().unwrap_or_default().as_bytes();
    let file = FileId::new(Root::Output, name);
    open::read_head(&paths::alone(folder), &file, HEAD_BYTES).map(|(start, _)| start)
}

/// Returns the folder to resolve for an opening: the one around it that has the tasks of these
/// results, or the folder itself.
pub(crate) fn folder_with_tasks(opening: &Opening) -> PathBuf {
    let with_tasks = match opening.shown.first() {
        Some(Named::File { shown, .. }) => paths::containing_folder(shown),
        _ => None,
    };
    with_tasks
        .filter(|folder| opening.folder.starts_with(folder))
        .unwrap_or_else(|| opening.folder.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Named {
        Named::File { named: path.into(), shown: path.into() }
    }

    fn folder(path: &str) -> Named {
        Named::Folder(path.into())
    }

    fn planned(paths: &[Named]) -> Result<(String, String), String> {
        let opening = plan(paths.to_vec(), Some(Path::new("/home/me")));
        let opening = opening.map_err(|error| error.message)?;
        let filter = filter(&opening.shown, &opening.folder).map_err(|error| error.message)?;
        Ok((opening.folder.display().to_string(), filter))
    }

    #[test]
    fn paths_open_the_folder_that_holds_them_and_a_filter_for_what_was_named() {
        for (paths, expected, filter) in [
            (vec![folder("/home/me")], "/home/me", ""),
            (vec![file("/w/logs/x.eval")], "/w/logs", "file:x.eval"),
            (
                vec![file("/w/logs/x.eval"), file("/w/logs/my y.eval"), file("/w/logs/x.eval")],
                "/w/logs",
                r#"file:x.eval,"my y.eval""#,
            ),
            (
                vec![file("/w/a/x.json"), folder("/w/b"), folder("/w/c d")],
                "/w",
                r#"file:a/x.json,b/*,"c d/"*"#,
            ),
            (vec![folder("/w"), file("/w/b/x.json")], "/w", ""),
            (vec![file("/w/a_1_run_1.history")], "/w", "file:a_1_run_1"),
            (vec![file("/w/x/a_1_run_1.result")], "/w/x", "file:a_1_run_1"),
        ] {
            let expected = Ok((expected.to_owned(), filter.to_owned()));
            assert_eq!(planned(&paths), expected, "{paths:?}");
        }
    }

    #[test]
    fn a_part_of_a_run_shows_the_run() {
        let part = Named::File {
            named: "/w/jobs/j/t__abcdefg/agent/trajectory.json".into(),
            shown: "/w/jobs/j/t__abcdefg/config.json".into(),
        };
        let expected = ("/w/jobs/j/t__abcdefg".to_owned(), "file:config.json".to_owned());
        assert_eq!(planned(&[part]), Ok(expected));
    }

    #[test]
    fn the_home_folder_is_read_whole_only_when_it_is_named() {
        for (paths, message) in [
            (vec![], "No path was named."),
            (
                vec![file("/home/me/x.eval")],
                "The folder of this file is /home/me, which would be read whole.",
            ),
            (
                vec![file("/home/me/x.eval"), file("/w/y.eval")],
                "These paths have only / in common.",
            ),
            (
                vec![folder("/home/me/a"), folder("/home/me/b")],
                "These paths have only /home/me in common.",
            ),
        ] {
            assert_eq!(planned(&paths), Err(message.to_owned()), "{paths:?}");
        }
        assert!(planned(&[file("/home/me/a/x.eval")]).is_ok());
        assert!(planned(&[folder("/")]).is_ok());
    }

    #[test]
    fn more_files_than_a_filter_takes_are_refused() {
        let many: Vec<Named> = (0..65).map(|at| file(&format!("/w/{at}.eval"))).collect();
        assert_eq!(planned(&many), Err("65 paths are too many to show by themselves.".to_owned()));
        assert!(planned(&many[..64]).is_ok());
        let long: Vec<Named> =
            (0..60).map(|at| file(&format!("/w/{}{at}", "x".repeat(200)))).collect();
        assert!(planned(&long).is_err());
    }

    #[test]
    fn a_path_that_the_list_would_miss_is_refused_with_the_reason() {
        for (path, why) in [
            (file("/w/a/b.eval"), None),
            (folder("/w/a"), None),
            (file("/w/.cache/b.eval"), Some("hidden and temporary")),
            (file("/w/a.tmp/b.eval"), Some("hidden and temporary")),
            (folder("/w/.cache"), Some("hidden and temporary")),
            (file("/w/a/b/c/d.eval"), Some("more than 2 folders deep")),
            (folder("/w/a/b/c"), Some("more than 2 folders deep")),
        ] {
            let checked = check_listed(&[file("/w/x.eval"), path.clone()], Path::new("/w"), 2);
            let message = checked.err().map(|error| error.message);
            match why {
                None => assert_eq!(message, None, "{path:?}"),
                Some(why) => assert!(message.is_some_and(|said| said.contains(why)), "{path:?}"),
            }
        }
    }

    #[test]
    fn every_filter_is_read_back_as_it_was_meant() {
        use touchstone_store::filter::Filter;
        for name in ["a,b.json", "a\"b", "a*b", "a\\", "-x", "a#b", " ", "état.json"] {
            let (_, typed) = planned(&[file(&format!("/w/{name}"))]).unwrap();
            let (filter, misread) = Filter::parse(&typed);
            assert!(misread.is_empty(), "{typed}");
            assert_eq!(filter.tokens.len(), 1, "{typed}");
            assert_eq!(filter.to_string(), typed);
        }
    }
}
