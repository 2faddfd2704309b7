//! `evaluate`: a data file, row by row, before evaluators. Ctrl-C lets questions in flight be answered and kept; a second one gives them
//! up. Begun again with the same file of results, it pays for what is missing only.
use super::terminal::{Columns, Head, Paint, one_line};
use super::watch::Interrupts;
use super::{Ended, Outcome, folder};
use crate::Surroundings;
use clap::Args;
use serde_json::json;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;
use touchstone_engine::app::{App, FileRequest, known_evaluators, typed_evaluators};
use touchstone_engine::error::{AppError, Code};
use touchstone_engine::rows::{
    EvaluateMetric, EvaluatePlan, EvaluateRequest, EvaluateSwitch, EvaluationView, EvaluatorChoice, EvaluatorRequest,
    LaunchState,
};

/// How often signals and the progress are looked at.
const GLANCE: Duration = Duration::from_millis(100);

/// What `evaluate` takes.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
#[command(
    after_help = "A mapping is written as query='${data.question}': the input, and the column that it comes from."
)]
pub(super) struct Evaluate {
    /// The rows: JSON Lines, a JSON list, or CSV
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    data: Option<PathBuf>,
    /// By whom, with commas between: `f1_score,relevance`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    evaluators: Vec<String>,
    /// Evaluators with their options, as YAML or JSON: name, then `kind`, `threshold`, `options`, `column_mapping`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where an input comes from; `relevance.query=…` for one evaluator only
    #[arg(long, value_name = "INPUT=COLUMN")]
    column_mapping: Vec<String>,
    /// A command that is asked about each row: the row as JSON on its standard input, an object on its standard output
    #[arg(long, value_name = "COMMAND")]
    target: Option<String>,
    /// The model that judges, by its name in touchstone.yaml
    #[arg(long, value_name = "MODEL")]
    judge_model: Option<String>,
    /// The folder whose touchstone.yaml names the models; the current one when left out
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// How often a judge is asked about each row
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Dollars after which nothing new is asked
    #[arg(long, value_name = "X")]
    max_cost: Option<f64>,
    /// Do as the package does where that is a mistake: `all`, or switches with commas between (see --list)
    #[arg(long, value_name = "SWITCHES", value_delimiter = ',')]
    like_package: Vec<String>,
    /// The file of results
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file of results that is there; a copy of it stays in `.touchstone/replaced/`
    #[arg(long)]
    replace: bool,
    /// Ask target and model everything anew, also what was paid for before
    #[arg(long)]
    again: bool,
    /// End with 1 when a metric is below this: `relevance.relevance=3.5`, or when fewer rows of an evaluator pass: `80%`
    #[arg(long, value_name = "X", value_parser = least)]
    fail_under: Vec<Least>,
    /// Only say what it would take
    #[arg(long)]
    plan: bool,
    /// List evaluators, and where they differ from the package on purpose
    #[arg(long, conflicts_with_all = ["data", "plan"])]
    list: bool,
    /// Print the results (or the plan, or the list) as one JSON document
    #[arg(long)]
    json: bool,
}

/// What has to be reached.
#[derive(Debug, Clone, PartialEq)]
enum Least {
    /// A metric by its name.
    Metric(String, f64),
    /// The share of rows that pass, of every evaluator.
    Passed(f64),
}

fn least(word: &str) -> Result<Least, String> {
    let wrong = || "write a metric and a number such as relevance.relevance=3.5, or a share such as 80%".to_owned();
    if let Some((name, number)) = word.rsplit_once('=') {
        return Ok(Least::Metric(name.to_owned(), number.trim().parse().map_err(|_| wrong())?));
    }
    let share: f64 = word.strip_suffix('%').and_then(|share| share.trim().parse().ok()).ok_or_else(wrong)?;
    if !(0.0..=100.0).contains(&share) {
        return Err("shares are from 0% to 100%".to_owned());
    }
    Ok(Least::Passed(share / 100.0))
}

