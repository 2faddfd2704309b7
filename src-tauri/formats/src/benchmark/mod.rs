//! **Pure.** Benchmark folders as other programs write them: one run is a group of `.result`,
//! `.history`, `.api`, `.time` and `.err` files. These files are read, never written.
mod messages;
pub mod python;

use crate::timestamps;
use crate::transcript::build::{RunBuilder, part};
use crate::transcript::outline_of;
use crate::transcript::reply;
use crate::transcript::sink::Role;
use touchstone_model::answer;
use touchstone_model::error::{ReadError, text_of};
use touchstone_model::json;
use touchstone_model::run::{Answer, Layout, Outline, Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Kinds of files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The answer.
    Result,
    /// The messages and actions.
    History,
    /// Raw replies of the provider.
    Api,
    /// The duration.
    Time,
    /// Error output.
    Err,
}

/// Contents of the files of one run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts<'a> {
    /// `.result`
    pub result: Option<&'a [u8]>,
    /// `.history`
    pub history: Option<&'a [u8]>,
    /// `.api`
    pub api: Option<&'a [u8]>,
    /// `.time`
    pub time: Option<&'a [u8]>,
    /// `.err`
    pub err: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Sets the content of the file of a kind.
    pub fn set(&mut self, kind: Kind, content: &'a [u8]) {
        let slot = match kind {
            Kind::Result => &mut self.result,
            Kind::History => &mut self.history,
            Kind::Api => &mut self.api,
            Kind::Time => &mut self.time,
            Kind::Err => &mut self.err,
        };
        *slot = Some(content);
    }
}

/// Identity of the run of a group of files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinates {
    /// Folder above the model; `None` if that is the opened folder.
    pub task: Option<String>,
    /// Model.
    pub model: String,
    /// System.
    pub system: String,
    /// `retrieval` or `oracle`.
    pub mode: String,
    /// Name of the variation.
    pub variation: String,
    /// Repeat, from 1.
    pub repeat: u32,
}

/// Returns the stem and kind of a file name: `last_10_run_1.history`.
pub fn member(file_name: &str) -> Option<(&str, Kind)> {
    let (stem, extension) = file_name.rsplit_once('.')?;
    let kind = match extension {
        "result" => Kind::Result,
        "history" => Kind::History,
        "api" => Kind::Api,
        "time" => Kind::Time,
        "err" => Kind::Err,
        _ => return None,
    };
    (!stem.is_empty()).then_some((stem, kind))
}

/// Parses `<task>/<model>/<system>/<retrieval|oracle>` and `<variation>_run_<k>`.
pub fn coordinates(relative_dir: &str, stem: &str) -> Option<Coordinates> {
    let mut parts = relative_dir.trim_end_matches('/').rsplitn(4, '/');
    let mode = parts.next().filter(|mode| matches!(*mode, "retrieval" | "oracle"))?;
    let (system, model) = (parts.next()?, parts.next()?);
    let task = parts.next().filter(|task| !task.is_empty()).map(str::to_owned);
    let (variation, repeat) = stem.rsplit_once("_run_")?;
    let repeat = repeat.parse().ok().filter(|repeat| *repeat > 0)?;
    let fits = !variation.is_empty() && !model.is_empty() && !system.is_empty();
    fits.then(|| Coordinates {
        task,
        model: model.to_owned(),
        system: system.to_owned(),
        mode: mode.to_owned(),
        variation: variation.to_owned(),
        repeat,
    })
}

