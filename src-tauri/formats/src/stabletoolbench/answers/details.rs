//! **Pure.** Parses `answer_details`, the steps of a converted answer, in all forms of its
//! messages. Nothing here recurses, since answers are nested as deeply as they are long.
use super::FINISH;
use crate::stabletoolbench::python;
use std::fmt::Write as _;
use touchstone_model::json;
use touchstone_model::value::Value;

/// One node, borrowed from its file.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// `system`, `user`, `assistant`, `tool`, or any other role in the file.
    pub role: &'a str,
    /// Message of the node.
    pub message: &'a Value,
    /// Index of its parent in the list.
    pub parent: Option<usize>,
    /// Number of direct children.
    pub next: usize,
    /// True on the path of first children from the first node. The official scripts look only at
    /// this path.
    pub on_first_path: bool,
    /// True on that path if the official scripts read the node: they stop before a node that lacks
    /// the `next` key; an empty `next` is enough.
    pub is_scripted: bool,
}

/// A tool call of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// Name of the function.
    pub name: String,
    /// Arguments as text.
    pub arguments: String,
    /// Response; `None` if the message was cut before it.
    pub response: Option<String>,
    /// True if the message was cut, so that arguments or response may be incomplete.
    pub cut: bool,
}

impl Call {
    /// Returns true for the call that ends a run.
    pub fn is_finish(&self) -> bool {
        self.name == FINISH
    }
}

impl Node<'_> {
    /// Returns the tool call, in any form of the message. Returns `None` for other nodes, and for
    /// messages without a name.
    pub fn call(&self) -> Option<Call> {
        if self.role != "tool" {
            return None;
        }
        match self.message {
            Value::Text(text) => {
                json::embedded(text).map_or_else(|| of_python(text), |message| of_map(&message))
            }
            message => of_map(message),
        }
    }

    /// Returns the message as the official scripts print it.
    pub fn text(&self) -> String {
        python::text(self.message)
    }

    /// Returns true for a tool node that the official scripts read and whose message is truthy in
    /// Python.
    fn is_step(&self) -> bool {
        let nothing = match self.message {
            Value::Null | Value::Bool(false) => true,
            Value::Bool(true) => false,
            // Zero is falsy in Python in any notation.
            Value::Number(number) => number.parse::<f64>().is_ok_and(|number| number == 0.0),
            Value::Text(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
        };
        self.role == "tool" && self.is_scripted && !nothing
    }
}

/// Returns all nodes, parents before children. Several top-level nodes without children are a chain
/// in flat form.
pub fn nodes(details: &Value) -> Vec<Node<'_>> {
    let roots = match details {
        Value::List(items) => items.as_slice(),
        Value::Map(_) => std::slice::from_ref(details),
        _ => &[],
    };
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut open: Vec<(&Value, Option<usize>, bool)> =
        roots.iter().enumerate().map(|(at, root)| (root, None, at == 0)).rev().collect();
    while let Some((value, parent, on_first_path)) = open.pop() {
        let next = value.get("next").map_or(&[][..], Value::items);
        let role = value.get("role").and_then(Value::text).unwrap_or_default();
        let message = value.get("message").unwrap_or(&Value::Null);
        let at = nodes.len();
        let is_scripted = on_first_path && value.get("next").is_some();
        nodes.push(Node { role, message, parent, next: next.len(), on_first_path, is_scripted });
        open.extend(
            next.iter()
                .enumerate()
                .rev()
                .map(|(place, one)| (one, Some(at), on_first_path && place == 0)),
        );
    }
    nodes
}

/// Returns all tool calls in node order, each with true if it is on the first path.
pub fn calls(details: &Value) -> Vec<(Call, bool)> {
    nodes(details).iter().filter_map(|node| Some((node.call()?, node.on_first_path))).collect()
}

/// Returns the last tool node on the first path, which the official scripts call the final step.
pub fn last_step<'a>(nodes: &[Node<'a>]) -> Option<Node<'a>> {
    nodes.iter().rev().find(|node| node.is_step()).copied()
}

/// Returns true if the published scripts consider an answer finished: they search for a marker in
/// the final step as Python prints it. Therefore they miss a call of `Finish` written as JSON text,
/// and accept a reply that contains the marker.
pub fn script_finishes(details: &Value) -> bool {
    last_step(&nodes(details)).is_some_and(|node| node.text().contains(SCRIPT_MARK))
}

/// Marker that the published scripts search for.
const SCRIPT_MARK: &str = "'name': 'Finish'";

/// Returns the texts shown to judges, `answer_steps` and `final_step`: the tool nodes of the first
/// path as the official scripts print them.
pub fn steps(details: &Value) -> (String, String) {
    let nodes = nodes(details);
    let mut text = String::new();
    for (at, node) in nodes.iter().filter(|node| node.is_step()).enumerate() {
        let line = if at > 0 { "\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{line}Step {}: {}", at + 1, node.text());
    }
    let last =
        last_step(&nodes).map_or_else(String::new, |node| format!("Final step: {}", node.text()));
    (text, last)
}

fn of_map(message: &Value) -> Option<Call> {
    let name = message.get("name").and_then(Value::text)?.to_owned();
    let words = |key: &str| message.get(key).map(words);
    Some(Call {
        name,
        arguments: words("arguments").unwrap_or_default(),
        response: words("response"),
        cut: false,
    })
}

