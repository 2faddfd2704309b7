//! A scripted HTTP server over real connections to this machine. HTTP/1.1 is implemented by hand,
//! so that it can also do what no library would. Owns listening, recording and misbehaving; the
//! replies of a model are in `conversation.rs`.
//!
//! It depends only on the standard library, JSON and `gzip.rs`: any test binary can include both by
//! their paths, with `#[expect(dead_code)]` where only a part of them is used.
use super::gzip::{gzip, zeros_in_gzip};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Index of the request, from 0.
    pub(crate) number: usize,
    /// Method: `POST` of a client, `CONNECT` of one that requests a tunnel.
    pub(crate) method: String,
    /// Path with query; the complete URL through a proxy, host and port for a tunnel.
    pub(crate) path: String,
    /// Headers, names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// Body.
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// Parses the body as JSON; null if it is invalid.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A latch: closed at first, then open for good.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    /// Opens the latch.
    pub(crate) fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open, up to a time. Returns true if it is.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let (open, changed) = &*self.0;
        let waited = changed.wait_timeout_while(open.lock().unwrap(), at_most, |open| !*open);
        *waited.unwrap().0
    }
}

/// Reply to one request.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    trick: Trick,
    before: Option<Latch>,
}

/// Misbehaviour of a reply.
#[derive(Debug, Clone, Default)]
enum Trick {
    #[default]
    None,
    /// Closes the connection after a number of bytes of the body, while more are announced.
    CutAfter(usize),
    /// Resets the connection after a number of bytes of the body.
    ResetAfter(usize),
    /// Sends a number of bytes of the body, then nothing until the latch opens.
    HoldAfter(usize, Latch),
    /// Sends one byte at a time, with a pause between them.
    Dribble(Duration),
    /// Repeats the body forever.
    Endless,
    /// Accepts the request and resets before the first byte.
    ResetAtOnce,
}

