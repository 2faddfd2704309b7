//! Queries for pages of runs, in any order and under any filter. Owns the SQL statements and the
//! cache between queries; independent of the indexing.
//!
//! The order of all runs and the set of runs that pass a filter are computed and cached separately,
//! and then merged. Scrolling, sorting and filtering 100,000 runs thus iterates over integers, and
//! only the rows of one page are read.
mod cache;
#[cfg(test)]
mod column_tests;
mod counted;
mod counted_runs;
mod facets;
mod foreign;
#[cfg(test)]
mod kept_columns_tests;
mod labels;
mod lineage;
mod order;
mod overview;
mod own_columns;
mod own_queries;
mod own_values;
mod queue;
mod recorded;
mod records;
mod row;
mod run_labels;
mod score_columns;
mod scored;
#[cfg(test)]
mod tests;
mod trust;

pub use super::filter::OwnColumn;
pub(crate) use crate::run_set::RunSet;
pub use counted_runs::{CountedRuns, PlaceOf};
pub use foreign::{ForeignRun, foreign_runs, run_at};
pub use lineage::lineage;
pub use recorded::{
    RecordedDetails, RecordedTask, RecordedTasks, recorded_task, recorded_tasks, renamed_tasks,
};
pub use records::claimed_file;
pub use score_columns::shown_scorer;
pub use scored::ScoredRun;

use super::filter::labels::names_in;
use super::filter::{Filter, Labels, Param};
use super::imported_verdicts::{self, Stored};
use super::index::{IndexError, Reader};
use super::open::Stamp;
use super::roots::FileId;
use super::search::questions::{self, Questions};
use super::search::{self, Texts, step_search};
use super::suites::SuiteStore;
use cache::QueryCache;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{OptionalExtension as _, ToSql};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use touchstone_api::{
    Column, Facets, FilterError, Hit, LeftOut, ListPosition, ListRequest, QueueOrder, RunPage,
    RunRow, RunsAround, ScoreDetail, Snippet, Sort, Span,
};

/// Maximum number of runs before and after a run in [`Lists::around`].
pub const MOST_AROUND: usize = 2_000;
/// Maximum number of rows per page.
pub const MAX_ROWS: u32 = 500;
/// Maximum number of runs in all lists that are kept, of which each takes eight bytes.
const MOST_LISTED: usize = 2_000_000;

/// Query cache of one index.
#[derive(Default)]
pub struct Lists {
    remembered: Mutex<QueryCache>,
    shelf: Arc<SuiteStore>,
    labels: RwLock<Arc<Labels>>,
    /// Held while runs for History are read.
    counting: Mutex<()>,
}

/// Parsed filter with its search texts and its questions about steps.
struct ParsedFilter {
    filter: Filter,
    texts: Texts,
    /// Prepared when they are first needed, because answers are mostly remembered.
    questions: OnceLock<Questions>,
    /// Labels of the folder when it was parsed.
    labels: Arc<Labels>,
}

impl Lists {
    /// Creates an empty cache for a folder with these suites.
    pub fn new(shelf: &Arc<SuiteStore>) -> Self {
        Self { shelf: Arc::clone(shelf), ..Self::default() }
    }

    /// Sets the labels that filters may ask for from now on.
    pub fn use_labels(&self, labels: Arc<Labels>) {
        *self.labels.write().unwrap_or_else(PoisonError::into_inner) = labels;
    }

