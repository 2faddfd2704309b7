//! **Pure.** Requests to models, their replies, and the codecs between these and HTTP. Owns no
//! connection, no clock and no key: a request states where a key belongs, never its value.
pub mod anthropic;
mod fault;
pub mod openai;
pub mod price;
pub mod promptql;
pub mod replay;
pub mod sse;
mod wire;

use super::conversation::{Call, Turn};
use crate::spec::{Model, Provider};
use serde::{Deserialize, Serialize};
pub use touchstone_formats::tool_offers::ToolOffer;
use touchstone_model::json;
use touchstone_model::value::Value;
use xxhash_rust::xxh3::Xxh3;

/// A request to a model: everything that its reply depends on.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The model to call.
    pub model: &'a Model,
    /// System prompt.
    pub system: &'a str,
    /// Conversation until now. Ends in a user turn, or in an assistant turn whose calls all have
    /// outcomes.
    pub turns: &'a [Turn],
    /// Tools that the model may call.
    pub tools: &'a [ToolOffer],
}

/// An HTTP request, complete except for the key.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpRequest {
    /// Full URL.
    pub url: String,
    /// Headers, in order, without the one that carries the key.
    pub headers: Vec<(String, String)>,
    /// Header that carries the key.
    pub auth: Auth,
    /// Body. Equal requests always encode to equal bytes, because replies are looked up by the
    /// request hash.
    pub body: Vec<u8>,
    /// True if the reply comes as a stream of events.
    pub stream: bool,
    /// Timeout for the whole exchange, in seconds.
    pub patience: u64,
}

/// The header that carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// No key is sent.
    None,
    /// `Authorization: Bearer …`.
    Bearer,
    /// `x-api-key: …`.
    ApiKey,
    /// `toolbench_key: …`.
    ToolBench,
}

/// A complete HTTP response.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpReply {
    /// HTTP status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Decompressed body; for a stream, the text of its events.
    pub body: Vec<u8>,
}

impl HttpReply {
    /// Returns the value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A model's reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Text; never empty.
    pub text: Option<String>,
    /// Blocks that have to be sent back unchanged.
    pub kept: Vec<Value>,
    /// Tool calls, without outcomes.
    pub calls: Vec<Call>,
    /// Reason that the reply ended.
    pub stop: StopReason,
    /// Tokens used.
    pub usage: Usage,
    /// Model that answered, as the provider names it.
    pub model_id: Option<String>,
}

/// Reason that a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StopReason {
    /// The reply is complete.
    #[default]
    Done,
    /// The model calls tools.
    Calls,
    /// The reply was cut at the token limit, and is no answer.
    Length,
    /// The model refused; with its text, if there was any.
    Refused(Option<String>),
    /// Any other reason, as the provider names it. Treated as an error, because its meaning is
    /// unknown.
    Other(String),
}

/// Tokens of a reply. `None` is not 0: some providers do not report all counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens neither read from nor written to a cache.
    pub input: Option<u64>,
    /// Output tokens, thinking included.
    pub output: Option<u64>,
    /// Input tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Input tokens written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Part of `output` spent on thinking.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Returns input plus output tokens, cached or not. `None` if no count is known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))))
        };
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, sum)
    }

    /// Adds two usages. A count that is unknown in both stays unknown.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))))
        };
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cache_read: sum(self.cache_read, other.cache_read),
            cache_write: sum(self.cache_write, other.cache_write),
            reasoning: sum(self.reasoning, other.reasoning),
        }
    }
}

/// Error of a model request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Class of the error, which decides how the run continues.
    pub kind: FaultKind,
    /// Message for the user, one sentence.
    pub message: String,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
}

/// Class of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Transient: retried as often as the rules allow. Overload, rate limit, broken connection,
    /// 5xx.
    Passing,
    /// The stream or body ended too early; counted, then retried from the start.
    Truncated,
    /// The request is wrong; a retry would fail as well.
    Refused,
    /// Money or quota is used up: the whole launch stops.
    Exhausted,
    /// The key is missing or wrong: all requests to this service with this key stop.
    Key,
}

