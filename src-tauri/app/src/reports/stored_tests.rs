//! Tests of stored verdicts in every format.
use super::page::{Page, RunLine, StoredSum};
use super::tests::{estimate, page, run};
use super::{left_out, write};
use touchstone_api::{ReportFormat, StoredBrief, StoredResult};

pub(super) fn stored_verdict(evaluator: &str, result: StoredResult, score: &str) -> StoredBrief {
    let score = Some(score.to_owned()).filter(|score| !score.is_empty());
    StoredBrief {
        evaluator: evaluator.to_owned(),
        result,
        score,
        word: None,
        threshold: None,
        reason: None,
    }
}

pub(super) fn sum(evaluator: &str) -> StoredSum {
    StoredSum {
        evaluator: evaluator.to_owned(),
        group: "mine".to_owned(),
        runs: 4,
        numbers: 2,
        mean: Some(estimate(3.5)),
        passed: 1,
        decided: 2,
        rate: Some(estimate(0.5)),
        errors: 1,
        none: 1,
    }
}

#[test]
fn what_evaluators_are_stored_to_have_said_is_told_apart_from_scores_and_what_is_missing_is_no_number()
 {
    let stored = vec![
        stored_verdict("relevance", StoredResult::Fail, "-2.0"),
        stored_verdict("tone", StoredResult::Error, ""),
    ];
    let runs = vec![RunLine { stored, ..run("a.yaml", "all right") }, run("b.yaml", "all right")];
    let page = Page { stored: vec![sum("relevance")], ..page("plain", runs) };
    let of = |format| write(&page, format, None).unwrap();
    let markdown = of(ReportFormat::Markdown);
    let line = markdown.lines().find(|line| line.starts_with("| relevance")).unwrap();
    assert_eq!(
        line,
        "| relevance | mine | 4 | 2 | 3.50 (3.40–3.60) | 1/2 | 0.50 (0.40–0.60) | 1 | 1 |"
    );
    for text in [markdown, of(ReportFormat::Html)] {
        assert!(
            text.contains("Stored verdicts") && text.contains("relevance -2.0 fail; tone error"),
            "{text}"
        );
    }
    let csv = of(ReportFormat::Csv);
    let ends: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.split_once("forked_from").or(line.split_once("12.5,,,")))
        .map(|it| it.1)
        .collect();
    assert_eq!(
        ends,
        [
            ",stored.relevance,stored.relevance.result,stored.tone,stored.tone.result",
            ",-2.0,fail,,error",
            ",,,,"
        ]
    );
    let lines: Vec<serde_json::Value> =
        of(ReportFormat::Jsonl).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["stored"][1]["result"], &lines[0]["stored"][1]["score"], lines[1].get("stored")),
        (&"error".into(), &serde_json::Value::Null, None)
    );
}

#[test]
fn evaluators_that_have_no_columns_in_csv_are_counted_and_the_other_formats_have_them_all() {
    let of = |many: usize| {
        let stored = (0..many)
            .map(|at| stored_verdict(&format!("e{at:03}"), StoredResult::Pass, "1"))
            .collect();
        page("plain", vec![RunLine { stored, ..run("a.yaml", "all right") }])
    };
    let told = |many: usize, format| left_out(&of(many), format);
    let more = |more: &str| {
        format!(
            "CSV has columns for 100 evaluators whose verdicts are stored, the first by name. {more} left out; JSON and JSONL have them all."
        )
    };
    assert_eq!(told(100, ReportFormat::Csv), None);
    assert_eq!(told(101, ReportFormat::Csv), Some(more("1 more is")));
    assert_eq!(
        (told(107, ReportFormat::Csv), told(107, ReportFormat::Jsonl)),
        (Some(more("7 more are")), None)
    );
    let head = write(&of(107), ReportFormat::Csv, None).unwrap();
    let head = head.lines().next().unwrap();
    assert!(head.ends_with(",stored.e099,stored.e099.result"), "{head}");
    assert!(write(&of(107), ReportFormat::Jsonl, None).unwrap().contains("\"e106\""));
}
