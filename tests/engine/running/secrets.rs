//! Tests that keys and passwords appear in no file, event or view, whoever repeats them in any
//! encoding.
use super::stage::{ANSWER, PLAIN, RUN, calls, chat, ear, says};
use super::{ended, folder_of, request, run};
use crate::bench::{Bench, wait_until};
use crate::canary;
use crate::scripted::{Latch, Reply, Scripted, Seen};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fs_err as fs;
use serde_json::json;
use std::fmt::Write as _;
use touchstone_api::{ForkRequest, LaunchRequest, ReportFormat, ReportRequest, RunState};

const KEY: &str = "canary/key+with=odd~letters.20251121";
const PASSWORD: &str = "canary-p4ssw0rd:of/the+database";

/// Returns the secrets in every encoding that a reply could contain.
fn forms() -> String {
    let each = |secret: &str, form: &dyn Fn(u8) -> String| {
        secret.bytes().map(form).collect::<Vec<_>>().concat()
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut all = String::new();
    for secret in [KEY, PASSWORD] {
        let url = each(secret, &|byte| {
            if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
        });
        let hex = each(secret, &|byte| format!("{byte:02x}"));
        for before in ["", "a", "ab"] {
            let _ = write!(all, " {}", BASE64_STANDARD.encode(format!("{before}{secret}")));
        }
        let _ = write!(all, " {secret} {url} {hex} Bearer {secret}");
    }
    all
}

/// A folder with a database that contains the secrets, so that a tool returns them.
fn folder(server: &Scripted) -> Bench {
    let url = server.url("/v1");
    let file = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  scripted: {{ provider: openai, base_url: '{url}', model: any, api_key_env: CANARY_KEY \
         }}\n{}  closed: {{ kind: sql, database: \
         'postgres://somebody:${{CANARY_PASSWORD}}@127.0.0.1:9/none' }}\n",
        super::THINGS
    );
    let bench =
        folder_of(&file, &format!("{PLAIN}result_tag_name: answer\ntools: [query_things]\n"))
            .file("tasks/closed.yaml", format!("{PLAIN}tools: [closed]\n"))
            .key("CANARY_KEY", KEY)
            .key("CANARY_PASSWORD", PASSWORD);
    let sql = rusqlite::Connection::open(bench.path("data/things.db")).unwrap();
    sql.execute("INSERT INTO things VALUES (?1, 5)", [forms()]).unwrap();
    bench.open()
}

/// Searches the folder, the cache and the state of the program.
fn everything(bench: &Bench) -> Vec<canary::Find> {
    let home = bench.path("").parent().unwrap().to_owned();
    let own = |find: &canary::Find| !find.file.ends_with("data/things.db");
    [KEY, PASSWORD].iter().flat_map(|secret| canary::search(&home, secret)).filter(own).collect()
}

fn clean(what: &str, text: &str) {
    for secret in [KEY, PASSWORD] {
        assert_eq!(canary::spot(text.as_bytes(), secret), None, "{what}: {text}");
    }
}

/// Checks every report format.
fn reports(bench: &Bench) {
    use ReportFormat::{Azure, Csv, Html, Json, Jsonl, Junit, Markdown};
    for format in [Html, Markdown, Csv, Json, Jsonl, Junit, Azure] {
        // Includes the continued run, which is left out by default because its numbers are not
        // comparable.
        let request = ReportRequest {
            filter: "forked:yes,no".to_owned(),
            ..ReportRequest::for_format(format)
        };
        let report = bench.app().reports().make_report(&request, true).unwrap();
        assert!(report.text.contains("scripted"), "{format:?} tells of the runs: {}", report.text);
        clean("report", &report.text);
    }
}

