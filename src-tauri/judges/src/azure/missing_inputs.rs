//! **Pure.** Finds rows with missing inputs or inputs of the wrong shape, without computing scores
//! or asking a model.
use super::numbers::is_missing;
use super::texts::text_of;
use super::{Evaluation, Evaluator, Inputs, Kind, Next, Pattern, Quirks};

/// Counts the rows that lack each required input. A conversation replaces all of them where the
/// evaluator accepts one.
pub fn count_missing_inputs(
    evaluator: &Evaluator,
    rows: impl IntoIterator<Item = Inputs>,
) -> Vec<(String, u64)> {
    let needs = evaluator.needs();
    let mut counts = vec![0; needs.len()];
    for inputs in rows {
        for (count, name) in counts.iter_mut().zip(&needs) {
            *count += u64::from(is_input_missing(evaluator, &inputs, name));
        }
    }
    let lacks = needs.iter().zip(counts).filter(|(_, count)| *count > 0);
    lacks.map(|(name, count)| ((*name).to_owned(), count)).collect()
}

/// Returns whether a row lacks an input.
fn is_input_missing(evaluator: &Evaluator, inputs: &Inputs, name: &str) -> bool {
    let talks = evaluator.takes.may_have.contains(&"conversation")
        && !is_missing(inputs.get("conversation"));
    !talks && is_missing(inputs.get(name))
}

/// Counts the rows that have all required inputs but cannot be evaluated, by reason (a sentence).
pub fn count_invalid_inputs(
    evaluator: &Evaluator,
    rows: impl IntoIterator<Item = Inputs>,
    quirks: &Quirks,
) -> Vec<(String, u64)> {
    let needs = evaluator.needs();
    let mut counts: Vec<(String, u64)> = Vec::new();
    for inputs in rows {
        // Missing inputs are reported by `lacking`.
        if needs.iter().any(|name| is_input_missing(evaluator, &inputs, name)) {
            continue;
        }
        let Some(why) = invalid_input_reason(evaluator, &inputs, quirks) else { continue };
        match counts.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => counts.push((why, 1)),
        }
    }
    counts
}

/// Returns whether an evaluator refuses the inputs of some row for this reason.
pub fn is_invalid_for(
    evaluator: &Evaluator,
    rows: impl IntoIterator<Item = Inputs>,
    quirks: &Quirks,
    reason: &str,
) -> bool {
    let needs = evaluator.needs();
    rows.into_iter()
        .filter(|inputs| !needs.iter().any(|name| is_input_missing(evaluator, inputs, name)))
        .any(|inputs| invalid_input_reason(evaluator, &inputs, quirks).as_deref() == Some(reason))
}

/// Returns the reason why a row's inputs have the wrong shape.
fn invalid_input_reason(evaluator: &Evaluator, inputs: &Inputs, quirks: &Quirks) -> Option<String> {
    let filled = |patterns: [&Pattern; 2]| {
        patterns.into_iter().find_map(|pattern| pattern.fill(inputs).err())
    };
    let failure = match &evaluator.kind {
        // The inputs of a program are not checked.
        Kind::Python(_) => None,
        // A conversation has its own texts.
        Kind::Text(_) if !is_missing(inputs.get("conversation")) => None,
        Kind::Text(_) => ["response", "ground_truth"]
            .into_iter()
            .find_map(|name| text_of(inputs, name, quirks).err()),
        Kind::Check(check) => filled([&check.input, &check.reference]),
        Kind::Likeness(likeness) => filled([&likeness.input, &likeness.reference]),
        _ => match Evaluation::new(evaluator, inputs, quirks).next() {
            Next::Done(Err(failure)) => Some(failure),
            _ => None,
        },
    };
    failure.filter(|failure| failure.by_input).map(|failure| failure.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    fn inputs(row: &str) -> Inputs {
        let row = json::read(row).unwrap();
        Inputs(
            row.entries()
                .iter()
                .map(|(key, value)| (key.text().unwrap().to_owned(), value.clone()))
                .collect(),
        )
    }

    #[test]
    fn rows_without_what_an_evaluator_needs_are_counted() {
        let rows = [
            r#"{"response": "a"}"#,
            r#"{"response": null, "query": "q"}"#,
            r#"{"conversation": {}}"#,
            r#"{"query": ""}"#,
        ];
        let rows = rows.map(inputs);
        let lacks = |name: &str| {
            let options = json::read(r#"{"kind": "KIND"}"#.replace("KIND", name).as_str()).unwrap();
            count_missing_inputs(&Evaluator::read("any", &options).unwrap(), rows.clone())
        };
        assert_eq!(lacks("relevance"), [("query".to_owned(), 1), ("response".to_owned(), 2)]);
        assert_eq!(lacks("fluency"), [("response".to_owned(), 2)]);
        assert_eq!(
            lacks("string_check"),
            [("response".to_owned(), 3), ("ground_truth".to_owned(), 4)]
        );
    }

    #[test]
    fn rows_of_another_shape_are_counted_by_what_is_wrong_with_them() {
        const MESSAGES: &str =
            r#"{"response": [{"role": "assistant", "content": "a"}], "ground_truth": "a"}"#;
        let told = |kind: &str, options: &str, rows: &[&str], quirks: &Quirks| {
            let evaluator = Evaluator::read(kind, &json::read(options).unwrap()).unwrap();
            let found =
                count_invalid_inputs(&evaluator, rows.iter().map(|row| inputs(row)), quirks);
            found
                .into_iter()
                .map(|(why, count)| format!("{count}: {why}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let ours = Quirks::default();
        let texts = [
            MESSAGES,
            MESSAGES,
            r#"{"response": "a", "ground_truth": {"b": 1}}"#,
            r#"{"response": 4, "ground_truth": true}"#,
            // A missing input, which `lacking` reports.
            r#"{"response": []}"#,
            r#"{"conversation": {"messages": []}}"#,
        ];
        assert_eq!(
            told("f1_score", "{}", &texts, &ours),
            "2: `response` is not text. 1: `ground_truth` is not text."
        );
        assert!(
            told("f1_score", "{}", &texts, &Quirks::all())
                .starts_with("3: `response` is not text.")
        );
        // Judges accept messages.
        assert_eq!(told("response_completeness", "{}", &[MESSAGES], &ours), "");
        assert_eq!(told("string_check", "{}", &[MESSAGES], &ours), "");
        let nested = r#"{"reference": "{{item.ground_truth.text}}"}"#;
        assert_eq!(
            told("string_check", nested, &[MESSAGES], &ours),
            "1: The row has no `ground_truth.text`."
        );
        let talk = r#"{"conversation": "hello"}"#;
        assert!(
            told("fluency", "{}", &[talk], &ours).starts_with("1: "),
            "{}",
            told("fluency", "{}", &[talk], &ours)
        );
        let documents = r#"{"retrieval_ground_truth": [], "retrieved_documents": {"a": 1}}"#;
        assert!(told("document_retrieval", "{}", &[documents], &ours).starts_with("1: "));
        assert_eq!(told("python", r#"{"source": "x"}"#, &[MESSAGES], &ours), "");
    }
}
