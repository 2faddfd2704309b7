//! Results for empty input, single values, equal values and NaN are `None`, never 0.
use touchstone_metrics::stats::{
    Amounts, Clusters, Confusion, Interval, Level, PairedPasses, Power, Resampling, Weights,
    detectable_mean_difference, detectable_rate_difference, is_flaky, over_rows, pass_all, pass_at,
    sign_flips, wilson, wilson_clustered,
};

const LEVEL: fn() -> Level = Level::default;

#[test]
fn confidence_levels_are_between_0_and_1() {
    for level in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        assert_eq!(Level::new(level), None, "{level}");
    }
    assert!((Level::default().share() - 0.95).abs() < 1e-15);
}

#[test]
fn no_runs_have_no_rate() {
    assert_eq!(wilson(0, 0, LEVEL()), None);
    assert_eq!(wilson(2, 1, LEVEL()), None);
    assert_eq!(wilson_clustered(&[], LEVEL()), None);
    assert_eq!(wilson_clustered(&[(0, 0)], LEVEL()), None);
    assert_eq!(wilson_clustered(&[(1, 2), (2, 1)], LEVEL()), None);
}

#[test]
fn all_passes_and_no_passes_reach_the_end_and_stay_in_doubt() {
    for n in [1, 2, 10, 1_000_000] {
        let (all, none) = (wilson(n, n, LEVEL()).unwrap(), wilson(0, n, LEVEL()).unwrap());
        assert!(all.high >= 1.0 && all.low < 1.0 && none.low <= 0.0 && none.high > 0.0, "{n}");
    }
}

/// Ten tasks whose five runs all passed count as ten passed tasks.
#[test]
fn repeats_of_a_task_add_less_than_other_tasks() {
    assert_eq!(wilson_clustered(&[(5, 5); 10], LEVEL()), wilson(10, 10, LEVEL()));
    assert_eq!(wilson_clustered(&[(0, 3)], LEVEL()), wilson(0, 1, LEVEL()));
    assert_eq!(wilson_clustered(&[(1, 1), (0, 1), (1, 1), (0, 0)], LEVEL()), wilson(2, 3, LEVEL()));
}

#[test]
fn a_mean_without_spread_between_tasks_has_no_interval() {
    assert_eq!(Clusters::gather(Vec::<(u8, f64)>::new()), None);
    assert_eq!(Clusters::gather([("a", 1.0), ("a", f64::NAN)]), None);
    assert_eq!(Clusters::gather([("a", f64::INFINITY)]), None);
    assert_eq!(Clusters::gather([("a", f64::MAX), ("a", f64::MAX)]), None);
    for rows in [
        vec![("a", 0.7)],
        vec![("a", 0.2), ("a", 0.9)],
        vec![("a", 0.7), ("b", 0.7), ("b", 0.7), ("c", 0.7)],
    ] {
        let clusters = Clusters::gather(rows.clone()).unwrap();
        assert_eq!(clusters.interval(LEVEL(), Resampling::default()), None, "{rows:?}");
        assert_eq!(clusters.standard_error(), None, "{rows:?}");
        assert!(clusters.mean() > 0.5);
    }
    let two = Clusters::gather([("a", 0.0), ("b", 1.0)]).unwrap();
    assert_eq!(two.drawn(LEVEL(), Resampling { times: 0, seed: 1 }), None);
    assert_eq!(two.drawn(LEVEL(), Resampling::default()), Some(Interval { low: 0.0, high: 1.0 }));
}

#[test]
fn rounding_errors_are_not_differences() {
    let crumbs = (0..40).map(|task| (task, 0.1 + 0.2 - 0.3));
    let clusters = Clusters::gather(crumbs).unwrap();
    assert_eq!(sign_flips(&clusters, Resampling::default()).p.to_bits(), 1f64.to_bits());
    let uneven = Clusters::gather(
        (0..40).map(|task| (task, if task % 2 == 0 { 0.0 } else { 0.1 + 0.2 - 0.3 })),
    )
    .unwrap();
    assert_eq!(uneven.standard_error(), None);
}

