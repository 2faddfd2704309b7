//! **Pure.** Pass rate and its interval (Wilson 1927).
use super::{Interval, Level, float};

/// Returns the Wilson interval of a rate. `None` without runs, or if `passed` exceeds `n`.
pub fn wilson(passed: u64, n: u64, level: Level) -> Option<Interval> {
    (n > 0 && passed <= n).then(|| of_share(float(passed) / float(n), float(n), level))
}

/// Returns the Wilson interval of a rate over tasks with several runs each, given as (passed, runs)
/// of each task. Runs of one task are not independent, so they carry less information than runs of
/// different tasks. They count as the number of independent runs with the same uncertainty (Kish's
/// effective sample size), at most the number of runs and at least the number of tasks. With one
/// run per task it is the plain Wilson interval.
pub fn wilson_clustered(tasks: &[(u64, u64)], level: Level) -> Option<Interval> {
    let tasks: Vec<(u64, u64)> = tasks.iter().copied().filter(|(_, runs)| *runs > 0).collect();
    if tasks.iter().any(|(passed, runs)| passed > runs) {
        return None;
    }
    let passed: u64 = tasks.iter().map(|(passed, _)| passed).sum();
    let runs: u64 = tasks.iter().map(|(_, runs)| runs).sum();
    if runs == 0 {
        return None;
    }
    let share = float(passed) / float(runs);
    let count = float(super::count(tasks.len()));
    let effective = if tasks.len() < 2 || passed == 0 || passed == runs {
        // A single task does not reveal the variation between tasks, and runs that all end equally
        // do not reveal the correlation within tasks.
        count
    } else {
        let squares: f64 = tasks
            .iter()
            .map(|(passed, runs)| (float(*passed) - share * float(*runs)).powi(2))
            .sum();
        let variance = squares * count / (count - 1.0) / float(runs).powi(2);
        (share * (1.0 - share) / variance).clamp(count.min(float(runs)), float(runs))
    };
    Some(of_share(share, effective, level))
}

fn of_share(share: f64, n: f64, level: Level) -> Interval {
    let reach = level.reach();
    let extra = reach * reach / n;
    let middle = (share + extra / 2.0) / (1.0 + extra);
    let half = reach / (1.0 + extra) * (share * (1.0 - share) / n + extra / (4.0 * n)).sqrt();
    // At 0 and 1 the bound is exact, which rounding may miss.
    let low = if share <= 0.0 { 0.0 } else { middle - half };
    let high = if share >= 1.0 { 1.0 } else { middle + half };
    Interval { low, high }.around(share, 0.0, 1.0)
}
