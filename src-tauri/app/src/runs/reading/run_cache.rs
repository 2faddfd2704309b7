//! Cache of the runs opened last, so that steps, rows and searches do not read files again.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use touchstone_model::run::Run;
use touchstone_model::value::Value;
use touchstone_store::layouts::MemberPosition;
use touchstone_store::open::Stamp;
use touchstone_store::roots::FileId;

/// Maximum number of runs compared with each other.
pub(crate) const MOST_RUNS: usize = 4;

/// Maximum memory of all cached runs. At most [`MOST_RUNS`] are kept. The newest one always stays:
/// otherwise each piece of it would read the whole file again.
const MAX_WEIGHT: usize = 96 << 20;

/// A run that was read.
#[derive(Debug)]
pub(super) struct OpenedRun {
    /// Id by which the page refers to the run.
    pub(super) id: String,
    /// Files of the run, and their stamps (size, time, inode) at the time of reading.
    pub(super) files: Vec<FileId>,
    pub(super) stamps: Vec<Option<Stamp>>,
    /// Tag in which the answer was found, if the suite names one.
    pub(super) tag: Option<String>,
    /// Hash of the content.
    pub(super) version: String,
    /// Display name of the layout.
    pub(super) layout: &'static str,
    /// Position in a file that holds many runs.
    pub(super) spot: Option<MemberPosition>,
    /// The parsed run; empty if it could not be read.
    pub(super) run: Run,
    /// Reasons why it could not be read.
    pub(super) faults: Vec<String>,
    /// Approximate memory in bytes.
    pub(super) weight: usize,
}

/// Cache of opened runs, most recently used first.
#[derive(Default)]
pub(super) struct RunCache {
    opened: Mutex<Vec<Arc<OpenedRun>>>,
}

impl RunCache {
    /// Returns a cached run and moves it to the front.
    pub(super) fn find(&self, id: &str) -> Option<Arc<OpenedRun>> {
        let mut opened = self.lock();
        let at = opened.iter().position(|run| run.id == id)?;
        opened[..=at].rotate_right(1);
        Some(Arc::clone(&opened[0]))
    }

    /// Inserts a run at the front, replacing an older version of it, and drops runs over the
    /// limits.
    pub(super) fn put(&self, run: &Arc<OpenedRun>) {
        let mut opened = self.lock();
        opened.retain(|other| other.id != run.id);
        opened.insert(0, Arc::clone(run));
        let mut weight = 0;
        let fits = opened.iter().take(MOST_RUNS).take_while(|run| {
            weight += run.weight;
            weight <= MAX_WEIGHT
        });
        let keep = fits.count().max(1);
        opened.truncate(keep);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<OpenedRun>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Estimates the memory of a run in bytes.
pub(super) fn weight(run: &Run) -> usize {
    let parts = run.steps.iter().flat_map(|step| &step.parts);
    let in_parts: usize = parts
        .map(|part| {
            of_value(&part.value) + part.raw.as_ref().map_or(0, String::len) + part.label.len() + 96
        })
        .sum();
    let in_facts: usize = run.facts.iter().map(|(key, value)| key.len() + of_value(value)).sum();
    let nodes = run.tree.iter().flat_map(|tree| &tree.nodes);
    let in_node = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let in_tree: usize = nodes
        .map(|node| node.text.len() + in_node(&node.input) + in_node(&node.output) + 160)
        .sum();
    let in_verdicts: usize = run
        .verdicts
        .iter()
        .map(|one| 160 + one.evaluator.len() + one.reason.as_ref().map_or(0, String::len))
        .sum();
    in_parts
        + in_facts
        + of_value(&run.row)
        + in_verdicts
        + in_tree
        + run.steps.len() * 160
        + run.answer.as_ref().map_or(0, |answer| of_value(&answer.value))
}

/// Estimates the memory of a value in bytes.
pub(super) fn of_value(value: &Value) -> usize {
    32 + match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(text) | Value::Text(text) => text.len(),
        Value::List(items) => items.iter().map(of_value).sum(),
        Value::Map(entries) => {
            entries.iter().map(|(key, value)| of_value(key) + of_value(value)).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, weight: usize) -> Arc<OpenedRun> {
        Arc::new(OpenedRun {
            id: id.to_owned(),
            files: Vec::new(),
            tag: None,
            stamps: Vec::new(),
            version: String::new(),
            layout: "",
            spot: None,
            run: Run::default(),
            faults: Vec::new(),
            weight,
        })
    }

    fn lying(desk: &RunCache) -> String {
        desk.lock().iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_last_four_lie_here_and_the_last_one_however_heavy_it_is() {
        let desk = RunCache::default();
        for id in ["a", "b", "c", "d", "e"] {
            desk.put(&run(id, 1));
        }
        assert_eq!(lying(&desk), "e d c b");
        assert!(desk.find("b").is_some() && desk.find("a").is_none());
        assert_eq!(lying(&desk), "b e d c");
        desk.put(&run("f", MAX_WEIGHT - 1));
        assert_eq!(lying(&desk), "f b");
        desk.put(&run("g", 2 * MAX_WEIGHT));
        assert_eq!(lying(&desk), "g");
        desk.put(&run("g", 1));
        assert_eq!(lying(&desk), "g");
    }
}
