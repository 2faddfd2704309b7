//! Runs with the data for counting, in about 100 bytes each: what History, its changes and the
//! baseline need. They are read in one pass over the index, each text is kept once, and all who ask
//! for the same runs of a snapshot share them.
use super::counted::end_of;
use super::score_columns::ScoreColumns;
use super::{IndexError, Lists, Reader, RunSet, ScoredRun};
use crate::filter::{Filter, state_named};
use crate::suites::{Task, Tasks};
use rusqlite::Row;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};
use touchstone_api::{Column, FilterError, LeftOut, RunState, ScoreStanding, Sort};
use touchstone_scoring::aggregate::{Counted, End};

/// What is kept of where a run belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceOf {
    /// The first folder; none for a run that lies in no folder.
    Folder,
    /// The file.
    File,
    /// The commit; none for a run whose file names none.
    Commit,
    /// The tags of the run and of the suite of its task, one on each line; none without any.
    Tags,
}

/// Runs in the order of their paths.
#[derive(Debug, Default)]
pub struct CountedRuns {
    runs: Vec<SmallRun>,
    texts: Vec<Arc<str>>,
    left_out: LeftOut,
    suites: Arc<Tasks>,
}

/// A text among those of [`CountedRuns`]; the largest number for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TextId(u32);

/// A run. Numbers that are not known are not finite, or the largest or smallest ones, which no run
/// has.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Copy)]
struct SmallRun {
    /// Key, whose 16 hex digits this number has.
    key: u64,
    started_ms: i64,
    fingerprint: i64,
    tokens: u64,
    score: f64,
    cost: f64,
    seconds: f64,
    task: TextId,
    variation_name: TextId,
    system: TextId,
    model: TextId,
    scorer: TextId,
    place: TextId,
    variation: u32,
    end: SmallEnd,
    has_fingerprint: bool,
    is_nudged: bool,
    is_apart: bool,
    is_absent: bool,
}

/// [`End`] without the score.
#[derive(Debug, Clone, Copy)]
enum SmallEnd {
    Passed,
    Failed,
    Scored,
    Other(u8),
}

/// Outcomes without a score, by their code.
const OTHERS: [End; 5] = [End::Error, End::Waiting, End::Running, End::Damaged, End::Unscored];

const NONE: TextId = TextId(u32::MAX);

const ABSENT: SmallRun = SmallRun {
    key: 0,
    started_ms: i64::MIN,
    fingerprint: 0,
    tokens: u64::MAX,
    score: f64::NAN,
    cost: f64::NAN,
    seconds: f64::NAN,
    task: NONE,
    variation_name: NONE,
    system: NONE,
    model: NONE,
    scorer: NONE,
    place: NONE,
    variation: u32::MAX,
    end: SmallEnd::Other(4),
    has_fingerprint: false,
    is_nudged: false,
    is_apart: false,
    is_absent: true,
};

/// Columns that both statements begin with, in the order of [`Loader::read`].
const COLUMNS: &str = "r.id, r.key, r.path, r.member, r.task, r.variation, r.variation_name, r.system, r.model, \
     r.state, r.layout, r.nudges > 0, r.lineage IS NOT NULL, r.tokens, r.cost, r.seconds, r.fingerprint, \
     ifnull(CAST(r.started * 1000 AS INTEGER), r.modified_ms)";

/// Columns of names that sets can be made by.
const NAMES: &str = "r.commit_name, r.tags, r.suite_tags";

impl Lists {
    /// Returns the runs of the benchmark that pass a filter, as [`Lists::scored`] does, and how many
    /// are left out as [`Lists::left_out`] counts them.
    pub fn counted_runs(
        &self,
        index: &Reader<'_>,
        filter: &str,
        scorer: Option<&str>,
        place: PlaceOf,
    ) -> Result<(Arc<CountedRuns>, Vec<FilterError>), IndexError> {
        let (filter, misread) = self.parse(filter);
        let asked = self.prepared(filter);
        let suites = self.shelf.tasks();
        let key = (asked.key(), scorer.map(str::to_owned), place);
        let known = || {
            let known = self.remembered(index, |known| known.counted.get(&key));
            known.filter(|known| Arc::ptr_eq(&known.suites, &suites))
        };
        if let Some(known) = known() {
            return Ok((known, misread));
        }
        // All parts of History ask at once after a change; one of them reads for all.
        let _one = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known() {
            return Ok((known, misread));
        }
        let by_path = self.order(index, &Sort { column: Column::Path, descending: false })?;
        let passing = self.set(index, &asked)?;
        let rules = LeaveOut::new(&asked.filter);
        let loader = Loader::new(&by_path, &passing, &suites, (rules, place));
        let runs = loader.load(index, scorer)?;
        let runs = self.keep(index, runs, |known, runs| known.counted.put(key, runs));
        Ok((runs, misread))
    }
}

