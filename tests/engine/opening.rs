//! Tests of opening a run: the content, the size of the reply, and files that have changed.
use crate::bench::{Bench, answered, wait_until};
use std::fmt::Write as _;
use std::time::Duration;
use touchstone_api::{Body, RowRequest, RunState, RunView, Span, StepKind};
use touchstone_app::App;
use touchstone_app::error::Code;
use touchstone_store::limits::Limits;

/// Maximum size of an opened run as JSON.
const MAX_VIEW: usize = 600 << 10;

fn id(bench: &Bench, path: &str) -> String {
    bench.row(path).unwrap_or_else(|| panic!("{path} is listed")).id
}

fn open(bench: &Bench, path: &str) -> RunView {
    bench.app().runs().open_run(&id(bench, path)).unwrap()
}

fn span(offset: u32, limit: u32) -> Span {
    Span { offset, limit }
}

fn read_full_text(app: &App, id: &str, part: &str) -> String {
    let (mut text, mut at) = (String::new(), Some(0));
    while let Some(offset) = at {
        let piece = app.runs().read_text(id, part, offset, 1 << 20).unwrap();
        assert_eq!(piece.offset, offset);
        assert!(piece.text.len() <= 256 << 10);
        text.push_str(&piece.text);
        at = piece.next;
    }
    text
}

const TASK: &str = "tool_calling_prompt: |
  How many plans are there in {data}? Write ```json [{\"n\": 1}] ```.
promptql_prompt: count {data}
expected_tool_calls: [query_plans, query_other]
variations:
  - parameters: { data: the store }
    expected_output: [{ n: 3 }]
  - parameters: { data: all }
    ground_truth_path: gold/all.json
  - parameters: { data: none }
    ground_truth_path: ../../secret.json
";

#[test]
fn a_run_opens_with_its_steps_its_answer_and_its_task() {
    let bench = Bench::new()
        .file("tasks/plans.yaml", TASK)
        .answered("results/plans-tool_calling-o1-variation0.yaml", "Three.")
        .open();
    let view = open(&bench, "plans-tool_calling-o1-variation0.yaml");
    let kinds: Vec<StepKind> = view.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::User, StepKind::ToolCall, StepKind::Assistant]);
    assert_eq!((view.total_steps, view.notes.len(), view.row.state), (3, 0, RunState::Answered));
    assert_eq!(view.layout, "Tool-calling transcript");
    assert!(matches!(view.answer.as_ref().unwrap().part.body, Body::Table { total: 1, .. }));
    assert!(
        view.steps[1].parts.iter().any(|part| matches!(part.body, Body::Table { total: 1, .. }))
    );
    assert_eq!(view.files[0].path, "results/plans-tool_calling-o1-variation0.yaml");
    assert_eq!(view.row.missing_calls, ["query_other"]);
    let task = view.task.unwrap();
    assert_eq!((task.id.as_str(), task.file.as_str()), ("plans", "tasks/plans.yaml"));
    assert_eq!(task.expected_tool_calls, ["query_plans", "query_other"]);
    let prompt = task.prompt.unwrap();
    let Body::Text { text, .. } = &prompt.body else { panic!("{prompt:?}") };
    assert_eq!(text, "How many plans are there in the store? Write ```json [{\"n\": 1}] ```.\n");
    assert_eq!(&read_full_text(bench.app(), &view.row.id, &prompt.id), text);
    assert!(matches!(task.expected.unwrap().body, Body::Table { total: 1, .. }));
}

#[test]
fn a_gold_answer_in_a_file_is_read_from_below_the_input_directory_only() {
    let bench = Bench::new()
        .file("tasks/plans.yaml", TASK)
        .file("tasks/gold/all.json", "[{\"n\": 9}, {\"n\": 8}]")
        .file("secret.json", "[{\"n\": 1}]")
        .answered("results/plans-tool_calling-o1-variation1.yaml", "Nine.")
        .answered("results/plans-tool_calling-o1-variation2.yaml", "One.")
        .open();
    let view = open(&bench, "plans-tool_calling-o1-variation1.yaml");
    let expected = view.task.unwrap().expected.unwrap();
    let request = RowRequest { span: span(0, 9), column: Some(0), descending: false };
    let rows = bench.app().runs().read_rows(&view.row.id, &expected.id, request).unwrap().rows;
    assert_eq!(rows.iter().map(|row| row[0].text.as_str()).collect::<Vec<_>>(), ["8", "9"]);
    assert_eq!(bench.app().runs().read_csv(&view.row.id, &expected.id).unwrap(), "n\r\n9\r\n8\r\n");
    let view = open(&bench, "plans-tool_calling-o1-variation2.yaml");
    assert_eq!(view.task.unwrap().expected, None);
    insta::assert_snapshot!(view.notes.join("\n"), @"The expected output in ../../secret.json could not be read: it lies outside the input directory.");
}

