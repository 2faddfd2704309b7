//! **Pure.** The sink interface: a walk over a run reports its steps, parts, facts and answer to
//! it.
use touchstone_model::node::Node;
use touchstone_model::run::{Answer, StepKind};

/// Receiver of a walk over a run.
pub(crate) trait Sink<'t> {
    /// Begins a step; its parts follow.
    fn step(&mut self, head: Head<'t>);
    /// Adds a part to the current step.
    fn part<N: Node<'t>>(&mut self, label: &str, role: Role, value: N);
    /// Adds a fact: any other key of the file.
    fn fact<N: Node<'t>>(&mut self, key: &str, value: N);
    /// Sets the answer that the file stores.
    fn answer<N: Node<'t>>(&mut self, value: N, source: &str);
    /// Reports that the conversation ended with a message and the file stores no answer: the answer
    /// may be in its messages.
    fn answer_missing(&mut self) {}
    /// Sets an answer that was found in a message.
    fn answer_found(&mut self, answer: Answer);
    /// Reports that the conversation ended without an answer in its messages; with a sentence if
    /// there is one that cannot be parsed.
    fn no_answer_found(&mut self, _why: Option<String>) {}
}

/// A step without its parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Head<'t> {
    /// Turn, from 1.
    pub turn: u32,
    /// Kind of the step.
    pub kind: StepKind,
    /// Name of the tool, identifier of the artifact, key of an unknown item.
    pub title: Option<&'t str>,
    /// Id of the tool call.
    pub call_id: Option<&'t str>,
    /// True if it failed; `None` if there is no result.
    pub failed: Option<bool>,
    /// True for a message that was added to make the run continue.
    pub nudge: bool,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Number of tokens.
    pub tokens: Option<u64>,
    /// Nesting level.
    pub depth: u32,
}

/// Purpose of a part; determines its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A message of the user or the model.
    Message,
    /// A parameter of a call.
    Param,
    /// The result of a call, or the data of an artifact.
    Result,
    /// Python code.
    Code,
    /// Anything else.
    Other,
}
