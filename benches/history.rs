//! Measures History and review queues of indexes with 100,000 and 1,000,000 scored runs, whose rows
//! are written into the index: no file has to be made, and none is read. While History is computed,
//! another thread asks for pages of the list, as the page does.
use crate::measures::{Home, LONG, ms, page, spread, until};
use crate::{corpus, floor};
use fs_err as fs;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use touchstone_api::{ChangesRequest, Column, QueueOrder, SetsBy, Sort, TrendRequest};
use touchstone_app::App;

/// Measurements with their numbers of runs.
pub(crate) const MEASURES: [(&str, u64); 2] =
    [("history-100k", 100_000), ("history-1m", 1_000_000)];

/// Writes an index with so many runs, unless it exists already, and returns its folder.
pub(crate) fn write(root: &Path, runs: u64) -> PathBuf {
    let dir = root.join(format!("rows{runs}"));
    let done = dir.with_extension("rows");
    if !done.exists() {
        fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{e}"));
        let text = corpus::transcript(&mut corpus::Dice::new(5), 700);
        let file = dir.join("task000-tool_calling-o1-variation0.yaml");
        fs::write(file, text).unwrap_or_else(|e| panic!("{e}"));
        let home = Home::filled(&dir);
        fill(&home.index(), runs).unwrap_or_else(|e| panic!("the rows were not written: {e}"));
        fs::write(done, b"").unwrap_or_else(|e| panic!("{e}"));
    }
    dir
}

