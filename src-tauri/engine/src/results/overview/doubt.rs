//! **Pure.** The interval around the mean score of a cell. Owns which of the statistics is asked; the report asks the same.
use std::collections::BTreeMap;
use touchstone_scoring::stats::{Clusters, Interval, Level, Resampling, wilson_clustered};

/// How much is behind an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Few {
    /// One of many cells in sight, of a few runs each.
    Cell,
    /// What sums up a column.
    Column,
}

impl Few {
    fn resampling(self) -> Resampling {
        let usual = Resampling::default();
        match self {
            // A cell is drawn thirty pixels wide, and hundreds of them are asked for at a time.
            Self::Cell => Resampling { times: 2_000, ..usual },
            Self::Column => usual,
        }
    }
}

/// The 95 % interval of the mean of scores, each with the number of what it belongs to. Where every score is 0 or 1 the mean is a
/// rate, and the interval is Wilson's; else it is the bootstrap. A single run has none: it is no mean.
pub(super) fn interval(scores: impl Iterator<Item = (usize, f64)>, few: Few) -> Option<Interval> {
    let scores: Vec<(usize, f64)> = scores.collect();
    if scores.len() < 2 {
        return None;
    }
    let level = Level::default();
    if scores.iter().all(|(_, score)| is_end(*score)) {
        let mut groups: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (group, score) in scores {
            let (passed, runs) = groups.entry(group).or_default();
            *passed += u64::from(score > 0.5);
            *runs += 1;
        }
        let groups: Vec<(u64, u64)> = groups.into_values().collect();
        return wilson_clustered(&groups, level);
    }
    let around = Clusters::gather(scores)?.interval(level, few.resampling())?;
    Some(Interval { low: around.low.clamp(0.0, 1.0), high: around.high.clamp(0.0, 1.0) })
}

fn is_end(score: f64) -> bool {
    score <= 0.0 || score >= 1.0
}
