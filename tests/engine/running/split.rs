//! Tests of launches split over several machines, as another program sees them from the files alone.
use super::run;
use super::stage::{calls_then_answers, plain, repeats};
use crate::bench::{Bench, DEADLINE, rows, wait_until};
use crate::scripted::Scripted;
use fs_err as fs;
use std::sync::mpsc::channel;
use touchstone_api::{
    LaunchRequest, Shard, Span, SplitLaunch, SplitPart, SplitPartState, SplitState, Stale,
    WatchMeans,
};
use touchstone_app::App;
use touchstone_app::error::Code;
use touchstone_app::launch::PartOrigin;

const PARTS: u32 = 2;
const ALL: Span = Span { offset: 0, limit: 100 };

fn part(index: u32) -> LaunchRequest {
    let shard = Some(Shard { index, count: PARTS });
    LaunchRequest { shard, max_cost: Some(3.0), ..repeats(6) }
}

/// Runs a part on another machine.
fn work(bench: &Bench, index: u32) {
    let app = bench.another_app();
    app.folder().open_as_worker(&bench.path(""), None, None).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let origin = PartOrigin { launch: "l-1".to_owned(), job: None, restarted: false };
    let request = part(index);
    let prepared = app.launches().prepare_launch(&request).unwrap();
    let (launched, _) =
        app.launches().start_prepared(&request, prepared, Some(&origin), Vec::new()).unwrap();
    assert!(app.launches().wait_launch(&launched.launch, DEADLINE).unwrap());
}

fn only(app: &App) -> SplitLaunch {
    let launches = app.launches().split_launches(false).unwrap();
    assert_eq!(launches.len(), 1, "{launches:?}");
    app.launches().split_launch(&launches[0].id, ALL, false).unwrap()
}

fn row(launch: &SplitLaunch, part: u32) -> &SplitPart {
    launch.rows.iter().find(|row| row.part == part).unwrap()
}

#[test]
fn a_split_launch_is_one_with_its_parts_and_is_told_of_while_it_runs() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    assert_eq!(run(&bench, &repeats(1)).done, 1);
    let app = bench.another_app();
    app.folder().open(&bench.path("")).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    wait_until("the folder is watched", || {
        (app.folder().status().watching.by == WatchMeans::Native).then_some(())
    });
    assert_eq!(app.launches().split_launches(true).unwrap(), []);
    let (tell, told) = channel();
    let _ear = app.subscribe(Box::new(move |event| {
        if event.stale == Stale::Launches {
            let _ = tell.send(());
        }
    }));
    work(&bench, 1);
    told.recv_timeout(DEADLINE).expect("the log of another program is watched");
    let one = only(&app);
    assert_eq!((one.state, one.parts, one.waiting, one.ended), (SplitState::Waiting, 2, 1, 1));
    assert_eq!((one.total, one.max_cost), (6, Some(3.0)));
    assert!(one.done > 0 && one.done < 6 && one.cost > 0.0, "{one:?}");
    assert_eq!(row(&one, 2).total, None, "it has not said how many it has");
    assert!(!one.may_stop && one.how_to_stop.contains("Ctrl-C"), "{one:?}");
    let error = app.launches().stop_split_launch("l-1", false).unwrap_err();
    assert_eq!(error.code, Code::BadRequest);
    work(&bench, 2);
    let all = only(&app);
    assert_eq!((all.state, all.done, all.total, all.failed), (SplitState::Done, 6, 6, 0));
    assert!(all.ended_ms.is_some() && all.cost > one.cost);
    assert_eq!(app.launches().all().len(), 1, "parts are no launches of their own");
    wait_until("all runs are listed", || (rows(&app).len() == 6).then_some(()));
}

#[test]
fn a_part_whose_process_is_gone_is_lost_and_one_that_starts_again_is_counted_once() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    fs::create_dir_all(bench.path("results")).unwrap();
    work(&bench, 1);
    work(&bench, 2);
    let whole = only(bench.app());
    let logs = bench.path("results/.touchstone/launches");
    let log_of = |part: u32| {
        let begins = format!(r#""part":{part},"#);
        let entries = fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path());
        let is_meant = |path: &std::path::PathBuf| {
            fs::read_to_string(path).unwrap().lines().next().unwrap().contains(&begins)
        };
        entries.into_iter().find(is_meant).unwrap()
    };
    // The process of part 2 was killed before its first run ended.
    let log = log_of(2);
    let text = fs::read_to_string(&log).unwrap();
    let begun: Vec<&str> = text.lines().take(3).collect();
    fs::write(&log, begun.join("\n") + "\n{\"at_ms\":1,\"run\":\"x\",\"ev").unwrap();
    let fresh = bench.another_app();
    fresh.folder().open(&bench.path("")).unwrap();
    let lost = only(&fresh);
    assert_eq!((lost.state, lost.lost, lost.ended), (SplitState::Unfinished, 1, 1), "{lost:?}");
    assert_eq!(row(&lost, 2).state, SplitPartState::Lost);
    assert!(row(&lost, 2).word.contains("gone"), "{lost:?}");
    // It starts again and has nothing to do.
    let request = part(2);
    let worker = bench.another_app();
    worker.folder().open_as_worker(&bench.path(""), None, None).unwrap();
    worker.folder().wait_ready(DEADLINE).unwrap();
    let origin = PartOrigin { launch: "l-1".to_owned(), job: None, restarted: false };
    let prepared = worker.launches().prepare_launch(&request).unwrap();
    worker.launches().start_prepared(&request, prepared, Some(&origin), Vec::new()).unwrap_err();
    let done = only(&fresh);
    assert_eq!((done.state, done.done, done.total), (SplitState::Done, whole.done, whole.total));
    assert_eq!((row(&done, 2).starts, row(&done, 2).why.as_deref()), (2, None));
}

#[test]
fn each_part_leaves_a_segment_of_what_it_finished() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    fs::create_dir_all(bench.path("results")).unwrap();
    for part in 1..=PARTS {
        work(&bench, part);
    }
    let names: Vec<String> = fs::read_dir(bench.path("results/.touchstone/segments"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| name.ends_with(".parquet")), "{names:?}");
    let of_part =
        |part: u32| names.iter().filter(|name| name.contains(&format!("-{part}-"))).count();
    assert!((1..=PARTS).all(|part| of_part(part) >= 1), "{names:?}");
    let bench = bench.open();
    assert_eq!(bench.app().folder().segment_status().unwrap().claimed, 6);
    assert_eq!(rows(bench.app()).len(), 6);
    assert!(bench.problems().is_empty(), "{:?}", bench.problems());
}
