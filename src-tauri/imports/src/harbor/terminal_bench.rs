//! **Pure.** Results of Terminal-Bench 1, from which Harbor came: verdicts without steps.
use crate::run::{EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts};
use crate::sessions::{Session, non_blank, parse, push_fact, seconds_between};
use crate::source::Input;
use touchstone_formats::timestamps;
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Reads the result of a trial. The agent and the model stand in `run_metadata.json`, two folders
/// above.
pub(super) fn read(input: &Input<'_>, text: &str) -> Result<Session, ReadError> {
    let result = json::read_python(text)?;
    let metadata = input.read_beside("../../run_metadata.json");
    let metadata = metadata.and_then(|bytes| parse(&crate::pieces::text(bytes).ok()?));
    let metadata = metadata.unwrap_or_default();
    let count = |key: &str| result.get(key).and_then(Value::whole_number);
    let started = non_blank(result.text_at("trial_started_at"));
    let ended = result.text_at("trial_ended_at");
    let mut run = ImportedRun {
        task: non_blank(result.text_at("task_id")),
        system: non_blank(metadata.text_at("agent_name")),
        model: non_blank(metadata.text_at("model_name")),
        repeat: Repeat::Ordered {
            group: crate::source::resolve(input.parent(), "../..").unwrap_or_default(),
            start: started.as_deref().and_then(timestamps::seconds),
        },
        tokens: TokenCounts::new(count("total_input_tokens"), count("total_output_tokens"), None),
        seconds: started.as_deref().zip(ended).and_then(|(a, b)| seconds_between(a, b)),
        started,
        ..ImportedRun::default()
    };
    if let Some(text) = non_blank(result.text_at("instruction")) {
        run.push(EventKind::User(text));
    }
    if let Some(value @ Value::Bool(passed)) = result.get("is_resolved") {
        run.verdicts.push(ImportedVerdict {
            name: "is_resolved".to_owned(),
            value: value.clone(),
            passed: Some(*passed),
            ..ImportedVerdict::default()
        });
    }
    for (name, value) in result.get("parser_results").map(Value::entries).unwrap_or_default() {
        let passed = match value.text() {
            Some("passed") => Some(true),
            Some("failed") => Some(false),
            _ => None,
        };
        let name = name.text().unwrap_or_default().to_owned();
        let value = value.clone();
        run.verdicts.push(ImportedVerdict { name, value, passed, ..ImportedVerdict::default() });
    }
    let failure = result.text_at("failure_mode").unwrap_or("none");
    run.end = match failure {
        "none" | "unset" => RunEnd::Complete,
        "agent_timeout" | "context_length_exceeded" | "output_length_exceeded" => RunEnd::Limit,
        _ => RunEnd::Error,
    };
    if run.end != RunEnd::Complete {
        run.error = Some(failure.to_owned());
    }
    push_fact(&mut run.facts, "recording", result.get("recording_path"));
    push_fact(&mut run.facts, "dataset", metadata.get("dataset_path"));
    run.notes.push("Terminal-Bench 1 records no steps that can be read.".to_owned());
    let member = non_blank(result.text_at("trial_name"));
    Ok(Session { member, run: Some(run), error: None })
}
