//! Sets of runs: those of a day, week, month, folder, file, tag or commit, in their order.
use crate::runs::RunActions;
use std::collections::{BTreeMap, HashMap};
use touchstone_api::SetsBy;
use touchstone_clock as clock;
use touchstone_scoring::aggregate::{self, Column, Counted};
use touchstone_store::filter::typed;
use touchstone_store::query::{CountedRuns, PlaceOf};

/// Maximum number of sets; the latest ones are kept. Every further one is another place where
/// chance may look like a change.
const MOST_SETS: usize = 60;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

const WEEK_MS: i64 = 7 * DAY_MS;

/// Runs of a day, folder or file.
pub(super) struct RunSet {
    pub(super) name: String,
    pub(super) filter: String,
    pub(super) from: Option<i64>,
    /// Its runs, among all.
    pub(super) runs: Vec<u32>,
}

/// Sets of runs, in the order of their first run.
pub(super) struct Sets<'r> {
    runs: &'r CountedRuns,
    /// False if a run may be in several: such sets are in no order, and are no samples to compare.
    pub(super) disjoint: bool,
    pub(super) all: Vec<RunSet>,
    /// Number of earlier sets that are left out.
    pub(super) earlier: usize,
    /// Number of runs in no set.
    pub(super) left_out: u64,
}

/// Runs of a system with a model, by the place of their set among all.
pub(super) type BySet = BTreeMap<usize, Vec<u32>>;

impl<'r> Sets<'r> {
    pub(super) fn new(runs: &'r CountedRuns, by: SetsBy) -> Self {
        let mut sets: Vec<RunSet> = Vec::new();
        let mut by_key: HashMap<i64, Vec<usize>> = HashMap::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        let mut left_out = 0;
        let mut at_name = |name: String, run: u32, sets: &mut Vec<RunSet>| {
            *by_name.entry(name).or_insert_with_key(|name| {
                let filter = set_filter(name, by, runs.started_ms(run));
                sets.push(RunSet { name: name.clone(), filter, from: None, runs: Vec::new() });
                sets.len() - 1
            })
        };
        for run in (0..).take(runs.len()) {
            let Some(key) = set_key(runs, run, by) else {
                left_out += 1;
                continue;
            };
            let places = by_key.entry(key).or_insert_with(|| {
                let names = set_names(runs, run, by).into_iter();
                names.map(|name| at_name(name, run, &mut sets)).collect()
            });
            for at in places {
                let Some(set) = sets.get_mut(*at) else { continue };
                set.from = set.from.into_iter().chain(runs.started_ms(run)).min();
                set.runs.push(run);
            }
        }
        sets.sort_by(|a, b| (a.from, &a.name).cmp(&(b.from, &b.name)));
        let earlier = sets.len().saturating_sub(MOST_SETS);
        let disjoint = by != SetsBy::Tag;
        Self { runs, disjoint, all: sets.split_off(earlier), earlier, left_out }
    }

    /// Returns the number of comparisons between them.
    pub(super) fn looked_at(&self, columns: impl Iterator<Item = usize>) -> u64 {
        if self.disjoint { aggregate::looked_at(columns) } else { 0 }
    }

    pub(super) fn counted(&self, runs: &[u32]) -> Vec<Counted<'r>> {
        runs.iter().filter_map(|run| self.runs.counted(*run)).collect()
    }

    /// Returns the runs of each system with each model.
    pub(super) fn columns(&self) -> BTreeMap<Column<'r>, BySet> {
        let mut columns: BTreeMap<Column<'r>, BySet> = BTreeMap::new();
        for (set, runs) in self.all.iter().enumerate() {
            for run in &runs.runs {
                let Some(counted) = self.runs.counted(*run) else { continue };
                columns.entry(counted.column()).or_default().entry(set).or_default().push(*run);
            }
        }
        columns
    }
}

pub(super) fn place_of(by: SetsBy) -> PlaceOf {
    match by {
        SetsBy::File => PlaceOf::File,
        SetsBy::Commit => PlaceOf::Commit,
        SetsBy::Tag => PlaceOf::Tags,
        SetsBy::Day | SetsBy::Week | SetsBy::Month | SetsBy::Folder => PlaceOf::Folder,
    }
}

/// Returns what stands for the set of a run, or for a part of it; `None` if it is in none.
fn set_key(runs: &CountedRuns, run: u32, by: SetsBy) -> Option<i64> {
    match by {
        SetsBy::Day | SetsBy::Month | SetsBy::Week => {
            runs.started_ms(run).map(|ms| ms.div_euclid(DAY_MS))
        }
        SetsBy::Folder | SetsBy::File | SetsBy::Commit | SetsBy::Tag => {
            runs.place_of(run).map(|(place, _)| i64::from(place))
        }
    }
}

/// Returns the names of the sets of a run: several only for tags.
fn set_names(runs: &CountedRuns, run: u32, by: SetsBy) -> Vec<String> {
    let started = runs.started_ms(run).unwrap_or_default();
    let place = runs.place_of(run).map_or("", |(_, place)| place);
    let day = |length| {
        let mut day = clock::format_utc_seconds(started);
        day.truncate(length);
        day
    };
    let name = match by {
        SetsBy::Tag => return place.lines().map(str::to_owned).collect(),
        SetsBy::Day => day(10),
        SetsBy::Month => day(7),
        SetsBy::Week => clock::format_utc_monday(started),
        SetsBy::Folder | SetsBy::File | SetsBy::Commit => place.to_owned(),
    };
    vec![name]
}

/// Returns the filter of the runs of a set, of which one started at this time.
pub(super) fn set_filter(name: &str, by: SetsBy, started_ms: Option<i64>) -> String {
    match (by, started_ms) {
        (SetsBy::Week, Some(ms)) => {
            let next = clock::format_utc_monday(ms.saturating_add(WEEK_MS));
            format!("started:>={name} started:<{next}")
        }
        (SetsBy::Day | SetsBy::Week | SetsBy::Month, _) => format!("started:{name}"),
        (SetsBy::Folder, _) => format!("file:{}/*", typed(name)),
        (SetsBy::File, _) => RunActions::filter_of_file(name),
        (SetsBy::Commit, _) => format!("commit:{}", typed(name)),
        (SetsBy::Tag, _) => format!("tag:{}", typed(name)),
    }
}
