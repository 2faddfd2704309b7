//! Compares every run of the golden result files of other tools with its expectation. Runs when the
//! golden folder is there; `FORMAT=inspect` limits it to one format.
use crate::disk::{Disk, golden_root, list_files};
use fs_err as fs;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use touchstone_formats::timestamps;
use touchstone_imports::format::HEAD_BYTES;
use touchstone_imports::registry::{by_name, open};
use touchstone_imports::text::{arguments, canonical_json, is_blank};
use touchstone_imports::{Detected, EventKind, ImportedRun, Input, Repeat, RunEnd, detect};
use touchstone_model::json as own_json;
use touchstone_model::value::Value;

struct Opened {
    format: &'static str,
    path: String,
    member: Option<String>,
    run: ImportedRun,
    repeat: u32,
    superseded_by: Option<String>,
}

/// Opens all runs below a folder, as a results folder is opened.
fn open_all(root: &Path) -> (Vec<Opened>, BTreeMap<String, String>) {
    let (mut opened, mut problems) = (Vec::new(), BTreeMap::new());
    let mut paths = Vec::new();
    list_files(root, "", &mut paths);
    let disk = Disk(root.to_owned());
    for path in paths {
        let bytes = fs::read(root.join(&path)).unwrap();
        let Some((format, kind)) = detect(&path, &bytes[..bytes.len().min(HEAD_BYTES)]) else {
            continue;
        };
        if matches!(kind, Detected::NoRun(_)) {
            continue;
        }
        let file = match open(format, Input { path: &path, source: &bytes, folder: &disk }) {
            Ok(file) => file,
            Err(error) => {
                problems.insert(path.clone(), error.message);
                continue;
            }
        };
        if let Some(error) = file.file_error() {
            problems.insert(path.clone(), error.message);
        }
        for at in 0..file.len() {
            match file.read(at) {
                Ok(run) => opened.push(Opened {
                    format: format.name(),
                    path: path.clone(),
                    member: file.member(at),
                    repeat: 0,
                    superseded_by: None,
                    run,
                }),
                Err(error) => {
                    let name = format!("{path}#{}", file.member(at).unwrap_or_default());
                    problems.insert(name, error.message);
                }
            }
        }
    }
    number_repeats(&mut opened);
    supersede(&mut opened);
    (opened, problems)
}

fn number_repeats(opened: &mut [Opened]) {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, one) in opened.iter_mut().enumerate() {
        match &one.run.repeat {
            Repeat::Stated(number) | Repeat::Number(number) => one.repeat = *number,
            Repeat::Ordered { group, .. } => {
                let run = &one.run;
                let key = (group.clone(), run.task.clone(), run.system.clone(), run.model.clone());
                groups.entry(key).or_default().push(at);
            }
        }
    }
    for mut group in groups.into_values() {
        group.sort_by(|a, b| {
            let start = |at: usize| match &opened[at].run.repeat {
                Repeat::Ordered { start, .. } => start.unwrap_or(f64::INFINITY),
                Repeat::Stated(_) | Repeat::Number(_) => 0.0,
            };
            start(*a).total_cmp(&start(*b)).then_with(|| opened[*a].member.cmp(&opened[*b].member))
        });
        for (number, at) in group.into_iter().enumerate() {
            opened[at].repeat = u32::try_from(number + 1).unwrap();
        }
    }
}

fn supersede(opened: &mut [Opened]) {
    let mut best: HashMap<String, (f64, String)> = HashMap::new();
    for one in opened.iter() {
        let Some(identity) = &one.run.identity else { continue };
        let mine = (identity.rank, one.path.clone());
        let entry = best.entry(identity.key.clone()).or_insert_with(|| mine.clone());
        if mine.0.total_cmp(&entry.0).then_with(|| mine.1.cmp(&entry.1)).is_gt() {
            *entry = mine;
        }
    }
    for one in opened.iter_mut() {
        let identity = one.run.identity.as_ref();
        let winner = identity.and_then(|identity| best.get(&identity.key));
        one.superseded_by = winner.map(|(_, path)| path.clone()).filter(|path| *path != one.path);
    }
}

fn text_json(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        value => {
            serde_json::from_str(&own_json::write(value, false)).unwrap_or_else(|_| json!("NaN"))
        }
    }
}

fn hash(text: &str) -> String {
    use std::fmt::Write as _;
    let mut hex = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}

