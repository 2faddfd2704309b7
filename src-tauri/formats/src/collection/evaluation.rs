//! **Pure.** Converts one evaluation of a result file to a run: the steps, and the stored results
//! as facts.
use super::Read;
use crate::stabletoolbench::answers::converted;
use crate::transcript::build::part;
use crate::transcript::sink::Role;
use touchstone_model::node::Node;
use touchstone_model::run::{Layout, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Note for readers of stored scores.
const STORED: &str =
    "Scores and verdicts here are as stored in the file. Touchstone did not compute them.";
/// Length and note of answers that agents end with `...` although nothing is missing.
const DOTTED: (usize, &str) = (
    200,
    "The program that wrote this file puts `...` after answers of more than 200 characters; nothing was cut off.",
);

/// Parses an entry of `results`, of either form.
pub(super) fn read(entry: &Value, metadata: &Value) -> Read {
    let system = entry.get("system_answer").unwrap_or(&Value::Null);
    let mut run = build_run(entry, system);
    run.layout = Layout::ResultFile;
    run.notes.push(STORED.to_owned());
    for (key, value) in entry.entries() {
        match key.text().unwrap_or_default() {
            "query_text" | "query" | "" => {}
            "system_answer" => {
                parts(&mut run, "system_answer", value, &["final_answer", "answer_details"]);
            }
            key @ ("gold_answer" | "scores" | "evaluation" | "timing") => {
                parts(&mut run, key, value, &[]);
            }
            key => run.facts.push((key.to_owned(), value.clone())),
        }
    }
    let dotted = system
        .get("final_answer")
        .and_then(Value::text)
        .is_some_and(|answer| answer.ends_with("...") && answer.chars().count() > DOTTED.0);
    if dotted && metadata.get("agent_name").is_some() {
        run.notes.push(DOTTED.1.to_owned());
    }
    if status(entry) == Some("Error") {
        fail(&mut run, entry);
    }
    Read { run, ..Read::default() }
}

fn build_run(entry: &Value, system: &Value) -> Run {
    let pair = |key: &str, value: Option<&Value>| Some((Value::from(key), value?.clone()));
    let answer =
        ["answer_details", "final_answer"].into_iter().filter_map(|key| pair(key, system.get(key)));
    let answer = Value::Map(answer.collect());
    let query = entry.get("query_text").or_else(|| entry.get("query"));
    let inner = [pair("query", query), pair("answer", Some(&answer))];
    converted::run("", &Value::Map(inner.into_iter().flatten().collect()))
}

/// Adds the entries under a key as separate facts.
fn parts(run: &mut Run, name: &str, value: &Value, except: &[&str]) {
    if !matches!(value, Value::Map(_)) {
        return run.facts.push((name.to_owned(), value.clone()));
    }
    for (key, value) in value.entries() {
        if let Some(key) = key.word().filter(|key| !except.contains(key)) {
            run.facts.push((format!("{name}.{key}"), value.clone()));
        }
    }
}

fn status(entry: &Value) -> Option<&str> {
    let of = |key: &str| entry.get(key)?.get("answer_status")?.text();
    of("evaluation").or_else(|| of("scores"))
}

/// Adds an error step: nothing was evaluated, which is a system error and not a wrong answer.
fn fail(run: &mut Run, entry: &Value) {
    let said = entry.get("error").and_then(Node::word).filter(|said| !said.trim().is_empty());
    let said = said.unwrap_or("This query ended in an error; the file does not say which.");
    let turn = run.steps.last().map_or(1, |step| step.turn);
    let parts = vec![part("error", Role::Other, Value::from(said))];
    run.steps.push(Step { turn, kind: StepKind::Error, parts, ..Step::default() });
}
