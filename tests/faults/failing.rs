//! Disk failures, injected into system calls (`disk.c`): errors of syncing and writing, interrupted
//! calls, and partial writes. Nothing that was not stored counts as stored, the error tells the
//! user how to proceed, and once the disk works again the outcome equals that of an undisturbed
//! launch, without paying for a reply twice.
use crate::sandbox::Ran;
use crate::stage::{OutputContents, Stage};
use crate::straight_of;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The program that injects failures, built by the C compiler that cargo also needs.
static DISK: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/disk.c");
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("disk-{}", std::process::id()));
    let ran = Command::new("cc").args(["-O1", "-o"]).arg(&built).arg(source).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    built
});

/// Error text if the disk itself reports a failure.
const FAILS: &str = "the disk reports an error. Check it before you continue.";

/// A disk failure and its expected consequences.
struct DiskFailure {
    name: &'static str,
    rules: &'static [&'static str],
    /// Expected messages; empty if the failure has no visible effect.
    says: &'static [&'static str],
    /// Replies paid for until the failure was noticed; `used` is how many of them were used.
    bought: usize,
    used: usize,
    /// Replies that could not be stored and must be paid for again.
    lost: usize,
}

const TROUBLES: [DiskFailure; 7] = [
    DiskFailure {
        name: "no-journal-is-synced",
        rules: &["fdatasync:*/journal/*:EIO:1:0", "fsync:*/journal/*:EIO:1:0"],
        says: &[
            "Replies cannot be saved, so no more are requested: ",
            "A reply could not be saved: ",
            FAILS,
        ],
        bought: 1,
        used: 0,
        lost: 0,
    },
    DiskFailure {
        name: "a-journal-is-not-synced-twice",
        rules: &["fdatasync:*/journal/*:EIO:3:1", "fsync:*/journal/*:EIO:1:1"],
        says: &["A reply could not be saved: ", FAILS],
        bought: 3,
        used: 2,
        lost: 0,
    },
    DiskFailure {
        name: "a-line-is-written-by-half",
        rules: &["write:*/journal/*:short:4:1", "write:*/journal/*:EIO:5:0"],
        says: &["A reply could not be saved: ", FAILS],
        bought: 3,
        used: 2,
        lost: 1,
    },
    DiskFailure {
        name: "half-a-line-stays",
        rules: &[
            "write:*/journal/*:short:4:1",
            "write:*/journal/*:EIO:5:0",
            "ftruncate:*/journal/*:EIO:1:0",
        ],
        says: &["A reply could not be saved: ", FAILS],
        bought: 3,
        used: 2,
        lost: 1,
    },
    DiskFailure {
        name: "no-transcript-is-synced",
        rules: &["fsync:*/results/.touchstone-*.tmp:EIO:1:0"],
        says: &[".yaml could not be written: ", FAILS],
        bought: 0,
        used: 0,
        lost: 0,
    },
    DiskFailure {
        name: "no-folder-is-synced",
        rules: &["fsync:*/results:EIO:1:0"],
        says: &[".yaml could not be written: ", FAILS],
        bought: 0,
        used: 0,
        lost: 0,
    },
    DiskFailure {
        name: "no-folder-of-journals-is-synced",
        rules: &["fsync:*/.touchstone/journal:EIO:1:0"],
        says: &[FAILS],
        bought: 0,
        used: 0,
        lost: 0,
    },
];

/// Runs the program with these failures.
fn on(rules: &[&str], stage: &Stage) -> Ran {
    let program = stage.run(&["--concurrency", "1"]);
    let mut command = Command::new(&*DISK);
    command.args(rules).arg("--").arg(program.get_program()).args(program.get_args());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").current_dir(&stage.sandbox.folder);
    let ran = Ran::from(command.stdin(Stdio::null()).output().unwrap());
    for rule in 1..=rules.len() {
        let held = format!("disk: rule {rule} held ");
        assert!(
            ran.err.contains(&held) && !ran.err.contains(&format!("{held}0 ")),
            "{rules:?}: {}",
            ran.err
        );
    }
    ran
}

fn straight(name: &str) -> OutputContents {
    straight_of(&Stage::plain(name, "chat,flowing")).0
}

#[test]
fn what_a_failing_disk_did_not_take_is_not_used_and_nothing_is_bought_twice_once_it_is_well() {
    let expected = straight("faults-disk-well");
    for DiskFailure { name, rules, says, bought, used, lost } in TROUBLES {
        let stage = Stage::plain(&format!("faults-disk-{name}"), "chat,flowing");
        let ran = on(rules, &stage);
        assert_eq!(ran.status, 1, "{name}: {ran:?}");
        for sentence in says {
            assert!(ran.out.contains(sentence), "{name}: {sentence:?} is not said: {ran:?}");
        }
        let found = stage.found();
        assert_eq!((stage.delivered(), found.left), (bought, vec![]), "{name}: {ran:?}");
        assert!(found.turns <= used, "{name}: {} replies are used", found.turns);
        let ran = Ran::from(stage.run(&[]).output().unwrap());
        assert_eq!(ran.status, 0, "{name}: {ran:?}");
        let found = stage.found();
        assert_eq!(
            (found.transcripts, found.left),
            (expected.transcripts.clone(), vec![]),
            "{name}"
        );
        assert_eq!(
            (stage.delivered(), found.replies),
            (expected.replies + lost, expected.replies),
            "{name}"
        );
    }
}

#[test]
fn calls_that_are_interrupted_do_only_a_part_or_fail_once_for_a_journal_are_made_again_and_nobody_notices()
 {
    let expected = straight("faults-disk-unnoticed");
    for (name, rules) in [
        (
            "interrupted",
            &[
                "fdatasync:*/results/*:EINTR:1:9",
                "fsync:*/results*:EINTR:2:9",
                "write:*/results/*:EINTR:1:9",
            ][..],
        ),
        ("no-journal-is-synced-but-anew", &["fdatasync:*/journal/*:EIO:1:0"][..]),
        (
            "a-line-is-not-written-once",
            &["write:*/journal/*:short:4:1", "write:*/journal/*:EIO:5:1"][..],
        ),
        ("by-halves", &["write:*/journal/*:short:1:0", "write:*.tmp:short:1:0"][..]),
    ] {
        let stage = Stage::plain(&format!("faults-disk-{name}"), "chat,flowing");
        let ran = on(rules, &stage);
        assert_eq!(ran.status, 0, "{name}: {ran:?}");
        let found = stage.found();
        assert_eq!(
            (found.transcripts, found.left),
            (expected.transcripts.clone(), vec![]),
            "{name}"
        );
        assert_eq!(
            (stage.delivered(), found.replies),
            (expected.replies, expected.replies),
            "{name}"
        );
    }
}
