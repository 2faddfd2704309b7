//! **Pure.** Queue of changed units that wait to be parsed. Live changes come first, and each unit
//! is queued once. Units that segments claim come last, and of those only the names are kept.
use super::reconcile::{Step, Unit};
use super::unit_files::UnitFiles;
use super::unit_id::UnitId;
use std::collections::{HashMap, VecDeque};

/// Waiting units, in a live queue and a background queue.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    units: HashMap<UnitId, UnitFiles>,
    live: VecDeque<UnitId>,
    rest: VecDeque<UnitId>,
    /// Units whose runs are there as segments claim them. Their files are known.
    claimed: VecDeque<UnitId>,
}

impl Backlog {
    /// Adds steps to one of the queues. If a unit already waits, its files are merged, and the
    /// newer entries win.
    pub(crate) fn add(&mut self, steps: Vec<Step>, live: bool) {
        let queue = if live { &mut self.live } else { &mut self.rest };
        queue.reserve(steps.len());
        self.units.reserve(steps.len());
        for step in steps {
            let (id, files) = match step {
                Step::Read(unit) => (unit.id, unit.files),
                // An empty file list makes the reader find that nothing is left of the unit.
                Step::Forget(id) => (id, UnitFiles::default()),
            };
            queue.push_back(id.clone());
            self.units.entry(id).or_default().merge(files);
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

    /// Returns the files of a waiting unit.
    pub(crate) fn get(&self, id: &UnitId) -> Option<&UnitFiles> {
        self.units.get(id)
    }

    /// Removes a unit that needs not be read.
    pub(crate) fn remove(&mut self, id: &UnitId) -> Option<UnitFiles> {
        self.units.remove(id)
    }

    /// Adds a unit that waits last. Its files are those that are known when its turn comes.
    pub(crate) fn add_claimed(&mut self, id: UnitId) {
        self.claimed.push_back(id);
    }

    /// Removes and returns the next claimed unit that does not wait otherwise.
    pub(crate) fn next_claimed(&mut self) -> Option<UnitId> {
        let units = &self.units;
        std::iter::from_fn(|| self.claimed.pop_front()).find(|id| !units.contains_key(id))
    }

    /// Gives back the memory of units that were removed.
    pub(crate) fn shrink(&mut self) {
        let Self { units, live, rest, claimed } = self;
        units.shrink_to_fit();
        live.retain(|id| units.contains_key(id));
        rest.retain(|id| units.contains_key(id));
        live.shrink_to_fit();
        rest.shrink_to_fit();
        claimed.shrink_to_fit();
    }

    /// Number of waiting units.
    pub(crate) fn len(&self) -> usize {
        self.units.len() + self.claimed.len()
    }

    /// Returns true when no unit waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops all waiting units.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Pops up to `most` units from a queue. Skips ids whose unit was taken through the other queue.
fn take(
    queue: &mut VecDeque<UnitId>,
    units: &mut HashMap<UnitId, UnitFiles>,
    most: usize,
) -> Vec<Unit> {
    let mut taken = Vec::new();
    while taken.len() < most {
        let Some(id) = queue.pop_front() else { break };
        if let Some(files) = units.remove(&id) {
            taken.push(Unit { id, files });
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconcile::unit_of;
    use crate::roots::{FileId, Root};
    use crate::scan::Found;

    fn read(name: &str) -> Step {
        let file = FileId::new(Root::Output, name);
        let found = Found { stamp: crate::open::Stamp::default(), odd: None };
        let id = unit_of(&file, false);
        Step::Read(Unit { id, files: [(file, found)].into_iter().collect() })
    }

    fn names(units: &[Unit]) -> Vec<String> {
        units.iter().map(|unit| unit.id.file.to_display()).collect()
    }

    #[test]
    fn a_claimed_unit_comes_last_unless_it_changes_meanwhile() {
        let mut backlog = Backlog::default();
        backlog.add(["a", "b", "c", "d"].map(read).into(), false);
        for name in ["b", "c"] {
            let id = unit_of(&FileId::new(Root::Output, name), false);
            assert_eq!(backlog.remove(&id).map(|files| files.len()), Some(1));
            backlog.add_claimed(id);
        }
        backlog.shrink();
        assert_eq!(backlog.len(), 4);
        backlog.add(vec![read("b")], true);
        assert!(backlog.has_live());
        assert_eq!(backlog.next_claimed().map(|id| id.file.to_display()), Some("c".to_owned()));
        assert_eq!(backlog.next_claimed(), None, "b waits among the changed ones");
        assert_eq!(names(&backlog.next(9, 9)), ["b"]);
        assert_eq!(names(&backlog.next(9, 9)), ["a", "d"]);
        assert!(backlog.is_empty() && backlog.next(9, 9).is_empty());
    }
}
