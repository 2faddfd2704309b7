//! Imported verdicts: verdicts of evaluators from result files, stored as read and returned in
//! short form. They are kept as in their files and are not scores of this application.
use super::imports;
use super::index::{IndexError, Reader};
use super::reviews::beginning;
use super::run_set::RunSet;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::collections::HashMap;
use touchstone_api::{StoredBrief, StoredResult};
use touchstone_model::run::{Outline, Verdict};

/// Maximum number of evaluators per run.
const MOST: usize = 500;
/// Maximum number of verdicts in a row of a list.
const MOST_IN_ROW: u32 = 40;
/// Maximum length of numbers and words, in characters.
const LONGEST: usize = 300;

/// Imported verdicts by run id.
pub type Stored = HashMap<String, Vec<StoredBrief>>;

/// Result of an evaluator. A verdict that neither passes nor fails and declares itself not
/// applicable counts as no result.
pub fn result(verdict: &Verdict) -> StoredResult {
    match (verdict.is_silent, &verdict.reason, verdict.passed) {
        (true, Some(_), _) => StoredResult::Error,
        (true, None, _) => StoredResult::None,
        (false, _, Some(true)) => StoredResult::Pass,
        (false, _, Some(false)) => StoredResult::Fail,
        (false, _, None) if verdict.is_not_applicable() => StoredResult::None,
        (false, _, None) => StoredResult::Open,
    }
}

/// Short form of a verdict.
pub fn summarize(verdict: &Verdict) -> StoredBrief {
    let short = |text: &String| text.chars().take(LONGEST).collect::<String>();
    StoredBrief {
        evaluator: verdict.evaluator.clone(),
        result: result(verdict),
        score: verdict.score.as_ref().map(short),
        word: verdict.word.as_ref().map(short),
        threshold: verdict.threshold.as_ref().map(short),
        reason: verdict.reason.as_deref().map(beginning).filter(|reason| !reason.is_empty()),
    }
}

