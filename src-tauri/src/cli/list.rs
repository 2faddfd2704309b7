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
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write as _};
use touchstone_api::{Column, RunRow, RunState, Sort};
use touchstone_app::number_format::fixed;
use touchstone_app::{App, number_format};

/// Number of runs whose columns are read at once.
const PAGE: usize = 500;
/// What stands for a value that a run does not have.
const NONE: &str = "–";
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
    /// `tool_calls`, tokens, cost, seconds, size or modified, or by a column of your own as in --columns;
    /// -KEY reverses the order [default: that of the view, else path]
    #[arg(long, value_name = "KEY", value_parser = sort, allow_hyphen_values = true)]
    sort: Option<Sort>,
    /// Print at most this many runs
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Print these columns, separated by commas: those of --sort, passed, labels and prompt, or your own:
    /// answer.items[0].id, fact:KEY, label:NAME, score:SCORER, verdict:EVALUATOR
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    columns: Vec<String>,
    /// Print one JSON object per line; --columns adds the values of your own columns
    #[arg(long)]
    json: bool,
}

fn sort(word: &str) -> Result<Sort, String> {
    let key = word.strip_prefix('-').unwrap_or(word);
    let column = Column::deserialize(Value::from(key)).map_err(|_| {
        format!(
            "there is no column {key}; your own are answer.items[0].id, fact:KEY, label:NAME, \
                 score:SCORER and verdict:EVALUATOR"
        )
    })?;
    Ok(Sort { column, descending: word.starts_with('-') })
}

pub(super) fn run(asked: &List, here: &Environment) -> Outcome {
    let app = folder::ready(asked.place.clone(), here)?;
    folder::tell_unread(&app)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut columns = Columns::new(heads());
    let view = asked.view.as_deref().map(|name| app.runs().view(name)).transpose()?;
    let of_view = view.as_ref().map(|view| view.filter.as_str()).unwrap_or_default();
    let filter = format!("{of_view} {}", asked.filter);
    let order = asked.sort.clone().or_else(|| sort(view.as_ref()?.sort.as_deref()?).ok());
    let order = order.unwrap_or(Sort { column: Column::Path, descending: false });
    app.runs().check_filter_of_folder(&filter)?;
    let names: Vec<String> = asked.columns.iter().map(|column| column.trim().to_owned()).collect();
    let chosen = Chosen::new(&app, &names)?;
    if let Some(heads) = chosen.heads() {
        columns = Columns::new(heads);
    }
    let care = app.sensitive().quote_care()?;
    let prints_prompt = asked.json || names.iter().any(|column| column == "prompt");
    let mut left_out = 0;
    let mut page = Vec::new();
    let mut write = |page: &mut Vec<RunRow>| {
        let values = chosen.values(&app, page)?;
        for (row, mut own) in page.iter_mut().zip(values) {
            // The reason of a score is only in the JSON.
            row.score_reason =
                row.score_reason.take().filter(|_| asked.json && row.reason.is_none());
            row.prompt = row.prompt.take().filter(|_| prints_prompt);
            if !asked.sensitive.include_sensitive {
                let is_left_out = care.leave_out_row(row) | care.leave_out_own(row, &mut own);
                left_out += u64::from(is_left_out);
            }
            if asked.json {
                let mut object = object(row);
                if !own.is_empty() {
                    object["columns"] = json!(own);
                }
                writeln!(out, "{object}")?;
            } else if asked.columns.is_empty() {
                columns.row(cells(row));
            } else {
                columns.row(chosen.cells(row, &own));
            }
        }
        page.clear();
        Ok::<(), CommandError>(())
    };
    folder::each_run(&app, filter.trim(), &order, asked.limit, |row| {
        page.push(row);
        if page.len() == PAGE { write(&mut page) } else { Ok(()) }
    })?;
    write(&mut page)?;
    if !asked.json {
        let paint = Paint(here.colour);
        let state = names.iter().position(|column| column == "state");
        let state = if asked.columns.is_empty() { Some(0) } else { state };
        columns.write(&mut out, "", paint, &|n, text| {
            if Some(n) == state { coloured(paint, text) } else { text.to_owned() }
        })?;
    }
    out.flush()?;
    tell_left_out(left_out);
    Ok(CommandStatus::Well)
}

