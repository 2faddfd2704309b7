//! **Pure.** Compares the runs of each system with its earlier runs: the difference of the means,
//! and the tasks whose outcome changed. Decides whether the changes pass a gate.
use super::pairs::significant;
use super::{
    Column, Counted, DoubtKind, Effect, Group, Pairing, Row, RowKey, UnpairedReason, probability,
};
use crate::number_format::fixed;
use crate::stats::Tendency;
use std::collections::{BTreeMap, BTreeSet};

/// Number of tasks that a sentence names; further ones are only counted.
const NAMED: usize = 5;

/// A system with a model, now and before.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// Aggregate of its runs now.
    pub now: Group<'a>,
    /// Aggregate of its earlier runs.
    pub before: Group<'a>,
    /// Comparison of the runs now with the earlier ones.
    pub pairing: Pairing<'a>,
    /// Tasks and variations whose outcome changed, in order.
    pub rows: Vec<RowChange<'a>>,
}

/// Changed outcome of a task in a variation.
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
    /// There is a score now, and there was none.
    Added,
}

/// Requirements that changes have to meet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GateRules {
    /// Lowest allowed mean score of each system.
    pub fail_under: Option<f64>,
    /// Lowest allowed mean score of a task, by task.
    pub thresholds: BTreeMap<String, f64>,
    /// Number of new failures that each system may have.
    pub new_failures: usize,
    /// True to allow tasks without a score that had one.
    pub allow_missing: bool,
}

/// Compares runs with earlier ones, system by system. A system that is on one side only has no
/// pairs, and its tasks are lost or added.
pub fn changes<'a>(before: &[Counted<'a>], now: &[Counted<'a>]) -> Vec<Changes<'a>> {
    let runs: Vec<Counted<'a>> = now.iter().chain(before).copied().collect();
    let columns: BTreeSet<Column<'a>> = runs.iter().map(Counted::column).collect();
    let of = |column: Column<'a>, range: std::ops::Range<usize>| {
        let places =
            range.filter(|at| runs.get(*at).is_some_and(|run| run.column() == column)).collect();
        Group::new(column, &runs, places)
    };
    let compare = |column| {
        let groups = [of(column, 0..now.len()), of(column, now.len()..runs.len())];
        let pairing = Pairing::new(&runs, &groups, 0, 1)?;
        let [now, before] = groups;
        let rows = row_changes(&now, &before, &pairing);
        Some(Changes { column, now, before, pairing, rows })
    };
    columns.into_iter().filter_map(compare).collect()
}

fn row_changes<'a>(
    now: &Group<'a>,
    before: &Group<'a>,
    pairing: &Pairing<'a>,
) -> Vec<RowChange<'a>> {
    let paired = pairing.pairs.iter().filter_map(|pair| {
        let kind = outcome_change(now.row(pair.key)?, before.row(pair.key)?)?;
        Some(RowChange { key: pair.key, kind })
    });
    let unpaired = pairing.unpaired.iter().map(|row| RowChange {
        key: row.key,
        kind: if row.in_baseline { ChangeKind::Added } else { ChangeKind::Lost(row.why) },
    });
    let mut rows: Vec<RowChange<'a>> = paired.chain(unpaired).collect();
    rows.sort_by_key(|row| row.key);
    rows
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

impl<'a> Changes<'a> {
    /// Returns the rows with this kind of change.
    pub fn rows_of(&self, kind: ChangeKind) -> Vec<RowKey<'a>> {
        self.rows.iter().filter(|row| row.kind == kind).map(|row| row.key).collect()
    }

    fn lost(&self) -> Vec<RowKey<'a>> {
        let lost = |row: &&RowChange<'a>| matches!(row.kind, ChangeKind::Lost(_));
        self.rows.iter().filter(lost).map(|row| row.key).collect()
    }
}

