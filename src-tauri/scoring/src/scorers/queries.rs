//! **Pure.** Scorers for queries of `StableToolBench`: called APIs, `Finish`, and the heuristic
//! that its documentation falls back to without a judge. Based on actions, so they score runs
//! without an answer too.
use super::scorer::Scorer;
use super::words::{cut, decimals, ratio, share};
use super::{Case, Outcome, Scored};
use touchstone_judges::stabletoolbench::{
    ApiCalls, Called, Finish, FinishRule, HeuristicVerdict, Offered, Returned, literal,
};
use touchstone_model::json;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

/// Maximum number of names in a sentence.
const MOST: usize = 5;
const NO_QUERY: &str = "The task is not a query of StableToolBench.";
const UNTOLD: &str = "The file does not record tool calls.";

/// Scores the share of the gold APIs that were called.
pub(super) fn api_calls(
    scorer: &Scorer,
    case: &Case<'_>,
    offered: &Offered,
    seed: bool,
) -> Outcome {
    if case.told.is_some_and(|told| told.untold) {
        return Outcome::NoExpected(UNTOLD.to_owned());
    }
    if seed {
        let score = as_the_original(case, offered);
        let reason = format!(
            "{} as the original counts: what stands before the first `_` of a name is taken for the tool",
            decimals(score, 4)
        );
        return Outcome::Scored(Scored::new(score, scorer.passes(score, score >= 1.0), reason));
    }
    let counts = counted(case, offered);
    let Some(score) = counts.score() else {
        return Outcome::NoExpected("The query does not list its gold APIs.".to_owned());
    };
    let failed = case.calls.iter().filter(|(_, failed)| *failed).count();
    let all = counts.missing.is_empty();
    let mut parts = vec![format!("{} called", share(counts.hits.len(), counts.gold, "gold API"))];
    if !all {
        parts.push(format!(
            "never called: {}",
            few(counts.missing.iter().map(|pair| pair.api.clone()))
        ));
    }
    if !counts.unknown.is_empty() {
        parts.push(format!("no API of the query: {}", few(counts.unknown.iter().cloned())));
    }
    if counts.ambiguous {
        parts
            .push("ambiguous: the name of a function stands for several APIs, and the first of them counts".to_owned());
    }
    if failed > 0 {
        parts.push(format!("{failed} of {} calls failed", case.calls.len()));
    }
    let mut verdict = Scored::new(score, scorer.passes(score, all), parts.join(", "))
        .with("called", format!("{} of {}", counts.hits.len(), counts.gold))
        .with("precision", ratio(counts.hits.len(), counts.called()));
    for (name, found) in [
        ("gold, called", &counts.hits),
        ("gold, not called", &counts.missing),
        ("others", &counts.extra),
    ] {
        if !found.is_empty() {
            verdict = verdict.with(name, apis(found));
        }
    }
    if let (true, Some(most)) = (counts.ambiguous, counts.at_most()) {
        verdict = verdict.with("if each API of a shared name counted", decimals(most, 4));
    }
    verdict =
        verdict.with("calls", case.calls.len().to_string()).with("failed", failed.to_string());
    Outcome::Scored(verdict)
}

/// Scores 1 if `Finish` was called as the rule requires, otherwise 0.
pub(super) fn finish(scorer: &Scorer, case: &Case<'_>, rule: FinishRule) -> Outcome {
    if case.offered.is_none() {
        return Outcome::NoExpected(NO_QUERY.to_owned());
    }
    if no_calls_are_told(case) {
        return Outcome::NoExpected(UNTOLD.to_owned());
    }
    let finish = finished(case);
    let holds = finish.holds(rule);
    let score = if holds { 1.0 } else { 0.0 };
    let reason = match rule {
        FinishRule::Seed => {
            "the original looks for `Finish` in the wrong place, and never finds it"
        }
        FinishRule::Official if holds => "`Finish` is the last tool call",
        FinishRule::Official => "`Finish` is not the last tool call",
        _ if !finish.called => "`Finish` was never called",
        FinishRule::Document => "`Finish` was called",
        FinishRule::Ours if !holds => "`Finish` was called to give up",
        FinishRule::Ours if finish.returned.is_none() => {
            "`Finish` was called, and its arguments are unknown"
        }
        FinishRule::Ours => "`Finish` was called with an answer",
    };
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let verdict = Scored::new(score, scorer.passes(score, holds), reason)
        .with("rule", rule.name())
        .with("called", yes(finish.called))
        .with("last tool call", yes(finish.last));
    Outcome::Scored(verdict)
}

