//! **Pure.** Groups of steps: a sub-agent or an abandoned branch with all steps that it contains.
use super::pieces::Budget;
use touchstone_api::{GroupEnd, StepGroup};
use touchstone_model::nesting::{level, subtree_ends};
use touchstone_model::run::{Run, Step, StepKind};

/// Maximum number of groups.
const MAX_GROUPS: usize = 2_000;
/// Maximum JSON bytes of all prompts and names (`MAX_PROMPTS`), and bytes of one of them.
const MAX_PROMPTS: usize = 64 << 10;
const MAX_PROMPT: usize = 160;
const MAX_NAME: usize = 80;

/// Returns the groups of a run in the order of their steps; at most `MAX_GROUPS`.
pub(super) fn step_groups(run: &Run) -> Vec<StepGroup> {
    let ends = subtree_ends(run.steps.iter().map(|step| step.depth));
    let sums = sums(&run.steps, &ends);
    let mut budget = Budget::new(MAX_PROMPTS);
    let groups = ends.iter().enumerate().filter(|(at, end)| **end > at + 1);
    groups
        .take(MAX_GROUPS)
        .map(|(at, end)| {
            let inner = || level(&ends, at + 1..*end).filter_map(|at| run.steps.get(at));
            let prompt = inner().find(|step| step.kind == StepKind::User).and_then(message);
            let sum = &sums[at];
            StepGroup {
                step: super::count(at),
                name: run.steps[at].title.as_deref().map(|name| budget.name(name, MAX_NAME)),
                steps: super::count(end - at - 1),
                failed: sum.failed,
                seconds: sum.seconds,
                tokens: sum.tokens,
                end: end_of(inner()),
                prompt: prompt.map(|text| one_line(text, &mut budget)).filter(|it| !it.is_empty()),
            }
        })
        .collect()
}

/// Values of a step with all that it contains.
#[derive(Debug, Clone, Default)]
struct Sum {
    /// Failed calls inside.
    failed: u32,
    seconds: Option<f64>,
    tokens: Option<u64>,
}

/// Sums from the innermost steps outwards: what a step records itself replaces the sum of what it
/// contains.
fn sums(steps: &[Step], ends: &[usize]) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); steps.len()];
    for (at, step) in steps.iter().enumerate().rev() {
        let mut all = Sum::default();
        for inner in level(ends, at + 1..ends[at]) {
            let sum = &sums[inner];
            let is_failed = steps[inner].failed == Some(true);
            all.failed = all.failed.saturating_add(sum.failed).saturating_add(u32::from(is_failed));
            all.seconds = added(all.seconds, sum.seconds, |a, b| a + b);
            all.tokens = added(all.tokens, sum.tokens, u64::saturating_add);
        }
        let recorded = step.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        all.seconds = recorded.or(all.seconds);
        all.tokens = step.tokens.or(all.tokens);
        sums[at] = all;
    }
    sums
}

fn added<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// Returns how a group ended, by its last step and by the calls after its last message.
fn end_of<'s>(steps: impl Iterator<Item = &'s Step>) -> GroupEnd {
    steps.fold(GroupEnd::Ended, |end, step| match (step.kind, end) {
        (StepKind::Error, _) => GroupEnd::Error,
        (StepKind::ToolCall, _) if step.failed.is_none() => GroupEnd::NoResult,
        (StepKind::User | StepKind::Assistant, _) | (_, GroupEnd::Error) => GroupEnd::Ended,
        (_, end) => end,
    })
}

fn message(step: &Step) -> Option<&str> {
    step.parts.iter().find(|part| part.label == "message")?.value.text()
}

