//! **Pure.** The object that holds what a format has no place for: under the key `touchstone`.
use super::{ExportRun, Names, figure, integer, list, maybe_text, object, text};
use crate::run::{ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts};
use crate::text::text_or_json;
use touchstone_model::value::Value;

/// Key of the object.
pub(crate) const KEY: &str = "touchstone";

/// Builds the object with everything but the steps. A value that is not known has no key.
pub(super) fn write_summary(one: &ExportRun) -> Value {
    let run = &one.run;
    let tokens = run.tokens.map(|tokens| {
        object([
            ("input", tokens.input.and_then(integer)),
            ("output", tokens.output.and_then(integer)),
            ("total", tokens.total.and_then(integer)),
        ])
    });
    let mut entries = coordinates(one);
    entries.extend([
        ("error", maybe_text(run.error.as_deref())),
        ("answer", maybe_text(run.answer.as_deref())),
        ("expected", run.expected.clone()),
        ("verdicts", list(run.verdicts.iter().map(verdict).collect())),
        ("tokens", tokens),
        ("cost", figure(run.cost)),
        ("seconds", figure(run.seconds)),
        ("started", maybe_text(run.started.as_deref())),
        ("facts", facts(&run.facts)),
        ("notes", list(run.notes.iter().map(|note| Value::from(note.as_str())).collect())),
    ]);
    object(entries)
}

/// Returns the entries that say which run it is, and how it ended.
pub(super) fn coordinates(one: &ExportRun) -> Vec<(&'static str, Option<Value>)> {
    let run = &one.run;
    vec![
        ("run", text(&one.name)),
        ("task", maybe_text(run.task.as_deref())),
        ("variation", maybe_text(one.variation.as_deref())),
        ("system", maybe_text(run.system.as_deref())),
        ("model", maybe_text(run.model.as_deref())),
        ("repeat", integer(one.repeat)),
        ("state", text(state(run.end))),
    ]
}

pub(super) fn state(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Complete => "complete",
        RunEnd::Error => "error",
        RunEnd::Limit => "limit",
        RunEnd::Unfinished => "unfinished",
    }
}

fn end(state: &str) -> Option<RunEnd> {
    match state {
        "complete" => Some(RunEnd::Complete),
        "error" => Some(RunEnd::Error),
        "limit" => Some(RunEnd::Limit),
        "unfinished" => Some(RunEnd::Unfinished),
        _ => None,
    }
}

pub(super) fn verdict(verdict: &ImportedVerdict) -> Value {
    object([
        ("name", text(&verdict.name)),
        ("value", Some(verdict.value.clone()).filter(|value| *value != Value::Null)),
        ("passed", verdict.passed.map(Value::Bool)),
        ("reason", maybe_text(verdict.reason.as_deref())),
        ("threshold", verdict.threshold.clone()),
    ])
}

/// Builds an object of facts. A key that occurs again gets a number.
pub(super) fn facts(facts: &[(String, Value)]) -> Option<Value> {
    let mut names = Names::default();
    let entries = facts.iter().map(|(key, value)| (Value::Text(names.give(key)), value.clone()));
    (!facts.is_empty()).then(|| Value::Map(entries.collect()))
}

/// Returns the object that this program wrote under its key, which says which run it is and how it
/// ended. Other programs may use the key for themselves.
pub(crate) fn own_summary(holder: &Value) -> Option<&Value> {
    holder.get(KEY).filter(|own| is_own(own))
}

/// Returns true for an object that says which run it is and how it ended.
pub(crate) fn is_own(summary: &Value) -> bool {
    summary.text_at("run").is_some() && summary.text_at("state").and_then(end).is_some()
}

/// Applies the object of a file that this program wrote. Only what the object holds replaces what
/// was read, but coordinates that are missing in it are unknown.
pub(crate) fn apply_summary(summary: &Value, run: &mut ImportedRun) {
    let owned = |key: &str| summary.text_at(key).map(str::to_owned);
    (run.task, run.system, run.model) = (owned("task"), owned("system"), owned("model"));
    let repeat = summary.get("repeat").and_then(Value::whole_number);
    if let Some(repeat) = repeat.and_then(|repeat| u32::try_from(repeat).ok()) {
        run.repeat = Repeat::Number(repeat);
    }
    run.end = summary.text_at("state").and_then(end).unwrap_or(run.end);
    run.error = owned("error");
    run.expected = summary.get("expected").cloned().or(run.expected.take());
    run.answer = owned("answer").or(run.answer.take());
    run.started = owned("started").or(run.started.take());
    let number = |key: &str| summary.get(key).and_then(Value::number);
    run.cost = number("cost").or(run.cost);
    run.seconds = number("seconds").or(run.seconds);
    if let Some(tokens) = summary.get("tokens") {
        let count = |key: &str| tokens.get(key).and_then(Value::whole_number);
        run.tokens = TokenCounts::new(count("input"), count("output"), count("total"));
    }
    let verdicts = summary.get("verdicts").map(Value::items).unwrap_or_default();
    run.verdicts.extend(verdicts.iter().map(read_verdict));
    let facts = summary.get("facts").map(Value::entries).unwrap_or_default();
    run.facts
        .extend(facts.iter().filter_map(|(key, value)| Some((text_or_json(key)?, value.clone()))));
    let notes = summary.get("notes").map(Value::items).unwrap_or_default();
    run.notes.extend(notes.iter().filter_map(text_or_json));
}

fn read_verdict(value: &Value) -> ImportedVerdict {
    ImportedVerdict {
        name: value.text_at("name").unwrap_or_default().to_owned(),
        value: value.get("value").cloned().unwrap_or_default(),
        passed: value.get("passed").and_then(Value::bool),
        reason: value.text_at("reason").map(str::to_owned),
        threshold: value.get_non_null("threshold").cloned(),
    }
}
