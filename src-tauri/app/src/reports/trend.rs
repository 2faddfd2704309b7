//! **Pure.** The trend of a report: each system over sets of runs, as tables.
use super::page::{Estimate, Table, Trend};
use super::words::{self, NONE};
use touchstone_api::{SetsBy, StatsEstimate, TrendChange, TrendGroup, TrendPoint};

/// Number of tasks that are named in a cell.
const NAMED: usize = 3;

/// Returns a table for each system: its sets, with what changed.
pub(crate) fn trend_tables(trend: &Trend) -> Vec<Table> {
    const HEAD: [&str; 9] = [
        "Set",
        "Runs",
        "Scored",
        "Errors",
        "Score (95 %)",
        "Passed",
        "Cost a run",
        "Time a run",
        "Change since the set before (95 %)",
    ];
    let table = |group: &TrendGroup| Table {
        caption: group.name.clone(),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: group.points.iter().map(|point| row(trend, point)).collect(),
    };
    trend.trends.groups.iter().map(table).collect()
}

fn row(trend: &Trend, point: &TrendPoint) -> Vec<String> {
    let set = usize::try_from(point.set).ok().and_then(|at| trend.trends.sets.get(at));
    let none = || NONE.to_owned();
    vec![
        set.map_or_else(none, |set| set.name.clone()),
        words::count(point.ends.runs),
        words::count(point.ends.scored),
        words::count(point.ends.errors),
        words::estimate(point.score.map(estimate)),
        point.passes.map_or_else(none, |passes| words::share(passes.passed, passes.of)),
        point.cost.map_or_else(none, |cost| words::money(cost.value)),
        point.seconds.map_or_else(none, |seconds| words::seconds(seconds.value)),
        changes(point),
    ]
}

fn estimate(from: StatsEstimate) -> Estimate {
    Estimate { value: from.value, low: from.low, high: from.high }
}

/// Describes how a set differs from the one before, and what begins there.
fn changes(point: &TrendPoint) -> String {
    let mut parts = Vec::new();
    if let Some(tasks) = point.new_series {
        let tasks = words::counted(tasks, "task", "tasks");
        parts.push(format!("not compared with earlier sets: {tasks} changed"));
    }
    if let Some(change) = &point.change_point {
        let sign = if change.shown == "worse" { "▼" } else { "▲" };
        parts.push(format!("{sign} change point, {}", describe(change)));
    }
    if let Some(change) = &point.change {
        parts.push(describe(change));
    }
    if parts.is_empty() { NONE.to_owned() } else { parts.join("; ") }
}

/// Describes a change: the verdict, the difference with its interval, and the tasks.
fn describe(change: &TrendChange) -> String {
    let Some(value) = change.difference.filter(|_| change.pairs > 0) else {
        return "no task in common".to_owned();
    };
    let verdict = if change.shown == "unclear" { "no difference shown" } else { change.shown };
    let difference = Estimate { value, low: change.low, high: change.high };
    let mut text = format!("{verdict}, {}", words::difference(Some(difference)));
    for (what, tasks) in [("fails", &change.failed), ("passes now", &change.fixed)] {
        if !tasks.is_empty() {
            let named = tasks.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = tasks.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text = format!("{text}; {what}: {named}{more}");
        }
    }
    text
}

/// Describes the sets, as sentences.
pub(crate) fn describe_sets(trend: &Trend) -> String {
    let trends = &trend.trends;
    let sets = words::counted(trends.sets.len() as u64, "set", "sets");
    let about_two = if trend.by == SetsBy::Tag {
        "They may share runs and have no order in time, so none is compared with another."
            .to_owned()
    } else {
        format!(
            "Two sets are compared on the tasks that have a score in both. A change is told if the \
             sign-flip test and the interval show it, with the 5 % divided among {} comparisons.",
            words::count(trends.looked_at)
        )
    };
    let mut text = format!(
        "{sets} of runs, one for each {}, in the order of their first runs. {about_two}",
        trend.by.word()
    );
    if trends.left_out > 0 {
        let runs = words::counted(trends.left_out, "run", "runs");
        text = format!("{text} In no set, because {}: {runs}.", trend.by.without());
    }
    if trends.sets_left_out > 0 {
        let sets = words::counted(trends.sets_left_out, "earlier set", "earlier sets");
        text = format!("{text} Left out: {sets}.");
    }
    text
}
