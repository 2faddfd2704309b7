//! `stats`: prints the statistics of runs with confidence intervals, and compares each system with
//! a baseline.
use super::amounts::counted;
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::Args;
use std::io::{self, BufWriter, Write};
use touchstone_api::{
    FailureClass, Stats, StatsAmount, StatsEnds, StatsGroup, StatsRequest, StatsTries,
};
use touchstone_app::App;
use touchstone_app::error::AppError;
use touchstone_app::number_format::fixed;
use touchstone_app::runs::RunActions;

/// Placeholder for an unknown value.
const NONE: &str = "–";

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(super) struct StatsOf {
    #[command(flatten)]
    place: FolderArgs,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long)]
    scorer: Option<String>,
    /// Compare the others with this system and model [default: the first]
    #[arg(long, value_name = "SYSTEM/MODEL")]
    baseline: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &StatsOf, here: &Environment) -> Outcome {
    RunActions::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.filter)?;
    let left_out =
        folder::suite_trouble(&app, &asked.filter)?.left_out.filter(|_| asked.scorer.is_none());
    let (filter, scorer, baseline) =
        (asked.filter.clone(), asked.scorer.clone(), asked.baseline.clone());
    let stats = app.stats().systems(&StatsRequest { filter, scorer, baseline })?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        serde_json::to_writer(&mut out, &stats).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write(&mut out, &stats, Paint(here.colour))?;
    }
    out.flush()?;
    let is_left_out = stats.left_out_runs.evaluations_left_out > 0;
    if stats.ends.scored == 0 && asked.scorer.is_none() && !is_left_out {
        offer_evaluators(&app)?;
    }
    folder::check_scorers(left_out)?;
    Ok(CommandStatus::Well)
}

/// Says how to count by an evaluator, where the files have verdicts and no scores.
fn offer_evaluators(app: &App) -> Result<(), AppError> {
    if let Some(first) = app.stats().evaluators()?.first() {
        eprintln!(
            "The files have verdicts of evaluators. To count by one of them, add --scorer {}.",
            format_args!("'{}'", one_line(first).replace('\'', r"'\''"))
        );
    }
    Ok(())
}

fn write(out: &mut dyn Write, stats: &Stats, paint: Paint) -> io::Result<()> {
    writeln!(out, "{}", scope(stats))?;
    for note in stats.left_out_runs.notes() {
        writeln!(out, "{note}")?;
    }
    if stats.groups.is_empty() {
        return Ok(());
    }
    if !stats.headline.is_empty() {
        writeln!(out, "\n{}", paint.bold(&one_line(&stats.headline.join(" "))))?;
    }
    writeln!(out)?;
    table(stats).write(out, "", paint, &|_, text| text.to_owned())?;
    let several = stats.comparisons.len() > 1;
    for comparison in &stats.comparisons {
        let title =
            format!("{} against {}", one_line(&comparison.group), one_line(&comparison.baseline));
        writeln!(out, "\n{}", paint.bold(&title))?;
        for sentence in &comparison.sentences {
            writeln!(out, "  {}", one_line(sentence))?;
        }
    }
    if several {
        writeln!(out, "\nOf many comparisons, one in twenty shows a difference by chance alone.")?;
    }
    flaky(out, stats, paint)?;
    classes(out, stats, paint)
}

/// Describes the runs, such as `12 runs of 4 tasks: 10 with a score, 2 in error. Scores by
/// fields.`
fn scope(stats: &Stats) -> String {
    let all = format!("{} of {}", counted(stats.ends.runs, "run"), counted(stats.tasks, "task"));
    let ends = if stats.ends.runs > 0 {
        format!(": {}", ends(stats.ends).join(", "))
    } else {
        String::new()
    };
    let scorers = match stats.scorers.as_slice() {
        [] => String::new(),
        scorers => format!(" Scores by {}.", one_line(&scorers.join(", "))),
    };
    format!("{all}{ends}.{scorers}")
}

fn ends(ends: StatsEnds) -> Vec<String> {
    let named = [
        (ends.errors, "in error"),
        (ends.waiting, "paused"),
        (ends.running, "being made"),
        (ends.damaged, "damaged"),
        (ends.unscored, "without a score"),
    ];
    let others = named.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    [format!("{} with a score", ends.scored)].into_iter().chain(others).collect()
}

fn table(stats: &Stats) -> Columns {
    let head = |title: String, right| Head { title: title.into(), right };
    // Smallest number of repeats that most rows have, over all groups with repeats.
    let tries = stats.groups.iter().filter_map(|group| group.told_tries).min();
    let mut heads = vec![head("system".into(), false), head("model".into(), false)];
    heads.extend(
        ["n", "score", "95 %", "passed", "rate", "95 %"].map(|title| head(title.into(), true)),
    );
    if let Some(k) = tries {
        heads.extend(
            [format!("pass@{k}"), format!("pass^{k}"), "flaky".into()]
                .map(|title| head(title, true)),
        );
    }
    heads.extend(
        ["error", "other", "tokens", "cost", "seconds"].map(|title| head(title.into(), true)),
    );
    let mut columns = Columns::new(heads);
    for group in &stats.groups {
        columns.row(cells(group, tries));
    }
    columns
}

