//! Sends a request once and reads the reply whole. Owns connections, time limits and the most a
//! reply may hold; never repeats anything, never follows to another address, and gives a key to
//! nobody but an encrypted or a local host.
use super::keys::ApiKey;
use super::redact::Redactor;
use crate::provider::{Auth, HttpReply, HttpRequest};
use hyper_util::client::proxy::matcher::Matcher;
use memchr::memmem;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url, redirect};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What a request may take and a reply may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands.
    pub connect: Duration,
    /// Between two parts of a stream, once its first event is there.
    pub idle: Duration,
    /// Most bytes of a body, after inflation.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), idle: Duration::from_mins(1), body: 64 << 20 }
    }
}

/// Why there is no whole reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendFault {
    /// It needs a key, and none was given. Nothing was sent.
    NoKey,
    /// It must not or cannot be sent like this. Nothing was sent.
    NotSent,
    /// No connection, or it broke before a reply began.
    Broken,
    /// It took too long.
    TimedOut,
    /// The reply broke off or could not be inflated.
    Cut,
    /// The reply is larger than anything that is read.
    TooLarge,
    /// It was stopped.
    Stopped,
}

/// A request that brought no whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct SendError {
    /// What kind of failure.
    pub fault: SendFault,
    /// What happened and what to do, in sentences; without a key and without an address that could
    /// hold one.
    pub message: String,
    /// What was received until then; it may have been paid for.
    pub part: Option<HttpReply>,
}

impl SendError {
    fn new(fault: SendFault, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), part: None }
    }
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for SendError {}

/// Sends requests. Cheap to clone; clones share their connections.
#[derive(Debug, Clone, Default)]
pub struct Client {
    limits: Limits,
    ways: Arc<Ways>,
}

/// Connections by where they lead, made ready when they are first needed: reading all certificates
/// of a system takes a while.
#[derive(Debug, Default)]
struct Ways {
    /// To the world, through the proxies that the environment names.
    world: OnceLock<Way>,
    /// To this machine, never through a proxy: it would see the key.
    local: OnceLock<Way>,
    /// The same without encryption, which needs no certificates.
    plain: OnceLock<Way>,
}

/// Connections, or why there are none.
type Way = Result<reqwest::Client, String>;