fn one_line(text: &str, budget: &mut Budget) -> String {
    let text = text.get(..text.floor_char_boundary(4 * MAX_PROMPT)).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    budget.fit(&words.join(" "), MAX_PROMPT).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::run::Part;
    use touchstone_model::value::Value;

    fn step(depth: u32, kind: StepKind) -> Step {
        Step { depth, kind, ..Step::default() }
    }

    fn says(depth: u32, kind: StepKind, text: &str) -> Step {
        let part = Part { label: "message".into(), value: Value::from(text), ..Part::default() };
        Step { parts: vec![part], ..step(depth, kind) }
    }

    fn call(depth: u32, failed: Option<bool>, seconds: Option<f64>, tokens: Option<u64>) -> Step {
        Step { failed, seconds, tokens, ..step(depth, StepKind::ToolCall) }
    }

    fn groups(steps: Vec<Step>) -> Vec<StepGroup> {
        step_groups(&Run { steps, ..Run::default() })
    }

    #[test]
    fn a_run_without_nested_steps_has_no_groups() {
        use StepKind::{Assistant, SubAgent, User};
        assert_eq!(groups(Vec::new()), []);
        assert_eq!(groups(vec![step(0, User), step(0, SubAgent), step(0, Assistant)]), []);
    }

    #[test]
    fn a_group_counts_all_that_it_contains_and_what_is_not_recorded_stays_unknown() {
        use StepKind::{Assistant, SubAgent, User};
        let own = Step { seconds: Some(9.0), ..step(1, SubAgent) };
        let found = groups(vec![
            says(0, User, "main"),
            step(0, SubAgent),
            says(1, User, "look\n  at   this"),
            call(1, Some(true), Some(1.5), None),
            own,
            call(2, Some(true), Some(100.0), Some(7)),
            call(2, None, None, None),
            says(1, Assistant, "done"),
            step(0, SubAgent),
            step(1, Assistant),
        ]);
        let outer = StepGroup {
            step: 1,
            name: None,
            steps: 6,
            failed: 2,
            seconds: Some(10.5),
            tokens: Some(7),
            end: GroupEnd::Ended,
            prompt: Some("look at this".to_owned()),
        };
        let inner = StepGroup {
            step: 4,
            name: None,
            steps: 2,
            failed: 1,
            seconds: Some(9.0),
            tokens: Some(7),
            end: GroupEnd::NoResult,
            prompt: None,
        };
        let last = StepGroup {
            step: 8,
            name: None,
            steps: 1,
            failed: 0,
            seconds: None,
            tokens: None,
            end: GroupEnd::Ended,
            prompt: None,
        };
        assert_eq!(found, [outer, inner, last]);
    }

    #[test]
    fn a_call_without_a_result_after_the_last_message_is_told_wherever_it_stands() {
        use StepKind::{Assistant, SubAgent};
        let (open, closed) = (call(1, None, None, None), call(1, Some(false), None, None));
        let end = |inner: Vec<Step>| groups([vec![step(0, SubAgent)], inner].concat())[0].end;
        assert_eq!(end(vec![open.clone(), closed.clone()]), GroupEnd::NoResult);
        assert_eq!(end(vec![open.clone(), step(1, SubAgent)]), GroupEnd::NoResult);
        assert_eq!(end(vec![open, step(1, Assistant), closed]), GroupEnd::Ended);
    }

    #[test]
    fn a_group_that_ends_in_an_error_says_so() {
        let found = groups(vec![step(0, StepKind::SubAgent), step(1, StepKind::Error)]);
        assert_eq!(found[0].end, GroupEnd::Error);
    }

    #[test]
    fn however_many_and_long_the_groups_are_what_is_sent_is_bounded() {
        let prompt = "word \u{1}".repeat(10_000);
        let one =
            |at: u32| [step(at % 3, StepKind::SubAgent), says(at % 3 + 1, StepKind::User, &prompt)];
        let found = groups((0..9_000).flat_map(one).collect());
        assert_eq!(found.len(), MAX_GROUPS);
        let prompts: usize =
            found.iter().filter_map(|group| group.prompt.as_ref()).map(String::len).sum();
        assert!(prompts <= MAX_PROMPTS, "{prompts}");
        let deep = groups((0..20_000).map(|depth| step(depth, StepKind::SubAgent)).collect());
        assert_eq!(deep.len(), MAX_GROUPS);
    }
}
