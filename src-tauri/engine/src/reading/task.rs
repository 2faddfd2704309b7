//! The task that a run answers, from its suite: the prompt as its system got it, and what was expected. Owns finding the
//! variation of a run and reading a gold answer that lies in a file of its own.
use super::PartId;
use super::body::part;
use super::pieces::{Budget, short};
use crate::results::flow::Flow;
use crate::results::open;
use crate::results::roots::{FileId, Root};
use crate::results::suites::Task as Known;
use crate::rows::{Fact, Language, RunRow, Task};
use std::sync::Arc;
use touchstone_formats::suite::{Expected, Variation, ground_truth};
use touchstone_formats::template;
use touchstone_formats::value::Value;

/// Gold answers are read up to this size.
const MAX_GOLD: u64 = 32 << 20;
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
    expected: Option<Value>,
    /// What is wrong with it.
    pub(super) notes: Vec<String>,
}

/// The task of a run; none when its suite is not known.
pub(super) fn of(flow: &Flow, row: &RunRow) -> Option<Asked> {
    let tasks = flow.shelf.tasks();
    let known = Arc::clone(tasks.get(row.task.as_deref()?)?);
    let given = row.variation_name.as_deref().is_some_and(|name| name.ends_with(" (oracle)"));
    let variation = variation(&known, row);
    let parameters = variation.map(|variation| variation.parameters.clone()).unwrap_or_default();
    let prompt = template(&known, row, given).map(|text| template::render(text, &parameters).0);
    let mut notes = Vec::new();
    let expected = match variation.map(|variation| &variation.expected) {
        None | Some(Expected::None) => None,
        Some(Expected::Value(value)) => Some(value.clone()),
        Some(Expected::File(path)) => match gold(flow, &known.file, path) {
            Ok(value) => Some(value),
            Err(why) => {
                notes.push(short(&format!("The expected output in {path} could not be read: {why}"), 1_000));
                None
            }
        },
    };
    Some(Asked { known, parameters, prompt, expected, notes })
}

impl Asked {
    /// As the page shows it.
    pub(super) fn show(&self, flow: &Flow) -> Task {
        let mut budget = Budget::of(MAX_TASK);
        let suite = &self.known.suite;
        let prompt = |prompt: &String| {
            part(PartId::Prompt, "prompt", Language::Markdown, &Value::from(prompt.as_str()), &mut budget)
        };
        let prompt = self.prompt.as_ref().map(prompt);
        let expected = |value| part(PartId::Expected, "expected", Language::Plain, value, &mut budget);
        let expected = self.expected.as_ref().map(expected);
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
            PartId::Expected => self.expected.clone(),
            PartId::Parameter(at) => self.parameters.get(at).map(|(_, value)| value.clone()),
            _ => None,
        }
    }
}

/// The variation a run is of, by its number or, in layouts without numbers, by its name.
fn variation<'a>(known: &'a Known, row: &RunRow) -> Option<&'a Variation> {
    let variations = &known.suite.variations;
    if let Some(number) = row.variation {
        return variations.get(number as usize);
    }
    let name = row.variation_name.as_deref()?;
    let name = name.strip_suffix(" (oracle)").unwrap_or(name);
    variations.iter().find(|variation| variation.name.as_deref() == Some(name))
}

/// The prompt of the system of a run, or the one for when the data is given.
fn template<'a>(known: &'a Known, row: &RunRow, given: bool) -> Option<&'a str> {
    let system = row.system.as_deref().unwrap_or("tool_calling");
    if !given {
        return known.suite.prompt(system);
    }
    let prompts = &known.suite.prompts;
    if system == "promptql" { prompts.promptql_oracle.as_deref() } else { prompts.tool_calling_oracle.as_deref() }
}

/// Reads a gold answer from its own file, which must lie below the input directory.
fn gold(flow: &Flow, suite: &FileId, path: &str) -> Result<Value, String> {
    let file = below(suite, path).ok_or("it lies outside the input directory.")?;
    let (bytes, _) = open::read(&flow.roots, &file, MAX_GOLD).map_err(|why| format!("{why}."))?;
    let text = String::from_utf8(bytes).map_err(|_| "it holds bytes that are no UTF-8 text.")?;
    ground_truth(&file.shown(), &text).map_err(|error| error.message)
}

/// The file that a path in a suite names; none when it leads out of the root.
fn below(suite: &FileId, path: &str) -> Option<FileId> {
    let folder = if suite.name().contains(&b'.') { suite.parent() } else { &suite.path };
    let mut parts: Vec<&[u8]> = folder.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name.as_bytes()),
        }
    }
    Some(FileId::new(Root::Input, parts.join(&b'/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gold_answer_is_named_from_its_suite_and_never_outside_the_input_directory() {
        let suite = FileId::new(Root::Input, "a/b/task.yaml");
        let named = |path| below(&suite, path).map(|file| file.shown());
        assert_eq!(named("gold.json").as_deref(), Some("a/b/gold.json"));
        assert_eq!(named("./x/../../gold/1.json").as_deref(), Some("a/gold/1.json"));
        assert_eq!(named("../../../etc/passwd"), None);
        assert_eq!(named("/etc/passwd"), None);
        let folder = FileId::new(Root::Input, "a/prompts");
        assert_eq!(below(&folder, "gold.json").map(|file| file.shown()).as_deref(), Some("a/prompts/gold.json"));
    }
}
