//! **Pure.** Finds the failure modes of one run, from its steps, its end and its answer.
use super::answers::wrong_parts;
use super::modes::{Cause, Mode};
use super::templates::{error_message, template};
use super::text::{last_message, quote};
use crate::align::Digest;
use crate::diff::Options;
use crate::missing_calls;
use crate::scorers::{Ending, Failure, Stop, failure_class, gives_up};
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_formats::stabletoolbench::answers;
use touchstone_model::run::{Run, RunEnd, Step, StepKind};
use touchstone_model::value::Value;

/// Number of equal calls from which they are a mode of failure.
const REPEATED: u32 = 3;
/// Name of a program in a run whose programs have no name.
const PROGRAM: &str = "program";
/// Maximum number of findings of a run.
const MOST_FINDINGS: usize = 24;

/// A run that failed, with what is known about it.
#[derive(Debug, Clone, Copy)]
pub struct FailedRun<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its digests ([`crate::align::digests`]).
    pub digests: &'a [Digest],
    /// Way in which it stopped.
    pub stop: Stop,
    /// Reason of its state.
    pub reason: Option<&'a str>,
    /// Expected answer.
    pub expected: Option<&'a Value>,
    /// Options by which the task compares answers.
    pub options: &'a Options,
    /// Tools that must be called.
    pub expected_calls: &'a [String],
    /// Scorer that the run failed.
    pub scorer: Option<&'a str>,
    /// Reason of its score.
    pub score_reason: Option<&'a str>,
}

/// A mode of failure found in a run, with evidence. Many runs can share the cause and the template,
/// so that findings of many runs stay small.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The cause; of an error, the detail is still empty.
    pub cause: Arc<Cause>,
    /// Template of the error, from which the detail follows once all errors are known.
    pub template: Arc<[String]>,
    /// Step that shows it, from 0.
    pub step: Option<u32>,
    /// Quotation that shows it; empty if there is nothing to quote.
    pub quote: String,
    /// Number of equal calls, for [`Mode::RepeatedCall`].
    pub times: u32,
}

impl Finding {
    fn new(mode: Mode, subject: &str, detail: &str, step: Option<usize>, said: &str) -> Self {
        Self {
            cause: Arc::new(Cause::new(mode, subject, detail)),
            template: Arc::default(),
            step: step.and_then(|step| u32::try_from(step).ok()),
            quote: quote(said),
            times: 0,
        }
    }

    fn of_error(mode: Mode, subject: &str, step: Option<usize>, message: &str) -> Self {
        Self { template: template(message).into(), ..Self::new(mode, subject, "", step, message) }
    }
}

/// Returns the modes of a failed run in the order of causes; the first one is the main cause. Never
/// empty.
pub fn findings(failed: &FailedRun<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(ended_by(failed));
    // The model is not to blame for what it did before an error.
    if failed.stop != Stop::Error {
        found.extend(failed_tools(failed.run));
        found.extend(repeated_calls(failed));
        found.extend(never_called(failed));
        found.extend(of_answer(failed));
    }
    if found.is_empty() {
        found.push(unexplained(failed));
    }
    // Stable: within a mode, the most important finding stays first.
    found.sort_by_key(|finding| finding.cause.mode);
    found.dedup_by(|later, first| later.cause == first.cause && later.template == first.template);
    found.truncate(MOST_FINDINGS);
    found
}

/// Returns the error or the limit that ended the run, and answers that were cut off.
fn ended_by(failed: &FailedRun<'_>) -> Option<Finding> {
    let run = failed.run;
    let error = run.steps.iter().enumerate().rfind(|(_, step)| step.kind == StepKind::Error);
    let step = error.map(|(at, _)| at);
    let message = error.map(|(_, step)| step_error(step)).filter(|message| !message.is_empty());
    let imported = run.imported.as_deref();
    let stopped = imported.filter(|imported| imported.end == RunEnd::Limit);
    let message = message
        .or_else(|| imported?.error.as_deref().map(|error| error_message(&error.into())))
        .or_else(|| failed.reason.map(str::to_owned))
        .unwrap_or_default();
    if failed.stop == Stop::Error {
        return Some(error_end(failed, step, &message));
    }
    if stopped.is_some() && is_cut_off(&message) || has_cut_reply(run) {
        return Some(Finding::new(Mode::CutOff, "", "", step, &message));
    }
    if stopped.is_some() {
        let what = own_limit(&message).or_else(|| limit(&message)).unwrap_or_default();
        let step = step.or(run.steps.len().checked_sub(1));
        return Some(Finding::new(Mode::LimitReached, "", what, step, &message));
    }
    let said = last_message(&run.steps).filter(|_| run.answer.is_none());
    said.filter(|(_, text)| has_open_fence(text)).map(|(at, text)| {
        let end: Vec<char> = text.trim_end().chars().rev().take(160).collect();
        let end: String = end.into_iter().rev().collect();
        Finding::new(Mode::CutOff, "", "", Some(at), &format!("…{end}"))
    })
}

