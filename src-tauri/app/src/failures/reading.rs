//! Reads failed runs and the passing runs of their tasks, and analyses them. Few runs are in memory
//! at a time; only findings are kept.
use super::Job;
use super::cache::Analysis;
use super::selection::{FailedRun, Selection};
use crate::OpenFolder;
use crate::runs::reading::Reading;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use touchstone_api::RunState;
use touchstone_model::run::Run;
use touchstone_model::value::Value;
use touchstone_scoring::align::digests;
use touchstone_scoring::failures::{self, PassingRun, decisive_step, findings};
use touchstone_scoring::scorers::Stop;
use touchstone_store::query::shown_scorer;
use touchstone_store::scoring::expectation::{Expectation, expectation};
use touchstone_store::suites::Tasks;

/// Maximum number of threads that read.
const THREADS: usize = 4;
/// Maximum number of failed runs, and of passing runs, of a batch: of runs with files of their own,
/// and of runs in one file, which is parsed once for each batch.
const BATCH: usize = 64;
const SHARED_BATCH: usize = 2_048;
/// Number of steps from which a run is too long to be compared.
const LONG: usize = 5_000;

/// Failed runs, with the passing runs that they are compared with.
#[derive(Default)]
struct Batch {
    failed: Vec<usize>,
    passing: BTreeSet<usize>,
    passing_runs: usize,
}

/// Reads the given failed runs and keeps what is found. Returns early if the job stops.
pub(super) fn read(
    open: &OpenFolder,
    selection: &Selection,
    missing: &[usize],
    job: &Job,
    tell: &(dyn Fn() + Sync),
) {
    open.failures.known.forget_others(selection);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let batches = batches(selection, missing, threads);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            if job.is_stopping() {
                return;
            }
            read_batch(open, selection, batch, job, tell);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(batches.len()) {
            // Without another thread, this one does it all.
            let thread = std::thread::Builder::new().name("failures".to_owned());
            let _ = thread.spawn_scoped(scope, work);
        }
        work();
    });
}

fn batches(selection: &Selection, missing: &[usize], threads: usize) -> Vec<Batch> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in missing {
        if let Some(failed) = selection.failed.get(*at) {
            by_file.entry(file(&failed.run.path)).or_default().push(*at);
        }
    }
    let (shared, own): (Vec<_>, Vec<_>) = by_file.into_values().partition(|runs| runs.len() > 1);
    let own: Vec<usize> = own.into_iter().flatten().collect();
    let mut batches = batches_of(selection, &own, BATCH);
    for runs in shared {
        let most = runs.len().div_ceil(threads).clamp(BATCH, SHARED_BATCH);
        for some in runs.chunks(most) {
            batches.extend(batches_of(selection, some, SHARED_BATCH));
        }
    }
    batches
}

/// Returns the file of a run, which may hold other runs, too.
fn file(path: &str) -> &str {
    path.split_once('#').map_or(path, |(file, _)| file)
}

/// Puts runs with the same passing runs together. `most` is the maximum size of a batch.
fn batches_of(selection: &Selection, runs: &[usize], most: usize) -> Vec<Batch> {
    let mut by_baseline: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in runs {
        if let Some(failed) = selection.failed.get(*at) {
            by_baseline.entry(failed.baseline).or_default().push(*at);
        }
    }
    let mut batches = vec![Batch::default()];
    for (baseline, failed) in by_baseline {
        let passing = selection.baselines.get(baseline).map_or(0, Vec::len);
        for some in failed.chunks(most) {
            let full = batches.last().is_none_or(|last| {
                last.failed.len() + some.len() > most || last.passing_runs + passing > most
            });
            if full {
                batches.push(Batch::default());
            }
            if let Some(last) = batches.last_mut() {
                last.failed.extend(some);
                last.passing.insert(baseline);
                last.passing_runs += passing;
            }
        }
    }
    batches.retain(|batch| !batch.failed.is_empty());
    batches
}

