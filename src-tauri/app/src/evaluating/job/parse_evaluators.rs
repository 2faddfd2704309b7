//! **Pure.** Parses evaluators from the command line or a file: comma-separated names, or a map of
//! names to settings.
use super::evaluation_spec::threshold_key;
use touchstone_api::EvaluatorRequest;
use touchstone_model::value::Value;
use touchstone_model::{json, yaml};

/// Name under which the package expects the mapping for evaluators without their own.
const DEFAULT: &str = "default";

/// Inputs with their sources, in order.
pub(crate) type Pairs = Vec<(String, String)>;

/// Creates requests from the kinds of evaluators.
pub(crate) fn from_kinds(kinds: &[String]) -> Vec<EvaluatorRequest> {
    let kinds = kinds.iter().map(|kind| kind.trim()).filter(|kind| !kind.is_empty());
    kinds
        .map(|kind| EvaluatorRequest { kind: kind.to_owned(), ..EvaluatorRequest::default() })
        .collect()
}

/// Parses the evaluators of a YAML or JSON file: `{name: {kind?, threshold?, options?,
/// column_mapping?}}`. Also returns the mapping for all evaluators.
pub(crate) fn parse_file(text: &str) -> Result<(Vec<EvaluatorRequest>, Pairs), String> {
    let value = yaml::read(text).map_err(|why| format!("it is neither YAML nor JSON: {why}"))?;
    if value.get("evaluators").is_some()
        && let Some(other) = value
            .entries()
            .iter()
            .filter_map(|(key, _)| key.text())
            .find(|key| *key != "evaluators")
    {
        return Err(format!(
            "`{other}` is beside `evaluators`, where it has no effect. Indent it below, or remove it."
        ));
    }
    let Value::Map(entries) = value.get("evaluators").cloned().unwrap_or(value) else {
        return Err("it has to name evaluators: `relevance: { threshold: 4 }`.".to_owned());
    };
    let (mut all, mut usual) = (Vec::new(), Vec::new());
    for (name, said) in &entries {
        let name = name.text().ok_or("names of evaluators are texts.")?;
        let mapping =
            said.get("column_mapping").map_or(Ok(Vec::new()), |value| mapping(name, value))?;
        if name == DEFAULT {
            if let Some(other) = said
                .entries()
                .iter()
                .filter_map(|(key, _)| key.text())
                .find(|key| *key != "column_mapping")
            {
                return Err(format!(
                    "`{DEFAULT}` cannot have `{other}`, only `column_mapping`, the mapping of all evaluators."
                ));
            }
            usual = mapping;
            continue;
        }
        all.push(EvaluatorRequest { mapping, ..parse_evaluator(name, said)? });
    }
    Ok((all, usual))
}

fn parse_evaluator(name: &str, said: &Value) -> Result<EvaluatorRequest, String> {
    let entries = match said {
        Value::Null => &[][..],
        Value::Map(entries) => entries,
        _ => return Err(format!("`{name}` has to be an object, such as `{{ threshold: 4 }}`.")),
    };
    let kind = said
        .get("kind")
        .map_or(Ok(name), |kind| kind.text().ok_or(format!("`kind` of `{name}` is a text.")))?;
    let mut options =
        said.get("options").map_or_else(Vec::new, |options| options.entries().to_vec());
    for (key, value) in entries {
        match key.text() {
            Some("kind" | "options" | "column_mapping") => {}
            Some("threshold") => options.push((Value::from(threshold_key(kind)), value.clone())),
            key => {
                let key = key.unwrap_or_default();
                return Err(format!(
                    "`{name}` cannot have `{key}`. Its keys are kind, threshold, options and column_mapping; everything else goes into options."
                ));
            }
        }
    }
    let options =
        if options.is_empty() { String::new() } else { json::write(&Value::Map(options), false) };
    Ok(EvaluatorRequest {
        kind: kind.to_owned(),
        name: name.to_owned(),
        options,
        ..EvaluatorRequest::default()
    })
}

fn mapping(name: &str, value: &Value) -> Result<Pairs, String> {
    let pair =
        |(input, from): &(Value, Value)| Some((input.text()?.to_owned(), from.text()?.to_owned()));
    let pairs: Option<Vec<_>> = value.entries().iter().map(pair).collect();
    pairs.filter(|_| matches!(value, Value::Map(_))).ok_or_else(|| {
        format!("`column_mapping` of `{name}` has to be an object, such as {{ query: \"${{data.question}}\" }}.")
    })
}

