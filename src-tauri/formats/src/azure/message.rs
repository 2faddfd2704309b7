//! **Pure.** Converts messages of different programs to the single form that evaluators understand.
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::value::Value;

/// A message.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Message {
    /// Date and time, as written.
    pub(crate) created: Option<Value>,
    /// Id of the run that it belongs to.
    pub(crate) run: Option<String>,
    /// Id of the call that it answers.
    pub(crate) call: Option<String>,
    /// `system`, `user`, `assistant` or `tool`; any other role is kept.
    pub(crate) role: String,
    /// Content items: objects with a `type`.
    pub(crate) content: Vec<Value>,
}

impl Message {
    /// Returns true for messages of the agent and its tools.
    pub(crate) fn is_output(&self) -> bool {
        matches!(self.role.as_str(), "assistant" | "tool")
    }

    /// Returns true if the message has a tool call.
    pub(crate) fn calls(&self) -> bool {
        self.content.iter().any(|item| kind(item) == "tool_call")
    }

    /// Returns the message without tool calls. Returns `None` for tool results, and if nothing is
    /// left.
    pub(crate) fn without_tools(&self) -> Option<Self> {
        if self.role == "tool" {
            return None;
        }
        let content: Vec<Value> =
            self.content.iter().filter(|item| kind(item) != "tool_call").cloned().collect();
        (!content.is_empty() || self.content.is_empty()).then(|| Self { content, ..self.clone() })
    }

    /// Converts the message to the form for evaluators. The content of system messages is a single
    /// text.
    pub(crate) fn value(&self) -> Value {
        let text = |word: &Option<String>| word.as_deref().map(Value::from);
        let content = if self.role == "system" {
            Value::Text(self.text())
        } else {
            Value::List(self.content.clone())
        };
        object([
            ("createdAt", self.created.clone()),
            ("run_id", text(&self.run)),
            ("tool_call_id", text(&self.call)),
            ("role", Some(Value::from(self.role.as_str()))),
            ("content", Some(content)),
        ])
    }

    /// Returns all texts of the message, joined by line feeds.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<&str> =
            self.content.iter().filter_map(|item| item.get("text")?.text()).collect();
        texts.join("\n")
    }
}

/// Builds an object from the entries that have a value.
pub(crate) fn object<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    Value::Map(
        entries.into_iter().filter_map(|(key, value)| Some((Value::from(key), value?))).collect(),
    )
}

/// Returns how a content item is typed.
pub(crate) fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::text).unwrap_or_default()
}

/// Builds a text item.
pub(crate) fn text_item(text: &str) -> Value {
    object([("type", Some(Value::from("text"))), ("text", Some(Value::from(text)))])
}

/// Builds a call item.
pub(crate) fn call_item(id: Option<&str>, name: &str, arguments: Value) -> Value {
    object([
        ("type", Some(Value::from("tool_call"))),
        ("tool_call_id", id.map(Value::from)),
        ("name", Some(Value::from(name))),
        ("arguments", Some(arguments)),
    ])
}

/// Builds a result item.
pub(crate) fn result_item(result: Value) -> Value {
    object([("type", Some(Value::from("tool_result"))), ("tool_result", Some(result))])
}

/// Returns the value of the first of several keys that is set.
pub(crate) fn first<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get_non_null(name))
}

/// Parses a message. Results of several calls in one message become one message each. Returns
/// `None` if the value is not a message.
pub(crate) fn read(value: &Value) -> Option<Vec<Message>> {
    let role = first(value, &["role", "Role"])?;
    let role =
        role.text().or_else(|| first(role, &["label", "Label"])?.text())?.to_ascii_lowercase();
    let role = match role.as_str() {
        "developer" => "system",
        "function" => "tool",
        role => role,
    };
    let word = |names: &[&str]| first(value, names).and_then(Node::word).map(str::to_owned);
    let message = Message {
        created: first(value, &["createdAt", "created_at"]).cloned(),
        run: word(&["run_id"]),
        call: word(&["tool_call_id"]),
        role: role.to_owned(),
        content: Vec::new(),
    };
    let content = first(value, &["items", "Items", "content", "Content"]);
    let mut answers = Vec::new();
    let mut items = Vec::new();
    for given in content.map(pieces).unwrap_or_default() {
        match result(given, role) {
            Some((id, item)) => {
                let call = id.or_else(|| message.call.clone());
                answers.push(Message {
                    call,
                    role: "tool".to_owned(),
                    content: vec![item],
                    ..message.clone()
                });
            }
            None => items.push(item(given)),
        }
    }
    let calls = first(value, &["tool_calls"]).map_or(&[][..], Value::items).iter();
    items.extend(calls.chain(value.get_non_null("function_call")).map(function));
    if role == "tool" && answers.is_empty() {
        let texts: Option<Vec<&str>> = items.iter().map(|item| item.get("text")?.text()).collect();
        let result = texts.map_or_else(
            || Value::List(items.clone()),
            |texts| parsed(&Value::Text(texts.join("\n"))),
        );
        return Some(vec![Message { content: vec![result_item(result)], ..message }]);
    }
    if !items.is_empty() || answers.is_empty() {
        answers.push(Message { content: items, ..message });
    }
    Some(answers)
}

