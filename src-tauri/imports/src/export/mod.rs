//! **Pure.** Writes runs of any layout in formats of other tools: trajectories of Harbor, chats of
//! `OpenAI` and logs of Inspect. A run comes as an [`ImportedRun`]; [`from_run()`] makes one of a run
//! of this program. What a format has no place for is written beside, under a key of its own.
//! `docs/reference/convert.md` lists what is lost all the same, which is not counted: durations, most
//! times and tokens of single steps, the data of media, and others.
pub mod atif;
mod event_counts;
mod from_run;
pub mod inspect;
pub mod openai;
mod redaction;
mod summary;
mod thread;
mod walk;

pub use event_counts::EventCounts;
pub use from_run::{from_run, tool_definitions};
pub(crate) use summary::{KEY, apply_summary, is_own, own_summary};
pub(crate) use thread::{read_beside, restore_marks};

use crate::run::ImportedRun;
use std::collections::{HashMap, HashSet};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum nesting of sub-agents and abandoned branches that is written.
pub const MOST_LEVELS: usize = 6;

/// A run that is to be written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExportRun {
    /// Name of the run: its path, with `#` and its name in a file of many runs.
    pub name: String,
    /// Name of the variation of its task.
    pub variation: Option<String>,
    /// Number among the runs of the same task, system and model, from 1.
    pub repeat: u32,
    /// The run itself.
    pub run: ImportedRun,
    /// Definitions of the tools that were offered, as `OpenAI` writes them.
    pub tools: Vec<Value>,
}

/// What a document says about its making.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Version of this program.
    pub version: String,
    /// Time in UTC, in the form of RFC 3339.
    pub created: String,
}

/// Format that runs are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Trajectory of Harbor (ATIF), one document for each run.
    Atif,
    /// Messages of `OpenAI`'s chat completions, one object for each run.
    OpenAi,
    /// Log of Inspect, one for the runs of a task with a system and a model.
    Inspect,
}

/// Returns the task and the sample of a log of Inspect for a task: the parts before and behind the
/// last slash, or twice the whole.
pub fn split_task(task: &str) -> (&str, &str) {
    match task.rsplit_once('/') {
        Some((task, sample)) if !task.is_empty() && !sample.is_empty() => (task, sample),
        _ => (task, task),
    }
}

/// Returns a name for a file of a run, without the ending.
pub fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches(['.', '_', '-']);
    // The end of a path tells runs apart, and its start does not.
    let start = name.len().saturating_sub(100);
    let name = name[start..].trim_start_matches(['.', '_', '-']);
    if name.is_empty() { "run".to_owned() } else { name.to_owned() }
}

/// Builds an object of the entries that have a value.
fn object<'a>(entries: impl IntoIterator<Item = (&'a str, Option<Value>)>) -> Value {
    let entries = entries.into_iter().filter_map(|(key, value)| Some((Value::from(key), value?)));
    Value::Map(entries.collect())
}

#[expect(clippy::unnecessary_wraps, reason = "entries of objects have optional values")]
fn text(text: impl Into<String>) -> Option<Value> {
    Some(Value::Text(text.into()))
}

fn maybe_text(text: Option<&str>) -> Option<Value> {
    text.map(Value::from)
}

fn integer(number: impl TryInto<u64>) -> Option<Value> {
    Some(Value::Number(number.try_into().ok()?.to_string()))
}

fn figure(number: Option<f64>) -> Option<Value> {
    number.filter(|number| number.is_finite()).map(|number| Value::Number(number.to_string()))
}

/// Returns the list, or nothing if it is empty.
fn list(items: Vec<Value>) -> Option<Value> {
    (!items.is_empty()).then_some(Value::List(items))
}

/// Names that differ from each other.
#[derive(Debug, Default)]
struct Names {
    given: HashSet<String>,
    /// How often each name was asked for.
    counts: HashMap<String, usize>,
}

impl Names {
    /// Returns a name, with a number if it is given already.
    fn give(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_owned()).or_default();
        loop {
            *count += 1;
            let own = if *count == 1 { name.to_owned() } else { format!("{name} ({count})") };
            if self.given.insert(own.clone()) {
                return own;
            }
        }
    }
}

/// Returns text as it is, null as empty text, and anything else as JSON.
fn content(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => text.clone(),
        other => json::write(other, false),
    }
}

/// Returns a time if the readers of other tools accept it: a date, and a time of day with an
/// optional offset.
fn iso_time(time: Option<&str>) -> Option<Value> {
    let time = time?;
    touchstone_formats::timestamps::seconds(time)?;
    let (date, rest) = time.split_at_checked(10)?;
    let is_date = date.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let rest = rest.strip_prefix(['T', ' '])?;
    let end = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at(end);
    let is_clock =
        clock.len() >= 5 && clock.bytes().all(|b| b.is_ascii_digit() || b":.".contains(&b));
    let is_offset = matches!(offset, "" | "Z")
        || (offset.len() == 6 && offset[1..].bytes().all(|b| b.is_ascii_digit() || b == b':'));
    (is_date && is_clock && is_offset).then(|| Value::from(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_split_at_its_last_slash() {
        assert_eq!(split_task("a/b/c"), ("a/b", "c"));
        assert_eq!(split_task("a"), ("a", "a"));
        assert_eq!(split_task("a/"), ("a/", "a/"));
    }

    #[test]
    fn names_that_are_given_already_get_a_number() {
        let mut names = Names::default();
        let given = ["a", "a (2)", "a", "b", "a", "a (2)"].map(|name| names.give(name));
        assert_eq!(given, ["a", "a (2)", "a (3)", "b", "a (4)", "a (2) (2)"]);
        // Names that are tried again from the first number take minutes.
        let many: HashSet<String> = (0..100_000).map(|_| names.give("c")).collect();
        assert_eq!(many.len(), 100_000);
    }

    #[test]
    fn only_times_that_other_readers_accept_are_written() {
        for good in ["2026-01-02T03:04:05Z", "2026-01-02 03:04", "2026-01-02T03:04:05.123+02:00"] {
            assert_eq!(iso_time(Some(good)), Some(Value::from(good)));
        }
        for bad in
            ["", "yesterday", "1700000000", "2026-01-02T03:04:05 UTC", "2026-13-45T00:00:00Z"]
        {
            assert_eq!(iso_time(Some(bad)), None, "{bad}");
        }
    }

    #[test]
    fn a_name_of_a_file_is_plain_and_short() {
        assert_eq!(file_stem("a/b c.jsonl#x:1"), "a_b_c.jsonl_x_1");
        assert_eq!(file_stem("../…/"), "run");
        assert!(file_stem(&"ä/x".repeat(200)).len() <= 100);
    }
}
