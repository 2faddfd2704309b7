//! **Pure.** The open folder, the state of the index, events about stale data, and problems with
//! files.
use serde::{Deserialize, Serialize};

/// State that the frame of the window shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// The open folder; none at first start.
    pub folder: Option<Folder>,
    /// Current activity of the index.
    pub phase: Phase,
    /// Number of the index's state; increases by one with every committed change.
    pub generation: u64,
    /// Numbers of runs, files and tasks found.
    pub counts: Counts,
    /// Progress of the full-text index.
    pub search: SearchProgress,
    /// Progress of rescoring runs after a change of a suite; none when all scores are current.
    pub scoring: Option<ScoringProgress>,
    /// Detection of changes on disk.
    pub watching: Watching,
    /// Copy of the bucket that is open; none for a folder.
    pub bucket: Option<BucketView>,
}

/// Copy of a bucket that is kept in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct BucketView {
    /// Address of the bucket: `s3://bucket/prefix`.
    pub address: String,
    /// Number of objects that are copied.
    pub copied: u64,
    /// Number of objects to copy, as far as they were listed.
    pub total: u64,
    /// True while objects are listed for the first time.
    pub listing: bool,
    /// True once all objects were copied.
    pub complete: bool,
    /// Time of the last check without a problem, in milliseconds since 1970.
    pub checked_ms: Option<i64>,
    /// Why it does not go on, as a sentence.
    pub problem: Option<String>,
    /// Suggested next step.
    pub hint: Option<String>,
    /// Note about the connection, such as that it is not encrypted.
    pub notice: Option<String>,
    /// True if another process keeps this copy.
    pub elsewhere: bool,
}

/// Progress of checking runs after a change of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScoringProgress {
    /// Number of runs checked.
    pub done: u64,
    /// Number of runs to check.
    pub total: u64,
}

/// An open folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Folder {
    /// Opaque id, as in [`RecentFolder`].
    pub id: String,
    /// Last part of its path.
    pub name: String,
    /// Path, for display.
    pub path: String,
    /// Directory of the suites, if there is one.
    pub input_dir: Option<String>,
    /// Directory of the transcripts.
    pub output_dir: String,
    /// True for the sample data that is shipped with the program.
    pub demo: bool,
}

/// Current activity of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Phase {
    /// No folder is open.
    Closed,
    /// Files are being listed and read for the first time.
    Indexing {
        /// Number of files read.
        done: u64,
        /// Number of files found until now.
        total: u64,
    },
    /// The list of runs is complete and follows changes on disk.
    Ready,
    /// The folder could not be read.
    Failed {
        /// Reason, as a sentence.
        reason: String,
        /// Suggested next step.
        hint: String,
    },
}

/// Numbers of runs, files and tasks found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Counts {
    /// Number of runs, including damaged ones.
    pub runs: u64,
    /// Number of runs whose file cannot be read.
    pub damaged: u64,
    /// Number of runs that can be resumed.
    pub waiting: u64,
    /// Number of runs that ended in a system error.
    pub errors: u64,
    /// Number of files that are not transcripts.
    pub other_files: u64,
    /// Number of tasks read from the input directory.
    pub tasks: u64,
    /// Number of suite files with an error or a warning, and of objects that cannot be copied.
    pub suite_problems: u64,
    /// Number of review files that cannot be read.
    pub damaged_reviews: u64,
}

/// Progress of the full-text index. Until it is complete, a free-text search scans the plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SearchProgress {
    /// Number of runs in the full-text index.
    pub indexed: u64,
    /// Number of all runs.
    pub total: u64,
}

/// Detection of changes on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Watching {
    /// Method of detection.
    pub by: WatchMeans,
    /// Note for the user about it, such as the reason for polling.
    pub notice: Option<String>,
}

/// Method of detecting changes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum WatchMeans {
    /// No detection.
    Off,
    /// Notifications of the operating system.
    Native,
    /// Listing the folder again every few seconds.
    Polling,
}

/// A recently opened folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RecentFolder {
    /// Opaque id.
    pub id: String,
    /// Last part of its path.
    pub name: String,
    /// Path, for display.
    pub path: String,
    /// Time when it was last opened, in milliseconds since 1970.
    pub opened_ms: i64,
    /// False if the folder no longer exists.
    pub present: bool,
}

