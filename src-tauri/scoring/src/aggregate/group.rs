//! **Pure.** Aggregates the runs of one system with one model: rows, repeats, and consumption.
use super::cell::disagree;
use super::{Column, Counted, End, RowKey, Summary};
use std::collections::BTreeMap;
use touchstone_metrics::stats::{OverRows, mean, over_rows, pass_all, pass_at};

/// Maximum number of tries that are reported individually.
const MOST_TRIES: u64 = 10;

/// Aggregate of one system with one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// Summary of all its runs.
    pub summary: Summary,
    /// Indexes of its runs among the given ones.
    pub runs: Vec<usize>,
    /// Tasks and variations, in order. Runs without a task are in none.
    pub rows: Vec<Row<'a>>,
    /// Pass rates by number of tries; empty if nothing was run twice or no run has a verdict.
    pub tries: Vec<AtK>,
}

/// Repeats of one task in one variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// Task and variation.
    pub key: RowKey<'a>,
    /// Indexes of its runs among the given ones.
    pub runs: Vec<usize>,
    /// Number of runs with a score.
    pub scored: u64,
    /// Number of runs that passed.
    pub passed: u64,
    /// Number of runs with a pass or fail verdict.
    pub decided: u64,
    /// Number of repeats that passed. Forks and runs that a user resumed are not repeats.
    pub repeats_passed: u64,
    /// Number of repeats with a verdict.
    pub repeats_decided: u64,
    /// Number of runs that ended in an error.
    pub errors: u64,
    /// Mean score.
    pub score: Option<f64>,
    /// True if its repeats disagree.
    pub flaky: bool,
}

/// Pass rates of `k` tries, averaged over all rows with at least `k`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtK {
    /// Number of tries.
    pub k: u64,
    /// Probability that at least one of them passes.
    pub any: OverRows,
    /// Probability that all of them pass.
    pub all: OverRows,
}

impl<'a> Group<'a> {
    pub(super) fn new(column: Column<'a>, runs: &[Counted<'a>], places: Vec<usize>) -> Self {
        let group = Self::rows_only(column, runs, places);
        Self { summary: Summary::new(runs, &group.runs), tries: tries(&group.rows), ..group }
    }

    /// Like [`Group::new`] of all runs, without the rows and the tries, and with what a trend shows of
    /// the summary.
    pub(super) fn summary_only(column: Column<'a>, runs: &[Counted<'a>]) -> Self {
        let places: Vec<usize> = (0..runs.len()).collect();
        let summary = Summary::for_trend(runs, &places);
        Self { column, summary, tries: Vec::new(), rows: Vec::new(), runs: places }
    }

    /// Like [`Group::new`], without the summary and the tries, which take most of the time.
    pub(super) fn rows_only(column: Column<'a>, runs: &[Counted<'a>], places: Vec<usize>) -> Self {
        let mut by_row: BTreeMap<RowKey<'a>, Vec<usize>> = BTreeMap::new();
        for at in &places {
            if let Some(run) = runs.get(*at).filter(|run| run.task.is_some()) {
                by_row.entry(run.row()).or_default().push(*at);
            }
        }
        let rows: Vec<Row<'a>> =
            by_row.into_iter().map(|(key, at)| Row::new(key, runs, at)).collect();
        Self { column, summary: Summary::default(), tries: Vec::new(), rows, runs: places }
    }

    /// Returns the entry that is reported: the greatest number of tries that more than half of the
    /// rows have; `None` if that is a single one.
    pub fn told_tries(&self) -> Option<&AtK> {
        self.tries.iter().rfind(|at| at.k > 1 && at.any.rows > at.any.left_out)
    }

    /// Returns the row of a task in a variation.
    pub(super) fn row(&self, key: RowKey<'_>) -> Option<&Row<'a>> {
        self.rows.binary_search_by(|row| row.key.cmp(&key)).ok().and_then(|at| self.rows.get(at))
    }
}

impl<'a> Row<'a> {
    fn new(key: RowKey<'a>, runs: &[Counted<'a>], places: Vec<usize>) -> Self {
        let here: Vec<&Counted<'a>> = places.iter().filter_map(|at| runs.get(*at)).collect();
        let scores: Vec<f64> = here.iter().filter_map(|run| run.score()).collect();
        let count = |of: &dyn Fn(&&&Counted<'a>) -> bool| {
            touchstone_metrics::stats::count(here.iter().filter(of).count())
        };
        let repeats: Vec<&Counted<'a>> = here.iter().filter(|run| !run.apart).copied().collect();
        Self {
            key,
            scored: touchstone_metrics::stats::count(scores.len()),
            passed: count(&|run| run.passed() == Some(true)),
            decided: count(&|run| run.passed().is_some()),
            repeats_passed: count(&|run| !run.apart && run.passed() == Some(true)),
            repeats_decided: count(&|run| !run.apart && run.passed().is_some()),
            errors: count(&|run| run.end == End::Error),
            score: mean(&scores),
            flaky: disagree(&repeats),
            runs: places,
        }
    }
}

fn tries(rows: &[Row<'_>]) -> Vec<AtK> {
    // Rows without any verdict are included, and left out of the averages.
    let counts: Vec<(u64, u64)> =
        rows.iter().map(|row| (row.repeats_passed, row.repeats_decided)).collect();
    let most = counts.iter().map(|(_, tries)| *tries).max().unwrap_or(0);
    if most < 2 {
        return Vec::new();
    }
    let at = |k| {
        Some(AtK { k, any: over_rows(k, &counts, pass_at)?, all: over_rows(k, &counts, pass_all)? })
    };
    (1..=most.min(MOST_TRIES)).filter_map(at).collect()
}
