//! **Pure.** Models as runs use them, resolved from the workspace file and the built-in defaults.
//! Holds no key, only the name of the environment variable that may hold one.
use super::strategy::Strategy;
use touchstone_model::json;
use touchstone_model::value::Value;
use xxhash_rust::xxh3::Xxh3;

/// Model that requests can be sent to.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name in commands and file names.
    pub name: String,
    /// Wire format.
    pub provider: Provider,
    /// Id at the provider.
    pub model_id: String,
    /// Base URL of the provider, without a trailing slash: `https://api.anthropic.com/v1`,
    /// `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// Maximum tokens of a reply.
    pub max_tokens: Option<u64>,
    /// Environment variable or keyring entry of its key; none when it needs no key.
    pub key: Option<String>,
    /// Price; none means unknown, not free.
    pub price: Option<Price>,
    /// True if the model reasons before it answers: `developer` role, `max_completion_tokens`, no
    /// temperature, long timeouts.
    pub reasoning: bool,
    /// True if instructions are sent as `system` even if the model reasons, like
    /// azure-ai-evaluation does.
    pub keeps_system: bool,
    /// Strategy of its runs, where the model sets one.
    pub way: Strategy,
    /// Other settings of the workspace file: `temperature`, `reasoning_effort`, `thinking`,
    /// `stream`, `recordings` …
    pub settings: Vec<(String, Value)>,
}

/// Wire format of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Messages API.
    Anthropic,
    /// Chat Completions API and compatible servers.
    OpenAi,
    /// Replies come from recorded transcripts; tools are really run.
    Replay,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Tokens read from the provider's cache; `input` if not given.
    pub cache_read: Option<f64>,
    /// Tokens written to the provider's cache; `input` if not given.
    pub cache_write: Option<f64>,
}

/// Settings that influence the content of replies.
const SAMPLING: [&str; 3] = ["temperature", "reasoning_effort", "thinking"];

/// Token limit for replies of a reasoning judge, equal to that of azure-ai-evaluation.
const MOST_REASONED: u64 = 60_000;

/// Default limit on the functions in one request.
const MOST_FUNCTIONS: usize = 128;

impl Model {
    /// Returns the maximum number of functions in a request: `max_tools` of the model, or the
    /// default.
    pub fn most_functions(&self) -> usize {
        match self.setting("max_tools") {
            Some(Value::Number(number)) => number.parse().unwrap_or(MOST_FUNCTIONS),
            _ => MOST_FUNCTIONS,
        }
    }

    /// Returns a hash of the model's identity and sampling settings, which distinguishes replies of
    /// different models with the same name. The token limit is not part of it.
    pub fn mark(&self) -> String {
        let provider = match self.provider {
            Provider::Anthropic => "anthropic",
            Provider::OpenAi => "openai",
            Provider::Replay => "replay",
        };
        let reasoning = if self.reasoning { "reasoning" } else { "" };
        let sampling = SAMPLING.map(|name| {
            self.setting(name).map(|value| json::write(value, false)).unwrap_or_default()
        });
        let parts = [provider, &self.base_url, &self.model_id, reasoning].into_iter();
        let mut hash = Xxh3::new();
        for part in parts.chain(sampling.iter().map(String::as_str)) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        format!("{:032x}", hash.digest128())
    }

    /// Returns the model with the parameters for a reasoning judge, like azure-ai-evaluation: no
    /// temperature, a fixed token limit, and instructions as `system`. Only `openai` models change;
    /// the other wire formats know no such difference.
    #[must_use]
    pub fn as_reasoning(&self) -> Self {
        match self.provider {
            Provider::OpenAi => Self {
                reasoning: true,
                keeps_system: true,
                max_tokens: Some(MOST_REASONED),
                ..self.clone()
            },
            Provider::Anthropic | Provider::Replay => self.clone(),
        }
    }

    /// Returns another setting by its name.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}
