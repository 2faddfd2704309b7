//! Tests of servers of the Model Context Protocol: a published one, and a scripted one that
//! misbehaves.
use crate::bench::{DEADLINE, beside_the_project, wait_until};
use fs_err as fs;
use std::future::Future;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_runner::tools::mcp::McpTool;
use touchstone_runner::tools::{Called, Unusable};

/// Runs a test to its end, or fails at the deadline instead of hanging.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(DEADLINE, test).await.expect("the test took too long")
    })
}

/// A folder with the scripted server in it.
struct Scene {
    base: TempDir,
}

impl Scene {
    fn new() -> Self {
        let base = TempDir::new().unwrap();
        fs::copy(
            beside_the_project("tests/fixtures/mcp/scripted.py"),
            base.path().join("scripted.py"),
        )
        .unwrap();
        Self { base }
    }

    async fn open(&self, begin: &str, more: &str) -> Result<McpTool, Unusable> {
        let entry =
            format!(r#"{{"kind": "mcp", "command": ["python3", "scripted.py", "{begin}"]{more}}}"#);
        open(&entry, self.base.path()).await
    }

    fn has(&self, file: &str) -> bool {
        self.base.path().join(file).exists()
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.base.path().join("starts")).unwrap().lines().count()
    }
}

/// Opens the tool `notes` with these settings.
pub(crate) async fn open(entry: &str, base: &Path) -> Result<McpTool, Unusable> {
    let secret = |name: &str| (name == "TOKEN").then(|| "t0ken-value".to_owned());
    McpTool::open("notes", &json::read(entry).unwrap(), base, &secret).await
}

async fn call(tool: &McpTool, name: &str, params: &str) -> Called {
    tool.call(name, &json::read(params).unwrap(), &CancellationToken::new()).await
}

/// Formats a result on one line: JSON for values, text unchanged, failures marked.
fn format_result(called: &Called) -> String {
    match called {
        Ok(Value::Text(text)) => text.clone(),
        Ok(value) => json::write(value, false),
        Err(failure) => format!("failed: {}", failure.message),
    }
}

/// Names of the offered tools.
pub(crate) fn names(tool: &McpTool) -> Vec<String> {
    tool.offers().into_iter().map(|offer| offer.name).collect()
}

