//! **Pure.** Ranks systems, and says in a few sentences which is best, which are not shown to differ
//! from it, and how that is known. The page, reports and the command line show these words.
use super::RowKey;
use super::pairs::Effect;
use super::ranking::{
    Compared, Comparison, MOST_COMPARED, Ranked, Scores, Standing, compare_all, includes_zero,
    is_shown, is_solution, sorted,
};
use touchstone_metrics::number_format::{self, fixed};
use touchstone_metrics::stats::{Tendency, float};

/// Number of systems that are named; further ones are counted. Fewer are named in the first sentence.
const NAMED: usize = 4;
const NAMED_FIRST: usize = 2;
/// Smallest difference for which the number of missing tasks is estimated.
const SMALLEST: f64 = 0.01;

/// Order of systems, as far as their scores show one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ranking {
    /// Who is best or highest, and who is not shown to differ from it, in one sentence; then how
    /// that is known. Empty without any score.
    pub sentences: Vec<String>,
    /// Standing of each system, and the comparison that it rests on, as a sentence. `None` without
    /// scores of tasks, and where no two systems are compared.
    pub standings: Vec<Option<(Standing, String)>>,
    /// Index of the best or highest system, with which the others were compared. `None` if no system is
    /// better than all others but another one is shown to be better than it.
    pub best: Option<usize>,
}

/// Ranks systems by comparisons in pairs, and describes the order in sentences.
pub fn rank_systems(systems: &[Scores<'_>]) -> Ranking {
    let (solutions, mut rest): (Vec<_>, Vec<_>) =
        sorted(systems).into_iter().partition(|one| is_solution(one.scores.column));
    let uncompared: Vec<Ranked<'_, '_>> = match rest.len() {
        all if all > MOST_COMPARED => rest.drain(MOST_COMPARED - 1..all - 1).collect(),
        _ => Vec::new(),
    };
    let comparison = compare_all(&rest, !uncompared.is_empty());
    let mut standings = vec![None; systems.len()];
    let mut set = |one: &Ranked<'_, '_>, standing: Standing, why: String| {
        if let Some(known) = standings.get_mut(one.at) {
            *known = Some((standing, why));
        }
    };
    for one in &solutions {
        set(one, Standing::Solution, "It is the reference solution of the tasks.".to_owned());
    }
    for one in &uncompared {
        let why = "There are too many systems to compare all of them.";
        set(one, Standing::Open, why.to_owned());
    }
    if let Some(comparison) = &comparison {
        let best = comparison.best;
        set(best, comparison.own, reason_of_best(comparison.own).to_owned());
        for (one, standing) in &comparison.others {
            set(one.with, *standing, reason(comparison, one, *standing));
        }
        for one in &comparison.apart {
            set(one, Standing::Apart, format!("No tasks in common with {}.", best.name));
        }
    }
    Ranking {
        sentences: sentences(&rest, comparison.as_ref(), &solutions),
        standings,
        best: comparison.filter(|it| !it.is_beaten()).map(|it| it.best.at),
    }
}

/// Describes the order of systems: the answer, and how it is known. Empty without any score.
fn sentences(
    ranked: &[Ranked<'_, '_>],
    comparison: Option<&Comparison<'_, '_, '_>>,
    solutions: &[Ranked<'_, '_>],
) -> Vec<String> {
    let mut sentences = match (ranked, comparison) {
        ([], _) => Vec::new(),
        (_, Some(comparison)) => {
            let mut all = vec![answer(comparison)];
            all.extend(details(comparison));
            all
        }
        ([one], None) => {
            let rows = tasks(&one.scores.rows.keys().copied().collect::<Vec<_>>());
            let mean = fixed(one.mean, 2);
            vec![format!("{}: {mean} on {rows}. No other system has scores here.", one.name)]
        }
        (_, None) => {
            vec!["The systems have no tasks in common, so they are not compared.".to_owned()]
        }
    };
    sentences.extend(solutions.iter().map(|one| {
        format!("{} is a reference solution, and is not ranked: {}.", one.name, fixed(one.mean, 2))
    }));
    sentences
}

/// Says why the system that the others are compared with has its standing.
fn reason_of_best(standing: Standing) -> &'static str {
    match standing {
        Standing::Best => "All others are shown to be worse.",
        Standing::Highest => "Highest, but not shown to be better than all others.",
        _ => "No system is better than all others.",
    }
}

