//! **Pure.** What runs are made with: models, systems, tools and rules, resolved from the workspace
//! file and what is built in. Owns no key, only the name of the environment variable that may hold
//! one.
use super::way::Way;
use touchstone_formats::json;
use touchstone_formats::value::Value;
use xxhash_rust::xxh3::Xxh3;

/// A model that can be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name in commands and file names.
    pub name: String,
    /// Which wire it speaks.
    pub provider: Provider,
    /// Its id at the provider.
    pub model_id: String,
    /// Where the provider is, without a slash at the end: `https://api.anthropic.com/v1`,
    /// `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// Most tokens of one reply.
    pub max_tokens: Option<u64>,
    /// Environment variable or keyring entry of its key; none when it needs none.
    pub key: Option<String>,
    /// Dollars for a million tokens; none is unknown, not free.
    pub price: Option<Price>,
    /// Thinks before it answers: `developer` role, `max_completion_tokens`, no temperature, long
    /// patience.
    pub reasoning: bool,
    /// Gets its instructions as `system` also where it thinks, as azure-ai-evaluation sends them.
    pub keeps_system: bool,
    /// How its runs go about their tasks, where it says so.
    pub way: Way,
    /// Further settings of the workspace file: `temperature`, `reasoning_effort`, `thinking`,
    /// `stream`, `recordings` …
    pub settings: Vec<(String, Value)>,
}

/// Which wire a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Messages API.
    Anthropic,
    /// Chat Completions, and everything compatible.
    OpenAi,
    /// Recorded transcripts answer, tools really run.
    Replay,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Sent.
    pub input: f64,
    /// Came back.
    pub output: f64,
    /// Read from the provider's cache; like `input` when it is not given.
    pub cache_read: Option<f64>,
    /// Written to the provider's cache; like `input` when it is not given.
    pub cache_write: Option<f64>,
}

/// Settings that change what is said.
const SAMPLING: [&str; 3] = ["temperature", "reasoning_effort", "thinking"];

/// Tokens of a reply of a judge that reasons, as azure-ai-evaluation asks for.
const MOST_REASONED: u64 = 60_000;

/// Functions that providers take in one request.
const MOST_FUNCTIONS: usize = 128;

impl Model {
    /// Most functions that a request may hold: `max_tools` of the model.
    pub fn most_functions(&self) -> usize {
        match self.setting("max_tools") {
            Some(Value::Number(number)) => number.parse().unwrap_or(MOST_FUNCTIONS),
            _ => MOST_FUNCTIONS,
        }
    }

    /// Names whom it is and how it samples, so that what another said under its name is told apart.
    /// Not how long replies may be.
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

    /// Returns the model as a judge that reasons is asked over this wire: no temperature, this many
    /// tokens of a reply at most, and instructions as `system`, as azure-ai-evaluation does. Other
    /// wires know no such difference, and nothing changes there.
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

    /// A further setting.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}
