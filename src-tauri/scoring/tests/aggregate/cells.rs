//! Tests of cells and groups.
use super::stage::{column, runs};
use proptest::prelude::*;
use touchstone_metrics::stats::{Level, Means, Resampling, wilson};
use touchstone_scoring::aggregate::{Aggregate, Cell, Counted, End, Group, RowKey};

fn cell(lines: &[&str]) -> Cell {
    let runs = runs(lines);
    Cell::new(&runs, &(0..runs.len()).collect::<Vec<_>>(), Resampling::default())
}

#[test]
fn every_run_is_counted_once_and_errors_are_no_wrong_answers() {
    let cell = cell(&[
        "a #0 s 1+",
        "a #0 s error",
        "a #1 s waiting",
        "b #0 s running",
        "b #0 s damaged",
        "c #0 s unscored nudged",
    ]);
    assert_eq!((cell.runs, cell.scored, cell.errors, cell.waiting), (6, 1, 1, 1));
    assert_eq!((cell.running, cell.damaged, cell.unscored, cell.nudged), (1, 1, 1, 1));
    assert!(
        (cell.score.unwrap().value - 1.0).abs() < 1e-12,
        "the error does not pull the mean down"
    );
    let passes = cell.passes.unwrap();
    assert_eq!((passes.passed, passes.of), (1, 1));
}

#[test]
fn nothing_has_no_score_and_no_rate() {
    for lines in [&[][..], &["a #0 s error"], &["a #0 s unscored", "a #0 s running"]] {
        let cell = cell(lines);
        assert_eq!((cell.score, cell.passes, cell.flaky), (None, None, 0), "{lines:?}");
    }
    let beyond = Counted { end: End::Scored(f64::NAN, Some(true)), ..Counted::default() };
    let cell = Cell::new(&[beyond], &[0, 7], Resampling::default());
    assert_eq!((cell.runs, cell.scored, cell.unscored, cell.passes), (1, 0, 1, None));
}

#[test]
fn scores_of_nothing_or_all_are_a_rate_and_others_a_mean() {
    let rate = cell(&["a #0 s 1", "a #0 s 0", "a #0 s 1"]).score.unwrap();
    assert_eq!((rate.by, rate.interval), (Means::Wilson, wilson(2, 3, Level::default())));
    let mean = cell(&["a #0 s 1", "b #0 s 0.5", "c #0 s 0.75"]).score.unwrap();
    assert_eq!(mean.by, Means::Student, "three tasks are too few to be drawn");
    assert!(mean.interval.is_some_and(|interval| interval.low < 0.5 && interval.high.to_bits() == 1f64.to_bits()));
    let six =
        ["a #0 s 1", "b #0 s 0.5", "c #0 s 0.75", "d #0 s 0.75", "e #0 s 0.75", "f #0 s 0.75"];
    assert_eq!(cell(&six).score.unwrap().by, Means::Bootstrap);
    assert_eq!(cell(&["a #0 s 0.5", "b #0 s 0.5"]).score.unwrap().interval, None);
    assert_eq!(cell(&["a #0 s 0.5"]).score.unwrap().interval, None);
    let one = cell(&["a #0 s 1+"]);
    assert_eq!(
        (one.score.unwrap().interval, one.passes.unwrap().interval),
        (None, wilson(1, 1, Level::default()).unwrap())
    );
}

#[test]
fn runs_of_one_task_are_alike_unless_there_is_no_other() {
    let within = cell(&["a #0 s 1+", "a #0 s 0-", "a #0 s 1+", "a #0 s 1+"]);
    assert_eq!(within.passes.unwrap().interval, wilson(3, 4, Level::default()).unwrap());
    let across = cell(&["a #0 s 1+", "a #0 s 1+", "b #0 s 1+", "b #0 s 1+"]);
    assert_eq!(across.passes.unwrap().interval, wilson(2, 2, Level::default()).unwrap());
}

