//! Tests of `messages`, and of `report --format azure`: formats of other evaluators.
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::fs;

const CHAT: &str = r#"{"messages": [{"role": "user", "content": "High tide?"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "t", "type": "function", "function": {"name": "tide", "arguments": "{\"port\": \"Ost\"}"}}]},
  {"role": "tool", "tool_call_id": "t", "content": "09:00"}, {"role": "assistant", "content": "At nine."},
  {"role": "user", "content": "Low?"}, {"role": "assistant", "content": "At three."}],
  "tools": [{"type": "function", "function": {"name": "tide", "description": "Tides",
    "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}}}]}"#;

fn roles(messages: &Value) -> Vec<&str> {
    messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect()
}

#[test]
fn a_thread_becomes_the_row_of_its_last_turn_or_of_each() {
    let sandbox = Sandbox::with("messages-thread", &[("chat.json", CHAT)]);
    let last = sandbox.run(&["messages", "chat.json", "--without-earlier-tool-calls"]);
    assert_eq!((last.status, last.err.as_str()), (0, ""));
    let row = &last.json()[0];
    assert_eq!(roles(&row["query"]), ["user", "assistant", "user"]);
    assert_eq!(
        (&row["tool_definitions"][0]["name"], &row["response_text"]),
        (&json!("tide"), &json!("At three."))
    );
    let all = sandbox.fed(&["messages", "-", "--turn", "all"], CHAT.as_bytes());
    assert_eq!(all.json().len(), 2, "{all:?}");
    assert_eq!(roles(&all.json()[0]["response"]), ["assistant", "tool", "assistant"]);
    let beyond = sandbox.run(&["messages", "chat.json", "--turn", "7"]);
    assert!(beyond.status == 1 && beyond.err.contains("It has 2 turns"), "{beyond:?}");
    for bad in [
        &["messages"][..],
        &["messages", "chat.json", "--turn", "0"],
        &["messages", "x.json", "--folder", "."],
    ] {
        assert_eq!(sandbox.run(bad).status, 2, "{bad:?}");
    }
}

#[test]
fn what_is_no_thread_is_said_and_the_others_are_written_whole_to_a_file() {
    let sandbox = Sandbox::with(
        "messages-out",
        &[("a.json", CHAT), ("b.json", "{\"a\": 1}"), ("rows.jsonl", "old")],
    );
    let ran =
        sandbox.run(&["messages", "b.json", "a.json", "--run-id", "none", "--out", "rows.jsonl"]);
    assert!(
        ran.status == 1 && ran.out.is_empty() && ran.err.contains("no thread of messages"),
        "{ran:?}"
    );
    let text = fs::read_to_string(sandbox.folder.join("rows.jsonl")).unwrap();
    let row: Value = serde_json::from_str(text.trim_end()).unwrap();
    assert_eq!((row["query"].as_array().unwrap().len(), &row["response"]), (6, &json!([])));
}

#[test]
fn rows_of_results_files_keep_what_stands_beside_query_and_response() {
    let kept = include_str!("../fixtures/azure/rows/kept.json");
    let sandbox = Sandbox::with("messages-kept", &[("results/kept.json", kept)]);
    let of_file = sandbox.run(&["messages", "results/kept.json"]);
    let of_folder = sandbox.run(&["messages", "--folder", "results"]);
    for ran in [of_file, of_folder] {
        assert_eq!((ran.status, ran.json().len()), (0, 3), "{ran:?}");
        let row = &ran.json()[0];
        assert_eq!(row["query"][0]["content"][0]["text"], "How deep is the harbour?");
        assert_eq!(row["response"][0]["content"][0]["text"], "Nine metres.");
        let kept = ["ground_truth", "context", "category", "weight", "line_number"]
            .map(|key| row[key].clone());
        let context = json!(["The chart says 9 m.", { "source": "chart" }]);
        assert_eq!(kept, [json!("Nine metres."), context, json!("depth"), json!(1.5), json!(0)]);
        assert!(row.get("f1.f1_score").is_none() && row.get("f1_score").is_none(), "{row}");
    }
}

#[test]
fn runs_of_a_folder_become_rows_and_a_report_in_the_shape_of_evaluate_that_can_be_opened() {
    let sandbox = Sandbox::usual("messages-runs");
    let ran =
        sandbox.run(&["messages", "--folder", ".", "--filter", "model:claude state:answered"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(
        (&ran.json()[0]["task"], &ran.json()[0]["ground_truth"]),
        (&json!("tickets"), &json!([{ "ticket_id": 7 }]))
    );
    let ran = sandbox.run(&["report", "--format", "azure", "--out", "given"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let text = fs::read_to_string(sandbox.folder.join(ran.out.trim())).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["rows"].as_array().unwrap().len(), 3, "{file}");
    let listed = sandbox.run(&["list", "-o", "given", "--json"]);
    let models: Vec<String> = listed
        .json()
        .iter()
        .map(|row| row["model"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(models, ["claude", "o1", "o3-mini"]);
}
