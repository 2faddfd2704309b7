//! **Pure.** Converts messages to the steps of a run.
use super::message::{Message, kind};
use super::pending_calls::PendingCalls;
use super::threads;
use crate::transcript::build::part;
use crate::transcript::sink::Role;
use std::collections::{HashMap, HashSet, VecDeque};
use touchstone_model::node::Node;
use touchstone_model::run::{Part, Step, StepKind};
use touchstone_model::value::Value;

/// Builder of steps.
#[derive(Debug, Default)]
pub(crate) struct StepBuilder {
    steps: Vec<Step>,
    turn: u32,
    /// Calls without a result.
    waiting: PendingCalls,
    /// Indexes of steps with results that came before any call with their id.
    early: Vec<usize>,
    /// Number of assistant messages.
    messages: usize,
    /// Last text of the model.
    pub(crate) said: Option<String>,
}

impl StepBuilder {
    /// Adds a list of messages. Returns false, and adds nothing, if the value is not one.
    pub(crate) fn messages(&mut self, list: &Value) -> bool {
        let messages = threads::parse_thread(list).map(|thread| thread.messages);
        messages.map(|messages| messages.iter().for_each(|message| self.message(message))).is_some()
    }

    /// Returns the steps. A result that came before its call is moved to the first call with its id
    /// that has no result. If there are more such results than calls, the last ones are moved and
    /// the others stay in place.
    pub(crate) fn into_steps(mut self) -> Vec<Step> {
        let early: HashSet<usize> = self.early.iter().copied().collect();
        let mut open: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            let id = step
                .call_id
                .as_ref()
                .filter(|_| step.kind == StepKind::ToolCall && step.failed.is_none());
            if let Some(id) = id.filter(|_| !early.contains(&at)) {
                open.entry(id.clone()).or_default().push_back(at);
            }
        }
        // Number of results without a call, by id.
        let mut surplus: HashMap<String, usize> = HashMap::new();
        for id in self.early.iter().filter_map(|at| self.steps[*at].call_id.clone()) {
            *surplus.entry(id).or_default() += 1;
        }
        for (id, many) in &mut surplus {
            *many = many.saturating_sub(open.get(id).map_or(0, VecDeque::len));
        }
        let mut moved = HashSet::new();
        for at in &self.early {
            let Some(id) = self.steps[*at].call_id.clone() else { continue };
            if let Some(left) = surplus.get_mut(&id).filter(|left| **left > 0) {
                *left -= 1;
                continue;
            }
            let Some(call) = open.get_mut(&id).and_then(VecDeque::pop_front) else { continue };
            let parts = std::mem::take(&mut self.steps[*at].parts);
            self.steps[call].parts.extend(parts);
            self.steps[call].failed = Some(false);
            moved.insert(*at);
        }
        let kept = self.steps.into_iter().enumerate().filter(|(at, _)| !moved.contains(at));
        kept.map(|(_, step)| step).collect()
    }

    /// Adds a message.
    pub(crate) fn say(&mut self, kind: StepKind, value: Value) {
        let nothing_before = self.steps.last().is_none_or(|step| step.kind != kind);
        if kind != StepKind::System && (nothing_before || kind == StepKind::Assistant) {
            self.turn += 1;
        }
        if kind == StepKind::Assistant {
            self.said = value.text().map(str::to_owned);
        }
        self.push(Step {
            kind,
            parts: vec![part("message", Role::Message, value)],
            ..Step::default()
        });
    }

    fn push(&mut self, step: Step) {
        self.steps.push(Step { turn: self.turn.max(1), ..step });
    }

    fn message(&mut self, message: &Message) {
        match message.role.as_str() {
            "user" => self.say(StepKind::User, content(message)),
            "system" => self.say(StepKind::System, content(message)),
            "assistant" => self.model(message),
            "tool" => {
                message.content.iter().for_each(|item| self.result(message.call.as_deref(), item));
            }
            other => {
                let parts = vec![part("message", Role::Other, message.value())];
                self.push(Step {
                    kind: StepKind::Unknown,
                    title: Some(other.to_owned()),
                    parts,
                    ..Step::default()
                });
            }
        }
    }

    fn model(&mut self, message: &Message) {
        let (calls, rest): (Vec<&Value>, Vec<&Value>) =
            message.content.iter().partition(|item| kind(item) == "tool_call");
        self.turn += 1;
        self.messages += 1;
        let parts: Vec<Part> =
            rest.into_iter().map(|item| part("message", Role::Message, item_text(item))).collect();
        if !parts.is_empty() {
            self.said = Some(message.text());
            self.push(Step { kind: StepKind::Assistant, parts, ..Step::default() });
        }
        for call in calls {
            let word = |key: &str| call.get(key).and_then(Node::word).map(str::to_owned);
            let parts = match call.get("arguments") {
                Some(Value::Map(entries)) => {
                    let one = |(key, value): &(Value, Value)| {
                        part(key.word().unwrap_or("?"), Role::Param, value.clone())
                    };
                    entries.iter().map(one).collect()
                }
                None | Some(Value::Null) => Vec::new(),
                Some(other) => vec![part("params", Role::Param, other.clone())],
            };
            let call_id = word("tool_call_id");
            if let Some(id) = &call_id {
                self.waiting.call(id, self.messages, self.steps.len());
            }
            self.push(Step {
                kind: StepKind::ToolCall,
                title: word("name"),
                call_id,
                parts,
                ..Step::default()
            });
        }
    }

    /// Assigns a result to its call.
    fn result(&mut self, id: Option<&str>, item: &Value) {
        let value = item.get("tool_result").unwrap_or(item).clone();
        let part = part("result", Role::Result, value);
        let call =
            id.and_then(|id| self.waiting.take_call(id)).and_then(|(_, at)| self.steps.get_mut(at));
        if let Some(step) = call {
            step.failed = Some(false);
            step.parts.push(part);
            return;
        }
        let call_id = id.map(str::to_owned);
        // The call may still follow.
        self.early.extend(id.map(|_| self.steps.len()));
        let step = Step {
            kind: StepKind::ToolCall,
            call_id,
            failed: Some(false),
            parts: vec![part],
            ..Step::default()
        };
        self.push(step);
    }
}

/// Returns the content as one text if it has only texts.
fn content(message: &Message) -> Value {
    let only_text = message
        .content
        .iter()
        .all(|item| item.get("text").is_some_and(|text| text.text().is_some()));
    if only_text { Value::Text(message.text()) } else { Value::List(message.content.clone()) }
}

fn item_text(item: &Value) -> Value {
    item.get("text").filter(|text| text.text().is_some()).unwrap_or(item).clone()
}
