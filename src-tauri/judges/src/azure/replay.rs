//! **Pure.** Sequential questions to a model. The received replies are replayed up to the first
//! question without a reply.
use super::{Failure, Job, Quirks, Vectors};
use crate::question::Question;

/// Received replies, in order.
pub(super) struct ReplyLog<'a> {
    replies: std::slice::Iter<'a, String>,
    /// Result of a program, or the reason why it failed.
    pub(super) ran: Option<&'a Result<f64, String>>,
    /// Embedding vectors of a model.
    pub(super) vectors: Option<&'a Vectors>,
}

/// Reason why an evaluation stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// A reply is missing.
    Ask(Question),
    /// A program has to be run.
    Run(Job),
    /// Vectors are missing.
    Embed([String; 2]),
    /// The evaluation fails.
    Fail(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Fail(failure)
    }
}

impl<'a> ReplyLog<'a> {
    pub(super) fn new(
        replies: &'a [String],
        ran: Option<&'a Result<f64, String>>,
        vectors: Option<&'a Vectors>,
    ) -> Self {
        Self { replies: replies.iter(), ran, vectors }
    }

    /// Returns the parsed reply to a question. The inner error means that neither the reply nor the
    /// retry could be parsed. `again` is added to the question on the retry. The question is only
    /// built when its reply is missing.
    pub(super) fn ask<T, U>(
        &mut self,
        question: impl FnOnce() -> Question,
        again: &'static str,
        quirks: &Quirks,
        read: impl Fn(&str) -> Result<T, U>,
    ) -> Result<Result<T, U>, Stop> {
        let Some(reply) = self.replies.next() else { return Err(Stop::Ask(question())) };
        let first = read(reply);
        if first.is_ok() || quirks.has("asked_once") {
            return Ok(first);
        }
        match self.replies.next() {
            Some(second) => Ok(read(second)),
            None => Err(Stop::Ask(Question { unread: Some((reply.clone(), again)), ..question() })),
        }
    }
}
