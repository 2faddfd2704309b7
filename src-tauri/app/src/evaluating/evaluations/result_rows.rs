//! Rows of the results of an evaluation, a page at a time.
use super::{FileId, Root, run_of_file};
use crate::error::AppError;
use crate::evaluating::EvaluationActions;
use touchstone_api::{EvaluatedRow, EvaluatedRows, EvaluatorResult, EvaluatorTotal, Span};
use touchstone_formats::collection::Collection;
use touchstone_model::json;
use touchstone_model::run::{Run, Verdict};
use touchstone_model::value::Value;

/// Maximum number of rows in a page.
const MOST_ROWS: u32 = 200;
/// Maximum number of columns of the data that are shown of a row.
const MOST_INPUTS: usize = 4;
/// Maximum number of characters of an input.
const INPUT: usize = 160;
/// Maximum number of characters of a reason.
const REASON: usize = 300;
/// Prefix of the columns of the data.
const INPUTS: &str = "inputs.";

impl EvaluationActions<'_> {
    /// Returns rows of the results of an evaluation with what each evaluator said. There are none
    /// before the results are complete.
    pub fn evaluation_rows(self, id: &str, span: Span) -> Result<EvaluatedRows, AppError> {
        let work = self.app.inner.evaluations.find(id)?;
        let names = || work.job.wish.evaluators.iter().map(|one| one.evaluator.name.clone());
        let mut page = EvaluatedRows {
            total: 0,
            evaluators: names().collect(),
            totals: Vec::new(),
            rows: Vec::new(),
        };
        let Some(text) = self.evaluation_results(id)? else { return Ok(page) };
        let place = work.job.place.as_ref();
        let path = place.map_or("", |place| place.path.as_str());
        // Results without any row have no form.
        let Ok(file) = Collection::open(path, text.as_bytes()) else { return Ok(page) };
        page.total = file.len() as u64;
        let among_results = work.job.filter.is_some();
        let run_id = |at: usize| {
            let place = place.filter(|_| among_results)?;
            let of = FileId::new(Root::Output, place.path.as_str());
            Some(run_of_file(&of, Some(file.key(at))))
        };
        let mut sums = vec![Sum::default(); page.evaluators.len()];
        for run in (0..file.len()).filter_map(|at| file.run(at).ok()) {
            for (sum, name) in sums.iter_mut().zip(&page.evaluators) {
                sum.add(run.verdicts.iter().find(|verdict| verdict.evaluator == *name));
            }
        }
        page.totals = sums.iter().map(Sum::total).collect();
        let from = span.offset as usize;
        let rows = (from..file.len()).take(span.limit.min(MOST_ROWS) as usize);
        page.rows = rows
            .map(|at| {
                let run = file.run(at).unwrap_or_default();
                EvaluatedRow {
                    row: at as u64 + 1,
                    run: run_id(at),
                    inputs: inputs(&run),
                    results: page.evaluators.iter().map(|name| result(&run, name)).collect(),
                }
            })
            .collect();
        Ok(page)
    }
}

/// What an evaluator said of the rows so far.
#[derive(Debug, Clone, Default)]
struct Sum {
    scores: f64,
    total: EvaluatorTotal,
}

impl Sum {
    fn add(&mut self, verdict: Option<&Verdict>) {
        let Some(verdict) = verdict else { return };
        let score = verdict.score.as_deref().and_then(|score| score.parse::<f64>().ok());
        if let Some(score) = score.filter(|score| score.is_finite()) {
            self.scores += score;
            self.total.scored += 1;
        }
        self.total.decided += u64::from(verdict.passed.is_some());
        self.total.passed += u64::from(verdict.passed == Some(true));
    }

    #[expect(clippy::cast_precision_loss, reason = "rows are far below 2^53")]
    fn total(&self) -> EvaluatorTotal {
        let mean = (self.total.scored > 0).then(|| self.scores / self.total.scored as f64);
        EvaluatorTotal { mean, ..self.total }
    }
}

/// Returns the first columns of the data, each with its name.
fn inputs(run: &Run) -> Vec<(String, String)> {
    let entries = run.row.entries().iter().filter_map(|(key, value)| {
        let name = key.text()?.strip_prefix(INPUTS)?;
        (*value != Value::Null).then(|| (name.to_owned(), cell_text(value)))
    });
    entries.take(MOST_INPUTS).collect()
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Text(text) => clip(text, INPUT),
        other => clip(&json::write(other, false), INPUT),
    }
}

/// Returns what an evaluator said of a row; `None` if it has no result and no reason for that.
fn result(run: &Run, evaluator: &str) -> Option<EvaluatorResult> {
    let verdict = run.verdicts.iter().find(|verdict| verdict.evaluator == evaluator)?;
    let Verdict { score, word, passed, reason, .. } = verdict;
    let result = EvaluatorResult {
        score: score.clone().or_else(|| word.clone()),
        passed: *passed,
        reason: reason.as_deref().map(|reason| clip(reason, REASON)),
    };
    (result.score.is_some() || result.passed.is_some() || result.reason.is_some()).then_some(result)
}

/// Cuts a text to a number of characters, with a mark where it was cut.
fn clip(text: &str, most: usize) -> String {
    text.char_indices()
        .nth(most)
        .map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}
