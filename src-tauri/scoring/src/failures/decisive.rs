//! **Pure.** The earliest decisive step of a failed run: where it leaves the passing runs of its
//! task for good.
//!
//! Two runs agree where they take the same step, whatever its wording. A run leaves a passing run
//! for good where it takes another step in place of one, even if it agrees with it later, and at
//! the latest after the last step on which they agree. Steps that it takes besides are detours,
//! which do not count. It also leaves the passing runs where a call of a tool is missing that all of
//! them call and the failed run never does. Of several passing runs, the one that the failed run
//! follows the longest is the baseline.
use super::detect::tool;
use crate::align::{Alignment, Digest, Row, acts, agree, align};
use std::collections::BTreeSet;
use touchstone_model::run::{Run, Step};

/// What is kept of a passing run for comparing failed ones with it.
#[derive(Debug, Clone, Default)]
pub struct PassingRun {
    digests: Vec<Digest>,
    /// For each step, the tool that it calls.
    calls: Vec<Option<String>>,
}

impl PassingRun {
    /// Keeps what is needed of a run.
    pub fn new(run: &Run, digests: Vec<Digest>) -> Self {
        let call = |step: &Step| tool(step).map(str::to_owned);
        Self { digests, calls: run.steps.iter().map(call).collect() }
    }

    /// Returns the tools that it calls.
    pub fn tools(&self) -> BTreeSet<&str> {
        self.calls.iter().filter_map(Option::as_deref).collect()
    }
}

/// The step at which a failed run leaves the passing runs for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisiveStep {
    /// Step of the failed run, from 0.
    pub step: u32,
    /// Index of the passing run that is the baseline.
    pub baseline: usize,
    /// Step of the baseline in its place, from 0, if there is one.
    pub instead: Option<u32>,
}

/// Returns the step at which a run leaves another one for good, from 0, and the step of the other
/// one in its place; `None` if they agree to the end. It depends on these two runs alone.
pub fn leaves_for_good(run: &PassingRun, other: &PassingRun) -> Option<(u32, Option<u32>)> {
    let called = run.tools();
    let missed = other.tools().into_iter().filter(|name| !called.contains(name)).collect();
    let alignment = align(&[&other.digests, &run.digests]);
    leaves(&alignment, &run.digests, other, &missed).1
}

/// Returns the earliest decisive step; `None` without passing runs, or if the runs agree to the
/// end.
pub fn decisive_step(
    run: &Run,
    digests: &[Digest],
    passing: &[&PassingRun],
) -> Option<DecisiveStep> {
    let called: BTreeSet<&str> = run.steps.iter().filter_map(tool).collect();
    let missed = tools_of_all(passing).into_iter().filter(|name| !called.contains(name)).collect();
    let mut best: Option<((usize, usize), DecisiveStep)> = None;
    for (baseline, one) in passing.iter().enumerate() {
        let tools = one.tools();
        // Runs of systems with different tools have no steps in common.
        if !called.is_empty() && !tools.is_empty() && called.is_disjoint(&tools) {
            continue;
        }
        let alignment = align(&[&one.digests, digests]);
        let (followed, found) = leaves(&alignment, digests, one, &missed);
        // A run that agrees to the end has no decisive step, whatever the others did.
        found?;
        // Which run it is compared with depends on all of them; where it leaves that one, on it
        // alone, as in a comparison of the two.
        let missed = tools.into_iter().filter(|name| !called.contains(name)).collect();
        let (alone, found) = leaves(&alignment, digests, one, &missed);
        let (step, instead) = found?;
        let decisive = DecisiveStep { step, baseline, instead };
        if best.as_ref().is_none_or(|(longest, _)| (followed, alone) > *longest) {
            best = Some(((followed, alone), decisive));
        }
    }
    best.map(|(_, decisive)| decisive)
}

/// Returns the tools that every one of at least two passing runs calls, or the only one.
fn tools_of_all<'p>(passing: &[&'p PassingRun]) -> BTreeSet<&'p str> {
    let mut tools = passing.iter().map(|one| one.tools());
    let first = tools.next().unwrap_or_default();
    tools.fold(first, |all, one| all.intersection(&one).copied().collect())
}

type LeavingStep = Option<(u32, Option<u32>)>;

