//! **Pure.** Interprets the result columns of an evaluator: finds score, verdict, threshold and
//! reason.
use touchstone_model::json;
use touchstone_model::node::{Node, Shape};
use touchstone_model::run::{Verdict, says_not_applicable};
use touchstone_model::scalar::Scalar;
use touchstone_model::value::Value;

/// Verdict columns that represent all verdicts of their evaluator.
const FOR_ALL: [&str; 2] = ["ndcg@3_result", "rouge_f1_score_result"];

/// Interprets the columns of an evaluator by their names.
pub(super) fn parse_verdict<'c>(evaluator: &str, columns: &[(&'c str, &'c Value)]) -> Verdict {
    let said: Vec<(&str, &Value)> =
        columns.iter().filter(|(_, value)| !is_missing(value)).copied().collect();
    let get = |key: &str| said.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    // If the representative column has no value for this row, the others are still not used.
    let one = FOR_ALL.iter().find(|key| columns.iter().any(|(known, _)| known == *key));
    let speaks = |key: &str| key.ends_with("_result") && one.is_none_or(|one| *one == key);
    let results: Vec<(&str, &Value)> =
        said.iter().filter(|(key, _)| speaks(key)).copied().collect();
    let base = |key: &'c str| key.strip_suffix("_result");
    // The package marks results as passed that it could not judge; these are not verdicts.
    let is_judged = |key: &'c str| {
        base(key).and_then(get).and_then(Value::text).is_none_or(|word| !says_not_applicable(word))
    };
    let judged: Vec<(&str, &Value)> =
        results.iter().filter(|(key, _)| is_judged(key)).copied().collect();
    let is_open = judged.is_empty() && !results.is_empty();
    let bases: Vec<&str> = match one {
        Some(one) => base(one).into_iter().collect(),
        None => results.iter().filter_map(|(key, _)| base(key)).collect(),
    };
    let of_base =
        |ends: &[&str]| bases.iter().chain([&evaluator]).find_map(|base| by_ends(&get, base, ends));
    let number = |(key, value): &(&str, &Value)| value.number().is_some() && !is_beside(key);
    // With several verdicts, no single score represents them all.
    let any =
        || said.iter().find(|one| number(one)).map(|(_, value)| *value).filter(|_| one.is_none());
    let score = of_base(&["", "_score"]).or_else(any).filter(|_| bases.len() < 2);
    let word =
        |key: &str| get(key).filter(|value| value.number().is_none() && scalar(value).is_some());
    let words = bases
        .iter()
        .chain([&evaluator])
        .find_map(|base| word(base).or_else(|| word(&format!("{base}_label"))));
    // Some evaluators only give a label, in a column of their own.
    let label =
        || said.iter().find(|(key, value)| key.ends_with("_label") && value.word().is_some());
    let words = words.or_else(|| word("label")).or_else(|| label().map(|(_, value)| *value));
    let first =
        |ends: &str| said.iter().find(|(key, _)| key.ends_with(ends)).map(|(_, value)| *value);
    let limit =
        of_base(&["_threshold"]).or_else(|| first("_threshold")).or_else(|| get("threshold"));
    let reason = text_of_base(&bases, evaluator, &get)
        .or_else(|| get("reason"))
        .or_else(|| first("_reason"));
    Verdict {
        evaluator: evaluator.to_owned(),
        score: score.filter(|_| !is_open).and_then(scalar),
        word: words.and_then(scalar),
        passed: passed(&judged, get("passed")).filter(|_| !is_open),
        threshold: limit.and_then(scalar),
        reason: reason.map(format_value).filter(|reason| !reason.trim().is_empty()),
        is_silent: said.is_empty(),
    }
}

/// Adds an error to the verdict of an evaluator without a result; if the evaluator has a result,
/// the error becomes a further verdict.
pub(super) fn fail(verdicts: &mut Vec<Verdict>, evaluator: &str, why: &str) {
    let is_silent =
        |one: &&mut Verdict| one.evaluator == evaluator && one.is_silent && one.reason.is_none();
    let reason = Some(why.to_owned());
    if let Some(silent) = verdicts.iter_mut().find(is_silent) {
        silent.reason = reason;
    } else {
        verdicts.push(Verdict {
            evaluator: evaluator.to_owned(),
            reason,
            is_silent: true,
            ..Verdict::default()
        });
    }
}

