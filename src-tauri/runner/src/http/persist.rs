//! Sends a request until there is a usable reply, within the retry rules: waits for the rate
//! limiter, sends, stores the attempt, has it judged, waits. Owns the order of these steps; storage
//! and the meaning of replies are up to the caller.
use super::client::{Client, SendError, SendFault};
use super::keys::ApiKey;
use super::limiter::Limiter;
use super::pace::Outcome;
use super::retry::{self, AttemptEnd, Decision, Moment, Rules};
use crate::disk::DiskError;
use crate::provider::{Fault, FaultKind, HttpReply, HttpRequest};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use touchstone_clock as clock;

/// Attempt, in the form to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Number, from 1.
    pub number: u32,
    /// Status, if a reply began.
    pub status: Option<u16>,
    /// Selected headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body received; may be incomplete.
    pub body: Vec<u8>,
    /// Milliseconds from the start of the request to the last byte received.
    pub ms: u64,
    /// Reason the reply is incomplete; none if it is complete.
    pub error: Option<String>,
}

/// Notice of a retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retrying {
    /// Number of the next attempt, from 2; the present one if only storing it is retried.
    pub attempt: u32,
    /// Wait before the retry.
    pub wait: Duration,
    /// Reason, as a sentence.
    pub why: String,
}

/// Final failure.
#[derive(Debug)]
pub enum Failed {
    /// Failure of the provider or the connection.
    Fault {
        /// The failure; its message states the reason there is no further attempt.
        fault: Fault,
        /// Number of attempts.
        attempts: u32,
    },
    /// A reply arrived but could not be stored; it must not be used.
    NotKept {
        /// The reply; it may have been paid for.
        attempt: Arc<Attempt>,
        /// Reason it could not be stored.
        why: DiskError,
    },
    /// Stopped.
    Stopped,
}

/// Request with everything needed to send it.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    /// HTTP client.
    pub client: &'a Client,
    /// Rate limiter of its provider, model and key.
    pub limiter: &'a Limiter,
    /// Request to send.
    pub request: &'a HttpRequest,
    /// Key, if needed.
    pub key: Option<&'a ApiKey>,
    /// Retry rules.
    pub rules: &'a Rules,
    /// Graceful stop: nothing new is sent; a request in flight is awaited.
    pub rest: &'a CancellationToken,
    /// Immediate stop: a request in flight is cancelled.
    pub stop: &'a CancellationToken,
}

/// Consequence of an attempt.
enum Step<T> {
    Done(T),
    Again { wait: Duration, why: String },
    Failed(Failed),
}

impl Sending<'_> {
    /// Sends the request until `judge` accepts a reply. Passes each attempt that may have cost
    /// something to `keep` before anything else, and retries that while the disk is full. Reports
    /// every wait to `tell`.
    pub async fn persist<T, F: Future<Output = Result<(), DiskError>>>(
        self,
        judge: impl Fn(&HttpReply) -> Result<T, Fault>,
        mut keep: impl FnMut(Arc<Attempt>) -> F,
        mut tell: impl FnMut(Retrying),
    ) -> Result<T, Failed> {
        let began = Instant::now();
        for number in 1.. {
            let place = tokio::select! {
                biased;
                () = self.ended() => return Err(Failed::Stopped),
                place = self.limiter.acquire() => place,
            };
            let sent_at = Instant::now();
            let sent = self.client.send(self.request, self.key, self.stop).await;
            let attempt = attempt(number, &sent, sent_at.elapsed()).map(Arc::new);
            // Stored before anything else. The permit is held meanwhile: nothing is bought while
            // nothing can be stored.
            if let Some(attempt) = &attempt {
                self.keep(attempt, &mut keep, &mut tell).await?;
            }
            let judged = sent.as_ref().ok().map(|reply| judged(reply, &judge));
            place.leave(outcome(number, judged.as_ref(), attempt.as_deref()));
            match self.step(number, &sent, judged, began.elapsed()) {
                Step::Done(reply) => return Ok(reply),
                Step::Failed(failed) => return Err(failed),
                Step::Again { wait, why } => {
                    tell(Retrying { attempt: number + 1, wait, why });
                    tokio::select! {
                        biased;
                        () = self.ended() => return Err(Failed::Stopped),
                        () = sleep(wait) => {}
                    }
                }
            }
        }
        Err(Failed::Stopped)
    }

    /// Completes when nothing new may be sent.
    async fn ended(&self) {
        tokio::select! {
            () = self.rest.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Stores an attempt. Retries while the disk is full, because the reply was paid for.
    async fn keep<F: Future<Output = Result<(), DiskError>>>(
        &self,
        attempt: &Arc<Attempt>,
        keep: &mut impl FnMut(Arc<Attempt>) -> F,
        tell: &mut impl FnMut(Retrying),
    ) -> Result<(), Failed> {
        while let Err(why) = keep(Arc::clone(attempt)).await {
            if !why.is_full() || self.stop.is_cancelled() {
                return Err(Failed::NotKept { attempt: Arc::clone(attempt), why });
            }
            let wait = self.rules.full_disk;
            let said = format!(
                "A reply could not be saved: {why} Touchstone retries until there is space."
            );
            tell(Retrying { attempt: attempt.number, wait, why: said });
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(Failed::NotKept { attempt: Arc::clone(attempt), why }),
                () = sleep(wait) => {}
            }
        }
        Ok(())
    }

    fn step<T>(
        &self,
        number: u32,
        sent: &Result<HttpReply, SendError>,
        judged: Option<Result<T, Fault>>,
        so_far: Duration,
    ) -> Step<T> {
        let fault = match (sent, judged) {
            (_, Some(Ok(reply))) => return Step::Done(reply),
            (_, Some(Err(fault))) => fault,
            (Err(error), None) if error.fault == SendFault::Stopped => {
                return Step::Failed(Failed::Stopped);
            }
            (Err(error), None) => fault_of(error),
            (Ok(reply), None) => Fault {
                kind: FaultKind::Refused,
                message: "The reply was not judged.".to_owned(),
                status: Some(reply.status),
            },
        };
        let end = match sent {
            Ok(reply) => AttemptEnd::Replied {
                status: reply.status,
                headers: &reply.headers,
                fault: fault.kind,
            },
            Err(error) => match error.fault {
                SendFault::Broken => AttemptEnd::Broken,
                SendFault::TimedOut => AttemptEnd::TimedOut,
                SendFault::Cut => AttemptEnd::Truncated,
                // A retry would fail in the same way, and the message says everything.
                _ => return Step::Failed(Failed::Fault { fault, attempts: number }),
            },
        };
        let moment = Moment { now: clock::now(), random: chance(), spent: so_far };
        match retry::next(self.rules, number, &end, &moment) {
            Decision::Again { wait, why } => Step::Again { wait, why },
            Decision::Stop { .. } if number == 1 && fault.kind == FaultKind::Refused => {
                Step::Failed(Failed::Fault { fault, attempts: number })
            }
            Decision::Stop { why } => {
                let message = format!("{} {why}", fault.message);
                Step::Failed(Failed::Fault { fault: Fault { message, ..fault }, attempts: number })
            }
        }
    }
}

