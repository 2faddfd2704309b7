//! **Pure.** Formats the result of a gate: Markdown for a comment of a pull request, and JUnit for
//! build servers.
use super::{junit, markdown};
use std::fmt::Write as _;
use touchstone_api::{Gate, GateChange, GateChangeKind, GateGroup};
use touchstone_scoring::number_format::fixed;

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
            "\n| system | score | was | difference | 95 % | errors |\n|---|--:|--:|--:|--:|--:|\n",
        );
        for group in &gate.groups {
            let interval = group.low.zip(group.high);
            markdown::row(
                &mut out,
                [
                    markdown::escaped(&group.name),
                    number(group.score),
                    number(group.baseline_score),
                    group.difference.map_or(NONE.to_owned(), signed),
                    interval.map_or(NONE.to_owned(), |(low, high)| {
                        format!("{} to {}", signed(low), signed(high))
                    }),
                    group.errors.to_string(),
                ],
            );
        }
    }
    changes(&mut out, gate);
    list(&mut out, "\n### Also\n", gate.groups.iter().flat_map(|group| &group.remarks));
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
    let changed =
        || gate.groups.iter().flat_map(|group| group.changes.iter().map(move |row| (group, row)));
    let all = changed().count();
    if all == 0 {
        return;
    }
    let _ = writeln!(out, "\n<details><summary>{all} changed</summary>\n");
    out.push_str("| system | task | change |\n|---|---|---|\n");
    for (group, row) in changed().take(MOST_ROWS) {
        markdown::row(
            out,
            [
                markdown::escaped(&group.name),
                markdown::escaped(&label(row)),
                words(row.change).to_owned(),
            ],
        );
    }
    if all > MOST_ROWS {
        let _ = writeln!(out, "\n{} more are not listed.", all - MOST_ROWS);
    }
    out.push_str("\n</details>\n");
}

/// Formats the result as JUnit: a suite for each system and model, with a test for the mean score
/// and one for each changed task.
pub fn gate_junit(gate: &Gate) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gate\">\n");
    for group in &gate.groups {
        suite(&mut out, group);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, group: &GateGroup) {
    let count = |tag: &str| {
        let rows = group.changes.iter().filter(|row| outcome(row.change) == Some(tag)).count();
        rows + usize::from(tag == "failure" && !group.violations.is_empty())
    };
    let name = junit::escaped(&group.name);
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        group.changes.len() + 1,
        count("failure"),
        count("error"),
        count("skipped"),
    );
    let violated = group.violations.join(" ");
    case(out, &name, "requirements", (!violated.is_empty()).then_some(("failure", &violated)));
    for row in &group.changes {
        let end = outcome(row.change).map(|tag| (tag, words(row.change)));
        case(out, &name, &label(row), end);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, suite: &str, name: &str, end: Option<(&str, &str)>) {
    let name = junit::escaped(name);
    let _ = match end {
        None => writeln!(out, "    <testcase classname=\"{suite}\" name=\"{name}\"/>"),
        Some((tag, message)) => writeln!(
            out,
            "    <testcase classname=\"{suite}\" name=\"{name}\"><{tag} message=\"{}\"/></testcase>",
            junit::escaped(message)
        ),
    };
}

/// Returns the JUnit element for a change; `None` for one that is no failure.
fn outcome(change: GateChangeKind) -> Option<&'static str> {
    match change {
        GateChangeKind::Failed => Some("failure"),
        GateChangeKind::LostToErrors => Some("error"),
        GateChangeKind::NotEnded | GateChangeKind::Missing | GateChangeKind::Unscored => {
            Some("skipped")
        }
        GateChangeKind::Fixed | GateChangeKind::Flaky | GateChangeKind::Added => None,
    }
}

/// Describes a change.
fn words(change: GateChangeKind) -> &'static str {
    match change {
        GateChangeKind::Failed => "fails, passed before",
        GateChangeKind::Fixed => "passes, failed before",
        GateChangeKind::Flaky => "another result, but repeats disagree",
        GateChangeKind::LostToErrors => "ended in errors, had a score",
        GateChangeKind::NotEnded => "not ended, had a score",
        GateChangeKind::Missing => "no run, had a score",
        GateChangeKind::Unscored => "not scored, had a score",
        GateChangeKind::Added => "has a score, had none",
    }
}

fn label(row: &GateChange) -> String {
    let task = row.task.as_deref().unwrap_or("without a task");
    match (row.variation, &row.variation_name) {
        (Some(variation), _) => format!("{task} #{variation}"),
        (None, Some(name)) => format!("{task} {name}"),
        (None, None) => task.to_owned(),
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| fixed(value, 3))
}

fn signed(value: f64) -> String {
    let size = fixed(value.abs(), 3);
    match value {
        _ if size == "0.000" => size,
        value if value < 0.0 => format!("−{size}"),
        _ => format!("+{size}"),
    }
}