/// Parses the files of a run. Fails if `.history` or `.result` cannot be read; errors in the other
/// files do not fail it.
pub fn read(parts: &Parts<'_>) -> Result<Run, ReadError> {
    let mut run = match parts.history {
        Some(bytes) => history(text_of(bytes).map_err(|error| within("history", error))?)?,
        None => Run {
            notes: vec!["There is no .history file, so the steps are unknown.".to_owned()],
            ..Run::default()
        },
    };
    run.layout = Layout::BenchmarkFolder;
    run.answer = parts
        .result
        .map(|bytes| result(bytes).map_err(|error| within("result", error)))
        .transpose()?
        .flatten();
    if let Some(seconds) = parts.time.and_then(|bytes| timestamps::duration(text_of(bytes).ok()?)) {
        run.facts.push(("run.seconds".to_owned(), Value::Number(seconds.to_string())));
    }
    if let Some(bytes) = parts.api {
        match text_of(bytes).and_then(json::read) {
            Ok(replies) => run.facts.extend(replies_facts(&replies)),
            Err(error) => run.notes.push(format!("The .api file cannot be read: {error}")),
        }
    }
    if let Some(bytes) = parts.err {
        let text = String::from_utf8_lossy(bytes).trim().to_owned();
        add_stderr(&mut run, text);
    }
    Ok(run)
}

/// Parses the data that lists and search need.
pub fn outline(parts: &Parts<'_>) -> Result<Outline, ReadError> {
    Ok(outline_of(&read(parts)?))
}

/// Adds the content of `.err`: as the error that ended the run if there is no answer, else as a
/// fact.
fn add_stderr(run: &mut Run, text: String) {
    if text.is_empty() {
        return;
    }
    if run.answer.is_some() {
        run.facts.push(("err".to_owned(), Value::Text(text)));
        return;
    }
    let turn = run.steps.last().map_or(1, |step| step.turn);
    // The last line of a Python traceback has the message, so it comes first.
    let last = text.lines().next_back().unwrap_or_default().to_owned();
    let mut parts = vec![part("error", Role::Other, Value::Text(last.clone()))];
    if last != text {
        parts.push(Part {
            label: "stderr".to_owned(),
            value: Value::Text(text),
            ..Part::default()
        });
    }
    run.steps.push(Step { turn, kind: StepKind::Error, parts, ..Step::default() });
}

fn within(extension: &str, mut error: ReadError) -> ReadError {
    error.message = format!("In the .{extension} file: {}", error.message);
    error
}

fn result(bytes: &[u8]) -> Result<Option<Answer>, ReadError> {
    let text = text_of(bytes)?.trim();
    let (value, lenient) = match answer::parse(text) {
        _ if text.is_empty() => return Ok(None),
        Some((Value::Null, _)) => return Ok(None),
        Some(read) => read,
        None => (Value::from(text), false),
    };
    Ok(Some(Answer { value, source: ".result file".to_owned(), lenient }))
}

fn history(text: &str) -> Result<Run, ReadError> {
    if text.trim().is_empty() {
        return Ok(Run::default());
    }
    let value = json::read(text).map_err(|error| within("history", error))?;
    let interactions = |item: &Value| {
        item.get("assistant_actions").is_some() || item.get("user_message").is_some()
    };
    if value.items().iter().any(interactions) {
        let (mut builder, mut turn) = (RunBuilder::default(), 0);
        value.items().iter().for_each(|item| reply::walk(item, &mut turn, &mut builder));
        return Ok(builder.finish(Layout::BenchmarkFolder));
    }
    let mut run = messages::read(value.items());
    if !matches!(value, Value::List(_)) {
        run.notes.push(
            "The .history file holds no list of messages, so the steps are unknown.".to_owned(),
        );
    }
    Ok(run)
}

/// Returns the token usage and model id of raw replies as facts.
fn replies_facts(replies: &Value) -> Vec<(String, Value)> {
    let entries = || replies.items().iter().map(|entry| entry.get("response").unwrap_or(entry));
    let usages: Vec<Value> = entries().filter_map(|reply| reply.get("usage").cloned()).collect();
    let model = entries().find_map(|reply| reply.get("model").cloned());
    let mut facts = Vec::new();
    if let Some(model) = model {
        facts.push(("run.model_id".to_owned(), model));
    }
    if !usages.is_empty() {
        facts.push(("run.usage".to_owned(), Value::List(usages)));
    }
    facts
}