/// Provider that repeats the secrets wherever it can.
fn repeats(seen: &Seen) -> Reply {
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    let forms = forms();
    let arguments =
        json!({ "sql": format!("SELECT name FROM things WHERE name <> '{forms}'") }).to_string();
    match seen.number {
        0 => {
            let body =
                json!({ "error": { "message": format!("busy {forms}"), "type": "server_error" } });
            Reply::json(&body).status(503).header("retry-after-ms", "1").header("x-request-id", KEY)
        }
        1 => Reply::new(503)
            .bytes(&[b"\xff\xfe ".as_slice(), forms.as_bytes(), b" \xff"].concat())
            .header("retry-after-ms", "1"),
        2 => {
            let mut reply = chat(
                Some(&forms),
                &[(KEY, "query_things", &arguments), ("b", KEY, &format!("{{ {forms}"))],
            );
            reply["model"] = json!(KEY);
            Reply::json(&reply).header("openai-organization", PASSWORD)
        }
        3 => {
            let body = json!({ "error": { "message": format!("Incorrect API key provided: {forms}"), "type": "invalid_request_error" } });
            Reply::json(&body).status(400)
        }
        _ => says(&format!("{forms}\n\n```json\n[\"{KEY}\"]\n```")),
    }
}

#[test]
fn a_secret_that_a_provider_a_model_or_a_tool_repeats_is_written_nowhere() {
    let server = Scripted::start(repeats);
    let bench = folder(&server);
    let (events, listener) = ear();
    let only = LaunchRequest { tasks: vec!["count".into()], ..request() };
    let launch = bench.app().launches().start_launch_with(&only, vec![listener]).unwrap().launch;
    let failed = ended(&bench, &launch);
    assert_eq!(failed.failed, 1, "{:?}", failed.runs);
    clean("view", &format!("{failed:?}"));
    assert_eq!(everything(&bench), [], "before anything is written over");
    let resumed = run(&bench, &only);
    assert_eq!(resumed.done, 1, "{:?}", resumed.runs);
    clean("view", &format!("{resumed:?}"));
    let row = bench.wait_state(RUN.trim_start_matches("results/"), RunState::Answered);
    let copied =
        bench.app().launches().fork_run(&row.id, &ForkRequest::new(1, Some("And now?"))).unwrap();
    clean("copy", &format!("{:?}", ended(&bench, &copied.launch.clone().unwrap())));
    let nudged = bench.app().launches().nudge_run(&row.id, "More.", true).unwrap();
    clean("nudged", &format!("{:?}", ended(&bench, &nudged.launch)));
    clean("events", &format!("{:?}", events.lock().unwrap()));
    reports(&bench);
    clean("row", &format!("{row:?} {:?}", bench.problems()));
    assert!(
        fs::read_to_string(bench.path(RUN)).unwrap().contains("[redacted]"),
        "something was there to take out"
    );
    assert_eq!(everything(&bench), []);
    bench.write("results/planted.txt", forms());
    assert_eq!(everything(&bench).len(), 2, "the search finds what is there");
}

/// Returns a secret in escaped forms of JSON, YAML and Python strings, all different from the plain
/// one.
fn escaped_forms(secret: &str) -> Vec<String> {
    let each = |form: &dyn Fn(char) -> String| secret.chars().map(form).collect::<String>();
    let first = |form: &dyn Fn(char) -> String| {
        let mut letters = secret.chars();
        letters.next().map(form).unwrap_or_default() + letters.as_str()
    };
    vec![
        each(&|letter| format!("\\u{:04x}", u32::from(letter))),
        first(&|letter| format!("\\u{:04X}", u32::from(letter))),
        each(&|letter| if letter == '/' { "\\/".to_owned() } else { letter.to_string() }),
        each(&|letter| if letter == '.' { "\\u002e".to_owned() } else { letter.to_string() }),
    ]
}

