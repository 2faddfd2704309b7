//! **Pure.** Messages as steps of a run.
use super::message::{Message, kind};
use super::threads;
use super::waiting::Waiting;
use crate::node::Node;
use crate::run::{Part, Step, StepKind};
use crate::transcript::build::part;
use crate::transcript::sink::Role;
use crate::value::Value;

/// Steps that are being told.
#[derive(Debug, Default)]
pub(crate) struct Telling {
    pub(crate) steps: Vec<Step>,
    turn: u32,
    /// Calls without a result.
    waiting: Waiting,
    /// Messages of the model so far.
    messages: usize,
    /// What the model said last.
    pub(crate) said: Option<String>,
}

impl Telling {
    /// Tells a list of messages; false when it is none, and nothing was told.
    pub(crate) fn messages(&mut self, list: &Value) -> bool {
        let messages = threads::of(list).map(|thread| thread.messages);
        messages.map(|messages| messages.iter().for_each(|message| self.message(message))).is_some()
    }

    /// Tells one thing that somebody said.
    pub(crate) fn say(&mut self, kind: StepKind, value: Value) {
        let nothing_before = self.steps.last().is_none_or(|step| step.kind != kind);
        if kind != StepKind::System && (nothing_before || kind == StepKind::Assistant) {
            self.turn += 1;
        }
        if kind == StepKind::Assistant {
            self.said = value.text().map(str::to_owned);
        }
        self.push(Step { kind, parts: vec![part("message", Role::Message, value)], ..Step::default() });
    }

    fn push(&mut self, step: Step) {
        self.steps.push(Step { turn: self.turn.max(1), ..step });
    }

    fn message(&mut self, message: &Message) {
        match message.role.as_str() {
            "user" => self.say(StepKind::User, content(message)),
            "system" => self.say(StepKind::System, content(message)),
            "assistant" => self.model(message),
            "tool" => message.content.iter().for_each(|item| self.result(message.call.as_deref(), item)),
            other => {
                let parts = vec![part("message", Role::Other, message.value())];
                self.push(Step { kind: StepKind::Unknown, title: Some(other.to_owned()), parts, ..Step::default() });
            }
        }
    }

    fn model(&mut self, message: &Message) {
        let (calls, rest): (Vec<&Value>, Vec<&Value>) =
            message.content.iter().partition(|item| kind(item) == "tool_call");
        self.turn += 1;
        self.messages += 1;
        let parts: Vec<Part> = rest.into_iter().map(|item| part("message", Role::Message, shown(item))).collect();
        if !parts.is_empty() {
            self.said = Some(message.text());
            self.push(Step { kind: StepKind::Assistant, parts, ..Step::default() });
        }
        for call in calls {
            let word = |key: &str| call.get(key).and_then(Node::word).map(str::to_owned);
            let parts = match call.get("arguments") {
                Some(Value::Map(entries)) => {
                    let one =
                        |(key, value): &(Value, Value)| part(key.word().unwrap_or("?"), Role::Param, value.clone());
                    entries.iter().map(one).collect()
                }
                None | Some(Value::Null) => Vec::new(),
                Some(other) => vec![part("params", Role::Param, other.clone())],
            };
            let call_id = word("tool_call_id");
            if let Some(id) = &call_id {
                self.waiting.call(id, self.messages, self.steps.len());
            }
            self.push(Step { kind: StepKind::ToolCall, title: word("name"), call_id, parts, ..Step::default() });
        }
    }

    /// Puts a result to the call that it answers.
    fn result(&mut self, id: Option<&str>, item: &Value) {
        let value = item.get("tool_result").unwrap_or(item).clone();
        let part = part("result", Role::Result, value);
        let call = id.and_then(|id| self.waiting.answered(id)).and_then(|(_, at)| self.steps.get_mut(at));
        if let Some(step) = call {
            step.failed = Some(false);
            step.parts.push(part);
            return;
        }
        let call_id = id.map(str::to_owned);
        let step =
            Step { kind: StepKind::ToolCall, call_id, failed: Some(false), parts: vec![part], ..Step::default() };
        self.push(step);
    }
}

/// One text where it is only that.
fn content(message: &Message) -> Value {
    let only_text = message.content.iter().all(|item| item.get("text").is_some_and(|text| text.text().is_some()));
    if only_text { Value::Text(message.text()) } else { Value::List(message.content.clone()) }
}

fn shown(item: &Value) -> Value {
    item.get("text").filter(|text| text.text().is_some()).unwrap_or(item).clone()
}
