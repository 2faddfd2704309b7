//! **Pure.** `sowr` (solvable win rate): judges which of two systems served the user better. Known
//! verdicts decide first. Only when they are inconclusive a model is asked, showing both in a
//! random order that is stored.
use super::{JudgeReply, Rules, Ruling, Status, Step, Subject};

/// Winner of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Winner {
    /// The run that is compared with.
    Reference,
    /// The run that is judged.
    Candidate,
    /// Neither.
    Tie,
}

/// Known facts about one of the two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The run has no answer.
    Missing,
    /// The answer was judged.
    Judged(Status),
    /// The answer was not judged, or its verdicts are inconclusive.
    Unknown,
}

/// Returns the most frequent verdict; `None` when there are none, or two are equally frequent.
pub fn most_frequent(rounds: &[Status]) -> Option<Status> {
    let count = |status: Status| rounds.iter().filter(|round| **round == status).count();
    let mut counted =
        [Status::Solved, Status::Unsure, Status::Unsolved].map(|status| (count(status), status));
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    (counted[0].0 > counted[1].0).then_some(counted[0].1)
}

/// Returns the winner by known facts; `None` when a model has to be asked.
pub fn winner_by_verdicts(reference: Side, candidate: Side, rules: Rules) -> Option<Winner> {
    use Status::{Solved, Unsure};
    match (reference, candidate) {
        (Side::Missing, Side::Missing) if rules == Rules::Ours => return Some(Winner::Tie),
        (Side::Missing, _) => return Some(Winner::Candidate),
        (_, Side::Missing) => return Some(Winner::Reference),
        _ => {}
    }
    for status in [Solved, Unsure] {
        match (reference == Side::Judged(status), candidate == Side::Judged(status)) {
            (true, false) if candidate != Side::Unknown => return Some(Winner::Reference),
            (false, true) if reference != Side::Unknown => return Some(Winner::Candidate),
            (false, false) => {}
            // Both are equally good, or the one that was not judged may be.
            _ => return None,
        }
    }
    None
}

/// Returns the winner when both gave the same answer: a tie; under the official rules a coin toss,
/// the parity of the stored `seed`.
pub fn same_answer(rules: Rules, seed: u64) -> Winner {
    match rules {
        Rules::Ours => Winner::Tie,
        Rules::Official if seed & 1 == 0 => Winner::Reference,
        Rules::Official => Winner::Candidate,
    }
}

pub(super) const WORDS: [&str; 2] = ["first", "second"];

impl Winner {
    /// Returns the verdict on the candidate, and its score.
    fn verdict(self) -> (&'static str, f64) {
        match self {
            Winner::Candidate => ("win", 1.0),
            Winner::Tie => ("tie", 0.5),
            Winner::Reference => ("lose", 0.0),
        }
    }

    /// Returns the points of reference and candidate for a verdict.
    pub fn points(word: &str) -> Option<(u32, u32)> {
        match word {
            "win" => Some((0, 1)),
            "lose" => Some((1, 0)),
            "tie" => Some((0, 0)),
            _ => None,
        }
    }
}

/// Returns whether the reference is shown first.
pub fn reference_first(seed: u64) -> bool {
    seed & 1 == 0
}

pub(super) fn decide(subject: &Subject, rules: Rules, heard: &[JudgeReply]) -> Step {
    let ruling = |winner: Winner, reason: &str| {
        let (word, score) = winner.verdict();
        Step::Rule(Ruling { word: word.to_owned(), score, reason: reason.to_owned() })
    };
    let Some(rival) = &subject.rival else {
        return ruling(Winner::Tie, "There is nothing to compare with.");
    };
    let side =
        |answer: &str, known: Side| if answer.trim().is_empty() { Side::Missing } else { known };
    let own = if subject.gave_up { Side::Missing } else { side(&subject.answer, rival.own) };
    if let Some(winner) = winner_by_verdicts(side(&rival.answer, rival.side), own, rules) {
        return ruling(
            winner,
            "Decided without a model: by a missing answer, or by the verdicts of `sopr`.",
        );
    }
    if rival.answer.trim() == subject.answer.trim() {
        return ruling(same_answer(rules, rival.seed >> 1), "Both gave the same answer.");
    }
    match heard {
        [] => Step::Ask("better"),
        [.., last] => {
            let reference = (last.word == "first") == reference_first(rival.seed);
            ruling(if reference { Winner::Reference } else { Winner::Candidate }, &last.reason)
        }
    }
}

/// Shares of requests that the candidate wins, loses and ties. The side with more points wins a
/// request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// Share of requests in which the candidate has more points.
    pub win: f64,
    /// Share of requests in which it has fewer points.
    pub lose: f64,
    /// Share of requests in which both have equally many.
    pub tie: f64,
}

/// Computes the shares from the points of reference and candidate per request; `None` without
/// requests.
pub fn shares(points: &[(u32, u32)]) -> Option<Shares> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are never so many requests that a float is coarse"
    )]
    let share = |wanted: std::cmp::Ordering| {
        points.iter().filter(|(reference, candidate)| candidate.cmp(reference) == wanted).count()
            as f64
            / points.len() as f64
    };
    (!points.is_empty()).then(|| Shares {
        win: share(Greater),
        lose: share(Less),
        tie: share(Equal),
    })
}
