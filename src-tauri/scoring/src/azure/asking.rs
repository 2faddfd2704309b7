//! **Pure.** One row before the evaluators that ask a model in our own words alone: safety, labels
//! and scores.
use super::judging::each_turn;
use super::sitting::{Heard, Stop};
use super::{Evaluator, Failure, Inputs, Label, Outcome, Quirks, SafetyOptions, Score, safety};
use crate::judges::Question;
use crate::judges::reply::AGAIN;

/// Asks, and once more when the reply cannot be read.
fn asked<T>(
    question: Question,
    heard: &mut Heard<'_>,
    quirks: &Quirks,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Stop> {
    let unread = |()| {
        let second = if quirks.has("asked_once") { "" } else { ", and neither could the first" };
        let message = format!(
            "The reply of the judge could not be read{second}: it does not say what was asked."
        );
        Stop::Fail(Failure { by_input: false, message })
    };
    heard.ask(|| question, AGAIN, quirks, |reply| read(reply).ok_or(()))?.map_err(unread)
}

/// A safety judge, or several of them one after the other.
pub(super) fn safe(
    evaluator: &Evaluator,
    options: &SafetyOptions,
    given: &Inputs,
    heard: &mut Heard<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let takes = &evaluator.takes;
    let one = |turn: &Inputs| {
        // The question is judged only where that was asked for.
        let left = |name: &str| options.query || name != "query";
        let turn = Inputs(turn.0.iter().filter(|(name, _)| left(name)).cloned().collect());
        let mut out = Outcome::new();
        for matter in safety::asked_by(takes.name) {
            let finding =
                asked(matter.question(&turn, quirks)?, heard, quirks, |reply| matter.read(reply))?;
            out.extend(matter.outcome(&finding, &options.threshold));
        }
        Ok(out)
    };
    each_turn(takes, given, quirks, one, |turns| safety::over_turns(turns, quirks))
}

/// A model gives a label.
pub(super) fn labelled(
    name: &str,
    label: &Label,
    given: &Inputs,
    heard: &mut Heard<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    Ok(asked(label.question(given)?, heard, quirks, |reply| label.graded(reply))?.outcome(name))
}

/// A model gives a score. The service takes what is no number for 0.
pub(super) fn scored(
    name: &str,
    score: &Score,
    given: &Inputs,
    heard: &mut Heard<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let zero = quirks.has("unread_scores_are_zero");
    Ok(asked(score.question(given)?, heard, quirks, |reply| score.graded(reply, zero))?
        .outcome(name))
}
