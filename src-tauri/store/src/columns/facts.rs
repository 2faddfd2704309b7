//! **Pure.** What the overview counts of each run, in the order of the places where runs stand: those
//! with the same system, model, task and variation follow each other, by repeat.
use super::values::Names;
use super::{Columns, Int, Real, RunValues, Text, small};
use crate::outcome::end_of;
use crate::run_key::RunKey;
use crate::run_set::RunSet;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use touchstone_api::{Lineage, RunState, ScoreStanding};
use touchstone_scoring::aggregate::End;

/// Texts of a place: task, system, model, name of the variation.
const TEXTS: [Text; 4] = [Text::Task, Text::System, Text::Model, Text::VariationName];

/// Codes of the texts of a place, and its variation.
type Codes = ([Option<u32>; TEXTS.len()], Option<u32>);

/// Runs as facts, and the places where they stand. Beside the facts, a place takes about 100 bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// By place, repeat and key.
    all: Vec<Fact>,
    /// Where the facts of each place begin, and the end of the last one.
    starts: Vec<u32>,
    places: Vec<Codes>,
    by_codes: HashMap<Codes, u32>,
    names: [Arc<Names>; TEXTS.len()],
    /// Keys that are no number, by run.
    odd_keys: HashMap<u32, Box<str>>,
}

/// What is counted of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fact {
    key: u64,
    score: f64,
    /// Row of the run in the index.
    pub(crate) run: u32,
    place: u32,
    pub(crate) repeat: u32,
    kind: Kind,
    marks: u8,
    /// Kind of derived run.
    pub(crate) lineage: Option<Lineage>,
}

/// Outcome of a run, without its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scored,
    Failed,
    Passed,
    Error,
    Waiting,
    Running,
    Damaged,
    NothingExpected,
    NotAsked,
    Unscored,
}

/// Reason a run that ended has no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unscored {
    /// There is nothing to compare with, or the task is unknown.
    NothingExpected,
    /// The scorer was not asked.
    NotAsked,
    /// The scorer failed.
    Failed,
}

const REVIEWED: u8 = 1;
const FOREIGN: u8 = 2;
const NUMBERED_FORK: u8 = 4;
const ODD_KEY: u8 = 8;

/// Values of a run.
#[derive(Debug, Clone)]
pub(crate) struct Seen<'a> {
    /// Row of the run in the index.
    pub(crate) run: u32,
    /// Opaque id.
    pub(crate) id: RunKey,
    /// Where it stands.
    pub(crate) place: Place<'a>,
    /// Repeat, from 1.
    pub(crate) repeat: u32,
    /// State.
    pub(crate) state: RunState,
    /// Scoring state.
    pub(crate) scoring: Option<ScoreStanding>,
    /// Outcome used for counting.
    pub(crate) end: End,
    /// True if the run has a review.
    pub(crate) reviewed: bool,
    /// True for layouts of other programs, which are only read. Their columns expect no further
    /// runs.
    pub(crate) foreign: bool,
    /// Kind of derived run, if it is a fork or was continued by a person.
    pub(crate) lineage: Option<Lineage>,
    /// Fork number from the file name; 0 for none.
    pub(crate) fork: u32,
}

/// Where runs stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// Task.
    pub(crate) task: Option<&'a str>,
    /// System.
    pub(crate) system: Option<&'a str>,
    /// Model.
    pub(crate) model: Option<&'a str>,
    /// Variation, from 0.
    pub(crate) variation: Option<u32>,
    /// Name of the variation.
    pub(crate) variation_name: Option<&'a str>,
}

impl Fact {
    fn new(seen: &Seen<'_>, place: u32) -> Self {
        let (kind, score) = match (seen.end, seen.scoring) {
            (End::Scored(score, None), _) => (Kind::Scored, score),
            (End::Scored(score, Some(false)), _) => (Kind::Failed, score),
            (End::Scored(score, Some(true)), _) => (Kind::Passed, score),
            (End::Error, _) => (Kind::Error, 0.0),
            (End::Waiting, _) => (Kind::Waiting, 0.0),
            (End::Running, _) => (Kind::Running, 0.0),
            (End::Damaged, _) => (Kind::Damaged, 0.0),
            // Without a scoring state, the task is unknown.
            (End::Unscored, Some(ScoreStanding::NoExpected) | None) => (Kind::NothingExpected, 0.0),
            (End::Unscored, Some(ScoreStanding::Waiting)) => (Kind::NotAsked, 0.0),
            (End::Unscored, _) => (Kind::Unscored, 0.0),
        };
        let (key, is_odd) = match &seen.id {
            RunKey::Number(number) => (*number, false),
            RunKey::Text(_) => (0, true),
        };
        let mark = |mark: u8, is_set: bool| if is_set { mark } else { 0 };
        let marks = mark(REVIEWED, seen.reviewed)
            | mark(FOREIGN, seen.foreign)
            | mark(NUMBERED_FORK, seen.fork > 0)
            | mark(ODD_KEY, is_odd);
        let (run, repeat, lineage) = (seen.run, seen.repeat, seen.lineage);
        Self { key, score, run, place, repeat, kind, marks, lineage }
    }