pub(super) fn run(asked: &Evaluate, here: &Surroundings) -> Outcome {
    if asked.list {
        return list(asked.json, here);
    }
    let request = understood(asked)?;
    let app = here.engine();
    if asked.judge_model.is_some() || asked.folder.is_some() {
        let place = asked.folder.clone().unwrap_or_else(|| PathBuf::from("."));
        folder::open(&app, &place.into())?;
    }
    if asked.plan {
        return plan(&app.plan_evaluating_file(&request)?, asked.json);
    }
    let interrupts = Interrupts::listen()?;
    let id = app.start_evaluating_file(&request)?.evaluation;
    watch(&app, &id, &interrupts)?;
    let view = app.evaluation(&id)?;
    let results = app.evaluation_results(&id)?;
    tell(asked, &view, results.as_deref(), here)?;
    let name = |asked: &EvaluatorRequest| if asked.name.is_empty() { asked.kind.clone() } else { asked.name.clone() };
    let names: Vec<String> = request.request.evaluators.iter().map(name).collect();
    let below = below(&asked.fail_under, &names, &view.metrics);
    for line in &below {
        let _ = writeln!(io::stderr(), "{}", one_line(line));
    }
    let well = view.state == LaunchState::Done && view.failed == 0 && below.is_empty() && results.is_some();
    Ok(if well { Ended::Well } else { Ended::WithFailures })
}

fn understood(asked: &Evaluate) -> Result<FileRequest, AppError> {
    let target = asked.target.as_deref().map(words).transpose()?.unwrap_or_default();
    let (evaluators, usual) = typed_evaluators(asked.config.as_deref(), &asked.evaluators, &asked.column_mapping)?;
    if evaluators.is_empty() {
        return Err(AppError::new(Code::BadRequest, "No evaluator was named.")
            .hint("Name some: --evaluators f1_score,relevance. `touchstone evaluate --list` shows all."));
    }
    let request = EvaluateRequest {
        evaluators,
        model: asked.judge_model.clone().unwrap_or_default(),
        rounds: asked.rounds,
        switches: asked.like_package.clone(),
        replace: asked.replace,
        max_cost: asked.max_cost,
        ..EvaluateRequest::default()
    };
    let (data, out) = (asked.data.clone().unwrap_or_default(), asked.out.clone());
    let config = asked.config.clone();
    Ok(FileRequest { data, config, out, target, usual, again: asked.again, request })
}

/// The words of a command, as a shell takes them apart: quotes hold blanks. Nothing else has a meaning, and no shell is started.
fn words(command: &str) -> Result<Vec<String>, AppError> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() || words.is_empty() {
        let message = format!("The target `{command}` is no command: a quote is not closed, or nothing is there.");
        return Err(AppError::new(Code::BadRequest, message));
    }
    Ok(words)
}

fn watch(app: &App, id: &str, interrupts: &Interrupts) -> Result<(), AppError> {
    let mut pressed = 0;
    while !app.wait_evaluation(id, GLANCE)? {
        let now = interrupts.count();
        if now > pressed {
            pressed = now;
            app.stop_evaluating(id, pressed > 1)?;
            let _ = writeln!(
                io::stderr(),
                "Stopping: questions in flight are answered and kept first. Press Ctrl-C again to give them up."
            );
        }
        if io::stderr().is_terminal() {
            let EvaluationView { total, done, failed, calls, .. } = app.evaluation(id)?;
            let asked = match app.evaluation_asked(id)? {
                0 => String::new(),
                asked => format!(", {asked} rows answered"),
            };
            let _ = write!(io::stderr(), "\r{} of {total} results, {calls} replies{asked}", done + failed);
        }
    }
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr());
    }
    Ok(())
}

fn tell(asked: &Evaluate, view: &EvaluationView, results: Option<&str>, here: &Surroundings) -> io::Result<()> {
    if asked.json {
        if let Some(results) = results {
            writeln!(io::stdout(), "{results}")?;
        }
    } else if !view.metrics.is_empty() {
        numbers(&view.metrics, Paint(here.colour))?;
    }
    let mut says: Box<dyn Write> = if asked.json { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
    for line in summary(view, asked.again) {
        writeln!(says, "{line}")?;
    }
    says.flush()
}

fn numbers(metrics: &[EvaluateMetric], paint: Paint) -> io::Result<()> {
    let head = |title: &'static str, right| Head { title: title.into(), right };
    let mut columns =
        Columns::new(vec![head("metric", false), head("value", true), head("95 %", false), head("rows", true)]);
    for EvaluateMetric { name, value, interval, n, .. } in metrics {
        let value = value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        let interval = interval.map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}"));
        columns.row(vec![one_line(name).into_owned(), value, interval, n.to_string()]);
    }
    columns.write(&mut io::stdout(), "", paint, &|_, text| text.to_owned())
}

