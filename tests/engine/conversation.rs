//! A scripted model, as a function of the request: it calls a tool for some turns, then answers.
//! Owns the two API formats of a reply; owns no connection. Equal requests get equal replies.
use super::scripted::{Reply, Seen};
use serde_json::{Value, json};

/// API format of requests and replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Messages API.
    Messages,
    /// Chat Completions.
    Chat,
}

/// A conversation with a number of turns with tool calls, and then an answer.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    /// API format.
    pub(crate) wire: Wire,
    /// Number of turns with a tool call before the answer.
    pub(crate) turns: usize,
    /// Arguments of a tool call, by the name of the tool and the turn, from 0.
    pub(crate) arguments: fn(&str, usize) -> Value,
    /// The answer, by the text of the question.
    pub(crate) answer: fn(&str) -> Value,
}

impl Conversation {
    /// Creates a conversation that passes `SELECT n` to the first tool, and answers with the length
    /// of the question.
    pub(crate) fn new(wire: Wire, turns: usize) -> Self {
        Self {
            wire,
            turns,
            arguments: plain_arguments,
            answer: |question| json!([{ "length": question.len() }]),
        }
    }

    /// Returns the reply to a request, streamed if the request says so.
    pub(crate) fn reply(&self, seen: &Seen) -> Reply {
        let body = seen.json();
        let turn = self.turn(&body);
        let tool = self.tool(&body).filter(|_| turn < self.turns);
        let (text, call) = match tool {
            Some(tool) => {
                let arguments = (self.arguments)(&tool, turn);
                (
                    format!("Turn {turn}: let me look."),
                    Some((format!("call_{turn}"), tool, arguments)),
                )
            }
            None => {
                (format!("Here it is.\n\n```json\n{}\n```", (self.answer)(&question(&body))), None)
            }
        };
        let model = body["model"].as_str().unwrap_or("scripted").to_owned();
        // About four characters per token; computed from the request alone.
        let said = Said { model, turn, text, call, sent: seen.body.len() / 4 };
        match (self.wire, body["stream"] == true) {
            (Wire::Messages, false) => Reply::json(&said.message()),
            (Wire::Messages, true) => Reply::events(said.message_events()),
            (Wire::Chat, false) => Reply::json(&said.completion()),
            (Wire::Chat, true) => Reply::events(said.completion_events()),
        }
    }

    /// Returns the number of turns with tool calls so far.
    fn turn(&self, body: &Value) -> usize {
        let assistant = messages(body).filter(|message| message["role"] == "assistant");
        let calls = |message: &&Value| match self.wire {
            Wire::Messages => blocks(message).any(|block| block["type"] == "tool_use"),
            Wire::Chat => message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty()),
        };
        assistant.filter(calls).count()
    }

    fn tool(&self, body: &Value) -> Option<String> {
        let tool = body["tools"].as_array()?.first()?;
        let name =
            if self.wire == Wire::Messages { &tool["name"] } else { &tool["function"]["name"] };
        name.as_str().map(str::to_owned)
    }
}

/// Returns the text of the first user message.
fn question(body: &Value) -> String {
    let first = messages(body).find(|message| message["role"] == "user");
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        _ => blocks(message).filter_map(|block| block["text"].as_str()).collect(),
    };
    first.map(text).unwrap_or_default()
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body["messages"].as_array().into_iter().flatten()
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

fn plain_arguments(tool: &str, turn: usize) -> Value {
    match tool {
        "execute_python_program" => json!({ "pythonCode": format!("print({turn})") }),
        _ => json!({ "sql": format!("SELECT {turn} AS n") }),
    }
}

/// Content of one turn.
struct Said {
    model: String,
    turn: usize,
    text: String,
    /// Id, tool and arguments.
    call: Option<(String, String, Value)>,
    sent: usize,
}

impl Said {
    fn received(&self) -> usize {
        self.text.len() / 4 + 1
    }

    fn stop(&self, calls: &'static str, done: &'static str) -> &'static str {
        if self.call.is_some() { calls } else { done }
    }

    fn message(&self) -> Value {
        let mut content = vec![json!({ "type": "text", "text": self.text })];
        content.extend(
            self.call
                .as_ref()
                .map(|(id, name, input)| json!({ "type": "tool_use", "id": id, "name": name, "input": input })),
        );
        json!({
            "id": format!("msg_{}", self.turn), "type": "message", "role": "assistant", "model": self.model,
            "content": content, "stop_reason": self.stop("tool_use", "end_turn"), "stop_sequence": null,
            "usage": { "input_tokens": self.sent, "output_tokens": self.received() },
        })
    }

    fn message_events(&self) -> Vec<(&'static str, String)> {
        let mut empty = self.message();
        empty["content"] = json!([]);
        empty["stop_reason"] = Value::Null;
        empty["usage"]["output_tokens"] = json!(1);
        let mut events =
            vec![json!({ "type": "message_start", "message": empty }), json!({ "type": "ping" })];
        let mut block = |start: Value, delta: Value| {
            let index =
                events.iter().filter(|event| event["type"] == "content_block_start").count();
            events.push(
                json!({ "type": "content_block_start", "index": index, "content_block": start }),
            );
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            events.push(json!({ "type": "content_block_stop", "index": index }));
        };
        block(
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": self.text }),
        );
        if let Some((id, name, input)) = &self.call {
            block(
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            );
        }
        let stop = self.stop("tool_use", "end_turn");
        events.push(json!({
            "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
            "usage": { "output_tokens": self.received() },
        }));
        events.push(json!({ "type": "message_stop" }));
        let known = [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
        ];
        let name = |event: &Value| {
            known.into_iter().find(|name| event["type"] == *name).unwrap_or("message_stop")
        };
        events.iter().map(|event| (name(event), event.to_string())).collect()
    }

    fn completion(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text, "refusal": null });
        if let Some((id, name, arguments)) = &self.call {
            message["tool_calls"] = json!([{
                "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() },
            }]);
        }
        json!({
            "id": format!("chatcmpl-{}", self.turn), "object": "chat.completion", "created": 0, "model": self.model,
            "choices": [{ "index": 0, "message": message, "finish_reason": self.stop("tool_calls", "stop"), "logprobs": null }],
            "usage": self.usage(),
        })
    }

    fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.sent, "completion_tokens": self.received(),
            "total_tokens": self.sent + self.received(),
        })
    }

    fn completion_events(&self) -> Vec<(&'static str, String)> {
        let chunk = |choices: Value, usage: Value| {
            json!({
                "id": format!("chatcmpl-{}", self.turn), "object": "chat.completion.chunk", "created": 0,
                "model": self.model, "choices": choices, "usage": usage,
            })
        };
        let piece = |delta: Value, finish: Value| {
            chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), Value::Null)
                .to_string()
        };
        let mut events = vec![
            piece(json!({ "role": "assistant", "content": "" }), Value::Null),
            piece(json!({ "content": self.text }), Value::Null),
        ];
        if let Some((id, name, arguments)) = &self.call {
            let function = json!({ "name": name, "arguments": "" });
            let call = json!([{ "index": 0, "id": id, "type": "function", "function": function }]);
            events.push(piece(json!({ "tool_calls": call }), Value::Null));
            let more = json!([{ "index": 0, "function": { "arguments": arguments.to_string() } }]);
            events.push(piece(json!({ "tool_calls": more }), Value::Null));
        }
        events.push(piece(json!({}), json!(self.stop("tool_calls", "stop"))));
        events.push(chunk(json!([]), self.usage()).to_string());
        events.push("[DONE]".to_owned());
        events.into_iter().map(|event| ("", event)).collect()
    }
}