fn read_batch(
    open: &OpenFolder,
    selection: &Selection,
    batch: &Batch,
    job: &Job,
    tell: &(dyn Fn() + Sync),
) {
    let go_on = || {
        if job.is_stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let ids: BTreeSet<&str> = batch
        .passing
        .iter()
        .filter_map(|at| selection.baselines.get(*at))
        .flatten()
        .map(|one| one.id.as_str())
        .collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut passing: HashMap<&str, PassingRun> = HashMap::new();
    let _ = Reading::for_each_run(&open.flow, &ids, |at, run| {
        if let Ok(run) = run
            && run.run.steps.len() < LONG
        {
            passing.insert(ids[at], PassingRun::new(&run.run, digests(&run.run)));
        }
        go_on()
    });
    if job.is_stopping() {
        return;
    }
    let tasks = open.flow.shelf.tasks();
    // Another job may have read some of them in the meantime.
    let unknown = batch.failed.iter().filter(|at| !open.failures.known.has(selection, **at));
    let failed: Vec<(usize, &FailedRun)> =
        unknown.filter_map(|at| Some((*at, selection.failed.get(*at)?))).collect();
    let ids: Vec<&str> = failed.iter().map(|(_, failed)| failed.run.id.as_str()).collect();
    let _ = Reading::for_each_run(&open.flow, &ids, |place, run| {
        let (at, failed) = failed[place];
        let baselines = selection.baselines.get(failed.baseline).map_or(&[][..], Vec::as_slice);
        // An index among the passing runs that could be read, by the index in the selection.
        let known: Vec<(usize, &PassingRun)> = baselines
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((at, passing.get(one.id.as_str())?)))
            .collect();
        let analysis = run.ok().and_then(|run| {
            let analyse = || analyse(open, &tasks, failed, &run.run, &known);
            catch_unwind(AssertUnwindSafe(analyse)).ok()
        });
        open.failures.known.put(selection, at, analysis.unwrap_or_default());
        job.count();
        tell();
        go_on()
    });
    if job.is_stopping() {
        return;
    }
    // A run that was passed over counts as unreadable; otherwise it would be read again and again.
    for (at, _) in failed {
        if !open.failures.known.has(selection, at) {
            open.failures.known.put(selection, at, Analysis::default());
        }
    }
}

fn analyse(
    open: &OpenFolder,
    tasks: &Tasks,
    failed: &FailedRun,
    run: &Run,
    passing: &[(usize, &PassingRun)],
) -> Analysis {
    let row = &failed.run;
    // The page waits for readers of the index, too, so this one is given back before comparing.
    let expected = open.flow.index.reader().and_then(|reader| expectation(&reader, tasks, row));
    let Expectation { answer, options, calls } = expected.unwrap_or_default();
    let imported = run.imported.as_deref().and_then(|imported| imported.expected.as_ref());
    let expected: Option<&Value> = answer.as_deref().or(imported);
    let digests = digests(run);
    let found = findings(&failures::FailedRun {
        run,
        digests: &digests,
        stop: match row.state {
            RunState::Error => Stop::Error,
            RunState::Answered => Stop::Answered,
            _ => Stop::NoAnswer,
        },
        reason: row.reason.as_deref(),
        expected,
        options: &options,
        expected_calls: &calls,
        scorer: row.scorer.as_deref().map(shown_scorer),
        score_reason: row.score_reason.as_deref(),
    });
    let baselines: Vec<&PassingRun> = passing.iter().map(|(_, one)| *one).collect();
    // An error of the system can happen at any step and decides nothing.
    let is_error = found.first().is_some_and(|main| main.cause.mode.is_error());
    let decisive = if run.steps.len() < LONG && !is_error {
        decisive_step(run, &digests, &baselines)
    } else {
        None
    };
    let decisive = decisive.and_then(|step| {
        let baseline = passing.get(step.baseline)?.0;
        Some(failures::DecisiveStep { baseline, ..step })
    });
    Analysis { findings: found, decisive }
}
