//! Tests of pairs with a baseline.
use super::stage::{column, runs};
use touchstone_metrics::stats::{PairedPasses, Tendency, WinTieLoss};
use touchstone_scoring::aggregate::{
    Aggregate, Counted, DoubtKind, Pairing, RowKey, UnpairedReason,
};

/// Returns the comparison of system `t` with the baseline `s`.
fn against<'a>(all: &[Counted<'a>]) -> Pairing<'a> {
    let mut standing = Aggregate::new(all, Some(column("s")));
    assert_eq!(standing.pairings.len(), 1);
    standing.pairings.remove(0)
}

#[test]
fn repeats_are_taken_together_before_they_are_paired() {
    let pairing = against(&runs(&[
        "a #0 s 0.5-",
        "a #0 s 1+",
        "a #0 s 1+",
        "a #0 t 1+",
        "b #0 s 0-",
        "b #0 t 0.25-",
        "b #0 t error",
        "b #0 t 0.75+",
    ]));
    let pairs: Vec<(String, f64, f64)> =
        pairing.pairs.iter().map(|pair| (pair.key.label(), pair.score, pair.baseline)).collect();
    assert_eq!(pairs, [("a #0".to_owned(), 1.0, 2.5 / 3.0), ("b #0".to_owned(), 0.5, 0.0)]);
    let score = pairing.score.unwrap();
    assert!(
        (score.difference - f64::midpoint(0.5 / 3.0, 0.5)).abs() < 1e-12,
        "each pair counts the same"
    );
    assert_eq!(
        (score.pairs, score.tasks, score.count),
        (2, 2, WinTieLoss { wins: 2, ties: 0, losses: 0 })
    );
    let passes = pairing.passes.unwrap();
    // Two of three runs are a pass; one of two is not a majority.
    assert_eq!(passes.table, PairedPasses { both: 1, only_first: 0, only_second: 0, neither: 1 });
    assert!(passes.by_task.is_some());
}

