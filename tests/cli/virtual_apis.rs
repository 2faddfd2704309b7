//! `touchstone stabletoolbench serve`: what programs that are not ours ask of it, many of them at once, and its end.
use crate::sandbox::Sandbox;
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::{Map, Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const FILE: &str = "tool_response_cache/Data/theclique_for_Data/transfermarkt_details.json";

/// A running server, ended when it is dropped.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["stabletoolbench", "serve"], arguments].concat());
        let mut child = command.env("TOOLBENCH_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://127.0.0.1:").unwrap_or_else(|| panic!("no address in {line:?}"));
        let (port, path) = rest.split_once('/').unwrap();
        assert!(path.starts_with("virtual"), "{line}");
        Self { child, port: port.parse().unwrap() }
    }

    /// Sends a request as it stands; status, head and body of the reply.
    fn send(&self, head: &str, body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{reply:?}"));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
    }

    fn head(&self) -> String {
        format!("POST /virtual HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port)
    }

    /// As the original's own client asks: no content type, and the key in a header too.
    fn call(&self, input: &Value) -> (u16, Value) {
        let (status, _, body) =
            self.send(&format!("{}toolbench_key: {KEY}\r\n", self.head()), &posted(input).to_string());
        (status, serde_json::from_str(&body).unwrap_or_else(|why| panic!("{why}: {body}")))
    }
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

/// A model that answers with the last line of what it is asked.
fn echo(seen: &Seen) -> Reply {
    let body = seen.json();
    let asked = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
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

fn kept(sandbox: &Sandbox) -> Map<String, Value> {
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
    let (_, head, _) = served.send(&served.head(), &posted(&json!({"player_id": "messi"})).to_string());
    assert!(head.contains("content-type: application/json") && head.contains("x-touchstone-from: python"), "{head}");
    Command::new("kill").args(["-INT", &served.child.id().to_string()]).status().unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = served.child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "it does not end");
        std::thread::yield_now();
    };
    assert_eq!(status.code(), Some(0));
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
    let wanted =
        json!({"detail": [{"loc": ["body", "strip"], "msg": "field required", "type": "value_error.missing"}]});
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
    let old: Map<String, Value> =
        (0..100).map(|n| (format!("{{'n': {n}}}"), json!({ "error": "", "response": format!("old {n}") }))).collect();
    fs::create_dir_all(sandbox.folder.join(FILE).parent().unwrap()).unwrap();
    fs::write(sandbox.folder.join(FILE), Value::Object(old).to_string()).unwrap();
    let served = [Served::start(&sandbox, &[]), Served::start(&sandbox, &["."])];
    std::thread::scope(|threads| {
        for n in 0..200 {
            let served = &served;
            threads.spawn(move || {
                // Half of them are there already; the others are asked of both servers.
                let (status, said) = served[n % 2].call(&json!({ "n": n }));
                let wanted = if n < 100 { format!("old {n}") } else { format!("{{'n': {n}}}") };
                assert_eq!((status, said["response"].as_str()), (200, Some(wanted.as_str())));
            });
        }
    });
    let kept = kept(&sandbox);
    assert_eq!(kept.len(), 200);
    assert!((0..200).all(|n| kept.contains_key(&format!("{{'n': {n}}}"))));
    assert_eq!(model.delivered(), 100, "each was bought once");
}

#[test]
fn what_cannot_be_meant_is_said_before_anything_is_listened_to() {
    let model = Scripted::start(echo);
    let sandbox = sandbox("virtual-settings", &model);
    for (arguments, said) in [
        (["--simulator", "nobody"], "no model named `nobody`"),
        (["--order", "odd"], "mirrorapi_cache"),
        (["--tools", "nowhere"], "not there"),
        (["--real", "ftp://x"], "no address of real APIs"),
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
    ];
    for switch in switches {
        assert!(told.out.contains(switch), "{switch}");
    }
}
