//! **Pure.** Queue of changed units that wait to be parsed. Live changes come first, and each unit
//! is queued once.
use super::reconcile::{Step, Unit};
use super::unit_id::UnitId;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Waiting units, in a live queue and a background queue.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    units: HashMap<UnitId, Unit>,
    live: VecDeque<UnitId>,
    rest: VecDeque<UnitId>,
}

impl Backlog {
    /// Adds steps to one of the queues. If a unit already waits, its files are merged, and the
    /// newer entries win.
    pub(crate) fn add(&mut self, steps: Vec<Step>, live: bool) {
        let queue = if live { &mut self.live } else { &mut self.rest };
        for step in steps {
            let unit = match step {
                Step::Read(unit) => unit,
                // An empty file list makes the reader find that nothing is left of the unit.
                Step::Forget(id) => Unit { id, files: BTreeMap::new() },
            };
            let mut files =
                self.units.remove(&unit.id).map(|waiting| waiting.files).unwrap_or_default();
            files.extend(unit.files);
            queue.push_back(unit.id.clone());
            self.units.insert(unit.id.clone(), Unit { id: unit.id, files });
        }
    }

    /// Removes and returns the next units, up to `live` live ones, or else up to `rest` others.
    pub(crate) fn next(&mut self, live: usize, rest: usize) -> Vec<Unit> {
        let units = take(&mut self.live, &mut self.units, live);
        if units.is_empty() { take(&mut self.rest, &mut self.units, rest) } else { units }
    }

    /// Returns true when a live change waits.
    pub(crate) fn has_live(&self) -> bool {
        self.live.iter().any(|id| self.units.contains_key(id))
    }

    /// Returns a waiting unit.
    pub(crate) fn get(&self, id: &UnitId) -> Option<&Unit> {
        self.units.get(id)
    }

    /// Removes a unit that needs not be read.
    pub(crate) fn remove(&mut self, id: &UnitId) {
        self.units.remove(id);
    }

    /// Number of waiting units.
    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// Returns true when no unit waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Drops all waiting units.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Pops up to `most` units from a queue. Skips ids whose unit was taken through the other queue.
fn take(queue: &mut VecDeque<UnitId>, units: &mut HashMap<UnitId, Unit>, most: usize) -> Vec<Unit> {
    let mut taken = Vec::new();
    while taken.len() < most {
        let Some(id) = queue.pop_front() else { break };
        taken.extend(units.remove(&id));
    }
    taken
}
