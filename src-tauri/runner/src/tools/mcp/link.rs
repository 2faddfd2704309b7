//! A connection to a server: connect, request, close. Owns the size and time limits, and the rules
//! for sending secrets.
use super::child::{Bound, LARGEST, Server};
use super::reply;
use super::settings::{Reach, Settings};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    PaginatedRequestParams, Tool,
};
use rmcp::service::RunningService;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{RoleClient, ServiceError, ServiceExt as _};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Maximum number of bytes of the whole list of tools.
const LISTED: usize = 4 << 20;
/// Maximum number of tools of a server, and of pages of their list.
const TOOLS: usize = 1000;
const PAGES: usize = 100;
/// Timeout for connecting to a URL.
const REACHING: Duration = Duration::from_secs(5);
/// Timeout for closing, after which the remaining processes are killed.
const ENDING: Duration = Duration::from_secs(2);

/// Error of a connection or request. Contains no secrets.
pub(super) struct LinkError {
    pub(super) message: String,
    pub(super) fix: Option<String>,
    /// True if the connection can no longer be used.
    pub(super) gone: bool,
}

/// A connection.
pub(super) struct Link {
    // Declared first, and therefore dropped first: the client closes before its server is killed.
    client: RunningService<RoleClient, ClientConfig>,
    server: Option<Server>,
    /// Message length limit of a started server.
    bound: Option<Arc<Bound>>,
}

impl Link {
    /// Starts or connects to the server and performs the handshake.
    pub(super) async fn join(settings: &Settings) -> Result<Self, LinkError> {
        match &settings.reach {
            Reach::Command { command, env, base } => {
                let program = command.first().map_or("", String::as_str);
                let (mut server, (stdout, stdin)) =
                    Server::start(command, env, base).map_err(|error| LinkError {
                        message: reply::hide(
                            &format!("`{program}` could not be started: {error}."),
                            &settings.secrets,
                        ),
                        fix: Some(
                            "Install it, or correct `command` in touchstone.yaml.".to_owned(),
                        ),
                        gone: true,
                    })?;
                let bound = stdout.bound();
                let transport =
                    AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(LARGEST);
                match greet(transport, settings.patience).await {
                    Ok(client) => Ok(Self { client, server: Some(server), bound: Some(bound) }),
                    Err(None) => Err(lost(&late(settings), settings)),
                    Err(Some(why)) => {
                        Err(lost(&format!("{why} {}", server.last_words().await), settings))
                    }
                }
            }
            Reach::Url { url, headers, secret } => {
                let transport = http(url, headers, *secret).map_err(|why| lost(&why, settings))?;
                let client = greet(transport, settings.patience).await;
                let client =
                    client.map_err(|why| lost(&why.unwrap_or_else(|| late(settings)), settings))?;
                Ok(Self { client, server: None, bound: None })
            }
        }
    }

    /// Lists the tools from all pages. Fails if they exceed the limits or do not arrive in time.
    pub(super) async fn list(&self, settings: &Settings) -> Result<Vec<Tool>, LinkError> {
        let refused =
            |why: String| LinkError { fix: Some(FEWER.to_owned()), ..lost(&why, settings) };
        let too_long =
            || refused(format!("Its list of tools is longer than {} MiB.", LISTED >> 20));
        let listing = async {
            let (mut tools, mut cursor, mut bytes) = (Vec::new(), None, 0);
            for _ in 0..PAGES {
                let page = PaginatedRequestParams::default().with_cursor(cursor);
                let page = self.client.list_tools(Some(page)).await.map_err(|error| {
                    if self.is_exceeded(&error) { too_long() } else { self.lost(&error, settings) }
                })?;
                bytes += page.tools.iter().map(size).sum::<usize>();
                tools.extend(page.tools);
                if tools.len() > TOOLS {
                    return Err(refused(format!("It has more than {TOOLS} tools.")));
                }
                if bytes > LISTED {
                    return Err(too_long());
                }
                cursor = page.next_cursor;
                if cursor.is_none() {
                    return Ok(tools);
                }
            }
            Err(refused(format!("Its list of tools has more than {PAGES} pages.")))
        };
        self.allow(LISTED);
        let listed = tokio::time::timeout(settings.patience, listing).await;
        self.allow(LARGEST);
        listed.unwrap_or_else(|_| Err(lost(&late(settings), settings)))
    }

    /// Sets the message length limit of a started server.
    fn allow(&self, most: usize) {
        if let Some(bound) = &self.bound {
            bound.most.store(most, Ordering::Relaxed);
        }
    }

