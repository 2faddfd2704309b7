//! Runs with what counting needs of each: for the overview, statistics and reports. Owns the
//! statement; counts nothing.
use super::row::word;
use super::run_set::RunSet;
use crate::filter::state_named;
use crate::index::{IndexError, Reader};
use crate::suites::Tasks;
use rusqlite::Row;
use std::collections::{BTreeMap, HashMap};
use touchstone_api::{FailureClass, Lineage, RunState, ScoreDetail, ScoreStanding, Verdict};

/// A run, as it is counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRun {
    /// Opaque id, as in the list.
    pub id: String,
    /// File, relative to the output directory.
    pub path: String,
    /// Task: its id when its suite is known, else as the files name it.
    pub task: Option<String>,
    /// Variation, from 0; also of files that only name it, when the suite is known.
    pub variation: Option<u32>,
    /// What the variation is called; tells variations apart where no number is known.
    pub variation_name: Option<String>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// Why it is in that state, when that needs a word.
    pub reason: Option<String>,
    /// What the files look like.
    pub layout: String,
    /// Assistant turns.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Messages that were added to drive it on.
    pub nudges: u32,
    /// Of these, messages that a person sent.
    pub follow_ups: u32,
    /// Whether it is a fork, or was continued by a person.
    pub lineage: Option<Lineage>,
    /// Which fork of its repeat its file name says it is; 0 for none.
    pub fork: u32,
    /// The path of the run it was copied from, when its file says.
    pub forked_from: Option<String>,
    /// Tokens in and out, when known.
    pub tokens: Option<u64>,
    /// Dollars, when known.
    pub cost: Option<f64>,
    /// Seconds that were spent on it, when known.
    pub seconds: Option<f64>,
    /// What came of the scorer; none when the task is not known, or has no such scorer.
    pub scoring: Option<ScoreStanding>,
    /// The scorer.
    pub scorer: Option<String>,
    /// Score, from 0 to 1.
    pub score: Option<f64>,
    /// Whether that is good enough.
    pub passed: Option<bool>,
    /// Why.
    pub score_reason: Option<String>,
    /// What went wrong, as that scorer sees it.
    pub class: Option<FailureClass>,
    /// Of what it was scored against; runs with different ones cannot be compared.
    pub fingerprint: Option<i64>,
    /// What a person says.
    pub verdict: Option<Verdict>,
    /// A score that a person gave in place of the automatic one.
    pub review_score: Option<f64>,
    /// The beginning of what that person noted, with a verdict or without one.
    pub review_note: Option<String>,
}

const COLUMNS: &str = "r.id, r.key, r.path, r.task, r.variation, r.variation_name, r.repeat, r.system, r.model, r.state, \
     r.layout, r.turns, r.tool_calls, r.nudges, r.tokens, r.cost, r.seconds, r.class, r.fingerprint, r.verdict, r.review_score, r.reason, \
     r.follow_ups, r.lineage, r.fork, r.forked_from";

/// What went wrong as the scorer sees it; of runs that have no such scorer, what is wrong whoever
/// scores.
const CLASS: &str = "CASE WHEN s.run IS NOT NULL THEN s.class \
     WHEN r.state <> 'answered' AND r.class <> 'wrong_answer' THEN r.class END";

/// In the order of the ids.
pub(super) fn scored(
    index: &Reader<'_>,
    suites: &Tasks,
    ids: &[i64],
    scorer: Option<&str>,
) -> Result<Vec<ScoredRun>, IndexError> {
    let mut wanted = RunSet::default();
    for id in ids {
        wanted.insert(*id);
    }
    // Only fixed fragments are put together here; the name of the scorer is a parameter.
    let columns = if scorer.is_some() { &COLUMNS.replace("r.class", CLASS) } else { COLUMNS };
    let statement = match scorer {
        None => format!(
            "SELECT {columns}, r.scoring, r.scorer, r.score, r.passed, r.score_reason FROM runs r WHERE ?1 IS NULL ORDER BY r.path"
        ),
        Some(_) => format!(
            "SELECT {columns}, s.standing, s.scorer, s.score, s.passed, s.reason FROM runs r \
             LEFT JOIN scores s ON s.run = r.id AND s.scorer = ?1 ORDER BY r.path"
        ),
    };
    let mut notes = notes(index)?;
    let mut query = index.prepare_cached(&statement)?;
    let mut rows = query.query([scorer])?;
    let mut runs = Vec::with_capacity(ids.len());
    while let Some(row) = rows.next()? {
        if wanted.contains(row.get(0)?) {
            let run = read(row)?;
            let review_note = notes.remove(&run.id);
            runs.push(placed(ScoredRun { review_note, ..run }, suites));
        }
    }
    Ok(runs)
}

