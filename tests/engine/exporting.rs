//! Runs written in formats of other tools, and redaction, by default where sessions of coding agents
//! are among the runs.
use crate::bench::Bench;
use touchstone_api::{ExportFormat, ExportRequest, ReportFormat, ReportRequest, RunState};
use touchstone_app::app::exporting::ExportOptions;

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

fn export(bench: &Bench, start: &str, format: ExportFormat, redact: Option<bool>) -> String {
    let request = ExportRequest { id: id_of(bench, start), format, redact };
    bench.app().export_run(&request).unwrap().text
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
    let request = ExportRequest { id, format: ExportFormat::Atif, redact: None };
    let notes = bench.app().export_run(&request).unwrap().notes;
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
            bench.app().make_report(&request, true).unwrap()
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
fn exports_are_refused_in_the_output_directory_where_they_would_be_read_as_runs() {
    let bench = Bench::new().file("results/results.json", PROMPTFOO).open();
    let inside = bench.path("results/again.json");
    let error = bench.app().keep_export("{}", &inside).unwrap_err();
    assert!(error.message.contains("output directory"), "{}", error.message);
    assert!(!inside.exists());
    bench.app().keep_export("{}", &bench.path("again.json")).unwrap();
}

#[test]
fn a_run_that_cannot_be_read_is_left_out_with_a_note() {
    let bench = Bench::new()
        .file("results/results.json", PROMPTFOO)
        .file("results/sums-tool_calling-m1-variation0.yaml", crate::bench::broken())
        .open();
    let ids = [id_of(&bench, "results.json"), id_of(&bench, "sums-")];
    let options = ExportOptions { format: ExportFormat::OpenAi, redact: None, lines: true };
    let mut files = Vec::new();
    let done = bench.app().export_runs(&ids, options, &mut |file| {
        files.push(file);
        Ok(())
    });
    let done = done.unwrap();
    assert_eq!((done.runs, done.left_out, files.len()), (1, 1, 1));
    assert!(done.notes[0].contains("sums-tool_calling-m1-variation0.yaml"), "{:?}", done.notes);
}
