//! **Pure.** The run of a session, from its records.
use super::agents::{Agents, events};
use super::record::{Kind, Record, Usage};
use crate::run::{Event, EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::sessions::{add, all_answered, figure, finish, non_blank, push_fact, seconds_between};
use crate::text::is_blank;
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Facts that stand beside the messages.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Id of the session: the name of the run.
    pub(super) session: Option<String>,
    /// True if the file is what `-p --output-format stream-json` printed.
    pub(super) is_stream: bool,
    /// Last record of a stream.
    result: Option<Value>,
    entries: Vec<(&'static str, Value)>,
}

/// Keys of facts, and the keys of records that they come from. The first value counts.
const FIRST: [(&str, &str); 7] = [
    ("version", "version"),
    ("version", "claude_code_version"),
    ("folder", "cwd"),
    ("git branch", "gitBranch"),
    ("slug", "slug"),
    ("permission mode", "permissionMode"),
    ("agent", "agentName"),
];

impl Facts {
    /// Takes what a record tells about the session.
    pub(super) fn add(&mut self, value: &Value) {
        if self.session.is_none() {
            let id = ["sessionId", "session_id"].iter().find_map(|key| value.text_at(key));
            self.session = non_blank(id);
        }
        self.is_stream |= value.get("session_id").is_some() && value.get("sessionId").is_none();
        for (name, key) in FIRST {
            let known = self.entries.iter().any(|(known, _)| *known == name);
            if !known && let Some(text) = non_blank(value.text_at(key)) {
                self.entries.push((name, Value::Text(text)));
            }
        }
        let title = match value.text_at("type") {
            Some("summary") => value.text_at("summary"),
            Some("ai-title") => value.text_at("aiTitle"),
            Some("custom-title") => value.text_at("customTitle"),
            _ => None,
        };
        if let Some(title) = non_blank(title) {
            self.entries.retain(|(name, _)| *name != "title");
            self.entries.push(("title", Value::Text(title)));
        }
        if value.text_at("type") == Some("result") && self.is_stream {
            self.result = Some(value.clone());
        }
    }
}

/// Builds the run. Returns `None` if there are no messages.
pub(super) fn read(
    mut records: Vec<Record>,
    facts: &Facts,
    agents: &mut Agents<'_>,
) -> Option<ImportedRun> {
    let mut run = ImportedRun { system: Some("claude-code".to_owned()), ..ImportedRun::default() };
    let counted: Vec<&Record> =
        records.iter().filter(|record| record.is_message() && !record.is_sidechain).collect();
    if counted.is_empty() && facts.result.is_none() {
        return None;
    }
    run.model = counted.iter().find_map(|record| record.model.clone());
    run.tokens = tokens(&counted);
    run.cost = counted.iter().filter_map(|record| record.cost).reduce(|a, b| a + b);
    let times = || counted.iter().filter_map(|record| record.time.as_deref());
    run.started = times().next().map(str::to_owned);
    run.seconds = times()
        .next()
        .zip(times().next_back())
        .and_then(|(first, last)| seconds_between(first, last));
    (run.end, run.error) = end(&counted);
    let mut seen = std::collections::HashSet::new();
    for record in &mut records {
        // Only the first record of an answer shows what the answer took.
        if record.message_id.as_ref().is_some_and(|id| !seen.insert(id.clone())) {
            record.usage = None;
        }
    }
    agents.collect(&mut records);
    run.events = events(records, agents);
    run.events.extend(agents.rest().into_iter().map(Event::from));
    if agents.is_too_large {
        run.notes.push("Files of sub-agents are too large and were left out.".to_owned());
    }
    let models = run.events.iter().filter(|event| matches!(event.kind, EventKind::SubAgent { .. }));
    if models.count() > 0 {
        run.notes
            .push("The tokens are those of the main agent, without its sub-agents.".to_owned());
    }
    for (key, value) in &facts.entries {
        push_fact(&mut run.facts, key, Some(value));
    }
    if let Some(result) = &facts.result {
        read_result(&mut run, result);
    } else if facts.is_stream {
        run.notes.push(
            "The output has no result: it was cut off, or is still being written.".to_owned(),
        );
    }
    Some(finish(run))
}

/// Sums up the tokens: once for each answer of the model, as its last record gives them.
fn tokens(records: &[&Record]) -> Option<TokenCounts> {
    let (mut answers, mut last): (Vec<Usage>, HashMap<&str, usize>) = (Vec::new(), HashMap::new());
    for record in records {
        let Some(usage) = record.usage else { continue };
        let id = record.message_id.as_deref();
        if let Some(at) = id.and_then(|id| last.get(id)) {
            answers[*at] = usage;
            continue;
        }
        if let Some(id) = id {
            last.insert(id, answers.len());
        }
        answers.push(usage);
    }
    let (mut input, mut output, mut total) = (None, None, None);
    for usage in answers {
        add(&mut input, usage.input);
        add(&mut output, usage.output);
        add(&mut total, Some(usage.total()));
    }
    total.and_then(|total| TokenCounts::new(input, output, Some(total)))
}

/// Returns how a session ended, by its last message.
fn end(records: &[&Record]) -> (RunEnd, Option<String>) {
    let Some(last) = records.last() else { return (RunEnd::Unfinished, None) };
    if last.is_api_error {
        let text = last.events.iter().find_map(|event| match &event.kind {
            EventKind::Assistant(text) | EventKind::User(text) => Some(text.clone()),
            _ => None,
        });
        return (RunEnd::Error, text);
    }
    let calls = last.events.iter().filter(|event| matches!(event.kind, EventKind::Call { .. }));
    let others = records.iter().flat_map(|record| &record.events);
    let results = others.filter(|event| matches!(event.kind, EventKind::Result { .. }));
    let is_answered = all_answered(calls.chain(results).map(|event| &event.kind));
    if last.kind != Kind::Assistant || !is_answered {
        return (RunEnd::Unfinished, None);
    }
    (RunEnd::Complete, None)
}

/// Takes what the last record of a stream says about the whole: it wins over the messages.
fn read_result(run: &mut ImportedRun, result: &Value) {
    let subtype = result.text_at("subtype").unwrap_or_default();
    let is_error = result.get("is_error").and_then(Value::bool) == Some(true);
    run.end = match subtype {
        "error_max_turns" | "error_max_budget_usd" => RunEnd::Limit,
        _ if is_error || subtype.starts_with("error") => RunEnd::Error,
        _ => RunEnd::Complete,
    };
    let text = result.text_at("result").filter(|text| !is_blank(text)).map(str::to_owned);
    if run.end == RunEnd::Complete {
        run.error = None;
        run.answer = text;
    } else {
        let errors = result.get("errors").map(Value::items).unwrap_or_default();
        let errors: Vec<&str> = errors.iter().filter_map(Value::text).collect();
        let errors = Some(errors.join("\n")).filter(|text| !is_blank(text));
        run.error = text.or(errors).or_else(|| non_blank(Some(subtype)));
    }
    if let Some(usage) = result.get("usage").and_then(Usage::read) {
        run.tokens = TokenCounts::new(usage.input, usage.output, Some(usage.total()));
    }
    run.cost = figure(result, &["total_cost_usd"]).or(run.cost);
    run.seconds = figure(result, &["duration_ms"]).map(|ms| ms / 1_000.0).or(run.seconds);
    for (name, key) in [("turns", "num_turns"), ("permission denials", "permission_denials")] {
        push_fact(&mut run.facts, name, result.get(key));
    }
}
