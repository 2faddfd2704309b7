//! Finds the input and output directories of a folder: from `touchstone.yaml`, else from a pair of
//! well-known subfolders, else the folder itself. Also decides where the program keeps its own
//! files. Writes nothing into the folder.
use crate::error::{AppError, Code};
use etcetera::BaseStrategy as _;
use fs_err as fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use touchstone_api::{Problem, ProblemKind};
use touchstone_formats::workspace;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_scoring::scorers;
use touchstone_store::filter::Labels;
use touchstone_store::open::{self, Refused, reason};
use touchstone_store::roots::{FileId, Root, Roots};
use touchstone_store::suites;

/// Names of input directories, in order of preference.
const INPUTS: [&str; 5] = ["tasks", "suites", "queries", "inputs", "input"];
/// Names of output directories, in order of preference.
pub(crate) const OUTPUTS: [&str; 4] = ["results", "outputs", "output", "transcripts"];
/// Name of the workspace file.
pub(crate) const WORKSPACE: &str = "touchstone.yaml";
/// Common misspelling of the workspace file's name.
const MISNAMED: &str = "touchstone.yml";
/// Maximum size of the workspace file in bytes; hand-written files are smaller.
const MAX_WORKSPACE: u64 = 1 << 20;

/// Returns the program's own cache and state directories.
pub(crate) fn own_dirs() -> (PathBuf, PathBuf) {
    let Ok(base) = etcetera::choose_base_strategy() else {
        let dir = std::env::temp_dir().join("touchstone");
        return (dir.join("cache"), dir.join("state"));
    };
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    (base.cache_dir().join("touchstone"), state.join("touchstone"))
}

/// The directories of a folder.
pub(crate) struct Resolved {
    pub(crate) roots: Roots,
}

