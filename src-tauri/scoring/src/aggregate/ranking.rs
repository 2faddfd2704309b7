//! **Pure.** Compares systems with the best or highest one in pairs. Means are never ranked by
//! themselves: each claim is that of a comparison, whose interval stands beside it.
use super::cell::Tasks;
use super::pairs::{Effect, FEWEST_UNITS, effect_of};
use super::{Column, RowKey};
use std::collections::BTreeMap;
use touchstone_metrics::stats::{Better, Resampling, Tendency};

/// Maximum number of systems that are compared: those with the highest means, and the lowest one.
/// The page shows fewer.
pub(super) const MOST_COMPARED: usize = 200;
/// Maximum and minimum number of resamples of a comparison, and how many rows are drawn for all
/// systems, so that long tables stay quick.
const TIMES: (usize, usize) = (10_000, 100);
const DRAWN_ROWS: usize = 40_000_000;
/// Number of systems up to which a comparison draws the same number of rows.
const FEW: usize = 20;

/// Mean scores of a system with a model, by task and variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// Mean over all its runs with a score, as in a leaderboard; each run counts the same.
    pub mean: Option<f64>,
    /// Number of these runs.
    pub runs: u64,
    /// Mean over the repeats of each row, which comparisons use.
    pub rows: BTreeMap<RowKey<'a>, f64>,
}

/// Standing of a system beside the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// All others are shown to be worse.
    Best,
    /// It has the highest mean, and not all others are shown to be worse.
    Highest,
    /// It is not shown to differ from the highest one.
    Tied,
    /// Like `Tied`, on so few tasks that no test could show a difference.
    TooFew,
    /// It is shown to be worse than the best or highest one.
    Behind,
    /// Neither is shown: no system is better than all others, the test and the interval of the
    /// difference disagree, or there are too many systems to compare all.
    Open,
    /// It has no row in common with the best or highest one.
    Apart,
    /// It is the reference solution of the tasks, and is not ranked.
    Solution,
}

/// System with its mean.
pub(super) struct Ranked<'r, 'a> {
    /// Index of the system.
    pub(super) at: usize,
    pub(super) scores: &'r Scores<'a>,
    pub(super) name: String,
    pub(super) mean: f64,
}

/// Comparison of a system with the best one.
pub(super) struct Compared<'s, 'r, 'a> {
    pub(super) with: &'s Ranked<'r, 'a>,
    pub(super) effect: Effect,
}

/// Comparisons with the best or highest system.
pub(super) struct Comparison<'s, 'r, 'a> {
    pub(super) best: &'s Ranked<'r, 'a>,
    pub(super) own: Standing,
    /// The others that share rows with it, in the order of their means.
    pub(super) others: Vec<(Compared<'s, 'r, 'a>, Standing)>,
    /// Those that share none.
    pub(super) apart: Vec<&'s Ranked<'r, 'a>>,
}

/// Returns true for runs of the reference solution of a task, such as those of Harbor's agent
/// `oracle`: they show that a task can be solved, and no model made them.
pub(super) fn is_solution(column: Column<'_>) -> bool {
    column.system == Some("oracle") && column.model.is_none()
}

/// Returns the systems with scores of tasks, which others could share, the highest mean first.
pub(super) fn sorted<'r, 'a>(systems: &'r [Scores<'a>]) -> Vec<Ranked<'r, 'a>> {
    let rank = |(at, scores): (usize, &'r Scores<'a>)| {
        let mean = scores.mean.filter(|_| !scores.rows.is_empty())?;
        Some(Ranked { at, scores, name: scores.column.label(), mean })
    };
    let mut ranked: Vec<Ranked<'r, 'a>> = systems.iter().enumerate().filter_map(rank).collect();
    // Equal ones are in the order of the overview: unknown systems and models come last.
    let order = |one: &Ranked<'_, '_>| {
        let Column { system, model } = one.scores.column;
        (system.is_none(), system.map(str::to_owned), model.is_none(), model.map(str::to_owned))
    };
    // Means that differ only by the order in which they were added up are equal.
    let level = |one: &Ranked<'_, '_>| (one.mean * 1e12).round();
    ranked.sort_by(|a, b| level(b).total_cmp(&level(a)).then_with(|| order(a).cmp(&order(b))));
    ranked
}

impl Comparison<'_, '_, '_> {
    /// Returns true if another system is shown to be better than the highest one. Then none is better
    /// than all others.
    pub(super) fn is_beaten(&self) -> bool {
        self.own == Standing::Open
    }
}

