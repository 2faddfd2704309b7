//! **Pure.** Puts runs where they belong, one after the other: which column, which task, which
//! variation.
use super::{
    Column, Fact, Facts, Holds, Loose, MOST_COLUMNS, Matrix, Place, TaskRows, Totals, VariationRow,
    cell, expected,
};
use crate::filter::Filter;
use crate::suites::{Task, Tasks};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use touchstone_api::{Lineage, OverviewCell, RunState, ScoreStanding};
use touchstone_scoring::standing::End;

/// What a matrix wants to know of a run. Borrowed: there are many, and most of what they say was
/// said before.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Opaque id.
    pub id: &'a str,
    /// Task.
    pub task: Option<&'a str>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// What the variation is called.
    pub variation_name: Option<&'a str>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// System.
    pub system: Option<&'a str>,
    /// Model.
    pub model: Option<&'a str>,
    /// How it ended.
    pub state: RunState,
    /// What came of the scorer.
    pub scoring: Option<ScoreStanding>,
    /// How it is counted.
    pub end: End,
    /// Whether a person said something of it.
    pub reviewed: bool,
    /// Made by somebody else, in a form that is only read: nothing more is expected of who made it.
    pub foreign: bool,
    /// Whether it is a fork, or was continued by a person.
    pub lineage: Option<Lineage>,
    /// Which fork its file name says it is; 0 for none.
    pub fork: u32,
}

/// Runs while they are gathered.
pub struct Gathering {
    suites: Arc<Tasks>,
    pub(super) tasks: Vec<GatheredTask>,
    by_id: HashMap<String, usize>,
    /// By what runs call them.
    by_name: HashMap<String, (usize, Option<Arc<Task>>)>,
    columns: Vec<GatheredColumn>,
    by_maker: HashMap<String, u16>,
    /// System and model of the run at hand, as one text to look up.
    maker: String,
    loose: Loose,
    totals: Totals,
    /// Forks and continued runs are counted like all others, because the filter names them.
    with_forks: bool,
}

#[derive(Default)]
pub(super) struct GatheredTask {
    id: String,
    label: Option<String>,
    names: BTreeSet<String>,
    rows: BTreeMap<Place, VariationRow>,
}

struct GatheredColumn {
    system: Option<String>,
    model: Option<String>,
    /// How many runs of tasks it has.
    runs: usize,
    /// All of them are foreign.
    foreign: bool,
}

impl Gathering {
    /// Nothing yet, of the runs that pass a filter.
    pub fn new(suites: &Arc<Tasks>, filter: &Filter) -> Self {
        Self {
            suites: Arc::clone(suites),
            tasks: Vec::new(),
            by_id: HashMap::new(),
            by_name: HashMap::new(),
            columns: Vec::new(),
            by_maker: HashMap::new(),
            maker: String::new(),
            loose: Loose::default(),
            totals: Totals::default(),
            with_forks: filter.names_forks(),
        }
    }

    /// Takes in a run. What is no run is left out.
    pub fn add(&mut self, run: &Seen<'_>) {
        if run.state == RunState::Other {
            return;
        }
        let is_left_out = run.lineage.is_some() && !self.with_forks;
        if is_left_out {
            self.totals.forks += 1;
        } else {
            self.totals.add(run);
        }
        let Some(column) = self.column(run) else { return };
        let holds = match run.lineage {
            Some(Lineage::Fork) if run.fork > 0 => Holds::Nothing,
            Some(Lineage::Fork) => Holds::Number,
            Some(Lineage::FollowUps) | None => Holds::Repeat,
        };
        let (end, repeat, reviewed) = (run.end, run.repeat, run.reviewed);
        let apart = run.lineage.is_some();
        let fact = Fact { column, end, repeat, reviewed, holds, apart, id: run.id.into() };
        let Some(name) = run.task else {
            if is_left_out {
                return;
            }
            self.loose.runs += 1;
            self.loose.facts.0.push(fact);
            return;
        };
        self.columns[usize::from(column)].runs += 1;
        self.columns[usize::from(column)].foreign &= run.foreign;
        let task = self.task_of(name);
        let suite = self.by_name.get(name).and_then(|(_, suite)| suite.as_deref());
        let place = place(run, suite);
        let label = || label(run, suite, &place);
        let rows = &mut self.tasks[task].rows;
        let row =
            rows.entry(place.clone()).or_insert_with(|| VariationRow::new(place.clone(), label()));
        row.by_name |= run.variation.is_none();
        let facts = if is_left_out { &mut row.forks } else { &mut row.facts };
        facts.0.push(fact);
    }

