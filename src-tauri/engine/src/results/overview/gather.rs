//! **Pure.** Puts runs where they belong: which column, which task, which variation.
use super::{Column, Fact, Facts, Loose, MOST_COLUMNS, Matrix, Place, TaskRows, Totals, VariationRow, cell, expected};
use crate::results::filter::Filter;
use crate::results::query::ScoredRun;
use crate::results::suites::{Task, Tasks};
use crate::rows::{OverviewCell, RunState, ScoreStanding};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use touchstone_scoring::standing::End;

/// Rows while they are filled.
#[derive(Default)]
pub(super) struct Gathered {
    tasks: Vec<GatheredTask>,
    by_id: HashMap<String, usize>,
}

#[derive(Default)]
struct GatheredTask {
    id: String,
    label: Option<String>,
    names: BTreeSet<String>,
    rows: BTreeMap<Place, VariationRow>,
}

impl Gathered {
    fn task(&mut self, id: &str, label: Option<&String>) -> usize {
        if let Some(at) = self.by_id.get(id) {
            return *at;
        }
        self.by_id.insert(id.to_owned(), self.tasks.len());
        self.tasks.push(GatheredTask { id: id.to_owned(), label: label.cloned(), ..GatheredTask::default() });
        self.tasks.len() - 1
    }

    /// What runs call a task.
    pub(super) fn names(&self, id: &str) -> Vec<String> {
        let task = self.by_id.get(id).and_then(|at| self.tasks.get(*at));
        task.map(|task| task.names.iter().cloned().collect()).unwrap_or_default()
    }

    /// The row of a variation that a suite has.
    pub(super) fn row(&mut self, task: &Task, variation: u32, name: Option<String>) -> &mut VariationRow {
        let at = self.task(&task.suite.id, task.suite.name.as_ref());
        let place = Place::Numbered(variation);
        self.tasks[at].rows.entry(place.clone()).or_insert_with(|| VariationRow::new(place, name))
    }

    /// Once every run is in, runs are found by their column.
    fn close(&mut self) {
        for row in self.tasks.iter_mut().flat_map(|task| task.rows.values_mut()) {
            row.facts.close();
        }
    }

    fn rows(self) -> Vec<TaskRows> {
        let rows = |task: GatheredTask| TaskRows {
            names: if task.names.is_empty() { vec![task.id.clone()] } else { task.names.into_iter().collect() },
            id: task.id,
            label: task.label,
            variations: task.rows.into_values().collect(),
        };
        let mut tasks: Vec<TaskRows> = self.tasks.into_iter().map(rows).collect();
        tasks.sort_by(|one, other| one.id.cmp(&other.id));
        tasks
    }
}

impl Facts {
    fn add(&mut self, run: &ScoredRun, column: u16) {
        self.0.push(Fact {
            column,
            end: run.counted().end,
            repeat: run.repeat,
            reviewed: run.verdict.is_some() || run.review_score.is_some(),
            id: run.id.as_str().into(),
        });
    }

    fn close(&mut self) {
        self.0.sort_by_key(|fact| fact.column);
        self.0.shrink_to_fit();
    }
}

