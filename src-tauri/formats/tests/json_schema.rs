//! Tests of the JSON Schema of `touchstone.yaml`, which is written from the keys that are checked and
//! from the descriptions of its reference page.
use fs_err as fs;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;
use touchstone_formats::workspace;
use touchstone_formats::workspace::schema::{self, Kind, Section};

const FILE: &str = "docs/reference/touchstone.schema.json";
const PAGE: &str = "docs/reference/touchstone-yaml.md";

fn project() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Descriptions of the reference page, by heading and key.
type Descriptions = HashMap<(String, String), String>;

/// Returns the descriptions in the tables of the reference page. A row may name several keys.
fn descriptions(page: &str) -> Descriptions {
    let mut found = Descriptions::new();
    let mut heading = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut heading);
        }
        let Some(row) = line.strip_prefix("| `") else { continue };
        let cells: Vec<&str> = row.split(" | ").collect();
        let text = cells.get(1).map(|cell| plain(cell)).unwrap_or_default();
        let default =
            cells.get(2).map(|cell| plain(cell.trim_end_matches('|'))).unwrap_or_default();
        let text = match (text.is_empty(), default.as_str()) {
            (true, _) | (_, "" | "needed") => text,
            (false, default) => format!("{text}; default: {default}"),
        };
        for key in cells[0].split(", ") {
            found.insert((heading.clone(), key.trim_matches('`').to_owned()), text.clone());
        }
    }
    found
}

/// Removes the marks of Markdown from a cell.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell.trim();
    while let Some((before, link)) = rest.split_once("](") {
        text.push_str(&before.replacen('[', "", 1));
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    (text + rest).replace('`', "")
}

/// Builds the schema of a section. `heading` names its part of the reference page.
fn section(section: &Section, heading: &str, texts: &Descriptions) -> Value {
    let mut properties = Map::new();
    for (key, kind) in section.entries() {
        let (inner, prefix) = match (heading, *key) {
            ("Top level", "run") => ("run", ""),
            ("Top level", "models") => ("models", ""),
            ("Top level", "imports") => ("imports", ""),
            ("Top level", "views") => ("views", ""),
            ("Top level", "labels") => ("labels", ""),
            ("imports", "files") => ("imports", "files."),
            ("systems", "promptql") => ("systems.promptql", ""),
            ("systems", "tool_calling") => ("systems.tool_calling", ""),
            ("Top level", "systems") => ("systems", ""),
            ("run", "nudge") => ("run", "nudge."),
            _ => ("", ""),
        };
        let mut value = kind_schema(*kind, inner, prefix, texts);
        let own = texts.get(&(heading.to_owned(), (*key).to_owned()));
        if let (Some(text), Some(value)) = (own, value.as_object_mut()) {
            value.insert("description".into(), json!(text));
        }
        properties.insert((*key).to_owned(), value);
    }
    let mut object = json!({
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": false,
    });
    if !section.needs.is_empty() {
        object["required"] = json!(section.needs);
    }
    object
}

