//! **Pure.** Runs one row through the evaluators whose prompts are Touchstone's own: safety judges,
//! label graders and score graders.
use super::judging::each_turn;
use super::replay::{ReplyLog, Stop};
use super::{Evaluator, Failure, Inputs, Label, Outcome, Quirks, SafetyOptions, Score, safety};
use crate::question::Question;
use crate::reply::AGAIN;

/// Asks a question, and asks once more when the reply cannot be parsed. Fails when the last reply
/// cannot be parsed either.
fn ask_with_retry<T>(
    question: Question,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Stop> {
    let unread = |()| {
        let second = if quirks.has("asked_once") { "" } else { ", nor could the first" };
        let message = format!(
            "The reply of the judge could not be read{second}: it does not say what was asked."
        );
        Stop::Fail(Failure { by_input: false, message })
    };
    heard.ask(|| question, AGAIN, quirks, |reply| read(reply).ok_or(()))?.map_err(unread)
}

/// Runs a safety evaluator, which asks one or several safety judges in sequence. A conversation is
/// judged turn by turn.
pub(super) fn safe(
    evaluator: &Evaluator,
    options: &SafetyOptions,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let takes = &evaluator.takes;
    let one = |turn: &Inputs| {
        // The query is judged only when `evaluate_query` is set.
        let left = |name: &str| options.query || name != "query";
        let turn = Inputs(turn.0.iter().filter(|(name, _)| left(name)).cloned().collect());
        let mut out = Outcome::new();
        for matter in safety::categories_for(takes.name) {
            let finding =
                ask_with_retry(matter.question(&turn, quirks)?, heard, quirks, |reply| {
                    matter.read(reply)
                })?;
            out.extend(matter.outcome(&finding, &options.threshold));
        }
        Ok(out)
    };
    each_turn(takes, given, quirks, one, |turns| safety::over_turns(turns, quirks))
}

/// Runs a `label_model` grader.
pub(super) fn labelled(
    name: &str,
    label: &Label,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    Ok(ask_with_retry(label.question(given)?, heard, quirks, |reply| label.graded(reply))?
        .outcome(name))
}

/// Runs a `score_model` grader. With the quirk `unread_scores_are_zero`, a reply without a number
/// scores 0, like in the Azure service.
pub(super) fn scored(
    name: &str,
    score: &Score,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let zero = quirks.has("unread_scores_are_zero");
    Ok(ask_with_retry(score.question(given)?, heard, quirks, |reply| score.graded(reply, zero))?
        .outcome(name))
}
