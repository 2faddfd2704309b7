//! Measures the time to align runs that have much, little and nothing in common, and two to four of
//! them. Aligning two runs of 200 steps should take less than 50 ms. `cargo bench --package
//! touchstone-scoring --bench align` prints a table; it never fails.
#![expect(clippy::print_stdout, reason = "the table is what this is for")]
use std::hint::black_box;
use std::time::{Duration, Instant};
use touchstone_model::run::{Language, Part, Run, Step, StepKind};
use touchstone_model::value::Value;
use touchstone_scoring::align::{Digest, align, digests};

/// Difference of a run from the one next to it.
#[derive(Clone, Copy)]
enum Change {
    /// Every tenth step differs.
    Few,
    /// Every step is worded differently, like two runs of one model.
    Words,
    /// Nothing is shared but the names of tools.
    All,
}

const CHANGES: [(&str, Change); 3] =
    [("a tenth differs", Change::Few), ("reworded", Change::Words), ("nothing alike", Change::All)];

fn main() {
    for (name, change) in CHANGES {
        for steps in [200, 2_000, 5_000] {
            measure(&format!("{steps} × {steps} steps, {name}"), steps, &[0, 1], change);
        }
    }
    measure("four runs of 200 steps, reworded", 200, &[0, 1, 2, 3], Change::Words);
    measure("four runs of 2,000 steps, nothing alike", 2_000, &[0, 1, 2, 3], Change::All);
}

fn measure(name: &str, steps: usize, seeds: &[u64], change: Change) {
    let runs: Vec<Run> = seeds.iter().map(|seed| run(steps, *seed, change)).collect();
    let started = Instant::now();
    let digested: Vec<Vec<Digest>> = runs.iter().map(digests).collect();
    let digesting = started.elapsed();
    let slices: Vec<&[Digest]> = digested.iter().map(Vec::as_slice).collect();
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let started = Instant::now();
            black_box(align(black_box(&slices)));
            started.elapsed()
        })
        .collect();
    times.sort();
    let coarse = if align(&slices).coarse { ", coarse" } else { "" };
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{name}: digests {:.1} ms, align p50 {:.1} ms, max {:.1} ms{coarse}",
        ms(digesting),
        ms(times[4]),
        ms(times[8])
    );
}

/// Generates a run: a user message, then assistant messages and tool calls in turn.
fn run(steps: usize, seed: u64, change: Change) -> Run {
    let mut dice = Dice(1);
    let mut own = Dice(seed + 100);
    let mut all = vec![step(
        StepKind::User,
        None,
        vec![part("message", Language::Markdown, words(&mut dice, 60))],
    )];
    while all.len() < steps {
        let mut text = words(&mut dice, 25);
        let mut sql = format!(
            "SELECT {} FROM {} WHERE {}",
            words(&mut dice, 12),
            words(&mut dice, 8),
            words(&mut dice, 40)
        );
        let other = match change {
            Change::Few => own.below(10) == 0,
            Change::Words => false,
            Change::All => true,
        };
        if other && seed > 0 {
            (text, sql) = (words(&mut own, 25), words(&mut own, 60));
        } else if matches!(change, Change::Words) {
            text = format!("{text} {}", words(&mut own, 8));
            sql = format!("{sql} AND {}", words(&mut own, 8));
        }
        all.push(step(StepKind::Assistant, None, vec![part("message", Language::Markdown, text)]));
        let tool = if dice.below(2) == 0 { "query_support_tickets" } else { "query_control_plane" };
        let mut result = words(&mut dice, 30);
        if seed > 0 && !matches!(change, Change::Few if !other) {
            result = words(&mut own, 30);
        }
        all.push(step(
            StepKind::ToolCall,
            Some(tool),
            vec![part("sql", Language::Sql, sql), part("result", Language::Plain, result)],
        ));
    }
    all.truncate(steps);
    Run { steps: all, ..Run::default() }
}

fn step(kind: StepKind, title: Option<&str>, parts: Vec<Part>) -> Step {
    Step {
        kind,
        title: title.map(str::to_owned),
        failed: title.map(|_| false),
        parts,
        ..Step::default()
    }
}

fn part(label: &str, language: Language, text: String) -> Part {
    Part { label: label.to_owned(), language, value: Value::Text(text), ..Part::default() }
}

/// Generates words from a vocabulary of two thousand.
fn words(dice: &mut Dice, count: usize) -> String {
    let word = |_| format!("word{}", dice.below(2_000));
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// Random generator (splitmix64), reproducible by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}
