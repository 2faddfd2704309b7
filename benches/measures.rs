//! The measurements, each run in its own process.
use crate::{corpus, floor};
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use touchstone_api::{Column, ListRequest, RunPage, Sort, Span, Stale};
use touchstone_app::{App, AppConfig};

/// Measurements on 10,000 transcripts.
pub(crate) const LARGE: [&str; 7] =
    ["floor", "cold", "warm", "search", "open-5mb", "new-file", "new-file-busy"];
/// Measurements on 100,000 transcripts.
pub(crate) const MANY: [&str; 4] = ["many-floor", "many-cold", "many-warm", "many-steps"];

pub(crate) const LONG: Duration = Duration::from_mins(5);

/// Measurements on the corpus of the overview.
pub(crate) const MATRIX: [&str; 2] = ["overview", "scoring"];

/// Measurements on the corpus of reviewed and judged runs.
pub(crate) const SAID: [&str; 1] = ["agreement"];

/// Measurement on the corpus of failed runs.
pub(crate) const FAILURES: &str = "failures";

/// Runs one measurement and prints its lines.
pub(crate) fn run(name: &str, dir: &Path) {
    match name {
        "floor" | "many-floor" => least(dir),
        "cold" | "many-cold" => cold(dir),
        "warm" => warm(dir),
        "many-warm" => many_warm(dir),
        "many-steps" => crate::steps::run(dir),
        "search" => search(dir),
        "open-5mb" => open_large(dir),
        "new-file" => new_files(dir, false),
        "new-file-busy" => new_files(dir, true),
        "overview" => crate::matrix::run(dir),
        "scoring" => crate::scoring::run(dir),
        "agreement" => crate::agreement::run(dir),
        FAILURES => crate::failures::run(dir),
        crate::columns::MEASURE => crate::columns::run(dir),
        _ if name.starts_with("segments-") => crate::segments::run(name, dir),
        _ if name.starts_with("history-") => crate::history::run(dir),
        _ if crate::inspect::run(name, dir) => {}
        _ => println!("no measurement is called {name}"),
    }
    println!("  peak memory {} MB, processor {:.2} s", floor::peak_mb(), floor::cpu_s());
}

fn least(dir: &Path) {
    let started = Instant::now();
    let files = floor::list(dir);
    let listed = started.elapsed();
    let bytes: u64 = files.iter().map(|(_, size)| size).sum();
    for threads in [1, 2] {
        let started = Instant::now();
        let sum = floor::read_and_hash(&files, threads);
        let read = started.elapsed();
        println!(
            "floor: {} files, {} MB: list {} + read and hash on {threads} thread(s) {} = {} (check {sum:x})",
            files.len(),
            bytes / 1_000_000,
            ms(listed),
            ms(read),
            ms(listed + read)
        );
    }
}

fn cold(dir: &Path) {
    let home = Home::empty(dir, "cold");
    let started = Instant::now();
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let total = page(&app, "", Column::Modified, 0).total;
    println!("cold: list of {total} and text search ready {}", ms(started.elapsed()));
    println!(
        "  memory when the list is ready {} MB, processor {:.2} s",
        floor::peak_mb(),
        floor::cpu_s()
    );
    app.folder().wait_searchable(LONG).unwrap_or_else(|e| panic!("{e}"));
    println!("cold: full-text index complete {}", ms(started.elapsed()));
}

fn warm(dir: &Path) {
    let home = Home::filled(dir);
    let started = Instant::now();
    let app = home.open();
    let first = page(&app, "", Column::Modified, 0);
    println!(
        "warm: first page of {} of {} after {}",
        first.rows.len(),
        first.total,
        ms(started.elapsed())
    );
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    until("the rescan is done", || {
        app.folder().index_report().is_ok_and(|r| r.files > 0 && r.index_ms > 0)
    });
    let report = app.folder().index_report().unwrap_or_else(|e| panic!("{e}"));
    println!(
        "warm: no-change rescan: scan {} ms, with compare {} ms, done {}",
        report.scan_ms,
        report.index_ms,
        ms(started.elapsed())
    );
}

