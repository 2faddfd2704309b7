//! Tests of whole evaluations: prompts, parsing of replies, and the sequence of questions. The
//! tables show the package's behavior and Touchstone's side by side.
mod evaluations;
mod pandas;
mod replies;
mod retrieval;
mod switches;
mod tools;
mod turns;
mod words;

use super::{Evaluation, Evaluator, Failure, Inputs, Next, Outcome, Quirks};
use crate::question::Question;
use touchstone_model::json;
use touchstone_model::value::Value;

fn value(text: &str) -> Value {
    json::read(text).unwrap()
}

/// Returns the members of a JSON object as inputs.
fn parse_inputs(text: &str) -> Inputs {
    let named = |(name, value): &(Value, Value)| (name.text().unwrap().to_owned(), value.clone());
    Inputs(value(text).entries().iter().map(named).collect())
}

/// Returns an evaluator of that kind with options.
fn evaluator(kind: &str, options: &str) -> Evaluator {
    Evaluator::read(kind, &value(options)).unwrap()
}

/// Formats a result as JSON, and an error as its message with the cause before it.
fn format_result(came: &Result<Outcome, Failure>) -> String {
    match came {
        Ok(outcome) => {
            let entries =
                outcome.iter().map(|(key, value)| (key.as_str().into(), value.clone())).collect();
            json::write(&Value::Map(entries), false)
        }
        Err(failure) => {
            format!("{}: {}", if failure.by_input { "input" } else { "reply" }, failure.message)
        }
    }
}

/// Runs an evaluation and returns its questions and its formatted result. The last reply is
/// repeated as often as needed.
fn run_evaluation(
    evaluator: &Evaluator,
    inputs: &Inputs,
    replies: &[&str],
    quirks: &Quirks,
) -> (Vec<Question>, String) {
    let mut evaluation = Evaluation::new(evaluator, inputs, quirks);
    let mut asked = Vec::new();
    loop {
        match evaluation.next() {
            Next::Ask(question) => {
                let reply = replies.get(asked.len()).or(replies.last()).expect("nothing is asked");
                asked.push(question);
                evaluation.add_reply(reply);
            }
            Next::Run(_) => panic!("no judge runs a program"),
            Next::Embed(texts) => panic!("vectors of {texts:?} are wanted"),
            Next::Done(came) => return (asked, format_result(&came)),
        }
    }
}

/// Returns the fenced text of that name in a question.
fn block(question: &Question, name: &str) -> Option<String> {
    let (_, rest) = question.text.split_once(&format!("<{name}>\n"))?;
    let (inside, _) = rest.split_once(&format!("\n</{name}>"))?;
    Some(inside.lines().map(|line| line.trim_start_matches("| ")).collect::<Vec<_>>().join("\n"))
}