/// Combines verdicts: false if any failed, true if all passed.
fn passed(results: &[(&str, &Value)], flag: Option<&Value>) -> Option<bool> {
    let words: Vec<&str> = results.iter().filter_map(|(_, value)| value.word()).collect();
    match flag {
        _ if words.contains(&"fail") => Some(false),
        _ if !words.is_empty() => words.iter().all(|word| *word == "pass").then_some(true),
        Some(Value::Bool(flag)) => Some(*flag),
        _ => None,
    }
}

fn by_ends<'v>(
    get: &impl Fn(&str) -> Option<&'v Value>,
    base: &str,
    ends: &[&str],
) -> Option<&'v Value> {
    ends.iter()
        .find_map(|end| get(&format!("{base}{end}")).filter(|value| value.number().is_some()))
}

fn text_of_base<'v>(
    bases: &[&str],
    evaluator: &str,
    get: &impl Fn(&str) -> Option<&'v Value>,
) -> Option<&'v Value> {
    bases.iter().chain([&evaluator]).find_map(|base| get(&format!("{base}_reason")))
}

/// Returns true for numeric columns that are not scores.
fn is_beside(key: &str) -> bool {
    key.ends_with("_threshold") || key == "threshold" || key.ends_with("_spread")
}

/// Formats a scalar as text, booleans as yes or no. Returns `None` for lists and maps.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(if *flag { "yes" } else { "no" }.to_owned()),
        value => value.word().map(str::to_owned),
    }
}

fn format_value(value: &Value) -> String {
    value.text().map_or_else(|| json::write(value, false), str::to_owned)
}