fn cells(group: &StatsGroup, tries: Option<u64>) -> Vec<String> {
    let name = |name: &Option<String>| {
        name.as_deref().map_or(NONE.to_owned(), |name| one_line(name).into_owned())
    };
    let mut cells = vec![name(&group.system), name(&group.model), group.ends.scored.to_string()];
    let score = group.score;
    cells.push(score.map_or(NONE.to_owned(), |it| fixed(it.value, 3)));
    cells.push(match score.and_then(|it| it.low.zip(it.high)) {
        Some((low, high)) => format!("{} to {}", fixed(low, 3), fixed(high, 3)),
        None => NONE.to_owned(),
    });
    let percent = |share: f64| format!("{} %", fixed(share * 100.0, 0));
    cells.extend(match group.passes {
        Some(it) => [
            format!("{}/{}", it.passed, it.of),
            percent(it.rate),
            format!("{} to {}", fixed(it.low * 100.0, 0), percent(it.high)),
        ],
        None => [NONE; 3].map(str::to_owned),
    });
    if let Some(k) = tries {
        let at = group.tries.iter().find(|at| at.k == k);
        cells.push(at.map_or(NONE.to_owned(), |at| chance(at, at.pass_at_k)));
        cells.push(at.map_or(NONE.to_owned(), |at| chance(at, at.pass_all_k)));
        cells.push(group.flaky.to_string());
    }
    cells.push(group.ends.errors.to_string());
    cells.push((group.ends.runs - group.ends.scored - group.ends.errors).to_string());
    cells.push(mean(&group.tokens, |it| fixed(it, 0)));
    cells.push(mean(&group.cost, |it| format!("${}", fixed(it, 4))));
    cells.push(mean(&group.seconds, |it| fixed(it, 1)));
    cells
}

/// Formats a probability, with the number of rows it covers if some rows have fewer repeats.
fn chance(at: &StatsTries, value: f64) -> String {
    match at.left_out {
        0 => fixed(value, 3),
        left_out => {
            format!("{} (over {} of {} rows)", fixed(value, 3), at.rows, at.rows + left_out)
        }
    }
}

/// Formats a mean, with the number of runs it covers if some have no value.
fn mean(amount: &StatsAmount, write: impl Fn(f64) -> String) -> String {
    match amount.mean {
        None => NONE.to_owned(),
        Some(mean) if amount.unknown == 0 => write(mean),
        Some(mean) => {
            format!("{} ({} of {})", write(mean), amount.known, amount.known + amount.unknown)
        }
    }
}

fn flaky(out: &mut dyn Write, stats: &Stats, paint: Paint) -> io::Result<()> {
    let mut first = true;
    for row in &stats.rows {
        for (cell, group) in row.cells.iter().zip(&stats.groups) {
            let Some(cell) = cell.as_ref().filter(|cell| cell.flaky) else { continue };
            if std::mem::take(&mut first) {
                writeln!(out, "\n{}", paint.bold("Repeats that disagree"))?;
            }
            let task = row.key.task.as_deref().unwrap_or("without a task");
            let variation = row
                .key
                .variation
                .map(|n| format!(" #{n}"))
                .or_else(|| row.key.variation_name.as_ref().map(|name| format!(" {name}")));
            let how = if cell.decided > 0 {
                format!("{} of {} passed", cell.passed, cell.decided)
            } else {
                format!("{} with different scores", counted(cell.scored, "run"))
            };
            let row = format!("{task}{}: {}: {how}", variation.unwrap_or_default(), group.name);
            writeln!(out, "  {}", one_line(&row))?;
        }
    }
    Ok(())
}

fn classes(out: &mut dyn Write, stats: &Stats, paint: Paint) -> io::Result<()> {
    let mut first = true;
    for group in stats.groups.iter().filter(|group| !group.classes.is_empty()) {
        if std::mem::take(&mut first) {
            writeln!(out, "\n{}", paint.bold("What went wrong"))?;
        }
        let named: Vec<String> = group
            .classes
            .iter()
            .map(|class| format!("{} {}", class.runs, word(class.class)))
            .collect();
        writeln!(out, "  {}: {}", one_line(&group.name), named.join(", "))?;
    }
    Ok(())
}

fn word(class: FailureClass) -> &'static str {
    match class {
        FailureClass::WrongAnswer => "wrong answer",
        FailureClass::NoAnswer => "no answer",
        FailureClass::MissingToolCall => "missing tool call",
        FailureClass::ToolError => "tool error",
        FailureClass::GaveUp => "gave up",
        FailureClass::SystemError => "system error",
        FailureClass::Timeout => "timeout",
    }
}
