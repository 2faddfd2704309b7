//! **Pure.** Inputs and outputs of model calls in the shapes that tools record: lists of messages,
//! requests and replies of the different interfaces, and texts.
use super::message::{Message, Role, read_message};
use super::parts::first;
use crate::run::EventKind;
use crate::text::is_blank;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Side of a call that a value stands on. It decides who wrote a text without role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Input.
    Input,
    /// Output.
    Output,
}

impl Side {
    fn role(self) -> Role {
        match self {
            Side::Input => Role::User,
            Side::Output => Role::Assistant,
        }
    }
}

/// Maximum number of lists and objects that are unwrapped around messages.
const NESTED: usize = 4;

/// Returns the value in a text that holds JSON, which may itself be text that holds JSON. Text
/// that holds no list, object or text stays as it is.
pub fn unwrap_json(value: &Value) -> Value {
    let mut value = value.clone();
    for _ in 0..3 {
        let Value::Text(text) = &value else { break };
        let inside = text.trim();
        let read = match (inside.chars().next(), inside.chars().next_back()) {
            (Some('{'), Some('}')) | (Some('['), Some(']')) => {
                json::read_python(inside).ok().or_else(|| json::embedded(inside))
            }
            (Some('"'), Some('"')) => json::read(inside).ok(),
            _ => None,
        };
        let Some(read) = read else { break };
        value = read;
    }
    value
}

/// Reads the messages of an input or an output.
pub fn read_messages(value: &Value, side: Side) -> Vec<Message> {
    let mut reader = Reader { side, messages: Vec::new(), names: Vec::new() };
    reader.read(value, NESTED);
    reader.messages
}

struct Reader {
    side: Side,
    messages: Vec<Message>,
    /// Names of the calls that were read.
    names: Vec<String>,
}

impl Reader {
    fn push(&mut self, message: Message) {
        for event in &message.events {
            if let EventKind::Call { name, .. } = event
                && !self.names.contains(name)
                && self.names.len() < 100
            {
                self.names.push(name.clone());
            }
        }
        if !message.events.is_empty() {
            self.messages.push(message);
        }
    }

    fn text(&mut self, role: Role, text: &str) {
        if !is_blank(text) {
            self.push(Message::from_text(role, text));
        }
    }

    /// Adds instructions that stand beside the messages: a text, or a content with parts.
    fn instructions(&mut self, value: Option<&Value>) {
        let Some(value) = value else { return };
        if let Some(text) = value.text() {
            self.text(Role::System, text);
            return;
        }
        let content = first(value, &["parts", "content"]).unwrap_or(value).clone();
        let message = Value::Map(vec![
            (Value::from("role"), Value::from("system")),
            (Value::from("content"), content),
        ]);
        self.messages.extend(read_message(&message, &[]).filter(|found| !found.events.is_empty()));
    }

    fn read(&mut self, value: &Value, nested: usize) {
        let Some(nested) = nested.checked_sub(1) else { return };
        match value {
            Value::Text(text) => self.text(self.side.role(), text),
            Value::List(items) => self.list(items, nested),
            Value::Map(_) => self.map(value, nested),
            _ => {}
        }
    }

    fn list(&mut self, items: &[Value], nested: usize) {
        if self.side == Side::Output && is_content(items) {
            let message = Value::Map(vec![
                (Value::from("role"), Value::from("assistant")),
                (Value::from("content"), Value::List(items.to_vec())),
            ]);
            if let Some(message) = read_message(&message, &self.names) {
                self.push(message);
            }
            return;
        }
        // Calls that stand alone one after the other are one message.
        let mut calls: Vec<EventKind> = Vec::new();
        for item in items {
            if item.get("toolCallId").is_some() && item.get("role").is_none() {
                let found = read_message(item, &self.names);
                if let Some(found) = found {
                    if found.role == Role::Assistant {
                        calls.extend(found.events);
                    } else {
                        self.push(found);
                    }
                }
                continue;
            }
            if !calls.is_empty() {
                let events = std::mem::take(&mut calls);
                self.push(Message { role: Role::Assistant, events });
            }
            self.read(item, nested);
        }
        if !calls.is_empty() {
            self.push(Message { role: Role::Assistant, events: calls });
        }
    }