/// Folders that can be opened on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Folders {
    /// Recent folders, newest first.
    pub recent: Vec<RecentFolder>,
    /// True if the sample data is installed.
    pub demo: bool,
    /// True if a dialog can pick any folder (in the window). Otherwise the program is started with
    /// the folder.
    pub can_pick: bool,
    /// True if recent folders and the sample data can be opened here. A read-only page shows only
    /// the folder it was started with.
    pub can_open: bool,
}

/// Folder with results of another tool, found by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct FoundResults {
    /// Id with which it is opened.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// Absolute path.
    pub path: String,
    /// Number of results in it.
    pub entries: u32,
    /// True if there may be more, because counting stopped at the maximum number of names.
    pub more: bool,
    /// Noun for one result: session, log, job.
    pub unit: String,
}

/// Opened folder, and the runs of it that were asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Opened {
    /// The open folder.
    pub folder: Folder,
    /// Filter for these runs; empty for all.
    pub filter: String,
}

/// Event that names the data that became stale; never contains the new data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AppEvent {
    /// Time of the event, in milliseconds since 1970.
    pub at_ms: i64,
    /// The stale data.
    pub stale: Stale,
}

/// Kind of data that became stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stale {
    /// [`Status`]: progress, counts and watching.
    Status,
    /// Rows of the list, and the runs in `ids`.
    Runs {
        /// Generation of the index after the change.
        generation: u64,
        /// Ids of the runs that were changed, added or removed; empty if `all` is set.
        ids: Vec<String>,
        /// True if any run may have changed; used when there are too many ids.
        all: bool,
    },
    /// State of launches.
    Launches,
    /// State of judging.
    Judgings,
    /// State of evaluations of data files.
    Evaluations,
    /// State of generations of tasks.
    Generations,
    /// Failure map: more transcripts were read.
    Failures,
    /// Everything: another folder is open.
    Folder,
}

/// A problem with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Problem {
    /// Kind of problem.
    pub kind: ProblemKind,
    /// File, relative to the open folder.
    pub file: String,
    /// Run stored in the file, if there is one.
    pub run: Option<String>,
    /// One-sentence description.
    pub message: String,
    /// Line number, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Text of the line.
    pub excerpt: Option<String>,
    /// Suggested change.
    pub advice: Option<String>,
}

impl Problem {
    /// Formats the problem on one line: file, line number, message and advice.
    pub fn to_line(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        let advice = self.advice.as_ref().map_or_else(String::new, |advice| format!(" {advice}"));
        format!("{}{line}: {}{advice}", self.file, self.message)
    }
}

/// Kinds of problems, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A suite that cannot be read.
    SuiteError,
    /// A transcript that cannot be read.
    Damaged,
    /// A segment that is not used, or what one claims and the file says otherwise.
    Segment,
    /// A review file that cannot be read.
    DamagedReview,
    /// An object of a bucket that cannot be copied.
    NotCopied,
    /// A suite that can be read but probably does not express the author's intention.
    SuiteWarning,
    /// A file that is not a transcript, or an entry that is not a file.
    NotTranscript,
}

/// A page of problems, worst first; files that are no runs come last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ProblemPage {
    /// Number of all entries: the problems, then the files that are no runs.
    pub total: u64,
    /// Number of files that are no runs. They need no attention.
    pub no_runs: u64,
    /// Problems from the requested offset on.
    pub problems: Vec<Problem>,
}

/// Requested part of a long list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Span {
    /// Number of entries to skip.
    pub offset: u32,
    /// Maximum number of entries; the engine caps it.
    pub limit: u32,
}

/// Result of one check of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Check {
    /// Subject of the check.
    pub name: String,
    /// True if the check passed.
    pub ok: bool,
    /// Findings of the check.
    pub detail: String,
    /// Suggested fix.
    pub fix: Option<String>,
}

/// Counts and durations of opening a folder, for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexReport {
    /// Number of files examined.
    pub files: u64,
    /// Number of runs, including damaged ones.
    pub runs: u64,
    /// Number of runs whose file cannot be read.
    pub damaged: u64,
    /// Number of files that are not transcripts.
    pub not_transcripts: u64,
    /// Milliseconds until all files were listed.
    pub scan_ms: u64,
    /// Milliseconds until the list was complete and text could be searched.
    pub index_ms: u64,
    /// Milliseconds until the full-text index was complete; none if it is still incomplete.
    pub search_ready_ms: Option<u64>,
}
