//! **Pure.** Asking a model one question after the other: what was heard so far is gone through
//! again, up to the first question that has no reply yet.
use super::{Failure, Job, Quirks, Vectors};
use crate::judges::Question;

/// Replies, in the order in which they came.
pub(super) struct Heard<'a> {
    replies: std::slice::Iter<'a, String>,
    /// What a program came to, or why it did not.
    pub(super) ran: Option<&'a Result<f64, String>>,
    /// What a model turned texts into.
    pub(super) vectors: Option<&'a Vectors>,
}

/// Why it does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// A reply is missing.
    Ask(Question),
    /// A program has to be run.
    Run(Job),
    /// Vectors are missing.
    Embed([String; 2]),
    /// There is no result.
    Fail(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Fail(failure)
    }
}

impl<'a> Heard<'a> {
    pub(super) fn new(
        replies: &'a [String],
        ran: Option<&'a Result<f64, String>>,
        vectors: Option<&'a Vectors>,
    ) -> Self {
        Self { replies: replies.iter(), ran, vectors }
    }

    /// What the reply to a question says; the inner error when it could not be read, and neither
    /// could the second. `again` is said after the first. A question that was answered need not be
    /// put together again.
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
