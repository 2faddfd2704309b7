//! The real program, killed: at random instants and at every named place, alone and beside another
//! one. Whatever happens, every file can be read, going on ends in the same transcripts as if
//! nothing had happened, and no reply is bought twice.
//!
//! `make kills` kills 200 times (`TOUCHSTONE_KILLS`); `TOUCHSTONE_SEED` repeats what a failure
//! printed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::case_sensitive_file_extension_comparisons, reason = "these names are ours")]

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
mod verdicts;

use chance::Chance;
use lives::Life;
use stage::{AT_ONCE, Found, Stage};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Every place that has a name in the engine and is passed by the runs of this folder.
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
/// Places of other work, each with tests of its own here.
const ELSEWHERE: [&str; 3] = ["publish.half_aside", "judgement.before", "evaluation.before"];

/// How often it is killed.
fn wanted() -> usize {
    std::env::var("TOUCHSTONE_KILLS").map_or(25, |text| text.parse().unwrap())
}

/// What a folder is in the end when nothing happens, and how long that takes.
fn straight_of(stage: &Stage) -> (Found, Duration) {
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

/// The same of the folder with all wires, where some are nudged.
fn straight(name: &str) -> (Found, Duration) {
    let (found, took) = straight_of(&Stage::new(name, None));
    assert_eq!(found.transcripts.len(), 16, "{:?}", found.transcripts.keys());
    assert!(
        found.transcripts.values().all(|text| text.contains("\nanswer:")),
        "{:?}",
        found.transcripts
    );
    let nudged = found.transcripts.values().filter(|text| text.contains("nudges: 1")).count();
    assert_eq!(nudged, 8, "half of them are nudged");
    // Three or five turns and the answer; the nudge, its call and the second answer.
    assert_eq!((found.turns, found.replies), (8 * (4 + 6) / 2 + 8 * (6 + 8) / 2, found.turns));
    (found, took)
}

/// A folder that is worked at by one life after another.
struct Folder {
    stage: Stage,
    kills: usize,
    begun: usize,
}

impl Folder {
    fn new(stage: Stage) -> Self {
        Self { stage, kills: 0, begun: 0 }
    }

    /// One life; true when it was killed. What was bought before is not asked for again.
    fn live(&mut self, life: &Life) -> bool {
        let bought = self.stage.found().bought;
        self.begun = self.stage.asked().len();
        let killed = life.live(&self.stage);
        let found = self.stage.found();
        let again: Vec<String> = self
            .stage
            .asked()
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

    /// Goes on to the end, and compares.
    fn finish(mut self, expected: &Found) {
        self.live(&Life::Whole);
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
        let counts = |found: &Found| (found.replies, found.bought.len(), found.turns);
        assert_eq!(counts(&found), counts(expected), "every reply is used once");
        let asked = self.stage.asked();
        let twice = asked.len() - asked.iter().collect::<BTreeSet<_>>().len();
        assert!(twice <= self.kills * AT_ONCE, "{twice} requests were sent twice");
    }
}

/// Names of places in a text that has them as `before"name"`.
fn names<'a>(text: &'a str, before: &str) -> impl Iterator<Item = &'a str> {
    text.match_indices(before)
        .filter_map(move |(at, _)| text[at + before.len()..].split_once('"'))
        .map(|(name, _)| name)
}

#[test]
fn every_place_that_has_a_name_is_died_at() {
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
    // The list above is one; a test says where it dies.
    let mut tests = String::new();
    stage::walk(&root.join("tests/faults"), &mut |path| {
        tests += &fs::read_to_string(path).unwrap();
    });
    for place in ELSEWHERE {
        assert!(tests.matches(&format!("\"{place}")).count() > 1, "nothing dies at {place}");
    }
}

/// Kills it so often, at these places and at random instants, in one folder after another, and goes
/// on to the end each time.
fn killed(
    name: &str,
    stage: impl Fn(&str) -> Stage,
    (expected, took): (&Found, Duration),
    (mut places, wanted): (Vec<String>, usize),
    chance: &mut Chance,
) {
    let (mut kills, mut rounds) = (0, 0);
    while kills < wanted || !places.is_empty() {
        let mut folder = Folder::new(stage(&format!("{name}-{rounds}")));
        rounds += 1;
        loop {
            // Half of them at a place, as long as there are any; on a folder that is nearly done
            // not every place is passed.
            let place = if kills % 5 < 3 { places.pop() } else { None };
            let at = took.mul_f64(chance.part());
            let life = place.clone().map_or(Life::Until(at), Life::At);
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
    let wanted = wanted();
    let mut chance = Chance::seeded();
    let (expected, took) = straight("faults-straight");
    let mut places: Vec<String> = Vec::new();
    // A place is passed some dozens of times in a whole run, and less often in one that goes on.
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
    // Two were made anew, of the third only the journal was moved.
    assert_eq!((found.replaced, found.transcripts == expected.transcripts), (5, true));
    assert!(anew(&["--force"]).output().unwrap().status.success());
    let found = stage.found();
    assert_eq!((found.transcripts == expected.transcripts, found.left.len()), (true, 0));
    assert_eq!(found.replaced, 5 + 15 * 2 + 1, "every old file is kept");
}
