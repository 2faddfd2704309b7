//! Judging, killed at every fail point that it passes and at random times. In the end every verdict
//! exists once, and no stored reply is paid for again.
use crate::chance::Chance;
use crate::lives::{exit_of, kill_after};
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use touchstone_formats::judgement::JudgementFile;

const RUNS: usize = 4;
const ROUNDS: usize = 3;
/// Number of requests: two of the runs take two requests per round.
const QUESTIONS: usize = RUNS * ROUNDS + RUNS / 2 * ROUNDS;

/// Fail points before a reply is durable. A reply in flight may be lost there.
const BEFORE: [&str; 3] = ["journal.before_write", "journal.mid_write", "journal.after_write"];
/// Fail points after a reply is durable.
const AFTER: [&str; 7] = [
    "journal.after_sync",
    "judgement.before",
    "publish.after_create",
    "publish.mid_write",
    "publish.before_sync",
    "publish.before_rename",
    "publish.before_dir_sync",
];

/// A folder of answered runs, its provider, and the requests it received.
struct JudgingFixture {
    sandbox: Sandbox,
    heard: Arc<Mutex<Vec<String>>>,
    /// Number of runs judged at the same time.
    at_once: usize,
    kills: usize,
}

impl JudgingFixture {
    fn new(name: &str, at_once: usize) -> Self {
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&heard);
        let server = Scripted::start(move |seen: &Seen| {
            let question = seen.json()["messages"].to_string();
            let mut log = log.lock().unwrap();
            log.push(question.clone());
            says(log.len(), if question.contains("odd") { "unsure" } else { "solved" })
        });
        let url = server.url("/v1");
        let server = server.forgetful();
        let workspace = format!(
            "input_dir: tasks\noutput_dir: results\nrun: {{ concurrency: {at_once} }}\nmodels:\
             \n  local: {{ provider: openai, base_url: '{url}', model: any }}\n"
        );
        let sandbox = Sandbox::with(
            name,
            &[
                ("touchstone.yaml", &workspace),
                ("tasks/count.yaml", "tool_calling_prompt: How many?\n"),
            ],
        );
        fs::create_dir_all(sandbox.folder.join("results")).unwrap();
        for run in 0..RUNS {
            let kind = if run % 2 == 0 { "even" } else { "odd" };
            let text = format!(
                "conversation:\n- user_message: How many?\n- assistant_message: There are {run}, {kind}.\nanswer: {run}\n"
            );
            fs::write(sandbox.folder.join("results").join(run_name(run)), text).unwrap();
        }
        // The provider lives as long as the test process.
        std::mem::forget(server);
        Self { sandbox, heard, at_once, kills: 0 }
    }

    fn begin(&self, fail_at: Option<&str>) -> Child {
        let rounds = ROUNDS.to_string();
        let mut command = self.sandbox.command(&[
            "score",
            ".",
            "--judge",
            "sopr",
            "--judge-model",
            "local",
            "--rounds",
            &rounds,
        ]);
        if let Some(place) = fail_at {
            command.env("TOUCHSTONE_FAIL_AT", place);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs the program up to a fail point. Returns true if it was reached, and hence killed there.
    fn killed_at(&mut self, place: &str) -> bool {
        let killed = exit_of(&mut self.begin(Some(place))).code().is_none();
        self.kills += usize::from(killed);
        killed
    }

    /// Runs the program for a time. Returns true if it was killed before its end.
    fn killed_after(&mut self, at: Duration) -> bool {
        let mut child = self.begin(None);
        kill_after(&mut child, at);
        let killed = exit_of(&mut child).code().is_none();
        self.kills += usize::from(killed);
        killed
    }

    fn folder(&self) -> PathBuf {
        self.sandbox.folder.join("results/.touchstone/judgements")
    }

    /// Reads the folder of verdicts. Fails if a file cannot be read.
    fn sheets(&self) -> BTreeMap<String, JudgementFile> {
        let files = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
        let whole = named.filter(|(name, _)| name.ends_with(".yaml"));
        whole
            .map(|(name, path)| (name, JudgementFile::read(&fs::read(path).unwrap()).unwrap()))
            .collect()
    }

    /// Resumes to the end and checks that every verdict exists, that each is made of its own
    /// replies, and that at most `lost` replies were paid for in vain.
    fn ends(self, lost: usize) {
        let ran = Ran::from(
            self.sandbox
                .command(&[
                    "score",
                    ".",
                    "--judge",
                    "sopr",
                    "--judge-model",
                    "local",
                    "--rounds",
                    "3",
                    "--json",
                ])
                .output()
                .unwrap(),
        );
        assert_eq!((ran.status, ran.json().len()), (0, RUNS), "{ran:?}");
        let sheets = self.sheets();
        assert_eq!(sheets.len(), RUNS);
        let mut replies = Vec::new();
        for (name, sheet) in &sheets {
            let [judgement] = sheet.judgements() else {
                panic!("{name} is judged {} times", sheet.judgements().len())
            };
            let words: Vec<_> =
                judgement.rounds.iter().filter_map(|round| round.verdict.as_deref()).collect();
            let odd = name.contains("claude");
            assert_eq!(words, [if odd { "unsure" } else { "solved" }; ROUNDS], "{name}");
            replies.extend(judgement.rounds.iter().flat_map(|round| round.replies.clone()));
        }
        assert_eq!(
            (replies.len(), replies.iter().collect::<BTreeSet<_>>().len()),
            (QUESTIONS, QUESTIONS)
        );
        let heard = self.heard.lock().unwrap().len();
        assert!(
            (QUESTIONS..=QUESTIONS + lost).contains(&heard),
            "{heard} questions after {} kills",
            self.kills
        );
        let left = fs::read_dir(self.folder()).unwrap().count() - RUNS;
        assert_eq!(left, 0, "files that nobody needs stay in {}", self.folder().display());
    }
}

/// Returns the file name of a run. The models alternate, so that the names tell the runs with two
/// requests per round.
fn run_name(run: usize) -> String {
    let model = if run.is_multiple_of(2) { "o1" } else { "claude" };
    let repeat = if run < 2 { String::new() } else { format!("-run{}", run / 2 + 1) };
    format!("count-tool_calling-{model}-variation0{repeat}.yaml")
}

/// Builds a reply with a distinct text for each number.
fn says(number: usize, verdict: &str) -> Reply {
    let text = json!({ "reason": format!("Reply {number}."), "verdict": verdict }).to_string();
    Reply::json(&json!({
        "id": "c", "object": "chat.completion", "model": "any-1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
    }))
}

#[test]
fn what_a_judge_said_is_bought_once_wherever_the_program_is_killed() {
    let mut chance = Chance::seeded();
    for (places, lost) in [(AFTER.as_slice(), 0), (&BEFORE, 1)] {
        // Several lives on one folder, with a few fail points each.
        for (number, places) in places.chunks(3).enumerate() {
            let mut court = JudgingFixture::new(&format!("faults-judged-{lost}-{number}"), 1);
            for place in places {
                let place = format!("{place}:{}", 1 + chance.below(3));
                assert!(court.killed_at(&place), "{place} is not passed");
            }
            let lost = lost * court.kills;
            court.ends(lost);
        }
    }
}

#[test]
fn whenever_it_is_killed_every_verdict_is_there_in_the_end() {
    let mut chance = Chance::seeded();
    let straight = JudgingFixture::new("faults-judged-straight", 2);
    let begun = Instant::now();
    assert!(exit_of(&mut straight.begin(None)).success());
    let took = begun.elapsed();
    straight.ends(0);
    let (wanted, mut kills, mut folders) = (crate::kill_count().div_ceil(4), 0, 0);
    while kills < wanted || folders < 3 {
        let mut court = JudgingFixture::new(&format!("faults-judged-at-{folders}"), 2);
        while court.kills < 4 && court.killed_after(took.mul_f64(chance.part())) {}
        let lost = court.kills * court.at_once;
        kills += court.kills;
        folders += 1;
        court.ends(lost);
    }
    println!("figure: {kills} kills of judging in {folders} folders");
}