impl CountedRuns {
    /// Converts runs whose ids have 16 hex digits.
    pub fn from_scored(runs: &[ScoredRun], of: PlaceOf) -> Self {
        let mut texts = Texts::default();
        let small_run = |run: &ScoredRun| {
            let counted = run.counted();
            SmallRun {
                key: u64::from_str_radix(&run.id, 16).unwrap_or_default(),
                started_ms: run.started_ms.unwrap_or(i64::MIN),
                fingerprint: counted.fingerprint.unwrap_or_default(),
                tokens: counted.tokens.unwrap_or(u64::MAX),
                score: run.score.unwrap_or(f64::NAN),
                cost: counted.cost.unwrap_or(f64::NAN),
                seconds: counted.seconds.unwrap_or(f64::NAN),
                task: texts.put(counted.task),
                variation_name: texts.put(counted.variation_name),
                system: texts.put(counted.system),
                model: texts.put(counted.model),
                scorer: texts.put(counted.scorer),
                place: texts.put(place_of_scored(of, run).as_deref()),
                variation: counted.variation.unwrap_or(u32::MAX),
                end: SmallEnd::new(counted.end),
                has_fingerprint: counted.fingerprint.is_some(),
                is_nudged: counted.nudged,
                is_apart: counted.apart,
                is_absent: false,
            }
        };
        let runs = runs.iter().map(small_run).collect();
        Self { runs, texts: texts.all, ..Self::default() }
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns true without runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of runs that pass the filter and are not among these.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Returns a run for counting; `None` for a number that is none of them.
    pub fn counted(&self, at: u32) -> Option<Counted<'_>> {
        let run = self.run(at)?;
        Some(Counted {
            task: self.text(run.task),
            variation: (run.variation != u32::MAX).then_some(run.variation),
            variation_name: self.text(run.variation_name),
            system: self.text(run.system),
            model: self.text(run.model),
            end: match run.end {
                SmallEnd::Passed => End::Scored(run.score, Some(true)),
                SmallEnd::Failed => End::Scored(run.score, Some(false)),
                SmallEnd::Scored => End::Scored(run.score, None),
                SmallEnd::Other(code) => OTHERS.get(usize::from(code)).copied().unwrap_or_default(),
            },
            scorer: self.text(run.scorer),
            fingerprint: run.has_fingerprint.then_some(run.fingerprint),
            nudged: run.is_nudged,
            apart: run.is_apart,
            tokens: (run.tokens != u64::MAX).then_some(run.tokens),
            cost: finite(run.cost),
            seconds: finite(run.seconds),
        })
    }

    /// Returns all runs for counting.
    pub fn all(&self) -> Vec<Counted<'_>> {
        (0..).map_while(|at| self.counted(at)).collect()
    }

    /// Returns the id of a run, as in the list.
    pub fn id(&self, at: u32) -> Option<String> {
        self.run(at).map(|run| format!("{:016x}", run.key))
    }

    /// Returns when a run started, in milliseconds since 1970, or when its file changed last.
    pub fn started_ms(&self, at: u32) -> Option<i64> {
        self.run(at).map(|run| run.started_ms).filter(|ms| *ms != i64::MIN)
    }

    /// Returns the folder or the file of a run, as was asked for, with a number that stands for it.
    pub fn place_of(&self, at: u32) -> Option<(u32, &str)> {
        let place = self.run(at)?.place;
        Some((place.0, self.text(place)?))
    }

    fn run(&self, at: u32) -> Option<&SmallRun> {
        self.runs.get(usize::try_from(at).ok()?)
    }

    fn text(&self, TextId(at): TextId) -> Option<&str> {
        self.texts.get(usize::try_from(at).ok()?).map(AsRef::as_ref)
    }
}

fn finite(number: f64) -> Option<f64> {
    (!number.is_nan()).then_some(number)
}

/// Which kinds of runs that pass a filter are no runs of the benchmark.
#[derive(Clone, Copy)]
struct LeaveOut {
    forks: bool,
    replays: bool,
    evaluations: bool,
}

