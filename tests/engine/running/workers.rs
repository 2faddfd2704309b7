//! Tests of one launch shared by many machines: each runs its own part, looks at no other results,
//! and spends its share.
use super::run;
use super::stage::{calls_then_answers, plain, repeats};
use crate::bench::{Bench, DEADLINE, rows};
use crate::scripted::Scripted;
use fs_err as fs;
use touchstone_api::{LaunchRequest, LaunchView, Shard};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};

const PARTS: u32 = 3;

fn part(index: u32, request: &LaunchRequest) -> LaunchRequest {
    LaunchRequest { shard: Some(Shard { index, count: PARTS }), ..request.clone() }
}

/// Opens the folder on another machine.
fn worker(bench: &Bench) -> App {
    let app = bench.another_app();
    app.folder().open_as_worker(&bench.path(""), None, None).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    app
}

/// Runs a part; `None` if nothing is owed in it.
fn work(app: &App, request: &LaunchRequest) -> Result<Option<LaunchView>, AppError> {
    if app.launches().plan_launch(request)?.owed_total == 0 {
        return Ok(None);
    }
    let launch = app.launches().start_launch(request)?.launch;
    assert!(app.launches().wait_launch(&launch, DEADLINE)?, "the launch did not end");
    app.launches().view(&launch, touchstone_api::Span { offset: 0, limit: 100 }).map(Some)
}

#[test]
fn workers_run_all_of_a_launch_and_nothing_twice() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let first = run(&bench, &repeats(1));
    assert_eq!(first.done, 1);
    let (path, bought) = (first.runs[0].path.clone(), server.delivered());
    // Another spelling of the name is found, too.
    let path = bench.path(&format!("results/{path}"));
    fs::rename(&path, path.with_extension("yml")).unwrap();
    let done: u64 = (1..=PARTS)
        .filter_map(|index| {
            let app = worker(&bench);
            assert!(rows(&app).is_empty(), "a worker lists no results of others");
            work(&app, &part(index, &repeats(6))).unwrap()
        })
        .map(|view| view.done)
        .sum();
    assert_eq!((done, server.delivered()), (5, bought * 6));
    for index in 1..=PARTS {
        assert!(work(&worker(&bench), &part(index, &repeats(6))).unwrap().is_none());
    }
}

#[test]
fn a_worker_spends_its_share() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    fs::create_dir_all(bench.path("results")).unwrap();
    let request = LaunchRequest { max_cost: Some(3.0), ..repeats(6) };
    let views =
        (1..=PARTS).filter_map(|index| work(&worker(&bench), &part(index, &request)).unwrap());
    let shares: Vec<Option<f64>> = views.map(|view| view.max_cost).collect();
    assert!(!shares.is_empty() && shares.iter().all(|share| *share == Some(1.0)), "{shares:?}");
}

#[test]
fn a_worker_without_the_output_directory_runs_nothing() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let results = bench.path("results");
    if results.exists() {
        fs::remove_dir_all(&results).unwrap();
    }
    let app = worker(&bench);
    let why = (1..=PARTS).find_map(|index| work(&app, &part(index, &repeats(6))).err()).unwrap();
    assert_eq!((why.code, server.delivered()), (Code::NotFound, 0), "{why}");
    assert!(!results.exists(), "another machine may have it, and this one would hide it");
}

#[test]
fn a_worker_leaves_a_fork_alone_that_is_named_like_a_repeat() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let first = run(&bench, &repeats(1)).runs[0].path.clone();
    let text = fs::read_to_string(bench.path(&format!("results/{first}"))).unwrap();
    let origin = format!("\nrun:\n  forked_from: {{ file: {first}, step: 1 }}\n");
    let fork = text.replacen("\nrun:\n", &origin, 1);
    assert_ne!(fork, text);
    let name = first.replace(".yaml", "-run2.yaml");
    fs::write(bench.path(&format!("results/{name}")), &fork).unwrap();
    let plans = (1..=PARTS)
        .map(|index| worker(&bench).launches().plan_launch(&part(index, &repeats(2))).unwrap());
    let skipped: Vec<_> = plans.flat_map(|plan| plan.skipped).collect();
    let of_fork = skipped.iter().find(|run| run.path == name).unwrap();
    assert!(of_fork.why.contains("--shard"), "{of_fork:?}");
}
