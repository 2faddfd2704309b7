//! **Pure.** The share of passes and the interval around it (Wilson 1927).
use super::{Interval, Level, float};

/// The Wilson interval of a rate. None without runs, or when more passed than there are.
pub fn wilson(passed: u64, n: u64, level: Level) -> Option<Interval> {
    (n > 0 && passed <= n).then(|| of_share(float(passed) / float(n), float(n), level))
}

/// The Wilson interval of a rate over tasks that were run several times, given as (passed, runs) of
/// each task. Runs of one task are alike, so that together they say less than as many runs of
/// different tasks: they count as the number of independent runs that would leave the same doubt
/// (Kish's effective sample size), never as more than there are and never as fewer than there are
/// tasks. With one run a task it is the plain Wilson interval.
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
        // One task says nothing about others, and runs that all end alike say nothing about how
        // alike runs of a task are.
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
    // At the ends the bound is the end itself, which rounding may miss.
    let low = if share <= 0.0 { 0.0 } else { middle - half };
    let high = if share >= 1.0 { 1.0 } else { middle + half };
    Interval { low, high }.around(share, 0.0, 1.0)
}