impl LeaveOut {
    fn new(filter: &Filter) -> Self {
        Self {
            forks: !filter.names_forks(),
            replays: !filter.names_replays(),
            evaluations: !filter.names_evaluations(),
        }
    }

    /// Counts a run that is left out. Returns false for one that is not.
    fn take(self, is_fork: bool, model: &str, layout: &str, counts: &mut LeftOut) -> bool {
        if self.forks && is_fork {
            counts.forks_left_out += 1;
        } else if self.replays && Filter::is_replay(model) {
            counts.replays_left_out += 1;
        } else if self.evaluations && Filter::is_evaluation(layout) {
            counts.evaluations_left_out += 1;
        } else {
            return false;
        }
        true
    }
}

/// Texts with their numbers.
#[derive(Default)]
struct Texts {
    all: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, u32>,
}

impl Texts {
    fn put(&mut self, text: Option<&str>) -> TextId {
        let Some(text) = text else { return NONE };
        if let Some(at) = self.by_text.get(text) {
            return TextId(*at);
        }
        let Ok(at) = u32::try_from(self.all.len()) else { return NONE };
        let text: Arc<str> = text.into();
        self.all.push(Arc::clone(&text));
        self.by_text.insert(text, at);
        TextId(at)
    }
}

/// Reads runs from the index.
struct Loader<'a> {
    /// Place of each run among those that pass, by its id.
    places: Vec<u32>,
    runs: Vec<SmallRun>,
    texts: Texts,
    /// Tasks by the text of their names in files.
    tasks: HashMap<u32, Option<Arc<Task>>>,
    suites: &'a Arc<Tasks>,
    rules: LeaveOut,
    place: PlaceOf,
    left_out: LeftOut,
    /// Run of the last row. A scorer that a task has twice gives two rows.
    last: usize,
}

impl<'a> Loader<'a> {
    fn new(
        by_path: &[i64],
        passing: &RunSet,
        suites: &'a Arc<Tasks>,
        (rules, place): (LeaveOut, PlaceOf),
    ) -> Self {
        let mut places = Vec::new();
        let mut count = 0_u32;
        for id in by_path.iter().filter(|id| passing.contains(**id)) {
            let Ok(id) = usize::try_from(*id) else { continue };
            if id >= places.len() {
                places.resize(id + 1, u32::MAX);
            }
            places[id] = count;
            count += 1;
        }
        Self {
            places,
            runs: vec![ABSENT; count as usize],
            texts: Texts::default(),
            tasks: HashMap::new(),
            suites,
            rules,
            place,
            left_out: LeftOut::default(),
            last: usize::MAX,
        }
    }

    fn load(mut self, index: &Reader<'_>, scorer: Option<&str>) -> Result<CountedRuns, IndexError> {
        // The SQL is assembled from fixed fragments only; the name is passed as a parameter.
        let ScoreColumns { from, score, name, .. } = ScoreColumns::new(scorer);
        let statement = format!("SELECT {COLUMNS}, {NAMES}, {score} {from}");
        let mut query = index.prepare_cached(&statement)?;
        let mut rows = query.query([name])?;
        while let Some(row) = rows.next()? {
            self.read(row)?;
        }
        self.runs.retain(|run| !run.is_absent);
        self.runs.shrink_to_fit();
        self.texts.all.shrink_to_fit();
        Ok(CountedRuns {
            runs: self.runs,
            texts: self.texts.all,
            left_out: self.left_out,
            suites: Arc::clone(self.suites),
        })
    }

