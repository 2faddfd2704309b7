//! **Pure.** The search tree of a run for the page: nodes with the beginnings of their texts. A
//! full text is read like the text of any other part.
use serde::Serialize;

/// Size of a run's search tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeBrief {
    /// Number of thoughts and calls in the tree.
    pub tried: u32,
    /// Number of these on the path that counts as the run's transcript.
    pub on_way: u32,
    /// Rule that chose this path, if the file does not name it.
    pub chosen_by: Option<String>,
}

/// Search tree of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeView {
    /// Version of the opened run, like in `RunView`.
    pub version: String,
    /// Number of all nodes.
    pub total: u32,
    /// The first nodes, each before its children. The root comes first.
    pub nodes: Vec<TreeRow>,
}

/// A node of the search tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeRow {
    /// Index of the parent in the list; none for the root.
    pub parent: Option<u32>,
    /// Kind of node.
    pub kind: TreeRowKind,
    /// Text of a thought, name of the called tool, or label of an attempt.
    pub text: TreeText,
    /// Arguments of a call.
    pub input: Option<TreeText>,
    /// Result of a call.
    pub output: Option<TreeText>,
    /// Short description of a failed call.
    pub trouble: Option<String>,
    /// True if the branch was abandoned at this node.
    pub pruned: bool,
    /// True if an answer was given at this node.
    pub finished: bool,
    /// Step of the transcript with the same content, for nodes on the chosen path.
    pub step: Option<u32>,
}

/// Kind of a node in the search tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum TreeRowKind {
    /// The root of the tree, or of one attempt.
    Root,
    /// A text of the model.
    Thought,
    /// A tool call.
    Call,
    /// The call that ends the run.
    Finish,
}

/// The beginning of a node's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TreeText {
    /// Opaque id for reading the whole text.
    pub part: String,
    /// Size of the whole text, in bytes.
    pub bytes: u64,
    /// Beginning of the text.
    pub text: String,
    /// False if the text was cut.
    pub whole: bool,
}
