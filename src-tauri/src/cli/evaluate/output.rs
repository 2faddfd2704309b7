//! Output of `evaluate`: the metrics, the summary with advice on missing results, the plan, and the
//! list of evaluators.
use super::super::amounts::{LEAST, between, counted, dollars, pluralize};
use super::super::terminal::{Columns, Head, Paint, one_line};
use super::super::watch::unbound;
use super::super::{CommandStatus, Outcome};
use super::Again;
use crate::Environment;
use serde_json::json;
use std::io::{self, Write};
use touchstone_api::{
    EvaluateMetric, EvaluatePlan, EvaluateSwitch, EvaluationView, EvaluatorChoice, LaunchState,
};
use touchstone_app::evaluating::known_evaluators;
use touchstone_app::number_format::fixed;

pub(super) fn numbers(metrics: &[EvaluateMetric], paint: Paint) -> io::Result<()> {
    let head = |title: &'static str, right| Head { title: title.into(), right };
    let mut columns = Columns::new(vec![
        head("metric", false),
        head("value", true),
        head("95 %", false),
        head("rows", true),
    ]);
    for EvaluateMetric { name, value, interval, n, .. } in metrics {
        let value = value.map_or_else(|| "–".to_owned(), |value| fixed(value, 4));
        let interval = interval.map_or_else(String::new, |(low, high)| {
            format!("{} to {}", fixed(low, 4), fixed(high, 4))
        });
        columns.row(vec![one_line(name).into_owned(), value, interval, n.to_string()]);
    }
    columns.write(&mut io::stdout(), "", paint, &|_, text| text.to_owned())
}

/// Summarizes an evaluation, with advice on missing results. `asked` is the number of rows that the
/// target was asked about, and `answered` the number of these with an answer from an earlier start.
///
/// `asks_again` is true if a judge whose reply could not be read was asked a second time.
pub(super) fn summary(
    view: &EvaluationView,
    (asked, answered): (u64, u64),
    asks_again: bool,
    again: Option<Again>,
) -> Vec<String> {
    let EvaluationView { total, done, failed, missing, unread, calls, tokens, cost, .. } = view;
    let mut lines =
        vec![format!("{done} of {total} {}, {failed} without one", pluralize(*total, "result"))];
    lines.extend(view.notes.iter().map(|note| one_line(note).into_owned()));
    if *unread > 0 {
        let also = if asks_again { ", also when asked again" } else { "" };
        lines.push(format!(
            "{unread} {} could not be read{also}. Run again with --again=unread --replace to ask only these again.",
            replies(*unread)
        ));
    }
    if *missing > 0 && view.file.is_some() {
        lines.push(format!(
            "{missing} have none because requests failed. Run again with --replace to ask only these."
        ));
    }
    if answered > 0 {
        lines.push(format!(
            "{answered} of {asked} answers of the target are reused. Run with --again to ask the target and the model about every row again."
        ));
    }
    if view.model.is_some() || *calls > 0 || *tokens > 0 || *cost > 0.0 {
        let more = if view.unpriced { " plus unknown costs" } else { "" };
        lines.push(format!(
            "{calls} {} bought, {tokens} {}, {}{more}",
            replies(*calls),
            pluralize(*tokens, "token"),
            dollars(*cost)
        ));
        lines.extend(view.max_cost.filter(|_| view.unpriced).map(unbound));
    }
    for trouble in &view.troubles {
        lines.push(format!(
            "row {}, {}: {}",
            trouble.row,
            one_line(&trouble.evaluator),
            one_line(&trouble.why)
        ));
    }
    let more = failed.saturating_sub(view.troubles.len() as u64);
    if more > 0 && !view.troubles.is_empty() {
        lines.push(format!("and {more} more without a result"));
    }
    if view.state == LaunchState::Stopped {
        let but = if again == Some(Again::All) { " and without --again" } else { "" };
        let is_paid = view.model.is_some() || *calls > 0 || asked > 0;
        let then = format!(" Run again with the same --out{but}: paid replies are reused.");
        lines.push(format!("No results were written.{}", if is_paid { then.as_str() } else { "" }));
    }
    lines.extend(view.why.as_deref().map(|why| one_line(why).into_owned()));
    lines.extend(view.file.as_deref().map(|file| format!("written: {}", one_line(file))));
    lines
}

fn replies(many: u64) -> &'static str {
    if many == 1 { "reply" } else { "replies" }
}

pub(super) fn plan(plan: &EvaluatePlan, target: Option<&str>, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, plan).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(CommandStatus::Well);
    }
    for line in lines_of(plan, target) {
        writeln!(out, "{line}")?;
    }
    Ok(CommandStatus::Well)
}

