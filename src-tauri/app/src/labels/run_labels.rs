//! **Pure.** The labels of the runs of a folder.
use std::collections::BTreeMap;
use touchstone_api::{LabelView, RunLabel};
use touchstone_store::query::ScoredRun;

/// Labels of a folder, and of its runs by the id of the run.
#[derive(Debug, Default)]
pub(crate) struct RunLabels {
    pub(crate) labels: Vec<LabelView>,
    pub(crate) of_runs: BTreeMap<String, Vec<RunLabel>>,
}

impl RunLabels {
    /// Returns the labels of a run.
    pub(crate) fn labels_of(&self, run: &ScoredRun) -> &[RunLabel] {
        self.of_runs.get(&run.id).map(Vec::as_slice).unwrap_or_default()
    }
}
