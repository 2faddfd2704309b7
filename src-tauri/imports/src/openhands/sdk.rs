//! **Pure.** Events of the SDK, each with its `kind`.
use super::{EventRun, at_time, end_of_status};
use crate::messages::{read_content, read_reasoning, result_media, result_value};
use crate::run::{EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::sessions::{add, figure, is_figure, non_blank, push_fact};
use crate::text::{join, text_or_json};
use touchstone_model::value::Value;

/// Reads events. They end as the last status says.
pub(super) fn read(events: &[Value]) -> EventRun {
    let mut run = ImportedRun::default();
    let (mut status, mut error) = (None, None);
    for event in events {
        if event.text_at("kind") == Some("ConversationStateUpdateEvent") {
            let value = event.get("value").unwrap_or(&Value::Null);
            match event.text_at("key") {
                Some("execution_status" | "agent_status") => status = value.text(),
                Some("stats") => read_stats(&mut run, value),
                Some("full_state") => {
                    status = value.text_at("execution_status").or(status);
                    if let Some(stats) = value.get_non_null("stats") {
                        read_stats(&mut run, stats);
                    }
                }
                _ => {}
            }
            continue;
        }
        for kind in read_event(event) {
            if let EventKind::Error(text) = &kind {
                error = Some(text.clone());
            }
            run.events.push(at_time(event, kind));
        }
    }
    run.end = end_of_status(status);
    if run.end == RunEnd::Error {
        run.error.clone_from(&error);
    }
    if let Some(status) = status {
        push_fact(&mut run.facts, "status", Some(&Value::from(status)));
    }
    EventRun { run, error }
}

/// Takes model, tokens and cost from the statistics: sums over the uses of models.
pub(super) fn read_stats(run: &mut ImportedRun, stats: &Value) {
    let uses = stats.get("usage_to_metrics").map(Value::entries).unwrap_or_default();
    let (mut input, mut output, mut cost) = (None, None, None::<f64>);
    for (_, metrics) in uses {
        let count = |key: &str| metrics.at_path(&["accumulated_token_usage", key])?.whole_number();
        add(&mut input, count("prompt_tokens"));
        add(&mut output, count("completion_tokens"));
        if let Some(more) = figure(metrics, &["accumulated_cost"]) {
            cost = Some(cost.unwrap_or_default() + more).filter(|cost| is_figure(*cost));
        }
    }
    let model = uses.iter().find_map(|(_, metrics)| non_blank(metrics.text_at("model_name")));
    run.model = model.or_else(|| run.model.take());
    run.tokens = TokenCounts::new(input, output, None);
    run.cost = cost;
}

/// Reads an event that is no change of the state.
fn read_event(event: &Value) -> Vec<EventKind> {
    let text = |key: &str| non_blank(event.text_at(key));
    let id = || event.text_at("tool_call_id").map(str::to_owned);
    let result = |value: Value, failed: Option<bool>| {
        let name = event.text_at("tool_name").map(str::to_owned);
        vec![EventKind::Result { id: id(), name, value, failed }]
    };
    match event.text_at("kind").unwrap_or_default() {
        "MessageEvent" => read_message(event),
        "ActionEvent" => read_action(event, id()),
        "ObservationEvent" => {
            let observation = event.get("observation").unwrap_or(&Value::Null);
            let content = observation.get("content").or_else(|| observation.get("output"));
            let failed = observation.get("is_error").and_then(Value::bool);
            let content = content.unwrap_or(observation);
            let mut events = result(result_value(content), failed);
            events.extend(result_media(content));
            events
        }
        "AgentErrorEvent" => result(event.get("error").cloned().unwrap_or_default(), Some(true)),
        "UserRejectObservation" => {
            result(event.get("rejection_reason").cloned().unwrap_or_default(), Some(true))
        }
        "SystemPromptEvent" => {
            let prompt = event.get("system_prompt").unwrap_or(&Value::Null);
            let prompt = prompt.text_at("text").or_else(|| prompt.text());
            non_blank(prompt).map(EventKind::System).into_iter().collect()
        }
        "Condensation" => {
            let summary = text("summary").unwrap_or_else(|| "Condensed without summary".to_owned());
            vec![EventKind::Compaction(summary)]
        }
        "ConversationErrorEvent" => {
            let error = text("detail").or_else(|| text("code"));
            vec![EventKind::Error(error.unwrap_or_else(|| "Error".to_owned()))]
        }
        "PauseEvent" => vec![EventKind::Note("The user paused the agent.".to_owned())],
        "ACPToolCallEvent" => {
            let title = text("title").unwrap_or_else(|| "without a title".to_owned());
            vec![EventKind::Note(format!("Call of the inner agent: {title}"))]
        }
        _ => Vec::new(),
    }
}

fn read_message(event: &Value) -> Vec<EventKind> {
    let message = event.get("llm_message").unwrap_or(&Value::Null);
    let role = match (message.text_at("role"), event.text_at("source")) {
        (Some("system"), _) => "system",
        (Some("assistant"), _) | (None, Some("agent")) => "assistant",
        _ => "user",
    };
    let mut events: Vec<EventKind> =
        read_thinking(message).map(EventKind::Reasoning).into_iter().collect();
    events.extend(read_content(role, message.get("content").unwrap_or(&Value::Null)));
    events
}

/// Reads an action: its reasoning, its thought, and the call.
fn read_action(event: &Value, id: Option<String>) -> Vec<EventKind> {
    let mut events: Vec<EventKind> =
        read_thinking(event).map(EventKind::Reasoning).into_iter().collect();
    events.extend(read_content("assistant", event.get("thought").unwrap_or(&Value::Null)));
    let call = event.get_non_null("tool_call");
    let inner = call.and_then(|call| call.get_non_null("function")).or(call);
    let name = inner.and_then(|call| call.text_at("name")).or_else(|| event.text_at("tool_name"));
    let arguments = inner.and_then(|call| call.get_non_null("arguments"));
    let arguments = arguments.or_else(|| event.get("action")).cloned().unwrap_or_default();
    let name = name.unwrap_or_default().to_owned();
    let id = id.or_else(|| call.and_then(|call| call.text_at("id")).map(str::to_owned));
    events.push(EventKind::Call { id, name, arguments, by_user: false });
    events
}

/// Returns the readable reasoning: as text, in blocks, or as a summary.
fn read_thinking(holder: &Value) -> Option<String> {
    let text = holder.get("reasoning_content").and_then(text_or_json);
    non_blank(text.as_deref()).or_else(|| {
        let blocks = holder.get("thinking_blocks").map(Value::items).unwrap_or_default();
        let texts: Vec<String> = blocks.iter().filter_map(read_reasoning).collect();
        let blocks = join(texts.iter().map(String::as_str));
        non_blank(Some(&blocks)).or_else(|| read_reasoning(holder.get("responses_reasoning_item")?))
    })
}
