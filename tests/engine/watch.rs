//! Tests of following a folder: files created, changed, moved or removed show up automatically,
//! even if notifications are lost.
use crate::bench::{Bench, DEADLINE, answered, wait_until};
use fs_err as fs;
use std::sync::mpsc::{self, TryRecvError};
use std::time::{Duration, Instant};
use touchstone_api::{Phase, RunState, Stale, WatchMeans};

fn watched(bench: Bench) -> Bench {
    // A rescan would hide a lost notification.
    let bench = bench.limit(|limits| limits.rescan = Duration::from_hours(1)).open();
    wait_until("the folder is watched", || {
        (bench.status().watching.by == WatchMeans::Native).then_some(())
    });
    bench
}

#[test]
fn a_file_that_is_moved_into_place_shows_and_is_told_of() {
    let bench = watched(Bench::new());
    bench.forget_events();
    bench.put("results/a.yaml", answered("Fine"));
    let row = wait_until("the run shows", || bench.row("a.yaml"));
    let told = |stale: &Stale| matches!(stale, Stale::Runs { ids, all: false, .. } if *ids == [row.id.clone()]);
    wait_until("the run is told of", || bench.events().iter().any(told).then_some(()));
    bench.forget_events();
    bench.remove("results/a.yaml");
    wait_until("the run is gone", || bench.rows().is_empty().then_some(()));
    wait_until("that is told too", || bench.events().iter().any(told).then_some(()));
}

#[test]
fn an_event_comes_after_its_commit() {
    let bench = watched(Bench::new());
    let app = bench.app().clone();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = std::sync::Arc::clone(&seen);
    let _listening = bench.app().subscribe(Box::new(move |event| {
        if let Stale::Runs { generation, .. } = event.stale {
            into.lock().unwrap().push((
                generation,
                app.folder().status().generation,
                crate::bench::rows(&app).len(),
            ));
        }
    }));
    for n in 0..5 {
        bench.put(&format!("results/r{n}.yaml"), answered("Fine"));
        wait_until("the next is told of", || {
            (seen.lock().unwrap().last().is_some_and(|last| last.2 > n)).then_some(())
        });
    }
    assert!(seen.lock().unwrap().iter().all(|(told, now, rows)| told <= now && *rows > 0));
}

#[test]
fn files_in_folders_made_the_same_moment_are_all_found() {
    let bench = watched(Bench::new());
    for n in 0..120 {
        let dir = bench.path(&format!("results/n{n}/b/c"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("r.yaml"), answered("Fine")).unwrap();
    }
    wait_until("all are found", || (bench.rows().len() == 120).then_some(()));
}

#[test]
fn a_file_that_is_appended_to_without_a_pause_shows_meanwhile() {
    let bench = watched(Bench::new());
    let path = bench.path("results/a.yaml");
    fs::write(&path, "conversation:\n- user_message: Hello\n").unwrap();
    let start = Instant::now();
    let mut shown = None;
    while shown.is_none() && start.elapsed() < DEADLINE {
        use std::io::Write as _;
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"- assistant_message: One more\n").unwrap();
        shown = bench.row("a.yaml").filter(|row| row.turns > 1);
        std::thread::park_timeout(Duration::from_millis(10));
    }
    assert!(shown.is_some(), "nothing showed while the file was written");
}

#[test]
fn a_folder_that_is_moved_in_out_or_renamed_takes_its_runs_with_it() {
    let bench =
        watched(Bench::new().answered("aside/deep/a.yaml", "A").answered("aside/b.yaml", "B"));
    fs::rename(bench.path("aside"), bench.path("results/batch")).unwrap();
    wait_until("the runs came", || (bench.rows().len() == 2).then_some(()));
    fs::rename(bench.path("results/batch"), bench.path("results/renamed")).unwrap();
    wait_until("the runs have their new place", || {
        bench.row("renamed/deep/a.yaml").filter(|_| bench.rows().len() == 2)
    });
    fs::rename(bench.path("results/renamed"), bench.path("away")).unwrap();
    wait_until("the runs went", || bench.rows().is_empty().then_some(()));
}

#[test]
fn a_change_in_place_that_keeps_size_and_moment_is_seen() {
    let bench = watched(Bench::new());
    for n in 0..20 {
        bench.write("results/a.yaml", answered(if n % 2 == 0 { "zebra" } else { "okapi" }));
    }
    wait_until("the last content is found", || (bench.hits("okapi") == ["a.yaml"]).then_some(()));
    assert!(bench.hits("zebra").is_empty());
}

