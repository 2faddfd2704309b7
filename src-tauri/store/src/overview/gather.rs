//! **Pure.** Sorts runs into columns, tasks and variations.
use super::{
    Column, Holds, Loose, MOST_COLUMNS, Matrix, Runs, TaskRows, Totals, VariationKey, VariationRow,
    cell, expected, slot_of,
};
use crate::columns::{Fact, Facts, Place, Unscored};
use crate::filter::Filter;
use crate::run_set::RunSet;
use crate::suites::{Task, Tasks};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use touchstone_api::{Lineage, OverviewCell};
use touchstone_metrics::stats::{count, mean};
use touchstone_scoring::aggregate::{self, End, RowKey, Scores, rank_systems};

/// Returns the mean scores of each column by row.
fn scores<'m>(
    facts: &Facts,
    columns: &'m [Column],
    tasks: &'m [TaskRows],
    loose: &Runs,
) -> Vec<Scores<'m>> {
    let known = |positions: &[u32]| -> Vec<f64> {
        facts.at_positions(positions).filter_map(|fact| fact.end().score()).collect()
    };
    let of_column = |(at, column): (u16, &'m Column)| {
        let rows =
            tasks.iter().flat_map(|task| (0..).zip(&task.variations).map(move |row| (task, row)));
        let mut all = known(loose.in_column(at));
        let rows = rows.filter_map(|(task, (number, row))| {
            let scores = known(row.runs.in_column(at));
            all.extend(&scores);
            let key = RowKey { task: Some(task.id.as_str()), variation: Some(number), name: None };
            Some((key, mean(&scores)?))
        });
        let (system, model) = (column.system.as_deref(), column.model.as_deref());
        let rows: BTreeMap<RowKey<'_>, f64> = rows.collect();
        let column = aggregate::Column { system, model };
        Scores { column, mean: mean(&all), runs: count(all.len()), rows }
    };
    (0..).zip(columns).map(of_column).collect()
}

/// Where the runs of a place stand: their column, and their task with its variation.
struct MatrixPlace {
    column: u16,
    row: Option<(usize, VariationKey)>,
}

/// Runs of a place that pass the filter.
#[derive(Default)]
struct Passing {
    runs: Vec<u32>,
    /// Forks, continued and superseded runs, if they are not counted.
    forks: Vec<u32>,
    /// True when all of them are foreign.
    foreign: bool,
    /// Lowest of their rows in the index.
    first: u32,
}

/// Collector of runs for a matrix.
pub(super) struct Gathering {
    suites: Arc<Tasks>,
    pub(super) facts: Arc<Facts>,
    pub(super) tasks: Vec<GatheredTask>,
    by_id: HashMap<String, usize>,
    /// Tasks by the names that runs use.
    by_name: HashMap<String, (usize, Option<Arc<Task>>)>,
    columns: Vec<GatheredColumn>,
    by_maker: HashMap<String, u16>,
    /// Lookup key of the current place: system and model as one text.
    maker: String,
    loose: Loose,
    totals: Totals,
    /// Forks and continued runs count like all others, because the filter names them.
    with_forks: bool,
}

#[derive(Default)]
pub(super) struct GatheredTask {
    id: String,
    label: Option<String>,
    names: BTreeSet<String>,
    rows: BTreeMap<VariationKey, VariationRow>,
}

pub(super) struct GatheredColumn {
    pub(super) system: Option<String>,
    pub(super) model: Option<String>,
    /// Number of runs that belong to tasks.
    pub(super) runs: usize,
    /// Number of these that are no forks, continued or superseded runs, unless those count, too.
    counted: usize,
    /// True when all of its runs are foreign.
    foreign: bool,
}

