//! Judging runs: what is to be judged, the jobs that ask judges, and their verdicts.
pub(crate) mod job;
pub(crate) mod judge_jobs;
pub(crate) mod judge_plan;
mod judge_state;
pub(crate) mod judged_runs;
mod pairwise;
mod suite_judges;
mod verdicts;

use crate::App;

/// The actions on judging.
#[derive(Clone, Copy)]
pub struct JudgingActions<'a> {
    pub(crate) app: &'a App,
}
