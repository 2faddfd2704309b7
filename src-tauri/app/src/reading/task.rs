//! The task that a run answers, from its suite: the prompt as its system got it, and what was
//! expected. Owns finding the prompt of a run.
use super::PartId;
use super::body::part;
use super::pieces::{Budget, short};
use std::sync::Arc;
use touchstone_api::{Fact, Language, RunRow, Task};
use touchstone_formats::offered;
use touchstone_formats::run::Layout;
use touchstone_formats::value::Value;
use touchstone_scoring::diff::Options;
use touchstone_scoring::judges::Subject;
use touchstone_scoring::scorers::comparison;
use touchstone_store::flow::Flow;
use touchstone_store::suites::Task as Known;

/// What all of it may weigh when a run opens.
const MAX_TASK: usize = 96 << 10;
/// What is shown of names.
const MAX_NAME: usize = 200;
/// Parameters, and expected tools, that are shown.
const MOST: usize = 100;

/// What was asked of a run.
pub(super) struct Asked {
    known: Arc<Known>,
    parameters: Vec<(String, Value)>,
    prompt: Option<String>,
    expected: Option<Arc<Value>>,
    /// What is wrong with it.
    pub(super) notes: Vec<String>,
}

/// The task of a run; none when its suite is not known.
pub(super) fn of(flow: &Flow, row: &RunRow) -> Option<Asked> {
    let tasks = flow.shelf.tasks();
    let known = Arc::clone(tasks.get(row.task.as_deref()?)?);
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
    Some(Asked { known, parameters, prompt, expected, notes })
}

impl Asked {
    /// What was asked.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.prompt.as_deref()
    }

    /// What judges are shown of a run, with what its task says of it.
    pub(super) fn put_to(&self, subject: Subject, layout: Layout, system: Option<&str>) -> Subject {
        let tools = offered::of_run(&self.known.tools, layout, system);
        subject.expecting(self.expected.as_deref()).offering(&self.known.suite, &tools)
    }
}

/// What the expected output of a run depends on: its task, which is another one as soon as a gold
/// answer of it changes.
#[derive(Clone)]
pub(super) struct Origin {
    known: Arc<Known>,
}

impl PartialEq for Origin {
    /// A task that was read again is another one.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.known, &other.known)
    }
}

impl Origin {
    /// What the task says of comparing answers.
    pub(super) fn options(&self) -> Options {
        comparison(&self.known.suite.scorers, self.known.suite.artifact_key.as_deref())
    }
}

/// Where the expected output of a run comes from; none when its suite is not known. Reads no
/// content.
pub(super) fn origin(flow: &Flow, row: &RunRow) -> Option<Origin> {
    let known = Arc::clone(flow.shelf.tasks().get(row.task.as_deref()?)?);
    Some(Origin { known })
}

impl Asked {
    /// As the page shows it.
    pub(super) fn show(&self, flow: &Flow) -> Task {
        let mut budget = Budget::of(MAX_TASK);
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
            file: flow.roots.shown(&self.known.file),
            parameters: self.parameters.iter().enumerate().take(MOST).map(parameter).collect(),
            prompt,
            expected,
            expected_tool_calls: suite
                .expected_tool_calls
                .iter()
                .take(MOST)
                .map(|name| short(name, MAX_NAME))
                .collect(),
        }
    }

    /// The whole of a part.
    pub(super) fn value(&self, part: PartId) -> Option<Value> {
        match part {
            PartId::Prompt => self.prompt.as_deref().map(Value::from),
            PartId::Expected => self.expected.as_deref().cloned(),
            PartId::Parameter(at) => self.parameters.get(at).map(|(_, value)| value.clone()),
            _ => None,
        }
    }
}
