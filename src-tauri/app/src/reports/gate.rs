//! **Pure.** Formats the result of a gate: Markdown for a comment of a pull request, and JUnit for
//! build servers.
use super::{junit, markdown};
use std::fmt::Write as _;
use touchstone_api::{Gate, GateChange, GateGroup, GateTask};
use touchstone_metrics::number_format::{fixed, signed};
use touchstone_scoring::aggregate::RowKey;

/// Maximum number of changed tasks in the Markdown, which sites limit in size.
const MOST_ROWS: usize = 100;
/// Placeholder for an unknown value.
const NONE: &str = "–";

/// Formats the result as Markdown.
pub fn gate_markdown(gate: &Gate) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "## Touchstone: {}\n",
        if gate.passed { "✅ gate passed" } else { "❌ gate failed" }
    );
    let _ =
        writeln!(out, "{} runs, compared with {} of the baseline.", gate.runs, gate.baseline_runs);
    list(&mut out, "", gate.groups.iter().flat_map(|group| &group.violations));
    if !gate.groups.is_empty() {
        out.push_str(
            "\n| system | score | was | difference | 95 % interval | errors |\n|---|--:|--:|--:|--:|--:|\n",
        );
        for group in &gate.groups {
            let interval = group.low.zip(group.high);
            markdown::row(
                &mut out,
                [
                    markdown::escaped(&group.name),
                    number(group.score),
                    number(group.baseline_score),
                    group.difference.map_or(NONE.to_owned(), with_sign),
                    interval.map_or(NONE.to_owned(), |(low, high)| {
                        format!("{} to {}", with_sign(low), with_sign(high))
                    }),
                    group.errors.to_string(),
                ],
            );
        }
    }
    changes(&mut out, gate);
    list(&mut out, "\n### Other changes\n", gate.groups.iter().flat_map(|group| &group.remarks));
    out
}

fn list<'a>(out: &mut String, title: &str, sentences: impl Iterator<Item = &'a String>) {
    let mut sentences = sentences.peekable();
    if sentences.peek().is_some() {
        out.push_str(title);
        out.push('\n');
    }
    for sentence in sentences {
        let _ = writeln!(out, "- {}", markdown::escaped(sentence));
    }
}

fn changes(out: &mut String, gate: &Gate) {
    let changed = || {
        let tasks =
            gate.groups.iter().flat_map(|group| group.tasks.iter().map(move |task| (group, task)));
        tasks.filter(|(_, task)| !task.changes.is_empty())
    };
    let all = changed().count();
    if all == 0 {
        return;
    }
    let _ = writeln!(out, "\n<details><summary>{all} changed</summary>\n");
    out.push_str("| system | task | change |\n|---|---|---|\n");
    for (group, task) in changed().take(MOST_ROWS) {
        let name = markdown::escaped(&group.name);
        markdown::row(out, [name, markdown::escaped(&label(task)), describe(task)]);
    }
    if all > MOST_ROWS {
        let _ = writeln!(out, "\n{} more are not listed.", all - MOST_ROWS);
    }
    out.push_str("\n</details>\n");
}

/// Formats the result as JUnit: a suite for each system and model, with a test for its requirements
/// and one for each task. Only what violates a requirement is a failure or an error.
pub fn gate_junit(gate: &Gate) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gate\">\n");
    if !gate.violations.is_empty() {
        let group = GateGroup {
            name: "baseline".to_owned(),
            violations: gate.violations.clone(),
            ..GateGroup::default()
        };
        suite(&mut out, &group);
    }
    for group in &gate.groups {
        suite(&mut out, group);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, group: &GateGroup) {
    let count = |tag: &str| group.tasks.iter().filter(|task| outcome(task) == Some(tag)).count();
    let name = junit::escaped(&group.name);
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        group.tasks.len() + 1,
        count("failure") + usize::from(!group.violations.is_empty()),
        count("error"),
    );
    let violated = group.violations.join(" ");
    let end = if violated.is_empty() { None } else { Some("failure") };
    case(out, &name, "requirements", end, &violated);
    for task in &group.tasks {
        case(out, &name, &label(task), outcome(task), &describe(task));
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, suite: &str, name: &str, end: Option<&str>, message: &str) {
    let (name, message) = (junit::escaped(name), junit::escaped(message));
    let inner = match end {
        None if message.is_empty() => {
            let _ = writeln!(out, "    <testcase classname=\"{suite}\" name=\"{name}\"/>");
            return;
        }
        None => format!("<system-out>{message}</system-out>"),
        Some(tag) => format!("<{tag} message=\"{message}\"/>"),
    };
    let _ = writeln!(out, "    <testcase classname=\"{suite}\" name=\"{name}\">{inner}</testcase>");
}

/// Returns the JUnit element for a task; `None` for one that violates nothing.
fn outcome(task: &GateTask) -> Option<&'static str> {
    let is_error = task.changes.contains(&GateChange::Errors);
    task.violates.then_some(if is_error { "error" } else { "failure" })
}

/// Describes the changes of a task; empty if there are none.
fn describe(task: &GateTask) -> String {
    let words = |change: &GateChange| match change {
        GateChange::Failed => "fails, passed before",
        GateChange::Fixed => "passes, failed before",
        GateChange::Flaky => "another result, but repeats disagree",
        GateChange::Errors => "ended in errors, had a score",
        GateChange::NotEnded => "not ended, had a score",
        GateChange::Missing => "fewer runs than before",
        GateChange::Unscored => "not scored, had a score",
        GateChange::Added => "has a score, had none",
        GateChange::NotComparable => "text, expected output or scorer changed",
    };
    task.changes.iter().map(words).collect::<Vec<_>>().join("; ")
}

fn label(task: &GateTask) -> String {
    let (variation, name) = (task.variation, task.variation_name.as_deref());
    RowKey { task: task.task.as_deref(), variation, name }.label()
}

fn number(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| fixed(value, 3))
}

/// Formats a difference with its sign.
fn with_sign(value: f64) -> String {
    let text = signed(value, 3);
    if value > 0.0 && text != "0.000" { format!("+{text}") } else { text }
}
