//! Measures the coverage of 95 % intervals over few tasks.
use touchstone_metrics::stats::{Clusters, FEWEST_DRAWN, Interval, Level, Resampling};

/// Pseudo-random numbers from 0 to 1, reproducible (a linear congruential generator with the
/// constants of Knuth's MMIX).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / 4_294_967_296.0
    }
}

/// Name, generator and mean of a distribution of scores.
type Scores = (&'static str, fn(&mut Chance) -> f64, f64);

const KINDS: [Scores; 4] = [
    ("any", Chance::next, 0.5),
    ("mostly all right", |chance| if chance.next() < 0.6 { 1.0 } else { chance.next() }, 0.8),
    ("near each other", |chance| (0..6).map(|_| chance.next()).sum::<f64>() / 6.0, 0.5),
    ("mostly one end", |chance| (std::f64::consts::PI * chance.next() / 2.0).sin().powi(2), 0.5),
];

/// Returns the percentage of intervals that contain the mean, out of those that exist.
fn coverage(
    tasks: u64,
    (_, score, mean): Scores,
    interval: impl Fn(&Clusters) -> Option<Interval>,
) -> f64 {
    let mut chance = Chance(tasks);
    let (mut held, mut said) = (0.0, 0.0);
    for _ in 0..1_200 {
        // Half of the tasks have two runs with a small deviation each.
        let rows = (0..tasks).flat_map(|task| {
            let here = score(&mut chance);
            let off = 0.1 * (chance.next() - 0.5);
            let twice = task % 2 == 0;
            let runs = if twice { vec![here + off, here - off] } else { vec![here] };
            runs.into_iter().map(move |value| (task, value)).collect::<Vec<_>>()
        });
        if let Some(found) = interval(&Clusters::gather(rows).unwrap()) {
            said += 1.0;
            held += f64::from(u8::from(found.within(0.0, 1.0).holds(mean)));
        }
    }
    100.0 * held / said
}

#[test]
fn an_interval_of_few_tasks_holds_the_mean_nearly_as_often_as_it_says() {
    let few = Resampling { times: 300, seed: 3 };
    for kind in KINDS {
        for tasks in [2, 3, 4, 5, FEWEST_DRAWN, 9] {
            let held = coverage(tasks, kind, |clusters| clusters.interval(Level::default(), few));
            assert!(held > 86.0, "{}: {held:.1} of 100 for {tasks} tasks", kind.0);
        }
    }
}

#[test]
fn drawing_from_two_or_three_tasks_would_hold_it_far_less_often() {
    let few = Resampling { times: 300, seed: 3 };
    for kind in KINDS {
        for tasks in [2, 3] {
            let held = coverage(tasks, kind, |clusters| clusters.drawn(Level::default(), few));
            assert!(held < 86.0, "{}: {held:.1} of 100 for {tasks} tasks", kind.0);
        }
    }
}
