//! Provider for the measurements, in a separate process: replies like a model, and records the time
//! of each conversation from the end of a reply to its next request.
use crate::conversation::{Conversation, Wire};
use crate::scripted::{Latch, Reply, Scripted, Seen};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Number of turns of a conversation; all but the last call a tool.
pub(crate) const TURNS: usize = 6;
/// Text before the number of a conversation in its question.
pub(crate) const NUMBERED: &str = "Question number ";

/// Handle of the provider process.
pub(crate) struct Provider {
    child: Child,
    pub(crate) address: String,
}

/// Measurements of the provider.
pub(crate) struct Stats {
    /// Number of requests so far.
    pub(crate) asked: u64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
}

impl Provider {
    pub(crate) fn start(think_ms: u64, held: bool) -> Self {
        let me =
            std::env::current_exe().unwrap_or_else(|why| panic!("cannot find this program: {why}"));
        let words = ["--provide".to_owned(), think_ms.to_string(), held.to_string()];
        let child =
            Command::new(me).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|why| panic!("the provider does not start: {why}"));
        let mut address = String::new();
        if let Some(out) = child.stdout.take() {
            let _ = BufReader::new(out).read_line(&mut address);
        }
        Self { child, address: address.trim().to_owned() }
    }

    /// Base URL of the chat API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn stats(&self) -> Stats {
        let stats = self.get("/stats");
        let ms = |key: &str| stats[key].as_f64().unwrap_or(f64::NAN);
        Stats {
            asked: stats["asked"].as_u64().unwrap_or(0),
            p50_ms: ms("p50_ms"),
            p95_ms: ms("p95_ms"),
        }
    }

    /// Releases the replies that were held back.
    pub(crate) fn open(&self) {
        self.get("/open");
    }

    fn get(&self, path: &str) -> Value {
        let asked = TcpStream::connect(&self.address).and_then(|mut stream| {
            write!(stream, "GET {path} HTTP/1.1\r\n\r\n")?;
            stream.shutdown(std::net::Shutdown::Write)?;
            let mut text = String::new();
            stream.read_to_string(&mut text).map(|_| text)
        });
        let text = asked.unwrap_or_default();
        serde_json::from_str(text.rsplit("\r\n\r\n").next().unwrap_or_default()).unwrap_or_default()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Default)]
struct Notes {
    asked: u64,
    /// Time at which the last reply to each conversation began to be sent.
    last: HashMap<u64, Instant>,
    gaps: Vec<Duration>,
}

/// Body of the provider process: serves until its standard input ends.
pub(crate) fn serve(think_ms: u64, held: bool) {
    let notes = Mutex::new(Notes::default());
    let conversation = Conversation::new(Wire::Chat, TURNS - 1);
    let latch = Latch::default();
    let server = Scripted::start(move |seen| {
        let now = Instant::now();
        match seen.path.as_str() {
            "/stats" => return Reply::json(&told(&notes)),
            "/open" => {
                latch.open();
                return Reply::json(&json!({}));
            }
            _ => {}
        }
        let number = number(seen);
        if let Ok(mut notes) = notes.lock() {
            notes.asked += 1;
            if let Some(last) = notes.last.get(&number).copied() {
                notes.gaps.push(now - last);
            }
        }
        let mut reply = conversation.reply(seen);
        std::thread::sleep(Duration::from_millis(think_ms));
        if held {
            reply = reply.once_open(&latch);
        }
        if let Ok(mut notes) = notes.lock() {
            notes.last.insert(number, Instant::now());
        }
        reply
    })
    .forgetful();
    println!("{}", server.url("").trim_start_matches("http://"));
    let _ = std::io::stdout().flush();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

fn told(notes: &Mutex<Notes>) -> Value {
    let Ok(mut notes) = notes.lock() else { return Value::Null };
    notes.gaps.sort_unstable();
    let at = |part: f64| {
        notes
            .gaps
            .get((notes.gaps.len() as f64 * part) as usize)
            .map(|gap| gap.as_secs_f64() * 1000.0)
    };
    json!({ "asked": notes.asked, "p50_ms": at(0.5), "p95_ms": at(0.95) })
}

fn number(seen: &Seen) -> u64 {
    let text = String::from_utf8_lossy(&seen.body);
    let digits = text.split(NUMBERED).nth(1).unwrap_or_default();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    digits[..end].parse().unwrap_or(u64::MAX)
}
