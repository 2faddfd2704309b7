//! Reviews of runs: reads the review files next to the results, compares them with the answers they
//! were written for, and puts valid reviews into the rows of their runs. The files are the source
//! of truth; they are written by `runs::reviews` or with any editor.
mod review_file;
mod stored_review;

pub(super) use review_file::beginning;
pub(super) use stored_review::StoredReview;

use super::index::{IndexError, Reader, meta};
use super::index_writer::finish;
use super::indexer::{Indexer, Shared};
use super::judgements::{self, Marks};
use super::limits::Limits;
use super::load;
use super::open::Stamp;
use super::roots::{FileId, Root, Roots};
use super::scan;
use super::scan::Found;
use super::unit_id::UnitId;
use review_file::LoadedReview;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use touchstone_api::{Problem, ProblemKind, RunRow};
use touchstone_formats::collection;
use touchstone_formats::review::{self, ReviewFile};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::run::StoredAnswer;
use touchstone_model::value::Value;
use xxhash_rust::xxh3::xxh3_128;

/// Folder of the reviews, below the output directory.
const FOLDER: &str = ".touchstone/reviews";
/// Larger files are not read as reviews.
pub const MOST: u64 = 1 << 20;
/// Number of files per transaction. Small, so that other changes on disk do not wait long.
const BATCH: usize = 100;
/// Hash substitute for a run without an answer.
const NO_ANSWER: &str = "none";

/// Watched folders: reviews and judgements.
fn folders() -> [FileId; 2] {
    [FOLDER, judgements::FOLDER].map(|folder| FileId::new(Root::Output, folder))
}

/// Pending work for reviews and judgements.
#[derive(Debug, Default)]
pub(crate) struct Reviews {
    due: bool,
    waiting: Vec<(FileId, Option<Found>)>,
    /// Judgement files whose models may have changed.
    again: Vec<FileId>,
    /// False while the workspace file cannot be read. Judgements are not compared with unknown
    /// models then.
    knows_models: bool,
}

impl Reviews {
    pub(crate) fn knowing(knows_models: bool) -> Self {
        Self { knows_models, ..Self::default() }
    }

    /// Records that files in these scopes may have changed.
    pub(crate) fn note(&mut self, scopes: &[FileId]) {
        let near =
            |folder: &FileId| scopes.iter().any(|scope| scope.holds(folder) || folder.holds(scope));
        self.due |= folders().iter().any(near);
    }

    /// Returns true when no work is pending.
    pub(crate) fn is_settled(&self) -> bool {
        !self.due && self.waiting.is_empty() && self.again.is_empty()
    }
}

/// Hash of an answer. Answers that serialize equally have the same hash, regardless of the file
/// around them.
pub fn answer_mark(answer: Option<&Value>) -> String {
    answer.map_or_else(
        || NO_ANSWER.to_owned(),
        |answer| format!("{:032x}", xxh3_128(json::write(answer, false).as_bytes())),
    )
}

/// Returns the review file of a run. `None` for names that are not UTF-8.
fn file_of(unit: &UnitId, member: Option<&str>) -> Option<FileId> {
    let path = std::str::from_utf8(&unit.file.path).ok()?;
    Some(file_of_name(
        &member.map_or_else(|| path.to_owned(), |member| collection::run_name(path, member)),
    ))
}

/// Returns the review file for the name of a run.
pub fn file_of_name(run: &str) -> FileId {
    FileId::new(Root::Output, format!("{FOLDER}/{}", review::file_of(run)))
}

/// Returns the name of a review file below the folder of reviews. `None` for names that are not UTF-8.
pub(crate) fn review_name(path: &[u8]) -> Option<String> {
    let below = path.strip_prefix(FOLDER.as_bytes())?.strip_prefix(b"/")?;
    std::str::from_utf8(below).ok().map(str::to_owned)
}

/// Base name for files about a run: its path below the output directory, with the member as its own
/// path part.
pub fn name_of(row: &RunRow) -> String {
    let member = row
        .member
        .as_ref()
        .and_then(|key| Some((row.path.strip_suffix(key)?.strip_suffix('#')?, key)));
    member.map_or_else(|| row.path.clone(), |(path, key)| collection::run_name(path, key))
}

