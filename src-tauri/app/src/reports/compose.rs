//! **Pure.** Builds the content of a report from runs. The numbers come from `scoring::aggregate`,
//! which the overview and the statistics use too; this module decides the selection and the order.
use super::labels::label_sums;
use super::notes;
use super::page::{
    Amount, Cell, ClassLine, Estimate, FlakyLine, Group, Head, Page, Pair, Repeats, RunLine,
    StoredSum, TaskLine,
};
use super::words::named;
use crate::labels::run_labels::RunLabels;
use crate::stats::leaderboard;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_api::{FailureClass, LeaderboardRow, LeftOut, StoredBrief, StoredResult};
use touchstone_metrics::stats::{AmountStats, Interval};
use touchstone_scoring::aggregate::{
    self, Aggregate, Column, Consumption, Counted, End, Front, FrontBy, METHOD, RowKey,
};
use touchstone_store::imported_verdicts::{Stored, number};
use touchstone_store::query::ScoredRun;

/// Task name shown for runs that have none.
const NO_TASK: &str = "without a task";

/// Parameters of a report, known to the caller.
pub(crate) struct About {
    pub(crate) title: String,
    pub(crate) folder: String,
    pub(crate) made: String,
    pub(crate) version: String,
    pub(crate) filter: String,
    /// `system/model` of the baseline, if one was given.
    pub(crate) baseline: Option<String>,
    /// True to list every run.
    pub(crate) runs: bool,
    /// Versions of each scorer.
    pub(crate) versions: BTreeMap<String, Vec<u32>>,
    /// Runs left out because they are no runs of the benchmark.
    pub(crate) left_out: LeftOut,
    /// Problems of suites, as sentences.
    pub(crate) trouble: Vec<String>,
    /// Labels of the folder and of its runs.
    pub(crate) labels: RunLabels,
}

