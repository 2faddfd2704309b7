//! Tests that appended records survive failures of the process, the file and the disk.
use super::*;
use fs_err as fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use touchstone_model::value::Value;

const RUN: &str = "a/t-promptql-o1-variation0.yaml";

fn reply(hash: &str, status: u16, body: &str) -> Record {
    let (hash, body) = (hash.to_owned(), Body::from_bytes(body.as_bytes()));
    Record::Reply(Attempt {
        turn: 1,
        hash,
        status: Some(status),
        headers: vec![],
        body,
        whole: true,
        ms: 1,
        attempt: 1,
        at_ms: 0,
        spent_ms: None,
    })
}

fn file(dir: &Path) -> PathBuf {
    dir.join(".touchstone/journal/a/t-promptql-o1-variation0.jsonl")
}

fn bodies(journal: &Journal) -> Vec<String> {
    let body = |record: &Record| match record {
        Record::Reply(attempt) => Some(String::from_utf8(attempt.body.bytes()).unwrap()),
        _ => None,
    };
    lock(&journal.inner).held.records().iter().filter_map(body).collect()
}

#[test]
fn the_attempts_at_a_request_are_those_from_a_line_on_and_of_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    for (hash, body) in [("a", "first"), ("b", "other"), ("a", "second")] {
        journal.append_now(reply(hash, 200, body)).unwrap();
    }
    let lines = |hash, from| {
        journal.attempts_at(hash, from, None).iter().map(|(line, _)| *line).collect::<Vec<_>>()
    };
    assert_eq!(
        (lines("a", 0), lines("a", 1), lines("b", 2), lines("c", 0)),
        (vec![0, 2], vec![2], vec![], vec![])
    );
}

#[tokio::test]
async fn appended_lines_are_visible_to_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    for (hash, status, body) in
        [("a", 200, "first"), ("a", 200, "second"), ("b", 529, "busy"), ("a", 500, "broken")]
    {
        journal.append(reply(hash, status, body)).await.unwrap();
    }
    let again = Journal::open(dir.path(), RUN).unwrap();
    for journal in [journal, again] {
        assert_eq!(bodies(&journal), ["first", "second", "busy", "broken"]);
        assert_eq!(
            journal.find("a", 0, None).map(|found| found.body),
            Some(Body::from_bytes(b"second"))
        );
        assert_eq!(journal.find("a", 2, None), None);
        assert_eq!(journal.find("b", 0, None), None);
        assert_eq!(journal.lines(), 4);
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file(dir.path())), mode(file(dir.path()).parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_reply_that_did_not_come_to_its_end_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    let Record::Reply(attempt) = reply("a", 200, "half") else { panic!("no reply") };
    journal.append_now(Record::Reply(Attempt { whole: false, ..attempt })).unwrap();
    assert_eq!(journal.find("a", 0, None), None);
}

#[test]
fn a_tool_that_was_run_is_not_run_again_unless_the_call_was_edited() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    let call = Call { id: "c".into(), name: "t".into(), params: Value::Map(vec![]), outcome: None };
    let outcome = Outcome::Error("no such table".into());
    journal.append_now(Record::Tool(Ran::new(3, &call, &outcome, 1, 2))).unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    assert_eq!(journal.find_outcome(3, &call, 0).map(|(outcome, _)| outcome), Some(outcome));
    assert_eq!(journal.find_outcome(2, &call, 0), None);
    assert_eq!(journal.find_outcome(3, &Call { name: "u".into(), ..call }, 0), None);
}

#[test]
fn used_or_discarded_lines_no_longer_count() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    let call = Call { id: "c".into(), name: "t".into(), params: Value::Null, outcome: None };
    let ran = || Record::Tool(Ran::new(1, &call, &Outcome::Result(Value::Null), 1, 2));
    let counts = |journal: &Journal| {
        let kept = read_snapshot(dir.path(), RUN).unwrap().find("a").is_some();
        let reply = journal.find("a", 0, None).is_some();
        assert_eq!((kept, journal.attempts_at("a", 0, None).len() == 1), (reply, reply));
        (reply, journal.find_outcome(1, &call, 0).is_some())
    };
    for (record, reply, outcome) in [
        (reply("a", 200, "first"), true, false),
        (ran(), true, true),
        (Record::Written, true, false),
        (ran(), true, true),
        (Record::Anew, false, false),
        (ran(), false, true),
    ] {
        journal.append_now(record).unwrap();
        assert_eq!(counts(&journal), (reply, outcome));
        assert_eq!(counts(&Journal::open(dir.path(), RUN).unwrap()), (reply, outcome));
    }
}

#[test]
fn only_forgotten_replies_are_requested_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    let counts = |journal: &Journal| ["a", "b"].map(|hash| journal.find(hash, 0, None).is_some());
    for hash in ["a", "b"] {
        journal.append_now(reply(hash, 200, "hm")).unwrap();
    }
    journal.note(Record::Forgotten { hash: "a".to_owned() }).unwrap();
    for journal in [&journal, &Journal::open(dir.path(), RUN).unwrap()] {
        assert_eq!(counts(journal), [false, true]);
    }
    journal.append_now(reply("a", 200, "yes")).unwrap();
    assert_eq!(counts(&Journal::open(dir.path(), RUN).unwrap()), [true, true]);
}