/// Says on which comparison the standing of a system rests.
fn reason(
    comparison: &Comparison<'_, '_, '_>,
    one: &Compared<'_, '_, '_>,
    standing: Standing,
) -> String {
    let (best, effect) = (&comparison.best.name, &one.effect);
    match standing {
        Standing::Behind => format!("Below {best} by {}.", distance(effect)),
        Standing::Tied => format!("Not shown to differ from {best}: {}.", signed(effect)),
        Standing::TooFew => format!("Too few tasks to tell it from {best}: {}.", signed(effect)),
        _ if !includes_zero(effect) => format!("{} {}.", below(effect, best), undecided(effect)),
        _ => format!("{} from {best}.", signed(effect)),
    }
}

/// Says who is best or highest, and what is known of the others.
fn answer(comparison: &Comparison<'_, '_, '_>) -> String {
    let Comparison { best, own, apart, .. } = comparison;
    if comparison.is_beaten() {
        return "No system is better than all others.".to_owned();
    }
    let runs = number_format::count(best.scores.runs);
    let runs = format!("{runs} {}", if best.scores.runs == 1 { "run" } else { "runs" });
    let score = format!("{} over {runs}", number_format::score(best.mean));
    // The scores of systems without a common task may be higher.
    let (of_these, among, aside) = match apart.len() {
        0 => ("", "", String::new()),
        many => {
            let (have, are) = if many == 1 { ("has", "is") } else { ("have", "are") };
            let names = first_names(apart.iter().copied());
            let aside = format!(" {names} {have} no tasks in common with it and {are} not ranked.");
            (" that share tasks with it", " of those that share tasks", aside)
        }
    };
    let name = &best.name;
    if *own == Standing::Best {
        return format!(
            "{name} is best ({score}); all others{of_these} are shown to be worse.{aside}"
        );
    }
    format!("{name} scores highest{among} ({score}){}{aside}", besides(comparison))
}

