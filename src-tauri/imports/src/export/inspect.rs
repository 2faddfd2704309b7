//! **Pure.** Logs of Inspect (version 2), as one JSON document with a sample for each run.
use super::summary::{KEY, coordinates, facts, verdict};
use super::thread::{Dialect, write_messages};
use super::walk::arrange;
use super::{
    About, ExportRun, Names, figure, file_stem, integer, iso_time, list, maybe_text, object,
    split_task, text,
};
use crate::run::{EventKind, ImportedRun, ImportedVerdict, RunEnd};
use crate::text::{is_blank, text_or_json};
use std::collections::HashSet;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Key, in the metadata of a score, of whether it passed, where the value does not say so.
pub(crate) const PASSED: &str = "touchstone_passed";
/// Key, in the metadata of a score, of its threshold.
pub(crate) const THRESHOLD: &str = "touchstone_threshold";
/// Model of runs whose model is not known, as Inspect itself writes it.
const NO_MODEL: &str = "none/none";
/// Name of tasks that are not known.
const NO_TASK: &str = "unknown";
/// Limits that Inspect knows by name.
const LIMITS: [&str; 7] = ["context", "time", "working", "message", "token", "cost", "operator"];

/// What all runs of a log have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogKey {
    /// Task without the name of the sample; empty if it is not known.
    task: String,
    system: Option<String>,
    model: Option<String>,
}

impl LogKey {
    /// Returns the key of the log for runs with these names.
    fn new(task: Option<&str>, system: Option<&str>, model: Option<&str>) -> Self {
        Self {
            task: split_task(task.unwrap_or_default()).0.to_owned(),
            system: system.map(str::to_owned),
            model: model.map(str::to_owned),
        }
    }

    /// Returns the key of the log for a run.
    pub fn from_run(one: &ExportRun) -> Self {
        let run = &one.run;
        Self::new(run.task.as_deref(), run.system.as_deref(), run.model.as_deref())
    }

    /// Returns an id that is the same for the same task, system and model.
    fn id(&self) -> String {
        let names = [Some(self.task.as_str()), self.system.as_deref(), self.model.as_deref()];
        let bytes = names.iter().flat_map(|name| {
            let marked = name.unwrap_or("\u{0}");
            marked.bytes().chain([0xff])
        });
        // FNV-1a: it needs to differ, not to be secret.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("touchstone{hash:016x}")
    }
}

/// A log that runs are added to one after another. Of each one, only the name is kept: its text is
/// for the caller to keep until all runs are known.
#[derive(Debug)]
pub struct Log {
    key: LogKey,
    /// Names of the samples, each once.
    ids: Vec<Value>,
    known: HashSet<String>,
    /// Names and epochs of the samples.
    taken: HashSet<(String, u64)>,
    epochs: u64,
    runs: u64,
    /// Number of runs that came to their end.
    completed: u64,
}

impl Log {
    /// End of the document, behind the samples.
    pub const END: &str = "\n  ]\n}\n";

    /// Returns the log for runs like this one, which is not added.
    pub fn new(first: &ExportRun) -> Self {
        Self {
            key: LogKey::from_run(first),
            ids: Vec::new(),
            known: HashSet::new(),
            taken: HashSet::new(),
            epochs: 0,
            runs: 0,
            completed: 0,
        }
    }

    /// Adds a run of the same log, and returns its text, which stands behind those of the runs before. A
    /// repeat that occurs again takes the next free number.
    pub fn add(&mut self, one: &ExportRun) -> String {
        let id = sample_id(one);
        let mut epoch = u64::from(one.repeat.max(1));
        while !self.taken.insert((id.clone(), epoch)) {
            epoch += 1;
        }
        self.epochs = self.epochs.max(epoch);
        let comma = if self.runs == 0 { "" } else { "," };
        self.runs += 1;
        self.completed += u64::from(one.run.end == RunEnd::Complete);
        let text = json::write(&sample(one, &id, epoch), true).replace('\n', "\n    ");
        if self.known.insert(id.clone()) {
            self.ids.push(Value::Text(id));
        }
        format!("{comma}\n    {text}")
    }

