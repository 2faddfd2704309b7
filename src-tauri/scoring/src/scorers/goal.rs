//! **Pure.** `goal_reached`: whether the simulated user of a conversation says that it reached its
//! goal. Runs without an answer are scored too: some goals need none.
use super::scorer::Scorer;
use super::{Case, Outcome, Scored};

/// Returns 1 if the user reached its goal, and 0 if it gave up or had no messages left.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>) -> Outcome {
    let Some(goal) = case.told.and_then(|told| told.goal.as_ref()) else {
        return Outcome::Unfit(
            "No simulated user said whether its goal was reached. The task needs a `user`."
                .to_owned(),
        );
    };
    let score = if goal.reached { 1.0 } else { 0.0 };
    let reason = if goal.reason.is_empty() {
        let words = if goal.reached {
            "The user reached its goal."
        } else {
            "The user did not reach its goal."
        };
        words.to_owned()
    } else {
        goal.reason.clone()
    };
    Outcome::Scored(Scored::new(score, scorer.passes(score, goal.reached), reason))
}