    /// Returns the labels that filters may ask for.
    pub fn labels(&self) -> Arc<Labels> {
        Arc::clone(&self.labels.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Parses a filter.
    fn parse(&self, typed: &str) -> (Filter, Vec<FilterError>) {
        Filter::parse_with(typed, &self.labels())
    }

    /// Prepares a filter.
    fn prepared(&self, filter: Filter) -> ParsedFilter {
        let texts = Texts::from_filter(&filter);
        ParsedFilter { filter, texts, questions: OnceLock::new(), labels: self.labels() }
    }

    /// Parses and prepares a filter.
    fn parsed(&self, typed: &str) -> ParsedFilter {
        self.prepared(self.parse(typed).0)
    }

    /// Returns the tokens of a filter that could not be parsed.
    pub fn misread(&self, filter: &str) -> Vec<FilterError> {
        self.parse(filter).1
    }

    /// Returns the runs of a filter that are scored and judged: without forks and continued runs
    /// unless it uses the key `forked`; empty when it is invalid.
    pub fn runs_that_count(&self, index: &Reader<'_>, filter: &str) -> Result<RunSet, IndexError> {
        self.passing(index, &self.prepared(self.parse(filter).0.without_forks()))
    }

    /// Returns one page of runs.
    pub fn list(&self, index: &Reader<'_>, request: &ListRequest) -> Result<RunPage, IndexError> {
        let (filter, misread) = self.parse(&request.filter);
        self.page(index, filter, misread, request)
    }

    /// Returns one page of the runs that are scored and judged. Forks and continued runs are
    /// excluded unless the filter uses the key `forked`.
    pub fn list_counted(
        &self,
        index: &Reader<'_>,
        request: &ListRequest,
    ) -> Result<RunPage, IndexError> {
        let (filter, misread) = self.parse(&request.filter);
        self.page(index, filter.without_forks(), misread, request)
    }

    fn page(
        &self,
        index: &Reader<'_>,
        filter: Filter,
        misread: Vec<FilterError>,
        request: &ListRequest,
    ) -> Result<RunPage, IndexError> {
        let asked = self.prepared(filter);
        let ids = self.ids(index, &asked, &request.sort)?;
        let page = part(&ids, request.span);
        let mut rows = Vec::with_capacity(page.len());
        for id in page {
            rows.push(row_of(index, *id)?);
        }
        self.put_labels(index, &asked.labels, page, &mut rows)?;
        for (row, id) in rows.iter_mut().zip(page).filter(|(row, _)| row.stored.is_some()) {
            row.verdicts = imported_verdicts::first_of_run(index, *id)?;
        }
        if asked.texts.any_wanted() && !page.is_empty() {
            let text = index.text()?;
            for (row, id) in rows.iter_mut().zip(page) {
                row.snippet = search::first_snippet(index, &text, *id, &asked.texts)?;
            }
        } else if asked.asks_for_steps() && !page.is_empty() {
            let text = index.text()?;
            for (row, id) in rows.iter_mut().zip(page) {
                row.snippet = questions::snippet(index, &text, *id, asked.questions())?;
            }
        }
        Ok(RunPage { total: ids.len() as u64, generation: index.generation(), rows, misread })
    }

    /// Returns the position of a run in a list, with its neighbours. All of them are `None` for a
    /// run that is not in the list.
    pub fn locate(
        &self,
        index: &Reader<'_>,
        filter: &str,
        sort: &Sort,
        key: &str,
    ) -> Result<ListPosition, IndexError> {
        let ids = self.ids(index, &self.parsed(filter), sort)?;
        let position = id_of(index, key)?.and_then(|id| ids.iter().position(|other| *other == id));
        let neighbour = |at: Option<usize>| {
            at.and_then(|at| ids.get(at)).map(|id| key_of(index, *id)).transpose()
        };
        Ok(ListPosition {
            position: position.map(|at| at as u64),
            total: ids.len() as u64,
            previous: neighbour(position.and_then(|at| at.checked_sub(1)))?,
            next: neighbour(position.map(|at| at + 1))?,
        })
    }

    /// Returns the ids of the runs around one run, at most [`MOST_AROUND`] before and after it. A
    /// run that is not in the list is located by its place in the order.
    pub fn around(
        &self,
        index: &Reader<'_>,
        filter: &str,
        sort: &Sort,
        key: &str,
    ) -> Result<RunsAround, IndexError> {
        self.around_within(index, (filter, sort), key, MOST_AROUND)
    }

    /// Like [`Lists::around`], in the order of a review queue of a person. A run that is not in the
    /// queue stands before it.
    pub fn queue_around(
        &self,
        index: &Reader<'_>,
        (filter, sort): (&str, &Sort),
        (order, author): (QueueOrder, Option<&str>),
        key: &str,
    ) -> Result<RunsAround, IndexError> {
        let asked = self.parsed(filter);
        let ids = self.queue(index, (&asked, sort), order, author)?;
        let id = id_of(index, key)?;
        let before = ids.iter().position(|other| Some(*other) == id).unwrap_or_default();
        part_around(index, &ids, before, MOST_AROUND)
    }

    fn around_within(
        &self,
        index: &Reader<'_>,
        (filter, sort): (&str, &Sort),
        key: &str,
        most: usize,
    ) -> Result<RunsAround, IndexError> {
        let asked = self.parsed(filter);
        let ids = self.ids(index, &asked, sort)?;
        let before = match id_of(index, key)? {
            None => 0,
            Some(id) => {
                if let Some(position) = ids.iter().position(|other| *other == id) {
                    position
                } else {
                    let (order, passing) = (self.order(index, sort)?, self.set(index, &asked)?);
                    order
                        .iter()
                        .take_while(|other| **other != id)
                        .filter(|other| passing.contains(**other))
                        .count()
                }
            }
        };
        part_around(index, &ids, before, most)
    }

    /// Returns all runs that pass a filter, with the data for counting, ordered by path, and the
    /// tokens that could not be parsed. Scores are those of the named scorer, or of the first
    /// scorer of each task. Only runs of the benchmark count: forks, continued runs, replays and
    /// rows of evaluations are excluded unless the filter names them.
    pub fn scored(
        &self,
        index: &Reader<'_>,
        filter: &str,
        scorer: Option<&str>,
    ) -> Result<(Vec<ScoredRun>, Vec<FilterError>), IndexError> {
        let (filter, misread) = self.parse(filter);
        Ok((self.scored_runs(index, filter.for_statistics(), scorer)?, misread))
    }

    /// Like [`Lists::scored`], with replays and rows of evaluations: for what evaluators say, and
    /// for rows that are written to files.
    pub fn rated(
        &self,
        index: &Reader<'_>,
        filter: &str,
        scorer: Option<&str>,
    ) -> Result<(Vec<ScoredRun>, Vec<FilterError>), IndexError> {
        let (filter, misread) = self.parse(filter);
        Ok((self.scored_runs(index, filter.without_forks(), scorer)?, misread))
    }

    fn scored_runs(
        &self,
        index: &Reader<'_>,
        filter: Filter,
        scorer: Option<&str>,
    ) -> Result<Vec<ScoredRun>, IndexError> {
        let by_path = Sort { column: Column::Path, descending: false };
        let ids = self.ids(index, &self.prepared(filter), &by_path)?;
        scored::scored(index, &self.shelf.tasks(), &ids, scorer)
    }

    /// Returns the hash of the files of each run, by the id of the run.
    pub fn content_hashes(&self, index: &Reader<'_>) -> Result<HashMap<String, i64>, IndexError> {
        scored::content_hashes(index)
    }

    /// Returns the imported verdicts about the runs that pass a filter.
    pub fn stored(&self, index: &Reader<'_>, filter: &str) -> Result<Stored, IndexError> {
        let passing = self.set(index, &self.prepared(self.parse(filter).0.without_forks()))?;
        imported_verdicts::load_verdicts(index, &passing)
    }

    /// Number of runs that pass a filter but are neither scored nor judged, because they are forks
    /// or were continued by a person.
    pub fn forks_left_out(&self, index: &Reader<'_>, filter: &str) -> Result<u64, IndexError> {
        let filter = self.parse(filter).0;
        let all = self.count(index, filter.clone())?;
        Ok(all.saturating_sub(self.count(index, filter.without_forks())?))
    }

    /// Numbers of runs that pass a filter but are excluded from statistics. Each run is in one.
    pub fn left_out(&self, index: &Reader<'_>, filter: &str) -> Result<LeftOut, IndexError> {
        let all = self.parse(filter).0;
        let no_forks = all.clone().without_forks();
        let forks = self.count(index, all)?.saturating_sub(self.count(index, no_forks.clone())?);
        let (_, replays, evaluations) = self.benchmark_runs(index, &no_forks)?;
        Ok(LeftOut {
            forks_left_out: forks,
            replays_left_out: replays,
            evaluations_left_out: evaluations,
        })
    }

    /// Returns the runs of the benchmark that pass a filter, and the numbers of the replays and of the
    /// rows of evaluations that pass it, too. The filter is evaluated once.
    fn benchmark_runs(
        &self,
        index: &Reader<'_>,
        filter: &Filter,
    ) -> Result<(Arc<RunSet>, u64, u64), IndexError> {
        let without = |some: &Arc<RunSet>, others: Filter| -> Result<Arc<RunSet>, IndexError> {
            let others = self.set(index, &self.prepared(others))?;
            Ok(Arc::new(some.and(&others)))
        };
        let all = self.set(index, &self.prepared(filter.clone()))?;
        let mut some = Arc::clone(&all);
        if !filter.names_replays() {
            some = without(&some, Filter::default().without_replays())?;
        }
        let mut least = Arc::clone(&some);
        if !filter.names_evaluations() {
            least = without(&least, Filter::default().without_evaluations())?;
        }
        let (replays, evaluations) = (all.len() - some.len(), some.len() - least.len());
        Ok((least, replays as u64, evaluations as u64))
    }

    fn count(&self, index: &Reader<'_>, filter: Filter) -> Result<u64, IndexError> {
        Ok(self.set(index, &self.prepared(filter))?.len() as u64)
    }

    /// Returns the scorers that have scores, the most frequent first.
    pub fn scorers(&self, index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
        score_columns::scorers(index)
    }

    /// Returns the scorers that have scores, and then the evaluators of the files as `verdict:NAME`.
    pub fn scorers_and_evaluators(&self, index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
        score_columns::scorers_and_evaluators(index)
    }

    /// Returns the details of a scorer beyond its scores, by run id.
    pub fn score_details(
        &self,
        index: &Reader<'_>,
        scorer: &str,
    ) -> Result<HashMap<String, Vec<ScoreDetail>>, IndexError> {
        scored::details(index, scorer)
    }

    /// Returns the scorers that occur, each with its versions.
    pub fn scorer_versions(
        &self,
        index: &Reader<'_>,
    ) -> Result<BTreeMap<String, Vec<u32>>, IndexError> {
        scored::versions(index)
    }

    /// Returns the filter keys with the values that occur.
    pub fn facets(&self, index: &Reader<'_>) -> Result<Arc<Facets>, IndexError> {
        let labels = self.labels();
        let known = self.remembered(index, |known| known.facets.clone());
        if let Some((_, known)) = known.filter(|(hash, _)| *hash == labels.hash()) {
            return Ok(known);
        }
        let facets = Arc::new(facets::facets(
            index,
            labels::facet(index, &labels, &|| self.people_labels(index))?,
        )?);
        let kept = (labels.hash(), Arc::clone(&facets));
        self.remembered(index, |known| known.facets = Some(kept));
        Ok(facets)
    }

    /// Searches for a text: all hits of the newest run first, then of the next. Other tokens
    /// restrict the runs as in a list. Without a text, a question about steps has one hit in each
    /// run.
    pub fn search(
        &self,
        index: &Reader<'_>,
        typed: &str,
        span: Span,
    ) -> Result<Vec<Hit>, IndexError> {
        let asked = self.parsed(typed);
        if !asked.texts.any_wanted() && !asked.asks_for_steps() {
            return Ok(Vec::new());
        }
        let newest = Sort { column: Column::Modified, descending: true };
        let ids = self.ids(index, &asked, &newest)?;
        if !asked.texts.any_wanted() {
            let text = index.text()?;
            let hit = |run: &i64| {
                let found = questions::snippet(index, &text, *run, asked.questions())?;
                let nowhere = Snippet { step: None, pieces: Vec::new() };
                search::hit(index, *run, found.unwrap_or(nowhere))
            };
            return part(&ids, span).iter().map(hit).collect();
        }
        search::hits(
            index,
            &ids,
            &asked.texts,
            Span { offset: span.offset, limit: span.limit.min(MAX_ROWS) },
        )
    }

    fn ids(
        &self,
        index: &Reader<'_>,
        asked: &ParsedFilter,
        sort: &Sort,
    ) -> Result<Arc<Vec<i64>>, IndexError> {
        let key = (asked.key(), self.remembered_sort(sort));
        if let Some(ids) = self.remembered(index, |known| known.lists.get(&key)) {
            return Ok(ids);
        }
        let passing = self.set(index, asked)?;
        let is_own = own_queries::parsed(sort).is_some();
        let columns = if is_own { None } else { index.columns() };
        let ids = if let Some(columns) = columns {
            index.column_cache().list(&columns, sort, &passing)
        } else {
            let order = self.order(index, sort)?;
            order.iter().copied().filter(|id| passing.contains(*id)).collect()
        };
        Ok(self.keep(index, ids, |known, ids| {
            known.lists.put(key, ids);
            known.lists.limit(Vec::len, MOST_LISTED);
        }))
    }

    /// Returns all runs in an order.
    fn order(&self, index: &Reader<'_>, sort: &Sort) -> Result<Arc<Vec<i64>>, IndexError> {
        let own = own_queries::parsed(sort);
        if own.is_none()
            && let Some(columns) = index.columns()
        {
            return Ok(Arc::new(index.column_cache().order(&columns, sort)));
        }
        let key = self.remembered_sort(sort);
        if let Some(order) = self.remembered(index, |known| known.orders.get(&key)) {
            return Ok(order);
        }
        let order = match own {
            Some(column) => self.own_order(index, &column, sort.descending)?,
            None => order::order(index, sort)?,
        };
        Ok(self.keep(index, order, |known, order| known.orders.put(key, order)))
    }

    /// Returns the set of runs that pass.
    fn set(&self, index: &Reader<'_>, asked: &ParsedFilter) -> Result<Arc<RunSet>, IndexError> {
        let key = asked.key();
        if let Some(set) = self.remembered(index, |known| known.passing.get(&key)) {
            return Ok(set);
        }
        let set = self.passing(index, asked)?;
        Ok(self.keep(index, set, |known, set| known.passing.put(key, set)))
    }

    /// Evaluates a filter.
    fn passing(&self, index: &Reader<'_>, asked: &ParsedFilter) -> Result<RunSet, IndexError> {
        let ParsedFilter { filter, texts, labels, .. } = asked;
        let names = names_in(filter).into_iter();
        let sets = labels::sets(index, labels, names, (None, &|| self.people_labels(index)))?;
        let set = labels::matching(index, filter, (labels, &sets), None)?;
        let set = if texts.is_empty() { set } else { search::containing(index, texts, &set)? };
        if filter.questions().next().is_none() {
            return Ok(set);
        }
        step_search::passing(index, asked.questions(), &set)
    }

    fn keep<T>(
        &self,
        index: &Reader<'_>,
        new: T,
        put: impl FnOnce(&mut QueryCache, Arc<T>),
    ) -> Arc<T> {
        let new = Arc::new(new);
        self.remembered(index, |known| put(known, Arc::clone(&new)));
        new
    }

    fn remembered<T>(&self, index: &Reader<'_>, act: impl FnOnce(&mut QueryCache) -> T) -> T {
        let mut known = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_later_than(index.moment()) {
            drop(known);
            return act(&mut QueryCache::default());
        }
        let old = known.reset_for(index.moment());
        let done = act(&mut known);
        drop(known);
        drop(old);
        done
    }
}

/// Returns the part of a list around a position, with at most `most` runs before and after it.
fn part_around(
    index: &Reader<'_>,
    ids: &[i64],
    before: usize,
    most: usize,
) -> Result<RunsAround, IndexError> {
    let first = before.saturating_sub(most);
    let some = ids.iter().skip(first).take(before - first + 1 + most);
    let keys = some.map(|id| key_of(index, *id)).collect::<Result<_, _>>()?;
    Ok(RunsAround {
        offset: first as u64,
        before: before as u64,
        total: ids.len() as u64,
        ids: keys,
    })
}

impl ParsedFilter {
    /// Returns what tells it from other filters, for caches: labels can get another question.
    fn key(&self) -> String {
        if names_in(&self.filter).is_empty() {
            return self.filter.to_string();
        }
        format!("{}\n{:x}", self.filter, self.labels.hash())
    }

    fn questions(&self) -> &Questions {
        self.questions.get_or_init(|| Questions::from_filter(&self.filter))
    }

    /// Returns true when steps can be shown at which its questions hold.
    fn asks_for_steps(&self) -> bool {
        self.filter.questions().any(|(_, negated)| !negated)
    }
}

impl ToSql for Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Param::Text(text) => text.to_sql(),
            Param::Number(number) => Ok(ToSqlOutput::Owned(Value::Real(*number))),
        }
    }
}

