//! Tests of `touchstone stabletoolbench serve`: requests of other programs, many of them at once,
//! and the shutdown.
use crate::evaluating::until;
use crate::sandbox::Sandbox;
use crate::scripted::{Latch, Reply, Scripted, Seen};
use serde_json::{Map, Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const FILE: &str = "tool_response_cache/Data/theclique_for_Data/transfermarkt_details.json";

/// A running server, killed on drop.
struct Served {
    child: Child,
    port: u16,
    /// Path that requests are posted to, with the token.
    path: String,
}

impl Served {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_with(sandbox, arguments, &[])
    }

    fn start_with(sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = sandbox.command(&[&["stabletoolbench", "serve"], arguments].concat());
        let mut child = command
            .envs(environment.iter().copied())
            .env("TOOLBENCH_KEY", KEY)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line
            .split_once("http://127.0.0.1:")
            .unwrap_or_else(|| panic!("no address in {line:?}"));
        let (port, path) = rest.split_once('/').unwrap();
        let path = path.trim_end_matches(['\n', '"', '}']);
        assert!(path.starts_with("virtual"), "{line}");
        Self { child, port: port.parse().unwrap(), path: format!("/{path}") }
    }

    /// Sends a raw request, and returns the status, the head and the body of the reply.
    fn send(&self, head: &str, body: &str) -> (u16, String, String) {
        send(self.port, head, body)
    }

    fn head(&self) -> String {
        head(self.port, &self.path)
    }

    fn call(&self, input: &Value) -> (u16, Value) {
        call_at(self.port, &self.path, input)
    }

    fn signal(&self) {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
    }

    /// Waits for the end, and returns the exit code; `None` if it was killed.
    fn ended(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "it does not end");
            std::thread::yield_now();
        }
    }
}

