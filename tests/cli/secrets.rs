//! Tests that no key appears in anything the command line prints, logs or writes, even if a
//! provider repeats it.
use crate::canary;
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::json;

const KEY: &str = "canary/key+with=odd~letters.20251122";
const RUN: &str = "results/count-tool_calling-local-variation0.yaml";

/// Provider that repeats the key: in an error, in a reply that asks to retry, and in its answer.
fn repeats(seen: &Seen) -> Reply {
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    let hex = KEY.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let message = format!("Incorrect API key provided: {KEY} ({hex})");
    let error = |kind: &str| {
        Reply::json(&json!({ "error": { "message": message, "type": kind } }))
            .header("x-request-id", KEY)
    };
    match seen.number {
        0 => error("invalid_request_error").status(400),
        1 => error("server_error").status(503).header("retry-after-ms", "1"),
        _ => {
            let text = format!("Your key is {KEY}, or {hex}.\n\n```json\n[\"{KEY}\"]\n```");
            let message = json!({ "role": "assistant", "content": text });
            Reply::json(&json!({
                "model": KEY, "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
            }))
        }
    }
}

fn folder(server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any, api_key_env: CANARY_KEY }}\n"
    );
    let task = "tool_calling_prompt: Count the stones.\nexpected_output: [7]\n";
    Sandbox::with("secrets", &[("touchstone.yaml", &workspace), ("tasks/count.yaml", task)])
}

#[test]
fn a_key_that_a_provider_repeats_is_in_no_output_no_log_no_report_and_no_file() {
    let server = Scripted::start(repeats);
    let sandbox = folder(&server);
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        let ran = Ran::from(
            command.env("CANARY_KEY", KEY).env("TOUCHSTONE_LOG", "trace").output().unwrap(),
        );
        assert_eq!(canary::spot(ran.out.as_bytes(), KEY), None, "{arguments:?}: {}", ran.out);
        assert_eq!(canary::spot(ran.err.as_bytes(), KEY), None, "{arguments:?}: {}", ran.err);
        ran
    };
    let launch = ["--system", "tool_calling", "--model", "local"];
    let with = |before: &[&'static str], after: &[&'static str]| {
        [before, launch.as_slice(), after].concat()
    };
    assert_eq!(run(&with(&["plan", "."], &[])).status, 0);
    assert_eq!(run(&with(&["plan", "."], &["--json"])).status, 0);
    let failed = run(&with(&["run", "."], &[]));
    assert_eq!(failed.status, 1, "{failed:?}");
    assert!(
        format!("{}{}", failed.out, failed.err).contains("[redacted]"),
        "the reason is told: {failed:?}"
    );
    assert!(
        failed.err.contains("TRACE") || failed.err.contains("DEBUG"),
        "it does log: {}",
        failed.err
    );
    let resumed = run(&with(&["run", "."], &["--json"]));
    assert_eq!((resumed.status, server.delivered()), (0, 3), "{resumed:?}");
    assert!(resumed.out.contains("retrying") || resumed.out.contains("503"), "{}", resumed.out);
    assert_eq!(run(&["nudge", RUN, "Say it again.", "--in-place", "--json"]).status, 0);
    assert_eq!(run(&["nudge", RUN, "And again."]).status, 0);
    assert_eq!(run(&with(&["run", "."], &["--force"])).status, 0);
    let shown = run(&["show", RUN]);
    assert!(shown.out.contains("[redacted]"), "something was there to take out: {}", shown.out);
    for looks in [
        &["show", RUN, "--json"][..],
        &["list", "."],
        &["list", ".", "--json"],
        &["search", "key"],
        &["score", "."],
        &["score", ".", "--json"],
        &["stats", "."],
        &["doctor"],
        &["doctor", "--json"],
        &["report", ".", "--out", "reports", "--format", "html,md,csv,json,jsonl,junit,azure"],
    ] {
        let ran = run(looks);
        assert!(ran.status < 2 && !ran.out.is_empty(), "{looks:?} {ran:?}");
    }
    let report = run(&["report", ".", "--out", "-", "--format", "json"]);
    assert!(report.status == 0 && report.out.contains("local"), "{report:?}");
    let everything = sandbox.folder.parent().unwrap();
    assert_eq!(canary::search(everything, KEY), []);
    assert_eq!(std::fs::read_dir(sandbox.folder.join("reports")).unwrap().count(), 7);
    std::fs::write(sandbox.folder.join("planted"), KEY).unwrap();
    assert_eq!(canary::search(everything, KEY).len(), 1, "the search finds what is there");
}
