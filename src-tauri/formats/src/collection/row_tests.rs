//! Rows of evaluations as runs.
use super::*;
use crate::transcript::outline_of;
use proptest::prelude::*;
use touchstone_model::run::{Layout, RecordedState, StepKind, Verdict};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../tests/fixtures/azure/rows/", $name)))
    };
}

const FILES: [(&str, &str); 4] = [
    fixture!("pier_small.json"),
    fixture!("pier_large.json"),
    fixture!("berths.json"),
    fixture!("echo_target.json"),
];

fn describe_members(file: usize) -> Vec<String> {
    let (path, text) = FILES[file];
    let told = |member: Member| {
        let (place, outline) = (member.place, member.outline.unwrap());
        let answer = outline.answer.and_then(|answer| answer.json).unwrap_or_default();
        let (task, system) = (place.task.unwrap(), place.system.unwrap());
        format!(
            "{}: {task} {system} {:?} {} {answer}",
            member.key,
            outline.standing,
            outline.tools.join(" ")
        )
    };
    members(path, text.as_bytes()).unwrap().into_iter().map(told).collect()
}

fn run(file: usize, key: &str) -> Run {
    read(FILES[file].0, FILES[file].1.as_bytes(), key).unwrap()
}

fn facts(run: &Run) -> String {
    let one = |(key, value): &(String, Value)| format!("{key}={}", json::write(value, false));
    run.facts.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_row_is_a_run_whose_task_is_the_same_in_two_files_of_the_same_data() {
    let (small, large) = (describe_members(0), describe_members(1));
    assert_eq!(small[0], "row-1: row-1-ddcf pier_small Answered  \"At nine in the morning.\"");
    assert_eq!(large[2], "row-3: row-3-405d pier_large NoAnswer  ");
    let task = |line: &String| line.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(
        small.iter().map(task).collect::<Vec<_>>(),
        large.iter().map(task).collect::<Vec<_>>()
    );
    assert_eq!(
        describe_members(2),
        [
            "berth: berth berths Answered free_berths \"Berth 7 is free.\"",
            "talk: talk berths Answered  \"Good morning.\""
        ]
    );
}

#[test]
fn messages_of_agents_are_steps_and_what_tools_returned_stands_with_its_call() {
    let run = run(2, "berth");
    let told: Vec<_> =
        run.steps.iter().map(|step| (step.turn, step.kind, step.parts.len())).collect();
    assert_eq!(
        told,
        [
            (1, StepKind::System, 1),
            (1, StepKind::User, 1),
            (2, StepKind::ToolCall, 2),
            (3, StepKind::Assistant, 1)
        ]
    );
    assert_eq!((run.layout, run.untold), (Layout::Evaluation, false));
    assert!(
        facts(&run).contains("inputs.tool_definitions=[{\"name\":\"free_berths\""),
        "{}",
        facts(&run)
    );
}

#[test]
fn what_evaluators_said_is_a_fact_and_a_row_on_which_they_failed_is_no_wrong_answer() {
    let (right, failed) = (run(0, "row-1"), run(0, "row-3"));
    let said = facts(&right);
    for fact in [
        "inputs.ground_truth=\"High tide is at nine.\"",
        "outputs.relevance.relevance_reason=\"It answers",
        "outputs.f1.f1_score=0.6",
    ] {
        assert!(said.contains(fact), "{said}");
    }
    assert!(
        said.contains("metrics of the whole file={\"f1.f1_score\":0.3666666666666667"),
        "{said}"
    );
    assert!(
        right.notes.iter().any(|note| note == "Stored results: f1 pass 0.6, relevance pass 5.0."),
        "{:?}",
        right.notes
    );
    assert!(
        failed.notes.iter().any(|note| note.ends_with("(not a verdict on the answer): relevance.")),
        "{:?}",
        failed.notes
    );
    assert!(!facts(&failed).contains("outputs.relevance"), "{}", facts(&failed));
    assert_eq!(outline_of(&failed).standing, RecordedState::Answered);
    assert!(facts(&run(2, "talk")).contains("outputs.my.own.label=\"friendly\""));
}

#[test]
fn the_note_of_a_row_says_of_each_evaluator_what_its_verdict_is() {
    let row = r#"{"inputs.query": "q", "outputs.document_retrieval.ndcg@3": 1.0, "outputs.document_retrieval.ndcg@3_result": "pass",
        "outputs.document_retrieval.total_ground_truth_documents_result": "fail", "outputs.qa.relevance": 2.0, "outputs.qa.relevance_result": "fail",
        "outputs.qa.f1_score": 1.0, "outputs.qa.f1_result": "pass",
        "outputs.tone.passed": false, "outputs.tone.label": "rude", "outputs.tone.tone_result": "fail",
        "outputs.calls.calls": "not applicable", "outputs.calls.calls_result": "not applicable"}"#;
    let text = format!("{{\"rows\": [{}], \"metrics\": {{}}}}", row.replace('\n', " "));
    let run = read("x.json", text.as_bytes(), "row-1").unwrap();
    let wanted = "Stored results: document_retrieval pass 1.0, qa fail, tone fail rude, calls not applicable.";
    assert!(run.notes.iter().any(|note| note == wanted), "{:?}", run.notes);
}

