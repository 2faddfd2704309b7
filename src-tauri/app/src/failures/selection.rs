//! The failed runs of a request, and the passing runs of their tasks that they are compared with.
use crate::OpenFolder;
use crate::error::AppError;
use std::collections::{BTreeMap, HashMap};
use touchstone_api::{
    FailureGroup, FailuresRequest, FilterError, LeftOut, PassingRunOf, RunState, Verdict,
};
use touchstone_scoring::aggregate::Column;
use touchstone_store::imports::is_import;
use touchstone_store::query::ScoredRun;
use xxhash_rust::xxh3::Xxh3;

/// Maximum number of passing runs that a failed run is compared with.
const MOST_BASELINES: usize = 3;

/// Failed runs of a request.
pub(super) struct Selection {
    /// Generation of the index that was queried.
    pub(super) generation: u64,
    /// Systems and models, with their counts.
    pub(super) groups: Vec<FailureGroup>,
    /// Group and task of every run with a result.
    pub(super) counted: Vec<(usize, usize)>,
    /// Names of the tasks.
    pub(super) tasks: Vec<String>,
    /// Failed and partly right runs.
    pub(super) failed: Vec<FailedRun>,
    /// Passing runs of a task by one system, shared by the failed ones.
    pub(super) baselines: Vec<Vec<Baseline>>,
    /// Number of failed runs that ended in an error.
    pub(super) errors: u64,
    /// Number of runs without a result: not ended, not read, or not scored.
    pub(super) undecided: u64,
    /// Runs left out, because they are no runs of the benchmark.
    pub(super) left_out: LeftOut,
    /// Number of passing runs that a person reviewed as wrong or partly right.
    pub(super) passed_but_reviewed_wrong: u64,
    /// Scorers of the runs in the folder.
    pub(super) scorers: Vec<String>,
    /// Tokens of the filter that could not be parsed.
    pub(super) misread: Vec<FilterError>,
}

/// A failed run.
pub(super) struct FailedRun {
    pub(super) run: ScoredRun,
    /// Index among the counted runs.
    pub(super) at: usize,
    /// Index of its passing runs.
    pub(super) baseline: usize,
    /// Hash of everything that its findings depend on.
    pub(super) stamp: u64,
}

/// A passing run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Baseline {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) system: Option<String>,
    pub(super) model: Option<String>,
}

impl Baseline {
    /// Returns the relation of the passing run to a failed one.
    pub(super) fn kinship(&self, run: &ScoredRun) -> PassingRunOf {
        match (self.system == run.system, self.model == run.model) {
            (true, true) => PassingRunOf::SameSystemAndModel,
            (true, false) => PassingRunOf::SameSystem,
            (false, _) => PassingRunOf::OtherSystem,
        }
    }

    /// Returns `system/model`.
    pub(super) fn label(&self) -> String {
        Column { system: self.system.as_deref(), model: self.model.as_deref() }.label()
    }
}

impl Selection {
    /// Queries the index. Passing runs may lie outside the filter.
    pub(super) fn new(
        open: &OpenFolder,
        request: &FailuresRequest,
        scorers: Vec<String>,
    ) -> Result<Self, AppError> {
        let scorer = request.scorer.as_deref();
        let ((runs, misread), generation) = open.ask(|index| {
            Ok((open.lists.scored(index, &request.filter, scorer)?, index.generation()))
        })?;
        let hashes = open.ask(|index| open.lists.content_hashes(index))?;
        let left_out = open.ask(|index| open.lists.left_out(index, &request.filter))?;
        let is_all = request.filter.trim().is_empty();
        let others = if is_all {
            None
        } else {
            Some(open.ask(|index| open.lists.scored(index, "", scorer))?.0)
        };
        let passing = Passing::new(others.as_deref().unwrap_or(&runs));
        let mut selection = from_runs(runs, &passing, &hashes);
        selection.generation = generation;
        selection.left_out = left_out;
        selection.misread = misread;
        selection.scorers = scorers;
        Ok(selection)
    }
}

