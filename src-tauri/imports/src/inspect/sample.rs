//! **Pure.** Reads a sample of a log as a run.
use super::log::Log;
use super::message::Message;
use super::pieces::{Pieces, SampleText};
use super::timeline::Timeline;
use crate::export::inspect::{PASSED, THRESHOLD, says_passed};
use crate::export::{KEY, apply_summary, own_summary, read_beside};
use crate::messages::read_message;
use crate::run::{EventKind, Identity, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts};
use crate::text::{canonical_json, is_blank, text_or_json};
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Maximum length of a value that is shown as a fact, as JSON.
const MOST_FACT: usize = 10_000;

/// Returns the name of a sample in its log.
pub(super) fn name(id: &Value, epoch: &Value) -> Option<String> {
    Some(format!("{}_epoch_{}", id_text(id)?, epoch.whole_number()?))
}

fn id_text(id: &Value) -> Option<&str> {
    match id {
        Value::Text(text) | Value::Number(text) => Some(text),
        _ => None,
    }
}

/// Reads a sample.
pub(super) fn read(log: &Log, text: &SampleText) -> Result<ImportedRun, ReadError> {
    let pieces = Pieces::split(text)?;
    let timeline = Timeline::read(&pieces);
    let (id, epoch) = (pieces.value("id")?, pieces.value("epoch")?);
    let epoch = epoch.whole_number();
    let mut run = ImportedRun {
        task: id_text(&id).and_then(|id| Some(format!("{}/{id}", log.task.as_deref()?))),
        system: log.solver.clone(),
        model: log.model.clone(),
        repeat: epoch
            .and_then(|epoch| u32::try_from(epoch).ok())
            .map_or_else(Repeat::default, Repeat::Stated),
        expected: read_expected(pieces.value("target")?),
        answer: read_answer(&pieces.value("output")?),
        seconds: pieces.value("total_time")?.number().filter(|seconds| *seconds >= 0.0),
        started: pieces.value("started_at")?.text().map(str::to_owned),
        identity: identity(log, &id, epoch),
        facts: log.facts.clone(),
        notes: log.notes.clone(),
        ..ImportedRun::default()
    };
    read_end(&pieces, &mut run)?;
    read_scores(log, &pieces, &mut run)?;
    (run.tokens, run.cost) = read_usage(&pieces.value("model_usage")?);
    let metadata = pieces.value("metadata")?;
    let own = own_summary(&metadata);
    read_facts(&pieces, own.is_some(), &mut run)?;
    let mut messages = read_messages(&pieces)?;
    if let Some(own) = own {
        messages = with_beside(own, messages);
        apply_summary(own, &mut run);
    }
    run.events = timeline.arrange(&pieces, messages, &mut run.notes);
    if pieces.is_missing_attachments() {
        run.notes.push("Some attachments of the log are missing or too large.".to_owned());
    }
    Ok(run)
}

fn identity(log: &Log, id: &Value, epoch: Option<u64>) -> Option<Identity> {
    let (task, id, epoch) = (log.task_id.as_deref()?, id_text(id)?, epoch?);
    // Copies in other folders stand for themselves.
    let key = format!("inspect:{}:{task}:{id}:{epoch}", log.folder);
    Some(Identity { key, rank: log.created })
}

/// Returns the messages of a sample with what this program wrote beside them.
fn with_beside(own: &Value, messages: Vec<Message>) -> Vec<Message> {
    let beside = read_beside(own.get("beside").unwrap_or(&Value::Null)).into_iter();
    let beside = beside.map(|one| {
        ((one.after, false), Message { id: None, is_summary: false, events: one.events })
    });
    let messages = messages.into_iter().enumerate().map(|(at, message)| ((at, true), message));
    let mut all: Vec<_> = beside.chain(messages).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, message)| message).collect()
}

fn read_messages(pieces: &Pieces) -> Result<Vec<Message>, ReadError> {
    pieces.messages.iter().map(|text| Message::read(pieces, text)).collect()
}

fn read_expected(target: Value) -> Option<Value> {
    match target {
        Value::Null => None,
        Value::Text(text) if text.is_empty() => None,
        target => Some(target),
    }
}

fn read_answer(output: &Value) -> Option<String> {
    let completion = output.text_at("completion").filter(|text| !text.is_empty());
    let choice = || {
        let message = output.get("choices")?.items().first()?.get("message")?;
        read_message(message).into_iter().find_map(|event| match event {
            EventKind::Assistant(text) => Some(text),
            _ => None,
        })
    };
    completion.map(str::to_owned).or_else(choice).filter(|text| !is_blank(text))
}

fn read_end(pieces: &Pieces, run: &mut ImportedRun) -> Result<(), ReadError> {
    let (error, limit) = (pieces.value("error")?, pieces.value("limit")?);
    if error != Value::Null {
        run.end = RunEnd::Error;
        run.error = error.get("message").map_or_else(|| text_or_json(&error), text_or_json);
    } else if limit != Value::Null {
        run.end = RunEnd::Limit;
    }
    if limit != Value::Null {
        run.facts.push(("limit".to_owned(), describe_limit(limit)));
    }
    Ok(())
}

