//! Segments: what a folder shows of claims is what reading its files shows, and the files decide.
use crate::bench::{Bench, DEADLINE, answered, beside_the_project, find_in, wait_until};
use fs_err as fs;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_api::{ProblemKind, Span, StatsRequest};
use touchstone_app::App;

const SUITE: &str = "tool_calling_prompt: How many?\nscorers: [exact]\ntags: [small]\n\
    variations:\n- expected_output: [{ n: 3 }]\n";

fn write_segments(bench: &Bench, folder: &Path) -> touchstone_app::folder::WrittenSegments {
    let app = worker(bench, folder);
    app.folder().write_segments(&|| false, &|_, _| {}).unwrap()
}

fn worker(bench: &Bench, folder: &Path) -> App {
    let app = bench.another_app();
    app.folder().open_as_worker(folder, None, None).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    app
}

/// Copies a folder with the times of its files, which are in the past.
fn copied(bench: &Bench, from: &Path) -> PathBuf {
    let to = bench.path("..").join("copy");
    let done = Command::new("cp").args(["-a", "--"]).arg(from).arg(&to).status().unwrap();
    assert!(done.success());
    let done = Command::new("chmod").args(["-R", "u+w"]).arg(&to).status().unwrap();
    assert!(done.success());
    to
}

type Table = BTreeMap<String, Vec<(String, Value)>>;