    fn read(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let id = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
        let at = self.places.get(id).map_or(usize::MAX, |at| *at as usize);
        if at >= self.runs.len() || std::mem::replace(&mut self.last, id) == id {
            return Ok(());
        }
        let text = |at: usize| row.get_ref(at).map(|value| value.as_str_or_null().ok().flatten());
        let count = |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.and_then(positive));
        let (model, layout) = (text(8)?, text(10)?);
        let is_fork = row.get(12)?;
        let left_out = &mut self.left_out;
        let (model_name, layout) = (model.unwrap_or_default(), layout.unwrap_or_default());
        if self.rules.take(is_fork, model_name, layout, left_out) {
            return Ok(());
        }
        let (task, variation) = self.placed(text(4)?, count(5)?.map(small), text(6)?);
        let state = state_named(text(9)?.unwrap_or_default()).unwrap_or(RunState::Other);
        let score: Option<f64> = row.get(23)?;
        let end = end_of(state, parse_standing(text(21)?.unwrap_or_default()), score, row.get(24)?);
        let fingerprint: Option<i64> = row.get(16)?;
        let path = text(2)?.unwrap_or_default();
        let place = match self.place {
            PlaceOf::Folder | PlaceOf::File => {
                place_in_path(self.place, path, text(3)?).map(Cow::Borrowed)
            }
            PlaceOf::Commit => text(18)?.map(Cow::Borrowed),
            PlaceOf::Tags => {
                let tags = [text(19)?, text(20)?].into_iter().flatten();
                joined(tags.flat_map(str::lines)).map(Cow::Owned)
            }
        };
        self.runs[at] = SmallRun {
            key: u64::from_str_radix(text(1)?.unwrap_or_default(), 16).unwrap_or_default(),
            started_ms: row.get::<_, Option<i64>>(17)?.unwrap_or(i64::MIN),
            fingerprint: fingerprint.unwrap_or_default(),
            tokens: count(13)?.unwrap_or(u64::MAX),
            score: score.unwrap_or(f64::NAN),
            cost: row.get::<_, Option<f64>>(14)?.unwrap_or(f64::NAN),
            seconds: row.get::<_, Option<f64>>(15)?.unwrap_or(f64::NAN),
            task,
            variation_name: self.texts.put(text(6)?),
            system: self.texts.put(text(7)?),
            model: self.texts.put(model),
            scorer: self.texts.put(text(22)?),
            place: self.texts.put(place.as_deref()),
            variation: variation.unwrap_or(u32::MAX),
            end: SmallEnd::new(end),
            has_fingerprint: fingerprint.is_some(),
            is_nudged: row.get(11)?,
            is_apart: is_fork,
            is_absent: false,
        };
        Ok(())
    }

    /// Returns the task and the variation in the numbering of the suite. Files may refer to both in
    /// more than one way.
    fn placed(
        &mut self,
        task: Option<&str>,
        variation: Option<u32>,
        name: Option<&str>,
    ) -> (TextId, Option<u32>) {
        let Some(named) = task else { return (NONE, variation) };
        let text = self.texts.put(task);
        let suites = self.suites;
        let known = self.tasks.entry(text.0).or_insert_with(|| suites.get(named).cloned());
        match known {
            None => (text, variation),
            Some(task) => {
                let variation = task.counted_as(variation, name);
                (self.texts.put(Some(&task.suite.id)), variation)
            }
        }
    }
}

impl SmallEnd {
    fn new(end: End) -> Self {
        match end {
            End::Scored(_, Some(true)) => Self::Passed,
            End::Scored(_, Some(false)) => Self::Failed,
            End::Scored(_, None) => Self::Scored,
            End::Error => Self::Other(0),
            End::Waiting => Self::Other(1),
            End::Running => Self::Other(2),
            End::Damaged => Self::Other(3),
            End::Unscored => Self::Other(4),
        }
    }
}

fn positive(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns how scoring ended, where that decides how a run counts.
fn parse_standing(written: &str) -> Option<ScoreStanding> {
    match written {
        "scored" => Some(ScoreStanding::Scored),
        "error" => Some(ScoreStanding::Error),
        _ => None,
    }
}

/// Returns the folder or the file of a path, which ends in the name of a run in a file of many, with
/// a sign before it.
fn place_in_path<'p>(of: PlaceOf, path: &'p str, member: Option<&str>) -> Option<&'p str> {
    let file = match member {
        None => path,
        Some(member) => {
            let end = path.char_indices().nth_back(member.chars().count());
            end.map_or(path, |(at, _)| &path[..at])
        }
    };
    match of {
        PlaceOf::Folder => file.split_once('/').map(|(folder, _)| folder),
        _ => Some(file),
    }
}

fn place_of_scored(of: PlaceOf, run: &ScoredRun) -> Option<Cow<'_, str>> {
    match of {
        PlaceOf::Folder | PlaceOf::File => {
            place_in_path(of, &run.path, run.member.as_deref()).map(Cow::Borrowed)
        }
        PlaceOf::Commit => run.commit.as_deref().map(Cow::Borrowed),
        PlaceOf::Tags => joined(run.tags.iter().map(String::as_str)).map(Cow::Owned),
    }
}

/// Returns names in order, one on each line. `None` without any.
fn joined<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let all: Vec<&str> = names.into_iter().collect();
    (!all.is_empty()).then(|| all.join("\n"))
}