fn summary(view: &EvaluationView, again: bool) -> Vec<String> {
    let EvaluationView { total, done, failed, unread, calls, tokens, cost, .. } = view;
    let mut lines = vec![format!("{done} of {total} results, {failed} without one")];
    if *unread > 0 {
        lines.push(format!("{unread} replies could not be read, also when asked again"));
    }
    if view.model.is_some() {
        let more = if view.unpriced { " and what has no known price" } else { "" };
        lines.push(format!("{calls} replies bought, {tokens} tokens, ${cost:.4}{more}"));
    }
    for trouble in &view.troubles {
        lines.push(format!("row {}, {}: {}", trouble.row, one_line(&trouble.evaluator), one_line(&trouble.why)));
    }
    if view.state == LaunchState::Stopped {
        let but = if again { " and without --again" } else { "" };
        lines
            .push(format!("No results were written. Begin again with the same --out{but}: what was paid for is kept."));
    }
    lines.extend(view.why.as_deref().map(|why| one_line(why).into_owned()));
    lines.extend(view.file.as_deref().map(|file| format!("written: {}", one_line(file))));
    lines
}

fn plan(plan: &EvaluatePlan, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, plan).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Ended::Well);
    }
    let EvaluatePlan { rows, calls_least, calls_most, kept, tokens_least, tokens_most, .. } = plan;
    writeln!(out, "{rows} rows")?;
    if *calls_most > 0 || *kept > 0 {
        writeln!(
            out,
            "{calls_least} to {calls_most} requests, about {tokens_least} to {tokens_most} tokens; {kept} replies are there from before"
        )?;
        match (plan.cost_least, plan.cost_most) {
            (Some(least), Some(most)) => writeln!(out, "about ${least:.4} to ${most:.4}")?,
            _ => writeln!(out, "what it costs is not known: the model has no price")?,
        }
    } else {
        writeln!(out, "no model is asked")?;
    }
    for lack in &plan.lacks {
        writeln!(out, "{}", one_line(lack))?;
    }
    if plan.exists {
        writeln!(out, "{} is there already", one_line(&plan.out))?;
    }
    Ok(Ended::Well)
}

fn list(json: bool, here: &Surroundings) -> Outcome {
    let (evaluators, switches, never) = known_evaluators();
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", json!({ "evaluators": evaluators, "switches": switches, "never": never }))?;
        return Ok(Ended::Well);
    }
    let head = |title: &'static str| Head { title: title.into(), right: false };
    let mut columns = Columns::new(vec![head("evaluator"), head("by"), head("needs"), head("what it says")]);
    for EvaluatorChoice { name, what, needs, model, program, safety, .. } in evaluators {
        let by = match (safety, model, program) {
            (true, ..) => "model, local judge, not the hosted service",
            (_, true, _) => "model",
            (_, _, true) => "program",
            _ => "text",
        };
        columns.row(vec![name, by.to_owned(), needs.join(", "), what]);
    }
    columns.write(&mut out, "", Paint(here.colour), &|_, text| text.to_owned())?;
    writeln!(out, "\nWhere they differ from the package on purpose. --like-package SWITCH brings its way back.\n")?;
    differences(&mut out, &switches)?;
    writeln!(out, "\nWhat is never done its way:\n")?;
    differences(&mut out, &never)?;
    Ok(Ended::Well)
}

fn differences(out: &mut impl Write, switches: &[EvaluateSwitch]) -> io::Result<()> {
    for EvaluateSwitch { name, theirs, ours } in switches {
        writeln!(out, "{name}\n  the package: {theirs}\n  here:        {ours}")?;
    }
    Ok(())
}

