//! What the evaluators without a model, the sums over rows and the files of results come to, against what azure-ai-evaluation 1.10.0 gave.
//! Its results are not part of the project; without them only our own cases run.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::PathBuf;
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_scoring::azure::{Evaluation, Evaluator, Failure, Inputs, Next, Outcome, Quirks};

fn golden(name: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure").join(name);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("skipped: there is no {}", path.display());
    }
    text
}

fn inputs(value: &Value) -> Inputs {
    Inputs(value.entries().iter().map(|(key, value)| (key.text().unwrap().to_owned(), value.clone())).collect())
}

fn done(evaluator: &Evaluator, inputs: &Inputs, quirks: &Quirks) -> Result<Outcome, Failure> {
    match Evaluation::new(evaluator, inputs, quirks).next() {
        Next::Done(result) => result,
        next => panic!("{next:?}"),
    }
}

fn with(params: &Value, more: &[(&str, &str)]) -> Value {
    let more = more.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    Value::Map(params.entries().iter().cloned().chain(more).collect())
}

/// Numbers that are none are texts in the files.
fn plain(value: &Value) -> Value {
    match value {
        Value::Text(text) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") => Value::Number(text.clone()),
        Value::Map(entries) => Value::Map(entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect()),
        other => other.clone(),
    }
}

fn map(outcome: Outcome) -> Value {
    Value::Map(outcome.into_iter().map(|(key, value)| (Value::Text(key), value)).collect())
}

#[test]
fn text_evaluators_with_options_come_to_what_the_package_does() {
    let Some(text) = golden("metrics.jsonl") else { return };
    let (mut cases, mut refused, mut others) = (0, 0, 0);
    for row in text.lines().map(|line| json::read(line).unwrap()) {
        if row.get("kind") != Some(&"text_params".into()) {
            continue;
        }
        let (group, params, theirs) =
            (row.get("group").unwrap(), row.get("params").unwrap(), row.get("outputs").unwrap());
        let kind = match group.text().unwrap() {
            "F1ScoreEvaluator" => "f1_score",
            "BleuScoreEvaluator" => "bleu_score",
            "GleuScoreEvaluator" => "gleu_score",
            "MeteorScoreEvaluator" => "meteor_score",
            "RougeScoreEvaluator" => "rouge_score",
            other => panic!("{other}"),
        };
        let name = format!("{kind} {}", json::write(params, false));
        match (Evaluator::read("any", &with(params, &[("kind", kind)])), theirs.get("error")) {
            (Ok(evaluator), None) => {
                let ours = done(&evaluator, &inputs(row.get("inputs").unwrap()), &Quirks::default()).unwrap();
                assert_eq!(map(ours), plain(theirs), "{name}");
                cases += 1;
            }
            (Err(why), Some(_)) => {
                assert!(why.starts_with("Invalid rouge type: "), "{name} {why}");
                refused += 1;
            }
            // Types of ROUGE that nobody meant to allow, and a threshold of 1 where the package wants 1.0.
            (Err(_), None) | (Ok(_), Some(_)) => others += 1,
        }
    }
    println!("cases: {cases} text_params, {refused} refused by both, {others} differ on purpose");
    assert!(cases > 90 && others < 20);
}

#[test]
fn found_documents_come_to_what_the_package_does() {
    let Some(text) = golden("metrics.jsonl") else { return };
    let (mut cases, mut refused) = (0, 0);
    for row in text.lines().map(|line| json::read(line).unwrap()) {
        if row.get("kind") != Some(&"document_retrieval".into()) {
            continue;
        }
        let name = row.get("id").and_then(Value::text).unwrap();
        let (params, theirs) = (row.get("params").unwrap(), row.get("outputs").unwrap());
        let ours = Evaluator::read("any", &with(params, &[("kind", "document_retrieval")])).and_then(|evaluator| {
            let inputs = inputs(row.get("inputs").unwrap());
            done(&evaluator, &inputs, &Quirks::all()).map_err(|failure| failure.message)
        });
        match (ours, theirs.get("message")) {
            (Ok(ours), None) => {
                assert_eq!(map(ours), plain(theirs), "{name}");
                cases += 1;
            }
            (Err(why), Some(message)) => {
                let message = message.text().unwrap();
                let other = ["'True'", "(UserError) DocumentRetrievalEvaluator: Either"];
                let same = message.trim_start_matches("(InternalError) ") == why;
                assert!(same || other.iter().any(|other| message.starts_with(other)), "{name} {why} / {message}");
                refused += 1;
            }
            (ours, _) => panic!("{name} {ours:?} / {theirs:?}"),
        }
    }
    println!("cases: {cases} document_retrieval, {refused} refused by both");
    assert!(cases > 30);
}
