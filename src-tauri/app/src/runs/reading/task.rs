//! The task of a run, from its suite: the prompt as its system received it, and the expected
//! output. Owns finding the prompt of a run.
use super::PartId;
use super::body::part;
use super::pieces::{Budget, short};
use std::sync::Arc;
use touchstone_api::{Clip, Fact, Language, RunRow, Task, TaskUser};
use touchstone_formats::tool_offers;
use touchstone_judges::Subject;
use touchstone_model::run::Layout;
use touchstone_model::value::Value;
use touchstone_scoring::diff::Options;
use touchstone_scoring::scorers::comparison;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imports;
use touchstone_store::roots::Root;
use touchstone_store::suites::Task as Known;

/// Maximum JSON bytes of the task when a run opens.
const MAX_TASK: usize = 96 << 10;
/// Maximum characters shown of a text about a simulated user.
const MAX_USER: usize = 2_000;
/// Maximum bytes shown of names.
const MAX_NAME: usize = 200;
/// Maximum number of parameters, and of expected tools, shown.
const MOST: usize = 100;

/// The task of a run, with its variation applied.
pub(super) struct RunTask {
    known: Arc<Known>,
    parameters: Vec<(String, Value)>,
    /// Index of the variation.
    at: Option<usize>,
    prompt: Option<String>,
    expected: Option<Arc<Value>>,
    /// Problems of the expected output.
    pub(super) notes: Vec<String>,
}

/// Returns the task of a run; `None` if its suite is not known.
pub(super) fn for_run(flow: &FolderIndex, row: &RunRow) -> Option<RunTask> {
    let known = find_task(flow, row)?;
    let given = row.variation_name.as_deref().is_some_and(|name| name.ends_with(" (oracle)"));
    let at = known.variation(row.variation, row.variation_name.as_deref());
    let parameters = at
        .and_then(|at| known.suite.variations.get(at))
        .map(|variation| variation.parameters.clone());
    let parameters = parameters.unwrap_or_default();
    let prompt = known.prompt(at, row.system.as_deref(), given);
    let yardstick = at.and_then(|at| known.yardsticks.get(at));
    let expected = yardstick.and_then(|yardstick| yardstick.expected.clone());
    let trouble = yardstick.and_then(|yardstick| yardstick.trouble.as_deref());
    let notes = trouble.map(|trouble| short(trouble, 1_000)).into_iter().collect();
    Some(RunTask { known, parameters, at, prompt, expected, notes })
}

impl RunTask {
    /// Returns the prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.prompt.as_deref()
    }

    /// Adds the expected output and the offered tools to the data that judges see.
    pub(super) fn extend_subject(
        &self,
        subject: Subject,
        layout: Layout,
        system: Option<&str>,
    ) -> Subject {
        let tools = tool_offers::of_run(&self.known.tools, layout, system);
        subject.with_expected(self.expected.as_deref()).with_tools(&self.known.suite, &tools)
    }
}

/// Returns the task of a run from its suite, else from the file of the run itself.
fn find_task(flow: &FolderIndex, row: &RunRow) -> Option<Arc<Known>> {
    let tasks = flow.shelf.tasks();
    let known = row.task.as_deref().and_then(|task| tasks.get(task)).map(Arc::clone);
    known.or_else(|| {
        row.format.as_ref()?;
        let reader = flow.index.reader().ok()?;
        imports::own_task_by_key(&reader, &row.id).ok().flatten()
    })
}

/// Source of the expected output of a run: its task. Equality is by identity, because a task is
/// loaded again when one of its gold answers changes; tasks from files of runs are equal if they
/// expect the same.
#[derive(Clone)]
pub(super) struct Origin {
    known: Arc<Known>,
    /// True if the task comes from the file of a run.
    is_from_run: bool,
}

impl PartialEq for Origin {
    /// A task that was loaded again is a different one.
    fn eq(&self, other: &Self) -> bool {
        let expected = |origin: &Self| {
            let first = origin.known.yardsticks.first();
            first.and_then(|first| first.expected.clone()).filter(|_| origin.is_from_run)
        };
        Arc::ptr_eq(&self.known, &other.known)
            || (expected(self).is_some() && expected(self) == expected(other))
    }
}

impl Origin {
    /// Returns the options by which the task compares answers.
    pub(super) fn options(&self) -> Options {
        comparison(&self.known.suite.scorers, self.known.suite.artifact_key.as_deref())
    }
}

/// Returns the source of the expected output of a run; `None` if its suite is not known. Reads no
/// content.
pub(super) fn origin(flow: &FolderIndex, row: &RunRow) -> Option<Origin> {
    let known = find_task(flow, row)?;
    let is_from_run = known.file.root == Root::Output && row.format.is_some();
    Some(Origin { known, is_from_run })
}

impl RunTask {
    /// Converts the task for the page.
    pub(super) fn show(&self, flow: &FolderIndex) -> Task {
        let mut budget = Budget::new(MAX_TASK);
        let suite = &self.known.suite;
        let prompt = |prompt: &String| {
            part(
                PartId::Prompt,
                "prompt",
                Language::Markdown,
                &Value::from(prompt.as_str()),
                &mut budget,
            )
        };
        let prompt = self.prompt.as_ref().map(prompt);
        let expected =
            |value| part(PartId::Expected, "expected", Language::Plain, value, &mut budget);
        let expected = self.expected.as_deref().map(expected);
        let parameter = |(at, (key, value)): (usize, &(String, Value))| Fact {
            key: short(key, MAX_NAME),
            part: part(PartId::Parameter(at), "value", Language::Plain, value, &mut budget),
        };
        Task {
            id: short(&suite.id, MAX_NAME),
            file: flow.roots.display_path(&self.known.file),
            parameters: self.parameters.iter().enumerate().take(MOST).map(parameter).collect(),
            prompt,
            user: self.user(),
            expected,
            expected_tool_calls: suite
                .expected_tool_calls
                .iter()
                .take(MOST)
                .map(|name| short(name, MAX_NAME))
                .collect(),
        }
    }

    /// Returns the simulated user for the page.
    fn user(&self) -> Option<TaskUser> {
        let suite = &self.known.suite;
        let user = suite.user_of(self.at)?;
        let text = |text: &String| {
            let text = suite.fill(text, self.at);
            match text.char_indices().nth(MAX_USER) {
                Some((end, _)) => Clip { text: text[..end].to_owned(), cut: true },
                None => Clip { text, cut: false },
            }
        };
        Some(TaskUser {
            persona: user.persona.as_ref().map(text),
            goal: text(&user.goal),
            knows: Some(user.knowledge()).filter(|knows| !knows.is_empty()).as_ref().map(text),
            satisfied_when: user.satisfied_when.as_ref().map(text),
            max_turns: user.max_turns,
            model: user.model.clone(),
        })
    }

    /// Returns the full value of a part.
    pub(super) fn value(&self, part: PartId) -> Option<Value> {
        match part {
            PartId::Prompt => self.prompt.as_deref().map(Value::from),
            PartId::Expected => self.expected.as_deref().cloned(),
            PartId::Parameter(at) => self.parameters.get(at).map(|(_, value)| value.clone()),
            _ => None,
        }
    }
}
