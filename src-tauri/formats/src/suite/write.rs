//! **Pure.** Writes a suite from tasks of others: one variation for each, whose prompt is a parameter.
//! The text is read back before it is returned, so that a suite which cannot be used is never written.
use super::{Expected, Suite, read};
use crate::system::System;
use std::collections::BTreeSet;
use touchstone_model::value::Value;
use touchstone_model::yaml;

/// A suite to write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewSuite {
    /// Title.
    pub name: String,
    /// Note on where it comes from.
    pub description: String,
    /// Keys for all variations, as in the file.
    pub shared: Vec<(&'static str, Value)>,
    /// Variations; at least one.
    pub variations: Vec<NewVariation>,
}

/// A variation to write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewVariation {
    /// Name. Made unique when it is written.
    pub name: String,
    /// Prompt for tool calling.
    pub tool_calling: String,
    /// Prompt for `PromptQL`.
    pub promptql: String,
    /// Expected answer, if known.
    pub expected: Option<Value>,
}

/// Parameter with the prompt, where it is the same for all systems.
const PROMPT: &str = "prompt";
/// Parameter with the prompt for `PromptQL`, where it differs.
const PROMPTQL: &str = "promptql";

/// Formats a suite. Fails with a sentence if reading the text does not give the same prompts and
/// expected answers.
pub fn write(suite: &NewSuite) -> Result<String, String> {
    let differ = suite.variations.iter().any(|one| one.tool_calling != one.promptql);
    let mut names = BTreeSet::new();
    let mut variations = Vec::new();
    for one in &suite.variations {
        let mut parameters = vec![(PROMPT.into(), Value::from(one.tool_calling.as_str()))];
        if differ {
            parameters.push((PROMPTQL.into(), one.promptql.as_str().into()));
        }
        let mut entries: Vec<(Value, Value)> = vec![
            ("name".into(), Value::Text(unique(&one.name, &mut names))),
            ("parameters".into(), Value::Map(parameters)),
        ];
        if let Some(expected) = &one.expected {
            entries.push(("expected_output".into(), expected.clone()));
        }
        variations.push(Value::Map(entries));
    }
    let promptql = if differ { PROMPTQL } else { PROMPT };
    let mut document: Vec<(Value, Value)> = vec![("name".into(), suite.name.as_str().into())];
    if !suite.description.is_empty() {
        document.push(("description".into(), suite.description.as_str().into()));
    }
    document.push(("promptql_prompt".into(), Value::Text(format!("{{{promptql}}}"))));
    document.push(("tool_calling_prompt".into(), Value::Text(format!("{{{PROMPT}}}"))));
    document.extend(suite.shared.iter().map(|(key, value)| ((*key).into(), value.clone())));
    document.push(("variations".into(), Value::List(variations)));
    let text = yaml::write(&Value::Map(document));
    check(&text, suite)?;
    Ok(text)
}

/// Fails if a text is not read as this suite, or with warnings.
fn check(text: &str, suite: &NewSuite) -> Result<(), String> {
    let Suite { tasks, warnings } = read(text, "suite")
        .map_err(|error| format!("The suite could not be read back: {error}"))?;
    if let Some(warning) = warnings.first() {
        return Err(format!("The suite could not be read back: {}", warning.message));
    }
    let lost = || "The suite could not be read back: a task would change.".to_owned();
    let [task] = tasks.as_slice() else { return Err(lost()) };
    if task.variations.len() != suite.variations.len() {
        return Err(lost());
    }
    for (at, (read, wanted)) in task.variations.iter().zip(&suite.variations).enumerate() {
        let prompt = |system| task.prompt(&system).map(|prompt| task.fill(prompt, Some(at)));
        let expected = match &read.expected {
            Expected::Value(value) => Some(value),
            _ => None,
        };
        let is_same = prompt(System::ToolCalling).as_ref() == Some(&wanted.tool_calling)
            && prompt(System::PromptQl).as_ref() == Some(&wanted.promptql)
            && expected == wanted.expected.as_ref();
        if !is_same {
            return Err(lost());
        }
    }
    Ok(())
}

/// Returns the name, with a number behind it if it was used before.
fn unique(name: &str, names: &mut BTreeSet<String>) -> String {
    let mut new = name.to_owned();
    let mut number = 2;
    while !names.insert(new.clone()) {
        new = format!("{name} ({number})");
        number += 1;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn variation(name: &str, prompt: &str, expected: Option<&str>) -> NewVariation {
        NewVariation {
            name: name.to_owned(),
            tool_calling: prompt.to_owned(),
            promptql: prompt.to_owned(),
            expected: expected.map(Value::from),
        }
    }

    #[test]
    fn every_task_is_a_variation_whose_prompt_is_a_parameter() {
        let mut suite = NewSuite {
            name: "hard".to_owned(),
            description: "From runs".to_owned(),
            shared: vec![("scorers", Value::List(vec!["fields".into()]))],
            variations: vec![
                variation("a", "Count {open} tickets", Some("3")),
                variation("a", "Why?", None),
            ],
        };
        assert_eq!(
            write(&suite).unwrap(),
            "name: hard\ndescription: From runs\npromptql_prompt: '{prompt}'\ntool_calling_prompt: '{prompt}'\n\
             scorers:\n  - fields\nvariations:\n  - name: a\n    parameters:\n      prompt: Count {open} tickets\n    \
             expected_output: '3'\n  - name: a (2)\n    parameters:\n      prompt: Why?\n"
        );
        suite.variations[0].promptql = "Other".to_owned();
        let text = write(&suite).unwrap();
        assert!(
            text.contains("promptql_prompt: '{promptql}'") && text.contains("promptql: Other"),
            "{text}"
        );
    }

    #[test]
    fn a_key_that_means_nothing_is_refused() {
        let suite = NewSuite {
            shared: vec![("scorer", "fields".into())],
            variations: vec![variation("a", "b", None)],
            ..NewSuite::default()
        };
        assert!(write(&suite).unwrap_err().starts_with("The suite could not be read back: "));
        assert!(write(&NewSuite::default()).is_err(), "a suite without tasks");
    }

    proptest! {
        #[test]
        fn whatever_is_asked_is_asked_again(
            prompts in proptest::collection::vec(("[^\\x00]{1,60}", "[^\\x00]{1,30}", "\\PC{0,12}"), 1..4),
        ) {
            let variations = prompts
                .iter()
                .map(|(prompt, other, name)| NewVariation {
                    name: name.clone(),
                    tool_calling: prompt.clone(),
                    promptql: other.clone(),
                    expected: Some(Value::from(prompt.as_str())),
                })
                .collect();
            // Reading it back is part of writing.
            let written = write(&NewSuite { name: "x".to_owned(), variations, ..NewSuite::default() });
            prop_assert!(written.is_ok(), "{written:?}");
        }
    }
}
