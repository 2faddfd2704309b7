//! **Pure.** Statistics of each system with each model over all its runs, as in reports.
use super::gather::GatheredColumn;
use super::page::column_filter;
use super::{Column, Loose, MOST_COLUMNS, Matrix, TaskRows};
use crate::columns::Facts;
use std::collections::BTreeMap;
use touchstone_scoring::aggregate::{Counted, Front, Standing, Summary};

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

/// Systems with their models.
pub struct Leaders {
    /// One entry per system and model.
    pub all: Vec<Leader>,
    /// Entry that the others are compared with.
    pub best: Option<usize>,
    /// Number of omitted entries: those with the fewest runs.
    pub left_out: usize,
    /// Entries that no other one beats in both score and cost.
    pub front: Option<Front>,
}

/// One system with one model.
pub struct Leader {
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Filter that selects its runs.
    pub filter: String,
    /// Statistics of its runs, including those without a task.
    pub summary: Summary,
    /// Standing beside the best one, and the reason as a sentence.
    pub standing: Option<(Standing, String)>,
}

/// Runs without a task of a system and model that have no others.
pub(super) struct Alone {
    system: Option<String>,
    model: Option<String>,
    pub(super) runs: Vec<u32>,
}

impl Loose {
    /// Takes the runs of columns that have no run of a task, which the matrix does not show.
    pub(super) fn of_columns_without_tasks(&mut self, columns: &[GatheredColumn]) -> Vec<Alone> {
        let mut by_column: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        self.runs.0.retain_mut(|(column, positions)| {
            let is_alone = columns.get(usize::from(*column)).is_some_and(|column| column.runs == 0);
            if is_alone && !positions.is_empty() {
                by_column.entry(*column).or_default().append(positions);
            }
            !is_alone
        });
        let named = |(at, runs): (u16, Vec<u32>)| {
            let column = columns.get(usize::from(at))?;
            let (system, model) = (column.system.clone(), column.model.clone());
            Some(Alone { system, model, runs })
        };
        let mut all: Vec<Alone> = by_column.into_iter().filter_map(named).collect();
        all.sort_by_cached_key(|one| {
            let name = (one.system.is_none(), one.system.clone(), one.model.clone());
            (std::cmp::Reverse(one.runs.len()), name)
        });
        all
    }
}

impl Leaders {
    /// Summarises the columns of a matrix, and the systems that have no runs of tasks, those with the
    /// most runs first.
    pub(super) fn new(matrix: &Matrix, spent: &dyn Fn(u32) -> Spent) -> Self {
        let room = MOST_COLUMNS.saturating_sub(matrix.columns.len());
        let left_out = matrix.columns_left_out + matrix.alone.len().saturating_sub(room);
        let of = |task: &[TaskRows], column, loose: &[u32]| {
            summary(&matrix.facts, spent, (task, column, loose))
        };
        let of_column = |((at, column), standing): ((u16, &Column), &Option<_>)| {
            let loose = matrix.loose.as_ref().map_or(&[][..], |loose| loose.runs.in_column(at));
            Leader {
                system: column.system.clone(),
                model: column.model.clone(),
                filter: column_filter(column.system.as_deref(), column.model.as_deref()),
                summary: of(&matrix.tasks, at, loose),
                standing: standing.clone(),
            }
        };
        let columns = (0..).zip(&matrix.columns).zip(&matrix.ranking.standings);
        // Of a column of forks alone there is nothing to summarise.
        let columns = columns.filter(|((_, column), _)| column.has_counted);
        let best =
            columns.clone().position(|((at, _), _)| Some(usize::from(at)) == matrix.ranking.best);
        let columns = columns.map(of_column);
        let alone = matrix.alone.iter().take(room).map(|one| Leader {
            system: one.system.clone(),
            model: one.model.clone(),
            filter: column_filter(one.system.as_deref(), one.model.as_deref()),
            summary: of(&[], 0, &one.runs),
            standing: None,
        });
        let all: Vec<Leader> = columns.chain(alone).collect();
        let front = Front::new(&all.iter().map(|one| &one.summary).collect::<Vec<_>>());
        Self { all, best, left_out, front }
    }
}

/// Summarises the runs of a column. Variations are numbered by their position in the task.
fn summary(
    facts: &Facts,
    spent: &dyn Fn(u32) -> Spent,
    (tasks, column, loose): (&[TaskRows], u16, &[u32]),
) -> Summary {
    let mut runs: Vec<Counted<'_>> = Vec::new();
    let mut add = |task, variation, positions| {
        runs.extend(facts.at_positions(positions).map(|fact| {
            let Spent { tokens, cost, seconds } = spent(fact.run);
            let (end, apart) = (fact.end(), fact.lineage.is_some());
            let place = Counted { task, variation, ..Counted::default() };
            Counted { end, apart, tokens, cost, seconds, ..place }
        }));
    };
    for task in tasks {
        for (number, row) in (0..).zip(&task.variations) {
            add(Some(task.id.as_str()), Some(number), row.runs.in_column(column));
        }
    }
    add(None, None, loose);
    Summary::new(&runs, &(0..runs.len()).collect::<Vec<_>>())
}
