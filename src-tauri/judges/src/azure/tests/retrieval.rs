//! Tests of document retrieval in cases where the package behaves peculiarly.
use super::{evaluator, parse_inputs, run_evaluation};
use crate::azure::Quirks;

/// Returns the first metric of a row, or the error.
fn came(options: &str, truth: &str, found: &str, quirks: &Quirks) -> String {
    let row = format!(r#"{{"retrieval_ground_truth": {truth}, "retrieved_documents": {found}}}"#);
    let came =
        run_evaluation(&evaluator("document_retrieval", options), &parse_inputs(&row), &[], quirks)
            .1;
    came.split(",\"xdcg").next().unwrap_or_default().to_owned()
}

const TRUTH: &str = r#"[{"document_id": "a", "query_relevance_label": 4}, {"document_id": "b", "query_relevance_label": 0}]"#;

#[test]
fn scores_that_python_holds_for_equal_keep_their_order() {
    for (first, second) in [("-0.0", "0.0"), ("0", "-0.0"), ("-0.0", "0"), ("0.0", "-0.0")] {
        let found = format!(
            r#"[{{"document_id": "a", "relevance_score": {first}}}, {{"document_id": "b", "relevance_score": {second}}}]"#
        );
        assert_eq!(
            came("{}", TRUTH, &found, &Quirks::all()),
            r#"{"ndcg@3":1.0"#,
            "{first} {second}"
        );
    }
}

#[test]
fn shares_of_labels_that_come_to_nothing_are_an_error_where_the_package_is_followed() {
    let below = r#"{"ground_truth_label_min": -3, "ground_truth_label_max": 3}"#;
    let truth = concat!(
        r#"[{"document_id": "a", "query_relevance_label": 0}, {"document_id": "b", "#,
        r#""query_relevance_label": -1}, {"document_id": "c", "query_relevance_label": 0}, "#,
        r#"{"document_id": "d", "query_relevance_label": 0}]"#,
    );
    let found = r#"[{"document_id": "b", "relevance_score": 1}]"#;
    assert_eq!(
        came(below, truth, found, &Quirks::all()),
        "input: There is no share of labels that come to nothing."
    );
    assert_eq!(came(below, truth, found, &Quirks::default()), r#"{"ndcg@3":"NaN""#);
    // An unlabelled document counts as 0, which is outside of the label range here.
    let negative = r#"{"ground_truth_label_min": -5, "ground_truth_label_max": -1}"#;
    let truth = r#"[{"document_id": "a", "query_relevance_label": -2}]"#;
    let found = r#"[{"document_id": "a", "relevance_score": 1}, {"document_id": "z", "relevance_score": 2}]"#;
    assert!(came(negative, truth, found, &Quirks::all()).starts_with("input: "));
}

#[test]
fn a_list_in_a_text_is_read_and_the_package_reads_none() {
    let quoted = |list: &str| format!("\"{}\"", list.replace('"', "\\\""));
    let found = r#"[{"document_id": "a", "relevance_score": 1}]"#;
    assert_eq!(came("{}", TRUTH, &quoted(found), &Quirks::default()), r#"{"ndcg@3":1.0"#);
    assert_eq!(came("{}", TRUTH, &quoted(found), &Quirks::all()), r#"{"ndcg@3":0.0"#);
    assert_eq!(came("{}", &quoted(TRUTH), found, &Quirks::default()), r#"{"ndcg@3":1.0"#);
    assert_eq!(
        came("{}", &quoted(TRUTH), found, &Quirks::all()),
        "input: `retrieval_ground_truth` has no documents."
    );
    for id in ["[1]", "{}"] {
        let found = format!(r#"[{{"document_id": {id}, "relevance_score": 1}}]"#);
        assert!(came("{}", TRUTH, &found, &Quirks::all()).contains("lacks `document_id`"), "{id}");
    }
}
