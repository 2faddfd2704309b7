//! Tests of the index: every file on disk is listed once, with the data from its name and its
//! suite, after any history of changes.
use crate::bench::{Bench, DEADLINE, answered, rows, wait_until};
use proptest::prelude::*;
use std::time::Duration;
use touchstone_api::{Phase, RunRow, RunState};

const RUN: &str = "results/plans-tool_calling-o3-mini-variation1-run2.yaml";

#[test]
fn every_transcript_is_a_row_with_the_coordinates_of_its_name() {
    let bench = Bench::new()
        .answered(RUN, "There are three plans.")
        .answered("results/deep/note.yaml", "Hello")
        .open();
    let row = bench.row("plans-tool_calling-o3-mini-variation1-run2.yaml").unwrap();
    let place = (
        row.task.as_deref(),
        row.system.as_deref(),
        row.model.as_deref(),
        row.variation,
        row.repeat,
    );
    assert_eq!(place, (Some("plans"), Some("tool_calling"), Some("o3-mini"), Some(1), 2));
    assert_eq!((row.state, row.turns, row.tool_calls), (RunState::Answered, 2, 1));
    let other = bench.row("deep/note.yaml").unwrap();
    assert_eq!((other.state, other.task, other.repeat), (RunState::Answered, None, 1));
    assert_eq!((bench.status().phase, bench.status().counts.runs), (Phase::Ready, 2));
}

#[test]
fn text_is_found_at_once_and_also_when_the_full_text_index_is_complete() {
    let bench = Bench::new()
        .answered("results/a.yaml", "The zebra is striped.")
        .answered("results/b.yaml", "A horse.")
        .open();
    assert_eq!(bench.hits("zebra"), ["a.yaml"]);
    bench.wait_words();
    assert_eq!(bench.hits("zebra"), ["a.yaml"]);
    let search = bench.status().search;
    assert_eq!((search.indexed, search.total), (2, 2));
}

#[test]
fn a_changed_file_is_found_by_its_new_text_and_no_longer_by_its_old() {
    let bench = Bench::new().answered("results/a.yaml", "The zebra is striped.").open();
    bench.wait_words();
    bench.put("results/a.yaml", answered("The okapi is striped too."));
    wait_until("the new text is found", || (bench.hits("okapi") == ["a.yaml"]).then_some(()));
    assert!(bench.hits("zebra").is_empty());
    bench.wait_words();
    assert_eq!(bench.hits("okapi"), ["a.yaml"]);
    assert!(bench.hits("zebra").is_empty());
}

#[test]
fn the_second_start_reads_nothing_anew_and_shows_the_same() {
    let bench = (0..30).fold(Bench::new(), |bench, n| {
        bench.answered(&format!("results/d{}/r{n}.yaml", n % 4), "Hi")
    });
    let bench = bench.open();
    bench.wait_words();
    let (first, generation) = (bench.rows(), bench.status().generation);
    let bench = bench.reopen();
    assert_eq!(bench.rows(), first);
    assert_eq!(bench.status().generation, generation);
}

#[test]
fn what_changed_while_the_program_was_closed_is_noticed_at_the_next_start() {
    let bench = Bench::new()
        .answered("results/stays.yaml", "a")
        .answered("results/goes.yaml", "b")
        .open()
        .close();
    bench.remove("results/goes.yaml");
    let bench =
        bench.answered("results/comes.yaml", "c").answered("results/stays.yaml", "changed").open();
    assert_eq!(paths(&bench.rows()), ["comes.yaml", "stays.yaml"]);
    assert_eq!(bench.hits("changed"), ["stays.yaml"]);
}

#[test]
fn an_index_that_is_found_is_shown_before_the_disk_is_looked_at() {
    let bench = Bench::new().answered("results/a-x-o1-variation0.yaml", "one").open().close();
    bench.write("results/b-x-o1-variation0.yaml", answered("two"));
    let bench = bench.limit(|limits| limits.calm = Duration::from_hours(1));
    let app = bench.another_app();
    app.folder().open(&bench.path("")).unwrap();
    assert_eq!(rows(&app).len(), 1, "as it was");
    wait_until("the disk was looked at once there was a first page", || {
        (rows(&app).len() == 2).then_some(())
    });
}

#[test]
fn the_same_content_written_again_changes_the_time_and_nothing_else() {
    let bench = Bench::new().answered("results/a.yaml", "Same").open();
    let before = bench.row("a.yaml").unwrap();
    bench.put("results/a.yaml", answered("Same"));
    let after = wait_until("the time changed", || {
        bench.row("a.yaml").filter(|row| row.modified_ms != before.modified_ms)
    });
    assert_eq!(RunRow { modified_ms: before.modified_ms, ..after }, before);
}