impl Matrix {
    /// Gathers runs, which are in the order of their paths; `scorers` are those that occur.
    pub fn of(runs: &[ScoredRun], suites: &Arc<Tasks>, filter: &Filter, scorers: Vec<String>) -> Self {
        let runs = || runs.iter().filter(|run| run.state != RunState::Other);
        let (mut columns, columns_left_out) = columns(runs().filter(|run| run.task.is_some()));
        let named = |column: &Column| (column.system.clone(), column.model.clone());
        let names: Vec<(Option<String>, Option<String>)> = columns.iter().map(named).collect();
        let at: HashMap<_, u16> =
            names.iter().map(|(system, model)| (system.as_deref(), model.as_deref())).zip(0..).collect();
        let mut gathered = Gathered::default();
        let mut known: HashMap<&str, (usize, Option<&Arc<Task>>)> = HashMap::new();
        let mut loose = Loose::default();
        let mut totals = Totals::default();
        for run in runs() {
            totals.add(run);
            let column = at.get(&(run.system.as_deref(), run.model.as_deref())).copied();
            let Some(name) = &run.task else {
                loose.add(run, column);
                continue;
            };
            let Some(column) = column else { continue };
            let (task, suite) = *known.entry(name).or_insert_with(|| {
                let suite = suites.get(name);
                let (id, label) = suite.map_or((name, None), |task| (&task.suite.id, task.suite.name.as_ref()));
                let at = gathered.task(id, label);
                gathered.tasks[at].names.insert(name.clone());
                (at, suite)
            });
            let (place, label) = place(run, suite.map(Arc::as_ref));
            let rows = &mut gathered.tasks[task].rows;
            let row = rows.entry(place).or_insert_with_key(|place| VariationRow::new(place.clone(), label()));
            row.by_name |= run.variation.is_none();
            row.facts.add(run, column);
        }
        gathered.close();
        loose.facts.close();
        totals.missing = expected::count_missing(&mut gathered, &columns, suites, filter);
        let tasks = gathered.rows();
        for (at, column) in (0..).zip(&mut columns) {
            column.cell = cell::of_column(&tasks, at);
        }
        let loose = (loose.runs > 0).then_some(loose);
        Self { suites: Arc::clone(suites), columns, columns_left_out, tasks, loose, scorers, totals }
    }
}

impl Loose {
    fn add(&mut self, run: &ScoredRun, column: Option<u16>) {
        self.runs += 1;
        if let Some(column) = column {
            self.facts.add(run, column);
        }
    }
}

impl Totals {
    fn add(&mut self, run: &ScoredRun) {
        self.runs += 1;
        let ended = matches!(run.state, RunState::Answered | RunState::NoAnswer);
        match (run.counted().end, run.scoring) {
            (End::Scored(..), _) => self.scored += 1,
            (End::Error, _) => self.errors += 1,
            // None: its task is not known.
            (_, Some(ScoreStanding::NoExpected) | None) if ended => self.no_expected += 1,
            (_, Some(ScoreStanding::Waiting)) if ended => self.unasked += 1,
            _ => {}
        }
    }
}

/// Systems with models that occur, in order, and how many were too many.
fn columns<'a>(runs: impl Iterator<Item = &'a ScoredRun>) -> (Vec<Column>, usize) {
    let mut counts: HashMap<(Option<&str>, Option<&str>), usize> = HashMap::new();
    for run in runs {
        *counts.entry((run.system.as_deref(), run.model.as_deref())).or_default() += 1;
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by(|(one, few), (other, many)| many.cmp(few).then_with(|| one.cmp(other)));
    let left_out = all.len().saturating_sub(MOST_COLUMNS);
    all.truncate(MOST_COLUMNS);
    // What is not known stands last.
    all.sort_by_key(|((system, model), _)| (system.is_none(), *system, model.is_none(), *model));
    let column = |((system, model), _): ((Option<&str>, Option<&str>), usize)| Column {
        system: system.map(str::to_owned),
        model: model.map(str::to_owned),
        cell: OverviewCell::default(),
    };
    (all.into_iter().map(column).collect(), left_out)
}

/// Which variation a run is of, and what that is called.
fn place<'a>(run: &'a ScoredRun, suite: Option<&'a Task>) -> (Place, impl Fn() -> Option<String> + use<'a>) {
    let by_name = || {
        let name = run.variation_name.as_deref()?;
        let suite = suite?;
        let found = suite.suite.variations.iter().position(|variation| variation.label() == name)?;
        u32::try_from(found).ok()
    };
    let place = match (run.variation.or_else(by_name), &run.variation_name) {
        (Some(number), _) => Place::Numbered(number),
        (None, Some(name)) => Place::Named(name.clone()),
        (None, None) => Place::Unknown,
    };
    let number = if let Place::Numbered(number) = &place { usize::try_from(*number).ok() } else { None };
    let label = move || {
        let of_suite = suite.zip(number).and_then(|(suite, number)| suite.variation_name(number));
        of_suite.or_else(|| run.variation_name.clone())
    };
    (place, label)
}