/// Builds the schema of a value. A key without a value counts as missing, so null is allowed.
fn kind_schema(kind: Kind, heading: &str, prefix: &str, texts: &Descriptions) -> Value {
    let prefixed = |inner: &Section| {
        let mut value = section(inner, heading, texts);
        for (key, inner) in value["properties"].as_object_mut().into_iter().flatten() {
            let key = (heading.to_owned(), format!("{prefix}{key}"));
            if let Some(text) = texts.get(&key).filter(|_| !prefix.is_empty()) {
                inner["description"] = json!(text);
            }
        }
        value
    };
    match kind {
        Kind::Text => json!({ "type": ["string", "number", "null"] }),
        Kind::Whole(least) => {
            json!({ "type": ["integer", "null"], "minimum": least, "maximum": u32::MAX })
        }
        Kind::Number => json!({ "type": ["number", "null"], "minimum": 0 }),
        Kind::Switch => json!({ "type": ["boolean", "null"] }),
        Kind::OneOf(words) => {
            let mut all: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            all.push(Value::Null);
            json!({ "enum": all })
        }
        Kind::Sort => {
            let own = "^-?(answer([.\\[].*)?|(fact|label|score|verdict):.+)$";
            json!({
                "anyOf": [{ "enum": schema::SORTS }, { "type": "string", "pattern": own }, { "type": "null" }],
            })
        }
        Kind::List => json!({ "type": ["array", "null"] }),
        Kind::Texts => {
            json!({ "type": ["array", "null"], "items": { "type": ["string", "number"] } })
        }
        Kind::Names => json!({
            "type": ["object", "null"],
            "additionalProperties": { "type": ["string", "number"], "minLength": 1 },
        }),
        Kind::Map(inner) => prefixed(inner),
        Kind::SwitchOrMap(inner) => {
            let mut value = prefixed(inner);
            value["type"] = json!(["object", "boolean", "null"]);
            value
        }
        Kind::AnyOrMap(inner) => {
            let mut value = prefixed(inner);
            value.as_object_mut().expect("a section is a map").remove("type");
            value
        }
        Kind::Named(inner) => {
            let mut entry = prefixed(inner);
            entry["type"] = json!("object");
            json!({ "type": ["object", "null"], "additionalProperties": entry })
        }
        Kind::AnyNumber => json!({ "type": ["number", "null"] }),
        Kind::Labels(inner) => {
            let mut entry = prefixed(inner);
            entry["type"] = json!("object");
            let question = json!({ "type": ["string", "number"] });
            json!({
                "type": ["object", "null"],
                "additionalProperties": { "oneOf": [question, entry] },
            })
        }
        Kind::Tools => {
            let kinds = schema::TOOLS.iter().map(|(kind, keys)| {
                let mut value = section(keys, &format!("tools, kind: {kind}"), texts);
                value["type"] = json!("object");
                value["properties"]["kind"] = json!({ "const": kind });
                value["required"] = json!(["kind"]);
                value
            });
            let kinds: Vec<Value> = kinds.collect();
            json!({ "type": ["object", "null"], "additionalProperties": { "oneOf": kinds } })
        }
        Kind::Free => json!({}),
    }
}

fn generated() -> String {
    let texts = descriptions(&fs::read_to_string(project().join(PAGE)).expect(PAGE));
    let mut root = section(&schema::WORKSPACE, "Top level", &texts);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("touchstone.yaml");
    serde_json::to_string_pretty(&root).expect("a value is JSON") + "\n"
}

#[test]
fn the_schema_file_follows_the_checked_keys_and_the_reference_page() {
    let path = project().join(FILE);
    if std::env::var_os("TOUCHSTONE_WRITE").is_some() {
        fs::write(&path, generated()).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == generated(),
        "Run: TOUCHSTONE_WRITE=1 cargo test -p touchstone-formats json_schema"
    );
}

#[test]
fn every_key_of_a_documented_section_has_a_description() {
    let texts = descriptions(&fs::read_to_string(project().join(PAGE)).expect(PAGE));
    for (heading, section) in [
        ("Top level", &schema::WORKSPACE),
        ("run", &schema::RUN),
        ("models", &schema::MODEL),
        ("systems.tool_calling", &schema::TOOL_CALLING),
        ("systems.promptql", &schema::PROMPTQL),
        ("imports", &schema::IMPORTS),
        ("tools, kind: sql", &schema::SQL),
        ("tools, kind: mcp", &schema::MCP),
        ("tools, kind: virtual", &schema::VIRTUAL),
    ] {
        for key in section.names().filter(|key| *key != "kind") {
            assert!(texts.contains_key(&(heading.to_owned(), key.to_owned())), "{heading}: {key}");
        }
    }
}