    /// Returns true if a request failed because a message exceeded the limit.
    fn is_exceeded(&self, error: &ServiceError) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.exceeded.load(Ordering::Relaxed))
            || is_body_too_large(error)
    }

    /// Calls a tool. After a timeout the connection is given up, because the state of the server is
    /// unknown.
    pub(super) async fn call(
        &self,
        settings: &Settings,
        tool: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> Result<CallToolResult, LinkError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match tokio::time::timeout(settings.patience, self.client.call_tool(params)).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(self.lost(&error, settings)),
            Err(_) => Err(lost(&late(settings), settings)),
        }
    }

    /// Returns false once the other side has gone away.
    pub(super) fn is_up(&self) -> bool {
        !self.client.is_closed() && !self.client.is_transport_closed()
    }

    /// Closes the connection, and lets a started server exit.
    pub(super) async fn close(mut self) {
        let _ = self.client.close_with_timeout(ENDING).await;
        if let Some(server) = self.server.take() {
            server.end().await;
        }
    }

    fn lost(&self, error: &ServiceError, settings: &Settings) -> LinkError {
        match error {
            ServiceError::McpError(error) => {
                LinkError { gone: false, ..lost(&format!("{}.", error.message), settings) }
            }
            _ if self.is_exceeded(error) => lost(
                &format!("Its reply is longer than {} MiB, and was not read.", LARGEST >> 20),
                settings,
            ),
            ServiceError::TransportClosed => lost("It ended before it answered.", settings),
            other => lost(&sentence(other), settings),
        }
    }
}

/// Advice for a server that lists too much.
const FEWER: &str = "Have it offer fewer tools: many servers take a list of those to offer, or of topics, among their arguments.";

/// Returns the size of a tool's description in bytes.
fn size(tool: &Tool) -> usize {
    serde_json::to_vec(tool).map_or(usize::MAX >> 16, |text| text.len())
}

/// Returns true if the body of a reply over HTTP exceeded the limit of the client, which is
/// [`LARGEST`] as well.
fn is_body_too_large(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    let mut cause: Option<&(dyn Error + 'static)> = Some(error.error.as_ref());
    while let Some(error) = cause {
        let known = error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
        if matches!(known, Some(StreamableHttpError::ResponseBodyTooLarge { .. })) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Performs the handshake. The error is `None` after a timeout.
async fn greet<T, E, A>(
    transport: T,
    patience: Duration,
) -> Result<RunningService<RoleClient, ClientConfig>, Option<String>>
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let who = Implementation::new("touchstone", env!("CARGO_PKG_VERSION"));
    let greeting = ClientConfig::new(ClientCapabilities::default(), who).serve(transport);
    match tokio::time::timeout(patience, Box::pin(greeting)).await {
        Ok(joined) => joined.map_err(|error| Some(sentence(&error))),
        Err(_) => Err(None),
    }
}

fn http(
    url: &str,
    headers: &[(String, String)],
    secret: bool,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let url = address(url, secret)?;
    let mut named = HashMap::new();
    for (name, value) in headers {
        let key = HeaderName::try_from(name)
            .map_err(|_| format!("`{name}` is not a name of a header."))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| format!("The header `{name}` has a value that cannot be sent."))?;
        value.set_sensitive(true);
        named.insert(key, value);
    }
    // The process uses a single crypto provider; an earlier installation is kept.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(REACHING);
    if is_loopback(&url) {
        // Requests to this machine do not go through a proxy.
        client = client.no_proxy();
    }
    let client = client.build().map_err(|error| sentence(&error))?;
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(3);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(named)
        .max_sse_event_size(LARGEST);
    config.retry_config = Arc::new(retry);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Parses a URL. Fails for plain http to another machine if secrets would be sent, because they
/// could be read in transit.
fn address(url: &str, secret: bool) -> Result<Url, String> {
    let url = Url::parse(url).map_err(|_| "`url` is not an address.".to_owned())?;
    let secret = secret || !url.username().is_empty() || url.password().is_some();
    match url.scheme() {
        "https" => Ok(url),
        "http" if !secret || is_loopback(&url) => Ok(url),
        "http" => Err("A key is only sent by https, or to this machine itself.".to_owned()),
        _ => Err("`url` has to begin with https:// or http://.".to_owned()),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn late(settings: &Settings) -> String {
    format!("It did not answer within {} seconds.", settings.patience.as_secs())
}

fn lost(message: &str, settings: &Settings) -> LinkError {
    LinkError { message: reply::hide(message, &settings.secrets), fix: None, gone: true }
}

/// Returns an error's message with its root cause.
fn sentence(error: &dyn Error) -> String {
    let mut said: String = error.to_string().chars().take(300).collect();
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let reason = deepest.to_string();
    if !said.contains(&reason) {
        said = format!("{said}: {}", reason.chars().take(300).collect::<String>());
    }
    said.trim_end_matches('.').to_owned() + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_only_goes_to_https_or_to_this_machine() {
        for (url, with_key, without) in [
            ("https://a.example/mcp", true, true),
            ("http://127.0.0.1:80/mcp", true, true),
            ("http://127.9.9.9/mcp", true, true),
            ("http://[::1]:80/mcp", true, true),
            ("http://localhost/mcp", true, true),
            ("http://localhost.example/mcp", false, true),
            ("http://10.0.0.1/mcp", false, true),
            ("http://me:word@10.0.0.1/mcp", false, false),
            ("file:///etc/passwd", false, false),
            ("no address", false, false),
        ] {
            assert_eq!(address(url, true).is_ok(), with_key, "{url} with a key");
            assert_eq!(address(url, false).is_ok(), without, "{url} without");
        }
    }
}
