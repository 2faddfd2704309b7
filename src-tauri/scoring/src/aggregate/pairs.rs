//! **Pure.** Compares two systems in pairs: by task and variation, with repeats averaged.
use super::cell::Tasks;
use super::{Counted, End, Group, Row, RowKey};
use std::collections::BTreeSet;
use touchstone_metrics::stats::{
    Better, Clusters, Interval, Level, PValue, PairedPasses, Power, Resampling, Tendency,
    WinTieLoss, count, detectable_mean_difference, detectable_rate_difference, is_significant,
    mean, sign_flips,
};

/// Minimum number of independent units: with fewer, chance has a probability of more than 5 % even
/// if all differ in one direction.
pub(super) const FEWEST_UNITS: u64 = 6;

/// Minimum number of units for a detectable difference of scores. With fewer, it depends more on
/// ties between tasks than on the size of the differences, and is not reported.
pub(super) const FEWEST_TOLD: u64 = 12;

/// Comparison of a group with the baseline. Differences are the group's value minus the baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairing<'a> {
    /// Index of the group.
    pub group: usize,
    /// Index of the baseline group.
    pub baseline: usize,
    /// Rows for which both have scores.
    pub pairs: Vec<Pair<'a>>,
    /// Difference of the mean scores.
    pub score: Option<Effect>,
    /// Difference of the pass rates, if runs have verdicts.
    pub passes: Option<PairedPassing>,
    /// Difference in tokens, where both sides are known.
    pub tokens: Option<Effect>,
    /// Difference in dollars, where both sides are known.
    pub cost: Option<Effect>,
    /// Difference in seconds, where both sides are known.
    pub seconds: Option<Effect>,
    /// Rows for which only one side has scores.
    pub unpaired: Vec<Unpaired<'a>>,
    /// Reasons to doubt that the two are comparable.
    pub doubts: Vec<Doubt<'a>>,
}

/// A row for which both sides have scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// Task and variation.
    pub key: RowKey<'a>,
    /// Mean score of the group.
    pub score: f64,
    /// Mean score of the baseline.
    pub baseline: f64,
}

/// Mean difference between two sides over pairs; each pair counts the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean of the group.
    pub value: f64,
    /// Mean of the baseline.
    pub baseline: f64,
    /// Mean difference.
    pub difference: f64,
    /// Confidence interval by bootstrap over units, or by Student's distribution for few units;
    /// `None` for a single unit, or if all differ equally.
    pub interval: Option<Interval>,
    /// P-value of a sign-flip test over units; `None` for a single unit, which cannot be tested.
    pub p: Option<PValue>,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of independent units: tasks, or variations if all pairs are of one task.
    pub units: u64,
    /// Number of pairs in which the group was better, equal and worse.
    pub count: WinTieLoss,
    /// Tendency that is significant at 5 %.
    pub shown: Tendency,
    /// Smallest difference that would probably have been significant; `None` if there are too few
    /// units.
    pub detectable: Option<f64>,
}

/// Passes of both sides. The difference, its interval and its p-value are those that decide
/// significance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedPassing {
    /// Counts of passes; the group is the first side. A row with several runs passes if more than
    /// half of them do.
    pub table: PairedPasses,
    /// Pass rate of the group minus that of the baseline.
    pub difference: f64,
    /// Interval of the difference: Newcombe's, or that of `by_task`.
    pub interval: Option<Interval>,
    /// P-value: of McNemar's exact test, or of `by_task`; `None` for a single unit.
    pub p: Option<f64>,
    /// P-value of McNemar's exact test of the table.
    pub mcnemar: f64,
    /// Comparison of the shares of passes, clustered by unit. Present if units have several pairs
    /// or pairs several runs: then pairs are not independent, and this comparison is the valid one.
    pub by_task: Option<Effect>,
    /// Tendency that is significant at 5 %.
    pub shown: Tendency,
    /// Smallest difference of rates that would probably have been significant.
    pub detectable: Option<f64>,
}