/// Returns true for null and for NaN, which Python writes for missing values.
pub(super) fn is_missing(value: &Value) -> bool {
    matches!(value.shape(), Shape::Scalar(Scalar::Null | Scalar::Number(".nan" | "NaN")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_verdict(evaluator: &str, columns: &str) -> String {
        let value = json::read_python(columns).unwrap();
        let columns: Vec<(&str, &Value)> =
            value.entries().iter().filter_map(|(key, value)| Some((key.text()?, value))).collect();
        let Verdict { score, word, passed, threshold, reason, is_silent, .. } =
            parse_verdict(evaluator, &columns);
        let [score, word, threshold, reason] =
            [score, word, threshold, reason].map(|one| one.unwrap_or("–".into()));
        format!(
            "{score} {word} {passed:?} from {threshold}: {reason}{}",
            if is_silent { " (silent)" } else { "" }
        )
    }

    #[test]
    fn columns_are_told_apart_by_their_names() {
        for (evaluator, columns, says) in [
            (
                "relevance",
                r#"{"relevance": 5.0, "gpt_relevance": 5.0, "relevance_reason": "So it is.", "relevance_result": "pass", "relevance_threshold": 3}"#,
                "5.0 – Some(true) from 3: So it is.",
            ),
            (
                "mine",
                r#"{"relevance": 2, "relevance_result": "fail", "relevance_threshold": 3}"#,
                "2 – Some(false) from 3: –",
            ),
            (
                "f1_score",
                r#"{"f1_threshold": 0.5, "f1_score": 0.6, "f1_result": "pass"}"#,
                "0.6 – Some(true) from 0.5: –",
            ),
            (
                "violence",
                r#"{"violence": "Low", "violence_score": 3, "violence_reason": "a fight", "violence_result": "pass", "violence_threshold": 3}"#,
                "3 Low Some(true) from 3: a fight",
            ),
            (
                "rouge_score",
                concat!(
                    r#"{"rouge_precision": 1.0, "rouge_recall": 0.2, "rouge_f1_score": 0.3, "#,
                    r#""rouge_precision_result": "pass", "rouge_recall_result": "fail", "#,
                    r#""rouge_f1_score_result": "fail", "rouge_f1_score_threshold": 0.5}"#,
                ),
                "0.3 – Some(false) from 0.5: –",
            ),
            (
                "tone",
                r#"{"passed": false, "score": 0.0, "label": "rude", "reason": "It is rude.", "tone_result": "fail"}"#,
                "0.0 rude Some(false) from –: It is rude.",
            ),
            ("sopr", r#"{"score": 1.0, "passed": true}"#, "1.0 – Some(true) from –: –"),
            (
                "protected_material",
                r#"{"protected_material_label": true, "protected_material_reason": "a chorus"}"#,
                "– yes None from –: a chorus",
            ),
            (
                "tool_call_accuracy",
                concat!(
                    r#"{"tool_call_accuracy": "not applicable", "#,
                    r#""tool_call_accuracy_result": "not applicable", "#,
                    r#""tool_call_accuracy_threshold": 3, "#,
                    r#""tool_call_accuracy_reason": "No calls."}"#,
                ),
                "– not applicable None from 3: No calls.",
            ),
            (
                "relevance",
                r#"{"relevance": NaN, "relevance_reason": null}"#,
                "– – None from –: – (silent)",
            ),
            ("odd", r#"{"found": {"a": 1}}"#, "– – None from –: –"),
        ] {
            assert_eq!(describe_verdict(evaluator, columns), says, "{evaluator}");
        }
    }

    #[test]
    fn what_was_not_applicable_neither_passes_nor_fails_and_has_no_score() {
        for (evaluator, columns, says) in [
            // The package's own notation: nothing was judged, and a number next to it is not a
            // score.
            (
                "tool_call_accuracy",
                concat!(
                    r#"{"tool_call_accuracy": "not applicable", "#,
                    r#""tool_call_accuracy_result": "pass", "tool_call_accuracy_threshold": 3, "#,
                    r#""tool_call_accuracy_reason": "No calls.", "#,
                    r#""tool_call_accuracy_tokens": 7}"#,
                ),
                "– not applicable None from 3: No calls.",
            ),
            (
                "calls",
                r#"{"calls": " Not Applicable ", "calls_result": "fail", "passed": true}"#,
                "–  Not Applicable  None from –: –",
            ),
            (
                "agent",
                r#"{"intent_resolution": 2, "intent_resolution_result": "fail", "tool_call_accuracy": "not applicable", "tool_call_accuracy_result": "pass"}"#,
                "– not applicable Some(false) from –: –",
            ),
        ] {
            assert_eq!(describe_verdict(evaluator, columns), says, "{evaluator}");
        }
    }

    #[test]
    fn one_verdict_can_cover_several_metrics_and_several_verdicts_share_no_score() {
        for (evaluator, columns, says) in [
            (
                "document_retrieval",
                concat!(
                    r#"{"ndcg@3": 1.0, "xdcg@3": 20.4, "fidelity": 1.0, "#,
                    r#""ndcg@3_result": "pass", "ndcg@3_threshold": 0.5, "#,
                    r#""xdcg@3_result": "fail", "holes_result": "pass", "#,
                    r#""total_ground_truth_documents_result": "fail"}"#,
                ),
                "1.0 – Some(true) from 0.5: –",
            ),
            (
                "document_retrieval",
                concat!(
                    r#"{"ndcg@3": null, "xdcg@3": 0.0, "ndcg@3_result": null, "#,
                    r#""ndcg@3_threshold": 0.5, "ndcg@3_reason": "Nothing is relevant.", "#,
                    r#""xdcg@3_result": "fail"}"#,
                ),
                "– – None from 0.5: Nothing is relevant.",
            ),
            (
                "qa",
                concat!(
                    r#"{"groundedness": 5.0, "groundedness_reason": "all there", "#,
                    r#""groundedness_result": "pass", "groundedness_threshold": 3, "#,
                    r#""relevance": 2.0, "relevance_result": "fail", "f1_score": 0.6, "#,
                    r#""f1_result": "pass"}"#,
                ),
                "– – Some(false) from 3: all there",
            ),
        ] {
            assert_eq!(describe_verdict(evaluator, columns), says, "{evaluator}");
        }
    }
}
