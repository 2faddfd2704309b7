//! **Pure.** Compares the runs of each system with its earlier runs: the difference of the means,
//! and the tasks whose outcome changed. Decides whether the changes pass a gate.
use super::pairs::{Depth, FEWEST_UNITS, LookedAt, reason, significant};
use super::{
    Column, Counted, DoubtKind, Effect, End, Group, Pairing, Row, RowKey, UnpairedReason,
    probability,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_metrics::number_format::{fixed, signed};
use touchstone_metrics::stats::{Tendency, count};

/// Number of tasks that a sentence names; further ones are only counted.
const NAMED: usize = 5;
/// Differences up to this size are rounding errors.
const SAME: f64 = 1e-9;

/// A system with a model, now and before.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// Aggregate of its runs now.
    pub now: Group<'a>,
    /// Aggregate of its earlier runs.
    pub before: Group<'a>,
    /// Comparison of the runs now with the earlier ones, without rows that are not comparable.
    pub pairing: Pairing<'a>,
    /// Changes of tasks and variations, in order. A row may have several.
    pub rows: Vec<RowChange<'a>>,
}

/// Change of a task in a variation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowChange<'a> {
    /// Task and variation.
    pub key: RowKey<'a>,
    /// Kind of change.
    pub kind: ChangeKind,
}

/// Kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// All repeats passed before, and none passes now.
    Failed,
    /// No repeat passed before, and all pass now.
    Fixed,
    /// Most repeats passed before and at most half do now, or the reverse, and repeats of one side
    /// disagree: chance may explain it.
    Flaky,
    /// There was a score, and there is none now.
    Lost(UnpairedReason),
    /// Fewer repeats have a score than before.
    Fewer(UnpairedReason),
    /// There is a score now, and there was none.
    Added,
    /// The task text, the expected output, or the scorer changed, so that nothing is compared.
    NotComparable,
}

/// Requirements that changes have to meet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GateRules {
    /// Lowest allowed mean score of each system.
    pub fail_under: Option<f64>,
    /// Largest allowed drop of the mean score over the compared tasks, shown or not.
    pub max_drop: Option<f64>,
    /// Lowest allowed mean score of a task, by task.
    pub thresholds: BTreeMap<String, f64>,
    /// Number of new failures that each system may have.
    pub new_failures: usize,
    /// True to allow tasks without a score that had one, and repeats lost to errors.
    pub allow_missing: bool,
}

/// Compares runs with earlier ones, system by system. A system that is on one side only has no
/// pairs, and its tasks are lost or added.
pub fn changes<'a>(before: &[Counted<'a>], now: &[Counted<'a>]) -> Vec<Changes<'a>> {
    changes_among(before, now, 1)
}

/// Like [`changes`], beside other comparisons: a difference of scores is shown only as it is among
/// `looked_at` of them. Dollars and seconds, of which none is in that number, are shown as among at
/// least as many, and at least as those of all systems.
pub fn changes_among<'a>(
    before: &[Counted<'a>],
    now: &[Counted<'a>],
    looked_at: u64,
) -> Vec<Changes<'a>> {
    let runs: Vec<Counted<'a>> = now.iter().chain(before).copied().collect();
    let columns: BTreeSet<Column<'a>> = runs.iter().map(Counted::column).collect();
    let amounts = if looked_at < 2 { 1 } else { looked_at.max(2 * count(columns.len())) };
    let depth = Depth::All(LookedAt { scores: looked_at, amounts });
    let compared = |column| compare(column, &runs, now.len(), depth);
    columns.into_iter().filter_map(compared).collect()
}

/// Compares the runs of one system with its earlier ones, without summaries, and with no measure but
/// the score.
pub(super) fn compare_system<'a>(
    column: Column<'a>,
    before: &[Counted<'a>],
    now: &[Counted<'a>],
) -> Option<Changes<'a>> {
    compare(column, &[now, before].concat(), now.len(), Depth::Scores)
}

/// Compares the runs of a system. The first `now` runs are those of now, the others earlier ones.
fn compare<'a>(
    column: Column<'a>,
    runs: &[Counted<'a>],
    now: usize,
    depth: Depth,
) -> Option<Changes<'a>> {
    let new = if matches!(depth, Depth::All(_)) { Group::new } else { Group::rows_only };
    let groups = |is_left_out: &dyn Fn(RowKey<'a>) -> bool| {
        [0..now, now..runs.len()].map(|range| {
            let is_here = |run: &Counted<'a>| run.column() == column && !is_left_out(run.row());
            let places = range.filter(|at| runs.get(*at).is_some_and(is_here)).collect();
            new(column, runs, places)
        })
    };
    let all = groups(&|_| false);
    let pairing = Pairing::to_depth(runs, &all, (0, 1), depth)?;
    let is_other = |kind| matches!(kind, DoubtKind::Scorer | DoubtKind::ScoredAgainst);
    let others: BTreeSet<RowKey<'a>> = pairing
        .doubts
        .iter()
        .filter(|doubt| is_other(doubt.kind))
        .flat_map(|doubt| doubt.rows.iter().copied())
        .collect();
    let pairing = if others.is_empty() {
        pairing
    } else {
        let groups = groups(&|key| others.contains(&key));
        Pairing::to_depth(runs, &groups, (0, 1), depth)?
    };
    let [now, before] = all;
    let mut rows = row_changes(runs, &now, &before, &pairing);
    rows.extend(others.iter().map(|key| RowChange { key: *key, kind: ChangeKind::NotComparable }));
    rows.sort_by_key(|row| row.key);
    Some(Changes { column, now, before, pairing, rows })
}

