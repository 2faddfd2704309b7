//! **Pure.** Facts about the simulated user of a run, under `run.user`: its verdict on the
//! conversation, and its effort.
use crate::node::Node;
use crate::run::{GoalVerdict, UserEffort, Verdict};

/// Name of the verdict of a simulated user, and of the scorer that reads it.
pub const GOAL_REACHED: &str = "goal_reached";

/// Returns the verdict in `run.user`; `None` if the user has not given one.
pub(crate) fn goal<'t, N: Node<'t>>(user: N) -> Option<GoalVerdict> {
    let outcome = user.get("outcome").and_then(N::word)?;
    let reason = user.get("reason").and_then(N::word).unwrap_or_default();
    Some(GoalVerdict { reached: outcome == "reached", reason: reason.to_owned() })
}

/// Returns the verdict in `run.user` in the form of an evaluator's verdict. That of an attacker is
/// none: for the system, a goal that was reached is no success.
pub(crate) fn verdict_of_user<'t, N: Node<'t>>(user: N) -> Option<Verdict> {
    if user.get("attack").is_some() {
        return None;
    }
    let goal = goal(user)?;
    let word = match user.get("outcome").and_then(N::word)? {
        "reached" => "goal reached",
        "gave_up" => "gave up",
        "turn_limit" => "turn limit",
        other => other,
    };
    Some(Verdict {
        evaluator: GOAL_REACHED.to_owned(),
        word: Some(word.to_owned()),
        passed: Some(goal.reached),
        reason: Some(goal.reason).filter(|reason| !reason.is_empty()),
        ..Verdict::default()
    })
}

/// Returns the effort in `run.user`, without its tokens.
pub(crate) fn effort<'t, N: Node<'t>>(user: N) -> UserEffort {
    let requests = user.get("requests").and_then(super::conversation::parse_u64);
    UserEffort {
        model: user.get("model").and_then(N::text).map(str::to_owned),
        requests: requests.and_then(|requests| u32::try_from(requests).ok()).unwrap_or(0),
        tokens: None,
        cost: user.get("cost").and_then(N::number).filter(|cost| cost.is_finite() && *cost >= 0.0),
    }
}
