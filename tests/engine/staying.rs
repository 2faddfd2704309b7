//! Tests of a folder with runs in progress: it stays open, a stop is reported at once, and the
//! doctor checks the requirements of runs.
use super::bench::{Bench, DEADLINE, wait_until};
use super::conversation::{Conversation, Wire};
use super::running::{folder, request};
use super::scripted::{Latch, Reply, Scripted};
use fs_err as fs;
use touchstone_api::{Check, LaunchRequest, LaunchState, LaunchView, Span};
use touchstone_app::error::Code;

const WHY: &str = "Said by the test.";

/// A model that replies when the latch opens.
fn slow(latch: &Latch) -> Scripted {
    let (conversation, latch) = (Conversation::new(Wire::Chat, 1), latch.clone());
    Scripted::start(move |seen| conversation.reply(seen).once_open(&latch))
}

fn only_first() -> LaunchRequest {
    LaunchRequest { variations: vec![0], ..request() }
}

fn view(bench: &Bench) -> LaunchView {
    bench
        .app()
        .launches()
        .view(&bench.app().launches().all()[0].id, Span { offset: 0, limit: 10 })
        .unwrap()
}

#[test]
fn while_runs_are_in_progress_no_other_folder_is_opened_and_this_one_is_not_closed() {
    let latch = Latch::default();
    let server = slow(&latch);
    let bench = folder(&server, Wire::Chat).file("elsewhere/results/a.txt", "");
    let (app, elsewhere) = (bench.app().clone(), bench.path("elsewhere"));
    app.launches().start_launch(&request()).unwrap();
    server.wait_for(1);
    for refused in [app.folder().open(&elsewhere), app.folder().close_folder()] {
        let error = refused.unwrap_err();
        assert_eq!(error.code, Code::BadRequest);
        assert!(error.message.contains("2 runs are in progress"), "{error}");
        assert!(error.hint.is_some_and(|hint| hint.contains("stop them")));
    }
    assert_eq!(app.folder().status().folder.unwrap().name, "folder");
    // The open folder may be opened again.
    app.folder().open(&bench.path("")).unwrap();
    assert_eq!(app.launches().all().len(), 1);
    latch.open();
    assert!(app.launches().wait_launches(DEADLINE));
    app.folder().open(&elsewhere).unwrap();
    assert_eq!(app.folder().status().folder.unwrap().name, "elsewhere");
    assert!(app.launches().all().is_empty(), "paths of another folder's runs mean nothing here");
    app.folder().close_folder().unwrap();
}

#[test]
fn launches_of_earlier_sessions_are_listed_from_their_logs() {
    let conversation = Conversation::new(Wire::Chat, 1);
    let server = Scripted::start(move |seen| conversation.reply(seen));
    let bench = folder(&server, Wire::Chat);
    bench.app().launches().start_launch(&request()).unwrap();
    assert!(bench.app().launches().wait_launches(DEADLINE));
    let before = view(&bench);
    let later = bench.another_app();
    later.folder().open(&bench.path("")).unwrap();
    later.folder().wait_ready(DEADLINE).unwrap();
    let listed = later.launches().all();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].what, before.what);
    let after = later.launches().view(&before.id, Span { offset: 0, limit: 10 }).unwrap();
    let paths = |view: &LaunchView| -> Vec<_> {
        let mut paths: Vec<_> = view.runs.iter().map(|run| (run.path.clone(), run.state)).collect();
        paths.sort_by(|one, other| one.0.cmp(&other.0));
        paths
    };
    assert_eq!(paths(&after), paths(&before));
    assert_eq!((after.state, after.total, after.done), (before.state, before.total, before.done));
    assert_eq!((after.tokens, after.ended_ms), (before.tokens, before.ended_ms));
    let gone = later.launches().stop_launch(&before.id, false).unwrap_err();
    assert_eq!(gone.code, Code::NotFound);
    assert_eq!(bench.app().launches().all().len(), 1, "where it was started it is there once");
}