/// Number of files that arrive; later ones take the place of earlier ones.
const MOST_FILES: u64 = 10_000;

#[test]
fn one_file_shows_while_thousands_keep_arriving_and_all_are_found() {
    let bench = watched(Bench::new());
    let (dir, text) = (bench.path("results"), answered("Fine"));
    let (stop, stopped) = mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let mut written = 0;
        while stopped.try_recv() == Err(TryRecvError::Empty) {
            let beside = dir.join(".next");
            fs::write(&beside, &text).unwrap();
            // On a slow machine, more and more files would make each scan longer than the last.
            let file = written % MOST_FILES;
            fs::rename(beside, dir.join(format!("r{file:06}.yaml"))).unwrap();
            written += 1;
        }
        written
    });
    wait_until("some are there", || (bench.status().counts.runs > 100).then_some(()));
    bench.put("results/new/among.yaml", answered("Among"));
    wait_until("the one among them shows", || bench.row("new/among.yaml"));
    stop.send(()).unwrap();
    let files = writer.join().unwrap().min(MOST_FILES);
    wait_until("all are there", || (bench.status().counts.runs == files + 1).then_some(()));
}

#[test]
fn where_the_system_does_not_tell_the_folder_is_polled_and_the_window_says_so() {
    let bench = Bench::new().limit(|limits| {
        limits.watch = false;
        limits.poll = Duration::from_millis(50);
    });
    let bench = bench.open();
    let notice = wait_until("it is polled", || {
        bench.status().watching.notice.filter(|_| bench.status().watching.by == WatchMeans::Polling)
    });
    assert!(notice.contains("lists it every few seconds"));
    bench.put("results/new/a.yaml", answered("Fine"));
    bench.wait_state("new/a.yaml", RunState::Answered);
    bench.remove("results/new/a.yaml");
    wait_until("the run is gone", || bench.rows().is_empty().then_some(()));
}

#[test]
fn a_lost_hint_is_made_up_for_by_the_next_scan() {
    let bench = Bench::new().limit(|limits| {
        limits.watch = false;
        limits.poll = Duration::from_hours(1);
        limits.rescan = Duration::from_hours(1);
    });
    let bench = bench.open();
    bench.put("results/a.yaml", answered("Fine"));
    let bench = bench.close().limit(|limits| limits.poll = Duration::from_millis(50)).open();
    bench.wait_state("a.yaml", RunState::Answered);
}

#[test]
fn an_output_directory_that_goes_away_keeps_its_rows_and_is_read_again_when_it_is_back() {
    let bench = Bench::new()
        .answered("results/a.yaml", "A")
        .limit(|limits| limits.poll = Duration::from_millis(50))
        .open();
    fs::rename(bench.path("results"), bench.path("away")).unwrap();
    wait_until("the frame says so", || {
        matches!(bench.status().phase, Phase::Failed { .. }).then_some(())
    });
    let Phase::Failed { reason, .. } = bench.status().phase else { panic!("all is well") };
    assert!(reason.starts_with("Folder not found: "), "{reason}");
    assert_eq!(bench.rows().len(), 1);
    fs::write(bench.path("away/b.yaml"), answered("B")).unwrap();
    fs::rename(bench.path("away"), bench.path("results")).unwrap();
    wait_until("all is well again", || {
        (bench.status().phase == Phase::Ready && bench.rows().len() == 2).then_some(())
    });
}

#[test]
fn closing_and_changing_the_folder_is_prompt_while_thousands_of_files_are_read() {
    let bench = (0..3000)
        .fold(Bench::new(), |bench, n| bench.answered(&format!("results/r{n}.yaml"), "Fine"));
    let app = bench.another_app();
    app.folder().open(&bench.path("")).unwrap();
    let start = Instant::now();
    app.folder().open(&bench.path("tasks")).unwrap();
    assert!(start.elapsed() < DEADLINE, "changing the folder took {:?}", start.elapsed());
    app.folder().wait_ready(DEADLINE).unwrap();
    assert!(crate::bench::rows(&app).is_empty());
    app.folder().close_folder().unwrap();
    assert_eq!(app.folder().status().phase, Phase::Closed);
}