#[test]
fn the_files_of_one_benchmark_run_are_one_row() {
    let dir = "results/plans/claude/promptql/retrieval";
    let bench = Bench::new()
        .file(
            &format!("{dir}/last_10_run_2.history"),
            r#"[{"role": "user", "content": "How many?"}]"#,
        )
        .file(&format!("{dir}/last_10_run_2.result"), r#"[{"n": 3}]"#)
        .file(&format!("{dir}/last_10_run_2.time"), "12.5")
        .open();
    let row = bench.row("plans/claude/promptql/retrieval/last_10_run_2").unwrap();
    assert_eq!(
        (row.state, row.repeat, row.variation_name.as_deref()),
        (RunState::Answered, 2, Some("last_10"))
    );
    assert_eq!((row.task.as_deref(), row.model.as_deref()), (Some("plans"), Some("claude")));
    assert_eq!(bench.rows().len(), 1);
    bench.remove(&format!("{dir}/last_10_run_2.result"));
    wait_until("the row has no answer", || {
        bench.rows().first().filter(|row| row.state != RunState::Answered).cloned()
    });
    bench.remove(&format!("{dir}/last_10_run_2.history"));
    bench.remove(&format!("{dir}/last_10_run_2.time"));
    wait_until("the row is gone", || bench.rows().is_empty().then_some(()));
}

#[test]
fn two_names_that_look_alike_are_two_rows() {
    let bench = Bench::new()
        .answered("results/caf\u{e9}.yaml", "a")
        .answered("results/cafe\u{301}.yaml", "b");
    let bench = bench
        .answered("results/CON.yaml", "c")
        .answered("results/con.yaml", "d")
        .answered("results/a\nb.yaml", "e")
        .open();
    assert_eq!(bench.rows().len(), 5);
    let ids: std::collections::BTreeSet<String> =
        bench.rows().into_iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn hidden_files_sidecars_locks_and_half_made_files_are_no_rows() {
    let names = [
        ".hidden.yaml",
        ".touchstone/journal/a.yaml",
        "a.yaml.lock",
        "a.yaml.tmp",
        "a.yaml~",
        "#a.yaml#",
        ".git/x.yaml",
    ];
    let bench = names
        .iter()
        .fold(Bench::new(), |bench, name| bench.answered(&format!("results/{name}"), "x"))
        .open();
    assert!(bench.rows().is_empty(), "{:?}", bench.states());
}

#[test]
fn the_report_counts_what_was_found() {
    let bench = Bench::new()
        .answered("results/a.yaml", "x")
        .file("results/b.txt", "no run")
        .file("results/c.yaml", "a: [")
        .open();
    bench.wait_words();
    let report = bench.app().folder().index_report().unwrap();
    assert_eq!(
        (report.files, report.runs, report.damaged + report.not_transcripts),
        (3, report.runs, 3 - report.runs + report.damaged)
    );
    assert!(
        report
            .search_ready_ms
            .is_some_and(|search| search >= report.index_ms && report.index_ms >= report.scan_ms)
    );
}

#[test]
fn a_folder_that_is_the_output_directory_itself_shows_runs_and_knows_suites_by_content() {
    let bench = Bench::new()
        .answered("other/plans-tool_calling-claude-variation0.yaml", "x")
        .file(
            "other/plans.yaml",
            "tool_calling_prompt: How many {what}?\nvariations:\n- what: plans\n",
        )
        .open_at("folder/other");
    assert_eq!(paths(&bench.rows()), ["plans-tool_calling-claude-variation0.yaml"]);
    wait_until("the suite is read", || (bench.status().counts.tasks == 1).then_some(()));
    wait_until("the run has the name of its variation", || bench.rows()[0].variation_name.clone());
    let bench = bench.close().open_at("folder/other");
    wait_until("the suite is read again", || (bench.status().counts.tasks == 1).then_some(()));
    assert_eq!(bench.rows().len(), 1);
}

#[test]
fn real_benchmark_folders_are_read_whole() {
    let Ok(folder) = fs_err::canonicalize(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/golden/benchmark"
    )) else {
        return;
    };
    let app = Bench::new().another_app();
    app.folder().open(&folder).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let rows = rows(&app);
    assert!(rows.len() >= 10, "{}", rows.len());
    for row in rows {
        assert!(
            row.task.is_some() && row.model.is_some() && row.variation_name.is_some(),
            "{row:?}"
        );
        assert!(!matches!(row.state, RunState::Damaged | RunState::Other), "{row:?}");
    }
    assert!(app.folder().status().counts.tasks >= 5);
}

fn paths(rows: &[RunRow]) -> Vec<&str> {
    rows.iter().map(|row| row.path.as_str()).collect()
}

#[derive(Debug, Clone)]
enum Event {
    Put(u8, u8),
    Append(u8),
    Remove(u8),
    RemoveDir(u8),
    MoveDir(u8, u8),
    Suite(u8),
    Gold(u8),
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..12u8, 0..6u8).prop_map(|(file, text)| Event::Put(file, text)),
        2 => (0..12u8).prop_map(Event::Append),
        2 => (0..12u8).prop_map(Event::Remove),
        1 => (0..3u8).prop_map(Event::RemoveDir),
        1 => (0..3u8, 0..3u8).prop_map(|(from, to)| Event::MoveDir(from, to)),
        3 => (0..7u8).prop_map(Event::Suite),
        2 => (0..3u8).prop_map(Event::Gold),
        1 => Just(Event::Restart),
    ]
}

