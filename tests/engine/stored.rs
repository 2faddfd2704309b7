//! Tests of verdicts stored in files of other programs: filtered, listed, compared, reported, and
//! measured against people.
use super::bench::{Bench, beside_the_project, wait_until};
use fs_err as fs;
use serde_json::{Value, json};
use touchstone_api::{
    Column, FailuresRequest, LeaderboardRequest, LeaderboardRow, ListRequest, ReportFormat,
    ReportRequest, Sort, Span, StoredResult, Trust,
};

fn fixture(name: &str) -> String {
    fs::read_to_string(beside_the_project("tests/fixtures/azure/rows").join(name)).unwrap()
}

fn bench() -> Bench {
    Bench::new()
        .file("results/pier_small.json", fixture("pier_small.json"))
        .file("results/pier_large.json", fixture("pier_large.json"))
        .answered("results/a.yaml", "Fine")
}

fn passing(bench: &Bench, filter: &str, sort: Sort) -> Vec<String> {
    let span = Span { offset: 0, limit: 100 };
    let page = bench
        .app()
        .runs()
        .list_runs(ListRequest { filter: filter.to_owned(), sort, span })
        .unwrap();
    assert!(page.misread.is_empty(), "{filter}: {:?}", page.misread);
    page.rows.into_iter().map(|row| row.path).collect()
}

const BY_PATH: Sort = Sort { column: Column::Path, descending: false };

#[test]
fn runs_are_asked_for_by_what_is_stored_of_them_and_a_row_without_a_result_is_none_of_those() {
    let bench = bench().open();
    for (filter, runs) in [
        ("stored:relevance=fail", vec!["pier_large.json#row-3", "pier_small.json#row-2"]),
        ("stored:relevance=none", vec!["pier_small.json#row-3"]),
        (
            "stored:relevance<5",
            vec!["pier_large.json#row-2", "pier_large.json#row-3", "pier_small.json#row-2"],
        ),
        ("stored:f1>=0.8", vec!["pier_large.json#row-1", "pier_large.json#row-2"]),
        ("-stored:*", vec!["a.yaml"]),
    ] {
        assert_eq!(passing(&bench, filter, BY_PATH), runs, "{filter}");
    }
    let facets = bench.app().runs().facets().unwrap();
    let stored = facets.keys.into_iter().find(|facet| facet.key == "stored").unwrap();
    let values: Vec<String> = stored
        .values
        .iter()
        .map(|value| format!("{} {}", value.value, value.count.unwrap()))
        .collect();
    assert_eq!(
        values,
        ["f1 6", "f1=fail 2", "f1=pass 4", "relevance 5", "relevance=fail 2", "relevance=pass 3"]
    );
    // No run matches without a fitting token, and a replaced file has the verdicts of its new
    // content.
    bench.write("results/pier_small.json", fixture("pier_large.json"));
    wait_until("the other file is read", || {
        passing(&bench, "stored:relevance=none", BY_PATH).is_empty().then_some(())
    });
    fs::remove_file(bench.path("results/pier_small.json")).unwrap();
    wait_until("what is gone says nothing", || {
        (passing(&bench, "stored:*", BY_PATH).len() == 3).then_some(())
    });
}

#[test]
fn a_row_of_the_list_has_its_verdicts_and_none_where_an_evaluator_said_nothing() {
    let bench = bench().open();
    let of = |path: &str| {
        let verdicts = bench.row(path).unwrap().verdicts;
        verdicts.into_iter().map(|one| (one.evaluator, one.result)).collect::<Vec<_>>()
    };
    assert_eq!(of("pier_small.json#row-3"), [("f1".to_owned(), StoredResult::Pass)]);
    assert_eq!(of("pier_small.json#row-2").len(), 2);
    assert_eq!(of("a.yaml"), []);
}

#[test]
fn evaluators_are_summed_up_by_system_and_a_missing_result_is_in_no_mean() {
    let bench = bench().open();
    let all = bench.app().reports().evaluator_summaries("").unwrap();
    let of = |evaluator: &str, group: &str| {
        all.iter().find(|one| one.evaluator == evaluator && one.group == group).unwrap()
    };
    assert_eq!(all.len(), 4);
    let small = of("relevance", "pier_small");
    let mean = small.mean.unwrap();
    assert_eq!((small.runs, mean.known, mean.unknown), (3, 2, 1));
    assert_eq!(passing(&bench, &small.filter, BY_PATH).len(), 3);
    assert_eq!(of("f1", "pier_large").passes.unwrap().known, 3);
    // Numbers from 0 to 1 have a mean there; those of another scale are not cut.
    let f1 = of("f1", "pier_large").mean.unwrap();
    assert_eq!((f1.low, f1.high), (Some(0.0), Some(1.0)));
    assert!(mean.high.is_none_or(|high| high > 1.0), "{mean:?}");
    assert_eq!(bench.app().reports().evaluator_summaries("file:a.yaml").unwrap(), []);
}

