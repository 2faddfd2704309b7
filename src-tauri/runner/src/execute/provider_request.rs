//! Single requests to a provider: answered from the journal if already paid for, otherwise sent and
//! journaled before the reply is used. Owns no conversation.
use super::active_timer::ActiveTimer;
use super::{LaunchContext, RunError};
use crate::event::RunEventKind;
use crate::http::persist::{self, Failed, Sending};
use crate::http::retry::Rules;
use crate::journal::{Attempt, Body, Journal, Record};
use crate::provider::{self, Fault, FaultKind, HttpReply, HttpRequest, Reply, Usage};
use crate::spec::{Price, Provider};
use std::sync::Arc;
use std::time::Instant;
use touchstone_clock as clock;
use touchstone_model::value::Value;

/// Reply and its origin.
pub(super) struct ReceivedReply<T> {
    /// Redacted, as stored in the journal. Text that is written or sent on is thus equal before and
    /// after a resume.
    pub(super) reply: T,
    /// Original reply, if it held a secret; tool calls use it.
    pub(super) sent: Option<T>,
    pub(super) ms: u64,
    /// True if it was paid for before.
    pub(super) journaled: bool,
    /// Active time of the run in milliseconds when the reply arrived; only for replies from the
    /// journal that record it.
    pub(super) spent_ms: Option<u64>,
}

impl ReceivedReply<Reply> {
    /// Wraps a reply from a recording, which costs nothing.
    pub(super) fn recorded(reply: Reply) -> Self {
        Self { reply, sent: None, ms: 0, journaled: false, spent_ms: None }
    }
}

/// Result of a request.
pub(super) struct RequestResult<T> {
    /// Reply, or the reason there is none.
    pub(super) bought: Result<ReceivedReply<T>, Fault>,
    /// Attempts that brought no reply and may have cost something.
    pub(super) lost: Vec<FailedAttempt>,
    /// Body of the last attempt.
    pub(super) body: Option<Vec<u8>>,
}

/// Attempt that brought no reply and may have cost something.
pub(super) struct FailedAttempt {
    pub(super) usage: Usage,
    /// Dollars; none if not known.
    pub(super) cost: Option<f64>,
}

/// Request with everything needed to send it.
pub(super) struct ProviderRequest<'a> {
    pub(super) crew: &'a LaunchContext,
    /// Run that it belongs to.
    pub(super) path: &'a str,
    pub(super) journal: Journal,
    /// Active time of the run, where it is counted.
    pub(super) sitting: Option<ActiveTimer>,
    /// First line of the journal whose replies may be used.
    pub(super) from: usize,
    pub(super) turn: u32,
    /// True if the same request may be sent for several turns and needs a reply of its own for
    /// each.
    pub(super) repeats: bool,
    pub(super) provider: Provider,
    /// Name of the model, for the rate limit that it shares with others.
    pub(super) model: &'a str,
    /// Name of the key.
    pub(super) key: Option<&'a str>,
    /// Price of its tokens.
    pub(super) price: Option<Price>,
    /// Key that the reply is stored under.
    pub(super) hash: String,
    pub(super) request: HttpRequest,
    /// Converts a reply to a compact form for the journal; `None` to store it unchanged.
    pub(super) packed: fn(&HttpReply) -> Option<Vec<u8>>,
}