/// Says what is known of the others that share tasks with the highest one, as the end of its sentence.
fn besides(comparison: &Comparison<'_, '_, '_>) -> String {
    let others = &comparison.others;
    if others.iter().all(|(_, standing)| *standing == Standing::TooFew) {
        return format!(". {}", too_few(others.iter().map(|(one, _)| one.effect.pairs)));
    }
    let part = |standing: Standing, verbs: [&str; 2], what: &str| {
        let some: Vec<&Ranked<'_, '_>> =
            others.iter().filter(|(_, it)| *it == standing).map(|(one, _)| one.with).collect();
        let verb = verbs[usize::from(some.len() > 1)];
        let names = (!some.is_empty()).then(|| first_names(some.into_iter()))?;
        Some(format!("{names} {verb} {what}"))
    };
    let parts = [
        part(Standing::Tied, ["is", "are"], "not shown to differ from it"),
        part(Standing::TooFew, ["has", "have"], "too few tasks to tell"),
        part(Standing::Open, ["is", "are"], "undecided"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match &parts[..] {
        [] => ".".to_owned(),
        [one] => format!("; {one}."),
        [some @ .., last] => format!("; {}, and {last}.", some.join(", ")),
    }
}

/// Says on how many tasks nothing can be told: `Only 1 task or variation in common: too few to tell.`
fn too_few(shared: impl Iterator<Item = u64> + Clone) -> String {
    let (least, most) = (shared.clone().min().unwrap_or(0), shared.max().unwrap_or(0));
    let noun = if most == 1 { "task or variation" } else { "tasks and variations" };
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    format!("Only {range} {noun} in common: too few to tell.")
}

/// Names systems in the first sentence: `b/o1`, `b/o1 and c/o1`, or `5 others`.
fn first_names<'s, 'r: 's, 'a: 'r>(systems: impl Iterator<Item = &'s Ranked<'r, 'a>>) -> String {
    let names: Vec<&str> = systems.map(|one| one.name.as_str()).collect();
    if names.len() > NAMED_FIRST {
        return format!("{} others", names.len());
    }
    names.join(" and ")
}

/// Says how the answer is known: differences with their intervals, and what the runs cannot tell.
fn details(comparison: &Comparison<'_, '_, '_>) -> Vec<String> {
    let Comparison { best, others, apart, .. } = comparison;
    let is_beaten = comparison.is_beaten();
    let (behind, rest): (Vec<_>, Vec<_>) =
        others.iter().partition(|(_, standing)| *standing == Standing::Behind);
    let (equal, unclear): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|(one, _)| fixed(one.effect.difference.abs(), 2) == "0.00");
    let mut sentences = Vec::new();
    if let (Standing::Best, [(next, _), ..]) = (comparison.own, &behind[..]) {
        let (name, ahead) = (&next.with.name, distance(&next.effect));
        sentences.push(format!("{} is ahead of {name} by {ahead}.", best.name));
    } else if !is_beaten && !equal.is_empty() {
        let names = list(std::iter::once(*best).chain(equal.iter().map(|(one, _)| one.with)));
        sentences.push(format!("{names} have {}.", shared_mean(&equal)));
    }
    let is_said = comparison.own == Standing::Best && behind.len() == 1;
    // Whose interval includes 0 is not said to be behind.
    let last = unclear
        .iter()
        .chain(&behind)
        .filter(|(one, _)| one.effect.difference < 0.0 && !includes_zero(&one.effect));
    let last = last.min_by(|(a, _), (b, _)| a.effect.difference.total_cmp(&b.effect.difference));
    if let Some((Compared { with, effect }, _)) = last.filter(|_| !is_said && !is_beaten) {
        sentences.push(if is_shown(effect, Tendency::Worse) {
            let by = distance(effect);
            format!("{} is furthest behind {}: by {by}.", with.name, best.name)
        } else {
            let by = below(effect, &best.name);
            format!("{} has the lowest mean: {by} {}.", with.name, undecided(effect))
        });
    }
    // An interval that leaves out 0 would contradict the sentence.
    let unclear: Vec<_> =
        unclear.into_iter().filter(|(one, _)| includes_zero(&one.effect)).collect();
    if is_beaten && !unclear.is_empty() {
        let are = if unclear.len() == 1 { "is" } else { "are" };
        let names = list(unclear.iter().map(|(one, _)| one.with));
        sentences.push(format!("{names} {are} not shown to differ from {}.", best.name));
    }
    if let Some((nearest, _)) = unclear.iter().find(|(_, it)| *it != Standing::TooFew) {
        sentences.extend(describe_limit(best, nearest));
    }
    if is_beaten && !apart.is_empty() {
        let have = if apart.len() == 1 { "has" } else { "have" };
        let names = list(apart.iter().copied());
        sentences.push(format!("{names} {have} no tasks in common with {}.", best.name));
    }
    sentences
}

