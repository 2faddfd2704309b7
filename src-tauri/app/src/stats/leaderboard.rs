//! **Pure.** Rows of a leaderboard from the statistics of `scoring`: for the page and for reports.
use touchstone_api::{Figure, FrontMeasure, IntervalMethod, LeaderboardRow, Standing};
use touchstone_metrics::stats::Means;
use touchstone_scoring::aggregate::{self, Consumption, Front, FrontBy, Summary};

/// Statistics of one system with one model.
pub(crate) struct Entry<'a> {
    pub(crate) system: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    /// Filter of its runs.
    pub(crate) filter: &'a str,
    pub(crate) summary: &'a Summary,
    /// Standing beside the best one, and the reason as a sentence.
    pub(crate) standing: Option<&'a (aggregate::Standing, String)>,
}

/// Returns one row per entry, in their order. `best` is the entry that the others are compared with.
pub(crate) fn rows(
    entries: &[Entry<'_>],
    front: Option<&Front>,
    best: Option<usize>,
) -> Vec<LeaderboardRow> {
    let reference = best.and_then(|at| entries.get(at));
    let row = |(at, entry): (usize, &Entry<'_>)| {
        let cell = &entry.summary.cell;
        LeaderboardRow {
            system: entry.system.map(str::to_owned),
            model: entry.model.map(str::to_owned),
            filter: entry.filter.to_owned(),
            runs: cell.runs,
            tasks: entry.summary.scored_rows(),
            shared_tasks: reference
                .filter(|_| best != Some(at))
                .map(|reference| entry.summary.shared_rows(reference.summary)),
            is_reference: best == Some(at),
            has_too_few: false,
            errors: cell.errors,
            others: cell.runs - cell.scored - cell.errors,
            score: cell.score.map(|score| Figure {
                value: score.value,
                low: score.interval.map(|it| it.low),
                high: score.interval.map(|it| it.high),
                known: cell.scored,
                unknown: cell.runs - cell.scored,
            }),
            score_by: cell
                .score
                .filter(|score| score.interval.is_some())
                .map(|score| method(score.by)),
            passes: cell.passes.map(|passes| Figure {
                value: passes.share(),
                low: Some(passes.interval.low),
                high: Some(passes.interval.high),
                known: passes.of,
                unknown: cell.runs - passes.of,
            }),
            passed: cell.passes.map_or(0, |passes| passes.passed),
            cost: figure(&entry.summary.cost),
            seconds: figure(&entry.summary.seconds),
            tokens: figure(&entry.summary.tokens),
            histogram: entry.summary.histogram.to_vec(),
            standing: entry.standing.map(|(standing, _)| name(*standing)),
            why: entry.standing.map(|(_, why)| why.clone()),
            on_front: front.and_then(|front| front.on.get(at).copied().flatten()),
        }
    };
    let mut rows: Vec<LeaderboardRow> = entries.iter().enumerate().map(row).collect();
    let has_too_few: Vec<bool> = (0..rows.len()).map(|at| has_too_few(&rows, at)).collect();
    for (row, has_too_few) in rows.iter_mut().zip(has_too_few) {
        row.has_too_few = has_too_few;
    }
    rows
}

/// Returns true for a row that is not shown to differ from the reference and shares too few tasks with
/// it for any test to show a difference; for the reference, if that is so of all others.
fn has_too_few(rows: &[LeaderboardRow], at: usize) -> bool {
    /// The least p of the paired test is 2 / 2^pairs.
    const LEAST_PAIRS: u64 = 6;
    let is_tied = |row: &&LeaderboardRow| row.standing == Some(Standing::Tied);
    let is_short = |row: &LeaderboardRow| row.shared_tasks.unwrap_or(0) < LEAST_PAIRS;
    let Some(row) = rows.get(at).filter(is_tied) else { return false };
    if row.is_reference {
        rows.iter().filter(is_tied).filter(|row| !row.is_reference).all(is_short)
    } else {
        is_short(row)
    }
}

fn method(by: Means) -> IntervalMethod {
    match by {
        Means::Wilson => IntervalMethod::Wilson,
        Means::Bootstrap => IntervalMethod::Bootstrap,
        Means::Student => IntervalMethod::Student,
    }
}

/// Returns the measure of a Pareto front.
pub(crate) fn measure(front: &Front) -> FrontMeasure {
    match front.by {
        FrontBy::Cost => FrontMeasure::Cost,
        FrontBy::Seconds => FrontMeasure::Seconds,
    }
}

/// Returns the least and greatest number of tasks over which two systems were compared.
pub(crate) fn front_rows(front: &Front) -> [u64; 2] {
    [front.rows.0, front.rows.1]
}

/// Returns a standing for the page.
pub(crate) fn name(standing: aggregate::Standing) -> Standing {
    match standing {
        aggregate::Standing::Best => Standing::Best,
        aggregate::Standing::Tied => Standing::Tied,
        aggregate::Standing::Behind => Standing::Behind,
        aggregate::Standing::Open => Standing::Open,
        aggregate::Standing::Apart => Standing::Apart,
    }
}

/// Returns the mean of an amount for the page.
pub(crate) fn figure(of: &Consumption) -> Option<Figure> {
    Some(Figure {
        value: of.mean()?,
        low: of.interval.map(|it| it.low),
        high: of.interval.map(|it| it.high),
        known: of.amounts.known,
        unknown: of.amounts.unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_scoring::aggregate::{Counted, End};

    /// Returns whether each row has too few tasks: a highest one with nine, and others that are not
    /// shown to differ from it, with these numbers of them.
    fn too_few(others: &[usize]) -> Vec<bool> {
        const TASKS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let summary = |tasks: usize| {
            let run = |task: &&'static str| Counted {
                task: Some(*task),
                end: End::Scored(1.0, None),
                ..Counted::default()
            };
            let runs: Vec<_> = TASKS.iter().take(tasks).map(run).collect();
            Summary::new(&runs, &(0..runs.len()).collect::<Vec<_>>())
        };
        let summaries: Vec<Summary> =
            std::iter::once(TASKS.len()).chain(others.iter().copied()).map(summary).collect();
        let tied = (aggregate::Standing::Tied, String::new());
        let entry = |summary| Entry {
            system: None,
            model: None,
            filter: "",
            summary,
            standing: Some(&tied),
        };
        let entries: Vec<Entry<'_>> = summaries.iter().map(entry).collect();
        rows(&entries, None, Some(0)).iter().map(|row| row.has_too_few).collect()
    }

    #[test]
    fn tasks_are_too_few_where_no_test_can_show_a_difference() {
        assert_eq!(too_few(&[5]), [true, true]);
        assert_eq!(too_few(&[6, 5]), [false, false, true]);
    }
}
