//! Loads runs with the data for counting: for the overview, statistics and reports. Owns the
//! statement, but not the counting.
use super::row::word;
use super::score_columns::ScoreColumns;
use crate::filter::state_named;
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use crate::suites::Tasks;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::collections::{BTreeMap, HashMap};
use touchstone_api::{FailureClass, Lineage, RunState, ScoreDetail, ScoreStanding, Verdict};

/// Run with the data for counting.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRun {
    /// Opaque id, as in the list.
    pub id: String,
    /// File, relative to the output directory.
    pub path: String,
    /// Name of the run in its file, if the file holds several.
    pub member: Option<String>,
    /// Task: its id if the suite is known, otherwise its name in the files.
    pub task: Option<String>,
    /// Variation, from 0. Also set for files that only name it, if the suite is known.
    pub variation: Option<u32>,
    /// Name of the variation. Distinguishes variations without a known number.
    pub variation_name: Option<String>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// State.
    pub state: RunState,
    /// Explanation of the state, if needed.
    pub reason: Option<String>,
    /// File layout.
    pub layout: String,
    /// Number of assistant turns.
    pub turns: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Number of follow-up messages.
    pub nudges: u32,
    /// Number of these messages that were sent by a person.
    pub follow_ups: u32,
    /// Kind of derived run, if it is a fork or was continued by a person.
    pub lineage: Option<Lineage>,
    /// Fork number from the file name; 0 for none.
    pub fork: u32,
    /// Path of the original run, if the file states it.
    pub forked_from: Option<String>,
    /// Input and output tokens, if known.
    pub tokens: Option<u64>,
    /// Cost in dollars, if known.
    pub cost: Option<f64>,
    /// Active time in seconds, if known.
    pub seconds: Option<f64>,
    /// Time of its start, in milliseconds since 1970; of the last change of its file if the file
    /// does not say.
    pub started_ms: Option<i64>,
    /// Commit, if its file records one.
    pub commit: Option<String>,
    /// Tags of the run and of the suite of its task, in order.
    pub tags: Vec<String>,
    /// Scoring state; `None` if the task is unknown or lacks this scorer.
    pub scoring: Option<ScoreStanding>,
    /// Scorer.
    pub scorer: Option<String>,
    /// Score, from 0 to 1.
    pub score: Option<f64>,
    /// True if the score reaches the threshold.
    pub passed: Option<bool>,
    /// Reason for the score.
    pub score_reason: Option<String>,
    /// Failure class according to the scorer.
    pub class: Option<FailureClass>,
    /// Hash of the scoring inputs. Runs with different fingerprints cannot be compared.
    pub fingerprint: Option<i64>,
    /// Verdict of a review.
    pub verdict: Option<Verdict>,
    /// Score from a review, replacing the automatic one.
    pub review_score: Option<f64>,
    /// Start of the reviewer's note; may exist without a verdict.
    pub review_note: Option<String>,
}

const COLUMNS: &str = "r.id, r.key, r.path, r.task, r.variation, r.variation_name, r.repeat, r.system, r.model, r.state, \
     r.layout, r.turns, r.tool_calls, r.nudges, r.tokens, r.cost, r.seconds, r.class, r.fingerprint, r.verdict, r.review_score, r.reason, \
     r.follow_ups, r.lineage, r.fork, r.forked_from, ifnull(CAST(r.started * 1000 AS INTEGER), r.modified_ms), r.member, \
     r.commit_name, r.tags, r.suite_tags";

/// Returns the scored runs among `ids`, ordered by path.
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
    // The SQL is assembled from fixed fragments only; the name is passed as a parameter.
    let ScoreColumns { from, score, reason, class, name } = ScoreColumns::new(scorer);
    let columns = COLUMNS.replace("r.class", class);
    let statement = format!("SELECT {columns}, {score}, {reason} {from} ORDER BY r.path");
    let mut notes = notes(index)?;
    let mut query = index.prepare_cached(&statement)?;
    let mut rows = query.query([name])?;
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

/// Returns the notes of valid reviews by run key. Few runs are reviewed, so all notes are read at
/// once.
fn notes(index: &Reader<'_>) -> Result<HashMap<String, String>, IndexError> {
    let mut query =
        index.prepare_cached("SELECT run, note FROM reviews WHERE note IS NOT NULL AND run IS NOT NULL AND problem IS NULL")?;
    let notes = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(notes.collect::<Result<_, _>>()?)
}

/// Normalizes the task and variation to the suite's numbering. Files may refer to both in more than
/// one way.
fn placed(mut run: ScoredRun, suites: &Tasks) -> ScoredRun {
    if let Some(task) = run.task.as_deref().and_then(|name| suites.get(name)) {
        run.variation = task.counted_as(run.variation, run.variation_name.as_deref());
        run.task = Some(task.suite.id.clone());
    }
    run
}

/// Returns the hash of the files of each run, by run key.
pub(super) fn content_hashes(index: &Reader<'_>) -> Result<HashMap<String, i64>, IndexError> {
    let mut query = index.prepare_cached("SELECT key, content_hash FROM runs")?;
    let hashes = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(hashes.collect::<Result<_, _>>()?)
}

/// Returns the details of a scorer beyond its scores, by run id.
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

/// Returns the scorers that occur, each with its versions.
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

impl ScoredRun {
    /// Returns the path of its file, without the name of the run in it.
    pub fn file(&self) -> &str {
        let member = self.member.as_ref().map_or(0, |member| member.chars().count() + 1);
        let length = self.path.chars().count().saturating_sub(member);
        let end = self.path.char_indices().nth(length).map_or(self.path.len(), |(at, _)| at);
        self.path.get(..end).unwrap_or(&self.path)
    }
}

/// Returns the tags in lists of names between line feeds, in order.
fn tags(lists: [ValueRef<'_>; 2]) -> rusqlite::Result<Vec<String>> {
    let mut tags = Vec::new();
    for list in lists {
        let names = list.as_str()?.lines().filter(|name| !name.is_empty());
        tags.extend(names.map(str::to_owned));
    }
    tags.sort();
    tags.dedup();
    Ok(tags)
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
        started_ms: row.get(26)?,
        member: row.get(27)?,
        commit: row.get(28)?,
        tags: tags([row.get_ref(29)?, row.get_ref(30)?])?,
        scoring: word(row, 31)?,
        scorer: row.get(32)?,
        score: row.get(33)?,
        passed: row.get(34)?,
        score_reason: row.get(35)?,
    })
}