impl Reply {
    /// Creates a reply with a status and nothing else.
    pub(crate) fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), trick: Trick::None, before: None }
    }

    /// Creates a reply of status 200 with JSON.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::new(200).text("application/json", &value.to_string())
    }

    /// Creates a reply of status 200 with events, each a name (may be empty) and its data.
    pub(crate) fn events<'a>(events: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let mut text = String::new();
        for (name, carried) in events {
            if !name.is_empty() {
                let _ = writeln!(text, "event: {name}");
            }
            let _ = write!(text, "data: {carried}\n\n");
        }
        Self::new(200).text("text/event-stream", &text)
    }

    /// Adds an id to each event of the body.
    pub(crate) fn with_ids(mut self, id: impl Fn(usize) -> String) -> Self {
        let text = String::from_utf8(std::mem::take(&mut self.body)).unwrap();
        for (number, event) in text.split_inclusive("\n\n").enumerate() {
            self.body.extend(format!("id: {}\n{event}", id(number)).into_bytes());
        }
        self
    }

    /// Sets a body and its type.
    pub(crate) fn text(self, content_type: &str, body: &str) -> Self {
        self.header("content-type", content_type).bytes(body.as_bytes())
    }

    /// Sets the body.
    pub(crate) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    /// Returns the body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Sets the status.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Delays the reply until the latch opens.
    pub(crate) fn once_open(mut self, latch: &Latch) -> Self {
        self.before = Some(latch.clone());
        self
    }

    /// Compresses the body with gzip and declares it so.
    pub(crate) fn gzipped(mut self) -> Self {
        self.body = gzip(&self.body);
        self.header("content-encoding", "gzip")
    }

    /// Creates a small body that inflates to `mib` MiB of zeros.
    pub(crate) fn gzip_bomb(mib: usize) -> Self {
        Self::new(200).header("content-encoding", "gzip").bytes(&zeros_in_gzip(mib << 20))
    }

    /// Closes the connection after a number of bytes of the body.
    pub(crate) fn cut_after(self, bytes: usize) -> Self {
        self.trick(Trick::CutAfter(bytes))
    }

    /// Resets the connection after a number of bytes of the body.
    pub(crate) fn reset_after(self, bytes: usize) -> Self {
        self.trick(Trick::ResetAfter(bytes))
    }

    /// Creates a reset in place of a reply.
    pub(crate) fn reset_at_once() -> Self {
        Self::new(200).trick(Trick::ResetAtOnce)
    }

    /// Pauses the body after a number of bytes until the latch opens.
    pub(crate) fn hold_after(self, bytes: usize, latch: &Latch) -> Self {
        self.trick(Trick::HoldAfter(bytes, latch.clone()))
    }

    /// Sends the reply byte by byte, with a pause between them.
    pub(crate) fn dribbled(self, pause: Duration) -> Self {
        self.trick(Trick::Dribble(pause))
    }

    /// Makes the body endless.
    pub(crate) fn endless(self) -> Self {
        self.trick(Trick::Endless)
    }

    fn trick(mut self, trick: Trick) -> Self {
        self.trick = trick;
        self
    }

    fn head(&self) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\n",
            self.status,
            if self.status < 400 { "OK" } else { "Error" }
        );
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !matches!(self.trick, Trick::Endless) {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// The server; it stops listening on drop.
#[derive(Debug)]
pub(crate) struct Scripted {
    address: SocketAddr,
    shared: Arc<Shared>,
}

type Script = Box<dyn Fn(&Seen) -> Reply + Send + Sync>;

struct Shared {
    script: Script,
    seen: Mutex<Vec<Seen>>,
    arrived: Condvar,
    number: AtomicU64,
    delivered: AtomicU64,
    connections: AtomicU64,
    records: AtomicBool,
    closing: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl Scripted {
    /// Starts a server whose replies are computed by a function.
    pub(crate) fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            seen: Mutex::default(),
            arrived: Condvar::new(),
            number: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            records: AtomicBool::new(true),
            closing: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.closing.load(Ordering::SeqCst) {
                    break;
                }
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                let shared = Arc::clone(&accepting);
                thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { address, shared }
    }

    /// Starts a server that sends these replies in order, and repeats the last one.
    pub(crate) fn sequence(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        Self::start(move |seen| replies[seen.number.min(replies.len() - 1)].clone())
    }

    /// Starts a server with a constant reply.
    pub(crate) fn always(reply: Reply) -> Self {
        Self::sequence([reply])
    }

    /// Returns its URL with a path that begins with a slash.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns all requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Waits until a number of requests has come.
    pub(crate) fn wait_for(&self, requests: usize) {
        let seen = self.shared.seen.lock().unwrap();
        let enough =
            self.shared
                .arrived
                .wait_timeout_while(seen, Duration::from_secs(30), |seen| seen.len() < requests);
        assert!(!enough.unwrap().1.timed_out(), "fewer than {requests} requests came");
    }

    /// Number of replies that were delivered completely.
    pub(crate) fn delivered(&self) -> u64 {
        self.shared.delivered.load(Ordering::SeqCst)
    }

    /// Number of connections that were made.
    pub(crate) fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Stops recording and only counts requests: for measurements, and for more requests than fit
    /// into memory.
    pub(crate) fn forgetful(self) -> Self {
        self.shared.records.store(false, Ordering::SeqCst);
        self
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves one connection until it ends.
fn serve(stream: &TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Ok(Some((mut seen, missing))) = read(&mut reader) {
        seen.number = usize::try_from(shared.number.fetch_add(1, Ordering::SeqCst)).unwrap();
        let reply = (shared.script)(&seen);
        if shared.records.load(Ordering::SeqCst) {
            shared.seen.lock().unwrap().push(seen);
            shared.arrived.notify_all();
        }
        if let Some(latch) = &reply.before {
            latch.wait(Duration::from_mins(1));
        }
        if !say(stream, &reply, &shared.delivered).unwrap_or(false) {
            // Unread bytes would turn the end of the connection into a reset.
            if matches!(reply.trick, Trick::CutAfter(_)) {
                let _ = consume(&mut reader, missing);
                let _ = stream.shutdown(Shutdown::Both);
            }
            return;
        }
        if consume(&mut reader, missing).is_err() {
            return;
        }
    }
}

/// Reads a request except for the last byte of its body, so that the connection can still be reset.
fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<(Seen, usize)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
    }
    let length: usize =
        headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let missing = length.min(1);
    let mut body = vec![0; length - missing];
    reader.read_exact(&mut body)?;
    if missing == 1 {
        // Peeks at the last byte without consuming it.
        let mut last = [0];
        match reader.buffer().first() {
            Some(there) => last = [*there],
            None if reader.get_ref().peek(&mut last)? == 0 => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            None => {}
        }
        body.push(last[0]);
    }
    Ok(Some((Seen { number: 0, method, path, headers, body }, missing)))
}

fn consume(reader: &mut BufReader<&TcpStream>, missing: usize) -> io::Result<()> {
    reader.read_exact(&mut [0; 1][..missing])
}

/// Sends a reply. Returns false if it was truncated on purpose.
fn say(mut stream: &TcpStream, reply: &Reply, delivered: &AtomicU64) -> io::Result<bool> {
    let (head, body) = (reply.head(), reply.body());
    // Counted just before its end is sent, so that a client that has read it finds it counted.
    let end = |bytes: &[u8]| {
        delivered.fetch_add(1, Ordering::SeqCst);
        let sent = (&*stream).write_all(bytes).map(|()| true);
        if sent.is_err() {
            delivered.fetch_sub(1, Ordering::SeqCst);
        }
        sent
    };
    match &reply.trick {
        Trick::None => return end(&[head.as_slice(), body].concat()),
        Trick::ResetAtOnce => {}
        Trick::CutAfter(bytes) | Trick::ResetAfter(bytes) => {
            stream.write_all(&[head.as_slice(), &body[..(*bytes).min(body.len())]].concat())?;
        }
        Trick::HoldAfter(bytes, latch) => {
            let at = (*bytes).min(body.len());
            stream.write_all(&[head.as_slice(), &body[..at]].concat())?;
            latch.wait(Duration::from_mins(1));
            return end(&body[at..]);
        }
        Trick::Dribble(pause) => {
            for byte in head.iter().chain(body) {
                stream.write_all(&[*byte])?;
                thread::sleep(*pause);
            }
            return end(&[]);
        }
        Trick::Endless => {
            stream.write_all(&head)?;
            let many = body.repeat((1 << 16) / body.len().max(1) + 1);
            loop {
                stream.write_all(&many)?;
            }
        }
    }
    Ok(false)
}
