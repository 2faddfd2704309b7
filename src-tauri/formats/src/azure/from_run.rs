//! **Pure.** Converts a run of any layout to a thread.
use super::message::{Message, call_item, parsed, result_item, text_item};
use super::{Thread, tools};
use crate::tool_offers::TOOLS;
use std::collections::{HashMap, HashSet};
use touchstone_model::json;
use touchstone_model::run::{Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Converts the messages and tool calls of a run to a thread, in order. System errors are not
/// messages and are omitted. A program becomes a call of `program`, and an artifact becomes a text.
pub fn of_run(run: &Run) -> Thread {
    let taken = run.steps.iter().filter_map(|step| step.call_id.clone()).collect();
    let mut telling = ThreadBuilder { taken, ..ThreadBuilder::default() };
    for step in &run.steps {
        telling.step(step);
    }
    telling.end_turn();
    if let Some(answer) =
        run.answer.as_ref().filter(|_| telling.messages.iter().all(|message| !message.is_output()))
    {
        telling.say("assistant", &format_value(&answer.value));
    }
    let given = TOOLS.iter().find_map(|key| run.facts.iter().find(|(known, _)| known == key));
    Thread {
        messages: telling.messages,
        tools: given.map(|(_, it)| tools::definitions(it)).unwrap_or_default(),
    }
}

#[derive(Default)]
struct ThreadBuilder {
    messages: Vec<Message>,
    /// Tool results of the current turn, which go after the message with the calls.
    results: Vec<Message>,
    turn: u32,
    /// Ids that occur in the run.
    taken: HashSet<String>,
    /// Ids already used in the thread.
    told: HashSet<String>,
    /// Number of ids derived from each base id.
    made: HashMap<String, usize>,
}

impl ThreadBuilder {
    fn say(&mut self, role: &str, text: &str) {
        self.messages.push(Message {
            role: role.to_owned(),
            content: vec![text_item(text)],
            ..Message::default()
        });
    }

    fn end_turn(&mut self) {
        self.messages.append(&mut self.results);
    }

    /// Adds an item to the assistant message of the current turn.
    fn model(&mut self, turn: u32, item: Value) {
        if turn != self.turn {
            self.end_turn();
        }
        let goes_on = turn == self.turn
            && self.messages.last().is_some_and(|message| message.role == "assistant");
        if let Some(message) = self.messages.last_mut().filter(|_| goes_on) {
            message.content.push(item);
        } else {
            let role = "assistant".to_owned();
            self.messages.push(Message { role, content: vec![item], ..Message::default() });
        }
        self.turn = turn;
    }

    fn step(&mut self, step: &Step) {
        match step.kind {
            StepKind::User | StepKind::System => {
                self.end_turn();
                let role = if step.kind == StepKind::User { "user" } else { "system" };
                self.say(role, &texts(&step.parts));
            }
            StepKind::Assistant => {
                let spoken: Vec<&Part> =
                    step.parts.iter().filter(|part| part.label != "thinking").collect();
                if !spoken.is_empty() {
                    self.model(step.turn, text_item(&texts(spoken)));
                }
            }
            StepKind::Artifact => {
                let title =
                    step.title.as_deref().map(|title| format!("{title}:\n")).unwrap_or_default();
                self.model(step.turn, text_item(&format!("{title}{}", texts(&step.parts))));
            }
            StepKind::ToolCall => self.call(step, step.title.as_deref().unwrap_or_default()),
            StepKind::Program => self.call(step, step.title.as_deref().unwrap_or("program")),
            StepKind::Error
            | StepKind::Unknown
            | StepKind::SubAgent
            | StepKind::Abandoned
            | StepKind::Compaction
            | StepKind::Note => {}
        }
    }

    /// Returns a unique id for a call: its own for the first call with that id, else a generated
    /// one.
    fn id(&mut self, own: Option<&str>) -> String {
        let own = own.filter(|own| !own.is_empty());
        if let Some(own) = own.filter(|own| self.told.insert((*own).to_owned())) {
            return own.to_owned();
        }
        let base = own.unwrap_or("call");
        // The first call keeps the id itself, so numbering starts at 2.
        let made = self.made.entry(base.to_owned()).or_insert(usize::from(own.is_some()));
        loop {
            *made += 1;
            let id = format!("{base}_{made}");
            if !self.taken.contains(&id) && self.told.insert(id.clone()) {
                return id;
            }
        }
    }

    fn call(&mut self, step: &Step, name: &str) {
        let id = self.id(step.call_id.as_deref());
        // Parameters may have the same names as results. For a tool, only the last such part is a
        // result, and only if the call has one.
        let is_result = |part: &Part| matches!(part.label.as_str(), "result" | "error");
        let last = step.parts.iter().rposition(is_result).filter(|_| step.failed.is_some());
        let is_program = step.kind == StepKind::Program;
        let came = |at: usize, part: &Part| {
            if is_program { is_result(part) || part.label == "output" } else { Some(at) == last }
        };
        let shown = step.parts.iter().enumerate().filter(|(_, part)| !part.is_media());
        let (came, given): (Vec<_>, Vec<_>) = shown.partition(|(at, part)| came(*at, part));
        let came: Vec<&Part> = came.into_iter().map(|(_, part)| part).collect();
        let given = given.into_iter().map(|(_, part)| part);
        let arguments = given.map(|part| (Value::from(part.label.as_str()), part.value.clone()));
        self.model(step.turn, call_item(Some(&id), name, Value::Map(arguments.collect())));
        let result = match came[..] {
            [] => return,
            [one] => parsed(&one.value),
            ref several => Value::Text(texts(several.iter().copied())),
        };
        let content = vec![result_item(result)];
        self.results.push(Message {
            call: Some(id),
            role: "tool".to_owned(),
            content,
            ..Message::default()
        });
    }
}

fn texts<'p>(parts: impl IntoIterator<Item = &'p Part>) -> String {
    let texts: Vec<String> = parts.into_iter().map(|part| format_value(&part.value)).collect();
    texts.join("\n")
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => json::write(other, false),
    }
}
