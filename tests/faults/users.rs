//! A run with a simulated user, killed after each reply of either side. In the end the conversation
//! is complete, and no stored reply is paid for again.
use crate::lives::exit_of;
use crate::sandbox::Sandbox;
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Stdio};
use touchstone_formats::transcript::Document;

/// Requests of the run: three of the user, two of the system.
const REQUESTS: usize = 5;
const TASK: &str =
    "user: { persona: A person., goal: Learn two numbers., max_turns: 3, model: player }\n";

fn reply(seen: &Seen) -> Reply {
    let asked = seen.json();
    let messages = asked["messages"].as_array().cloned().unwrap_or_default();
    let said = messages.iter().filter(|message| message["role"] == "assistant").count();
    let text = match (asked["model"] == "player", said) {
        (true, 0) => json!({ "status": "continue", "message": "First?" }).to_string(),
        (true, 1) => json!({ "status": "continue", "message": "Second?" }).to_string(),
        (true, _) => json!({ "status": "reached", "reason": "Both were named." }).to_string(),
        (false, said) => format!("It is {said}."),
    };
    Reply::json(&json!({
        "id": "c", "object": "chat.completion", "created": 0, "model": "any-1",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    }))
}

fn folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let model = |name: &str| {
        format!("  {name}: {{ provider: openai, base_url: '{url}', model: {name} }}\n")
    };
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n{}{}",
        model("system"),
        model("player")
    );
    Sandbox::with(name, &[("touchstone.yaml", &workspace), ("tasks/numbers.yaml", TASK)])
}

fn begin(sandbox: &Sandbox, fail_at: Option<&str>) -> Child {
    let mut command =
        sandbox.command(&["run", ".", "--system", "tool_calling", "--model", "system"]);
    if let Some(place) = fail_at {
        command.env("TOUCHSTONE_FAIL_AT", place);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the items of the transcript, and what it records of the user.
fn found(sandbox: &Sandbox) -> (Vec<String>, Value) {
    let path = sandbox.folder.join("results/numbers-tool_calling-system-variation0.yaml");
    let document = Document::read(&fs::read(path).unwrap()).unwrap();
    let json = |value| touchstone_model::json::write(value, false);
    let user = document.get("run").and_then(|run| run.get("user")).map(json).unwrap_or_default();
    (document.items().iter().map(json).collect(), serde_json::from_str(&user).unwrap())
}

#[test]
fn whichever_reply_it_is_killed_after_each_side_is_paid_for_once() {
    let server = Scripted::start(reply);
    let straight = folder("faults-users-straight", &server);
    assert!(exit_of(&mut begin(&straight, None)).success());
    let expected = found(&straight);
    assert_eq!((expected.0.len(), server.seen().len()), (4, REQUESTS));
    assert_eq!((&expected.1["outcome"], &expected.1["requests"]), (&json!("reached"), &json!(3)));
    let stored = (1..=REQUESTS).map(|count| format!("journal.after_sync:{count}"));
    let used = (1..=3).map(|count| format!("talk.user_replied:{count}"));
    for (number, place) in stored.chain(used).enumerate() {
        let server = Scripted::start(reply);
        let sandbox = folder(&format!("faults-users-{number}"), &server);
        let killed = exit_of(&mut begin(&sandbox, Some(&place))).code().is_none();
        assert!(killed, "{place} is not passed");
        assert!(exit_of(&mut begin(&sandbox, None)).success(), "{place}");
        assert_eq!(found(&sandbox), expected, "{place}");
        assert_eq!(server.seen().len(), REQUESTS, "{place}");
    }
}