    /// Everything that was gathered, with what the suites expect and is not there; `scorers` are
    /// those that occur.
    pub fn finish(mut self, filter: &Filter, scorers: Vec<String>) -> Matrix {
        let (columns, columns_left_out, moved) = chosen(std::mem::take(&mut self.columns));
        for row in self.tasks.iter_mut().flat_map(|task| task.rows.values_mut()) {
            row.facts.close(&moved);
            row.forks.close(&moved);
        }
        self.loose.facts.close(&moved);
        let suites = Arc::clone(&self.suites);
        let mut columns: Vec<Column> = columns.collect();
        self.totals.missing = expected::count_missing(&mut self, &columns, &suites, filter);
        let mut tasks: Vec<TaskRows> =
            self.tasks.into_iter().filter_map(GatheredTask::rows).collect();
        tasks.sort_by(|one, other| one.id.cmp(&other.id));
        for (at, column) in (0..).zip(&mut columns) {
            column.cell = cell::of_column(&tasks, at);
        }
        let loose = (self.loose.runs > 0).then_some(self.loose);
        Matrix { suites, columns, columns_left_out, tasks, loose, scorers, totals: self.totals }
    }

    /// The column of a run, as it is numbered until all are known. None when there are more than
    /// anybody can look at.
    fn column(&mut self, run: &Seen<'_>) -> Option<u16> {
        self.maker.clear();
        for name in [run.system, run.model] {
            self.maker.push(if name.is_some() { '+' } else { '-' });
            self.maker.push_str(name.unwrap_or_default());
            self.maker.push('\0');
        }
        if let Some(at) = self.by_maker.get(self.maker.as_str()) {
            return Some(*at);
        }
        let at = u16::try_from(self.columns.len()).ok()?;
        self.by_maker.insert(self.maker.clone(), at);
        let owned = |name: Option<&str>| name.map(str::to_owned);
        self.columns.push(GatheredColumn {
            system: owned(run.system),
            model: owned(run.model),
            runs: 0,
            foreign: true,
        });
        Some(at)
    }

    fn task_of(&mut self, name: &str) -> usize {
        if let Some((at, _)) = self.by_name.get(name) {
            return *at;
        }
        let suite = self.suites.get(name).cloned();
        let at = match &suite {
            Some(task) => self.task(&task.suite.id, task.suite.name.as_ref()),
            None => self.task(name, None),
        };
        self.tasks[at].names.insert(name.to_owned());
        self.by_name.insert(name.to_owned(), (at, suite));
        at
    }

    fn task(&mut self, id: &str, label: Option<&String>) -> usize {
        if let Some(at) = self.by_id.get(id) {
            return *at;
        }
        self.by_id.insert(id.to_owned(), self.tasks.len());
        self.tasks.push(GatheredTask {
            id: id.to_owned(),
            label: label.cloned(),
            ..GatheredTask::default()
        });
        self.tasks.len() - 1
    }

    /// What runs call a task.
    pub(super) fn names(&self, id: &str) -> Vec<String> {
        let task = self.by_id.get(id).and_then(|at| self.tasks.get(*at));
        task.map(|task| task.names.iter().cloned().collect()).unwrap_or_default()
    }

    /// Numbers of repeats that forks take up in a column of a variation.
    pub(super) fn taken_by_forks(&self, task: &Task, variation: u32, column: u16) -> Vec<u32> {
        let at = self.by_id.get(&task.suite.id).and_then(|at| self.tasks.get(*at));
        let row = at.and_then(|task| task.rows.get(&Place::Numbered(variation)));
        let of = |facts: &Facts| {
            let taken = facts.of(column).iter().filter(|fact| fact.holds == Holds::Number);
            taken.map(|fact| fact.repeat).collect::<Vec<_>>()
        };
        row.map(|row| [of(&row.facts), of(&row.forks)].concat()).unwrap_or_default()
    }

