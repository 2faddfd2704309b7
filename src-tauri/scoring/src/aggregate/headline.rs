//! **Pure.** Says in a few sentences which system is best, which are not shown to be worse, which is
//! lowest, and what the runs cannot tell yet. Means are never ranked by themselves: each claim is
//! that of a comparison in pairs, whose interval stands beside it.
use super::cell::Tasks;
use super::pairs::{Effect, effect_of};
use super::{Column, RowKey};
use std::collections::BTreeMap;
use touchstone_metrics::number_format::fixed;
use touchstone_metrics::stats::{Better, Resampling, Tendency, float};

/// Maximum number of systems that are compared: those with the highest means, and the lowest one.
/// The page shows fewer.
const MOST_COMPARED: usize = 200;
/// Maximum and minimum number of resamples of a comparison, and how many rows are drawn for all
/// systems, so that long tables stay quick.
const TIMES: (usize, usize) = (10_000, 100);
const DRAWN_ROWS: usize = 40_000_000;
/// Number of systems up to which a comparison draws the same number of rows.
const FEW: usize = 20;
/// Number of systems that are named; further ones are counted.
const NAMED: usize = 4;
/// Smallest difference for which the number of missing tasks is estimated.
const SMALLEST: f64 = 0.01;

/// Mean scores of a system with a model, by task and variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores<'a> {
    /// System and model.
    pub column: Column<'a>,
    /// Mean over all its runs with a score, as in a leaderboard; each run counts the same.
    pub mean: Option<f64>,
    /// Mean over the repeats of each row, which comparisons use.
    pub rows: BTreeMap<RowKey<'a>, f64>,
}

/// Order of systems, as far as their scores show one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ranking {
    /// Description in sentences; empty without any score.
    pub sentences: Vec<String>,
    /// Standing of each system, and the comparison that it rests on, as a sentence. `None` without
    /// scores, for a single system, and for those in the middle of more than 200.
    pub standings: Vec<Option<(Standing, String)>>,
    /// Index of the best or highest system, with which the others were compared. `None` if no system is
    /// better than all others but another one is shown to be better than it.
    pub best: Option<usize>,
}

/// Standing of a system beside the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// All others are shown to be worse.
    Best,
    /// It is not shown to differ from the highest one, or it is the highest one of these.
    Tied,
    /// It is shown to be worse than the best or highest one.
    Behind,
    /// Neither is shown: no system is better than all others, or the test and the interval of the
    /// difference disagree.
    Open,
    /// It has no row in common with the best or highest one.
    Apart,
}

/// System with its mean.
struct Ranked<'r, 'a> {
    /// Index of the system.
    at: usize,
    scores: &'r Scores<'a>,
    name: String,
    mean: f64,
}

/// Comparison of a system with the best one.
struct Compared<'s, 'r, 'a> {
    with: &'s Ranked<'r, 'a>,
    effect: Effect,
}

