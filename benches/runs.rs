//! Measures the overhead of a run beyond the provider: conversations per second, CPU time and added
//! time per turn, and memory with a thousand requests in flight, against a bare loop of requests to
//! the same provider within the same minute.
//!
//! The provider is a separate process, and so is each measurement. `cargo bench --bench runs` runs
//! all several times; an argument after `--` selects by name. Prints a table; never fails.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and times here are far below where a float is coarse"
)]
#![expect(clippy::unwrap_used, reason = "a measurement fails by panicking")]
#[path = "talks/bare.rs"]
mod bare;
#[path = "../tests/engine/conversation.rs"]
mod conversation;
#[path = "talks/engine.rs"]
mod engine;
#[expect(dead_code, reason = "only a part of it is used here")]
mod floor;
#[path = "../tests/engine/gzip.rs"]
mod gzip;
#[path = "talks/provider.rs"]
mod provider;
#[path = "../tests/engine/scripted.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod scripted;

use provider::{Provider, Stats, TURNS};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The measurements, by name.
const MEASURES: [(&str, Measure); 9] = [
    (
        "full speed, bare loop",
        Measure { who: Who::Bare, conversations: 1200, at_once: 64, think_ms: 0, held: false },
    ),
    (
        "full speed, bare, synced",
        Measure { who: Who::Synced, conversations: 1200, at_once: 64, think_ms: 0, held: false },
    ),
    (
        "full speed, engine",
        Measure { who: Who::Engine, conversations: 1200, at_once: 64, think_ms: 0, held: false },
    ),
    (
        "full speed, with index",
        Measure { who: Who::Program, conversations: 1200, at_once: 64, think_ms: 0, held: false },
    ),
    (
        "at leisure, bare loop",
        Measure { who: Who::Bare, conversations: 120, at_once: 8, think_ms: 40, held: false },
    ),
    (
        "at leisure, bare, synced",
        Measure { who: Who::Synced, conversations: 120, at_once: 8, think_ms: 40, held: false },
    ),
    (
        "at leisure, engine",
        Measure { who: Who::Engine, conversations: 120, at_once: 8, think_ms: 40, held: false },
    ),
    (
        "at leisure, with index",
        Measure { who: Who::Program, conversations: 120, at_once: 8, think_ms: 40, held: false },
    ),
    (
        "1,000 under way",
        Measure { who: Who::Program, conversations: 1000, at_once: 1000, think_ms: 0, held: true },
    ),
];

/// Number of rounds over all measurements.
const ROUNDS: usize = 5;

#[derive(Clone, Copy, PartialEq)]
enum Who {
    /// A loop that sends and reads, and nothing else.
    Bare,
    /// Like `Bare`, with each reply synced to disk before it is acted upon.
    Synced,
    /// The engine without an open folder.
    Engine,
    /// The engine as the program uses it: its index watches the folder that the runs are written
    /// to.
    Program,
}

/// Parameters of one measurement.
#[derive(Clone, Copy)]
struct Measure {
    who: Who,
    conversations: u32,
    at_once: u32,
    /// Delay of the provider before each reply, in milliseconds.
    think_ms: u64,
    /// Set if the provider sends no reply until all conversations have started.
    held: bool,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["--provide", think_ms, held] => {
            provider::serve(think_ms.parse().unwrap_or(0), *held == "true");
        }
        ["--measure", name] => {
            if let Some((_, measure)) = MEASURES.iter().find(|(known, _)| known == name) {
                println!("{name:24} {}", measured(measure));
            }
        }
        words => {
            for round in 1..=ROUNDS {
                println!("# round {round}");
                for (name, _) in
                    MEASURES.iter().filter(|(name, _)| words.iter().all(|word| name.contains(word)))
                {
                    apart(name);
                }
            }
            let _ = fs_err::remove_dir_all(place());
        }
    }
}

/// Returns the directory that holds the folders of all measurements, creating it if necessary.
fn place() -> PathBuf {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench-runs");
    fs_err::create_dir_all(&place).unwrap_or_else(|why| panic!("no folder: {why}"));
    place
}

/// Runs a measurement in a separate process, so that its memory and CPU time are its own.
fn apart(name: &str) {
    let me =
        std::env::current_exe().unwrap_or_else(|why| panic!("cannot find this program: {why}"));
    let status = Command::new(me).args(["--measure", name]).status();
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        println!("{name}: did not finish ({status:?})");
    }
}

fn measured(measure: &Measure) -> String {
    let provider = Provider::start(measure.think_ms, measure.held);
    let before = floor::cpu_s();
    let took = match measure.who {
        Who::Bare => bare::run(&provider, measure, None),
        Who::Synced => bare::run(&provider, measure, Some(&place())),
        Who::Engine => engine::run(&provider, measure, false),
        Who::Program => engine::run(&provider, measure, true),
    };
    let cpu_ms = (floor::cpu_s() - before) * 1000.0;
    let Stats { asked, p50_ms, p95_ms, .. } = provider.stats();
    let turns = u64::from(measure.conversations) * TURNS as u64;
    assert_eq!(asked, turns, "every turn is asked for once");
    row(measure, took, cpu_ms / turns as f64, (p50_ms, p95_ms))
}

fn row(measure: &Measure, took: Duration, cpu_ms: f64, (p50, p95): (f64, f64)) -> String {
    let rate = f64::from(measure.conversations) / took.as_secs_f64();
    let peak = floor::peak_mb();
    format!(
        "{rate:7.0} conversations/s  {cpu_ms:6.3} ms CPU a turn  added to a turn {p50:7.2} ms, p95 {p95:7.2} ms  peak {peak:4} MB"
    )
}
