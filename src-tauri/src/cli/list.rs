//! `list`: prints runs, one per line.
use super::sensitive::{SensitiveArgs, tell_left_out};
use super::{
    CommandError, CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::Args;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write as _};
use touchstone_api::{Column, RunRow, RunState, Sort};
use touchstone_app::app::leave_out_row_quotes;
use touchstone_app::number_format;
use touchstone_app::number_format::fixed;

/// Maximum number of characters of a reason; `show` prints all of it.
const LONGEST_REASON: usize = 80;

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    place: FolderArgs,
    /// Select runs with a filter, as in the window: `system:promptql state:error "free text"`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Use the filter and order of a view in `touchstone.yaml`; --filter narrows it, --sort replaces
    /// its order
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    view: Option<String>,
    /// Sort by path, task, system, model, variation, repeat, state, score, stored, turns,
    /// `tool_calls`, tokens, cost, seconds, size or modified; -KEY reverses the order [default: that of the
    /// view, else path]
    #[arg(long, value_name = "KEY", value_parser = sort, allow_hyphen_values = true)]
    sort: Option<Sort>,
    /// Print at most this many runs
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

fn sort(word: &str) -> Result<Sort, String> {
    let key = word.strip_prefix('-').unwrap_or(word);
    let column =
        Column::deserialize(Value::from(key)).map_err(|_| format!("there is no column {key}"))?;
    Ok(Sort { column, descending: word.starts_with('-') })
}

pub(super) fn run(asked: &List, here: &Environment) -> Outcome {
    let app = folder::ready(asked.place.clone(), here)?;
    folder::tell_unread(&app)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut columns = Columns::new(heads());
    let view = asked.view.as_deref().map(|name| app.view(name)).transpose()?;
    let of_view = view.as_ref().map(|view| view.filter.as_str()).unwrap_or_default();
    let filter = format!("{of_view} {}", asked.filter);
    let order = asked.sort.or_else(|| sort(view.as_ref()?.sort.as_deref()?).ok());
    let order = order.unwrap_or(Sort { column: Column::Path, descending: false });
    app.check_filter_of_folder(&filter)?;
    let mut left_out = 0;
    folder::each_run(&app, filter.trim(), order, asked.limit, |mut row| {
        // The reason of a score is only in the JSON.
        row.score_reason = row.score_reason.filter(|_| asked.json && row.reason.is_none());
        if !asked.sensitive.include_sensitive && leave_out_row_quotes(&mut row) {
            left_out += 1;
        }
        if asked.json {
            writeln!(out, "{}", object(&row))?;
        } else {
            columns.row(cells(&row));
        }
        Ok::<(), CommandError>(())
    })?;
    if !asked.json {
        let paint = Paint(here.colour);
        columns.write(&mut out, "", paint, &|n, text| {
            if n == 0 { coloured(paint, text) } else { text.to_owned() }
        })?;
    }
    out.flush()?;
    tell_left_out(left_out);
    Ok(CommandStatus::Well)
}

/// Converts a row to a JSON object; unknown values are null. The reason is that of the state, or
/// else that of the score.
fn object(row: &RunRow) -> Value {
    let reason = row.reason.as_ref().or(row.score_reason.as_ref());
    json!({
        "id": row.id, "path": row.path, "task": row.task, "system": row.system, "model": row.model, "variation": row.variation,
        "repeat": row.repeat, "lineage": row.lineage, "forked_from": row.forked_from,
        "follow_ups": row.follow_ups, "state": row.state, "score": row.score,
        "passed": row.passed, "reason": reason, "turns": row.turns,
        "tool_calls": row.tool_calls, "tokens": row.tokens, "cost": row.cost, "seconds": row.seconds,
        "stored": row.stored, "labels": row.labels,
    })
}

fn heads() -> Vec<Head> {
    let head = |title: &'static str, right| Head { title: title.into(), right };
    vec![
        head("state", false),
        head("score", true),
        head("passed", false),
        head("turns", true),
        head("calls", true),
        head("tokens", true),
        head("cost", true),
        head("seconds", true),
        head("file", false),
    ]
}

fn cells(row: &RunRow) -> Vec<String> {
    let reason = row.reason.as_deref().map(one_line).unwrap_or_default();
    let cut: String = reason.chars().take(LONGEST_REASON).collect();
    let reason = if cut.len() < reason.len() { cut + "…" } else { cut };
    let reason = match row.lineage {
        Some(lineage) if reason.is_empty() => lineage.label().to_owned(),
        Some(lineage) => format!("{}; {reason}", lineage.label()),
        None => reason,
    };
    let file = one_line(&row.path);
    vec![
        word(row.state).to_owned(),
        score(row.score),
        yes(row.passed),
        row.turns.to_string(),
        row.tool_calls.to_string(),
        row.tokens.map(|n| n.to_string()).unwrap_or_default(),
        row.cost.map(|dollars| format!("${}", fixed(dollars, 3))).unwrap_or_default(),
        row.seconds.map(|seconds| fixed(seconds, 1)).unwrap_or_default(),
        if reason.is_empty() { file.into_owned() } else { format!("{file}  ({reason})") },
    ]
}

/// Formats a score. Empty if there is none.
pub(super) fn score(score: Option<f64>) -> String {
    score.map(number_format::score).unwrap_or_default()
}

/// Formats a flag as yes or no. Empty if it is unknown.
fn yes(passed: Option<bool>) -> String {
    passed.map(|passed| if passed { "yes" } else { "no" }).unwrap_or_default().to_owned()
}

/// Label of a state, as in the window.
pub(super) fn word(state: RunState) -> &'static str {
    match state {
        RunState::Answered => "answered",
        RunState::NoAnswer => "no answer",
        RunState::Waiting => "paused",
        RunState::Error => "error",
        RunState::Writing => "writing",
        RunState::Damaged => "damaged",
        RunState::Other => "other",
    }
}

/// Colours the label of a state.
pub(super) fn coloured(paint: Paint, word: &str) -> String {
    match word {
        "answered" => paint.green(word),
        "error" | "damaged" => paint.red(word),
        "no answer" | "paused" => paint.yellow(word),
        _ => word.to_owned(),
    }
}
