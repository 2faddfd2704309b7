//! Makes a suite from the tasks of runs: each becomes a variation with its prompt and expected answer.
//! A suite never takes the place of a file.
use super::SuiteActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::folder_id::roots_id;
use crate::judging::judged_runs::passing;
use crate::saving::NewFile;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_api::{Clip, RunRow, SuiteMade, SuitePlan, SuiteRequest, SuiteTask};
use touchstone_formats::redact::DocumentRedactor;
use touchstone_formats::suite;
use touchstone_formats::suite::write::{NewSuite, NewVariation, write};
use touchstone_formats::value::Value;
use touchstone_store::imports;
use touchstone_store::query::row_by_key;
use touchstone_store::roots::{FileId, Root};
use touchstone_store::suites::Tasks;

/// Maximum number of tasks of a suite.
const MOST: usize = 1_000;
/// Maximum characters of the beginning of a prompt, and of the file.
const LINE: usize = 200;
const PREVIEW: usize = 4_000;
/// Keys of a task that change its runs and that a suite of several tasks cannot hold.
const DROPPED: [&str; 4] =
    ["tool_calling_python_prompt", "oracle_prompt", "oracle_system_prompt", "repeat"];
/// Maximum bytes of the name of a suite.
const LONGEST_NAME: usize = 100;

