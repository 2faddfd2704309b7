//! Kills a process at every named fault point and checks the state it leaves: no paid reply is lost
//! or bought twice, every file is whole, and the resumed run ends like an undisturbed one.
//! `tests/faults` does the same for the whole program.
use super::atomic_write;
use super::journal::{Attempt, Body, Journal, Record};
use super::lock::RunLock;
use super::script::{End, TranscriptWriter};
use crate::provider::Reply;
use fs_err as fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use touchstone_formats::transcript::Document;

const RUN: &str = "a/t-tool_calling-o1-variation0.yaml";
const FOLDER: &str = "TOUCHSTONE_KILLED_IN";
const TURNS: u32 = 4;

const PLACES: [&str; 12] = [
    "journal.before_write",
    "journal.mid_write",
    "journal.after_write",
    "journal.after_sync",
    "publish.before",
    "publish.after_create",
    "publish.mid_write",
    "publish.before_sync",
    "publish.before_rename",
    "publish.before_dir_sync",
    "publish.after",
    "nowhere",
];

/// Executes a run: buys a reply unless it was bought before, journals it, adds it to the transcript
/// and publishes.
fn go_on(dir: &Path) {
    let _lock = RunLock::take(dir, RUN).unwrap();
    let journal = Journal::open(dir, RUN).unwrap();
    let mut script = match fs::read(dir.join(RUN)) {
        Ok(bytes) => TranscriptWriter::from(Document::read(&bytes).unwrap()),
        Err(_) => TranscriptWriter::new("begin"),
    };
    while script.next_turn() <= TURNS {
        let turn = script.next_turn();
        let hash = format!("question {turn}");
        let paid = journal.find(&hash, 0, None).unwrap_or_else(|| buy(dir, &journal, turn, hash));
        let text = String::from_utf8(paid.body.bytes()).unwrap();
        script.push_reply(&Reply { text: Some(text), ..Reply::default() });
        if turn < TURNS {
            script.nudge("go on");
        }
        atomic_write::replace(dir, RUN, script.write().as_bytes()).unwrap();
    }
}

/// Records each sale before the reply is returned; the buyer may die at any time after that.
fn buy(dir: &Path, journal: &Journal, turn: u32, hash: String) -> Attempt {
    let mut sold = fs::OpenOptions::new().create(true).append(true).open(dir.join("sold")).unwrap();
    writeln!(sold, "{turn}").unwrap();
    let body = Body::from_bytes(format!("answer {turn}").as_bytes());
    let attempt = Attempt {
        turn,
        hash,
        status: Some(200),
        headers: vec![],
        body,
        whole: true,
        ms: 1,
        attempt: 1,
        at_ms: 0,
        spent_ms: None,
    };
    journal.append_now(Record::Reply(attempt.clone())).unwrap();
    attempt
}

#[test]
#[ignore = "it is what the other test kills"]
fn a_run_that_is_killed() {
    if let Ok(dir) = std::env::var(FOLDER) {
        go_on(Path::new(&dir));
    }
}

fn child(dir: &Path, fail_at: &str) -> bool {
    let arguments = ["--exact", "tests::a_run_that_is_killed", "--ignored", "--test-threads=1"];
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(FOLDER, dir).env("TOUCHSTONE_FAIL_AT", fail_at);
    command.output().unwrap().status.success()
}

fn sold(dir: &Path) -> usize {
    fs::read_to_string(dir.join("sold")).unwrap_or_default().lines().count()
}

#[test]
fn wherever_a_run_is_killed_it_ends_as_if_nothing_had_happened() {
    let straight = tempfile::tempdir().unwrap();
    assert!(child(straight.path(), "nowhere:1"));
    let expected = fs::read_to_string(straight.path().join(RUN)).unwrap();
    for place in PLACES {
        for count in 1..=TURNS {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path();
            let lived = child(dir, &format!("{place}:{count}"));
            assert_eq!(lived, place == "nowhere", "{place}:{count}");
            // Published data is whole and was paid for; at most the reply in flight is missing from
            // the journal.
            let bought = Journal::open(dir, RUN).unwrap().lines();
            assert!(sold(dir) - bought <= 1, "{place}:{count}");
            if let Ok(bytes) = fs::read(dir.join(RUN)) {
                let script = TranscriptWriter::from(Document::read(&bytes).unwrap());
                assert!(script.next_turn() as usize <= bought + 1, "{place}:{count}");
            }
            let before = sold(dir);
            assert!(child(dir, "nowhere:1"), "{place}:{count}");
            assert_eq!(fs::read_to_string(dir.join(RUN)).unwrap(), expected, "{place}:{count}");
            assert_eq!(
                sold(dir) - before,
                TURNS as usize - bought,
                "{place}:{count} bought something twice"
            );
            assert_eq!(
                TranscriptWriter::from(Document::read(expected.as_bytes()).unwrap()).end(),
                End::Assistant
            );
            assert_eq!(
                fs::read_dir(dir.join("a")).unwrap().count(),
                1,
                "{place}:{count} left something"
            );
            assert_eq!(
                fs::read_dir(dir.join(".touchstone/locks/a")).unwrap().count(),
                0,
                "{place}:{count}"
            );
        }
    }
}