/// What is not reached, as sentences. A metric that is not there is not reached, and neither is the share of an evaluator that says of no
/// row whether it passes.
fn below(wanted: &[Least], evaluators: &[String], metrics: &[EvaluateMetric]) -> Vec<String> {
    let mut lines = Vec::new();
    for least in wanted {
        match least {
            Least::Metric(name, least) => match metrics.iter().find(|metric| metric.name == *name) {
                None => lines.push(format!("There is no metric {name}.")),
                Some(metric) => lines.extend(missed(metric, *least)),
            },
            Least::Passed(share) => {
                lines.extend(evaluators.iter().flat_map(|name| not_passed(name, metrics, *share)));
            }
        }
    }
    lines
}

/// Shares of an evaluator that are not reached: of rows that pass, or of rows without what it looks for.
fn not_passed(evaluator: &str, metrics: &[EvaluateMetric], least: f64) -> Vec<String> {
    // The package knows an evaluator in its sums by what stands before the first dot.
    let short = evaluator.split('.').next().unwrap_or(evaluator);
    let shares = [
        format!("{evaluator}.binary_aggregate"),
        format!("{evaluator}.pass_rate"),
        format!("{short}.binary_aggregate"),
    ];
    if let Some(metric) = shares.iter().find_map(|share| metrics.iter().find(|metric| metric.name == *share)) {
        return missed(metric, least).into_iter().collect();
    }
    let is_defect = |metric: &&EvaluateMetric| {
        let key = metric.name.strip_prefix(evaluator).and_then(|rest| rest.strip_prefix('.'));
        // Behind another dot stand the parts of what it looks for.
        key.is_some_and(|key| key.ends_with("_defect_rate") && !key.contains('.'))
    };
    let defects: Vec<&EvaluateMetric> = metrics.iter().filter(is_defect).collect();
    if defects.is_empty() {
        return vec![format!("{evaluator} does not say whether rows pass.")];
    }
    let free = |metric: &&EvaluateMetric| {
        let free = EvaluateMetric { value: metric.value.map(|rate| 1.0 - rate), ..(*metric).clone() };
        missed(&EvaluateMetric { name: format!("1 - {}", metric.name), ..free }, least)
    };
    defects.iter().filter_map(free).collect()
}

fn missed(metric: &EvaluateMetric, least: f64) -> Option<String> {
    let reached = metric.value.is_some_and(|value| value >= least);
    let value = metric.value.map_or_else(|| "nothing".to_owned(), |value| format!("{value:.4}"));
    (!reached).then(|| format!("{} is {value}, below {least}.", metric.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_taken_apart_at_blanks_and_quotes_hold_them() {
        let told = |command: &str| words(command).map_or_else(|why| why.message, |words| words.join("|"));
        assert_eq!(told("python3  answer.py"), "python3|answer.py");
        assert_eq!(told("sh -c 'a b; \"c\"' \"\""), "sh|-c|a b; \"c\"|");
        assert!(told("a 'b").contains("a quote is not closed") && told("  ").contains("nothing is there"));
    }

    #[test]
    fn what_is_wanted_is_a_metric_or_a_share_of_rows() {
        let metric =
            |name: &str, value| EvaluateMetric { name: name.to_owned(), value, interval: None, n: 2, left_out: 0 };
        let metrics = [metric("a.a", Some(3.0)), metric("a.pass_rate", Some(0.5)), metric("b.b", None)];
        let told = |word: &str| below(&[least(word).unwrap()], &["a".to_owned()], &metrics).join(" ");
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
        let told = |name: &str, share: f64| below(&[Least::Passed(share)], &[name.to_owned()], &metrics).join(" ");
        assert_eq!(told("code", 0.7), "");
        assert_eq!(told("code", 0.8), "1 - code.code_vulnerability_defect_rate is 0.7500, below 0.8.");
        assert_eq!((told("harm", 1.0), told("my.rel", 1.0)), (String::new(), String::new()));
        assert_eq!(told("mute", 0.1), "mute does not say whether rows pass.");
    }
}
