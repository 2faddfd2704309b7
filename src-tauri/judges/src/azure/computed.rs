//! **Pure.** Evaluators without a judge model.
use super::conversation::combine_turns;
use super::judging::each_turn;
use super::replay::{ReplyLog, Stop};
use super::{Evaluator, Failure, Inputs, Kind, Outcome, Quirks};

/// Computes the result for a row.
pub(super) fn evaluate(
    evaluator: &Evaluator,
    inputs: &Inputs,
    heard: &ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let name = &evaluator.name;
    let result: Result<Outcome, Failure> = match &evaluator.kind {
        Kind::Text(text) => {
            let one = |turn: &Inputs| Ok(text.result(turn, quirks)?);
            return each_turn(&evaluator.takes, inputs, quirks, one, |turns| {
                combine_turns(turns, &text.score_thresholds(), quirks)
            });
        }
        Kind::Retrieval(retrieval) => retrieval.result(inputs, quirks),
        Kind::Check(check) => check.result(name, inputs),
        Kind::Likeness(likeness) => return likeness.evaluate(name, inputs, heard.vectors),
        Kind::Python(python) => match heard.ran {
            None => return Err(Stop::Run(python.job(inputs))),
            Some(came) => python.result(name, came),
        },
        _ => {
            let message = format!("`{}` asks a model.", evaluator.takes.name);
            Err(Failure { by_input: false, message })
        }
    };
    Ok(result?)
}