#[test]
fn lists_count_what_is_stored_and_sort_by_the_share_that_passes() {
    let bench = bench().open();
    let of = |path: &str| {
        bench.row(path).unwrap().stored.map(|stored| (stored.passed, stored.decided, stored.errors))
    };
    assert_eq!(of("pier_small.json#row-1"), Some((2, 2, 0)));
    assert_eq!(of("pier_small.json#row-2"), Some((0, 2, 0)));
    assert_eq!(of("pier_small.json#row-3"), Some((1, 1, 0)));
    assert_eq!(of("a.yaml"), None);
    let worst = passing(&bench, "", Sort { column: Column::Stored, descending: false });
    assert_eq!(worst[..2], ["pier_large.json#row-3", "pier_small.json#row-2"]);
    assert_eq!(worst[6], "a.yaml", "what has nothing stored comes last");
}

/// Verdict of an evaluator on each run.
type VerdictsByRun = Vec<Option<(StoredResult, Option<String>)>>;

#[test]
fn a_comparison_has_a_line_for_each_evaluator_and_says_where_nothing_is_stored() {
    let bench = bench().open();
    let id = |path: &str| bench.row(path).unwrap().id;
    let ids = [id("pier_small.json#row-3"), id("pier_large.json#row-3"), id("a.yaml")];
    let compared = bench.app().runs().compare_runs(&ids).unwrap();
    let told: Vec<(String, VerdictsByRun)> = compared
        .stored
        .into_iter()
        .map(|line| {
            (
                line.evaluator,
                line.said.into_iter().map(|said| said.map(|it| (it.result, it.score))).collect(),
            )
        })
        .collect();
    let score = |text: &str| Some(text.to_owned());
    assert_eq!(
        told,
        [
            (
                "f1".to_owned(),
                vec![
                    Some((StoredResult::Pass, score("0.5"))),
                    Some((StoredResult::Fail, score("0.0"))),
                    None
                ]
            ),
            (
                "relevance".to_owned(),
                vec![
                    Some((StoredResult::None, None)),
                    Some((StoredResult::Fail, score("1.0"))),
                    None
                ]
            ),
        ]
    );
}

fn report(bench: &Bench, format: ReportFormat) -> String {
    let request = ReportRequest::for_format(format);
    bench.app().reports().make_report(&request, true).unwrap().text
}

#[test]
fn a_report_sums_up_each_evaluator_by_file_on_its_own_scale_and_makes_no_score_of_it() {
    let bench = bench().open();
    let page: Value = serde_json::from_str(&report(&bench, ReportFormat::Json)).unwrap();
    assert_eq!(page["head"]["scored"], 0);
    let sums = page["stored"].as_array().unwrap();
    let of = |evaluator: &str, group: &str| {
        sums.iter()
            .find(|sum| sum["evaluator"] == evaluator && sum["group"] == group)
            .unwrap()
            .clone()
    };
    assert_eq!(sums.len(), 4);
    let small = of("relevance", "pier_small");
    // One of three rows has no result, so the mean is that of the other two.
    assert_eq!(
        (&small["runs"], &small["numbers"], &small["mean"]["value"]),
        (&json!(3), &json!(2), &json!(3.0))
    );
    assert_eq!(
        (&small["passed"], &small["decided"], &small["none"], &small["errors"]),
        (&json!(1), &json!(2), &json!(1), &json!(0))
    );
    let large = of("relevance", "pier_large");
    assert_eq!(
        (&large["numbers"], &large["passed"], &large["decided"]),
        (&json!(3), &json!(2), &json!(3))
    );
    assert!(
        large["mean"]["low"].as_f64().unwrap() < large["mean"]["value"].as_f64().unwrap(),
        "{large}"
    );
    let run = page["runs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["path"] == "pier_small.json#row-2")
        .unwrap();
    assert_eq!(run["stored"][1]["reason"], "It does not answer.");
    for format in [ReportFormat::Html, ReportFormat::Markdown] {
        let text = report(&bench, format);
        assert!(
            text.contains("Stored verdicts") && text.contains("f1 0.0 fail; relevance 1.0 fail"),
            "{text}"
        );
    }
    let csv = report(&bench, ReportFormat::Csv);
    let line = csv.lines().find(|line| line.starts_with("pier_small.json#row-3")).unwrap();
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with(",stored.f1,stored.f1.result,stored.relevance,stored.relevance.result")
    );
    assert!(line.ends_with(",0.5,pass,,none"), "{line}");
    let lines = report(&bench, ReportFormat::Jsonl);
    assert_eq!(lines.matches("\"result\":\"fail\"").count(), 4);
}