/// What people noted of the answers that runs have now, by the keys of the runs. Few runs are
/// reviewed, so these are read at once.
fn notes(index: &Reader<'_>) -> Result<HashMap<String, String>, IndexError> {
    let mut query =
        index.prepare_cached("SELECT run, note FROM reviews WHERE note IS NOT NULL AND holds")?;
    let notes = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(notes.collect::<Result<_, _>>()?)
}

/// As its suite numbers it: files may name a task, and a variation, in more than one way.
fn placed(mut run: ScoredRun, suites: &Tasks) -> ScoredRun {
    if let Some(task) = run.task.as_deref().and_then(|name| suites.get(name)) {
        run.variation = task.counted_as(run.variation, run.variation_name.as_deref());
        run.task = Some(task.suite.id.clone());
    }
    run
}

/// Scorers that occur, those of most runs first.
pub(super) fn scorers(index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
    let mut query = index.prepare_cached(
        "SELECT scorer FROM scores GROUP BY scorer ORDER BY count(*) DESC, scorer",
    )?;
    let names = query.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Returns what a scorer says besides its scores, by the ids of the runs.
pub(super) fn details(
    index: &Reader<'_>,
    scorer: &str,
) -> Result<HashMap<String, Vec<ScoreDetail>>, IndexError> {
    const DETAILS: &str =
        "SELECT r.key, s.detail FROM scores s JOIN runs r ON r.id = s.run WHERE s.scorer = ?";
    let mut query = index.prepare_cached(DETAILS)?;
    let of = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
    let read =
        |(run, detail): (String, String)| (run, serde_json::from_str(&detail).unwrap_or_default());
    Ok(query.query_map([scorer], of)?.map(|row| row.map(read)).collect::<Result<_, _>>()?)
}

/// Scorers that occur, each with its versions.
pub(super) fn versions(index: &Reader<'_>) -> Result<BTreeMap<String, Vec<u32>>, IndexError> {
    let mut query = index
        .prepare_cached("SELECT DISTINCT scorer, version FROM scores ORDER BY scorer, version")?;
    let mut versions: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for row in query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))? {
        let (scorer, version) = row?;
        versions.entry(scorer).or_default().push(version);
    }
    Ok(versions)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ScoredRun> {
    let unsigned =
        |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.and_then(|n| u64::try_from(n).ok()));
    let small = |at: usize| unsigned(at).map(|n| n.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
    let state: String = row.get(9)?;
    Ok(ScoredRun {
        id: row.get(1)?,
        path: row.get(2)?,
        task: row.get(3)?,
        variation: small(4)?,
        variation_name: row.get(5)?,
        repeat: small(6)?.unwrap_or(1),
        system: row.get(7)?,
        model: row.get(8)?,
        state: state_named(&state).unwrap_or(RunState::Other),
        layout: row.get(10)?,
        turns: small(11)?.unwrap_or(0),
        tool_calls: small(12)?.unwrap_or(0),
        nudges: small(13)?.unwrap_or(0),
        tokens: unsigned(14)?,
        cost: row.get(15)?,
        seconds: row.get(16)?,
        class: word(row, 17)?,
        fingerprint: row.get(18)?,
        verdict: word(row, 19)?,
        review_score: row.get(20)?,
        reason: row.get(21)?,
        review_note: None,
        follow_ups: small(22)?.unwrap_or(0),
        lineage: word(row, 23)?,
        fork: small(24)?.unwrap_or(0),
        forked_from: row.get(25)?,
        scoring: word(row, 26)?,
        scorer: row.get(27)?,
        score: row.get(28)?,
        passed: row.get(29)?,
        score_reason: row.get(30)?,
    })
}