    fn map(&mut self, value: &Value, nested: usize) {
        if let Some(message) = read_message(value, &self.names) {
            self.push(message);
            return;
        }
        if value.get("role").is_some() {
            return;
        }
        for key in ["system", "instructions", "system_instruction", "systemInstruction"] {
            if value.get("object").is_none() {
                self.instructions(value.get_non_null(key));
            }
        }
        let config = value.get("config");
        self.instructions(
            config.and_then(|config| first(config, &["system_instruction", "systemInstruction"])),
        );
        if let Some(inside) = first(value, &["messages", "contents", "prompt"]) {
            self.read(inside, nested);
        } else if let Some(inside) = value.get_non_null("message") {
            self.choice(inside, nested);
        } else if let Some(choices) = value.get("choices") {
            for choice in choices.items() {
                if let Some(inside) = first(choice, &["message", "text"]) {
                    self.choice(inside, nested);
                }
            }
        } else if let Some(candidates) = value.get("candidates") {
            candidates.items().iter().for_each(|candidate| self.read(candidate, nested));
        } else if let Some(generations) = value.get("generations") {
            let flat = generations.items().iter().flat_map(|generation| match generation {
                Value::List(items) => items.as_slice(),
                other => std::slice::from_ref(other),
            });
            for generation in flat {
                if let Some(inside) = first(generation, &["message", "text"]) {
                    self.choice(inside, nested);
                }
            }
        } else if let Some(output) = value.get("output").filter(|_| is_response(value)) {
            self.read(output, nested);
        } else if let Some(input) = value.get("input").filter(|_| value.get("model").is_some()) {
            self.read(input, nested);
        }
    }

    /// Reads the message of a choice, whose role may be missing.
    fn choice(&mut self, inside: &Value, nested: usize) {
        if inside.get("role").is_none()
            && inside.get("lc").is_none()
            && first(inside, &["content", "tool_calls"]).is_some()
            && let Value::Map(entries) = inside
        {
            let mut entries = entries.clone();
            entries.push((Value::from("role"), Value::from("assistant")));
            self.read(&Value::Map(entries), nested);
        } else {
            self.read(inside, nested);
        }
    }
}

fn is_response(value: &Value) -> bool {
    value.text_at("object") == Some("response")
        || value
            .get("output")
            .is_some_and(|output| output.items().iter().any(|item| item.text_at("type").is_some()))
}

