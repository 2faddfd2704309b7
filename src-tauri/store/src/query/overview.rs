//! Loads the data of an overview from the index and caches the matrix.
use super::counted::end_of;
use super::{IndexError, Lists, Reader, RunSet, scored};
use crate::columns::{Columns, Int, Real, Text};
use crate::overview::{Gathering, Leaders, Matrix, MatrixPlace, Seen, Spent};
use crate::suites::Tasks;
use rusqlite::Row;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_api::{FilterError, Overview, OverviewRequest, RunState};

/// Number of runs from which one overview is kept instead of three.
const MANY: usize = 250_000;

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
            if passing.len() > MANY {
                self.remembered(index, |known| known.matrices.clear());
            }
            let columns = if scorer.is_none() { index.columns() } else { None };
            let mut gathering = Gathering::new(suites, &asked.filter);
            match columns {
                Some(columns) => gather(&columns, &passing, &mut gathering),
                None => gather_by_sql(index, &passing, scorer, &mut gathering)?,
            }
            let matrix = gathering.finish(&asked.filter, scored::scorers(index)?);
            let matrix = matrix.with_left_out(replays, evaluations);
            self.keep(index, matrix, |known, matrix| known.matrices.put(key, matrix))
        };
        Ok((matrix, misread))
    }
}

/// Gathers runs from columns in memory.
fn gather(columns: &Columns, passing: &RunSet, gathering: &mut Gathering) {
    let text = |of: Text| columns.decoded(of, |text| text);
    let [tasks, systems, models, names] =
        [Text::Task, Text::System, Text::Model, Text::VariationName].map(text);
    let states = columns.decoded(Text::State, |state| word(state).unwrap_or(RunState::Other));
    let scorings = columns.decoded(Text::Scoring, word);
    let lineages = columns.decoded(Text::Lineage, word);
    let mut places: HashMap<PlaceCodes, Option<MatrixPlace>> = HashMap::new();
    for run in passing.iter().filter_map(|id| columns.run(id)) {
        let small = |of: Int| run.int(of).and_then(|number| u32::try_from(number).ok());
        let state = run.code(Text::State).and_then(|code| states.get(code).copied());
        let state = state.unwrap_or(RunState::Other);
        if state == RunState::Other {
            continue;
        }
        let scoring =
            run.code(Text::Scoring).and_then(|code| scorings.get(code).copied().flatten());
        let passed = run.int(Int::Passed).map(|passed| passed != 0);
        let spent = Spent {
            tokens: run.int(Int::Tokens).and_then(|tokens| u64::try_from(tokens).ok()),
            cost: run.real(Real::Cost),
            seconds: run.real(Real::Seconds),
        };
        let seen = Seen {
            id: run.key(),
            task: named(&tasks, run.code(Text::Task)),
            variation: small(Int::Variation),
            variation_name: named(&names, run.code(Text::VariationName)),
            repeat: small(Int::Repeat).unwrap_or(1),
            system: named(&systems, run.code(Text::System)),
            model: named(&models, run.code(Text::Model)),
            state,
            scoring,
            end: end_of(state, scoring, run.real(Real::Score), passed),
            reviewed: run.int(Int::Reviewed) == Some(1),
            foreign: run.int(Int::Foreign) == Some(1),
            lineage: run.code(Text::Lineage).and_then(|code| lineages.get(code).copied().flatten()),
            fork: small(Int::Fork).unwrap_or(0),
            spent,
        };
        let codes = [Text::Task, Text::System, Text::Model, Text::VariationName];
        let codes = (codes.map(|of| run.code(of)), seen.variation);
        let place = places.entry(codes).or_insert_with(|| gathering.find_place(&seen));
        gathering.put(seen, place.as_ref());
    }
}

fn named<'t>(texts: &[&'t str], code: Option<usize>) -> Option<&'t str> {
    texts.get(code?).copied()
}

/// Codes of the texts that decide where a run stands, and its variation.
type PlaceCodes = ([Option<usize>; 4], Option<u32>);

/// Gathers runs in one pass over the index.
fn gather_by_sql(
    index: &Reader<'_>,
    passing: &RunSet,
    scorer: Option<&str>,
    gathering: &mut Gathering,
) -> Result<(), IndexError> {
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
    while let Some(row) = rows.next()? {
        if passing.contains(row.get(0)?) {
            gathering.add(seen(row)?);
        }
    }
    Ok(())
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
        id: text(1)?.unwrap_or_default().into(),
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
