//! **Pure.** `answer_details`: what a converted answer says that was done, in every form its
//! messages are found in. Nothing in here recurses, for answers are nested as deep as they are
//! long.
use super::FINISH;
use crate::json;
use crate::stabletoolbench::python;
use crate::value::Value;
use std::fmt::Write as _;

/// One node, still in its file.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// `system`, `user`, `assistant`, `tool`; what else stands there.
    pub role: &'a str,
    /// Its message.
    pub message: &'a Value,
    /// Place of its parent in the list.
    pub parent: Option<usize>,
    /// How many nodes follow it directly.
    pub next: usize,
    /// On the way from the first node by the first that follows, which is all that the official
    /// scripts look at.
    pub on_first_path: bool,
    /// On that way, and read by the official scripts: they stop before a node that has no `next`
    /// key, not even an empty one.
    pub is_scripted: bool,
}

/// A tool call of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// Name of the function.
    pub name: String,
    /// Its arguments, as text.
    pub arguments: String,
    /// What came back; none when the message was cut before that.
    pub response: Option<String>,
    /// The message was cut, so arguments or response may not be whole.
    pub cut: bool,
}

impl Call {
    /// The call that ends a run.
    pub fn is_finish(&self) -> bool {
        self.name == FINISH
    }
}

impl Node<'_> {
    /// The tool call, whichever form its message has; none for other nodes, and for messages
    /// without a name.
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

    /// Its message as the official scripts print it.
    pub fn text(&self) -> String {
        python::text(self.message)
    }

    /// A tool node that the official scripts read, with a message that Python takes for something.
    fn is_step(&self) -> bool {
        let nothing = match self.message {
            Value::Null | Value::Bool(false) => true,
            Value::Bool(true) => false,
            // Python's zeros, however they are written.
            Value::Number(number) => number.parse::<f64>().is_ok_and(|number| number == 0.0),
            Value::Text(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
        };
        self.role == "tool" && self.is_scripted && !nothing
    }
}

/// All nodes, each before those that follow it. Several nodes at the top that nothing follows are a
/// chain written flat.
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

/// All tool calls in the order of the nodes, each with whether it is on the first path.
pub fn calls(details: &Value) -> Vec<(Call, bool)> {
    nodes(details).iter().filter_map(|node| Some((node.call()?, node.on_first_path))).collect()
}

/// The last tool node on the first path: what the official scripts call the final step.
pub fn last_step<'a>(nodes: &[Node<'a>]) -> Option<Node<'a>> {
    nodes.iter().rev().find(|node| node.is_step()).copied()
}

/// Returns whether the published scripts take an answer for finished: they look for a mark in the
/// final step, as Python prints it. So a call of `Finish` is overlooked that is written as JSON
/// text, and a reply that holds the mark is taken for one.
pub fn script_finishes(details: &Value) -> bool {
    last_step(&nodes(details)).is_some_and(|node| node.text().contains(SCRIPT_MARK))
}

/// What the published scripts look for.
const SCRIPT_MARK: &str = "'name': 'Finish'";

/// What judges are shown: `answer_steps` and `final_step`, the tool nodes of the first path as the
/// official scripts print them.
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

/// A text, or what else stands there as JSON.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => text.clone(),
        other => json::write(other, false),
    }
}

/// A message that Python printed, perhaps cut anywhere.
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

/// The value after a key, what follows it, and whether it is whole. A value that is no text is
/// taken as it is written.
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
                // Counted from the letter, which stands one after the quote.
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