#[test]
fn a_secret_that_appears_only_when_an_answer_is_decoded_is_written_nowhere() {
    // Strings nested in strings, each level of which is decoded for display.
    let nested =
        |text: String| (0..2).fold(format!("\"{text}\""), |text, _| json!(text).to_string());
    let fences = |secret: &str| {
        escaped_forms(secret)
            .into_iter()
            .flat_map(move |form| [format!("\"{form}\""), nested(form)])
    };
    let answers: Vec<String> = [KEY, PASSWORD].into_iter().flat_map(fences).collect();
    let yaml = KEY.bytes().fold(String::new(), |text, byte| text + &format!("\\x{byte:02x}"));
    let answers: Vec<String> =
        answers.into_iter().map(|text| format!("```json\n[{text}]\n```")).collect();
    let tagged = [format!("```yaml\n- \"{yaml}\"\n```"), format!("<answer>[\"{yaml}\"]</answer>")];
    let answers: Vec<String> = answers.into_iter().chain(tagged).collect();
    for (at, answer) in answers.iter().enumerate() {
        let arguments = json!({ "sql": format!("SELECT {}", escaped_forms(KEY)[0]) }).to_string();
        let answer = answer.clone();
        let server = Scripted::start(move |seen| match seen.number {
            0 if at == 0 => Reply::json(&chat(None, &[("a", "query_things", &arguments)])),
            _ => says(&answer),
        });
        let bench = folder(&server);
        let view = run(&bench, &LaunchRequest { tasks: vec!["count".into()], ..request() });
        clean("view", &format!("{view:?}"));
        // Only a JSON fence, or the tag of the task, is an answer.
        let state =
            if answers[at].contains("```yaml") { RunState::NoAnswer } else { RunState::Answered };
        let row = bench.wait_state(RUN.trim_start_matches("results/"), state);
        clean("row", &format!("{row:?}"));
        bench.wait_words();
        assert_eq!(everything(&bench), [], "{answer:?}", answer = answers[at]);
        let file = fs::read_to_string(bench.path(RUN)).unwrap();
        assert!(file.contains("[redacted]"), "something was there to take out: {file}");
    }
}

#[test]
fn a_password_that_does_not_open_a_database_is_not_in_the_reason() {
    let server = Scripted::always(says(ANSWER));
    let bench = folder(&server);
    let view = run(&bench, &LaunchRequest { tasks: vec!["closed".into()], ..request() });
    assert_eq!((view.failed, server.seen().len()), (1, 0), "{:?}", view.runs);
    assert!(view.runs[0].doing.as_ref().unwrap().contains("closed"), "{:?}", view.runs);
    clean("view", &format!("{view:?}"));
    assert_eq!(everything(&bench), []);
}

#[test]
fn a_refused_key_and_a_key_that_is_tested_are_not_repeated() {
    let body = json!({ "error": {
        "message": format!("Incorrect API key provided: {}", forms()),
        "type": "invalid_request_error", "code": "invalid_api_key"
        } });
    let server = Scripted::always(Reply::json(&body).status(401));
    let bench = folder(&server);
    let failed = run(&bench, &LaunchRequest { tasks: vec!["count".into()], ..request() });
    assert_eq!(failed.failed, 1);
    clean("view", &format!("{failed:?}"));
    clean("test", &format!("{:?}", bench.app().settings().test_model("scripted").unwrap()));
    clean(
        "options",
        &format!(
            "{:?} {:?}",
            bench.app().launches().launch_options(true).unwrap(),
            bench.app().settings().keys().unwrap()
        ),
    );
    assert_eq!(everything(&bench), []);
}

#[test]
fn a_thought_that_held_a_secret_is_left_out_the_same_now_and_after_a_resume() {
    let latch = Latch::default();
    let held = latch.clone();
    let thought = |text: &str| json!({ "type": "thinking", "thinking": text, "signature": "c2ln" });
    let server = Scripted::start(move |seen| {
        let body = seen.json();
        let kept = body["messages"].to_string();
        assert!(
            !kept.contains("redacted") && (seen.number == 0 || kept.contains("fine")),
            "{kept}"
        );
        let more = if seen.number == 0 {
            json!({ "type": "tool_use", "id": "t", "name": "query_things", "input": { "sql": "SELECT 1 AS n" } })
        } else {
            json!({ "type": "text", "text": ANSWER })
        };
        let content = json!([thought("fine"), thought(KEY), more]);
        let stop = if seen.number == 0 { "tool_use" } else { "end_turn" };
        let reply = Reply::json(&json!({
            "id": "m", "type": "message", "role": "assistant", "model": "any", "stop_reason": stop, "content": content,
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        }));
        if seen.number == 1 { reply.once_open(&held) } else { reply }
    });
    let url = server.url("/v1");
    let file = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  scripted: {{ provider: anthropic, base_url: '{url}', model: any, api_key_env: CANARY_KEY }}\n{}",
        super::THINGS
    );
    let bench = folder_of(&file, PLAIN).key("CANARY_KEY", KEY).open();
    let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
    server.wait_for(2);
    bench.app().launches().stop_launch(&launch, true).unwrap();
    assert_eq!(ended(&bench, &launch).stopped, 1);
    latch.open();
    // Simulates a kill before the transcript was written: the reply comes from the journal.
    let begun = format!(
        "conversation:\n- user_message: How many?\nrun: {{started: {}}}\n",
        super::stage::fact(&bench, RUN, "started").unwrap()
    );
    bench.write(RUN, begun);
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(server.seen().len(), 3, "the first reply was not bought again");
    assert_eq!(canary::search(bench.path("").parent().unwrap(), KEY), []);
}

