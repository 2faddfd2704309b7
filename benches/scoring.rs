//! Measures scoring: a first index of runs that all have an expected output, rescoring them after
//! every suite changed, and a report on some 5,000 of them.
use crate::corpus::matrix::{RUNS, put_suites};
use crate::floor::cpu_s;
use crate::measures::{Home, LONG, ms, page};
use std::path::Path;
use std::time::{Duration, Instant};
use touchstone_api::{Column, ReportFormat, ReportRequest};
use touchstone_app::App;

/// Filter for eleven of the 200 tasks.
const SOME: &str = "task:group0/task00*,group0/task010";
const FORMATS: [ReportFormat; 6] = [
    ReportFormat::Html,
    ReportFormat::Markdown,
    ReportFormat::Csv,
    ReportFormat::Json,
    ReportFormat::Jsonl,
    ReportFormat::Junit,
];

/// Runs the measurement on the corpus of the overview.
pub(crate) fn run(dir: &Path) {
    put_suites(dir, "fields").unwrap_or_else(|e| panic!("{e}"));
    let app = timed(&format!("first index of {RUNS} runs, scored"), || {
        let app = Home::empty(dir, "scoring").open();
        app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
        wait_scored(&app, "fields");
        app
    });
    app.folder().wait_searchable(LONG).unwrap_or_else(|e| panic!("{e}"));
    // Ends with the original scorer, so that the folder is left unchanged.
    for scorer in ["exact", "fields"] {
        timed(&format!("once all suites ask for `{scorer}` instead"), || {
            put_suites(dir, scorer).unwrap_or_else(|e| panic!("{e}"));
            wait_scored(&app, scorer);
        });
    }
    for format in FORMATS {
        report(&app, format);
    }
}

fn report(app: &App, format: ReportFormat) {
    let request = ReportRequest { filter: SOME.to_owned(), ..ReportRequest::for_format(format) };
    let what = format!("report of some as {format:?}");
    let report = timed(&what, || {
        app.reports().make_report(&request, true).unwrap_or_else(|e| panic!("{e}"))
    });
    println!("  {} runs, {} KB", report.runs, report.bytes / 1_000);
}

/// Waits until all runs are scored by this scorer. Polls rarely, since each query takes time of the
/// measured CPUs.
fn wait_scored(app: &App, scorer: &str) {
    let started = Instant::now();
    let is_done = || {
        app.folder().status().scoring.is_none()
            && page(app, &format!("scorer:{scorer}"), Column::Path, 0).total == RUNS as u64
    };
    while !is_done() {
        assert!(started.elapsed() < LONG, "waited in vain for scores by {scorer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (started, worked) = (Instant::now(), cpu_s());
    let made = work();
    println!("scoring: {what}: {} (processor {:.2} s)", ms(started.elapsed()), cpu_s() - worked);
    made
}
