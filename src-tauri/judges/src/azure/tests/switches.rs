//! Tests that each quirk has an effect when it is on alone.
use super::{evaluator, parse_inputs, run_evaluation, value};
use crate::azure::{Evaluator, QUIRKS, Quirks};

const TAGS: &str = "<S1>r</S1><S2>4</S2>";
const ROW: &str = r#"{"query": "q", "response": "r", "context": "c"}"#;
const CALLED: &str = concat!(
    r#"{"query": "q", "tool_calls": [{"type": "tool_call", "name": "f", "arguments": {}}], "#,
    r#""tool_definitions": [{"name": "f", "type": "function"}]}"#,
);
const LEVEL: &str = r#"{"chain_of_thought": "r", "tool_calls_success_level": 4}"#;
const SCORE: &str = r#"{"explanation": "r", "score": 4}"#;
const TALK: &str = concat!(
    r#"{"conversation": {"messages": [{"role": "assistant", "content": "Hi"}, {"role": "user", "#,
    r#""content": "A?"}, {"role": "assistant", "content": "a"}, {"role": "user", "#,
    r#""content": "B?"}, {"role": "assistant", "content": "b"}]}}"#,
);

/// Quirks that only affect whole files.
const OF_FILES: [&str; 7] = [
    "mapped_in_all_rows",
    "own_mapping_only",
    "pandas_types",
    "bare_nan",
    "names_cut_at_dots",
    "aggregate_over_all_rows",
    "thresholds_averaged",
];