impl Gathering {
    /// Creates an empty collector for the runs that pass a filter.
    pub(super) fn new(suites: &Arc<Tasks>, facts: &Arc<Facts>, filter: &Filter) -> Self {
        Self {
            suites: Arc::clone(suites),
            facts: Arc::clone(facts),
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

    /// Adds the runs of a set; all without one.
    pub(super) fn add_all(&mut self, passing: Option<&RunSet>) {
        let facts = Arc::clone(&self.facts);
        for (place, positions) in facts.places() {
            if let Some(some) = self.passing(&facts, positions, passing)
                && let Some(found) = self.find_place(&place, some.first)
            {
                self.put(some, found);
            }
        }
    }

    /// Counts the runs of a place that pass. `None` when there is none.
    fn passing(
        &mut self,
        facts: &Facts,
        positions: Range<u32>,
        passing: Option<&RunSet>,
    ) -> Option<Passing> {
        let mut some = Passing { foreign: true, first: u32::MAX, ..Passing::default() };
        let here = facts.range(positions.clone());
        for (at, fact) in positions.zip(here) {
            if passing.is_some_and(|passing| !passing.contains(i64::from(fact.run))) {
                continue;
            }
            some.foreign &= fact.is_foreign();
            some.first = some.first.min(fact.run);
            if fact.lineage.is_none() || self.with_forks {
                self.totals.add(fact);
                if some.runs.is_empty() {
                    some.runs.reserve(here.len());
                }
                some.runs.push(at);
            } else {
                let superseded = fact.lineage == Some(Lineage::Superseded);
                self.totals.superseded += u64::from(superseded);
                self.totals.forks += u64::from(!superseded);
                some.forks.push(at);
            }
        }
        (!some.runs.is_empty() || !some.forks.is_empty()).then_some(some)
    }

    /// Returns where runs stand, of which `first` has the lowest row in the index. `None` when there are
    /// too many columns.
    fn find_place(&mut self, place: &Place<'_>, first: u32) -> Option<MatrixPlace> {
        let column = self.column(place)?;
        let Some(name) = place.task else { return Some(MatrixPlace { column, row: None }) };
        let task = self.task_of(name);
        let suite = self.by_name.get(name).and_then(|(_, suite)| suite.as_deref());
        let key = variation_key(place, suite);
        let rows = &mut self.tasks[task].rows;
        let row = rows.entry(key.clone()).or_insert_with(|| VariationRow::new(key.clone(), None));
        if first < row.label_of {
            (row.label, row.label_of) = (label(place, suite, &key), first);
        }
        row.by_name |= place.variation.is_none();
        Some(MatrixPlace { column, row: Some((task, key)) })
    }

    /// Adds runs at their place.
    fn put(&mut self, some: Passing, MatrixPlace { column, row }: MatrixPlace) {
        let Some((task, key)) = row else {
            self.loose.count += some.runs.len() as u64;
            if !some.runs.is_empty() {
                self.loose.runs.0.push((column, some.runs));
            }
            return;
        };
        let of_column = &mut self.columns[usize::from(column)];
        of_column.runs += some.runs.len() + some.forks.len();
        of_column.counted += some.runs.len();
        of_column.foreign &= some.foreign;
        if let Some(row) = self.tasks[task].rows.get_mut(&key) {
            for (to, positions) in [(&mut row.runs, some.runs), (&mut row.forks, some.forks)] {
                if !positions.is_empty() {
                    to.0.push((column, positions));
                }
            }
        }
    }

    /// Builds the matrix and counts the runs that suites expect but that do not exist. `scorers`
    /// are the scorers that occur.
    pub(super) fn finish(mut self, filter: &Filter, scorers: Vec<String>) -> Matrix {
        let facts = Arc::clone(&self.facts);
        let mut alone = self.loose.of_columns_without_tasks(&self.columns);
        let (columns, columns_left_out, moved) = chosen(std::mem::take(&mut self.columns));
        for row in self.tasks.iter_mut().flat_map(|task| task.rows.values_mut()) {
            row.runs.close(&facts, &moved);
            row.forks.close(&facts, &moved);
        }
        self.loose.runs.close(&facts, &moved);
        for one in &mut alone {
            facts.sort(&mut one.runs);
        }
        let suites = Arc::clone(&self.suites);
        let mut columns: Vec<Column> = columns.collect();
        self.totals.missing = expected::count_missing(&mut self, &columns, &suites, filter);
        let mut tasks: Vec<TaskRows> =
            self.tasks.into_iter().filter_map(GatheredTask::rows).collect();
        tasks.sort_by(|one, other| one.id.cmp(&other.id));
        let ranking = rank_systems(&scores(&facts, &columns, &tasks, &self.loose.runs));
        for (at, column) in (0..).zip(&mut columns) {
            column.cell = cell::of_column(&facts, &tasks, at);
        }
        Matrix {
            suites,
            facts,
            columns,
            columns_left_out,
            tasks,
            loose: (self.loose.count > 0).then_some(self.loose),
            scorers,
            ranking,
            alone,
            leaders: OnceLock::new(),
            totals: self.totals,
        }
    }

    /// Returns the provisional column number of runs. `None` when the numbers are exhausted.
    fn column(&mut self, run: &Place<'_>) -> Option<u16> {
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
            counted: 0,
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

    /// Returns the names that runs use for a task.
    pub(super) fn names(&self, id: &str) -> Vec<String> {
        let task = self.by_id.get(id).and_then(|at| self.tasks.get(*at));
        task.map(|task| task.names.iter().cloned().collect()).unwrap_or_default()
    }

    /// Returns the repeat numbers occupied by forks in a column of a variation.
    pub(super) fn taken_by_forks(&self, task: &Task, variation: u32, column: u16) -> Vec<u32> {
        let at = self.by_id.get(&task.suite.id).and_then(|at| self.tasks.get(*at));
        let row = at.and_then(|task| task.rows.get(&VariationKey::Numbered(variation)));
        let of = |runs: &Runs| {
            let here = self.facts.at_positions(runs.in_column(column));
            let taken = here.filter(|fact| slot_of(fact) == Holds::Number);
            taken.map(|fact| fact.repeat).collect::<Vec<_>>()
        };
        row.map(|row| [of(&row.runs), of(&row.forks)].concat()).unwrap_or_default()
    }

    /// Returns the row of a suite's variation, creating it if needed.
    pub(super) fn row(
        &mut self,
        task: &Task,
        variation: u32,
        name: Option<String>,
    ) -> &mut VariationRow {
        let at = self.task(&task.suite.id, task.suite.name.as_ref());
        let place = VariationKey::Numbered(variation);
        self.tasks[at].rows.entry(place.clone()).or_insert_with(|| VariationRow::new(place, name))
    }
}

impl GatheredTask {
    /// Converts to rows. Returns `None` when all runs are in columns that were left out.
    fn rows(self) -> Option<TaskRows> {
        let there = |row: &VariationRow| row.has_runs() || !row.missing.is_empty();
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

impl Runs {
    /// Assigns the final columns. Runs of one column that stand in several places of the facts are
    /// ordered anew.
    fn close(&mut self, facts: &Facts, moved: &[Option<u16>]) {
        self.0.retain_mut(|(column, _)| {
            let to = moved.get(usize::from(*column)).copied().flatten();
            *column = to.unwrap_or(*column);
            to.is_some()
        });
        self.0.sort_by_key(|(column, _)| *column);
        let is_alone = |two: &[(u16, Vec<u32>)]| two[0].0 < two[1].0;
        if self.0.windows(2).all(is_alone) {
            return;
        }
        let mut merged: Vec<(u16, Vec<u32>)> = Vec::new();
        for (column, positions) in self.0.drain(..) {
            match merged.last_mut().filter(|(last, _)| *last == column) {
                Some((_, known)) => known.extend(positions),
                None => merged.push((column, positions)),
            }
        }
        for (_, positions) in &mut merged {
            facts.sort(positions);
        }
        self.0 = merged;
    }
}

impl Totals {
    fn add(&mut self, fact: &Fact) {
        self.runs += 1;
        let of = match (fact.end(), fact.unscored()) {
            (End::Scored(..), _) => &mut self.scored,
            (End::Error, _) => &mut self.errors,
            (End::Waiting, _) => &mut self.waiting,
            (End::Running, _) => &mut self.running,
            (End::Damaged, _) => &mut self.damaged,
            (End::Unscored, Some(Unscored::NothingExpected)) => &mut self.no_expected,
            (End::Unscored, Some(Unscored::NotAsked)) => &mut self.unasked,
            (End::Unscored, _) => &mut self.unscored,
        };
        *of += 1;
    }
}

/// Returns the final columns in order, the number of columns left out, and the new index of each.
/// Columns without runs of a task are dropped.
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
    // Unknown systems and models come last.
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
        expects_runs: column.counted > 0 && !column.foreign,
        has_counted: column.counted > 0,
        cell: OverviewCell::default(),
    });
    (columns, left_out, moved)
}

/// Determines the variation of runs.
fn variation_key(run: &Place<'_>, suite: Option<&Task>) -> VariationKey {
    let number =
        suite.map_or(run.variation, |suite| suite.counted_as(run.variation, run.variation_name));
    match (number, run.variation_name) {
        (Some(number), _) => VariationKey::Numbered(number),
        (None, Some(name)) => VariationKey::Named(name.to_owned()),
        (None, None) => VariationKey::Unknown,
    }
}

/// Returns the label of a variation, preferably from the suite.
fn label(run: &Place<'_>, suite: Option<&Task>, place: &VariationKey) -> Option<String> {
    let number = if let VariationKey::Numbered(number) = place {
        usize::try_from(*number).ok()
    } else {
        None
    };
    let of_suite = suite.zip(number).and_then(|(suite, number)| suite.variation_name(number));
    of_suite.or_else(|| run.variation_name.map(str::to_owned))
}
