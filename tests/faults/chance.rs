//! Random numbers for tests, reproducible by their seed.

/// Pseudorandom generator with a fixed sequence for each seed.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Seeds from `TOUCHSTONE_SEED`, or else from the clock, and prints the seed so that a failure
    /// can be reproduced.
    pub(crate) fn seeded() -> Self {
        let clock = || {
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap()
                .subsec_nanos()
                .into()
        };
        let seed =
            std::env::var("TOUCHSTONE_SEED").map_or_else(|_| clock(), |text| text.parse().unwrap());
        println!("TOUCHSTONE_SEED={seed}");
        Self(seed)
    }

    /// Creates a generator with a seed.
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a number from 0 to 1.
    pub(crate) fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    /// Returns a generator for one numbered case, so that cases can run in any order.
    pub(crate) fn for_case(&self, case: usize) -> Self {
        let mut own = Self(self.0 ^ (case as u64).wrapping_mul(0xd134_2543_de82_ef95));
        own.next();
        own
    }

    /// Returns an index below `len`; `len` must not be 0.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap()
    }

    /// Returns a random item of a slice.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.index(from.len())]
    }
}