/// Returns the mean that systems have on the tasks that they share with the highest one:
/// `the same mean, 1.00 on the same 8 tasks`.
fn shared_mean(equal: &[&(Compared<'_, '_, '_>, Standing)]) -> String {
    let means: Vec<String> = equal
        .iter()
        .map(|(one, _)| {
            format!("{} on the same {}", fixed(one.effect.baseline, 2), units(&one.effect))
        })
        .collect();
    match &means[..] {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => {
            format!("the same mean, {}", first.replace("the same 1 ", "the same "))
        }
        _ => "equal means on the tasks that they share".to_owned(),
    }
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
    use super::super::Column;
    use super::*;
    use Standing::{Apart, Behind, Best, Highest, Tied, TooFew};

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
            runs: known.len() as u64,
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
            @r"
        high/o1 is best (0.90 over 8 runs); all others are shown to be worse.
        high/o1 is ahead of low/o1 by 0.70 (0.64 to 0.76) on 8 tasks.
        "
        );
    }

    #[test]
    fn those_that_are_not_shown_to_be_worse_are_named_with_the_furthest_behind() {
        let near = [1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0];
        insta::assert_snapshot!(
            joined(&[("low", &LOW), ("one", &[1.0; 8]), ("two", &near)]),
            @r"
        one/o1 scores highest (1.00 over 8 runs); two/o1 is not shown to differ from it.
        low/o1 is furthest behind one/o1: by 0.80 (0.74 to 0.86) on 8 tasks.
        8 tasks are too few to tell one/o1 and two/o1 apart.
        "
        );
        insta::assert_snapshot!(
            joined(&[("low", &LOW), ("one", &[1.0; 8]), ("two", &[1.0; 8])]),
            @r"
        one/o1 scores highest (1.00 over 8 runs); two/o1 is not shown to differ from it.
        one/o1 and two/o1 have the same mean, 1.00 on the same 8 tasks.
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
        assert_eq!(told.standings[0].as_ref().map(|it| it.0), Some(Standing::Solution));
    }

    #[test]
    fn a_distance_that_the_test_does_not_show_is_told_with_its_p() {
        insta::assert_snapshot!(
            joined(&[("low", &[0.1, 0.3, 0.2, 0.4, 0.1]), ("high", &[1.0; 5])]),
            @r"
        high/o1 scores highest (1.00 over 5 runs); low/o1 is undecided.
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
        one/o1 scores highest (0.50 over 16 runs); two/o1 is not shown to differ from it.
        A difference below 0.37 would hardly show on 16 tasks; one of 0.02 would need about 9160 more.
        "
        );
        insta::assert_snapshot!(
            joined(&[("one", &[0.5]), ("two", &[1.0])]),
            @"two/o1 scores highest (1.00 over 1 run). Only 1 task or variation in common: too few to tell."
        );
    }

    #[test]
    fn the_answer_names_two_systems_and_counts_more() {
        let near = |low: f64| [low, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let (b, c, d) = (near(0.9), near(0.8), near(0.7));
        let first = |systems: &[(&str, &[f64])]| joined(systems).lines().next().map(str::to_owned);
        let three = [("a", &[1.0; 8][..]), ("b", &b), ("c", &c)];
        let few = [1.0, 1.0];
        let told = [
            "a/o1 scores highest (1.00 over 8 runs); b/o1 and c/o1 are not shown to differ from it.",
            "a/o1 scores highest (1.00 over 8 runs); 3 others are not shown to differ from it, and \
             few/o1 has too few tasks to tell.",
            "a/o1 scores highest of those that share tasks (1.00 over 8 runs). Only 2 tasks and \
             variations in common: too few to tell. alone/o1 has no tasks in common with it and is \
             not ranked.",
        ];
        assert_eq!(first(&three).as_deref(), Some(told[0]));
        let more = [&three[..], &[("d", &d), ("few", &few)]].concat();
        assert_eq!(first(&more).as_deref(), Some(told[1]));
        let alone: Vec<f64> = (0..9).map(|n| if n < 8 { NONE } else { 1.0 }).collect();
        let rest = [("a", &[1.0; 8][..]), ("few", &few), ("alone", &alone)];
        assert_eq!(first(&rest).as_deref(), Some(told[2]));
    }

    #[test]
    fn systems_without_a_row_in_common_are_not_ranked() {
        insta::assert_snapshot!(
            joined(&[("one", &[0.5, NONE]), ("two", &[NONE, 1.0])]),
            @"The systems have no tasks in common, so they are not compared."
        );
        // One that stands alone is not best, though its mean is the highest.
        let alone: Vec<f64> = (0..9).map(|n| if n < 8 { NONE } else { 1.0 }).collect();
        insta::assert_snapshot!(
            joined(&[("alone", &alone), ("low", &LOW), ("high", &[0.9; 8])]),
            @r"
        high/o1 is best (0.90 over 8 runs); all others that share tasks with it are shown to be worse. alone/o1 has no tasks in common with it and is not ranked.
        high/o1 is ahead of low/o1 by 0.70 (0.64 to 0.76) on 8 tasks.
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
            @r"
        hard/o1 is best (0.40 over 8 runs); all others are shown to be worse.
        hard/o1 is ahead of easy/o1 by 0.40 (0.34 to 0.46) on 8 tasks.
        "
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
        let [best, highest, tied, behind, apart] = [Best, Highest, Tied, Behind, Apart].map(Some);
        assert_eq!(standings(&[("low", &LOW), ("high", &[0.9; 8])]), [behind, best]);
        assert_eq!(
            standings(&[("low", &LOW), ("one", &[1.0; 8]), ("two", &near), ("none", &[])]),
            [behind, highest, tied, None]
        );
        assert_eq!(
            standings(&[("one", &[1.0; 6]), ("two", &near[1..7]), ("few", &[0.9; 5])]),
            [highest, tied, Some(TooFew)]
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
        assert!(told[0].starts_with("high/o1 scores highest (0.75 over 2 runs)"), "{told:?}");
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