fn row_changes<'a>(
    runs: &[Counted<'a>],
    now: &Group<'a>,
    before: &Group<'a>,
    pairing: &Pairing<'a>,
) -> Vec<RowChange<'a>> {
    let paired = pairing.pairs.iter().flat_map(|pair| {
        let sides = now.row(pair.key).zip(before.row(pair.key));
        let kinds =
            sides.map(|(now, before)| [outcome_change(now, before), fewer(runs, now, before)]);
        let kinds = kinds.into_iter().flatten().flatten();
        kinds.map(|kind| RowChange { key: pair.key, kind })
    });
    let unpaired = pairing.unpaired.iter().map(|row| RowChange {
        key: row.key,
        kind: if row.in_baseline { ChangeKind::Added } else { ChangeKind::Lost(row.why) },
    });
    paired.chain(unpaired).collect()
}

/// Returns the change of a row in which both sides have a verdict; `None` if most repeats agree.
fn outcome_change(now: &Row<'_>, before: &Row<'_>) -> Option<ChangeKind> {
    if now.decided == 0 || before.decided == 0 {
        return None;
    }
    let most = |row: &Row<'_>| 2 * row.passed > row.decided;
    if most(now) == most(before) {
        return None;
    }
    let agree = |row: &Row<'_>| row.passed == 0 || row.passed == row.decided;
    Some(match (agree(now) && agree(before), most(now)) {
        (false, _) => ChangeKind::Flaky,
        (true, true) => ChangeKind::Fixed,
        (true, false) => ChangeKind::Failed,
    })
}