#[test]
fn a_polite_stop_is_told_with_its_reason_saves_what_is_in_flight_and_then_the_launch_is_over() {
    let latch = Latch::default();
    let server = slow(&latch);
    let bench = folder(&server, Wire::Chat);
    assert!(!bench.app().launches().stop_all_launches(false, WHY), "there is nothing to wait for");
    bench.app().launches().start_launch(&only_first()).unwrap();
    server.wait_for(1);
    assert!(bench.app().launches().stop_all_launches(false, WHY));
    wait_until("it is stopping", || (view(&bench).state == LaunchState::Stopping).then_some(()));
    assert_eq!(view(&bench).why.as_deref(), Some(WHY));
    assert!(
        !bench.app().launches().wait_launches(std::time::Duration::ZERO),
        "the call in flight is waited for"
    );
    latch.open();
    assert!(bench.app().launches().wait_launches(DEADLINE));
    let ended = view(&bench);
    assert_eq!((ended.state, ended.stopped), (LaunchState::Stopped, 1), "{:?}", ended.runs);
    assert_eq!(server.seen().len(), 1);
    // The reply is in the file, so resuming pays only for the second turn.
    bench.app().launches().retry_launch(&ended.id).unwrap();
    assert!(bench.app().launches().wait_launches(DEADLINE));
    assert_eq!((view(&bench).done, server.seen().len()), (1, 2), "{:?}", view(&bench).runs);
}

#[test]
fn a_stop_at_once_waits_for_nobody() {
    let latch = Latch::default();
    let server = slow(&latch);
    let bench = folder(&server, Wire::Chat);
    bench.app().launches().start_launch(&only_first()).unwrap();
    server.wait_for(1);
    bench.app().launches().stop_all_launches(false, WHY);
    bench.app().launches().stop_all_launches(true, WHY);
    assert!(bench.app().launches().wait_launches(DEADLINE), "the provider has not answered yet");
    assert_eq!(view(&bench).stopped, 1);
    latch.open();
}

fn named<'a>(checks: &'a [Check], name: &str) -> &'a Check {
    checks
        .iter()
        .find(|check| check.name == name)
        .unwrap_or_else(|| panic!("{name} is not in {checks:#?}"))
}

#[test]
fn the_doctor_looks_at_each_database_and_names_the_keys_without_calling_a_missing_one_a_fault() {
    let server = Scripted::always(Reply::new(500));
    let bench = folder(&server, Wire::Chat);
    let checks = bench.app().folder().doctor(true);
    let database = named(&checks, "Database of query_things");
    assert!(database.ok && database.detail.contains("things.db"), "{database:?}");
    assert!(checks.iter().any(|check| check.name == "Keyring"));
    let key = named(&checks, "Key OPENAI_API_KEY");
    assert!(key.ok, "{key:?}");
    assert!(checks.iter().any(|check| check.name.contains("andbox")), "{checks:#?}");
    fs::remove_file(bench.path("data/things.db")).unwrap();
    let checks = bench.app().folder().doctor(true);
    let database = named(&checks, "Database of query_things");
    assert!(!database.ok && database.fix.is_some(), "{database:?}");
    assert!(server.seen().is_empty(), "no API calls");
}

#[test]
fn a_database_that_does_not_answer_keeps_the_doctor_for_seconds_only() {
    // Accepts connections and sends nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let bench = Bench::new()
        .file(
            "touchstone.yaml",
            format!(
                "input_dir: tasks\noutput_dir: results\ntools:\
            \n  ask: {{ kind: sql, database: 'postgres://me@127.0.0.1:{port}/db' }}\n"
            ),
        )
        .open();
    let begun = std::time::Instant::now();
    let checks = bench.app().folder().doctor(true);
    let database = named(&checks, "Database of ask");
    assert!(
        !database.ok && database.detail.contains("answer") && database.fix.is_some(),
        "{database:?}"
    );
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
}

#[test]
fn a_page_that_may_only_look_starts_no_program_and_asks_no_keyring_and_no_database() {
    let bench = Bench::new().open();
    let names = |may_run| {
        bench.app().folder().doctor(may_run).into_iter().map(|check| check.name).collect::<Vec<_>>()
    };
    let (all, looks) = (names(true), names(false));
    assert!(all.iter().any(|name| name == "Keyring") && looks.iter().all(|name| name != "Keyring"));
    assert!(looks.len() < all.len() && looks.iter().all(|name| all.contains(name)), "{looks:?}");
}
