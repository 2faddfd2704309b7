//! `touchstone serve`: the printed address, the page behind it, and its end.
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// A running server, ended when it is dropped.
pub(crate) struct Served {
    child: Child,
    /// What it printed first.
    line: String,
    port: u16,
    cookie: String,
}

impl Served {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::with(sandbox, &[&["serve", "."], arguments].concat())
    }

    fn with(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.command(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let start = line.find("127.0.0.1:").unwrap_or_else(|| panic!("no address in {line:?}")) + "127.0.0.1:".len();
        let (port, rest) = line[start..].split_once('/').unwrap();
        let token = rest.trim_start_matches("?token=").trim_end_matches(|c: char| !c.is_ascii_hexdigit());
        let mut served = Self { child, port: port.parse().unwrap(), cookie: String::new(), line: line.clone() };
        let welcome = served.send("GET", &format!("/?token={token}"), "");
        let cookie =
            welcome.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap_or_else(|| panic!("{welcome}"));
        cookie.split(';').next().unwrap().clone_into(&mut served.cookie);
        served
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn send(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let Self { port, cookie, .. } = self;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nCookie: {cookie}\r\nX-Touchstone: 1\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Runs a command; its status and its reply.
    fn call(&self, name: &str, arguments: &Value) -> (u16, Value) {
        let reply = self.send("POST", &format!("/api/{name}"), &arguments.to_string());
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {body}")))
    }

    /// Sends Ctrl-C and waits for the end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        Command::new("kill").args(["-INT", &self.id().to_string()]).status().unwrap();
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_prints_one_line_with_address_and_token_and_ends_well_on_ctrl_c() {
    let sandbox = Sandbox::usual("serve-line");
    let mut plain = Served::start(&sandbox, &[]);
    assert!(plain.line.starts_with("http://127.0.0.1:") && plain.line.contains("/?token="), "{}", plain.line);
    assert_eq!(plain.end().code(), Some(0));
    let mut json = Served::start(&sandbox, &["--json"]);
    let said: Value = serde_json::from_str(&json.line).unwrap();
    assert!(said["url"].as_str().unwrap().contains("/?token="));
    assert_eq!(json.end().code(), Some(0));
}

#[test]
fn the_demo_is_served_from_a_copy_in_the_state_directory() {
    let sandbox = Sandbox::usual("serve-demo");
    let served = Served::with(&sandbox, &["serve", "--demo"]);
    let (status, reply) = served.call("status", &json!({}));
    assert_eq!((status, &reply["folder"]["demo"]), (200, &json!(true)), "{reply}");
    assert!(reply["folder"]["path"].as_str().unwrap().ends_with("state/demo"), "{reply}");
    assert_eq!(sandbox.run(&["serve", "--demo", "."]).status, 2);
}

#[test]
fn every_start_has_another_token() {
    let sandbox = Sandbox::usual("serve-token");
    let token = |served: &Served| served.line.split_once("token=").unwrap().1.to_owned();
    assert_ne!(token(&Served::start(&sandbox, &[])), token(&Served::start(&sandbox, &[])));
}

#[test]
fn a_taken_port_is_said_and_ends_with_two() {
    let sandbox = Sandbox::usual("serve-port");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = sandbox.run(&["serve", "--port", &port]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains(&port) && ran.err.contains("--port"), "{}", ran.err);
}

#[test]
fn the_commands_answer_over_http() {
    let sandbox = Sandbox::usual("serve-calls");
    let served = Served::start(&sandbox, &[]);
    let request = json!({ "filter": "", "sort": { "column": "path", "descending": false }, "span": { "offset": 0, "limit": 50 } });
    let begun = Instant::now();
    let page = loop {
        let (status, page) = served.call("list_runs", &json!({ "request": request }));
        if status == 200 && page["total"] == 4 {
            break page;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{status} {page}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let (status, view) = served.call("open_run", &json!({ "id": page["rows"][1]["id"] }));
    assert_eq!((status, &view["row"]["state"]), (200, &json!("answered")));
    assert!(
        served.send("GET", "/", "").contains("<div id=\"app\">"),
        "the page is built in: npm --prefix ui run build"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let sandbox = Sandbox::usual("serve-refusals");
    let served = Served::start(&sandbox, &[]);
    for (name, arguments, wanted) in [
        ("pick_folder", json!({}), (403, "not_allowed")),
        ("open_run", json!({ "id": "no-such-run" }), (404, "not_found")),
        ("open_run", json!({ "id": "../../etc/passwd" }), (404, "not_found")),
        ("open_run", json!({ "id": 7 }), (400, "bad_request")),
        ("open_run", json!({}), (400, "bad_request")),
        ("open_run", json!({ "id": "a", "path": "/etc/passwd" }), (400, "bad_request")),
        ("status", json!(null), (400, "bad_request")),
        ("no_such_command", json!({}), (404, "not_found")),
    ] {
        let (status, error) = served.call(name, &arguments);
        assert_eq!((status, error["code"].as_str().unwrap()), wanted, "{name} {arguments} {error}");
    }
    let (_, refused) = served.call("pick_folder", &json!({}));
    assert!(refused["hint"].as_str().unwrap().contains("touchstone serve FOLDER"));
}
