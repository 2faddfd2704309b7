//! **Pure.** The replay model: it repeats the replies of a recorded transcript, while the tools
//! really run. Owns the choice of the next reply and the paths of recordings; reads no file and
//! invents nothing.
use super::{Reply, StopReason, Usage};
use crate::conversation::{Call, Turn};
use std::collections::BTreeSet;
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::transcript::{ConversationEntry, Document};
use touchstone_model::run::StepKind;
use touchstone_model::value::Value;

/// Description of the replay model for the user.
pub const SAYS: &str = "Replays recorded transcripts: no model is asked, and the tools really run.";

/// Reply when the recording has no more replies.
pub const ENDS: &str = "The recording ends here, so the replay stops.";

/// A model's recorded replies in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    replies: Vec<Reply>,
    output: Option<Value>,
    error: Option<Value>,
    model_id: String,
}

impl Recording {
    /// Reads a recording from a transcript. Errors in the conversation are skipped, so that a run
    /// that was resumed after an error is complete. Fails if the transcript has no conversation,
    /// output or error.
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
        let mut replies = replies(&document.conversation_entries());
        // A single reply accounts for the usage of the whole run.
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

    /// Returns the reply to a conversation: the recorded reply at the same position, whatever the
    /// tools returned this time. Past the last one, it is a text stating that the recording ends.
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
                // The conversation differs from the recorded one, therefore the id has to differ as
                // well.
                let mut ids = (2_u32..).map(|count| format!("{}_{count}", call.id));
                call.id = ids.find(|id| !taken.contains(id.as_str())).unwrap_or_default();
            }
        }
        reply
    }

    /// Number of recorded replies.
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// Returns true if no reply was recorded.
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Recorded output, for a system that returns a single result instead of a conversation.
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// Recorded error, if the system returned one instead.
    pub fn error(&self) -> Option<&Value> {
        self.error.as_ref()
    }
}

/// Returns the path of the recording for a run, relative to the recordings folder.
pub fn recording_path(coordinates: &Coordinates, recorded_model: &str) -> String {
    names::write(&Coordinates { model: recorded_model.to_owned(), ..coordinates.clone() })
}

/// Returns the paths where the recording of a run may be, best first: same fork and repeat, then
/// the original of the fork, then the first repeat.
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

/// Returns one reply per turn in which the model wrote text or called a tool.
fn replies(said: &[ConversationEntry<'_>]) -> Vec<Reply> {
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
            reply.stop = StopReason::Calls;
        }
        if let Some(usage) = said.value.get("usage").or_else(|| said.item.get("usage")) {
            reply.usage = used(usage);
        }
    }
    // A turn without text and calls is dropped: a run replaying it would wait forever.
    let says = |reply: &Reply| reply.text.is_some() || !reply.calls.is_empty();
    replies.into_iter().map(|(_, reply)| reply).filter(says).collect()
}

fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Text(text) | Value::Number(text) => text.clone(),
        other => touchstone_model::json::write(other, false),
    };
    (!text.is_empty()).then_some(text)
}

/// Converts a recorded call, without its outcome. A call without a unique id gets one.
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

/// Reads token counts, under the names used by providers and by transcripts.
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