/// A row that cannot be paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unpaired<'a> {
    /// Task and variation.
    pub key: RowKey<'a>,
    /// True if the baseline has no score, false if the group has none.
    pub in_baseline: bool,
    /// Reason for the missing score.
    pub why: UnpairedReason,
}

/// Reason for a missing score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnpairedReason {
    /// There is no run.
    Missing,
    /// Runs ended in errors.
    Errors,
    /// Runs wait or are in progress.
    NotEnded,
    /// There are runs, but none has a score.
    Unscored,
}

/// A reason to doubt a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt<'a> {
    /// Kind of difference.
    pub kind: DoubtKind,
    /// Pairs in which it occurs.
    pub rows: Vec<RowKey<'a>>,
}

/// Difference between two sides other than the systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoubtKind {
    /// Different scorers.
    Scorer,
    /// Different task text, expected output or scorer version.
    ScoredAgainst,
    /// Messages were added automatically on only one side.
    Nudged,
}

/// A row that both sides have.
struct Both<'r, 'a> {
    first: &'r Row<'a>,
    second: &'r Row<'a>,
}

/// What a comparison computes besides its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// All measures, each beside this many comparisons of its kind.
    All(LookedAt),
    /// The difference of the scores.
    Scores,
}

/// Number of comparisons that the 5 % are divided among.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LookedAt {
    /// Of scores and passes.
    pub(super) scores: u64,
    /// Of amounts: tokens, dollars and seconds.
    pub(super) amounts: u64,
}

impl LookedAt {
    /// A comparison that stands alone.
    pub(super) const ALONE: Self = Self { scores: 1, amounts: 1 };
}