/// A task of runs that can be part of a suite.
struct Source {
    row: SuiteTask,
    variation: NewVariation,
    shared: Vec<(&'static str, Option<Value>)>,
    is_query: bool,
    /// Keys of the task that the suite cannot hold.
    dropped: Vec<&'static str>,
}

/// Tasks of runs, from which suites can be made.
struct Sources {
    /// Number of the runs.
    runs: u64,
    all: Vec<Source>,
    notes: Vec<String>,
}

/// Tasks that were last gathered, with what they depend on.
#[derive(Default)]
pub(crate) struct LastSources(Mutex<Option<(SourcesKey, Arc<Sources>)>>);

/// What the tasks of runs depend on.
struct SourcesKey {
    generation: u64,
    labels: u64,
    tasks: Arc<Tasks>,
    runs: Vec<String>,
    filter: String,
}

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

fn bad(message: String) -> AppError {
    AppError::new(Code::BadRequest, message)
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

/// Returns the tasks of the runs of a request. They are remembered, because transcripts are read for
/// them, and the page plans again with each choice.
fn gather(open: &OpenFolder, request: &SuiteRequest) -> Result<Arc<Sources>, AppError> {
    let key = SourcesKey {
        generation: open.ask(|index| Ok(index.generation()))?,
        labels: open.lists.labels().hash(),
        tasks: open.flow.shelf.tasks(),
        runs: request.runs.clone(),
        filter: request.filter.clone(),
    };
    let last = || open.suite_sources.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = last().as_ref().filter(|(known, _)| known.is_like(&key)) {
        return Ok(Arc::clone(known));
    }
    let rows: Vec<RunRow> = if request.runs.is_empty() {
        passing(open, &request.filter)?
    } else {
        let rows = request.runs.iter().map(|id| open.ask(|index| row_by_key(index, id)));
        rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
    };
    let mut notes = Vec::new();
    let all = sources(open, &rows, &mut notes)?;
    let gathered = Arc::new(Sources { runs: rows.len() as u64, all, notes });
    *last() = Some((key, Arc::clone(&gathered)));
    Ok(gathered)
}

impl SourcesKey {
    fn is_like(&self, other: &Self) -> bool {
        (self.generation, self.labels) == (other.generation, other.labels)
            && Arc::ptr_eq(&self.tasks, &other.tasks)
            && (&self.runs, &self.filter) == (&other.runs, &other.filter)
    }
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

/// Returns the distinct tasks of runs, in the order of their first runs.
fn sources(
    open: &OpenFolder,
    rows: &[RunRow],
    notes: &mut Vec<String>,
) -> Result<Vec<Source>, AppError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut sources: Vec<Source> = Vec::new();
    let mut nameless = 0_u64;
    // Number of runs of each task whose prompt is not known so far.
    let mut unknown: HashMap<String, u64> = HashMap::new();
    // Tasks that are left out because a model plays their user.
    let mut simulated = HashSet::new();
    for row in rows {
        let Some(task) = row.task.as_deref() else {
            nameless += 1;
            continue;
        };
        let key = key_of(open, row, task);
        // Without its user, a task measures something else under the same name.
        if open
            .flow
            .shelf
            .tasks()
            .get(task)
            .is_some_and(|known| known.suite.users().next().is_some())
        {
            simulated.insert(key);
            continue;
        }
        if let Some(source) = places.get(&key).and_then(|at| sources.get_mut(*at)) {
            source.row.runs += 1;
            continue;
        }
        // The prompt of a suite is the same for all runs. Of a task that was recorded it is in each run,
        // some of which may have ended before it or cannot be read.
        let is_lost = unknown.contains_key(&key) && open.flow.shelf.tasks().get(task).is_some();
        let found = if is_lost { None } else { source(open, row, task, &key) };
        let Some(mut source) = found else {
            *unknown.entry(key).or_default() += 1;
            continue;
        };
        source.row.runs += unknown.remove(&key).unwrap_or_default();
        if sources.len() == MOST {
            let error = bad("These runs have more than 1,000 tasks.".to_owned());
            return Err(error.hint("Select fewer runs, or filter them down."));
        }
        places.insert(key, sources.len());
        sources.push(source);
    }
    if nameless > 0 {
        notes.push(format!(
            "Left out, because the run has no task: {nameless} of {} runs.",
            rows.len()
        ));
    }
    if !simulated.is_empty() {
        notes.push(format!(
            "Left out, because a simulated user asks: {}. Copy the suite file to keep it.",
            names(simulated.len())
        ));
    }
    if !unknown.is_empty() {
        notes.push(format!("Left out, because the prompt is not known: {}.", names(unknown.len())));
    }
    Ok(sources)
}

/// Counts tasks.
fn names(count: usize) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

/// Returns what tells the task of a run, with its variation, from others.
fn key_of(open: &OpenFolder, row: &RunRow, task: &str) -> String {
    let tasks = open.flow.shelf.tasks();
    let variation = match tasks.get(task) {
        Some(known) => known.variation(row.variation, row.variation_name.as_deref()),
        None => row.variation.map(|number| number as usize),
    };
    format!("{task}\n{}", variation.map(|number| number.to_string()).unwrap_or_default())
}

/// Returns the task of a run. `None` if its prompt is not known.
fn source(open: &OpenFolder, row: &RunRow, task: &str, key: &str) -> Option<Source> {
    let tasks = open.flow.shelf.tasks();
    let (variation, shared, (is_query, dropped), label) = if let Some(known) = tasks.get(task) {
        let at = known.variation(row.variation, row.variation_name.as_deref());
        let at = at.or_else(|| (known.suite.variations.len() == 1).then_some(0))?;
        let prompt = |system| known.prompt(Some(at), Some(system), false);
        let (tools, promptql) = (prompt("tool_calling"), prompt("promptql"));
        let tool_calling =
            tools.clone().or_else(|| promptql.clone()).or_else(|| prompt("tool_calling_python"))?;
        let expected = known.yardsticks.get(at).and_then(|one| one.expected.as_deref().cloned());
        let expected = expected.filter(|value| *value != Value::Null);
        let promptql = promptql.unwrap_or_else(|| tool_calling.clone());
        let label = known.variation_name(at);
        let variation = NewVariation { name: String::new(), tool_calling, promptql, expected };
        let kind = (known.suite.query.is_some(), dropped_of(&known.suite));
        (variation, shared_of(&known.suite), kind, label)
    } else {
        let prompt = open.reading.first_question(&open.flow, &row.id)?;
        let own = open.ask(|index| imports::own_task_by_key(index, &row.id)).ok().flatten();
        let expected = own.and_then(|own| own.yardsticks.first()?.expected.as_deref().cloned());
        let expected = expected.filter(|value| *value != Value::Null);
        let (tool_calling, promptql) = (prompt.clone(), prompt);
        let variation = NewVariation { name: String::new(), tool_calling, promptql, expected };
        let kind = (false, Vec::new());
        (variation, shared_of(&suite::Task::default()), kind, row.variation_name.clone())
    };
    let name = label.map_or_else(|| task.to_owned(), |label| format!("{task}: {label}"));
    let line = variation.tool_calling.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Source {
        row: SuiteTask {
            key: key.to_owned(),
            name: name.clone(),
            prompt: line.chars().take(LINE).collect(),
            has_expected: variation.expected.is_some(),
            runs: 1,
            recorded_by: tasks.get(task).is_none().then(|| row.format.clone()).flatten(),
        },
        variation: NewVariation { name, ..variation },
        shared,
        is_query,
        dropped,
    })
}

/// Returns those of the keys of a task that a suite cannot hold.
fn dropped_of(task: &suite::Task) -> Vec<&'static str> {
    let prompts = &task.prompts;
    let has_oracle = prompts.promptql_oracle.is_some() || prompts.tool_calling_oracle.is_some();
    // Without the other prompts, that of Python takes their place.
    let has_others = prompts.tool_calling.is_some() || prompts.promptql.is_some();
    let has_python = prompts.tool_calling_python.is_some()
        && prompts.tool_calling_python != prompts.tool_calling;
    let found =
        [has_python && has_others, has_oracle, prompts.oracle_system.is_some(), task.repeat > 1];
    DROPPED.into_iter().zip(found).filter_map(|(key, is_found)| is_found.then_some(key)).collect()
}