impl Changes<'_> {
    /// Returns the requirements that are not met, in sentences; empty if all are.
    pub fn violations(&self, rules: &GateRules) -> Vec<String> {
        let name = self.column.label();
        let mut found = Vec::new();
        if let Some(effect) = self.pairing.score.as_ref().filter(|effect| is_worse(effect)) {
            found.push(format!("{name} is worse than before: {}.", difference(effect)));
        }
        let failed = self.rows_of(ChangeKind::Failed);
        if failed.len() > rules.new_failures {
            found.push(format!("{name} fails {} that passed: {}.", tasks(&failed), named(&failed)));
        }
        let lost = self.lost();
        if !rules.allow_missing && !lost.is_empty() {
            found.push(without_score(&name, self, &lost));
        }
        let mean = self.now.cell.score.map(|score| score.value);
        if let (Some(least), Some(mean)) = (rules.fail_under, mean)
            && mean < least
        {
            let (mean, least) = (fixed(mean, 3), fixed(least, 3));
            found.push(format!("{name} scores {mean} on average, below {least}."));
        }
        found.extend(thresholds(self, &name, rules));
        found
    }

    /// Describes changes that no requirement is about: improvements, flaky tasks, and costs.
    pub fn remarks(&self) -> Vec<String> {
        let name = self.column.label();
        if self.before.runs.is_empty() {
            return vec![format!("{name} is not in the baseline.")];
        }
        if self.now.runs.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        if let Some(effect) = self.pairing.score.as_ref().filter(|effect| !is_worse(effect)) {
            let verdict = match significant(effect) {
                Tendency::Better => "is better than before",
                _ => "shows no difference",
            };
            found.push(format!("{name} {verdict}: {}.", difference(effect)));
        }
        let kinds = [
            (ChangeKind::Fixed, "passes", "that failed"),
            (ChangeKind::Flaky, "has another result for", "whose repeats disagree"),
            (ChangeKind::Added, "has a score for", "that had none"),
        ];
        for (kind, verb, which) in kinds {
            let rows = self.rows_of(kind);
            if !rows.is_empty() {
                found.push(format!("{name} {verb} {} {which}: {}.", tasks(&rows), named(&rows)));
            }
        }
        let amounts = [
            (&self.pairing.tokens, "tokens", 0, ""),
            (&self.pairing.cost, "money", 4, "$"),
            (&self.pairing.seconds, "seconds", 1, ""),
        ];
        for (effect, what, digits, unit) in amounts {
            if let Some(effect) = effect.as_ref().filter(|effect| is_worse(effect)) {
                found.push(format!(
                    "{name} takes more {what}: {unit}{} per run, was {unit}{} ({}).",
                    fixed(effect.value, digits),
                    fixed(effect.baseline, digits),
                    effect.p.map_or(String::new(), |p| probability(p.p)),
                ));
            }
        }
        for doubt in &self.pairing.doubts {
            let why = match doubt.kind {
                DoubtKind::Scorer => "scored by another scorer",
                DoubtKind::ScoredAgainst => {
                    "scored against another task text, expected output or version of the scorer"
                }
                DoubtKind::Nudged => "with follow-up messages on one side only",
            };
            let rows = &doubt.rows;
            found.push(format!("{name} has {} {why}: {}.", tasks(rows), named(rows)));
        }
        found
    }
}

fn without_score(name: &str, one: &Changes<'_>, lost: &[RowKey<'_>]) -> String {
    if one.now.runs.is_empty() {
        return format!("{name} has no runs now.");
    }
    let reasons = [
        (UnpairedReason::Errors, "ended in errors"),
        (UnpairedReason::NotEnded, "not ended"),
        (UnpairedReason::Missing, "without a run"),
        (UnpairedReason::Unscored, "not scored"),
    ];
    let parts: Vec<String> = reasons
        .iter()
        .filter_map(|(why, words)| {
            let rows = one.rows_of(ChangeKind::Lost(*why));
            (!rows.is_empty()).then(|| format!("{} {words}", rows.len()))
        })
        .collect();
    format!(
        "{name} has no score for {} that had one ({}): {}.",
        tasks(lost),
        parts.join(", "),
        named(lost)
    )
}

/// Returns the tasks with a mean score below their threshold.
fn thresholds(one: &Changes<'_>, name: &str, rules: &GateRules) -> Vec<String> {
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in &one.now.rows {
        if let (Some(task), Some(score)) = (row.key.task, row.score) {
            scores.entry(task).or_default().push(score);
        }
    }
    let below = |(task, least): (&String, &f64)| {
        let mean = crate::stats::mean(scores.get(task.as_str())?)?;
        (mean < *least).then(|| {
            let (mean, least) = (fixed(mean, 3), fixed(*least, 3));
            format!("{name} scores {mean} on {task}, below its threshold of {least}.")
        })
    };
    rules.thresholds.iter().filter_map(below).collect()
}