/// Reads the row of an id. The id must come from the same snapshot of the index.
fn row_of(index: &Reader<'_>, id: i64) -> Result<RunRow, IndexError> {
    Ok(index.prepare_cached(row::BY_ID)?.query_row([id], row::read_row)?)
}

/// Returns true if a run has this layout.
pub fn has_layout(index: &Reader<'_>, layout: &str) -> Result<bool, IndexError> {
    Ok(index
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE layout = ?)")?
        .query_row([layout], |row| row.get(0))?)
}

/// Reads the row of a run by its public id.
pub fn row_by_key(index: &Reader<'_>, key: &str) -> Result<Option<RunRow>, IndexError> {
    Ok(index.prepare_cached(row::BY_KEY)?.query_row([key], row::read_row).optional()?)
}

/// Reads the rows of all runs of a task by one system with one model.
pub fn rows_of(
    index: &Reader<'_>,
    task: &str,
    system: &str,
    model: &str,
) -> Result<Vec<RunRow>, IndexError> {
    let mut query = index.prepare_cached(row::BY_PLACE)?;
    let rows = query.query_map([task, system, model], row::read_row)?.collect::<Result<_, _>>()?;
    Ok(rows)
}

/// Returns the paths of forks whose files are named like repeats.
pub fn forks_named_as_repeats(index: &Reader<'_>) -> Result<HashSet<String>, IndexError> {
    const FORKS: &str =
        "SELECT path FROM runs WHERE forked_from IS NOT NULL AND fork = 0 AND member IS NULL";
    let mut query = index.prepare_cached(FORKS)?;
    Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Effort of a past run: task, system, model, turns, tokens, dollars, model of the simulated user.
pub(crate) type RunEffort = (String, String, String, u32, Option<u64>, Option<f64>, Option<String>);

/// Returns the effort of the completed runs of some tasks, with that of their simulated users.
pub fn took(index: &Reader<'_>, tasks: &BTreeSet<&str>) -> Result<Vec<RunEffort>, IndexError> {
    const TOOK: &str = "SELECT system, model, turns + ifnull(user_requests, 0), \
                        CASE WHEN user_requests IS NULL THEN tokens ELSE tokens + user_tokens END, \
                        CASE WHEN user_requests IS NULL THEN cost ELSE cost + user_cost END, user_model FROM runs \
                        WHERE task = ? AND member IS NULL AND system IS NOT NULL AND model IS NOT NULL AND state IN ('answered', 'no_answer')";
    let mut query = index.prepare_cached(TOOK)?;
    let mut all = Vec::new();
    for task in tasks {
        let mut rows = query.query([task])?;
        while let Some(row) = rows.next()? {
            let tokens: Option<i64> = row.get(3)?;
            let tokens = tokens.and_then(|tokens| u64::try_from(tokens).ok());
            all.push((
                (*task).to_owned(),
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                tokens,
                row.get(4)?,
                row.get(5)?,
            ));
        }
    }
    Ok(all)
}

/// Returns true when the file was indexed in its current version and is an answered run. False for
/// runs that were cut off before they were closed, and for runs without a duration, because these
/// may be incomplete.
pub fn is_answered(index: &Reader<'_>, file: &FileId, stamp: &Stamp) -> Result<bool, IndexError> {
    const SAME: &str = "SELECT 1 FROM files f JOIN runs r ON r.unit = f.unit WHERE f.path = ?1 AND f.size = ?2 AND f.mtime_ns = ?3 \
                        AND f.inode = ?4 AND f.settled AND r.key = ?5 AND r.state = 'answered' \
                        AND NOT r.unfinished AND r.seconds IS NOT NULL AND r.lineage IS NULL";
    let mut query = index.prepare_cached(SAME)?;
    let (size, inode) = (stamp.size.cast_signed(), stamp.inode.cast_signed());
    Ok(query.exists(rusqlite::params![
        file.path,
        size,
        stamp.mtime_ns,
        inode,
        crate::run_of_file(file, None)
    ])?)
}

fn key_of(index: &Reader<'_>, id: i64) -> Result<String, IndexError> {
    Ok(index
        .prepare_cached("SELECT key FROM runs WHERE id = ?")?
        .query_row([id], |row| row.get(0))?)
}

/// Returns true if the result of a call or a program of a run holds one of the texts.
pub fn results_hold(
    index: &Reader<'_>,
    key: &str,
    texts: &BTreeSet<String>,
) -> Result<bool, IndexError> {
    match id_of(index, key)? {
        Some(id) => questions::results_hold(index, id, texts),
        None => Ok(false),
    }
}

fn id_of(index: &Reader<'_>, key: &str) -> Result<Option<i64>, IndexError> {
    Ok(index
        .prepare_cached("SELECT id FROM runs WHERE key = ?")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

fn part(ids: &[i64], span: Span) -> &[i64] {
    let start = (span.offset as usize).min(ids.len());
    let end = start.saturating_add(span.limit.min(MAX_ROWS) as usize).min(ids.len());
    &ids[start..end]
}

/// Returns true if an imported verdict about a run is of this evaluator.
pub fn has_verdict(index: &Reader<'_>, key: &str, evaluator: &str) -> Result<bool, IndexError> {
    const HAS: &str = "SELECT EXISTS (SELECT 1 FROM stored WHERE run = ? AND evaluator = ?)";
    let Some(run) = id_of(index, key)? else { return Ok(false) };
    Ok(index.prepare_cached(HAS)?.query_row((run, evaluator), |row| row.get(0))?)
}