#[test]
fn a_journal_that_is_too_long_is_not_read_says_what_to_do_and_grows_only_as_long_as_it_can_be() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    lock(&journal.inner).length = FULL - 1;
    assert_eq!(journal.full(), None);
    journal.append_now(reply("a", 200, "the last")).unwrap();
    assert!(
        journal
            .full()
            .is_some_and(|why| why.contains("768 MiB") && why.ends_with("fewer rows at a time."))
    );
    drop(journal);
    // A sparse file takes no space on disk.
    fs::OpenOptions::new().append(true).open(file(dir.path())).unwrap().set_len(MOST + 1).unwrap();
    for error in [
        Journal::open(dir.path(), RUN).err().unwrap(),
        read_snapshot(dir.path(), RUN).err().unwrap(),
    ] {
        assert!(error.why.contains("1024 MiB") && error.why.contains("--again"), "{error}");
    }
    atomic_write::journal_aside(dir.path(), RUN).unwrap();
    assert_eq!(Journal::open(dir.path(), RUN).unwrap().lines(), 0);
    let aside =
        fs::read_dir(dir.path().join(".touchstone/replaced/a")).unwrap().next().unwrap().unwrap();
    assert_eq!(aside.metadata().unwrap().len(), MOST + 1);
}

#[test]
fn a_torn_end_is_moved_beside_the_journal_and_appending_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    journal.append_now(reply("a", 200, "first")).unwrap();
    let whole = fs::read(file(dir.path())).unwrap();
    for turn in 1..=2 {
        fs::write(file(dir.path()), [whole.as_slice(), b"{\"sum\":\"0123"].concat()).unwrap();
        let journal = Journal::open(dir.path(), RUN).unwrap();
        assert_eq!(bodies(&journal), ["first"]);
        assert_eq!(fs::read(file(dir.path())).unwrap(), whole);
        let torn = fs::read_to_string(file(dir.path()).with_extension("jsonl.torn")).unwrap();
        assert_eq!(torn, "{\"sum\":\"0123".repeat(turn));
        journal.append_now(reply("b", 200, "second")).unwrap();
        assert_eq!(bodies(&Journal::open(dir.path(), RUN).unwrap()), ["first", "second"]);
    }
}

#[test]
fn a_damaged_line_hides_none_that_was_paid_for_and_keeps_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    for body in ["first", "second", "third"] {
        journal.append_now(reply(body, 200, body)).unwrap();
    }
    let text = fs::read_to_string(file(dir.path())).unwrap().replace("second", "sec0nd");
    fs::write(file(dir.path()), &text).unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    assert_eq!(
        (bodies(&journal), journal.lines()),
        (vec!["first".to_owned(), "third".to_owned()], 3)
    );
    assert_eq!(
        journal.find("third", 2, None).map(|found| found.body),
        Some(Body::from_bytes(b"third"))
    );
    assert!(read_snapshot(dir.path(), RUN).unwrap().find("third").is_some());
    // Damaged lines stay for inspection.
    assert_eq!(fs::read_to_string(file(dir.path())).unwrap(), text);
    assert!(!file(dir.path()).with_extension("jsonl.torn").exists());
}

#[test]
fn lines_are_readable_before_they_are_durable_and_count_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    journal.append_now(reply("a", 200, "first")).unwrap();
    let call = Call { id: "c".into(), name: "t".into(), params: Value::Null, outcome: None };
    let meanwhile = |fd: &OwnedFd| {
        assert!(journal.inner.try_lock().is_ok(), "the lock is held while the disk is waited for");
        assert!(journal.find("a", 0, None).is_some() && journal.find("b", 0, None).is_none());
        journal
            .note(Record::Tool(Ran::new(1, &call, &Outcome::Result(Value::Null), 1, 2)))
            .unwrap();
        sync(fd)
    };
    journal.append_with(reply("b", 200, "second"), meanwhile).unwrap();
    assert!(journal.find("b", 0, None).is_some());
    let full = journal.append_with(reply("c", 200, "third"), |_| Err(Errno::NOSPC));
    assert!(full.is_err_and(|error| error.is_full()) && journal.find("c", 0, None).is_none());
    // A record whose sync failed is written anew.
    journal.append_now(reply("c", 200, "third")).unwrap();
    let again = Journal::open(dir.path(), RUN).unwrap();
    assert_eq!(
        (bodies(&again), again.lines()),
        (vec!["first".to_owned(), "second".to_owned(), "third".to_owned()], 4)
    );
}

