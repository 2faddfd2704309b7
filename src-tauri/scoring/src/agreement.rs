//! **Pure.** Agreement between two raters of the same runs: maps judge means, automatic scores and
//! human reviews to three verdicts, counts them in a table, and puts the agreement (Cohen's κ) into
//! plain words.
use touchstone_judges::{Judge, meets_threshold};
use touchstone_metrics::stats::{Confusion, Interval, Kappa, Level, Weights};

/// Verdict of a rater on a run, on a scale of three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rating {
    /// Right.
    Right,
    /// Neither: partly right, unsure, or the judge's rounds are evenly split.
    Between,
    /// Wrong.
    Wrong,
}

impl Rating {
    /// All verdicts in order; adjacent ones count as near misses in weighted κ.
    pub const ALL: [Rating; 3] = [Rating::Right, Rating::Between, Rating::Wrong];

    /// Returns the verdict as display text.
    pub fn word(self) -> &'static str {
        match self {
            Rating::Right => "right",
            Rating::Between => "in between",
            Rating::Wrong => "wrong",
        }
    }

    /// Returns the verdict for the mean of a judge's rounds.
    ///
    /// With a pass threshold from the suite (`least`), the mean is right if it reaches the
    /// threshold and wrong otherwise, never in between. Without one, a mean that the judge passes
    /// is right, a mean of exactly 0.5 that does not pass is in between, and anything else is
    /// wrong. A judge that is not built in (`None`) passes above 0.5.
    pub fn of_judge(judge: Option<&Judge>, mean: f64, least: Option<f64>) -> Self {
        let passes = || judge.map_or(mean > 0.5, |judge| judge.passes(mean));
        if least.map_or_else(passes, |least| meets_threshold(mean, least)) {
            Rating::Right
        } else if least.is_none() && (mean - 0.5).abs() < 1e-9 {
            Rating::Between
        } else {
            Rating::Wrong
        }
    }

    /// Returns the verdict for an automatic score: right if it passed, wrong below 0.5, otherwise
    /// in between. Lists use the same bands.
    pub fn of_scorer(score: f64, passed: bool) -> Self {
        match (passed, score) {
            (true, _) => Rating::Right,
            (false, score) if score >= 0.5 => Rating::Between,
            (false, _) => Rating::Wrong,
        }
    }

    /// Returns the verdict for a human review that has a score but no explicit verdict: right only
    /// at 1 or more, wrong only at 0 or less.
    pub fn of_score(score: f64) -> Self {
        if score >= 1.0 {
            Rating::Right
        } else if score <= 0.0 {
            Rating::Wrong
        } else {
            Rating::Between
        }
    }

    fn index(self) -> usize {
        self as usize
    }
}

/// Returns the level of a scale that is nearest to a score from 0 to 1.
pub fn level(score: f64, levels: usize) -> usize {
    let top = levels.saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a scale has a few levels, and what is not a score is the lowest"
    )]
    let at = (score.clamp(0.0, 1.0) * top as f64).round() as usize;
    at.min(top)
}

/// Counts of the verdicts that two raters gave the same runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Counts by verdict of the first rater, then of the second.
    said: [[u64; 3]; 3],
    /// Counts by level, if both raters use the same scale of at least three levels; otherwise
    /// empty.
    levels: Vec<Vec<u64>>,
}

/// Agreement statistics computed from a [`VerdictCounts`].
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementStats {
    /// Verdicts that label the table, in order; `Between` only if a rater used it.
    pub said: Vec<Rating>,
    /// Counts: one row per verdict of the first rater, one column per verdict of the second.
    pub table: Vec<Vec<u64>>,
    /// Number of runs that both raters rated.
    pub n: u64,
    /// Number of runs on which both verdicts are equal.
    pub same: u64,
    /// Cohen's κ; in between agrees only with in between.
    pub kappa: Option<Kappa>,
    /// Cohen's κ with linear weights, in which near misses count in part: by the levels of a common
    /// scale, else by the three verdicts.
    pub weighted: Option<Kappa>,
    /// Agreement in plain words.
    pub words: String,
    /// True if there are too few runs for a conclusion.
    pub few: bool,
}

impl VerdictCounts {
    /// Creates an empty count for raters that share a scale of `levels` levels; 0 if they share
    /// none.
    pub fn new(levels: usize) -> Self {
        let levels = if levels < 3 { 0 } else { levels };
        Self { levels: vec![vec![0; levels]; levels], ..Self::default() }
    }

    /// Adds a run with the verdict and score of each rater. The scores matter only if the raters
    /// share a scale.
    pub fn add(&mut self, first: (Rating, f64), second: (Rating, f64)) {
        self.said[first.0.index()][second.0.index()] += 1;
        let size = self.levels.len();
        if let Some(cell) = self
            .levels
            .get_mut(level(first.1, size))
            .and_then(|row| row.get_mut(level(second.1, size)))
        {
            *cell += 1;
        }
    }

