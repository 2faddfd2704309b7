//! **Pure.** What waits to be looked at: changes that just happened before everything else, each
//! unit once.
use super::reconcile::{Step, Unit, UnitId};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Units that wait, in two queues.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    units: HashMap<UnitId, Unit>,
    live: VecDeque<UnitId>,
    rest: VecDeque<UnitId>,
}

impl Backlog {
    /// Adds steps. What waits already is joined with what is new, and the new knows better.
    pub(crate) fn add(&mut self, steps: Vec<Step>, live: bool) {
        let queue = if live { &mut self.live } else { &mut self.rest };
        for step in steps {
            let unit = match step {
                Step::Read(unit) => unit,
                // To read nothing is to find that nothing is left.
                Step::Forget(id) => Unit { id, files: BTreeMap::new() },
            };
            let mut files =
                self.units.remove(&unit.id).map(|waiting| waiting.files).unwrap_or_default();
            files.extend(unit.files);
            queue.push_back(unit.id.clone());
            self.units.insert(unit.id.clone(), Unit { id: unit.id, files });
        }
    }

    /// The next units, live ones first.
    pub(crate) fn next(&mut self, live: usize, rest: usize) -> Vec<Unit> {
        let units = take(&mut self.live, &mut self.units, live);
        if units.is_empty() { take(&mut self.rest, &mut self.units, rest) } else { units }
    }

    /// True when something waits that happened just now.
    pub(crate) fn has_live(&self) -> bool {
        self.live.iter().any(|id| self.units.contains_key(id))
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// True when nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Takes from a queue; ids whose unit went with another queue are passed over.
fn take(queue: &mut VecDeque<UnitId>, units: &mut HashMap<UnitId, Unit>, most: usize) -> Vec<Unit> {
    let mut taken = Vec::new();
    while taken.len() < most {
        let Some(id) = queue.pop_front() else { break };
        taken.extend(units.remove(&id));
    }
    taken
}
