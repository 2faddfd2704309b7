//! Tests of complete launches with broken replies: transient failures are retried without a trace,
//! and others end the run with an error message.
use super::stage::{ear, folder_with, journal, transcript_lines};
use super::{ended, run};
use crate::conversation::{Conversation, Wire};
use crate::gzip::gzip;
use crate::scripted::{Latch, Reply, Scripted, Seen};
use serde_json::json;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use touchstone_api::{LaunchRequest, LaunchRunState};
use touchstone_runner::event::RunEventKind;

/// Replaces a good reply by a broken one.
type Breaks = fn(Reply) -> Reply;

/// An error in the middle of a stream of the Messages API.
fn breaks_off_with(name: &str, error: &serde_json::Value) -> Reply {
    let start = json!({ "type": "message_start", "message": { "id": "m", "model": "any", "usage": { "input_tokens": 1, "output_tokens": 1 } } });
    Reply::events([("message_start", start.to_string()), (name, error.to_string())])
}

const BUSY: &str = r#"{"error": {"message": "All seats are taken.", "type": "server_error"}}"#;
const PAGE: &str = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><p>nginx</p></body></html>";

/// Cases by the name of their task, with the API, whole or streamed.
const CASES: [(&str, &str, Breaks); 17] = [
    ("error event", "messages", |_| {
        breaks_off_with(
            "error",
            &json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        )
    }),
    ("error event that lasts", "messages", |_| {
        breaks_off_with(
            "error",
            &json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "No such tool." } }),
        )
    }),
    ("error chunk", "streamed", |_| Reply::events([("", BUSY.to_owned())])),
    ("good status, bad body", "whole", |_| Reply::new(200).text("application/json", BUSY)),
    ("good status, whole error for a stream", "messages", |_| {
        Reply::json(
            &json!({ "type": "error", "error": { "type": "api_error", "message": "Internal." } }),
        )
    }),
    ("page for people", "whole", |_| Reply::new(200).text("text/html", PAGE)),
    ("page of a gateway", "whole", |_| Reply::new(500).text("text/html", PAGE)),
    ("half a document", "whole", |_| {
        Reply::new(200).text("application/json", "{\"choices\": [{\"index\": 0, ")
    }),
    ("no JSON", "whole", |_| Reply::new(200).text("application/json", "upstream connect error")),
    ("nothing", "whole", |_| Reply::new(200)),
    ("half of what is packed", "whole", |_| {
        let packed = gzip(
            json!({ "choices": [], "padding": "0123456789".repeat(100) }).to_string().as_bytes(),
        );
        Reply::new(200)
            .header("content-encoding", "gzip")
            .text("application/json", "")
            .bytes(&packed[..packed.len() / 2])
    }),
    ("cut in the middle", "whole", |good| good.cut_after(40)),
    ("cut in the middle of a stream", "streamed", |good| good.cut_after(200)),
    ("reset in the middle", "messages", |good| good.reset_after(150)),
    ("reset at once", "streamed", |_| Reply::reset_at_once()),
    ("a picture instead", "whole", |good| good.header("content-type", "image/png")),
    ("byte by byte", "streamed", |good| good.dribbled(Duration::from_micros(200))),
];

/// A server that breaks the first `times` replies to each question.
fn server(times: usize) -> Scripted {
    let (chat, messages) = (Conversation::new(Wire::Chat, 0), Conversation::new(Wire::Messages, 0));
    let asked: Mutex<HashMap<usize, usize>> = Mutex::default();
    Scripted::start(move |seen: &Seen| {
        let good =
            if seen.path.ends_with("/messages") { messages.reply(seen) } else { chat.reply(seen) };
        let text = seen.json()["messages"].to_string();
        let case: usize =
            text.split("case ").nth(1).unwrap().split('.').next().unwrap().parse().unwrap();
        let mut asked = asked.lock().unwrap();
        let before = asked.entry(case).or_default();
        *before += 1;
        if *before <= times { CASES[case].2(good).header("retry-after-ms", "1") } else { good }
    })
}

fn folder(server: &Scripted) -> crate::bench::Bench {
    let url = server.url("/v1");
    let model = |name: &str, provider: &str, stream: bool| {
        format!(
            "  {name}: {{ provider: {provider}, base_url: '{url}', model: any, stream: {stream} }}\n"
        )
    };
    let models = [
        model("whole", "openai", false),
        model("streamed", "openai", true),
        model("messages", "anthropic", true),
    ];
    let file = format!("input_dir: tasks\noutput_dir: results\nmodels:\n{}", models.concat());
    let variations =
        (0..CASES.len()).map(|case| format!("  - n: {case}\n")).collect::<Vec<_>>().concat();
    folder_with(
        &file,
        &format!("tool_calling_prompt: This is case {{n}}.\nvariations:\n{variations}"),
    )
}