/// Returns a run in the form of a line of the expectations.
fn actual(one: &Opened) -> Json {
    let run = &one.run;
    let mut counts: BTreeMap<&str, u32> =
        ["user", "assistant", "tool_calls", "tool_results", "reasoning"].map(|key| (key, 0)).into();
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    // The expectations count the records of Claude Code in the order of the file, whether the user
    // went back behind them later or not.
    let is_flat = one.format == "claude_code";
    let events = run.events.iter().flat_map(|event| match &event.kind {
        EventKind::Abandoned(events) if is_flat => events.as_slice(),
        _ => std::slice::from_ref(event),
    });
    for event in events {
        let mut count = |key: &'static str| *counts.entry(key).or_default() += 1;
        match &event.kind {
            EventKind::User(text) | EventKind::SimulatedUser(text) if !is_blank(text) => {
                count("user");
                texts.push(text.as_str());
            }
            EventKind::Assistant(text) if !is_blank(text) => {
                count("assistant");
                texts.push(text.as_str());
            }
            EventKind::Reasoning(text) if !is_blank(text) => count("reasoning"),
            EventKind::Call { name, arguments: given, .. } => {
                count("tool_calls");
                let given = canonical_json(&arguments(Some(given)));
                calls.push(json!({"name": name, "arguments_sha256": hash(&given)}));
            }
            EventKind::Result { .. } => count("tool_results"),
            _ => {}
        }
    }
    let verdicts = run.verdicts.iter().map(|verdict| {
        let reason: Option<String> = verdict.reason.as_ref().map(|text| text.chars().take(80).collect());
        json!({"name": verdict.name, "value": text_json(&verdict.value), "passed": verdict.passed, "reason": reason})
    });
    let state = match run.end {
        RunEnd::Complete => "complete",
        RunEnd::Error => "error",
        RunEnd::Limit => "limit",
        RunEnd::Unfinished => "unfinished",
    };
    let first_line =
        |text: &String| text.trim().lines().next().unwrap_or_default().trim().to_owned();
    json!({
        "task": run.task, "system": run.system, "model": run.model, "repeat": one.repeat,
        "state": state, "error": run.error.as_ref().map(first_line), "steps": counts,
        "text_sha256": hash(&texts.join("\n")), "tool_calls": calls, "answer": run.answer,
        "expected": run.expected.as_ref().map(text_json), "verdicts": verdicts.collect::<Vec<_>>(),
        "tokens": run.tokens.map(|tokens| json!({"input": tokens.input, "output": tokens.output, "total": tokens.total})),
        "cost": run.cost, "seconds": run.seconds, "started": run.started,
        "superseded_by": one.superseded_by,
    })
}

fn is_close(a: &Json, b: &Json, within: f64) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= within * a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
                || (a - b).abs() <= within * 1e-3
        }
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_close(a, b, within))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_close(a, b, within)))
        }
        _ => a == b,
    }
}

fn is_equal(key: &str, expected: &Json, actual: &Json) -> bool {
    match (key, expected, actual) {
        ("started", Json::String(a), Json::String(b)) => {
            match (timestamps::seconds(a), timestamps::seconds(b)) {
                (Some(a), Some(b)) => (a - b).abs() <= 2e-6,
                _ => a == b,
            }
        }
        ("started", Json::Number(a), Json::String(b)) => {
            timestamps::seconds(&a.to_string()) == timestamps::seconds(b)
        }
        ("seconds", Json::Number(a), Json::Number(b)) => {
            (a.as_f64().unwrap() - b.as_f64().unwrap()).abs()
                <= 1e-6_f64.max(1e-9 * a.as_f64().unwrap().abs())
        }
        _ => is_close(expected, actual, 1e-9),
    }
}

#[test]
fn every_golden_run_of_another_tool_is_read_as_expected() {
    let Some(golden) = golden_root() else {
        println!("0 cases: the golden folder is not there");
        return;
    };
    let only = std::env::var("FORMAT").ok();
    let (opened, problems) = open_all(&golden.join("files"));
    let mut found: HashMap<(String, Option<String>), &Opened> = HashMap::new();
    for one in &opened {
        // A trial is named by its folder.
        let file = match one.path.strip_suffix("/config.json") {
            Some(folder) if one.format == "harbor" => folder.to_owned(),
            _ => one.path.clone(),
        };
        assert!(
            found.insert((file, one.member.clone()), one).is_none(),
            "{} twice: {:?}",
            one.path,
            one.member
        );
    }
    let (mut cases, mut wrong, mut expected_keys) =
        (BTreeMap::<String, u32>::new(), Vec::new(), BTreeSet::new());
    let mut unread = BTreeSet::new();
    for line in fs::read_to_string(golden.join("expected.jsonl")).unwrap().lines() {
        let expected: Json = serde_json::from_str(line).unwrap();
        let format = expected["format"].as_str().unwrap();
        let key = (
            expected["file"].as_str().unwrap().to_owned(),
            expected["member"].as_str().map(str::to_owned),
        );
        expected_keys.insert(key.clone());
        if only.as_ref().is_some_and(|only| only != format) {
            continue;
        }
        if by_name(format).is_none() {
            unread.insert(format.to_owned());
            continue;
        }
        *cases.entry(format.to_owned()).or_default() += 1;
        let Some(one) = found.get(&key) else {
            wrong.push(format!("{key:?}: not found"));
            continue;
        };
        let actual = actual(one);
        for (name, value) in actual.as_object().unwrap() {
            let mut wanted = expected[name].clone();
            if name == "superseded_by"
                && let Some(file) = wanted.as_str()
            {
                wanted = json!(file);
            }
            if !is_equal(name, &wanted, value) {
                wrong.push(format!("{key:?} {name}:\n    expected {wanted}\n    read     {value}"));
            }
        }
    }
    let belongs =
        |file: &str| only.as_ref().is_none_or(|only| file.starts_with(&format!("{only}/")));
    for ((file, member), _) in found.iter().filter(|(key, _)| !expected_keys.contains(*key)) {
        if belongs(file) {
            wrong.push(format!("{file}#{member:?}: no run is expected"));
        }
    }
    let no_runs = fs::read_to_string(golden.join("not_runs.txt")).unwrap();
    let no_runs: BTreeSet<&str> =
        no_runs.lines().filter_map(|line| line.split('\t').next()).collect();
    for (file, message) in &problems {
        let path = file.split('#').next().unwrap_or_default();
        if belongs(path) {
            let kind = if no_runs.contains(path) { "is no run, and" } else { "" };
            wrong.push(format!("{file}: {kind} could not be read: {message}"));
        }
    }
    println!(
        "{} cases: {cases:?}; formats without a reader: {unread:?}",
        cases.values().sum::<u32>()
    );
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
