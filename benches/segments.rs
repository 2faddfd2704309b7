//! Measures a folder that is opened from segments against one that is opened from its files, and
//! against listing it.
use crate::corpus::Shape;
use crate::floor;
use crate::measures::{LONG, ms};
use fs_err as fs;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use std::path::Path;
use std::time::{Duration, Instant};
use touchstone_api::{Column, ListRequest, Sort, Span};
use touchstone_app::{App, AppConfig};
use touchstone_store::limits::Limits;

/// Measurements, each in a process of its own, in this order.
pub(crate) const MEASURES: [&str; 4] =
    ["segments-floor", "segments-files", "segments-write", "segments-cold"];

/// Small transcripts in folders of 1,000; `TOUCHSTONE_BENCH_RUNS` changes their number.
pub(crate) fn shape() -> Shape {
    let files = std::env::var("TOUCHSTONE_BENCH_RUNS").ok().and_then(|count| count.parse().ok());
    Shape { files: files.unwrap_or(100_000), median: 700.0, sigma: 0.3, per_dir: 1_000, giant: 0 }
}

/// Runs one of the measurements.
pub(crate) fn run(name: &str, dir: &Path) {
    match name {
        "segments-floor" => least(dir),
        "segments-files" => {
            let _ = fs::remove_dir_all(dir.join(".touchstone"));
            cold(dir, "from files", false);
        }
        "segments-write" => write(dir),
        _ => {
            cold(dir, "claims alone", true);
            cold(dir, "claims, then files", false);
        }
    }
}

fn least(dir: &Path) {
    let started = Instant::now();
    let files = floor::list(dir).len();
    println!(
        "segments: floor, list and stat of {files} files {} (processor {:.1} s)",
        ms(started.elapsed()),
        floor::cpu_s()
    );
    let (started, before) = (Instant::now(), floor::cpu_s());
    let (segments, bytes) = unpacked(&dir.join(".touchstone/segments"));
    println!(
        "segments: floor, {segments} segments with {} KB unpacked {} (processor {:.1} s)",
        bytes / 1_000,
        ms(started.elapsed()),
        floor::cpu_s() - before
    );
}

/// Reads all pages of all segments. Returns the number of segments, and of unpacked bytes.
fn unpacked(dir: &Path) -> (usize, usize) {
    let (mut segments, mut bytes) = (0, 0);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let file = fs::File::open(entry.path()).unwrap_or_else(|e| panic!("{e}")).into_parts().0;
        let reader = SerializedFileReader::new(file).unwrap_or_else(|e| panic!("{e}"));
        segments += 1;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).unwrap_or_else(|e| panic!("{e}"));
            for column in 0..group.num_columns() {
                let pages = group.get_column_page_reader(column).unwrap_or_else(|e| panic!("{e}"));
                bytes += pages.flatten().map(|page| page.buffer().len()).sum::<usize>();
            }
        }
    }
    (segments, bytes)
}

fn app(dir: &Path, trust_claims: bool) -> App {
    let home = dir.with_extension("segments-home");
    let _ = fs::remove_dir_all(&home);
    let limits = Limits { trust_claims, watch: false, ..Limits::default() };
    App::new(AppConfig {
        cache_dir: home.join("cache"),
        state_dir: home.join("state"),
        demo_dir: None,
        limits,
    })
}

fn cold(dir: &Path, how: &str, trust_claims: bool) {
    let before = floor::cpu_s();
    let app = app(dir, trust_claims);
    let started = Instant::now();
    app.folder().open(dir).unwrap_or_else(|e| panic!("{e}"));
    let has_segments = dir.join(".touchstone/segments").exists();
    let mut first = 0;
    while has_segments && first == 0 {
        std::thread::sleep(Duration::from_millis(50));
        first = listed(&app, "turns:>=0");
    }
    if has_segments {
        println!(
            "segments: {how}: {first} rows in a filtered list after {}",
            ms(started.elapsed())
        );
    }
    while has_segments && app.folder().segment_status().is_ok_and(|status| status.claimed == 0) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let shown = started.elapsed();
    let after = floor::cpu_s();
    let peak = floor::peak_mb();
    for filter in ["turns:>0", "turns:>1", "turns:>2"] {
        let began = Instant::now();
        let found = listed(&app, filter);
        println!("  a page of {found} rows, {filter}: {}", ms(began.elapsed()));
    }
    app.folder().wait_ready(LONG * 4).unwrap_or_else(|e| panic!("{e}"));
    let claimed = app.folder().segment_status().map_or(0, |status| status.claimed);
    if has_segments {
        println!(
            "segments: {how}: {claimed} rows after {} (processor {:.1} s, peak {} MB)",
            ms(shown),
            after - before,
            peak
        );
    }
    println!(
        "segments: {how}: ready after {} (processor {:.1} s, peak {} MB)",
        ms(started.elapsed()),
        floor::cpu_s() - before,
        floor::peak_mb()
    );
}

/// Number of rows of a filter, with the first page of them.
fn listed(app: &App, filter: &str) -> u64 {
    let sort = Sort { column: Column::Modified, descending: true };
    let span = Span { offset: 0, limit: 100 };
    let request = ListRequest { filter: filter.to_owned(), sort, span };
    app.runs().list_runs(request).map_or(0, |page| page.total)
}

fn write(dir: &Path) {
    let _ = fs::remove_dir_all(dir.join(".touchstone"));
    let app = app(dir, false);
    // With a folder for tasks, results are not read before.
    let tasks = dir.with_extension("segments-tasks");
    fs::create_dir_all(&tasks).unwrap_or_else(|e| panic!("{e}"));
    app.folder().open_as_worker(dir, Some(&tasks), Some(dir)).unwrap_or_else(|e| panic!("{e}"));
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let started = Instant::now();
    let written =
        app.folder().write_segments(&|| false, &|_, _| {}).unwrap_or_else(|e| panic!("{e}"));
    println!(
        "segments: {} runs written after {}: {} KB in {} files (processor {:.1} s, peak {} MB)",
        written.sealed.written,
        ms(started.elapsed()),
        written.sealed.bytes / 1_000,
        written.names.len(),
        floor::cpu_s(),
        floor::peak_mb()
    );
}
