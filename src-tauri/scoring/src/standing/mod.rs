//! **Pure.** How systems stand: what many runs come to, cell by cell and group by group, and pair
//! by pair against a baseline. The overview, the statistics and every report take their numbers
//! from here, so that no two places say different things of the same runs.
//!
//! Runs are counted by where they stand among those handed in. What is scored is kept apart from
//! what failed, waits or cannot be read.
mod cell;
mod group;
mod pairs;
mod stored;
mod words;

pub use cell::{Cell, Estimate, Means, Passes};
pub(crate) use cell::{estimate, passes};
pub use group::{AtK, Group, Row};
pub use pairs::{Doubt, DoubtKind, Effect, Pair, PairedPassing, Pairing, Unpaired, Why};
pub use stored::{Said, Told, told};
pub use words::{METHOD, Sentences, outcome, probability, sentences};

use std::collections::{BTreeMap, BTreeSet};

/// One run, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counted<'a> {
    /// Task.
    pub task: Option<&'a str>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// What the variation is called; tells variations apart where they have no number.
    pub variation_name: Option<&'a str>,
    /// System.
    pub system: Option<&'a str>,
    /// Model.
    pub model: Option<&'a str>,
    /// What became of it.
    pub end: End,
    /// Whose score it is.
    pub scorer: Option<&'a str>,
    /// Of what it was scored against.
    pub fingerprint: Option<i64>,
    /// Messages were added to drive it on.
    pub nudged: bool,
    /// It is a fork or was continued by a person, so it is a repeat of nothing.
    pub apart: bool,
    /// Tokens, when known.
    pub tokens: Option<u64>,
    /// Dollars, when known.
    pub cost: Option<f64>,
    /// Seconds, when known.
    pub seconds: Option<f64>,
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum End {
    /// It has a score from 0 to 1, and passed or not, when whoever scores decides that.
    Scored(f64, Option<bool>),
    /// It ended in a system error.
    Error,
    /// It waits to be continued.
    Waiting,
    /// It is being made.
    Running,
    /// Its file cannot be read.
    Damaged,
    /// It ended and has no score: nothing to compare with, or the scorer was not asked or failed.
    #[default]
    Unscored,
}

/// A task in one of its variations: what repeats repeat, and what two systems are compared on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey<'a> {
    /// Task.
    pub task: Option<&'a str>,
    /// Its variation.
    pub variation: Option<u32>,
    /// Its name, where it has no number.
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
    /// As it is written and asked for: `system/model`.
    pub fn label(&self) -> String {
        match (self.system, self.model) {
            (Some(system), Some(model)) => format!("{system}/{model}"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) => "unknown".to_owned(),
        }
    }
}

impl RowKey<'_> {
    /// As it is written: the task, and behind it which variation.
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
    /// Which row it belongs to.
    pub fn row(&self) -> RowKey<'a> {
        let name = self.variation_name.filter(|_| self.variation.is_none());
        RowKey { task: self.task, variation: self.variation, name }
    }

    /// Which column it belongs to.
    pub fn column(&self) -> Column<'a> {
        Column { system: self.system, model: self.model }
    }

    /// Its score; what is no number between 0 and 1 is none.
    pub fn score(&self) -> Option<f64> {
        match self.end {
            End::Scored(score, _) => Some(score).filter(|score| (0.0..=1.0).contains(score)),
            _ => None,
        }
    }

    /// Whether it passed, when it has a score and somebody decided.
    pub fn passed(&self) -> Option<bool> {
        match self.end {
            End::Scored(_, passed) => self.score().and(passed),
            _ => None,
        }
    }
}

/// How all systems stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing<'a> {
    /// One for each system with each model, in their order.
    pub groups: Vec<Group<'a>>,
    /// Which of them the others are compared with.
    pub baseline: Option<usize>,
    /// The others against it, in the order of the groups.
    pub pairings: Vec<Pairing<'a>>,
}

impl<'a> Standing<'a> {
    /// The columns that runs stand in, in their order.
    pub fn columns(runs: &[Counted<'a>]) -> Vec<Column<'a>> {
        runs.iter().map(Counted::column).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Groups runs and compares each group with the baseline; with the first when none is named.
    /// One that is named and not there is compared with nothing.
    pub fn of(runs: &[Counted<'a>], baseline: Option<Column<'_>>) -> Self {
        let mut columns: BTreeMap<Column<'a>, Vec<usize>> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            columns.entry(run.column()).or_default().push(at);
        }
        let groups: Vec<Group<'a>> =
            columns.into_iter().map(|(column, at)| Group::of(column, runs, at)).collect();
        let baseline = match baseline {
            Some(named) => groups.iter().position(|group| group.column == named),
            None => (!groups.is_empty()).then_some(0),
        };
        let others =
            baseline.into_iter().flat_map(|at| (0..groups.len()).filter(move |other| *other != at));
        let pairings = others.filter_map(|at| Pairing::of(runs, &groups, at, baseline?)).collect();
        Self { groups, baseline, pairings }
    }
}