/// Returns everything that the index says of the runs, without what follows from their text and
/// from the order in which they came.
fn index_of(app: &App, cache: &Path) -> Vec<Table> {
    app.folder().wait_ready(DEADLINE).unwrap();
    app.folder().close_folder().unwrap();
    let found = find_in(cache, "index.db");
    assert_eq!(found.len(), 1, "{found:?}");
    let sql = Connection::open_with_flags(&found[0], OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let texts = ["id", "text_offset", "text_len", "words", "claimed"];
    let table = |text: &str, without: &[&str]| {
        let mut select = sql.prepare(text).unwrap();
        let names: Vec<String> = select.column_names().map(Into::into).collect();
        let mut rows = select.query([]).unwrap();
        let mut table = Table::new();
        while let Some(row) = rows.next().unwrap() {
            let value = |(at, name): (usize, &String)| (name.clone(), row.get(at).unwrap());
            let values = names.iter().enumerate().map(value);
            let values = values.filter(|(name, _)| !without.contains(&name.as_str()));
            table.insert(row.get::<_, String>(0).unwrap(), values.collect());
        }
        table
    };
    vec![
        table("SELECT key, * FROM runs", &texts),
        table(
            "SELECT r.key || '/' || s.place, s.* FROM scores s JOIN runs r ON r.id = s.run",
            &["run"],
        ),
        table("SELECT r.key, a.* FROM answers a JOIN runs r ON r.id = a.run", &["run", "said_at"]),
        table(
            "SELECT r.key || '/' || s.place, s.* FROM stored s JOIN runs r ON r.id = s.run",
            &["run"],
        ),
        table("SELECT r.key, f.* FROM facts f JOIN runs r ON r.id = f.run", &["run"]),
        table("SELECT hex(path), unit, odd, size, mtime_ns, inode FROM files", &[]),
    ]
}

fn claimed(app: &App) -> u64 {
    app.folder().segment_status().unwrap().claimed
}

fn folders() -> Vec<PathBuf> {
    let golden = ["benchmark", "stabletoolbench", "azure"]
        .map(|name| beside_the_project(&format!("../shared/golden/{name}")));
    let fixtures = ["demo", "tests/fixtures/benchmark"].map(beside_the_project);
    fixtures.into_iter().chain(golden).filter(|folder| folder.exists()).collect()
}

fn opened(bench: &Bench, folder: &Path) -> App {
    let app = bench.another_app();
    app.folder().open(folder).unwrap();
    app
}

#[test]
fn rows_of_claims_are_those_of_reading_field_for_field() {
    let mut all = 0;
    for folder in folders() {
        let bench = || Bench::new().limit(|limits| limits.watch = false);
        let first = bench();
        let copy = copied(&first, &folder);
        let read = index_of(&opened(&first, &copy), &first.cache());
        let written = write_segments(&first, &copy);
        assert_eq!(written.sealed.refused, [], "{}", folder.display());
        // Trusted claims show what claims alone say.
        let trusting = bench().limit(|limits| limits.trust_claims = true);
        let app = opened(&trusting, &copy);
        app.folder().wait_ready(DEADLINE).unwrap();
        assert_eq!(claimed(&app), written.sealed.written, "{}", folder.display());
        all += claimed(&app);
        let claims = index_of(&app, &trusting.cache());
        for (read, claims) in read.iter().zip(&claims) {
            for (key, row) in read {
                assert_eq!(claims.get(key), Some(row), "{}: {key}", folder.display());
            }
            assert_eq!(read.len(), claims.len(), "{}", folder.display());
        }
        // Without trust, all files are read behind the claims.
        let bridging = bench();
        let app = opened(&bridging, &copy);
        app.folder().wait_ready(DEADLINE).unwrap();
        let problems = app.folder().problems(Span { offset: 0, limit: 500 }).unwrap().problems;
        let of_segments: Vec<_> =
            problems.iter().filter(|problem| problem.kind == ProblemKind::Segment).collect();
        assert!(of_segments.is_empty(), "{of_segments:?}");
        assert_eq!(index_of(&app, &bridging.cache()), read, "{}", folder.display());
    }
    assert!(all > 70, "{all} runs were claimed");
    println!("cases: {all} claims");
}

fn with_runs(count: usize) -> Bench {
    let mut bench = Bench::new().file("tasks/plans.yaml", SUITE);
    for n in 1..=count {
        let says =
            if n % 2 == 0 { answered("Four.").replace("n: 3", "n: 4") } else { answered("Three.") };
        let path = format!("results/plans-tool_calling-m{n}-variation0.yaml");
        bench = bench.file(&path, says);
    }
    bench
}

#[test]
fn a_claim_that_is_wrong_is_replaced_by_what_the_file_says_and_a_changed_file_is_read() {
    let bench = with_runs(3);
    let folder = bench.path("");
    assert_eq!(write_segments(&bench, &folder).sealed.written, 3);
    let path = |n: u32| bench.path(&format!("results/plans-tool_calling-m{n}-variation0.yaml"));
    let time = fs::metadata(path(1)).unwrap().modified().unwrap();
    // As long as before, with the time of before: the claim counts until the file is read.
    let lie = fs::read_to_string(path(1)).unwrap().replace("n: 3", "n: 9");
    fs::write(path(1), lie).unwrap();
    fs::File::options()
        .write(true)
        .open(path(1))
        .unwrap()
        .into_parts()
        .0
        .set_modified(time)
        .unwrap();
    fs::write(path(2), answered("Three.")).unwrap();
    let bench = bench.open();
    assert_eq!(claimed(bench.app()), 2);
    let score =
        |n: u32| bench.row(&format!("plans-tool_calling-m{n}-variation0.yaml")).unwrap().score;
    assert_eq!((score(1), score(2), score(3)), (Some(0.0), Some(1.0), Some(1.0)));
    let problems = bench.problems();
    let wrong: Vec<_> =
        problems.iter().filter(|problem| problem.kind == ProblemKind::Segment).collect();
    assert_eq!(wrong.len(), 1, "{problems:?}");
    assert!(wrong[0].message.contains("the hash of the files"), "{wrong:?}");
    assert!(wrong[0].file.ends_with("plans-tool_calling-m1-variation0.yaml"), "{wrong:?}");
    assert!(wrong[0].run.is_some());
}

#[test]
fn a_run_of_a_trusted_claim_is_read_when_it_is_opened() {
    let bench = with_runs(2).limit(|limits| limits.trust_claims = true);
    write_segments(&bench, &bench.path(""));
    let bench = bench.open();
    assert_eq!(claimed(bench.app()), 2);
    assert_eq!(bench.hits("Three"), Vec::<String>::new(), "texts are not read");
    let row = bench.row("plans-tool_calling-m1-variation0.yaml").unwrap();
    assert_eq!(bench.app().runs().open_run(&row.id).unwrap().row.score, Some(1.0));
    wait_until("the file is read", || (bench.hits("Three").len() == 1).then_some(()));
}

#[test]
fn segments_that_are_not_as_expected_are_a_problem_each_and_the_files_are_read() {
    let bench = with_runs(2);
    let dir = bench.path("results/.touchstone/segments");
    let written = write_segments(&bench, &bench.path(""));
    let good = dir.join(&written.names[0]);
    let bytes = fs::read(&good).unwrap();
    fs::remove_file(&good).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        fs::write(dir.join(format!("000000000000{name}-h-1-0.parquet")), bytes).unwrap();
    };
    put("1", b"");
    put("2", b"PAR1 and no more PAR1");
    put("3", &bytes[..bytes.len() / 2]);
    let mut flipped = bytes.clone();
    for at in (4..bytes.len() / 2).step_by(7) {
        flipped[at] ^= 0x55;
    }
    put("4", &flipped);
    let secret = "results/plans-tool_calling-m1-variation0.yaml";
    put("6", &touchstone_store::segments::reference().into_bytes());
    let mut runs = Vec::new();
    touchstone_store::segments::write_runs(&mut runs, &[]).unwrap();
    put("7", &runs);
    std::os::unix::fs::symlink(bench.path(secret), dir.join("0000000000008-h-1-0.parquet"))
        .unwrap();
    fs::write(dir.join(".touchstone-0-1.tmp"), b"half").unwrap();
    let bench = bench.open();
    let problems = bench.problems();
    let of_segments: Vec<_> =
        problems.iter().filter(|problem| problem.kind == ProblemKind::Segment).collect();
    assert_eq!(of_segments.len(), 7, "{of_segments:#?}");
    assert_eq!(bench.rows().len(), 2);
    assert_eq!(claimed(bench.app()), 0);
}

