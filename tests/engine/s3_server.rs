//! A scripted S3 server over real connections to this machine: lists and gets objects of one bucket,
//! counts requests, checks that they are signed, and fails on demand. It depends only on the standard
//! library, so that any test binary can include it by its path.
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// An answer that is given in place of the real one.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Fault {
    /// An error with a code, as S3 writes it.
    pub(crate) fn error(status: u16, code: &str) -> Self {
        let body = format!(
            "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>canary-message</Message>\
             <AWSAccessKeyId>canary-id</AWSAccessKeyId></Error>"
        );
        Self { status, headers: String::new(), body }
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.headers, "{name}: {value}\r\n");
        self
    }
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, (Vec<u8>, u64)>,
    version: u64,
    lists: usize,
    gets: Vec<String>,
    unsigned: usize,
    /// Answers for the next requests.
    faults: VecDeque<Fault>,
    /// Answer for all requests while it is set.
    outage: Option<Fault>,
    /// Answers for the objects of these keys.
    broken: BTreeMap<String, Fault>,
    /// Objects of which the next reply ends in the middle, without a length.
    cut: Vec<String>,
    /// True for a server that lists no marks of versions.
    unmarked: bool,
}

/// The server. It listens until the process ends.
#[derive(Clone)]
pub(crate) struct S3Server {
    /// Its address.
    pub(crate) endpoint: String,
    state: Arc<Mutex<State>>,
}

/// Name of the only bucket.
const BUCKET: &str = "bucket";

impl S3Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { endpoint, state }
    }

    /// Creates or replaces an object.
    pub(crate) fn put(&self, key: &str, text: &str) {
        let mut state = self.state.lock().unwrap();
        state.version += 1;
        let version = state.version;
        state.objects.insert(key.to_owned(), (text.as_bytes().to_vec(), version));
    }

    pub(crate) fn delete(&self, key: &str) {
        self.state.lock().unwrap().objects.remove(key);
    }

    /// Answers the next requests like this.
    pub(crate) fn fail_next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().unwrap().faults.extend(faults);
    }

    /// Answers all requests like this until it is called with `None`.
    pub(crate) fn outage(&self, fault: Option<Fault>) {
        self.state.lock().unwrap().outage = fault;
    }

    /// Answers requests for an object like this.
    pub(crate) fn break_object(&self, key: &str, fault: Fault) {
        self.state.lock().unwrap().broken.insert(key.to_owned(), fault);
    }

    /// Ends the next reply with an object in the middle, and does not say how long it is.
    pub(crate) fn cut_object(&self, key: &str) {
        self.state.lock().unwrap().cut.push(key.to_owned());
    }

    pub(crate) fn list_no_marks(&self) {
        self.state.lock().unwrap().unmarked = true;
    }

    /// Returns the number of listings, and the keys that were got, since the last call.
    pub(crate) fn requests_seen(&self) -> (usize, Vec<String>) {
        let mut state = self.state.lock().unwrap();
        (std::mem::take(&mut state.lists), std::mem::take(&mut state.gets))
    }

    /// Returns the number of requests without a signature.
    pub(crate) fn unsigned(&self) -> usize {
        self.state.lock().unwrap().unsigned
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Ok(reading) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reading);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut signed = false;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            signed |= line.starts_with("authorization: aws4-hmac-sha256 credential=");
            if line.is_empty() {
                break;
            }
        }
        let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, headers, body) = answer(&target, signed, &mut state.lock().unwrap());
        let is_cut = |key: &mut String| target.ends_with(&format!("/{key}"));
        if state.lock().unwrap().cut.extract_if(.., is_cut).count() > 0 {
            let half = &body[..body.len() / 2];
            let head = b"HTTP/1.1 200 X\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(&[head, half].concat());
            return;
        }
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
        if stream.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

fn answer(target: &str, signed: bool, state: &mut State) -> (u16, String, Vec<u8>) {
    state.unsigned += usize::from(!signed);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query: BTreeMap<String, String> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect();
    let is_list = query.contains_key("list-type");
    state.lists += usize::from(is_list);
    let fault = state.faults.pop_front().or_else(|| state.outage.clone());
    if let Some(Fault { status, headers, body }) = fault {
        return (status, headers, body.into_bytes());
    }
    let bucket = format!("/{BUCKET}");
    let path = decoded(path);
    if is_list && path == bucket {
        return (200, String::new(), listing(&query, state).into_bytes());
    }
    let key = path.strip_prefix(&format!("{bucket}/"));
    let object = key.and_then(|key| state.objects.get(key));
    let Some((bytes, _)) = object.cloned() else {
        let code = if key.is_some() { "NoSuchKey" } else { "NoSuchBucket" };
        return (404, String::new(), Fault::error(404, code).body.into_bytes());
    };
    state.gets.push(key.unwrap_or_default().to_owned());
    if let Some(Fault { status, headers, body }) = key.and_then(|key| state.broken.get(key)) {
        return (*status, headers.clone(), body.clone().into_bytes());
    }
    (200, String::new(), bytes)
}

fn listing(query: &BTreeMap<String, String>, state: &State) -> String {
    let get = |name: &str| query.get(name).map_or("", String::as_str);
    let (prefix, after, delimiter) = (get("prefix"), get("start-after"), get("delimiter"));
    let most: usize = get("max-keys").parse().unwrap_or(1_000);
    let mut body =
        String::from("<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType>");
    let (mut count, mut truncated, mut folders) = (0, false, Vec::new());
    for (key, (bytes, version)) in state.objects.range(after.to_owned()..) {
        let Some(below) = key.strip_prefix(prefix).filter(|_| key.as_str() > after) else {
            continue;
        };
        if let Some(at) = below.find('/').filter(|_| !delimiter.is_empty()) {
            let folder = format!("{prefix}{}", &below[..=at]);
            if folders.last() == Some(&folder) {
                continue;
            }
            if count == most {
                truncated = true;
                break;
            }
            folders.push(folder);
            count += 1;
            continue;
        }
        if count == most {
            truncated = true;
            break;
        }
        count += 1;
        let mark = format!("<ETag>&quot;{version}&quot;</ETag>");
        let mark = if state.unmarked { "" } else { &mark };
        let _ = write!(
            body,
            "<Contents><Key>{}</Key><LastModified>2026-11-01T10:{:02}:{:02}.000Z</LastModified>{mark}\
             <Size>{}</Size></Contents>",
            encoded(key),
            version / 60 % 60,
            version % 60,
            bytes.len()
        );
    }
    for folder in folders {
        let _ =
            write!(body, "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", encoded(&folder));
    }
    let _ = write!(body, "<IsTruncated>{truncated}</IsTruncated></ListBucketResult>");
    body
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                write!(out, "{}", char::from(byte))
            }
            _ => write!(out, "%{byte:02X}"),
        };
        out
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let code = [bytes.next().unwrap(), bytes.next().unwrap()];
            out.push(u8::from_str_radix(std::str::from_utf8(&code).unwrap(), 16).unwrap());
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).unwrap()
}
