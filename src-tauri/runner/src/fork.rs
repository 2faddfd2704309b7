//! **Pure.** Forks a run: copies a transcript up to a step, to continue differently from there: with a
//! message, an edited step, or another model. The original is not changed.
mod edit;

pub use edit::{LONGEST_EDIT, editable};

use super::script::walk::{self, Group, Kind, Piece, parse_u64};
use super::script::{End, ForkedFrom, TranscriptWriter};
use std::collections::HashSet;
use touchstone_api::{StepEdit, StepPart};
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;

/// Reason a transcript cannot be forked at a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// Only conversations can be copied in part.
    #[error("Only a conversation can be continued from a step; run this one again instead.")]
    NoConversation,
    /// The transcript has no such step.
    #[error("The transcript has no such step any more. Open it again.")]
    NoStep,
    /// No message is left to continue from.
    #[error("Nothing is said before this step. Write a message to begin with.")]
    Nothing,
    /// The steps of a search are tries.
    #[error(
        "This run searched for an answer in several tries, and a try cannot be edited. Fork it with a message that follows the step."
    )]
    Search,
    /// The step has no such part.
    #[error("{0}")]
    NoPart(&'static str),
    /// A message without text.
    #[error("The message is empty. Write what is said at this step.")]
    Empty,
    /// The arguments are no JSON object.
    #[error("The arguments have to be a JSON object like {{\"sql\": \"SELECT 1\"}}: {0}")]
    NoObject(String),
    /// The arguments are too large or too deep for a transcript.
    #[error("The arguments are nested too deeply or too large for a transcript. Shorten them.")]
    Unfit,
    /// A secret of the arguments is kept nowhere.
    #[error(
        "The arguments have `[redacted]` in place of a secret, which is kept nowhere, and the call is made again. Write something else there."
    )]
    Redacted,
}

/// Difference between a fork and its original.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change<'a> {
    /// Next message of the user. Without an edit it replaces the step if the step is a user message.
    pub message: Option<&'a str>,
    /// Edit of the step.
    pub edit: Option<&'a StepEdit>,
    /// Models of the original and of the fork.
    pub models: Option<(&'a str, &'a str)>,
}

impl<'a> From<Option<&'a str>> for Change<'a> {
    fn from(message: Option<&'a str>) -> Self {
        Self { message, ..Self::default() }
    }
}

/// Facts about the original run that the copy must not carry over.
const OWN: [&str; 14] = [
    "commit",
    "started",
    "finished",
    "seconds",
    "turns",
    "usage",
    "cost",
    "nudges",
    "answer_lenient",
    "journal",
    "method",
    "steps",
    "queries",
    "tree",
];

/// Copies a transcript up to a step. `step` is the index under which steps are displayed; `file` is
/// the path of the original.
///
/// With a message: it replaces the step if the step is a user message, otherwise it follows the
/// step. Without a message: the model is asked again at that step, and its former reply is left
/// out. Tool calls without a result in the turn that is cut are left out, because no model could
/// continue with them.
///
/// With an edit: the step is replaced, and its turn stays whole, because its calls were made at
/// once. A call with edited arguments has no result any more, so it is made again.
pub fn fork(
    original: &Document,
    file: &str,
    step: usize,
    change: Change<'_>,
) -> Result<TranscriptWriter, ForkError> {
    if original.get("conversation").is_none() {
        return Err(ForkError::NoConversation);
    }
    let pieces = walk::pieces(original.items());
    let steps_kept = match change.edit {
        None => KeptSteps::cut(original, &pieces, step, change.message.is_some())?,
        Some(edit) => KeptSteps::edited(original, &pieces, step, edit)?,
    };
    let mut script = without_outcome(original, steps_kept.items);
    if change.message.is_none() && change.edit.is_none() {
        script = unanswered(script);
    }
    let steps = script.steps() as u64;
    if let Some(message) = change.message {
        script.nudge(message);
    }
    if !script.is_spoken() {
        return Err(ForkError::Nothing);
    }
    let models = change.models.filter(|(from, to)| from != to);
    if models.is_some() {
        // Blocks of thinking are signed for the model that thought.
        script.forget("thinking");
        script.forget("model_id");
    }
    let before = TranscriptWriter::from(original.clone());
    let former = before.facts().forked_from.unwrap_or_default();
    // Of several models before, the last is named.
    let model = match models {
        Some((from, _)) => Some((from.to_owned(), steps)),
        None => former.model.map(|(model, count)| (model, count.min(steps))),
    };
    let mut facts = script.facts();
    facts.forked_from = Some(ForkedFrom {
        file: file.to_owned(),
        step: step as u64,
        edited: former.edited || before.first_message() != script.first_message(),
        part: steps_kept.part,
        model,
    });
    facts.model = models.map(|(_, to)| to.to_owned());
    script.set_facts(&facts);
    Ok(without_lost_thinking(script, steps_kept.edited_turn))
}

