//! Tests of the readers of tau-bench's results.
use super::tau_bench::read_run;
use super::tau2_bench::read_simulation;
use super::*;
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::run::{ImportedRun, Repeat, RunEnd};
use crate::source::{Folder, Input, NoFolder, Source};
use proptest::prelude::*;
use touchstone_model::json;

const INFO: &str = concat!(
    r#""timestamp":"t","info":{"git_commit":"c","num_trials":2,"max_steps":5,"#,
    r#""agent_info":{"implementation":"agent","llm":"m"},"#,
    r#""environment_info":{"domain_name":"shop","policy":"be kind"}},"tasks":[{"id":"7","#,
    r#""user_scenario":{"persona":"p"}}]"#,
);

const SIMULATION: &str = r#"{"id":"s1","task_id":"7","start_time":"2026-01-01T00:00:00","duration":1.5,
   "termination_reason":"user_stop","agent_cost":0.1,"user_cost":0.2,
    "reward_info":{"reward":0.9999999,"reward_breakdown":{"DB":1.0}},"trial":1,"messages":[
    {"role":"assistant","content":"hi","usage":null,"timestamp":"2026-01-01T00:00:01"},
    {"role":"user","content":"do","tool_calls":[{"id":"u1","name":"look","arguments":{},"requestor":"user"}],"usage":{"prompt_tokens":9,"completion_tokens":9}},
    {"role":"tool","id":"u1","content":"seen","requestor":"user","error":false},
    {"role":"assistant","content":null,"tool_calls":[{"id":"a1","name":"act",
    "arguments":{"k":1},"requestor":"assistant"}],"usage":{"prompt_tokens":5,
    "completion_tokens":2}},
    {"role":"tool","tool_messages":[{"role":"tool","id":"a1","content":"no","error":true},{"role":"tool","id":"a2","content":null,"error":false}]}]}"#;

struct Sims;

impl Folder for Sims {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        (path == "run/simulations/s1.json").then(|| Box::new(SIMULATION.as_bytes().to_vec()) as _)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let names =
            if folder == "run/simulations" { vec!["gone.json", "s1.json", "x/"] } else { vec![] };
        names.into_iter().map(str::to_owned).collect()
    }
}

fn simulation(text: &str) -> ImportedRun {
    read_simulation(&json::read(text).unwrap(), &Value::Null)
}

#[test]
fn the_user_is_simulated_and_its_calls_are_marked() {
    let events = simulation(SIMULATION).events;
    let kinds: Vec<&EventKind> = events.iter().map(|event| &event.kind).collect();
    let [first, user, call, result, own, failed, empty] = &kinds[..] else { panic!("{kinds:?}") };
    assert!(matches!(first, EventKind::Assistant(_)) && events[0].time.is_some());
    assert_eq!(*user, &EventKind::SimulatedUser("do".to_owned()));
    assert!(matches!(call, EventKind::Call { by_user: true, .. }));
    assert!(matches!(result, EventKind::Result { failed: Some(false), .. }));
    assert!(matches!(own, EventKind::Call { by_user: false, .. }));
    assert!(matches!(failed, EventKind::Result { failed: Some(true), .. }));
    assert!(matches!(empty, EventKind::Result { .. }));
}

#[test]
fn tokens_and_cost_are_those_of_the_agent() {
    let run = simulation(SIMULATION);
    assert_eq!(run.tokens.unwrap().total, Some(7));
    assert_eq!((run.cost, run.seconds, run.repeat), (Some(0.1), Some(1.5), Repeat::Stated(2)));
    let verdicts: Vec<_> = run.verdicts.iter().map(|one| (one.name.as_str(), one.passed)).collect();
    assert_eq!(verdicts, [("reward", Some(true)), ("reward/DB", None)]);
}

