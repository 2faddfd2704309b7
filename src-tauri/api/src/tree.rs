//! **Pure.** What a run tried, as a tree on the page: its nodes with the beginning of their texts.
//! The rest is read as the text of a part.
use serde::Serialize;

/// That a run tried more than one way, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeBrief {
    /// What was tried: thoughts and calls.
    pub tried: u32,
    /// How many of these are on the way that counts.
    pub on_way: u32,
    /// The rule that chose that way, where the file does not say.
    pub chosen_by: Option<String>,
}

/// Everything a run tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeView {
    /// As in `RunView`.
    pub version: String,
    /// How many nodes there are.
    pub total: u32,
    /// The first of them, each before those below it. The first is the root.
    pub nodes: Vec<TreeRow>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeRow {
    /// Place of its parent in the list; none for the root.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: TreeRowKind,
    /// What was thought; the name of the tool for a call; what a try is called.
    pub text: TreeText,
    /// Arguments of a call.
    pub input: Option<TreeText>,
    /// What came back.
    pub output: Option<TreeText>,
    /// How a call ended badly, as a few words.
    pub trouble: Option<String>,
    /// Given up: nothing follows.
    pub pruned: bool,
    /// An answer was given here.
    pub finished: bool,
    /// The step that tells the same, when it is on the way that counts.
    pub step: Option<u32>,
}

/// Kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum TreeRowKind {
    /// Where everything begins, or a try.
    Root,
    /// What the model said.
    Thought,
    /// A tool call.
    Call,
    /// The call that ends it.
    Finish,
}

/// The beginning of a text of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeText {
    /// Opaque id, for reading all of it.
    pub part: String,
    /// Size of the whole, in bytes.
    pub bytes: u64,
    /// Its beginning.
    pub text: String,
    /// False when there is more.
    pub whole: bool,
}
