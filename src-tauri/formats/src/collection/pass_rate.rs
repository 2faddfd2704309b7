//! **Pure.** Converts one verdict of a pass-rate file to a run. Its steps are text printed by
//! Python; its rounds become facts.
use super::Read;
use crate::benchmark::python;
use crate::stabletoolbench::answers::{converted, details};
use touchstone_model::node::Node;
use touchstone_model::run::{Layout, Run};
use touchstone_model::value::Value;

/// Note for readers of stored verdicts.
const STORED: &str = "Verdicts here are as stored in the file. Touchstone did not compute them.";

/// Parses an entry: `{query, tool_names, answer_steps, final_step, is_solved}`.
pub(super) fn of_entry(id: &str, entry: &Value) -> Read {
    let word = |key: &str| entry.get(key).and_then(Node::word).unwrap_or_default();
    let mut run = build_run(id, word("query"), word("answer_steps"));
    for (key, value) in entry.entries() {
        match key.text().unwrap_or_default() {
            "query" | "answer_steps" | "" => {}
            "is_solved" => rounds(&mut run, value),
            key => run.facts.push((key.to_owned(), value.clone())),
        }
    }
    Read { run, ..Read::default() }
}

/// Parses a row of a table of verdicts.
pub(super) fn of_row(id: &str, columns: &[String], cells: Vec<String>) -> Read {
    let mut given: Vec<(&str, String)> = columns.iter().map(String::as_str).zip(cells).collect();
    let mut take = |name: &str| {
        let cell = given.iter_mut().find(|(known, _)| *known == name);
        cell.map(|(_, cell)| std::mem::take(cell)).filter(|cell| !cell.is_empty())
    };
    let text = |cell: Option<String>| cell.unwrap_or_default();
    let mut run = build_run(id, &text(take("query")), &text(take("model_intermediate_steps")));
    let model = take("model");
    let (tools, last, solved) =
        (take("available_tools"), take("model_final_step"), take("is_solved"));
    for (key, cell) in [("tool_names", tools), ("final_step", last)] {
        if let Some(cell) = cell {
            run.facts.push((key.to_owned(), python::read(&cell).unwrap_or(Value::Text(cell))));
        }
    }
    if let Some(cell) = solved {
        rounds(&mut run, &python::read(&cell).unwrap_or(Value::Text(cell)));
    }
    let more = given.into_iter().filter(|(name, cell)| *name != "query_id" && !cell.is_empty());
    run.facts.extend(more.map(|(name, cell)| (name.to_owned(), Value::Text(cell))));
    Read { run, model, ..Read::default() }
}

/// Parses the steps from their text into a run.
fn build_run(id: &str, query: &str, steps: &str) -> Run {
    let pair = |key: &str, value: Value| (Value::from(key), value);
    let details = pieces(steps).into_iter().map(|step| {
        let message = Value::from(step);
        let node = |role| details::Node {
            role,
            message: &message,
            parent: None,
            next: 0,
            on_first_path: true,
            is_scripted: true,
        };
        let role = if node("tool").call().is_some() { "tool" } else { "assistant" };
        Value::Map(vec![pair("role", Value::from(role)), pair("message", Value::from(step))])
    });
    let answer = Value::Map(vec![pair("answer_details", Value::List(details.collect()))]);
    let entry = Value::Map(vec![pair("query", Value::from(query)), pair("answer", answer)]);
    let mut run = converted::run(id, &entry);
    run.layout = Layout::PassRate;
    run.notes.push(STORED.to_owned());
    run
}

/// Splits the text at `Step 1: …` and so on, each at the start of a line. A step number out of
/// sequence is part of the text.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let Some(mut rest) = text.strip_prefix("Step 1: ") else {
        return if text.trim().is_empty() { pieces } else { vec![text] };
    };
    loop {
        let mark = format!("\nStep {}: ", pieces.len() + 2);
        let Some((piece, after)) = rest.split_once(mark.as_str()) else {
            pieces.push(rest);
            return pieces;
        };
        pieces.push(piece);
        rest = after;
    }
}

/// Adds one fact for each round, in the order of the rounds.
fn rounds(run: &mut Run, solved: &Value) {
    let Value::Map(entries) = solved else {
        return run.facts.push(("is_solved".to_owned(), solved.clone()));
    };
    let number =
        |key: &Value| key.word().and_then(|word| word.parse::<u32>().ok()).unwrap_or(u32::MAX);
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| number(key));
    for (key, value) in entries {
        run.facts.push((format!("is_solved.{}", key.word().unwrap_or("?")), value.clone()));
    }
}
