//! **Pure.** Agreement of two raters beyond chance: Cohen's κ, plain and weighted, with the
//! interval of Fleiss, Cohen and Everitt (1969).
use super::{Interval, Level, count, float};

/// Weights of near misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weights {
    /// No weight: categories have no order.
    #[default]
    None,
    /// Decreasing linearly with the distance of categories.
    Linear,
    /// Decreasing with the square of the distance.
    Quadratic,
}

/// Counts by the categories of both raters. Categories are numbered from 0, in order if they have
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    /// One row per category of the first rater, one column per category of the second.
    counts: Vec<Vec<u64>>,
}

/// Agreement beyond chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    /// 1 is full agreement, 0 is chance, negative is worse than chance.
    pub value: f64,
    /// Interval; `None` without variance, as in full agreement.
    pub interval: Option<Interval>,
    /// Share of agreement (weighted, if weights are used).
    pub agreement: f64,
    /// Share of agreement expected by chance.
    pub by_chance: f64,
    /// Number of items that both rated.
    pub n: u64,
}

impl Confusion {
    /// Counts pairs of categories. `None` if one is not below `categories`.
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (usize, usize)>,
        categories: usize,
    ) -> Option<Self> {
        let mut counts = vec![vec![0; categories]; categories];
        for (first, second) in pairs {
            *counts.get_mut(first)?.get_mut(second)? += 1;
        }
        Some(Self { counts })
    }

    /// Uses existing counts. Columns beyond the number of rows are ignored.
    pub fn from_counts(counts: Vec<Vec<u64>>) -> Self {
        Self { counts }
    }

    /// Returns the table.
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.counts
    }

    /// Returns the number of items that both rated.
    pub fn n(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Returns the agreement beyond chance. `None` without items, or if both raters always chose
    /// the same single category: chance alone would then agree as much.
    pub fn kappa(&self, weights: Weights, level: Level) -> Option<Kappa> {
        let n = float(self.n());
        if self.n() == 0 {
            return None;
        }
        let size = self.counts.len();
        let firsts: Vec<f64> = self.counts.iter().map(|row| float(row.iter().sum()) / n).collect();
        let seconds: Vec<f64> = (0..size)
            .map(|at| float(self.counts.iter().filter_map(|row| row.get(at)).sum()) / n)
            .collect();
        let weight = |first: usize, second: usize| weights.weight(first, second, size);
        // Expected agreement of each category with the ratings of the other rater.
        let with_seconds: Vec<f64> = (0..size)
            .map(|at| seconds.iter().enumerate().map(|(to, share)| weight(at, to) * share).sum())
            .collect();
        let with_firsts: Vec<f64> = (0..size)
            .map(|at| firsts.iter().enumerate().map(|(to, share)| weight(to, at) * share).sum())
            .collect();
        let agreement: f64 =
            self.cells().map(|(first, second, cell)| weight(first, second) * cell / n).sum();
        let by_chance: f64 =
            firsts.iter().zip(&with_seconds).map(|(share, agrees)| share * agrees).sum();
        if 1.0 - by_chance < 1e-12 {
            return None;
        }
        let value = (agreement - by_chance) / (1.0 - by_chance);
        let square = |(first, second, cell): (usize, usize, f64)| {
            let chance =
                with_seconds.get(first).unwrap_or(&0.0) + with_firsts.get(second).unwrap_or(&0.0);
            cell / n * (weight(first, second) - chance * (1.0 - value)).powi(2)
        };
        let squares: f64 = self.cells().map(square).sum();
        let variance =
            (squares - (value - by_chance * (1.0 - value)).powi(2)) / (1.0 - by_chance).powi(2) / n;
        let half = level.reach() * variance.max(0.0).sqrt();
        // Full agreement has no variance but rounding, and would look certain after two items.
        let interval = (variance > 1e-14)
            .then(|| Interval { low: value - half, high: value + half }.around(value, -1.0, 1.0));
        Some(Kappa { value, interval, agreement, by_chance, n: self.n() })
    }

    fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let row = |(first, row): (usize, &Vec<u64>)| -> Vec<(usize, usize, f64)> {
            row.iter().enumerate().map(|(second, times)| (first, second, float(*times))).collect()
        };
        self.counts.iter().enumerate().flat_map(row)
    }
}

impl Weights {
    /// Returns the weight of two categories: 1 if they are equal, 0 if they are furthest apart.
    fn weight(self, first: usize, second: usize, categories: usize) -> f64 {
        let apart = float(count(first.abs_diff(second)))
            / float(count(categories).saturating_sub(1).max(1));
        match self {
            Self::None => f64::from(u8::from(first == second)),
            Self::Linear => 1.0 - apart,
            Self::Quadratic => 1.0 - apart * apart,
        }
    }
}
