//! Loads the data of an overview from the index and caches the matrix.
use super::counted::end_of;
use super::{IndexError, Lists, ParsedFilter, Reader, RunSet, scored};
use crate::overview::{Gathering, Leaders, Matrix, Seen, Spent};
use crate::suites::Tasks;
use rusqlite::Row;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};
use std::sync::Arc;
use touchstone_api::{FilterError, Overview, OverviewRequest, RunState};

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
        Ok((matrix.leaders(), misread))
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
            let filter = asked.filter.clone();
            let (replays, evaluations) = self.outside_benchmark(index, filter.clone())?;
            let passing = self.set(index, &self.prepared(filter.for_benchmark()))?;
            let matrix = gather(index, suites, &asked, &passing, scorer)?;
            let matrix = matrix.with_left_out(replays, evaluations);
            self.keep(index, matrix, |known, matrix| known.matrices.put(key, matrix))
        };
        Ok((matrix, misread))
    }
}

/// Builds the matrix in one pass over all runs. Copies only their positions and scores.
fn gather(
    index: &Reader<'_>,
    suites: &Arc<Tasks>,
    asked: &ParsedFilter,
    passing: &RunSet,
    scorer: Option<&str>,
) -> Result<Matrix, IndexError> {
    const PLACE: &str = "r.id, r.key, r.task, r.variation, r.variation_name, r.repeat, r.system, r.model, r.state, \
         r.verdict IS NOT NULL OR r.review_score IS NOT NULL, r.member IS NOT NULL OR r.layout = 'raw_answer', \
         r.lineage, r.fork, r.tokens, r.cost, r.seconds";
    // The SQL is assembled from fixed fragments only; the scorer is passed as a parameter.
    let statement = match scorer {
        None => {
            format!("SELECT {PLACE}, r.scoring, r.score, r.passed FROM runs r WHERE ?1 IS NULL")
        }
        Some(_) => format!(
            "SELECT {PLACE}, s.standing, s.score, s.passed FROM runs r LEFT JOIN scores s ON s.run = r.id AND s.scorer = ?1"
        ),
    };
    let mut query = index.prepare_cached(&statement)?;
    let mut rows = query.query([scorer])?;
    let mut gathering = Gathering::new(suites, &asked.filter);
    while let Some(row) = rows.next()? {
        if passing.contains(row.get(0)?) {
            gathering.add(&seen(row)?);
        }
    }
    Ok(gathering.finish(&asked.filter, scored::scorers(index)?))
}

fn seen<'a>(row: &'a Row<'_>) -> rusqlite::Result<Seen<'a>> {
    let text = |at: usize| row.get_ref(at).map(|value| value.as_str_or_null().ok().flatten());
    let small = |at: usize| {
        row.get::<_, Option<i64>>(at).map(|number| number.and_then(|n| u32::try_from(n).ok()))
    };
    let state = text(8)?.and_then(word).unwrap_or(RunState::Other);
    let tokens: Option<i64> = row.get(13)?;
    let spent = Spent {
        tokens: tokens.and_then(|tokens| u64::try_from(tokens).ok()),
        cost: row.get(14)?,
        seconds: row.get(15)?,
    };
    let scoring = text(16)?.and_then(word);
    Ok(Seen {
        id: text(1)?.unwrap_or_default(),
        task: text(2)?,
        variation: small(3)?,
        variation_name: text(4)?,
        repeat: small(5)?.unwrap_or(1),
        system: text(6)?,
        model: text(7)?,
        state,
        scoring,
        end: end_of(state, scoring, row.get(17)?, row.get(18)?),
        reviewed: row.get(9)?,
        foreign: row.get(10)?,
        lineage: text(11)?.and_then(word),
        fork: small(12)?.unwrap_or(0),
        spent,
    })
}

/// Deserializes a word of the index without copying it.
fn word<'a, T: Deserialize<'a>>(word: &'a str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<Error>::new(word)).ok()
}
