//! **Pure.** Formats runs as JUnit XML, so that build servers show them as tests: one suite per
//! system and model. Runs that did not pass are failures, system errors are errors, and runs
//! without a score are skipped. The review of a person goes to the output of the test and does not
//! change the outcome.
use super::page::{Page, RunLine};
use super::{notes, words};
use crate::escape::lines;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use touchstone_api::{RunState, ScoreStanding};
use touchstone_metrics::number_format::fixed;

enum Verdict<'a> {
    Passed,
    Failed(&'a str),
    Error(&'a str),
    Skipped(&'a str),
}

/// Formats the document.
pub(super) fn write(page: &Page) -> String {
    let mut suites: BTreeMap<String, Vec<&RunLine>> = BTreeMap::new();
    for run in &page.runs {
        suites
            .entry(format!("{}/{}", name(run.system.as_deref()), name(run.model.as_deref())))
            .or_default()
            .push(run);
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let [tests, failures, errors, skipped] = count_outcomes(page.runs.iter());
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
        escaped(&page.head.title)
    );
    for (suite, runs) in &suites {
        let [tests, failures, errors, skipped] = count_outcomes(runs.iter().copied());
        let known: Vec<f64> = runs.iter().filter_map(|run| run.seconds).collect();
        // Without known times the attribute is omitted; 0 would be wrong.
        let time = if known.is_empty() {
            String::new()
        } else {
            format!(" time=\"{}\"", fixed(known.iter().sum::<f64>(), 3))
        };
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"{time}>",
            escaped(suite)
        );
        for run in runs {
            case(&mut out, run);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn count_outcomes<'a>(runs: impl Iterator<Item = &'a RunLine>) -> [u64; 4] {
    let mut counts = [0; 4];
    for run in runs {
        counts[0] += 1;
        match verdict(run) {
            Verdict::Passed => {}
            Verdict::Failed(_) => counts[1] += 1,
            Verdict::Error(_) => counts[2] += 1,
            Verdict::Skipped(_) => counts[3] += 1,
        }
    }
    counts
}

fn verdict(run: &RunLine) -> Verdict<'_> {
    let reason = run.reason.as_deref();
    match (run.state, run.scoring, run.passed) {
        (RunState::Error, ..) => {
            Verdict::Error(reason.unwrap_or("The run ended in a system error."))
        }
        (_, Some(ScoreStanding::Failed), _) => {
            Verdict::Error(reason.unwrap_or("The scorer failed."))
        }
        (RunState::Damaged, ..) => Verdict::Error(reason.unwrap_or("The file cannot be read.")),
        (_, _, Some(true)) => Verdict::Passed,
        (_, _, Some(false)) => Verdict::Failed(reason.unwrap_or("The answer is not right.")),
        (_, Some(ScoreStanding::Scored), None) => {
            Verdict::Skipped("The run has a score, but no threshold.")
        }
        _ => Verdict::Skipped(reason.unwrap_or("The run was not scored.")),
    }
}

fn case(out: &mut String, run: &RunLine) {
    let mut called = run.variation.clone().unwrap_or_else(|| "run".to_owned());
    if run.repeat > 1 {
        let _ = write!(called, " (repeat {})", run.repeat);
    }
    let time =
        run.seconds.map_or_else(String::new, |seconds| format!(" time=\"{}\"", fixed(seconds, 3)));
    let task = run.task.as_deref().unwrap_or(&run.path);
    let _ = write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\"{time}",
        escaped(task),
        escaped(&called),
        escaped(&run.path)
    );
    let inner: String = [outcome(run), system_out(run)].into_iter().flatten().collect();
    if inner.is_empty() {
        out.push_str("/>\n");
    } else {
        let _ = writeln!(out, ">\n{inner}    </testcase>");
    }
}

/// Formats the outcome of a run that did not pass.
fn outcome(run: &RunLine) -> Option<String> {
    let (kind, message, type_) = match verdict(run) {
        Verdict::Passed => return None,
        Verdict::Failed(why) => ("failure", why, run.class.map_or("wrong answer", words::class)),
        Verdict::Error(why) => ("error", why, run.class.map_or("error", words::class)),
        Verdict::Skipped(why) => ("skipped", why, ""),
    };
    let score = run.score.map_or_else(String::new, |score| format!("score {}", fixed(score, 4)));
    let type_ =
        if kind == "skipped" { String::new() } else { format!(" type=\"{}\"", escaped(type_)) };
    Some(format!(
        "      <{kind} message=\"{}\"{type_}>{}</{kind}>\n",
        escaped(message),
        escaped(&score)
    ))
}

/// Formats the review of a run. All JUnit dialects accept `system-out` after the outcome.
fn system_out(run: &RunLine) -> Option<String> {
    let said = words::review(run)?;
    let apart = if notes::contradicts(run.verdict, run.passed) { " (not as scored)" } else { "" };
    Some(format!("      <system-out>A person says{apart}: {}</system-out>\n", escaped(&said)))
}

fn name(name: Option<&str>) -> &str {
    name.unwrap_or("unknown")
}

/// Escapes a text for XML, and replaces characters that XML does not allow.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