#[test]
fn a_damaged_file_opens_with_the_reason_and_can_be_read_as_it_is() {
    let content = crate::bench::broken();
    let bench = Bench::new().file("results/broken.yaml", content).open();
    let view = open(&bench, "broken.yaml");
    assert_eq!((view.row.state, view.total_steps), (RunState::Damaged, 0));
    assert!(view.notes.iter().any(|note| note.starts_with("Line 3")), "{:?}", view.notes);
    assert_eq!(read_full_text(bench.app(), &view.row.id, "raw:0"), content);
}

#[test]
fn what_is_no_transcript_opens_too_and_says_why_it_is_none() {
    let bytes = b"caf\xC3\xA9 \xFF\xFE end".as_slice();
    let bench = Bench::new()
        .file("results/picture.png", bytes)
        .file("results/list.yaml", "- 1\n- 2\n")
        .open();
    for (path, content) in
        [("picture.png", "café \u{FFFD}\u{FFFD} end"), ("list.yaml", "- 1\n- 2\n")]
    {
        let view = open(&bench, path);
        assert_eq!(
            (view.row.state, view.total_steps, view.notes.len()),
            (RunState::Other, 0, 1),
            "{path}"
        );
        assert_eq!(read_full_text(bench.app(), &view.row.id, "raw:0"), content);
    }
}

#[test]
fn steps_come_from_the_version_that_was_opened_or_not_at_all() {
    let path = "plans-tool_calling-o1-variation0.yaml";
    let file = format!("results/{path}");
    // The list is not updated meanwhile, unless the machine's clock jumps.
    let still =
        |limits: &mut Limits| (limits.watch, limits.poll) = (false, Duration::from_hours(1));
    let bench = Bench::new().answered(&file, "Three.").limit(still).open();
    let first = open(&bench, path);
    bench.put(&file, answered("Four."));
    let app = bench.app();
    let kept = app.runs().read_steps(&first.row.id, &first.version, span(0, 10)).unwrap();
    assert_eq!((kept.total_steps, &kept.steps), (3, &first.steps));
    let second = app.runs().open_run(&first.row.id).unwrap();
    assert_ne!(second.version, first.version);
    assert_eq!(app.runs().find_in_run(&first.row.id, "four").unwrap().total, 1);
    let error = app.runs().read_steps(&first.row.id, &first.version, span(0, 10)).unwrap_err();
    assert_eq!(error.code, Code::Gone);
    bench.put(&file, answered("Three."));
    assert_eq!(app.runs().open_run(&first.row.id).unwrap().version, first.version);
    bench.remove(&file);
    let error = app.runs().open_run(&first.row.id).unwrap_err();
    assert!(matches!(error.code, Code::Gone | Code::NotFound), "{error}");
}