    /// The row of a variation that a suite has.
    pub(super) fn row(
        &mut self,
        task: &Task,
        variation: u32,
        name: Option<String>,
    ) -> &mut VariationRow {
        let at = self.task(&task.suite.id, task.suite.name.as_ref());
        let place = Place::Numbered(variation);
        self.tasks[at].rows.entry(place.clone()).or_insert_with(|| VariationRow::new(place, name))
    }
}

impl GatheredTask {
    /// None when all its runs are in columns that are left out.
    fn rows(self) -> Option<TaskRows> {
        let there = |row: &VariationRow| {
            !row.facts.0.is_empty() || !row.forks.0.is_empty() || !row.missing.is_empty()
        };
        let variations: Vec<VariationRow> = self.rows.into_values().filter(there).collect();
        let names = if self.names.is_empty() {
            vec![self.id.clone()]
        } else {
            self.names.into_iter().collect()
        };
        (!variations.is_empty()).then_some(TaskRows {
            names,
            id: self.id,
            label: self.label,
            variations,
        })
    }
}

impl Facts {
    /// Puts runs into their columns, in an order that does not depend on when they were read.
    fn close(&mut self, moved: &[Option<u16>]) {
        self.0.retain_mut(|fact| {
            let to = moved.get(usize::from(fact.column)).copied().flatten();
            fact.column = to.unwrap_or(fact.column);
            to.is_some()
        });
        self.0.sort_unstable_by(|one, other| {
            (one.column, one.repeat, &one.id).cmp(&(other.column, other.repeat, &other.id))
        });
        self.0.shrink_to_fit();
    }
}

impl Totals {
    fn add(&mut self, run: &Seen<'_>) {
        self.runs += 1;
        let of = match (run.end, run.scoring) {
            (End::Scored(..), _) => &mut self.scored,
            (End::Error, _) => &mut self.errors,
            (End::Waiting, _) => &mut self.waiting,
            (End::Running, _) => &mut self.running,
            (End::Damaged, _) => &mut self.damaged,
            // None: its task is not known.
            (End::Unscored, Some(ScoreStanding::NoExpected) | None) => &mut self.no_expected,
            (End::Unscored, Some(ScoreStanding::Waiting)) => &mut self.unasked,
            (End::Unscored, _) => &mut self.unscored,
        };
        *of += 1;
    }
}

/// Columns in their order, how many were too many, and where each went. Runs without a task make
/// none.
fn chosen(columns: Vec<GatheredColumn>) -> (impl Iterator<Item = Column>, usize, Vec<Option<u16>>) {
    let mut moved = vec![None; columns.len()];
    let mut all: Vec<(usize, GatheredColumn)> = columns.into_iter().enumerate().collect();
    all.retain(|(_, column)| column.runs > 0);
    let name = |column: &GatheredColumn| (column.system.clone(), column.model.clone());
    all.sort_by(|(_, one), (_, other)| {
        other.runs.cmp(&one.runs).then_with(|| name(one).cmp(&name(other)))
    });
    let left_out = all.len().saturating_sub(MOST_COLUMNS);
    all.truncate(MOST_COLUMNS);
    // What is not known stands last.
    all.sort_by_key(|(_, column)| {
        let (system, model) = name(column);
        (system.is_none(), system, model.is_none(), model)
    });
    for (to, (from, _)) in (0..).zip(&all) {
        moved[*from] = Some(to);
    }
    let columns = all.into_iter().map(|(_, column)| Column {
        system: column.system,
        model: column.model,
        foreign: column.foreign,
        cell: OverviewCell::default(),
    });
    (columns, left_out, moved)
}

/// Which variation a run is of.
fn place(run: &Seen<'_>, suite: Option<&Task>) -> Place {
    let number =
        suite.map_or(run.variation, |suite| suite.counted_as(run.variation, run.variation_name));
    match (number, run.variation_name) {
        (Some(number), _) => Place::Numbered(number),
        (None, Some(name)) => Place::Named(name.to_owned()),
        (None, None) => Place::Unknown,
    }
}

/// What that is called, first of all by the suite.
fn label(run: &Seen<'_>, suite: Option<&Task>, place: &Place) -> Option<String> {
    let number =
        if let Place::Numbered(number) = place { usize::try_from(*number).ok() } else { None };
    let of_suite = suite.zip(number).and_then(|(suite, number)| suite.variation_name(number));
    of_suite.or_else(|| run.variation_name.map(str::to_owned))
}
