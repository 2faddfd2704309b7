//! **Pure.** A suite that is made from the tasks of runs.
use super::tasks::Clip;
use serde::{Deserialize, Serialize};

/// The runs whose tasks become a suite.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(deny_unknown_fields)]
pub struct SuiteRequest {
    /// Name of the new task, and of its file without `.yaml`; its beginning if there are several
    /// files. May be empty in a plan.
    pub name: String,
    /// Ids of the runs; if empty, those that match the filter.
    pub runs: Vec<String>,
    /// Filter of the runs. Forks and continued runs are left out unless it names them.
    pub filter: String,
    /// Keys of the tasks that are used; all if none are given.
    pub tasks: Option<Vec<String>>,
    /// True to remove keys, e-mail addresses, home folders and the names of their users.
    pub redact: bool,
}

/// What suites would hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SuitePlan {
    /// Folder of the suites, for display; none if the folder has none.
    pub folder: Option<String>,
    /// Number of runs.
    pub runs: u64,
    /// Distinct tasks of these runs, in the order of their first runs; those that are not used, too.
    pub tasks: Vec<SuiteTask>,
    /// Number of tasks that are used.
    pub used: u64,
    /// Files: one if the tasks agree in all keys that a suite has once, none if no task is used.
    pub files: Vec<PlannedSuite>,
    /// Sentences on what is kept, left out or changed.
    pub notes: Vec<String>,
    /// Beginning of the files; none if no task is used.
    pub preview: Option<Clip>,
}

/// A suite that would be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct PlannedSuite {
    /// What its name has behind the name of the request; empty if it is the only one.
    pub suffix: String,
    /// Number of its variations.
    pub variations: u64,
}

/// A task of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SuiteTask {
    /// Opaque key.
    pub key: String,
    /// Name of the task, with its variation.
    pub name: String,
    /// Beginning of the prompt, on one line.
    pub prompt: String,
    /// True if the expected answer is known.
    pub has_expected: bool,
    /// Number of the runs.
    pub runs: u64,
    /// Name of the tool that recorded it, where it has no suite.
    pub recorded_by: Option<String>,
}

/// Suites that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SuiteMade {
    /// Files; at least one.
    pub files: Vec<SuiteFile>,
    /// Sentences on what was kept, left out or changed.
    pub notes: Vec<String>,
}

/// A suite that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SuiteFile {
    /// Path of the file, for display.
    pub file: String,
    /// Id of the new task.
    pub task: String,
    /// Number of its variations.
    pub variations: u64,
}
