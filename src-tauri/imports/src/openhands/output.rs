//! **Pure.** Outputs of evaluations: an instance a line.
use super::read_events;
use crate::format::ImportedFile;
use crate::pieces;
use crate::run::{ImportedRun, ImportedVerdict, Repeat, RunEnd};
use crate::sessions::{figure, finish, non_blank, push_fact, token_counts};
use crate::source::Input;
use crate::swe_bench;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Opened output; its lines are parsed when they are needed.
pub(super) struct Output<'a> {
    input: Input<'a>,
    text: String,
    lines: Vec<Line>,
    is_cut: bool,
}

/// Line of an instance.
struct Line {
    place: Range<usize>,
    name: Option<String>,
    /// Number among the lines of the same instance.
    repeat: u32,
}

impl<'a> Output<'a> {
    pub(super) fn new(bytes: Vec<u8>, input: Input<'a>) -> Result<Output<'a>, ReadError> {
        let text = pieces::text(bytes)?;
        let mut lines = Vec::new();
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut is_cut = false;
        let mut rest = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        while let Some(line) = rest.next() {
            let members = pieces::members(line);
            if rest.peek().is_none() && !members.is_complete && line.starts_with('{') {
                is_cut = true;
                break;
            }
            let name = instance_name(|key| {
                pieces::member(&members, key).and_then(|part| json::read_python(part).ok())
            });
            let count = counts.entry(name.clone().unwrap_or_default()).or_default();
            *count += 1;
            lines.push(Line { place: pieces::range_of_part(&text, line), name, repeat: *count });
        }
        Ok(Output { input, text, lines, is_cut })
    }
}

impl ImportedFile for Output<'_> {
    fn len(&self) -> usize {
        self.lines.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        let line = self.lines.get(at)?;
        let name = line.name.clone().unwrap_or_else(|| "without an id".to_owned());
        Some(if line.repeat > 1 { format!("{name} ({})", line.repeat) } else { name })
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let line = self.lines.get(at).ok_or_else(|| {
            ReadError::new(ReadErrorKind::NotTranscript, "The file has no run with this number.")
        })?;
        let text = self.text.get(line.place.clone()).unwrap_or_default();
        let mut run = read_line(&json::read_python(text)?);
        run.repeat = Repeat::Number(line.repeat);
        if let Some(instance) = &line.name
            && !run.verdicts.iter().any(|verdict| verdict.name == "resolved")
        {
            run.verdicts.extend(swe_bench::find_verdict(&self.input, instance));
        }
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.is_cut.then(pieces::cut_off)
    }
}

/// Returns the name of an instance: its id, else that of the issue.
fn instance_name(get: impl Fn(&str) -> Option<Value>) -> Option<String> {
    let id = get("instance_id").and_then(|id| crate::text::text_or_json(&id));
    non_blank(id.as_deref()).or_else(|| {
        let issue = get("issue")?;
        let number = crate::text::text_or_json(issue.get("number")?)?;
        Some(format!("{}/{}#{number}", issue.text_at("owner")?, issue.text_at("repo")?))
    })
}

fn read_line(line: &Value) -> ImportedRun {
    let history = line.get("history").map(Value::items).unwrap_or_default();
    let read = read_events(history);
    let mut run = read.run;
    run.task = instance_name(|key| line.get(key).cloned());
    let agent = line.at_path(&["metadata", "agent_class"]).and_then(Value::text);
    run.system = non_blank(agent).or(run.system);
    let models: [&[&str]; 2] =
        [&["metadata", "llm_config", "model"], &["metadata", "llm", "model"]];
    run.model = models.iter().find_map(|path| non_blank(line.at_path(path)?.text()));
    let error = line.get("error").and_then(crate::text::text_or_json);
    run.error = non_blank(error.as_deref());
    run.end = if run.error.is_some() { RunEnd::Error } else { RunEnd::Complete };
    let usage = line.at_path(&["metrics", "accumulated_token_usage"]).unwrap_or(&Value::Null);
    run.tokens = token_counts(usage, "prompt_tokens", "completion_tokens", "total_tokens");
    run.cost = figure(line, &["metrics", "accumulated_cost"]);
    if let Some(value) = line.get_non_null("success") {
        run.verdicts.push(ImportedVerdict {
            name: "success".to_owned(),
            value: value.clone(),
            passed: value.bool(),
            reason: line.get("result_explanation").and_then(crate::text::text_or_json),
            threshold: None,
        });
    }
    let report = line.at_path(&["test_result", "report", "resolved"]).and_then(Value::bool);
    run.verdicts.extend(report.map(|passed| swe_bench::verdict(passed, "the output")));
    let facts: [(&str, &[&str]); 5] = [
        ("most iterations", &["metadata", "max_iterations"]),
        ("dataset", &["metadata", "dataset"]),
        ("commit", &["metadata", "git_commit"]),
        ("evaluation started", &["metadata", "start_time"]),
        ("base commit", &["base_commit"]),
    ];
    for (name, path) in facts {
        push_fact(&mut run.facts, name, line.at_path(path));
    }
    if history.is_empty() {
        run.notes.push("The instance has no history.".to_owned());
    }
    finish(run)
}
