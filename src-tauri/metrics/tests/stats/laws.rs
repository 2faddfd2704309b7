//! Properties that hold for arbitrary numbers.
use proptest::prelude::*;
use touchstone_metrics::stats::{
    Clusters, Confusion, Level, PairedPasses, Power, Resampling, Weights,
    detectable_mean_difference, detectable_rate_difference, pass_all, pass_at, quantile,
    sign_flips, wilson, wilson_clustered,
};

const FEW: Resampling = Resampling { times: 500, seed: 11 };

fn level() -> impl Strategy<Value = Level> {
    (0.01..0.999).prop_map(|share| Level::new(share).unwrap())
}

fn passed_of(most: u64) -> impl Strategy<Value = (u64, u64)> {
    (1..=most).prop_flat_map(|n| (0..=n, Just(n)))
}

fn scores() -> impl Strategy<Value = Vec<(u8, f64)>> {
    prop::collection::vec(
        (0_u8..12, (0_u32..=20).prop_map(|twentieths| f64::from(twentieths) / 20.0)),
        1..60,
    )
}

fn pairs() -> impl Strategy<Value = PairedPasses> {
    (0_u64..30, 0_u64..30, 0_u64..30, 0_u64..30).prop_map(
        |(both, only_first, only_second, neither)| PairedPasses {
            both,
            only_first,
            only_second,
            neither,
        },
    )
}

fn swapped(pairs: PairedPasses) -> PairedPasses {
    PairedPasses { only_first: pairs.only_second, only_second: pairs.only_first, ..pairs }
}

#[expect(clippy::cast_precision_loss, reason = "small")]
fn float(n: u64) -> f64 {
    n as f64
}

