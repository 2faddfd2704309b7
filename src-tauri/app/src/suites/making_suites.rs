//! Makes suites from the tasks of runs: each becomes a variation with its prompt and expected answer.
//! Tasks that differ in what a suite says once, such as `scorers`, become several suites, so that each
//! is scored as in its own. A suite never takes the place of a file.
use super::SuiteActions;
use super::suite_sources::{DROPPED, Source, Sources, bad, differing, gather, groups};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::folder_id::roots_id;
use crate::saving::NewFile;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_api::{Clip, PlannedSuite, SuiteFile, SuiteMade, SuitePlan, SuiteRequest};
use touchstone_formats::redact::DocumentRedactor;
use touchstone_formats::suite::write::{NewSuite, write};
use touchstone_store::roots::{FileId, Root};

/// Maximum characters of the beginning of a file.
const PREVIEW: usize = 4_000;
/// Maximum bytes of the name of a suite.
const LONGEST_NAME: usize = 100;
/// Maximum bytes that the name of a task adds to the name of a suite.
const LONGEST_SUFFIX: usize = 40;

/// Suites with what is known of their tasks.
struct Draft {
    sources: Arc<Sources>,
    used: u64,
    suites: Vec<DraftSuite>,
    notes: Vec<String>,
}

/// A suite of several or the only one.
struct DraftSuite {
    /// What its name has behind the name of the request; empty for the only one.
    suffix: String,
    suite: NewSuite,
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
        let dir = open.flow.roots.input_dir.as_ref();
        Ok(SuitePlan {
            folder: dir.map(|dir| dir.to_string_lossy().into_owned()),
            runs: draft.sources.runs,
            used: draft.used,
            tasks: draft.sources.all.iter().map(|source| source.row.clone()).collect(),
            preview: preview(&draft.suites)?,
            files: draft
                .suites
                .iter()
                .map(|one| PlannedSuite {
                    suffix: one.suffix.clone(),
                    variations: one.suite.variations.len() as u64,
                })
                .collect(),
            notes: draft.notes,
        })
    }

    /// Writes suites into the folder of suites. Fails if there is a file or task with the name of one,
    /// or if another folder is open.
    pub fn make_suite(
        self,
        folder: Option<&str>,
        request: &SuiteRequest,
    ) -> Result<SuiteMade, AppError> {
        let open = self.app.require_folder()?;
        open.check_writable()?;
        check_folder(&open, folder)?;
        let name = request.name.trim();
        if let Some(wrong) = wrong_name(name) {
            return Err(bad(wrong.to_owned()));
        }
        let draft = self.usable_draft(&open, request)?;
        let places = draft
            .suites
            .iter()
            .map(|one| new_suite(&open, folder, &format!("{name}{}", one.suffix)));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
        let made = self.write_draft(draft, &paths)?;
        for place in &places {
            open.flow.look_at(&place.file);
        }
        Ok(made)
    }

    /// Writes suites to a path, or to paths beside it if the tasks differ in keys that a suite has
    /// once. Fails if there is something at one of them, or they lie among the results.
    pub fn write_suite(self, request: &SuiteRequest, path: &Path) -> Result<SuiteMade, AppError> {
        let open = self.app.require_folder()?;
        let draft = self.usable_draft(&open, request)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let end = path.extension().map(|end| format!(".{}", end.to_string_lossy()));
        let end = end.unwrap_or_default();
        let beside = |one: &DraftSuite| match one.suffix.as_str() {
            "" => path.to_owned(),
            suffix => path.with_file_name(format!("{stem}{suffix}{end}")),
        };
        let paths: Vec<PathBuf> = draft.suites.iter().map(beside).collect();
        self.write_draft(draft, &paths)
    }

    /// Returns the suites of a request. Fails if there is none.
    fn usable_draft(self, open: &OpenFolder, request: &SuiteRequest) -> Result<Draft, AppError> {
        self.app.runs().check_filter_of_folder(&request.filter)?;
        let draft = draft(open, request)?;
        if draft.suites.is_empty() {
            let error = bad("None of these runs has a task whose prompt is known.".to_owned());
            return Err(error.hint("Select other runs, or other tasks."));
        }
        Ok(draft)
    }

    /// Writes each suite to its path. None is written if there is something at one of them.
    fn write_draft(self, draft: Draft, paths: &[PathBuf]) -> Result<SuiteMade, AppError> {
        let mut complete = Vec::new();
        for (one, path) in draft.suites.iter().zip(paths) {
            self.app.folder().refuse_among_results(path)?;
            if path.symlink_metadata().is_ok() {
                return Err(exists_already(path));
            }
            let mut file = NewFile::create(path)?;
            file.write(write(&one.suite).map_err(bad)?.as_bytes())?;
            complete.push((file, path, one));
        }
        let mut files = Vec::new();
        for (at, (file, path, one)) in complete.into_iter().enumerate() {
            let kept = file.keep_if_free();
            if !matches!(kept, Ok(true)) {
                // All are written or none. Those before it are this call's own.
                for before in &paths[..at] {
                    let _ = fs_err::remove_file(before);
                }
                return Err(kept.err().unwrap_or_else(|| exists_already(path)));
            }
            files.push(SuiteFile {
                file: path.to_string_lossy().into_owned(),
                task: path
                    .file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned())
                    .unwrap_or_default(),
                variations: one.suite.variations.len() as u64,
            });
        }
        Ok(SuiteMade { files, notes: draft.notes })
    }
}