/// Returns the change if fewer repeats of a row have a score now.
fn fewer(runs: &[Counted<'_>], now: &Row<'_>, before: &Row<'_>) -> Option<ChangeKind> {
    if now.scored >= before.scored {
        return None;
    }
    let mut ends = now.runs.iter().filter_map(|at| runs.get(*at)).map(|run| run.end);
    let otherwise = if ends.any(|end| matches!(end, End::Unscored | End::Damaged)) {
        UnpairedReason::Unscored
    } else {
        UnpairedReason::Missing
    };
    Some(ChangeKind::Fewer(reason(runs, Some(now), otherwise)))
}

impl<'a> Changes<'a> {
    /// Returns the rows with this kind of change.
    pub fn rows_of(&self, kind: ChangeKind) -> Vec<RowKey<'a>> {
        self.rows_with(|other| other == kind)
    }

    fn rows_with(&self, is_wanted: impl Fn(ChangeKind) -> bool) -> Vec<RowKey<'a>> {
        self.rows.iter().filter(|row| is_wanted(row.kind)).map(|row| row.key).collect()
    }

    /// Returns true if this kind of change violates the requirements for this system.
    pub fn is_violation(&self, kind: ChangeKind, rules: &GateRules) -> bool {
        match kind {
            ChangeKind::Failed => self.rows_of(kind).len() > rules.new_failures,
            ChangeKind::Lost(_) => !rules.allow_missing,
            ChangeKind::Fewer(why) => !rules.allow_missing && why != UnpairedReason::Missing,
            ChangeKind::Fixed
            | ChangeKind::Flaky
            | ChangeKind::Added
            | ChangeKind::NotComparable => false,
        }
    }

    /// Returns the requirements that are not met, in sentences; empty if all are.
    pub fn violations(&self, rules: &GateRules) -> Vec<String> {
        let name = self.column.label();
        let mut found = Vec::new();
        if let Some(effect) = &self.pairing.score {
            let is_dropped = rules.max_drop.is_some_and(|most| effect.difference < -most - SAME);
            if is_worse(effect) {
                found.push(format!("{name} is worse than before: {}.", difference(effect)));
            } else if is_dropped {
                found.push(format!("{name} dropped by more than allowed: {}.", difference(effect)));
            }
        }
        found.extend(self.new_failures(rules, true));
        found.extend(self.lost(rules, true));
        let mean = self.now.summary.cell.score.map(|score| score.value);
        match (rules.fail_under, mean) {
            (Some(least), None) => found.push(format!(
                "{name} has no score, so it is not known to reach {}.",
                fixed(least, 3)
            )),
            (Some(least), Some(mean)) if mean < least - SAME => {
                let (mean, least) = (fixed(mean, 3), fixed(least, 3));
                found.push(format!("{name} scores {mean} on average, below {least}."));
            }
            _ => {}
        }
        found.extend(self.below_thresholds(rules));
        found
    }

    /// Describes new failures that are violations, or that are allowed.
    fn new_failures(&self, rules: &GateRules, violates: bool) -> Option<String> {
        let rows = self.rows_of(ChangeKind::Failed);
        if rows.is_empty() || self.is_violation(ChangeKind::Failed, rules) != violates {
            return None;
        }
        let is_single = |key: &RowKey<'_>| {
            [&self.now, &self.before]
                .iter()
                .all(|side| side.row(*key).is_some_and(|row| row.decided == 1))
        };
        let chance = if rows.iter().all(is_single) {
            " One repeat each: chance may explain it."
        } else {
            ""
        };
        let allowed = if violates { "" } else { ", which is allowed" };
        Some(format!(
            "{} fails {} that passed{allowed}: {}.{chance}",
            self.column.label(),
            counted(&rows),
            named(&rows)
        ))
    }

    /// Describes scores that are gone and violate the requirements, or that may be gone.
    fn lost(&self, rules: &GateRules, violates: bool) -> Vec<String> {
        let name = self.column.label();
        let allowed = if violates { "" } else { ", which is allowed" };
        if self.now.runs.is_empty() && !self.before.runs.is_empty() {
            let is_here = rules.allow_missing != violates;
            return is_here
                .then(|| format!("{name} has no runs now{allowed}."))
                .into_iter()
                .collect();
        }
        let is_here = |kind| self.is_violation(kind, rules) == violates;
        let groups = [
            (
                self.rows_with(|kind| matches!(kind, ChangeKind::Lost(_)) && is_here(kind)),
                "no score for",
                "that had one",
            ),
            (
                self.rows_with(|kind| matches!(kind, ChangeKind::Fewer(_)) && is_here(kind)),
                "fewer scored runs for",
                "than before",
            ),
        ];
        groups
            .iter()
            .filter(|(rows, ..)| !rows.is_empty())
            .map(|(rows, what, than)| {
                let reasons = self.reasons(rows);
                let (rows, names) = (counted(rows), named(rows));
                format!("{name} has {what} {rows} {than}{allowed} ({reasons}): {names}.")
            })
            .collect()
    }

    /// Describes why rows have no score or fewer scores.
    fn reasons(&self, rows: &[RowKey<'_>]) -> String {
        let words = [
            (UnpairedReason::Errors, "ended in errors"),
            (UnpairedReason::NotEnded, "not ended"),
            (UnpairedReason::Missing, "without a run"),
            (UnpairedReason::Unscored, "not scored: `touchstone score` runs programs"),
        ];
        let parts: Vec<String> = words
            .iter()
            .filter_map(|(why, words)| {
                let kinds = [ChangeKind::Lost(*why), ChangeKind::Fewer(*why)];
                let here = self.rows_with(|kind| kinds.contains(&kind));
                let count = here.iter().filter(|key| rows.contains(key)).count();
                (count > 0).then(|| format!("{count} {words}"))
            })
            .collect();
        parts.join(", ")
    }

    /// Describes tasks with a mean score below their threshold, and those that have no score.
    fn below_thresholds(&self, rules: &GateRules) -> Vec<String> {
        let name = self.column.label();
        let below = |(task, least): (&String, &f64)| {
            let of_task = |row: &&Row<'a>| row.key.task == Some(task.as_str());
            let scores: Vec<f64> =
                self.now.rows.iter().filter(of_task).filter_map(|row| row.score).collect();
            let is_known = self.now.rows.iter().chain(&self.before.rows).any(|row| of_task(&row));
            match touchstone_metrics::stats::mean(&scores) {
                None if is_known => {
                    Some(format!("{name} has no score on {task}, which has a threshold."))
                }
                Some(mean) if mean < least - SAME => {
                    let (mean, least) = (fixed(mean, 3), fixed(*least, 3));
                    Some(format!("{name} scores {mean} on {task}, below its threshold of {least}."))
                }
                _ => None,
            }
        };
        rules.thresholds.iter().filter_map(below).collect()
    }

    /// Describes changes that violate no requirement: allowed ones, improvements, flaky tasks, and
    /// amounts.
    pub fn remarks(&self, rules: &GateRules) -> Vec<String> {
        let name = self.column.label();
        if self.before.runs.is_empty() {
            return vec![format!("{name} had no runs before.")];
        }
        let mut found = Vec::new();
        if let Some(effect) = self.pairing.score.as_ref().filter(|effect| !is_worse(effect)) {
            found.push(format!("{name} {}: {}.", verdict(effect), difference(effect)));
        }
        found.extend(self.new_failures(rules, false));
        found.extend(self.lost(rules, false));
        let kinds = [
            (ChangeKind::Fixed, "passes", "that failed"),
            (ChangeKind::Flaky, "has another result for", "whose repeats disagree"),
            (
                ChangeKind::NotComparable,
                "is not compared on",
                "whose text, expected output or scorer changed",
            ),
        ];
        for (kind, verb, which) in kinds {
            let rows = self.rows_of(kind);
            if !rows.is_empty() {
                found.push(format!("{name} {verb} {} {which}: {}.", counted(&rows), named(&rows)));
            }
        }
        let added = self.rows_of(ChangeKind::Added);
        if !added.is_empty() {
            let is_passing = |key: &&RowKey<'_>| {
                self.now
                    .row(**key)
                    .is_some_and(|row| row.decided > 0 && 2 * row.passed > row.decided)
            };
            found.push(format!(
                "{name} has a score for {} that had none, of which {} pass: {}.",
                counted(&added),
                added.iter().filter(is_passing).count(),
                named(&added)
            ));
        }
        for doubt in self.pairing.doubts.iter().filter(|doubt| doubt.kind == DoubtKind::Nudged) {
            let (rows, names) = (counted(&doubt.rows), named(&doubt.rows));
            found.push(format!(
                "{name} has follow-up messages on one side only in {rows}: {names}."
            ));
        }
        found.extend(self.amounts());
        found
    }

    /// Describes amounts that are shown to be larger than before.
    fn amounts(&self) -> Vec<String> {
        let name = self.column.label();
        let amounts = [
            (&self.pairing.tokens, "uses more tokens", 0, ""),
            (&self.pairing.cost, "costs more", 4, "$"),
            (&self.pairing.seconds, "takes more seconds", 1, ""),
        ];
        let larger = |(effect, what, digits, unit): &(&Option<Effect>, &str, usize, &str)| {
            let effect = effect.as_ref().filter(|effect| is_worse(effect))?;
            Some(format!(
                "{name} {what}: {unit}{} per run, was {unit}{} ({}).",
                fixed(effect.value, *digits),
                fixed(effect.baseline, *digits),
                effect.p.map_or(String::new(), |p| probability(p.p)),
            ))
        };
        amounts.iter().filter_map(larger).collect()
    }
}