    /// Computes the agreement statistics.
    pub fn agreed(&self) -> AgreementStats {
        let between = Rating::Between.index();
        let any = self.said[between]
            .iter()
            .chain(self.said.iter().map(|row| &row[between]))
            .any(|times| *times > 0);
        let said: Vec<Rating> =
            Rating::ALL.into_iter().filter(|says| any || *says != Rating::Between).collect();
        let row = |first: &Rating| {
            said.iter().map(|second| self.said[first.index()][second.index()]).collect()
        };
        let table: Vec<Vec<u64>> = said.iter().map(row).collect();
        let counted = Confusion::from_counts(table.clone());
        let kappa = counted.kappa(Weights::None, Level::default());
        let weighted = if !self.levels.is_empty() {
            Confusion::from_counts(self.levels.clone()).kappa(Weights::Linear, Level::default())
        } else if any {
            counted.kappa(Weights::Linear, Level::default())
        } else {
            None
        };
        let (n, same) = (counted.n(), (0..said.len()).map(|at| table[at][at]).sum());
        let words = words(n, same, kappa.map(|kappa| (kappa.value, kappa.interval)));
        AgreementStats { said, table, n, same, kappa, weighted, words, few: n < FEW }
    }
}

/// Minimum number of runs for a conclusion.
const FEW: u64 = 10;

