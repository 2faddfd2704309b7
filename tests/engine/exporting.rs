//! Runs written in formats of other tools, and redaction, by default where sessions of coding agents
//! are among the runs.
use crate::bench::Bench;
use touchstone_api::{ExportFormat, ExportRequest, ReportFormat, ReportRequest, RunState};
use touchstone_app::error::AppError;
use touchstone_app::reports::exporting::ExportOptions;

const SUITE: &str = "\
tool_calling_prompt: How many plans?
variations:
- parameters: {}
  expected_output: [{n: 2}]
";
const SESSION: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/claude_code/session.jsonl");
const PROMPTFOO: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/promptfoo/results.json");
/// Name of a user that is in a home folder.
const SECRET: &str = "jane-doe";

/// Returns the session with a home folder in its first message.
fn session() -> String {
    let text = SESSION.replace("List the files.", &format!("List the files of /home/{SECRET}/x."));
    assert_ne!(text, SESSION);
    text
}

fn id_of(bench: &Bench, start: &str) -> String {
    let rows = bench.rows().into_iter();
    let mut found = rows.filter(|row| row.state != RunState::Other && row.path.starts_with(start));
    found.next().map_or_else(|| panic!("there is no run {start}"), |row| row.id)
}

/// Returns the runs of a file, sorted by their paths.
fn ids_of(bench: &Bench, file: &str) -> Vec<String> {
    let rows = bench.rows().into_iter().filter(|row| row.path.starts_with(file));
    let mut rows: Vec<_> = rows.map(|row| (row.path, row.id)).collect();
    rows.sort();
    rows.into_iter().map(|(_, id)| id).collect()
}

fn export(bench: &Bench, start: &str, format: ExportFormat, redact: Option<bool>) -> String {
    let request =
        ExportRequest { id: id_of(bench, start), format, redact, include_sensitive: false };
    bench.app().reports().export_run(&request).unwrap().text
}

#[test]
fn a_run_of_a_suite_is_exported_with_its_scores_and_its_expected_answer() {
    let bench = Bench::new()
        .file("tasks/sums.yaml", SUITE)
        .answered("results/sums-tool_calling-m1-variation0.yaml", "Three.")
        .open();
    let text = export(&bench, "sums-", ExportFormat::InspectJson, None);
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sample = &log["samples"][0];
    assert_eq!(sample["target"], "[{\"n\":2}]", "{log}");
    assert_eq!(sample["output"]["completion"], "[{\"n\":3}]");
    let scores = sample["scores"].as_object().unwrap();
    assert!(!scores.is_empty(), "{sample}");
    assert_eq!(scores.values().next().unwrap()["value"], 0, "{scores:?}");
}

#[test]
fn sessions_of_coding_agents_are_redacted_unless_it_is_asked_otherwise() {
    let bench = Bench::new()
        .file("results/s/session.jsonl", session())
        .file("results/results.json", PROMPTFOO)
        .open();
    for format in [ExportFormat::Atif, ExportFormat::OpenAi, ExportFormat::InspectJson] {
        let text = |redact| export(&bench, "s/session.jsonl", format, redact);
        assert!(!text(None).contains(SECRET) && text(None).contains("[redacted]"));
        assert!(text(Some(false)).contains(SECRET));
        let other = export(&bench, "results.json", format, None);
        assert!(!other.contains("[redacted]"));
    }
    let id = id_of(&bench, "s/session.jsonl");
    let request =
        ExportRequest { id, format: ExportFormat::Atif, redact: None, include_sensitive: false };
    let notes = bench.app().reports().export_run(&request).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("home folder")), "{notes:?}");
}

#[test]
fn a_report_on_a_session_is_redacted_unless_it_is_asked_otherwise() {
    let failed =
        session().replace("\"uuid\": \"u4\"", "\"isApiErrorMessage\": true, \"uuid\": \"u4\"");
    let failed = failed.replace("There is one file", &format!("No server for /home/{SECRET}"));
    let bench = Bench::new().file("results/s/session.jsonl", failed).open();
    for format in [ReportFormat::Html, ReportFormat::Json, ReportFormat::Csv, ReportFormat::Azure] {
        let report = |redact| {
            let request = ReportRequest { redact, ..ReportRequest::for_format(format) };
            bench.app().reports().make_report(&request, true).unwrap()
        };
        let (default, off) = (report(None), report(Some(false)));
        assert!(off.text.contains(SECRET) && off.redacted.is_none(), "{format:?} {}", off.text);
        assert!(!default.text.contains(SECRET), "{format:?}");
        let count = default.redacted.unwrap();
        assert!(count > 0);
        let sentence = |note: &String| note.starts_with(&format!("{count} place"));
        assert!(default.notes.iter().any(sentence), "{:?}", default.notes);
    }
}

