//! **Pure.** `sowr`: which of two systems served the person better? What is known of both decides first; only where that says
//! nothing is a model asked, in an order that chance gave and that is kept.
use super::prompt::Prompt;
use super::reply::{self, Said};
use super::{Question, Rules, Status, Subject};
use std::sync::LazyLock;

static PROMPT: LazyLock<Prompt> = LazyLock::new(|| Prompt::of(include_str!("../../judges/sowr.md")));

/// Who wins a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Winner {
    /// What is compared with.
    Reference,
    /// What is compared.
    Candidate,
    /// Neither.
    Tie,
}

/// What is known of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// There is no answer.
    Missing,
    /// An answer that was judged.
    Judged(Status),
    /// An answer whose verdicts say nothing, or that was not judged.
    Unknown,
}

/// The verdict that most rounds came to; none when there are none, or two are as frequent.
pub fn most_frequent(rounds: &[Status]) -> Option<Status> {
    let count = |status: Status| rounds.iter().filter(|round| **round == status).count();
    let mut counted = [Status::Solved, Status::Unsure, Status::Unsolved].map(|status| (count(status), status));
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    (counted[0].0 > counted[1].0).then_some(counted[0].1)
}

/// Who wins by what is known; none when a model has to be asked.
pub fn known(reference: Side, candidate: Side, rules: Rules) -> Option<Winner> {
    use Status::{Solved, Unsure};
    match (reference, candidate) {
        (Side::Missing, Side::Missing) if rules == Rules::Ours => return Some(Winner::Tie),
        (Side::Missing, _) => return Some(Winner::Candidate),
        (_, Side::Missing) => return Some(Winner::Reference),
        _ => {}
    }
    for status in [Solved, Unsure] {
        match (reference == Side::Judged(status), candidate == Side::Judged(status)) {
            (true, true) => return None,
            // Who was not judged may be as good.
            (true, false) if candidate != Side::Unknown => return Some(Winner::Reference),
            (false, true) if reference != Side::Unknown => return Some(Winner::Candidate),
            (true, false) | (false, true) => return None,
            (false, false) => {}
        }
    }
    None
}

/// Who wins when both gave the same answer: nobody; by the official rule a coin, which is the parity of a number that is kept.
pub fn same_answer(rules: Rules, seed: u64) -> Winner {
    match rules {
        Rules::Ours => Winner::Tie,
        Rules::Official if seed & 1 == 0 => Winner::Reference,
        Rules::Official => Winner::Candidate,
    }
}

/// The question which of two is better; `reference_first` is what chance decided.
pub fn question(reference: &Subject, candidate: &Subject, reference_first: bool) -> Question {
    let (first, second) = if reference_first { (reference, candidate) } else { (candidate, reference) };
    let (process, other_process) = (first.process.join("\n"), second.process.join("\n"));
    let copied = [
        ("query", first.query.as_str()),
        ("answer", &first.answer),
        ("process", &process),
        ("other_answer", &second.answer),
        ("other_process", &other_process),
    ];
    Question { instructions: PROMPT.fill("instructions", &[]), text: PROMPT.fill("better", &copied), unread: None }
}

/// What a reply to that question means; none when it cannot be read.
pub fn read(reply: &str, reference_first: bool) -> Option<(Winner, Said)> {
    let said = reply::read(reply, &["first", "second"])?;
    let reference = (said.word == "first") == reference_first;
    Some((if reference { Winner::Reference } else { Winner::Candidate }, said))
}

/// Version of the words.
pub fn version() -> u32 {
    PROMPT.version
}

/// Shares of requests that the candidate wins, loses, and neither. More points win a request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// The candidate has more points.
    pub win: f64,
    /// It has fewer.
    pub lose: f64,
    /// Both have as many.
    pub tie: f64,
}

/// Of requests with the points of reference and candidate; nothing without any.
pub fn shares(points: &[(u32, u32)]) -> Option<Shares> {
    #[expect(clippy::cast_precision_loss, reason = "there are never so many requests that a float is coarse")]
    let share = |wanted: std::cmp::Ordering| {
        points.iter().filter(|(reference, candidate)| candidate.cmp(reference) == wanted).count() as f64
            / points.len() as f64
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    (!points.is_empty()).then(|| Shares { win: share(Greater), lose: share(Less), tie: share(Equal) })
}