#[test]
fn stored_verdicts_are_held_against_people_and_each_other_and_no_result_is_no_verdict() {
    let mut bench = bench();
    for (row, verdict) in [("row-1", "right"), ("row-2", "right"), ("row-3", "wrong")] {
        bench = bench.file(
            &format!("results/.touchstone/reviews/pier_small.json/{row}.yaml"),
            format!("verdict: {verdict}\nnote: I say so.\n"),
        );
    }
    let bench = bench.open();
    let told: Trust = wait_until("what people say is read", || {
        Some(bench.app().reviews().trust("").unwrap()).filter(|trust| trust.reviewed == 3)
    });
    let raters: Vec<_> = told
        .raters
        .iter()
        .map(|rater| {
            (rater.id.as_str(), rater.name.as_str(), rater.runs, rater.reviewed, rater.unread)
        })
        .collect();
    assert_eq!(
        raters,
        [
            ("people", "people", 3, 3, 0),
            ("stored:f1", "stored: f1", 6, 3, 0),
            ("stored:relevance", "stored: relevance", 5, 2, 0),
        ]
    );
    let pairs: Vec<_> = told
        .pairs
        .iter()
        .map(|pair| (pair.first.id.as_str(), pair.second.id.as_str(), pair.n, pair.same))
        .collect();
    assert_eq!(
        pairs,
        [
            ("people", "stored:f1", 3, 1),
            ("people", "stored:relevance", 2, 1),
            ("stored:f1", "stored:relevance", 5, 5)
        ]
    );
    let pair = bench.app().reviews().agreement("people", "stored:relevance", "").unwrap();
    let one = &pair.disagreements[0];
    assert_eq!(
        (one.path.as_str(), one.first.as_str(), one.second.as_str(), one.second_why.as_deref()),
        ("pier_small.json#row-2", "right", "wrong", Some("It does not answer."))
    );
    let large = bench.app().reviews().trust("path:pier_large*").unwrap();
    assert_eq!((large.raters.len(), large.pairs[0].n), (2, 3));
}

#[test]
fn a_table_that_has_no_columns_for_some_evaluators_says_so_in_the_notes_of_its_report() {
    let said: Vec<String> =
        (0..102).map(|at| format!("\"outputs.e{at:03}.e{at:03}\": 1")).collect();
    let bench = Bench::new()
        .file("results/wide.jsonl", format!("{{\"inputs.query\": \"q\", {}}}\n", said.join(", ")));
    let bench = bench.open();
    let notes = |format| {
        bench.app().reports().make_report(&ReportRequest::for_format(format), true).unwrap().notes
    };
    let is_told = |notes: Vec<String>| {
        notes.iter().filter(|note| note.contains(" 2 more are left out")).count()
    };
    assert_eq!((is_told(notes(ReportFormat::Csv)), is_told(notes(ReportFormat::Html))), (1, 0));
}

#[test]
fn what_was_not_applicable_passes_nowhere_though_its_file_says_pass_and_is_written_again_as_it_was()
{
    let row = |calls: &str, word: &str| {
        format!(
            "{{\"inputs.query\": \"q\", \"inputs.response\": \"r\", \"outputs.calls.calls\": \
             {calls}, \"outputs.calls.calls_result\": \"{word}\", \"outputs.calls.calls_reason\": \
             \"No calls.\"}}\n"
        )
    };
    let rows = row("\"not applicable\"", "pass") + &row("4.0", "pass");
    let bench = Bench::new().file("results/calls.jsonl", rows).open();
    assert_eq!(passing(&bench, "stored:calls=none", BY_PATH), ["calls.jsonl#row-1"]);
    assert_eq!(passing(&bench, "stored:calls=pass", BY_PATH), ["calls.jsonl#row-2"]);
    let counted = bench.row("calls.jsonl#row-1").unwrap();
    assert_eq!(
        counted.stored.map(|stored| (stored.passed, stored.decided, stored.errors)),
        Some((0, 0, 0))
    );
    let said = bench.app().scoring().run_scores(&counted.id).unwrap().stored.remove(0);
    assert_eq!(
        (said.result, said.passed, said.reason.as_deref()),
        (StoredResult::None, None, Some("No calls."))
    );
    let page: Value = serde_json::from_str(&report(&bench, ReportFormat::Json)).unwrap();
    let sum = &page["stored"][0];
    assert_eq!((&sum["passed"], &sum["decided"], &sum["none"]), (&json!(1), &json!(1), &json!(1)));
    let trust = bench.app().reviews().trust("").unwrap();
    assert_eq!((trust.raters[0].runs, trust.raters[0].unread), (1, 0));
    let written: Value = serde_json::from_str(&report(&bench, ReportFormat::Azure)).unwrap();
    let told = |key: &str| written["rows"][0][format!("outputs.calls.calls{key}")].clone();
    assert_eq!((told(""), told("_result")), ("not applicable".into(), "pass".into()));
}