#[test]
fn an_output_directory_that_is_removed_and_made_again_is_followed_again() {
    let bench = watched(Bench::new().answered("results/a.yaml", "A"));
    fs::remove_dir_all(bench.path("results")).unwrap();
    bench.put("results/b.yaml", answered("B"));
    wait_until("the new run shows", || {
        (bench.rows().len() == 1).then(|| bench.row("b.yaml")).flatten()
    });
    wait_until("all is well again", || (bench.status().phase == Phase::Ready).then_some(()));
    for n in 0..3 {
        bench.put(&format!("results/r{n}.yaml"), answered("More"));
        wait_until("the next shows", || bench.row(&format!("r{n}.yaml")));
    }
}

#[test]
fn a_folder_that_goes_away_whole_keeps_everything_and_is_followed_again_without_a_word_from_the_system()
 {
    const SUITE: &str = "tool_calling_prompt: How many {what}?\nvariations:\n- what: plans\n";
    type Act = fn(&Bench);
    let file_instead: Act = |bench| {
        fs::rename(bench.path("w"), bench.path("away")).unwrap();
        fs::write(bench.path("w"), "a file").unwrap();
    };
    let back_from_file: Act = |bench| {
        fs::remove_file(bench.path("w")).unwrap();
        fs::rename(bench.path("away"), bench.path("w")).unwrap();
    };
    let rename_whole: Act = |bench| fs::rename(bench.path("w"), bench.path("away")).unwrap();
    let back: Act = |bench| fs::rename(bench.path("away"), bench.path("w")).unwrap();
    let rename_suites: Act = |bench| fs::rename(bench.path("w/tasks"), bench.path("away")).unwrap();
    let suites_back: Act = |bench| fs::rename(bench.path("away"), bench.path("w/tasks")).unwrap();
    let rename_results: Act =
        |bench| fs::rename(bench.path("w/results"), bench.path("away")).unwrap();
    let results_back: Act =
        |bench| fs::rename(bench.path("away"), bench.path("w/results")).unwrap();
    for (what, leave, come_back, names) in [
        ("renamed", rename_whole, back, &["w/results", "w/tasks"][..]),
        ("replaced by a file", file_instead, back_from_file, &["w/results", "w/tasks"]),
        ("suites renamed", rename_suites, suites_back, &["w/tasks"]),
        ("results renamed", rename_results, results_back, &["w/results"]),
    ] {
        let bench = Bench::new().file("w/tasks/a.yaml", SUITE).answered("w/results/a.yaml", "A");
        // No periodic scan helps.
        let bench = bench.limit(|limits| {
            (limits.rescan, limits.poll) = (Duration::from_hours(1), Duration::from_hours(1));
        });
        let app = bench.another_app();
        app.folder().open(&bench.path("w")).unwrap();
        wait_until("it is read", || (app.folder().status().phase == Phase::Ready).then_some(()));
        let counts = app.folder().status().counts;
        assert_eq!((counts.runs, counts.tasks), (1, 1));
        leave(&bench);
        let reason = wait_until(what, || match app.folder().status().phase {
            Phase::Failed { reason, .. } => Some(reason),
            _ => None,
        });
        assert!(reason.starts_with("Folder not found: "), "{what}: {reason}");
        for name in names {
            assert!(reason.contains(&*bench.path(name).to_string_lossy()), "{what}: {reason}");
        }
        assert_eq!(app.folder().status().counts, counts, "{what}");
        assert!(app.folder().wait_ready(Duration::from_secs(9)).is_err(), "{what}");
        come_back(&bench);
        wait_until("it is followed again", || {
            (app.folder().status().phase == Phase::Ready).then_some(())
        });
        assert_eq!(app.folder().status().counts, counts, "{what}");
        // Gone and back between two checks: the directory looks unchanged, and was missed
        // meanwhile.
        leave(&bench);
        wait_until(what, || {
            matches!(app.folder().status().phase, Phase::Failed { .. }).then_some(())
        });
        come_back(&bench);
        wait_until("it is followed again", || {
            (app.folder().status().phase == Phase::Ready).then_some(())
        });
    }
}

#[test]
fn what_was_read_of_a_file_is_kept_when_its_folder_went_away_before_it_was_looked_at() {
    let bench = Bench::new().answered("results/d/a.yaml", "A").answered("results/b.yaml", "B");
    let bench = bench.limit(|limits| limits.watch = false).open();
    fs::rename(bench.path("results"), bench.path("away")).unwrap();
    // A review of a run checks one location in the folder, not all of it.
    let id = bench.rows()[0].id.clone();
    let _ = bench.app().reviews().review_run(&id, None);
    wait_until("it is told", || matches!(bench.status().phase, Phase::Failed { .. }).then_some(()));
    assert_eq!(bench.rows().len(), 2);
}