impl FaultKind {
    /// Returns true if every other request would fail too; for `Key`, those to the same service
    /// with the same key.
    pub fn concerns_all(self) -> bool {
        matches!(self, Self::Exhausted | Self::Key)
    }
}

/// Encodes a request for the model's provider. Requests to [`Provider::Replay`] are never sent, but
/// they are hashed, and get the address `replay:MODEL` for that.
pub fn encode(ask: &ModelRequest) -> HttpRequest {
    match ask.model.provider {
        Provider::Anthropic => anthropic::encode(ask),
        Provider::OpenAi => openai::encode(ask),
        Provider::Replay => {
            let request = openai::encode(ask);
            HttpRequest { url: format!("replay:{}", ask.model.name), auth: Auth::None, ..request }
        }
    }
}

/// Decodes a response of this provider. Fails if it is an error or holds no reply.
pub fn decode(provider: Provider, reply: &HttpReply) -> Result<Reply, Fault> {
    match provider {
        Provider::Anthropic => anthropic::decode(reply),
        Provider::OpenAi => openai::decode(reply),
        Provider::Replay => {
            let message =
                "Recordings answer without a wire, so there is nothing to read.".to_owned();
            Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) })
        }
    }
}

/// Returns the token usage in a successful response, even if it holds no valid reply, such as a cut
/// stream or an odd shape. `None` if it reports none.
pub fn usage_of(provider: Provider, reply: &HttpReply) -> Option<Usage> {
    let bodies: Vec<Value> = if wire::is_stream(reply) {
        sse::events(&reply.body).iter().filter_map(|event| json::read(&event.data).ok()).collect()
    } else {
        json::read(std::str::from_utf8(&reply.body).ok()?).ok().into_iter().collect()
    };
    let said = match provider {
        Provider::Anthropic => anthropic::parse_usage(&bodies),
        Provider::OpenAi | Provider::Replay => openai::parse_usage(&bodies),
    };
    said.filter(|usage| *usage != Usage::default())
}

/// Fills in unknown token counts with an estimate: one token per three bytes sent or received.
/// Thinking that is not in the response is not counted.
pub fn with_estimates(said: Usage, sent: usize, reply: &HttpReply) -> Usage {
    const BYTES: usize = 3;
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(BYTES)).ok();
    let came = || {
        if !wire::is_stream(reply) {
            return reply.body.len();
        }
        let events = sse::events(&reply.body);
        events
            .iter()
            .filter_map(|event| json::read(&event.data).ok())
            .map(|event| wire::text_bytes(&event))
            .sum()
    };
    Usage {
        input: said.input.or_else(|| tokens(sent)),
        output: said.output.or_else(|| tokens(came())),
        ..said
    }
}

/// Returns true if a successful response without a reply shows that no model did any work: an HTML
/// page, or an error in place of the whole reply.
pub fn is_free(reply: &HttpReply) -> bool {
    let first = if wire::is_stream(reply) {
        sse::events(&reply.body).into_iter().next().map(|event| event.data)
    } else {
        String::from_utf8(reply.body.clone()).ok()
    };
    let text = first.as_deref().map(str::trim).unwrap_or_default();
    let says = |body: &Value| {
        body.get("error").is_some_and(|error| *error != Value::Null) && body.get("usage").is_none()
    };
    text.starts_with('<') || json::read(text).is_ok_and(|body| says(&body))
}

/// Returns the cache key of a request: a hash of its URL and body, without its headers.
pub fn hash(request: &HttpRequest) -> String {
    let mut hash = Xxh3::new();
    hash.update(request.url.as_bytes());
    // No URL contains this byte, which separates it from the body unambiguously.
    hash.update(&[0]);
    hash.update(&request.body);
    format!("{:032x}", hash.digest128())
}

#[cfg(test)]
mod tests;