    /// Returns the name of the file, as Inspect names them: time, task and id.
    pub fn file_name(&self, about: &About) -> String {
        let time = about.created.replace([':', '.'], "-").replace('Z', "+00-00");
        let task = if self.key.task.is_empty() { NO_TASK } else { &self.key.task };
        let task = file_stem(task).replace('_', "-");
        format!("{time}_{task}_{}.json", self.key.id())
    }

    /// Writes the start of the document, before the samples.
    pub fn start(mut self, about: &About) -> String {
        let mut head = json::write(&self.head(about), true);
        head.truncate(head.strip_suffix("\n}").map_or(head.len(), str::len));
        // The samples stand last, so that readers of the head alone can stop there.
        head.push_str(",\n  \"samples\": [");
        head
    }

    /// Returns everything but the samples.
    fn head(&mut self, about: &About) -> Value {
        let LogKey { task, system, model } = &self.key;
        let id = self.key.id();
        let dataset = object([
            ("samples", integer(self.ids.len() as u64)),
            ("sample_ids", Some(Value::List(std::mem::take(&mut self.ids)))),
        ]);
        let eval = object([
            ("eval_id", text(&id)),
            ("run_id", text(&id)),
            ("created", text(&about.created)),
            ("task", text(if task.is_empty() { NO_TASK } else { task })),
            ("task_id", text(&id)),
            ("solver", maybe_text(system.as_deref())),
            ("dataset", Some(dataset)),
            ("model", text(model.as_deref().unwrap_or(NO_MODEL))),
            ("config", Some(object([("epochs", integer(self.epochs))]))),
            ("metadata", Some(object([(KEY, text(format!("exported by {}", about.version)))]))),
        ]);
        let results = object([
            ("total_samples", integer(self.runs)),
            ("completed_samples", integer(self.completed)),
        ]);
        object([
            ("version", integer(2_u64)),
            ("status", text("success")),
            ("eval", Some(eval)),
            ("results", Some(results)),
        ])
    }
}

fn sample(one: &ExportRun, id: &str, epoch: u64) -> Value {
    let run = &one.run;
    let written = write_messages(&arrange(&run.events), Dialect::Inspect);
    let input = run.events.iter().find_map(|event| match &event.kind {
        EventKind::User(text) | EventKind::SimulatedUser(text) => {
            Some(text.as_str()).filter(|text| !is_blank(text))
        }
        _ => None,
    });
    let (scores, without_value) = scores(&run.verdicts);
    let mut known = coordinates(one);
    known.extend([
        ("error", maybe_text(run.error.as_deref())),
        ("started", maybe_text(run.started.as_deref()).filter(|_| started(run).is_none())),
        ("verdicts", list(without_value)),
        ("facts", facts(&run.facts)),
        ("notes", list(run.notes.iter().map(|note| Value::from(note.as_str())).collect())),
        ("beside", list(written.beside)),
    ]);
    let usage = object([
        ("input_tokens", run.tokens.and_then(|tokens| integer(tokens.input?))),
        ("output_tokens", run.tokens.and_then(|tokens| integer(tokens.output?))),
        ("total_tokens", run.tokens.and_then(|tokens| integer(tokens.total?))),
        ("total_cost", figure(run.cost)),
    ]);
    let model = run.model.as_deref().unwrap_or(NO_MODEL);
    let has_usage = !usage.entries().is_empty();
    object([
        ("id", text(id)),
        ("epoch", integer(epoch)),
        ("input", text(input.unwrap_or_default())),
        ("target", Some(target(run.expected.as_ref()))),
        ("messages", Some(Value::List(written.messages))),
        ("output", Some(output(run, model))),
        ("scores", (!scores.is_empty()).then_some(Value::Map(scores))),
        ("metadata", Some(object([(KEY, Some(object(known)))]))),
        ("model_usage", has_usage.then(|| object([(model, Some(usage))]))),
        ("started_at", started(run)),
        ("total_time", figure(run.seconds)),
        ("error", error(run)),
        ("limit", (run.end == RunEnd::Limit).then(|| limit(run))),
    ])
}

