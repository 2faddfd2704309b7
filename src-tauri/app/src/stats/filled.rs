//! **Pure.** Converts statistics to the types of the API.
use super::leaderboard;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_api::{
    FailureClass, LeaderboardRow, LeftOut, Stats, StatsAmount, StatsBetter, StatsCell, StatsClass,
    StatsComparison, StatsDoubt, StatsEffect, StatsEnds, StatsEstimate, StatsGroup, StatsKey,
    StatsPairedPasses, StatsPasses, StatsRow, StatsTries, StatsUnpaired,
};
use touchstone_metrics::stats::{Estimate, Interval, Means, Passes, Tendency};
use touchstone_scoring::aggregate::{
    Aggregate, AtK, Cell, Consumption, DoubtKind, Effect, Group, METHOD, PairedPassing, Pairing,
    Row, RowKey, UnpairedReason, sentences,
};
use touchstone_store::query::ScoredRun;

pub(super) fn stats(standing: &Aggregate<'_>, runs: &[ScoredRun]) -> Stats {
    let (ranking, front) = (standing.ranking(), standing.front());
    let board = leaderboard::rows_of(standing, &ranking, front.as_ref());
    let placed = |(it, row): (&Group<'_>, &LeaderboardRow)| StatsGroup {
        standing: row.standing,
        on_front: row.on_front,
        ..group(it, runs)
    };
    let groups: Vec<StatsGroup> = standing.groups.iter().zip(&board).map(placed).collect();
    let ends = groups.iter().fold(StatsEnds::default(), |sum, group| added(sum, group.ends));
    let scored = runs.iter().filter(|run| run.counted().score().is_some());
    let scorers: BTreeSet<&String> = scored.filter_map(|run| run.scorer.as_ref()).collect();
    let tasks: BTreeSet<&String> = runs.iter().filter_map(|run| run.task.as_ref()).collect();
    Stats {
        generation: 0,
        scorers: scorers.into_iter().cloned().collect(),
        tasks: tasks.len() as u64,
        headline: leaderboard::headline(&ranking, &board),
        ends,
        left_out_runs: LeftOut::default(),
        front_by: front.as_ref().map(leaderboard::measure),
        baseline: standing.baseline.and_then(|at| groups.get(at)).map(|group| group.name.clone()),
        comparisons: standing
            .pairings
            .iter()
            .filter_map(|pairing| comparison(standing, pairing))
            .collect(),
        rows: rows(standing),
        groups,
        better: StatsBetter { score: "higher", tokens: "lower", cost: "lower", seconds: "lower" },
        method: METHOD.iter().map(|&sentence| sentence.to_owned()).collect(),
        misread: Vec::new(),
    }
}

fn group(group: &Group<'_>, runs: &[ScoredRun]) -> StatsGroup {
    let cell = &group.summary.cell;
    StatsGroup {
        name: group.column.label(),
        system: group.column.system.map(str::to_owned),
        model: group.column.model.map(str::to_owned),
        standing: None,
        on_front: None,
        ends: ends(cell),
        score: cell.score.map(estimate),
        passes: cell.passes.map(passes),
        flaky: cell.flaky,
        tries: group.tries.iter().map(tries).collect(),
        told_tries: group.told_tries().map(|at| at.k),
        tokens: amount(&group.summary.tokens),
        cost: amount(&group.summary.cost),
        seconds: amount(&group.summary.seconds),
        classes: classes(group.runs.iter().filter_map(|at| runs.get(*at)?.class)),
    }
}

pub(super) fn estimate(mean: Estimate) -> StatsEstimate {
    let (low, high) = bounds(mean.interval);
    let by = match mean.by {
        Means::Wilson => "wilson",
        Means::Bootstrap => "bootstrap",
        Means::Student => "student",
    };
    StatsEstimate { value: mean.value, low, high, by }
}

pub(super) fn passes(passes: Passes) -> StatsPasses {
    StatsPasses {
        passed: passes.passed,
        of: passes.of,
        rate: passes.share(),
        low: passes.interval.low,
        high: passes.interval.high,
    }
}

pub(super) fn ends(cell: &Cell) -> StatsEnds {
    StatsEnds {
        runs: cell.runs,
        scored: cell.scored,
        errors: cell.errors,
        waiting: cell.waiting,
        running: cell.running,
        damaged: cell.damaged,
        unscored: cell.unscored,
        nudged: cell.nudged,
    }
}

fn added(one: StatsEnds, other: StatsEnds) -> StatsEnds {
    StatsEnds {
        runs: one.runs + other.runs,
        scored: one.scored + other.scored,
        errors: one.errors + other.errors,
        waiting: one.waiting + other.waiting,
        running: one.running + other.running,
        damaged: one.damaged + other.damaged,
        unscored: one.unscored + other.unscored,
        nudged: one.nudged + other.nudged,
    }
}

fn tries(at: &AtK) -> StatsTries {
    StatsTries {
        k: at.k,
        pass_at_k: at.any.value,
        pass_all_k: at.all.value,
        rows: at.any.rows,
        left_out: at.any.left_out,
    }
}