#[test]
fn a_target_that_gave_nothing_is_an_error_and_what_it_gave_is_the_answer() {
    assert_eq!(run(3, "row-1").answer.unwrap().value, Value::from("echo hello there"));
    assert_eq!(outline_of(&run(3, "row-2")).standing, RecordedState::Error);
}

#[test]
fn rows_that_were_written_here_say_which_runs_they_are() {
    let row = concat!(
        r#"{"inputs.task": "tickets", "inputs.system": "promptql", "inputs.model": "o1", "#,
        r#""inputs.variation": 2, "inputs.repeat": 3, "inputs.query": "q", "#,
        r#""inputs.response": {"a": 1.50}}"#,
    );
    let text = format!(
        "{{\"rows\": [{row}, {{\"inputs.system\": \"Be kind.\", \"inputs.question\": \"q\"}}], \"metrics\": {{}}}}"
    );
    let members = members("a/evaluation_results.json", text.as_bytes()).unwrap();
    let RunIdentity { task, system, model, variation, repeat } = members[0].place.clone();
    assert_eq!(
        (task.as_deref(), system.as_deref(), model.as_deref()),
        (Some("tickets"), Some("promptql"), Some("o1"))
    );
    assert_eq!((variation, repeat), (Some(2), 3));
    assert_eq!((members[1].place.system.as_deref(), members[1].place.variation), (Some("a"), None));
    let run = read("x.json", text.as_bytes(), "row-1").unwrap();
    assert_eq!(json::write(&run.answer.unwrap().value, false), r#"{"a":1.50}"#);
    assert!(run.facts.is_empty(), "{:?}", run.facts);
}

#[test]
fn a_row_of_a_run_that_had_not_ended_is_no_run_without_an_answer() {
    let row = |state: &str| {
        format!(
            r#"{{"inputs.run": "a.yaml", "inputs.task": "t", "inputs.system": "s", "inputs.model": "m", "inputs.query": "q"{state}}}"#
        )
    };
    let text = format!(
        "{{\"rows\": [{}, {}], \"metrics\": {{}}}}",
        row(r#", "inputs.state": "waiting""#),
        row("")
    );
    let members = members("a/evaluation_results.json", text.as_bytes()).unwrap();
    let standing: Vec<RecordedState> =
        members.iter().map(|one| one.outline.as_ref().unwrap().standing).collect();
    assert_eq!(standing, [RecordedState::Waiting, RecordedState::NoAnswer]);
    assert!(
        read("x.json", text.as_bytes(), "row-1")
            .unwrap()
            .facts
            .iter()
            .all(|(name, _)| !name.contains("state"))
    );
}

#[test]
fn json_lines_are_read_as_rows_and_a_broken_line_damages_only_itself() {
    let text = "{\"inputs.query\": \"a\", \"line_number\": 0}\r\n\n{\"inputs.query\": oops}\n{\"inputs.id\": 7, \"inputs.query\": NaN}";
    let told: Vec<(String, bool)> = members("o1/instance_results.jsonl", text.as_bytes())
        .unwrap()
        .into_iter()
        .map(|one| (format!("{} {}", one.key, one.place.system.unwrap()), one.outline.is_ok()))
        .collect();
    let said = |key: &str, read: bool| (key.to_owned(), read);
    assert_eq!(told, [said("row-1 o1", true), said("row-2 o1", false), said("7 o1", true)]);
    assert_eq!(facts(&read("x.jsonl", text.as_bytes(), "row-1").unwrap()), "line_number=0");
    let damaged = read("x.jsonl", text.as_bytes(), "row-2").unwrap_err();
    assert_eq!(damaged.line, Some(3));
}

const FAILED: &str = r#"{"rows": [{"inputs.query": "a", "outputs.tone.score": 2}, {"inputs.query": "b", "outputs.tone.score": null}],
    "errors": [{"row": 2, "evaluator": "tone", "why": "The reply could not be read."}, {"row": 2, "evaluator": "never", "why": "No model."},
        {"row": 1, "evaluator": "tone", "why": "One round failed."}, {"row": 0, "evaluator": "x", "why": "y"}, {"row": 2, "evaluator": 7, "why": "y"}, 3,
        {"row": 2, "evaluator": "x", "why": oops}],
    "metrics": {"tone.score": 2.0}, "studio_url": "https://example.org/run/7", "evaluators": {"tone": {"model": "m"}}, "counts": {}}"#;

#[test]
fn why_an_evaluator_has_no_result_is_said_of_the_row_and_is_no_verdict() {
    let told = |key: &str| {
        let said = |verdict: Verdict| {
            let Verdict { evaluator, score, reason, is_silent, .. } = verdict;
            format!(
                "{evaluator} {} {} {is_silent}",
                score.unwrap_or_default(),
                reason.unwrap_or_default()
            )
        };
        read("x.json", FAILED.as_bytes(), key)
            .unwrap()
            .verdicts
            .into_iter()
            .map(said)
            .collect::<Vec<_>>()
    };
    assert_eq!(told("row-1"), ["tone 2  false", "tone  One round failed. true"]);
    assert_eq!(told("row-2"), ["tone  The reply could not be read. true", "never  No model. true"]);
    let lines = FAILED.split_once('[').unwrap().1.split_once("],").unwrap().0;
    assert!(
        read("x.jsonl", lines.replace("}, {", "}\n{").as_bytes(), "row-2").unwrap().verdicts[0]
            .reason
            .is_none()
    );
}

#[test]
fn file_level_results_are_facts_of_each_row_and_rows_are_kept_verbatim() {
    let run = read("x.json", FAILED.as_bytes(), "row-2").unwrap();
    assert_eq!(
        facts(&run),
        "metrics of the whole file={\"tone.score\":2.0}\nstudio_url of the whole file=\"https://example.org/run/7\"\n\
         evaluators of the whole file={\"tone\":{\"model\":\"m\"}}"
    );
    assert_eq!(json::write(&run.row, false), r#"{"inputs.query":"b","outputs.tone.score":null}"#);
    let row = concat!(
        r#"{"inputs.question": "q", "inputs.response": "of the data", "inputs.context": NaN, "#,
        r#""inputs.id": 7, "outputs.response": "r", "outputs.id": 8, "outputs.f1.f1_score": 1}"#,
    );
    let run = read("x.jsonl", row.as_bytes(), "7").unwrap();
    assert!(facts(&run).starts_with("inputs.response=\"of the data\"\n"), "{}", facts(&run));
    let beside = Value::Map(
        other_inputs(&run.row)
            .into_iter()
            .map(|(name, value)| (Value::Text(name), value))
            .collect(),
    );
    assert_eq!(json::write(&beside, false), r#"{"response":"of the data","context":null,"id":7}"#);
}

#[test]
fn keys_beside_the_rows_that_are_not_read_are_counted() {
    let rows = r#""rows": [{"inputs.query": "q"}], "errors": []"#;
    let unread = |more: &[String]| {
        let text = format!("{{{rows}, {}}}", more.join(", "));
        let many = Collection::open("x.json", text.as_bytes()).unwrap();
        (many.shared_metadata().entries().len(), many.unread_key_count())
    };
    let keys =
        |many: usize| -> Vec<String> { (0..many).map(|at| format!("\"k{at}\": {at}")).collect() };
    let long = |length: usize| format!("\"long\": \"{}\"", "x".repeat(length));
    assert_eq!(unread(&keys(99)), (99, 0), "reasons have a place of their own");
    assert_eq!(unread(&keys(107)), (99, 8));
    assert_eq!(unread(&[long(MOST_METADATA), keys(1).remove(0)]), (1, 1));
    assert_eq!(
        unread(&[long(MOST_METADATA / 2), keys(1).remove(0), "\"odd\": oops".to_owned()]),
        (2, 1)
    );
    let results = br#"{"results": [{"query_id": "1"}], "metadata": {"a": 1}, "other": 2}"#;
    assert_eq!(Collection::open("x.json", results).map(|many| many.unread_key_count()), Ok(0));
}

#[test]
fn hostile_rows_are_damaged_alone() {
    let deep = format!("{{\"inputs.query\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let rows = [
        "{\"inputs.query\": 1, \"inputs.query\": 2}",
        &deep,
        "7",
        "{\"inputs.query\": \"q\", \"outputs.a.b\": Infinity}",
        "{\"inputs.query\": oops}",
    ];
    let text =
        format!("{{\"rows\": [{{\"inputs.query\": NaN}}, {}, {{\"inputs.que", rows.join(", "));
    let told: Vec<bool> =
        members("x.json", text.as_bytes()).unwrap().iter().map(|one| one.outline.is_ok()).collect();
    assert_eq!(told, [true, false, false, false, true, false, false]);
    assert_eq!(form_of(b"{\"error\": \"X\", \"message\": \"y\"}"), None);
    assert_eq!(form_of(b"{\"rows\": [{\"query\": 1}]}"), None);
}

proptest! {
    #[test]
    fn a_file_that_was_cut_or_changed_anywhere_is_still_read_row_by_row(
        file in 0..FILES.len(), at in any::<prop::sample::Index>(), byte in prop::option::of(any::<u8>())
    ) {
        let (path, text) = FILES[file];
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        match byte {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
        for one in members(path, &bytes).unwrap_or_default() {
            let run = read(path, &bytes, &one.key);
            prop_assert_eq!(run.map(|run| outline_of(&run)), one.outline);
        }
    }
}

#[test]
fn a_long_number_in_a_note_has_four_decimals() {
    let shortened = ["0.6666666666666666", "5.0", "0.25", "rude", "-12.00000000001", "inf"];
    let shortened = shortened.map(super::rows::short);
    assert_eq!(shortened, ["0.6667", "5.0", "0.25", "rude", "-12", "inf"]);
    let whole = ["0.0000123456", "12345678901234567890", "1.2345678e-7", "12345678901234.5"];
    assert_eq!(whole.map(super::rows::short), whole);
}