/// Returns the keys of a task that a suite can have for all its variations.
fn shared_of(task: &suite::Task) -> Vec<(&'static str, Option<Value>)> {
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let list = |words: &[String]| {
        (!words.is_empty())
            .then(|| Value::List(words.iter().map(|word| word.as_str().into()).collect()))
    };
    vec![
        ("scorers", (!task.scorers.is_empty()).then(|| Value::List(task.scorers.clone()))),
        (
            "tools",
            task.tools.as_deref().map(|tools| list(tools).unwrap_or(Value::List(Vec::new()))),
        ),
        ("expected_tool_calls", list(&task.expected_tool_calls)),
        ("expected_promptql_artifact", text(&task.artifact)),
        ("result_artifact_key", text(&task.artifact_key)),
        ("result_tag_name", text(&task.result_tag_name)),
        ("nudge", task.nudge.map(nudge)),
        ("max_turns", task.max_turns.map(|turns| Value::Number(turns.to_string()))),
    ]
}

fn nudge(nudge: suite::Nudge) -> Value {
    Value::Map(vec![
        ("auto".into(), Value::Bool(nudge.auto)),
        ("max".into(), Value::Number(nudge.max.to_string())),
    ])
}

/// Returns the keys that all tasks share. Those in which they differ are left out with a note.
fn shared(sources: &[&Source], notes: &mut Vec<String>) -> Vec<(&'static str, Value)> {
    let Some(first) = sources.first() else { return Vec::new() };
    let mut shared = Vec::new();
    for (at, (key, value)) in first.shared.iter().enumerate() {
        let is_same =
            |source: &&&Source| source.shared.get(at).is_some_and(|(_, other)| other == value);
        if !sources.iter().all(|source| is_same(&source)) {
            notes.push(format!("The tasks differ in `{key}`, so the suite has none. Add it by hand where it is needed."));
        } else if let Some(value) = value {
            shared.push((*key, value.clone()));
        }
    }
    shared
}
