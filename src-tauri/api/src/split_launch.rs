//! **Pure.** Launches that are split over the workers of a scheduler, as their files tell of them.
use serde::Serialize;

/// A launch of which several machines make a part each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SplitLaunch {
    /// Id of the launch.
    pub id: String,
    /// What it runs, in a few words: `3 tasks · promptql/claude`.
    pub what: String,
    /// Time of the submission or of the first part, in milliseconds since 1970.
    pub began_ms: i64,
    /// Time of the last event, once nothing runs or waits any more.
    pub ended_ms: Option<i64>,
    /// State of the launch.
    pub state: SplitState,
    /// Number of parts.
    pub parts: u64,
    /// Number of parts that have not begun.
    pub waiting: u64,
    /// Number of parts that run.
    pub running: u64,
    /// Number of parts that ended.
    pub ended: u64,
    /// Number of parts that died or were ended by their scheduler.
    pub lost: u64,
    /// Number of runs.
    pub total: u64,
    /// Number of complete runs, with or without an answer, also from before.
    pub done: u64,
    /// Number of runs that ended in an error.
    pub failed: u64,
    /// Number of runs that cannot be made.
    pub left_out: u64,
    /// Number of runs in progress.
    pub at_work: u64,
    /// Number of tokens; none while no reply has reported any.
    pub tokens: Option<u64>,
    /// Cost in dollars of all parts, each time they were started, of replies with a known price.
    pub cost: f64,
    /// Number of replies with an unknown price.
    pub unpriced: u64,
    /// Spend limit of the whole launch in dollars.
    pub max_cost: Option<f64>,
    /// Jobs of the scheduler, the newest last.
    pub jobs: Vec<SplitJob>,
    /// Why the states of the scheduler are not shown, as a sentence.
    pub note: Option<String>,
    /// True if it can be stopped from here.
    pub may_stop: bool,
    /// What to type or do to stop it where that is not possible from here, as a sentence.
    pub how_to_stop: String,
    /// True if what is left can be submitted from here.
    pub may_submit: bool,
    /// Why it cannot, or how to do it, as a sentence.
    pub how_to_submit: Option<String>,
    /// A range of its parts: first those that run, then lost, waiting and ended ones.
    pub rows: Vec<SplitPart>,
}

/// Job of a scheduler that runs parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SplitJob {
    /// Name of the scheduler: `slurm`.
    pub scheduler: String,
    /// Id of the job.
    pub id: String,
}

/// State of a split launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum SplitState {
    /// No part runs, and some have not begun.
    Waiting,
    /// Parts run.
    Running,
    /// Parts finish what is in flight, and nothing new begins.
    Stopping,
    /// Nothing runs or waits any more, and runs are left.
    Unfinished,
    /// All runs are complete.
    Done,
}

/// Part of a split launch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SplitPart {
    /// Number of the part, from 1.
    pub part: u32,
    /// State of the part.
    pub state: SplitPartState,
    /// The state in words, as its log or the scheduler says it: `waits for free machines`.
    pub word: String,
    /// Machine that it runs or ran on.
    pub host: Option<String>,
    /// Task of a job: `12_3`.
    pub job: Option<String>,
    /// Number of its runs; none until it began.
    pub total: Option<u64>,
    /// Number of complete runs, also from before.
    pub done: u64,
    /// Number of runs that ended in an error.
    pub failed: u64,
    /// Number of runs in progress.
    pub at_work: u64,
    /// Cost in dollars, each time it was started, of replies with a known price.
    pub cost: f64,
    /// Number of replies with an unknown price.
    pub unpriced: u64,
    /// Number of times that it was started.
    pub starts: u32,
    /// Time of its last start, in milliseconds since 1970.
    pub began_ms: Option<i64>,
    /// Time of its last event.
    pub last_ms: Option<i64>,
    /// Why it made no runs, stopped, or why its first run failed.
    pub why: Option<String>,
}

/// State of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum SplitPartState {
    /// It has not begun.
    Waiting,
    /// It runs.
    Running,
    /// It finishes what is in flight.
    Stopping,
    /// It ended.
    Ended,
    /// It died, or its scheduler ended it.
    Lost,
}
