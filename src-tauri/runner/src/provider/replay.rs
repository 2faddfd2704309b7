//! **Pure.** The model that replays: what a recorded transcript says is said again, and the tools
//! really run. Owns which reply of a recording comes next and where recordings lie; reads no file,
//! and makes nothing up.
use super::{Reply, Stop, Usage};
use crate::talk::{Call, Turn};
use std::collections::BTreeSet;
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::run::StepKind;
use touchstone_formats::transcript::{Document, Said};
use touchstone_formats::value::Value;

/// What the model is, wherever its name is shown.
pub const SAYS: &str = "Replays recorded transcripts: no model is asked, and the tools really run.";

/// What is said when a recording has nothing more to say.
pub const ENDS: &str =
    "The recording ends here. A replay says only what was recorded, so this run goes no further.";

/// What a model once said in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    replies: Vec<Reply>,
    output: Option<Value>,
    error: Option<Value>,
    model_id: String,
}

impl Recording {
    /// Reads a recording. Errors in its conversation are left out, so that a run that was continued
    /// after one is whole.
    pub fn read(document: &Document) -> Result<Recording, String> {
        let given = |key: &str| document.get(key).filter(|value| **value != Value::Null).cloned();
        let (output, error) = (given("output"), given("error"));
        if document.get("conversation").is_none() && output.is_none() && error.is_none() {
            return Err("The recording holds neither a conversation nor an output.".to_owned());
        }
        let run = |key: &str| document.get("run").and_then(|run| run.get(key));
        let recorded = run("model_id").or_else(|| run("model")).and_then(Value::text);
        let model_id =
            recorded.map_or_else(|| "replay".to_owned(), |model| format!("replay of {model}"));
        let mut replies = replies(&document.said());
        // With one reply, what the whole run used is what that reply used.
        if let ([only], Some(usage)) = (&mut replies[..], run("usage"))
            && only.usage == Usage::default()
        {
            only.usage = used(usage);
        }
        for reply in &mut replies {
            reply.model_id = Some(model_id.clone());
        }
        Ok(Recording { replies, output, error, model_id })
    }

    /// The reply to a conversation: the one with the same place in the recording, whatever the
    /// tools have said this time.
    pub fn reply(&self, turns: &[Turn]) -> Reply {
        let said = turns.iter().filter(|turn| matches!(turn, Turn::Assistant(_))).count();
        let Some(recorded) = self.replies.get(said) else {
            let model_id = Some(self.model_id.clone());
            return Reply { text: Some(ENDS.to_owned()), model_id, ..Reply::default() };
        };
        let mut reply = recorded.clone();
        let taken: BTreeSet<&str> = turns.iter().flat_map(ids).collect();
        for call in &mut reply.calls {
            if taken.contains(call.id.as_str()) {
                // The conversation is another one than the recorded one: the id has to be, too.
                let mut ids = (2_u32..).map(|count| format!("{}_{count}", call.id));
                call.id = ids.find(|id| !taken.contains(id.as_str())).unwrap_or_default();
            }
        }
        reply
    }

    /// How many replies were recorded.
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// True when no reply was recorded.
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// The body that was returned, for a system that answers as a whole.
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// The error that was returned instead.
    pub fn error(&self) -> Option<&Value> {
        self.error.as_ref()
    }
}

/// Path of the recording that a run plays, below the folder of recordings.
pub fn recording_path(coordinates: &Coordinates, recorded_model: &str) -> String {
    names::write(&Coordinates { model: recorded_model.to_owned(), ..coordinates.clone() })
}

/// Where to look for the recording of a run, best first: the same fork, the same repeat, else the
/// first.
pub fn recording_paths(coordinates: &Coordinates, recorded_model: &str) -> Vec<String> {
    let mut paths = vec![recording_path(coordinates, recorded_model)];
    if coordinates.fork > 0 {
        paths.push(recording_path(&Coordinates { fork: 0, ..coordinates.clone() }, recorded_model));
    }
    if coordinates.repeat > 1 {
        paths.push(recording_path(
            &Coordinates { repeat: 1, fork: 0, ..coordinates.clone() },
            recorded_model,
        ));
    }
    paths
}

fn ids(turn: &Turn) -> impl Iterator<Item = &str> {
    let calls = match turn {
        Turn::Assistant(said) => said.calls.as_slice(),
        Turn::User(_) => &[],
    };
    calls.iter().map(|call| call.id.as_str())
}

/// One reply for each turn in which the model said or called something.
fn replies(said: &[Said<'_>]) -> Vec<Reply> {
    let mut replies: Vec<(u32, Reply)> = Vec::new();
    let mut ids = BTreeSet::new();
    for said in
        said.iter().filter(|said| matches!(said.kind, StepKind::Assistant | StepKind::ToolCall))
    {
        if replies.last().is_none_or(|(turn, _)| *turn != said.turn) {
            replies.push((said.turn, Reply::default()));
        }
        let Some((_, reply)) = replies.last_mut() else { continue };
        if said.kind == StepKind::Assistant {
            reply.text = text(said.value);
        } else {
            reply.calls.push(call(said.value, &mut ids));
            reply.stop = Stop::Calls;
        }
        if let Some(usage) = said.value.get("usage").or_else(|| said.item.get("usage")) {
            reply.usage = used(usage);
        }
    }
    // A turn that says nothing is none: whoever plays it would wait for it forever.
    let says = |reply: &Reply| reply.text.is_some() || !reply.calls.is_empty();
    replies.into_iter().map(|(_, reply)| reply).filter(says).collect()
}

fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Text(text) | Value::Number(text) => text.clone(),
        other => touchstone_formats::json::write(other, false),
    };
    (!text.is_empty()).then_some(text)
}

/// A recorded call, without what came of it. One without an id of its own gets one.
fn call(value: &Value, ids: &mut BTreeSet<String>) -> Call {
    let own = value.get("id").and_then(text).filter(|id| !ids.contains(id));
    let id = own.unwrap_or_else(|| {
        let mut numbered = (ids.len() + 1..).map(|number| format!("call_{number}"));
        numbered.find(|id| !ids.contains(id)).unwrap_or_default()
    });
    ids.insert(id.clone());
    let params = value.get("params").filter(|params| **params != Value::Null);
    Call {
        id,
        name: value.get("name").and_then(text).unwrap_or_default(),
        params: params.cloned().unwrap_or_else(|| Value::Map(Vec::new())),
        outcome: None,
    }
}

/// Tokens under the names that providers and transcripts give them.
fn used(usage: &Value) -> Usage {
    let of = |names: &[&str]| {
        names.iter().find_map(|name| match usage.get(name)? {
            Value::Number(number) => number.parse().ok(),
            _ => None,
        })
    };
    Usage {
        input: of(&["input", "input_tokens", "prompt_tokens"]),
        output: of(&["output", "output_tokens", "completion_tokens"]),
        cache_read: of(&["cache_read", "cache_read_input_tokens"]),
        cache_write: of(&["cache_write", "cache_creation_input_tokens"]),
        reasoning: of(&["reasoning", "reasoning_tokens"]),
    }
}

#[cfg(test)]
mod tests;