/// Columns that were asked for.
struct Chosen<'a> {
    all: &'a [String],
    /// Those that are no columns of every list.
    own: Vec<String>,
}

impl<'a> Chosen<'a> {
    /// Fails for a column that does not exist.
    fn new(app: &App, all: &'a [String]) -> Result<Self, CommandError> {
        let own: Vec<String> = all.iter().filter(|column| !is_usual(column)).cloned().collect();
        app.runs().own_columns(&own, &[])?;
        Ok(Self { all, own })
    }

    fn heads(&self) -> Option<Vec<Head>> {
        let head = |column: &String| Head {
            title: one_line(column).into_owned().into(),
            right: is_usual(column) && is_number(column),
        };
        (!self.all.is_empty()).then(|| self.all.iter().map(head).collect())
    }

    /// Returns the values of one's own columns for each row.
    fn values(
        &self,
        app: &App,
        rows: &[RunRow],
    ) -> Result<Vec<BTreeMap<String, Option<String>>>, CommandError> {
        if self.own.is_empty() {
            return Ok(vec![BTreeMap::new(); rows.len()]);
        }
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let values = app.runs().own_columns(&self.own, &ids)?.values.into_iter();
        Ok(values.map(|values| self.own.iter().cloned().zip(values).collect()).collect())
    }

    fn cells(&self, row: &RunRow, own: &BTreeMap<String, Option<String>>) -> Vec<String> {
        let cell = |column: &String| {
            let value = own.get(column).cloned().unwrap_or_else(|| usual(row, column));
            value.map_or_else(|| NONE.to_owned(), |value| one_line(&value).into_owned())
        };
        self.all.iter().map(cell).collect()
    }
}

fn is_number(column: &str) -> bool {
    !matches!(
        column,
        "state"
            | "task"
            | "system"
            | "model"
            | "variation"
            | "passed"
            | "labels"
            | "prompt"
            | "path"
    )
}

fn is_usual(column: &str) -> bool {
    matches!(column, "passed" | "labels" | "prompt")
        || sort(column).is_ok_and(|sort| !sort.descending && !matches!(sort.column, Column::Own(_)))
}

/// Returns the value of a column of every list.
fn usual(row: &RunRow, column: &str) -> Option<String> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    match column {
        "state" => Some(word(row.state).to_owned()),
        "task" => row.task.clone(),
        "system" => row.system.clone(),
        "model" => row.model.clone(),
        "variation" => row.variation_text(),
        "prompt" => row.prompt.clone(),
        "repeat" => Some(row.repeat.to_string()),
        "score" => row.score_text(number_format::score),
        "passed" => row.passed.map(|passed| if passed { "yes" } else { "no" }.to_owned()),
        "stored" => row.stored.map(|stored| format!("{}/{}", stored.passed, stored.decided)),
        "turns" => Some(row.turns.to_string()),
        "tool_calls" => Some(row.tool_calls.to_string()),
        "tokens" => number(row.tokens),
        "cost" => row.cost.map(|dollars| format!("${}", fixed(dollars, 3))),
        "seconds" => row.seconds.map(|seconds| fixed(seconds, 1)),
        "size" => Some(row.size.to_string()),
        "modified" => Some(touchstone_app::format_utc_seconds(row.modified_ms)),
        "labels" => {
            let label = |label: &touchstone_api::RunLabel| match &label.value {
                Some(value) => format!("{}: {value}", label.name),
                None => label.name.clone(),
            };
            let labels: Vec<String> = row.labels.iter().map(label).collect();
            (!labels.is_empty()).then(|| labels.join(", "))
        }
        _ => Some(row.path.clone()),
    }
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
        "stored": row.stored, "labels": row.labels, "prompt": row.prompt,
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
        row.score_text(number_format::score).unwrap_or_default(),
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
