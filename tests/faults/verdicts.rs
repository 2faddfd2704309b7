//! Verdicts of judges are paid for: wherever the program is killed while it judges rows of a data
//! file or runs, no stored reply is paid for again, and the result equals that of an undisturbed
//! start.
use crate::chance::Chance;
use crate::lives::{exit_of, kill_after};
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Reply, Scripted};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Number of rows, or of runs.
const MANY: usize = 6;
/// Fail points while replies come in, with the number of replies that are lost there because they
/// were not stored yet.
const ASKING: [(&str, usize); 4] = [
    ("journal.after_write:1", 0),
    ("journal.after_sync:1", 0),
    ("journal.before_write:2", 1),
    ("journal.mid_write:1", 1),
];
/// Fail points at the end of an evaluation: raw replies are written first, then the results.
const WRITING: [(&str, usize); 4] = [
    ("evaluation.before", 0),
    ("publish.mid_write:2", 0),
    ("publish.before_rename:2", 0),
    ("publish.after", 0),
];
/// Fail points at which verdicts on runs are written, one by one.
const KEEPING: [(&str, usize); 2] = [("judgement.before:1", 0), ("publish.before_rename:1", 0)];

const EVALUATE: [&str; 11] = [
    "evaluate",
    "--data",
    "rows.jsonl",
    "--evaluators",
    "relevance",
    "--judge-model",
    "local",
    "--out",
    "out.json",
    "--replace",
    "--json",
];
const JUDGE: [&str; 9] =
    ["score", ".", "--judge", "sopr", "--judge-model", "local", "--rounds", "1", "--json"];

/// A folder with rows and runs, a judge, and the requests it received.
struct Court {
    sandbox: Sandbox,
    _server: Scripted,
    asked: Arc<Mutex<Vec<Vec<u8>>>>,
    command: &'static [&'static str],
}

impl Court {
    fn new(name: &str, command: &'static [&'static str]) -> Self {
        let asked = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let log = Arc::clone(&asked);
        let server = Scripted::start(move |seen| {
            log.lock().unwrap().push(seen.body.clone());
            Reply::json(&json!({
                "id": "c", "object": "chat.completion", "model": "any-1",
                "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant",
                    "content": r#"{"explanation": "So it is.", "score": 4, "reason": "So it is.", "verdict": "solved"}"# } }],
                "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
            }))
        });
        let url = server.url("/v1");
        let workspace = format!(
            "input_dir: tasks\noutput_dir: results\nrun: {{ concurrency: 1 }}\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any }}\n"
        );
        let row =
            |n: usize| format!("{{\"query\": \"How many is {n}?\", \"response\": \"{n}.\"}}\n");
        let run = |n: usize| {
            format!(
                "conversation:\n- user_message: How many?\n- assistant_message: It is {n}.\nanswer: {n}\n"
            )
        };
        let rows: String = (0..MANY).map(row).collect();
        let mut files = vec![
            ("touchstone.yaml".to_owned(), workspace),
            ("tasks/count.yaml".to_owned(), "tool_calling_prompt: How many?\n".to_owned()),
            ("rows.jsonl".to_owned(), rows),
        ];
        files
            .extend((1..=MANY).map(|n| {
                (format!("results/count-tool_calling-o1-variation0-run{n}.yaml"), run(n))
            }));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Self { sandbox: Sandbox::with(name, &files), _server: server, asked, command }
    }

    /// Runs to the end, and returns the lines of standard output.
    fn whole(&self) -> Vec<Value> {
        let ran = Ran::from(self.sandbox.command(self.command).output().unwrap());
        assert_eq!(ran.status, 0, "{ran:?}");
        let mut said = ran.json();
        // The time of a verdict differs each time.
        for line in &mut said {
            if let Some(rounds) = line.pointer_mut("/detail/rounds").and_then(Value::as_array_mut) {
                for round in rounds {
                    round["at"] = Value::Null;
                }
            }
        }
        said
    }

    fn die_at(&self, place: &str) {
        let ran =
            self.sandbox.command(self.command).env("TOUCHSTONE_FAIL_AT", place).output().unwrap();
        assert_eq!(
            ran.status.code(),
            None,
            "{place} is not passed: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn distinct(&self) -> usize {
        self.asked.lock().unwrap().iter().collect::<BTreeSet<_>>().len()
    }

    /// Resumes to the end and checks that everything is there and was paid for once, except for
    /// lost replies.
    fn finish(&self, expected: &[Value], lost: usize) {
        assert_eq!(self.whole(), expected);
        assert_eq!(self.distinct(), MANY);
        let again = self.asked() - MANY;
        assert!(again <= lost, "{again} were asked again, and {lost} were lost at most");
        assert_eq!(self.whole(), expected, "there is nothing left to ask");
        assert_eq!(self.asked(), MANY + again);
    }
}

fn killed_at(name: &str, command: &'static [&'static str], places: &[(&str, usize)]) {
    let straight = Court::new(&format!("faults-{name}"), command);
    let expected = straight.whole();
    assert_eq!((straight.asked(), straight.distinct()), (MANY, MANY));
    let court = Court::new(&format!("faults-{name}-killed"), command);
    for (place, _) in places {
        court.die_at(place);
    }
    let lost = places.iter().map(|(_, lost)| lost).sum();
    court.finish(&expected, lost);
    assert_eq!(court.asked(), MANY + lost, "what was not kept is asked for again");
}

#[test]
fn a_kill_while_rows_are_evaluated_loses_no_verdict_that_was_kept() {
    killed_at("evaluate", &EVALUATE, &[ASKING.as_slice(), &WRITING].concat());
}

#[test]
fn a_kill_while_runs_are_judged_loses_no_verdict_that_was_kept() {
    killed_at("judge", &JUDGE, &[ASKING.as_slice(), &KEEPING].concat());
}

#[test]
fn whenever_it_is_killed_judging_ends_as_if_nothing_had_happened() {
    /// Number of kills in one folder before it is resumed to the end.
    const KILLS: usize = 6;
    let folders = crate::wanted().div_ceil(4 * KILLS);
    let mut chance = Chance::seeded();
    for (name, command) in [("evaluate", EVALUATE.as_slice()), ("judge", JUDGE.as_slice())] {
        let straight = Court::new(&format!("faults-{name}-straight"), command);
        let begun = Instant::now();
        let expected = straight.whole();
        let took = begun.elapsed();
        for folder in 0..folders {
            let court = Court::new(&format!("faults-{name}-chance-{folder}"), command);
            for _ in 0..KILLS {
                let mut child = court
                    .sandbox
                    .command(command)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                kill_after(&mut child, took.mul_f64(chance.part()));
                exit_of(&mut child);
            }
            // Only one request is in flight at a time, so a kill loses at most one reply.
            court.finish(&expected, KILLS);
        }
        println!("figure: {} kills of {name} in {folders} folders", folders * KILLS);
    }
}
