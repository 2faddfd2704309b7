//! **Pure.** Says in a few sentences which system is best, which are not shown to be worse, which is
//! lowest, and what the runs cannot tell yet. Means are never ranked by themselves: each claim is
//! that of a comparison in pairs, whose interval stands beside it.
use super::cell::Tasks;
use super::pairs::{Effect, effect_of};
use super::{Column, RowKey};
use crate::number_format::fixed;
use crate::stats::{Better, Resampling, Tendency, float, mean};
use std::collections::BTreeMap;

/// Maximum number of systems that are compared: those with the highest means, and the lowest one.
const MOST_COMPARED: usize = 20;
/// Number of rows above which fewer resamples are drawn, so that long tables stay quick.
const MANY_ROWS: usize = 2_000;
/// Number of resamples for long tables.
const ROUGH: usize = 1_000;
/// Number of systems that are named; further ones are counted.
const NAMED: usize = 4;
/// Smallest difference for which the number of missing tasks is estimated.
const SMALLEST: f64 = 0.01;

/// Mean scores of a system with a model, by task and variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// Mean over the repeats of each row.
    pub rows: BTreeMap<RowKey<'a>, f64>,
}

/// System with its mean.
struct Ranked<'r, 'a> {
    scores: &'r Scores<'a>,
    name: String,
    mean: f64,
}

/// Comparison of a system with the best one.
struct Compared<'s, 'r, 'a> {
    with: &'s Ranked<'r, 'a>,
    effect: Effect,
}

/// Describes the order of systems in sentences. Empty without any score.
pub fn headline(systems: &[Scores<'_>]) -> Vec<String> {
    let mut ranked: Vec<Ranked<'_, '_>> = systems.iter().filter_map(rank).collect();
    ranked.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    if ranked.len() > MOST_COMPARED {
        ranked.drain(MOST_COMPARED - 1..ranked.len() - 1);
    }
    let [first, others @ ..] = &ranked[..] else { return Vec::new() };
    if others.is_empty() {
        let rows = tasks(&first.scores.rows.keys().copied().collect::<Vec<_>>());
        let mean = fixed(first.mean, 2);
        return vec![format!("{}: {mean} on {rows}. There is no other system yet.", first.name)];
    }
    let best = find_best(&ranked);
    let (mut behind, mut tied, mut apart) = (Vec::new(), Vec::new(), Vec::new());
    for with in ranked.iter().filter(|one| !std::ptr::eq(*one, best)) {
        match compare(with, best) {
            None => apart.push(with),
            Some(effect) if is_shown(&effect, Tendency::Worse) => {
                behind.push(Compared { with, effect });
            }
            Some(effect) => tied.push(Compared { with, effect }),
        }
    }
    if behind.is_empty() && tied.is_empty() {
        return vec!["The systems have no task in common, so they are not compared.".to_owned()];
    }
    let top = fixed(best.mean, 2);
    let (equal, unclear): (Vec<_>, Vec<_>) =
        tied.into_iter().partition(|one| fixed(one.with.mean, 2) == top);
    let mut sentences = Vec::new();
    match (&equal[..], &behind[..]) {
        ([], [next, ..]) if unclear.is_empty() => sentences.push(format!(
            "{} is best: {top}, ahead of {} by {}.",
            best.name,
            next.with.name,
            distance(&next.effect)
        )),
        ([], _) => sentences.push(format!("{} is highest: {top}.", best.name)),
        _ => {
            let names = std::iter::once(best).chain(equal.iter().map(|one| one.with));
            sentences.push(format!("{} tie at {top}.", list(names)));
        }
    }
    let is_said = equal.is_empty() && unclear.is_empty() && behind.len() == 1;
    let rest = unclear.iter().chain(&behind);
    let last = rest.min_by(|a, b| a.with.mean.total_cmp(&b.with.mean)).filter(|_| !is_said);
    if let Some(Compared { with, effect }) = last {
        let (name, mean, below) = (&with.name, fixed(with.mean, 2), distance(effect));
        sentences.push(format!("{name} is lowest: {mean}, behind {} by {below}.", best.name));
    }
    // An interval that leaves out 0 would contradict the sentence.
    let unclear: Vec<_> = unclear.iter().filter(|one| includes_zero(&one.effect)).collect();
    if let [nearest, ..] = &unclear[..] {
        let are = if unclear.len() == 1 { "is" } else { "are" };
        let names = list(unclear.iter().map(|one| one.with));
        sentences.push(format!("{names} {are} not shown to differ from {}.", best.name));
        sentences.extend(describe_limit(best, nearest));
    }
    if !apart.is_empty() {
        let have = if apart.len() == 1 { "has" } else { "have" };
        let names = list(apart.into_iter());
        sentences.push(format!("{names} {have} no task in common with {}.", best.name));
    }
    sentences
}

fn rank<'r, 'a>(scores: &'r Scores<'a>) -> Option<Ranked<'r, 'a>> {
    let values: Vec<f64> = scores.rows.values().copied().collect();
    Some(Ranked { scores, name: scores.column.label(), mean: mean(&values)? })
}

/// Returns the system with the highest mean, unless another one is shown to be better on the rows
/// that both have.
fn find_best<'s, 'r, 'a>(ranked: &'s [Ranked<'r, 'a>]) -> &'s Ranked<'r, 'a> {
    let mut best = &ranked[0];
    for other in &ranked[1..] {
        let is_better =
            compare(other, best).is_some_and(|effect| is_shown(&effect, Tendency::Better));
        if is_better {
            best = other;
        }
    }
    best
}