#[test]
fn free_records_are_written_at_once_and_read_back_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    let call = Call { id: "c".into(), name: "t".into(), params: Value::Map(vec![]), outcome: None };
    let outcome = Outcome::Result("rows".into());
    journal.append_now(reply("a", 200, "first")).unwrap();
    journal.note(Record::Tool(Ran::new(1, &call, &outcome, 3, 4))).unwrap();
    assert_eq!(
        Journal::open(dir.path(), RUN).unwrap().find_outcome(1, &call, 0).map(|found| found.0),
        Some(outcome)
    );
    journal.append_now(reply("b", 200, "second")).unwrap();
    let again = Journal::open(dir.path(), RUN).unwrap();
    assert_eq!((bodies(&again), again.lines()), (vec!["first".to_owned(), "second".to_owned()], 3));
}

#[test]
fn after_a_doubtful_write_everything_is_written_to_a_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    journal.append_now(reply("a", 200, "first")).unwrap();
    let before = fs::metadata(file(dir.path())).unwrap().ino();
    lock(&journal.inner).doubtful = true;
    journal.append_now(reply("b", 200, "second")).unwrap();
    journal.append_now(reply("c", 200, "third")).unwrap();
    let after = fs::metadata(file(dir.path())).unwrap().ino();
    assert_ne!(after, before);
    // After one disk error there is a second attempt with a new file.
    journal.append_with(reply("d", 200, "fourth"), |_| Err(Errno::IO)).unwrap();
    assert_ne!(fs::metadata(file(dir.path())).unwrap().ino(), after);
    assert_eq!(
        bodies(&Journal::open(dir.path(), RUN).unwrap()),
        ["first", "second", "third", "fourth"]
    );
}

#[test]
fn a_full_disk_is_an_error_and_the_same_record_goes_in_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RUN).unwrap();
    journal.append_now(reply("a", 200, "first")).unwrap();
    let full = rustix::fs::open("/dev/full", OFlags::WRONLY, Mode::empty()).unwrap();
    let disk = std::mem::replace(&mut lock(&journal.inner).fd, Arc::new(full));
    for _ in 0..2 {
        assert!(journal.append_now(reply("b", 200, "second")).is_err_and(|error| error.is_full()));
        assert_eq!(bodies(&journal), ["first"]);
        // The device cannot be truncated, so its content is in doubt. A real disk can.
        lock(&journal.inner).doubtful = false;
    }
    lock(&journal.inner).fd = disk;
    journal.append_now(reply("b", 200, "second")).unwrap();
    assert_eq!(bodies(&Journal::open(dir.path(), RUN).unwrap()), ["first", "second"]);
}

#[test]
fn a_disk_that_fills_up_keeps_what_fitted_and_takes_the_rest_when_there_is_room() {
    let Some(disk) = atomic_write::tests::Mounted::with_size("256k") else { return };
    let dir = disk.path();
    let journal = Journal::open(dir, RUN).unwrap();
    atomic_write::replace(dir, RUN, &vec![b'x'; 60_000]).unwrap();
    let mut kept = 0;
    let error = loop {
        match journal.append_now(reply("a", 200, &"y".repeat(10_000))) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "the disk never fills");
    };
    assert!(error.is_full() && kept > 5, "{error} after {kept}");
    assert!(
        atomic_write::replace(dir, RUN, &vec![b'z'; 60_000]).is_err_and(|error| error.is_full())
    );
    assert_eq!(fs::read(dir.join(RUN)).unwrap(), vec![b'x'; 60_000]);
    assert_eq!(fs::read_dir(dir.join("a")).unwrap().count(), 1);
    assert_eq!(Journal::open(dir, RUN).unwrap().lines(), kept);
    assert!(!file(dir).with_extension("jsonl.torn").exists());
    fs::remove_file(dir.join(RUN)).unwrap();
    journal.append_now(reply("b", 200, "there is room again")).unwrap();
    assert_eq!(Journal::open(dir, RUN).unwrap().lines(), kept + 1);
}

#[test]
fn a_link_in_the_place_of_the_journal_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(file(dir.path()).parent().unwrap()).unwrap();
    fs::write(dir.path().join("victim"), "x").unwrap();
    std::os::unix::fs::symlink(dir.path().join("victim"), file(dir.path())).unwrap();
    assert_eq!(
        Journal::open(dir.path(), RUN).err().map(|error| error.kind),
        Some(DiskErrorKind::InTheWay)
    );
    assert_eq!(fs::read_to_string(dir.path().join("victim")).unwrap(), "x");
}

/// `cargo test -p touchstone-runner --lib measures_journal_speed -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures"]
async fn measures_journal_speed() {
    const FILES: usize = 100;
    const EACH: usize = 40;
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let journals: Vec<Journal> =
        (0..FILES).map(|n| Journal::open(dir.path(), &format!("{n}.yaml")).unwrap()).collect();
    let began = std::time::Instant::now();
    let runs = journals.into_iter().map(|journal| {
        tokio::spawn(async move {
            for _ in 0..EACH {
                journal.append(reply("a", 200, &"x".repeat(4_000))).await.unwrap();
            }
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap();
    }
    let rate = (FILES * EACH) as u128 * 1_000 / began.elapsed().as_millis();
    eprintln!("{rate} durable appends a second over {FILES} files");
}