#[test]
fn a_row_is_flaky_when_its_repeats_disagree() {
    for (lines, flaky) in [
        (&["a #0 s 1+", "a #0 s 0.2-"][..], 1),
        (&["a #0 s 1+", "a #0 s 0.9+"], 0),
        (&["a #0 s 1+", "a #1 s 0-"], 0),
        (&["a #0 s 1", "a #0 s 0.9"], 1),
        (&["a #0 s 1", "a #0 s 1"], 0),
        (&["a #0 s 1+", "a #0 s error"], 0),
        (&["a #0 s 1+", "a #0 s 1+", "a #0 s 0- apart"], 0),
        (&["a #0 s 1+ apart", "a #0 s 0- apart"], 0),
        (&["a #0 s 1+", "a #0 s 0-", "a #0 s 1+ apart"], 1),
        (&["a #0 s 1+", "a #0 s 0-", "b #0 s 1+", "b #0 s 0-"], 2),
    ] {
        assert_eq!(cell(lines).flaky, flaky, "{lines:?}");
    }
}

#[test]
fn the_run_to_look_at_is_the_worst_of_those_with_a_score() {
    for (lines, worst) in [
        (&["a #0 s 1+", "a #0 s error", "a #0 s 0.2-", "a #0 s 0.2-"][..], Some(2)),
        (&["a #0 s unscored", "a #0 s waiting", "a #0 s error"], Some(2)),
        (&["a #0 s running", "a #0 s damaged"], Some(1)),
        (&["a #0 s unscored"], Some(0)),
        (&[], None),
    ] {
        assert_eq!(cell(lines).worst, worst, "{lines:?}");
    }
}

#[test]
fn repeats_are_one_row_and_tell_what_more_tries_would_do() {
    let runs =
        runs(&["b #0 s 1+", "a #0 s 1+", "a #0 s 0-", "a #1 s 0.5-", "a #0 s 1+", "b #0 s error"]);
    let standing = Aggregate::new(&runs, None);
    let group = &standing.groups[0];
    assert_eq!(group.column, column("s"));
    let rows: Vec<(String, u64, u64, u64, bool)> = group
        .rows
        .iter()
        .map(|row| (row.key.label(), row.passed, row.decided, row.errors, row.flaky))
        .collect();
    assert_eq!(
        rows,
        [
            ("a #0".to_owned(), 2, 3, 0, true),
            ("a #1".to_owned(), 0, 1, 0, false),
            ("b #0".to_owned(), 1, 1, 1, false)
        ]
    );
    assert_eq!(group.rows[0].runs, [1, 2, 4]);
    let tries: Vec<(u64, f64, f64, u64)> =
        group.tries.iter().map(|at| (at.k, at.any.value, at.all.value, at.any.left_out)).collect();
    let third = 1.0 / 3.0;
    let expected = [
        (1, (2.0 * third + 1.0) / 3.0, (2.0 * third + 1.0) / 3.0, 0),
        (2, 1.0, third, 2),
        (3, 1.0, 0.0, 2),
    ];
    for (found, expected) in tries.iter().zip(expected) {
        assert_eq!((found.0, found.3), (expected.0, expected.3));
        assert!(
            (found.1 - expected.1).abs() < 1e-12 && (found.2 - expected.2).abs() < 1e-12,
            "{found:?} {expected:?}"
        );
    }
    assert_eq!(tries.len(), 3);
}