/// Returns a text as it is, any other value as JSON.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => text.clone(),
        other => json::write(other, false),
    }
}

/// Parses a message printed by Python, which may be cut anywhere.
fn of_python(text: &str) -> Option<Call> {
    let (name, rest, _) = field(text, "{'name': ")?;
    let arguments = field(rest, ", 'arguments': ");
    let response = arguments.as_ref().and_then(|(_, rest, _)| field(rest, ", 'response': "));
    let whole = response.as_ref().is_some_and(|(_, rest, whole)| *whole && *rest == "}");
    Some(Call {
        name,
        arguments: arguments.map(|(text, ..)| text).unwrap_or_default(),
        response: response.map(|(text, ..)| text),
        cut: !whole,
    })
}

/// Returns the value after a key, the text after it, and true if the value is complete. A value
/// that is not a string is returned as written.
fn field<'a>(text: &'a str, key: &str) -> Option<(String, &'a str, bool)> {
    let rest = text.strip_prefix(key)?;
    let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"')) else {
        let end = rest.find(", 'response': ").or_else(|| rest.strip_suffix('}').map(str::len));
        let (value, rest) = rest.split_at(end.unwrap_or(rest.len()));
        return Some((value.to_owned(), rest, end.is_some()));
    };
    let mut out = String::new();
    let mut letters = rest[1..].char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => return Some((out, &rest[at + 2..], true)),
            '\\' => {
                let Some((at, escaped)) = letters.next() else { break };
                let digits = match escaped {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                if digits == 0 {
                    out.push(plain(escaped));
                    continue;
                }
                // Counted from the letter, which is one after the quote.
                let code = rest
                    .get(at + 2..at + 2 + digits)
                    .and_then(|code| u32::from_str_radix(code, 16).ok());
                let Some(code) = code else { break };
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                letters.nth(digits - 1);
            }
            other => out.push(other),
        }
    }
    Some((out, "", false))
}

fn plain(escaped: char) -> char {
    match escaped {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Option<Call> {
        let message =
            if text.starts_with("{\"") { json::read(text).unwrap() } else { Value::from(text) };
        Node {
            role: "tool",
            message: &message,
            parent: None,
            next: 0,
            on_first_path: true,
            is_scripted: true,
        }
        .call()
    }

    #[test]
    fn a_call_is_read_from_every_form_of_its_message() {
        let call = |name: &str, arguments: &str, response: Option<&str>, cut| {
            let (name, arguments) = (name.to_owned(), arguments.to_owned());
            Some(Call { name, arguments, response: response.map(str::to_owned), cut })
        };
        for (text, read) in [
            (
                r#"{"name": "f", "arguments": "{}", "response": "r"}"#,
                call("f", "{}", Some("r"), false),
            ),
            (
                r#"{"name": "f", "arguments": {"a": 1.50}, "response": null}"#,
                call("f", "{\"a\":1.50}", Some(""), false),
            ),
            (
                r#" {"name": "f", "arguments": {}, "response": [1]} "#,
                call("f", "{}", Some("[1]"), false),
            ),
            (
                r#"{'name': 'f', 'arguments': '{"a": "it\'s"}', 'response': 'r'}"#,
                call("f", r#"{"a": "it's"}"#, Some("r"), false),
            ),
            (
                r"{'name': 'f', 'arguments': '{\n  \u00e9\x41\U0001f600', 'response': '",
                call("f", "{\n  éA😀", Some(""), true),
            ),
            (
                "{'name': 'f', 'arguments': {'a': 1}, 'response': 'cut he",
                call("f", "{'a': 1}", Some("cut he"), true),
            ),
            ("{'name': \"it's\", 'argu", call("it's", "", None, true)),
            ("{'name': 'f', 'arguments': '{\\", call("f", "{", None, true)),
            ("{'name': 'f', 'arguments': '{\\u12", call("f", "{", None, true)),
            ("{'name': 'hal", call("hal", "", None, true)),
            ("I think so.", None),
            ("", None),
        ] {
            assert_eq!(message(text), read, "{text}");
        }
    }

    #[test]
    fn the_first_path_goes_by_the_first_that_follows_and_flat_lists_are_walked_whole() {
        let tree = r#"[{"role": "user", "message": "", "next": [
            {"role": "tool", "message": {"name": "a"}, "next": [{"role": "tool", "message": {"name": "b"}, "next": []}]},
            {"role": "tool", "message": {"name": "c"}, "next": []}]}]"#;
        let tree = json::read(tree).unwrap();
        let told: Vec<(String, bool)> =
            calls(&tree).into_iter().map(|(call, first)| (call.name, first)).collect();
        let named = |name: &str, first| (name.to_owned(), first);
        assert_eq!(told, [named("a", true), named("b", true), named("c", false)]);
        assert_eq!(last_step(&nodes(&tree)).unwrap().call().unwrap().name, "b");
        assert_eq!(steps(&tree).0, "Step 1: {'name': 'a'}\nStep 2: {'name': 'b'}");
        assert_eq!(steps(&tree).1, "Final step: {'name': 'b'}");
        let flat = json::read(
            r#"[{"role": "system"}, {"role": "tool", "message": "{\"name\": \"a\"}", "next": []}]"#,
        )
        .unwrap();
        assert_eq!(calls(&flat).len(), 1);
        assert_eq!(nodes(&Value::Null).len(), 0);
        assert_eq!(steps(&Value::Null), (String::new(), String::new()));
    }
}
