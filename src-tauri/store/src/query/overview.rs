//! Loads the data of an overview from the index and caches the matrix.
use super::counted::end_of;
use super::score_columns::{self, ScoreColumns};
use super::{IndexError, Lists, Reader, RunSet};
use crate::columns::{Facts, Int, Place, Real, Seen, word};
use crate::overview::{Leaders, Matrix, Spent};
use crate::suites::Tasks;
use rusqlite::Row;
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_api::{FilterError, Overview, OverviewRequest, RunState};

/// Number of runs from which one overview is kept instead of three.
const MANY: usize = 1_000_000;

impl Lists {
    /// Returns a section of the matrix of the runs that pass a filter.
    pub fn overview(
        &self,
        index: &Reader<'_>,
        suites: &Arc<Tasks>,
        request: &OverviewRequest,
    ) -> Result<Overview, IndexError> {
        let scorer = request.scorer.as_deref();
        let (matrix, misread) = self.matrix(index, suites, (&request.filter, scorer))?;
        Ok(matrix.page(request, index.generation(), misread))
    }

    /// Returns the systems with their models, with statistics of the runs that pass a filter.
    pub fn leaders(
        &self,
        index: &Reader<'_>,
        suites: &Arc<Tasks>,
        (filter, scorer): (&str, Option<&str>),
    ) -> Result<(Arc<Leaders>, Vec<FilterError>), IndexError> {
        let (matrix, misread) = self.matrix(index, suites, (filter, scorer))?;
        if let Some(known) = matrix.known_leaders() {
            return Ok((known, misread));
        }
        let leaders = if let Some(columns) = index.columns() {
            matrix.leaders(&|run| {
                let Some(run) = columns.run(i64::from(run)) else { return Spent::default() };
                Spent {
                    tokens: run.int(Int::Tokens).and_then(|tokens| u64::try_from(tokens).ok()),
                    cost: run.real(Real::Cost),
                    seconds: run.real(Real::Seconds),
                }
            })
        } else {
            let spent = spent_by_run(index, &matrix.runs())?;
            matrix.leaders(&|run| spent.get(&run).copied().unwrap_or_default())
        };
        Ok((leaders, misread))
    }

    /// Returns the matrix of the runs that pass a filter, and the tokens that could not be parsed.
    fn matrix(
        &self,
        index: &Reader<'_>,
        suites: &Arc<Tasks>,
        (filter, scorer): (&str, Option<&str>),
    ) -> Result<(Arc<Matrix>, Vec<FilterError>), IndexError> {
        let (filter, misread) = self.parse(filter);
        let asked = self.prepared(filter);
        let key = (asked.key(), scorer.map(str::to_owned));
        let known = self
            .remembered(index, |known| known.matrices.get(&key))
            .filter(|known| known.is_of(suites));
        let matrix = if let Some(known) = known {
            known
        } else {
            let (passing, replays, evaluations) = self.benchmark_runs(index, &asked.filter)?;
            if passing.len() > MANY {
                self.remembered(index, |known| known.matrices.clear());
            }
            let columns = if scorer.is_none() { index.columns() } else { None };
            let scorers = score_columns::scorers_and_evaluators(index)?;
            let suites = (suites, &asked.filter);
            let matrix = if let Some(columns) = columns {
                let facts = index.column_cache().facts(&columns);
                Matrix::new(&facts, Some(&passing), suites, scorers)
            } else {
                let facts = Arc::new(facts_by_sql(index, &passing, scorer)?);
                Matrix::new(&facts, None, suites, scorers)
            };
            let matrix = matrix.with_left_out(replays, evaluations);
            self.keep(index, matrix, |known, matrix| known.matrices.put(key, matrix))
        };
        Ok((matrix, misread))
    }
}

/// Returns what some runs consumed, by their row.
fn spent_by_run(index: &Reader<'_>, some: &RunSet) -> Result<HashMap<u32, Spent>, IndexError> {
    let mut query = index.prepare_cached("SELECT id, tokens, cost, seconds FROM runs")?;
    let mut rows = query.query([])?;
    let mut spent = HashMap::new();
    while let Some(row) = rows.next()? {
        if some.contains(row.get(0)?) {
            let tokens: Option<i64> = row.get(1)?;
            let tokens = tokens.and_then(|tokens| u64::try_from(tokens).ok());
            let amounts = Spent { tokens, cost: row.get(2)?, seconds: row.get(3)? };
            spent.insert(row.get(0)?, amounts);
        }
    }
    Ok(spent)
}

/// Gathers runs in one pass over the index.
fn facts_by_sql(
    index: &Reader<'_>,
    passing: &RunSet,
    scorer: Option<&str>,
) -> Result<Facts, IndexError> {
    const PLACE: &str = "r.id, r.key, r.task, r.variation, r.variation_name, r.repeat, r.system, r.model, r.state, \
         r.verdict IS NOT NULL OR r.review_score IS NOT NULL, r.member IS NOT NULL OR r.layout = 'raw_answer', \
         r.lineage, r.fork";
    // The SQL is assembled from fixed fragments only; the name is passed as a parameter.
    let ScoreColumns { from, score, name, .. } = ScoreColumns::new(scorer);
    let statement = format!("SELECT {PLACE}, {score} {from}");
    let mut query = index.prepare_cached(&statement)?;
    let mut rows = query.query([name])?;
    Facts::gather(|add| {
        while let Some(row) = rows.next()? {
            if passing.contains(row.get(0)?) {
                add(seen(row)?);
            }
        }
        Ok(())
    })
}

fn seen<'a>(row: &'a Row<'_>) -> rusqlite::Result<Seen<'a>> {
    let text = |at: usize| row.get_ref(at).map(|value| value.as_str_or_null().ok().flatten());
    let small = |at: usize| {
        row.get::<_, Option<i64>>(at).map(|number| number.and_then(|n| u32::try_from(n).ok()))
    };
    let state = text(8)?.and_then(word).unwrap_or(RunState::Other);
    let scoring = text(13)?.and_then(word);
    Ok(Seen {
        run: row.get(0)?,
        id: text(1)?.unwrap_or_default().into(),
        place: Place {
            task: text(2)?,
            system: text(6)?,
            model: text(7)?,
            variation: small(3)?,
            variation_name: text(4)?,
        },
        repeat: small(5)?.unwrap_or(1),
        state,
        scoring,
        end: end_of(state, scoring, row.get(15)?, row.get(16)?),
        reviewed: row.get(9)?,
        foreign: row.get(10)?,
        lineage: text(11)?.and_then(word),
        fork: small(12)?.unwrap_or(0),
    })
}