impl ProviderRequest<'_> {
    /// Returns the journaled reply, or sends the request. Errors of the provider are returned in
    /// the result and do not stop the launch here.
    pub(super) async fn ask<T>(
        self,
        decode: impl Fn(&HttpReply) -> Result<T, Fault>,
    ) -> Result<RequestResult<T>, RunError> {
        let begun = Instant::now();
        let before = self.journal.lines();
        let kept = self.journal.find(&self.hash, self.from, self.only());
        if let Some((reply, kept)) = kept.and_then(|kept| Some((decode(&kept.reply()).ok()?, kept)))
        {
            let bought = Ok(ReceivedReply {
                reply,
                sent: None,
                ms: kept.ms,
                journaled: true,
                spent_ms: kept.spent_ms,
            });
            return Ok(RequestResult { bought, lost: self.lost(before, true), body: None });
        }
        let key = self.key.and_then(|name| self.crew.keys.get(name));
        if let (Some(name), None) = (self.key, &key) {
            let message = match self.crew.secrets.lookup_error(name) {
                Some(why) => format!("The key {name} cannot be used. {why}"),
                None => format!(
                    "The key {name} is not set. Set it in Settings, or as an environment variable."
                ),
            };
            let fault = Fault { kind: FaultKind::Key, message, status: None };
            return Ok(RequestResult { bought: Err(fault), lost: Vec::new(), body: None });
        }
        let limiter = self.crew.limiters.limiter_for(self.provider, self.model, self.key);
        let sending = Sending {
            client: &self.crew.client,
            limiter: &limiter,
            request: &self.request,
            key,
            rules: &Rules::for_provider(self.provider),
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
            self.crew.teller.send(
                Some(self.path),
                RunEventKind::Retrying { attempt: retrying.attempt, wait_ms, why },
            );
        };
        let came = sending.persist(|reply| self.judge(reply, &decode), keep, tell).await;
        let lost = self.lost(before, came.is_ok());
        let bought = match came {
            Ok((reply, sent)) => {
                let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                Ok(ReceivedReply { reply, sent, ms, journaled: false, spent_ms: None })
            }
            Err(Failed::Fault { fault, .. }) => Err(fault),
            Err(Failed::Stopped) => return Err(RunError::Stopped),
            Err(Failed::NotKept { why, .. }) => {
                // Every further reply would be lost, too.
                self.crew
                    .stop_all(&format!("Replies cannot be saved, so no more are requested: {why}"));
                return Err(RunError::Broken(format!("A reply could not be saved: {why}")));
            }
        };
        let body = self
            .journal
            .attempts_at(&self.hash, before, self.only())
            .pop()
            .map(|(_, attempt)| attempt.body.bytes());
        Ok(RequestResult { bought, lost, body })
    }

    /// Decodes the redacted reply, and also the original if they differ.
    fn judge<T>(
        &self,
        reply: &HttpReply,
        decode: impl Fn(&HttpReply) -> Result<T, Fault>,
    ) -> Result<(T, Option<T>), Fault> {
        let sent = decode(reply)?;
        let body = self.crew.redactor.clean_body(&reply.body, false);
        if *body == *reply.body {
            return Ok((sent, None));
        }
        let kept = HttpReply {
            status: reply.status,
            headers: reply.headers.clone(),
            body: body.into_owned(),
        };
        Ok(match decode(&kept) {
            Ok(kept) => (kept, Some(sent)),
            Err(_) => (sent, None),
        })
    }

    /// Returns the successful responses to this request that were not usable replies. Those added
    /// since line `before` are charged now.
    fn lost(&self, before: usize, replied: bool) -> Vec<FailedAttempt> {
        let mut attempts = self.journal.attempts_at(&self.hash, self.from, self.only());
        if let Some(at) =
            attempts.iter().rposition(|(_, attempt)| attempt.is_usable()).filter(|_| replied)
        {
            attempts.remove(at);
        }
        let mut lost = Vec::new();
        for (line, attempt) in attempts {
            let reply = attempt.reply();
            if !attempt.is_success() || provider::is_free(&reply) {
                continue;
            }
            let usage = provider::usage_of(self.provider, &reply).unwrap_or_default();
            let cost = provider::price::cost(&usage, self.price.as_ref());
            if line >= before {
                let guess = || provider::with_estimates(usage, self.request.body.len(), &reply);
                self.crew.purse.lose(cost, || provider::price::cost(&guess(), self.price.as_ref()));
                self.crew
                    .teller
                    .send(Some(self.path), RunEventKind::Lost { turn: self.turn, usage, cost });
            }
            lost.push(FailedAttempt { usage, cost });
        }
        lost
    }

    /// Returns the turn to match replies by, if the request repeats.
    fn only(&self) -> Option<u32> {
        self.repeats.then_some(self.turn)
    }

    fn record(&self, attempt: &persist::Attempt) -> Record {
        let clean = |text: &str| self.crew.redactor.clean(text).into_owned();
        let headers =
            attempt.headers.iter().map(|(name, value)| (name.clone(), clean(value))).collect();
        let is_reply = attempt.status.is_some_and(|status| (200..300).contains(&status));
        let packed =
            attempt.status.filter(|_| is_reply && attempt.error.is_none()).and_then(|status| {
                (self.packed)(&HttpReply {
                    status,
                    headers: attempt.headers.clone(),
                    body: attempt.body.clone(),
                })
            });
        Record::Reply(Attempt {
            turn: self.turn,
            hash: self.hash.clone(),
            status: attempt.status,
            headers,
            body: Body::from_bytes(
                &self
                    .crew
                    .redactor
                    .clean_body(packed.as_deref().unwrap_or(&attempt.body), !is_reply),
            ),
            whole: attempt.error.is_none(),
            ms: attempt.ms,
            attempt: attempt.number,
            at_ms: clock::now_ms(),
            spent_ms: self.sitting.and_then(|sitting| sitting.ms()),
        })
    }
}

/// Converts the journal line recorded in a transcript.
pub(super) fn from_line(journal: Option<u64>) -> usize {
    usize::try_from(journal.unwrap_or(0)).unwrap_or(usize::MAX)
}

/// Formats a fault for the transcript.
pub(super) fn error(fault: &Fault) -> Value {
    let mut entries = vec![("message".into(), Value::Text(fault.message.clone()))];
    if let Some(status) = fault.status {
        entries.push(("status".into(), Value::Number(status.to_string())));
    }
    Value::Map(entries)
}

/// Returns true if every other run would fail for the same reason.
pub(super) fn concerns_all(fault: &Fault) -> bool {
    fault.kind.concerns_all()
}
