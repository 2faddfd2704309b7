//! **Pure.** Builds the functions offered to models: one per API, and `Finish`. By default in the
//! form that providers expect; optionally exactly like the original, for comparable results.
use super::names;
use super::pool::{Pool, Tool};
use super::query::{Api, Parameter, Query};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

/// Maximum length of a description, in characters.
const LONGEST: usize = 256;
/// Maximum length of a tool's description, in characters.
const LONGEST_OF_TOOL: usize = 512;
/// Name of the function that ends a run.
pub const FINISH: &str = "Finish";
/// Value of its `return_type` for an answer.
pub const GIVE_ANSWER: &str = "give_answer";
/// Value of its `return_type` for giving up and restarting.
pub const GIVE_UP: &str = "give_up_and_restart";

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// API that it calls; `None` for `Finish`.
    pub api: Option<ApiName>,
}

impl Function {
    /// Converts the function to the form used in requests.
    pub fn to_value(&self) -> Value {
        let function = vec![
            entry("name", text(&self.name)),
            entry("description", text(&self.description)),
            entry("parameters", self.parameters.clone()),
        ];
        Value::Map(vec![entry("type", text("function")), entry("function", Value::Map(function))])
    }
}

/// Returns the functions for a query, `Finish` last. An API that is not in the pool is described
/// from the query itself. Of APIs with equal function names, only the first is offered. With
/// `compat`, behaves like the original: APIs not in the pool are omitted, names may occur twice,
/// and parameters have the form described at `parameters`.
pub fn of_query(query: &Query, pool: &Pool, compat: bool) -> Vec<Function> {
    let mut seen = HashSet::new();
    let mut functions = Vec::with_capacity(query.apis.len() + 1);
    for entry in &query.apis {
        let function = match pool.find(Some(&entry.category), &entry.tool, &entry.name) {
            Some((tool, api)) => define(&tool.name, api, compat),
            None if compat => continue,
            None => define(&entry.tool, entry, compat),
        };
        if compat || seen.insert(function.name.clone()) {
            functions.push(function);
        }
    }
    functions.push(finish());
    functions
}

/// Returns the function of an API, in the form that providers expect.
pub fn of_api(tool: &Tool, api: &Api) -> Function {
    define(&tool.name, api, false)
}

/// Returns the function that gives the answer or gives up.
pub fn finish() -> Function {
    let kinds = Value::List(vec![text(GIVE_ANSWER), text(GIVE_UP)]);
    let kind = "`give_answer` when the question can be answered now, `give_up_and_restart` when this way leads nowhere.";
    let answer = "The whole answer, as the person should read it. Needed with `give_answer`.";
    let properties = vec![
        entry(
            "return_type",
            map([("type", text("string")), ("enum", kinds), ("description", text(kind))]),
        ),
        entry("final_answer", map([("type", text("string")), ("description", text(answer))])),
    ];
    Function {
        name: FINISH.to_owned(),
        description: "Ends the work. Call it once you can answer, or to begin again another way. Nothing else is read as the answer."
            .to_owned(),
        parameters: map([
            ("type", text("object")),
            ("properties", Value::Map(properties)),
            ("required", Value::List(vec![text("return_type")])),
        ]),
        api: None,
    }
}

/// Formats the tools of a query as a numbered list, one per line, for use in instructions.
pub fn tool_list(query: &Query, pool: &Pool) -> String {
    let (mut seen, mut out) = (HashSet::new(), String::new());
    for api in &query.apis {
        let name = names::standardize(&api.tool);
        if seen.insert(name.clone()) {
            let description = pool
                .find(Some(&api.category), &api.tool, &api.name)
                .and_then(|(tool, _)| tool.description.as_deref());
            let description =
                first(description.unwrap_or("None"), LONGEST_OF_TOOL).replace('\n', "");
            let _ = writeln!(out, "{}.{name}: {}", seen.len(), description.trim());
        }
    }
    out
}

/// Returns the APIs whose functions have the same name, because only the end of a long name is
/// kept: each such name with its APIs.
pub fn shared<'a>(apis: impl IntoIterator<Item = &'a ApiName>) -> Vec<(String, Vec<&'a ApiName>)> {
    let mut all: Vec<(String, Vec<&ApiName>)> = Vec::new();
    let (mut seen, mut places) = (HashSet::new(), HashMap::new());
    for pair in apis.into_iter().filter(|pair| seen.insert(*pair)) {
        let name = names::function_name(&pair.tool, &pair.api);
        let at = *places.entry(name.clone()).or_insert(all.len());
        match all.get_mut(at) {
            Some((_, pairs)) => pairs.push(pair),
            None => all.push((name, vec![pair])),
        }
    }
    all.retain(|(_, pairs)| pairs.len() > 1);
    all
}

fn define(tool: &str, api: &Api, compat: bool) -> Function {
    let name = names::function_name(tool, &api.name);
    let standard = names::standardize(tool);
    let mut description =
        format!("This is the subfunction for tool \"{standard}\", you can use this tool.");
    let said = api.description.trim();
    if !said.is_empty() {
        let said =
            if api.name.is_empty() { said.to_owned() } else { said.replace(&api.name, &name) };
        let _ = write!(
            description,
            "The description of this function is: \"{}\"",
            first(&said, LONGEST)
        );
    }
    Function {
        parameters: parameters(api, compat),
        api: Some(ApiName { tool: tool.to_owned(), api: api.name.clone() }),
        name,
        description,
    }
}

