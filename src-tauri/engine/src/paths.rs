//! Which directories a folder stands for: what `touchstone.yaml` says, else a well-known pair of subfolders, else the folder itself.
//! Also where our own files go. Writes nothing into the folder.
use crate::error::{AppError, Code};
use crate::results::open::reason;
use crate::results::roots::Roots;
use crate::results::suites;
use etcetera::BaseStrategy as _;
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_formats::workspace;

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

impl Resolved {
    /// Directories that were named by themselves go before those that were found.
    pub(crate) fn with(mut self, input: Option<&Path>, output: Option<&Path>) -> Result<Self, AppError> {
        if let Some(dir) = input {
            self.roots.input_dir = Some(readable(dir)?);
        }
        if let Some(dir) = output {
            self.roots.output_dir = readable(dir)?;
        }
        Ok(self)
    }
}

/// Finds the directories of a folder.
pub(crate) fn resolve(folder: &Path) -> Result<Resolved, AppError> {
    let folder = readable(folder)?;
    Ok(match fs::read_to_string(folder.join(WORKSPACE)) {
        Ok(text) => by_workspace(folder, &text),
        Err(_) => by_names(folder),
    })
}

/// The whole path of a folder that is there and can be listed.
fn readable(folder: &Path) -> Result<PathBuf, AppError> {
    let tried = |why: String| {
        AppError::new(Code::Failed, format!("{} could not be opened: {why}.", folder.display()))
            .hint("Choose a folder that exists and that you may read.")
    };
    let folder = fs::canonicalize(folder).map_err(|error| tried(reason(&error)))?;
    if !folder.is_dir() {
        return Err(tried("it is a file, not a folder".to_owned()));
    }
    fs::read_dir(&folder).map_err(|error| tried(reason(&error)))?;
    Ok(folder)
}

/// A workspace file that cannot be read is a problem to be shown; the names of the subfolders are the next best thing.
fn by_workspace(folder: PathBuf, text: &str) -> Resolved {
    let workspace = match workspace::read(text) {
        Ok(workspace) => workspace,
        Err(error) => {
            return Resolved { problem: Some(suites::problem(WORKSPACE.to_owned(), error)), ..by_names(folder) };
        }
    };
    let by_names = by_names(folder.clone());
    let dir = |name: &Option<String>| {
        let dir = folder.join(name.as_ref()?);
        Some(fs::canonicalize(&dir).unwrap_or(dir))
    };
    let roots = Roots {
        input_dir: dir(&workspace.input_dir).or(by_names.roots.input_dir),
        output_dir: dir(&workspace.output_dir).unwrap_or(by_names.roots.output_dir),
        models: workspace.models.into_iter().map(|model| model.name).collect(),
        folder,
    };
    Resolved { roots, problem: None }
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
