//! What `evaluate` prints: numbers, how it ended and what can be done about what is missing, what it would take, what there is.
use super::super::terminal::{Columns, Head, Paint, one_line};
use super::super::{Ended, Outcome};
use super::Again;
use crate::Surroundings;
use serde_json::json;
use std::io::{self, Write};
use touchstone_engine::app::known_evaluators;
use touchstone_engine::rows::{
    EvaluateMetric, EvaluatePlan, EvaluateSwitch, EvaluationView, EvaluatorChoice, LaunchState,
};

pub(super) fn numbers(metrics: &[EvaluateMetric], paint: Paint) -> io::Result<()> {
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

/// How it ended, and what can be done about what is missing. `asked` is how many rows the target was asked about, and of how many it had
/// said something before.
pub(super) fn summary(view: &EvaluationView, (asked, answered): (u64, u64), again: Option<Again>) -> Vec<String> {
    let EvaluationView { total, done, failed, missing, unread, calls, tokens, cost, .. } = view;
    let mut lines = vec![format!("{done} of {total} results, {failed} without one")];
    if *unread > 0 {
        lines.push(format!(
            "{unread} replies could not be read, also when asked again. Begin with --again=unread --replace: these are asked once more, and nothing else."
        ));
    }
    if *missing > 0 && view.file.is_some() {
        lines.push(format!(
            "{missing} have none because nobody answered. Begin again with --replace: these are asked about, and nothing else."
        ));
    }
    if answered > 0 {
        lines.push(format!(
            "{answered} of {asked} answers of the target are from before. Begin with --again: it is asked about every row anew, and so is the model."
        ));
    }
    if view.model.is_some() || *calls > 0 || *tokens > 0 || *cost > 0.0 {
        let more = if view.unpriced { " and what has no known price" } else { "" };
        lines.push(format!("{calls} replies bought, {tokens} tokens, ${cost:.4}{more}"));
    }
    for trouble in &view.troubles {
        lines.push(format!("row {}, {}: {}", trouble.row, one_line(&trouble.evaluator), one_line(&trouble.why)));
    }
    if view.state == LaunchState::Stopped {
        let but = if again == Some(Again::All) { " and without --again" } else { "" };
        lines
            .push(format!("No results were written. Begin again with the same --out{but}: what was paid for is kept."));
    }
    lines.extend(view.why.as_deref().map(|why| one_line(why).into_owned()));
    lines.extend(view.file.as_deref().map(|file| format!("written: {}", one_line(file))));
    lines
}

pub(super) fn plan(plan: &EvaluatePlan, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, plan).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Ended::Well);
    }
    let EvaluatePlan { rows, calls_least, calls_most, kept, unread, target, .. } = plan;
    writeln!(out, "{rows} rows")?;
    if *target > 0 {
        writeln!(out, "the target is asked about {target} of them first")?;
    }
    for line in &plan.each {
        writeln!(out, "{}", one_line(line))?;
    }
    if *calls_most > 0 || *kept > 0 {
        let tokens = match (plan.tokens_least, plan.tokens_most) {
            (Some(least), Some(most)) => format!("about {least} to {most} tokens"),
            _ => "tokens are not known before the target answers".to_owned(),
        };
        writeln!(out, "{calls_least} to {calls_most} requests, {tokens}; {kept} replies are there from before")?;
        match (plan.cost_least, plan.cost_most) {
            (Some(least), Some(most)) => writeln!(out, "about ${least:.4} to ${most:.4}")?,
            _ if plan.tokens_most.is_none() => writeln!(out, "what it costs is not known before, either")?,
            _ => writeln!(out, "what it costs is not known: the model has no price")?,
        }
    } else {
        writeln!(out, "no model is asked")?;
    }
    if *unread > 0 {
        writeln!(out, "in {unread} rounds nothing could be read; --again=unread asks these once more")?;
    }
    if let Some(why) = &plan.why_not {
        writeln!(out, "it would not be begun: {}", one_line(&why.message))?;
    }
    for lack in &plan.lacks {
        writeln!(out, "{}", one_line(lack))?;
    }
    if plan.exists {
        writeln!(out, "{} is there already", one_line(&plan.out))?;
    }
    Ok(Ended::Well)
}

pub(super) fn list(json: bool, here: &Surroundings) -> Outcome {
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