impl Client {
    /// A client of its own. What does not work here, such as missing certificates, is said by the
    /// first request that needs it.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ways: Arc::default() }
    }

    /// The connections for an address.
    fn way(&self, url: &Url) -> Result<&reqwest::Client, SendError> {
        let settings = || settings(self.limits);
        let (way, settings): (_, &dyn Fn() -> reqwest::ClientBuilder) =
            match (is_local(url), url.scheme()) {
                (false, _) => (&self.ways.world, &settings),
                (true, "https") => (&self.ways.local, &|| settings().no_proxy()),
                (true, _) => (&self.ways.plain, &|| settings().no_proxy().tls_certs_only([])),
            };
        let way = way.get_or_init(|| {
            // Another part of the process may have been first, with the same one.
            let _ = rustls::crypto::ring::default_provider().install_default();
            settings().build().map_err(|error| sentence(&error.without_url()))
        });
        way.as_ref().map_err(|why| {
            SendError::new(SendFault::NotSent, format!("Connections cannot be made here: {why}"))
        })
    }

    /// Sends once. The reply is returned whatever its status is; everything else is an error.
    pub async fn send(
        &self,
        request: &HttpRequest,
        key: Option<&ApiKey>,
        stop: &CancellationToken,
    ) -> Result<HttpReply, SendError> {
        let sending = self.prepare(request, key)?;
        let mut part = None;
        let patience = Duration::from_secs(request.patience);
        let attempt = async {
            let response = sending.send().await.map_err(|error| broken(error, &request.url))?;
            part = Some(HttpReply {
                status: response.status().as_u16(),
                headers: text_headers(response.headers()),
                body: Vec::new(),
            });
            let body = part.as_mut().map(|part| &mut part.body);
            self.read(response, request.stream, body).await
        };
        let ended = tokio::select! {
            biased;
            () = stop.cancelled() => Err(SendError::new(SendFault::Stopped, "It was stopped while the request was under way.")),
            ended = timeout(patience, attempt) => ended.unwrap_or_else(|_| {
                Err(SendError::new(SendFault::TimedOut, format!("No whole reply came within {} s.", request.patience)))
            }),
        };
        match (ended, part) {
            (Ok(()), Some(reply)) => Ok(reply),
            (Ok(()), None) => Err(SendError::new(SendFault::Broken, "There was no reply.")),
            (Err(error), part) => Err(SendError { part, ..error }),
        }
    }

    /// Everything that can be wrong before anything is sent.
    fn prepare(
        &self,
        request: &HttpRequest,
        key: Option<&ApiKey>,
    ) -> Result<reqwest::RequestBuilder, SendError> {
        let refuse = |why: &str| SendError::new(SendFault::NotSent, why);
        let url = Url::parse(&request.url).map_err(|_| {
            refuse("The address of the provider is none. Set a base_url such as https://api.example.com/v1.")
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse(
                "The address of the provider holds a password. Take it out, and store it as the key.",
            ));
        }
        if request.auth != Auth::None && url.scheme() != "https" && !is_local(&url) {
            return Err(refuse(
                "The address of the provider is not encrypted, so the key was not sent. Use https; plain http only works on this machine.",
            ));
        }
        let client = self.way(&url)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) else {
                return Err(refuse(
                    "A header of the request cannot be sent. Check the headers in the workspace file.",
                ));
            };
            headers.append(name, value);
        }
        if let Some((name, value)) = authorization(request.auth, key)? {
            headers.insert(name, value);
        }
        Ok(client.post(url).headers(headers).body(request.body.clone()))
    }

    /// Reads a body, piece by piece as it is inflated.
    async fn read(
        &self,
        mut response: Response,
        stream: bool,
        body: Option<&mut Vec<u8>>,
    ) -> Result<(), SendError> {
        const EVENT: &[u8] = b"data:";
        let Some(body) = body else { return Ok(()) };
        let mut has_event = false;
        loop {
            let next = response.chunk();
            // Until the first event a model may think, or read what it was sent, for as long as any
            // reply may take.
            let piece = if stream && has_event {
                timeout(self.limits.idle, next).await.map_err(|_| {
                    let idle = self.limits.idle.as_secs_f64();
                    SendError::new(
                        SendFault::TimedOut,
                        format!("The stream was silent for {idle} s."),
                    )
                })?
            } else {
                next.await
            };
            let piece = piece.map_err(|error| {
                let why = sentence(&error.without_url());
                SendError::new(SendFault::Cut, format!("The reply broke off: {why}"))
            })?;
            let Some(piece) = piece else { return Ok(()) };
            if body.len() + piece.len() > self.limits.body {
                // Nothing of it is of use, and it must not be kept.
                *body = Vec::new();
                let most = self.limits.body >> 20;
                return Err(SendError::new(
                    SendFault::TooLarge,
                    format!("The reply is larger than {most} MiB."),
                ));
            }
            // Only what is new is searched: a long body that never has an event would be read over
            // and over.
            let searched = body.len().saturating_sub(EVENT.len() - 1);
            body.extend_from_slice(&piece);
            has_event = has_event || memmem::find(&body[searched..], EVENT).is_some();
        }
    }
}

fn settings(limits: Limits) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("touchstone/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(limits.connect)
        .pool_max_idle_per_host(1000)
        .tcp_keepalive(Duration::from_mins(1))
        .tcp_keepalive_interval(Duration::from_mins(1))
        .tcp_keepalive_retries(5)
        .http1_max_headers(100)
        .http2_max_header_list_size(64 << 10)
}

/// Whether what is sent there stays on this machine.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The header with the key, marked so that nothing prints it.
fn authorization(
    auth: Auth,
    key: Option<&ApiKey>,
) -> Result<Option<(HeaderName, HeaderValue)>, SendError> {
    let (name, text) = match (auth, key) {
        (Auth::None, _) => return Ok(None),
        (_, None) => {
            return Err(SendError::new(
                SendFault::NoKey,
                "This provider needs a key, and there is none.",
            ));
        }
        (Auth::Bearer, Some(key)) => {
            (AUTHORIZATION, zeroize::Zeroizing::new(format!("Bearer {}", key.reveal())))
        }
        (Auth::ApiKey, Some(key)) => {
            (HeaderName::from_static("x-api-key"), zeroize::Zeroizing::new(key.reveal().to_owned()))
        }
        (Auth::ToolBench, Some(key)) => (
            HeaderName::from_static("toolbench_key"),
            zeroize::Zeroizing::new(key.reveal().to_owned()),
        ),
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        SendError::new(SendFault::NotSent, "The key holds letters that cannot be sent.")
    })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

