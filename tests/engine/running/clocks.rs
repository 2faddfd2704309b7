//! Tests of a clock that jumps: durations are measured correctly, and waits end in time.
use super::stage::{
    NAME, PLAIN, RUN, calls_then_answers, count_events, ear, plain, repeats, workspace,
};
use super::{ended, folder_of, request, run, view};
use crate::bench::{Bench, answered, broken, wait_until};
use crate::scripted::{Latch, Reply, Scripted};
use fs_err as fs;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};
use touchstone_api::{LaunchRequest, LaunchState, LaunchView, RunState, WatchMeans};
use touchstone_clock as clock;
use touchstone_runner::event::RunEventKind;

const HOUR: i64 = 3_600_000;

#[test]
fn dates_of_a_file_that_cannot_be_are_kept_and_change_nothing() {
    let server = Scripted::start(calls_then_answers);
    let file = "conversation:\n- user_message: How many?\nrun: {started: '2999-01-01T00:00:00.000Z', finished: '1970-01-01T00:00:00Z'}\n";
    let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, file).open();
    let view = run(&bench, &request());
    assert_eq!(view.done, 1);
    assert!(view.runs[0].seconds >= 0.0 && view.runs[0].seconds < 60.0);
    let system = server.seen()[0].json()["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(
        system.contains("2999-01-01T00:00:00.000Z"),
        "the time of a run is the one it began at: {system}"
    );
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
    bench.wait_state(NAME, RunState::Answered);
}

/// Runs a test in a separate process, since all tests of a process share one clock.
fn with_a_clock_of_its_own(test: &str) {
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("running::clocks::{test}"), "--ignored", "--nocapture"])
        .env("TEST_SETS_THE_CLOCK", "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("1 passed"), "{out}{err}");
}

/// Returns false in a process with other tests, which would be disturbed.
fn may_set_the_clock() -> bool {
    let may = std::env::var_os("TEST_SETS_THE_CLOCK").is_some();
    if !may {
        eprintln!("not run: another test makes a process for it");
    }
    may
}

/// Durations are the elapsed time, not differences of clock readings.
fn took_seconds(view: &LaunchView) {
    let whole = view.ended_ms.map_or(0, |ended| ended - view.began_ms);
    assert!((0..60_000).contains(&whole), "{view:?}");
    assert!(view.runs.iter().all(|run| (0.0..60.0).contains(&run.seconds)), "{:?}", view.runs);
}

#[test]
fn a_clock_that_jumps_during_a_run_a_wait_and_a_budget_changes_nothing() {
    with_a_clock_of_its_own("while_runs_are_under_way");
}