/// Scores the run by the heuristic that the documentation falls back to without a judge.
pub(super) fn heuristic(scorer: &Scorer, case: &Case<'_>, seed: bool) -> Outcome {
    let Some(offered) = case.offered else { return Outcome::NoExpected(NO_QUERY.to_owned()) };
    if no_calls_are_told(case) {
        return Outcome::NoExpected(UNTOLD.to_owned());
    }
    let (finished, api_calls) = if seed {
        (finished(case).holds(FinishRule::Seed), as_the_original(case, offered))
    } else {
        (finished(case).holds(FinishRule::Ours), counted(case, offered).score().unwrap_or(0.0))
    };
    let answer = final_answer(case);
    let likely = HeuristicVerdict::estimate(&answer, finished, api_calls);
    let score = likely.score();
    let calls = decimals(api_calls, 4);
    let why = if answer.trim().is_empty() {
        "there is no answer".to_owned()
    } else {
        let finished = if finished { "finished" } else { "not finished" };
        format!("“{}”, {finished}, API call score {calls}", cut(&answer))
    };
    let verdict = Scored::new(
        score,
        scorer.passes(score, likely == HeuristicVerdict::Solved),
        format!("not a judgement: {why}"),
    )
    .with("status", likely.name())
    .with("finished", if finished { "yes" } else { "no" })
    .with("API call score", calls)
    .with("length", answer.chars().count().to_string());
    Outcome::Scored(verdict)
}

fn counted(case: &Case<'_>, offered: &Offered) -> ApiCalls {
    match case.told.and_then(|told| told.apis.as_ref()) {
        Some(apis) => ApiCalls::count(offered, apis.iter().map(Called::Pair)),
        None => ApiCalls::count(offered, case.calls.iter().map(|(name, _)| Called::Name(name))),
    }
}

fn as_the_original(case: &Case<'_>, offered: &Offered) -> f64 {
    literal(offered, case.calls.iter().map(|(name, _)| name.as_str()))
}

/// Returns true if the calls are unknown. A file that only lists APIs does not tell if `Finish` was
/// called.
fn no_calls_are_told(case: &Case<'_>) -> bool {
    case.told.is_some_and(|told| told.untold || (told.apis.is_some() && case.calls.is_empty()))
}

/// Returns the state of `Finish`, by the arguments of its last call, regardless of the source of
/// the answer.
fn finished(case: &Case<'_>) -> Finish {
    let returned = case.told.and_then(|told| told.gave_up).map(Returned::from_gave_up);
    Finish::from_calls(case.calls.iter().map(|(name, _)| (name.as_str(), returned)))
}

fn final_answer(case: &Case<'_>) -> String {
    match case.answer {
        None | Some(Value::Null) => String::new(),
        Some(Value::Text(text)) => text.clone(),
        Some(value) => match value.get("final_answer") {
            Some(Value::Text(text)) => text.clone(),
            _ => json::write(value, false),
        },
    }
}

fn apis(pairs: &[ApiName]) -> String {
    few(pairs.iter().map(|pair| format!("{} of {}", pair.api, pair.tool)))
}

/// Formats the first few names as code.
fn few(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MOST);
    let first: Vec<String> = names.take(MOST).map(|name| format!("`{name}`")).collect();
    if more > 0 { format!("{} and {more} more", first.join(", ")) } else { first.join(", ") }
}