fn describe_limit(limit: Value) -> Value {
    if let Some(reason) = limit.text_at("reason") {
        return Value::from(reason);
    }
    match (limit.text_at("type"), limit.get("limit")) {
        (Some(kind), Some(Value::Number(most))) => Value::Text(format!("{kind}, {most}")),
        _ => limit,
    }
}

fn read_scores(log: &Log, pieces: &Pieces, run: &mut ImportedRun) -> Result<(), ReadError> {
    let scores = pieces.value("scores")?;
    for (name, score) in scores.entries() {
        read_score(name.text().unwrap_or_default(), score, run);
    }
    let only = pieces.value("score")?;
    if scores == Value::Null && only != Value::Null {
        // Early logs have one score, whose name stands in the results of the log.
        read_score(log.scorer.as_deref().unwrap_or("score"), &only, run);
    }
    Ok(())
}

fn read_score(name: &str, score: &Value, run: &mut ImportedRun) {
    if *score == Value::Null {
        return;
    }
    let value = if score.entries().is_empty() { Some(score) } else { score.get("value") };
    let reason = score.text_at("explanation");
    let metadata = score.get("metadata").unwrap_or(&Value::Null);
    let verdict = |name: String, value: &Value| ImportedVerdict {
        name,
        value: value.clone(),
        passed: match metadata.get(PASSED) {
            Some(passed) => passed.bool(),
            None => says_passed(value),
        },
        reason: reason.map(str::to_owned),
        threshold: metadata.get_non_null(THRESHOLD).cloned(),
    };
    match value {
        Some(Value::Map(entries)) => {
            run.verdicts.extend(entries.iter().map(|(key, value)| {
                verdict(format!("{name}/{}", key.text().unwrap_or_default()), value)
            }));
        }
        value => run.verdicts.push(verdict(name.to_owned(), value.unwrap_or(&Value::Null))),
    }
    push_fact(run, &format!("{name} answer"), score.get("answer").unwrap_or(&Value::Null));
    push_fact(run, &format!("{name} metadata"), &without_keys(metadata, &[PASSED, THRESHOLD]));
}

fn read_usage(usage: &Value) -> (Option<TokenCounts>, Option<f64>) {
    let sum = |key: &str| {
        let models = usage.entries().iter();
        let counts = models.filter_map(|(_, model)| model.get(key)?.whole_number());
        counts.fold(None, |sum: Option<u64>, count| Some(sum.unwrap_or(0).saturating_add(count)))
    };
    let costs = usage.entries().iter();
    let costs = costs.filter_map(|(_, model)| model.get("total_cost")?.number());
    let costs = costs.filter(|cost| *cost >= 0.0);
    let cost = costs.fold(None, |sum: Option<f64>, cost| Some(sum.unwrap_or(0.0) + cost));
    let cost = cost.filter(|cost| cost.is_finite());
    let tokens = TokenCounts::new(sum("input_tokens"), sum("output_tokens"), sum("total_tokens"));
    (tokens, cost)
}

/// Returns a map without some of its keys, which are read elsewhere.
fn without_keys(value: &Value, keys: &[&str]) -> Value {
    let is_other = |key: &Value| key.text().is_none_or(|key| !keys.contains(&key));
    match value {
        Value::Map(entries) => {
            Value::Map(entries.iter().filter(|(key, _)| is_other(key)).cloned().collect())
        }
        other => other.clone(),
    }
}

fn read_facts(pieces: &Pieces, has_own: bool, run: &mut ImportedRun) -> Result<(), ReadError> {
    let own = if has_own { &[KEY][..] } else { &[] };
    for (key, name) in [
        ("choices", "choices"),
        ("metadata", "sample metadata"),
        ("uuid", "sample uuid"),
        ("working_time", "working seconds"),
        ("invalidation", "invalidated"),
    ] {
        push_fact(run, name, &without_keys(&pieces.value(key)?, own));
    }
    let retries = pieces.value("error_retries")?;
    let messages = retries.items().iter().filter_map(|retry| retry.get("message")).cloned();
    push_fact(run, "errors before a retry", &Value::List(messages.collect()));
    Ok(())
}

/// Adds a fact unless it is empty. Long ones are left out, with a note.
fn push_fact(run: &mut ImportedRun, name: &str, value: &Value) {
    let is_empty = match value {
        Value::Null => true,
        Value::Text(text) => is_blank(text),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    if is_empty {
        return;
    }
    if canonical_json(value).len() > MOST_FACT {
        run.notes.push(format!("“{name}” is longer than 10,000 characters and was left out."));
        return;
    }
    run.facts.push((name.to_owned(), value.clone()));
}
