//! The real program, killed at random times and at every fail point, alone and beside another
//! process. Afterwards every file can be read, resuming produces the same transcripts as an
//! undisturbed launch, and no reply is paid for twice.
//!
//! `make kills` kills 200 times (`TOUCHSTONE_KILLS`); to reproduce a failure, set `TOUCHSTONE_SEED`
//! to the seed that it printed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::case_sensitive_file_extension_comparisons, reason = "these names are ours")]

mod attacks;
#[expect(dead_code, reason = "only a part of it is used here")]
mod chance;
mod company;
#[path = "../engine/conversation.rs"]
mod conversation;
mod failing;
#[path = "../engine/gzip.rs"]
mod gzip;
mod judging;
mod kinds;
mod lives;
#[path = "../cli/sandbox.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod sandbox;
#[path = "../engine/scripted.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod scripted;
mod stage;
mod users;
mod verdicts;

use chance::Chance;
use lives::Termination;
use stage::{AT_ONCE, OutputContents, Stage};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// All fail points of the engine that the runs of this folder pass.
const PLACES: [&str; 15] = [
    "run.locked",
    "talk.replied",
    "talk.called",
    "talk.over",
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
];
/// Fail points of other work, each with its own tests here.
const ELSEWHERE: [&str; 4] =
    ["publish.half_aside", "judgement.before", "evaluation.before", "talk.user_replied"];

/// Number of kills.
fn kill_count() -> usize {
    std::env::var("TOUCHSTONE_KILLS").map_or(25, |text| text.parse().unwrap())
}

/// Returns the content of a folder after an undisturbed launch, and its duration.
fn straight_of(stage: &Stage) -> (OutputContents, Duration) {
    let begun = Instant::now();
    let ran = sandbox::Ran::from(stage.run(&[]).output().unwrap());
    let took = begun.elapsed();
    assert_eq!(ran.status, 0, "{ran:?}");
    let found = stage.found();
    assert_eq!(
        (stage.delivered(), found.bought.len()),
        (found.replies, found.replies),
        "no two requests are the same"
    );
    assert_eq!(found.left, [""; 0]);
    (found, took)
}

/// Like `straight_of`, for the folder with all APIs, in which some runs are nudged.
fn straight(name: &str) -> (OutputContents, Duration) {
    let (found, took) = straight_of(&Stage::new(name, None));
    assert_eq!(found.transcripts.len(), 16, "{:?}", found.transcripts.keys());
    assert!(
        found.transcripts.values().all(|text| text.contains("\nanswer:")),
        "{:?}",
        found.transcripts
    );
    let nudged = found.transcripts.values().filter(|text| text.contains("nudges: 1")).count();
    assert_eq!(nudged, 8, "half of them are nudged");
    // Three or five turns and the answer; for the others the nudge, its calls and the second
    // answer.
    assert_eq!((found.turns, found.replies), (8 * (4 + 6) / 2 + 8 * (6 + 8) / 2, found.turns));
    (found, took)
}

/// A folder that is processed by one run of the program after another.
struct Folder {
    stage: Stage,
    kills: usize,
    begun: usize,
}

impl Folder {
    fn new(stage: Stage) -> Self {
        Self { stage, kills: 0, begun: 0 }
    }

    /// Runs the program once. Returns true if it was killed. Checks that no stored reply is
    /// requested again.
    fn live(&mut self, life: &Termination) -> bool {
        let bought = self.stage.found().bought;
        self.begun = self.stage.request_hashes().len();
        let killed = life.live(&self.stage);
        let found = self.stage.found();
        let again: Vec<String> = self
            .stage
            .request_hashes()
            .split_off(self.begun)
            .into_iter()
            .filter(|hash| bought.contains(hash))
            .collect();
        assert_eq!(again, [""; 0], "{life:?} asked again what was bought");
        self.kills += usize::from(killed);
        let lost = self.stage.delivered() - found.replies;
        assert!(
            lost <= self.kills * AT_ONCE,
            "{lost} replies are lost after {} kills, {life:?}",
            self.kills
        );
        assert!(found.turns <= found.replies, "{life:?}: a reply that was not kept was used");
        killed
    }

    /// Resumes to the end, and compares the result.
    fn finish(mut self, expected: &OutputContents) {
        self.live(&Termination::Whole);
        let found = self.stage.found();
        for (name, text) in &expected.transcripts {
            assert_eq!(
                found.transcripts.get(name),
                Some(text),
                "{name} after {} kills",
                self.kills
            );
        }
        assert_eq!(found.transcripts.len(), expected.transcripts.len());
        assert_eq!(found.left, [""; 0]);
        let counts = |found: &OutputContents| (found.replies, found.bought.len(), found.turns);
        assert_eq!(counts(&found), counts(expected), "every reply is used once");
        let asked = self.stage.request_hashes();
        let twice = asked.len() - asked.iter().collect::<BTreeSet<_>>().len();
        assert!(twice <= self.kills * AT_ONCE, "{twice} requests were sent twice");
    }
}

