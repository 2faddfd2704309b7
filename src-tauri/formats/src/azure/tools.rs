//! **Pure.** Converts tool definitions of any form to the form for evaluators.
use super::message::{first, object};
use touchstone_model::node::Node;
use touchstone_model::value::Value;

/// Built-in tools of the service: name, description and parameter.
const BUILT_IN: [(&str, &str, &str); 6] = [
    ("code_interpreter", "Runs Python code, and reads and writes files while doing so.", "input"),
    ("bing_grounding", "Searches the web.", "requesturl"),
    ("bing_custom_search", "Searches chosen parts of the web.", "requesturl"),
    ("file_search", "Searches files that were uploaded.", "ranking_options"),
    ("azure_ai_search", "Searches an index of documents.", "input"),
    ("fabric_dataagent", "Asks an agent that knows the tables of an organisation.", "input"),
];

/// Returns the definitions in a list of tools. Items that are not tools are omitted.
pub(super) fn definitions(tools: &Value) -> Vec<Value> {
    tools.items().iter().flat_map(definition).collect()
}

fn definition(tool: &Value) -> Vec<Value> {
    let kind = tool.get("type").and_then(Value::text).unwrap_or("function");
    if let Some((name, what, takes)) = BUILT_IN.iter().find(|(name, ..)| *name == kind) {
        let text = object([("type", Some(Value::from("string")))]);
        let takes = Value::Map(vec![(Value::from(*takes), text)]);
        return vec![build_definition(
            name,
            kind,
            Some(&Value::from(*what)),
            schema(None, Some(takes)),
        )];
    }
    let functions = tool.get_non_null("openapi").unwrap_or(tool).get_non_null("functions");
    if let Some(functions) = functions {
        return functions.items().iter().flat_map(definition).collect();
    }
    let inner = tool
        .get_non_null("function")
        .filter(|inner| matches!(inner, Value::Map(_)))
        .unwrap_or(tool);
    let Some(name) = inner.get("name").and_then(Node::word) else { return Vec::new() };
    let parameters = first(inner, &["parameters", "input_schema"]);
    vec![build_definition(name, kind, inner.get_non_null("description"), schema(parameters, None))]
}

fn build_definition(name: &str, kind: &str, what: Option<&Value>, parameters: Value) -> Value {
    object([
        ("name", Some(Value::from(name))),
        ("type", Some(Value::from(kind))),
        ("description", what.cloned()),
        ("parameters", Some(parameters)),
    ])
}

/// Returns the parameter schema without `required`: evaluators only use the names.
fn schema(given: Option<&Value>, properties: Option<Value>) -> Value {
    let plain = || {
        object([
            ("type", Some(Value::from("object"))),
            ("properties", Some(properties.unwrap_or(Value::Map(Vec::new())))),
        ])
    };
    match given {
        Some(Value::Map(entries)) => {
            let kept = entries.iter().filter(|(key, _)| key.text() != Some("required"));
            Value::Map(kept.cloned().collect())
        }
        _ => plain(),
    }
}