fn pieces(content: &Value) -> Vec<&Value> {
    match content {
        Value::List(items) => items.iter().collect(),
        other => vec![other],
    }
}

/// Returns how an item is typed in its original form.
fn original_type(item: &Value) -> &str {
    first(item, &["type", "content_type", "$type"]).and_then(Value::text).unwrap_or_default()
}

/// Returns the result item of a call, with the id of the call if it is stored in the item.
fn result(item: &Value, role: &str) -> Option<(Option<String>, Value)> {
    let id = |names: &[&str]| first(item, names).and_then(Node::word).map(str::to_owned);
    match original_type(item) {
        "tool_result" if item.get("tool_result").is_some() && role == "tool" => {
            Some((None, item.clone()))
        }
        "tool_result" if item.get("tool_result").is_some() => {
            Some((id(&["tool_call_id"]), item.clone()))
        }
        "tool_result" => {
            let content = item.get("content").cloned().unwrap_or_default();
            Some((id(&["tool_use_id"]), result_item(parsed(&content))))
        }
        "function_result" | "FunctionResultContent" => {
            let content = first(item, &["result", "Result"]).cloned().unwrap_or_default();
            Some((id(&["call_id", "CallId", "id", "Id"]), result_item(parsed(&content))))
        }
        _ => None,
    }
}

fn item(given: &Value) -> Value {
    if let Value::Text(text) = given {
        return text_item(text);
    }
    match original_type(given) {
        "text" | "input_text" | "output_text" | "TextContent" => {
            let text = first(given, &["text", "Text"]);
            let inner = text.and_then(|text| text.text().or_else(|| text.get("value")?.text()));
            match inner {
                Some(_)
                    if kind(given) == "text" && text.is_some_and(|text| text.text().is_some()) =>
                {
                    given.clone()
                }
                Some(inner) => text_item(inner),
                None => given.clone(),
            }
        }
        "tool_call" => match given.get_non_null("tool_call") {
            Some(inner) => function(inner),
            None if matches!(given.get("arguments"), Some(Value::Text(_))) => function(given),
            None => given.clone(),
        },
        "function_call" | "FunctionCallContent" | "tool_use" => function(given),
        _ => given.clone(),
    }
}

/// Converts a call of any form to a call item.
fn function(given: &Value) -> Value {
    let inner = given.get_non_null("function").unwrap_or(given);
    let id = first(given, &["tool_call_id", "id", "Id", "call_id", "CallId"]).and_then(Node::word);
    let own = |names: &[&str]| first(inner, names).and_then(Node::word);
    let name = own(&["name", "Name"]).map(str::to_owned).or_else(|| {
        let function = own(&["function_name", "FunctionName"])?;
        let plugin = own(&["plugin_name", "PluginName"]).filter(|plugin| !plugin.is_empty());
        Some(plugin.map_or_else(|| function.to_owned(), |plugin| format!("{plugin}-{function}")))
    });
    let arguments =
        first(inner, &["arguments", "Arguments", "input"]).map_or(Value::Map(Vec::new()), parsed);
    call_item(id, &name.unwrap_or_default(), arguments)
}

/// Parses a text that is JSON; any other value is returned unchanged.
pub(crate) fn parsed(value: &Value) -> Value {
    value.text().and_then(json::embedded).unwrap_or_else(|| value.clone())
}