fn from_runs(runs: Vec<ScoredRun>, passing: &Passing, hashes: &HashMap<String, i64>) -> Selection {
    let mut columns: BTreeMap<String, usize> = runs.iter().map(|run| (column(run), 0)).collect();
    for (at, place) in columns.values_mut().enumerate() {
        *place = at;
    }
    let group = |name: &String| FailureGroup { name: name.clone(), failed: 0, read: 0, runs: 0 };
    let mut selection = Selection {
        generation: 0,
        groups: columns.keys().map(group).collect(),
        counted: Vec::with_capacity(runs.len()),
        tasks: Vec::new(),
        failed: Vec::new(),
        baselines: Vec::new(),
        errors: 0,
        undecided: 0,
        left_out: LeftOut::default(),
        passed_but_reviewed_wrong: 0,
        scorers: Vec::new(),
        misread: Vec::new(),
    };
    let mut tasks: HashMap<String, usize> = HashMap::new();
    let mut baselines: HashMap<Vec<String>, usize> = HashMap::new();
    for run in runs {
        if !has_result(&run) {
            selection.undecided += 1;
            continue;
        }
        let at = selection.counted.len();
        let group = columns.get(&column(&run)).copied().unwrap_or(0);
        let name = run.task.clone().unwrap_or_default();
        let task = *tasks.entry(name).or_insert_with_key(|name| {
            selection.tasks.push(name.clone());
            selection.tasks.len() - 1
        });
        selection.counted.push((group, task));
        selection.groups[group].runs += 1;
        if !is_failed(&run) {
            let is_doubted = matches!(run.verdict, Some(Verdict::Wrong | Verdict::Partly));
            selection.passed_but_reviewed_wrong += u64::from(is_doubted);
            continue;
        }
        selection.groups[group].failed += 1;
        selection.errors += u64::from(run.state == RunState::Error);
        let own = passing.baselines_for(&run);
        let key: Vec<String> = own.iter().map(|one| one.id.clone()).collect();
        let stamp = stamp(&run, &key, hashes);
        let baseline = *baselines.entry(key).or_insert_with(|| {
            selection.baselines.push(own);
            selection.baselines.len() - 1
        });
        selection.failed.push(FailedRun { run, at, baseline, stamp });
    }
    selection
}

fn column(run: &ScoredRun) -> String {
    Column { system: run.system.as_deref(), model: run.model.as_deref() }.label()
}

/// Returns true for a run that ended in an error, that did not pass, or that is partly right by a
/// scorer without a threshold. What a person said decides nothing here, as in all other numbers.
fn is_failed(run: &ScoredRun) -> bool {
    match run.state {
        RunState::Error => true,
        RunState::Answered | RunState::NoAnswer => match run.passed {
            Some(passed) => !passed,
            None => score_alone(run).is_some_and(|score| score < 1.0),
        },
        _ => false,
    }
}

/// Returns the score, if it says how right a run is without a threshold. Another tool may measure
/// what is good when it is low, such as toxicity.
fn score_alone(run: &ScoredRun) -> Option<f64> {
    run.score.filter(|_| !is_import(&run.layout))
}

/// Returns true for a run that ended in an error, or whose score says how it ended. Others are in no
/// share: a run without an answer has not failed if nothing says that one was expected.
fn has_result(run: &ScoredRun) -> bool {
    match run.state {
        RunState::Error => true,
        RunState::Answered | RunState::NoAnswer => {
            run.passed.is_some() || score_alone(run).is_some()
        }
        _ => false,
    }
}

fn is_passing(run: &ScoredRun) -> bool {
    matches!(run.state, RunState::Answered | RunState::NoAnswer) && run.passed == Some(true)
}

/// Hash of everything that the findings of a run depend on.
fn stamp(run: &ScoredRun, baselines: &[String], hashes: &HashMap<String, i64>) -> u64 {
    let mut hash = Xxh3::new();
    for id in std::iter::once(&run.id).chain(baselines) {
        hash.update(id.as_bytes());
        hash.update(&hashes.get(id).copied().unwrap_or(0).to_le_bytes());
    }
    hash.update(&run.fingerprint.unwrap_or(0).to_le_bytes());
    let texts = [&run.reason, &run.scorer, &run.score_reason, &run.task, &run.variation_name];
    for text in texts {
        hash.update(text.as_deref().unwrap_or_default().as_bytes());
        hash.update(&[0]);
    }
    hash.update(format!("{:?} {:?}", run.state, run.variation).as_bytes());
    hash.digest()
}

type TaskKey = (Option<String>, Option<u32>, Option<String>);

/// Passing runs by task and variation, and by system.
struct Passing {
    by_task: HashMap<TaskKey, Vec<Baseline>>,
}

impl Passing {
    fn new(runs: &[ScoredRun]) -> Self {
        let mut by_task: HashMap<TaskKey, Vec<Baseline>> = HashMap::new();
        let passing = runs.iter().filter(|run| run.task.is_some() && is_passing(run));
        for run in passing {
            let baseline = Baseline {
                id: run.id.clone(),
                path: run.path.clone(),
                system: run.system.clone(),
                model: run.model.clone(),
            };
            by_task.entry(task_key(run)).or_default().push(baseline);
        }
        Self { by_task }
    }

    /// Returns the passing runs of the task by the same system with the same model; if there are
    /// none, those of the same system, which works with the same tools; else those of any other.
    fn baselines_for(&self, run: &ScoredRun) -> Vec<Baseline> {
        let all = self.by_task.get(&task_key(run)).map_or(&[][..], Vec::as_slice);
        let others = || all.iter().filter(|one| one.id != run.id);
        let Some(nearest) = others().map(|one| one.kinship(run)).min() else { return Vec::new() };
        let nearest = others().filter(|one| one.kinship(run) == nearest);
        nearest.take(MOST_BASELINES).cloned().collect()
    }
}

fn task_key(run: &ScoredRun) -> TaskKey {
    let name = run.variation_name.clone().filter(|_| run.variation.is_none());
    (run.task.clone(), run.variation, name)
}
