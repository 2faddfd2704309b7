//! Compares the text metrics with the output of azure-ai-evaluation 1.10.0. That output is not part
//! of the repository; without it the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use crate::expected::{Count, number};
use std::path::Path;
use touchstone_metrics::text::{Metric, Nltk, Texts, Thresholds, Weights, outcome};
use touchstone_model::json;
use touchstone_model::value::Value;

fn rows(kind: &str) -> Option<Vec<Value>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure/metrics.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    };
    let rows = text.lines().map(|line| json::read(line).unwrap());
    Some(rows.filter(|row| row.get("kind") == Some(&kind.into())).collect())
}

fn inputs(row: &Value) -> (&str, &str) {
    let text =
        |key| row.get("inputs").and_then(|inputs| inputs.get(key)).and_then(Value::text).unwrap();
    (text("response"), text("ground_truth"))
}

#[test]
fn every_score_is_that_of_the_package() {
    let Some(rows) = rows("text") else { return };
    for nltk in [Nltk::V3_10, Nltk::V3_9] {
        let (mut count, mut cases) = (Count::default(), 0);
        for row in &rows {
            let name = format!("{} {}", row.get("id").and_then(Value::text).unwrap(), nltk.name());
            let (response, truth) = inputs(row);
            let texts = Texts::new(response, truth, nltk);
            // Values that are the same in the other version are stored only once.
            let of = |part: &str, key: &str| {
                let other = (nltk == Nltk::V3_9)
                    .then(|| row.get(&format!("{part}_nltk_3_9_1"))?.get(key))
                    .flatten();
                other.or_else(|| row.get(part)?.get(key))
            };
            if let (Some(tokens), Some(matches)) =
                (of("debug", "nltk_tokens"), of("debug", "meteor_matches"))
            {
                tokens_and_alignment(&name, &texts, tokens, matches);
            }
            count.all_metrics(&name, &texts, &|metric| of("outputs", metric));
            cases += 1;
        }
        count.done(nltk.name(), cases);
    }
}

fn tokens_and_alignment(name: &str, texts: &Texts<'_>, tokens: &Value, matches: &Value) {
    let (response, truth) = texts.tokens();
    let list = |key| -> Vec<&str> {
        tokens.get(key).unwrap().items().iter().map(|token| token.text().unwrap()).collect()
    };
    assert_eq!(response, list("response"), "{name}");
    assert_eq!(truth, list("ground_truth"), "{name}");
    let pair = |(response, truth): &(usize, usize)| {
        Value::List([response, truth].map(|at| Value::Number(at.to_string())).to_vec())
    };
    assert_eq!(&Value::List(texts.alignment().iter().map(pair).collect()), matches, "{name}");
}

#[test]
fn thresholds_and_weights_are_followed() {
    let Some(rows) = rows("text_params") else { return };
    let (mut count, mut cases, mut others) = (Count::default(), 0, 0);
    for row in &rows {
        let (group, params) =
            (row.get("group").and_then(Value::text).unwrap(), row.get("params").unwrap());
        let is = |metric: &Metric| match params.get("rouge_type").and_then(Value::text) {
            Some(name) => metric.name() == name,
            None => group.to_lowercase().starts_with(metric.name()),
        };
        let theirs = row.get("outputs").unwrap();
        let Some(metric) =
            Metric::ALL.into_iter().find(is).filter(|_| theirs.get("error").is_none())
        else {
            others += 1;
            continue;
        };
        let given = |name: &str, usual: f64| params.get(name).map_or(usual, number);
        let limit = given("threshold", 0.5);
        let thresholds = Thresholds {
            score: given("f1_score_threshold", limit),
            precision: given("precision_threshold", limit),
            recall: given("recall_threshold", limit),
        };
        let (response, truth) = inputs(row);
        let texts = Texts::new(response, truth, Nltk::default());
        let weights = Weights {
            alpha: given("alpha", 0.9),
            beta: given("beta", 3.0),
            gamma: given("gamma", 0.5),
        };
        let measured = if metric == Metric::Meteor {
            texts.meteor(weights).into()
        } else {
            texts.measure(metric)
        };
        count.result(
            &format!("{group} {params:?}"),
            &outcome(metric, &measured, thresholds),
            theirs,
        );
        cases += 1;
    }
    println!("{others} others are refused by the package, or no metric of ours");
    count.done("parameters", cases);
}
