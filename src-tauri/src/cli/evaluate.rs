//! `evaluate`: runs evaluators over a data file, row by row. On Ctrl-C, requests in flight are
//! completed and kept; a second Ctrl-C aborts them. Started again with the same results file, it
//! pays only for the missing results.
mod output;

use super::terminal::{Paint, one_line};
use super::watch::Interrupts;
use super::{CommandStatus, Outcome, folder};
use crate::Environment;
use clap::{Args, ValueEnum};
use output::{list, numbers, plan, summary};
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;
use touchstone_api::{
    EvaluateAgain, EvaluateMetric, EvaluateRequest, EvaluationView, EvaluatorRequest, LaunchState,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::evaluating::{EvaluationActions, FileRequest, typed_evaluators};
use touchstone_app::number_format::fixed;

/// Interval at which signals and the progress are polled.
const GLANCE: Duration = Duration::from_millis(100);

/// Arguments of `evaluate`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
#[command(after_help = "Write a mapping as INPUT='${data.COLUMN}': query='${data.question}'.")]
pub(super) struct Evaluate {
    /// File with the rows: JSON Lines, a JSON list, or CSV
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    data: Option<PathBuf>,
    /// Evaluators to apply, separated by commas: `f1_score,relevance`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    evaluators: Vec<String>,
    /// YAML or JSON file with evaluators and their options: name, then `kind`, `threshold`,
    /// `options`, `column_mapping`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Read an input from this column; `relevance.query=…` for one evaluator only
    #[arg(long, value_name = "INPUT=COLUMN")]
    column_mapping: Vec<String>,
    /// Run this command for each row; it reads the row as JSON from standard input and prints a
    /// JSON object
    #[arg(long, value_name = "COMMAND")]
    target: Option<String>,
    /// Model in touchstone.yaml that judges
    #[arg(long, value_name = "MODEL")]
    judge_model: Option<String>,
    /// Folder whose touchstone.yaml lists the models [default: the current folder]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Ask the judge this many times about each row
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Stop asking after this many dollars
    #[arg(long, value_name = "X")]
    max_cost: Option<f64>,
    /// Reproduce bugs of the package: `all`, or switches separated by commas (see --list)
    #[arg(long, value_name = "SWITCHES", value_delimiter = ',')]
    like_package: Vec<String>,
    /// File to write the results to
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing results file; a copy stays in `.touchstone/replaced/`
    #[arg(long)]
    replace: bool,
    /// Ask again about rows that were already paid for: `unread` for unreadable replies, or
    /// everything, including the target
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    again: Option<Again>,
    /// Exit with 1 when a metric is below this value: `relevance.relevance=3.5`, or when fewer rows
    /// of an evaluator pass: `80%`
    #[arg(long, value_name = "X", value_parser = least)]
    fail_under: Vec<Threshold>,
    /// Only show the plan and its estimated cost
    #[arg(long)]
    plan: bool,
    /// List evaluators and their deliberate differences from the package
    #[arg(long, conflicts_with_all = ["data", "plan"])]
    list: bool,
    /// Print the results, the plan or the list as one JSON document
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    /// Returns true if a judge is asked a second time after an unreadable reply, which the package
    /// never does.
    fn asks_again(&self) -> bool {
        !self.like_package.iter().any(|switch| matches!(switch.trim(), "all" | "asked_once"))
    }
}

/// Questions that are asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Again {
    All,
    Unread,
}

/// Threshold of `--fail-under`.
#[derive(Debug, Clone, PartialEq)]
enum Threshold {
    /// Minimum of a metric, by its name.
    Metric(String, f64),
    /// Minimum share of passing rows, for every evaluator.
    Passed(f64),
}

fn least(word: &str) -> Result<Threshold, String> {
    let wrong = || {
        "write a metric and a number such as relevance.relevance=3.5, or a share such as 80%"
            .to_owned()
    };
    if let Some((name, number)) = word.rsplit_once('=') {
        return Ok(Threshold::Metric(name.to_owned(), number.trim().parse().map_err(|_| wrong())?));
    }
    let share: f64 =
        word.strip_suffix('%').and_then(|share| share.trim().parse().ok()).ok_or_else(wrong)?;
    if !(0.0..=100.0).contains(&share) {
        return Err("shares are from 0% to 100%".to_owned());
    }
    Ok(Threshold::Passed(share / 100.0))
}

