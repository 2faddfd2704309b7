//! **Pure.** Sorts runs into columns, tasks and variations.
use super::{
    Column, Fact, Facts, Holds, Leaders, Loose, MOST_COLUMNS, Matrix, TaskRows, Totals,
    VariationKey, VariationRow, cell, expected,
};
use crate::filter::Filter;
use crate::run_key::RunKey;
use crate::suites::{Task, Tasks};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use touchstone_api::{Lineage, OverviewCell, RunState, ScoreStanding};
use touchstone_scoring::aggregate::{self, End, RowKey, Scores, rank_systems};
use touchstone_scoring::stats::mean;

/// Fields of a run that the matrix needs. Borrowed, because there are many runs and most values
/// repeat.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// Opaque id.
    pub id: RunKey,
    /// Task.
    pub task: Option<&'a str>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// Name of the variation.
    pub variation_name: Option<&'a str>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// System.
    pub system: Option<&'a str>,
    /// Model.
    pub model: Option<&'a str>,
    /// State.
    pub state: RunState,
    /// Scoring state.
    pub scoring: Option<ScoreStanding>,
    /// Outcome used for counting.
    pub end: End,
    /// True if the run has a review.
    pub reviewed: bool,
    /// True for layouts of other programs, which are only read. Their columns expect no further
    /// runs.
    pub foreign: bool,
    /// Kind of derived run, if it is a fork or was continued by a person.
    pub lineage: Option<Lineage>,
    /// Fork number from the file name; 0 for none.
    pub fork: u32,
    /// What the run consumed.
    pub spent: Spent,
}

/// What a run consumed, if known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Dollars.
    pub cost: Option<f64>,
    /// Seconds.
    pub seconds: Option<f64>,
}

/// Returns the mean scores of each column by row.
fn scores<'m>(columns: &'m [Column], tasks: &'m [TaskRows], loose: &'m Facts) -> Vec<Scores<'m>> {
    let of_column = |(at, column): (u16, &'m Column)| {
        let rows =
            tasks.iter().flat_map(|task| (0..).zip(&task.variations).map(move |row| (task, row)));
        let score = |fact: &Fact| match fact.end {
            End::Scored(score, _) if (0.0..=1.0).contains(&score) => Some(score),
            _ => None,
        };
        let mut all: Vec<f64> = loose.in_column(at).iter().filter_map(score).collect();
        let rows = rows.filter_map(|(task, (number, row))| {
            let scores: Vec<f64> = row.facts.in_column(at).iter().filter_map(score).collect();
            all.extend(&scores);
            let key = RowKey { task: Some(task.id.as_str()), variation: Some(number), name: None };
            Some((key, mean(&scores)?))
        });
        let (system, model) = (column.system.as_deref(), column.model.as_deref());
        let rows: BTreeMap<RowKey<'_>, f64> = rows.collect();
        Scores { column: aggregate::Column { system, model }, mean: mean(&all), rows }
    };
    (0..).zip(columns).map(of_column).collect()
}

/// Where a run stands: its column, and its task with its variation.
#[derive(Debug, Clone)]
pub(crate) struct MatrixPlace {
    column: u16,
    row: Option<(usize, VariationKey)>,
}

/// Collector of runs for a matrix.
pub struct Gathering {
    suites: Arc<Tasks>,
    pub(super) tasks: Vec<GatheredTask>,
    by_id: HashMap<String, usize>,
    /// Tasks by the names that runs use.
    by_name: HashMap<String, (usize, Option<Arc<Task>>)>,
    columns: Vec<GatheredColumn>,
    by_maker: HashMap<String, u16>,
    /// Lookup key of the current run: system and model as one text.
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
    /// True when all of its runs are foreign.
    foreign: bool,
}

impl Gathering {
    /// Creates an empty collector for the runs that pass a filter.
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

    /// Adds a run. Files that are not runs are ignored.
    pub fn add(&mut self, run: Seen<'_>) {
        if run.state != RunState::Other {
            let place = self.find_place(&run);
            self.put(run, place.as_ref());
        }
    }

    /// Returns where a run stands, by its system, model, task and variation; runs that have these in
    /// common stand in the same place. `None` when there are too many columns.
    pub(crate) fn find_place(&mut self, run: &Seen<'_>) -> Option<MatrixPlace> {
        let column = self.column(run)?;
        let Some(name) = run.task else { return Some(MatrixPlace { column, row: None }) };
        let task = self.task_of(name);
        let suite = self.by_name.get(name).and_then(|(_, suite)| suite.as_deref());
        let key = variation_key(run, suite);
        let label = || label(run, suite, &key);
        let rows = &mut self.tasks[task].rows;
        let row =
            rows.entry(key.clone()).or_insert_with(|| VariationRow::new(key.clone(), label()));
        row.by_name |= run.variation.is_none();
        Some(MatrixPlace { column, row: Some((task, key)) })
    }