fn send(port: u16, head: &str, body: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(stream, "{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{reply:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
}

fn head(port: u16, path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n")
}

/// Sends a request like the original's own client: no content type, and the key in a header too.
fn call_at(port: u16, path: &str, input: &Value) -> (u16, Value) {
    let (status, _, body) = send(
        port,
        &format!("{}toolbench_key: {KEY}\r\n", head(port, path)),
        &posted(input).to_string(),
    );
    (status, serde_json::from_str(&body).unwrap_or_else(|why| panic!("{why}: {body}")))
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const KEY: &str = "canary-key-0123456789";

fn posted(input: &Value) -> Value {
    json!({ "category": "Data", "tool_name": "theclique", "api_name": "transfermarkt_details", "tool_input": input.to_string(),
        "strip": "truncate", "toolbench_key": KEY })
}

/// A model that answers with the last line of its request.
fn echo(seen: &Seen) -> Reply {
    let body = seen.json();
    let asked = body["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    let text = json!({ "error": "", "response": asked.lines().last().unwrap() }).to_string();
    Reply::json(&json!({ "model": "m", "choices": [{ "index": 0, "finish_reason": "stop",
        "message": { "role": "assistant", "content": text } }] }))
}

fn sandbox(name: &str, model: &Scripted) -> Sandbox {
    let url = model.url("/v1");
    let workspace = format!(
        "models:\n  sim: {{ provider: openai, base_url: '{url}', model: any }}\ntools:\n  apis: {{ kind: virtual, simulator: sim }}\n"
    );
    Sandbox::with(name, &[("touchstone.yaml", &workspace)])
}

fn cached_replies(sandbox: &Sandbox) -> Map<String, Value> {
    serde_json::from_str(&fs::read_to_string(sandbox.folder.join(FILE)).unwrap()).unwrap()
}

#[test]
fn it_prints_its_address_answers_and_ends_well_on_ctrl_c() {
    let model = Scripted::start(echo);
    let sandbox = sandbox("virtual-line", &model);
    let mut served = Served::start(&sandbox, &["--json", "--log", "calls.jsonl"]);
    let wanted = json!({ "error": "", "response": "{'player_id': 'messi'}" });
    for _ in 0..2 {
        assert_eq!(served.call(&json!({"player_id": "messi"})), (200, wanted.clone()));
    }
    assert_eq!(model.seen().len(), 1, "the second is a hit");
    let (_, head, _) =
        served.send(&served.head(), &posted(&json!({"player_id": "messi"})).to_string());
    assert!(
        head.contains("content-type: application/json")
            && head.contains("x-touchstone-from: python"),
        "{head}"
    );
    served.signal();
    assert_eq!(served.ended(), Some(0));
    let log = fs::read_to_string(sandbox.folder.join("calls.jsonl")).unwrap();
    assert!(log.lines().count() == 3 && !log.contains("canary"), "{log}");
    assert!(!fs::read_to_string(sandbox.folder.join(FILE)).unwrap().contains("canary"));
}

#[test]
fn requests_that_are_wrong_are_refused_as_the_original_does() {
    let model = Scripted::start(echo);
    let sandbox = sandbox("virtual-wrong", &model);
    let served = Served::start(&sandbox, &[]);
    let mut lacking = posted(&json!({}));
    lacking.as_object_mut().unwrap().remove("strip");
    let (status, _, body) = served.send(&served.head(), &lacking.to_string());
    let said: Value = serde_json::from_str(&body).unwrap();
    let wanted = json!({"detail": [{"loc": ["body", "strip"], "msg": "field required", "type": "value_error.missing"}]});
    assert_eq!((status, said), (422, wanted));
    assert_eq!(served.send(&served.head().replace("/virtual", "/other"), "{}").0, 404);
    let get = served.head().replace("POST", "GET");
    assert_eq!(served.send(&get, "").0, 405);
    let good = posted(&json!({})).to_string();
    let rebound = served.head().replace("127.0.0.1", "evil.example");
    assert_eq!(served.send(&rebound, &good).0, 400, "another name that points here");
    for odd in ["Origin: https://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
        assert_eq!(served.send(&format!("{}{odd}", served.head()), &good).0, 403, "{odd}");
    }
    assert_eq!(model.seen().len(), 0, "nothing was bought");
}

#[test]
fn of_two_hundred_requests_at_once_to_two_servers_no_reply_is_lost() {
    let model = Scripted::start(echo);
    let sandbox = sandbox("virtual-many", &model);
    let old: Map<String, Value> = (0..100)
        .map(|n| (format!("{{'n': {n}}}"), json!({ "error": "", "response": format!("old {n}") })))
        .collect();
    fs::create_dir_all(sandbox.folder.join(FILE).parent().unwrap()).unwrap();
    fs::write(sandbox.folder.join(FILE), Value::Object(old).to_string()).unwrap();
    let served = [Served::start(&sandbox, &[]), Served::start(&sandbox, &["."])];
    std::thread::scope(|threads| {
        for n in 0..200 {
            let served = &served;
            threads.spawn(move || {
                // Half of the replies are cached already; the others are requested from both
                // servers.
                let (status, said) = served[n % 2].call(&json!({ "n": n }));
                let wanted = if n < 100 { format!("old {n}") } else { format!("{{'n': {n}}}") };
                assert_eq!((status, said["response"].as_str()), (200, Some(wanted.as_str())));
            });
        }
    });
    let kept = cached_replies(&sandbox);
    assert_eq!(kept.len(), 200);
    assert!((0..200).all(|n| kept.contains_key(&format!("{{'n': {n}}}"))));
    assert_eq!(model.delivered(), 100, "each was bought once");
}

#[test]
fn requests_in_flight_at_shutdown_are_answered_and_cached() {
    let latch = Latch::default();
    let held = latch.clone();
    let model = Scripted::start(move |seen| echo(seen).once_open(&held));
    let sandbox = sandbox("virtual-end", &model);
    let mut served = Served::start(&sandbox, &[]);
    let wanted = json!({ "error": "", "response": "{'n': 1}" });
    std::thread::scope(|threads| {
        let (port, path) = (served.port, served.path.clone());
        let headers = served.head();
        let asked = threads.spawn(move || call_at(port, &path, &json!({"n": 1})));
        // A client that does not wait for its reply.
        let mut gone = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let body = posted(&json!({"n": 2})).to_string();
        write!(gone, "{headers}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        model.wait_for(2);
        drop(gone);
        served.signal();
        // Once connections are refused, the signal was received.
        until("connections are refused", || TcpStream::connect(("127.0.0.1", port)).is_err());
        latch.open();
        assert_eq!(asked.join().unwrap(), (200, wanted));
    });
    assert_eq!(served.ended(), Some(0));
    assert_eq!(cached_replies(&sandbox).len(), 2);
}

#[test]
#[cfg(debug_assertions)]
fn a_process_that_dies_while_it_writes_leaves_the_old_file_or_the_new_one() {
    for (at, kept_then) in
        [("publish.mid_write", 1), ("publish.before_rename", 1), ("publish.before_dir_sync", 2)]
    {
        let model = Scripted::start(echo);
        let sandbox = sandbox("virtual-dies", &model);
        let old = json!({ "{'n': 0}": { "error": "", "response": "old" } });
        fs::create_dir_all(sandbox.folder.join(FILE).parent().unwrap()).unwrap();
        fs::write(sandbox.folder.join(FILE), old.to_string()).unwrap();
        let mut served = Served::start_with(&sandbox, &[], &[("TOUCHSTONE_FAIL_AT", at)]);
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        let body = posted(&json!({"n": 1})).to_string();
        write!(stream, "{}Content-Length: {}\r\n\r\n{body}", served.head(), body.len()).unwrap();
        let mut reply = Vec::new();
        // The server dies before it replies.
        let _ = stream.read_to_end(&mut reply);
        assert_eq!((reply.len(), served.ended()), (0, None), "{at}");
        assert_eq!(cached_replies(&sandbox).len(), kept_then, "{at}");
        let served = Served::start(&sandbox, &[]);
        assert_eq!(served.call(&json!({"n": 1})).1["response"], "{'n': 1}");
        assert_eq!(
            (cached_replies(&sandbox).len(), model.seen().len()),
            (2, 3 - kept_then),
            "{at}"
        );
        if kept_then == 1 {
            // The next writer removes partially written files.
            assert_eq!(
                fs::read_dir(sandbox.folder.join(FILE).parent().unwrap()).unwrap().count(),
                1,
                "{at}"
            );
        }
    }
}

#[test]
fn what_cannot_be_meant_is_said_before_anything_is_listened_to() {
    let model = Scripted::start(echo);
    let sandbox = sandbox("virtual-settings", &model);
    for (arguments, said) in [
        (["--simulator", "nobody"], "no model named `nobody`"),
        (["--order", "odd"], "mirrorapi_cache"),
        (["--tools", "nowhere"], "not there"),
        (["--real", "ftp://x"], "not an address of real APIs"),
    ] {
        let ran = sandbox.run(&[&["stabletoolbench", "serve"], arguments.as_slice()].concat());
        assert!(ran.status == 2 && ran.err.contains(said), "{ran:?}");
    }
}

#[test]
fn every_switch_is_in_the_help() {
    let told = Sandbox::with("virtual-help", &[]).run(&["stabletoolbench", "serve", "--help"]);
    let switches = [
        "--port",
        "--cache",
        "--tools",
        "--simulator",
        "--real",
        "--no-cache",
        "--strict",
        "--log",
        "--order",
        "--save-all",
        "--token-env",
        "--no-token",
    ];
    for switch in switches {
        assert!(told.out.contains(switch), "{switch}");
    }
}

#[test]
fn a_server_whose_answers_may_cost_something_answers_only_who_brings_its_token() {
    let model = Scripted::start(echo);
    let sandbox = sandbox("virtual-token", &model);
    let body = posted(&json!({"n": 1})).to_string();
    let chosen = "chosen-by-a-person-0123456789";
    for (arguments, environment) in
        [(&[][..], &[][..]), (&["--token-env", "VIRTUAL_TOKEN"], &[("VIRTUAL_TOKEN", chosen)])]
    {
        let served = Served::start_with(&sandbox, arguments, environment);
        let (path, token) = served.path.split_once("?token=").expect("the address has a token");
        assert_eq!((path, token == chosen), ("/virtual", !arguments.is_empty()));
        let bare = head(served.port, "/virtual");
        let wrong = format!("/virtual?token={}", "0".repeat(token.len()));
        let cut = format!("/virtual?token={}", &token[1..]);
        for refused in [
            bare.clone(),
            head(served.port, &wrong),
            head(served.port, &cut),
            format!("{bare}Authorization: Bearer {}\r\n", &token[1..]),
            format!("{bare}Authorization: {token}\r\n"),
            format!("{bare}toolbench_key: {token}\r\n"),
        ] {
            let (status, head, said) = served.send(&refused, &body);
            assert!(
                status == 401 && head.contains("connection: close") && said.contains("printed"),
                "{refused}: {said}"
            );
            assert!(!said.contains(token));
        }
        assert_eq!(model.seen().len(), usize::from(!arguments.is_empty()), "nothing was bought");
        assert_eq!(served.send(&served.head(), &body).0, 200, "in the address");
        assert_eq!(
            served.send(&format!("{bare}Authorization: Bearer {token}\r\n"), &body).0,
            200,
            "in a header"
        );
    }
    assert_eq!(model.seen().len(), 1, "the others were hits");
    let open = Served::start(&sandbox, &["--no-token"]);
    assert_eq!((open.path.as_str(), open.send(&open.head(), &body).0), ("/virtual", 200));
    let short = sandbox
        .command(&["stabletoolbench", "serve", "--token-env", "SHORT"])
        .env("SHORT", "abc")
        .output()
        .unwrap();
    assert_eq!(short.status.code(), Some(2));
}

#[test]
fn a_server_that_only_has_a_cache_needs_no_token() {
    let sandbox = Sandbox::with("virtual-free", &[]);
    assert_eq!(Served::start(&sandbox, &[]).path, "/virtual");
}
