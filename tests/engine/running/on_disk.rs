//! Disks that do not take what they are given, and files that change under a launch.
use super::stage::{PLAIN, QUERY, RUN, calls, calls_then_answers, ear, heard, plain, workspace};
use super::{document, ended, folder_of, request, run};
use crate::bench::{Bench, wait_until};
use crate::scripted::Scripted;
use fs_err as fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use touchstone_api::{Act, LaunchState};
use touchstone_runner::event::What;

/// Runs the test that asks for it once more, in a user and a mount namespace of its own, where
/// anybody may mount small disks, and says true: it is over here. There it says false. Set
/// `TOUCHSTONE_WITHOUT_MOUNTS=1` where there can be no namespaces: then such tests say so and do
/// nothing.
fn is_run_where_disks_can_be_mounted() -> bool {
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    if std::env::var_os("TEST_MAY_MOUNT").is_some() {
        return false;
    }
    if std::env::var_os("TOUCHSTONE_WITHOUT_MOUNTS").is_some() {
        eprintln!("not run: TOUCHSTONE_WITHOUT_MOUNTS is set");
        return true;
    }
    // With a single thread for all tests nobody knows which one this is: who may not mount here
    // fails.
    if test == "main" {
        return false;
    }
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture"])
        .envs([("TEST_MAY_MOUNT", "1"), ("RUST_TEST_THREADS", "2")])
        .output()
        .expect("`unshare` of util-linux is needed; set TOUCHSTONE_WITHOUT_MOUNTS=1 where there is none");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let hint = "Set TOUCHSTONE_WITHOUT_MOUNTS=1 where user namespaces are not allowed.";
    assert!(ran.status.success() && out.contains("1 passed"), "{out}{err}\n{hint}");
    true
}

/// A small disk in the place of a folder.
struct Mounted(PathBuf);

impl Mounted {
    fn at(path: &Path, options: &str) -> Self {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Self(path.to_owned())
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(&self.0).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_bought_and_a_sentence_says_so() {
    if is_run_where_disks_can_be_mounted() {
        return;
    }
    let server = Scripted::start(calls_then_answers);
    let bench = folder_of(&workspace(&server, "", ""), PLAIN);
    let mount = Mounted::at(&bench.path("results"), "ro,size=64k");
    let bench = bench.open();
    let view = run(&bench, &request());
    assert_eq!((view.state, view.failed), (LaunchState::Done, 1), "{:?}", view.runs);
    let why = view.runs[0].doing.clone().unwrap();
    assert!(why.contains("results") && why.contains("writing here is not permitted"), "{why}");
    assert_eq!(server.seen().len(), 0, "a reply that cannot be kept is not asked for");
    mount.remount("rw");
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

/// A run that waits for room on a disk that is full from one of its requests on, with its launch.
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
    let _mount = Mounted::at(&results, "size=512k");
    place.set(results).unwrap();
    let bench = bench.open();
    let (events, listener) = ear();
    let launch = bench.app().start_launch_with(&request(), vec![listener]).unwrap().launch;
    let waits = |what: &What| matches!(what, What::Retrying { why, .. } if why.contains("full") || why.contains("room"));
    wait_until("it waits for room", || (heard(&events, waits) > 0).then_some(()));
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

/// The journal has begun by then, and the little that is added still fits into its last page.
const LATER: usize = 1;

#[test]
fn a_transcript_that_does_not_fit_is_written_when_there_is_room() {
    on_a_disk_that_is_full_from(LATER, make_room);
}

#[test]
fn who_stops_a_run_that_waits_for_room_need_not_make_any_and_loses_nothing() {
    on_a_disk_that_is_full_from(LATER, |bench, server, launch| {
        bench.app().stop_launch(launch, true).unwrap();
        assert_eq!(ended(bench, launch).stopped, 1, "the disk is still full");
        let left = document(bench, RUN);
        assert!(left.items().len() < 3, "what did not fit is not in the file: {left:?}");
        let again = bench.app().retry_launch(launch).unwrap().launch;
        make_room(bench, server, &again);
    });
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
