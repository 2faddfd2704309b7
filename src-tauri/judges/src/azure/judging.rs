//! **Pure.** Evaluates one row with one of the ten judges, or with `qa`, which asks five of them.
use super::conversation;
use super::judge::{Form, Judge, QA, Shape, judge_named};
use super::numbers::number;
use super::replay::{ReplyLog, Stop};
use super::texts::text_of;
use super::tools::SkipReason;
use super::{
    EvaluatorInfo, Failure, Inputs, Limit, Outcome, QaLimits, Quirks, inputs, reformat, replies,
    results, tools,
};
use crate::question::Question;
use touchstone_metrics::text::{Metric, Nltk, measure};
use touchstone_model::value::Value;

/// Evaluates single inputs, or each turn of a conversation and then combines the results.
pub(super) fn each_turn(
    takes: &EvaluatorInfo,
    given: &Inputs,
    quirks: &Quirks,
    mut one: impl FnMut(&Inputs) -> Result<Outcome, Stop>,
    together: impl FnOnce(Vec<Outcome>) -> Outcome,
) -> Result<Outcome, Stop> {
    match given.checked(takes.name, takes.needs, takes.may_have, quirks)? {
        None => one(given),
        Some(talk) => {
            let wanted: Vec<&str> = takes.needs.iter().chain(takes.may_have).copied().collect();
            let turns = conversation::turns(&wanted, talk, quirks)?;
            // Checked before anything is asked and paid for.
            for (at, turn) in turns.iter().enumerate().filter(|_| !quirks.has("turns_filled_up")) {
                if let Some(lost) = takes.needs.iter().find(|name| turn.there(name).is_none()) {
                    let message = format!("Turn {} of the conversation has no `{lost}`.", at + 1);
                    return Err(Failure { by_input: true, message }.into());
                }
            }
            let outcomes: Result<Vec<Outcome>, Stop> = turns.iter().map(one).collect();
            Ok(together(outcomes?))
        }
    }
}

/// Asks one of the ten judges. With `reasoning`, its questions are marked for a reasoning model.
pub(super) fn judged(
    takes: &EvaluatorInfo,
    (limit, reasoning): (&Limit, bool),
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    judged_by(takes, limit, given, heard, quirks).map_err(|stop| match stop {
        Stop::Ask(question) => Stop::Ask(Question { reasoning, ..question }),
        other => other,
    })
}

fn judged_by(
    takes: &EvaluatorInfo,
    limit: &Limit,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let judge = find_judge(takes.name)?;
    if judge.name == "tool_call_accuracy" {
        return match tools::tool_inputs(given, quirks) {
            Err(SkipReason::NotApplicable(why)) => {
                Ok(results::not_applicable(judge, limit, why, quirks))
            }
            Err(SkipReason::Fails(why)) => {
                Err(Failure { by_input: true, message: why.to_owned() }.into())
            }
            Ok((calls, definitions)) => {
                let hidden = quirks.has("hidden_tool_definitions");
                let tools = if hidden { "".into() } else { Value::List(definitions) };
                let query = given.get("query").cloned().unwrap_or_default();
                let shown = [
                    ("query", query),
                    ("tool_calls", Value::List(calls)),
                    ("tool_definitions", tools),
                ];
                let shown = Inputs(shown.map(|(name, value)| (name.to_owned(), value)).to_vec());
                ask_judge(judge, limit, &shown, heard, (false, quirks))
            }
        };
    }
    let one = |turn: &Inputs| ask_judge(judge, limit, turn, heard, (false, quirks));
    let key = format!("{}_result", judge.name);
    let held = [(judge.name, key.as_str(), limit)];
    each_turn(takes, given, quirks, one, |turns| conversation::combine_turns(turns, &held, quirks))
}

fn find_judge(name: &str) -> Result<&'static Judge, Failure> {
    let message = || format!("There is no judge named `{name}`.");
    judge_named(name).ok_or_else(|| Failure { by_input: false, message: message() })
}