#[test]
fn what_is_no_repeat_counts_as_a_run_and_is_no_try() {
    let all =
        ["a #0 s 1+", "a #0 s 1+", "b #0 s 1+", "b #0 s 0-", "a #0 s 0- apart", "b #0 s 1+ apart"];
    let runs = runs(&all);
    let (with, without) = (Aggregate::new(&runs, None), Aggregate::new(&runs[..4], None));
    let (with, without) = (&with.groups[0], &without.groups[0]);
    assert_eq!(
        (with.summary.cell.runs, with.summary.cell.passes.map(|it| it.passed)),
        (6, Some(4))
    );
    assert_eq!((&with.tries, with.summary.cell.flaky), (&without.tries, 1));
    let flaky: Vec<bool> = with.rows.iter().map(|row| row.flaky).collect();
    assert_eq!(flaky, [false, true]);
    assert_eq!(
        (with.rows[1].repeats_passed, with.rows[1].repeats_decided, with.rows[1].decided),
        (1, 2, 3)
    );
}

#[test]
fn of_tries_is_told_what_most_rows_have() {
    let told = |tries: &[usize]| {
        let lines: Vec<String> = tries
            .iter()
            .enumerate()
            .flat_map(|(row, n)| vec![format!("t{row} #0 s 1+"); *n])
            .collect();
        let all = runs(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let standing = Aggregate::new(&all, None);
        standing.groups[0].told_tries().map(|at| (at.k, at.any.rows, at.any.left_out))
    };
    assert_eq!(told(&[5, 1, 1, 1]), None, "one row speaks for no system");
    assert_eq!(told(&[5, 3, 3, 1]), Some((3, 3, 1)));
    assert_eq!(told(&[5, 4, 1, 1]), None, "half of them are not most");
    assert_eq!(told(&[4, 4, 4]), Some((4, 3, 0)));
    assert_eq!(told(&[1, 1]), None);
}

#[test]
fn rows_of_which_nothing_is_decided_are_among_those_that_tries_are_counted_over() {
    let told = |errors: usize| {
        let ends = [(4, 3, "1+"), (3, 1, "1+"), (errors, 2, "error")];
        let rows =
            ends.iter().flat_map(|(rows, runs, end)| (0..*rows).map(move |row| (row, *runs, *end)));
        let lines: Vec<String> = rows
            .flat_map(|(row, runs, end)| vec![format!("{end}{runs}-{row} #0 s {end}"); runs])
            .collect();
        let all = runs(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        Aggregate::new(&all, None).groups[0]
            .told_tries()
            .map(|at| (at.k, at.any.rows, at.any.left_out))
    };
    assert_eq!(told(0), Some((3, 4, 3)));
    assert_eq!(told(1), None, "four of eight are not most");
    assert_eq!(told(3), None);
}

#[test]
fn what_runs_took_is_counted_with_what_is_not_known() {
    let runs = runs(&[
        "a #0 s 1+ tokens=100 cost=0.5",
        "a #0 s error tokens=50",
        "a #1 s 0- cost=-1",
        "b #0 s running tokens=7 cost=9",
        "b #1 s waiting tokens=10 seconds=9",
    ]);
    let standing = Aggregate::new(&runs, None);
    let group = &standing.groups[0];
    assert_eq!((group.summary.tokens.amounts.known, group.summary.tokens.amounts.unknown), (3, 1));
    assert!(
        (group.summary.tokens.amounts.of_known.unwrap().sum - 160.0).abs() < 1e-12,
        "errors were paid for, too"
    );
    assert_eq!((group.summary.cost.amounts.known, group.summary.cost.amounts.unknown), (1, 3));
    assert_eq!(
        (group.summary.seconds.amounts.known, group.summary.seconds.amounts.unknown),
        (0, 3)
    );
}

#[test]
fn variations_without_numbers_are_told_apart_by_name() {
    let one = Counted { task: Some("a"), variation_name: Some("x"), ..Counted::default() };
    let other = Counted { variation_name: Some("y"), ..one };
    assert_ne!(one.row(), other.row());
    let numbered = Counted { variation: Some(1), ..one };
    assert_eq!(numbered.row(), RowKey { task: Some("a"), variation: Some(1), name: None });
    assert_eq!(one.row().label(), "a x");
    assert_eq!(Counted::default().row().label(), "without a task");
    assert_eq!(Counted::default().column().label(), "unknown");
}

fn any_run() -> impl Strategy<Value = Counted<'static>> {
    let end = prop_oneof![
        4 => (0_u32..=4, prop::option::of(any::<bool>()))
            .prop_map(|(quarters, passed)| End::Scored(f64::from(quarters) / 4.0, passed)),
        1 => prop::sample::select(vec![End::Error, End::Waiting, End::Running, End::Damaged, End::Unscored]),
    ];
    let names = (
        prop::sample::select(vec!["a", "b", "c"]),
        0_u32..2,
        prop::sample::select(vec!["s", "t", "u"]),
    );
    (names, end, prop::option::of(0_u64..1_000)).prop_map(
        |((task, variation, system), end, tokens)| Counted {
            task: Some(task),
            variation: Some(variation),
            system: Some(system),
            model: Some("m"),
            end,
            tokens,
            ..Counted::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn groups_share_out_all_runs_and_every_pair_or_lone_row_comes_once(all in prop::collection::vec(any_run(), 0..60)) {
        let standing = Aggregate::new(&all, None);
        let mut places: Vec<usize> = standing.groups.iter().flat_map(|group| group.runs.clone()).collect();
        places.sort_unstable();
        prop_assert_eq!(places, (0..all.len()).collect::<Vec<_>>());
        for group in &standing.groups {
            let cell = &group.summary.cell;
            let ends = cell.scored + cell.errors + cell.waiting + cell.running + cell.damaged + cell.unscored;
            prop_assert_eq!(cell.runs, ends);
            prop_assert_eq!(cell.runs, group.rows.iter().map(|row| row.runs.len() as u64).sum::<u64>());
            prop_assert_eq!(cell.flaky, group.rows.iter().filter(|row| row.flaky).count() as u64);
            if let Some(score) = cell.score {
                prop_assert!((0.0..=1.0).contains(&score.value));
                prop_assert!(score.interval.is_none_or(|it| it.holds(score.value) && it.low >= -1e-12 && it.high <= 1.0 + 1e-12));
            }
        }
        for pairing in &standing.pairings {
            let of = |at: usize| standing.groups[at].rows.iter().filter(|row| row.score.is_some()).count();
            prop_assert_eq!(of(pairing.group) + of(pairing.baseline), 2 * pairing.pairs.len() + pairing.unpaired.len());
        }
    }

    #[test]
    fn the_order_of_runs_changes_nothing(all in prop::collection::vec(any_run(), 0..40)) {
        let turned: Vec<Counted<'_>> = all.iter().rev().copied().collect();
        let (here, there) = (Aggregate::new(&all, None), Aggregate::new(&turned, None));
        prop_assert_eq!(here.groups.len(), there.groups.len());
        for (one, other) in here.groups.iter().zip(&there.groups) {
            prop_assert_eq!((one.column, one.summary.cell.runs, one.summary.cell.passes), (other.column, other.summary.cell.runs, other.summary.cell.passes));
            prop_assert!(near(one.summary.cell.score.map(|it| it.value), other.summary.cell.score.map(|it| it.value)));
            let low = |group: &Group<'_>| group.summary.cell.score.and_then(|it| it.interval).map(|it| it.low);
            prop_assert!(near(low(one), low(other)), "{:?} {:?}", one.summary.cell, other.summary.cell);
        }
        for (one, other) in here.pairings.iter().zip(&there.pairings) {
            prop_assert_eq!((one.passes.map(|it| it.table), &one.unpaired), (other.passes.map(|it| it.table), &other.unpaired));
            prop_assert!(near(one.score.map(|it| it.difference), other.score.map(|it| it.difference)));
            prop_assert!(near(one.score.and_then(|it| it.p).map(|it| it.p), other.score.and_then(|it| it.p).map(|it| it.p)));
        }
    }
}

/// Compares two values with a tolerance for the order of summation.
fn near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one == other,
    }
}
