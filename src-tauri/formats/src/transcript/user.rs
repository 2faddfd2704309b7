//! **Pure.** Facts about the simulated user of a run, under `run.user`: its verdict on the
//! conversation, and its effort.
use touchstone_model::node::Node;
use touchstone_model::run::{GoalVerdict, UserEffort, Verdict};

/// Name of the verdict of a simulated user, and of the scorer that reads it.
pub const GOAL_REACHED: &str = "goal_reached";

/// Key of a message of a simulated user that it took back.
pub const TAKEN_BACK: &str = "taken_back";

/// Word of the outcome of a conversation that ended because its attacker failed.
pub const ATTACKER_FAILED: &str = "attacker_failed";

/// Name of the verdict which says that the attacker of a run failed. It is none on the system.
pub const ATTACKER: &str = "attacker";

/// Returns the verdict in `run.user`; `None` if the user has not given one.
pub(crate) fn goal<'t, N: Node<'t>>(user: N) -> Option<GoalVerdict> {
    let outcome = user.get("outcome").and_then(N::word)?;
    let reason = user.get("reason").and_then(N::word).unwrap_or_default();
    Some(GoalVerdict { reached: outcome == "reached", reason: reason.to_owned() })
}

/// Returns the verdict in `run.user` in the form of an evaluator's verdict. That of an attacker is
/// none: for the system, a goal that was reached is no success. Only that it failed is kept.
pub(crate) fn verdict_of_user<'t, N: Node<'t>>(user: N) -> Option<Verdict> {
    let goal = goal(user)?;
    if user.get("attack").is_some() {
        let has_failed = user.get("outcome").and_then(N::word) == Some(ATTACKER_FAILED);
        return has_failed.then(|| Verdict {
            evaluator: ATTACKER.to_owned(),
            word: Some("failed".to_owned()),
            reason: Some(goal.reason).filter(|reason| !reason.is_empty()),
            ..Verdict::default()
        });
    }
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
