//! **Pure.** Set of runs as a bitmap over their ids, which are small and consecutive.

/// Set of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSet {
    bits: Vec<u64>,
}

impl RunSet {
    /// Adds a run. Negative ids are ignored, because no run has one.
    pub(crate) fn insert(&mut self, id: i64) {
        let Ok(id) = usize::try_from(id) else { return };
        let (word, bit) = (id / 64, 1 << (id % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bit;
    }

    /// Removes a run.
    pub(crate) fn remove(&mut self, id: i64) {
        if let Some(word) = usize::try_from(id).ok().and_then(|id| self.bits.get_mut(id / 64)) {
            *word &= !(1 << (id % 64));
        }
    }

    /// Returns true when the set contains the run.
    pub(crate) fn contains(&self, id: i64) -> bool {
        usize::try_from(id)
            .is_ok_and(|id| self.bits.get(id / 64).is_some_and(|word| word & (1 << (id % 64)) != 0))
    }

    /// Iterates over the ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        let words = (0i64..).zip(self.bits.iter().copied());
        words.flat_map(|(word, bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| i64::from(left.trailing_zeros()))?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }

    /// Adds runs.
    pub(crate) fn extend(&mut self, runs: impl IntoIterator<Item = i64>) {
        for run in runs {
            self.insert(run);
        }
    }

    /// Returns true when the set contains no run.
    pub(crate) fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// Number of runs.
    pub(crate) fn len(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the runs that are not in another set.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let others = other.bits.iter().copied().chain(std::iter::repeat(0));
        Self { bits: self.bits.iter().zip(others).map(|(a, b)| a & !b).collect() }
    }

    /// Makes a set of bits by id.
    pub(crate) fn from_words(mut bits: Vec<u64>) -> Self {
        let end = bits.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        bits.truncate(end);
        Self { bits }
    }

    /// Keeps the runs that another set holds, or those that it does not hold.
    pub(crate) fn keep(&mut self, other: &Self, is_without: bool) {
        for (at, word) in self.bits.iter_mut().enumerate() {
            let other = other.bits.get(at).copied().unwrap_or_default();
            *word &= if is_without { !other } else { other };
        }
    }

    /// Returns the intersection.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self { bits: self.bits.iter().zip(&other.bits).map(|(a, b)| a & b).collect() }
    }
}