    /// Returns the outcome.
    pub(crate) fn end(&self) -> End {
        match self.kind {
            Kind::Scored => End::Scored(self.score, None),
            Kind::Failed => End::Scored(self.score, Some(false)),
            Kind::Passed => End::Scored(self.score, Some(true)),
            Kind::Error => End::Error,
            Kind::Waiting => End::Waiting,
            Kind::Running => End::Running,
            Kind::Damaged => End::Damaged,
            Kind::NothingExpected | Kind::NotAsked | Kind::Unscored => End::Unscored,
        }
    }

    /// Returns why it has no score, if it ended without one.
    pub(crate) fn unscored(&self) -> Option<Unscored> {
        match self.kind {
            Kind::NothingExpected => Some(Unscored::NothingExpected),
            Kind::NotAsked => Some(Unscored::NotAsked),
            Kind::Unscored => Some(Unscored::Failed),
            _ => None,
        }
    }

    pub(crate) fn is_reviewed(&self) -> bool {
        self.marks & REVIEWED != 0
    }

    pub(crate) fn is_foreign(&self) -> bool {
        self.marks & FOREIGN != 0
    }

    /// Returns true for a fork with a number of its own in its file name.
    pub(crate) fn is_numbered_fork(&self) -> bool {
        self.marks & NUMBERED_FORK != 0
    }
}

impl Facts {
    /// Gathers all runs of columns.
    pub(super) fn of_columns(columns: &Columns) -> Self {
        let mut facts = Self::default();
        let words = Words::new(columns);
        facts.take_names(columns);
        facts.all.reserve(columns.runs());
        for run in columns.present().iter().filter_map(small) {
            facts.add_run(columns, &words, run);
        }
        facts.order();
        facts
    }

    /// Takes in the present values of runs that changed.
    pub(super) fn update(&mut self, columns: &Columns, changed: &[u32]) {
        /// Places without runs are kept up to this number and the number of runs.
        const MOST_EMPTY: usize = 10_000;
        if self.places.len() > 2 * self.all.len() + MOST_EMPTY {
            *self = Self::of_columns(columns);
            return;
        }
        let mut old = RunSet::default();
        old.extend(changed.iter().map(|run| i64::from(*run)));
        self.all.retain(|fact| !old.contains(i64::from(fact.run)));
        for run in changed {
            self.odd_keys.remove(run);
        }
        if self.all.capacity() - self.all.len() < changed.len() {
            self.all.reserve_exact(changed.len() + self.all.len() / 16);
        }
        let words = Words::new(columns);
        self.take_names(columns);
        for run in changed {
            self.add_run(columns, &words, *run);
        }
        self.order();
    }