proptest! {
    #[test]
    fn a_rate_lies_in_its_interval_and_the_interval_in_what_is_possible((passed, n) in passed_of(400), level in level()) {
        let found = wilson(passed, n, level).unwrap();
        prop_assert!(0.0 <= found.low && found.high <= 1.0 && found.holds(float(passed) / float(n)));
        let mirrored = wilson(n - passed, n, level).unwrap();
        prop_assert!((found.low + mirrored.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn more_runs_of_the_same_rate_and_less_certainty_make_an_interval_narrower((passed, n) in passed_of(200), times in 2_u64..5) {
        let width = |passed, n, level| wilson(passed, n, level).map(|found| found.high - found.low).unwrap();
        prop_assert!(width(passed * times, n * times, Level::default()) < width(passed, n, Level::default()));
        prop_assert!(width(passed, n, Level::new(0.8).unwrap()) < width(passed, n, Level::default()));
    }

    #[test]
    fn runs_of_the_same_tasks_are_never_surer_than_runs_of_others(tasks in prop::collection::vec(passed_of(6), 1..20)) {
        let found = wilson_clustered(&tasks, Level::default()).unwrap();
        let (passed, n) = tasks.iter().fold((0, 0), |(passed, n), task| (passed + task.0, n + task.1));
        let plain = wilson(passed, n, Level::default()).unwrap();
        prop_assert!(found.holds(float(passed) / float(n)) && 0.0 <= found.low && found.high <= 1.0);
        prop_assert!(found.high - found.low >= plain.high - plain.low - 1e-12);
    }

    #[test]
    fn a_mean_lies_in_its_interval_and_the_interval_between_the_scores(rows in scores(), level in level()) {
        let clusters = Clusters::gather(rows.iter().copied()).unwrap();
        let drawn = clusters.drawn(level, FEW);
        prop_assert_eq!(drawn.is_some(), clusters.interval(level, FEW).is_some());
        if let Some(found) = drawn {
            prop_assert!(found.holds(clusters.mean()) && -1e-12 <= found.low && found.high <= 1.0 + 1e-12);
            prop_assert!(clusters.standard_error().is_some());
        }
        let values: f64 = rows.iter().map(|(_, value)| value).sum();
        prop_assert!((clusters.mean() - values / float(clusters.n())).abs() < 1e-12);
    }

    #[test]
    fn neither_the_order_of_rows_nor_the_names_of_tasks_change_a_mean(rows in scores()) {
        let here = Clusters::gather(rows.iter().copied()).unwrap();
        let there = Clusters::gather(rows.iter().rev().map(|(task, value)| (u32::from(*task) + 100, *value))).unwrap();
        prop_assert_eq!(here.clusters(), there.clusters());
        match (here.interval(Level::default(), FEW), there.interval(Level::default(), FEW)) {
            (Some(here), Some(there)) => {
                prop_assert!((here.low - there.low).abs() < 1e-9 && (here.high - there.high).abs() < 1e-9);
            }
            (here, there) => prop_assert_eq!(here, there),
        }
    }

    #[test]
    fn the_same_seed_says_the_same(rows in scores(), seed: u64) {
        let clusters = Clusters::gather(rows.iter().copied()).unwrap();
        let resampling = Resampling { times: 200, seed };
        prop_assert_eq!(clusters.interval(Level::default(), resampling), clusters.interval(Level::default(), resampling));
        prop_assert_eq!(sign_flips(&clusters, resampling), sign_flips(&clusters, resampling));
    }

    #[test]
    fn swapping_the_sides_turns_the_difference_and_keeps_the_probability(pairs in pairs()) {
        let other = swapped(pairs);
        prop_assert_eq!(pairs.mcnemar(), other.mcnemar());
        prop_assert_eq!(pairs.difference().map(|it| -it + 0.0), other.difference().map(|it| it + 0.0));
        if let (Some(here), Some(there)) = (pairs.interval(Level::default()), other.interval(Level::default())) {
            prop_assert!((here.low + there.high).abs() < 1e-12 && (here.high + there.low).abs() < 1e-12);
            prop_assert!(here.holds(pairs.difference().unwrap()) && -1.0 <= here.low && here.high <= 1.0);
        }
        prop_assert!(pairs.mcnemar().is_none_or(|p| p > 0.0 && p <= 1.0));
    }

    #[test]
    fn a_larger_majority_is_less_probable_by_chance(pairs in pairs()) {
        let further = PairedPasses { only_first: pairs.only_first + 1, ..pairs };
        if pairs.only_first > pairs.only_second {
            prop_assert!(further.mcnemar().unwrap() < pairs.mcnemar().unwrap() + 1e-15);
        }
    }

    /// On passes alone, with one pair per task, the sign-flip test equals the test of `McNemar`.
    #[test]
    fn flipping_passes_is_the_test_of_mcnemar(first in 0_u64..16, second in 0_u64..16, same in 0_u64..9) {
        let pairs = PairedPasses { both: same, only_first: first, only_second: second, neither: 1 };
        let differences = (0..pairs.n()).map(|task| {
            (task, if task < first { 1.0 } else if task < first + second { -1.0 } else { 0.0 })
        });
        let flips = sign_flips(&Clusters::gather(differences).unwrap(), Resampling::default());
        prop_assert!((flips.p - pairs.mcnemar().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn the_flip_test_is_symmetric(rows in scores()) {
        let here = Clusters::gather(rows.iter().map(|(task, value)| (*task, value - 0.4))).unwrap();
        let there = Clusters::gather(rows.iter().map(|(task, value)| (*task, 0.4 - value))).unwrap();
        let (here, there) = (sign_flips(&here, FEW), sign_flips(&there, FEW));
        prop_assert!((here.p - there.p).abs() < 1e-12 && here.p > 0.0 && here.p <= 1.0);
    }

    #[test]
    fn drawing_comes_near_counting(rows in scores()) {
        // Identical differences twice: few enough to be counted exactly, and with negligible
        // further tasks that force sampling.
        let differences: Vec<(u32, f64)> = rows.iter().map(|(task, value)| (u32::from(*task), value - 0.3)).collect();
        let counted = sign_flips(&Clusters::gather(differences.iter().copied()).unwrap(), FEW);
        let crumbs = (100..140).map(|task| (task, 1e-6));
        let drawn = sign_flips(&Clusters::gather(differences.into_iter().chain(crumbs)).unwrap(), Resampling { times: 4_000, seed: 3 });
        prop_assert!(counted.exact && !drawn.exact);
        // The negligible tasks break ties that exact counting includes, by at most half of the
        // ties.
        prop_assert!(drawn.p <= counted.p + 0.05, "{} {}", drawn.p, counted.p);
    }

    #[test]
    fn more_tries_pass_once_more_often_and_always_less_often((passed, n) in passed_of(40)) {
        let (mut at, mut all) = (0.0, 1.0);
        for k in 1..=n {
            let (next_at, next_all) = (pass_at(k, passed, n).unwrap(), pass_all(k, passed, n).unwrap());
            prop_assert!(next_at >= at - 1e-12 && next_all <= all + 1e-12);
            prop_assert!((0.0..=1.0).contains(&next_at) && (0.0..=1.0).contains(&next_all) && next_all <= next_at + 1e-12);
            (at, all) = (next_at, next_all);
        }
        prop_assert!((pass_at(1, passed, n).unwrap() - float(passed) / float(n)).abs() < 1e-12);
        prop_assert!((pass_all(1, passed, n).unwrap() - float(passed) / float(n)).abs() < 1e-12);
    }

    #[test]
    fn agreement_knows_no_first_judge(pairs in prop::collection::vec((0_usize..4, 0_usize..4), 1..60)) {
        for weights in [Weights::None, Weights::Linear, Weights::Quadratic] {
            let kappa = |swap: bool| {
                let pairs = pairs.iter().map(|(first, second)| if swap { (*second, *first) } else { (*first, *second) });
                Confusion::from_pairs(pairs, 4).unwrap().kappa(weights, Level::default())
            };
            let (Some(here), Some(there)) = (kappa(false), kappa(true)) else {
                prop_assert_eq!(kappa(false).is_some(), kappa(true).is_some());
                continue;
            };
            prop_assert!((here.value - there.value).abs() < 1e-9 && here.value <= 1.0 + 1e-12);
            prop_assert!(here.interval.is_none_or(|it| it.holds(here.value.clamp(-1.0, 1.0)) && it.low >= -1.0 && it.high <= 1.0));
        }
    }

    #[test]
    fn more_pairs_show_smaller_differences(pairs in 7_u64..60, share in 0.0..1.0_f64) {
        let power = Power::default();
        let (few, many) = (detectable_rate_difference(pairs, share, power), detectable_rate_difference(pairs * 2, share, power));
        if let Some(few) = few {
            prop_assert!(many.is_some_and(|many| many < few && many > 0.0 && few <= 1.0), "{few:?} {many:?}");
        }
        let mean = |clusters| detectable_mean_difference(0.05, clusters, power).unwrap();
        prop_assert!(mean(pairs) > mean(pairs * 2));
    }

    #[test]
    fn quantiles_rise_with_their_share(values in prop::collection::vec(-1e6..1e6_f64, 1..50), one in 0.0..=1.0_f64, other in 0.0..=1.0_f64) {
        let (low, high) = (one.min(other), one.max(other));
        prop_assert!(quantile(&values, low).unwrap() <= quantile(&values, high).unwrap() + 1e-9);
    }
}

/// There is no visible step where exact counting ends and the normal approximation begins.
#[test]
fn many_pairs_go_on_where_few_end() {
    for share in [0.1, 0.3, 0.8] {
        let counted = detectable_rate_difference(1_000, share, Power::default()).unwrap();
        let about = detectable_rate_difference(1_001, share, Power::default()).unwrap();
        assert!((counted - about).abs() / counted < 0.05, "{share}: {counted} {about}");
    }
}
