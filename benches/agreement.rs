//! Measures the agreement of judges with people and with each other, next to a plain scan of the
//! same index rows.
use crate::corpus::judged_runs::RUNS;
use crate::floor::cpu_s;
use crate::measures::{Home, LONG, spread, until};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};

/// Selects the rows and columns from which the agreement is computed.
const SAID: &str = "SELECT r.id, r.verdict, r.review_score, v.judged, v.same FROM reviews v JOIN runs r ON r.key = v.run \
                    WHERE v.problem IS NULL";
const ROUNDS: usize = 9;
const PAIRS: [(&str, &str); 3] = [
    ("people", "sopr:ours:local"),
    ("people", "relevance:ours:local"),
    ("sopr:ours:local", "relevance:ours:local"),
];

/// Runs the measurement on the folder of reviewed and judged runs.
pub(crate) fn run(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let trust = |filter: &str| app.reviews().trust(filter).unwrap_or_else(|e| panic!("{e}"));
    until("what was said is known", || {
        let trust = trust("");
        trust.reviewed == RUNS as u64
            && trust.pairs.len() == PAIRS.len()
            && trust.pairs.iter().all(|pair| pair.n == trust.reviewed)
    });
    let (mut walks, mut counts, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let (mut walked, mut counted) = (0.0, 0.0);
    for n in 0..ROUNDS {
        let worked = cpu_s();
        let (took, rows, bytes) = walk(&home.index());
        walked += cpu_s() - worked;
        if n == 0 {
            println!(
                "agreement: floor: a walk over {rows} rows with {} MB of text",
                bytes / 1_000_000
            );
        }
        walks.push(took);
        // Every filter matches all runs, but each differs, so that no cached result is returned.
        let filter = format!("size:<{}mb", 10 + n);
        let (started, worked) = (Instant::now(), cpu_s());
        let told = trust(&filter);
        counts.push(started.elapsed());
        counted += cpu_s() - worked;
        if n == 0 {
            let pairs: Vec<String> =
                told.pairs.iter().map(|pair| format!("{} of {}", pair.same, pair.n)).collect();
            println!(
                "agreement: {} raters, {} reviewed, the same: {}",
                told.raters.len(),
                told.reviewed,
                pairs.join(", ")
            );
        }
        let started = Instant::now();
        trust(&filter);
        again.push(started.elapsed());
    }
    let each = |seconds: f64| seconds * 1_000.0 / ROUNDS as f64;
    println!("agreement: floor: {} (processor {:.1} ms each)", spread(&mut walks), each(walked));
    println!(
        "agreement: of all raters: {} (processor {:.1} ms each)",
        spread(&mut counts),
        each(counted)
    );
    println!("agreement: asked again: {}", spread(&mut again));
    for (first, second) in PAIRS {
        let mut times: Vec<Duration> = Vec::new();
        let mut apart = 0;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            let pair = app.reviews().agreement(first, second, "").unwrap_or_else(|e| panic!("{e}"));
            times.push(started.elapsed());
            apart = pair.disagreements_total;
        }
        println!("agreement: {first} with {second}, {apart} apart: {}", spread(&mut times));
    }
}

/// Lower bound: reads every row and does nothing with it. Returns the time, the rows and the bytes.
fn walk(index: &Path) -> (Duration, u64, u64) {
    let sql = Connection::open_with_flags(index, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .unwrap_or_else(|e| panic!("{e}"));
    let started = Instant::now();
    let mut statement = sql.prepare(SAID).unwrap_or_else(|e| panic!("{e}"));
    let mut rows = statement.query([]).unwrap_or_else(|e| panic!("{e}"));
    let (mut count, mut bytes) = (0, 0);
    while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{e}")) {
        count += 1;
        for at in [1, 3, 4] {
            let text = row.get_ref(at).ok().and_then(|value| value.as_str_or_null().ok().flatten());
            bytes += text.map_or(0, |text| text.len() as u64);
        }
    }
    (started.elapsed(), count, bytes)
}