/// Copies the one row of an index, with other names, times and scores: 200 tasks of 5 variations by
/// 4 systems on 50 days, with as many repeats as are left.
fn fill(path: &Path, runs: u64) -> rusqlite::Result<()> {
    let seal = path.with_file_name("seal");
    fs::remove_file(seal).ok();
    let sql = Connection::open(path)?;
    let mut columns = sql.prepare("SELECT name FROM pragma_table_info('runs')")?;
    let names: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    // Tasks differ in how often they pass; a hash of the number decides.
    let passes =
        "((n.value * 2654435761) >> 7) % 100 >= (n.value % 200) / 3 + n.value / 4000 % 50 / 5";
    let value = |name: &String| {
        match name.as_str() {
        "id" => "n.value + 1".to_owned(),
        "key" => "printf('%016x', n.value)".to_owned(),
        "unit" => "n.value + 17".to_owned(),
        "path" => "printf('day%02d/group%d/task%03d-%s-o1-variation%d-run%d.yaml', n.value / 4000 % 50, \
                   n.value % 200 / 20, n.value % 200, iif(n.value / 1000 % 2, 'promptql', 'tool_calling'), \
                   n.value / 200 % 5, n.value)"
            .to_owned(),
        "task" => "printf('group%d/task%03d', n.value % 200 / 20, n.value % 200)".to_owned(),
        "variation" => "n.value / 200 % 5".to_owned(),
        "system" => "iif(n.value / 1000 % 2, 'promptql', 'tool_calling')".to_owned(),
        "model" => "iif(n.value / 2000 % 2, 'claude', 'o1')".to_owned(),
        "repeat" => "n.value / 200000 + 1".to_owned(),
        "started" => "1767225600.0 + n.value / 4000 % 50 * 86400 + n.value % 4000".to_owned(),
        "modified_ms" => "1767225600000 + n.value".to_owned(),
        "tokens" => "500 + n.value * 7919 % 20000".to_owned(),
        "cost" => "0.001 + n.value * 7919 % 1000 / 20000.0".to_owned(),
        "seconds" => "1.5 + n.value * 104729 % 600 / 10.0".to_owned(),
        "scoring" => "'scored'".to_owned(),
        "scorer" => "'fields'".to_owned(),
        "fingerprint" => "n.value % 1000 + 5".to_owned(),
        "score" | "passed" => format!("iif({passes}, 1, 0)"),
        "class" => format!("iif({passes}, NULL, 'wrong_answer')"),
        "text_len" => "0".to_owned(),
        other => format!("r.{other}"),
    }
    };
    let values: Vec<String> = names.iter().map(value).collect();
    let mut indexes = sql.prepare(
        "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'runs' AND sql LIKE 'CREATE INDEX%'",
    )?;
    let indexes: Vec<(String, String)> =
        indexes.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    sql.execute_batch("BEGIN")?;
    for (name, _) in &indexes {
        sql.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    let insert = format!(
        "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?) \
         INSERT INTO runs ({}) SELECT {} FROM n JOIN runs r ON r.id = 1",
        names.join(", "),
        values.join(", ")
    );
    sql.execute(&insert, [runs.cast_signed() - 1])?;
    sql.execute_batch(
        "INSERT INTO scores (run, place, scorer, version, standing, score, passed, reason, detail) \
         SELECT id, 0, 'fields', 1, 'scored', score, passed, '', '[]' FROM runs WHERE id > 1",
    )?;
    for (_, create) in &indexes {
        sql.execute_batch(create)?;
    }
    sql.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
}

/// Runs the measurement on the folder of an index.
pub(crate) fn run(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let total = page(&app, "", Column::Modified, 0).total;
    println!("history: {total} runs, load {}", load());
    println!("  memory before {} MB", floor::peak_mb());
    queues(&app);
    println!("  memory after the queues {} MB", floor::peak_mb());
    for by in [SetsBy::Day, SetsBy::Folder, SetsBy::Month] {
        change(&app, by);
    }
    for n in 1..=2 {
        let text = corpus::transcript(&mut corpus::Dice::new(n), 700);
        let file = dir.join(format!("task000-tool_calling-o1-variation{n}.yaml"));
        fs::write(&file, text).unwrap_or_else(|e| panic!("{e}"));
        until("the new run is listed", || page(&app, "", Column::Modified, 0).total == total + n);
        println!("history: after a new run:");
        change(&app, SetsBy::Day);
    }
    // The next measurement begins with the same runs.
    for n in 1..=2 {
        fs::remove_file(dir.join(format!("task000-tool_calling-o1-variation{n}.yaml"))).ok();
    }
    until("the new runs are gone", || page(&app, "", Column::Modified, 0).total == total);
    println!("history: load {}", load());
}

/// Measures what the page asks after a change of the index: trends, the last change, the baseline.
fn change(app: &App, by: SetsBy) {
    let trend = TrendRequest { filter: String::new(), scorer: None, by };
    let mut pages = Vec::new();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Another filter each time, so that no cached list is returned.
            for n in 0.. {
                let started = Instant::now();
                page(app, &format!("turns:>=0 size:>{n}"), Column::Modified, 0);
                pages.push(started.elapsed());
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
        });
        let (started, worked) = (Instant::now(), floor::cpu_s());
        let history = app.stats().history(&trend).unwrap_or_else(|e| panic!("{e}"));
        let trends = started.elapsed();
        let again = Instant::now();
        let request = ChangesRequest { trend: trend.clone(), before: None, after: None };
        let changes = app.stats().set_changes(&request).unwrap_or_else(|e| panic!("{e}"));
        let second = again.elapsed();
        let again = Instant::now();
        let baseline = app.reports().baseline().unwrap_or_else(|e| panic!("{e}"));
        println!(
            "history: by {by:?}: {} sets, {} groups, trends {}, changes {} ({} groups), baseline {} (there: {}), \
             all {} (processor {:.2} s)",
            history.trends.sets.len(),
            history.trends.groups.len(),
            ms(trends),
            ms(second),
            changes.map_or(0, |changes| changes.groups.len()),
            ms(again.elapsed()),
            baseline.exists,
            ms(started.elapsed()),
            floor::cpu_s() - worked
        );
        println!("  peak memory {} MB", floor::peak_mb());
        is_done.store(true, Ordering::Relaxed);
    });
    println!("history: pages of a new filter meanwhile: {}", spread(&mut pages));
}

fn queues(app: &App) {
    let sort = Sort { column: Column::Modified, descending: true };
    for (name, order) in [
        ("list", QueueOrder::List),
        ("not reviewed first", QueueOrder::Unreviewed),
        ("random", QueueOrder::Random { seed: 7 }),
    ] {
        let mut times = Vec::new();
        for n in 0..5 {
            let started = Instant::now();
            let key = format!("{:016x}", 40_000 + n);
            let around = app.runs().queue_around(("", &sort), order, Some("anna"), &key);
            let around = around.unwrap_or_else(|e| panic!("{e}"));
            assert!(around.total > 0 && around.ids.contains(&key));
            times.push(started.elapsed());
        }
        println!("queue: {name}: first {}, {}", ms(times[0]), spread(&mut times));
    }
    let mut times = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        app.runs().queue_progress("", Some("anna")).unwrap_or_else(|e| panic!("{e}"));
        times.push(started.elapsed());
    }
    println!("queue: progress: first {}, {}", ms(times[0]), spread(&mut times));
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
