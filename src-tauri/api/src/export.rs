//! **Pure.** Runs written in formats of other tools: requests and results.
use serde::{Deserialize, Serialize};

/// A run to write in a format of another tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ExportRequest {
    /// Id of the run.
    pub id: String,
    /// Format to write.
    pub format: ExportFormat,
    /// True to redact keys, e-mail addresses and home folders. If none is given, sessions of coding
    /// agents are redacted.
    pub redact: Option<bool>,
    /// True to write the texts of sensitive runs, which are left out otherwise.
    #[serde(default)]
    pub include_sensitive: bool,
}

/// Format of a written run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Trajectory of Harbor (ATIF).
    Atif,
    /// Messages of `OpenAI`'s chat completions.
    #[serde(rename = "openai")]
    OpenAi,
    /// Log of Inspect as JSON.
    InspectJson,
}

/// A written run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ExportedFile {
    /// Text of the file.
    pub text: String,
    /// Suggested file name.
    pub file_name: String,
    /// Media type.
    pub media_type: String,
    /// Notes for the reader: what stands elsewhere than in the messages, and what was redacted.
    pub notes: Vec<String>,
}
