//! Asks until there is a reply, as often as the rules allow: enters the gate, sends, keeps what
//! came, lets it be judged, waits. Owns the order of these steps; what is kept where and what a
//! reply means is the caller's.
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

/// One attempt, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Which one, from 1.
    pub number: u32,
    /// Status, when a reply began.
    pub status: Option<u16>,
    /// Headers that say something about the reply, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as far as it came.
    pub body: Vec<u8>,
    /// Milliseconds from the first byte sent to the last one received.
    pub ms: u64,
    /// Why the reply is not whole; none when it is.
    pub error: Option<String>,
}

/// Something that is going to be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retrying {
    /// Which attempt comes next, from 2; the present one when only its reply is to be kept again.
    pub attempt: u32,
    /// After so long.
    pub wait: Duration,
    /// Why, as a sentence.
    pub why: String,
}

/// Why there is no reply in the end.
#[derive(Debug)]
pub enum Failed {
    /// The provider or the way to it.
    Fault {
        /// What is wrong; its message says why it was not tried again.
        fault: Fault,
        /// Attempts made.
        attempts: u32,
    },
    /// A reply came and could not be kept: it must not be acted on.
    NotKept {
        /// The reply; it may have been paid for.
        attempt: Arc<Attempt>,
        /// Why it could not be kept.
        why: DiskError,
    },
    /// It was stopped.
    Stopped,
}

/// A request with all that is needed to send it.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    /// Sends it.
    pub client: &'a Client,
    /// The gate of its provider, model and key.
    pub limiter: &'a Limiter,
    /// What is sent.
    pub request: &'a HttpRequest,
    /// Its key.
    pub key: Option<&'a ApiKey>,
    /// How often it is sent.
    pub rules: &'a Rules,
    /// Nothing new is sent once this is cancelled; what is under way is waited for.
    pub rest: &'a CancellationToken,
    /// What is under way is given up once this is cancelled.
    pub stop: &'a CancellationToken,
}

/// What follows from one attempt.
enum Step<T> {
    Done(T),
    Again { wait: Duration, why: String },
    Failed(Failed),
}

impl Sending<'_> {
    /// Asks until `judge` accepts a reply. Each attempt that may have cost something is given to
    /// `keep` before anything else is done with it; while the disk is full, that is tried again and
    /// again. `tell` hears of every wait.
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
                place = self.limiter.enter() => place,
            };
            let sent_at = Instant::now();
            let sent = self.client.send(self.request, self.key, self.stop).await;
            let attempt = attempt(number, &sent, sent_at.elapsed()).map(Arc::new);
            // Kept before anything else is done with it. Meanwhile the place stays taken: while
            // nothing can be kept, nothing is bought.
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

    /// When nothing new is to be sent.
    async fn ended(&self) {
        tokio::select! {
            () = self.rest.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Keeps an attempt. A full disk is waited out: the reply was paid for.
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
            let said =
                format!("A reply could not be kept: {why} It is tried again until there is room.");
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
                // The same request would end the same way, and its message says all.
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

/// The attempt as it is kept; none when nothing was sent.
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

/// Headers worth keeping: what the request was called, what the provider says about limits, and how
/// to read the body.
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
        "The provider points to another address (status {}), which is never followed: the key would go there. Correct the base_url.",
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
            let asked = retry::asked(headers, clock::now());
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

/// A number from 0 to 1. What spreads waits need not be unpredictable.
fn chance() -> f64 {
    let drawn = u32::try_from(RandomState::new().hash_one(0u8) >> 32).unwrap_or(0);
    f64::from(drawn) / f64::from(u32::MAX)
}