fn search(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    app.folder().wait_searchable(LONG).unwrap_or_else(|e| panic!("{e}"));
    for text in ["downtime", "zzzqqqxx", "no such column", "8cae6eab"] {
        let mut times: Vec<Duration> = Vec::new();
        let mut found = 0;
        for n in 0..9 {
            // The sort column changes each time, so that no cached list is returned.
            let column = [Column::Modified, Column::Size, Column::Tokens][n % 3].clone();
            let started = Instant::now();
            found = page(&app, &format!("{text} turns:>{}", n / 3), column, 0).total;
            times.push(started.elapsed());
        }
        println!("search: {text:?}: {found} runs, {}", spread(&mut times));
    }
}

fn open_large(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let row = page(&app, "size:>5mb", Column::Size, 0).rows.remove(0);
    let started = Instant::now();
    let view = app.runs().open_run(&row.id).unwrap_or_else(|e| panic!("{e}"));
    let took = started.elapsed();
    let json = serde_json::to_string(&view).map_or(0, |text| text.len());
    println!(
        "open: {} MB, {} steps: first view after {}, {} KB cross to the page",
        row.size / 1_000_000,
        view.total_steps,
        ms(took),
        json / 1000
    );
    let started = Instant::now();
    let hits = app.runs().find_in_run(&row.id, "downtime").unwrap_or_else(|e| panic!("{e}"));
    println!("open: find in it: {} places after {}", hits.total, ms(started.elapsed()));
}

fn many_warm(dir: &Path) {
    let home = Home::filled(dir);
    let started = Instant::now();
    let app = home.open();
    let first = page(&app, "", Column::Modified, 0);
    println!("many: warm start to first page of {}: {}", first.total, ms(started.elapsed()));
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    until("the rescan is done", || {
        app.folder().index_report().is_ok_and(|r| r.files > 0 && r.index_ms > 0)
    });
    println!(
        "many: no-change rescan {:?} ms",
        app.folder().index_report().map(|r| r.index_ms).ok()
    );
    let columns = [
        Column::Path,
        Column::Task,
        Column::System,
        Column::Model,
        Column::Variation,
        Column::Repeat,
        Column::State,
        Column::Turns,
        Column::ToolCalls,
        Column::Tokens,
        Column::Cost,
        Column::Seconds,
        Column::Size,
        Column::Modified,
    ];
    let mut sorts: Vec<Duration> = columns
        .iter()
        .flat_map(|c| {
            [timed(&app, "", c.clone(), 0), timed(&app, "system:tool_calling", c.clone(), 0)]
        })
        .collect();
    println!("many: first page in a new order: {}", spread(&mut sorts));
    let filters = [
        "model:o1",
        "tokens:>10000",
        "task:task_1*",
        "tool:query_support_tickets failed:no",
        "turns:>2 -model:claude",
        "path:*suite0500*",
        "state:answered cost:<0.05",
    ];
    let mut filtered: Vec<Duration> =
        filters.iter().flat_map(|f| columns.clone().map(|c| timed(&app, f, c, 0))).collect();
    println!("many: first page of a new filter and order: {}", spread(&mut filtered));
    let mut dice = corpus::Dice::new(7);
    let mut pages: Vec<Duration> = (0..300)
        .map(|_| timed(&app, "", Column::Modified, u32::try_from(dice.below(99_800)).unwrap_or(0)))
        .collect();
    println!("many: page anywhere: {}", spread(&mut pages));
}

fn timed(app: &App, filter: &str, column: Column, offset: u32) -> Duration {
    let started = Instant::now();
    page(app, filter, column, offset);
    started.elapsed()
}

