//! Sends a request once and reads the complete reply. Owns connections, timeouts and the size limit
//! of replies. Never retries, never follows redirects, and sends a key only to an encrypted or a
//! local host.
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

/// Limits on requests and replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Timeout for establishing a connection.
    pub connect: Duration,
    /// Timeout between two parts of a stream, after its first event.
    pub idle: Duration,
    /// Maximum bytes of a body, after decompression.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), idle: Duration::from_mins(1), body: 64 << 20 }
    }
}

/// Reason there is no complete reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendFault {
    /// A key is required, and none was given. Nothing was sent.
    NoKey,
    /// The request is invalid or must not be sent like this. Nothing was sent.
    NotSent,
    /// The connection failed, or broke before a reply began.
    Broken,
    /// The request timed out.
    TimedOut,
    /// The reply was cut off or could not be decompressed.
    Cut,
    /// The reply exceeds the size limit.
    TooLarge,
    /// The request was cancelled.
    Stopped,
}

/// Error of a request without a complete reply.
#[derive(Debug, Clone, PartialEq)]
pub struct SendError {
    /// Kind of failure.
    pub fault: SendFault,
    /// Cause and next step, in sentences; without a key and without an address that could contain
    /// one.
    pub message: String,
    /// Part of the reply received before the failure; it may have been paid for.
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

/// HTTP client. Cheap to clone; clones share their connections.
#[derive(Debug, Clone, Default)]
pub struct Client {
    limits: Limits,
    ways: Arc<Ways>,
}

/// Connection pools by kind of destination, created on first use: loading all certificates of a
/// system takes a while.
#[derive(Debug, Default)]
struct Ways {
    /// For remote hosts, through the proxies set in the environment.
    world: OnceLock<PoolResult>,
    /// For this machine over HTTPS, never through a proxy, which would see the key.
    local: OnceLock<PoolResult>,
    /// For this machine without encryption, which needs no certificates.
    plain: OnceLock<PoolResult>,
}

/// Connection pool, or the reason it could not be created.
type PoolResult = Result<reqwest::Client, String>;

impl Client {
    /// Creates a client with its own connections. Problems such as missing certificates are
    /// reported by the first request that they affect.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ways: Arc::default() }
    }

    /// Returns the connection pool for an address.
    fn pool_for(&self, url: &Url) -> Result<&reqwest::Client, SendError> {
        let settings = || settings(self.limits);
        let (way, settings): (_, &dyn Fn() -> reqwest::ClientBuilder) =
            match (is_local(url), url.scheme()) {
                (false, _) => (&self.ways.world, &settings),
                (true, "https") => (&self.ways.local, &|| settings().no_proxy()),
                (true, _) => (&self.ways.plain, &|| settings().no_proxy().tls_certs_only([])),
            };
        let way = way.get_or_init(|| {
            // Another part of the process may have installed the same provider before.
            let _ = rustls::crypto::ring::default_provider().install_default();
            settings().build().map_err(|error| sentence(&error.without_url()))
        });
        way.as_ref().map_err(|why| {
            SendError::new(SendFault::NotSent, format!("Connections cannot be made here: {why}"))
        })
    }

    /// Sends a request once. Returns a complete reply of any status; everything else is an error.
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

    /// Checks and builds the request before anything is sent.
    fn prepare(
        &self,
        request: &HttpRequest,
        key: Option<&ApiKey>,
    ) -> Result<reqwest::RequestBuilder, SendError> {
        let refuse = |why: &str| SendError::new(SendFault::NotSent, why);
        let url = Url::parse(&request.url).map_err(|_| {
            refuse("The address of the provider is not valid. Set a base_url such as https://api.example.com/v1.")
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
        let client = self.pool_for(&url)?;
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

    /// Reads the decompressed body piece by piece.
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
            // Before the first event a model may reason, or read a long prompt, within the ordinary
            // timeout.
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
                // A part of it is useless, and must not be kept.
                *body = Vec::new();
                let most = self.limits.body >> 20;
                return Err(SendError::new(
                    SendFault::TooLarge,
                    format!("The reply is larger than {most} MiB."),
                ));
            }
            // Searches only new bytes; otherwise a long body without events would be scanned
            // repeatedly.
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

/// Returns true if data sent to the address stays on this machine.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the header with the key, marked as sensitive to keep it from being printed.
fn authorization(
    auth: Auth,
    key: Option<&ApiKey>,
) -> Result<Option<(HeaderName, HeaderValue)>, SendError> {
    let (name, text) = match (auth, key) {
        (Auth::None, _) => return Ok(None),
        (_, None) => {
            return Err(SendError::new(
                SendFault::NoKey,
                "This provider needs a key, and none is set.",
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
        SendError::new(SendFault::NotSent, "The key contains characters that cannot be sent.")
    })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

fn text_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn broken(error: reqwest::Error, url: &str) -> SendError {
    // A refusing proxy or an unknown host name is a failed connection, too.
    let (fault, what) = match (error.is_timeout(), error.is_connect()) {
        (true, _) => (SendFault::TimedOut, "No connection in time"),
        (false, true) => (SendFault::Broken, "No connection"),
        (false, false) => (SendFault::Broken, "The connection broke"),
    };
    let why = sentence(&error.without_url());
    let said = match proxy(url) {
        None => format!("{what}: {why}"),
        Some(proxy) => format!(
            "{what} through the proxy {proxy}, which the environment names: {why} Fix HTTPS_PROXY, \
             HTTP_PROXY or ALL_PROXY, or name the host of the provider in NO_PROXY."
        ),
    };
    SendError::new(fault, said)
}

/// Returns host and port of the proxy set in the environment for an address; `None` if there is
/// none, and for this machine.
fn proxy(url: &str) -> Option<String> {
    let local = Url::parse(url).ok().is_some_and(|url| is_local(&url));
    let found = Matcher::from_system().intercept(&url.parse().ok()?).filter(|_| !local)?;
    found.uri().authority().map(|at| at.as_str().rsplit('@').next().unwrap_or_default().to_owned())
}

/// Returns the innermost message of an error, which names the cause, with anything that looks like
/// a password removed.
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