/// Applies mappings from the command line: `query=${data.question}` for all evaluators,
/// `relevance.query=…` for one.
pub(crate) fn apply_mappings(
    all: &mut [EvaluatorRequest],
    usual: &mut Pairs,
    typed: &[String],
) -> Result<(), String> {
    for typed in typed {
        let wrong = || {
            format!(
                "`{typed}` is not a mapping; write query=${{data.question}}, or relevance.query=… for one evaluator."
            )
        };
        let (input, from) = typed.split_once('=').ok_or_else(wrong)?;
        let one = all.iter_mut().find_map(|one| {
            let name = if one.name.is_empty() { &one.kind } else { &one.name };
            Some((input.strip_prefix(name.as_str())?.strip_prefix('.')?.to_owned(), one))
        });
        match one {
            Some((input, one)) => {
                one.mapping.retain(|(known, _)| *known != input);
                one.mapping.push((input, from.to_owned()));
            }
            None if input.contains('.') || input.is_empty() => {
                return Err(format!("`{typed}` names an evaluator that is not selected."));
            }
            None if usual.iter().any(|(known, _)| known == input) => {}
            None => usual.push((input.to_owned(), from.to_owned())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_evaluators((all, usual): &(Vec<EvaluatorRequest>, Pairs)) -> String {
        let pairs = |pairs: &Pairs| {
            pairs
                .iter()
                .map(|(input, from)| format!("{input}={from}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let one = |one: &EvaluatorRequest| {
            format!("{}:{} {} {}\n", one.name, one.kind, one.options, pairs(&one.mapping))
        };
        (all.iter().map(one).collect::<String>() + &pairs(usual)).trim_end().to_owned()
    }

    #[test]
    fn evaluators_of_a_file_have_names_kinds_options_and_mappings() {
        let yaml = "strict:\n  kind: f1_score\n  threshold: 0.8\
            \n  column_mapping: { response: '${data.a}' }\nrouge_score:\n  threshold: 0.25\
            \n  options: { rouge_type: rouge1 }\ndefault:\
            \n  column_mapping: { response: '${data.b}' }\nfluency:\n";
        let expected = "strict:f1_score {\"threshold\":0.8} response=${data.a}\n\
            rouge_score:rouge_score {\"rouge_type\":\"rouge1\",\"f1_score_threshold\":0.25} \n\
            fluency:fluency  \nresponse=${data.b}";
        assert_eq!(describe_evaluators(&parse_file(yaml).unwrap()), expected);
        let json = r#"{"evaluators": {"f1_score": {}}}"#;
        assert_eq!(describe_evaluators(&parse_file(json).unwrap()), "f1_score:f1_score");
        for (text, why) in [
            ("[", "it is neither YAML nor JSON"),
            ("f1_score", "it has to name evaluators"),
            ("a: 1", "`a` has to be an object"),
            ("a: { sort: 1 }", "`a` cannot have `sort`"),
            ("evaluators: { a: {} }\ncolum_mapping: {}", "`colum_mapping` is beside `evaluators`"),
            ("default: { threshold: 4 }", "`default` cannot have `threshold`"),
            ("a: { column_mapping: [x] }", "`column_mapping` of `a`"),
        ] {
            let error = parse_file(text).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn mappings_are_for_all_or_for_the_one_that_is_named() {
        let mut all = (
            from_kinds(&["relevance".to_owned(), " fluency ".to_owned(), String::new()]),
            Pairs::new(),
        );
        let typed = ["relevance.query=${data.q}", "query=${data.question}", "response=${data.a}"]
            .map(str::to_owned);
        apply_mappings(&mut all.0, &mut all.1, &typed).unwrap();
        assert_eq!(
            describe_evaluators(&all),
            ":relevance  query=${data.q}\n:fluency  \nquery=${data.question} response=${data.a}"
        );
        assert!(
            apply_mappings(&mut all.0, &mut all.1, &["query".to_owned()])
                .unwrap_err()
                .contains("is not a mapping")
        );
        assert!(
            apply_mappings(&mut all.0, &mut all.1, &["other.query=${data.q}".to_owned()])
                .unwrap_err()
                .contains("names an evaluator that is not selected")
        );
    }
}
