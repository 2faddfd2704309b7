//! Compares synthetic cases with common Python packages and with brute-force counting.
use serde::Deserialize;
use touchstone_metrics::stats::{
    Clusters, Confusion, Level, PairedPasses, Power, Resampling, Weights,
    detectable_mean_difference, detectable_rate_difference, mean, pass_all, pass_at, quantile,
    sign_flips, standard_deviation, wilson, wilson_clustered,
};

#[derive(Deserialize)]
struct Oracle {
    wilson: Vec<Wilson>,
    paired: Vec<Paired>,
    repeats: Vec<Repeats>,
    kappa: Vec<Agreement>,
    clustered_rate: Vec<ClusteredRate>,
    bootstrap: Vec<Bootstrap>,
    flips: Vec<Flips>,
    detectable_rate: Vec<DetectableRate>,
    detectable_mean: Vec<DetectableMean>,
    numbers: Vec<Numbers>,
}

#[derive(Deserialize)]
struct Wilson {
    passed: u64,
    n: u64,
    level: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Paired {
    table: [u64; 4],
    p: f64,
    difference: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Repeats {
    k: u64,
    passed: u64,
    n: u64,
    at: f64,
    all: f64,
}

#[derive(Deserialize)]
struct Agreement {
    table: Vec<Vec<usize>>,
    weights: String,
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct ClusteredRate {
    tasks: Vec<(u64, u64)>,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Bootstrap {
    rows: Vec<(u32, f64)>,
    mean: f64,
    error: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Flips {
    rows: Vec<(u32, f64)>,
    p: f64,
    exact: bool,
}

#[derive(Deserialize)]
struct DetectableRate {
    pairs: u64,
    discordant: f64,
    power: f64,
    level: f64,
    value: Option<f64>,
}

#[derive(Deserialize)]
struct DetectableMean {
    error: f64,
    clusters: u64,
    level: f64,
    power: f64,
    value: f64,
}

#[derive(Deserialize)]
struct Numbers {
    values: Vec<f64>,
    mean: f64,
    deviation: Option<f64>,
    quantiles: Vec<(f64, f64)>,
}

fn oracle() -> Oracle {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/stats.json");
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

fn level(share: f64) -> Level {
    Level::new(share).unwrap()
}

/// Compares with a tolerance of 1e-9, relative to the value unless it is 0.
#[track_caller]
fn same(found: f64, expected: f64, what: &dyn std::fmt::Debug) {
    let off = (found - expected).abs();
    assert!(
        off <= 1e-9 * expected.abs().max(f64::from(u8::from(expected == 0.0))),
        "{what:?}: {found} is not {expected}"
    );
}

#[test]
fn wilson_intervals_are_those_of_statsmodels() {
    for case in oracle().wilson {
        let found = wilson(case.passed, case.n, level(case.level)).unwrap();
        let what = (case.passed, case.n, case.level);
        // At the ends of the range, the other implementation leaves rounding errors.
        assert!(
            (found.low - case.low).abs() < 1e-12 && (found.high - case.high).abs() < 1e-12,
            "{what:?}: {found:?}"
        );
    }
}

#[test]
fn paired_tests_and_intervals_are_those_of_statsmodels() {
    for case in oracle().paired {
        let [both, only_first, only_second, neither] = case.table;
        let pairs = PairedPasses { both, only_first, only_second, neither };
        same(pairs.mcnemar().unwrap(), case.p, &case.table);
        same(pairs.difference().unwrap(), case.difference, &case.table);
        let found = pairs.interval(Level::default()).unwrap();
        assert!(
            (found.low - case.low).abs() < 1e-9 && (found.high - case.high).abs() < 1e-9,
            "{:?}: {found:?}",
            case.table
        );
    }
}

#[test]
fn chances_of_repeats_are_those_of_counting_all_draws() {
    for case in oracle().repeats {
        same(
            pass_at(case.k, case.passed, case.n).unwrap(),
            case.at,
            &(case.k, case.passed, case.n),
        );
        same(
            pass_all(case.k, case.passed, case.n).unwrap(),
            case.all,
            &(case.k, case.passed, case.n),
        );
    }
}

#[test]
fn agreement_is_that_of_statsmodels() {
    for case in oracle().kappa {
        let weights = match case.weights.as_str() {
            "none" => Weights::None,
            "linear" => Weights::Linear,
            "quadratic" => Weights::Quadratic,
            other => panic!("{other}"),
        };
        let cells = case.table.iter().enumerate();
        let pairs = cells.flat_map(|(first, row)| {
            row.iter()
                .enumerate()
                .flat_map(move |(second, times)| std::iter::repeat_n((first, second), *times))
        });
        let found = Confusion::from_pairs(pairs, case.table.len())
            .unwrap()
            .kappa(weights, Level::default())
            .unwrap();
        let interval = found.interval.unwrap();
        for (found, expected) in
            [(found.value, case.value), (interval.low, case.low), (interval.high, case.high)]
        {
            assert!(
                (found - expected).abs() < 1e-9,
                "{:?} {}: {found} is not {expected}",
                case.table,
                case.weights
            );
        }
    }
}

#[test]
fn rates_of_tasks_with_repeats_are_as_sure_as_a_cluster_robust_regression() {
    for case in oracle().clustered_rate {
        let found = wilson_clustered(&case.tasks, Level::default()).unwrap();
        same(found.low, case.low, &case.tasks);
        same(found.high, case.high, &case.tasks);
    }
}

/// The bootstrap converges to the interval over all resamples; here within 4 % of its width.
#[test]
fn bootstrap_intervals_come_near_those_of_all_resamples() {
    for case in oracle().bootstrap {
        let clusters = Clusters::gather(case.rows.iter().copied()).unwrap();
        assert!((clusters.mean() - case.mean).abs() < 1e-12);
        same(clusters.standard_error().unwrap(), case.error, &case.rows.len());
        let found =
            clusters.drawn(Level::default(), Resampling { times: 40_000, seed: 5 }).unwrap();
        let off = (found.low - case.low).abs().max((found.high - case.high).abs())
            / (case.high - case.low);
        assert!(
            off < 0.04,
            "{} rows: {found:?} is not {} to {}",
            case.rows.len(),
            case.low,
            case.high
        );
    }
}

#[test]
fn permutation_tests_are_exact_where_they_say_so_and_near_elsewhere() {
    for case in oracle().flips {
        let clusters = Clusters::gather(case.rows.iter().copied()).unwrap();
        let found = sign_flips(&clusters, Resampling { times: 100_000, seed: 5 });
        assert_eq!(found.exact, case.exact, "{} rows", case.rows.len());
        if case.exact {
            same(found.p, case.p, &case.rows.len());
        } else {
            assert!((found.p - case.p).abs() < 2e-4, "{} is not {}", found.p, case.p);
        }
    }
}

#[test]
fn the_smallest_detectable_difference_is_where_the_power_is_as_asked() {
    for case in oracle().detectable_rate {
        let power = Power { level: level(case.level), share: case.power };
        let found = detectable_rate_difference(case.pairs, case.discordant, power);
        match (found, case.value) {
            (Some(found), Some(expected)) => same(found, expected, &(case.pairs, case.discordant)),
            (found, expected) => assert_eq!(found, expected, "{} {}", case.pairs, case.discordant),
        }
    }
    for case in oracle().detectable_mean {
        let power = Power { level: level(case.level), share: case.power };
        same(
            detectable_mean_difference(case.error, case.clusters, power).unwrap(),
            case.value,
            &case.clusters,
        );
    }
}

#[test]
fn means_and_quantiles_are_those_of_numpy() {
    for case in oracle().numbers {
        same(mean(&case.values).unwrap(), case.mean, &case.values.len());
        assert_eq!(standard_deviation(&case.values).is_some(), case.deviation.is_some());
        if let Some(deviation) = case.deviation {
            let off = (standard_deviation(&case.values).unwrap() - deviation).abs();
            assert!(off <= 1e-9 * deviation + 1e-15, "{:?}", case.values);
        }
        for (share, expected) in case.quantiles {
            same(quantile(&case.values, share).unwrap(), expected, &(case.values.len(), share));
        }
    }
}
