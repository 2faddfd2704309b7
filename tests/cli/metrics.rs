//! Tests of `metrics`: one line of scores for each line of texts.
use crate::sandbox::{Ran, Sandbox};
use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

const PAIRS: &str = include_str!("../fixtures/metrics/pairs.jsonl");

fn measured(name: &str, arguments: &[&str], input: &[u8]) -> Ran {
    Sandbox::with(name, &[]).fed(&[&["metrics"], arguments].concat(), input)
}

#[test]
fn every_pair_gets_its_scores_in_the_shape_of_the_package() {
    let ran = measured("metrics", &[], PAIRS.as_bytes());
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let answers = ran.json();
    assert_eq!(answers.len(), PAIRS.lines().count());
    let names =
        "f1 bleu gleu meteor rouge1 rouge2 rouge3 rouge4 rouge5 rougeL meteor_exact_stem_only";
    for (answer, pair) in answers.iter().zip(PAIRS.lines()) {
        let pair: Value = serde_json::from_str(pair).unwrap();
        assert_eq!(answer["id"], pair["id"]);
        let outputs = answer["outputs"].as_object().unwrap();
        assert_eq!(outputs.keys().map(String::as_str).collect::<Vec<_>>().join(" "), names);
        for metric in ["f1", "bleu", "gleu", "meteor"] {
            assert_eq!(
                outputs[metric][format!("{metric}_score")],
                pair["scores"][metric],
                "{} {metric}",
                pair["id"]
            );
        }
        assert_eq!(
            outputs["rougeL"]["rouge_recall"], pair["scores"]["rougeL"][1],
            "{}",
            pair["id"]
        );
    }
    // A bare 0 is BLEU without a common word; any other number has a fraction.
    assert!(
        ran.out.contains("\"bleu_score\":0,") && ran.out.contains("\"f1_score\":1.0,"),
        "{}",
        ran.out
    );
}

#[test]
fn a_bad_line_is_said_with_its_number_and_the_others_go_on() {
    let input =
        b"{\"id\":1,\"response\":\"a\",\"ground_truth\":\"a\"}\nnonsense\n\n{\"id\":2,\"response\":\"a\"}\n\xff\xfe\n\
        {\"id\":\"last\",\"response\":\"a\",\"ground_truth\":\"\\u001b[2K\"}";
    let ran = measured("metrics-bad", &[], input);
    assert_eq!(ran.status, 1, "{ran:?}");
    let ids: Vec<Value> = ran.json().into_iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [Value::from(1), Value::from("last")]);
    for line in ["Line 2 ", "Line 4 ", "Line 5 "] {
        assert!(ran.err.contains(line), "{line}\n{}", ran.err);
    }
    assert!(
        ran.err.contains("`ground_truth` is missing") && !ran.err.contains("Line 3"),
        "{}",
        ran.err
    );
}

#[test]
fn the_other_version_of_nltk_cuts_quotes_otherwise() {
    let pair = br#"{"id":1,"response":"the 'red' one","ground_truth":"the 'blue' one"}"#;
    let score = |arguments: &[&str]| {
        measured("metrics-nltk", arguments, pair).json()[0]["outputs"]["gleu"].clone()
    };
    assert_ne!(score(&["--nltk", "3.9.1"]), score(&["--nltk", "3.10.4"]));
    assert_eq!(score(&["--json"]), score(&["--nltk", "3.10.4"]));
    let ran = measured("metrics-version", &["--nltk", "3.8"], pair);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("3.9.1"), "{}", ran.err);
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let mut command = Sandbox::with("metrics-stream", &[]).command(&["metrics"]);
    let mut child =
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut into, mut from) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for id in 0..3 {
        writeln!(into, r#"{{"id":{id},"response":"a","ground_truth":"a"}}"#).unwrap();
        into.flush().unwrap();
        let mut answer = String::new();
        from.read_line(&mut answer).unwrap();
        assert!(answer.starts_with(&format!(r#"{{"id":{id},"#)), "{answer}");
    }
    drop(into);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(measured("metrics-none", &[], b"").status, 0);
}
