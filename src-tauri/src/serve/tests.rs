//! Tests of the server over real sockets, with hand-written requests.
use super::*;
use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Instant,
};
use touchstone_api::{AppEvent, Stale};

/// A server on a free port with commands that only echo.
struct Served {
    port: u16,
    cookie: String,
    invites: Arc<Invites>,
    events: Events,
    end: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

fn echo(name: &str, arguments: &[u8]) -> Result<Vec<u8>, AppError> {
    match name {
        "echo" => Ok(arguments.to_vec()),
        "none" => Err(AppError::new(Code::NoFolder, "No folder is open.").hint("Open one.")),
        "panic" => panic!("as asked"),
        _ => Err(AppError::new(Code::NotFound, "There is no such command.")),
    }
}

impl Served {
    fn start() -> Self {
        let state = tempfile::tempdir().unwrap();
        Self::start_on(0, state.path())
    }

    /// Starts on a port, with what earlier servers left in the state directory.
    fn start_on(port: u16, state_dir: &std::path::Path) -> Self {
        let files = [("/index.html", "<p>page"), ("/assets/a-123.js", "let a")];
        let page = Page::from_files(
            files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())),
        );
        let inside =
            ServerState { calls: Arc::new(echo), events: Events::new(), page: Arc::new(page) };
        let events = inside.events.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let server = runtime.block_on(async { Server::bind(port, state_dir) }).unwrap();
        let (port, invites) = (server.listener.local_addr().unwrap().port(), server.invites());
        let (end, ended) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            let end = async {
                let _ = ended.await;
            };
            runtime.block_on(server.run(inside, end)).unwrap();
        });
        let mut running = Self {
            port,
            cookie: String::new(),
            invites,
            events,
            end: Some(end),
            thread: Some(thread),
        };
        let welcome = running.come(&running.invites.address().unwrap());
        assert!(welcome.starts_with("HTTP/1.1 303"), "{welcome}");
        let cookie = welcome.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut running.cookie);
        running
    }

    /// Opens an address like a new browser.
    fn come(&self, address: &str) -> String {
        let path = &address[address.find("/?").unwrap()..];
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port))
    }

    /// Sends these bytes and reads the whole response.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let request = request.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1);
        let _ = stream.write_all(request.as_bytes());
        let mut reply = String::new();
        let _ = stream.read_to_string(&mut reply);
        reply
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\n\r\n",
            self.port, self.cookie
        ))
    }

    fn post(&self, name: &str, body: &str) -> String {
        self.ask(&format!(
            "POST /api/{name} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\nContent-Type: application/json\r\nX-Touchstone: 1\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.port,
            self.cookie,
            body.len()
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let (Some(end), Some(thread)) = (self.end.take(), self.thread.take()) {
            let _ = end.send(());
            let _ = thread.join();
        }
    }
}

fn status(reply: &str) -> u16 {
    reply.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

#[test]
fn the_cookie_opens_the_page_and_the_commands() {
    let served = Served::start();
    assert!(served.get("/").ends_with("<p>page"));
    assert!(served.post("echo", r#"{"a":1}"#).ends_with(r#"{"a":1}"#));
    assert_eq!(status(&served.get("/nothing")), 404);
    assert_eq!(status(&served.get("/../Cargo.toml")), 404);
    assert_eq!(status(&served.get("/%2e%2e/Cargo.toml")), 404);
}

#[test]
fn an_address_lets_one_browser_in_and_no_second_one() {
    let served = Served::start();
    for address in
        [served.invites.address().unwrap(), served.invites.address_to_hand_over().unwrap()]
    {
        assert_eq!(status(&served.come(&address)), 303);
        let again = served.come(&address);
        assert_eq!(status(&again), 401);
        assert!(again.contains("works once") && !again.contains("set-cookie"), "{again}");
    }
    assert_eq!(status(&served.get("/")), 200, "who is in stays in");
}

#[test]
fn a_page_goes_on_when_its_server_came_back_on_the_same_port_and_gets_the_new_cookie() {
    let state = tempfile::tempdir().unwrap();
    let first = Served::start_on(0, state.path());
    let (port, old) = (first.port, first.cookie.clone());
    drop(first);
    let mut second = Served::start_on(port, state.path());
    assert_ne!(second.cookie, old);
    let current = std::mem::replace(&mut second.cookie, old.clone());
    let reply = second.post("echo", "{}");
    assert_eq!(status(&reply), 200, "{reply}");
    assert!(reply.contains(&format!("set-cookie: {current};")), "{reply}");
    second.cookie = current;
    assert!(!second.post("echo", "{}").contains("set-cookie"));
    second.cookie = format!("{old}0");
    assert_eq!(status(&second.post("echo", "{}")), 401);
    drop(second);
    // Nothing is left of the state of another folder or user.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut third = Served::start_on(port, elsewhere.path());
    third.cookie = old;
    assert_eq!(status(&third.post("echo", "{}")), 401);
}

#[test]
fn an_error_of_the_engine_arrives_whole_under_a_fitting_status() {
    let served = Served::start();
    let reply = served.post("none", "{}");
    assert_eq!(status(&reply), 409);
    assert!(
        reply
            .ends_with(r#"{"code":"no_folder","message":"No folder is open.","hint":"Open one."}"#),
        "{reply}"
    );
    assert_eq!(status(&served.post("unknown", "{}")), 404);
}

#[test]
fn a_command_that_panics_is_an_error_and_the_server_lives_on() {
    let served = Served::start();
    assert_eq!(status(&served.post("panic", "{}")), 500);
    assert_eq!(status(&served.post("echo", "{}")), 200);
}

#[test]
fn arguments_beyond_the_limit_are_refused() {
    let served = Served::start();
    assert_eq!(status(&served.post("echo", &"1".repeat(LONGEST_BODY))), 200);
    assert_eq!(status(&served.post("echo", &"1".repeat(LONGEST_BODY + 1))), 413);
}

#[test]
fn every_reply_carries_the_headers_errors_too() {
    let served = Served::start();
    let port = served.port;
    let address = served.invites.address().unwrap();
    let replies = [
        served.get("/"),
        served.get("/nothing"),
        served.post("echo", "{}"),
        served.post("none", "{}"),
        served.post("panic", "{}"),
        served.ask("GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n"),
        served.ask(&format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        served.ask(&format!("PUT /api/echo HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        served.come(&address),
        served.come(&address),
    ];
    for reply in replies {
        for (name, value) in page::HEADERS {
            assert!(
                reply.contains(&format!("\r\n{name}: {value}\r\n")),
                "{name} is missing in\n{reply}"
            );
        }
        assert!(!reply.to_ascii_lowercase().contains("access-control-"), "{reply}");
    }
}

#[test]
fn only_files_named_by_their_content_may_be_kept() {
    let served = Served::start();
    assert!(
        served
            .get("/assets/a-123.js")
            .contains("cache-control: private, max-age=31536000, immutable")
    );
    assert!(served.get("/index.html").contains("cache-control: no-store"));
}

#[test]
fn requests_written_to_mislead_are_refused() {
    let served = Served::start();
    let Served { port, cookie, .. } = &served;
    let ours = format!("127.0.0.1:{port}");
    for (request, wanted) in [
        (format!("GET / HTTP/1.1\r\nCookie: {cookie}\r\n\r\n"), 400),
        (
            format!("GET / HTTP/1.1\r\nHost: {ours}\r\nHost: {ours}\r\nCookie: {cookie}\r\n\r\n"),
            400,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: {ours}\r\nHost: evil.com\r\nCookie: {cookie}\r\n\r\n"),
            400,
        ),
        (format!("GET http://evil.com/ HTTP/1.1\r\nHost: {ours}\r\nCookie: {cookie}\r\n\r\n"), 400),
        (format!("GET / HTTP/1.1\r\nHost: evil.com:{port}\r\nCookie: {cookie}\r\n\r\n"), 400),
        (format!("GET / HTTP/1.1\r\nHost: l\u{f6}calhost:{port}\r\nCookie: {cookie}\r\n\r\n"), 400),
        (format!("GET / HTTP/1.0\r\nCookie: {cookie}\r\n\r\n"), 400),
        (
            format!(
                "OPTIONS /api/echo HTTP/1.1\r\nHost: {ours}\r\nOrigin: http://evil.com\r\n\r\n"
            ),
            403,
        ),
        (format!("OPTIONS /api/echo HTTP/1.1\r\nHost: {ours}\r\n\r\n"), 405),
        (
            format!(
                "GET /api/events HTTP/1.1\r\nHost: {ours}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-site\r\n\r\n"
            ),
            403,
        ),
    ] {
        assert_eq!(status(&served.ask(&request)), wanted, "{request}");
    }
}

#[test]
fn events_arrive_and_never_without_text() {
    let served = Served::start();
    let mut lines = listen(&served);
    served.events.send(&AppEvent { at_ms: 7, stale: Stale::Status });
    assert_eq!(lines.next().unwrap(), r#"data: {"at_ms":7,"stale":{"kind":"status"}}"#);
}

#[test]
fn slow_readers_are_told_that_everything_is_stale() {
    let served = Served::start();
    let mut lines = listen(&served);
    let ids: Vec<String> = (0..20_000).map(|n| format!("run {n}")).collect();
    let long = AppEvent { at_ms: 1, stale: Stale::Runs { generation: 1, ids, all: false } };
    // More than the sockets buffer, so that the reader falls behind.
    (0..400).for_each(|_| served.events.send(&long));
    assert!(lines.any(|line| line.contains(r#""stale":{"kind":"folder"}"#)));
}

#[test]
fn an_open_event_stream_does_not_hold_up_the_end() {
    let served = Served::start();
    let _lines = listen(&served);
    let begun = Instant::now();
    drop(served);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// Returns the data lines of an event stream, once the server has registered it.
fn listen(served: &Served) -> impl Iterator<Item = String> + use<> {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: localhost:{}\r\nCookie: {}\r\n\r\n",
        served.port, served.cookie
    )
    .unwrap();
    let begun = Instant::now();
    while served.events.readers() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "nobody listens");
        std::thread::yield_now();
    }
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter(|line| {
        assert_ne!(line, "data:");
        line.starts_with("data: ")
    })
}

#[test]
fn connections_that_say_nothing_are_closed_and_keep_nobody_out() {
    let served = Served::start();
    let silent: Vec<TcpStream> = (0..SHARES.strangers + 20)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0");
            stream
        })
        .collect();
    assert_eq!(status(&served.get("/")), 200);
    for mut stream in [silent.first().unwrap(), silent.last().unwrap()] {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut reply = Vec::new();
        let end = stream.read_to_end(&mut reply);
        let is_open =
            end.is_err_and(|why| matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
        assert!(!is_open && !reply.starts_with(b"HTTP/1.1 200"), "it is still open");
    }
}

#[test]
fn every_refused_request_is_the_last_of_its_connection_and_no_other_is() {
    let served = Served::start();
    let Served { port, cookie, .. } = &served;
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    let refused = [
        (401, format!("GET / HTTP/1.1\r\n{ours}\r\n")),
        (401, format!("GET /?token=0123 HTTP/1.1\r\n{ours}\r\n")),
        (401, format!("GET / HTTP/1.1\r\n{ours}Cookie: {cookie}0\r\n\r\n")),
        (401, format!("GET /api/events HTTP/1.1\r\n{ours}\r\n")),
        (400, "GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n".to_owned()),
        (400, "nonsense\r\n\r\n".to_owned()),
        (403, format!("GET /api/events HTTP/1.1\r\n{ours}Origin: http://evil.com\r\n\r\n")),
        (405, format!("PUT / HTTP/1.1\r\n{ours}\r\n")),
    ];
    for (wanted, request) in refused {
        let mut stream = TcpStream::connect(("127.0.0.1", *port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("the server ends the connection, not we");
        assert_eq!(status(&reply), wanted, "{request}");
        assert!(reply.contains("connection: close"), "{reply}");
    }
    let mut stream = TcpStream::connect(("127.0.0.1", *port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    for path in ["/", "/nothing", "/"] {
        write!(stream, "GET {path} HTTP/1.1\r\n{ours}Cookie: {cookie}\r\n\r\n").unwrap();
        let reply = one_reply(&mut stream);
        assert_eq!(status(&reply), if path == "/" { 200 } else { 404 }, "{reply}");
    }
}

/// Returns true if this machine still keeps a port for one end of a connection; an orderly closed
/// connection does not count.
fn is_kept(end: std::net::SocketAddr) -> bool {
    const TIME_WAIT: &str = "06";
    let [a, b, c, d] = std::net::Ipv4Addr::LOCALHOST.octets();
    let own = format!("{:08X}:{:04X}", u32::from_le_bytes([a, b, c, d]), end.port());
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .any(|words| words[1] == own && words[3] != TIME_WAIT)
}

#[test]
fn a_stranger_who_never_ends_a_connection_keeps_no_port() {
    let served = Served::start();
    let ours = format!("Host: 127.0.0.1:{}\r\n", served.port);
    let said =
        [String::new(), format!("GET / HTTP/1.1\r\n{ours}\r\n"), "nonsense\r\n\r\n".to_owned()];
    let held = said.map(|said| {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        stream.write_all(said.as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        (stream, said)
    });
    for (mut stream, said) in held {
        let end = stream.local_addr().unwrap();
        if !said.is_empty() {
            assert!(
                matches!(status(&one_reply(&mut stream)), 400 | 401),
                "the reply arrives: {said}"
            );
        }
        let begun = Instant::now();
        while is_kept(end) {
            assert!(begun.elapsed() < Duration::from_secs(30), "a port is kept after {said:?}");
            std::thread::yield_now();
        }
        drop(stream);
    }
}

/// Reads one response and leaves the connection open.
fn one_reply(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let begin = head.len();
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "it was closed: {head}");
        if let Some(value) = head[begin..].strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head
}

/// Repeats an action on a separate thread until it is dropped.
struct Attack {
    over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Attack {
    /// Starts it, and waits for this number of repetitions.
    fn begin(times: usize, mut act: impl FnMut() + Send + 'static) -> Self {
        let (over, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (is_over, counted) = (Arc::clone(&over), Arc::clone(&done));
        let thread = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                act();
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        while done.load(Ordering::Relaxed) < times && !thread.is_finished() {
            std::thread::yield_now();
        }
        Self { over, thread: Some(thread) }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let done = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(
            std::thread::panicking() || done.is_none_or(|done| done.is_ok()),
            "the attack broke off"
        );
    }
}

/// Raises this process's limit of open files to the maximum, and returns it.
fn many_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
    most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

/// Total connections of an attack; the system reserves a port for each for a while.
const ATTACKING: usize = 12_000;

#[test]
fn the_owner_is_answered_while_strangers_keep_connections_and_send_refused_requests() {
    let served = Served::start();
    many_files();
    let (port, held) = (served.port, SHARES.strangers + SHARES.admitted);
    let (mut streams, mut opened) = (VecDeque::new(), 0);
    let attack = Attack::begin(held * 4, move || {
        // Each client repeats requests over its connection while it is open, and then opens
        // another.
        if streams.len() < held && opened < ATTACKING {
            let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) else {
                return std::thread::yield_now();
            };
            streams.push_back(stream);
            opened += 1;
        }
        let Some(mut stream) = streams.pop_front() else { return std::thread::yield_now() };
        if write!(stream, "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").is_ok() {
            streams.push_back(stream);
        }
    });
    owner_is_answered(&served);
    drop(attack);
}

#[test]
fn the_owner_is_answered_while_strangers_hold_thousands_of_silent_connections() {
    let served = Served::start();
    let (port, held) = (served.port, 4000.min(many_files() / 2));
    let (mut streams, mut opened) = (VecDeque::new(), 0);
    let attack = Attack::begin(held + held / 2, move || {
        if opened == ATTACKING {
            return std::thread::yield_now();
        }
        // Files or ports may run out: then as many as possible are opened.
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => streams.push_back(stream),
            Err(_) => drop(streams.pop_front()),
        }
        opened += 1;
        if streams.len() > held {
            streams.pop_front();
        }
    });
    owner_is_answered(&served);
    drop(attack);
}

/// Sends requests as the owner, over a kept connection and over new ones.
fn owner_is_answered(served: &Served) {
    let mut kept = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    kept.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    for _ in 0..20 {
        write!(
            kept,
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\n\r\n",
            served.port, served.cookie
        )
        .unwrap();
        assert_eq!(status(&one_reply(&mut kept)), 200, "over a connection that is kept");
        assert_eq!(status(&served.get("/")), 200, "over a new connection");
        assert_eq!(status(&served.post("echo", "{}")), 200, "a command over a new connection");
    }
}