/// Builds the JSON Schema of the parameters. With `compat`, like the original: numbers are
/// integers, all types other than number and boolean are strings, optional parameters are included
/// only if there are required ones, and both lists begin with an empty text.
fn parameters(api: &Api, compat: bool) -> Value {
    let optional = if compat && api.required.is_empty() { &[][..] } else { &api.optional };
    let mut properties: Vec<(Value, Value)> = Vec::new();
    let mut names_of = |list: &[Parameter]| {
        let mut names: Vec<Value> = Vec::new();
        for parameter in list {
            let key = text(&names::api_name(&parameter.name));
            let shape = if compat { original(parameter) } else { property(parameter) };
            match properties.iter_mut().find(|(known, _)| *known == key) {
                Some(known) => known.1 = shape,
                None => properties.push((key.clone(), shape)),
            }
            if compat || !names.contains(&key) {
                names.push(key);
            }
        }
        names
    };
    let (mut required, mut optional) = (names_of(&api.required), names_of(optional));
    if compat {
        required.insert(0, text(""));
        optional.insert(0, text(""));
    }
    let mut schema =
        vec![entry("type", text("object")), entry("properties", Value::Map(properties))];
    if compat {
        schema.extend([
            entry("required", Value::List(required)),
            entry("optional", Value::List(optional)),
        ]);
    } else if !required.is_empty() {
        schema.push(entry("required", Value::List(required)));
    }
    Value::Map(schema)
}

fn original(parameter: &Parameter) -> Value {
    let kind = match parameter.kind.as_str() {
        "NUMBER" => "integer",
        "BOOLEAN" => "boolean",
        _ => "string",
    };
    let mut shape = described(kind, parameter);
    if let Some(example) = example(parameter) {
        shape.push(entry("example_value", example));
    }
    Value::Map(shape)
}

fn property(parameter: &Parameter) -> Value {
    let kind = match parameter.kind.to_ascii_uppercase().as_str() {
        "NUMBER" => "number",
        "BOOLEAN" => "boolean",
        "ARRAY" => "array",
        "OBJECT" => "object",
        _ => "string",
    };
    let mut shape = described(kind, parameter);
    if kind == "array" {
        shape.push(entry("items", Value::Map(Vec::new())));
    }
    if let Some(example) = example(parameter) {
        shape.push(entry("examples", Value::List(vec![example])));
    }
    Value::Map(shape)
}

fn described(kind: &str, parameter: &Parameter) -> Vec<(Value, Value)> {
    vec![
        entry("type", text(kind)),
        entry("description", text(first(&parameter.description, LONGEST))),
    ]
}

/// Returns the default value as an example.
fn example(parameter: &Parameter) -> Option<Value> {
    Some(&parameter.default)
        .filter(|default| !matches!(default, Value::Null) && **default != text(""))
        .cloned()
}

fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn entry(key: &str, value: Value) -> (Value, Value) {
    (text(key), value)
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.map(|(key, value)| entry(key, value)).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    fn api(text: &str) -> Api {
        Api::read(&json::read(text).unwrap())
    }

    const SEARCH: &str = r#"{"tool_name": "Songs", "category_name": "Music", "api_name": "Search", "api_description": " Search by name. ",
        "required_parameters": [], "optional_parameters": [
            {"name": "From", "type": "NUMBER", "description": "year", "default": 1999.5},
            {"name": "tags", "type": "ARRAY", "description": "", "default": ""},
            {"name": "live", "type": "BOOLEAN", "description": "", "default": false}]}"#;

    #[test]
    fn a_function_says_what_its_api_does_and_takes_every_parameter() {
        let tool = Tool { name: "Songs".to_owned(), ..Tool::default() };
        let function = of_api(&tool, &api(SEARCH));
        assert_eq!(function.name, "search_for_songs");
        assert_eq!(
            function.description,
            "This is the subfunction for tool \"songs\", you can use this tool.The description of this function is: \"search_for_songs by name.\""
        );
        assert_eq!(
            json::write(&function.parameters, false),
            concat!(
                r#"{"type":"object","properties":{"is_from":{"type":"number","#,
                r#""description":"year","examples":[1999.5]},"tags":{"type":"array","#,
                r#""description":"","items":{}},"live":{"type":"boolean","description":"","#,
                r#""examples":[false]}}}"#,
            )
        );
    }

    #[test]
    fn the_form_of_the_original_loses_what_may_be_given_where_nothing_has_to_be() {
        let query = Query { apis: vec![api(SEARCH)], ..Query::default() };
        let functions = of_query(&query, &Pool::of_queries([&query]), true);
        assert_eq!(
            json::write(&functions[0].parameters, false),
            r#"{"type":"object","properties":{},"required":[""],"optional":[""]}"#
        );
        assert_eq!(
            functions.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["search_for_songs", "Finish"]
        );
        assert_eq!(of_query(&query, &Pool::default(), true).len(), 1);
        assert_eq!(of_query(&query, &Pool::default(), false).len(), 2);
    }

    #[test]
    fn the_first_of_functions_with_the_same_name_is_kept() {
        let tool = "t".repeat(55);
        let named =
            |name: &str| Api { tool: tool.clone(), name: name.to_owned(), ..Api::default() };
        let query = Query {
            apis: vec![named("First of many"), named("Last of many"), named("x")],
            ..Query::default()
        };
        let pairs: Vec<ApiName> = query.apis.iter().map(Api::pair).collect();
        let shared = shared(pairs.iter().chain(&pairs));
        assert_eq!(shared.len(), 1);
        assert_eq!(shared[0].1, [&pairs[0], &pairs[1]]);
        let functions = of_query(&query, &Pool::default(), false);
        let apis: Vec<_> =
            functions.iter().filter_map(|one| Some(one.api.as_ref()?.api.as_str())).collect();
        assert_eq!(apis, ["First of many", "x"]);
        assert_eq!(of_query(&query, &Pool::of_queries([&query]), true).len(), 4);
    }
}