#[test]
fn single_runs_of_single_tasks_go_by_mcnemar_alone() {
    let mut lines = Vec::new();
    let names: Vec<String> = (0..10).map(|task| format!("t{task}")).collect();
    for (at, name) in names.iter().enumerate() {
        lines.push(format!("{name} #0 s {}", if at < 2 { "1+" } else { "0-" }));
        lines.push(format!("{name} #0 t {}", if at < 9 { "1+" } else { "0-" }));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let pairing = against(&runs(&lines));
    let passes = pairing.passes.unwrap();
    assert_eq!(passes.table, PairedPasses { both: 2, only_first: 7, only_second: 0, neither: 1 });
    assert!((passes.mcnemar - 2.0 / 128.0).abs() < 1e-12);
    assert_eq!((passes.by_task, passes.shown), (None, Tendency::Better));
    assert!((pairing.score.unwrap().p.unwrap().p - passes.mcnemar).abs() < 1e-12);
}

/// Returns runs of one task with so many variations, all of which `t` passes and `s` fails.
fn one_task(variations: u32) -> Vec<String> {
    (0..variations).flat_map(|at| [format!("a #{at} s 0.{at}-"), format!("a #{at} t 1+")]).collect()
}

#[test]
fn variations_of_the_only_task_stand_for_themselves_and_show_what_they_differ_in() {
    let lines = one_task(8);
    let pairing = against(&runs(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
    let score = pairing.score.unwrap();
    assert_eq!((score.pairs, score.tasks, score.units, score.shown), (8, 1, 8, Tendency::Better));
    assert!(
        (score.p.unwrap().p - 2.0 / 256.0).abs() < 1e-12 && score.interval.is_some(),
        "{score:?}"
    );
    let passes = pairing.passes.unwrap();
    assert_eq!(
        (passes.by_task, passes.shown),
        (None, Tendency::Better),
        "each pair is one of its kind"
    );
    // With several tasks, the variations of one task count as one unit.
    let mut lines = lines;
    lines.extend(["b #0 s 0-".to_owned(), "b #0 t 1+".to_owned()]);
    let score =
        against(&runs(&lines.iter().map(String::as_str).collect::<Vec<_>>())).score.unwrap();
    assert_eq!((score.pairs, score.tasks, score.units, score.shown), (9, 2, 2, Tendency::Unclear));
}

#[test]
fn one_unit_has_no_test() {
    for lines in
        [&["a #0 s 0.25-", "a #0 t 1+"][..], &["a #0 s 1+", "a #0 s 0-", "a #0 t 1+", "a #0 t 1+"]]
    {
        let pairing = against(&runs(lines));
        let (score, passes) = (pairing.score.unwrap(), pairing.passes.unwrap());
        assert_eq!((score.units, score.p, score.shown), (1, None, Tendency::Unclear));
        assert_eq!((passes.p, passes.shown, passes.table.n()), (None, Tendency::Unclear, 1));
    }
}

/// Returns runs of so many tasks, in which the difference between `t` and `s` changes a little from
/// task to task, in both directions.
fn mixed(tasks: u32) -> Vec<String> {
    let line = |at: u32| {
        let (one, other) = if at.is_multiple_of(3) { (70, 40 - at) } else { (40, 60 + at) };
        [format!("t{at} #0 s 0.{one}"), format!("t{at} #0 t 0.{other}")]
    };
    (0..tasks).flat_map(line).collect()
}

#[test]
fn what_scores_could_have_shown_is_told_from_twelve_tasks_on_and_never_below_what_was_seen_and_not_shown()
 {
    for tasks in 2..30 {
        let lines = mixed(tasks);
        let score =
            against(&runs(&lines.iter().map(String::as_str).collect::<Vec<_>>())).score.unwrap();
        assert_eq!(score.detectable.is_some(), tasks >= 12, "{tasks}: {score:?}");
        let least = score.detectable.unwrap_or(f64::INFINITY);
        assert!(
            score.shown != Tendency::Unclear || score.difference.abs() < least,
            "{tasks}: {score:?}"
        );
    }
}

#[test]
fn what_is_known_of_one_of_several_tasks_counts_as_one() {
    let mut lines: Vec<String> = (0..8)
        .flat_map(|at| {
            [format!("a #{at} s 0.1- cost=5 tokens=9"), format!("a #{at} t 1+ cost=1 tokens=3")]
        })
        .collect();
    lines.extend(["b #0 s 0.1 tokens=9".to_owned(), "b #0 t 1 tokens=3".to_owned()]);
    let pairing = against(&runs(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
    let (score, tokens, cost) =
        (pairing.score.unwrap(), pairing.tokens.unwrap(), pairing.cost.unwrap());
    assert_eq!([score, tokens, cost].map(|it| (it.pairs, it.units)), [(9, 2), (9, 2), (8, 1)]);
    assert_eq!((cost.interval, cost.shown), (None, Tendency::Unclear), "one task shows nothing");
    let passes = pairing.passes.unwrap();
    assert_eq!((passes.by_task.unwrap().units, passes.shown), (1, Tendency::Unclear), "{passes:?}");
}

#[test]
fn what_is_told_of_passes_is_of_the_way_that_shows_them() {
    // By majority `t` passes more rows, by shares of runs fewer.
    let lines: Vec<String> = (0..12)
        .flat_map(|task| {
            let (s, t) = if task < 2 { ("++---", "+++--") } else { ("+++++", "+++--") };
            let run = move |system: &'static str| {
                move |sign: char| format!("t{task} #0 {system} {}{sign}", u8::from(sign == '+'))
            };
            s.chars().map(run("s")).chain(t.chars().map(run("t"))).collect::<Vec<_>>()
        })
        .collect();
    let passes =
        against(&runs(&lines.iter().map(String::as_str).collect::<Vec<_>>())).passes.unwrap();
    assert_eq!(passes.table, PairedPasses { both: 10, only_first: 2, only_second: 0, neither: 0 });
    let effect = passes.by_task.unwrap();
    assert_eq!((passes.shown, effect.shown), (Tendency::Worse, Tendency::Worse));
    assert!(passes.difference < 0.0 && passes.interval.unwrap().high < 0.0, "{passes:?}");
    assert_eq!(
        (passes.difference, passes.interval, passes.p),
        (effect.difference, effect.interval, effect.p.map(|it| it.p))
    );
}

#[test]
fn rows_of_one_side_are_listed_with_the_reason_and_not_dropped() {
    let pairing = against(&runs(&[
        "a #0 s 1",
        "a #0 t 1",
        "b #0 s 1",
        "c #0 s 1",
        "c #0 t error",
        "d #0 s waiting",
        "d #0 t 1",
        "e #0 s unscored",
        "e #0 t 0",
        "f #0 s error",
        "f #0 t error",
        "a #1 t 1",
    ]));
    let unpaired: Vec<(String, bool, UnpairedReason)> =
        pairing.unpaired.iter().map(|row| (row.key.label(), row.in_baseline, row.why)).collect();
    assert_eq!(
        unpaired,
        [
            ("a #1".to_owned(), true, UnpairedReason::Missing),
            ("b #0".to_owned(), false, UnpairedReason::Missing),
            ("c #0".to_owned(), false, UnpairedReason::Errors),
            ("d #0".to_owned(), true, UnpairedReason::NotEnded),
            ("e #0".to_owned(), true, UnpairedReason::Unscored),
        ]
    );
    assert_eq!(pairing.pairs.len(), 1);
}

#[test]
fn sides_that_are_not_comparable_are_named() {
    let pairing = against(&runs(&[
        "a #0 s 1 against=1 by=fields",
        "a #0 t 1 against=1 by=fields",
        "b #0 s 1 against=1 by=fields",
        "b #0 t 1 against=2 by=fields",
        "c #0 s 1 against=1 by=fields",
        "c #0 t 1 against=2 by=exact",
        "d #0 s 1 against=1 by=fields nudged",
        "d #0 t 1 against=1 by=fields",
        "e #0 s 1 against=1 by=fields nudged",
        "e #0 t 1 against=1 by=fields nudged",
        "f #0 s error against=3 by=other nudged",
        "f #0 s 1 against=1 by=fields",
        "f #0 t 1 against=1 by=fields",
    ]));
    let doubts: Vec<(DoubtKind, Vec<String>)> = pairing
        .doubts
        .iter()
        .map(|doubt| (doubt.kind, doubt.rows.iter().map(RowKey::label).collect()))
        .collect();
    assert_eq!(
        doubts,
        [
            (DoubtKind::Scorer, vec!["c #0".to_owned()]),
            (DoubtKind::ScoredAgainst, vec!["b #0".to_owned()]),
            (DoubtKind::Nudged, vec!["d #0".to_owned()]),
        ]
    );
}

#[test]
fn less_is_better_for_what_is_paid() {
    let lines: Vec<String> = (0..8)
        .flat_map(|task| {
            [
                format!("t{task} #0 s 1 cost=0.5{task} tokens=100"),
                format!("t{task} #0 t 1 cost=0.2{task}"),
            ]
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let pairing = against(&runs(&lines));
    let cost = pairing.cost.unwrap();
    assert!((cost.difference + 0.3).abs() < 1e-12);
    assert_eq!((cost.shown, cost.count.wins), (Tendency::Better, 8));
    assert_eq!(cost.interval, None, "all differ alike");
    assert_eq!((pairing.tokens, pairing.seconds), (None, None), "one side does not say");
    assert_eq!(pairing.score.unwrap().shown, Tendency::Unclear);
}

#[test]
fn swapping_group_and_baseline_turns_every_difference() {
    let all = runs(&[
        "a #0 s 0.5-",
        "a #0 t 1+",
        "b #0 s 0.25-",
        "b #0 t 0.5-",
        "c #0 s 1+",
        "c #0 t 0.75-",
        "c #1 s 1+",
        "c #1 t 1+",
    ]);
    let one = against(&all);
    let mut other = Aggregate::new(&all, Some(column("t"))).pairings.remove(0);
    other.pairs.iter_mut().for_each(|pair| std::mem::swap(&mut pair.score, &mut pair.baseline));
    assert_eq!(one.pairs, other.pairs);
    let (one, other) = (one.score.unwrap(), other.score.unwrap());
    assert!(
        (one.difference + other.difference).abs() < 1e-12
            && (one.p.unwrap().p - other.p.unwrap().p).abs() < 1e-12
    );
    assert_eq!((one.count.wins, one.count.losses), (other.count.losses, other.count.wins));
}

#[test]
fn the_first_is_the_baseline_unless_another_is_named_and_a_name_that_is_not_there_compares_nothing()
{
    let all = runs(&["a #0 s 1", "a #0 t 1", "a #0 u 1"]);
    let baseline = |named| {
        let standing = Aggregate::new(&all, named);
        (
            standing.baseline,
            standing.pairings.iter().map(|pairing| pairing.group).collect::<Vec<_>>(),
        )
    };
    assert_eq!(baseline(None), (Some(0), vec![1, 2]));
    assert_eq!(baseline(Some(column("t"))), (Some(1), vec![0, 2]));
    assert_eq!(baseline(Some(column("x"))), (None, vec![]));
    assert_eq!(Aggregate::new(&[], None).baseline, None);
}