/// Describes an agreement in plain words. If the interval does not exclude chance, no better word
/// is used.
pub fn words(n: u64, same: u64, kappa: Option<(f64, Option<Interval>)>) -> String {
    if n < FEW {
        return "too few to tell".to_owned();
    }
    let Some((kappa, interval)) = kappa else {
        return "undefined: both give all runs the same verdict".to_owned();
    };
    if n == same {
        return "full agreement".to_owned();
    }
    if interval.is_some_and(|interval| interval.low <= 0.0) || kappa <= 0.0 {
        // If no run has the same verdict from both, there is no interval either.
        return if interval.map_or(kappa < 0.0, |interval| interval.high < 0.0) {
            "worse than chance".to_owned()
        } else {
            "not measurably better than chance".to_owned()
        };
    }
    let word = |kappa: f64| match kappa {
        kappa if kappa < 0.2 => "hardly better than chance",
        kappa if kappa < 0.4 => "weak",
        kappa if kappa < 0.6 => "moderate",
        kappa if kappa < 0.8 => "good",
        _ => "very good",
    };
    let (most, least) = interval.map_or((kappa, kappa), |interval| (interval.high, interval.low));
    // An interval wider than 0.5 tells little more than that the agreement is not chance, so its
    // lower end is named too.
    if most - least > 0.5 {
        format!("{}, but it may be {}", word(kappa), word(least))
    } else {
        word(kappa).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use touchstone_judges::named;

    fn agreed(cells: &[(Rating, Rating, u64)]) -> AgreementStats {
        let mut tally = VerdictCounts::default();
        for (first, second, times) in cells {
            for _ in 0..*times {
                tally.add((*first, 0.0), (*second, 0.0));
            }
        }
        tally.agreed()
    }

    use Rating::{Between, Right, Wrong};

    #[test]
    fn a_judge_is_right_where_it_passes_and_in_between_exactly_halfway() {
        let sopr = named("sopr").unwrap();
        for (mean, says) in
            [(1.0, Right), (2.0 / 3.0, Right), (0.5, Between), (1.0 / 3.0, Wrong), (0.0, Wrong)]
        {
            assert_eq!(Rating::of_judge(Some(sopr), mean, None), says, "{mean}");
        }
        // With a threshold of the suite, as in scores and on the run page.
        let relevance = named("relevance").unwrap();
        for (mean, least, says) in [
            (0.5, None, Right),
            (0.5, Some(0.75), Wrong),
            (0.75, Some(0.75), Right),
            (0.25, Some(0.25), Right),
        ] {
            assert_eq!(Rating::of_judge(Some(relevance), mean, least), says, "{mean} {least:?}");
        }
        assert_eq!([1.0, 0.99, 0.01, 0.0].map(Rating::of_score), [Right, Between, Between, Wrong]);
        let automatic = [(0.4, true), (0.9, false), (0.5, false), (0.49, false)];
        assert_eq!(
            automatic.map(|(score, passed)| Rating::of_scorer(score, passed)),
            [Right, Between, Between, Wrong]
        );
    }

    #[test]
    fn kappa_of_the_textbook_is_found_and_the_table_has_no_row_that_nobody_used() {
        // 40 of 50 agree; the expected agreement by chance is 0.6 * 0.6 + 0.4 * 0.4.
        let agreed =
            agreed(&[(Right, Right, 25), (Right, Wrong, 5), (Wrong, Right, 5), (Wrong, Wrong, 15)]);
        assert_eq!((agreed.n, agreed.same), (50, 40));
        assert_eq!(agreed.said, [Right, Wrong]);
        assert_eq!(agreed.table, [[25, 5], [5, 15]]);
        assert!((agreed.kappa.unwrap().value - 0.28 / 0.48).abs() < 1e-12);
        assert_eq!((agreed.weighted, agreed.words.as_str()), (None, "moderate"));
    }

    #[test]
    fn in_between_is_its_own_category_and_a_near_miss_of_the_others() {
        let agreed = agreed(&[
            (Right, Right, 10),
            (Between, Right, 5),
            (Wrong, Wrong, 10),
            (Between, Between, 1),
        ]);
        assert_eq!(agreed.said, [Right, Between, Wrong]);
        assert_eq!(agreed.table, [[10, 0, 0], [5, 1, 0], [0, 0, 10]]);
        assert_eq!((agreed.n, agreed.same), (26, 21));
        let (plain, near) = (agreed.kappa.unwrap(), agreed.weighted.unwrap());
        assert!(near.value > plain.value, "{near:?} {plain:?}");
    }

    #[test]
    fn levels_of_a_scale_are_compared_as_levels() {
        let mut tally = VerdictCounts::new(5);
        for (first, second) in [(0.0, 0.25), (0.25, 0.25), (0.5, 0.5), (0.75, 1.0), (1.0, 1.0)] {
            tally.add((Right, first), (Right, second));
        }
        let agreed = tally.agreed();
        assert_eq!(agreed.kappa, None, "all passed, so the words vary in nothing");
        let by_hand = Confusion::from_pairs([(0, 1), (1, 1), (2, 2), (3, 4), (4, 4)], 5).unwrap();
        assert_eq!(agreed.weighted, by_hand.kappa(Weights::Linear, Level::default()));
        assert_eq!([0.0, 0.12, 0.13, 1.0, 7.0].map(|score| level(score, 5)), [0, 0, 1, 4, 4]);
        assert_eq!(level(f64::NAN, 5), 0);
        assert_eq!(level(1.0, 0), 0);
    }

    #[test]
    fn words_claim_no_more_than_the_runs_tell() {
        let within = |kappa, low, high| Some((kappa, Some(Interval { low, high })));
        for (n, same, kappa, wanted) in [
            (9, 9, within(1.0, 1.0, 1.0), "too few to tell"),
            (12, 12, None, "undefined: both give all runs the same verdict"),
            (12, 12, Some((1.0, None)), "full agreement"),
            (40, 20, within(0.3, -0.1, 0.7), "not measurably better than chance"),
            (40, 5, within(-0.6, -0.9, -0.3), "worse than chance"),
            (40, 0, Some((-1.0, None)), "worse than chance"),
            (40, 20, Some((0.0, None)), "not measurably better than chance"),
            (40, 18, within(-0.1, -0.4, 0.2), "not measurably better than chance"),
            (40, 30, within(0.15, 0.05, 0.25), "hardly better than chance"),
            (40, 30, within(0.3, 0.1, 0.5), "weak"),
            (20, 15, within(0.7, 0.3, 0.95), "good, but it may be weak"),
            (400, 380, within(0.85, 0.8, 0.9), "very good"),
        ] {
            assert_eq!(words(n, same, kappa), wanted, "{n} {same} {kappa:?}");
        }
    }

    #[test]
    fn whoever_says_the_opposite_each_time_is_worse_than_chance() {
        let agreed = agreed(&[(Right, Wrong, 20), (Wrong, Right, 20)]);
        assert_eq!((agreed.same, agreed.words.as_str()), (0, "worse than chance"));
    }

    fn says() -> impl Strategy<Value = Rating> {
        prop::sample::select(Rating::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn swapping_raters_transposes_the_table(
            pairs in prop::collection::vec((says(), says()), 0..60),
        ) {
            let tally = |turned: bool| {
                let mut tally = VerdictCounts::default();
                for (a, b) in &pairs {
                    if turned { tally.add((*b, 0.0), (*a, 0.0)) } else { tally.add((*a, 0.0), (*b, 0.0)) }
                }
                tally.agreed()
            };
            let (one, other) = (tally(false), tally(true));
            prop_assert_eq!(one.n, pairs.len() as u64);
            prop_assert_eq!(one.table.iter().flatten().sum::<u64>(), one.n);
            prop_assert_eq!(one.same, pairs.iter().filter(|(a, b)| a == b).count() as u64);
            for (at, row) in one.table.iter().enumerate() {
                for (to, times) in row.iter().enumerate() {
                    prop_assert_eq!(*times, other.table[to][at]);
                }
            }
            match (one.kappa, other.kappa) {
                (Some(a), Some(b)) => prop_assert!((a.value - b.value).abs() < 1e-9),
                (a, b) => prop_assert_eq!(a.is_some(), b.is_some()),
            }
        }
    }
}
