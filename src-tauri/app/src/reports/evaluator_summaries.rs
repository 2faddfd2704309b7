//! Sums up imported verdicts by evaluator, for the overview.
use super::{ReportActions, stored_sums};
use crate::error::AppError;
use std::collections::BTreeMap;
use touchstone_api::{EvaluatorSummary, Figure};
use touchstone_scoring::aggregate::{Column, Counted};
use touchstone_store::overview::column_filter;
use touchstone_store::query::ScoredRun;

impl ReportActions<'_> {
    /// Returns what evaluators are recorded to have said of the runs that pass a filter, by
    /// evaluator and system with model: the numbers of a report.
    pub fn evaluator_summaries(self, filter: &str) -> Result<Vec<EvaluatorSummary>, AppError> {
        let open = self.app.require_folder()?;
        let stored = open.ask(|index| open.lists.stored(index, filter))?;
        if stored.is_empty() {
            return Ok(Vec::new());
        }
        let (runs, _) = open.ask(|index| open.lists.rated(index, filter, None))?;
        let counted: Vec<Counted<'_>> = runs.iter().map(ScoredRun::counted).collect();
        let mut columns: BTreeMap<Column<'_>, Vec<usize>> = BTreeMap::new();
        for (at, run) in counted.iter().enumerate() {
            columns.entry(run.column()).or_default().push(at);
        }
        let filters: BTreeMap<String, String> = columns
            .keys()
            .map(|column| (column.label(), column_filter(column.system, column.model)))
            .collect();
        let groups: Vec<(Column<'_>, Vec<usize>)> = columns.into_iter().collect();
        let sums = stored_sums(&groups, (&counted, &runs), &stored);
        let summary = |sum: super::StoredSum| {
            let figure = |value: f64, low, high, known: u64| Figure {
                value,
                low,
                high,
                known,
                unknown: sum.runs.saturating_sub(known),
            };
            EvaluatorSummary {
                filter: filters.get(&sum.group).cloned().unwrap_or_default(),
                runs: sum.runs,
                mean: sum.mean.map(|it| figure(it.value, it.low, it.high, sum.numbers)),
                passes: sum.rate.map(|it| figure(it.value, it.low, it.high, sum.decided)),
                errors: sum.errors,
                evaluator: sum.evaluator,
                group: sum.group,
            }
        };
        Ok(sums.into_iter().map(summary).collect())
    }
}