/// Measures the time from the rename of a file until a list contains it: in an existing folder, and
/// in one just created.
fn new_files(dir: &Path, busy: bool) {
    let copy = dir.with_file_name(format!("new-files-{busy}"));
    fs::remove_dir_all(&copy).ok();
    fs::create_dir_all(copy.join("there")).unwrap_or_else(|e| panic!("{e}"));
    let home = Home::empty(&copy, "new");
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let (told, changes) = mpsc::channel();
    let subscription = app.subscribe(Box::new(move |event| {
        if matches!(event.stale, Stale::Runs { .. }) {
            told.send(()).ok();
        }
    }));
    let mut dice = corpus::Dice::new(11);
    let noise = busy.then(|| noise(copy.join("noise")));
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for n in 0..60 {
        let fresh = n % 2 == 1;
        let folder = if fresh { copy.join(format!("made{n}/deeper")) } else { copy.join("there") };
        let text = corpus::transcript(&mut dice, 8_000);
        fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
        let temporary = folder.join(".part");
        fs::write(&temporary, text).unwrap_or_else(|e| panic!("{e}"));
        fs::rename(&temporary, folder.join(format!("new{n}-tool_calling-o1-variation0.yaml")))
            .unwrap_or_else(|e| panic!("{e}"));
        let renamed = Instant::now();
        while page(&app, &format!("task:*new{n}"), Column::Modified, 0).total == 0 {
            assert!(renamed.elapsed() < LONG, "the new file was never listed");
            changes.recv_timeout(Duration::from_millis(500)).ok();
        }
        if fresh { new.push(renamed.elapsed()) } else { old.push(renamed.elapsed()) }
    }
    let word = if busy { " while 5,000 others arrive" } else { "" };
    println!("new file{word}: in a known folder {}", spread(&mut old));
    println!("new file{word}: in a folder made the same moment {}", spread(&mut new));
    if let Some(noise) = noise {
        noise.join().ok();
        until("the noise is listed too", || {
            page(&app, "task:*noise*", Column::Modified, 0).total == 5_000
        });
    }
    drop(subscription);
    drop(app);
    fs::remove_dir_all(&copy).ok();
}

/// Writes 5,000 files in 50 new folders, like a launch of many runs.
fn noise(folder: PathBuf) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut dice = corpus::Dice::new(13);
        for n in 0..5_000 {
            let here = folder.join(format!("n{}", n / 100));
            fs::create_dir_all(&here).unwrap_or_else(|e| panic!("{e}"));
            let temporary = here.join(format!(".part{n}"));
            fs::write(&temporary, corpus::transcript(&mut dice, 4_000))
                .unwrap_or_else(|e| panic!("{e}"));
            fs::rename(&temporary, here.join(format!("noise{n}-tool_calling-o1-variation0.yaml")))
                .unwrap_or_else(|e| panic!("{e}"));
        }
    })
}

pub(crate) fn page(app: &App, filter: &str, column: Column, offset: u32) -> RunPage {
    let sort = Sort { column, descending: true };
    let request =
        ListRequest { filter: filter.to_owned(), sort, span: Span { offset, limit: 100 } };
    app.runs().list_runs(request).unwrap_or_else(|e| panic!("{e}"))
}

/// Application with its own cache directory, over one folder.
pub(crate) struct Home {
    folder: PathBuf,
    cache: PathBuf,
}

impl Home {
    fn new(folder: &Path, name: &str) -> Self {
        Self { folder: folder.to_path_buf(), cache: folder.with_extension(format!("{name}-cache")) }
    }

    /// Creates one without an index.
    pub(crate) fn empty(folder: &Path, name: &str) -> Self {
        let home = Self::new(folder, name);
        fs::remove_dir_all(&home.cache).ok();
        home
    }

    /// Creates one with a complete index, building it if it does not exist.
    pub(crate) fn filled(folder: &Path) -> Self {
        let home = Self::new(folder, "warm");
        if !home.cache.join("complete").exists() {
            let app = home.open();
            app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
            app.folder().wait_searchable(LONG).unwrap_or_else(|e| panic!("{e}"));
            assert!(app.folder().close_folder().is_ok());
            fs::write(home.cache.join("complete"), b"").unwrap_or_else(|e| panic!("{e}"));
        }
        home
    }

    /// Returns the path of its index file.
    pub(crate) fn index(&self) -> PathBuf {
        let mut files = floor::list(&self.cache).into_iter().map(|(path, _)| path);
        files
            .find(|path| path.ends_with("index.db"))
            .unwrap_or_else(|| panic!("there is no index below {}", self.cache.display()))
    }

    pub(crate) fn open(&self) -> App {
        let config = AppConfig {
            cache_dir: self.cache.clone(),
            state_dir: self.cache.join("state"),
            demo_dir: None,
            limits: touchstone_store::limits::Limits::default(),
        };
        let app = App::new(config);
        app.folder().open(&self.folder).unwrap_or_else(|e| panic!("{e}"));
        app
    }
}

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG, "waited in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

pub(crate) fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

pub(crate) fn spread(times: &mut [Duration]) -> String {
    times.sort();
    let at = |part: usize| {
        times
            .get((times.len() * part / 100).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    };
    format!("p50 {}, p95 {}, max {} (n={})", ms(at(50)), ms(at(95)), ms(at(100)), times.len())
}