fn name(case: usize) -> String {
    format!("count-tool_calling-{}-variation{case}.yaml", CASES[case].1)
}

/// Builds the request for the cases of one API.
fn launch_request(wire: &str) -> LaunchRequest {
    let variations = (0..CASES.len()).filter(|case| CASES[*case].1 == wire);
    LaunchRequest {
        systems: vec!["tool_calling".into()],
        models: vec![wire.to_owned()],
        variations: variations.map(|case| u32::try_from(case).unwrap()).collect(),
        concurrency: Some(20),
        ..LaunchRequest::default()
    }
}

#[test]
fn a_reply_that_is_broken_once_is_asked_for_again_or_ends_the_run_with_a_sentence() {
    let server = server(1);
    let bench = folder(&server);
    let mut told = vec![String::new(); CASES.len()];
    for wire in ["whole", "streamed", "messages"] {
        let (events, listener) = ear();
        let launch = bench
            .app()
            .launches()
            .start_launch_with(&launch_request(wire), vec![listener])
            .unwrap()
            .launch;
        let view = ended(&bench, &launch);
        for case in (0..CASES.len()).filter(|case| CASES[*case].1 == wire) {
            let row = view.runs.iter().find(|run| run.path == name(case)).unwrap();
            let events = events.lock().unwrap();
            let retried = events.iter().filter(|event| event.run.as_ref() == Some(&row.path));
            let retried = retried.filter_map(|event| match &event.what {
                // The number of bytes that survive a reset depends on the system.
                RunEventKind::Retrying { .. } if CASES[case].0 == "reset in the middle" => {
                    Some(" again: (as the system says it)".to_owned())
                }
                RunEventKind::Retrying { why, .. } => Some(format!(" again: {why}")),
                _ => None,
            });
            let line = &mut told[case];
            let _ =
                write!(line, "{}:{} {:?}", CASES[case].0, retried.collect::<String>(), row.state);
            let _ = write!(line, " {}", row.doing.as_deref().unwrap_or_default());
            let attempts = journal(&bench, &row.path).lines().count();
            assert_eq!(
                attempts,
                1 + line.matches(" again: ").count(),
                "every attempt is kept: {line}"
            );
            if row.state == LaunchRunState::Answered {
                let said = transcript_lines(&bench, &format!("results/{}", row.path));
                assert!(
                    said.lines().count() == 2 && said.contains("Here it is."),
                    "{line}: {said}"
                );
            }
        }
    }
    let told: Vec<&str> = told.iter().map(|line| line.trim_end()).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    error event: again: The provider replied with an error (status 200). Answered
    error event that lasts: Error The Anthropic API refused the request, status 200, invalid_request_error: No such tool.
    error chunk: again: The provider replied with an error (status 200). Answered
    good status, bad body: again: The provider replied with an error (status 200). Answered
    good status, whole error for a stream: again: The provider replied with an error (status 200). Answered
    page for people: Error The model server answered with a page for people instead of JSON (502 Bad Gateway); check its `base_url`.
    page of a gateway: again: The provider replied with an error (status 500). Answered
    half a document: again: The reply ended too early (status 200). Answered
    no JSON: again: The provider replied with an error (status 200). Answered
    nothing: again: The reply ended too early (status 200). Answered
    half of what is packed: again: The reply ended too early. Answered
    cut in the middle: again: The reply ended too early. Answered
    cut in the middle of a stream: again: The reply ended too early. Answered
    reset in the middle: again: (as the system says it) Answered
    reset at once: again: The connection failed. Answered
    a picture instead: Answered
    byte by byte: Answered
    ");
}

