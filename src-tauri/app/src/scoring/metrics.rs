//! Text metrics for JSON lines. Needs no open folder and stores nothing.
use crate::error::{AppError, Code};
use touchstone_metrics::text::{Field, Metric, Texts, Thresholds, Weights, outcome};
use touchstone_model::json;
use touchstone_model::value::Value;

pub use touchstone_metrics::text::Nltk;

/// Measures the `response` of a line against its `ground_truth` with every metric, and returns the
/// result as a line. Fails if the line is not an object with both texts.
pub fn measure_line(line: &str, nltk: Nltk) -> Result<String, AppError> {
    let refused = |why: String| AppError::new(Code::BadRequest, why);
    let pair =
        json::read(line).map_err(|why| refused(format!("It is not a JSON object: {why}")))?;
    if !matches!(pair, Value::Map(_)) {
        return Err(refused("It is not a JSON object.".to_owned()).hint(SHAPE));
    }
    let text = |key: &str| match pair.get(key) {
        Some(Value::Text(text)) => Ok(text.as_str()),
        None | Some(Value::Null) => Err(refused(format!("`{key}` is missing.")).hint(SHAPE)),
        Some(_) => Err(refused(format!("`{key}` is not a text.")).hint(SHAPE)),
    };
    let texts = Texts::new(text("response")?, text("ground_truth")?, nltk);
    let outputs = Metric::ALL.map(|metric| {
        let fields = outcome(metric, &texts.measure(metric), Thresholds::default());
        (
            metric.name().into(),
            Value::Map(fields.into_iter().map(|(key, field)| (key.into(), value(field))).collect()),
        )
    });
    let without = Field::Number(texts.meteor_without_synonyms(Weights::default()));
    let outputs = outputs.into_iter().chain([("meteor_exact_stem_only".into(), value(without))]);
    let id = pair.get("id").cloned().unwrap_or_default();
    let line = [("id".into(), id), ("outputs".into(), Value::Map(outputs.collect()))];
    Ok(json::write(&Value::Map(line.into()), false))
}

const SHAPE: &str =
    r#"Each line looks like {"id": "1", "response": "a text", "ground_truth": "another"}."#;

/// Formats a number like Python: the shortest form that reads back as the same number, with a
/// fraction even if that is 0.
fn value(field: Field) -> Value {
    match field {
        Field::Number(number) => Value::Number(format!("{number:?}")),
        Field::Whole(number) => Value::Number(number.to_string()),
        Field::Word(word) => word.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(line: &str) -> String {
        measure_line(line, Nltk::default()).unwrap_or_else(|why| why.to_string())
    }

    #[test]
    fn a_line_answers_a_line_and_keeps_its_id_as_it_was_written() {
        let answer = measured(r#"{"ground_truth":"b","id":1.50,"response":"a","more":[]}"#);
        assert!(answer.starts_with(
            r#"{"id":1.50,"outputs":{"f1":{"f1_score":0.0,"f1_result":"fail","f1_threshold":0.5},"bleu":{"bleu_score":0,"#
        ));
        assert!(
            answer.ends_with(r#""rouge_f1_score_threshold":0.5},"meteor_exact_stem_only":0.0}}"#),
            "{answer}"
        );
        assert!(measured(r#"{"response":"","ground_truth":""}"#).starts_with(r#"{"id":null,"#));
    }

    #[test]
    fn input_that_cannot_be_measured_is_reported() {
        for (line, said) in [
            ("{", "not a JSON object"),
            ("[]", "not a JSON object"),
            (r#"{"response":"a"}"#, "`ground_truth` is missing."),
            (r#"{"response":null,"ground_truth":"a"}"#, "`response` is missing."),
            (r#"{"response":5,"ground_truth":"a"}"#, "`response` is not a text."),
        ] {
            assert!(measured(line).contains(said), "{line}: {}", measured(line));
        }
    }
}
