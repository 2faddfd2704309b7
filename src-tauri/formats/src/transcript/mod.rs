//! **Pure.** Transcripts in Touchstone's own layout: the full [`Run`] for the detail view, and the
//! [`Outline`] for lists. Both are built by the same walk over the file, so they cannot disagree.
pub(crate) mod build;
pub(crate) mod conversation;
mod document;
pub(crate) mod outline;
mod reason;
pub(crate) mod reply;
pub(crate) mod sink;
pub mod step_list;
mod tree;
mod user;

pub use conversation::{MARK as SIMULATED_MARK, is_simulated_item};
pub use document::{ConversationEntry, Document};
pub use outline::is_automatic;
pub use user::{ATTACKER, ATTACKER_FAILED, GOAL_REACHED, TAKEN_BACK};

use build::RunBuilder;
use outline::OutlineBuilder;
use sink::Sink;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::node::{Node, Shape};
use touchstone_model::run::{Layout, Outline, Run};
use touchstone_model::yaml;

/// Parses a transcript completely.
pub fn read(bytes: &[u8]) -> Result<Run, ReadError> {
    let tree = yaml::parse_fast(text_of(bytes)?)?;
    let mut builder = RunBuilder::default();
    let layout = walk(tree.root(), &mut builder)?;
    Ok(builder.finish(layout))
}

/// Parses only the data that lists and search need. Faster than [`read`].
pub fn outline(bytes: &[u8]) -> Result<Outline, ReadError> {
    let tree = yaml::parse_fast(text_of(bytes)?)?;
    let mut builder = OutlineBuilder::with_capacity(bytes.len());
    let layout = walk(tree.root(), &mut builder)?;
    Ok(builder.finish(layout))
}

/// Returns the outline of a run, equal to the one that [`outline()`] gives for the same file.
pub fn outline_of(run: &Run) -> Outline {
    outline::of_run(run)
}

/// Walks over a transcript and reports its content to a sink.
fn walk<'t, N: Node<'t>>(root: N, sink: &mut impl Sink<'t>) -> Result<Layout, ReadError> {
    let layout = layout(root)?;
    match layout {
        Layout::PromptQl => reply::walk_file(root, sink),
        _ => conversation::walk_file(root, sink),
    }
    Ok(layout)
}

/// Detects the layout of a value. Fails with a description of the value if it is not a transcript.
pub(crate) fn layout<'t, N: Node<'t>>(root: N) -> Result<Layout, ReadError> {
    if root.shape() != Shape::Map {
        let what = if root.shape() == Shape::List { "a list" } else { "a single value" };
        return Err(foreign(format!(
            "Not a transcript: the file holds {what}, and no map with `conversation` or `output`."
        )));
    }
    if let Some(conversation) = root.get("conversation") {
        if conversation.shape() == Shape::List || conversation.is_null() {
            return Ok(Layout::ToolCalling);
        }
        return Err(foreign("Not a transcript: `conversation` is not a list.")
            .advise("Write each item as `- user_message: …`."));
    }
    let key = |key| root.get(key).is_some();
    let ends = key("answer") || key("error");
    if (key("output") && (ends || is_reply(root)))
        || (ends
            && (only_our_keys(root)
                || root.get("run").is_some_and(|run| run.shape() == Shape::Map)))
    {
        return Ok(Layout::PromptQl);
    }
    let keys: Vec<String> = root
        .entries()
        .filter_map(|(key, _)| key.word())
        .take(5)
        .map(|key| format!("`{key}`"))
        .collect();
    let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
    Err(foreign(format!(
        "Not a transcript: it has neither `conversation` nor `output`, `error` or `answer` (its keys: {keys})."
    )))
}

fn is_reply<'t, N: Node<'t>>(root: N) -> bool {
    let has = |output: N, key: &str| output.get(key).is_some();
    let first = |output: N| {
        output.items().next().filter(|_| output.shape() == Shape::List).unwrap_or(output)
    };
    root.get("output").map(first).is_some_and(|output| {
        has(output, "assistant_actions")
            || has(output, "modified_artifacts")
            || has(output, "interactions")
    }) || (root.get("run").is_some() || only_our_keys(root))
}

fn only_our_keys<'t, N: Node<'t>>(root: N) -> bool {
    root.entries().all(|(key, _)| matches!(key.text(), Some("output" | "error" | "answer" | "run")))
}

fn foreign(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::NotTranscript, message)
}
