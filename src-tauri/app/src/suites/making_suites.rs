//! Makes a suite from the tasks of runs: each becomes a variation with its prompt and expected answer.
//! A suite never takes the place of a file.
use super::SuiteActions;
use super::suite_sources::{DROPPED, Source, Sources, bad, gather, shared};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::folder_id::roots_id;
use crate::saving::NewFile;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_api::{Clip, SuiteMade, SuitePlan, SuiteRequest};
use touchstone_formats::redact::DocumentRedactor;
use touchstone_formats::suite::write::{NewSuite, write};
use touchstone_store::roots::{FileId, Root};

/// Maximum characters of the beginning of a file.
const PREVIEW: usize = 4_000;
/// Maximum bytes of the name of a suite.
const LONGEST_NAME: usize = 100;

/// A suite with what is known of its tasks.
struct Draft {
    sources: Arc<Sources>,
    used: Vec<usize>,
    suite: NewSuite,
    notes: Vec<String>,
}

impl SuiteActions<'_> {
    /// Returns what a suite of the tasks of runs would hold. Nothing is written. Fails if another folder is
    /// open, because runs of it may have the same ids.
    pub fn plan_suite(
        self,
        folder: Option<&str>,
        request: &SuiteRequest,
    ) -> Result<SuitePlan, AppError> {
        let open = self.app.require_folder()?;
        check_folder(&open, folder)?;
        self.app.runs().check_filter_of_folder(&request.filter)?;
        let draft = draft(&open, request)?;
        let preview = if draft.used.is_empty() {
            None
        } else {
            let text = write(&draft.suite).map_err(bad)?;
            let cut = text.char_indices().nth(PREVIEW).map(|(end, _)| end);
            let shown = text.get(..cut.unwrap_or(text.len())).unwrap_or_default();
            Some(Clip { text: shown.to_owned(), cut: cut.is_some() })
        };
        let dir = open.flow.roots.input_dir.as_ref();
        Ok(SuitePlan {
            folder: dir.map(|dir| dir.to_string_lossy().into_owned()),
            runs: draft.sources.runs,
            used: draft.used.len() as u64,
            tasks: draft.sources.all.iter().map(|source| source.row.clone()).collect(),
            notes: draft.notes,
            preview,
        })
    }

    /// Writes a suite into the folder of suites. Fails if there is a file or task with its name, or if
    /// another folder is open.
    pub fn make_suite(
        self,
        folder: Option<&str>,
        request: &SuiteRequest,
    ) -> Result<SuiteMade, AppError> {
        let open = self.app.require_folder()?;
        open.check_writable()?;
        let place = new_suite(&open, folder, &request.name)?;
        let made = self.write_suite(request, &place.path)?;
        open.flow.look_at(&place.file);
        Ok(made)
    }

    /// Writes a suite to a path. Fails if there is something at the path, or it lies among the results.
    pub fn write_suite(self, request: &SuiteRequest, path: &Path) -> Result<SuiteMade, AppError> {
        self.app.runs().check_filter_of_folder(&request.filter)?;
        self.app.folder().refuse_among_results(path)?;
        let open = self.app.require_folder()?;
        let Draft { suite, used, notes, .. } = draft(&open, request)?;
        if used.is_empty() {
            let error = bad("None of these runs has a task whose prompt is known.".to_owned());
            return Err(error.hint("Select other runs, or other tasks."));
        }
        let text = write(&suite).map_err(bad)?;
        let mut file = NewFile::create(path)?;
        file.write(text.as_bytes())?;
        if !file.keep_if_free()? {
            let error = bad(format!("{} exists already.", path.display()));
            return Err(error
                .hint("Choose another name. Suites are never replaced, as runs refer to them."));
        }
        Ok(SuiteMade {
            file: path.to_string_lossy().into_owned(),
            task: path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default(),
            variations: used.len() as u64,
            notes,
        })
    }
}

/// Fails if a request is about another folder than the open one.
fn check_folder(open: &OpenFolder, folder: Option<&str>) -> Result<(), AppError> {
    if folder.is_none_or(|folder| folder == roots_id(&open.flow.roots)) {
        return Ok(());
    }
    let message = "The suite was not made: another folder is open now.";
    Err(AppError::new(Code::Gone, message).hint("Open the folder again."))
}

/// Place of a new suite in the folder of suites.
pub(super) struct NewSuitePlace {
    pub(super) path: PathBuf,
    pub(super) file: FileId,
    /// Task of the suite.
    pub(super) task: String,
}

