//! A run of the index as the counting of `scoring::standing` takes it: the one place that says what
//! counts as a score.
use super::ScoredRun;
use touchstone_api::{RunState, ScoreStanding};
use touchstone_scoring::standing::{Counted, End};

impl ScoredRun {
    /// The same run, to be counted. A system error is one whatever a scorer says; what a person
    /// says is shown beside and counts nothing.
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

/// What became of a run, as it is counted.
pub(super) fn end_of(
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
