//! Measures confidence intervals and significance tests, next to their lower bound: drawing as many
//! random positions and adding as many numbers. Prints a table; never fails. `cargo bench -p
//! touchstone-scoring --bench stats`.
#![expect(clippy::cast_possible_truncation, reason = "positions among some hundred")]
#![expect(clippy::unwrap_used, reason = "a measurement fails by panicking")]
use std::hint::black_box;
use std::time::{Duration, Instant};
use touchstone_metrics::stats::{
    Clusters, Power, Resampling, detectable_rate_difference, sign_flips,
};
use touchstone_scoring::aggregate::{Aggregate, Counted, End};

const SCORES: u32 = 5_000;
const CLUSTERS: usize = 200;
const TIMES: usize = 10_000;
const ROUNDS: usize = 5;
/// Shorter times are wall-clock times, longer ones CPU times.
const COARSE: Duration = Duration::from_millis(50);

fn main() {
    let rows: Vec<(u32, f64)> = scores().collect();
    let clusters = Clusters::gather(rows.iter().copied()).unwrap();
    let few = Clusters::gather(
        rows.iter().filter(|(task, _)| *task < 32).map(|(task, score)| (*task, score - 0.5)),
    )
    .unwrap();
    let many = Clusters::gather(rows.iter().map(|(task, score)| (*task, score - 0.5))).unwrap();
    let resampling = Resampling { times: TIMES, seed: 1 };
    println!("{:>9}  {TIMES} resamples of {SCORES} scores in {CLUSTERS} tasks", "best");
    measure("floor: drawing and adding", || floor(&rows));
    measure("gathering by task", || Clusters::gather(rows.iter().copied()));
    measure("bootstrap interval of the mean", || {
        clusters.interval(touchstone_metrics::stats::Level::default(), resampling)
    });
    measure("permutation test, 200 tasks, drawn", || sign_flips(&many, resampling));
    measure("permutation test, 32 tasks, counted", || sign_flips(&few, resampling));
    let tasks: Vec<String> = (0..CLUSTERS).map(|task| format!("task {task}")).collect();
    let runs = runs(&tasks);
    measure("how 12 systems stand, 4,800 runs, all against the first", || {
        Aggregate::new(&runs, None)
    });
    measure("smallest difference of 200 pairs", || {
        detectable_rate_difference(200, 0.3, Power::default())
    });
    measure("smallest difference of 1,000 pairs", || {
        detectable_rate_difference(1_000, 0.3, Power::default())
    });
}

/// Generates runs: 200 tasks, 12 systems, two repeats each, 4,800 in total.
fn runs(tasks: &[String]) -> Vec<Counted<'_>> {
    const SYSTEMS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let mut state = 5_u64;
    let mut runs = Vec::new();
    for (at, task) in (0..2 * SYSTEMS.len()).flat_map(|at| tasks.iter().map(move |task| (at, task)))
    {
        let hundredths = next(&mut state) % 101;
        let score = f64::from(hundredths as u32) / 100.0;
        runs.push(Counted {
            task: Some(task),
            variation: Some(0),
            system: SYSTEMS.get(at / 2).copied(),
            end: End::Scored(score, Some(hundredths > 60)),
            tokens: Some(next(&mut state) % 1_000),
            seconds: Some(f64::from((next(&mut state) % 1_000) as u32)),
            ..Counted::default()
        });
    }
    runs
}

/// Generates scores in hundredths.
fn scores() -> impl Iterator<Item = (u32, f64)> {
    let mut state = 9_u64;
    let tasks = u32::try_from(CLUSTERS).unwrap();
    (0..SCORES).map(move |at| {
        (at % tasks, f64::from(u8::try_from(next(&mut state) % 101).unwrap()) / 100.0)
    })
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn floor(rows: &[(u32, f64)]) -> f64 {
    // Cheapest sequence of positions that looks random: multiples of the golden ratio.
    let (mut state, mut sum) = (9_u64, [0.0, 0.0]);
    for _ in 0..TIMES * CLUSTERS {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let at = ((u128::from(state) * CLUSTERS as u128) >> 64) as usize;
        sum[0] += rows[at].1;
        sum[1] += 1.0;
    }
    sum[0] / sum[1]
}

fn measure<T>(what: &str, mut act: impl FnMut() -> T) {
    let once = |_| {
        let (begun, ran) = (Instant::now(), spent());
        black_box(act());
        let took = begun.elapsed();
        // A long measurement is interrupted on a busy machine, so its CPU time counts; for a short
        // one the CPU time of the system is too coarse.
        let ran = spent().zip(ran).map(|(after, before)| after.saturating_sub(before));
        if took < COARSE { took } else { ran.unwrap_or(took) }
    };
    let best = (0..ROUNDS).map(once).min().unwrap_or(Duration::MAX);
    println!("{:>6.2} ms  {what}", best.as_secs_f64() * 1e3);
}

/// CPU time of this thread so far.
fn spent() -> Option<Duration> {
    let stat = fs_err::read_to_string("/proc/self/schedstat").ok()?;
    stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
