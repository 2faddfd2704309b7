//! Which directories a folder stands for: what `touchstone.yaml` says, else a well-known pair of subfolders, else the folder itself.
//! Also where our own files go. Writes nothing into the folder.
use crate::error::{AppError, Code};
use crate::results::roots::Roots;
use etcetera::BaseStrategy as _;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Names of input directories, best first.
const INPUTS: [&str; 5] = ["tasks", "suites", "queries", "inputs", "input"];
/// Names of output directories, best first.
const OUTPUTS: [&str; 4] = ["results", "outputs", "output", "transcripts"];
/// The workspace file.
pub(crate) const WORKSPACE: &str = "touchstone.yaml";

/// Where the program keeps its own files: cache and state.
pub(crate) fn own_dirs() -> (PathBuf, PathBuf) {
    let Ok(base) = etcetera::choose_base_strategy() else {
        let dir = std::env::temp_dir().join("touchstone");
        return (dir.join("cache"), dir.join("state"));
    };
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    (base.cache_dir().join("touchstone"), state.join("touchstone"))
}

/// A folder, resolved, with what the person should know about how it was.
pub(crate) struct Resolved {
    pub(crate) roots: Roots,
    /// What is wrong with the workspace file.
    pub(crate) problem: Option<crate::rows::Problem>,
}

/// Finds the directories of a folder.
pub(crate) fn resolve(folder: &Path) -> Result<Resolved, AppError> {
    let tried = |why: String| {
        AppError::new(Code::Failed, format!("{} could not be opened: {why}.", folder.display()))
            .hint("Choose a folder that exists and that you may read.")
    };
    let folder = fs::canonicalize(folder).map_err(|error| tried(reason(&error)))?;
    if !folder.is_dir() {
        return Err(tried("it is a file, not a folder".to_owned()));
    }
    fs::read_dir(&folder).map_err(|error| tried(reason(&error)))?;
    Ok(by_names(folder))
}

fn by_names(folder: PathBuf) -> Resolved {
    let find = |names: &[&str]| names.iter().map(|name| folder.join(name)).find(|dir| dir.is_dir());
    let roots = match (find(&INPUTS), find(&OUTPUTS)) {
        (Some(input), Some(output)) => Roots {
            input_dir: Some(fs::canonicalize(&input).unwrap_or(input)),
            output_dir: fs::canonicalize(&output).unwrap_or(output),
            folder,
            models: Vec::new(),
        },
        _ => Roots { input_dir: None, output_dir: folder.clone(), folder, models: Vec::new() },
    };
    Resolved { roots, problem: None }
}

/// What the system says, without the path that fs-err adds.
pub(crate) fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "it is not there".to_owned(),
        ErrorKind::PermissionDenied => "reading it is not permitted".to_owned(),
        _ => error.to_string(),
    }
}
