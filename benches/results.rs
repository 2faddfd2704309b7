//! Measures the indexing of results against the lower bound: listing, reading and hashing the same
//! files in the same invocation. Each measurement is a separate process, so that its peak memory is
//! its own. Prints a table; never fails.
//!
//! `cargo bench --bench results` runs all; an argument after `--` selects by name. The corpus is in
//! `target/corpus`.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes and times here are far below where a float is coarse"
)]
mod agreement;
mod columns;
mod corpus;
mod failures;
mod floor;
mod history;
mod inspect;
mod matrix;
mod measures;
mod scoring;
mod segments;
mod steps;

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/corpus");
    if let [flag, name, dir] = args.as_slice()
        && flag == "--child"
    {
        measures::run(name, Path::new(dir));
        return;
    }
    let wanted = |name: &str| args.is_empty() || args.iter().any(|a| name.contains(a.as_str()));
    if measures::LARGE.iter().any(|name| wanted(name)) {
        let large = write(&root, corpus::LARGE);
        for round in 1..=3 {
            println!("# 10,000 transcripts, round {round}");
            for name in measures::LARGE {
                if wanted(name) {
                    child(name, &large);
                }
            }
        }
    }
    if measures::MANY.iter().any(|name| wanted(name)) {
        let many = write(&root, corpus::MANY);
        println!("# 100,000 transcripts");
        for name in measures::MANY {
            if wanted(name) {
                child(name, &many);
            }
        }
    }
    if segments::MEASURES.iter().any(|name| wanted(name)) {
        let folder = write(&root, segments::shape());
        println!("# {} transcripts", segments::shape().files);
        for name in segments::MEASURES.iter().filter(|name| wanted(name)) {
            child(name, &folder);
        }
    }
    for name in measures::MATRIX.iter().filter(|name| wanted(name)) {
        let folder = corpus::matrix::write(&root);
        println!("# 200 tasks × 5 variations × 12 columns × 8 repeats");
        child(
            name,
            &folder.unwrap_or_else(|e| {
                panic!("cannot write the corpus below {}: {e}", root.display())
            }),
        );
    }
    for name in measures::SAID.iter().filter(|name| wanted(name)) {
        let folder = corpus::judged_runs::write(&root);
        println!("# 100,000 transcripts, each reviewed and judged twice");
        child(
            name,
            &folder.unwrap_or_else(|e| {
                panic!("cannot write the corpus below {}: {e}", root.display())
            }),
        );
    }
    if wanted(measures::FAILURES) {
        let folder = corpus::failed_runs::write(&root);
        println!("# 10,000 failed runs of 100 tasks");
        child(
            measures::FAILURES,
            &folder.unwrap_or_else(|e| {
                panic!("cannot write the corpus below {}: {e}", root.display())
            }),
        );
    }
    for (name, runs) in history::MEASURES.iter().filter(|(name, _)| wanted(name)) {
        println!("# {runs} rows of runs");
        child(name, &history::write(&root, *runs));
    }
    if wanted(columns::MEASURE) {
        println!("# 1,000,000 rows of runs");
        child(columns::MEASURE, &history::write(&root, 1_000_000));
    }
    if wanted(inspect::JSON) {
        println!("# 10,000 small transcripts as JSON");
        child(inspect::JSON, &inspect::write_json(&root));
    }
    if inspect::MEASURES.iter().any(|(name, _)| wanted(name)) {
        let Some(logs) = inspect::write(&root) else {
            println!("# Inspect logs: not measured, since INSPECT_PYTHON is not set");
            return;
        };
        for (name, folder) in inspect::MEASURES.iter().filter(|(name, _)| wanted(name)) {
            println!("# Inspect logs: {folder}");
            child(name, &logs.join(folder));
        }
    }
}

fn write(root: &Path, shape: corpus::Shape) -> PathBuf {
    corpus::write(root, shape)
        .unwrap_or_else(|e| panic!("cannot write the corpus below {}: {e}", root.display()))
}

fn child(name: &str, dir: &Path) {
    let me = std::env::current_exe().unwrap_or_else(|e| panic!("cannot find this program: {e}"));
    let status = Command::new(me).args(["--child", name]).arg(dir).status();
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        println!("{name}: did not finish ({status:?})");
    }
}