    /// Adds a run at its place.
    pub(crate) fn put(&mut self, run: Seen<'_>, place: Option<&MatrixPlace>) {
        let is_left_out = run.lineage.is_some() && !self.with_forks;
        let superseded = run.lineage == Some(Lineage::Superseded);
        match is_left_out {
            true if superseded => self.totals.superseded += 1,
            true => self.totals.forks += 1,
            false => self.totals.add(&run),
        }
        let Some(MatrixPlace { column, row }) = place else { return };
        let column = *column;
        let holds = match run.lineage {
            Some(Lineage::Superseded) => Holds::Nothing,
            Some(Lineage::Fork) if run.fork > 0 => Holds::Nothing,
            Some(Lineage::Fork) => Holds::Number,
            Some(Lineage::FollowUps) | None => Holds::Repeat,
        };
        let (end, repeat, reviewed) = (run.end, run.repeat, run.reviewed);
        let apart = run.lineage.is_some();
        let (id, spent) = (run.id, run.spent.into());
        let fact = Fact { column, end, repeat, reviewed, holds, apart, superseded, spent, id };
        let Some((task, key)) = row else {
            if is_left_out {
                return;
            }
            self.loose.runs += 1;
            self.loose.facts.0.push(fact);
            return;
        };
        self.columns[usize::from(column)].runs += 1;
        self.columns[usize::from(column)].foreign &= run.foreign;
        if let Some(row) = self.tasks[*task].rows.get_mut(key) {
            let facts = if is_left_out { &mut row.forks } else { &mut row.facts };
            facts.0.push(fact);
        }
    }

    /// Builds the matrix and counts the runs that suites expect but that do not exist. `scorers`
    /// are the scorers that occur.
    pub fn finish(mut self, filter: &Filter, scorers: Vec<String>) -> Matrix {
        let alone = self.loose.of_columns_without_tasks(&self.columns);
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
        let ranking = rank_systems(&scores(&columns, &tasks, &self.loose.facts));
        let headline = ranking.sentences.clone();
        let (rows, loose) = (&tasks, &self.loose.facts);
        let leaders = Leaders::new((&columns, columns_left_out), rows, loose, alone, ranking);
        for ((at, column), leader) in (0..).zip(&mut columns).zip(&leaders.all) {
            // Runs without a task are in no sum of the matrix.
            let has_loose = !self.loose.facts.in_column(at).is_empty();
            let counted = (!has_loose).then_some(&leader.summary.cell);
            column.cell = cell::of_column(&tasks, at, counted);
        }
        let leaders = Arc::new(leaders);
        let loose = (self.loose.runs > 0).then_some(self.loose);
        let totals = self.totals;
        Matrix {
            suites,
            columns,
            columns_left_out,
            tasks,
            loose,
            scorers,
            headline,
            leaders,
            totals,
        }
    }

    /// Returns the provisional column number of a run. `None` when the numbers are exhausted.
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

    /// Returns the names that runs use for a task.
    pub(super) fn names(&self, id: &str) -> Vec<String> {
        let task = self.by_id.get(id).and_then(|at| self.tasks.get(*at));
        task.map(|task| task.names.iter().cloned().collect()).unwrap_or_default()
    }

    /// Returns the repeat numbers occupied by forks in a column of a variation.
    pub(super) fn taken_by_forks(&self, task: &Task, variation: u32, column: u16) -> Vec<u32> {
        let at = self.by_id.get(&task.suite.id).and_then(|at| self.tasks.get(*at));
        let row = at.and_then(|task| task.rows.get(&VariationKey::Numbered(variation)));
        let of = |facts: &Facts| {
            let taken = facts.in_column(column).iter().filter(|fact| fact.holds == Holds::Number);
            taken.map(|fact| fact.repeat).collect::<Vec<_>>()
        };
        row.map(|row| [of(&row.facts), of(&row.forks)].concat()).unwrap_or_default()
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
    /// Assigns the final columns and sorts the runs, independent of the order in which they were
    /// added.
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
            // Without a scoring state, the task is unknown.
            (End::Unscored, Some(ScoreStanding::NoExpected) | None) => &mut self.no_expected,
            (End::Unscored, Some(ScoreStanding::Waiting)) => &mut self.unasked,
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
        foreign: column.foreign,
        cell: OverviewCell::default(),
    });
    (columns, left_out, moved)
}

/// Determines the variation of a run.
fn variation_key(run: &Seen<'_>, suite: Option<&Task>) -> VariationKey {
    let number =
        suite.map_or(run.variation, |suite| suite.counted_as(run.variation, run.variation_name));
    match (number, run.variation_name) {
        (Some(number), _) => VariationKey::Numbered(number),
        (None, Some(name)) => VariationKey::Named(name.to_owned()),
        (None, None) => VariationKey::Unknown,
    }
}

/// Returns the label of a variation, preferably from the suite.
fn label(run: &Seen<'_>, suite: Option<&Task>, place: &VariationKey) -> Option<String> {
    let number = if let VariationKey::Numbered(number) = place {
        usize::try_from(*number).ok()
    } else {
        None
    };
    let of_suite = suite.zip(number).and_then(|(suite, number)| suite.variation_name(number));
    of_suite.or_else(|| run.variation_name.map(str::to_owned))
}