/// Returns whether a value fits the parts of JSON Schema that the file uses.
fn fits(value: &Value, schema: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_type = |wanted: &Value| {
        wanted == kind || (wanted == "integer" && (value.is_u64() || value.is_i64()))
    };
    let type_fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is_type),
        one => is_type(one),
    };
    let bounded = value.as_f64().is_none_or(|number| {
        schema["minimum"].as_f64().is_none_or(|least| number >= least)
            && schema["maximum"].as_f64().is_none_or(|most| number <= most)
    });
    let listed = schema["enum"].as_array().is_none_or(|all| all.contains(value))
        && schema.get("const").is_none_or(|one| one == value);
    let items = value.as_array().is_none_or(|items| {
        schema.get("items").is_none_or(|each| items.iter().all(|item| fits(item, each)))
    });
    let entries = value.as_object().is_none_or(|map| {
        let required = schema["required"].as_array().into_iter().flatten();
        let other = &schema["additionalProperties"];
        required.filter_map(Value::as_str).all(|key| map.contains_key(key))
            && map.iter().all(|(key, inner)| match (schema["properties"].get(key), other) {
                (Some(known), _) => fits(inner, known),
                (None, Value::Bool(false)) => false,
                (None, Value::Null | Value::Bool(true)) => true,
                (None, each) => fits(inner, each),
            })
    });
    let one = schema["oneOf"]
        .as_array()
        .is_none_or(|all| all.iter().filter(|each| fits(value, each)).count() == 1);
    let long = value.as_str().is_none_or(|text| {
        schema["minLength"].as_u64().is_none_or(|least| text.chars().count() as u64 >= least)
    });
    type_fits && bounded && long && listed && items && entries && one
}

#[test]
fn the_schema_accepts_what_the_check_accepts_and_nothing_else() {
    let schema: Value = serde_json::from_str(&generated()).unwrap();
    let right = [
        json!({}),
        json!({ "input_dir": "tasks", "output_dir": null }),
        json!({ "run": { "concurrency": 4, "max_cost": 5.5, "nudge": true } }),
        json!({ "run": { "nudge": { "auto": true, "max": 3 } } }),
        json!({ "models": { "a": { "provider": "openai", "temperature": 0 }, "b": {} } }),
        json!({ "models": { "a": { "price": { "input": 1, "output": 2.5 } } } }),
        json!({ "models": { "a": { "thinking": true }, "b": { "thinking": { "type": "x" } } } }),
        json!({ "models": { "a": { "method": "CoT@1", "compat": true } } }),
        json!({ "systems": { "promptql": { "version": "v2", "build_id": { "a": "b" } } } }),
        json!({ "tools": { "t": { "kind": "sql", "database": "sqlite:x" } } }),
        json!({ "tools": { "t": { "kind": "mcp", "command": ["a", "b"] } } }),
        json!({ "queries": { "scorers": ["finish"] } }),
        json!({ "labels": { "a": "cost:>1", "b": { "kind": "number", "min": -1, "max": 2.5 } } }),
        json!({ "labels": { "a": { "kind": "category", "values": ["low", "high"] } } }),
        json!({ "imports": { "systems": { "a": "b" }, "files": { "x": { "model": "m" } } } }),
    ];
    let wrong = [
        json!({ "inputdir": "tasks" }),
        json!({ "run": { "max_costs": 1 } }),
        json!({ "run": { "concurrency": 0 } }),
        json!({ "run": { "concurrency": 1.5 } }),
        json!({ "run": { "max_cost": -1 } }),
        json!({ "run": { "nudge": { "most": 3 } } }),
        json!({ "run": [] }),
        json!({ "models": ["a"] }),
        json!({ "models": { "a": null } }),
        json!({ "models": { "a": { "provider": "other" } } }),
        json!({ "models": { "a": { "price": { "input": 1 } } } }),
        json!({ "models": { "a": { "thinking": { "typ": "x" } } } }),
        json!({ "systems": { "promptql": { "version": "v3" } } }),
        json!({ "tools": { "t": { "database": "sqlite:x" } } }),
        json!({ "tools": { "t": { "kind": "sqll" } } }),
        json!({ "tools": { "t": { "kind": "sql", "command": ["a"] } } }),
        json!({ "queries": { "scorers": "finish" } }),
        json!({ "imports": { "systems": { "a": ["b"] } } }),
        json!({ "labels": { "a": ["b"] } }),
        json!({ "labels": { "a": { "kind": "words" } } }),
        json!({ "labels": { "a": { "values": ["b"] } } }),
        json!({ "imports": { "models": { "a": "" } } }),
        json!({ "imports": { "files": { "x": { "name": "m" } } } }),
    ];
    for (value, is_right) in
        right.iter().map(|value| (value, true)).chain(wrong.iter().map(|value| (value, false)))
    {
        // JSON is YAML.
        let faults = workspace::read(&value.to_string()).unwrap().faults;
        assert_eq!(faults.is_empty(), is_right, "{value}: {faults:?}");
        assert_eq!(fits(value, &schema), is_right, "{value}");
    }
}
