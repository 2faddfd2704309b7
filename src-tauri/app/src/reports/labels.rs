//! **Pure.** Labels in reports: how many runs of each system have them.
use super::page::{Estimate, LabelSum, Table};
use super::words;
use crate::labels::run_labels::RunLabels;
use touchstone_api::{LabelSchema, RunLabel};
use touchstone_scoring::aggregate::{self, Column, Counted, ImportedVerdict};
use touchstone_store::query::ScoredRun;

/// Counts each label in each group. A label that follows from a question has the share of all runs; of
/// a category, each value has the share of the runs with any value; a number has its mean.
pub(crate) fn label_sums(
    known: &RunLabels,
    groups: &[(Column<'_>, Vec<usize>)],
    (all, runs): (&[Counted<'_>], &[ScoredRun]),
) -> Vec<LabelSum> {
    let mut sums = Vec::new();
    for label in known.labels.iter().filter(|label| label.error.is_none()) {
        let values_of = |run: usize| {
            let of_run = runs.get(run).map(|run| known.labels_of(run)).unwrap_or_default();
            of_run.iter().filter(|one| one.name == label.name).collect::<Vec<_>>()
        };
        for (column, places) in groups {
            let labelled: Vec<(usize, Vec<&RunLabel>)> =
                places.iter().map(|run| (*run, values_of(*run))).collect();
            let sum = |value: Option<&str>, said: Vec<ImportedVerdict>| {
                sum(&label.name, value, column, (all, said))
            };
            let given = || labelled.iter().filter(|(_, values)| !values.is_empty());
            match &label.schema {
                Some(LabelSchema::Category { values }) if given().next().is_some() => {
                    sums.extend(values.iter().map(|value| {
                        let has = |one: &&RunLabel| one.value.as_deref() == Some(value.as_str());
                        let said =
                            given().map(|(run, of_run)| passed(*run, of_run.iter().any(has)));
                        sum(Some(value), said.collect())
                    }));
                }
                Some(LabelSchema::Category { .. }) => {}
                Some(LabelSchema::Number { .. }) => {
                    let said = given().filter_map(|(run, values)| number(*run, values));
                    let said: Vec<ImportedVerdict> = said.collect();
                    sums.extend((!said.is_empty()).then(|| sum(None, said)));
                }
                None | Some(LabelSchema::Text) => {
                    let said =
                        labelled.iter().map(|(run, of_run)| passed(*run, !of_run.is_empty()));
                    sums.push(sum(None, said.collect()));
                }
            }
        }
    }
    sums
}

fn passed(run: usize, is_so: bool) -> ImportedVerdict {
    ImportedVerdict { run, number: None, passed: Some(is_so) }
}

/// Returns the mean of the numbers that people gave a run.
fn number(run: usize, values: &[&RunLabel]) -> Option<ImportedVerdict> {
    let parsed = values.iter().filter_map(|one| one.value.as_ref()?.parse::<f64>().ok());
    let numbers: Vec<f64> = parsed.filter(|number| number.is_finite()).collect();
    let count = f64::from(u32::try_from(numbers.len()).ok()?);
    let number = (count > 0.0).then(|| numbers.iter().sum::<f64>() / count)?;
    Some(ImportedVerdict { run, number: Some(number), passed: None })
}

fn sum(
    label: &str,
    value: Option<&str>,
    column: &Column<'_>,
    (all, said): (&[Counted<'_>], Vec<ImportedVerdict>),
) -> LabelSum {
    let told = aggregate::summarize_imported(all, &said);
    let estimate = |value, interval: Option<touchstone_metrics::stats::Interval>| Estimate {
        value,
        low: interval.map(|it| it.low),
        high: interval.map(|it| it.high),
    };
    LabelSum {
        label: label.to_owned(),
        value: value.map(str::to_owned),
        group: column.label(),
        runs: told.passes.map_or(told.numbers, |passes| passes.passed),
        of: told.passes.map_or(told.numbers, |passes| passes.of),
        rate: told.passes.map(|passes| estimate(passes.share(), Some(passes.interval))),
        mean: told.mean.map(|mean| estimate(mean.value, mean.interval)),
    }
}

/// Returns the table of labels.
pub(crate) fn label_table(sums: &[LabelSum]) -> Table {
    const HEAD: [&str; 6] =
        ["Label", "Value", "System with model", "Runs", "Share (95 %)", "Mean (95 %)"];
    let row = |sum: &LabelSum| {
        let runs = if sum.mean.is_some() {
            words::count(sum.runs)
        } else {
            words::share(sum.runs, sum.of)
        };
        vec![
            sum.label.clone(),
            sum.value.clone().unwrap_or_else(|| words::NONE.to_owned()),
            sum.group.clone(),
            runs,
            words::estimate(sum.rate),
            words::estimate(sum.mean),
        ]
    };
    Table {
        caption:
            "How many runs have a label. Values that people gave are counted among the runs to \
                  which somebody gave one; a run counts under each value that it has."
                .to_owned(),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: sums.iter().map(row).collect(),
    }
}