pub(super) fn run(asked: &Evaluate, here: &Environment) -> Outcome {
    if asked.list {
        return list(asked.json, here);
    }
    let request = understood(asked)?;
    let called = |one: &EvaluatorRequest| {
        if one.name.is_empty() { one.kind.clone() } else { one.name.clone() }
    };
    let names: Vec<String> = request.request.evaluators.iter().map(called).collect();
    reachable(&asked.fail_under, &names)?;
    let app = here.engine();
    if asked.judge_model.is_some()
        || asked.folder.is_some()
        || EvaluationActions::evaluating_pays(&request)?
    {
        let place = asked.folder.clone().unwrap_or_else(|| PathBuf::from("."));
        folder::open(&app, &place.into())?;
    }
    if asked.plan {
        return plan(
            &app.evaluations().plan_evaluating_file(&request)?,
            asked.target.as_deref(),
            asked.json,
        );
    }
    let interrupts = Interrupts::listen()?;
    let id = app.evaluations().start_evaluating_file(&request)?.evaluation;
    watch(&app, &id, &interrupts)?;
    let view = app.evaluations().view(&id)?;
    let results = app.evaluations().evaluation_results(&id)?;
    let lines =
        summary(&view, app.evaluations().evaluation_asked(&id)?, asked.asks_again(), asked.again);
    tell(asked, &view, (results.as_deref(), &lines), here)?;
    let below = below(&asked.fail_under, &names, &view.metrics);
    for line in &below {
        let _ = writeln!(io::stderr(), "{}", one_line(line));
    }
    let is_whole = view.state == LaunchState::Done && view.failed == 0 && view.unread == 0;
    let well = is_whole && below.is_empty() && results.is_some();
    Ok(if well { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn understood(asked: &Evaluate) -> Result<FileRequest, AppError> {
    let target = asked.target.as_deref().map(words).transpose()?.unwrap_or_default();
    let (evaluators, usual) =
        typed_evaluators(asked.config.as_deref(), &asked.evaluators, &asked.column_mapping)?;
    if evaluators.is_empty() {
        return Err(AppError::new(Code::BadRequest, "No evaluator was named.").hint(
            "Name some: --evaluators f1_score,relevance. `touchstone evaluate --list` shows all.",
        ));
    }
    let request = EvaluateRequest {
        evaluators,
        model: asked.judge_model.clone().unwrap_or_default(),
        rounds: asked.rounds,
        switches: asked.like_package.clone(),
        replace: asked.replace,
        max_cost: asked.max_cost,
        again: match asked.again {
            None => EvaluateAgain::Nothing,
            Some(Again::Unread) => EvaluateAgain::Unread,
            Some(Again::All) => EvaluateAgain::All,
        },
        ..EvaluateRequest::default()
    };
    let (data, out) = (asked.data.clone().unwrap_or_default(), asked.out.clone());
    let config = asked.config.clone();
    Ok(FileRequest { data, config, out, target, usual, request })
}

/// Splits a command into words like a shell does: quotes hold blanks, and a backslash escapes the
/// next character (inside double quotes only a character that is special there). Nothing else is
/// special, and no shell is started.
fn words(command: &str) -> Result<Vec<String>, AppError> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let (mut signs, mut is_cut) = (command.chars().peekable(), false);
    while let Some(c) = signs.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\\') => match signs.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => is_cut = true,
            },
            (Some('"'), '\\') => {
                let next = signs.next_if(|next| matches!(next, '"' | '\\' | '$' | '`'));
                word.get_or_insert_default().push(next.unwrap_or(c));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() || words.is_empty() || is_cut {
        let message = format!(
            "The target `{command}` is not a valid command: it is empty, ends with a backslash, or leaves a quote open."
        );
        return Err(AppError::new(Code::BadRequest, message));
    }
    Ok(words)
}

fn watch(app: &App, id: &str, interrupts: &Interrupts) -> Result<(), AppError> {
    let mut pressed = 0;
    while !app.evaluations().wait_evaluation(id, GLANCE)? {
        let now = interrupts.count();
        if now > pressed {
            pressed = now;
            app.evaluations().stop_evaluating(id, pressed > 1)?;
            let _ = writeln!(
                io::stderr(),
                "Stopping: requests in flight finish first. Press Ctrl-C again to abort them."
            );
        }
        if io::stderr().is_terminal() {
            let EvaluationView { total, done, failed, calls, .. } = app.evaluations().view(id)?;
            let asked = match app.evaluations().evaluation_asked(id)? {
                (0, _) => String::new(),
                (asked, _) => format!(", {asked} rows answered"),
            };
            let _ = write!(
                io::stderr(),
                "\r{} of {total} results, {calls} replies{asked}",
                done + failed
            );
        }
    }
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr());
    }
    Ok(())
}