fn sample_id(one: &ExportRun) -> String {
    let task = one.run.task.as_deref().unwrap_or_default();
    let sample = split_task(task).1;
    let name = if sample.is_empty() { one.name.as_str() } else { sample };
    match &one.variation {
        Some(variation) => format!("{name} {variation}"),
        None => name.to_owned(),
    }
}

fn started(run: &ImportedRun) -> Option<Value> {
    iso_time(run.started.as_deref())
}

fn target(expected: Option<&Value>) -> Value {
    let one = |value: &Value| Value::Text(text_or_json(value).unwrap_or_default());
    match expected {
        None => Value::from(""),
        Some(Value::List(items)) if items.iter().all(|item| item.text().is_some()) => {
            Value::List(items.clone())
        }
        Some(value) => one(value),
    }
}

fn output(run: &ImportedRun, model: &str) -> Value {
    let choice = run.answer.as_deref().filter(|answer| !is_blank(answer)).map(|answer| {
        let message = object([("role", text("assistant")), ("content", text(answer))]);
        object([("message", Some(message)), ("stop_reason", text("unknown"))])
    });
    object([
        ("model", text(model)),
        ("choices", Some(Value::List(choice.into_iter().collect()))),
        ("completion", text(run.answer.as_deref().unwrap_or_default())),
    ])
}

fn error(run: &ImportedRun) -> Option<Value> {
    let message = run.error.as_deref().unwrap_or("The run ended in an error without a text.");
    (run.end == RunEnd::Error).then(|| {
        object([("message", text(message)), ("traceback", text("")), ("traceback_ansi", text(""))])
    })
}

/// Builds the limit that stopped a run: that of a log of Inspect, else one without a number, which
/// the format demands.
fn limit(run: &ImportedRun) -> Value {
    let fact = run.facts.iter().find(|(key, _)| key == "limit");
    let words = fact.and_then(|(_, value)| value.text());
    let known = words.and_then(|words| words.split_once(", ")).filter(|(kind, most)| {
        LIMITS.contains(kind) && most.parse::<f64>().is_ok_and(f64::is_finite)
    });
    if let Some((kind, most)) = known {
        return object([("type", text(kind)), ("limit", Some(Value::Number(most.to_owned())))]);
    }
    let reason = run.error.as_deref().or(words);
    object([
        ("type", text("custom")),
        ("limit", Some(Value::Number("-1".to_owned()))),
        ("reason", maybe_text(reason)),
    ])
}

/// Returns the scores by name, and the verdicts that have no value to write.
fn scores(verdicts: &[ImportedVerdict]) -> (Vec<(Value, Value)>, Vec<Value>) {
    let (mut scores, mut without_value) = (Vec::new(), Vec::new());
    let mut names = Names::default();
    for one in verdicts {
        let Some(value) = score_value(one) else {
            without_value.push(verdict(one));
            continue;
        };
        let passed = one.passed.map_or(Value::Null, Value::Bool);
        let says_so = says_passed(&value) == one.passed;
        let metadata =
            object([(PASSED, (!says_so).then_some(passed)), (THRESHOLD, one.threshold.clone())]);
        let score = object([
            ("value", Some(value)),
            ("explanation", maybe_text(one.reason.as_deref())),
            ("metadata", (!metadata.entries().is_empty()).then_some(metadata)),
        ]);
        scores.push((Value::Text(names.give(&one.name)), score));
    }
    (scores, without_value)
}

/// Returns the value of a score: one that is not known is that of the verdict, if there is one.
fn score_value(verdict: &ImportedVerdict) -> Option<Value> {
    let is_plain = |value: &Value| {
        matches!(value, Value::Text(_) | Value::Bool(_)) || value.number().is_some()
    };
    match &verdict.value {
        Value::Null => verdict.passed.map(Value::Bool),
        Value::List(items) if items.iter().all(is_plain) => Some(verdict.value.clone()),
        value if is_plain(value) => Some(value.clone()),
        other => text_or_json(other).map(Value::Text),
    }
}

/// Returns whether the value of a score says by itself that the run passed.
pub(crate) fn says_passed(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(passed) => Some(*passed),
        Value::Text(text) => match text.as_str() {
            "C" => Some(true),
            "I" | "N" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