fn run_path(file: u8) -> String {
    let name = ["t-x-o1-variation0.yaml", "b_run_1.result", "b_run_1.history", "c.txt"]
        [usize::from(file % 4)];
    format!("results/d{}/{name}", file / 4)
}

/// Part of a suite that expects the answer of the runs, another one, one from a file, or nothing;
/// one for the task of each of three folders.
fn suite(n: u8) -> &'static str {
    match n {
        1 => "expected_output: [{ n: 3 }]",
        2 => "expected_output: [{ n: 4 }]\nscorers: [exact]",
        3 => "ground_truth_path: ../gold.json",
        4 => "expected_output: [{ n: 3 }]\nresult_tag_name: rows",
        5 => "expected_output: [{ n: 3 }]\nresult_tag_name: other",
        _ => "expected_tool_calls: [never]",
    }
}

/// Answers that only the suite can identify, by their tag.
const TAGGED: &str =
    "conversation:\n- assistant_message: '<rows>[{\"n\": 3}]</rows> w1 <other>no</other>'\n";

fn happen(bench: Bench, event: &Event) -> Bench {
    let dir = |n: &u8| bench.path(&format!("results/d{n}"));
    match event {
        Event::Put(file, text) => {
            let content = match text {
                0 => "{".into(),
                5 => TAGGED.into(),
                _ => answered(&format!("w{text}")),
            };
            bench.write(&run_path(*file), content);
        }
        Event::Append(file) => {
            let path = bench.path(&run_path(*file));
            let text = fs_err::read_to_string(&path).unwrap_or_default();
            bench.write(&run_path(*file), format!("{text}extra: 1\n"));
        }
        Event::Remove(file) => drop(fs_err::remove_file(bench.path(&run_path(*file)))),
        Event::RemoveDir(n) => drop(fs_err::remove_dir_all(dir(n))),
        Event::MoveDir(from, to) => drop(fs_err::rename(dir(from), dir(to))),
        Event::Suite(0) => drop(fs_err::remove_dir_all(bench.path("tasks/d1"))),
        Event::Suite(n) => {
            for dir in 0..3 {
                bench.write(
                    &format!("tasks/d{dir}/t.yaml"),
                    format!("tool_calling_prompt: x\n{}\n", suite(*n)),
                );
            }
        }
        Event::Gold(0) => drop(fs_err::remove_file(bench.path("tasks/gold.json"))),
        Event::Gold(n) => bench.write("tasks/gold.json", format!("[{{\"n\": {}}}]", n + 2)),
        Event::Restart => return bench.reopen(),
    }
    bench
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn an_index_that_followed_every_change_equals_one_that_is_made_anew(events in prop::collection::vec(event(), 1..25)) {
        // No file is taken for unfinished, so that the clock has no influence.
        let bench = Bench::new().limit(|limits| limits.settle = std::time::Duration::ZERO).open();
        let bench = events.iter().fold(bench, happen);
        let anew = touchstone_app::App::new(touchstone_app::AppConfig {
            cache_dir: bench.path("../fresh-cache"),
            state_dir: bench.path("../fresh-state"),
            demo_dir: None,
            limits: touchstone_store::limits::Limits { settle: std::time::Duration::ZERO, ..Default::default() },
        });
        anew.folder().open(&bench.path("")).unwrap();
        anew.folder().wait_ready(DEADLINE).unwrap();
        let fresh = rows(&anew);
        wait_until("both show the same", || (bench.rows() == fresh).then_some(()));
        for row in &fresh {
            let scores = |app: &touchstone_app::App| app.scoring().run_scores(&row.id).unwrap();
            prop_assert_eq!(scores(bench.app()), scores(&anew));
        }
        for word in ["w1", "w2", "w3", "w4"] {
            prop_assert_eq!(bench.hits(word), crate::bench::hits(&anew, word));
        }
        // A change of a suite that affects no row may not be processed yet.
        wait_until("both count the same", || (bench.status().counts == anew.folder().status().counts).then_some(()));
    }
}