#[test]
fn no_pairs_say_nothing_and_pairs_that_agree_show_nothing() {
    let none = PairedPasses::default();
    assert_eq!((none.mcnemar(), none.difference(), none.discordant_share()), (None, None, None));
    assert_eq!(none.interval(LEVEL()), None);
    for pairs in [
        PairedPasses { both: 5, ..none },
        PairedPasses { neither: 5, ..none },
        PairedPasses { both: 1, ..none },
    ] {
        assert_eq!(pairs.mcnemar(), Some(1.0));
        assert_eq!(pairs.difference(), Some(0.0));
        let interval = pairs.interval(LEVEL()).unwrap();
        assert!(interval.low < 0.0 && interval.high > 0.0);
    }
    let reversed = PairedPasses { only_first: 4, ..none };
    assert_eq!(reversed.interval(LEVEL()).unwrap().high.to_bits(), 1f64.to_bits());
}

#[test]
fn too_few_tries_have_no_chance_to_tell() {
    for (k, passed, n) in [(0, 1, 2), (3, 1, 2), (1, 0, 0), (1, 3, 2)] {
        assert_eq!(
            (pass_at(k, passed, n), pass_all(k, passed, n)),
            (None, None),
            "{k} {passed} {n}"
        );
    }
    assert_eq!(over_rows(2, &[(1, 1), (0, 1)], pass_at), None);
    assert_eq!(over_rows(2, &[], pass_at), None);
    let some = over_rows(2, &[(1, 1), (2, 2), (0, 2), (1, 2)], pass_all).unwrap();
    assert!((some.value - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((some.rows, some.left_out), (3, 1));
    assert!(is_flaky(1, 2) && !is_flaky(0, 2) && !is_flaky(2, 2) && !is_flaky(0, 0));
}

#[test]
fn judges_that_only_know_one_word_cannot_agree_beyond_chance() {
    let kappa = |pairs: &[(usize, usize)]| {
        Confusion::from_pairs(pairs.iter().copied(), 2)?.kappa(Weights::None, LEVEL())
    };
    assert_eq!(kappa(&[]), None);
    assert_eq!(kappa(&[(0, 0)]), None);
    assert_eq!(kappa(&[(1, 1); 9]), None);
    assert_eq!(kappa(&[(0, 2)]), None, "a category that is not there");
    assert_eq!(Confusion::from_pairs([], 0).unwrap().kappa(Weights::Quadratic, LEVEL()), None);
    let full = kappa(&[(0, 0), (1, 1), (1, 1)]).unwrap();
    assert!((full.value - 1.0).abs() < 1e-12);
    assert_eq!(full.interval, None, "full agreement of three does not make certain");
}

#[test]
fn a_difference_that_nothing_could_show_is_none() {
    let power = Power::default();
    for pairs in 0..6 {
        assert_eq!(detectable_rate_difference(pairs, 0.5, power), None, "{pairs}");
    }
    assert_eq!(detectable_rate_difference(100, f64::NAN, power), None);
    assert_eq!(detectable_rate_difference(100, 1.5, power), None);
    for (error, clusters) in
        [(0.1, 0), (0.1, 1), (0.0, 9), (f64::NAN, 9), (f64::INFINITY, 9), (-0.1, 9)]
    {
        assert_eq!(detectable_mean_difference(error, clusters, power), None, "{error} {clusters}");
    }
    for share in [0.2, 1.0, f64::NAN] {
        let power = Power { share, ..power };
        assert_eq!(detectable_mean_difference(0.1, 9, power), None);
        assert_eq!(detectable_rate_difference(50, 0.2, power), None);
    }
}

#[test]
fn unknown_amounts_stay_unknown() {
    let amounts = Amounts::from_values([None, Some(3.0)]).unwrap();
    assert_eq!((amounts.known, amounts.unknown), (1, 1));
    assert_eq!(amounts.of_known.unwrap().sum.to_bits(), 3f64.to_bits());
}