#[test]
fn what_does_not_exist_is_an_error_with_a_kind_and_never_a_file() {
    let bench = Bench::new().answered("results/a.yaml", "Three.").open();
    let (app, id) = (bench.app(), id(&bench, "a.yaml"));
    let rows = RowRequest { span: span(0, 1), column: None, descending: false };
    for (error, code) in [
        (app.runs().open_run("0123456789abcdef").unwrap_err(), Code::NotFound),
        (app.runs().open_run("../../etc/passwd").unwrap_err(), Code::NotFound),
        (app.runs().read_text(&id, "raw:1", 0, 10).unwrap_err(), Code::BadRequest),
        (app.runs().read_text(&id, "../a.yaml", 0, 10).unwrap_err(), Code::BadRequest),
        (app.runs().read_text(&id, "step:99.0", 0, 10).unwrap_err(), Code::BadRequest),
        (app.runs().read_text(&id, "prompt", 0, 10).unwrap_err(), Code::BadRequest),
        (app.runs().read_rows(&id, "step:0.0", rows).unwrap_err(), Code::BadRequest),
        (app.runs().read_csv(&id, "raw:0").unwrap_err(), Code::BadRequest),
        (app.runs().find_in_run(&id, &"x".repeat(2_000)).unwrap_err(), Code::BadRequest),
    ] {
        assert_eq!(error.code, code, "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_takes_the_place_of_a_file_is_not_followed() {
    let bench = Bench::new()
        .answered("results/a.yaml", "Three.")
        .file("secret.yaml", answered("Secret."))
        .limit(|limits| limits.watch = false)
        .open();
    let id = id(&bench, "a.yaml");
    bench.remove("results/a.yaml");
    std::os::unix::fs::symlink(bench.path("secret.yaml"), bench.path("results/a.yaml")).unwrap();
    let view = bench.app().runs().open_run(&id).unwrap();
    assert_eq!((view.total_steps, view.answer.is_none()), (0, true));
    assert!(view.notes[0].contains("link"), "{:?}", view.notes);
    assert_eq!(bench.app().runs().read_text(&id, "raw:0", 0, 100).unwrap_err().code, Code::Failed);
}

#[test]
fn a_view_stays_small_for_very_many_messages_and_for_one_very_long_line() {
    let many: String = (0..100_000)
        .flat_map(|n| ["- user_message: message ".to_owned(), n.to_string(), "\n".to_owned()])
        .collect();
    let bench = Bench::new()
        .file("results/many.yaml", format!("conversation:\n{many}answer: 1\n"))
        .file(
            "results/long.yaml",
            format!("conversation:\n- user_message: \"{}\"\n", "\\u0001word ".repeat(1 << 20)),
        )
        .open();
    for (path, steps) in [("many.yaml", 100_000), ("long.yaml", 1)] {
        let view = open(&bench, path);
        let weight = serde_json::to_vec(&view).unwrap().len();
        assert!(weight <= MAX_VIEW, "{path} weighs {weight}");
        assert_eq!((view.total_steps, view.notes.clone()), (steps, vec![]), "{path}");
    }
    let view = open(&bench, "many.yaml");
    let page =
        bench.app().runs().read_steps(&view.row.id, &view.version, span(99_990, 200)).unwrap();
    assert_eq!((page.steps.len(), page.steps[0].index), (10, 99_990));
    let long = open(&bench, "long.yaml");
    let text = read_full_text(bench.app(), &long.row.id, &long.steps[0].parts[0].id);
    assert_eq!(text.len() as u64, long.steps[0].parts[0].bytes);
    assert_eq!(text, "\u{1}word ".repeat(1 << 20));
}

/// A session of about 20 MB, which takes a while to read.
fn long_session() -> String {
    let text = "word ".repeat(2000);
    let mut lines = String::new();
    for at in 0..2000 {
        let before = if at == 0 { "null".to_owned() } else { format!("\"u{}\"", at - 1) };
        let _ = writeln!(
            lines,
            "{{\"type\":\"user\",\"uuid\":\"u{at}\",\"parentUuid\":{before},\"sessionId\":\"s\",\
             \"isSidechain\":false,\"timestamp\":\"2026-02-01T10:00:00.000Z\",\
             \"message\":{{\"role\":\"user\",\"content\":\"{text}{at}\"}}}}"
        );
    }
    lines
}

#[test]
fn reading_a_large_run_tells_how_far_it_is_and_can_be_stopped() {
    let bench = Bench::new().file("results/session.jsonl", long_session()).open();
    let row = wait_until("the session is listed", || bench.rows().into_iter().next());
    let app = bench.app();
    assert_eq!(app.runs().run_reading(&row.id).unwrap(), None, "nothing is being read");
    // A busy machine may read it to its end before it is stopped; then it is written and read again.
    let stop_one = || {
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| app.runs().open_run(&row.id));
            let waiting = scope.spawn(|| app.runs().open_run(&row.id));
            let progress = wait_until("it is being read, or was", || {
                let progress = app.runs().run_reading(&row.id).unwrap();
                let progress = progress.filter(|progress| progress.read > 0);
                (progress.is_some() || reading.is_finished()).then_some(progress)
            });
            app.runs().stop_reading_run(&row.id).unwrap();
            let opened = [reading, waiting].map(|opened| opened.join().unwrap());
            Some((progress?, opened)).filter(|(_, opened)| opened.iter().all(Result::is_err))
        })
    };
    let (progress, stopped) = wait_until("it is stopped before its end", || {
        stop_one().or_else(|| {
            bench.write("results/session.jsonl", long_session());
            None
        })
    });
    assert!(progress.total > 19_000_000 && progress.read <= progress.total, "{progress:?}");
    for error in stopped.map(Result::unwrap_err) {
        assert!(error.message.contains("stopped"), "{error:?}");
        assert!(error.hint.is_some());
    }
    assert_eq!(app.runs().run_reading(&row.id).unwrap(), None);
    assert_eq!(app.runs().open_run(&row.id).unwrap().total_steps, 2000, "opened again, it is read");
}
