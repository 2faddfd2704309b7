//! **Pure.** What is open, how far along the index is, what went stale, and what is wrong with the
//! files.
use serde::{Deserialize, Serialize};

/// Everything the frame of the window shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// The open folder, or none at first start.
    pub folder: Option<Folder>,
    /// What the index is doing.
    pub phase: Phase,
    /// Grows by one with every committed change of the index.
    pub generation: u64,
    /// How much of what was found.
    pub counts: Counts,
    /// How far the full-text index has come.
    pub search: SearchProgress,
    /// How far runs have come that are scored again because a suite changed; none when all scores
    /// are of now.
    pub scoring: Option<ScoringProgress>,
    /// How changes on disk are noticed.
    pub watching: Watching,
}

/// How many runs were looked at because a suite changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScoringProgress {
    /// So many.
    pub done: u64,
    /// Of so many.
    pub total: u64,
}

/// A folder that is open.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Folder {
    /// Opaque id, as in [`RecentFolder`].
    pub id: String,
    /// Last part of its path.
    pub name: String,
    /// Where it is, to be shown.
    pub path: String,
    /// Where the suites are, when there are any.
    pub input_dir: Option<String>,
    /// Where the transcripts are.
    pub output_dir: String,
    /// True for the sample data that comes with the program.
    pub demo: bool,
}

/// What the index is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Phase {
    /// No folder is open.
    Closed,
    /// Files are being listed and read for the first time.
    Indexing {
        /// Files read.
        done: u64,
        /// Files found so far.
        total: u64,
    },
    /// The list is complete and follows the disk.
    Ready,
    /// The folder could not be read.
    Failed {
        /// Why, as a sentence.
        reason: String,
        /// The next step.
        hint: String,
    },
}

/// How much of what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Counts {
    /// Rows that are runs, damaged ones included.
    pub runs: u64,
    /// Runs whose file cannot be read.
    pub damaged: u64,
    /// Runs waiting to be continued.
    pub waiting: u64,
    /// Runs that ended in a system error.
    pub errors: u64,
    /// Files that are no transcript.
    pub other_files: u64,
    /// Tasks read from the input directory.
    pub tasks: u64,
    /// Suite files with an error or a warning.
    pub suite_problems: u64,
    /// Files of reviews that cannot be read.
    pub damaged_reviews: u64,
}

/// How far the full-text index has come. Until it is complete, free text is searched in the plain
/// text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SearchProgress {
    /// Runs that are in it.
    pub indexed: u64,
    /// Runs there are.
    pub total: u64,
}

/// How changes on disk are noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Watching {
    /// The means.
    pub by: WatchMeans,
    /// What the person should know about it, such as why files are polled.
    pub notice: Option<String>,
}

/// The means by which changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum WatchMeans {
    /// Not at all.
    Off,
    /// The system tells.
    Native,
    /// The folder is listed again every few seconds.
    Polling,
}

/// A folder that was open before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct RecentFolder {
    /// Opaque id.
    pub id: String,
    /// Last part of its path.
    pub name: String,
    /// Where it is, to be shown.
    pub path: String,
    /// When it was last opened, in milliseconds since 1970.
    pub opened_ms: i64,
    /// False when it is not there any more.
    pub present: bool,
}

/// What this front door can open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Folders {
    /// Newest first.
    pub recent: Vec<RecentFolder>,
    /// True when the sample data is installed.
    pub demo: bool,
    /// True when a dialog can pick any folder (the window); else the program is started with the
    /// folder.
    pub can_pick: bool,
    /// True when recent folders and the sample data can be opened here; a page that only looks
    /// shows what it was started with.
    pub can_open: bool,
}

/// Something that happened. Says what went stale, never what is now true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AppEvent {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What went stale.
    pub stale: Stale,
}

/// What went stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stale {
    /// The frame: progress, counts, watching.
    Status,
    /// Rows of the list, and these runs; `all` when there are too many to name.
    Runs {
        /// The index after the change.
        generation: u64,
        /// Ids of the runs that changed, came or went.
        ids: Vec<String>,
        /// True when any run may have changed.
        all: bool,
    },
    /// How launches stand.
    Launches,
    /// How judging stands.
    Judgings,
    /// How evaluations of data files stand.
    Evaluations,
    /// Another folder is open: everything.
    Folder,
}

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// File, relative to the open folder.
    pub file: String,
    /// The run it belongs to, when it is one.
    pub run: Option<String>,
    /// One sentence.
    pub message: String,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line itself.
    pub excerpt: Option<String>,
    /// What to change.
    pub advice: Option<String>,
}

impl Problem {
    /// As one line: the file, the place, and what is wrong.
    pub fn told(&self) -> String {
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
    /// What a person says of a run, in a file that cannot be read.
    DamagedReview,
    /// A suite that reads, but probably does not say what was meant.
    SuiteWarning,
    /// A file that is no transcript, or something that is no file.
    NotTranscript,
}

/// A page of problems, worst first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ProblemPage {
    /// How many there are.
    pub total: u64,
    /// From the offset asked for.
    pub problems: Vec<Problem>,
}

/// Which part of a long list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Span {
    /// How many to pass over.
    pub offset: u32,
    /// How many at most; the engine caps it.
    pub limit: u32,
}

/// One thing that was looked at to see whether everything works here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub detail: String,
    /// How to mend it.
    pub fix: Option<String>,
}

/// What opening a folder found and how long it took, for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexReport {
    /// Files that were looked at.
    pub files: u64,
    /// Rows that are runs, damaged ones included.
    pub runs: u64,
    /// Runs whose file cannot be read.
    pub damaged: u64,
    /// Files that are no transcript.
    pub not_transcripts: u64,
    /// Until all files were listed.
    pub scan_ms: u64,
    /// Until the list was complete and text could be searched.
    pub index_ms: u64,
    /// Until the full-text index was complete; none when it is not yet.
    pub search_ready_ms: Option<u64>,
}