#[test]
fn many_small_segments_become_one_and_two_who_make_it_at_once_lose_and_double_nothing() {
    const RUNS: usize = 40;
    let bench = with_runs(0);
    let folder = bench.path("");
    for n in 1..=RUNS {
        let path = format!("results/plans-tool_calling-m{n}-variation0.yaml");
        bench.write(&path, answered("Three."));
        bench.age(&path);
        if n < RUNS {
            // Each is written by a process that makes nothing one.
            let app = worker(&bench, &folder);
            app.folder().write_unclaimed(&|| false, &|_, _| {}).unwrap();
        }
    }
    let dir = bench.path("results/.touchstone/segments");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), RUNS - 1);
    let workers = [worker(&bench, &folder), worker(&bench, &folder)];
    std::thread::scope(|threads| {
        for app in &workers {
            threads.spawn(|| {
                // One of them may find that the other took its segments away.
                let _ = app.folder().write_segments(&|| false, &|_, _| {});
            });
        }
    });
    let left = fs::read_dir(&dir).unwrap().count();
    assert!((1..16).contains(&left), "{left} segments are left");
    let trusting = bench.limit(|limits| limits.trust_claims = true).open();
    assert_eq!(claimed(trusting.app()), RUNS as u64);
    let stats = trusting.app().stats().systems(&StatsRequest::default()).unwrap();
    assert_eq!((stats.ends.runs, stats.ends.scored), (RUNS as u64, RUNS as u64));
    // A second time there is nothing to write.
    let app = worker(&trusting, &folder);
    let again = app.folder().write_segments(&|| false, &|_, _| {}).unwrap();
    assert_eq!((again.sealed.written, again.sealed.known), (0, RUNS as u64));
}

#[test]
fn a_bad_segment_is_left_alone_and_claims_of_removed_files_are_dropped_when_the_others_become_one()
{
    const RUNS: usize = 18;
    let bench = with_runs(0);
    let folder = bench.path("");
    let path = |n: usize| format!("results/plans-tool_calling-m{n}-variation0.yaml");
    let mut names = Vec::new();
    for n in 1..=RUNS {
        bench.write(&path(n), answered("Three."));
        bench.age(&path(n));
        let written =
            worker(&bench, &folder).folder().write_unclaimed(&|| false, &|_, _| {}).unwrap();
        names.extend(written.names);
    }
    let dir = bench.path("results/.touchstone/segments");
    // The column of the first page is not one that claims are read from.
    let bad = dir.join(&names[3]);
    let mut bytes = fs::read(&bad).unwrap();
    bytes[4..8].fill(0xff);
    fs::write(&bad, &bytes).unwrap();
    let (gone, kept) = (bench.path(&path(9)), bench.path("kept"));
    fs::rename(&gone, &kept).unwrap();
    let made = write_segments(&bench, &folder);
    assert_eq!((made.compacted, made.sealed.written), (RUNS as u64 - 1, 0));
    assert_eq!(fs::read(&bad).unwrap(), bytes);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    // With the stamps of before, the file would be claimed if its claim were still there.
    fs::rename(&kept, &gone).unwrap();
    let again = write_segments(&bench, &folder);
    assert_eq!((again.sealed.written, again.sealed.known), (1, RUNS as u64 - 1));
}
