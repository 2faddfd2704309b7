//! **Pure.** What runs are made with: models, systems, tools and rules, resolved from the workspace file and what is built in.
//! Owns no key, only the name of the environment variable that may hold one.
use super::way::Way;
use touchstone_formats::value::Value;

/// A model that can be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name in commands and file names.
    pub name: String,
    /// Which wire it speaks.
    pub provider: Provider,
    /// Its id at the provider.
    pub model_id: String,
    /// Where the provider is, without a slash at the end: `https://api.anthropic.com/v1`, `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// Most tokens of one reply.
    pub max_tokens: Option<u64>,
    /// Environment variable or keyring entry of its key; none when it needs none.
    pub key: Option<String>,
    /// Dollars for a million tokens; none is unknown, not free.
    pub price: Option<Price>,
    /// Thinks before it answers: `developer` role, `max_completion_tokens`, no temperature, long patience.
    pub reasoning: bool,
    /// How its runs go about their tasks, where it says so.
    pub way: Way,
    /// Further settings of the workspace file: `temperature`, `reasoning_effort`, `thinking`, `stream`, `recordings` …
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

    /// A further setting.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}