/// Returns the keys of the runs that a review file may belong to; the first existing one counts.
pub fn keys_of(file: &FileId) -> Vec<String> {
    let below = file.path.strip_prefix(FOLDER.as_bytes()).and_then(|path| path.strip_prefix(b"/"));
    let below = below.unwrap_or_default();
    let stem = below.strip_suffix(review::END.as_bytes()).unwrap_or(below);
    let key = |path: &[u8], group| UnitId { file: FileId::new(Root::Output, path), group }.key();
    let named = std::str::from_utf8(stem).ok().and_then(collection::parse_run_name);
    let member = named.map(|(path, member)| {
        UnitId { file: FileId::new(Root::Output, path), group: false }.key_of(Some(&member))
    });
    [key(below, false), key(stem, true), key(stem, false)].into_iter().chain(member).collect()
}

/// Returns the problems of review files.
pub fn problems(index: &Reader<'_>, roots: &Roots) -> Result<Vec<Problem>, IndexError> {
    let mut select = index.prepare_cached(
        "SELECT path, problem FROM reviews WHERE problem IS NOT NULL ORDER BY path",
    )?;
    let rows =
        select.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?)))?;
    let mut problems = Vec::new();
    for row in rows {
        let (path, wrong) = row?;
        let file = FileId::new(Root::Output, path);
        let run = owner(index, &file)?;
        let wrong: Wrong = serde_json::from_str(&wrong).unwrap_or_default();
        problems.push(wrong.show(roots.display_path(&file), run));
    }
    Ok(problems)
}

/// Read error, as stored in the index.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Wrong {
    message: String,
    line: Option<u32>,
    column: Option<u32>,
    excerpt: Option<String>,
    advice: Option<String>,
}

impl Wrong {
    fn from_error(error: ReadError) -> Self {
        let ReadError { message, line, column, excerpt, advice, .. } = error;
        Self { message, line, column, excerpt, advice }
    }

    fn because(message: String) -> Self {
        Self { message, ..Self::default() }
    }

    fn show(self, file: String, run: Option<String>) -> Problem {
        let Self { message, line, column, excerpt, advice } = self;
        Problem {
            kind: ProblemKind::DamagedReview,
            file,
            run,
            message,
            line,
            column,
            excerpt,
            advice,
        }
    }
}

/// Parses a review file. A panic of the parser is reported as a damaged file.
pub fn read(bytes: &[u8]) -> Result<ReviewFile, ReadError> {
    catch_unwind(|| ReviewFile::read(bytes)).unwrap_or_else(|_| {
        let message = "The file could not be read: its content crashed the reader.";
        Err(ReadError::new(touchstone_model::error::ReadErrorKind::Syntax, message))
    })
}

/// Applies the review of a run that was just written, if there is one and it is still valid.
pub(crate) fn hold(
    sql: &Connection,
    roots: &Roots,
    limits: &Limits,
    unit: &UnitId,
    member: Option<&str>,
) -> Result<(), IndexError> {
    let Some(file) = file_of(unit, member).filter(|_| unit.file.root == Root::Output) else {
        return Ok(());
    };
    let there = sql.prepare_cached("SELECT 1 FROM reviews WHERE path = ?")?.exists([&file.path])?;
    let key = unit.key_of(member);
    if there && owner(sql, &file)?.is_some_and(|owner| owner == key) {
        show(sql, (roots, limits), &file, &key)?;
    }
    Ok(())
}

/// Returns true for a judgement file.
pub(super) fn is_judged(file: &FileId) -> bool {
    FileId::new(Root::Output, judgements::FOLDER).holds(file)
}

