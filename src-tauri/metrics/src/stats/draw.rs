//! **Pure.** Random numbers from a seed (`SplitMix64`): equal seeds give equal numbers on every
//! machine.

/// Random number generator.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a position below `len`. The bias is less than `len` in 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "it is below `len`")]
    pub(super) fn below(&mut self, len: usize) -> usize {
        ((u128::from(self.bits()) * len as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors of `SplitMix64` publish for the seed 1234567.
    #[test]
    fn the_numbers_are_the_published_ones() {
        let mut draw = Draw::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| draw.bits()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn every_position_is_drawn_about_as_often() {
        let mut draw = Draw::new(7);
        let mut seen = [0_u32; 7];
        for _ in 0..70_000 {
            seen[draw.below(7)] += 1;
        }
        assert!(seen.iter().all(|times| (9_600..10_400).contains(times)), "{seen:?}");
    }
}