fn text_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn broken(error: reqwest::Error, url: &str) -> SendError {
    // A proxy that refuses or a name that nobody knows is a failed connection as well.
    let (fault, what) = match (error.is_timeout(), error.is_connect()) {
        (true, _) => (SendFault::TimedOut, "No connection in time"),
        (false, true) => (SendFault::Broken, "No connection"),
        (false, false) => (SendFault::Broken, "The connection broke"),
    };
    let why = sentence(&error.without_url());
    let said = match proxy(url) {
        None => format!("{what}: {why}"),
        Some(proxy) => format!(
            "{what} through the proxy {proxy}, which the environment names: {why} Mend HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, or name the host of the provider in NO_PROXY."
        ),
    };
    SendError::new(fault, said)
}

/// Host and port of the proxy that the environment names for an address; none when there is none,
/// as for this machine.
fn proxy(url: &str) -> Option<String> {
    let local = Url::parse(url).ok().is_some_and(|url| is_local(&url));
    let found = Matcher::from_system().intercept(&url.parse().ok()?).filter(|_| !local)?;
    found.uri().authority().map(|at| at.as_str().rsplit('@').next().unwrap_or_default().to_owned())
}

/// The innermost words of an error, which name the cause; what looks like a password in them is
/// taken out.
fn sentence(error: &dyn Error) -> String {
    let mut words = error;
    while let Some(inner) = words.source() {
        words = inner;
    }
    let text = words.to_string();
    format!("{}.", Redactor::new([]).clean(text.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(url: &str, auth: Auth) -> HttpRequest {
        HttpRequest {
            url: url.to_owned(),
            headers: Vec::new(),
            auth,
            body: Vec::new(),
            stream: false,
            patience: 5,
        }
    }

    #[test]
    fn a_key_only_goes_where_it_is_encrypted_or_stays_on_this_machine() {
        let client = Client::default();
        let key = ApiKey::new("canary-0123456789").unwrap();
        let cases = [
            ("https://api.example.com/v1", true),
            ("http://127.0.0.1:8080/v1", true),
            ("http://127.8.9.1/v1", true),
            ("http://[::1]:8080/v1", true),
            ("http://localhost:8080/v1", true),
            ("http://LOCALHOST/v1", true),
            ("http://api.example.com/v1", false),
            ("http://localhost.example.com/v1", false),
            ("http://127.0.0.1.example.com/v1", false),
            ("http://10.0.0.1/v1", false),
            ("http://0.0.0.0/v1", false),
            ("http://[::ffff:10.0.0.1]/v1", false),
            ("https://me:secret@api.example.com/v1", false),
            ("http://me@127.0.0.1/v1", false),
            ("ftp://api.example.com/v1", false),
            ("api.example.com/v1", false),
            ("", false),
        ];
        for (url, goes) in cases {
            for auth in [Auth::Bearer, Auth::ApiKey] {
                let prepared = client.prepare(&request(url, auth), Some(&key));
                assert_eq!(prepared.is_ok(), goes, "{url}");
                let shown = format!("{prepared:?}");
                assert!(!shown.contains("canary") && !shown.contains("secret@"), "{shown}");
            }
        }
        assert!(
            client.prepare(&request("http://api.example.com/v1", Auth::None), Some(&key)).is_ok()
        );
    }

    #[test]
    fn the_key_is_in_its_header_and_nowhere_else() {
        let key = ApiKey::new("canary-0123456789").unwrap();
        let headers = |auth, key| {
            let prepared =
                Client::default().prepare(&request("https://api.example.com", auth), key);
            prepared.map(|request| request.build().unwrap().headers().clone())
        };
        assert_eq!(
            headers(Auth::Bearer, Some(&key)).unwrap()["authorization"],
            "Bearer canary-0123456789"
        );
        assert_eq!(headers(Auth::ApiKey, Some(&key)).unwrap()["x-api-key"], "canary-0123456789");
        assert!(headers(Auth::None, Some(&key)).unwrap().is_empty());
        assert_eq!(headers(Auth::Bearer, None).unwrap_err().fault, SendFault::NoKey);
    }

    #[test]
    fn a_header_that_would_change_the_request_is_refused() {
        let mut odd = request("https://api.example.com", Auth::None);
        odd.headers = vec![("x-a".to_owned(), "b\r\nx-c: d".to_owned())];
        assert_eq!(Client::default().prepare(&odd, None).unwrap_err().fault, SendFault::NotSent);
    }
}
