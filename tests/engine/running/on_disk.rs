//! Tests of disks that reject writes, and of files that change during a launch.
use super::stage::{
    PLAIN, QUERY, RUN, calls, calls_then_answers, count_events, ear, plain, workspace,
};
use super::{document, ended, folder_of, request, run};
use crate::bench::{Bench, wait_until};
use crate::mounts::{Mounted, is_run_where_disks_can_be_mounted};
use crate::scripted::Scripted;
use fs_err as fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use touchstone_api::{Act, LaunchState};
use touchstone_runner::event::RunEventKind;

#[test]
fn where_nothing_can_be_written_nothing_is_bought_and_a_sentence_says_so() {
    if is_run_where_disks_can_be_mounted() {
        return;
    }
    let server = Scripted::start(calls_then_answers);
    let bench = folder_of(&workspace(&server, "", ""), PLAIN);
    let mount = Mounted::mount(&bench.path("results"), "ro,size=64k");
    let bench = bench.open();
    let view = run(&bench, &request());
    assert_eq!((view.state, view.failed), (LaunchState::Done, 1), "{:?}", view.runs);
    let why = view.runs[0].doing.clone().unwrap();
    assert!(why.contains("results") && why.contains("writing here is not permitted"), "{why}");
    assert_eq!(server.seen().len(), 0, "a reply that cannot be kept is not asked for");
    mount.remount("rw");
    let again = bench.app().launches().retry_launch(&view.id).unwrap().launch;
    assert_eq!(ended(&bench, &again).done, 1);
}

/// Fills a disk to its last byte.
fn fill(dir: &Path) {
    let (mut file, mut chunk) = (fs::File::create(dir.join(".filler")).unwrap(), 1 << 16);
    while chunk > 0 {
        if file.write_all(&vec![0; chunk]).is_err() {
            chunk /= 2;
        }
    }
}

/// Starts a launch on a disk that is full from a given request on, waits until its run waits for
/// space, and calls `then` with it.
fn on_a_disk_that_is_full_from(request_number: usize, then: impl FnOnce(&Bench, &Scripted, &str)) {
    if is_run_where_disks_can_be_mounted() {
        return;
    }
    let place: Arc<OnceLock<PathBuf>> = Arc::default();
    let filled = Arc::clone(&place);
    let server = Scripted::start(move |seen| {
        if let Some(dir) = filled.get().filter(|_| seen.number == request_number) {
            fill(dir);
        }
        calls_then_answers(seen)
    });
    let bench = folder_of(&workspace(&server, "", ""), PLAIN);
    let results = bench.path("results");
    let _mount = Mounted::mount(&results, "size=512k");
    place.set(results).unwrap();
    let bench = bench.open();
    let (events, listener) = ear();
    let launch =
        bench.app().launches().start_launch_with(&request(), vec![listener]).unwrap().launch;
    let waits = |what: &RunEventKind| matches!(what, RunEventKind::Retrying { why, .. } if why.contains("full") || why.contains("room"));
    wait_until("it waits for room", || (count_events(&events, waits) > 0).then_some(()));
    then(&bench, &server, &launch);
    assert_eq!(document(&bench, RUN).items().len(), 3);
}

fn make_room(bench: &Bench, server: &Scripted, launch: &str) {
    bench.remove("results/.filler");
    let view = ended(bench, launch);
    assert_eq!((view.done, server.delivered()), (1, 2), "{:?}", view.runs);
}

#[test]
fn a_reply_that_does_not_fit_into_the_journal_is_kept_until_it_does() {
    on_a_disk_that_is_full_from(0, make_room);
}

/// Number of a request at which the journal exists, and a small addition still fits into its last
/// page.
const LATER: usize = 1;

#[test]
fn a_transcript_that_does_not_fit_is_written_when_there_is_room() {
    on_a_disk_that_is_full_from(LATER, make_room);
}

#[test]
fn who_stops_a_run_that_waits_for_room_need_not_make_any_and_loses_nothing() {
    on_a_disk_that_is_full_from(LATER, |bench, server, launch| {
        bench.app().launches().stop_launch(launch, true).unwrap();
        assert_eq!(ended(bench, launch).stopped, 1, "the disk is still full");
        let left = document(bench, RUN);
        assert!(left.items().len() < 3, "what did not fit is not in the file: {left:?}");
        let again = bench.app().launches().retry_launch(launch).unwrap().launch;
        make_room(bench, server, &again);
    });
}

#[test]
fn a_transcript_that_became_damaged_under_a_launch_is_not_written_over() {
    // An editor saved the file after the plan was made.
    let server = Scripted::start(|_| calls(&[("c", "query_things", QUERY)]));
    let bench = plain(&server);
    bench.write(RUN, "conversation:\n- user_message: How many?\n");
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed[0].act, Act::Continue);
    bench.write(RUN, "conversation: [\n");
    assert!(bench.app().launches().start_launch(&request()).is_err());
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), "conversation: [\n");
}
