//! **Pure.** Matches results to calls, even if a program restarts the numbering of calls in every
//! turn.
use std::collections::{HashMap, VecDeque};

/// Calls without a result, by id.
#[derive(Debug, Default)]
pub struct PendingCalls {
    known: HashMap<String, Vec<(usize, VecDeque<usize>)>>,
}

impl PendingCalls {
    /// Adds a call with an id; `at` is its position. Messages must be added in order.
    pub fn call(&mut self, id: &str, message: usize, at: usize) {
        let groups = self.known.entry(id.to_owned()).or_default();
        match groups.last_mut().filter(|(of, _)| *of == message) {
            Some((_, calls)) => calls.push_back(at),
            None => groups.push((message, VecDeque::from([at]))),
        }
    }

    /// Returns the call that a result with this id answers, with its message: the first open call
    /// in the last message that has such calls.
    pub fn take_call(&mut self, id: &str) -> Option<(usize, usize)> {
        let groups = self.known.get_mut(id)?;
        let (message, calls) = groups.last_mut()?;
        let found = calls.pop_front().map(|at| (*message, at));
        if calls.is_empty() {
            groups.pop();
        }
        found
    }
}
