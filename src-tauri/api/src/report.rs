//! **Pure.** Reports: requests and results.
use super::list::FilterError;
use super::trend::SetsBy;
use serde::{Deserialize, Serialize};

/// Options of a report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ReportRequest {
    /// Format of the report.
    pub format: ReportFormat,
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer whose scores are used; the first scorer of each task if none is given.
    pub scorer: Option<String>,
    /// Baseline group as `system/model`; the first group if none is given.
    pub baseline: Option<String>,
    /// Title; the name of the folder if empty.
    pub title: String,
    /// True to list every run.
    pub runs: bool,
    /// True to show published results beside the user's own, for runs of query sets.
    #[serde(default)]
    pub published: bool,
    /// Way in which runs are grouped into sets for the trend; by day if none is given.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub sets: Option<SetsBy>,
    /// Colour theme: `light` or `dark`; the preference of the reader's system if none is given.
    pub theme: Option<String>,
    /// True to redact keys, e-mail addresses and home folders in the texts of transcripts. If none
    /// is given, they are redacted if a run is a session of a coding agent.
    #[serde(default)]
    pub redact: Option<bool>,
    /// True to show reasons and notes of sensitive runs, which are left out otherwise.
    #[serde(default)]
    pub include_sensitive: bool,
}

impl ReportRequest {
    /// Creates a request for a report on all runs, with each run listed.
    pub fn for_format(format: ReportFormat) -> Self {
        Self {
            format,
            filter: String::new(),
            scorer: None,
            baseline: None,
            title: String::new(),
            runs: true,
            published: false,
            sets: None,
            theme: None,
            redact: None,
            include_sensitive: false,
        }
    }
}

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// One self-contained HTML page.
    Html,
    /// Markdown.
    Markdown,
    /// CSV with one line per run.
    Csv,
    /// One JSON document with all data.
    Json,
    /// JSON Lines with one document per run.
    Jsonl,
    /// JUnit XML, for continuous integration.
    Junit,
    /// Result file of `StableToolBench`: one system with one model on one test set, selected by
    /// `baseline`.
    #[serde(rename = "stabletoolbench")]
    StableToolBench,
    /// Parquet with one row per run, for notebooks and databases.
    Parquet,
    /// Output format of `evaluate()` in azure-ai-evaluation: one row per run, with the results of
    /// scorers and judges.
    Azure,
}

/// A finished report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Report {
    /// Text of the report; only its beginning if `cut` is set, and its bytes in base64 if `base64`
    /// is set.
    pub text: String,
    /// True if `text` is not text itself: the bytes of a whole Parquet file.
    pub base64: bool,
    /// Size of the whole report in bytes.
    pub bytes: u64,
    /// True if `text` was cut.
    pub cut: bool,
    /// Suggested file name.
    pub file_name: String,
    /// Media type.
    pub media_type: String,
    /// Possible baselines, as `system/model`. For a result file of `StableToolBench`, the possible
    /// selections as `system/model/set`.
    pub baselines: Vec<String>,
    /// Scorers that occur in the runs.
    pub scorers: Vec<String>,
    /// True if the runs include runs of query sets.
    pub queries: bool,
    /// Number of runs covered.
    pub runs: u64,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
    /// Notes for the reader, such as invalid tokens or groups that cannot be compared.
    pub notes: Vec<String>,
    /// Number of places that were redacted; none if the report is not redacted.
    pub redacted: Option<u64>,
    /// Number of judgement files that cannot be read; a note names them.
    pub unreadable: u64,
    /// Number of failed runs whose causes are not known yet, because transcripts are still read.
    pub causes_unread: u64,
}
