//! Runs that are written in formats of other tools and read again: they are the same, except for
//! the losses that `docs/reference/convert.md` lists.
use crate::disk::{Disk, golden_root, list_files};
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::Path;
use touchstone_formats::redact::DocumentRedactor;
use touchstone_formats::stabletoolbench::answers::raw;
use touchstone_formats::{timestamps, transcript};
use touchstone_imports::convert::to_run;
use touchstone_imports::export::{
    About, ExportRun, Target, atif, file_stem, from_run, inspect, openai, tool_definitions,
};
use touchstone_imports::format::HEAD_BYTES;
use touchstone_imports::registry::{by_name, open};
use touchstone_imports::text::{canonical_json, is_blank};
use touchstone_imports::{
    Detected, Event, EventKind, ImportedRun, ImportedVerdict, Input, Media, NoFolder, Repeat,
    RunEnd, detect,
};
use touchstone_model::json;
use touchstone_model::run::{Run, StepKind};
use touchstone_model::value::Value;

/// Reads all runs below a folder, each with the name of its format.
fn read_all(root: &Path) -> Vec<(&'static str, ExportRun)> {
    let (mut paths, mut runs) = (Vec::new(), Vec::new());
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
        let input = Input { path: &path, source: &bytes, folder: &disk };
        let Ok(file) = open(format, input) else { continue };
        for at in 0..file.len() {
            let Ok(run) = file.read(at) else { continue };
            let repeat = match run.repeat {
                Repeat::Stated(number) | Repeat::Number(number) => number,
                Repeat::Ordered { .. } => 1,
            };
            let name = format!("{path}#{}", file.member(at).unwrap_or_default());
            runs.push((format.name(), ExportRun { name, repeat, run, ..ExportRun::default() }));
        }
    }
    runs
}

pub(crate) fn about() -> About {
    About { version: "Touchstone 0".to_owned(), created: "2026-01-02T03:04:05Z".to_owned() }
}

/// Reads the only run of a text.
fn read_back(text: &str, format: &str) -> ImportedRun {
    let bytes = text.as_bytes().to_vec();
    let (found, _) = detect("exported.json", &bytes[..bytes.len().min(HEAD_BYTES)]).unwrap();
    assert_eq!(found.name(), format);
    let input = Input { path: "exported.json", source: &bytes, folder: &NoFolder };
    let file = open(by_name(format).unwrap(), input).unwrap();
    assert_eq!((file.len(), file.file_error()), (1, None));
    file.read(0).unwrap()
}

/// Writes runs with the same task, system and model as a log of Inspect.
pub(crate) fn inspect_log(runs: &[ExportRun]) -> String {
    let mut log = inspect::Log::new(&runs[0]);
    let mut samples = String::new();
    for one in runs {
        assert_eq!(
            inspect::LogKey::from_run(one),
            inspect::LogKey::from_run(&runs[0]),
            "{}",
            one.name
        );
        samples.push_str(&log.add(one));
    }
    format!("{}{samples}{}", log.start(&about()), inspect::Log::END)
}

/// Returns the steps of a run by depth and kind, as far as all formats keep them.
fn steps(run: ImportedRun) -> BTreeMap<String, Vec<String>> {
    let run: Run = to_run(run, "any");
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in &run.steps {
        let mut add = |kind: &str, text: String| {
            if !is_blank(&text) {
                kinds.entry(format!("{} {kind}", step.depth)).or_default().push(text);
            }
        };
        let title = step.title.as_deref().unwrap_or_default();
        for part in &step.parts {
            let text = match &part.value {
                Value::Text(text) => text.clone(),
                other => canonical_json(other),
            };
            match (step.kind, part.label.as_str()) {
                (_, "thinking" | "media") => add(&part.label, text),
                (StepKind::ToolCall, label) => add("call", format!("{title} {label} {text}")),
                (StepKind::SubAgent, _) => add("agent", title.to_owned()),
                (StepKind::Abandoned, _) => add("abandoned", "branch".to_owned()),
                (StepKind::Note, "result" | "error") => add("result", text),
                (kind, _) => add(&format!("{kind:?} {title}"), text),
            }
        }
        if step.kind == StepKind::ToolCall {
            add("calls", format!("{title} {:?}", step.failed));
        }
    }
    // Blocks of reasoning of one message may become one.
    for (key, texts) in &mut kinds {
        if key.ends_with("thinking") {
            *texts = vec![texts.join("\n\n")];
        }
    }
    kinds
}

/// Returns everything but the steps, in the form in which it must stay.
fn summary(run: &ImportedRun) -> BTreeMap<&'static str, String> {
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        other => canonical_json(other),
    };
    let mut verdicts: Vec<String> = run
        .verdicts
        .iter()
        .map(|one| {
            let reason = one.reason.clone().unwrap_or_default();
            format!(
                "{} {} {:?} {reason} {:?}",
                one.name,
                text(&one.value),
                one.passed,
                one.threshold
            )
        })
        .collect();
    verdicts.sort();
    BTreeMap::from([
        ("task", format!("{:?}", run.task)),
        ("system", format!("{:?}", run.system)),
        ("model", format!("{:?}", run.model)),
        ("end", format!("{:?} {:?}", run.end, run.error)),
        ("answer", format!("{:?}", run.answer)),
        ("expected", format!("{:?}", run.expected.as_ref().map(text))),
        ("verdicts", verdicts.join("\n")),
        ("tokens", format!("{:?}", run.tokens)),
        ("cost", format!("{:?}", run.cost)),
        ("seconds", format!("{:?}", run.seconds)),
        ("started", format!("{:?}", run.started.as_deref().map(timestamps::seconds))),
    ])
}

