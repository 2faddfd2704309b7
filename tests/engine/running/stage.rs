//! Shared by the tests of runs: hand-written replies, folders, and one-line views of transcripts.
use super::{document, folder_of, request};
use crate::bench::Bench;
use crate::scripted::{Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use touchstone_api::LaunchRequest;
use touchstone_runner::event::{RunEvent, RunEventKind};
use touchstone_runner::launch::Listener;

/// A task with a prompt and nothing else.
pub(crate) const PLAIN: &str = "tool_calling_prompt: How many?\n";
/// File of its run.
pub(crate) const RUN: &str = "results/count-tool_calling-scripted-variation0.yaml";
/// Path of the run below the output directory.
pub(crate) const NAME: &str = "count-tool_calling-scripted-variation0.yaml";
/// Text of a reply with an answer.
pub(crate) const ANSWER: &str = "Here.\n\n```json\n[{\"n\": 7}]\n```";
/// Arguments of a query that works.
pub(crate) const QUERY: &str = r#"{"sql": "SELECT sum(number) AS n FROM things"}"#;

/// Builds a completion with a text and calls: id, name and raw arguments.
pub(crate) fn chat(text: Option<&str>, calls: &[(&str, &str, &str)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
        })
        .collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": "c", "object": "chat.completion", "created": 0, "model": "any-1",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    })
}

/// Builds a reply with a text.
pub(crate) fn says(text: &str) -> Reply {
    Reply::json(&chat(Some(text), &[]))
}

/// Builds a reply that calls tools.
pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    Reply::json(&chat(None, calls))
}

/// Builds an error reply with a status, and without delay before a retry, if any.
pub(crate) fn refuses(status: u16, kind: &str, message: &str) -> Reply {
    let error = json!({ "error": { "message": message, "type": kind, "code": kind } });
    Reply::json(&error).status(status).header("retry-after-ms", "1")
}

/// Returns the workspace file for a server of Chat Completions, with additional settings of the
/// model and of the file.
pub(crate) fn workspace(server: &Scripted, model: &str, more: &str) -> String {
    let things = super::THINGS;
    let url = server.url("/v1");
    let price = "price: { input: 1.0, output: 2.0 }";
    format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  scripted: {{ provider: openai, base_url: '{url}', model: any, {price}{model} }}\n{things}{more}"
    )
}

/// Opens a folder with one plain task and a server.
pub(crate) fn plain(server: &Scripted) -> Bench {
    folder_of(&workspace(server, "", ""), PLAIN).open()
}

/// Returns the number of messages of a role in a request.
pub(crate) fn count(seen: &Seen, role: &str) -> usize {
    seen.json()["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|message| message["role"] == role)
        .count()
}

/// Replies with one database call, then with the answer, to any question.
pub(crate) fn calls_then_answers(seen: &Seen) -> Reply {
    if count(seen, "tool") == 0 { calls(&[("c1", "query_things", QUERY)]) } else { says(ANSWER) }
}

/// Formats the items of a transcript, one per line, without the duration of calls.
pub(crate) fn transcript_lines(bench: &Bench, path: &str) -> String {
    let document = document(bench, path);
    let line = |item: &touchstone_model::value::Value| {
        let mut item: Value =
            serde_json::from_str(&touchstone_model::json::write(item, false)).unwrap();
        if let Some(call) = item.get_mut("tool_call").and_then(Value::as_object_mut) {
            call.remove("seconds");
        }
        item.to_string()
    };
    document.items().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a value of the `run` section of a transcript.
pub(crate) fn fact(bench: &Bench, path: &str, key: &str) -> Option<String> {
    let document = document(bench, path);
    let value = document.get("run")?.get(key)?;
    Some(touchstone_model::json::write(value, false))
}

/// Returns the journal of a run as text.
pub(crate) fn journal(bench: &Bench, name: &str) -> String {
    let path = bench
        .path(&format!("results/.touchstone/journal/{}.jsonl", name.trim_end_matches(".yaml")));
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns a listener, and the events it receives.
pub(crate) fn ear() -> (Arc<Mutex<Vec<RunEvent>>>, Listener) {
    let heard: Arc<Mutex<Vec<RunEvent>>> = Arc::default();
    let into = Arc::clone(&heard);
    (heard, Box::new(move |events: &[RunEvent]| into.lock().unwrap().extend_from_slice(events)))
}

/// Returns the number of events that match.
pub(crate) fn count_events(
    events: &Mutex<Vec<RunEvent>>,
    passes: impl Fn(&RunEventKind) -> bool,
) -> usize {
    events.lock().unwrap().iter().filter(|event| passes(&event.what)).count()
}

/// Builds the request for a number of repeats.
pub(crate) fn repeats(repeats: u32) -> LaunchRequest {
    LaunchRequest { repeats: Some(repeats), ..request() }
}

/// Opens a folder with a workspace file and a task.
pub(crate) fn folder_with(workspace: &str, task: &str) -> Bench {
    folder_of(workspace, task).open()
}