    /// Gathers runs that are read one by one, in any order. Files that are not runs are ignored.
    pub(crate) fn gather<E>(
        read: impl FnOnce(&mut dyn FnMut(Seen<'_>)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut facts = Self::default();
        read(&mut |seen| {
            if seen.state != RunState::Other {
                let codes = facts.codes(&seen.place);
                facts.add(&seen, codes);
            }
        })?;
        facts.all.shrink_to_fit();
        facts.order();
        Ok(facts)
    }

    fn take_names(&mut self, columns: &Columns) {
        self.names = TEXTS.map(|of| Arc::clone(&columns.names[of as usize]));
    }

    fn add_run(&mut self, columns: &Columns, words: &Words, run: u32) {
        let Some(values) = columns.run(i64::from(run)) else { return };
        if let Some(seen) = words.seen(values, run) {
            let codes = TEXTS.map(|of| values.code(of).and_then(|code| u32::try_from(code).ok()));
            self.add(&seen, (codes, seen.place.variation));
        }
    }

    fn add(&mut self, seen: &Seen<'_>, codes: Codes) {
        let next = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let place = *self.by_codes.entry(codes).or_insert_with(|| {
            self.places.push(codes);
            next
        });
        if let RunKey::Text(text) = &seen.id {
            self.odd_keys.insert(seen.run, text.clone());
        }
        self.all.push(Fact::new(seen, place));
    }

    /// Returns the codes of a place, for which its texts are kept.
    fn codes(&mut self, place: &Place<'_>) -> Codes {
        let texts = [place.task, place.system, place.model, place.variation_name];
        let mut names = self.names.iter_mut();
        let codes = texts.map(|text| {
            let names = names.next()?;
            let text = text?;
            names.code(text).or_else(|| Some(Arc::make_mut(names).add(text)))
        });
        (codes, place.variation)
    }

    /// Orders the facts. Most are in order already, which a stable sort makes use of.
    fn order(&mut self) {
        let odd_keys = &self.odd_keys;
        self.all.sort_by(|one, other| {
            let by_place = (one.place, one.repeat).cmp(&(other.place, other.repeat));
            by_place.then_with(|| match (one.marks | other.marks) & ODD_KEY {
                0 => one.key.cmp(&other.key),
                _ => key(odd_keys, one).cmp(&key(odd_keys, other)),
            })
        });
        self.starts.clear();
        self.starts.resize(self.places.len() + 1, 0);
        for fact in &self.all {
            self.starts[fact.place as usize + 1] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
    }

    /// Returns the places with the positions of their facts.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Place<'_>, Range<u32>)> {
        let of = |(codes, ends): (&Codes, &[u32])| {
            let &[start, end] = ends else { return None };
            let text = |at: usize| {
                let code = codes.0.get(at).copied().flatten()? as usize;
                self.names.get(at)?.all().get(code).map(|text| &**text)
            };
            let place = Place {
                task: text(0),
                system: text(1),
                model: text(2),
                variation: codes.1,
                variation_name: text(3),
            };
            Some((place, start..end))
        };
        self.places.iter().zip(self.starts.windows(2)).filter_map(of)
    }

    /// Returns the facts at some positions.
    pub(crate) fn range(&self, positions: Range<u32>) -> &[Fact] {
        self.all.get(positions.start as usize..positions.end as usize).unwrap_or_default()
    }

    /// Returns the facts with these positions.
    pub(crate) fn at_positions<'f>(
        &'f self,
        positions: &'f [u32],
    ) -> impl Iterator<Item = &'f Fact> + Clone {
        positions.iter().filter_map(|at| self.all.get(*at as usize))
    }

    /// Returns the opaque id of the run at a position.
    pub(crate) fn id(&self, position: u32) -> Option<RunKey> {
        self.all.get(position as usize).map(|fact| key(&self.odd_keys, fact))
    }

    /// Orders positions of several places by repeat and id.
    pub(crate) fn sort(&self, positions: &mut [u32]) {
        positions.sort_by_cached_key(|at| {
            let fact = self.all.get(*at as usize);
            fact.map(|fact| (fact.repeat, key(&self.odd_keys, fact)))
        });
    }
}

fn key(odd_keys: &HashMap<u32, Box<str>>, fact: &Fact) -> RunKey {
    match odd_keys.get(&fact.run).filter(|_| fact.marks & ODD_KEY != 0) {
        Some(text) => RunKey::Text(text.clone()),
        None => RunKey::Number(fact.key),
    }
}

/// Texts of columns as values.
struct Words {
    states: Vec<RunState>,
    scorings: Vec<Option<ScoreStanding>>,
    lineages: Vec<Option<Lineage>>,
}

impl Words {
    fn new(columns: &Columns) -> Self {
        let state = |text| word(text).unwrap_or(RunState::Other);
        Self {
            states: columns.decoded(Text::State, state),
            scorings: columns.decoded(Text::Scoring, word),
            lineages: columns.decoded(Text::Lineage, word),
        }
    }

    /// Returns the values of a run, without the texts of its place. `None` for files that are not runs.
    fn seen(&self, values: RunValues<'_>, run: u32) -> Option<Seen<'static>> {
        let small = |of: Int| values.int(of).and_then(|number| u32::try_from(number).ok());
        let state = *self.states.get(values.code(Text::State)?)?;
        if state == RunState::Other {
            return None;
        }
        let word = |of: Text| values.code(of);
        let scoring = word(Text::Scoring).and_then(|at| *self.scorings.get(at)?);
        let passed = values.int(Int::Passed).map(|passed| passed != 0);
        let variation = small(Int::Variation);
        Some(Seen {
            run,
            id: values.key(),
            place: Place { task: None, system: None, model: None, variation, variation_name: None },
            repeat: small(Int::Repeat).unwrap_or(1),
            state,
            scoring,
            end: end_of(state, scoring, values.real(Real::Score), passed),
            reviewed: values.int(Int::Reviewed) == Some(1),
            foreign: values.int(Int::Foreign) == Some(1),
            lineage: word(Text::Lineage).and_then(|at| *self.lineages.get(at)?),
            fork: small(Int::Fork).unwrap_or(0),
        })
    }
}

/// Deserializes a word of the index without copying it.
pub(crate) fn word<'a, T: Deserialize<'a>>(word: &'a str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<Error>::new(word)).ok()
}