/// Compares a system with another one in pairs. `None` if no row has scores of both.
fn compare(one: &Ranked<'_, '_>, other: &Ranked<'_, '_>) -> Option<Effect> {
    let rows = one.scores.rows.iter();
    let pairs: Vec<_> = rows
        .filter_map(|(key, score)| Some((*key, *score, *other.scores.rows.get(key)?)))
        .collect();
    let tasks = Tasks::new(pairs.iter().map(|(key, ..)| *key));
    let all = Resampling::default();
    let times = if pairs.len() > MANY_ROWS { ROUGH } else { all.times };
    effect_of(pairs.into_iter(), tasks, (Better::Higher, 1.0), Resampling { times, ..all })
}

/// Returns true if the test shows a tendency and the interval does not contradict it.
fn is_shown(effect: &Effect, tendency: Tendency) -> bool {
    effect.shown == tendency && (effect.interval.is_none() || !includes_zero(effect))
}

/// Returns true if the difference may be 0 by its interval, or if it has none.
fn includes_zero(effect: &Effect) -> bool {
    effect.interval.is_none_or(|it| it.low <= 0.0 && it.high >= 0.0)
}

/// Formats by how much a system is below another one: `0.42 (0.10 to 0.73) on 6 tasks`.
fn distance(effect: &Effect) -> String {
    let interval = effect
        .interval
        .map(|it| format!(" ({} to {})", fixed(-it.high, 2), fixed(-it.low, 2)))
        .unwrap_or_default();
    format!("{}{interval} on {}", fixed(-effect.difference, 2), units(effect))
}

/// Says what a comparison without a shown difference cannot tell, and what would.
fn describe_limit(best: &Ranked<'_, '_>, nearest: &Compared<'_, '_, '_>) -> Option<String> {
    let effect = &nearest.effect;
    let (size, units) = (effect.difference.abs(), units(effect));
    if size == 0.0 {
        return None;
    }
    let Some(least) = effect.detectable else {
        let units = if effect.units == 1 { "One task is" } else { &format!("{units} are") };
        let names = format!("{} and {}", best.name, nearest.with.name);
        return Some(format!("{units} too few to tell {names} apart."));
    };
    let limit = format!("A difference below {} would hardly show on {units}", fixed(least, 2));
    if size < SMALLEST {
        return Some(format!("{limit}."));
    }
    let wanted = (float(effect.units) * (least / size).powi(2)).ceil();
    let more = (wanted - float(effect.units)).max(1.0);
    Some(format!("{limit}; one of {} would need about {} more.", fixed(size, 2), fixed(more, 0)))
}

/// Returns the number of independent units: `6 tasks`, or variations if there is one task.
fn units(effect: &Effect) -> String {
    let name = if effect.tasks > 1 || effect.units == 1 { "task" } else { "variation" };
    counted(effect.units, name)
}

