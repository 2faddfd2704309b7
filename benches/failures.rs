//! Measures the failure map of 10,000 failed runs: the first one, which reads their transcripts, and
//! the next, which reads nothing. The lower bound is reading the same files.
use crate::corpus::failed_runs::FAILED;
use crate::floor;
use crate::measures::{Home, LONG, ms};
use std::path::Path;
use std::time::Instant;
use touchstone_api::FailuresRequest;

/// Runs the measurement on the corpus of failed runs.
pub(crate) fn run(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let files = floor::list(&dir.join("results"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = Instant::now();
    let sum = floor::read_and_hash(&files, threads);
    let least = started.elapsed();
    println!(
        "floor: read and hash {} files on {threads} thread(s): {} (check {sum:x})",
        files.len(),
        ms(least)
    );
    let request = FailuresRequest::default();
    let read = |name: &str| {
        let (started, worked) = (Instant::now(), floor::cpu_s());
        let (map, _) =
            app.failures().whole_map(&request, true, &|_, _| ()).unwrap_or_else(|e| panic!("{e}"));
        println!(
            "failures: {name}: {} failed runs in {} clusters: {} (processor {:.2} s)",
            map.failed,
            map.clusters.len(),
            ms(started.elapsed()),
            floor::cpu_s() - worked
        );
        map
    };
    let map = read("transcripts are read");
    assert_eq!((map.failed, map.unreadable), (FAILED as u64, 0));
    for cluster in map.clusters.iter().take(8) {
        println!("  {:>6}  {}", cluster.runs, cluster.title);
    }
    read("nothing is read again");
}
