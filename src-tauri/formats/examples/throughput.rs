//! Measures the speed of reading transcripts with both YAML parsers: `cargo run --release -p
//! touchstone-formats --example throughput FOLDER`.
#![expect(clippy::print_stdout, reason = "an example prints what it measured")]
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use touchstone_formats::transcript;
use touchstone_model::yaml;

/// Number of rounds; the best time of each parser counts.
const ROUNDS: usize = 5;

type ParseFn = fn(&[u8]) -> bool;

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let files = read_all(Path::new(&folder));
    let bytes: usize = files.iter().map(Vec::len).sum();
    let fast =
        files.iter().filter(|file| text(file).and_then(yaml::read_fast_only).is_some()).count();
    println!("{} files, {:.1} MB, of which {fast} go the fast way", files.len(), megabytes(bytes));
    let ways: [(&str, ParseFn); 5] = [
        ("utf-8 check", |file| text(file).is_some()),
        ("outline", |file| transcript::outline(file).is_ok()),
        ("whole run", |file| transcript::read(file).is_ok()),
        ("fast way to a value", |file| text(file).and_then(yaml::read_fast_only).is_some()),
        ("full parser to a value", |file| {
            text(file).is_some_and(|text| yaml::read_fully(text).is_ok())
        }),
    ];
    let mut best = [Duration::MAX; 5];
    for _ in 0..ROUNDS {
        for ((_, way), best) in ways.iter().zip(&mut best) {
            let start = Instant::now();
            black_box(files.iter().filter(|file| way(file)).count());
            *best = start.elapsed().min(*best);
        }
    }
    for ((name, _), best) in ways.iter().zip(best) {
        println!(
            "{name:>24}: {:7.1} ms {:7.0} MB/s",
            best.as_secs_f64() * 1e3,
            megabytes(bytes) / best.as_secs_f64()
        );
    }
}

fn text(file: &[u8]) -> Option<&str> {
    std::str::from_utf8(file).ok()
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn read_all(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                paths.push(path);
            }
        }
    }
    paths.iter().filter_map(|path| fs_err::read(path).ok()).collect()
}