/// Returns the run that a file belongs to, if it exists.
fn owner(sql: &Connection, file: &FileId) -> Result<Option<String>, IndexError> {
    let mut known = sql.prepare_cached("SELECT 1 FROM runs WHERE key = ?")?;
    let keys = if is_judged(file) { judgements::keys_of(file) } else { keys_of(file) };
    for key in keys {
        if known.exists([&key])? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// Updates the row of a run from its review.
pub(super) fn show(
    sql: &Connection,
    at: (&Roots, &Limits),
    file: &FileId,
    key: &str,
) -> Result<(), IndexError> {
    let people: Option<String> = sql
        .prepare_cached("SELECT people FROM reviews WHERE path = ? AND problem IS NULL")?
        .query_row([&file.path], |row| row.get(0))
        .optional()?
        .flatten();
    let mut all = StoredReview::all(people.as_deref().unwrap_or_default(), "");
    // The run is read only for a review that names its answer.
    let is_named = all.iter().any(|one| one.answer.is_some());
    let mark = is_named.then(|| current_mark(sql, at.0, at.1, key)).transpose()?;
    // A review of another answer is not counted; the page of the run shows it with a note.
    for one in &mut all {
        one.holds = one.answer.is_none() || one.answer == mark;
    }
    let counted = StoredReview::counted(&all);
    sql.prepare_cached("UPDATE runs SET verdict = ?, review_score = ? WHERE key = ?")?.execute(
        params![
            counted.and_then(|one| one.verdict.as_deref()),
            counted.and_then(|one| one.score),
            key
        ],
    )?;
    let same: String = all.iter().map(|one| if one.holds { '1' } else { '0' }).collect();
    let note = counted.map(|one| one.note.as_str()).filter(|note| !note.is_empty());
    sql.prepare_cached("UPDATE reviews SET run = ?, same = ?, note = ? WHERE path = ?")?
        .execute(params![key, same, note, file.path])?;
    Ok(())
}

/// Hash of the current answer of a run. An unreadable run counts as having no answer.
fn current_mark(
    sql: &Connection,
    roots: &Roots,
    limits: &Limits,
    key: &str,
) -> Result<String, IndexError> {
    if let Some(mark) = mark_of_member(sql, key)? {
        return Ok(mark);
    }
    let run = judgements::read_current_run(sql, roots, limits, key)?;
    Ok(answer_mark(run.and_then(|run| run.answer).as_ref().map(|answer| &answer.value)))
}

/// Hash of the answer of a run within a file of many, computed from the index because the file may
/// be large. `None` for other runs.
fn mark_of_member(sql: &Connection, key: &str) -> Result<Option<String>, IndexError> {
    const KEPT: &str = "SELECT a.lenient, a.answer FROM runs r LEFT JOIN answers a ON a.run = r.id \
                        WHERE r.key = ? AND r.member IS NOT NULL";
    type Row = (Option<bool>, Option<String>);
    let kept: Option<Row> = sql
        .prepare_cached(KEPT)?
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(kept.map(|kept| match kept {
        (Some(lenient), Some(json)) => {
            let kept = StoredAnswer { json: Some(json), lenient };
            format!("{:032x}", xxh3_128(kept.canonical_json().unwrap_or_default().as_bytes()))
        }
        // An answer that is too long to be stored cannot be compared, so no review matches it.
        (Some(_), None) => "too long".to_owned(),
        (None, _) => NO_ANSWER.to_owned(),
    }))
}

impl Indexer {
    /// Lists the review files if something may have changed, and reads a batch of the changed ones.
    pub(crate) fn review(&mut self) -> Result<(), IndexError> {
        if std::mem::take(&mut self.reviews.due) {
            self.reviews.waiting = changed(&self.shared, &self.writer.sql)?;
        }
        let from = self.reviews.waiting.len().saturating_sub(BATCH);
        let batch = self.reviews.waiting.split_off(from);
        self.writer.sql.execute_batch("BEGIN IMMEDIATE")?;
        let done = self.take_in(batch).and_then(|(mut ids, damaged)| {
            ids.extend(self.hold_again()?);
            let generation = finish(&mut self.writer, !ids.is_empty())?;
            Ok((generation, ids, damaged))
        });
        match done {
            Ok((generation, ids, damaged)) => {
                self.shared.live.change(|standing| standing.counts.damaged_reviews = damaged);
                self.tell(generation, ids, 0);
                Ok(())
            }
            Err(error) => {
                // The next full listing finds the unread files again.
                self.reviews.waiting.clear();
                self.reviews.again.clear();
                self.writer.sql.execute_batch("ROLLBACK")?;
                Err(error)
            }
        }
    }

    /// Reads files. Returns the runs whose review changed, and the current number of damaged files.
    fn take_in(
        &mut self,
        batch: Vec<(FileId, Option<Found>)>,
    ) -> Result<(Vec<String>, u64), IndexError> {
        let Shared { roots, limits, .. } = &self.shared;
        let sql = &self.writer.sql;
        let tasks = self.shelving.tasks();
        let mut ids = Vec::new();
        for (file, found) in batch {
            let taken = LoadedReview::load(roots, &file, found);
            if let LoadedReview::Sheet { stamp, settled: false, .. } = &taken {
                // Another change within the clock resolution would produce the same stamp.
                let wait = if stamp.mtime_ns % 1_000_000_000 == 0 { COARSE } else { FINE };
                self.again.entry(Instant::now() + wait).or_default().insert(file.clone());
            }
            if taken.put(sql, &file)?
                && let Some(key) = owner(sql, &file)?
            {
                if is_judged(&file) {
                    judgements::show(sql, (roots, limits), (&tasks, &self.marks), &file, &key)?;
                } else {
                    show(sql, (roots, limits), &file, &key)?;
                }
                ids.push(key);
            }
        }
        let count = "SELECT count(*) FROM reviews WHERE problem IS NOT NULL";
        let damaged: i64 = sql.prepare_cached(count)?.query_row([], |row| row.get(0))?;
        Ok((ids, damaged.unsigned_abs()))
    }
}

impl Indexer {
    /// Sets the current model identities.
    pub(crate) fn know_models(&mut self, marks: &Arc<Marks>) {
        (self.marks, self.reviews.knows_models) = (Arc::clone(marks), true);
        if let Err(error) = self.heed_marks() {
            self.recover(&error);
        }
    }

    /// Schedules a comparison of judgements if the model identities differ from those in the index.
    pub(crate) fn heed_marks(&mut self) -> Result<(), IndexError> {
        let sql = &self.writer.sql;
        let marks = load::marks_hash(&self.marks);
        if !self.reviews.knows_models || meta(sql, "marks")? == marks {
            return Ok(());
        }
        let mut select = sql.prepare_cached(
            "SELECT path, judged, same FROM reviews WHERE judged IS NOT NULL AND run IS NOT NULL",
        )?;
        let mut rows = select.query([])?;
        self.reviews.again.clear();
        while let Some(row) = rows.next()? {
            let same = row.get_ref(2)?.as_str_or_null().ok().flatten().unwrap_or_default();
            // The comparison reads the files of the run, so only judgements that may change are
            // included.
            let judged = row.get_ref(1)?.as_str_or_null().ok().flatten().unwrap_or_default();
            if judgements::may_turn(judged, same, &self.marks) {
                self.reviews.again.push(FileId::new(Root::Output, row.get::<_, Vec<u8>>(0)?));
            }
        }
        // Until the last one is compared, some match the new models and some the old ones.
        let under_way = !self.reviews.again.is_empty();
        load::put_meta(sql, "marks", if under_way { load::UNDER_WAY } else { marks })
    }

    /// Compares a batch of judgements with the current model identities. Returns their runs.
    fn hold_again(&mut self) -> Result<Vec<String>, IndexError> {
        if !self.reviews.waiting.is_empty() || self.reviews.again.is_empty() {
            return Ok(Vec::new());
        }
        let from = self.reviews.again.len().saturating_sub(BATCH);
        let batch = self.reviews.again.split_off(from);
        let (Shared { roots, limits, .. }, sql, tasks) =
            (&self.shared, &self.writer.sql, self.shelving.tasks());
        let mut keys = Vec::with_capacity(batch.len());
        for file in batch {
            if let Some(key) = owner(sql, &file)? {
                judgements::show(sql, (roots, limits), (&tasks, &self.marks), &file, &key)?;
                keys.push(key);
            }
        }
        if self.reviews.again.is_empty() {
            load::put_meta(sql, "marks", load::marks_hash(&self.marks))?;
        }
        Ok(keys)
    }
}

/// Delay before a file that was just written is read again, on file systems with fine and with
/// coarse timestamps.
const FINE: Duration = Duration::from_millis(100);
const COARSE: Duration = Duration::from_millis(2_100);

/// Returns files whose stamps differ from the known ones, and known files that disappeared.
fn changed(shared: &Shared, sql: &Connection) -> Result<Vec<(FileId, Option<Found>)>, IndexError> {
    let mut found = BTreeMap::new();
    for folder in folders() {
        found.extend(list(&shared.roots, &shared.limits, &folder));
    }
    let mut select =
        sql.prepare_cached("SELECT path, size, mtime_ns, inode, settled FROM reviews")?;
    let known = select.query_map([], |row| {
        let (size, inode): (i64, i64) = (row.get(1)?, row.get(3)?);
        let stamp = Stamp {
            size: size.cast_unsigned(),
            mtime_ns: row.get(2)?,
            inode: inode.cast_unsigned(),
        };
        Ok((FileId::new(Root::Output, row.get::<_, Vec<u8>>(0)?), (stamp, row.get::<_, bool>(4)?)))
    })?;
    let known: BTreeMap<FileId, (Stamp, bool)> = known.collect::<Result<_, _>>()?;
    // Files in a folder that cannot be listed are left alone.
    let closed: Vec<&FileId> =
        found.iter().filter(|(_, found)| found.odd.is_some()).map(|(file, _)| file).collect();
    let gone = known
        .keys()
        .filter(|file| !found.contains_key(file) && !closed.iter().any(|dir| dir.holds(file)));
    let gone: Vec<_> = gone.map(|file| (file.clone(), None)).collect();
    let fresh = found.into_iter().filter(|(file, now)| known.get(file) != Some(&(now.stamp, true)));
    Ok(fresh.map(|(file, now)| (file, Some(now))).chain(gone).collect())
}

/// Lists the files of a folder, including entries in their place that are not files.
fn list(roots: &Roots, limits: &Limits, folder: &FileId) -> BTreeMap<FileId, Found> {
    let own = FileId::new(Root::Output, folder.parent());
    let is_dir = |file: &FileId| {
        let path = roots.path(file);
        path.and_then(|path| path.symlink_metadata().ok()).is_some_and(|meta| meta.is_dir())
    };
    if !is_dir(&own) {
        return BTreeMap::new();
    }
    let mut found = scan::survey_own(roots, limits, folder);
    found.retain(|file, found| {
        let named = file.name().ends_with(review::END.as_bytes()) || file == folder;
        // A folder may be named like a file, if the folder of the run is.
        if found.odd.is_some() { !is_dir(file) || !scan::is_suite_name(file) } else { named }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_may_mean_a_file_or_the_files_of_a_benchmark_folder_and_both_find_it_by_the_same_name()
     {
        let unit = |path: &str, group| UnitId { file: FileId::new(Root::Output, path), group };
        for unit in [
            unit("a/b c-promptql-o1-variation0.yaml", false),
            unit("o1/promptql/oracle/ü_run_1", true),
            unit("x.json", false),
        ] {
            let file = file_of(&unit, None).unwrap();
            assert!(keys_of(&file).contains(&unit.key()), "{file:?}");
        }
        let member = file_of(&unit("x.json", false), Some("5/8")).unwrap();
        assert!(
            keys_of(&member).contains(&unit("x.json", false).key_of(Some("5/8"))),
            "{member:?}"
        );
        assert_eq!(member.to_display(), ".touchstone/reviews/x.json/5%2F8.yaml");
        assert_eq!(
            file_of(&unit("o1/s_run_1", true), None).unwrap().to_display(),
            ".touchstone/reviews/o1/s_run_1.yaml"
        );
        let odd = UnitId { file: FileId::new(Root::Output, vec![0xff]), group: false };
        assert_eq!(file_of(&odd, None), None);
    }

    #[test]
    fn an_answer_is_another_when_it_is_written_otherwise_and_none_is_an_answer_of_its_own() {
        let list = |text: &str| json::read(text).unwrap();
        assert_eq!(answer_mark(Some(&list("[1, 2.0]"))), answer_mark(Some(&list("[ 1,2.0 ]"))));
        assert_ne!(answer_mark(Some(&list("[1, 2.0]"))), answer_mark(Some(&list("[1, 2]"))));
        assert_ne!(answer_mark(Some(&Value::Null)), answer_mark(None));
    }

    #[test]
    fn what_happens_above_beside_or_in_the_folder_is_noted_and_nothing_else() {
        let concerns = |path: &str| {
            let mut reviews = Reviews::default();
            reviews.note(&[FileId::new(Root::Output, path)]);
            !reviews.is_settled()
        };
        for path in ["", ".touchstone", ".touchstone/reviews", ".touchstone/reviews/a/b.yaml"] {
            assert!(concerns(path), "{path}");
        }
        for path in ["a", ".touchstone/journal/a.jsonl", ".touchstone/reviews2/a.yaml"] {
            assert!(!concerns(path), "{path}");
        }
    }
}