fn differences(one: &ExportRun, read: &ImportedRun, wrong: &mut Vec<String>) {
    let (before, after) = (summary(&one.run), summary(read));
    for (key, value) in &before {
        if after[key] != *value {
            wrong.push(format!("{} {key}:\n    {value}\n    {}", one.name, after[key]));
        }
    }
    let (before, after) = (steps(one.run.clone()), steps(read.clone()));
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    let short =
        |texts: Option<&Vec<String>>| format!("{texts:?}").chars().take(600).collect::<String>();
    for key in keys {
        if before.get(key) != after.get(key) {
            let (before, after) = (short(before.get(key)), short(after.get(key)));
            wrong.push(format!("{} {key}:\n    {before}\n    {after}", one.name));
        }
    }
    let repeat = match read.repeat {
        Repeat::Stated(number) | Repeat::Number(number) => number,
        Repeat::Ordered { .. } => 0,
    };
    assert_eq!(repeat, one.repeat, "{}", one.name);
}

fn check(runs: &[(&'static str, ExportRun)], target: Target) -> BTreeMap<&'static str, u32> {
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    for (format, one) in runs {
        *counts.entry(*format).or_default() += 1;
        match target {
            Target::Atif => {
                differences(one, &read_back(&atif::write(one), "harbor"), &mut wrong);
            }
            Target::Inspect => {
                let log = inspect_log(std::slice::from_ref(one));
                differences(one, &read_back(&log, "inspect"), &mut wrong);
            }
            Target::OpenAi => {
                let chat = openai::write(one, true);
                // Without a message there is no chat.
                if chat.starts_with("{\"messages\":[{") {
                    differences(one, &read_back(&chat, "messages"), &mut wrong);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    counts
}

pub(crate) fn fixtures() -> Vec<(&'static str, ExportRun)> {
    let runs = read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"));
    assert!(runs.len() >= 19, "{} runs", runs.len());
    runs
}

pub(crate) fn golden() -> Vec<(&'static str, ExportRun)> {
    golden_root().map(|root| read_all(&root.join("files"))).unwrap_or_default()
}

/// Returns the runs of this program's own layouts, and of raw answers of `StableToolBench`.
fn own_runs() -> Vec<(&'static str, ExportRun)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut runs = Vec::new();
    let (mut transcripts, mut answers) = (Vec::new(), Vec::new());
    list_files(&fixtures.join("transcripts"), "transcripts/", &mut transcripts);
    list_files(&fixtures.join("stabletoolbench/answers"), "stabletoolbench/answers/", &mut answers);
    for (paths, format) in [(transcripts, "own"), (answers, "answer")] {
        for path in paths {
            let bytes = fs::read(fixtures.join(&path)).unwrap();
            let run = match format {
                "own" => transcript::read(&bytes).unwrap(),
                _ => match raw::read(&bytes) {
                    Ok(run) => run,
                    Err(_) => continue,
                },
            };
            let mut one = ExportRun { name: path, repeat: 2, ..ExportRun::default() };
            one.run = from_run(&run);
            one.tools = tool_definitions(&run);
            one.run.repeat = Repeat::Number(2);
            one.run.task = Some("sales".to_owned());
            runs.push((format, one));
        }
    }
    assert!(runs.len() >= 6, "{} runs", runs.len());
    runs
}

#[test]
fn a_run_of_this_program_is_the_same_after_it_was_written_in_any_format() {
    for target in [Target::Atif, Target::Inspect, Target::OpenAi] {
        println!("own: {:?}", check(&own_runs(), target));
    }
}

#[test]
fn a_run_without_an_answer_has_none_after_it_was_written() {
    let mut one = ExportRun { name: "a.yaml".to_owned(), repeat: 1, ..ExportRun::default() };
    one.run.push(EventKind::User("Go on".to_owned()));
    one.run.push(EventKind::Assistant("I stop here.".to_owned()));
    one.run.end = RunEnd::Error;
    one.run.error = Some("The server is gone.".to_owned());
    for (text, format) in
        [(atif::write(&one), "harbor"), (inspect_log(std::slice::from_ref(&one)), "inspect")]
    {
        let read = read_back(&text, format);
        assert_eq!(read.answer, None, "{format}");
        assert_eq!((read.end, read.error.as_deref()), (RunEnd::Error, Some("The server is gone.")));
    }
}

#[test]
fn nothing_that_looks_like_a_secret_is_left_in_a_redacted_run() {
    let secrets =
        ["sk-proj-0123456789abcdefXYZ", "jane@mail.example.org", "jane-doe", "q9Zk2LmW81xYtB"];
    let text = format!("{} {} /home/{}/x", secrets[0], secrets[1], secrets[2]);
    let said = || text.clone();
    let mut one = ExportRun { name: said(), repeat: 1, ..ExportRun::default() };
    let run = &mut one.run;
    (run.task, run.answer, run.error) = (Some(said()), Some(said()), Some(said()));
    (run.end, run.expected) = (RunEnd::Error, Some(Value::Text(said())));
    run.started = Some(said());
    run.facts.push(("cwd".to_owned(), Value::Text(said())));
    run.facts.push((said(), Value::Bool(true)));
    run.facts.push((said(), Value::Bool(false)));
    run.facts.push(("api_key".to_owned(), Value::from("q9Zk2LmW81xYtB")));
    run.notes.push(said());
    run.verdicts.push(ImportedVerdict {
        name: said(),
        value: Value::Text(said()),
        passed: None,
        reason: Some(said()),
        threshold: Some(Value::Text(said())),
    });
    let map = || Value::Map(vec![(Value::from("path"), Value::Text(said()))]);
    let call =
        || EventKind::Call { id: Some(said()), name: said(), arguments: map(), by_user: false };
    let result = || EventKind::Result {
        id: Some(said()),
        name: Some(said()),
        value: Value::List(vec![map()]),
        failed: Some(true),
    };
    let texts: [fn(String) -> EventKind; 9] = [
        EventKind::System,
        EventKind::User,
        EventKind::SimulatedUser,
        EventKind::Assistant,
        EventKind::Reasoning,
        EventKind::Compaction,
        EventKind::Error,
        EventKind::Note,
        |text| EventKind::Media(Media::described(text)),
    ];
    let level = || texts.iter().map(|kind| kind(said())).chain([call(), result()]).map(Event::from);
    let inner: Vec<Event> = level().collect();
    run.events = level().collect();
    run.push(EventKind::Abandoned(inner.clone()));
    run.push(EventKind::SubAgent { name: said(), call: Some(said()), events: inner });
    let redact = |one: &mut ExportRun| {
        let mut redactor = DocumentRedactor::default();
        one.redact(&mut redactor);
        redactor.counts()
    };
    let counts = redact(&mut one);
    assert!(counts.keys > 30 && counts.emails == counts.paths);
    assert_eq!(counts.keys, counts.emails + 1, "the key that only its name tells");
    let facts: Vec<&str> = one.run.facts.iter().map(|(key, _)| key.as_str()).collect();
    let place = "[redacted] /home/[redacted]/x";
    let (first, second) = (format!("[redacted] {place}"), format!("[redacted 2] {place}"));
    assert_eq!(facts, ["cwd", &first, &second, "api_key"]);
    assert_eq!(redact(&mut one).total(), 0);
    for written in
        [atif::write(&one), openai::write(&one, true), inspect_log(std::slice::from_ref(&one))]
    {
        for secret in secrets {
            assert!(!written.contains(secret), "{secret} in {written}");
        }
    }
}

#[test]
fn the_file_of_a_redacted_run_does_not_name_the_user() {
    let name = "projects/-home-jane-x/1.jsonl".to_owned();
    let mut one = ExportRun { name, repeat: 1, ..ExportRun::default() };
    one.redact(&mut DocumentRedactor::default());
    assert_eq!(file_stem(&one.name), "projects_-home-_redacted__1.jsonl");
}

#[test]
fn runs_of_a_task_become_samples_of_one_log_with_different_epochs() {
    let one = |task: &str, repeat| {
        let mut one = ExportRun { name: format!("{task}{repeat}"), repeat, ..ExportRun::default() };
        one.run.task = Some(task.to_owned());
        one
    };
    let runs = [one("sums/a", 1), one("sums/a", 1), one("sums/b", 1), one("sums/a", 2)];
    let text = inspect_log(&runs);
    let log = json::read(&text).unwrap();
    assert_eq!(json::write(&log, true) + "\n", text, "it is written as one document");
    assert_eq!(log.at_path(&["eval", "config", "epochs"]).and_then(Value::whole_number), Some(3));
    let samples = log.get("samples").unwrap().items().iter();
    let names: Vec<(&str, u64)> = samples
        .map(|sample| {
            let epoch = sample.get("epoch").and_then(Value::whole_number).unwrap();
            (sample.text_at("id").unwrap(), epoch)
        })
        .collect();
    assert_eq!(names, [("a", 1), ("a", 2), ("b", 1), ("a", 3)]);
}

#[test]
fn a_run_is_the_same_after_it_was_written_as_a_trajectory() {
    check(&fixtures(), Target::Atif);
    println!("golden: {:?}", check(&golden(), Target::Atif));
}

#[test]
fn a_run_is_the_same_after_it_was_written_as_a_log_of_inspect() {
    check(&fixtures(), Target::Inspect);
    println!("golden: {:?}", check(&golden(), Target::Inspect));
}

#[test]
fn a_chat_has_all_messages_calls_and_results_of_a_run() {
    check(&fixtures(), Target::OpenAi);
    println!("golden: {:?}", check(&golden(), Target::OpenAi));
}
