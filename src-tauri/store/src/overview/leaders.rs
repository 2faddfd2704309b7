//! **Pure.** Statistics of each system with each model over all its runs, as in reports.
use super::gather::GatheredColumn;
use super::page::column_filter;
use super::{Column, Fact, Facts, Loose, MOST_COLUMNS, TaskRows};
use std::collections::BTreeMap;
use touchstone_scoring::aggregate::{Counted, Front, Ranking, Standing, Summary};

/// Systems with their models.
pub struct Leaders {
    /// One entry per system and model.
    pub all: Vec<Leader>,
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
    facts: Facts,
}

impl Loose {
    /// Takes the runs of columns that have no run of a task, which the matrix does not show.
    pub(super) fn of_columns_without_tasks(&mut self, columns: &[GatheredColumn]) -> Vec<Alone> {
        let is_alone = |fact: &Fact| {
            columns.get(usize::from(fact.column)).is_some_and(|column| column.runs == 0)
        };
        let mut by_column: BTreeMap<u16, Vec<Fact>> = BTreeMap::new();
        let (alone, rest) = std::mem::take(&mut self.facts.0).into_iter().partition(is_alone);
        self.facts.0 = rest;
        let alone: Vec<Fact> = alone;
        for fact in alone {
            by_column.entry(fact.column).or_default().push(fact);
        }
        let named = |(at, facts): (u16, Vec<Fact>)| {
            let column = columns.get(usize::from(at))?;
            let (system, model) = (column.system.clone(), column.model.clone());
            Some(Alone { system, model, facts: Facts(facts) })
        };
        let mut all: Vec<Alone> = by_column.into_iter().filter_map(named).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.facts.0.len()));
        all
    }
}

impl Leaders {
    /// Summarises the columns, and `alone`, which has the most runs first. `ranking` has a standing
    /// for each column.
    pub(super) fn new(
        (columns, left_out): (&[Column], usize),
        tasks: &[TaskRows],
        loose: &Facts,
        mut alone: Vec<Alone>,
        ranking: Ranking,
    ) -> Self {
        let room = MOST_COLUMNS.saturating_sub(columns.len());
        let left_out = left_out + alone.len().saturating_sub(room);
        alone.truncate(room);
        let of_column = |((at, column), standing): ((u16, &Column), _)| Leader {
            system: column.system.clone(),
            model: column.model.clone(),
            filter: column_filter(column.system.as_deref(), column.model.as_deref()),
            summary: summary(tasks, at, loose.in_column(at)),
            standing,
        };
        let columns = (0..).zip(columns).zip(ranking.standings).map(of_column);
        let alone = alone.iter().map(|one| Leader {
            system: one.system.clone(),
            model: one.model.clone(),
            filter: column_filter(one.system.as_deref(), one.model.as_deref()),
            summary: summary(&[], 0, &one.facts.0),
            standing: None,
        });
        let all: Vec<Leader> = columns.chain(alone).collect();
        let front = Front::new(&all.iter().map(|one| &one.summary).collect::<Vec<_>>());
        Self { all, left_out, front }
    }
}

/// Summarises the runs of a column. Variations are numbered by their position in the task.
fn summary(tasks: &[TaskRows], column: u16, loose: &[Fact]) -> Summary {
    let counted = |task, variation, fact: &Fact| {
        let spent = fact.spent.spent();
        Counted {
            task,
            variation,
            end: fact.end,
            apart: fact.apart,
            tokens: spent.tokens,
            cost: spent.cost,
            seconds: spent.seconds,
            ..Counted::default()
        }
    };
    let mut runs: Vec<Counted<'_>> = Vec::new();
    for task in tasks {
        for (number, row) in (0..).zip(&task.variations) {
            let facts = row.facts.in_column(column).iter();
            runs.extend(facts.map(|fact| counted(Some(task.id.as_str()), Some(number), fact)));
        }
    }
    runs.extend(loose.iter().map(|fact| counted(None, None, fact)));
    Summary::new(&runs, &(0..runs.len()).collect::<Vec<_>>())
}