impl<'a> Pairing<'a> {
    pub(super) fn new(
        runs: &[Counted<'a>],
        groups: &[Group<'a>],
        group: usize,
        baseline: usize,
    ) -> Option<Self> {
        Self::to_depth(runs, groups, (group, baseline), Depth::All(LookedAt::ALONE))
    }

    /// Like [`Pairing::new`], with some of the measures.
    pub(super) fn to_depth(
        runs: &[Counted<'a>],
        groups: &[Group<'a>],
        (group, baseline): (usize, usize),
        depth: Depth,
    ) -> Option<Self> {
        let (first, second) = (groups.get(group)?, groups.get(baseline)?);
        let keys: BTreeSet<RowKey<'a>> =
            first.rows.iter().chain(&second.rows).map(|row| row.key).collect();
        let (mut both, mut unpaired) = (Vec::new(), Vec::new());
        for key in keys {
            let (left, right) = (first.row(key), second.row(key));
            let score = |row: Option<&Row<'a>>| row.and_then(|row| row.score);
            match (left, right) {
                (Some(first), Some(second)) if first.score.is_some() && second.score.is_some() => {
                    both.push(Both { first, second });
                }
                // Without any score, there is nothing to compare.
                _ if score(left).is_none() && score(right).is_none() => {}
                _ => {
                    let in_baseline = score(right).is_none();
                    let side = if in_baseline { right } else { left };
                    unpaired.push(Unpaired { key, in_baseline, why: why(runs, side) });
                }
            }
        }
        // Clustering is decided over all pairs, also for amounts that are known only for some of
        // them.
        let tasks = Tasks::new(both.iter().map(|it| it.first.key));
        let looked_at = match depth {
            Depth::All(looked_at) => looked_at,
            Depth::Scores => LookedAt::ALONE,
        };
        let of = |amount: fn(&Counted<'a>) -> Option<f64>, better, most, looked_at| {
            let side = |row: &Row<'a>| mean_of(runs, row, amount);
            let pairs = both
                .iter()
                .filter_map(|it| Some((it.first.key, side(it.first)?, side(it.second)?)));
            effect_among(pairs, tasks, (better, most), looked_at)
        };
        let is_all = matches!(depth, Depth::All(_));
        let amount = |amount: fn(&Counted<'a>) -> Option<f64>| {
            let looked_at = looked_at.amounts;
            is_all.then(|| of(amount, Better::Lower, f64::INFINITY, looked_at)).flatten()
        };
        let pair = |it: &Both<'_, 'a>| {
            Some(Pair { key: it.first.key, score: it.first.score?, baseline: it.second.score? })
        };
        Some(Self {
            group,
            baseline,
            pairs: both.iter().filter_map(pair).collect(),
            score: of(Counted::score, Better::Higher, 1.0, looked_at.scores),
            passes: is_all.then(|| passing(&both, tasks)).flatten(),
            tokens: amount(|run| run.tokens.map(touchstone_metrics::stats::float)),
            cost: amount(|run| run.cost),
            seconds: amount(|run| run.seconds),
            unpaired,
            doubts: doubts(runs, &both),
        })
    }

    /// Returns the differences of the scores, by unit; `None` without pairs.
    pub(super) fn differences(&self) -> Option<Clusters> {
        let tasks = Tasks::new(self.pairs.iter().map(|pair| pair.key));
        let of = |pair: &Pair<'a>| (tasks.unit(pair.key), pair.score - pair.baseline);
        Clusters::gather(self.pairs.iter().map(of))
    }
}

fn why(runs: &[Counted<'_>], row: Option<&Row<'_>>) -> UnpairedReason {
    reason(runs, row, UnpairedReason::Unscored)
}

/// Returns why runs of a row have no score; `otherwise` if none ended in an error or has not ended.
pub(super) fn reason(
    runs: &[Counted<'_>],
    row: Option<&Row<'_>>,
    otherwise: UnpairedReason,
) -> UnpairedReason {
    let Some(row) = row else { return UnpairedReason::Missing };
    let ends = || row.runs.iter().filter_map(|at| runs.get(*at)).map(|run| run.end);
    if ends().any(|end| end == End::Error) {
        UnpairedReason::Errors
    } else if ends().any(|end| matches!(end, End::Waiting | End::Running)) {
        UnpairedReason::NotEnded
    } else {
        otherwise
    }
}

/// Returns the mean over the scored runs of a row with a known amount, so that a pair covers the
/// same runs in every measure.
fn mean_of<'a>(
    runs: &[Counted<'a>],
    row: &Row<'a>,
    amount: fn(&Counted<'a>) -> Option<f64>,
) -> Option<f64> {
    let scored = row.runs.iter().filter_map(|at| runs.get(*at)).filter(|run| run.score().is_some());
    let known: Vec<f64> =
        scored.filter_map(amount).filter(|it| it.is_finite() && *it >= 0.0).collect();
    mean(&known)
}

/// Computes an effect. `most` is the largest possible difference.
fn effect<'a>(
    pairs: impl Iterator<Item = (RowKey<'a>, f64, f64)>,
    tasks: Tasks,
    better: Better,
    most: f64,
) -> Option<Effect> {
    effect_among(pairs, tasks, (better, most), 1)
}

/// Like [`effect`], shown beside this many comparisons.
fn effect_among<'a>(
    pairs: impl Iterator<Item = (RowKey<'a>, f64, f64)>,
    tasks: Tasks,
    (better, most): (Better, f64),
    looked_at: u64,
) -> Option<Effect> {
    let pairs: Vec<(RowKey<'a>, f64, f64)> = pairs.collect();
    let effect = effect_of(pairs.iter().copied(), tasks, (better, most), Resampling::default())?;
    if looked_at < 2 {
        return Some(effect);
    }
    let differences = pairs.iter().map(|(key, first, second)| (tasks.unit(*key), first - second));
    let shown = significant_among(&Clusters::gather(differences)?, better, looked_at);
    // What would have been significant is known for a single comparison only.
    Some(Effect { shown, detectable: None, ..effect })
}

/// Like [`effect`], with a number of resamples.
pub(super) fn effect_of<'a>(
    pairs: impl Iterator<Item = (RowKey<'a>, f64, f64)>,
    tasks: Tasks,
    (better, most): (Better, f64),
    resampling: Resampling,
) -> Option<Effect> {
    let pairs: Vec<(RowKey<'a>, f64, f64)> = pairs.collect();
    let side =
        |of: fn(&(RowKey<'a>, f64, f64)) -> f64| mean(&pairs.iter().map(of).collect::<Vec<f64>>());
    let differences: Vec<f64> = pairs.iter().map(|(_, first, second)| first - second).collect();
    let units = pairs.iter().map(|(key, ..)| tasks.unit(*key));
    let clusters = Clusters::gather(units.zip(differences.iter().copied()))?;
    let tasks: BTreeSet<_> = pairs.iter().map(|(key, ..)| key.task).collect();
    let p = (clusters.clusters() > 1).then(|| sign_flips(&clusters, resampling));
    let error = clusters.standard_error().filter(|_| clusters.clusters() >= FEWEST_TOLD);
    let (level, power) = (Level::default(), Power::default());
    let difference = clusters.mean();
    let shown = significant_tendency(p.map(|it| it.p), difference, better, level);
    let detectable =
        error.and_then(|error| detectable_mean_difference(error, clusters.clusters(), power));
    Some(Effect {
        value: side(|pair| pair.1)?,
        baseline: side(|pair| pair.2)?,
        difference,
        interval: clusters.interval(level, resampling).map(|it| it.within(-most, most)),
        p,
        pairs: clusters.n(),
        tasks: count(tasks.len()),
        units: clusters.clusters(),
        count: WinTieLoss::from_differences(&differences, better)?,
        shown,
        detectable: believable(detectable, difference, shown),
    })
}

/// Drops a detectable difference that was observed and yet not significant.
fn believable(detectable: Option<f64>, difference: f64, shown: Tendency) -> Option<f64> {
    detectable.filter(|least| shown != Tendency::Unclear || difference.abs() < *least)
}

fn significant_tendency(p: Option<f64>, difference: f64, better: Better, level: Level) -> Tendency {
    if p.is_some_and(|p| p <= 1.0 - level.share()) {
        better.tendency(difference)
    } else {
        Tendency::Unclear
    }
}

impl Effect {
    /// Returns the tendency that both the test and the interval show; unclear if they disagree.
    pub fn tendency(&self) -> Tendency {
        significant(self)
    }
}

/// Returns the tendency that both the test and the interval show; unclear if they disagree.
pub(super) fn significant(effect: &Effect) -> Tendency {
    let excludes_zero = |interval: Interval| interval.low > 0.0 || interval.high < 0.0;
    if effect.interval.is_none_or(excludes_zero) { effect.shown } else { Tendency::Unclear }
}

/// Returns the tendency of differences that both the test and the interval show, when
/// this many differences were looked at: the 5 % are divided among them, so that chance shows
/// anything in any of them in at most 5 of 100 cases.
pub(super) fn significant_among(
    differences: &Clusters,
    better: Better,
    looked_at: u64,
) -> Tendency {
    let outside =
        (1.0 - Level::default().share()) / touchstone_metrics::stats::float(looked_at.max(1));
    let Some(level) = Level::new(1.0 - outside) else { return Tendency::Unclear };
    if differences.clusters() < 2 || !is_significant(differences, outside) {
        return Tendency::Unclear;
    }
    let excludes_zero = |interval: Interval| interval.low > 0.0 || interval.high < 0.0;
    if differences.interval(level, Resampling::default()).is_none_or(excludes_zero) {
        better.tendency(differences.mean())
    } else {
        Tendency::Unclear
    }
}

fn passing(both: &[Both<'_, '_>], tasks: Tasks) -> Option<PairedPassing> {
    let decided: Vec<&Both<'_, '_>> =
        both.iter().filter(|it| it.first.decided > 0 && it.second.decided > 0).collect();
    let passes = |row: &Row<'_>| 2 * row.passed > row.decided;
    let table =
        PairedPasses::from_pairs(decided.iter().map(|it| (passes(it.first), passes(it.second))));
    let units: BTreeSet<_> = decided.iter().map(|it| tasks.unit(it.first.key)).collect();
    let single = decided.iter().all(|it| it.first.decided == 1 && it.second.decided == 1);
    let share = |row: &Row<'_>| {
        touchstone_metrics::stats::float(row.passed) / touchstone_metrics::stats::float(row.decided)
    };
    let by_task = if single && units.len() == decided.len() {
        None
    } else {
        let pairs = decided.iter().map(|it| (it.first.key, share(it.first), share(it.second)));
        effect(pairs, tasks, Better::Higher, 1.0)
    };
    let mcnemar = table.mcnemar()?;
    if let Some(effect) = by_task {
        let Effect { difference, interval, shown, detectable, .. } = effect;
        let p = effect.p.map(|it| it.p);
        return Some(PairedPassing {
            table,
            difference,
            interval,
            p,
            mcnemar,
            by_task,
            shown,
            detectable,
        });
    }
    let difference = table.difference()?;
    let p = (units.len() > 1).then_some(mcnemar);
    let shown = significant_tendency(p, difference, Better::Higher, Level::default());
    let detectable = detectable_rate_difference(
        count(decided.len()),
        table.discordant_share()?,
        Power::default(),
    );
    Some(PairedPassing {
        table,
        difference,
        interval: Some(table.interval(Level::default())?),
        p,
        mcnemar,
        by_task,
        shown,
        detectable: believable(detectable, difference, shown),
    })
}

fn doubts<'a>(runs: &[Counted<'a>], both: &[Both<'_, 'a>]) -> Vec<Doubt<'a>> {
    let kinds = [DoubtKind::Scorer, DoubtKind::ScoredAgainst, DoubtKind::Nudged];
    let doubt = |kind| {
        let rows: Vec<RowKey<'a>> =
            both.iter().filter(|it| differs(runs, it, kind)).map(|it| it.first.key).collect();
        (!rows.is_empty()).then_some(Doubt { kind, rows })
    };
    kinds.into_iter().filter_map(doubt).collect()
}

fn differs(runs: &[Counted<'_>], pair: &Both<'_, '_>, kind: DoubtKind) -> bool {
    let scored = |row: &Row<'_>| -> Vec<Counted<'_>> {
        row.runs
            .iter()
            .filter_map(|at| runs.get(*at))
            .filter(|run| run.score().is_some())
            .copied()
            .collect()
    };
    let (first, second) = (scored(pair.first), scored(pair.second));
    let all = || first.iter().chain(&second);
    let scorers: BTreeSet<_> = all().map(|run| run.scorer).collect();
    match kind {
        DoubtKind::Scorer => scorers.len() > 1,
        // Different scorers have different fingerprints anyway, and are reported already.
        DoubtKind::ScoredAgainst => {
            scorers.len() < 2 && all().map(|run| run.fingerprint).collect::<BTreeSet<_>>().len() > 1
        }
        DoubtKind::Nudged => {
            let nudged = |side: &[Counted<'_>]| side.iter().any(|run| run.nudged);
            nudged(&first) != nudged(&second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_was_seen_and_not_shown_is_none_that_would_have_been_shown() {
        for (difference, shown, kept) in [
            (0.3, Tendency::Unclear, false),
            (-0.3, Tendency::Unclear, false),
            (0.25, Tendency::Unclear, false),
            (0.2, Tendency::Unclear, true),
            (0.3, Tendency::Better, true),
            (-0.3, Tendency::Worse, true),
        ] {
            assert_eq!(
                believable(Some(0.25), difference, shown).is_some(),
                kept,
                "{difference} {shown:?}"
            );
        }
        assert_eq!(believable(None, 0.1, Tendency::Better), None);
    }
}