fn amount(of: &Consumption) -> StatsAmount {
    let known = of.amounts.of_known;
    let (low, high) = bounds(of.interval);
    StatsAmount {
        known: of.amounts.known,
        unknown: of.amounts.unknown,
        low,
        high,
        sum: known.map(|it| it.sum),
        mean: known.map(|it| it.mean),
        median: known.map(|it| it.median),
        ninetieth: known.map(|it| it.ninetieth),
    }
}

fn classes(all: impl Iterator<Item = FailureClass>) -> Vec<StatsClass> {
    let mut counts: BTreeMap<FailureClass, u64> = BTreeMap::new();
    for class in all {
        *counts.entry(class).or_default() += 1;
    }
    let mut classes: Vec<StatsClass> =
        counts.into_iter().map(|(class, runs)| StatsClass { class, runs }).collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.runs));
    classes
}

fn comparison(standing: &Aggregate<'_>, pairing: &Pairing<'_>) -> Option<StatsComparison> {
    let (group, baseline) =
        (standing.groups.get(pairing.group)?.column, standing.groups.get(pairing.baseline)?.column);
    let why = |why| match why {
        UnpairedReason::Missing => "missing",
        UnpairedReason::Errors => "errors",
        UnpairedReason::NotEnded => "not_ended",
        UnpairedReason::Unscored => "unscored",
    };
    let kind = |kind| match kind {
        DoubtKind::Scorer => "scorer",
        DoubtKind::ScoredAgainst => "scored_against",
        DoubtKind::Nudged => "nudged",
    };
    let unpaired = pairing.unpaired.iter().map(|it| StatsUnpaired {
        key: key(it.key),
        without: if it.in_baseline { baseline.label() } else { group.label() },
        why: why(it.why),
    });
    let doubts = pairing.doubts.iter().map(|it| StatsDoubt {
        kind: kind(it.kind),
        rows: it.rows.iter().map(|row| key(*row)).collect(),
    });
    Some(StatsComparison {
        group: group.label(),
        baseline: baseline.label(),
        pairs: pairing.pairs.len() as u64,
        score: pairing.score.as_ref().map(effect),
        passes: pairing.passes.as_ref().map(passing),
        tokens: pairing.tokens.as_ref().map(effect),
        cost: pairing.cost.as_ref().map(effect),
        seconds: pairing.seconds.as_ref().map(effect),
        unpaired: unpaired.collect(),
        doubts: doubts.collect(),
        sentences: sentences(pairing, &group, &baseline, &|row| row.label()).all(),
    })
}

fn effect(effect: &Effect) -> StatsEffect {
    let (low, high) = bounds(effect.interval);
    StatsEffect {
        value: effect.value,
        baseline: effect.baseline,
        difference: effect.difference,
        low,
        high,
        p: effect.p.map(|it| it.p),
        exact: effect.p.map(|it| it.exact),
        pairs: effect.pairs,
        tasks: effect.tasks,
        units: effect.units,
        wins: effect.count.wins,
        ties: effect.count.ties,
        losses: effect.count.losses,
        shown: tendency_name(effect.shown),
        detectable: effect.detectable,
    }
}

fn passing(passing: &PairedPassing) -> StatsPairedPasses {
    let (low, high) = bounds(passing.interval);
    StatsPairedPasses {
        both: passing.table.both,
        only_group: passing.table.only_first,
        only_baseline: passing.table.only_second,
        neither: passing.table.neither,
        difference: passing.difference,
        low,
        high,
        p: passing.p,
        mcnemar: passing.mcnemar,
        by_task: passing.by_task.as_ref().map(effect),
        shown: tendency_name(passing.shown),
        detectable: passing.detectable,
    }
}

fn rows(standing: &Aggregate<'_>) -> Vec<StatsRow> {
    let mut rows: BTreeMap<RowKey<'_>, Vec<Option<StatsCell>>> = BTreeMap::new();
    for (at, group) in standing.groups.iter().enumerate() {
        for row in &group.rows {
            let cells = rows.entry(row.key).or_insert_with(|| vec![None; standing.groups.len()]);
            if let Some(place) = cells.get_mut(at) {
                *place = Some(cell(row));
            }
        }
    }
    rows.into_iter().map(|(row, cells)| StatsRow { key: key(row), cells }).collect()
}

fn cell(row: &Row<'_>) -> StatsCell {
    StatsCell {
        runs: row.runs.len() as u64,
        scored: row.scored,
        passed: row.passed,
        decided: row.decided,
        errors: row.errors,
        score: row.score,
        flaky: row.flaky,
    }
}

fn key(key: RowKey<'_>) -> StatsKey {
    StatsKey {
        task: key.task.map(str::to_owned),
        variation: key.variation,
        variation_name: key.name.map(str::to_owned),
    }
}

fn bounds(interval: Option<Interval>) -> (Option<f64>, Option<f64>) {
    (interval.map(|it| it.low), interval.map(|it| it.high))
}

pub(super) fn tendency_name(shown: Tendency) -> &'static str {
    match shown {
        Tendency::Better => "better",
        Tendency::Worse => "worse",
        Tendency::Unclear => "unclear",
    }
}