fn everything() -> String {
    let server = beside_the_project(
        "tests/mcp-server/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    );
    assert!(server.is_file(), "the public server is not installed: run scripts/setup.sh test");
    server.to_str().unwrap().to_owned()
}

/// Checks the replies of the public server, over either transport.
async fn the_public_server_answers(tool: &McpTool) {
    let names = names(tool);
    for name in ["echo", "get-sum", "get-structured-content", "get-tiny-image"] {
        assert!(names.iter().any(|known| known == name), "{name} is missing in {names:?}");
    }
    let sum = tool.offers().into_iter().find(|offer| offer.name == "get-sum").unwrap();
    assert!(!sum.description.is_empty());
    assert_eq!(sum.parameters.get("type").and_then(Value::text), Some("object"));
    let asked = [
        call(tool, "echo", r#"{"message": "hello"}"#).await,
        call(tool, "get-sum", r#"{"a": 2, "b": 3}"#).await,
        call(tool, "get-structured-content", r#"{"location": "Chicago"}"#).await,
        call(tool, "get-tiny-image", "{}").await,
    ];
    let said = asked.iter().map(format_result).collect::<Vec<_>>().join("\n");
    insta::allow_duplicates! { insta::assert_snapshot!(said, @r#"
    Echo: hello
    The sum of 2 and 3 is 5.
    {"temperature":36,"conditions":"Light rain / drizzle","humidity":82}
    Here's the image you requested:
    [image, image/png, 4033 bytes]
    The image above is the MCP logo.
    "#); }
    // The message for wrong arguments differs between versions, but it is always a failure with a
    // message.
    let refused = call(tool, "get-sum", r#"{"a": "two"}"#).await.unwrap_err();
    assert!(refused.message.contains("get-sum"), "{refused}");
    assert_eq!(call(tool, "none", "{}").await.unwrap_err().message, "There is no tool `none`.");
    assert_eq!(
        format_result(&call(tool, "echo", r#"{"message": "still here"}"#).await),
        "Echo: still here"
    );
}

#[test]
fn a_public_server_is_used_over_its_standard_input_and_output() {
    run(async {
        let home = TempDir::new().unwrap();
        let entry = format!(r#"{{"command": ["node", "{}", "stdio"]}}"#, everything());
        let tool = open(&entry, home.path()).await.unwrap();
        the_public_server_answers(&tool).await;
        tool.close().await;
    });
}

#[test]
fn a_public_server_is_used_over_http() {
    let mut server = HttpServer::start();
    run(async {
        let home = TempDir::new().unwrap();
        let entry = format!(
            r#"{{"url": "{}", "headers": {{"Authorization": "Bearer ${{TOKEN}}"}}, "seconds": 5}}"#,
            server.url
        );
        let tool = open(&entry, home.path()).await.unwrap();
        the_public_server_answers(&tool).await;
        server.end();
        let lost = call(&tool, "echo", r#"{"message": "anybody?"}"#).await.unwrap_err();
        assert!(!lost.message.contains("t0ken-value"), "{lost}");
        let again = call(&tool, "echo", r#"{"message": "anybody?"}"#).await.unwrap_err();
        assert!(again.message.contains("could not be reached again"), "{again}");
        tool.close().await;
    });
}

/// The public server over HTTP on this machine.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start() -> Self {
        let loopback = beside_the_project("tests/mcp-server/loopback.mjs");
        let mut child = Command::new("node")
            .arg("--import")
            .arg(loopback)
            .args([&everything(), "streamableHttp"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .find_map(|line| line.unwrap().strip_prefix("PORT ").map(str::to_owned))
            .unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://127.0.0.1:{port}/mcp") }
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.end();
    }
}

#[test]
fn tools_come_from_all_pages_under_names_that_providers_take() {
    run(async {
        let scene = Scene::new();
        let tool = scene.open("well", "").await.unwrap();
        insta::assert_snapshot!(names(&tool).join(" "), @"echo env where \
            bad_name_with_slash_47892ff8 _t__4527085b fail refuse garbage long flood hang die family");
        let odd = names(&tool)[3].clone();
        assert_eq!(
            format_result(&call(&tool, &odd, "{}").await),
            r#"{"name":"bad name/with slash"}"#
        );
        tool.close().await;

        let some =
            scene.open("well", r#", "tools": ["where", "echo"], "prefix": "n_""#).await.unwrap();
        assert_eq!(names(&some), ["n_echo", "n_where"]);
        assert_eq!(
            format_result(&call(&some, "n_echo", r#"{"say": 1.50}"#).await),
            r#"{"name":"echo","say":1.5}"#
        );
        some.close().await;

        let unknown = scene.open("well", r#", "tools": ["absent"]"#).await.err().unwrap();
        assert_eq!(unknown.message, "The server of the tool `notes` has no tool `absent`.");
        assert!(unknown.fix.unwrap().starts_with("It has: echo, env, where, "));
    });
}

#[test]
fn a_server_gets_the_usual_variables_and_the_named_ones_and_no_other() {
    run(async {
        let scene = Scene::new();
        let tool =
            scene.open("well", r#", "env": {"PORT": 80, "KEY": "<${TOKEN}>"}"#).await.unwrap();
        let Value::Map(env) = call(&tool, "env", "{}").await.unwrap() else {
            panic!("it is a map")
        };
        let names: Vec<&str> = env.iter().map(|(name, _)| name.text().unwrap()).collect();
        // Variables of the test process; a shell in between may set its own.
        let ours: Vec<String> = std::env::vars()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with("CARGO"))
            .collect();
        assert!(!ours.is_empty(), "a program that inherits would have these");
        assert!(!names.iter().any(|name| ours.iter().any(|our| our == name)), "{names:?}");
        assert!(["PATH", "HOME", "PORT"].iter().all(|name| names.contains(name)), "{names:?}");
        let key =
            env.iter().find(|(name, _)| name.text() == Some("KEY")).map(|(_, value)| value.clone());
        assert_eq!(
            key,
            Some(Value::from("<[secret]>")),
            "what the server says is shown without the secret"
        );
        let place = scene.base.path().canonicalize().unwrap();
        assert_eq!(format_result(&call(&tool, "where", "{}").await), place.to_str().unwrap());
        tool.close().await;
    });
}

#[test]
fn a_tool_that_fails_says_why_and_the_next_call_works() {
    run(async {
        let scene = Scene::new();
        let tool = scene.open("well", "").await.unwrap();
        let asked = [
            call(&tool, "fail", "{}").await,
            call(&tool, "refuse", "{}").await,
            call(&tool, "echo", r#""{broken""#).await,
            call(&tool, "garbage", "{}").await,
            call(&tool, "echo", r#"{"say": "hello"}"#).await,
        ];
        insta::assert_snapshot!(asked.iter().map(format_result).collect::<Vec<_>>().join("\n"), @r#"
        failed: there is
        no such row
        failed: `notes`: I do not like these arguments.
        failed: The arguments of the call are not a JSON object.
        {"name":"garbage"}
        {"name":"echo","say":"hello"}
        "#);
        assert_eq!(scene.starts(), 1);
        tool.close().await;
    });
}

#[test]
fn a_long_reply_is_cut_and_one_without_an_end_is_given_up() {
    run(async {
        let scene = Scene::new();
        let tool = scene.open("well", "").await.unwrap();
        let long = format_result(&call(&tool, "long", "{}").await);
        assert!(long.len() < (1 << 20) + 100 && long.ends_with("bytes]"), "{} bytes", long.len());
        let flood = call(&tool, "flood", "{}").await.unwrap_err();
        assert_eq!(flood.message, "`notes`: Its reply is longer than 16 MiB, and was not read.");
        assert_eq!(format_result(&call(&tool, "echo", "{}").await), r#"{"name":"echo"}"#);
        assert_eq!(scene.starts(), 2);
        tool.close().await;
    });
}

#[test]
fn a_call_that_hangs_ends_when_it_is_stopped_and_the_server_hears_of_it() {
    run(async {
        let scene = Scene::new();
        let tool = scene.open("well", "").await.unwrap();
        let stop = CancellationToken::new();
        let nothing = Value::Map(Vec::new());
        let hanging = tool.call("hang", &nothing, &stop);
        let stopping = async {
            tokio::task::block_in_place(|| {
                wait_until("the server hangs", || scene.has("hanging").then_some(()));
            });
            stop.cancel();
        };
        let (called, ()) = tokio::join!(hanging, stopping);
        assert_eq!(called.unwrap_err().message, "The call was stopped before the tool answered.");
        tokio::task::block_in_place(|| {
            wait_until("the server was told", || scene.has("cancelled").then_some(()));
        });
        assert_eq!(format_result(&call(&tool, "echo", "{}").await), r#"{"name":"echo"}"#);
        assert_eq!(scene.starts(), 1);
        tool.close().await;
    });
}

#[test]
fn a_call_that_takes_too_long_fails_and_the_next_one_has_a_new_server() {
    run(async {
        let scene = Scene::new();
        let tool = scene.open("well", r#", "seconds": 2"#).await.unwrap();
        assert_eq!(
            call(&tool, "hang", "{}").await.unwrap_err().message,
            "`notes`: It did not answer within 2 seconds."
        );
        assert_eq!(format_result(&call(&tool, "echo", "{}").await), r#"{"name":"echo"}"#);
        assert_eq!(scene.starts(), 2);
        tool.close().await;
    });
}

#[test]
fn a_server_that_dies_in_a_call_is_started_once_more_by_the_next() {
    run(async {
        let scene = Scene::new();
        let tool = scene.open("well", "").await.unwrap();
        assert_eq!(
            call(&tool, "die", "{}").await.unwrap_err().message,
            "`notes`: It ended before it answered."
        );
        assert_eq!(format_result(&call(&tool, "echo", "{}").await), r#"{"name":"echo"}"#);
        assert_eq!(scene.starts(), 2);
        tool.close().await;

        let scene = Scene::new();
        let tool = scene.open("once", "").await.unwrap();
        call(&tool, "die", "{}").await.unwrap_err();
        let again = call(&tool, "echo", "{}").await.unwrap_err();
        assert!(
            again.message.contains("could not be reached again")
                && again.message.contains("exit status: 4"),
            "{again}"
        );
        assert_eq!(scene.starts(), 2, "it is tried once for each call");
        tool.close().await;
    });
}

#[test]
fn a_server_that_cannot_be_used_says_why_without_the_secret() {
    run(async {
        let scene = Scene::new();
        let ended = scene.open("exit", r#", "env": {"KEY": "${TOKEN}"}"#).await.err().unwrap();
        assert!(ended.message.contains("exit status: 3"), "{ended}");
        assert!(ended.message.contains("line 1\nthe key [secret] is not welcome"), "{ended}");
        let silent = scene.open("silent", r#", "seconds": 1"#).await.err().unwrap();
        assert_eq!(
            silent.message,
            "The server of the tool `notes` cannot be used: It did not answer within 1 seconds."
        );
        let missing =
            open(r#"{"command": ["/nowhere/at-all"]}"#, scene.base.path()).await.err().unwrap();
        assert!(
            missing.message.contains("could not be started") && missing.fix.is_some(),
            "{missing}"
        );
        let unset =
            open(r#"{"command": ["python3"], "env": {"A": "${OTHER}"}}"#, scene.base.path())
                .await
                .err()
                .unwrap();
        assert_eq!(unset.message, "The tool `notes` needs `OTHER`, which is not set.");
    });
}

#[test]
fn a_list_of_tools_that_is_too_much_is_refused_with_what_to_do() {
    run(async {
        for (begin, message) in [
            ("many", "It has more than 1000 tools."),
            ("pages", "Its list of tools has more than 100 pages."),
            ("long", "Its list of tools is longer than 4 MiB."),
            ("wide", "its tool `echo` describes its parameters in more than 256 KiB."),
        ] {
            let scene = Scene::new();
            let refused = scene.open(begin, "").await.err().unwrap();
            assert_eq!(
                refused.message,
                format!("The server of the tool `notes` cannot be used: {message}")
            );
            assert!(refused.fix.is_some_and(|fix| fix.ends_with('.')), "{begin}");
        }
        // A list without that tool makes the others usable.
        let scene = Scene::new();
        let tool = scene.open("wide", r#", "tools": ["fail"]"#).await.unwrap();
        assert_eq!(names(&tool), ["fail"]);
        tool.close().await;
    });
}

/// Returns true while a process exists and has not ended.
pub(crate) fn lives(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn nothing_of_a_server_survives_it() {
    for close in [true, false] {
        run(async {
            let scene = Scene::new();
            let tool = scene.open("well", "").await.unwrap();
            let family = call(&tool, "family", "{}").await.unwrap();
            let members: Vec<String> =
                family.items().iter().map(|item| json::write(item, false)).collect();
            assert_eq!(members.len(), 4);
            assert!(members.iter().all(|process| lives(process)), "{members:?}");
            if close {
                tool.close().await;
            } else {
                drop(tool);
            }
            let gone = || members.iter().all(|process| !lives(process)).then_some(());
            tokio::task::block_in_place(|| wait_until("all of it has ended", gone));
        });
    }
}

/// Starts a server that gives this reply to every request. Returns its port, the number of
/// requests, and their text.
fn answering(reply: String) -> (u16, Arc<AtomicUsize>, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (count, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(String::new())));
    let (counting, hearing) = (Arc::clone(&count), Arc::clone(&heard));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counting.fetch_add(1, Ordering::SeqCst);
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            hearing.lock().unwrap().push_str(&String::from_utf8_lossy(&request[..read]));
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    (port, count, heard)
}

#[test]
fn a_redirect_is_not_followed_and_takes_no_key_elsewhere() {
    run(async {
        let home = TempDir::new().unwrap();
        let with_key = |port: u16| {
            format!(
                r#"{{"url": "http://127.0.0.1:{port}/mcp", "headers": {{"Authorization": "Bearer ${{TOKEN}}"}}, "seconds": 5}}"#
            )
        };
        let nothing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let (elsewhere, reached, _) = answering(nothing.to_owned());
        let redirect = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:{elsewhere}/mcp\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let (port, _, heard) = answering(redirect);
        open(&with_key(port), home.path()).await.err().unwrap();
        assert!(
            heard.lock().unwrap().contains("Bearer t0ken-value"),
            "the server itself gets the key"
        );
        assert_eq!(reached.load(Ordering::SeqCst), 0, "the address of the redirect was asked");
        open(&with_key(elsewhere), home.path()).await.err().unwrap();
        assert!(reached.load(Ordering::SeqCst) > 0, "asked directly, it can be reached");
    });
}
