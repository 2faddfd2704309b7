//! Exported runs, read by the packages that own the formats: `inspect_ai` and `harbor`. The tests run
//! where a Python has the package, and otherwise say that they did not run; with
//! `TOUCHSTONE_REQUIRE_EXPORT_PEERS` they fail then. `TOUCHSTONE_INSPECT_PYTHON` and
//! `TOUCHSTONE_HARBOR_PYTHON` name the Pythons to ask.
use crate::exported::{fixtures, golden, inspect_log};
use fs_err as fs;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_imports::export::{ExportRun, atif};
use touchstone_imports::text::{is_blank, text_or_json};
use touchstone_imports::{Event, EventKind, RunEnd};

/// Exit status of the script if the package is missing.
const MISSING: i32 = 3;

/// Folder that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Has the package read a text for each run. Returns `None` if no Python has it.
fn ask(
    kind: &str,
    python: &str,
    runs: &[(&'static str, ExportRun)],
    write: impl Fn(&ExportRun) -> String,
) -> Option<Vec<Json>> {
    let name = format!("touchstone-{kind}-{}", std::process::id());
    let scratch = Scratch(std::env::temp_dir().join(name));
    fs::create_dir_all(&scratch.0).unwrap();
    for (at, (_, run)) in runs.iter().enumerate() {
        fs::write(scratch.0.join(format!("{at:05}.json")), write(run)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/export-peer.py");
    let python = std::env::var(python).unwrap_or_else(|_| "python3".to_owned());
    let ran = Command::new(&python).arg(script).arg(kind).arg(&scratch.0).output();
    let why = match &ran {
        Ok(ran) if ran.status.success() => {
            let out = std::str::from_utf8(&ran.stdout).unwrap();
            let lines: Vec<Json> =
                out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.len(), runs.len());
            return Some(lines);
        }
        Ok(ran) => {
            let why = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(MISSING), "{why}");
            why.into_owned()
        }
        Err(error) => error.to_string(),
    };
    println!("did not run: {why}");
    assert!(std::env::var_os("TOUCHSTONE_REQUIRE_EXPORT_PEERS").is_none(), "{why}");
    None
}

fn all() -> Vec<(&'static str, ExportRun)> {
    fixtures().into_iter().chain(golden()).collect()
}

/// Returns the texts of the user and the model, the names of the model's calls, and the number of
/// results of all calls.
fn content(events: &[Event]) -> (Vec<&str>, Vec<&str>) {
    let texts = events.iter().filter_map(|event| match &event.kind {
        EventKind::User(text) | EventKind::SimulatedUser(text) | EventKind::Assistant(text) => {
            Some(text.as_str()).filter(|text| !is_blank(text))
        }
        _ => None,
    });
    let calls = events.iter().filter_map(|event| match &event.kind {
        EventKind::Call { name, by_user: false, .. } => Some(name.as_str()),
        _ => None,
    });
    (texts.collect(), calls.collect())
}

/// Returns the texts in a list that are not blank.
fn texts(list: &Json) -> Vec<&str> {
    let all = list.as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    all.filter(|text| !is_blank(text)).collect()
}

#[test]
fn inspect_reads_its_logs() {
    let runs = all();
    let write = |one: &ExportRun| inspect_log(std::slice::from_ref(one));
    let Some(read) = ask("inspect", "TOUCHSTONE_INSPECT_PYTHON", &runs, write) else { return };
    let mut wrong = Vec::new();
    for ((_, one), read) in runs.iter().zip(&read) {
        let (said, calls) = content(&one.run.events);
        let [sample] = &read["samples"].as_array().cloned().unwrap_or_default()[..] else {
            wrong.push(format!("{}: {read}", one.name));
            continue;
        };
        let run = &one.run;
        let target = run.expected.as_ref().map_or(json!(""), |expected| match expected.items() {
            [] => json!(text_or_json(expected)),
            items => items.iter().map(text_or_json).collect(),
        });
        let answer = run.answer.clone().unwrap_or_default();
        let verdicts = run.verdicts.iter().filter(|one| {
            one.passed.is_some() || one.value != touchstone_model::value::Value::Null
        });
        let tokens = run.tokens.and_then(|tokens| tokens.total).unwrap_or_default();
        for (name, expected, read) in [
            ("texts", json!(said), json!(texts(&sample["texts"]))),
            ("calls", json!(calls), sample["calls"].clone()),
            ("target", target, sample["target"].clone()),
            ("answer", json!(answer), sample["answer"].clone()),
            ("tokens", json!(tokens), sample["total_tokens"].clone()),
            ("scores", json!(verdicts.count()), json!(sample["scores"].as_array().unwrap().len())),
            ("error", json!(run.end == RunEnd::Error), json!(sample["error"] != Json::Null)),
            ("limit", json!(run.end == RunEnd::Limit), sample["limit"].clone()),
        ] {
            if expected != read {
                wrong.push(format!("{} {name}:\n    {expected}\n    {read}", one.name));
            }
        }
    }
    println!("{} logs were read by inspect_ai", read.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn harbor_validates_trajectories() {
    let runs = all();
    let Some(read) = ask("atif", "TOUCHSTONE_HARBOR_PYTHON", &runs, atif::write) else { return };
    let mut wrong = Vec::new();
    for ((_, one), read) in runs.iter().zip(&read) {
        if read.get("errors").is_some() {
            wrong.push(format!("{}: {read}", one.name));
            continue;
        }
        let (said, calls) = content(&one.run.events);
        let results = one.run.events.iter();
        let results =
            results.filter(|event| matches!(event.kind, EventKind::Result { .. })).count();
        let agents = one.run.events.iter().filter(|event| {
            matches!(event.kind, EventKind::SubAgent { .. } | EventKind::Abandoned(_))
        });
        let input = one.run.tokens.and_then(|tokens| tokens.input);
        for (name, expected, read) in [
            ("texts", json!(said), json!(texts(&read["texts"]))),
            ("calls", json!(calls), read["calls"].clone()),
            ("results", json!(results), read["results"].clone()),
            ("sub-agents", json!(agents.count()), read["sub_agents"].clone()),
            ("tokens", json!(input), read["prompt_tokens"].clone()),
        ] {
            if expected != read {
                wrong.push(format!("{} {name}:\n    {expected}\n    {read}", one.name));
            }
        }
    }
    println!("{} trajectories were validated by harbor", read.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
