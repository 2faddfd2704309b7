//! Measures the time of a cached reply of a virtual API, in this process and over HTTP from the
//! program, for files with few and many entries, against the lower bound on this machine: a server
//! that echoes its requests.
//!
//! `cargo bench --bench virtual`. Prints a table; never fails.
#![expect(clippy::unwrap_used, reason = "a measurement fails by panicking")]
use axum::{Router, body::Bytes, routing::post};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use touchstone_app::suites::virtual_apis::VirtualApiOptions;
use touchstone_app::{App, AppConfig};

/// Numbers of entries of a file.
const SIZES: [usize; 4] = [1, 100, 2_000, 20_000];
/// Number of measured calls; `WARM` is the number of calls before them that do not count.
const CALLS: usize = 3_000;
const WARM: usize = 200;

fn main() {
    let home =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("virtual-{}", std::process::id()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let floor = runtime.block_on(floor());
    println!("{:<44} {:>10} {:>10} {:>10}", "a reply, in milliseconds", "p50", "p95", "p99");
    let mut connection = Connection::new(floor);
    row("floor: a server that echoes", &measured(|n| drop(connection.post(&body(n % 100)))));
    for entries in SIZES {
        let folder = home.join(entries.to_string());
        let size = fill(&folder, entries);
        let app = App::new(AppConfig::from_system(None));
        let door = app
            .suites()
            .open_virtual(&VirtualApiOptions {
                folder: folder.clone(),
                ..VirtualApiOptions::default()
            })
            .unwrap();
        let begun = Instant::now();
        runtime.block_on(door.answer(body(0).as_bytes()));
        let first = begun.elapsed();
        let taken = measured(|n| {
            let answer = runtime.block_on(door.answer(body(n % entries).as_bytes()));
            assert_eq!(answer.from, Some("python"));
        });
        row(&format!("in process, {entries} entries ({} KB)", size / 1024), &taken);
        let served = Served::start(&folder);
        let mut connection = Connection::new(served.port);
        row(
            &format!("over HTTP, {entries} entries"),
            &measured(|n| assert!(connection.post(&body(n % entries)).contains("name"))),
        );
        println!(
            "{:<44} {:>10.3}",
            format!("  the first, which reads {entries} entries"),
            first.as_secs_f64() * 1e3
        );
    }
    fs::remove_dir_all(home).unwrap();
}

fn measured(mut call: impl FnMut(usize)) -> Vec<Duration> {
    (0..WARM).for_each(&mut call);
    let mut taken: Vec<Duration> = (0..CALLS)
        .map(|n| {
            let begun = Instant::now();
            call(n * 7919);
            begun.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken
}

fn row(name: &str, taken: &[Duration]) {
    let at = |percent: usize| taken[taken.len() * percent / 100].as_secs_f64() * 1e3;
    println!("{name:<44} {:>10.3} {:>10.3} {:>10.3}", at(50), at(95), at(99));
}

/// Writes a cache with a single file of `entries` entries of about 600 bytes, and returns its size.
fn fill(folder: &Path, entries: usize) -> usize {
    let mut text = String::from("{");
    for n in 0..entries {
        let comma = if n > 0 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}\n    \"{{'player_id': 'p{n}'}}\": {{\n        \"error\": \"\",\
             \n        \"response\": {{\n            \"name\": \"{}\"\n        }}\n    }}",
            "x".repeat(500)
        );
    }
    text.push_str("\n}");
    let dir = folder.join("tool_response_cache/Data/theclique_for_Data");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("transfermarkt_details.json"), &text).unwrap();
    text.len()
}

fn body(n: usize) -> String {
    format!(
        "{{\"category\": \"Data\", \"tool_name\": \"theclique\", \"api_name\": \
         \"transfermarkt_details\", \"tool_input\": \"{{\\\"player_id\\\": \\\"p{n}\\\"}}\", \
         \"strip\": \"\", \"toolbench_key\": \"\"}}"
    )
}

/// Starts a server that does the minimum, and returns its port.
async fn floor() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let rooms = Router::new().route("/virtual", post(|body: Bytes| async { body }));
    tokio::spawn(async move { axum::serve(listener, rooms).await });
    port
}

/// The program as a server, killed on drop.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(folder: &PathBuf) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let command = command
            .args(["stabletoolbench", "serve", "--no-token"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap();
        Self { child, port }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that is reused for all requests, as in real clients.
struct Connection {
    stream: TcpStream,
    port: u16,
}

impl Connection {
    fn new(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, port }
    }

    fn post(&mut self, body: &str) -> String {
        let head = format!(
            "POST /virtual HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        self.stream.write_all((head + body).as_bytes()).unwrap();
        let mut reply = Vec::new();
        let mut piece = [0; 16 << 10];
        loop {
            let read = self.stream.read(&mut piece).unwrap();
            assert!(read > 0, "the connection ended");
            reply.extend_from_slice(&piece[..read]);
            let text = String::from_utf8_lossy(&reply);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head
                    .to_lowercase()
                    .split_once("content-length: ")
                    .unwrap()
                    .1
                    .lines()
                    .next()
                    .unwrap()
                    .trim()
                    .parse();
                if body.len() >= length.unwrap_or(usize::MAX) {
                    return body.to_owned();
                }
            }
        }
    }
}
