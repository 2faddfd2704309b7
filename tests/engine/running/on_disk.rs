//! Disks that do not take what they are given, and clocks that jump.
use super::stage::{NAME, PLAIN, QUERY, RUN, calls, calls_then_answers, ear, heard, plain, workspace};
use super::{document, ended, folder_of, request, run};
use crate::bench::wait_until;
use crate::scripted::Scripted;
use fs_err as fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use touchstone_engine::rows::{Act, LaunchState};
use touchstone_engine::runs::event::What;

/// Whether this machine lets us mount a small disk there.
fn mounted(path: &std::path::Path, options: &str) -> bool {
    let done = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path).output();
    let mounted = done.is_ok_and(|done| done.status.success());
    if !mounted {
        eprintln!("not run: nothing can be mounted here");
    }
    mounted
}

struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_bought_and_a_sentence_says_so() {
    let server = Scripted::start(calls_then_answers);
    let bench = folder_of(&workspace(&server, "", ""), PLAIN);
    let results = bench.path("results");
    // Whoever may do everything is not held up by modes: they get a disk that is read-only.
    fs::set_permissions(&results, std::fs::Permissions::from_mode(0o555)).unwrap();
    let mut mount = None;
    if fs::write(results.join("probe"), "").is_ok() {
        fs::remove_file(results.join("probe")).unwrap();
        if !mounted(&results, "ro,size=64k") {
            return;
        }
        mount = Some(Mounted(results.clone()));
    }
    let bench = bench.open();
    let view = run(&bench, &request());
    assert_eq!((view.state, view.failed), (LaunchState::Done, 1), "{:?}", view.runs);
    let why = view.runs[0].doing.clone().unwrap();
    assert!(why.contains("results") || why.contains("read-only") || why.contains("written"), "{why}");
    assert_eq!(server.seen().len(), 0, "a reply that cannot be kept is not asked for");
    drop(mount);
    fs::set_permissions(&results, std::fs::Permissions::from_mode(0o755)).unwrap();
    let again = bench.app().retry_launch(&view.id).unwrap().launch;
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

/// A run whose disk is full from one of its requests on, until there is room again.
fn on_a_disk_that_is_full_from(request_number: usize) {
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
    if !mounted(&results, "size=512k") {
        return;
    }
    let _mount = Mounted(results.clone());
    place.set(results).unwrap();
    let bench = bench.open();
    let (events, listener) = ear();
    let launch = bench.app().start_launch_with(&request(), vec![listener]).unwrap().launch;
    let waits =
        |what: &What| matches!(what, What::Retrying { why, .. } if why.contains("full") || why.contains("room"));
    wait_until("it waits for room", || (heard(&events, waits) > 0).then_some(()));
    bench.remove("results/.filler");
    let view = ended(&bench, &launch);
    assert_eq!((view.done, server.delivered()), (1, 2), "{:?}", view.runs);
    assert_eq!(document(&bench, RUN).items().len(), 3);
}

#[test]
fn a_reply_that_does_not_fit_into_the_journal_is_kept_until_it_does() {
    on_a_disk_that_is_full_from(0);
}

#[test]
fn a_transcript_that_does_not_fit_is_written_when_there_is_room() {
    // The journal has begun by then, and the little that is added still fits into its last page.
    on_a_disk_that_is_full_from(1);
}

#[test]
fn a_clock_that_jumps_changes_nothing() {
    let server = Scripted::start(calls_then_answers);
    let file = "conversation:\n- user_message: How many?\nrun: {started: '2999-01-01T00:00:00.000Z', finished: '1970-01-01T00:00:00Z'}\n";
    let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, file).open();
    let view = run(&bench, &request());
    assert_eq!(view.done, 1);
    assert!(view.runs[0].seconds >= 0.0 && view.runs[0].seconds < 60.0);
    let system = server.seen()[0].json()["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("2999-01-01T00:00:00.000Z"), "the time of a run is the one it began at: {system}");
    assert_eq!(bench.app().plan_launch(&request()).unwrap().owed_total, 0);
    bench.wait_state(NAME, touchstone_engine::rows::RunState::Answered);
}

#[test]
fn a_transcript_that_became_damaged_under_a_launch_is_not_written_over() {
    // What an editor saved while the plan was being looked at.
    let server = Scripted::start(|_| calls(&[("c", "query_things", QUERY)]));
    let bench = plain(&server);
    bench.write(RUN, "conversation:\n- user_message: How many?\n");
    assert_eq!(bench.app().plan_launch(&request()).unwrap().owed[0].act, Act::Continue);
    bench.write(RUN, "conversation: [\n");
    assert!(bench.app().start_launch(&request()).is_err());
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), "conversation: [\n");
}