#[test]
fn the_reason_of_the_end_decides_the_state() {
    for (reason, end, error) in [
        ("\"agent_stop\"", RunEnd::Complete, None),
        ("\"max_steps\"", RunEnd::Limit, None),
        ("\"timeout\"", RunEnd::Limit, None),
        ("\"context_window_exceeded\"", RunEnd::Limit, None),
        ("\"too_many_errors\"", RunEnd::Error, Some("too_many_errors")),
        ("null", RunEnd::Unfinished, None),
    ] {
        let run = simulation(&format!(r#"{{"termination_reason":{reason},"reward_info":null}}"#));
        assert_eq!(
            (run.end, run.error.as_deref(), run.verdicts.len()),
            (end, error, 0),
            "{reason}"
        );
    }
    let text = r#"{"termination_reason":"infrastructure_error","info":{"error":"late"}}"#;
    assert_eq!(simulation(text).error.as_deref(), Some("late"));
}

#[test]
fn ticks_of_voice_runs_are_noted() {
    let run = simulation(r#"{"messages":null,"ticks":[{},{}]}"#);
    assert!(run.notes.iter().any(|note| note.contains("2 ticks")));
}

fn names(file: &dyn ImportedFile) -> Vec<String> {
    (0..file.len()).filter_map(|at| file.member(at)).collect()
}

#[test]
fn simulations_are_read_from_the_file_or_from_the_folder_beside_it() {
    let own = format!("{{{INFO},\"simulations\":[{SIMULATION}]}}").into_bytes();
    let file =
        Tau2Bench.open(Input { path: "run/results.json", source: &own, folder: &Sims }).unwrap();
    assert_eq!(names(&*file), ["s1"]);
    let run = file.read(0).unwrap();
    assert_eq!((run.task.as_deref(), run.system.as_deref()), (Some("shop/7"), Some("agent")));
    assert_eq!(run.events[0].kind, EventKind::System("be kind".to_owned()));
    assert!(run.facts.iter().any(|(name, _)| name == "user scenario"));
    let folder = format!("{{{INFO},\"simulation_index\":null}}").into_bytes();
    let input = Input { path: "run/results.json", source: &folder, folder: &Sims };
    let file = Tau2Bench.open(input).unwrap();
    assert_eq!(names(&*file), ["gone", "s1"]);
    assert!(file.read(0).is_err());
    assert_eq!(file.read(1).unwrap().task.as_deref(), Some("shop/7"));
    let alone =
        Tau2Bench.open(Input { path: "r.json", source: &folder, folder: &NoFolder }).unwrap();
    assert!(alone.is_empty() && alone.file_error().is_none());
}

#[test]
fn files_of_both_versions_are_detected() {
    let detect = |format: &dyn Format, text: &str| {
        format.detect("a.json", &[], Head::read(text.as_bytes()).as_ref())
    };
    assert_eq!(detect(&Tau2Bench, &format!("{{{INFO}")), Some(Detected::Runs));
    assert!(matches!(detect(&Tau2Bench, SIMULATION), Some(Detected::NoRun(_))));
    assert_eq!(detect(&Tau2Bench, r#"{"info":{"max_steps":1}}"#), None);
    assert_eq!(detect(&TauBench, LIST), Some(Detected::Runs));
    assert_eq!(
        detect(&TauBench, r#"[{"task_id":1,"reward":0,"info":{"a": "cut"#),
        Some(Detected::Runs)
    );
    assert_eq!(detect(&TauBench, r#"{"task_id":1,"reward":0,"info":{}}"#), None);
    let id = "14b92fe4-38e8-46a8-a36d-68ded221a809";
    let owner = |path: &str| Tau2Bench.owner(path, &NoFolder);
    assert_eq!(owner(&format!("a/simulations/{id}.json")).as_deref(), Some("a/results.json"));
    assert_eq!(owner(&format!("simulations/{id}.json")).as_deref(), Some("results.json"));
    assert_eq!(
        (owner("a/simulations/run.json"), owner(&format!("asimulations/{id}.json"))),
        (None, None)
    );
}

const LIST: &str = r#"[{"task_id":1,"reward":1.0,"info":{"task":{"instruction":"i",
   "actions":[{"name":"a"}]},"user_cost":0.1},"traj":[{"role":"user","content":"u"},
    {"role":"assistant","content":"a","tool_calls":[{"id":"c","function":{"name":"f",
    "arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","name":"f","content":"r"}],
    "trial":0},
    {"task_id":1,"reward":0.0,"info":{"error":"broken","traceback":"t"},"traj":[],"trial":0}]"#;

#[test]
fn runs_of_the_first_version_are_items_of_a_list() {
    let bytes = LIST.as_bytes().to_vec();
    let file = TauBench.open(Input { path: "a.json", source: &bytes, folder: &NoFolder }).unwrap();
    assert_eq!(names(&*file), ["task 1 trial 0", "task 1 trial 0 (2)"]);
    let run = file.read(0).unwrap();
    assert_eq!(run.events[0].kind, EventKind::SimulatedUser("u".to_owned()));
    assert!(matches!(run.events[2].kind, EventKind::Call { by_user: false, .. }));
    assert_eq!((run.verdicts[0].passed, run.answer.as_deref()), (Some(true), Some("a")));
    let error =
        read_run(&json::read(r#"{"reward":0.0,"info":{"error":"broken"},"trial":2}"#).unwrap());
    assert_eq!((error.end, error.error.as_deref()), (RunEnd::Error, Some("broken")));
    assert_eq!((error.repeat, error.verdicts[0].passed), (Repeat::Stated(3), Some(false)));
}

proptest! {
    #[test]
    fn no_change_of_a_file_brings_a_reader_to_a_stop(at in 0_usize..3_000, byte in any::<u8>()) {
        let results = format!("{{{INFO},\"simulations\":[{SIMULATION}]}}");
        for (format, text) in [(&Tau2Bench as &dyn Format, &*results), (&TauBench, LIST)] {
            let mut bytes = text.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            for bytes in [&bytes, &bytes[..at].to_vec()] {
                let input = Input { path: "a.json", source: bytes, folder: &NoFolder };
                let Ok(file) = format.open(input) else { continue };
                for at in 0..file.len() {
                    let _ = (file.member(at), file.read(at));
                }
            }
        }
    }
}
