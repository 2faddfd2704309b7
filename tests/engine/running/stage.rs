//! What the tests of runs share: replies by hand, a folder by a few words, and what a transcript
//! says in one line.
use super::{document, folder_of, request};
use crate::bench::Bench;
use crate::scripted::{Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use touchstone_api::LaunchRequest;
use touchstone_runner::event::{RunEvent, What};
use touchstone_runner::launch::Listener;

/// A task with one prompt and nothing else.
pub(crate) const PLAIN: &str = "tool_calling_prompt: How many?\n";
/// Its file.
pub(crate) const RUN: &str = "results/count-tool_calling-scripted-variation0.yaml";
/// The same below the output directory.
pub(crate) const NAME: &str = "count-tool_calling-scripted-variation0.yaml";
/// What a model says that answers.
pub(crate) const ANSWER: &str = "Here.\n\n```json\n[{\"n\": 7}]\n```";
/// A query that works.
pub(crate) const QUERY: &str = r#"{"sql": "SELECT sum(number) AS n FROM things"}"#;

/// A completion with a text and calls: id, name and arguments as they are written.
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

/// A reply that says something.
pub(crate) fn says(text: &str) -> Reply {
    Reply::json(&chat(Some(text), &[]))
}

/// A reply that calls tools.
pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    Reply::json(&chat(None, calls))
}

/// A reply that is refused with a status, to be asked again at once when it is asked again at all.
pub(crate) fn refuses(status: u16, kind: &str, message: &str) -> Reply {
    let error = json!({ "error": { "message": message, "type": kind, "code": kind } });
    Reply::json(&error).status(status).header("retry-after-ms", "1")
}

/// The workspace file of a server that speaks Chat Completions, with more lines of a model and of
/// the whole.
pub(crate) fn workspace(server: &Scripted, model: &str, more: &str) -> String {
    let things = super::THINGS;
    let url = server.url("/v1");
    let price = "price: { input: 1.0, output: 2.0 }";
    format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  scripted: {{ provider: openai, base_url: '{url}', model: any, {price}{model} }}\n{things}{more}"
    )
}

/// A folder with one plain task and a server.
pub(crate) fn plain(server: &Scripted) -> Bench {
    folder_of(&workspace(server, "", ""), PLAIN).open()
}

/// How many messages of a role a request holds.
pub(crate) fn count(seen: &Seen, role: &str) -> usize {
    seen.json()["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|message| message["role"] == role)
        .count()
}

/// One call of the database, then the answer, whatever is asked.
pub(crate) fn calls_then_answers(seen: &Seen) -> Reply {
    if count(seen, "tool") == 0 { calls(&[("c1", "query_things", QUERY)]) } else { says(ANSWER) }
}

/// What is said in a transcript, each item a line; how long calls took is left out.
pub(crate) fn said(bench: &Bench, path: &str) -> String {
    let document = document(bench, path);
    let line = |item: &touchstone_formats::value::Value| {
        let mut item: Value =
            serde_json::from_str(&touchstone_formats::json::write(item, false)).unwrap();
        if let Some(call) = item.get_mut("tool_call").and_then(Value::as_object_mut) {
            call.remove("seconds");
        }
        item.to_string()
    };
    document.items().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a transcript says of its run.
pub(crate) fn fact(bench: &Bench, path: &str, key: &str) -> Option<String> {
    let document = document(bench, path);
    let value = document.get("run")?.get(key)?;
    Some(touchstone_formats::json::write(value, false))
}

/// The journal of a run, as text.
pub(crate) fn journal(bench: &Bench, name: &str) -> String {
    let path = bench
        .path(&format!("results/.touchstone/journal/{}.jsonl", name.trim_end_matches(".yaml")));
    fs::read_to_string(path).unwrap_or_default()
}

/// Everything that is told of a launch, and the listener that hears it.
pub(crate) fn ear() -> (Arc<Mutex<Vec<RunEvent>>>, Listener) {
    let heard: Arc<Mutex<Vec<RunEvent>>> = Arc::default();
    let into = Arc::clone(&heard);
    (heard, Box::new(move |events: &[RunEvent]| into.lock().unwrap().extend_from_slice(events)))
}

/// How many events pass.
pub(crate) fn heard(events: &Mutex<Vec<RunEvent>>, passes: impl Fn(&What) -> bool) -> usize {
    events.lock().unwrap().iter().filter(|event| passes(&event.what)).count()
}

/// The request for so many repeats.
pub(crate) fn repeats(repeats: u32) -> LaunchRequest {
    LaunchRequest { repeats: Some(repeats), ..request() }
}

/// A folder that is open, with a workspace file and a task.
pub(crate) fn folder_with(workspace: &str, task: &str) -> Bench {
    folder_of(workspace, task).open()
}
