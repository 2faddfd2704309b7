//! One question to a provider: answered from the journal where it was paid for already, else sent, and kept before anything is
//! made of the reply. Owns no conversation.
use super::{Crew, Halt};
use crate::clock;
use crate::runs::event::What;
use crate::runs::http::persist::{self, Failed, Sending};
use crate::runs::http::retry::Rules;
use crate::runs::journal::{Attempt, Body, Journal, Record};
use crate::runs::provider::{Fault, FaultKind, HttpReply, HttpRequest, Reply};
use crate::runs::spec::Provider;
use std::sync::Arc;
use std::time::Instant;
use touchstone_formats::value::Value;

/// A reply, and how it was come by.
pub(super) struct Bought<T> {
    pub(super) reply: T,
    pub(super) ms: u64,
    /// It was paid for before.
    pub(super) journaled: bool,
}

impl Bought<Reply> {
    /// Read from a recording: nothing was bought.
    pub(super) fn recorded(reply: Reply) -> Self {
        Self { reply, ms: 0, journaled: false }
    }
}

/// A question, with everything that is needed to ask it.
pub(super) struct Question<'a> {
    pub(super) crew: &'a Crew,
    /// The run it is for.
    pub(super) path: &'a str,
    pub(super) journal: Journal,
    /// The line of the journal from which on replies are of use.
    pub(super) from: usize,
    pub(super) turn: u32,
    pub(super) provider: Provider,
    /// Name of the model, for the gate it shares with others.
    pub(super) model: &'a str,
    /// Name of the key.
    pub(super) key: Option<&'a str>,
    /// What a reply to it is found again by.
    pub(super) hash: String,
    pub(super) request: HttpRequest,
}

impl Question<'_> {
    /// Asks; what the provider says against it is not ours to stop for.
    pub(super) async fn ask<T>(
        self,
        decode: impl Fn(&HttpReply) -> Result<T, Fault>,
    ) -> Result<Result<Bought<T>, Fault>, Halt> {
        let begun = Instant::now();
        let kept = self.journal.find(&self.hash, self.from);
        if let Some((reply, ms)) = kept.and_then(|kept| Some((decode(&kept.reply()).ok()?, kept.ms))) {
            return Ok(Ok(Bought { reply, ms, journaled: true }));
        }
        let key = self.key.and_then(|name| self.crew.keys.get(name));
        if let (Some(name), None) = (self.key, &key) {
            let message = match self.crew.secrets.wrong(name) {
                Some(why) => format!("The key {name} cannot be used. {why}"),
                None => format!("The key {name} is not set. Set it in Settings, or as an environment variable."),
            };
            return Ok(Err(Fault { kind: FaultKind::Key, message, status: None }));
        }
        let limiter = self.crew.limiters.of(self.provider, self.model, self.key);
        let sending = Sending {
            client: &self.crew.client,
            limiter: &limiter,
            request: &self.request,
            key,
            rules: &Rules::of(self.provider),
            rest: &self.crew.stops.soft,
            stop: &self.crew.stops.hard,
        };
        let keep = |attempt: Arc<persist::Attempt>| {
            let record = self.record(&attempt);
            async { self.journal.append(record).await }
        };
        let tell = |retrying: persist::Retrying| {
            let wait_ms = u64::try_from(retrying.wait.as_millis()).unwrap_or(u64::MAX);
            let why = self.crew.redactor.clean(&retrying.why).into_owned();
            self.crew.teller.tell(Some(self.path), What::Retrying { attempt: retrying.attempt, wait_ms, why });
        };
        match sending.persist(decode, keep, tell).await {
            Ok(reply) => {
                let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                Ok(Ok(Bought { reply, ms, journaled: false }))
            }
            Err(Failed::Fault { fault, .. }) => Ok(Err(fault)),
            Err(Failed::Stopped) => Err(Halt::Stopped),
            Err(Failed::NotKept { why, .. }) => {
                // Every further reply would be lost the same.
                self.crew.stop_all(&format!("Replies cannot be kept, so none is bought any more: {why}"));
                Err(Halt::Broken(format!("A reply could not be kept: {why}")))
            }
        }
    }

    fn record(&self, attempt: &persist::Attempt) -> Record {
        let clean = |text: &str| self.crew.redactor.clean(text).into_owned();
        let headers = attempt.headers.iter().map(|(name, value)| (name.clone(), clean(value))).collect();
        let is_reply = attempt.status.is_some_and(|status| (200..300).contains(&status));
        Record::Reply(Attempt {
            turn: self.turn,
            hash: self.hash.clone(),
            status: attempt.status.unwrap_or(0),
            headers,
            body: Body::of(&self.crew.redactor.clean_body(&attempt.body, !is_reply)),
            whole: attempt.error.is_none(),
            ms: attempt.ms,
            attempt: attempt.number,
            at_ms: clock::now_ms(),
        })
    }
}

/// The line of the journal that a file names.
pub(super) fn from_line(journal: Option<u64>) -> usize {
    usize::try_from(journal.unwrap_or(0)).unwrap_or(usize::MAX)
}

/// Why there is no reply, as it stands in the transcript.
pub(super) fn error(fault: &Fault) -> Value {
    let mut entries = vec![("message".into(), Value::Text(fault.message.clone()))];
    if let Some(status) = fault.status {
        entries.push(("status".into(), Value::Number(status.to_string())));
    }
    Value::Map(entries)
}

/// True when every other run would fail the same.
pub(super) fn concerns_all(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Exhausted | FaultKind::Key)
}