impl Resolved {
    /// Replaces directories with those that were given explicitly. Fails if one of them cannot be
    /// listed.
    pub(crate) fn with(
        mut self,
        input: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<Self, AppError> {
        if let Some(dir) = input {
            self.roots.input_dir = Some(readable(dir)?);
        }
        if let Some(dir) = output {
            self.roots.output_dir = readable(dir)?;
        }
        Ok(self)
    }
}

/// Finds the directories of a folder. Fails if the folder cannot be listed.
pub(crate) fn resolve(folder: &Path) -> Result<Resolved, AppError> {
    let folder = readable(folder)?;
    Ok(match workspace(&folder) {
        Some(Ok(workspace)) => by_workspace(folder, workspace),
        // If touchstone.yaml cannot be read, the names of the subfolders are the best remaining
        // source.
        Some(Err(_)) | None => by_names(folder),
    })
}

/// Returns the nearest ancestor folder of a file that has an input directory and whose output
/// directory contains the file. The search ends at the first folder that belongs to another user.
pub(crate) fn containing_folder(file: &Path) -> Option<PathBuf> {
    let us = rustix::process::getuid().as_raw();
    let ours = |dir: &Path| dir.metadata().is_ok_and(|meta| meta.uid() == us);
    let holds = |dir: &&Path| {
        resolve(dir)
            .is_ok_and(|it| it.roots.input_dir.is_some() && file.starts_with(&it.roots.output_dir))
    };
    file.ancestors().skip(1).take_while(|dir| ours(dir)).find(holds).map(Path::to_path_buf)
}

/// Reads the workspace file of a folder. Returns `None` if there is no such file.
pub(crate) fn workspace(folder: &Path) -> Option<Result<workspace::Workspace, ReadError>> {
    Some(workspace_text(folder)?.and_then(|text| workspace::read(&text)))
}

/// Returns the text of the workspace file of a folder. Returns `None` if there is no such file.
pub(crate) fn workspace_text(folder: &Path) -> Option<Result<String, ReadError>> {
    // The content is trusted, but the path may still be a pipe, or a link to a file without an end.
    let file = FileId::new(Root::Output, WORKSPACE);
    match open::read(&alone(folder.to_owned()), &file, MAX_WORKSPACE) {
        Err(Refused::Gone) => None,
        Ok((bytes, _)) => Some(
            String::from_utf8(bytes)
                .map_err(|_| ReadError::new(ReadErrorKind::NotUtf8, "The file is not UTF-8 text.")),
        ),
        Err(why) => {
            let message = format!("The file is not read: {why}.");
            Some(Err(ReadError::new(ReadErrorKind::BadValue, message)))
        }
    }
}

/// Returns the problems of a folder's workspace file, in the order of the file.
pub(crate) fn workspace_problems(folder: &Path) -> Vec<Problem> {
    let of_file = |error| suites::problem(WORKSPACE.to_owned(), error);
    match workspace(folder) {
        None if fs::symlink_metadata(folder.join(MISNAMED)).is_ok_and(|meta| meta.is_file()) => {
            vec![Problem {
                kind: ProblemKind::SuiteWarning,
                file: MISNAMED.to_owned(),
                run: None,
                message: format!(
                    "This file is ignored, with its limits and models. Rename it to {WORKSPACE}."
                ),
                line: None,
                column: None,
                excerpt: None,
                advice: None,
            }]
        }
        None => Vec::new(),
        Some(Err(error)) => vec![of_file(error)],
        Some(Ok(workspace)) => {
            let of_queries =
                scorers::complaints(&workspace.query_scorers).into_iter().map(|complaint| {
                    Problem {
                        kind: if complaint.left_out {
                            ProblemKind::SuiteError
                        } else {
                            ProblemKind::SuiteWarning
                        },
                        file: WORKSPACE.to_owned(),
                        run: None,
                        message: complaint.message,
                        line: None,
                        column: None,
                        excerpt: None,
                        advice: None,
                    }
                });
            let labels = Labels::new(&workspace.labels);
            let of_labels = labels.rules().iter().filter_map(|rule| {
                let error = rule.error.as_ref()?;
                Some(Problem {
                    kind: ProblemKind::SuiteError,
                    file: WORKSPACE.to_owned(),
                    run: None,
                    message: format!("Label `{}`: {error}", rule.label.name),
                    line: None,
                    column: None,
                    excerpt: None,
                    advice: None,
                })
            });
            workspace.faults.into_iter().map(of_file).chain(of_queries).chain(of_labels).collect()
        }
    }
}

/// Returns size, inode and modification time of the workspace file, for detecting changes. Returns
/// `None` if there is no such file.
pub(crate) fn workspace_stamp(folder: &Path) -> Option<(u64, u64, i64, i64)> {
    let meta = fs::metadata(folder.join(WORKSPACE)).ok()?;
    Some((meta.size(), meta.ino(), meta.mtime(), meta.mtime_nsec()))
}

/// Returns the absolute path of a file or folder that need not exist, without `..`, and with links
/// resolved in the part that does exist.
pub(crate) fn absolute_path(folder: &Path) -> PathBuf {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = whole.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let Some((above, mut full)) = there else { return whole };
    for part in whole.strip_prefix(above).unwrap_or(Path::new("")).components() {
        if part == Component::ParentDir {
            full.pop();
        } else {
            full.push(part);
        }
    }
    full
}

/// Returns the canonical path of a folder. Fails if it does not exist or cannot be listed.
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

/// Takes the directories from the workspace file. The user wrote that file, which is why its
/// directories may be anywhere and may be links. Its output directory need not exist: it is created
/// with the first run.
fn by_workspace(folder: PathBuf, workspace: workspace::Workspace) -> Resolved {
    let by_names = by_names(folder.clone()).roots;
    let dir = |name: &Option<String>| {
        let dir = folder.join(name.as_ref()?);
        Some(fs::canonicalize(&dir).unwrap_or(dir))
    };
    let roots = Roots {
        input_dir: dir(&workspace.input_dir)
            .or(by_names.input_dir)
            .or_else(|| first_subfolder(&folder, &INPUTS)),
        output_dir: dir(&workspace.output_dir).unwrap_or(by_names.output_dir),
        models: workspace.models.into_iter().map(|model| model.name).collect(),
        folder,
    };
    Resolved { roots }
}

/// Finds the directories by their names. Since the user did not name them, links do not count: they
/// might lead anywhere.
fn by_names(folder: PathBuf) -> Resolved {
    let roots = match (first_subfolder(&folder, &INPUTS), first_subfolder(&folder, &OUTPUTS)) {
        (Some(input), Some(output)) => {
            Roots { input_dir: Some(input), output_dir: output, ..alone(folder) }
        }
        (None, Some(output)) if is_sole_output(&folder, &output) => {
            Roots { output_dir: output, ..alone(folder) }
        }
        _ => alone(folder),
    };
    Resolved { roots }
}

/// Returns the first existing subfolder with one of these names.
fn first_subfolder(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let is_dir = |dir: &PathBuf| fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir());
    names.iter().map(|name| folder.join(name)).find(is_dir)
}

/// Returns true if `output`, a subfolder with a well-known name for results, holds the program's
/// data about runs (`.touchstone`) and `folder` holds neither such data nor other runs. This
/// happens after a run in `output` was opened by its own path: opening `folder` then means the same
/// runs.
fn is_sole_output(folder: &Path, output: &Path) -> bool {
    let has_ours =
        |dir: &Path| fs::symlink_metadata(dir.join(".touchstone")).is_ok_and(|meta| meta.is_dir());
    let is_other = |entry: fs::DirEntry| {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let hidden = entry.file_name().as_bytes().starts_with(b".");
        !hidden && entry.path() != output && (is_dir || may_be_run(&entry.path()))
    };
    has_ours(output)
        && !has_ours(folder)
        && fs::read_dir(folder).is_ok_and(|all| !all.flatten().any(is_other))
}

/// Returns true if the file has an extension that transcripts can have.
fn may_be_run(path: &Path) -> bool {
    let ends = ["yaml", "yml", "json", "jsonl", "csv", "tsv", "history", "gz"];
    path.extension().is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Returns the directories of a folder of transcripts without tasks.
pub(crate) fn alone(folder: PathBuf) -> Roots {
    Roots { output_dir: folder.clone(), folder, ..Roots::default() }
}
