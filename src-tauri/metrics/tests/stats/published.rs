//! Compares with published values.
use touchstone_metrics::stats::{
    Clusters, Confusion, Interval, Level, PairedPasses, Resampling, Weights, pass_all, pass_at,
    sign_flips, wilson,
};

fn rounded(interval: Interval, digits: i32) -> (f64, f64) {
    let round = |value: f64| (value * 10f64.powi(digits)).round() / 10f64.powi(digits);
    (round(interval.low), round(interval.high))
}

/// Quantiles of Student's distribution for one and two degrees of freedom: 12.706 and 4.303.
#[test]
fn few_tasks_get_the_interval_of_student() {
    let of = |values: &[f64]| {
        let clusters = Clusters::gather(values.iter().copied().enumerate()).unwrap();
        rounded(clusters.interval(Level::default(), Resampling::default()).unwrap(), 4)
    };
    assert_eq!(of(&[0.0, 1.0]), (-5.8531, 6.8531));
    assert_eq!(of(&[1.0, 2.0, 3.0]), (-0.4841, 4.4841));
}

/// The four examples of Newcombe (1998), method 3.
#[test]
fn wilson_intervals_are_those_of_newcombe() {
    for (passed, n, low, high) in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ] {
        assert_eq!(
            rounded(wilson(passed, n, Level::default()).unwrap(), 4),
            (low, high),
            "{passed} of {n}"
        );
    }
}

/// Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), in the
/// analysis of Fagerland, Lydersen and Laake (2014).
#[test]
fn paired_rates_are_those_of_fagerland() {
    let pairs = PairedPasses { both: 1, only_first: 1, only_second: 7, neither: 12 };
    assert_eq!(rounded(pairs.interval(Level::default()).unwrap(), 3), (-0.507, -0.026));
    assert!((pairs.mcnemar().unwrap() - 0.0703).abs() < 5e-5);
    assert!((pairs.difference().unwrap() + 0.286).abs() < 5e-4);
}

/// Heights of Darwin's maize in eighths of an inch: Fisher (1935) counted 1,726 of 32,768
/// arrangements.
#[test]
fn the_permutation_test_is_the_one_fisher_did_by_hand() {
    let differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
    let clusters =
        Clusters::gather(differences.iter().enumerate().map(|(at, it)| (at, f64::from(*it))))
            .unwrap();
    let found = sign_flips(&clusters, Resampling::default());
    assert!(found.exact);
    assert!((found.p - 1726.0 / 32_768.0).abs() < 1e-12, "{}", found.p);
}

/// Two reviewers of fifty proposals: both accepted 20 and both refused 15; they disagree on 5 and
/// 10.
#[test]
fn agreement_beyond_chance_is_that_of_the_textbook() {
    let pairs = [(0, 0, 20), (0, 1, 5), (1, 0, 10), (1, 1, 15)];
    let pairs = pairs
        .iter()
        .flat_map(|(first, second, times)| std::iter::repeat_n((*first, *second), *times));
    let table = Confusion::from_pairs(pairs, 2).unwrap();
    let found = table.kappa(Weights::None, Level::default()).unwrap();
    assert!((found.agreement - 0.7).abs() < 1e-12 && (found.by_chance - 0.5).abs() < 1e-12);
    assert!((found.value - 0.4).abs() < 1e-12);
    assert_eq!(table.counts(), [[20, 5], [10, 15]]);
}

/// Two of five tries passed: of the ten ways to draw two, three contain no pass and one contains
/// only passes.
#[test]
fn chances_of_repeats_are_those_of_drawing_by_hand() {
    assert!((pass_at(2, 2, 5).unwrap() - 0.7).abs() < 1e-12);
    assert!((pass_all(2, 2, 5).unwrap() - 0.1).abs() < 1e-12);
}