#[test]
fn a_reply_that_is_broken_every_time_ends_the_run_with_what_is_wrong() {
    let server = server(usize::MAX);
    let bench = folder(&server);
    let mut told = vec![String::new(); CASES.len()];
    for wire in ["whole", "streamed", "messages"] {
        let view = run(&bench, &launch_request(wire));
        for case in (0..CASES.len()).filter(|case| CASES[*case].1 == wire) {
            let row = view.runs.iter().find(|run| run.path == name(case)).unwrap();
            let doing = row.doing.as_deref().unwrap_or_default();
            let doing =
                if CASES[case].0.starts_with("reset") { "(as the system says it)" } else { doing };
            told[case] = format!("{}: {:?} {doing}", CASES[case].0, row.state);
            let last = transcript_lines(&bench, &format!("results/{}", row.path))
                .lines()
                .last()
                .unwrap()
                .to_owned();
            assert_eq!(
                last.contains(r#""error""#),
                row.state == LaunchRunState::Error,
                "{}: {last}",
                told[case]
            );
        }
    }
    let told: Vec<&str> = told.iter().map(|line| line.trim_end()).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    error event: Error The Anthropic API could not answer this time, status 200, overloaded_error: \
        Overloaded. The provider replied with an error (status 200). It was asked 3 times, the \
        limit of the settings.
    error event that lasts: Error The Anthropic API refused the request, status 200, invalid_request_error: No such tool.
    error chunk: Error The model server could not answer this time, status 200, server_error: All \
        seats are taken. The provider replied with an error (status 200). It was asked 3 times, \
        the limit of the settings.
    good status, bad body: Error The model server could not answer this time, status 200, \
        server_error: All seats are taken. The provider replied with an error (status 200). It was \
        asked 3 times, the limit of the settings.
    good status, whole error for a stream: Error The Anthropic API could not answer this time, \
        status 200, api_error: Internal. The provider replied with an error (status 200). It was \
        asked 3 times, the limit of the settings.
    page for people: Error The model server answered with a page for people instead of JSON (502 Bad Gateway); check its `base_url`.
    page of a gateway: Error The model server could not answer this time, status 500: 502 Bad \
        Gateway. The provider replied with an error (status 500). It was asked 3 times, the limit \
        of the settings.
    half a document: Error The reply of the model server ends in the middle. The reply ended too \
        early (status 200). It was asked 3 times, the limit of the settings.
    no JSON: Error The reply of the model server is not JSON: This is not a JSON value. The \
        provider replied with an error (status 200). It was asked 3 times, the limit of the settings.
    nothing: Error The reply of the model server ends in the middle. The reply ended too early (status 200). It was asked 3 times, the limit of the settings.
    half of what is packed: Error The reply broke off: unexpected end of file. The reply ended too early. It was asked 3 times, the limit of the settings.
    cut in the middle: Error The reply broke off: end of file before message length reached. The \
        reply ended too early. It was asked 3 times, the limit of the settings.
    cut in the middle of a stream: Error The reply broke off: end of file before message length \
        reached. The reply ended too early. It was asked 3 times, the limit of the settings.
    reset in the middle: Error (as the system says it)
    reset at once: Error (as the system says it)
    a picture instead: Answered
    byte by byte: Answered
    ");
}

#[test]
fn ids_of_events_change_nothing_also_when_two_events_have_the_same() {
    let ids: [fn(usize) -> String; 3] =
        [|_| String::new(), |number| number.to_string(), |number| (number / 2).to_string()];
    for wire in ["streamed", "messages"] {
        let told = ids.map(|id| {
            let kind = if wire == "messages" { Wire::Messages } else { Wire::Chat };
            let conversation = Conversation::new(kind, 2);
            let server = Scripted::start(move |seen| conversation.reply(seen).with_ids(id));
            let url = server.url("/v1");
            let provider = if wire == "messages" { "anthropic" } else { "openai" };
            let file = format!(
                "input_dir: tasks\noutput_dir: results\nmodels:\n  {wire}: {{ provider: {provider}, base_url: '{url}', model: any, stream: true }}\n{}",
                super::THINGS
            );
            let bench = super::folder_of(&file, super::stage::PLAIN).open();
            let request = LaunchRequest { variations: Vec::new(), ..launch_request(wire) };
            let view = run(&bench, &request);
            assert_eq!((view.done, server.delivered()), (1, 3), "{:?}", view.runs);
            transcript_lines(&bench, &format!("results/count-tool_calling-{wire}-variation0.yaml"))
        });
        assert!(
            told[0].lines().count() == 6 && told[0] == told[1] && told[1] == told[2],
            "{told:?}"
        );
    }
}

#[test]
fn a_reply_that_trickles_in_without_end_is_given_up_at_once_when_it_is_stopped() {
    let never = Latch::default();
    let held = never.clone();
    let server = Scripted::start(move |seen| match seen.number {
        0 => Reply::new(200)
            .text("application/json", &" ".repeat(1 << 20))
            .dribbled(Duration::from_millis(1)),
        _ => Reply::new(200)
            .text("text/event-stream", "data: {\"choices\":[]}\n\ndata: ")
            .hold_after(20, &held),
    });
    let bench = folder(&server);
    for wire in ["whole", "streamed"] {
        let request = LaunchRequest { variations: vec![0], ..launch_request(wire) };
        let launch = bench.app().launches().start_launch(&request).unwrap().launch;
        server.wait_for(if wire == "whole" { 1 } else { 2 });
        let began = Instant::now();
        bench.app().launches().stop_launch(&launch, true).unwrap();
        assert_eq!(ended(&bench, &launch).stopped, 1);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
    never.open();
}