/// Returns a run with these items that has not come to an end.
fn without_outcome(original: &Document, items: Vec<Value>) -> TranscriptWriter {
    let mut document = original.clone();
    document.set("conversation", Value::List(items));
    document.remove("answer");
    document.remove("error");
    let mut script = TranscriptWriter::from(document);
    script.drop_error();
    for fact in OWN {
        script.forget(fact);
    }
    script.restart_user();
    script
}

/// What a fork keeps of a conversation.
struct KeptSteps {
    items: Vec<Value>,
    /// Part of the step that has another text now.
    part: Option<StepPart>,
    /// Assistant turn that the model did not make like this.
    edited_turn: Option<u64>,
}

impl KeptSteps {
    /// Keeps everything up to a step.
    fn cut(
        original: &Document,
        pieces: &[Piece<'_>],
        step: usize,
        has_message: bool,
    ) -> Result<Self, ForkError> {
        let keep = count_kept_pieces(original, pieces, step, has_message)?;
        let open = open_calls(pieces.get(..keep).unwrap_or_default());
        let items = copy(original.items(), pieces, |at| at < keep && !open.contains(&at));
        let is_replaced =
            has_message && pieces.get(step).is_some_and(|piece| piece.kind == Kind::User);
        Ok(Self { items, part: is_replaced.then_some(StepPart::Message), edited_turn: None })
    }
}

/// Returns the number of pieces to keep.
fn count_kept_pieces(
    original: &Document,
    pieces: &[Piece<'_>],
    step: usize,
    has_message: bool,
) -> Result<usize, ForkError> {
    let Some(piece) = pieces.get(step) else {
        // An error outside the conversation is displayed as its last step.
        let is_error = step == pieces.len()
            && original.get("error").is_some_and(|error| *error != Value::Null);
        return if is_error { Ok(step) } else { Err(ForkError::NoStep) };
    };
    Ok(match piece.kind {
        Kind::User if has_message => step,
        Kind::Assistant if !has_message => step,
        Kind::Error => step,
        _ => step + 1,
    })
}

/// Returns the positions of the last turn's tool calls that have no result.
fn open_calls(pieces: &[Piece<'_>]) -> HashSet<usize> {
    let (groups, _) = walk::group(pieces);
    let Some(Group::Assistant(last)) = groups.last() else { return HashSet::new() };
    let open = last.calls.iter().filter(|call| super::script::outcome(call.value).is_none());
    open.filter_map(|call| pieces.iter().position(|piece| piece == call)).collect()
}

/// Copies the items with the pieces to keep. Other keys of an item stay with its first kept piece.
fn copy(items: &[Value], pieces: &[Piece<'_>], stays: impl Fn(usize) -> bool) -> Vec<Value> {
    let mut left = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let of_item = || pieces.iter().enumerate().filter(|(_, piece)| piece.item == at);
        if of_item().all(|(n, _)| !stays(n)) {
            continue;
        }
        let gone: HashSet<&str> = of_item()
            .filter(|(n, _)| !stays(*n))
            .filter_map(|(_, piece)| walk::key_of(piece.kind))
            .collect();
        left.push(match item {
            Value::Map(entries) if !gone.is_empty() => {
                let stays = |key: &Value| key.text().is_none_or(|key| !gone.contains(key));
                Value::Map(entries.iter().filter(|(key, _)| stays(key)).cloned().collect())
            }
            other => other.clone(),
        });
    }
    left
}

/// Drops assistant messages at the end, so that the model is asked again.
fn unanswered(mut script: TranscriptWriter) -> TranscriptWriter {
    while script.end() == End::Assistant {
        let mut document = script.document().clone();
        let items = document.items().to_vec();
        let pieces = walk::pieces(&items);
        let Some(last) = pieces.iter().rposition(|piece| piece.kind == Kind::Assistant) else {
            break;
        };
        document.set("conversation", Value::List(copy(&items, &pieces, |at| at != last)));
        script = TranscriptWriter::from(document);
    }
    script
}

/// Drops the thinking blocks of turns that are left out or edited.
fn without_lost_thinking(mut script: TranscriptWriter, edited: Option<u64>) -> TranscriptWriter {
    let last = u64::from(script.next_turn()).saturating_sub(1);
    let mut document = script.document().clone();
    let Some(thinking) = document.get("run").and_then(|run| run.get("thinking")) else {
        return script;
    };
    let is_kept = |entry: &&Value| {
        let turn = entry.get("turn").and_then(parse_u64);
        turn.is_none_or(|turn| turn <= last && Some(turn) != edited)
    };
    let left: Vec<Value> = thinking.items().iter().filter(is_kept).cloned().collect();
    if left.is_empty() {
        script.forget("thinking");
        return script;
    }
    document.set_run("thinking", Value::List(left));
    TranscriptWriter::from(document)
}

#[cfg(test)]
mod tests;