/// Returns the attempt in the form to be stored; `None` if nothing was sent.
fn attempt(number: u32, sent: &Result<HttpReply, SendError>, took: Duration) -> Option<Attempt> {
    let (reply, error) = match sent {
        Ok(reply) => (Some(reply), None),
        Err(error) if matches!(error.fault, SendFault::NoKey | SendFault::NotSent) => return None,
        Err(error) => (error.part.as_ref(), Some(error.message.clone())),
    };
    Some(Attempt {
        number,
        status: reply.map(|reply| reply.status),
        headers: reply.map(|reply| of_interest(&reply.headers)).unwrap_or_default(),
        body: reply.map(|reply| reply.body.clone()).unwrap_or_default(),
        ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        error,
    })
}

/// Selects the headers to store: request ids, rate limits, and those needed to decode the body.
fn of_interest(headers: &[(String, String)]) -> Vec<(String, String)> {
    let names = ["content-type", "request-id", "x-request-id", "cf-ray", "date", "x-should-retry"];
    let beginnings = ["retry-after", "x-ratelimit-", "anthropic-", "openai-"];
    let wanted = |name: &str| {
        names.contains(&name) || beginnings.iter().any(|beginning| name.starts_with(beginning))
    };
    headers.iter().filter(|(name, _)| wanted(name)).cloned().collect()
}

fn judged<T>(
    reply: &HttpReply,
    judge: &impl Fn(&HttpReply) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if !(300..400).contains(&reply.status) {
        return judge(reply);
    }
    let message = format!(
        "The provider redirects to another address (status {}). Redirects are not followed, because the key would go there. Correct the base_url.",
        reply.status
    );
    Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) })
}

fn outcome<T>(
    number: u32,
    judged: Option<&Result<T, Fault>>,
    attempt: Option<&Attempt>,
) -> Outcome {
    let too_many = attempt.is_some_and(|attempt| attempt.status == Some(429));
    match judged {
        Some(Ok(_)) if number == 1 => Outcome::Good,
        Some(Err(fault)) if too_many && fault.kind == FaultKind::Passing => {
            let headers = attempt.map(|attempt| attempt.headers.as_slice()).unwrap_or_default();
            let asked = retry::parse_retry_after(headers, clock::now());
            Outcome::TooMany(
                asked.and_then(|seconds| Duration::try_from_secs_f64(seconds.min(3600.0)).ok()),
            )
        }
        _ => Outcome::Neutral,
    }
}

fn fault_of(error: &SendError) -> Fault {
    let kind = match error.fault {
        SendFault::NoKey => FaultKind::Key,
        SendFault::NotSent | SendFault::TooLarge => FaultKind::Refused,
        SendFault::Cut => FaultKind::Truncated,
        SendFault::Broken | SendFault::TimedOut | SendFault::Stopped => FaultKind::Passing,
    };
    Fault {
        kind,
        message: error.message.clone(),
        status: error.part.as_ref().map(|part| part.status),
    }
}

/// Returns a random number from 0 to 1. It only spreads waits and need not be unpredictable.
fn chance() -> f64 {
    let drawn = u32::try_from(RandomState::new().hash_one(0u8) >> 32).unwrap_or(0);
    f64::from(drawn) / f64::from(u32::MAX)
}