#[test]
#[ignore = "sets the clock of its process, which the test before makes"]
fn while_runs_are_under_way() {
    if !may_set_the_clock() {
        return;
    }
    for (there, back) in [(3 * HOUR, -5 * HOUR), (-3 * HOUR, 5 * HOUR)] {
        // During a request.
        let latch = Latch::default();
        let held = latch.clone();
        let server = Scripted::start(move |seen| match seen.number {
            0 => calls_then_answers(seen).once_open(&held),
            _ => calls_then_answers(seen),
        });
        let bench = plain(&server);
        let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
        server.wait_for(1);
        wait_until("it is told of", || (view(&bench, &launch).running == 1).then_some(()));
        clock::jump(there);
        took_seconds(&view(&bench, &launch));
        clock::jump(back);
        took_seconds(&view(&bench, &launch));
        latch.open();
        let done = ended(&bench, &launch);
        assert_eq!((done.state, done.done), (LaunchState::Done, 1), "{:?}", done.runs);
        took_seconds(&done);
        assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
        let row = bench.wait_state(NAME, RunState::Answered);
        assert!(
            row.seconds.is_some_and(|seconds| (0.0..60.0).contains(&seconds)),
            "{:?}",
            row.seconds
        );

        // During the delay before a retry.
        let server = Scripted::start(|seen| match seen.number {
            0 => Reply::new(503).header("retry-after", "1").text("text/plain", "busy"),
            _ => calls_then_answers(seen),
        });
        let bench = plain(&server);
        let (events, listener) = ear();
        let launch =
            bench.app().launches().start_launch_with(&request(), vec![listener]).unwrap().launch;
        wait_until("it waits", || {
            (count_events(&events, |what| {
                matches!(what, RunEventKind::Retrying { wait_ms: 1000, .. })
            }) == 1)
                .then_some(())
        });
        let began = Instant::now();
        clock::jump(there);
        let done = ended(&bench, &launch);
        assert_eq!((done.done, server.delivered()), (1, 3), "{:?}", done.runs);
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        took_seconds(&done);
        let events = events.lock().unwrap();
        assert!(events.is_sorted_by_key(|event| event.at_ms), "{events:?}");

        // With each request, while a spend limit is used up.
        let server = Scripted::start(move |seen| {
            clock::jump(if seen.number % 2 == 0 { there } else { back });
            calls_then_answers(seen)
        });
        let bench = plain(&server);
        let spent = run(
            &bench,
            &LaunchRequest { max_cost: Some(0.0003), concurrency: Some(1), ..repeats(4) },
        );
        assert_eq!(
            (spent.state, spent.done, spent.stopped),
            (LaunchState::Stopped, 1, 3),
            "{:?}",
            spent.runs
        );
        assert_eq!(server.delivered(), 3);
        took_seconds(&spent);
    }
}

#[test]
fn a_clock_that_jumps_while_a_file_settles_changes_nothing() {
    with_a_clock_of_its_own("while_a_file_settles");
}

#[test]
#[ignore = "sets the clock of its process, which the test before makes"]
fn while_a_file_settles() {
    if !may_set_the_clock() {
        return;
    }
    for jump in [24 * HOUR, -24 * HOUR] {
        let bench = Bench::new().limit(|limits| limits.settle = Duration::from_secs(2)).open();
        bench.write("results/a.yaml", broken());
        bench.wait_state("a.yaml", RunState::Writing);
        clock::jump(jump);
        bench.wait_state("a.yaml", RunState::Damaged);
        bench.put("results/a.yaml", answered("Fine"));
        bench.wait_state("a.yaml", RunState::Answered);
        clock::jump(-jump);
        bench.put("results/b.yaml", answered("Fine"));
        bench.wait_state("b.yaml", RunState::Answered);
    }
}

#[test]
fn after_a_sleep_everything_is_looked_at_again() {
    with_a_clock_of_its_own("after_a_sleep");
}

#[test]
#[ignore = "sets the clock of its process, which the test before makes"]
fn after_a_sleep() {
    if !may_set_the_clock() {
        return;
    }
    // No changes are reported and nothing is scanned for an hour; only broken files are checked
    // again, one after the other.
    let never = Duration::from_hours(1);
    let bench = Bench::new().limit(|limits| {
        (limits.watch, limits.poll, limits.rescan, limits.settle) =
            (false, never, never, Duration::from_secs(6));
    });
    for (name, age) in [("first", 4500), ("second", 2500), ("third", 0)] {
        bench.write(&format!("results/{name}.yaml"), broken());
        let file = fs::File::options()
            .write(true)
            .open(bench.path(&format!("results/{name}.yaml")))
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_millis(age)).unwrap();
    }
    let bench = bench.open();
    wait_until("nobody watches", || {
        (bench.status().watching.by == WatchMeans::Polling).then_some(())
    });
    // A complete scan happens at that moment; repeated checks of broken files come after it.
    let in_time = bench.row("first.yaml").unwrap().state == RunState::Writing;
    bench.wait_state(if in_time { "first.yaml" } else { "second.yaml" }, RunState::Damaged);
    bench.write("results/made.yaml", answered("Fine"));
    if in_time {
        bench.wait_state("second.yaml", RunState::Damaged);
        assert_eq!(bench.row("made.yaml"), None, "nothing tells of it");
    }
    clock::jump(10_000);
    bench.wait_state("made.yaml", RunState::Answered);
}
