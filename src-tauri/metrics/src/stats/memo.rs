//! Remembers results of resampling. Equal inputs have equal results, and when a run is added to
//! thousands, nearly all inputs are those of before.
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Number of numbers in the inputs that are kept: 8 MB.
const MOST: usize = 1 << 20;

/// Results by the bits of their inputs. The inputs that were not used for the longest time are
/// dropped.
pub(super) struct Memo<V>(LazyLock<Mutex<Results<V>>>);

struct Results<V> {
    recent: HashMap<Box<[u64]>, V>,
    /// Number of numbers in the inputs of `recent`.
    numbers: usize,
    older: HashMap<Box<[u64]>, V>,
}

impl<V: Copy> Memo<V> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(|| {
            Mutex::new(Results { recent: HashMap::new(), numbers: 0, older: HashMap::new() })
        }))
    }

    /// Returns the result for inputs, which is computed unless it is known.
    pub(super) fn get(&self, inputs: Vec<u64>, compute: impl FnOnce() -> V) -> V {
        let inputs = inputs.into_boxed_slice();
        if let Some(known) = self.results().find(&inputs) {
            return known;
        }
        let new = compute();
        self.results().put(inputs, new);
        new
    }

    fn results(&self) -> MutexGuard<'_, Results<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Copy> Results<V> {
    fn find(&mut self, inputs: &[u64]) -> Option<V> {
        if let Some(known) = self.recent.get(inputs) {
            return Some(*known);
        }
        let (inputs, known) = self.older.remove_entry(inputs)?;
        self.put(inputs, known);
        Some(known)
    }

    fn put(&mut self, inputs: Box<[u64]>, value: V) {
        if self.numbers + inputs.len() > MOST / 2 {
            self.older = std::mem::take(&mut self.recent);
            self.numbers = 0;
        }
        self.numbers += inputs.len();
        self.recent.insert(inputs, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_computed_once_and_what_is_kept_is_bounded() {
        let memo = Memo::new();
        let mut computed = 0;
        for at in 0..200_u64 {
            for inputs in [vec![7], vec![at; 10_000]] {
                let sum = inputs.iter().sum::<u64>();
                let found = memo.get(inputs, || {
                    computed += 1;
                    sum
                });
                assert_eq!(found, sum);
            }
            let known = memo.results();
            let kept = known.recent.keys().chain(known.older.keys()).map(|it| it.len());
            assert!(kept.sum::<usize>() <= MOST);
        }
        assert_eq!(computed, 201);
    }
}