/// Compares systems with the best or highest one. `None` if no two have a row in common. `is_cut` is
/// true if there are others, of which nothing is known.
pub(super) fn compare_all<'s, 'r, 'a>(
    ranked: &'s [Ranked<'r, 'a>],
    is_cut: bool,
) -> Option<Comparison<'s, 'r, 'a>> {
    let (best, compared) = find_best(ranked)?;
    let is_beaten = compared.iter().any(|one| is_shown(&one.effect, Tendency::Better));
    let are_behind = compared.iter().all(|one| is_shown(&one.effect, Tendency::Worse));
    let own = match (is_beaten, are_behind && !is_cut) {
        // Shown as better, but not than all others: nobody is best then.
        (true, _) => Standing::Open,
        (false, true) => Standing::Best,
        (false, false) => Standing::Highest,
    };
    let standing = |effect: &Effect| {
        if is_shown(effect, Tendency::Worse) {
            Standing::Behind
        } else if is_beaten || !includes_zero(effect) {
            Standing::Open
        } else if effect.pairs < FEWEST_UNITS {
            Standing::TooFew
        } else {
            Standing::Tied
        }
    };
    let is_compared = |one: &&Ranked<'_, '_>| compared.iter().any(|it| it.with.at == one.at);
    let apart = ranked.iter().filter(|one| one.at != best.at && !is_compared(one)).collect();
    let others = compared.into_iter().map(|one| {
        let standing = standing(&one.effect);
        (one, standing)
    });
    Some(Comparison { best, own, others: others.collect(), apart })
}

/// Returns the system that the others are compared with, and these comparisons, in the order of
/// their means: the highest of those that have most in common, unless another one is shown to be
/// better. `None` if no two systems have a row in common.
fn find_best<'s, 'r, 'a>(
    ranked: &'s [Ranked<'r, 'a>],
) -> Option<(&'s Ranked<'r, 'a>, Vec<Compared<'s, 'r, 'a>>)> {
    let shared = |one: &Ranked<'_, '_>| {
        let others = ranked.iter().filter(|other| !std::ptr::eq(*other, one));
        others
            .filter(|other| one.scores.rows.keys().any(|key| other.scores.rows.contains_key(key)))
            .count()
    };
    let counts: Vec<usize> = ranked.iter().map(shared).collect();
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    let mut best = counts.iter().position(|count| *count == most)?;
    let mut tried = Vec::new();
    loop {
        let others = ranked.iter().enumerate().filter(|(at, _)| *at != best);
        let all: Vec<(usize, Compared<'_, '_, '_>)> = others
            .filter_map(|(at, with)| {
                Some((at, Compared { with, effect: compare(with, &ranked[best], ranked.len())? }))
            })
            .collect();
        tried.push(best);
        let better = all
            .iter()
            .find(|(at, one)| !tried.contains(at) && is_shown(&one.effect, Tendency::Better));
        match better {
            Some((at, _)) => best = *at,
            None => return Some((&ranked[best], all.into_iter().map(|(_, one)| one).collect())),
        }
    }
}

/// Compares a system with another one in pairs. `None` if no row has scores of both. The more systems
/// there are, the fewer rows are drawn for each.
fn compare(one: &Ranked<'_, '_>, other: &Ranked<'_, '_>, systems: usize) -> Option<Effect> {
    let rows = one.scores.rows.iter();
    let pairs: Vec<_> = rows
        .filter_map(|(key, score)| Some((*key, *score, *other.scores.rows.get(key)?)))
        .collect();
    let tasks = Tasks::new(pairs.iter().map(|(key, ..)| *key));
    let drawn = DRAWN_ROWS / systems.max(FEW);
    let times = (drawn / pairs.len().max(1)).clamp(TIMES.1, TIMES.0);
    let resampling = Resampling { times, ..Resampling::default() };
    effect_of(pairs.into_iter(), tasks, (Better::Higher, 1.0), resampling)
}

/// Returns true if the test shows a tendency and the interval does not contradict it.
pub(super) fn is_shown(effect: &Effect, tendency: Tendency) -> bool {
    effect.shown == tendency && (effect.interval.is_none() || !includes_zero(effect))
}

/// Returns true if the difference may be 0 by its interval, or if it has none.
pub(super) fn includes_zero(effect: &Effect) -> bool {
    effect.interval.is_none_or(|it| it.low <= 0.0 && it.high >= 0.0)
}
