//! **Pure.** Aggregates many runs: by cell, by group, and in pairs against a baseline. The
//! overview, the statistics and all reports use these numbers, so that they never disagree about
//! the same runs.
//!
//! Runs are identified by their index among the given ones. Scored runs are counted separately from
//! runs that failed, wait or cannot be read.
mod cell;
mod changes;
mod group;
mod headline;
mod pairs;
mod ranking;
mod row_scores;
mod stored;
mod summary;
mod trend;
mod unit_sums;
mod words;

pub use cell::{Cell, CellSums, Outcome};
pub use changes::{
    ChangeKind, Changes, GateRules, RowChange, changes, changes_among, general_violations,
};
pub use group::{AtK, Group, Row};
pub use headline::{Ranking, rank_systems};
pub use pairs::{Doubt, DoubtKind, Effect, Pair, PairedPassing, Pairing, Unpaired, UnpairedReason};
pub use ranking::{Scores, Standing};
pub use stored::{ImportedSummary, ImportedVerdict, summarize_imported};
pub use summary::{BINS, Consumption, Front, FrontBy, Summary};
pub use trend::{Shift, Trend, TrendPoint, looked_at};
pub use words::{METHOD, Sentences, outcome, probability, sentences};

use std::collections::{BTreeMap, BTreeSet};

/// Input for the aggregation: one run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counted<'a> {
    /// Task.
    pub task: Option<&'a str>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// Name of the variation; distinguishes variations without a number.
    pub variation_name: Option<&'a str>,
    /// System.
    pub system: Option<&'a str>,
    /// Model.
    pub model: Option<&'a str>,
    /// Outcome of the run.
    pub end: End,
    /// Scorer of the score.
    pub scorer: Option<&'a str>,
    /// Fingerprint of the inputs to scoring: task text, expected output and scorer version.
    pub fingerprint: Option<i64>,
    /// True if messages were added automatically to advance it.
    pub nudged: bool,
    /// True for a fork or a run that a user resumed; such a run is not a repeat.
    pub apart: bool,
    /// Tokens, if known.
    pub tokens: Option<u64>,
    /// Dollars, if known.
    pub cost: Option<f64>,
    /// Seconds, if known.
    pub seconds: Option<f64>,
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum End {
    /// Score from 0 to 1, and pass or fail if the scorer decides that.
    Scored(f64, Option<bool>),
    /// It ended in a system error.
    Error,
    /// It waits to be resumed.
    Waiting,
    /// It is in progress.
    Running,
    /// Its file cannot be read.
    Damaged,
    /// It ended without a score: nothing to compare with, or the scorer was not run or failed.
    #[default]
    Unscored,
}

impl End {
    /// Returns the score; `None` unless it is between 0 and 1.
    pub fn score(self) -> Option<f64> {
        match self {
            Self::Scored(score, _) => Some(score).filter(|score| (0.0..=1.0).contains(score)),
            _ => None,
        }
    }

    /// Returns true if it passed; `None` without a score or a verdict.
    pub fn passed(self) -> Option<bool> {
        match self {
            Self::Scored(_, passed) => self.score().and(passed),
            _ => None,
        }
    }
}

/// A task in one of its variations. Repeats share a row, and two systems are compared row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey<'a> {
    /// Task.
    pub task: Option<&'a str>,
    /// Variation of the task.
    pub variation: Option<u32>,
    /// Name of the variation, if it has no number.
    pub name: Option<&'a str>,
}

/// A system with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column<'a> {
    /// System.
    pub system: Option<&'a str>,
    /// Model.
    pub model: Option<&'a str>,
}

impl Column<'_> {
    /// Returns the label, which is also used to select a column: `system/model`.
    pub fn label(&self) -> String {
        match (self.system, self.model) {
            (Some(system), Some(model)) => format!("{system}/{model}"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) => "unknown".to_owned(),
        }
    }
}

impl RowKey<'_> {
    /// Returns the label: the task, followed by the variation.
    pub fn label(&self) -> String {
        let task = self.task.unwrap_or("without a task");
        match (self.variation, self.name) {
            (Some(variation), _) => format!("{task} #{variation}"),
            (None, Some(name)) => format!("{task} {name}"),
            (None, None) => task.to_owned(),
        }
    }
}

impl<'a> Counted<'a> {
    /// Returns the row of the run.
    pub fn row(&self) -> RowKey<'a> {
        let name = self.variation_name.filter(|_| self.variation.is_none());
        RowKey { task: self.task, variation: self.variation, name }
    }

    /// Returns the column of the run.
    pub fn column(&self) -> Column<'a> {
        Column { system: self.system, model: self.model }
    }

    /// Returns the score; `None` unless it is between 0 and 1.
    pub fn score(&self) -> Option<f64> {
        self.end.score()
    }

    /// Returns true if it passed; `None` without a score or a verdict.
    pub fn passed(&self) -> Option<bool> {
        self.end.passed()
    }
}

/// Aggregates of all systems, compared with a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate<'a> {
    /// One group for each system with each model, in order.
    pub groups: Vec<Group<'a>>,
    /// Index of the group that the others are compared with.
    pub baseline: Option<usize>,
    /// Comparisons of the other groups with the baseline, in the order of the groups.
    pub pairings: Vec<Pairing<'a>>,
}

impl<'a> Aggregate<'a> {
    /// Returns which systems are best, tied and behind, and says so in sentences.
    pub fn ranking(&self) -> Ranking {
        let scores = |group: &Group<'a>| Scores {
            column: group.column,
            mean: group.summary.cell.score.map(|score| score.value),
            runs: group.summary.cell.scored,
            rows: group.rows.iter().filter_map(|row| Some((row.key, row.score?))).collect(),
        };
        rank_systems(&self.groups.iter().map(scores).collect::<Vec<_>>())
    }

    /// Returns the groups that no other one beats in both score and cost.
    pub fn front(&self) -> Option<Front> {
        Front::new(&self.summaries())
    }

    /// Returns the groups that no other one beats in both score and a measure.
    pub fn front_by(&self, by: FrontBy) -> Option<Front> {
        Front::by(&self.summaries(), by)
    }

    fn summaries(&self) -> Vec<&Summary> {
        self.groups.iter().map(|group| &group.summary).collect()
    }

    /// Returns the columns of runs, in order.
    pub fn columns(runs: &[Counted<'a>]) -> Vec<Column<'a>> {
        runs.iter().map(Counted::column).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Groups runs and compares each group with the baseline, by default the first group. If the
    /// given baseline does not exist, nothing is compared.
    pub fn new(runs: &[Counted<'a>], baseline: Option<Column<'_>>) -> Self {
        let mut columns: BTreeMap<Column<'a>, Vec<usize>> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            columns.entry(run.column()).or_default().push(at);
        }
        let groups: Vec<Group<'a>> =
            columns.into_iter().map(|(column, at)| Group::new(column, runs, at)).collect();
        let baseline = match baseline {
            Some(named) => groups.iter().position(|group| group.column == named),
            None => (!groups.is_empty()).then_some(0),
        };
        let others =
            baseline.into_iter().flat_map(|at| (0..groups.len()).filter(move |other| *other != at));
        let pairings = others.filter_map(|at| Pairing::new(runs, &groups, at, baseline?)).collect();
        Self { groups, baseline, pairings }
    }
}
