//! Findings of runs that were read, by the content of their files.
use super::selection::Selection;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use touchstone_scoring::failures::{DecisiveStep, Finding};

/// Number of runs from which those that are no longer asked for are forgotten.
const MOST: usize = 50_000;

/// What was found in a failed run.
#[derive(Debug, Clone, Default)]
pub(super) struct Analysis {
    /// Findings; empty if the run could not be read.
    pub(super) findings: Vec<Finding>,
    /// Earliest decisive step.
    pub(super) decisive: Option<DecisiveStep>,
}

/// Known analyses, by the id of the run, each with the stamp of what it depends on.
#[derive(Default)]
pub(super) struct KnownFailures(Mutex<HashMap<String, (u64, Arc<Analysis>)>>);

impl KnownFailures {
    /// Returns the indexes of the failed runs that are not known.
    pub(super) fn missing(&self, selection: &Selection) -> Vec<usize> {
        let known = self.lock();
        let is_known = |id: &str, stamp: u64| known.get(id).is_some_and(|(of, _)| *of == stamp);
        let failed = selection.failed.iter().enumerate();
        failed
            .filter(|(_, failed)| !is_known(&failed.run.id, failed.stamp))
            .map(|(at, _)| at)
            .collect()
    }

    /// Returns the analyses of the failed runs, `None` for those that are not known.
    pub(super) fn all(&self, selection: &Selection) -> Vec<Option<Arc<Analysis>>> {
        let known = self.lock();
        let analysis = |id: &str, stamp: u64| {
            known.get(id).filter(|(of, _)| *of == stamp).map(|(_, one)| Arc::clone(one))
        };
        selection.failed.iter().map(|failed| analysis(&failed.run.id, failed.stamp)).collect()
    }

    /// Forgets runs that are not asked for, if there are many.
    pub(super) fn forget_others(&self, selection: &Selection) {
        let mut known = self.lock();
        if known.len() >= MOST {
            let wanted: HashSet<&str> =
                selection.failed.iter().map(|failed| failed.run.id.as_str()).collect();
            known.retain(|id, _| wanted.contains(id.as_str()));
        }
    }

    /// Returns true if a failed run is known.
    pub(super) fn has(&self, selection: &Selection, at: usize) -> bool {
        let Some(failed) = selection.failed.get(at) else { return true };
        self.lock().get(&failed.run.id).is_some_and(|(of, _)| *of == failed.stamp)
    }

    /// Keeps an analysis.
    pub(super) fn put(&self, selection: &Selection, at: usize, analysis: Analysis) {
        let Some(failed) = selection.failed.get(at) else { return };
        let mut known = self.lock();
        known.insert(failed.run.id.clone(), (failed.stamp, Arc::new(analysis)));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (u64, Arc<Analysis>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
