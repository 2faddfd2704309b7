//! Tests of concurrent runs: their number, their order, and other processes on the same folder.
use super::stage::{NAME, PLAIN, RUN, calls_then_answers, folder_with, plain, repeats, workspace};
use super::{document, ended, request, run, view};
use crate::bench::{DEADLINE, wait_until};
use crate::scripted::{Latch, Scripted};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use touchstone_api::{Act, LaunchRequest, LaunchRunState, LaunchState, Span};
use touchstone_runner::lock::RunLock;

#[test]
fn no_more_runs_are_at_work_than_may_be_and_no_fewer() {
    let (latch, most) = (Latch::default(), Arc::new(AtomicUsize::new(0)));
    let (held, asked) = (latch.clone(), Arc::clone(&most));
    let server = Scripted::start(move |seen| {
        asked.fetch_add(1, Ordering::SeqCst);
        calls_then_answers(seen).once_open(&held)
    });
    let bench = plain(&server);
    let wanted = LaunchRequest { concurrency: Some(3), ..repeats(8) };
    let launch = bench.app().launches().start_launch(&wanted).unwrap().launch;
    server.wait_for(3);
    let now =
        wait_until("it is told of", || Some(view(&bench, &launch)).filter(|view| view.running > 2));
    assert_eq!((now.running, now.waiting, now.state), (3, 5, LaunchState::Running));
    assert_eq!(most.load(Ordering::SeqCst), 3);
    latch.open();
    assert_eq!(ended(&bench, &launch).done, 8);
}

#[test]
fn a_model_that_is_slow_does_not_keep_another_from_its_turn() {
    let latch = Latch::default();
    let order: Arc<Mutex<Vec<String>>> = Arc::default();
    let (held, seen_by) = (latch.clone(), Arc::clone(&order));
    let server = Scripted::start(move |seen| {
        let model = seen.json()["model"].as_str().unwrap().to_owned();
        seen_by.lock().unwrap().push(model.clone());
        let reply = calls_then_answers(seen);
        if model == "slow" { reply.once_open(&held) } else { reply }
    });
    let url = server.url("/v1");
    let file = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  slow: {{ provider: openai, base_url: '{url}' }}\
         \n  fast: {{ provider: openai, base_url: '{url}' }}\n{}",
        super::THINGS
    );
    let bench = folder_with(&file, PLAIN);
    let models = vec!["slow".to_owned(), "fast".to_owned()];
    let wanted = LaunchRequest { concurrency: Some(2), models, ..repeats(4) };
    let launch = bench.app().launches().start_launch(&wanted).unwrap().launch;
    let done = wait_until("the fast ones are done", || {
        Some(view(&bench, &launch)).filter(|view| view.done == 4)
    });
    assert!(
        done.runs
            .iter()
            .filter(|run| run.state == LaunchRunState::Answered)
            .all(|run| run.path.contains("fast"))
    );
    // With nothing else to run, the free slot takes a slow one.
    wait_until("both seats are taken", || {
        (order.lock().unwrap().iter().filter(|m| *m == "slow").count() == 2).then_some(())
    });
    latch.open();
    assert_eq!(ended(&bench, &launch).done, 8);
}

#[test]
fn two_programs_on_one_folder_share_the_work() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let other = bench.another_app();
    other.folder().open(&bench.path("")).unwrap();
    other.folder().wait_ready(DEADLINE).unwrap();
    let wanted = LaunchRequest { concurrency: Some(2), ..repeats(12) };
    let plans = (
        bench.app().launches().plan_launch(&wanted).unwrap(),
        other.launches().plan_launch(&wanted).unwrap(),
    );
    assert_eq!((plans.0.owed_total, plans.1.owed_total), (12, 12));
    let (mine, theirs) = (
        bench.app().launches().start_launch(&wanted).unwrap().launch,
        other.launches().start_launch(&wanted).unwrap().launch,
    );
    let mine = ended(&bench, &mine);
    assert!(other.launches().wait_launch(&theirs, DEADLINE).unwrap());
    let theirs = other.launches().view(&theirs, Span { offset: 0, limit: 100 }).unwrap();
    assert_eq!(
        (mine.done + theirs.done, server.delivered()),
        (12, 24),
        "{:?} {:?}",
        mine.runs,
        theirs.runs
    );
    let elsewhere = |view: &touchstone_api::LaunchView| {
        view.runs.iter().filter(|run| run.state == LaunchRunState::Elsewhere).count()
    };
    assert_eq!((elsewhere(&mine) + elsewhere(&theirs)) as u64, mine.elsewhere + theirs.elsewhere);
    assert_eq!(bench.app().launches().plan_launch(&wanted).unwrap().owed_total, 0);
}

#[test]
fn a_run_that_somebody_else_is_at_is_left_to_them() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let lock = RunLock::take(&bench.path("results"), NAME).unwrap();
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Elsewhere), "{:?}", plan.skipped);
    drop(lock);
    // Between the plan and the start.
    let wanted = LaunchRequest { concurrency: Some(1), ..repeats(2) };
    let latch = Latch::default();
    let held = latch.clone();
    let slow = Scripted::start(move |seen| calls_then_answers(seen).once_open(&held));
    bench.write("touchstone.yaml", workspace(&slow, "", ""));
    let launch = bench.app().launches().start_launch(&wanted).unwrap().launch;
    slow.wait_for(1);
    let second = "count-tool_calling-scripted-variation0-run2.yaml";
    let lock = RunLock::take(&bench.path("results"), second).unwrap();
    latch.open();
    let view = ended(&bench, &launch);
    drop(lock);
    let row = view.runs.iter().find(|run| run.path == second).unwrap();
    assert_eq!(
        (row.state, view.done, view.elsewhere),
        (LaunchRunState::Elsewhere, 1, 1),
        "{row:?}"
    );
    assert!(row.doing.as_ref().unwrap().contains("Another process"), "{row:?}");
    assert!(
        !bench.path(&format!("results/{second}")).exists()
            && document(&bench, RUN).items().len() == 3
    );
    assert_eq!(run(&bench, &wanted).done, 1);
}

#[test]
fn a_retry_begins_anew_what_had_not_begun_anew_and_goes_on_with_what_had() {
    let latch = Latch::default();
    let held = latch.clone();
    let server = Scripted::start(move |seen| {
        let reply = calls_then_answers(seen);
        if seen.number == 4 { reply.once_open(&held) } else { reply }
    });
    let bench = plain(&server);
    assert_eq!(run(&bench, &repeats(2)).done, 2);
    let anew = LaunchRequest { start_over: true, concurrency: Some(1), ..repeats(2) };
    let launch = bench.app().launches().start_launch(&anew).unwrap().launch;
    server.wait_for(5);
    bench.app().launches().stop_launch(&launch, false).unwrap();
    latch.open();
    assert_eq!(ended(&bench, &launch).stopped, 2);
    let again = bench.app().launches().retry_launch(&launch).unwrap().launch;
    let view = ended(&bench, &again);
    assert_eq!((view.done, view.total), (2, 2), "{:?}", view.runs);
    assert_eq!(
        server.delivered(),
        8,
        "each was made twice, and the reply of the stopped one was kept"
    );
}