/// Returns the error of a path that is taken.
fn exists_already(path: &Path) -> AppError {
    bad(format!("{} exists already.", path.display()))
        .hint("Choose another name. Suites are never replaced, as runs refer to them.")
}

/// Returns the beginning of the files, which begin with their names if there are several. `None`
/// without files.
fn preview(suites: &[DraftSuite]) -> Result<Option<Clip>, AppError> {
    let mut texts = Vec::new();
    for one in suites {
        let text = write(&one.suite).map_err(bad)?;
        texts.push(if suites.len() > 1 {
            format!("# NAME{}.yaml\n{text}", one.suffix)
        } else {
            text
        });
    }
    let text = texts.join("\n");
    let cut = text.char_indices().nth(PREVIEW).map(|(end, _)| end);
    let shown = text.get(..cut.unwrap_or(text.len())).unwrap_or_default();
    Ok((!suites.is_empty()).then(|| Clip { text: shown.to_owned(), cut: cut.is_some() }))
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
    let mut notes = gathered.notes.clone();
    let wanted: Option<HashSet<&str>> =
        request.tasks.as_ref().map(|keys| keys.iter().map(String::as_str).collect());
    let is_used = |source: &&Source| {
        wanted.as_ref().is_none_or(|keys| keys.contains(source.row.key.as_str()))
    };
    let chosen: Vec<&Source> = gathered.all.iter().filter(is_used).collect();
    let groups = groups(&chosen);
    let mut suites: Vec<DraftSuite> = groups
        .iter()
        .map(|group| DraftSuite {
            suffix: if groups.len() > 1 { group.first_task().to_owned() } else { String::new() },
            suite: NewSuite {
                shared: group.shared(),
                variations: group.sources.iter().map(|source| source.variation.clone()).collect(),
                ..NewSuite::default()
            },
        })
        .collect();
    describe_kept(&chosen, &suites, &mut notes);
    describe_losses(&chosen, &mut notes);
    if request.redact {
        redact(&mut suites, &mut notes);
    }
    name_suites(&mut suites, request.name.trim());
    let used = chosen.len() as u64;
    Ok(Draft { sources: Arc::clone(&gathered), used, suites, notes })
}

/// Makes the suffixes, which are names of tasks, endings of file names that are all different, and
/// names the suites.
fn name_suites(suites: &mut [DraftSuite], name: &str) {
    let plain = |char: char| if char.is_alphanumeric() || "_.".contains(char) { char } else { '-' };
    let mut suffixes = HashSet::new();
    for one in suites {
        if !one.suffix.is_empty() {
            let end = one.suffix.floor_char_boundary(LONGEST_SUFFIX);
            let task: String = one.suffix[..end].chars().map(plain).collect();
            let task = task.trim_matches('-');
            one.suffix = format!("-{task}");
            let mut number = 2;
            while !suffixes.insert(one.suffix.to_lowercase()) {
                one.suffix = format!("-{task}-{number}");
                number += 1;
            }
        }
        one.suite.name = format!("{name}{}", one.suffix);
    }
}

/// Says which keys of the tasks are kept, and why there are several suites.
fn describe_kept(chosen: &[&Source], suites: &[DraftSuite], notes: &mut Vec<String>) {
    let listed = |keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        match keys.as_slice() {
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            all => all.join(""),
        }
    };
    if suites.len() > 1 {
        notes.push(format!(
            "The tasks differ in {}, which a suite has once: they become {} files, so that each task \
             is scored and run as in its own suite.",
            listed(&differing(chosen)),
            suites.len()
        ));
    }
    let mut kept: Vec<&str> = Vec::new();
    for (key, _) in suites.iter().flat_map(|one| &one.suite.shared) {
        if !kept.contains(key) {
            kept.push(key);
        }
    }
    if !kept.is_empty() {
        notes.push(format!("Kept from the tasks: {}.", listed(&kept)));
    }
}

/// Says what suites of these tasks do not hold.
fn describe_losses(chosen: &[&Source], notes: &mut Vec<String>) {
    let queries = chosen.iter().filter(|source| source.is_query).count();
    if queries > 0 {
        notes.push(format!(
            "From StableToolBench: {queries} of {} tasks. Their APIs, and the calls that are expected of \
             them, are not part of the suite.",
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
}

/// Redacts the texts of suites, and says what was found.
fn redact(suites: &mut [DraftSuite], notes: &mut Vec<String>) {
    let mut redactor = DocumentRedactor::default();
    let written: Vec<_> = suites.iter().map(|one| one.suite.shared.clone()).collect();
    redactor.document(suites, |redactor, suites| {
        for DraftSuite { suite, suffix } in suites {
            redactor.text(suffix);
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
        }
    });
    notes.push(redactor.counts().describe());
    let now = suites.iter().flat_map(|one| &one.suite.shared);
    for ((key, value), (_, before)) in now.zip(written.iter().flatten()) {
        let note = format!("Redacted in `{key}`. Correct it in the file before it is used.");
        if value != before && !notes.contains(&note) {
            notes.push(note);
        }
    }
}