fn lines_of(plan: &EvaluatePlan, target: Option<&str>) -> Vec<String> {
    let EvaluatePlan { rows, calls_least, calls_most, kept, unread, .. } = plan;
    let mut lines = vec![counted(*rows, "row")];
    if let Some(target) = target {
        let target = one_line(target);
        lines.push(match plan.target {
            0 => format!("the target does not run: it has answered every row before ({target})"),
            1 => format!("the target runs once first, for a row without an answer: {target}"),
            many => format!(
                "the target runs {many} times first, once for each row without an answer: {target}"
            ),
        });
    }
    lines.extend(plan.each.iter().map(|line| one_line(line).into_owned()));
    let are = if *kept == 1 { "is" } else { "are" };
    if *calls_most > 0 {
        let tokens = match (plan.tokens_least, plan.tokens_most) {
            (Some(least), Some(most)) => {
                format!(
                    "about {} {}",
                    between(&least.to_string(), &most.to_string()),
                    pluralize(most, "token")
                )
            }
            _ => "tokens are not known before the target answers".to_owned(),
        };
        let calls = between(&calls_least.to_string(), &calls_most.to_string());
        lines.push(format!(
            "{calls} {}, {tokens}; {kept} {} {are} reused",
            pluralize(*calls_most, "request"),
            replies(*kept)
        ));
        lines.push(match (plan.cost_least, plan.cost_most) {
            (_, Some(most)) if most > 0.0 && most < LEAST => dollars(most),
            (Some(least), Some(most)) => {
                format!("about {}", between(&dollars(least), &dollars(most)))
            }
            _ if plan.tokens_most.is_none() => "the cost is unknown as well".to_owned(),
            _ => "the cost is unknown: the model has no price".to_owned(),
        });
    } else if *kept > 0 {
        lines.push(format!("no new requests; {kept} {} {are} reused", replies(*kept)));
    } else {
        lines.push("no API calls".to_owned());
    }
    lines.extend(plan.unbound.as_deref().map(|why| one_line(why).into_owned()));
    if *unread > 0 {
        let these = if *unread == 1 { "this one" } else { "these" };
        lines.push(format!(
            "{unread} {} could not be read; --again=unread asks {these} again",
            pluralize(*unread, "round")
        ));
    }
    lines.extend(
        plan.why_not.as_ref().map(|why| format!("it would not start: {}", one_line(&why.message))),
    );
    let sentences = plan.notes.iter().chain(&plan.lacks);
    lines.extend(sentences.map(|sentence| one_line(sentence).into_owned()));
    if plan.exists {
        lines.push(format!("{} already exists", one_line(&plan.out)));
    }
    lines
}

pub(super) fn list(json: bool, here: &Environment) -> Outcome {
    let (evaluators, switches, never) = known_evaluators();
    let mut out = io::stdout().lock();
    if json {
        writeln!(
            out,
            "{}",
            json!({ "evaluators": evaluators, "switches": switches, "never": never })
        )?;
        return Ok(CommandStatus::Well);
    }
    let head = |title: &'static str| Head { title: title.into(), right: false };
    let mut columns =
        Columns::new(vec![head("evaluator"), head("by"), head("needs"), head("what it says")]);
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
    writeln!(
        out,
        "\nDeliberate differences from the package. --like-package SWITCH restores its behaviour.\n"
    )?;
    differences(&mut out, &switches)?;
    writeln!(out, "\nDifferences without a switch:\n")?;
    differences(&mut out, &never)?;
    Ok(CommandStatus::Well)
}

fn differences(out: &mut impl Write, switches: &[EvaluateSwitch]) -> io::Result<()> {
    for EvaluateSwitch { name, theirs, ours } in switches {
        writeln!(out, "{name}\n  the package: {theirs}\n  here:        {ours}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: EvaluatePlan = EvaluatePlan {
        rows: 1,
        calls_least: 7,
        calls_most: 7,
        kept: 1,
        unread: 1,
        target: 1,
        each: Vec::new(),
        tokens_least: Some(1),
        tokens_most: Some(1),
        cost_least: Some(0.0),
        cost_most: Some(0.0),
        out: String::new(),
        exists: false,
        lacks: Vec::new(),
        notes: Vec::new(),
        unbound: None,
        why_not: None,
    };

    #[test]
    fn counts_use_the_singular_and_equal_bounds_are_printed_once() {
        assert_eq!(
            lines_of(&PLAN, Some("sh x")),
            [
                "1 row",
                "the target runs once first, for a row without an answer: sh x",
                "7 requests, about 1 token; 1 reply is reused",
                "about $0.0000",
                "1 round could not be read; --again=unread asks this one again",
            ]
        );
        let more = EvaluatePlan {
            rows: 3,
            calls_least: 1,
            kept: 0,
            unread: 0,
            target: 3,
            tokens_most: Some(9),
            cost_least: Some(0.000_2),
            cost_most: Some(0.25),
            unbound: Some("`m` has no known price.".to_owned()),
            ..PLAN
        };
        assert_eq!(
            lines_of(&more, Some("sh x")),
            [
                "3 rows",
                "the target runs 3 times first, once for each row without an answer: sh x",
                "1 to 7 requests, about 1 to 9 tokens; 0 replies are reused",
                "about $0.0002 to $0.2500",
                "`m` has no known price.",
            ]
        );
        let little = EvaluatePlan { cost_most: Some(0.000_01), ..more };
        assert_eq!(lines_of(&little, None)[2], "less than $0.0001");
    }
}
