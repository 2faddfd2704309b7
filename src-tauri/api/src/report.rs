//! **Pure.** Reports: what is asked for, and what comes of it.
use super::list::Misread;
use serde::{Deserialize, Serialize};

/// What to report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ReportRequest {
    /// How it is written.
    pub format: ReportFormat,
    /// Which runs, as in the list.
    pub filter: String,
    /// Whose scores; none is the first scorer of each task.
    pub scorer: Option<String>,
    /// What the others are compared with, as `system/model`; none is the first.
    pub baseline: Option<String>,
    /// Title; empty is the name of the folder.
    pub title: String,
    /// Whether each run has its line.
    pub runs: bool,
    /// Whether results that others published stand beside one's own, where runs are of query sets.
    #[serde(default)]
    pub published: bool,
    /// Colours: `light`, `dark`, or none for what the reader's system says.
    pub theme: Option<String>,
}

impl ReportRequest {
    /// Of everything, each run listed.
    pub fn of(format: ReportFormat) -> Self {
        Self {
            format,
            filter: String::new(),
            scorer: None,
            baseline: None,
            title: String::new(),
            runs: true,
            published: false,
            theme: None,
        }
    }
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// One page that opens anywhere.
    Html,
    /// Markdown.
    Markdown,
    /// One line for each run.
    Csv,
    /// Everything, as one document.
    Json,
    /// One document for each run.
    Jsonl,
    /// For continuous integration.
    Junit,
    /// The result file of `StableToolBench`: one system with one model on one test set, named by
    /// `baseline`.
    #[serde(rename = "stabletoolbench")]
    StableToolBench,
    /// What `evaluate()` of azure-ai-evaluation writes: a row for each run, with what scorers and
    /// judges said.
    Azure,
}

/// A report, written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Report {
    /// The text; its beginning when it is cut.
    pub text: String,
    /// Size of the whole in bytes.
    pub bytes: u64,
    /// The text is not whole.
    pub cut: bool,
    /// A name for the file.
    pub file_name: String,
    /// Its media type.
    pub media_type: String,
    /// What can be compared with, as `system/model`; of a result file, what there are files of, as
    /// `system/model/set`.
    pub baselines: Vec<String>,
    /// Scorers that occur.
    pub scorers: Vec<String>,
    /// Runs of query sets are among them.
    pub queries: bool,
    /// How many runs it covers.
    pub runs: u64,
    /// Tokens of the filter that were not understood.
    pub misread: Vec<Misread>,
    /// What a reader should know: tokens that were not understood, sides that cannot be compared.
    pub notes: Vec<String>,
    /// Files of judgements that cannot be read; a note says which.
    pub unreadable: u64,
}