fn tell(
    asked: &Evaluate,
    view: &EvaluationView,
    (results, lines): (Option<&str>, &[String]),
    here: &Environment,
) -> io::Result<()> {
    if asked.json {
        if let Some(results) = results {
            writeln!(io::stdout(), "{results}")?;
        }
    } else if !view.metrics.is_empty() {
        numbers(&view.metrics, Paint(here.colour))?;
    }
    let mut says: Box<dyn Write> =
        if asked.json { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
    for line in lines {
        writeln!(says, "{line}")?;
    }
    says.flush()
}

/// Rejects metrics that no evaluator can produce, before any request is paid for. The metrics of an
/// evaluator are only known at the end, but all their names begin with the name of the evaluator.
fn reachable(wanted: &[Threshold], evaluators: &[String]) -> Result<(), AppError> {
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    for least in wanted {
        let Threshold::Metric(metric, _) = least else { continue };
        // In aggregated metrics the package shortens the name of an evaluator to the part before
        // its first dot.
        let is_of = |name: &String| metric.contains('.') && first(name) == first(metric);
        if !evaluators.iter().any(is_of) {
            let message =
                format!("--fail-under {metric}: no selected evaluator gives this number.");
            let hint =
                format!("Name the evaluator and the number, such as {}.", examples(evaluators));
            return Err(AppError::new(Code::BadRequest, message).hint(hint));
        }
    }
    Ok(())
}

fn examples(evaluators: &[String]) -> String {
    let named: Vec<String> =
        evaluators.iter().take(5).map(|name| format!("{name}.{name}=0.5")).collect();
    named.join(" or ")
}

/// Describes the thresholds that were not reached. A missing metric counts as not reached, as does
/// the share of an evaluator that never tells if a row passes.
fn below(wanted: &[Threshold], evaluators: &[String], metrics: &[EvaluateMetric]) -> Vec<String> {
    let mut lines = Vec::new();
    for least in wanted {
        match least {
            Threshold::Metric(name, least) => {
                match metrics.iter().find(|metric| metric.name == *name) {
                    None => lines
                        .push(format!("There is no metric {name}.{}", there_are(name, metrics))),
                    Some(metric) => lines.extend(missed(metric, *least)),
                }
            }
            Threshold::Passed(share) => {
                lines.extend(evaluators.iter().flat_map(|name| not_passed(name, metrics, *share)));
            }
        }
    }
    lines
}

/// Lists the metrics of the evaluator that `name` begins with. Empty if it has none.
fn there_are(name: &str, metrics: &[EvaluateMetric]) -> String {
    let of = name.split('.').next().unwrap_or_default();
    let alike = |metric: &&EvaluateMetric| metric.name.split('.').next() == Some(of);
    let names: Vec<&str> =
        metrics.iter().filter(alike).map(|metric| metric.name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!(" There are {}.", names.join(", ")) }
}

/// Describes the shares of an evaluator that are below `least`: the share of passing rows, or one
/// minus its defect rates.
fn not_passed(evaluator: &str, metrics: &[EvaluateMetric], least: f64) -> Vec<String> {
    // In aggregated metrics the package shortens the name of an evaluator to the part before its
    // first dot.
    let short = evaluator.split('.').next().unwrap_or(evaluator);
    let shares = [
        format!("{evaluator}.binary_aggregate"),
        format!("{evaluator}.pass_rate"),
        format!("{short}.binary_aggregate"),
    ];
    if let Some(metric) =
        shares.iter().find_map(|share| metrics.iter().find(|metric| metric.name == *share))
    {
        return missed(metric, least).into_iter().collect();
    }
    let is_defect = |metric: &&EvaluateMetric| {
        let key = metric.name.strip_prefix(evaluator).and_then(|rest| rest.strip_prefix('.'));
        // Rates after a further dot are those of single kinds of defects.
        key.is_some_and(|key| key.ends_with("_defect_rate") && !key.contains('.'))
    };
    let defects: Vec<&EvaluateMetric> = metrics.iter().filter(is_defect).collect();
    if defects.is_empty() {
        return vec![format!("{evaluator} does not say whether rows pass.")];
    }
    let free = |metric: &&EvaluateMetric| {
        let free =
            EvaluateMetric { value: metric.value.map(|rate| 1.0 - rate), ..(*metric).clone() };
        missed(&EvaluateMetric { name: format!("1 - {}", metric.name), ..free }, least)
    };
    defects.iter().filter_map(free).collect()
}

fn missed(metric: &EvaluateMetric, least: f64) -> Option<String> {
    let reached = metric.value.is_some_and(|value| value >= least);
    let value = metric.value.map_or_else(|| "nothing".to_owned(), |value| fixed(value, 4));
    (!reached).then(|| format!("{} is {value}, below {least}.", metric.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_taken_apart_at_blanks_and_quotes_hold_them() {
        let told =
            |command: &str| words(command).map_or_else(|why| why.message, |words| words.join("|"));
        assert_eq!(told("python3  answer.py"), "python3|answer.py");
        assert_eq!(told("sh -c 'a b; \"c\"' \"\""), "sh|-c|a b; \"c\"|");
        assert_eq!(told(r#"a "b \"c\" \\ \d" e\ f\' '\g'"#), r#"a|b "c" \ \d|e f'|\g"#);
        assert!(told("a \\").contains("ends with a backslash"));
        assert!(told("a 'b").contains("leaves a quote open") && told("  ").contains("it is empty"));
    }

    #[test]
    fn what_no_evaluator_gives_is_refused_before_anything_begins() {
        let told = |word: &str| {
            let names = ["my.rel".to_owned(), "f1_score".to_owned()];
            reachable(&[least(word).unwrap()], &names)
                .map_or_else(|why| why.message, |()| String::new())
        };
        for fine in ["f1_score.f1_score=1", "my.rel.relevance=1", "my.binary_aggregate=1", "80%"] {
            assert_eq!(told(fine), "");
        }
        for wrong in ["nope.x=1", "f1_score=1", "f1.f1_score=1"] {
            let metric = wrong.split('=').next().unwrap();
            assert_eq!(
                told(wrong),
                format!("--fail-under {metric}: no selected evaluator gives this number.")
            );
        }
    }

    #[test]
    fn what_is_wanted_is_a_metric_or_a_share_of_rows() {
        let metric = |name: &str, value| EvaluateMetric {
            name: name.to_owned(),
            value,
            interval: None,
            n: 2,
            left_out: 0,
        };
        let metrics =
            [metric("a.a", Some(3.0)), metric("a.pass_rate", Some(0.5)), metric("b.b", None)];
        let told =
            |word: &str| below(&[least(word).unwrap()], &["a".to_owned()], &metrics).join(" ");
        assert_eq!((told("a.a=3"), told("50%")), (String::new(), String::new()));
        assert_eq!(told("a.a=3.5"), "a.a is 3.0000, below 3.5.");
        assert_eq!(told("80%"), "a.pass_rate is 0.5000, below 0.8.");
        assert_eq!(
            (told("b.b=1"), told("c=1")),
            ("b.b is nothing, below 1.".to_owned(), "There is no metric c.".to_owned())
        );
        assert!(least("0.8").is_err() && least("180%").is_err());
    }

    #[test]
    fn rows_without_a_defect_are_the_share_that_passes_and_who_says_neither_is_named() {
        let metric = |name: &str, value| EvaluateMetric {
            name: name.to_owned(),
            value: Some(value),
            interval: None,
            n: 4,
            left_out: 0,
        };
        let metrics = [
            metric("code.code_vulnerability_defect_rate", 0.25),
            metric("code.code_vulnerability_details.sql_injection_defect_rate", 0.9),
            metric("harm.violence_defect_rate", 0.9),
            metric("harm.binary_aggregate", 1.0),
            metric("my.rel.relevance", 4.0),
            metric("my.binary_aggregate", 1.0),
            metric("mute.mute", 4.0),
        ];
        let told = |name: &str, share: f64| {
            below(&[Threshold::Passed(share)], &[name.to_owned()], &metrics).join(" ")
        };
        assert_eq!(told("code", 0.7), "");
        assert_eq!(
            told("code", 0.8),
            "1 - code.code_vulnerability_defect_rate is 0.7500, below 0.8."
        );
        assert_eq!((told("harm", 1.0), told("my.rel", 1.0)), (String::new(), String::new()));
        assert_eq!(told("mute", 0.1), "mute does not say whether rows pass.");
    }
}