/// Returns true if the items are the parts of a message and not messages.
fn is_content(items: &[Value]) -> bool {
    !items.is_empty()
        && items.iter().all(|item| {
            item.get("role").is_none()
                && matches!(
                    item.text_at("type"),
                    Some("text" | "output_text" | "tool_use" | "thinking" | "tool-call")
                )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{arguments, canonical_json, text_or_json};

    /// Reads a value and writes its messages in short, one in brackets each.
    fn read(text: &str, side: Side) -> String {
        let messages = read_messages(&unwrap_json(&Value::from(text)), side);
        let texts = messages.iter().map(|message| {
            let events = message.events.iter().map(|event| match event {
                EventKind::System(text) => format!("s:{text}"),
                EventKind::User(text) => format!("u:{text}"),
                EventKind::Assistant(text) => format!("a:{text}"),
                EventKind::Reasoning(text) => format!("r:{text}"),
                EventKind::Media(media) => format!("m:{}", media.text),
                EventKind::Note(text) => format!("n:{text}"),
                EventKind::Call { id, name, arguments: given, .. } => {
                    let given = canonical_json(&arguments(Some(given)));
                    format!("{}{name}({given})", id.clone().unwrap_or_default())
                }
                EventKind::Result { id, name, value, failed } => format!(
                    "{}{}={}{}",
                    id.clone().unwrap_or_default(),
                    name.clone().unwrap_or_default(),
                    text_or_json(value).unwrap_or_default(),
                    if *failed == Some(true) { "!" } else { "" }
                ),
                other => format!("{other:?}"),
            });
            format!("[{}]", events.collect::<Vec<_>>().join(" "))
        });
        texts.collect()
    }

    #[test]
    fn inputs_are_read_in_each_of_their_shapes() {
        for (text, expected) in [
            // Lists of messages, and objects around them.
            (r#"[{"role":"user","content":"x"}]"#, "[u:x]"),
            (
                r#"{"messages":[{"role":"developer","content":"s"},{"role":"user","content":"x"}]}"#,
                "[s:s][u:x]",
            ),
            (r#"{"messages":[[{"type":"human","content":"x"}]]}"#, "[u:x]"),
            (
                r#"{"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}"#,
                "[s:s][u:x]",
            ),
            (r#"{"content":"x","role":"user"}"#, "[u:x]"),
            // Text, and JSON in text twice.
            ("x", "[u:x]"),
            (r#""{\"prompt\":\"x\"}""#, "[u:x]"),
            (r#"{"prompt":"x","system":"s"}"#, "[s:s][u:x]"),
            // Gemini.
            (r#"{"contents":"x"}"#, "[u:x]"),
            (
                r#"{"contents":[{"parts":[{"text":"x"}],"role":"user"},{"parts":[{"function_call":{"name":"f","args":{"a":1}}}],"role":"model"},
            {"parts":[{"function_response":{"name":"f","response":{"b":2}}}],"role":"user"}],"config":{"system_instruction":"s"}}"#,
                r#"[s:s][u:x][f({"a":1})][f={"b":2}]"#,
            ),
            // LangChain.
            (
                r#"[{"type":"human","content":"x"},{"type":"ai","content":"","tool_calls":[{"name":"f","args":{"a":1},"id":"c"}]},{"type":"tool",
            "content":"y","tool_call_id":"c","status":"error"}]"#,
                r#"[u:x][cf({"a":1})][c=y!]"#,
            ),
            (
                r#"[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"x"}}]"#,
                "[u:x]",
            ),
            (
                r#"[{"role":"assistant","content":"","additional_kwargs":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}}]"#,
                "[cf({})]",
            ),
            (
                r#"[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"get_x","arguments":"{}"}}]},{"role":"get_x",
            "content":"y"},{"role":"critic","content":"z"}]"#,
                "[cget_x({})][get_x=y][n:critic: z]",
            ),
            // The Responses interface.
            (
                r#"{"model":"m","instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"function_call",
            "call_id":"c","id":"fc","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"y"}]}"#,
                "[s:s][u:x][cf({})][c=y]",
            ),
            // The AI SDK.
            (
                r#"[{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"f","output":{"type":"error-text","value":"no"}}]}]"#,
                "[cf=no!]",
            ),
            // What is no message.
            (r#"{"content":"role"}"#, ""),
            (
                r#"[{"role":"tool","content":{"type":"function","function":{"name":"f","description":"d","parameters":{}}}}]"#,
                "",
            ),
            (
                r#"[{"role":"tool","content":"{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"}]"#,
                "",
            ),
            (r#"{"args":["x"],"n":1}"#, ""),
            ("null_", "[u:null_]"),
            ("7", "[u:7]"),
            (" ", ""),
            ("[1,null,[]]", ""),
        ] {
            assert_eq!(read(text, Side::Input), expected, "{text}");
        }
    }

    #[test]
    fn outputs_are_read_in_each_of_their_shapes() {
        for (text, expected) in [
            ("x", "[a:x]"),
            (
                r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"c","name":"f","input":{}}]}"#,
                "[a:x cf({})]",
            ),
            (r#"{"index":0,"message":{"role":"assistant","content":"x"}}"#, "[a:x]"),
            (r#"{"message":{"content":"x"}}"#, "[a:x]"),
            (
                r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f",
            "arguments":"{\"a\": 1}"}}]}}]}"#,
                r#"[cf({"a":1})]"#,
            ),
            (r#"{"choices":[{"text":"x"}]}"#, "[a:x]"),
            (
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"t","thought":true},{"text":"x"}]}}]}"#,
                "[r:t a:x]",
            ),
            (
                r#"{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}],"role":"model"},"finish_reason":"STOP"}"#,
                "[f({})]",
            ),
            (
                r#"{"object":"response","instructions":"s","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"t"}]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]},{"type":"function_call","call_id":"c","name":"f",
            "arguments":"{}"},{"type":"web_search_call","id":"w","action":{"query":"q"}}]}"#,
                r#"[r:t][a:x][cf({})][wweb_search({"query":"q"})]"#,
            ),
            (
                r#"[{"toolCallId":"c","toolName":"f","input":"{\"a\":1}"},{"toolCallId":"d","toolName":"g","args":{}}]"#,
                r#"[cf({"a":1}) dg({})]"#,
            ),
            (
                r#"[{"role":"assistant","parts":[{"type":"thinking","content":"t"},{"type":"text","content":"x"},{"type":"tool_call","id":"c",
            "name":"f","arguments":{}},{"type":"Any.TextReasoningContent","content":{"text":"","protectedData":"z"}}]}]"#,
                "[r:t a:x cf({})]",
            ),
            (
                r#"{"generations":[[{"text":"x","message":{"lc":1,"id":["AIMessage"],"kwargs":{"content":"x","type":"ai"}}}]]}"#,
                "[a:x]",
            ),
            (
                r#"[{"type":"text","text":"x"},{"type":"tool_use","id":"c","name":"f","input":{}}]"#,
                "[a:x cf({})]",
            ),
            (r#"[{"text":"x"}]"#, ""),
            (r#"{"answer":2}"#, ""),
            (
                r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":{}}},
            {"reasoningContent":{"reasoningText":{"text":"t"}}}]}"#,
                "[r:t cf({})]",
            ),
            (
                r#"{"role":"user","content":[{"toolResult":{"toolUseId":"c","status":"error","content":[{"text":"no"}]}}]}"#,
                "[c=no!]",
            ),
            (
                r#"{"role":"user","parts":[{"type":"blob","mime_type":"image/png","modality":"image","content":"AAAA"}]}"#,
                "[u: m:image/png, 3 B]",
            ),
        ] {
            assert_eq!(read(text, Side::Output), expected, "{text}");
        }
    }

    #[test]
    fn lists_in_lists_are_unwrapped_to_a_limit() {
        let deep =
            format!(r#"{}{{"role":"user","content":"x"}}{}"#, "[".repeat(900), "]".repeat(900));
        assert_eq!(read(&deep, Side::Input), "");
    }
}