/// Returns the place of a new suite. Fails if there is a task with its name, if it is not a name, or
/// if another folder than `folder` is open.
pub(super) fn new_suite(
    open: &OpenFolder,
    folder: Option<&str>,
    name: &str,
) -> Result<NewSuitePlace, AppError> {
    check_folder(open, folder)?;
    let Some(dir) = &open.flow.roots.input_dir else {
        let message = "This folder has no folder of suites.";
        return Err(AppError::new(Code::BadRequest, message)
            .hint("Create the folder `tasks`, or name one as `input_dir` in touchstone.yaml."));
    };
    let name = name.trim();
    if let Some(wrong) = wrong_name(name) {
        return Err(bad(wrong.to_owned()));
    }
    if open.flow.shelf.tasks().get(name).is_some() {
        return Err(bad(format!("There is a task named `{name}`.")).hint("Choose another name."));
    }
    let file = format!("{name}.yaml");
    Ok(NewSuitePlace {
        path: dir.join(&file),
        file: FileId::new(Root::Input, file),
        task: name.to_owned(),
    })
}

/// Returns what is wrong with the name of a suite, which becomes the name of a file and of its runs.
fn wrong_name(name: &str) -> Option<&'static str> {
    let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.' | ' ');
    if name.is_empty() {
        return Some("Write a name.");
    }
    if name.len() > LONGEST_NAME {
        return Some("The name is longer than 100 bytes. Shorten it.");
    }
    (name.starts_with('.') || !name.chars().all(is_plain)).then_some(
        "A name has letters, digits, spaces, `-`, `_` and `.`, and does not begin with a dot.",
    )
}

fn draft(open: &OpenFolder, request: &SuiteRequest) -> Result<Draft, AppError> {
    let gathered = gather(open, request)?;
    let (sources, mut notes) = (&gathered.all, gathered.notes.clone());
    let wanted: Option<HashSet<&str>> =
        request.tasks.as_ref().map(|keys| keys.iter().map(String::as_str).collect());
    let is_used =
        |source: &Source| wanted.as_ref().is_none_or(|keys| keys.contains(source.row.key.as_str()));
    let used: Vec<usize> = sources
        .iter()
        .enumerate()
        .filter(|(_, source)| is_used(source))
        .map(|(at, _)| at)
        .collect();
    let chosen: Vec<&Source> = used.iter().filter_map(|at| sources.get(*at)).collect();
    let queries = chosen.iter().filter(|source| source.is_query).count();
    if queries > 0 {
        notes.push(format!(
            "From StableToolBench: {queries} of {} tasks. Their APIs are not part of the suite.",
            chosen.len()
        ));
    }
    for key in DROPPED {
        let count = chosen.iter().filter(|source| source.dropped.contains(&key)).count();
        if count > 0 {
            notes.push(format!(
                "`{key}` is not part of the suite, but of {count} of {} tasks. Add it by hand where it is needed.",
                chosen.len()
            ));
        }
    }
    let without = chosen.iter().filter(|source| !source.row.has_expected).count();
    if without > 0 {
        notes.push(format!(
            "Without an expected answer: {without} of {} tasks. Their answers have nothing to be compared with.",
            chosen.len()
        ));
    }
    let mut suite = NewSuite {
        name: request.name.trim().to_owned(),
        description: String::new(),
        shared: shared(&chosen, &mut notes),
        variations: chosen.iter().map(|source| source.variation.clone()).collect(),
    };
    if request.redact {
        let mut redactor = DocumentRedactor::default();
        let written = suite.shared.clone();
        redactor.document(&mut suite, |redactor, suite| {
            suite.shared.iter_mut().for_each(|(_, value)| redactor.value(value));
            for one in &mut suite.variations {
                redactor.text(&mut one.name);
                let is_shared = one.promptql == one.tool_calling;
                redactor.text(&mut one.tool_calling);
                // A prompt for all systems counts once.
                if is_shared {
                    one.promptql.clone_from(&one.tool_calling);
                } else {
                    redactor.text(&mut one.promptql);
                }
                one.expected.iter_mut().for_each(|value| redactor.value(value));
            }
        });
        notes.push(redactor.counts().describe());
        for ((key, value), (_, before)) in suite.shared.iter().zip(&written) {
            if value != before {
                notes.push(format!(
                    "Redacted in `{key}`. Correct it in the file before it is used."
                ));
            }
        }
    }
    Ok(Draft { sources: gathered, used, suite, notes })
}
