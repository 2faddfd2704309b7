//! **Pure.** Queue of changed units that wait to be parsed. Live changes come first, and each unit
//! is queued once. Units that segments claim come last, and of those only the names are kept.
use super::reconcile::{Mark, Step, Unit};
use super::roots::FileId;
use super::scan::Found;
use super::unit_files::UnitFiles;
use super::unit_id::UnitId;
use std::collections::{HashMap, HashSet, VecDeque};

/// Waiting units, in a live queue and a background queue.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    units: HashMap<UnitId, UnitFiles>,
    live: VecDeque<UnitId>,
    rest: VecDeque<UnitId>,
    /// Units whose runs are there as segments claim them. Their files are known.
    claimed: VecDeque<UnitId>,
    /// Numbers of the units in `claimed` that still wait there.
    claimed_numbers: HashSet<i64>,
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
            // It waits to be read here, with its new files, and no more as it is claimed.
            self.claimed_numbers.remove(&id.number());
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

    /// Returns true for a unit that waits as it is claimed.
    pub(crate) fn is_claimed(&self, id: &UnitId) -> bool {
        self.claimed_numbers.contains(&id.number())
    }

    /// Returns the files of a waiting unit.
    pub(crate) fn get(&self, id: &UnitId) -> Option<&UnitFiles> {
        self.units.get(id)
    }

    /// Puts the units with these numbers behind all others, or drops them if they are trusted. Returns
    /// their files: of those that wait only the names are kept.
    pub(crate) fn claim(
        &mut self,
        numbers: &HashSet<i64>,
        is_trusted: bool,
    ) -> Vec<(FileId, Mark)> {
        let Self { units, live, rest, claimed, claimed_numbers } = self;
        let mut marks = Vec::with_capacity(numbers.len());
        for queue in [live, rest] {
            queue.retain(|id| {
                if !numbers.contains(&id.number()) {
                    return units.contains_key(id);
                }
                let Some(files) = units.remove(id) else { return false };
                marks.extend(files.into_iter().map(|(file, Found { stamp, .. })| {
                    (file, Mark { stamp, settled: is_trusted, odd: false })
                }));
                if !is_trusted {
                    claimed_numbers.insert(id.number());
                    claimed.push_back(id.clone());
                }
                false
            });
            queue.shrink_to_fit();
        }
        units.shrink_to_fit();
        marks
    }

    /// Removes and returns the next claimed unit that does not wait otherwise.
    pub(crate) fn next_claimed(&mut self) -> Option<UnitId> {
        let numbers = &mut self.claimed_numbers;
        std::iter::from_fn(|| self.claimed.pop_front()).find(|id| numbers.remove(&id.number()))
    }

    /// Number of waiting units.
    pub(crate) fn len(&self) -> usize {
        self.units.len() + self.claimed_numbers.len()
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
    use crate::roots::Root;

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
        backlog.add(["a", "b", "c", "d", "e"].map(read).into(), false);
        let claim = |backlog: &mut Backlog, names: &[&str], is_trusted| {
            let number = |name: &&str| unit_of(&FileId::new(Root::Output, *name), false).number();
            let marks = backlog.claim(&names.iter().map(number).collect(), is_trusted);
            let told = |(file, mark): &(FileId, Mark)| (file.to_display(), mark.settled);
            marks.iter().map(told).collect::<Vec<_>>()
        };
        assert_eq!(claim(&mut backlog, &["e", "x"], true), [("e".to_owned(), true)]);
        let marks = ["b", "c"].map(|name| (name.to_owned(), false));
        assert_eq!(claim(&mut backlog, &["c", "b"], false), marks);
        assert_eq!(backlog.len(), 4);
        backlog.add(vec![read("b")], true);
        assert_eq!(backlog.len(), 4, "b waits once");
        assert!(backlog.has_live());
        assert_eq!(backlog.next_claimed().map(|id| id.file.to_display()), Some("c".to_owned()));
        assert_eq!(backlog.next_claimed(), None, "b waits among the changed ones");
        assert_eq!(names(&backlog.next(9, 9)), ["b"]);
        assert_eq!(names(&backlog.next(9, 9)), ["a", "d"]);
        assert!(backlog.is_empty() && backlog.next(9, 9).is_empty());
        let unit = |name: &str| unit_of(&FileId::new(Root::Output, name), false);
        assert!(!["b", "c"].map(unit).iter().any(|id| backlog.is_claimed(id)));
    }
}
