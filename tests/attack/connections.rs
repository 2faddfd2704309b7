//! Attacks on the served page by connections that strangers keep. Measures how long its owner waits
//! meanwhile. Runs under `make attack`, or with `TOUCHSTONE_ATTACK_CONNECTIONS`, the seconds of
//! each attack; a busy machine would make the figures mean nothing.
use crate::is_campaign;
use crate::sandbox::Sandbox;
use crate::served::Served;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest time that the owner may wait.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two requests of a stranger.
const BETWEEN: Duration = Duration::from_secs(3);
/// Time between two looks at the connections of the strangers.
const TICK: Duration = Duration::from_millis(20);

/// Returns the duration of an attack in seconds, or `None` in a run of `make test`.
fn seconds() -> Option<u64> {
    match std::env::var("TOUCHSTONE_ATTACK_CONNECTIONS") {
        Ok(text) => Some(text.parse().unwrap()),
        Err(_) => is_campaign().then_some(60),
    }
}

/// Connections of strangers, each opened again when the server closes it. They are closed on drop.
struct Strangers {
    over: Arc<AtomicBool>,
    opened: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Strangers {
    /// Starts so many strangers. With `speaks` each sends a request without a token every 3 seconds.
    fn begin(port: u16, count: usize, speaks: bool) -> Self {
        let (over, opened) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (ends, counts) = (Arc::clone(&over), Arc::clone(&opened));
        let thread = std::thread::spawn(move || {
            let mut streams: Vec<(TcpStream, Instant)> = Vec::new();
            while !ends.load(Ordering::SeqCst) {
                streams.retain_mut(|(stream, next)| {
                    if speaks && *next <= Instant::now() {
                        *next += BETWEEN;
                        let request = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
                        return stream.write_all(request.as_bytes()).is_ok() && is_open(stream);
                    }
                    is_open(stream)
                });
                while streams.len() < count && !ends.load(Ordering::SeqCst) {
                    let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) else { break };
                    stream.set_nonblocking(true).unwrap();
                    streams.push((stream, Instant::now() + BETWEEN));
                    counts.fetch_add(1, Ordering::SeqCst);
                }
                std::thread::park_timeout(TICK);
            }
        });
        Self { over, opened, thread: Some(thread) }
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(
            std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()),
            "the attack broke off"
        );
    }
}

/// Returns the port that a server printed.
fn port_of(served: &Served) -> u16 {
    let after = served.line.split("127.0.0.1:").nth(1).unwrap();
    after.split('/').next().unwrap().parse().unwrap()
}

/// Reads what has come, and returns false once the server has closed the connection.
fn is_open(stream: &mut TcpStream) -> bool {
    use std::io::Read as _;
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// Sends requests of the owner, each over a new connection, until the time is over. Returns the
/// times that the answers took.
fn owner_waits(served: &Served, during: Duration) -> Vec<Duration> {
    let (begun, mut waits) = (Instant::now(), Vec::new());
    while begun.elapsed() < during {
        for (method, path, body) in [("GET", "/", ""), ("POST", "/api/status", "{}")] {
            let asked = Instant::now();
            let reply = served.send(method, path, body);
            waits.push(asked.elapsed());
            assert!(reply.starts_with("HTTP/1.1 200"), "{method} {path}: {reply:.200}");
        }
        std::thread::park_timeout(TICK);
    }
    waits.sort();
    waits
}

#[test]
fn the_owner_is_answered_within_a_second_whatever_connections_strangers_keep() {
    let Some(seconds) = seconds() else {
        return eprintln!("not run: TOUCHSTONE_ATTACK_CONNECTIONS is not set");
    };
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let files = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let sandbox = Sandbox::usual("attack-connections");
    let mut slow = Vec::new();
    for (name, count, speaks) in [
        ("no strangers", 0, false),
        ("128 connections with a refused request every 3 s", 128, true),
        ("10,000 silent connections", 10_000.min(files.saturating_sub(200)), false),
    ] {
        let served = Served::start(&sandbox, &[]);
        let strangers = Strangers::begin(port_of(&served), count, speaks);
        let waits = owner_waits(&served, Duration::from_secs(seconds));
        let opened = strangers.opened.load(Ordering::SeqCst);
        let (slowest, usual) = (waits[waits.len() - 1], waits[waits.len() / 2]);
        println!(
            "figure: connections: {name}: {} answers, half of them within {} ms, the slowest after {} ms; {opened} connections were opened",
            waits.len(),
            usual.as_millis(),
            slowest.as_millis()
        );
        if slowest > PATIENCE {
            slow.push(name);
        }
    }
    assert!(slow.is_empty(), "the owner waited longer than 1 s: {slow:?}");
}
