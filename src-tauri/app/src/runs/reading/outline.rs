//! **Pure.** The outline of a run: all its steps in a bounded number of marks, and its failures.
use super::count;
use super::pieces::short;
use super::view::kind;
use touchstone_api::{OutlineMark, RunOutline};
use touchstone_model::run::{Run, Step, StepKind};

/// Maximum number of marks; a longer run has several steps in each.
const MAX_MARKS: usize = 800;
/// Maximum number of failures listed.
const MAX_FAILURES: usize = 10_000;
/// Maximum bytes of the title of a mark.
const MAX_TITLE: usize = 60;

/// Returns the outline of a run, with the version that it belongs to.
pub(super) fn outline(version: &str, run: &Run) -> RunOutline {
    let all = || run.steps.iter().enumerate().filter(|(_, step)| is_failure(step));
    RunOutline {
        version: version.to_owned(),
        total_steps: count(run.steps.len()),
        marks: marks(&run.steps, MAX_MARKS),
        failures: all().take(MAX_FAILURES).map(|(at, _)| count(at)).collect(),
        failure_count: count(all().count()),
    }
}

/// Returns true for a failed call or program, and for an error that ended the run.
fn is_failure(step: &Step) -> bool {
    step.failed == Some(true) || step.kind == StepKind::Error
}

/// Divides steps into at most `most` marks of equally many steps; the last may have fewer.
fn marks(steps: &[Step], most: usize) -> Vec<OutlineMark> {
    let size = steps.len().div_ceil(most).max(1);
    steps.chunks(size).enumerate().map(|(at, steps)| mark(at * size, steps)).collect()
}

fn mark(first: usize, steps: &[Step]) -> OutlineMark {
    // What failed is what a reader looks for.
    let shown = steps.iter().find(|step| is_failure(step)).unwrap_or(&steps[0]);
    OutlineMark {
        step: count(first),
        steps: count(steps.len()),
        kind: kind(shown.kind),
        title: shown.title.as_deref().map(|title| short(title, MAX_TITLE)),
        failures: count(steps.iter().filter(|step| is_failure(step)).count()),
        nested: steps.iter().all(|step| step.depth > 0),
        seconds: sum(steps.iter().filter_map(seconds), |a, b| a + b),
        tokens: sum(steps.iter().filter_map(|step| step.tokens), u64::saturating_add),
    }
}

fn seconds(step: &Step) -> Option<f64> {
    step.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

fn sum<T>(values: impl Iterator<Item = T>, add: impl Fn(T, T) -> T) -> Option<T> {
    values.reduce(add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(failed: Option<bool>, seconds: Option<f64>, tokens: Option<u64>) -> Step {
        let title = Some("look".to_owned());
        Step { kind: StepKind::ToolCall, title, failed, seconds, tokens, ..Step::default() }
    }

    fn outline_from(steps: Vec<Step>) -> RunOutline {
        outline("v", &Run { steps, ..Run::default() })
    }

    #[test]
    fn each_step_of_a_short_run_is_a_mark_of_its_own() {
        let steps = vec![
            Step::default(),
            call(Some(false), Some(0.5), Some(7)),
            call(Some(true), None, None),
        ];
        let outline = outline_from(steps);
        let told = outline.marks.iter().map(|mark| {
            (mark.step, mark.steps, mark.title.as_deref(), mark.failures, mark.seconds, mark.tokens)
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                (0, 1, None, 0, None, None),
                (1, 1, Some("look"), 0, Some(0.5), Some(7)),
                (2, 1, Some("look"), 1, None, None),
            ]
        );
        assert_eq!((outline.failures, outline.failure_count), (vec![2], 1));
    }

    #[test]
    fn a_failed_call_and_a_system_error_are_failures_and_a_call_without_a_result_is_not() {
        let error = Step { kind: StepKind::Error, ..Step::default() };
        let outline = outline_from(vec![
            call(None, None, None),
            call(Some(true), None, None),
            Step::default(),
            error,
        ]);
        assert_eq!(outline.failures, [1, 3]);
    }

    #[test]
    fn a_long_run_has_a_bounded_number_of_marks_that_hold_all_its_steps_and_show_what_failed() {
        let count = 100_001;
        let steps = (0..count).map(|at| match at {
            70_003 => call(Some(true), Some(1.0), None),
            _ => Step { tokens: Some(2), seconds: Some(f64::NAN), ..Step::default() },
        });
        let outline = outline_from(steps.collect());
        assert!(outline.marks.len() <= MAX_MARKS, "{}", outline.marks.len());
        let mut next = 0;
        for mark in &outline.marks {
            assert_eq!(mark.step, next);
            next += mark.steps;
        }
        assert_eq!(next, outline.total_steps);
        let tokens: u64 = outline.marks.iter().filter_map(|mark| mark.tokens).sum();
        assert_eq!(tokens, 2 * 100_000);
        let failed: Vec<_> = outline.marks.iter().filter(|mark| mark.failures > 0).collect();
        assert_eq!(failed.len(), 1);
        assert!((failed[0].step..failed[0].step + failed[0].steps).contains(&70_003));
        assert_eq!(failed[0].title.as_deref(), Some("look"));
        assert_eq!(failed[0].seconds, Some(1.0), "times that cannot be are ignored");
    }

    #[test]
    fn of_very_many_failures_the_first_are_listed_and_all_are_counted() {
        let outline = outline_from(vec![call(Some(true), None, None); MAX_FAILURES + 5]);
        assert_eq!(outline.failures.len(), MAX_FAILURES);
        assert_eq!(outline.failure_count as usize, MAX_FAILURES + 5);
        assert!(outline_from(Vec::new()).marks.is_empty());
    }
}
