//! **Pure.** What a walk over a run tells, step by step, to whoever listens.
use crate::node::Node;
use crate::run::{Answer, StepKind};

/// Whoever listens to a walk.
pub(crate) trait Sink<'t> {
    /// A step begins; its parts follow.
    fn step(&mut self, head: Head<'t>);
    /// A part of the step that began last.
    fn part<N: Node<'t>>(&mut self, label: &str, role: Role, value: N);
    /// Something the file says besides steps and answer.
    fn fact<N: Node<'t>>(&mut self, key: &str, value: N);
    /// The answer as the file says it.
    fn answer<N: Node<'t>>(&mut self, value: N, source: &str);
    /// The conversation came to its end in words and has no answer of its own: it stands in its
    /// messages, or nowhere.
    fn sought(&mut self) {}
    /// The answer as it was found in a message.
    fn found(&mut self, answer: Answer);
    /// The conversation came to its end without an answer that can be found; a sentence where there
    /// is one that cannot be read.
    fn unanswered(&mut self, _why: Option<String>) {}
}

/// What a step is, without its parts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Head<'t> {
    /// Turn, from 1.
    pub turn: u32,
    /// What it is.
    pub kind: StepKind,
    /// Name of the tool, identifier of the artifact, key of an unknown item.
    pub title: Option<&'t str>,
    /// Id of the tool call.
    pub call_id: Option<&'t str>,
    /// True when it failed; none when nothing came back.
    pub failed: Option<bool>,
    /// Added to drive the run on.
    pub nudge: bool,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
}

/// What a part is for; decides what it is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// What somebody said.
    Message,
    /// A parameter of a call.
    Param,
    /// What a call returned, or what an artifact holds.
    Result,
    /// Python code.
    Code,
    /// Anything else.
    Other,
}
