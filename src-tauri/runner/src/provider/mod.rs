//! **Pure.** What is asked of a model and what comes back, and the codecs between that and HTTP.
//! Owns no connection, no clock and no key: a request says where a key belongs, never what it is.
pub mod anthropic;
mod fault;
pub mod openai;
pub mod price;
pub mod promptql;
pub mod replay;
pub mod sse;
mod wire;

use super::talk::{Call, Turn};
use crate::spec::{Model, Provider};
use serde::{Deserialize, Serialize};
use touchstone_formats::json;
pub use touchstone_formats::offered::Offer;
use touchstone_formats::value::Value;
use xxhash_rust::xxh3::Xxh3;

/// One question to a model: everything that its reply depends on.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Which model.
    pub model: &'a Model,
    /// Instructions.
    pub system: &'a str,
    /// What was said so far; ends in a user turn, or in an assistant turn whose calls all have
    /// outcomes.
    pub turns: &'a [Turn],
    /// Tools it may call.
    pub tools: &'a [Offer],
}

/// A request, ready to be sent but for the key.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpRequest {
    /// Whole address.
    pub url: String,
    /// Headers, in order, without the one that holds the key.
    pub headers: Vec<(String, String)>,
    /// Where the key goes.
    pub auth: Auth,
    /// The body. The same question always gives the same bytes: replies are found again by their
    /// hash.
    pub body: Vec<u8>,
    /// True when the reply comes as a stream of events.
    pub stream: bool,
    /// How long it may take in all, in seconds.
    pub patience: u64,
}

/// Where the key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Nowhere.
    None,
    /// `Authorization: Bearer …`.
    Bearer,
    /// `x-api-key: …`.
    ApiKey,
    /// `toolbench_key: …`.
    ToolBench,
}

/// What came back over the wire, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpReply {
    /// Status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body, inflated; a stream as the text of its events.
    pub body: Vec<u8>,
}

impl HttpReply {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A reply of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Text; never empty.
    pub text: Option<String>,
    /// Blocks to be sent back as they are.
    pub kept: Vec<Value>,
    /// Calls, without outcomes.
    pub calls: Vec<Call>,
    /// Why it ended.
    pub stop: Stop,
    /// What it used.
    pub usage: Usage,
    /// The model that answered, as the provider names it.
    pub model_id: Option<String>,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stop {
    /// It was said.
    #[default]
    Done,
    /// Tools are to be called.
    Calls,
    /// It was cut at the most tokens: no answer.
    Length,
    /// The model would not; with its words when it said any.
    Refused(Option<String>),
    /// Anything else, as the provider names it: an error too, for nobody knows what it means.
    Other(String),
}

/// Tokens of a reply. None is not 0: some providers do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Sent, and neither read from nor written to a cache.
    pub input: Option<u64>,
    /// Came back, thinking included.
    pub output: Option<u64>,
    /// Sent and read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Sent and written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Of `output`, spent on thinking.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// In and out, whatever was cached; what nobody says stays unknown.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))))
        };
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, sum)
    }

    /// Both together; what neither says stays unknown.
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

/// Why a reply is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What follows from it.
    pub kind: FaultKind,
    /// One sentence for people.
    pub message: String,
    /// Status of the reply, when there was one.
    pub status: Option<u16>,
}

/// What follows from a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Asked again, as often as the rules allow: overloaded, too many requests, broken connection,
    /// 5xx.
    Passing,
    /// The stream or body ended too early; counted, then asked again from the start.
    Truncated,
    /// The request is wrong: asking again gives the same.
    Refused,
    /// Money or quota is used up: the whole launch stops.
    Exhausted,
    /// The key is missing or wrong: whoever asks there with this key stops.
    Key,
}

impl FaultKind {
    /// True when every other question would fail the same; with `Key`, those that are asked there
    /// with the same key.
    pub fn concerns_all(self) -> bool {
        matches!(self, Self::Exhausted | Self::Key)
    }
}

/// The request of a question. What recordings answer is never sent, but it is hashed, so it is a
/// request too, to nowhere.
pub fn encode(ask: &Ask) -> HttpRequest {
    match ask.model.provider {
        Provider::Anthropic => anthropic::encode(ask),
        Provider::OpenAi => openai::encode(ask),
        Provider::Replay => {
            let request = openai::encode(ask);
            HttpRequest { url: format!("replay:{}", ask.model.name), auth: Auth::None, ..request }
        }
    }
}

/// What a reply says, or why it is none.
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

/// What the body of a success says that it used, though it may be no reply: a stream that was cut,
/// a reply of an odd shape. None when it does not say.
pub fn usage_of(provider: Provider, reply: &HttpReply) -> Option<Usage> {
    let bodies: Vec<Value> = if wire::is_stream(reply) {
        sse::events(&reply.body).iter().filter_map(|event| json::read(&event.data).ok()).collect()
    } else {
        json::read(std::str::from_utf8(&reply.body).ok()?).ok().into_iter().collect()
    };
    let said = match provider {
        Provider::Anthropic => anthropic::used(&bodies),
        Provider::OpenAi | Provider::Replay => openai::used(&bodies),
    };
    said.filter(|usage| *usage != Usage::default())
}

/// The same with a guess where it does not say: a token for every three bytes that were sent, and
/// that the model said. What it thought without a word is not in it.
pub fn guessed(said: Usage, sent: usize, reply: &HttpReply) -> Usage {
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
            .map(|event| wire::said(&event))
            .sum()
    };
    Usage {
        input: said.input.or_else(|| tokens(sent)),
        output: said.output.or_else(|| tokens(came())),
        ..said
    }
}

/// True when a success that is no reply shows that no model was at work: a page for people, or an
/// error in place of everything.
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

/// What the reply of a request is found again by: its address and its body, not its headers.
pub fn hash(request: &HttpRequest) -> String {
    let mut hash = Xxh3::new();
    hash.update(request.url.as_bytes());
    // No address has this byte, so none can run into a body.
    hash.update(&[0]);
    hash.update(&request.body);
    format!("{:032x}", hash.digest128())
}

#[cfg(test)]
mod tests;
