//! Disks that do not take what they are given, and clocks that jump.
use super::stage::{NAME, PLAIN, QUERY, RUN, calls, calls_then_answers, ear, heard, plain, workspace};
use super::{document, ended, folder_of, request, run};
use crate::bench::wait_until;
use crate::scripted::Scripted;
use fs_err as fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
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

#[test]
fn a_full_disk_is_waited_for_and_nothing_that_was_bought_is_lost() {
    let bench;
    let server = {
        let home = tempfile::TempDir::new().unwrap();
        let filler = std::sync::Arc::new(std::sync::Mutex::new(home.path().to_owned()));
        let into = std::sync::Arc::clone(&filler);
        let server = Scripted::start(move |seen| {
            if seen.number == 0 {
                // The disk is filled to its last byte while the model thinks.
                let results = into.lock().unwrap().clone();
                let mut chunk = 1 << 16;
                let mut file = fs::File::create(results.join(".filler")).unwrap();
                while chunk > 0 {
                    if std::io::Write::write_all(&mut file, &vec![0; chunk]).is_err() {
                        chunk /= 2;
                    }
                }
            }
            calls_then_answers(seen)
        });
        bench = folder_of(&workspace(&server, "", ""), PLAIN);
        if !mounted(&bench.path("results"), "size=512k") {
            return;
        }
        *filler.lock().unwrap() = bench.path("results");
        server
    };
    let _mount = Mounted(bench.path("results"));
    let bench = bench.open();
    let (events, listener) = ear();
    let launch = bench.app().start_launch_with(&request(), vec![listener]).unwrap().launch;
    wait_until("it waits for room", || {
        (heard(&events, |what| matches!(what, What::Retrying { .. })) > 0).then_some(())
    });
    fs::remove_file(bench.path("results/.filler")).unwrap();
    let view = ended(&bench, &launch);
    assert_eq!((view.done, server.delivered()), (1, 2), "{:?}", view.runs);
    assert_eq!(document(&bench, RUN).items().len(), 3);
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