/// Returns the number of steps of the failed run that are taken when it leaves a passing run for
/// good, and its next step with the step of the passing run in its place.
fn leaves(
    alignment: &Alignment,
    digests: &[Digest],
    passing: &PassingRun,
    missed: &BTreeSet<&str>,
) -> (usize, LeavingStep) {
    let rows = &alignment.rows;
    let pair = |row: &Row| digests.get(row.steps[1]?).zip(passing.digests.get(row.steps[0]?));
    let last_agreed =
        rows.iter().rposition(|row| pair(row).is_some_and(|(ours, theirs)| agree(ours, theirs)));
    let replaced = rows.iter().position(|row| {
        pair(row).is_some_and(|(ours, theirs)| acts(ours) && acts(theirs) && !agree(ours, theirs))
    });
    let first_missed = rows.iter().position(|row| {
        let name = row.steps[0].and_then(|at| passing.calls.get(at)?.as_deref());
        name.is_some_and(|name| missed.contains(name))
    });
    // Where a call is missing or replaced, nothing after it counts as agreement.
    let agreed = last_agreed.map_or(0, |agreed| agreed + 1);
    let from = [first_missed, replaced].into_iter().flatten().fold(agreed, usize::min);
    let step = |at: Option<usize>| at.and_then(|at| u32::try_from(at).ok());
    let mut instead = None;
    for row in rows.iter().skip(from) {
        if instead.is_none()
            && row.steps[0].is_some_and(|at| passing.digests.get(at).is_some_and(acts))
        {
            instead = step(row.steps[0]);
        }
        let ours = row.steps[1].filter(|at| digests.get(*at).is_some_and(acts));
        if let Some(ours) = ours {
            return (ours, step(Some(ours)).map(|ours| (ours, instead)));
        }
    }
    // It ends while the passing run goes on.
    let last = rows.iter().rev().find_map(|row| row.steps[1]);
    let ends_early = instead.is_some().then_some(()).and(step(last)).map(|last| (last, instead));
    (digests.len(), ends_early)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::digests;
    use touchstone_model::run::{Part, StepKind};
    use touchstone_model::value::Value;

    /// Builds a run of one-word steps: `user`, `say:words`, `end:words`, `tool:argument`,
    /// `tool:argument!` for a call that fails.
    fn run(text: &str) -> Run {
        let step = |word: &str| {
            let (name, rest) = word.split_once(':').unwrap_or((word, ""));
            let part = |label: &str, text: &str| Part {
                label: label.into(),
                value: Value::from(text),
                ..Part::default()
            };
            let kind = match name {
                "user" => StepKind::User,
                "say" | "end" => StepKind::Assistant,
                _ => StepKind::ToolCall,
            };
            let is_call = kind == StepKind::ToolCall;
            let failed = rest.ends_with('!');
            let argument = rest.trim_end_matches('!');
            let result = format!("{name} {argument} {failed}");
            let parts = if is_call {
                vec![part("query", argument), part("result", &result)]
            } else {
                vec![part("message", rest)]
            };
            let title = is_call.then(|| name.to_owned());
            Step { kind, title, failed: is_call.then_some(failed), parts, ..Step::default() }
        };
        Run { steps: text.split_whitespace().map(step).collect(), ..Run::default() }
    }

    fn decisive(failed: &str, passing: &[&str]) -> Option<(u32, usize, Option<u32>)> {
        let keep = |text: &&str| {
            let run = run(text);
            let digests = digests(&run);
            PassingRun::new(&run, digests)
        };
        let passing: Vec<PassingRun> = passing.iter().map(keep).collect();
        let run = run(failed);
        let passing: Vec<&PassingRun> = passing.iter().collect();
        let found = decisive_step(&run, &digests(&run), &passing)?;
        Some((found.step, found.baseline, found.instead))
    }

    #[test]
    fn a_run_leaves_after_the_last_step_on_which_it_agrees() {
        let passing = "user a:1 b:2 c:3 end:yes";
        for (failed, expected) in [
            ("user a:1 x:9 y:8 end:no", (2, Some(2))),
            ("user a:1 b:2 c:3 end:no", (4, Some(4))),
            ("user x:9 a:7 end:no", (1, Some(1))),
        ] {
            let found = decisive(failed, &[passing]).map(|(step, _, instead)| (step, instead));
            assert_eq!(found.map(|it| it.0), Some(expected.0), "{failed}");
        }
    }

    #[test]
    fn detours_do_not_count() {
        let passing = "user a:1 b:2 c:3 end:yes";
        let detour = "user say:hm a:1 x:7 b:5! b:2 say:so c:3 end:no";
        assert_eq!(decisive(detour, &[passing]), Some((8, 0, Some(4))));
    }

    #[test]
    fn a_step_in_place_of_another_is_left_for_good_even_if_they_agree_later() {
        let passing = "user a:1 b:2 c:3 end:yes";
        assert_eq!(decisive("user a:1 b:9 c:3 end:no", &[passing]), Some((2, 0, Some(2))));
        let detour = "user a:1 x:1 b:9 say:so c:3 end:no";
        assert_eq!(decisive(detour, &[passing]), Some((3, 0, Some(2))));
    }

    #[test]
    fn a_call_that_fails_where_the_other_worked_is_no_agreement() {
        let found = decisive("user a:1 b:2! end:no", &["user a:1 b:2 end:yes"]);
        assert_eq!(found, Some((2, 0, Some(2))));
    }

    #[test]
    fn a_tool_that_every_passing_run_calls_is_missed_where_it_belongs() {
        let passing = ["user a:1 b:2 c:3 end:yes", "user a:1 b:4 c:3 end:yes"];
        let found = decisive("user a:1 c:3 end:no", &passing).map(|(step, ..)| step);
        assert_eq!(found, Some(2));
        let optional = ["user a:1 b:2 c:3 end:yes", "user a:1 c:3 end:yes"];
        let found = decisive("user a:1 c:3 end:no", &optional).map(|(step, ..)| step);
        assert_eq!(found, Some(3));
    }

    #[test]
    fn the_baseline_is_the_passing_run_that_is_followed_the_longest() {
        let passing = ["user a:9 y:2 end:yes", "user a:1 b:2 c:3 end:yes"];
        assert_eq!(decisive("user a:1 b:2 d:4 end:no", &passing), Some((3, 1, Some(3))));
    }

    #[test]
    fn runs_with_other_tools_are_not_compared() {
        assert_eq!(decisive("user a:1 end:no", &["user x:1 end:yes"]), None);
        assert_eq!(decisive("user end:no", &["user x:1 end:yes"]), Some((1, 0, Some(1))));
    }

    #[test]
    fn without_passing_runs_or_differences_there_is_no_decisive_step() {
        assert_eq!(decisive("user a:1 end:no", &[]), None);
        assert_eq!(decisive("user a:1 end:yes", &["user a:1 end:yes"]), None);
    }

    #[test]
    fn a_run_that_ends_early_leaves_at_its_last_step() {
        assert_eq!(decisive("user a:1", &["user a:1 b:2 end:yes"]), Some((1, 0, Some(2))));
    }
}