/// Parses a finite number; `None` for other text.
pub fn number(score: Option<&str>) -> Option<f64> {
    score?.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Replaces the imported verdicts of a run.
pub(super) fn put(
    sql: &Connection,
    run: i64,
    outline: Option<&Outline>,
    fresh: bool,
) -> Result<(), IndexError> {
    const PUT: &str = "INSERT INTO stored (run, place, evaluator, result, score, number, word, threshold, reason) \
                       VALUES (?,?,?,?,?,?,?,?,?)";
    // The row was just rewritten, so its counts are already NULL when there are no verdicts.
    const COUNT: &str = "UPDATE runs SET stored_passed = ?2, stored_decided = ?3, stored_errors = ?4, \
                         stored_share = CAST(?2 AS REAL) / NULLIF(?3, 0) WHERE id = ?1";
    if !fresh {
        sql.prepare_cached("DELETE FROM stored WHERE run = ?")?.execute([run])?;
    }
    let verdicts = outline.map(|outline| outline.verdicts.as_slice()).unwrap_or_default();
    let (mut passed, mut decided, mut errors) = (0_u32, 0_u32, 0_u32);
    for (place, verdict) in verdicts.iter().take(MOST).enumerate() {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        let said = summarize(verdict);
        let number = number(said.score.as_deref());
        let StoredBrief { evaluator, result, score, word, threshold, reason } = said;
        let row =
            params![run, place, evaluator, result.word(), score, number, word, threshold, reason];
        sql.prepare_cached(PUT)?.execute(row)?;
        match result {
            StoredResult::Pass => (passed, decided) = (passed + 1, decided + 1),
            StoredResult::Fail => decided += 1,
            StoredResult::Error => errors += 1,
            StoredResult::Open | StoredResult::None => {}
        }
    }
    if !verdicts.is_empty() {
        sql.prepare_cached(COUNT)?.execute(params![run, passed, decided, errors])?;
    }
    Ok(())
}

/// Returns the verdicts that count as scores of a run: those of the tool that recorded it. Empty for
/// other runs, whose imported verdicts stand beside their scores.
pub(crate) fn scores_of_import(sql: &Connection, run: i64) -> Result<Vec<Verdict>, IndexError> {
    const LAYOUT: &str = "SELECT layout FROM runs WHERE id = ?";
    const OF: &str = "SELECT s.run, NULL, s.evaluator, s.result, s.score, s.word, s.threshold, s.reason \
                      FROM stored s WHERE s.run = ? ORDER BY s.place";
    let layout: Option<String> =
        sql.prepare_cached(LAYOUT)?.query_row([run], |row| row.get(0)).optional()?;
    if !layout.is_some_and(|layout| imports::is_import(&layout)) {
        return Ok(Vec::new());
    }
    let mut select = sql.prepare_cached(OF)?;
    let verdicts = select.query_map([run], |row| {
        let brief = read(row)?;
        Ok(Verdict {
            evaluator: brief.evaluator,
            score: brief.score,
            word: brief.word,
            passed: match brief.result {
                StoredResult::Pass => Some(true),
                StoredResult::Fail => Some(false),
                _ => None,
            },
            threshold: brief.threshold,
            reason: brief.reason,
            is_silent: matches!(brief.result, StoredResult::None | StoredResult::Error),
        })
    })?;
    Ok(verdicts.collect::<Result<_, _>>()?)
}

/// Returns the imported verdicts of the given runs.
pub(super) fn load_verdicts(index: &Reader<'_>, wanted: &RunSet) -> Result<Stored, IndexError> {
    const OF: &str = "SELECT s.run, r.key, s.evaluator, s.result, s.score, s.word, s.threshold, s.reason \
                      FROM stored s JOIN runs r ON r.id = s.run ORDER BY s.run, s.place";
    let mut select = index.prepare_cached(OF)?;
    let mut rows = select.query([])?;
    let mut all = Stored::new();
    while let Some(row) = rows.next()? {
        if wanted.contains(row.get(0)?) {
            all.entry(row.get(1)?).or_default().push(read(row)?);
        }
    }
    Ok(all)
}

/// Returns the first imported verdicts of a run without their reasons, for a row of a list.
pub(super) fn first_of_run(index: &Reader<'_>, run: i64) -> Result<Vec<StoredBrief>, IndexError> {
    const OF: &str = "SELECT run, NULL, evaluator, result, score, word, threshold, NULL \
                      FROM stored WHERE run = ? AND result <> 'none' ORDER BY place LIMIT ?";
    let mut select = index.prepare_cached(OF)?;
    let rows = select.query_map(params![run, MOST_IN_ROW], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredBrief> {
    Ok(StoredBrief {
        evaluator: row.get(2)?,
        result: result_named(row.get_ref(3)?.as_str_or_null()?.unwrap_or_default()),
        score: row.get(4)?,
        word: row.get(5)?,
        threshold: row.get(6)?,
        reason: row.get(7)?,
    })
}

fn result_named(word: &str) -> StoredResult {
    StoredResult::ALL.into_iter().find(|result| result.word() == word).unwrap_or(StoredResult::None)
}

/// Calls `take` for each imported verdict, grouped by run, with true or false for pass or fail, and
/// `None` for an error or an open result. An evaluator may have both a verdict and an error; these
/// are passed separately. Results of `none` are skipped.
pub(super) fn for_each_verdict(
    index: &Reader<'_>,
    mut take: impl FnMut(i64, &str, Option<bool>),
) -> Result<(), IndexError> {
    let mut select = index.prepare_cached(
        "SELECT run, evaluator, result FROM stored WHERE result <> 'none' ORDER BY run, place",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let text = |at| {
            row.get_ref(at).map(|value| value.as_str_or_null().ok().flatten().unwrap_or_default())
        };
        let passed = match result_named(text(2)?) {
            StoredResult::Pass => Some(true),
            StoredResult::Fail => Some(false),
            _ => None,
        };
        take(row.get(0)?, text(1)?, passed);
    }
    Ok(())
}

/// Returns the reason of an imported verdict.
pub(super) fn reason(
    index: &Reader<'_>,
    run: i64,
    evaluator: &str,
) -> Result<Option<String>, IndexError> {
    let mut select = index.prepare_cached(
        "SELECT reason FROM stored WHERE run = ? AND evaluator = ? ORDER BY place",
    )?;
    let mut rows = select.query(params![run, evaluator])?;
    Ok(match rows.next()? {
        Some(row) => row.get(0)?,
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_results_come_from_the_evaluator_and_errors_are_not_verdicts() {
        let verdict = |is_silent: bool, reason: Option<&str>, passed: Option<bool>| Verdict {
            evaluator: "relevance".to_owned(),
            score: (!is_silent).then(|| "2.0".to_owned()),
            reason: reason.map(str::to_owned),
            passed,
            is_silent,
            ..Verdict::default()
        };
        for (verdict, word) in [
            (verdict(false, None, Some(true)), "pass"),
            (verdict(false, Some("Why."), Some(false)), "fail"),
            (verdict(false, None, None), "open"),
            (verdict(true, Some("The model was not there."), None), "error"),
            (verdict(true, None, None), "none"),
            (
                Verdict {
                    word: Some("not applicable".to_owned()),
                    ..verdict(false, Some("No calls."), None)
                },
                "none",
            ),
            (
                Verdict { word: Some("Low".to_owned()), ..verdict(false, Some("No calls."), None) },
                "open",
            ),
        ] {
            let said = summarize(&verdict);
            assert_eq!((said.result.word(), result_named(word)), (word, said.result));
        }
        assert_eq!(
            [number(Some("2.0")), number(Some("NaN")), number(Some("yes")), number(None)],
            [Some(2.0), None, None, None]
        );
    }
}