#[test]
fn runs_of_other_tools_have_the_names_of_the_list() {
    let imports = "imports:\n  tasks: { hello: greet/hi }\n  systems: { say: mine, ask: mine }\n  \
                   files: { second.json: { model: m2 } }\n";
    let other = PROMPTFOO.replace("\"say\"", "\"ask\"").replace("\"r1\"", "\"r2\"");
    let bench = Bench::new()
        .file("touchstone.yaml", format!("output_dir: results\n{imports}"))
        .file("results/first.json", PROMPTFOO)
        .file("results/second.json", other.replace("eval-1", "eval-2"))
        .file("results/third.json", other.replace("eval-1", "eval-3").replace("r2", "r3"))
        .open();
    let ids = ["first", "second", "third"].map(|start| id_of(&bench, start));
    let convert = |format| {
        let options = ExportOptions { format, redact: None, include_sensitive: false, lines: true };
        let mut texts: Vec<serde_json::Value> = Vec::new();
        let done = bench.app().reports().export_runs::<AppError>(&ids, options, &mut |file| {
            let mut bytes = Vec::new();
            file.write::<AppError>(&mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
            texts.push(serde_json::from_slice(&bytes).unwrap());
            Ok(())
        });
        assert_eq!(done.unwrap().runs, 3);
        texts
    };
    let names = |one: &serde_json::Value| {
        ["task", "system", "model"].map(|name| one[name].as_str().unwrap().to_owned())
    };
    let expected = ["echo", "m2", "echo"].map(|model| ["greet/hi", "mine", model]);
    let chats = convert(ExportFormat::OpenAi);
    assert_eq!(chats.iter().map(|one| names(&one["metadata"])).collect::<Vec<_>>(), expected);
    let trajectories = convert(ExportFormat::Atif);
    let summaries = trajectories.iter().map(|one| names(&one["extra"]["touchstone"]));
    assert_eq!(summaries.collect::<Vec<_>>(), expected);
    let logs = convert(ExportFormat::InspectJson);
    let heads = logs.iter().map(|log| {
        let head = ["task", "solver", "model"].map(|name| log["eval"][name].as_str().unwrap());
        (head, log["samples"].as_array().unwrap().len())
    });
    // Files whose systems are one by their new name are one log, and only these.
    assert_eq!(
        heads.collect::<Vec<_>>(),
        [(["greet", "mine", "echo"], 2), (["greet", "mine", "m2"], 1)]
    );
    assert_ne!(logs[0]["eval"]["eval_id"], logs[1]["eval"]["eval_id"]);
}

#[test]
fn a_name_of_a_user_that_a_later_run_gives_away_is_redacted_in_all_runs_of_a_log() {
    let imports = "imports:\n  tasks: { hello: alice }\n  systems: { say: alice }\n";
    let repeat = |number: &str, says: &str| {
        let result = PROMPTFOO.replace("eval-1", &format!("eval-{number}"));
        result.replace("\"r1\"", &format!("\"r{number}\"")).replace("Say hello", says)
    };
    let bench = Bench::new()
        .file("touchstone.yaml", format!("output_dir: results\n{imports}"))
        .file("results/first.json", repeat("1", "Alice asks."))
        .file("results/second.json", repeat("2", "Look into /home/alice/x."))
        .file("results/third.json", repeat("3", "Alice asks again."))
        .open();
    let ids = ["first", "second", "third"].map(|start| id_of(&bench, start));
    let convert = |format| {
        let options =
            ExportOptions { format, redact: Some(true), include_sensitive: false, lines: true };
        let mut files = Vec::new();
        let done = bench.app().reports().export_runs::<AppError>(&ids, options, &mut |file| {
            let (name, mut bytes) = (file.file_name.clone(), Vec::new());
            file.write::<AppError>(&mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
            files.push((name, serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()));
            Ok(())
        });
        assert_eq!(done.unwrap().runs, 3);
        files
    };
    let mut logs = convert(ExportFormat::InspectJson);
    assert_eq!(logs.len(), 1, "{logs:?}");
    let (name, log) = &mut logs[0];
    assert!(!name.contains("alice"), "{name}");
    assert_eq!(log["samples"].as_array().unwrap().len(), 3);
    assert_eq!(log["eval"]["task"], "[redacted]");
    assert_eq!(log["eval"]["solver"], "alice", "the name of a system stays");
    for (name, chat) in convert(ExportFormat::OpenAi) {
        let messages = chat["messages"].to_string();
        assert!(messages.contains("[redacted]"), "{name} {messages}");
        assert!(!messages.to_lowercase().contains("alice"), "{name} {messages}");
    }
}

#[test]
fn a_redacted_report_does_not_name_a_folder_that_is_named_like_a_person() {
    let who = "jane.doe@mail.example.org";
    let bench = Bench::new();
    bench.write(&format!("../{who}/session.jsonl"), session());
    let bench = bench.open_at(who);
    for format in [ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Json] {
        let report = |title: &str, redact| {
            let title = title.to_owned();
            let filter = format!("path:{who},session");
            let request =
                ReportRequest { redact, title, filter, ..ReportRequest::for_format(format) };
            bench.app().reports().make_report(&request, true).unwrap()
        };
        let plain = report("", Some(false));
        assert!(plain.text.contains("jane") && plain.file_name.contains("jane-doe"), "{format:?}");
        let redacted = report("", None);
        assert!(!redacted.text.contains("jane"), "{format:?} {}", redacted.text);
        assert!(redacted.file_name.starts_with("redacted"), "{}", redacted.file_name);
        let typed = report("For Jane", None);
        assert!(typed.text.contains("For Jane") && typed.file_name.contains("For-Jane"));
        assert!(!typed.text.contains("jane"), "{format:?} {}", typed.text);
    }
    let request = ReportRequest::for_format(ReportFormat::Azure);
    let report = bench.app().reports().make_report(&request, true).unwrap();
    assert!(!report.file_name.contains("jane"), "{}", report.file_name);
}

#[test]
fn exports_are_refused_in_the_output_directory_where_they_would_be_read_as_runs() {
    let bench = Bench::new().file("results/results.json", PROMPTFOO).open();
    let inside = bench.path("results/again.json");
    let error = bench.app().reports().keep_export("{}", &inside).unwrap_err();
    assert!(error.message.contains("output directory"), "{}", error.message);
    assert!(!inside.exists());
    let error =
        bench.app().folder().refuse_among_results(&bench.path("gone/../results/new/a.json"));
    assert!(error.is_err(), "a folder that is not there yet is in the output directory, too");
    bench.app().reports().keep_export("{}", &bench.path("again.json")).unwrap();
}

#[test]
fn a_file_is_read_once_for_all_logs_that_its_runs_make() {
    let run = |number: usize| {
        let task = format!("task {}", number % 3);
        format!(
            "{{\"test_id\": \"{task}\", \"timestamp\": \"2026-01-05T09:00:00Z\", \"target\": \"m\", \"score\": 1, \
                 \"execution_status\": \"ok\", \"input\": \"ask {number}\", \"output\": \"say {number}\"}}\n"
        )
    };
    let lines: String = (0..9).map(run).collect();
    let bench = Bench::new().file("results/a.results.jsonl", lines).open();
    let ids = ids_of(&bench, "a.results.jsonl");
    assert_eq!(ids.len(), 9);
    let options = ExportOptions {
        format: ExportFormat::InspectJson,
        redact: None,
        include_sensitive: false,
        lines: true,
    };
    let mut logs = Vec::new();
    let done = bench.app().reports().export_runs::<AppError>(&ids, options, &mut |file| {
        // Whoever opens the file again does not find it.
        let _ = std::fs::remove_file(bench.path("results/a.results.jsonl"));
        let mut bytes = Vec::new();
        file.write::<AppError>(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        logs.push(serde_json::from_slice::<serde_json::Value>(&bytes).unwrap());
        Ok(())
    });
    let done = done.unwrap();
    assert_eq!((done.runs, done.left_out), (9, 0), "{:?}", done.notes);
    let asked = |log: &serde_json::Value| {
        let samples = log["samples"].as_array().unwrap().iter();
        samples.map(|sample| sample["input"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let expected: Vec<Vec<String>> =
        (0..3).map(|task| [0, 3, 6].map(|at| format!("ask {}", task + at)).to_vec()).collect();
    assert_eq!(logs.iter().map(asked).collect::<Vec<_>>(), expected);
}

#[test]
fn a_run_that_cannot_be_read_is_left_out_with_a_note() {
    let bench = Bench::new()
        .file("results/results.json", PROMPTFOO)
        .file("results/sums-tool_calling-m1-variation0.yaml", crate::bench::broken())
        .open();
    let ids = [id_of(&bench, "results.json"), id_of(&bench, "sums-")];
    let options = ExportOptions {
        format: ExportFormat::OpenAi,
        redact: None,
        include_sensitive: false,
        lines: true,
    };
    let mut files = Vec::new();
    let done = bench.app().reports().export_runs::<AppError>(&ids, options, &mut |file| {
        files.push(file);
        Ok(())
    });
    let done = done.unwrap();
    assert_eq!((done.runs, done.left_out, files.len()), (1, 1, 1));
    assert!(done.notes[0].contains("sums-tool_calling-m1-variation0.yaml"), "{:?}", done.notes);
}