/// Returns the finding of a run that ended in an error. Only messages that name a limit of the run
/// itself are limits; a provider speaks of budgets and timeouts, too.
fn error_end(failed: &FailedRun<'_>, step: Option<usize>, message: &str) -> Finding {
    if is_cut_off(message) {
        return Finding::new(Mode::CutOff, "", "", step, message);
    }
    if let Some(what) = own_limit(message) {
        return Finding::new(Mode::LimitReached, "", what, step, message);
    }
    let reason = failed.reason.unwrap_or(message);
    let ending = Ending { stop: Stop::Error, reason: Some(reason), ..Ending::default() };
    if failure_class(&ending) == Some(Failure::Timeout) {
        return Finding::new(Mode::Timeout, "", "", step, message);
    }
    Finding::of_error(Mode::SystemError, "", step, message)
}

fn step_error(step: &Step) -> String {
    let mut parts = step.parts.iter().filter(|part| !part.is_media());
    let part = parts.clone().rfind(|part| part.label == "error").or_else(|| parts.next_back());
    part.map(|part| error_message(&part.value)).unwrap_or_default()
}

/// Returns true if a message says that a reply ended at the limit of its length.
fn is_cut_off(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "cut at the token limit",
        "reply was cut",
        "output_length_exceeded",
        "max_output_tokens",
        "finish_reason: length",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// Returns true if the file says that the last reply ended at the limit of its length.
fn has_cut_reply(run: &Run) -> bool {
    run.facts.iter().any(|(key, value)| {
        let key = key.rsplit('.').next().unwrap_or_default();
        matches!(key, "stop_reason" | "finish_reason")
            && matches!(
                value.text().map(str::to_ascii_lowercase).as_deref(),
                Some("length" | "max_tokens" | "max_output_tokens")
            )
    })
}

/// Returns the limit of the run itself that a message names: context, turns, budget or time.
fn own_limit(message: &str) -> Option<&'static str> {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if has(&[
        "context window",
        "context_length",
        "context length",
        "prompt is too long",
        "exit_context",
    ]) {
        return Some("context");
    }
    if has(&["exit_cost", "max_budget", "cost limit", "max_cost"]) {
        return Some("budget");
    }
    if has(&["timeexceeded", "execution_time", "agenttimeout"]) {
        return Some("time");
    }
    has(&[
        "max_turns",
        "max_steps",
        "max_iterations",
        "max iterations",
        "max turns",
        "max steps",
        "maximum number of turns",
        "maximum number of steps",
        "maximum iterations",
        "turn limit",
        "step limit",
        "recursion limit",
        "too many turns",
        "too many steps",
        "limitsexceeded",
        "max_force_termination",
    ])
    .then_some("turns")
}

/// Returns what a run ran out of, if the message of its limit says so.
fn limit(message: &str) -> Option<&'static str> {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if has(&["message limit"]) || counts_turns(&message) {
        return Some("turns");
    }
    if has(&["budget"]) {
        return Some("budget");
    }
    has(&["time limit", "timeout", "timed out"]).then_some("time")
}

/// Returns true for `30 turns` and `after 30 steps`.
fn counts_turns(message: &str) -> bool {
    let words: Vec<&str> = message.split(|c: char| !c.is_alphanumeric()).collect();
    words.windows(2).any(|pair| {
        !pair[0].is_empty()
            && pair[0].bytes().all(|byte| byte.is_ascii_digit())
            && matches!(pair[1], "turns" | "steps" | "iterations" | "messages" | "rounds")
    })
}

