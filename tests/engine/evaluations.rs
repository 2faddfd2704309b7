//! Tests of files of azure-ai-evaluation: browsed and compared; and of runs written in that format
//! and read back.
use crate::bench::{Bench, answered, beside_the_project};
use crate::judging::{judge, request, workspace};
use crate::running::stage::says;
use crate::scripted::Scripted;
use fs_err as fs;
use serde_json::{Value, json};
use touchstone_api::{
    OverviewRequest, OverviewView, Report, ReportFormat, ReportRequest, RunRow, RunState, Span,
};
use touchstone_app::reports::rows_of_runs::{Choice, Part};

fn fixture(name: &str) -> String {
    fs::read_to_string(beside_the_project("tests/fixtures/azure/rows").join(name)).unwrap()
}

fn all() -> Bench {
    let names = ["pier_small.json", "pier_large.json", "berths.json", "echo_target.json"];
    let bench = names
        .into_iter()
        .fold(Bench::new(), |bench, name| bench.file(&format!("results/{name}"), fixture(name)));
    bench
        .file("results/failed.json", r#"{"error": "EvaluationException", "message": "No."}"#)
        .open()
}

#[test]
fn every_row_of_an_evaluation_is_a_run_that_shows_what_was_stored_and_has_no_score_of_ours() {
    let bench = all();
    let shown =
        |row: RunRow| format!("{} {} {:?}", row.path, row.system.unwrap_or_default(), row.state);
    let rows: Vec<String> = bench.rows().into_iter().map(shown).collect();
    assert_eq!(
        rows,
        [
            "berths.json#berth berths Answered",
            "berths.json#talk berths Answered",
            "echo_target.json#row-1 echo_target Answered",
            "echo_target.json#row-2 echo_target Error",
            "failed.json  Other",
            "pier_large.json#row-1 pier_large Answered",
            "pier_large.json#row-2 pier_large Answered",
            "pier_large.json#row-3 pier_large NoAnswer",
            "pier_small.json#row-1 pier_small Answered",
            "pier_small.json#row-2 pier_small Answered",
            "pier_small.json#row-3 pier_small Answered",
        ]
    );
    let row = bench.row("pier_small.json#row-2").unwrap();
    let view = bench.app().runs().open_run(&row.id).unwrap();
    assert_eq!(
        (view.steps.len(), view.row.score, view.layout.as_str()),
        (2, None, "Row of an azure-ai-evaluation result")
    );
    assert!(
        view.notes.iter().any(|note| note == "Stored results: f1 fail 0.0, relevance fail 1.0."),
        "{:?}",
        view.notes
    );
    let keys: Vec<&str> = view.facts.iter().map(|fact| fact.key.as_str()).collect();
    for key in [
        "inputs.ground_truth",
        "inputs.context",
        "outputs.relevance.relevance_reason",
        "metrics of the whole file",
    ] {
        assert!(keys.contains(&key), "{keys:?}");
    }
    let agent = bench.app().runs().open_run(&bench.row("berths.json#berth").unwrap().id).unwrap();
    assert_eq!((agent.row.tool_calls, agent.row.turns, agent.steps.len()), (1, 2, 4));
    bench.wait_words();
    assert_eq!(bench.hits("420 metres"), ["pier_large.json#row-2"]);
}

#[test]
fn two_evaluations_of_the_same_data_stand_beside_each_other_row_by_row() {
    let bench = all();
    let request = OverviewRequest {
        filter: "system:pier_*".to_owned(),
        scorer: None,
        folded: false,
        except: Vec::new(),
        find: None,
        view: OverviewView::default(),
        span: Span { offset: 0, limit: 50 },
    };
    let overview = bench.app().stats().overview(&request).unwrap();
    assert_eq!((overview.columns.len(), overview.rows.len()), (2, 3), "{overview:?}");
    let ids =
        ["pier_small.json#row-1", "pier_large.json#row-1"].map(|path| bench.row(path).unwrap().id);
    let comparison = bench.app().runs().compare_runs(&ids).unwrap();
    assert!(serde_json::to_string(&comparison).unwrap().contains("High tide is at nine."));
    let page: Value =
        serde_json::from_str(&report(&bench, ReportFormat::Json, "system:pier_*").text).unwrap();
    assert_eq!(page["head"]["runs"], 6);
}

fn report(bench: &Bench, format: ReportFormat, filter: &str) -> Report {
    let request = ReportRequest { filter: filter.to_owned(), ..ReportRequest::for_format(format) };
    bench.app().reports().make_report(&request, true).unwrap()
}

const TASK: &str = "tool_calling_prompt: How many plans are there?\nvariations:\n- expected_output: Three plans.\nscorers: [text: f1, judge:sopr]\n";
const FAILED: &str = "conversation:\n- user_message: q\n- error: The provider is down.\n";
const CALLED: &str = "conversation:\n- user_message: How many plans?\n\
    - assistant_message: Let me look.\n\
    - tool_call: { id: c1, name: count, params: { of: plans }, result: [{ n: 3 }] }\n\
    - assistant_message: Three plans.\nanswer: Three plans.\n";

fn judged(server: &Scripted) -> Bench {
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(server, ""))
        .file("tasks/count.yaml", TASK)
        .file("results/count-tool_calling-o1-variation0.yaml", CALLED)
        .file("results/count-tool_calling-claude-variation0.yaml", answered("Three"))
        .file("results/count-tool_calling-o3-mini-variation0.yaml", FAILED)
        .open();
    judge(bench.app(), &request(1));
    bench
}