/// Ranks systems by comparisons in pairs, and describes the order in sentences.
pub fn rank_systems(systems: &[Scores<'_>]) -> Ranking {
    let standings = vec![None; systems.len()];
    let mut ranking = Ranking { standings, ..Ranking::default() };
    let mut sentences = describe(systems, &mut ranking);
    let references = systems.iter().filter(|one| is_reference(one.column)).filter_map(rank);
    sentences.extend(references.map(|one| {
        format!("{} is a reference solution, and is not ranked: {}.", one.name, fixed(one.mean, 2))
    }));
    Ranking { sentences, ..ranking }
}

impl Ranking {
    fn set(&mut self, at: usize, standing: Standing, why: String) {
        if let Some(known) = self.standings.get_mut(at) {
            *known = Some((standing, why));
        }
    }
}

/// Returns true for runs of the reference solution of a task, such as those of Harbor's agent
/// `oracle`: they show that a task can be solved, and no model made them.
fn is_reference(column: Column<'_>) -> bool {
    column.system == Some("oracle") && column.model.is_none()
}

/// Describes the order of systems, and sets the standing of each. Empty without any score.
fn describe(systems: &[Scores<'_>], ranking: &mut Ranking) -> Vec<String> {
    let ranked = systems.iter().enumerate().filter(|(_, one)| !is_reference(one.column));
    let mut ranked: Vec<Ranked<'_, '_>> =
        ranked.filter_map(|(at, one)| Some(Ranked { at, ..rank(one)? })).collect();
    // Equal ones are in the order of the overview: unknown systems and models come last.
    let order = |one: &Ranked<'_, '_>| {
        let Column { system, model } = one.scores.column;
        (system.is_none(), system.map(str::to_owned), model.is_none(), model.map(str::to_owned))
    };
    // Means that differ only by the order in which they were added up are equal.
    let level = |one: &Ranked<'_, '_>| (one.mean * 1e12).round();
    ranked.sort_by(|a, b| level(b).total_cmp(&level(a)).then_with(|| order(a).cmp(&order(b))));
    if ranked.len() > MOST_COMPARED {
        ranked.drain(MOST_COMPARED - 1..ranked.len() - 1);
    }
    let [first, others @ ..] = &ranked[..] else { return Vec::new() };
    if others.is_empty() {
        let rows = tasks(&first.scores.rows.keys().copied().collect::<Vec<_>>());
        let mean = fixed(first.mean, 2);
        return vec![format!("{}: {mean} on {rows}. No other system has scores here.", first.name)];
    }
    let Some((best, compared)) = find_best(&ranked) else {
        return vec!["The systems have no rows in common, so they are not compared.".to_owned()];
    };
    let (behind, rest): (Vec<_>, Vec<_>) =
        compared.iter().partition(|one| is_shown(&one.effect, Tendency::Worse));
    // Shown as better, but not than all others: nobody is best then.
    let is_beaten = rest.iter().any(|one| is_shown(&one.effect, Tendency::Better));
    let is_tied = rest.iter().any(|one| includes_zero(&one.effect));
    let own_standing = if is_tied { Standing::Tied } else { Standing::Open };
    let own = match (is_beaten, rest.is_empty()) {
        (true, _) => (Standing::Open, "No system is better than all others."),
        (false, true) => (Standing::Best, "All others are shown to be worse."),
        (false, false) => (own_standing, "Highest, but not shown to be better than all others."),
    };
    ranking.set(best.at, own.0, own.1.to_owned());
    ranking.best = (!is_beaten).then_some(best.at);
    for one in &behind {
        let why = format!("Below {} by {}.", best.name, distance(&one.effect));
        ranking.set(one.with.at, Standing::Behind, why);
    }
    for one in &rest {
        let difference = signed(&one.effect);
        let (standing, why) = if !includes_zero(&one.effect) {
            (
                Standing::Open,
                format!("{} {}.", below(&one.effect, &best.name), undecided(&one.effect)),
            )
        } else if is_beaten {
            (Standing::Open, format!("{difference} from {}.", best.name))
        } else {
            (Standing::Tied, format!("Not shown to differ from {}: {difference}.", best.name))
        };
        ranking.set(one.with.at, standing, why);
    }
    let (equal, unclear): (Vec<&Compared<'_, '_, '_>>, Vec<_>) =
        rest.into_iter().partition(|one| fixed(one.effect.difference.abs(), 2) == "0.00");
    let top = fixed(best.mean, 2);
    let mut sentences = Vec::new();
    if is_beaten {
        sentences.push("No system is better than all others.".to_owned());
    } else if !equal.is_empty() {
        let names = std::iter::once(best).chain(equal.iter().map(|one| one.with));
        sentences.push(format!(
            "{} are highest and not shown to differ: {}.",
            list(names),
            shared_mean(&equal)
        ));
    } else if let ([next, ..], []) = (&behind[..], &unclear[..]) {
        let ahead = distance(&next.effect);
        sentences
            .push(format!("{} is best: {top}, ahead of {} by {ahead}.", best.name, next.with.name));
    } else {
        sentences.push(format!("{} is highest: {top}.", best.name));
    }
    let is_said = equal.is_empty() && unclear.is_empty() && behind.len() == 1;
    // Whose interval includes 0 is not said to be behind.
    let last = unclear
        .iter()
        .chain(&behind)
        .filter(|one| one.effect.difference < 0.0 && !includes_zero(&one.effect));
    let last = last.min_by(|a, b| a.effect.difference.total_cmp(&b.effect.difference));
    if let Some(Compared { with, effect }) = last.filter(|_| !is_said && !is_beaten) {
        sentences.push(if is_shown(effect, Tendency::Worse) {
            let by = distance(effect);
            format!("{} is furthest behind {}: by {by}.", with.name, best.name)
        } else {
            let by = below(effect, &best.name);
            format!("{} has the lowest mean: {by} {}.", with.name, undecided(effect))
        });
    }
    // An interval that leaves out 0 would contradict the sentence.
    let unclear: Vec<_> = unclear.into_iter().filter(|one| includes_zero(&one.effect)).collect();
    if let [nearest, ..] = &unclear[..] {
        let are = if unclear.len() == 1 { "is" } else { "are" };
        let names = list(unclear.iter().map(|one| one.with));
        sentences.push(format!("{names} {are} not shown to differ from {}.", best.name));
        sentences.extend(describe_limit(best, nearest));
    }
    let is_compared =
        |one: &Ranked<'_, '_>| compared.iter().any(|other| std::ptr::eq(other.with, one));
    let apart: Vec<_> =
        ranked.iter().filter(|one| !std::ptr::eq(*one, best) && !is_compared(one)).collect();
    for one in &apart {
        let why = format!("No row in common with {}.", best.name);
        ranking.set(one.at, Standing::Apart, why);
    }
    if !apart.is_empty() {
        let have = if apart.len() == 1 { "has" } else { "have" };
        let names = list(apart.into_iter());
        sentences.push(format!("{names} {have} no row in common with {}.", best.name));
    }
    sentences
}

/// Returns a system with its mean; `None` without scores of tasks, which others could share.
fn rank<'r, 'a>(scores: &'r Scores<'a>) -> Option<Ranked<'r, 'a>> {
    let mean = scores.mean.filter(|_| !scores.rows.is_empty())?;
    Some(Ranked { at: 0, scores, name: scores.column.label(), mean })
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

/// Returns the mean that systems have on the tasks that they share with the highest one:
/// `1.00 on the same 8 tasks`.
fn shared_mean(equal: &[&Compared<'_, '_, '_>]) -> String {
    let means: Vec<String> = equal
        .iter()
        .map(|one| format!("{} on the same {}", fixed(one.effect.baseline, 2), units(&one.effect)))
        .collect();
    match &means[..] {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => {
            first.replace("the same 1 ", "the same ")
        }
        _ => "equal means on the tasks that they share".to_owned(),
    }
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

/// Formats a difference that is not shown, without an interval, which would contradict that:
/// `0.35 lower than a/o1 on 6 tasks,`.
fn below(effect: &Effect, name: &str) -> String {
    let (size, word) = match effect.difference {
        lower if lower < 0.0 => (-lower, "lower"),
        higher => (higher, "higher"),
    };
    format!("{} {word} than {name} on {},", fixed(size, 2), units(effect))
}

/// Says which test decides, and that it shows no difference.
fn undecided(effect: &Effect) -> String {
    let p = effect.p.map(|p| format!(" (p = {})", fixed(p.p, 2))).unwrap_or_default();
    format!("but the paired test, which decides, does not show a difference{p}")
}

/// Formats the difference of a system from another one: `-0.02 (-0.10 to 0.05) on 6 tasks`.
fn signed(effect: &Effect) -> String {
    let interval = effect
        .interval
        .map(|it| format!(" ({} to {})", fixed(it.low, 2), fixed(it.high, 2)))
        .unwrap_or_default();
    format!("{}{interval} on {}", fixed(effect.difference, 2), units(effect))
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

    const LOW: [f64; 8] = [0.1, 0.2, 0.3, 0.2, 0.1, 0.3, 0.2, 0.2];
    const NONE: f64 = f64::NAN;

    fn scores<'a>(system: &'a str, values: &[f64]) -> Scores<'a> {
        let rows = TASKS.iter().zip(values).filter(|(_, score)| score.is_finite());
        let key = |task| RowKey { task: Some(task), variation: None, name: None };
        let known: Vec<f64> = values.iter().copied().filter(|score| score.is_finite()).collect();
        Scores {
            mean: touchstone_metrics::stats::mean(&known),
            column: Column { system: Some(system), model: Some("o1") },
            rows: rows.map(|(task, score)| (key(*task), *score)).collect(),
        }
    }

    fn joined(systems: &[(&str, &[f64])]) -> String {
        let all: Vec<Scores<'_>> =
            systems.iter().map(|(system, values)| scores(system, values)).collect();
        rank_systems(&all).sentences.join("\n")
    }

    #[test]
    fn one_system_is_told_without_a_rank_and_none_says_nothing() {
        assert_eq!(joined(&[]), "");
        assert_eq!(joined(&[("x", &[])]), "");
        insta::assert_snapshot!(
            joined(&[("x", &[0.5, 1.0])]),
            @"x/o1: 0.75 on 2 tasks. No other system has scores here."
        );
    }

    #[test]
    fn who_is_ahead_is_told_with_the_difference_and_its_interval() {
        insta::assert_snapshot!(
            joined(&[("low", &LOW), ("high", &[0.9; 8])]),
            @"high/o1 is best: 0.90, ahead of low/o1 by 0.70 (0.64 to 0.76) on 8 tasks."
        );
    }

    #[test]
    fn those_that_are_not_shown_to_be_worse_are_named_with_the_furthest_behind() {
        let near = [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0];
        insta::assert_snapshot!(
            joined(&[("low", &LOW), ("one", &[1.0; 8]), ("two", &near)]),
            @r"
        one/o1 is highest: 1.00.
        low/o1 is furthest behind one/o1: by 0.80 (0.74 to 0.86) on 8 tasks.
        two/o1 is not shown to differ from one/o1.
        8 tasks are too few to tell one/o1 and two/o1 apart.
        "
        );
        insta::assert_snapshot!(
            joined(&[("low", &LOW), ("one", &[1.0; 8]), ("two", &[1.0; 8])]),
            @r"
        one/o1 and two/o1 are highest and not shown to differ: 1.00 on the same 8 tasks.
        low/o1 is furthest behind one/o1: by 0.80 (0.74 to 0.86) on 8 tasks.
        "
        );
    }

    #[test]
    fn a_reference_solution_is_named_and_not_ranked() {
        let oracle = Column { system: Some("oracle"), model: None };
        let known = scores("low", &LOW);
        let all = [Scores { column: oracle, ..scores("x", &[1.0; 8]) }, known];
        let told = rank_systems(&all);
        let last = told.sentences.last().unwrap();
        assert_eq!(last, "oracle is a reference solution, and is not ranked: 1.00.");
        assert!(told.sentences[0].starts_with("low/o1: "), "{:?}", told.sentences);
        assert_eq!(told.standings[0], None);
    }

    #[test]
    fn a_distance_that_the_test_does_not_show_is_told_with_its_p() {
        insta::assert_snapshot!(
            joined(&[("low", &[0.1, 0.3, 0.2, 0.4, 0.1]), ("high", &[1.0; 5])]),
            @r"
        high/o1 is highest: 1.00.
        low/o1 has the lowest mean: 0.78 lower than high/o1 on 5 tasks, but the paired test, which decides, does not show a difference (p = 0.06).
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
        two/o1 is not shown to differ from one/o1.
        A difference below 0.37 would hardly show on 16 tasks; one of 0.02 would need about 9160 more.
        "
        );
        insta::assert_snapshot!(
            joined(&[("one", &[0.5]), ("two", &[1.0])]),
            @r"
        two/o1 is highest: 1.00.
        one/o1 is not shown to differ from two/o1.
        One task is too few to tell two/o1 and one/o1 apart.
        "
        );
    }

    #[test]
    fn systems_without_a_row_in_common_are_not_ranked() {
        insta::assert_snapshot!(
            joined(&[("one", &[0.5, NONE]), ("two", &[NONE, 1.0])]),
            @"The systems have no rows in common, so they are not compared."
        );
        // One that stands alone is not best, though its mean is the highest.
        let alone: Vec<f64> = (0..9).map(|n| if n < 8 { NONE } else { 1.0 }).collect();
        insta::assert_snapshot!(
            joined(&[("alone", &alone), ("low", &LOW), ("high", &[0.9; 8])]),
            @r"
        high/o1 is best: 0.90, ahead of low/o1 by 0.70 (0.64 to 0.76) on 8 tasks.
        alone/o1 has no row in common with high/o1.
        "
        );
    }

    #[test]
    fn a_mean_over_other_tasks_is_no_reason_to_be_best_behind_or_tied() {
        // Both have the first eight tasks, where `hard` is better; `easy` alone has easy ones.
        let hard = [0.3, 0.4, 0.5, 0.4, 0.3, 0.5, 0.4, 0.4];
        let easy: Vec<f64> = (0..16).map(|n| if n < 8 { 0.0 } else { 1.0 }).collect();
        insta::assert_snapshot!(
            joined(&[("easy", &easy), ("hard", &hard)]),
            @"hard/o1 is best: 0.40, ahead of easy/o1 by 0.40 (0.34 to 0.46) on 8 tasks."
        );
        // Half of the tasks of `ended` are hard ones that `going` has not come to.
        let ended = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let told = joined(&[("ended", &ended), ("going", &[0.5, 0.5, 0.5, 0.5])]);
        assert!(!told.contains("the same") && !told.contains("by -"), "{told}");
    }

    fn standings(systems: &[(&str, &[f64])]) -> Vec<Option<Standing>> {
        let all: Vec<Scores<'_>> =
            systems.iter().map(|(system, values)| scores(system, values)).collect();
        rank_systems(&all).standings.into_iter().map(|it| it.map(|(it, _)| it)).collect()
    }

    #[test]
    fn means_that_differ_by_rounding_alone_are_equal() {
        let (up, down) = ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]);
        assert!(up.iter().sum::<f64>() > down.iter().sum());
        let told = joined(&[("b", &up), ("a", &down)]);
        assert!(told.starts_with("a/o1 "), "{told}");
    }

    #[test]
    fn what_the_scores_cannot_tell_apart_is_tied() {
        let near = [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0];
        let alone: Vec<f64> = (0..9).map(|n| if n < 8 { NONE } else { 1.0 }).collect();
        let [best, tied, behind, apart] =
            [Standing::Best, Standing::Tied, Standing::Behind, Standing::Apart].map(Some);
        assert_eq!(standings(&[("low", &LOW), ("high", &[0.9; 8])]), [behind, best]);
        assert_eq!(
            standings(&[("low", &LOW), ("one", &[1.0; 8]), ("two", &near), ("none", &[])]),
            [behind, tied, tied, None]
        );
        assert_eq!(
            standings(&[("alone", &alone), ("low", &LOW), ("high", &[0.9; 8])]),
            [apart, behind, best]
        );
        let best = |systems: &[(&str, &[f64])]| {
            let all: Vec<_> = systems.iter().map(|(system, of)| scores(system, of)).collect();
            rank_systems(&all).best
        };
        assert_eq!(best(&[("alone", &alone), ("low", &LOW), ("high", &[0.9; 8])]), Some(2));
        assert_eq!(best(&[("one", &[1.0])]), None, "nothing is compared");
        assert_eq!(standings(&[("one", &[1.0])]), [None], "one alone has no rank");
        assert_eq!(
            standings(&[("one", &[0.5, NONE]), ("two", &[NONE, 1.0])]),
            [None, None],
            "nothing is compared"
        );
    }

    #[test]
    fn the_mean_is_that_of_the_leaderboard_and_the_difference_that_of_the_tasks() {
        // Of `low`, the bad task was repeated nine times.
        let low = Scores { mean: Some(0.1), ..scores("low", &[1.0, 0.0]) };
        let high = scores("high", &[1.0, 0.5]);
        let told = rank_systems(&[low, high]).sentences;
        assert_eq!(told[0], "high/o1 is highest: 0.75.");
        assert_eq!(told[1], "low/o1 is not shown to differ from high/o1.");
    }

    #[test]
    fn each_of_many_systems_has_a_standing() {
        let names: Vec<String> = (0..60).map(|at| format!("s{at}")).collect();
        let all: Vec<(&str, &[f64])> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.as_str(), if at == 0 { &[0.9; 8][..] } else { &LOW[..] }))
            .collect();
        assert!(standings(&all).iter().all(Option::is_some));
    }

    #[test]
    fn no_sentence_names_a_distance_below_zero() {
        let values = [0.0, 0.25, 0.5, 0.75, 1.0, NONE];
        proptest::proptest!(|(picks in proptest::collection::vec(
            proptest::collection::vec(0..values.len(), 0..10), 0..6))| {
            let systems: Vec<Vec<f64>> =
                picks.iter().map(|one| one.iter().map(|at| values[*at]).collect()).collect();
            let names = ["a", "b", "c", "d", "e", "f"];
            let all: Vec<(&str, &[f64])> =
                names.iter().copied().zip(systems.iter().map(Vec::as_slice)).collect();
            let told = joined(&all);
            proptest::prop_assert!(!told.contains("by -"), "{}", told);
        });
    }
}