/// Returns true if a code fence is opened and never closed.
fn has_open_fence(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

/// Returns the tools that failed and did not work again, with the last error of each.
fn failed_tools(run: &Run) -> Vec<Finding> {
    let mut order: Vec<&str> = Vec::new();
    let mut last: HashMap<&str, (usize, bool)> = HashMap::new();
    for (at, step) in run.steps.iter().enumerate() {
        let (Some(name), Some(failed)) = (tool(step), step.failed) else { continue };
        if last.insert(name, (at, failed)).is_none() {
            order.push(name);
        }
    }
    let mut found: Vec<(usize, Finding)> = order
        .into_iter()
        .filter_map(|name| {
            let (at, failed) = *last.get(name)?;
            let message = step_error(run.steps.get(at)?);
            failed.then(|| (at, Finding::of_error(Mode::ToolFailed, name, Some(at), &message)))
        })
        .collect();
    // The last failure is the one that the run ended with.
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    found.into_iter().map(|(_, finding)| finding).collect()
}

/// Returns the name of what a step calls.
pub(super) fn tool(step: &Step) -> Option<&str> {
    match step.kind {
        StepKind::ToolCall => step.title.as_deref(),
        StepKind::Program => Some(step.title.as_deref().unwrap_or(PROGRAM)),
        _ => None,
    }
}

/// Returns calls that were made again and again with the same arguments and the same result, the
/// most frequent first.
fn repeated_calls(failed: &FailedRun<'_>) -> Vec<Finding> {
    let mut counts: HashMap<(u64, u64), (u32, usize)> = HashMap::new();
    for (at, (step, digest)) in failed.run.steps.iter().zip(failed.digests).enumerate() {
        if tool(step).is_some() {
            let count = counts.entry(digest.call_and_result()).or_insert((0, at));
            count.0 += 1;
            if count.0 == 2 {
                // The first repetition is the step at which it begins to go wrong.
                count.1 = at;
            }
        }
    }
    let mut repeated: Vec<(u32, usize)> =
        counts.into_values().filter(|(count, _)| *count >= REPEATED).collect();
    repeated.sort_by_key(|(count, at)| (std::cmp::Reverse(*count), *at));
    let finding = |(times, at): (u32, usize)| {
        let step = failed.run.steps.get(at)?;
        let said = step.parts.iter().filter(|part| !is_result(&part.label));
        let said: Vec<String> = said
            .take(4)
            .map(|part| format!("{}: {}", part.label, super::text::quote_value(&part.value)))
            .collect();
        let finding = Finding::new(Mode::RepeatedCall, tool(step)?, "", Some(at), &said.join(", "));
        Some(Finding { times, ..finding })
    };
    repeated.into_iter().filter_map(finding).collect()
}

fn is_result(label: &str) -> bool {
    matches!(label, "result" | "output" | "error")
}

/// Returns the expected tools that were never called.
fn never_called(failed: &FailedRun<'_>) -> Vec<Finding> {
    if failed.run.untold {
        return Vec::new();
    }
    let called: Vec<String> = failed.run.steps.iter().filter_map(tool).map(str::to_owned).collect();
    let said = last_message(&failed.run.steps);
    missing_calls(failed.expected_calls, &called)
        .iter()
        .map(|name| {
            let (step, text) = said.map_or((None, ""), |(at, text)| (Some(at), text));
            Finding::new(Mode::NeverCalled, name, "", step, text)
        })
        .collect()
}

/// Returns how the answer is wrong, or what was said in its place.
fn of_answer(failed: &FailedRun<'_>) -> Vec<Finding> {
    let run = failed.run;
    let said = last_message(&run.steps);
    let (step, text) = said.map_or((None, ""), |(at, text)| (Some(at), text));
    let answer = run.answer.as_ref().map(|answer| &answer.value);
    let is_data = answer.is_some_and(|answer| !matches!(answer, Value::Text(_)));
    if !is_data {
        if gives_up(text) || answers::last_finish(run) == answers::Finish::GaveUp {
            return vec![Finding::new(Mode::GaveUp, "", "", step, text)];
        }
        if answer.is_none() && text.trim_end().ends_with('?') {
            let question = text.trim_end().lines().next_back().unwrap_or_default();
            return vec![Finding::new(Mode::AskedBack, "", "", step, question)];
        }
    }
    if answer.is_none()
        && let Some(why) = run.unread.as_deref()
    {
        return vec![Finding::new(Mode::FormatBreak, "", "is not valid JSON", step, why)];
    }
    let (Some(expected), Some(answer)) = (failed.expected, answer) else { return Vec::new() };
    wrong_parts(expected, answer, failed.options)
        .into_iter()
        .map(|part| Finding {
            cause: Arc::new(part.cause),
            ..Finding::new(Mode::WrongAnswer, "", "", step, &part.quote)
        })
        .collect()
}

/// Returns the finding of a run in which nothing was found.
fn unexplained(failed: &FailedRun<'_>) -> Finding {
    let (step, text) =
        last_message(&failed.run.steps).map_or((None, ""), |(at, text)| (Some(at), text));
    if failed.stop != Stop::Answered && failed.run.answer.is_none() {
        let said = if text.is_empty() { failed.reason.unwrap_or_default() } else { text };
        return Finding::new(Mode::NoAnswer, "", "", step, said);
    }
    let scorer = failed.scorer.unwrap_or_default();
    let said = failed.score_reason.filter(|reason| !reason.is_empty()).unwrap_or(text);
    Finding::new(Mode::WrongAnswer, scorer, "", step, said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::digests;
    use touchstone_model::json;
    use touchstone_model::run::{Answer, ImportedSummary, Part};

    /// Builds a run from text, one step per line: `u` user, `a` assistant, `t name | arguments |
    /// result` call, `x name | arguments | error` failed call, `e` error, `= value` the answer.
    fn run(text: &str) -> Run {
        let part = |label: &str, text: &str| Part {
            label: label.into(),
            value: Value::from(text),
            ..Part::default()
        };
        let mut run = Run::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let words: Vec<&str> = rest.split(" | ").collect();
            let said = |kind, label| Step {
                kind,
                parts: vec![part(label, &rest.replace("\\n", "\n"))],
                ..Step::default()
            };
            let called = |failed, label| Step {
                kind: StepKind::ToolCall,
                title: Some(words[0].to_owned()),
                failed: Some(failed),
                parts: vec![part("query", words[1]), part(label, words[2])],
                ..Step::default()
            };
            run.steps.push(match kind {
                "u" => said(StepKind::User, "message"),
                "a" => said(StepKind::Assistant, "message"),
                "e" => said(StepKind::Error, "error"),
                "t" => called(false, "result"),
                "x" => called(true, "error"),
                _ => {
                    run.answer = Some(Answer {
                        value: json::read(rest).unwrap(),
                        source: String::new(),
                        lenient: false,
                    });
                    continue;
                }
            });
        }
        run
    }

    fn found(run: &Run) -> Vec<Finding> {
        let stop = match (&run.answer, run.steps.last()) {
            (Some(_), _) => Stop::Answered,
            (None, Some(step)) if step.kind == StepKind::Error => Stop::Error,
            _ => Stop::NoAnswer,
        };
        findings(&FailedRun {
            run,
            digests: &digests(run),
            stop,
            reason: None,
            expected: Some(&Value::Number("7".into())),
            options: &Options::default(),
            expected_calls: &["orders".to_owned()],
            scorer: Some("fields"),
            score_reason: Some("0 of 1 fields right"),
        })
    }

    fn modes(text: &str) -> Vec<(Mode, String, Option<u32>)> {
        let told = |it: Finding| (it.cause.mode, it.cause.subject.clone(), it.step);
        found(&run(text)).into_iter().map(told).collect()
    }

    #[test]
    fn each_mode_is_found_with_the_step_that_shows_it() {
        for (text, mode, subject, step) in [
            ("e The provider answered 529 overloaded_error", Mode::SystemError, "", Some(0)),
            ("u go\n e No reply came within 600 seconds", Mode::Timeout, "", Some(1)),
            ("e The reply was cut at the token limit.", Mode::CutOff, "", Some(0)),
            ("t orders | a | 1\n a Here:\\n```json\\n[1, 2", Mode::CutOff, "", Some(1)),
            (
                "t orders | a | 1\n e The run stopped after 30 turns (`max_turns`).",
                Mode::LimitReached,
                "",
                Some(1),
            ),
            ("x orders | a | order 7 not found\n a Sorry.", Mode::ToolFailed, "orders", Some(0)),
            (
                "t orders | a | 1\n t orders | a | 1\n t orders | a | 1\n a So.",
                Mode::RepeatedCall,
                "orders",
                Some(1),
            ),
            ("t orders | a | 1\n a I cannot answer this.", Mode::GaveUp, "", Some(1)),
            ("t orders | a | 1\n a Which one do you mean?", Mode::AskedBack, "", Some(1)),
            ("t other | a | 1\n a Done.", Mode::NeverCalled, "orders", Some(1)),
            ("t orders | a | 1\n a Done.\n = 700", Mode::WrongField, "", Some(1)),
            ("t orders | a | 1\n a Done.\n = [7]", Mode::FormatBreak, "", Some(1)),
            ("t orders | a | 1\n a Done.\n = 41", Mode::WrongAnswer, "fields", Some(1)),
            ("t orders | a | 1\n a Done.", Mode::NoAnswer, "", Some(1)),
        ] {
            assert_eq!(modes(text)[0], (mode, subject.to_owned(), step), "{text}");
        }
    }

    #[test]
    fn what_happened_first_in_the_order_of_causes_is_the_main_cause() {
        let all = modes("x plans | a | denied\n t other | b | 1\n a I cannot answer this.");
        let all: Vec<Mode> = all.into_iter().map(|(mode, ..)| mode).collect();
        assert_eq!(all, [Mode::ToolFailed, Mode::GaveUp, Mode::NeverCalled]);
    }

    #[test]
    fn an_error_of_the_system_has_no_other_modes() {
        let all = modes("x orders | a | denied\n a I cannot answer this.\n e overloaded");
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn messages_of_providers_are_errors_whatever_they_speak_of() {
        for (message, mode) in [
            ("Request timed out.", Mode::Timeout),
            ("The provider answered 504 Gateway timeout", Mode::Timeout),
            ("Connection error: read timed out (60 s)", Mode::Timeout),
            ("Error 429: the monthly budget is used up.", Mode::SystemError),
            ("429: limit of 50 messages per minute reached", Mode::SystemError),
            ("Rate limited: message limit of your plan reached", Mode::SystemError),
            ("500: response body truncated at 2000 bytes", Mode::SystemError),
            ("This model's maximum context length is 128000 tokens", Mode::LimitReached),
            ("The reply was cut at the token limit.", Mode::CutOff),
        ] {
            let all = modes(&format!("t other | a | 1\n a I cannot answer this.\n e {message}"));
            let all: Vec<Mode> = all.into_iter().map(|(mode, ..)| mode).collect();
            assert_eq!(all, [mode], "{message}");
        }
    }

    #[test]
    fn a_tool_that_worked_again_and_a_call_that_brought_something_new_are_no_failure() {
        for text in [
            "x orders | a | denied\n t orders | a | 1\n a So.",
            "t orders | a | 1\n t orders | a | 2\n t orders | a | 3\n a So.",
            "t orders | a | 1\n t orders | b | 1\n t orders | c | 1\n a So.",
        ] {
            assert_eq!(modes(text)[0].0, Mode::NoAnswer, "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_there_is_not_given_up_whatever_is_said_beside_it() {
        assert_eq!(
            modes("t orders | a | 1\n a I cannot answer more.\n = 41")[0].0,
            Mode::WrongAnswer
        );
    }

    #[test]
    fn limits_say_what_ran_out() {
        for (message, what) in [
            ("The run stopped after 30 turns (`max_turns`).", Some("turns")),
            ("max_steps", Some("turns")),
            ("Max turns exceeded", Some("turns")),
            ("LimitsExceeded", Some("turns")),
            ("prompt is too long: 210000 tokens", Some("context")),
            ("submitted (exit_cost)", Some("budget")),
            ("AgentTimeoutError: late", Some("time")),
            ("order 17 not found", None),
            ("overloaded_error", None),
        ] {
            assert_eq!(own_limit(message).or_else(|| limit(message)), what, "{message}");
        }
    }

    #[test]
    fn a_limit_of_another_tool_is_a_limit_although_the_run_has_no_error() {
        let limited = |error: Option<&str>| {
            let summary = ImportedSummary {
                end: RunEnd::Limit,
                error: error.map(str::to_owned),
                ..ImportedSummary::default()
            };
            let run = run("t orders | a | 1\n a Working.");
            let run = Run { imported: Some(Box::new(summary)), ..run };
            found(&run)[0].cause.title((0, 0))
        };
        assert_eq!(limited(Some("max_steps")), "Ran out of turns");
        assert_eq!(limited(None), "Stopped by a limit");
        assert_eq!(limited(Some("output_length_exceeded")), "Answer cut off");
    }

    #[test]
    fn without_records_of_calls_their_absence_means_nothing() {
        let run = Run { untold: true, ..run("a Done.") };
        assert_eq!(found(&run)[0].cause.mode, Mode::NoAnswer);
    }

    #[test]
    fn a_finding_quotes_what_shows_it() {
        let failed = found(&run("x orders | a | order 7 not found\n a Sorry."));
        assert_eq!(
            (failed[0].quote.as_str(), failed[0].template.join(" ").as_str()),
            ("order 7 not found", "order <n> not found")
        );
        let wrong = found(&run("t orders | a | 1\n a Done.\n = 700"));
        assert_eq!(wrong[0].quote, "expected 7, got 700");
        let repeated = found(&run(&"t orders | page 2 | 1\n".repeat(4)));
        assert_eq!((repeated[0].quote.as_str(), repeated[0].times), ("query: page 2", 4));
    }
}