#[test]
fn runs_are_written_in_the_shape_of_evaluate_and_read_back_as_the_runs_they_were() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let bench = judged(&server);
    let report = report(&bench, ReportFormat::Azure, "");
    assert!(report.file_name.ends_with("-evaluation.json"), "{}", report.file_name);
    let file: Value = serde_json::from_str(&report.text).unwrap();
    let rows = file["rows"].as_array().unwrap();
    assert_eq!((rows.len(), report.runs), (3, 3));
    let of = |model: &str| rows.iter().find(|row| row["inputs.model"] == model).unwrap();
    let (called, failed) = (of("o1"), of("o3-mini"));
    assert_eq!(called["inputs.query"], "How many plans?");
    assert_eq!(called["inputs.response"][0]["content"][1]["name"], "count");
    assert_eq!(called["inputs.ground_truth"], "Three plans.");
    assert_eq!(
        [
            &called["outputs.f1_score.f1_score"],
            &called["outputs.f1_score.f1_result"],
            &called["outputs.f1_score.f1_threshold"]
        ],
        [&json!(1.0), &json!("pass"), &json!(0.5)]
    );
    assert_eq!(
        (&called["outputs.sopr.score"], &called["outputs.sopr.passed"]),
        (&json!(1.0), &json!(true))
    );
    assert_eq!(
        (&failed["inputs.error"], &failed["outputs.f1_score.f1_score"]),
        (&json!("The provider is down."), &Value::Null)
    );
    let counts = &file["counts"]["f1_score.binary_aggregate"];
    assert_eq!((&counts["n"], &counts["left_out"]), (&json!(2), &json!(1)), "{counts}");
    assert!(counts["interval"][0].is_number(), "{counts}");
    assert_eq!(
        file["evaluators"]["f1_score"],
        json!({ "id": "azureai://built-in/evaluators/f1_score" })
    );
    assert_eq!(file["evaluators"]["sopr"]["model"], "local");

    let back = Bench::new().file("results/them.json", &report.text).open();
    let told = |row: &RunRow| {
        (
            row.task.clone(),
            row.system.clone(),
            row.model.clone(),
            row.variation,
            row.repeat,
            row.state,
        )
    };
    let place = |bench: &Bench| {
        let mut rows: Vec<String> =
            bench.rows().iter().map(|row| format!("{:?}", told(row))).collect();
        rows.sort();
        rows
    };
    assert_eq!(place(&back), place(&bench));
    let calls = |bench: &Bench| bench.rows().iter().map(|row| row.tool_calls).sum::<u32>();
    assert_eq!((calls(&back), calls(&bench)), (2, 2));
    let error = back.rows().into_iter().find(|row| row.state == RunState::Error).unwrap();
    assert_eq!(error.reason.as_deref(), Some("The provider is down."));
}

#[test]
fn runs_of_a_folder_become_rows_for_evaluators_with_what_was_expected() {
    let bench = Bench::new()
        .file("tasks/count.yaml", TASK)
        .file("results/count-tool_calling-o1-variation0.yaml", CALLED)
        .open();
    let rows =
        |choice: &Choice| bench.app().reports().rows_of_runs("model:o1", choice, false).unwrap().0;
    let last = rows(&Choice::default());
    let row: Value = serde_json::from_str(&last.lines[0]).unwrap();
    assert_eq!((last.lines.len(), last.notes.len()), (1, 0));
    assert_eq!(
        (&row["task"], &row["model"], &row["ground_truth"]),
        (&json!("count"), &json!("o1"), &json!("Three plans."))
    );
    assert_eq!(row["response"][1]["content"][0]["tool_result"], json!([{ "n": 3 }]));
    let turn = rows(&Choice { part: Part::Turn(2), ..Choice::default() });
    assert!(turn.lines.is_empty() && turn.notes[0].contains("1 turns"), "{:?}", turn.notes);
}

#[test]
fn ten_thousand_rows_are_read_member_by_member() {
    let row = |n: usize| {
        format!(
            r#"{{"inputs.query": "Question {n}?", "inputs.response": "Answer {n}.", "outputs.f1.f1_score": NaN, "outputs.f1.f1_result": "pass"}}"#
        )
    };
    let rows: Vec<String> = (0..10_000).map(row).collect();
    let begun = std::time::Instant::now();
    let bench = Bench::new()
        .file(
            "results/many.json",
            format!("{{\"rows\": [{}], \"metrics\": {{}}}}", rows.join(", ")),
        )
        .open();
    assert_eq!(bench.rows().len(), 10_000);
    println!("10,000 rows: {:?}", begun.elapsed());
    let id = bench.row("many.json#row-9999").unwrap().id;
    assert_eq!(bench.app().runs().open_run(&id).unwrap().steps.len(), 2);
}