#[test]
fn a_call_with_a_secret_runs_as_it_was_written_and_is_sent_on_without_it_now_and_after_a_resume() {
    let latch = Latch::default();
    let held = latch.clone();
    let looks = "sk-0123456789abcdefXYZ postgres://me:hunter2@h/d";
    let sql =
        format!("SELECT length('{KEY}') * 10007 AS n, '{looks}' AS looks, 'analytics' AS who");
    let arguments = json!({ "sql": sql }).to_string();
    let server = Scripted::start(move |seen| match seen.number {
        // Without an id, which is then derived from the body.
        0 => calls(&[("", "query_things", &arguments)]),
        1 => says(ANSWER).once_open(&held),
        _ => says(ANSWER),
    });
    let url = server.url("/v1");
    let file = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  scripted: {{ provider: openai, base_url: '{url}', model: any, api_key_env: CANARY_KEY \
         }}\n{}  closed: {{ kind: sql, database: \
         'postgres://${{DB_USER}}:${{CANARY_PASSWORD}}@127.0.0.1:9/${{DB_NAME}}' }}\n",
        super::THINGS
    );
    let bench = folder_of(&file, &format!("{PLAIN}tools: [query_things]\n"))
        .key("CANARY_KEY", KEY)
        .key("CANARY_PASSWORD", PASSWORD)
        .key("DB_USER", "analytics")
        .key("DB_NAME", "query_things")
        .open();
    let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
    server.wait_for(2);
    let text = wait_until("the call is in the file", || {
        fs::read_to_string(bench.path(RUN)).ok().filter(|text| text.contains("[redacted]"))
    });
    bench.app().launches().stop_launch(&launch, true).unwrap();
    assert_eq!(ended(&bench, &launch).stopped, 1);
    latch.open();
    assert!(
        text.contains("length('[redacted]')")
            && text.contains(looks)
            && text.contains("'analytics'"),
        "{text}"
    );
    assert!(text.contains(&(KEY.len() * 10007).to_string()), "it ran with the secret: {text}");
    assert_eq!(run(&bench, &request()).done, 1);
    let begun = super::stage::fact(&bench, RUN, "started").unwrap();
    bench.write(
        RUN,
        format!("conversation:\n- user_message: How many?\nrun: {{started: {begun}}}\n"),
    );
    assert_eq!(run(&bench, &request()).done, 1);
    let seen = server.seen();
    assert_eq!(
        seen.len(),
        3,
        "what was bought is found again in the journal, also when the file is not there"
    );
    assert_eq!(seen[1].json(), seen[2].json());
    assert_eq!(
        seen[1].json()["messages"][2]["tool_calls"][0]["id"],
        seen[1].json()["messages"][3]["tool_call_id"]
    );
    assert_eq!(everything(&bench), []);
}

#[test]
fn a_call_whose_secret_is_forgotten_is_not_run_with_something_else() {
    let server = Scripted::always(says(ANSWER));
    let bench = folder(&server);
    let call = "{id: c, name: query_things, params: {sql: \"SELECT '[redacted]' AS x\"}, turn: 1}";
    bench.write(RUN, format!("conversation:\n- user_message: How many?\n- tool_call: {call}\n"));
    assert_eq!(run(&bench, &LaunchRequest { tasks: vec!["count".into()], ..request() }).done, 1);
    let told = server.seen()[0].json()["messages"].to_string();
    assert!(told.contains("held a secret") && told.contains("Call it again"), "{told}");
}