#[test]
fn a_verdict_beside_an_error_is_one_run_of_its_evaluator_and_not_two() {
    let rows = r#"{"rows": [{"inputs.query": "a", "outputs.tone.score": 2, "outputs.tone.tone_result": "pass"},
            {"inputs.query": "b", "outputs.tone.score": null}],
        "errors": [{"row": 1, "evaluator": "tone", "why": "One round failed."}, {"row": 2, "evaluator": "tone", "why": "No model."}], "metrics": {}}"#;
    let bench = Bench::new().file("results/tone.json", rows).open();
    let raters = bench.app().reviews().trust("").unwrap().raters;
    let told: Vec<_> =
        raters.iter().map(|rater| (rater.id.as_str(), rater.runs, rater.unread)).collect();
    assert_eq!(told, [("stored:tone", 1, 1)]);
}

#[test]
fn scores_by_an_evaluator_are_1_where_it_passes_and_0_where_it_does_not() {
    let row = |query: &str, tone: &str| {
        format!("{{\"inputs.query\": \"{query}\", \"outputs.tone.score\": 2{tone}}}")
    };
    let rows = [
        row("a", ", \"outputs.tone.tone_result\": \"pass\""),
        row("b", ", \"outputs.tone.tone_result\": \"fail\""),
        row("c", ", \"outputs.tone.tone_result\": null"),
        row("d", ""),
    ];
    let errors = r#"[{"row": 4, "evaluator": "tone", "why": "No model."}]"#;
    let tone = format!(r#"{{"rows": [{}], "errors": {errors}, "metrics": {{}}}}"#, rows.join(","));
    let bench = bench().file("results/tone.json", tone).open();
    let board = |scorer: Option<&str>| {
        let request = LeaderboardRequest {
            filter: "-file:a.yaml".to_owned(),
            scorer: scorer.map(str::to_owned),
        };
        let rows = bench.app().stats().leaderboard(&request).unwrap().rows;
        let of = |row: LeaderboardRow| {
            let name = row.system.unwrap_or_default();
            (name, row.runs, row.score.map(|score| (score.value, score.known)))
        };
        let mut rows: Vec<_> = rows.into_iter().map(of).collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    };
    let named = |name: &str, runs, score| (name.to_owned(), runs, score);
    // Without a scorer, no verdict of a file is a score.
    let none = [named("pier_large", 3, None), named("pier_small", 3, None), named("tone", 4, None)];
    assert_eq!(board(None), none);
    // A row without a result, and one on which the evaluator failed, is in no mean.
    let [large, small] = [(2.0 / 3.0, 3), (0.5, 2)];
    let relevance = [
        named("pier_large", 3, Some(large)),
        named("pier_small", 3, Some(small)),
        named("tone", 4, None),
    ];
    assert_eq!(board(Some("verdict:relevance")), relevance);
    assert_eq!(board(Some("verdict:tone"))[2], named("tone", 4, Some((0.5, 2))));
    let failures = |scorer: &str| {
        let request =
            FailuresRequest { scorer: Some(scorer.to_owned()), ..FailuresRequest::default() };
        bench.app().failures().map(&request)
    };
    let map = failures("verdict:relevance").unwrap();
    assert_eq!(map.scorers, ["verdict:f1", "verdict:relevance", "verdict:tone"]);
    let unknown = failures("verdict:no_such").unwrap_err();
    assert!(unknown.message.contains("scored by `verdict:no_such`"), "{unknown:?}");
    // Files that are gone take their evaluators along.
    fs::remove_file(bench.path("results/tone.json")).unwrap();
    wait_until("the evaluator is gone", || {
        let gone = failures("verdict:tone").is_err();
        gone.then_some(())
    });
}

#[test]
fn evaluators_whose_verdicts_are_scores_are_not_listed_twice() {
    let bench = Bench::new()
        .file(
            "results/log.json",
            include_str!("../../src-tauri/imports/tests/fixtures/inspect/log.json"),
        )
        .open();
    let map = bench.app().failures().map(&FailuresRequest::default()).unwrap();
    assert!(map.scorers.iter().all(|name| !name.starts_with("verdict:")), "{:?}", map.scorers);
    assert!(!map.scorers.is_empty());
}
