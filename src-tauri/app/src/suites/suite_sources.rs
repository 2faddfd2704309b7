//! What suites are made from: the tasks of runs, and what those have in common.
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::judging::judged_runs::passing;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_api::{RunRow, SuiteRequest, SuiteTask};
use touchstone_formats::suite;
use touchstone_formats::suite::write::NewVariation;
use touchstone_model::value::Value;
use touchstone_store::imports;
use touchstone_store::query::row_by_key;
use touchstone_store::suites::Tasks;

/// Maximum characters of the beginning of a prompt.
const LINE: usize = 200;
/// Maximum number of tasks of a suite.
const MOST: usize = 1_000;

/// Keys of a task that change its runs and that a suite of several tasks cannot hold.
pub(super) const DROPPED: [&str; 3] =
    ["tool_calling_python_prompt", "oracle_prompt", "oracle_system_prompt"];

/// A task of runs that can be part of a suite.
pub(super) struct Source {
    pub(super) row: SuiteTask,
    /// Id of the task.
    pub(super) task: String,
    pub(super) variation: NewVariation,
    /// Keys that a suite has once, for all its variations.
    shared: Vec<(&'static str, Option<Value>)>,
    tags: Vec<String>,
    pub(super) is_query: bool,
    /// Keys of the task that the suite cannot hold.
    pub(super) dropped: Vec<&'static str>,
}

/// Tasks of runs, from which suites can be made.
pub(super) struct Sources {
    /// Number of the runs.
    pub(super) runs: u64,
    pub(super) all: Vec<Source>,
    pub(super) notes: Vec<String>,
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

/// Returns the tasks of the runs of a request. They are remembered, because transcripts are read for
/// them, and the page plans again with each choice.
pub(super) fn gather(open: &OpenFolder, request: &SuiteRequest) -> Result<Arc<Sources>, AppError> {
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
pub(super) fn names(count: usize) -> String {
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
    let known = tasks.get(task);
    let (variation, label) = if let Some(known) = known {
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
        (NewVariation { name: String::new(), tool_calling, promptql, expected }, label)
    } else {
        let prompt = open.reading.first_question(&open.flow, &row.id)?;
        let own = open.ask(|index| imports::own_task_by_key(index, &row.id)).ok().flatten();
        let expected = own.and_then(|own| own.yardsticks.first()?.expected.as_deref().cloned());
        let expected = expected.filter(|value| *value != Value::Null);
        let (tool_calling, promptql) = (prompt.clone(), prompt);
        let variation = NewVariation { name: String::new(), tool_calling, promptql, expected };
        (variation, row.variation_name.clone())
    };
    let own = known.map(|known| &*known.suite);
    let folder = known.map(|known| known.file.parent().to_vec()).unwrap_or_default();
    let name = label.map_or_else(|| task.to_owned(), |label| format!("{task}: {label}"));
    let line = variation.tool_calling.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Source {
        row: SuiteTask {
            key: key.to_owned(),
            name: name.clone(),
            prompt: line.chars().take(LINE).collect(),
            has_expected: variation.expected.is_some(),
            runs: 1,
            recorded_by: known.is_none().then(|| row.format.clone()).flatten(),
        },
        task: task.to_owned(),
        variation: NewVariation { name, ..variation },
        shared: own.map_or_else(
            || shared_of(&suite::Task::default(), ""),
            |own| shared_of(own, &String::from_utf8_lossy(&folder)),
        ),
        tags: own.map(|own| own.tags.clone()).unwrap_or_default(),
        is_query: own.is_some_and(|own| own.query.is_some()),
        dropped: own.map(dropped_of).unwrap_or_default(),
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
    let found = [has_python && has_others, has_oracle, prompts.oracle_system.is_some()];
    DROPPED.into_iter().zip(found).filter_map(|(key, is_found)| is_found.then_some(key)).collect()
}

/// Returns the keys of a task that a suite has once, for all its variations. `folder` is that of its
/// suite, in the folder of suites.
fn shared_of(task: &suite::Task, folder: &str) -> Vec<(&'static str, Option<Value>)> {
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let number = |number: u32| Value::Number(number.to_string());
    let scorers = task.scorers.iter().map(|scorer| from_folder(scorer, folder)).collect();
    // The APIs of a query are not part of a suite, so none of them can be called.
    let calls = if task.query.is_some() { &[][..] } else { &task.expected_tool_calls };
    vec![
        ("scorers", (!task.scorers.is_empty()).then_some(Value::List(scorers))),
        ("tools", task.tools.as_deref().map(list)),
        ("expected_tool_calls", (!calls.is_empty()).then(|| list(calls))),
        ("expected_promptql_artifact", text(&task.artifact)),
        ("result_artifact_key", text(&task.artifact_key)),
        ("result_tag_name", text(&task.result_tag_name)),
        ("repeat", (task.repeat > 1).then(|| number(task.repeat))),
        ("nudge", task.nudge.map(nudge)),
        ("max_turns", task.max_turns.map(number)),
    ]
}

fn list(words: &[String]) -> Value {
    Value::List(words.iter().map(|word| word.as_str().into()).collect())
}

/// Returns a scorer whose program is named from the folder of suites, and not from a folder in it.
fn from_folder(scorer: &Value, folder: &str) -> Value {
    let moved = |path: &Value| match path {
        Value::Text(path) if !folder.is_empty() && !path.starts_with('/') => {
            Value::Text(format!("{folder}/{path}"))
        }
        other => other.clone(),
    };
    let Value::Map(entries) = scorer else { return scorer.clone() };
    let entries = entries.iter().map(|(key, value)| {
        if *key != Value::from("python") {
            return (key.clone(), value.clone());
        }
        let value = match value {
            Value::Map(options) => Value::Map(
                options
                    .iter()
                    .map(|(key, value)| {
                        let is_path = *key == Value::from("path");
                        (key.clone(), if is_path { moved(value) } else { value.clone() })
                    })
                    .collect(),
            ),
            path => moved(path),
        };
        (key.clone(), value)
    });
    Value::Map(entries.collect())
}

fn nudge(nudge: suite::Nudge) -> Value {
    Value::Map(vec![
        ("auto".into(), Value::Bool(nudge.auto)),
        ("max".into(), Value::Number(nudge.max.to_string())),
    ])
}

/// Tasks that agree in all keys that a suite has once.
pub(super) struct Group<'a> {
    pub(super) sources: Vec<&'a Source>,
}

/// Splits tasks into those that can be in one suite without a loss, in the order of the first ones.
pub(super) fn groups<'a>(sources: &[&'a Source]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for source in sources {
        let fitting = groups
            .iter_mut()
            .find(|group| group.sources.first().is_some_and(|first| first.shared == source.shared));
        match fitting {
            Some(group) => group.sources.push(source),
            None => groups.push(Group { sources: vec![source] }),
        }
    }
    groups
}

/// Returns the keys in which tasks differ, so that one suite cannot hold all of them.
pub(super) fn differing(sources: &[&Source]) -> Vec<&'static str> {
    let Some(first) = sources.first() else { return Vec::new() };
    let is_other =
        |at: usize| sources.iter().any(|source| source.shared.get(at) != first.shared.get(at));
    let keys = first.shared.iter().enumerate();
    keys.filter(|(at, _)| is_other(*at)).map(|(_, (key, _))| *key).collect()
}

impl Group<'_> {
    /// Returns the id of its first task.
    pub(super) fn first_task(&self) -> &str {
        self.sources.first().map(|source| source.task.as_str()).unwrap_or_default()
    }

    /// Returns the keys of a suite of these tasks, with the tags of all of them.
    pub(super) fn shared(&self) -> Vec<(&'static str, Value)> {
        let Some(first) = self.sources.first() else { return Vec::new() };
        let mut tags: Vec<String> = Vec::new();
        for tag in self.sources.iter().flat_map(|source| &source.tags) {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        let tags = (!tags.is_empty()).then(|| ("tags", list(&tags)));
        let shared = first.shared.iter();
        let shared = shared.filter_map(|(key, value)| Some((*key, value.clone()?)));
        tags.into_iter().chain(shared).collect()
    }
}

pub(super) fn bad(message: String) -> AppError {
    AppError::new(Code::BadRequest, message)
}
