//! Conversion of indexed runs for the counting in `scoring::aggregate`. The only place that decides
//! which runs count as scored.
use super::ScoredRun;
use touchstone_api::{RunState, ScoreStanding};
use touchstone_scoring::aggregate::{Counted, End};

impl ScoredRun {
    /// Converts the run for counting. A system error counts as an error regardless of the scorers.
    /// Reviews by people are displayed separately and not counted.
    pub fn counted(&self) -> Counted<'_> {
        Counted {
            task: self.task.as_deref(),
            variation: self.variation,
            variation_name: self.variation_name.as_deref(),
            system: self.system.as_deref(),
            model: self.model.as_deref(),
            end: end_of(self.state, self.scoring, self.score, self.passed),
            scorer: self.scorer.as_deref(),
            fingerprint: self.fingerprint,
            nudged: self.nudges > 0,
            apart: self.lineage.is_some(),
            tokens: self.tokens,
            cost: self.cost,
            seconds: self.seconds,
        }
    }
}

/// Outcome of a run, for counting.
pub(crate) fn end_of(
    state: RunState,
    scoring: Option<ScoreStanding>,
    score: Option<f64>,
    passed: Option<bool>,
) -> End {
    match (state, scoring, score) {
        (RunState::Error, ..) | (_, Some(ScoreStanding::Error), _) => End::Error,
        (RunState::Damaged, ..) => End::Damaged,
        (RunState::Writing, ..) => End::Running,
        (_, Some(ScoreStanding::Scored), Some(score)) => End::Scored(score, passed),
        (RunState::Waiting, ..) => End::Waiting,
        _ => End::Unscored,
    }
}