/// Builds the page of a report.
pub(crate) fn compose(about: &About, runs: &[ScoredRun], stored: &Stored) -> Page {
    let all: Vec<Counted<'_>> = runs.iter().map(ScoredRun::counted).collect();
    let columns = Aggregate::columns(&all);
    let wanted = about
        .baseline
        .as_deref()
        .map(|name| (name, columns.iter().find(|column| column.label() == name)));
    let mut notes = about.trouble.clone();
    if let Some((name, None)) = wanted {
        notes.push(format!("There are no runs of {name}, so nothing is compared."));
    }
    let standing = Aggregate::new(&all, wanted.and_then(|(_, column)| column.copied()));
    let pairings = if matches!(wanted, Some((_, None))) { &[][..] } else { &standing.pairings[..] };
    let names: BTreeMap<RowKey<'_>, &str> = all
        .iter()
        .zip(runs)
        .filter_map(|(one, run)| Some((one.row(), run.variation_name.as_deref()?)))
        .collect();
    let failed = |run: &&ScoredRun| run.class.is_some() || run.passed == Some(false);
    let groups: Vec<(Column<'_>, Vec<usize>)> =
        standing.groups.iter().map(|group| (group.column, group.runs.clone())).collect();
    let line = |run: &ScoredRun| {
        let stored = stored.get(&run.id).cloned().unwrap_or_default();
        RunLine { labels: about.labels.labels_of(run).to_vec(), ..line(run, stored) }
    };
    notes.extend(about.left_out.notes());
    notes.extend(notes::unscored(runs));
    notes.extend(notes::contradicted(runs));
    let (ranking, front) = (standing.ranking(), standing.front());
    let fronts = [FrontBy::Cost, FrontBy::Seconds].map(|by| standing.front_by(by));
    let rows = leaderboard::rows_of(&standing, &ranking, front.as_ref());
    let mut shown: Vec<Group> = standing.groups.iter().zip(&rows).map(group).collect();
    for (at, group) in shown.iter_mut().enumerate() {
        let is_on = |front: &Option<Front>| {
            front.as_ref().and_then(|front| front.on.get(at).copied().flatten()) == Some(true)
        };
        (group.on_cost_front, group.on_time_front) = (is_on(&fronts[0]), is_on(&fronts[1]));
    }
    Page {
        head: head(about, runs, &all),
        headline: leaderboard::headline(&ranking, &rows),
        not_drawn: leaderboard::not_drawn(&rows),
        groups: shown,
        front_by: front.as_ref().map(leaderboard::measure),
        front_rows: front.as_ref().map(leaderboard::front_rows),
        pairs: pairings.iter().filter_map(|pairing| pair(pairing, &standing, &names)).collect(),
        tasks: tasks(&standing, &names),
        queries: Vec::new(),
        scan: Vec::new(),
        trend: None,
        labels: label_sums(&about.labels, &groups, (&all, runs)),
        stored: stored_sums(&groups, (&all, runs), stored),
        causes: None,
        classes: classes(&standing, runs),
        flaky: flaky(&standing, &names),
        failed: runs.iter().filter(failed).map(line).collect(),
        runs: if about.runs { runs.iter().map(line).collect() } else { Vec::new() },
        notes,
        method: METHOD.iter().map(|line| (*line).to_owned()).collect(),
    }
}

fn head(about: &About, runs: &[ScoredRun], all: &[Counted<'_>]) -> Head {
    let count = |of: &dyn Fn(&Counted<'_>) -> bool| all.iter().filter(|run| of(run)).count() as u64;
    let scored = count(&|run| run.score().is_some());
    let errors = count(&|run| run.end == End::Error);
    let not_ended = count(&|run| matches!(run.end, End::Waiting | End::Running));
    let scorers: BTreeSet<&str> = runs.iter().filter_map(|run| run.scorer.as_deref()).collect();
    let scored_by =
        scorers.iter().map(|name| with_versions(name, about.versions.get(*name))).collect();
    let tasks: BTreeSet<&str> = runs.iter().filter_map(|run| run.task.as_deref()).collect();
    Head {
        title: about.title.clone(),
        folder: about.folder.clone(),
        made: about.made.clone(),
        version: about.version.clone(),
        filter: about.filter.clone(),
        scorers: scorers.into_iter().map(str::to_owned).collect(),
        left_out: about.left_out,
        scored_by,
        runs: runs.len() as u64,
        scored,
        errors,
        not_ended,
        unscored: runs.len() as u64 - scored - errors - not_ended,
        tasks: tasks.len() as u64,
    }
}

/// Formats a scorer with its versions, such as `fields (version 2)`: another version of a scorer
/// may give other scores.
fn with_versions(name: &str, versions: Option<&Vec<u32>>) -> String {
    let told =
        versions.map(|all| all.iter().map(u32::to_string).collect::<Vec<_>>()).unwrap_or_default();
    match told.as_slice() {
        [] => name.to_owned(),
        [one] => format!("{name} (version {one})"),
        several => format!("{name} (versions {})", several.join(", ")),
    }
}

fn estimate(value: f64, interval: Option<Interval>) -> Estimate {
    Estimate { value, low: interval.map(|it| it.low), high: interval.map(|it| it.high) }
}

fn amount(of: &Consumption) -> Option<Amount> {
    let AmountStats { sum, mean, median, ninetieth, most, .. } = of.amounts.of_known?;
    let (low, high) = (of.interval.map(|it| it.low), of.interval.map(|it| it.high));
    Some(Amount { known: of.amounts.known, sum, mean, low, high, median, ninetieth, most })
}

fn group((group, row): (&aggregate::Group<'_>, &LeaderboardRow)) -> Group {
    let cell = &group.summary.cell;
    Group {
        name: group.column.label(),
        system: group.column.system.map(str::to_owned),
        model: group.column.model.map(str::to_owned),
        runs: cell.runs,
        scored: cell.scored,
        errors: cell.errors,
        not_ended: cell.waiting + cell.running,
        unscored: cell.unscored + cell.damaged,
        standing: row.standing,
        among: row.group,
        why: row.why.clone(),
        on_front: row.on_front,
        on_cost_front: false,
        on_time_front: false,
        score: cell.score.map(|score| estimate(score.value, score.interval)),
        histogram: row.histogram.clone(),
        passed: cell.passes.map_or(0, |passes| passes.passed),
        decided: cell.passes.map_or(0, |passes| passes.of),
        rate: cell.passes.map(|passes| estimate(passes.share(), Some(passes.interval))),
        repeats: group.told_tries().map(|tries| Repeats {
            k: tries.k,
            any: tries.any.value,
            all: tries.all.value,
            rows: tries.any.rows,
            of: tries.any.rows + tries.any.left_out,
        }),
        tokens: amount(&group.summary.tokens),
        cost: amount(&group.summary.cost),
        seconds: amount(&group.summary.seconds),
    }
}

fn pair(
    pairing: &aggregate::Pairing<'_>,
    standing: &Aggregate<'_>,
    names: &BTreeMap<RowKey<'_>, &str>,
) -> Option<Pair> {
    let (group, baseline) =
        (standing.groups.get(pairing.group)?, standing.groups.get(pairing.baseline)?);
    let count = pairing.score.map(|effect| effect.count);
    let told =
        aggregate::sentences(pairing, &group.column, &baseline.column, &|row| row_name(row, names));
    Some(Pair {
        name: group.column.label(),
        baseline: baseline.column.label(),
        pairs: pairing.pairs.len() as u64,
        wins: count.map_or(0, |count| count.wins),
        ties: count.map_or(0, |count| count.ties),
        losses: count.map_or(0, |count| count.losses),
        difference: pairing.score.map(|effect| estimate(effect.difference, effect.interval)),
        p_score: pairing.score.and_then(|effect| effect.p).map(|it| it.p),
        p_pass: pairing.passes.as_ref().and_then(|passes| passes.p),
        detectable: pairing
            .score
            .and_then(|effect| effect.detectable)
            .filter(|least| *least <= 1.0),
        outcome: aggregate::outcome(pairing).to_owned(),
        unpaired: pairing.unpaired.iter().map(|row| row_name(row.key, names)).collect(),
        doubtful: !pairing.doubts.is_empty(),
        sentences: told.main,
        more: told.more,
    })
}

/// Returns the display name of a variation.
fn variation(key: RowKey<'_>, names: &BTreeMap<RowKey<'_>, &str>) -> Option<String> {
    let name = names.get(&key).copied().or(key.name);
    name.map(str::to_owned).or_else(|| key.variation.map(|number| format!("variation {number}")))
}

/// Returns the display name of a row, equal to that in the table of tasks.
fn row_name(key: RowKey<'_>, names: &BTreeMap<RowKey<'_>, &str>) -> String {
    named(key.task.unwrap_or(NO_TASK), variation(key, names).as_deref())
}

fn tasks(standing: &Aggregate<'_>, names: &BTreeMap<RowKey<'_>, &str>) -> Vec<TaskLine> {
    let mut lines: BTreeMap<RowKey<'_>, Vec<Cell>> = BTreeMap::new();
    for (at, group) in standing.groups.iter().enumerate() {
        for row in &group.rows {
            let cells = lines
                .entry(row.key)
                .or_insert_with(|| vec![Cell::default(); standing.groups.len()]);
            if let Some(cell) = cells.get_mut(at) {
                *cell = Cell {
                    runs: row.runs.len() as u64,
                    scored: row.scored,
                    passed: row.passed,
                    decided: row.decided,
                    errors: row.errors,
                    score: row.score,
                    flaky: row.flaky,
                };
            }
        }
    }
    let line = |(key, cells): (RowKey<'_>, Vec<Cell>)| TaskLine {
        task: key.task.unwrap_or(NO_TASK).to_owned(),
        variation: variation(key, names),
        cells,
    };
    lines.into_iter().map(line).collect()
}

fn classes(standing: &Aggregate<'_>, runs: &[ScoredRun]) -> Vec<ClassLine> {
    let mut lines: BTreeMap<FailureClass, Vec<u64>> = BTreeMap::new();
    for (at, group) in standing.groups.iter().enumerate() {
        for class in group.runs.iter().filter_map(|run| runs.get(*run)?.class) {
            let counts = lines.entry(class).or_insert_with(|| vec![0; standing.groups.len()]);
            if let Some(count) = counts.get_mut(at) {
                *count += 1;
            }
        }
    }
    lines.into_iter().map(|(class, counts)| ClassLine { class, counts }).collect()
}

fn flaky(standing: &Aggregate<'_>, names: &BTreeMap<RowKey<'_>, &str>) -> Vec<FlakyLine> {
    let rows =
        standing.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    rows.filter(|(_, row)| row.flaky)
        .map(|(group, row)| FlakyLine {
            group: group.column.label(),
            task: row.key.task.unwrap_or(NO_TASK).to_owned(),
            variation: variation(row.key, names),
            passed: row.repeats_passed,
            decided: row.repeats_decided,
        })
        .collect()
}

/// Sums up the stored verdicts by evaluator and group.
pub(crate) fn stored_sums(
    groups: &[(Column<'_>, Vec<usize>)],
    (all, runs): (&[Counted<'_>], &[ScoredRun]),
    stored: &Stored,
) -> Vec<StoredSum> {
    let mut by_name: BTreeMap<(&str, usize), Vec<(usize, &StoredBrief)>> = BTreeMap::new();
    for (at, (_, places)) in groups.iter().enumerate() {
        for run in places {
            for said in runs.get(*run).and_then(|run| stored.get(&run.id)).into_iter().flatten() {
                by_name.entry((&said.evaluator, at)).or_default().push((*run, said));
            }
        }
    }
    // Evaluators whose numbers all are shares, so that limits beyond 0 and 1 would mean nothing.
    let mut shares: BTreeMap<&str, bool> = BTreeMap::new();
    for ((evaluator, _), said) in &by_name {
        let mut numbers = said.iter().filter_map(|(_, one)| number(one.score.as_deref()));
        let is_share = numbers.all(|number| (0.0..=1.0).contains(&number));
        *shares.entry(evaluator).or_insert(true) &= is_share;
    }
    let sum = |((evaluator, at), said): ((&str, usize), Vec<(usize, &StoredBrief)>)| {
        // An evaluator may have failed in part: a verdict and an error may belong to the same run.
        let named: BTreeSet<usize> = said.iter().map(|(run, _)| *run).collect();
        let count = |result| said.iter().filter(|(_, one)| one.result == result).count() as u64;
        let each = said.iter().map(|(run, one)| aggregate::ImportedVerdict {
            run: *run,
            number: number(one.score.as_deref()),
            passed: match one.result {
                StoredResult::Pass => Some(true),
                StoredResult::Fail => Some(false),
                StoredResult::Open | StoredResult::Error | StoredResult::None => None,
            },
        });
        let told = aggregate::summarize_imported(all, &each.collect::<Vec<_>>());
        StoredSum {
            evaluator: evaluator.to_owned(),
            group: groups[at].0.label(),
            runs: named.len() as u64,
            numbers: told.numbers,
            mean: told.mean.map(|mean| {
                let is_share = shares.get(evaluator) == Some(&true);
                let interval =
                    mean.interval.map(|one| if is_share { one.within(0.0, 1.0) } else { one });
                estimate(mean.value, interval)
            }),
            passed: told.passes.map_or(0, |passes| passes.passed),
            decided: told.passes.map_or(0, |passes| passes.of),
            rate: told.passes.map(|passes| estimate(passes.share(), Some(passes.interval))),
            errors: count(StoredResult::Error),
            none: count(StoredResult::None),
        }
    };
    by_name.into_iter().map(sum).collect()
}

fn line(run: &ScoredRun, stored: Vec<StoredBrief>) -> RunLine {
    RunLine {
        path: run.path.clone(),
        task: run.task.clone(),
        variation: run
            .variation_name
            .clone()
            .or_else(|| run.variation.map(|number| format!("variation {number}"))),
        repeat: run.repeat,
        system: run.system.clone(),
        model: run.model.clone(),
        state: run.state,
        scoring: run.scoring,
        scorer: run.scorer.clone(),
        score: run.score,
        passed: run.passed,
        reason: run.score_reason.clone().or_else(|| run.reason.clone()).or_else(|| notes::why(run)),
        class: run.class,
        verdict: run.verdict,
        review_score: run.review_score,
        review_note: run.review_note.clone(),
        turns: run.turns,
        tool_calls: run.tool_calls,
        nudges: run.nudges,
        follow_ups: run.follow_ups,
        lineage: run.lineage,
        forked_from: run.forked_from.clone(),
        tokens: run.tokens,
        cost: run.cost,
        seconds: run.seconds,
        labels: Vec::new(),
        stored,
    }
}