fn tasks(rows: &[RowKey<'_>]) -> String {
    let mut tasks: Vec<_> = rows.iter().map(|row| row.task).collect();
    tasks.dedup();
    counted(tasks.len() as u64, "task")
}

fn counted(count: u64, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// Joins names: `a, b and c`; more than `NAMED` are counted.
fn list<'s, 'r: 's, 'a: 'r>(systems: impl Iterator<Item = &'s Ranked<'r, 'a>>) -> String {
    let names: Vec<&str> = systems.map(|one| one.name.as_str()).collect();
    match &names[..] {
        [one] => (*one).to_owned(),
        [all @ .., last] if names.len() <= NAMED => format!("{} and {last}", all.join(", ")),
        _ => {
            let (shown, rest) = names.split_at(names.len().min(NAMED - 1));
            format!("{} and {} more", shown.join(", "), rest.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: [&str; 16] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"];

    fn scores<'a>(system: &'a str, values: &[f64]) -> Scores<'a> {
        let rows = TASKS.iter().zip(values).filter(|(_, score)| score.is_finite());
        let key = |task| RowKey { task: Some(task), variation: None, name: None };
        Scores {
            column: Column { system: Some(system), model: Some("o1") },
            rows: rows.map(|(task, score)| (key(*task), *score)).collect(),
        }
    }

    fn joined(systems: &[(&str, &[f64])]) -> String {
        let all: Vec<Scores<'_>> =
            systems.iter().map(|(system, values)| scores(system, values)).collect();
        headline(&all).join("\n")
    }

    #[test]
    fn one_system_is_told_without_a_rank_and_none_says_nothing() {
        assert_eq!(joined(&[]), "");
        assert_eq!(joined(&[("x", &[])]), "");
        insta::assert_snapshot!(
            joined(&[("x", &[0.5, 1.0])]),
            @"x/o1: 0.75 on 2 tasks. There is no other system yet."
        );
    }

    #[test]
    fn who_is_ahead_is_told_with_the_difference_and_its_interval() {
        let (high, low) = ([0.9; 8], [0.1, 0.2, 0.3, 0.2, 0.1, 0.3, 0.2, 0.2]);
        insta::assert_snapshot!(
            joined(&[("low", &low), ("high", &high)]),
            @"high/o1 is best: 0.90, ahead of low/o1 by 0.70 (0.64 to 0.76) on 8 tasks."
        );
    }

    #[test]
    fn those_that_are_not_shown_to_be_worse_tie_and_the_lowest_is_named() {
        let low = [0.1, 0.2, 0.3, 0.2, 0.1, 0.3, 0.2, 0.2];
        let near = [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0];
        insta::assert_snapshot!(
            joined(&[("low", &low), ("one", &[1.0; 8]), ("two", &near)]),
            @r"
        one/o1 is highest: 1.00.
        low/o1 is lowest: 0.20, behind one/o1 by 0.80 (0.74 to 0.86) on 8 tasks.
        two/o1 is not shown to differ from one/o1.
        8 tasks are too few to tell one/o1 and two/o1 apart.
        "
        );
        insta::assert_snapshot!(
            joined(&[("low", &low), ("one", &[1.0; 8]), ("two", &[1.0; 8])]),
            @r"
        one/o1 and two/o1 tie at 1.00.
        low/o1 is lowest: 0.20, behind one/o1 by 0.80 (0.74 to 0.86) on 8 tasks.
        "
        );
    }

    #[test]
    fn what_cannot_be_told_yet_is_said_with_what_would_tell_it() {
        let one: Vec<f64> = (0..16).map(|n| f64::from(n % 4) / 3.0).collect();
        let two: Vec<f64> = (0..16).map(|n| f64::from((n + 1) % 5) / 4.0).collect();
        insta::assert_snapshot!(
            joined(&[("one", &one), ("two", &two)]),
            @r"
        one/o1 is highest: 0.50.
        two/o1 is lowest: 0.48, behind one/o1 by 0.02 (-0.27 to 0.27) on 16 tasks.
        two/o1 is not shown to differ from one/o1.
        A difference below 0.37 would hardly show on 16 tasks; one of 0.02 would need about 9160 more.
        "
        );
        insta::assert_snapshot!(
            joined(&[("one", &[0.5]), ("two", &[1.0])]),
            @r"
        two/o1 is highest: 1.00.
        one/o1 is lowest: 0.50, behind two/o1 by 0.50 on 1 task.
        one/o1 is not shown to differ from two/o1.
        One task is too few to tell two/o1 and one/o1 apart.
        "
        );
        insta::assert_snapshot!(
            joined(&[("one", &[0.5, 1.0, 0.5]), ("two", &[1.0, 0.5, 1.0])]),
            @r"
        two/o1 is highest: 0.83.
        one/o1 is lowest: 0.67, behind two/o1 by 0.17 (-1.00 to 1.00) on 3 tasks.
        one/o1 is not shown to differ from two/o1.
        3 tasks are too few to tell two/o1 and one/o1 apart.
        "
        );
    }

    #[test]
    fn systems_without_a_task_in_common_are_not_ranked() {
        const NONE: f64 = f64::NAN;
        insta::assert_snapshot!(
            joined(&[("one", &[0.5, NONE]), ("two", &[NONE, 1.0])]),
            @"The systems have no task in common, so they are not compared."
        );
    }

    #[test]
    fn a_higher_mean_on_easier_tasks_makes_nobody_best() {
        // Both have the first eight tasks, where `hard` is better; `easy` alone has easy ones.
        let hard = [0.3, 0.4, 0.5, 0.4, 0.3, 0.5, 0.4, 0.4];
        let easy: Vec<f64> = (0..16).map(|n| if n < 8 { 0.0 } else { 1.0 }).collect();
        insta::assert_snapshot!(
            joined(&[("easy", &easy), ("hard", &hard)]),
            @"hard/o1 is best: 0.40, ahead of easy/o1 by 0.40 (0.34 to 0.46) on 8 tasks."
        );
    }
}