/// Asks a judge about one set of inputs.
fn ask_judge(
    judge: &Judge,
    limit: &Limit,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    (inside_qa, quirks): (bool, &Quirks),
) -> Result<Outcome, Stop> {
    let again = match judge.form {
        Form::Object { .. } => crate::reply::AGAIN,
        Form::Tags => AGAIN_TAGS,
        Form::Digit => AGAIN_DIGIT,
    };
    let question = || question(judge, given, inside_qa, quirks);
    Ok(match heard.ask(question, again, quirks, |reply| replies::read(judge, reply, quirks))? {
        Ok(said) => results::reply_outcome(judge, limit, said, quirks),
        Err(unread) => results::unread_outcome(judge, limit, unread, quirks)?,
    })
}

const AGAIN_TAGS: &str = "This reply could not be read. Judge the same evidence again, and reply with nothing but the three pairs of \
                          tags that were described.";
const AGAIN_DIGIT: &str = "This reply could not be read. Judge the same evidence again, and reply with nothing but one digit from 1 to 5.";

fn question(judge: &Judge, given: &Inputs, inside_qa: bool, quirks: &Quirks) -> Question {
    let known = given.get("query").is_some_and(inputs::truthy);
    let prompt = judge.prompt(judge.asks_with_query(known, inside_qa, quirks));
    let shown = |(name, shape): &(&'static str, Shape)| {
        let value = given.get(name);
        let words = value.and_then(|value| match *shape {
            Shape::Plain => None,
            Shape::History { system } => reformat::conversation_history(value, system, quirks),
            Shape::Answer { tools } => reformat::agent_response(value, tools, quirks),
            Shape::Tools => reformat::tool_definitions(value, quirks),
        });
        (*name, words.unwrap_or_else(|| inputs::format_value(value, quirks)))
    };
    let shown: Vec<(&str, String)> = judge.shown.iter().map(shown).collect();
    let copied: Vec<(&str, &str)> =
        shown.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let (instructions, text) = (prompt.fill("instructions", &[]), prompt.fill("ask", &copied));
    Question { instructions, text, unread: None, reasoning: false }
}

/// Asks five judges in sequence and computes F1; for a conversation, per turn.
pub(super) fn qa(
    takes: &EvaluatorInfo,
    limits: &QaLimits,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    let nothing = Limit { written: String::new(), value: f64::NEG_INFINITY };
    let f1 = if quirks.has("qa_f1_always_passes") { &nothing } else { &limits.f1 };
    let held = [
        ("groundedness", "groundedness_result", &limits.groundedness),
        ("relevance", "relevance_result", &limits.relevance),
        ("coherence", "coherence_result", &limits.coherence),
        ("fluency", "fluency_result", &limits.fluency),
        ("similarity", "similarity_result", &limits.similarity),
        ("f1_score", "f1_result", f1),
    ];
    let one = |turn: &Inputs| qa_once(takes, limits, turn, heard, quirks);
    each_turn(takes, given, quirks, one, |turns| conversation::combine_turns(turns, &held, quirks))
}

fn qa_once(
    takes: &EvaluatorInfo,
    limits: &QaLimits,
    given: &Inputs,
    heard: &mut ReplyLog<'_>,
    quirks: &Quirks,
) -> Result<Outcome, Stop> {
    if let Some(lost) = takes.needs.iter().find(|name| given.there(name).is_none()) {
        let message = format!("A turn of the conversation has no `{lost}`.");
        return Err(Failure { by_input: true, message }.into());
    }
    let (response, truth) =
        (text_of(given, "response", quirks)?, text_of(given, "ground_truth", quirks)?);
    let mut out = Outcome::new();
    let QaLimits { groundedness, relevance, coherence, fluency, similarity, f1 } = limits;
    for (name, limit) in
        QA.into_iter().zip([groundedness, relevance, coherence, fluency, similarity])
    {
        out.extend(ask_judge(find_judge(name)?, limit, given, heard, (true, quirks))?);
    }
    let score = measure(Metric::F1, response, truth, Nltk::default()).score;
    out.push(("f1_score".to_owned(), number(score)));
    let always = quirks.has("qa_f1_always_passes");
    let word = if always { Some("pass") } else { conversation::result(score, f1) };
    out.push(("f1_result".to_owned(), word.unwrap_or("unknown").into()));
    out.push((
        "f1_threshold".to_owned(),
        if always { Value::Number("3".to_owned()) } else { f1.to_value() },
    ));
    Ok(out)
}