/// Quirks that change the accepted options, with ROUGE options that show the change.
const OF_OPTIONS: [(&str, &str); 2] = [
    ("rouge_types_unlisted", r#"{"rouge_type": "rouge6"}"#),
    ("rouge_thresholds_with_fraction", r#"{"recall_threshold": 1}"#),
];

/// Quirk, and evaluator kind, options, inputs and reply that show its effect.
const SHOWN_BY: [(&str, &str, &str, &str, &str); 28] = [
    ("hidden_tool_definitions", "tool_call_accuracy", "{}", CALLED, LEVEL),
    ("groundedness_ignores_query", "groundedness", "{}", ROW, TAGS),
    ("not_applicable_passes", "tool_call_accuracy", "{}", r#"{"query": "q"}"#, ""),
    ("first_digit", "fluency", "{}", ROW, "<S1>r</S1><S2>10</S2>"),
    ("unbounded_scores", "relevance", "{}", ROW, r#"{"explanation": "r", "score": 9}"#),
    ("booleans_as_scores", "task_adherence", "{}", ROW, r#"{"explanation": "r", "score": true}"#),
    ("strict_json", "relevance", "{}", ROW, "My verdict:\n{\"explanation\": \"r\", \"score\": 4}"),
    ("reasons_not_needed", "relevance", "{}", ROW, r#"{"explanation": null, "score": 4}"#),
    ("asked_once", "fluency", "{}", ROW, "no"),
    ("unreadable_kept", "fluency", "{}", ROW, "no"),
    (
        "whole_completeness",
        "response_completeness",
        r#"{"threshold": 2.5}"#,
        r#"{"response": "r", "ground_truth": "g"}"#,
        TAGS,
    ),
    (
        "contents_unread",
        "relevance",
        "{}",
        r#"{"query": [{"role": "user", "content": "q"}], "response": "r"}"#,
        SCORE,
    ),
    (
        "openai_calls_unread",
        "tool_call_accuracy",
        "{}",
        r#"{"tool_calls": [{"id": "k", "function": {"name": "f", "arguments": "{}"}}], "tool_definitions": [{"name": "f"}]}"#,
        LEVEL,
    ),
    (
        "repeated_ids_share_results",
        "task_adherence",
        "{}",
        concat!(
            r#"{"query": "q", "response": [{"role": "assistant", "#,
            r#""content": [{"type": "tool_call", "tool_call_id": "1", "name": "f", "#,
            r#""arguments": {}}]}, {"role": "tool", "tool_call_id": "1", "#,
            r#""content": [{"type": "tool_result", "tool_result": "a"}]}, "#,
            r#"{"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "1", "#,
            r#""name": "f", "arguments": {}}]}]}"#,
        ),
        SCORE,
    ),
    (
        "odd_histories_unread",
        "relevance",
        "{}",
        r#"{"query": [{"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}], "response": "r"}"#,
        SCORE,
    ),
    (
        "messages_run_together",
        "relevance",
        "{}",
        r#"{"query": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "response": "r"}"#,
        SCORE,
    ),
    ("python_repr", "fluency", "{}", r#"{"response": {"a": true}}"#, TAGS),
    ("turns_zipped", "coherence", "{}", TALK, TAGS),
    ("turns_without_result", "fluency", "{}", TALK, TAGS),
    ("empty_conversations", "fluency", "{}", r#"{"conversation": {"messages": []}}"#, TAGS),
    ("turns_filled_up", "groundedness", "{}", TALK, TAGS),
    ("vague_errors", "fluency", "{}", "{}", TAGS),
    (
        "qa_f1_always_passes",
        "qa",
        "{}",
        r#"{"query": "q", "response": "r", "context": "c", "ground_truth": "g"}"#,
        "",
    ),
    (
        "string_sorted_labels",
        "document_retrieval",
        r#"{"ground_truth_label_max": 12}"#,
        concat!(
            r#"{"retrieval_ground_truth": [{"document_id": "a", "query_relevance_label": 2}, "#,
            r#"{"document_id": "b", "query_relevance_label": 10}], "#,
            r#""retrieved_documents": [{"document_id": "a", "relevance_score": 1}]}"#,
        ),
        "",
    ),
    (
        "unreachable_thresholds",
        "document_retrieval",
        "{}",
        concat!(
            r#"{"retrieval_ground_truth": [{"document_id": "a", "query_relevance_label": 4}], "#,
            r#""retrieved_documents": [{"document_id": "a", "relevance_score": 1}]}"#,
        ),
        "",
    ),
    (
        "nothing_relevant_fails",
        "document_retrieval",
        "{}",
        concat!(
            r#"{"retrieval_ground_truth": [{"document_id": "a", "query_relevance_label": 0}], "#,
            r#""retrieved_documents": [{"document_id": "a", "relevance_score": 1}]}"#,
        ),
        "",
    ),
    (
        "unlisted_documents_are_none",
        "document_retrieval",
        "{}",
        r#"{"retrieval_ground_truth": [{"document_id": "a", "query_relevance_label": 4}], "retrieved_documents": "a"}"#,
        "",
    ),
    (
        "unread_scores_are_zero",
        "score_model",
        r#"{"input": [{"role": "user", "content": "Rate it."}]}"#,
        "{}",
        "none",
    ),
];

#[test]
fn every_switch_shows_by_itself() {
    let shown: Vec<&str> = SHOWN_BY.iter().map(|(name, ..)| *name).chain(OF_FILES).collect();
    let shown = [shown, OF_OPTIONS.map(|(name, _)| name).to_vec()].concat();
    for quirk in &QUIRKS {
        assert!(shown.contains(&quirk.name), "nothing shows what `{}` does", quirk.name);
    }
    for (name, options) in OF_OPTIONS {
        let is_read = |quirks: &Quirks| {
            Evaluator::read_with_quirks("rouge_score", &value(options), quirks).is_ok()
        };
        assert_ne!(
            is_read(&Quirks::default()),
            is_read(&Quirks::from_names([name]).unwrap()),
            "`{name}` changes nothing"
        );
    }
    for (name, kind, options, inputs, reply) in SHOWN_BY {
        let evaluator = evaluator(kind, options);
        // In `qa`, one judge replies with a digit, one with an object, and the others with tags.
        let replies = if kind == "qa" { vec![TAGS, SCORE, TAGS, TAGS, "4"] } else { vec![reply] };
        let seen = |quirks: &Quirks| {
            let (asked, came) = run_evaluation(&evaluator, &parse_inputs(inputs), &replies, quirks);
            (asked.into_iter().map(|question| question.text).collect::<Vec<_>>(), came)
        };
        assert_ne!(
            seen(&Quirks::default()),
            seen(&Quirks::from_names([name]).unwrap()),
            "`{name}` changes nothing"
        );
    }
}

#[test]
fn rouge_takes_the_types_and_thresholds_of_the_package_where_it_is_followed() {
    let read = |options: &str, quirks: &Quirks| {
        Evaluator::read_with_quirks("rouge_score", &value(options), quirks)
    };
    for (kind, theirs) in [
        ("rouge1", ""),
        ("rouge9", ""),
        ("rougeLsum", ""),
        ("rouge0", "rougen requires positive n: rouge0"),
        ("rouge10", "Invalid rouge type: rouge10"),
        ("rouge+1", "Invalid rouge type: rouge+1"),
        ("ROUGE_1", "Invalid rouge type: ROUGE_1"),
    ] {
        let options = format!(r#"{{"rouge_type": "{kind}"}}"#);
        assert_eq!(read(&options, &Quirks::all()).err().unwrap_or_default(), theirs);
        let ours = read(&options, &Quirks::default()).err().unwrap_or_default();
        assert_eq!(
            ours.ends_with("There are rouge1 to rouge5 and rougeL."),
            kind != "rouge1",
            "{ours}"
        );
    }
    assert_eq!(
        read(r#"{"f1_score_threshold": 1}"#, &Quirks::all()).unwrap_err(),
        "f1_score_threshold must be a float, got <class 'int'>"
    );
    assert!(read(r#"{"f1_score_threshold": 1.0}"#, &Quirks::all()).is_ok());
    let row = r#"{"response": "a b c d e f g\nx y", "ground_truth": "x y\na b c d e f h"}"#;
    let of = |kind: &str| {
        let evaluator = read(&format!(r#"{{"rouge_type": "{kind}"}}"#), &Quirks::all()).unwrap();
        run_evaluation(&evaluator, &parse_inputs(row), &[], &Quirks::all()).1
    };
    assert!(
        of("rouge6").starts_with(r#"{"rouge_precision":0.25,"rouge_recall":0.25,"#),
        "{}",
        of("rouge6")
    );
    // rougeLsum allows lines in a different order.
    assert!(
        of("rougeLsum").starts_with(r#"{"rouge_precision":0.8888888888888888,"#),
        "{}",
        of("rougeLsum")
    );
    assert!(
        of("rougeL").starts_with(r#"{"rouge_precision":0.6666666666666666,"#),
        "{}",
        of("rougeL")
    );
}