/// Returns requirements of the whole comparison that are not met, in sentences.
pub fn general_violations(changes: &[Changes<'_>], rules: &GateRules) -> Vec<String> {
    let mut found = Vec::new();
    if changes.iter().all(|one| one.pairing.pairs.is_empty()) {
        found.push("Nothing was compared: no task has a score now and in the baseline.".to_owned());
    }
    let is_known = |task: &str| {
        let rows = |one: &Changes<'_>| {
            one.now.rows.iter().chain(&one.before.rows).any(|row| row.key.task == Some(task))
        };
        changes.iter().any(rows)
    };
    let unknown = rules.thresholds.keys().filter(|task| !is_known(task));
    found.extend(
        unknown.map(|task| format!("The baseline has a threshold for {task}, which has no runs.")),
    );
    found
}

/// Returns true if both the test and the interval show that it is worse.
fn is_worse(effect: &Effect) -> bool {
    significant(effect) == Tendency::Worse
}

/// Returns the verdict on a difference that is not shown to be worse.
fn verdict(effect: &Effect) -> String {
    if significant(effect) == Tendency::Better {
        return "is better than before".to_owned();
    }
    let count = effect.count;
    if count.wins == 0 && count.losses == 0 {
        return "is unchanged".to_owned();
    }
    if effect.units < FEWEST_UNITS {
        return format!("has too few tasks to tell a difference (it takes {FEWEST_UNITS})");
    }
    match effect.p {
        Some(p) => format!("shows no clear difference ({})", probability(p.p)),
        None => "shows no clear difference".to_owned(),
    }
}

