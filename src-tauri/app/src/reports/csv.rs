//! **Pure.** Formats runs as CSV for spreadsheets, one line each.
use super::page::{Page, RunLine};
use super::words;
use crate::escape::one_line;
use crate::number_format::exact;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use touchstone_api::StoredResult;

const HEAD: [&str; 23] = [
    "path",
    "task",
    "variation",
    "repeat",
    "system",
    "model",
    "state",
    "scoring",
    "scorer",
    "score",
    "passed",
    "reason",
    "class",
    "verdict",
    "review_score",
    "turns",
    "tool_calls",
    "tokens",
    "cost",
    "seconds",
    "review_note",
    "lineage",
    "forked_from",
];

/// Maximum number of evaluators with columns; the other formats have all of them.
const MOST_STORED: usize = 100;

/// Writes one line per run, following RFC 4180. Unknown values are empty fields. Stored verdicts
/// come after the fixed columns, for each evaluator its value and its result, and then the labels.
pub(super) fn write(page: &Page) -> String {
    let evaluators: Vec<&str> = evaluators(page).into_iter().take(MOST_STORED).collect();
    let mut out = String::with_capacity(page.runs.len() * 160);
    let stored = evaluators
        .iter()
        .flat_map(|name| ["", ".result"].map(|end| visible_text(&format!("stored.{name}{end}"))));
    let labels = labels(page);
    let labelled = labels.iter().map(|name| visible_text(&format!("label.{name}")));
    line(&mut out, HEAD.iter().map(|name| (*name).to_owned()).chain(stored).chain(labelled));
    for run in &page.runs {
        let stored = evaluators.iter().flat_map(|name| {
            let all = || run.stored.iter().filter(|said| said.evaluator == *name);
            // A verdict and an error of the same evaluator may both be stored.
            let said =
                all().find(|said| said.result == StoredResult::Error).or_else(|| all().next());
            let value = all().find_map(|said| said.score.as_ref().or(said.word.as_ref()));
            [
                value.map_or_else(String::new, |value| visible_text(value)),
                said.map_or_else(String::new, |said| said.result.word().to_owned()),
            ]
        });
        let labelled = labels.iter().map(|name| label(run, name));
        line(&mut out, fields(run).into_iter().chain(stored).chain(labelled));
    }
    out
}

/// Returns the labels that occur, by name.
fn labels(page: &Page) -> BTreeSet<&str> {
    page.runs.iter().flat_map(|run| &run.labels).map(|label| label.name.as_str()).collect()
}

/// Returns the values of a label of a run, or `yes` for one without values; empty if it has it not.
fn label(run: &RunLine, name: &str) -> String {
    let values = run.labels.iter().filter(|label| label.name == name);
    let values = values.map(|label| label.value.as_deref().unwrap_or("yes"));
    visible_text(&values.collect::<Vec<_>>().join("; "))
}

/// Returns a sentence with the number of evaluators without columns; `None` if all have columns.
pub(super) fn left_out(page: &Page) -> Option<String> {
    let all = evaluators(page).len();
    let are = if all == MOST_STORED + 1 { "is" } else { "are" };
    (all > MOST_STORED).then(|| {
        format!(
            "CSV has columns for {MOST_STORED} evaluators whose verdicts are stored, the first by name. {} more {are} left out; JSON and JSONL have them all.",
            all - MOST_STORED
        )
    })
}

fn evaluators(page: &Page) -> BTreeSet<&str> {
    page.runs.iter().flat_map(|run| &run.stored).map(|said| said.evaluator.as_str()).collect()
}

fn fields(run: &RunLine) -> [String; 23] {
    let text = |text: Option<&str>| text.map_or_else(String::new, visible_text);
    let word = |value: Option<Value>| {
        value.as_ref().and_then(Value::as_str).map_or_else(String::new, str::to_owned)
    };
    let number = |number: Option<f64>| number.map_or_else(String::new, exact);
    [
        visible_text(&run.path),
        text(run.task.as_deref()),
        text(run.variation.as_deref()),
        run.repeat.to_string(),
        text(run.system.as_deref()),
        text(run.model.as_deref()),
        word(serde_json::to_value(run.state).ok()),
        word(run.scoring.and_then(|scoring| serde_json::to_value(scoring).ok())),
        text(run.scorer.as_deref()),
        number(run.score),
        run.passed.map_or_else(String::new, |passed| passed.to_string()),
        text(run.reason.as_deref()),
        run.class.map_or_else(String::new, |class| words::class(class).replace(' ', "_")),
        word(run.verdict.and_then(|verdict| serde_json::to_value(verdict).ok())),
        number(run.review_score),
        run.turns.to_string(),
        run.tool_calls.to_string(),
        run.tokens.map_or_else(String::new, |tokens| tokens.to_string()),
        number(run.cost),
        number(run.seconds.map(whole_milliseconds)),
        text(run.review_note.as_deref()),
        run.lineage.map_or_else(String::new, |lineage| lineage.word().to_owned()),
        text(run.forked_from.as_deref()),
    ]
}

/// Rounds a time in seconds to milliseconds, as far as clocks measure it.
fn whole_milliseconds(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}

/// Puts a text on one line and escapes invisible characters.
fn visible_text(text: &str) -> String {
    one_line(text).into_owned()
}

/// Writes a line. Unknown values are empty fields without quotes.
fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    crate::csv::line(out, fields.map(|field| (!field.is_empty()).then_some(Cow::Owned(field))));
}
