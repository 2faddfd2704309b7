//! **Pure.** Which call a result answers, also where a program numbers its calls anew in every
//! turn.
use std::collections::{HashMap, VecDeque};

/// Calls that have no result yet, by their ids.
#[derive(Debug, Default)]
pub struct Waiting {
    known: HashMap<String, Vec<(usize, VecDeque<usize>)>>,
}

impl Waiting {
    /// A message calls by an id; `at` is where that call stands. Messages come in their order.
    pub fn call(&mut self, id: &str, message: usize, at: usize) {
        let groups = self.known.entry(id.to_owned()).or_default();
        match groups.last_mut().filter(|(of, _)| *of == message) {
            Some((_, calls)) => calls.push_back(at),
            None => groups.push((message, VecDeque::from([at]))),
        }
    }

    /// The call that a result of an id answers, with its message: the first that waits in the last
    /// message with such calls.
    pub fn answered(&mut self, id: &str) -> Option<(usize, usize)> {
        let groups = self.known.get_mut(id)?;
        let (message, calls) = groups.last_mut()?;
        let found = calls.pop_front().map(|at| (*message, at));
        if calls.is_empty() {
            groups.pop();
        }
        found
    }
}