/// Returns true if both the test and the interval show that it is worse.
fn is_worse(effect: &Effect) -> bool {
    significant(effect) == Tendency::Worse
}

/// Describes the difference of the mean scores, with its interval.
fn difference(effect: &Effect) -> String {
    let interval = match effect.interval {
        Some(it) => format!(", 95 % interval {} to {}", signed(it.low), signed(it.high)),
        None => String::new(),
    };
    format!(
        "{}, was {} (difference {}{interval}) on {}",
        fixed(effect.value, 3),
        fixed(effect.baseline, 3),
        signed(effect.difference),
        if effect.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", effect.tasks) },
    )
}

fn signed(value: f64) -> String {
    let size = fixed(value.abs(), 3);
    if value < 0.0 && size != "0.000" { format!("−{size}") } else { size }
}

/// Returns the number of rows as tasks.
fn tasks(rows: &[RowKey<'_>]) -> String {
    if rows.len() == 1 { "1 task".to_owned() } else { format!("{} tasks", rows.len()) }
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
        changes.iter().flat_map(|one| one.violations(rules)).collect()
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
            (&[1.0, 1.0, 0.0], &[0.0], Some(ChangeKind::Flaky)),
            (&[1.0], &[1.0, 0.0], Some(ChangeKind::Flaky)),
            (&[1.0, 1.0, 0.0], &[1.0], None),
            (&[1.0], &[1.0], None),
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

    #[test]
    fn an_error_is_a_lost_score_and_no_failure() {
        assert_eq!(
            kinds(&[run(A, Some(1.0))], &[run(A, None)]),
            [ChangeKind::Lost(UnpairedReason::Errors)]
        );
        let changes = changes(&[run(A, Some(1.0))], &[run(A, None)]);
        assert_eq!(
            violations(&changes, &GateRules::default()),
            ["s/m has no score for 1 task that had one (1 ended in errors): a."]
        );
        let rules = GateRules { allow_missing: true, ..GateRules::default() };
        assert_eq!(violations(&changes, &rules), [] as [&str; 0]);
    }

    #[test]
    fn a_gate_names_what_fails_and_what_each_rule_allows() {
        const TASKS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let before: Vec<_> = TASKS.iter().map(|task| run(task, Some(1.0))).collect();
        let now: Vec<_> = TASKS
            .iter()
            .enumerate()
            .map(|(at, task)| run(task, Some(if at < 7 { 0.0 } else { 1.0 })))
            .collect();
        let changes = changes(&before, &now);
        let thresholds = [("a".to_owned(), 0.5), ("l".to_owned(), 0.5), ("z".to_owned(), 0.5)];
        let rules = GateRules {
            fail_under: Some(0.9),
            thresholds: thresholds.into_iter().collect(),
            ..GateRules::default()
        };
        insta::assert_snapshot!(violations(&changes, &rules).join("\n"), @"
        s/m is worse than before: 0.417, was 1.000 (difference −0.583, 95 % interval −0.917 to −0.250) on 12 tasks.
        s/m fails 7 tasks that passed: a, b, c, d, e and 2 more.
        s/m scores 0.417 on average, below 0.900.
        s/m scores 0.000 on a, below its threshold of 0.500.
        ");
        let lenient = GateRules { new_failures: 7, ..GateRules::default() };
        assert_eq!(violations(&changes, &lenient).len(), 1, "the mean is still worse");
        assert_eq!(
            violations(&self::changes(&before, &before), &GateRules::default()),
            [] as [&str; 0]
        );
    }

    #[test]
    fn a_system_on_one_side_only_is_lost_or_new() {
        let one = [run(A, Some(1.0))];
        let violated =
            |before: &[_], now: &[_]| violations(&changes(before, now), &GateRules::default());
        assert_eq!(violated(&one, &[]), ["s/m has no runs now."]);
        assert_eq!(violated(&[], &one), [] as [&str; 0]);
        assert_eq!(changes(&[], &one)[0].remarks(), ["s/m is not in the baseline."]);
    }
}
