//! **Pure.** What `codex exec --json` prints: items of turns, without the message of the user.
use crate::messages::result_value;
use crate::run::{Event, EventKind, ImportedRun, RunEnd};
use crate::sessions::{non_blank, token_counts};
use crate::text::text_or_json;
use std::collections::HashSet;
use touchstone_model::value::Value;

/// Reads the output. Returns the id of the thread and the run.
pub(super) fn read(records: impl Iterator<Item = Value>) -> (Option<String>, Option<ImportedRun>) {
    let mut run = super::new_run();
    run.end = RunEnd::Unfinished;
    let (mut id, mut calls) = (None, HashSet::new());
    for record in records {
        let message = |value: &Value| non_blank(value.text_at("message"));
        match record.text_at("type").unwrap_or_default() {
            "thread.started" if id.is_none() => id = non_blank(record.text_at("thread_id")),
            "turn.started" => (run.end, run.error) = (RunEnd::Unfinished, None),
            "turn.completed" => {
                (run.end, run.error) = (RunEnd::Complete, None);
                let usage = record.get("usage").unwrap_or(&Value::Null);
                let counts = token_counts(usage, "input_tokens", "output_tokens", "total_tokens");
                run.tokens = counts.or(run.tokens);
            }
            "turn.failed" => {
                let error = record.get("error").and_then(message);
                (run.end, run.error) = (RunEnd::Error, error);
            }
            "error" => {
                let text = message(&record).unwrap_or_else(|| "Error".to_owned());
                run.push(EventKind::Error(text));
            }
            kind if kind.starts_with("item.") => {
                if let Some(item) = record.get("item") {
                    read_item(&mut run, item, kind == "item.completed", &mut calls);
                }
            }
            _ => {}
        }
    }
    run.notes.push("The output has no message of the user, no model and no times.".to_owned());
    (id, Some(run))
}

/// Reads an item: a text once it is complete, a call when it first appears.
fn read_item(run: &mut ImportedRun, item: &Value, is_complete: bool, calls: &mut HashSet<String>) {
    let text = || non_blank(item.text_at("text"));
    let kind = item.text_at("type").unwrap_or_default();
    let event = match kind {
        "agent_message" => text().map(EventKind::Assistant),
        "reasoning" => text().map(EventKind::Reasoning),
        "error" => non_blank(item.text_at("message")).map(EventKind::Note),
        "todo_list" => item.get("items").map(describe_list),
        "command_execution" | "mcp_tool_call" | "web_search" | "file_change" => {
            read_call(run, item, kind, is_complete, calls);
            None
        }
        "" => None,
        other => Some(EventKind::Note(format!("Item of another kind: {other}."))),
    };
    run.events.extend(event.filter(|_| is_complete).map(Event::from));
}

fn read_call(
    run: &mut ImportedRun,
    item: &Value,
    kind: &str,
    is_complete: bool,
    calls: &mut HashSet<String>,
) {
    let id = item.text_at("id").map(str::to_owned);
    let is_new = id.as_ref().is_none_or(|id| calls.insert(id.clone()));
    if is_new {
        let argument = |key: &str| {
            let value = item.get(key).cloned().unwrap_or_default();
            Value::Map(vec![(Value::from(key), value)])
        };
        let (name, arguments) = match kind {
            "command_execution" => (kind, argument("command")),
            "web_search" => (kind, argument("query")),
            "file_change" => (kind, argument("changes")),
            _ => (
                item.text_at("tool").unwrap_or(kind),
                item.get("arguments").cloned().unwrap_or_default(),
            ),
        };
        let (id, name) = (id.clone(), name.to_owned());
        run.push(EventKind::Call { id, name, arguments, by_user: false });
    }
    if !is_complete {
        return;
    }
    let status = item.text_at("status");
    let value = match kind {
        "command_execution" => item.get("aggregated_output").cloned().unwrap_or_default(),
        "mcp_tool_call" => {
            let error =
                item.get_non_null("error").map(|error| error.get("message").unwrap_or(error));
            let content = item.at_path(&["result", "content"]).or_else(|| item.get("result"));
            error.cloned().or_else(|| content.map(result_value)).unwrap_or_default()
        }
        _ => status.map(Value::from).unwrap_or_default(),
    };
    let code = item.get("exit_code").and_then(Value::number).map(|code| code != 0.0);
    let failed = status.map(|status| matches!(status, "failed" | "declined")).or(code);
    run.push(EventKind::Result { id, name: None, value, failed });
}

/// Writes a list of things to do, one a line.
fn describe_list(items: &Value) -> EventKind {
    let line = |item: &Value| {
        let is_done = item.get("completed").and_then(Value::bool) == Some(true);
        let text = item.get("text").and_then(text_or_json).unwrap_or_default();
        format!("{} {text}", if is_done { "[x]" } else { "[ ]" })
    };
    EventKind::Note(items.items().iter().map(line).collect::<Vec<_>>().join("\n"))
}