/// Describes the difference of the mean scores, with its interval.
fn difference(effect: &Effect) -> String {
    let interval = match effect.interval {
        Some(it) => format!(", 95 % interval {} to {}", signed(it.low, 3), signed(it.high, 3)),
        None => String::new(),
    };
    format!(
        "{}, was {} (difference {}{interval}) on {}",
        fixed(effect.value, 3),
        fixed(effect.baseline, 3),
        signed(effect.difference, 3),
        if effect.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", effect.tasks) },
    )
}

/// Counts rows as tasks, or as variations if several are of one task.
fn counted(rows: &[RowKey<'_>]) -> String {
    let tasks: BTreeSet<_> = rows.iter().map(|row| row.task).collect();
    let what = if tasks.len() == rows.len() { "task" } else { "variation" };
    if rows.len() == 1 { format!("1 {what}") } else { format!("{} {what}s", rows.len()) }
}

fn named(rows: &[RowKey<'_>]) -> String {
    let names: Vec<String> = rows.iter().take(NAMED).map(RowKey::label).collect();
    match rows.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::*;

    const A: &str = "a";

    /// Returns a run of system `s` with a score, or an error.
    fn run(task: &'static str, score: Option<f64>) -> Counted<'static> {
        let end = score.map_or(End::Error, |score| End::Scored(score, Some(score >= 1.0)));
        Counted { task: Some(task), system: Some("s"), model: Some("m"), end, ..Counted::default() }
    }

    fn violations(changes: &[Changes<'_>], rules: &GateRules) -> Vec<String> {
        let of_all = general_violations(changes, rules);
        changes.iter().flat_map(|one| one.violations(rules)).chain(of_all).collect()
    }

    fn kinds(before: &[Counted<'static>], now: &[Counted<'static>]) -> Vec<ChangeKind> {
        let changes = changes(before, now);
        changes.iter().flat_map(|one| one.rows.iter().map(|row| row.kind)).collect()
    }

    #[test]
    fn a_task_changes_when_all_its_repeats_do_and_is_flaky_when_some_do() {
        let of = |scores: &[f64]| -> Vec<Counted<'static>> {
            scores.iter().map(|score| run(A, Some(*score))).collect()
        };
        for (before, now, kind) in [
            (&[1.0][..], &[0.0][..], Some(ChangeKind::Failed)),
            (&[1.0, 1.0], &[0.0, 0.5], Some(ChangeKind::Failed)),
            (&[0.0], &[1.0, 1.0], Some(ChangeKind::Fixed)),
            (&[1.0, 1.0, 0.0], &[0.0, 0.0, 0.0], Some(ChangeKind::Flaky)),
            (&[1.0], &[1.0, 0.0], Some(ChangeKind::Flaky)),
            (&[1.0, 1.0, 0.0], &[1.0, 1.0, 1.0], None),
            (&[1.0], &[1.0], None),
            (&[1.0, 1.0], &[1.0], Some(ChangeKind::Fewer(UnpairedReason::Missing))),
            (&[], &[1.0], Some(ChangeKind::Added)),
            (&[1.0], &[], Some(ChangeKind::Lost(UnpairedReason::Missing))),
        ] {
            assert_eq!(
                kinds(&of(before), &of(now)),
                kind.into_iter().collect::<Vec<_>>(),
                "{before:?} {now:?}"
            );
        }
    }

    const ALL: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    const NOTHING: &str = "Nothing was compared: no task has a score now and in the baseline.";

    /// Returns runs of twelve tasks with these scores, the last of which is repeated.
    fn runs(scores: &[Option<f64>]) -> Vec<Counted<'static>> {
        let last = scores.last().copied().unwrap_or_default();
        let scores = scores.iter().copied().chain(std::iter::repeat(last));
        ALL.iter().zip(scores).map(|(task, score)| run(task, score)).collect()
    }

    #[test]
    fn an_error_is_a_lost_score_and_no_failure() {
        assert_eq!(
            kinds(&[run(A, Some(1.0))], &[run(A, None)]),
            [ChangeKind::Lost(UnpairedReason::Errors)]
        );
        let before = runs(&[Some(1.0)]);
        let changes = changes(&before, &runs(&[None, Some(1.0)]));
        assert_eq!(
            violations(&changes, &GateRules::default()),
            ["s/m has no score for 1 task that had one (1 ended in errors): a."]
        );
        let rules = GateRules { allow_missing: true, ..GateRules::default() };
        assert_eq!(violations(&changes, &rules), [] as [&str; 0]);
        assert!(changes[0].remarks(&rules).concat().contains("which is allowed"));
    }

    #[test]
    fn repeats_that_are_lost_to_errors_are_a_violation_and_fewer_runs_are_not() {
        let thrice = |runs: Vec<Counted<'static>>| [runs.clone(), runs.clone(), runs].concat();
        let before = thrice(runs(&[Some(1.0)]));
        let errors = [runs(&[Some(1.0)]), runs(&[None]), runs(&[None])].concat();
        let lost = violations(&changes(&before, &errors), &GateRules::default());
        assert!(lost.concat().contains("fewer scored runs for 12 tasks"), "{lost:?}");
        let fewer = changes(&before, &runs(&[Some(1.0)]));
        assert_eq!(violations(&fewer, &GateRules::default()), [] as [&str; 0]);
        let remarks = fewer[0].remarks(&GateRules::default());
        assert!(remarks.concat().contains("12 without a run"), "{remarks:?}");
    }

    #[test]
    fn a_gate_names_what_fails_and_what_each_rule_allows() {
        let before = runs(&[Some(1.0)]);
        let zero = [Some(0.0); 7];
        let changes = changes(&before, &runs(&[&zero[..], &[Some(1.0)]].concat()));
        let thresholds = [("a".to_owned(), 0.5), ("l".to_owned(), 0.5), ("z".to_owned(), 0.5)];
        let rules = GateRules {
            fail_under: Some(0.9),
            thresholds: thresholds.into_iter().collect(),
            ..GateRules::default()
        };
        insta::assert_snapshot!(violations(&changes, &rules).join("\n"), @"
        s/m is worse than before: 0.417, was 1.000 (difference −0.583, 95 % interval −0.917 to −0.250) on 12 tasks.
        s/m fails 7 tasks that passed: a, b, c, d, e and 2 more. One repeat each: chance may explain it.
        s/m scores 0.417 on average, below 0.900.
        s/m scores 0.000 on a, below its threshold of 0.500.
        The baseline has a threshold for z, which has no runs.
        ");
        let lenient = GateRules { new_failures: 7, ..GateRules::default() };
        assert_eq!(violations(&changes, &lenient).len(), 1, "the mean is still worse");
        let same = self::changes(&before, &before);
        assert_eq!(violations(&same, &GateRules::default()), [] as [&str; 0]);
        assert_eq!(
            same[0].remarks(&GateRules::default()),
            ["s/m is unchanged: 1.000, was 1.000 (difference 0.000) on 12 tasks."]
        );
    }

    #[test]
    fn few_tasks_are_never_said_to_show_no_difference_and_a_drop_can_be_limited() {
        let five = |score| -> Vec<Counted<'static>> {
            ALL[..5].iter().map(|task| run(task, Some(score))).collect()
        };
        let changes = changes(&five(0.7), &five(0.0));
        assert_eq!(violations(&changes, &GateRules::default()), [] as [&str; 0]);
        let remarks = changes[0].remarks(&GateRules::default());
        assert!(remarks[0].contains("too few tasks to tell a difference"), "{remarks:?}");
        let rules = GateRules { max_drop: Some(0.1), ..GateRules::default() };
        assert!(violations(&changes, &rules)[0].contains("dropped by more than allowed"));
        let rules = GateRules { fail_under: Some(0.7), ..GateRules::default() };
        let same = self::changes(&five(0.7), &five(0.7));
        assert_eq!(violations(&same, &rules), [] as [&str; 0], "a mean of 0.7 reaches 0.7");
    }

    #[test]
    fn tasks_with_another_expected_output_are_not_compared() {
        let against = |runs: Vec<Counted<'static>>, fingerprint| -> Vec<Counted<'static>> {
            let is_changed = |task: Option<&str>| task < Some("h");
            runs.into_iter()
                .map(|run| Counted {
                    fingerprint: Some(if is_changed(run.task) { fingerprint } else { 0 }),
                    ..run
                })
                .collect()
        };
        let before = against(runs(&[Some(1.0)]), 1);
        let zero = [Some(0.0); 7];
        let now = against(runs(&[&zero[..], &[Some(1.0)]].concat()), 2);
        let changes = changes(&before, &now);
        assert_eq!(violations(&changes, &GateRules::default()), [] as [&str; 0]);
        assert_eq!(changes[0].rows_of(ChangeKind::NotComparable).len(), 7);
        assert_eq!(changes[0].pairing.pairs.len(), 5);
        let remarks = changes[0].remarks(&GateRules::default()).concat();
        assert!(remarks.contains("is not compared on 7 tasks"), "{remarks}");
    }

    #[test]
    fn a_comparison_of_nothing_passes_no_gate() {
        let one = [run(A, Some(1.0))];
        let rules =
            GateRules { allow_missing: true, fail_under: Some(0.5), ..GateRules::default() };
        let violated = |before: &[Counted<'static>], now: &[Counted<'static>]| {
            violations(&changes(before, now), &rules)
        };
        let unknown = "s/m has no score, so it is not known to reach 0.500.";
        assert_eq!(violated(&one, &[]), [unknown, NOTHING]);
        assert_eq!(violated(&one, &[run(A, None)]), [unknown, NOTHING]);
        assert_eq!(violated(&[], &[]), [NOTHING]);
        assert_eq!(violated(&[], &one), [NOTHING]);
        assert_eq!(changes(&[], &one)[0].remarks(&rules), ["s/m had no runs before."]);
        assert_eq!(
            violations(&changes(&one, &[]), &GateRules::default()),
            ["s/m has no runs now.", NOTHING]
        );
    }
}