/// Returns the names in a text that stand between `before` and a quote.
fn names<'a>(text: &'a str, before: &str) -> impl Iterator<Item = &'a str> {
    text.match_indices(before)
        .filter_map(move |(at, _)| text[at + before.len()..].split_once('"'))
        .map(|(name, _)| name)
}

#[test]
fn every_failpoint_is_listed_and_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = BTreeSet::new();
    stage::walk(&root.join("src-tauri"), &mut |path| {
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(path).unwrap();
            let points = [r#"point!(""#, r#"is_due(""#, r#"die(""#];
            named.extend(points.iter().flat_map(|before| names(&text, before)).map(str::to_owned));
        }
    });
    let known: BTreeSet<String> = PLACES.into_iter().chain(ELSEWHERE).map(str::to_owned).collect();
    assert_eq!(named, known);
    assert_eq!(known.len(), PLACES.len() + ELSEWHERE.len(), "each is said once");
    // The list above counts once; a test has to name the fail point as well.
    let mut tests = String::new();
    stage::walk(&root.join("tests/faults"), &mut |path| {
        tests += &fs::read_to_string(path).unwrap();
    });
    for place in ELSEWHERE {
        assert!(tests.matches(&format!("\"{place}")).count() > 1, "nothing dies at {place}");
    }
}

/// Kills the program `wanted` times, at these fail points and at random times, in one folder after
/// another, and resumes each to the end.
fn killed(
    name: &str,
    stage: impl Fn(&str) -> Stage,
    (expected, took): (&OutputContents, Duration),
    (mut places, wanted): (Vec<String>, usize),
    chance: &mut Chance,
) {
    let (mut kills, mut rounds) = (0, 0);
    while kills < wanted || !places.is_empty() {
        let mut folder = Folder::new(stage(&format!("{name}-{rounds}")));
        rounds += 1;
        loop {
            // Three of five kills are at a fail point, while there are any left. A folder that is
            // almost done does not pass every fail point.
            let place = if kills % 5 < 3 { places.pop() } else { None };
            let at = took.mul_f64(chance.part());
            let life = place.clone().map_or(Termination::Until(at), Termination::At);
            if !folder.live(&life) {
                assert!(
                    place.is_none() || folder.kills > 0,
                    "{place:?} is not passed in a whole run"
                );
                places.extend(place);
                break;
            }
            kills += 1;
            if kills >= wanted && places.is_empty() {
                break;
            }
        }
        folder.finish(expected);
    }
    println!("figure: {kills} kills of {name} in {rounds} folders; a whole run took {took:?}");
}

#[test]
fn whenever_it_is_killed_it_ends_as_if_nothing_had_happened() {
    let wanted = kill_count();
    let mut chance = Chance::seeded();
    let (expected, took) = straight("faults-straight");
    let mut places: Vec<String> = Vec::new();
    // A fail point is passed some dozens of times in a complete launch, and less often in a resumed
    // one.
    for round in 0..=(u64::try_from(wanted).unwrap() / 100).min(2) {
        places.extend(
            PLACES.iter().map(|place| format!("{place}:{}", 1 + chance.below(3 + 5 * round))),
        );
    }
    let stage = |name: &str| Stage::new(name, None);
    killed("faults-killed", stage, (&expected, took), (places, wanted), &mut chance);
}

#[test]
fn beginning_anew_destroys_nothing_when_it_is_killed_halfway() {
    let (expected, _) = straight("faults-once");
    let stage = Stage::new("faults-anew", None);
    let anew = |more: &[&str]| stage.run(more);
    assert!(anew(&[]).output().unwrap().status.success());
    let killed = anew(&["--force", "--concurrency", "1"])
        .env("TOUCHSTONE_FAIL_AT", "publish.half_aside:3")
        .output();
    assert_eq!(killed.unwrap().status.code(), None);
    let found = stage.found();
    // Two runs were moved completely, of the third only the journal.
    assert_eq!((found.replaced, found.transcripts == expected.transcripts), (5, true));
    assert!(anew(&["--force"]).output().unwrap().status.success());
    let found = stage.found();
    assert_eq!((found.transcripts == expected.transcripts, found.left.len()), (true, 0));
    assert_eq!(found.replaced, 5 + 15 * 2 + 1, "every old file is kept");
}
