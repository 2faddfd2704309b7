//! **Pure.** The only place that decides which runs count as scored.
use touchstone_api::{RunState, ScoreStanding};
use touchstone_scoring::aggregate::End;

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
