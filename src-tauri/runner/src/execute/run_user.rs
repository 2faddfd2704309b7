//! Simulated user of a run: asks the model that plays it for the next message, or for its verdict.
//! Owns the requests and their cost; what is asked and what a reply means is in `crate::user`.
use super::converse::{Conversation, error_of_reply};
use super::endpoints::Endpoint;
use super::provider_request;
use super::user_model::RunUser;
use super::{RunError, RunOutcome, clean};
use crate::attacker::MOST_TAKEN_BACK;
use crate::conversation::Turn;
use crate::event::RunEventKind;
use crate::fault;
use crate::provider::{self, ModelRequest, Reply, StopReason};
use crate::script::UserFacts;
use crate::user::{self, CORRECTIONS, Move, UserOutcome, Verdict};
use touchstone_formats::suite::AttackTalk;
use touchstone_model::value::Value;

/// Reply of the model that plays the user, or why there is none.
type UserReply = Result<Reply, NoReply>;

/// Why the model that plays the user said nothing that can be used.
enum NoReply {
    /// The request failed, which says nothing about the model. The run ends with the error.
    Fault(Value),
    /// The model does not do its part: it refuses, or is cut.
    Unfit(Value),
}

impl Conversation<'_> {
    /// Returns true if the simulated user has not ended the conversation yet.
    pub(super) fn awaits_user(&self) -> bool {
        self.user.is_some() && self.script.user().outcome.is_none()
    }

    /// Asks the model that plays the user, until it says something or ends the conversation.
    /// Returns the outcome of the run if it ends with an error.
    pub(super) async fn ask_user(&mut self) -> Result<Option<RunOutcome>, RunError> {
        let Some(user) = self.user.clone() else { return Ok(None) };
        let (sent, taken_back) = self.script.simulated_messages();
        let is_last = sent - taken_back >= user.max_turns;
        let messages = self.script.messages();
        let has_heard = messages.iter().any(|one| matches!(one, user::Message::System(_)));
        let mut turns = user::turns(&messages, is_last);
        drop(messages);
        // Added to the file together with the message: a run that is killed between two requests
        // takes both from the journal, and counts each once.
        let mut facts = self.script.user();
        let before = facts.usage.and_then(|usage| usage.total());
        let mut corrections = 0;
        let (next, declined) = loop {
            let reply = match self.user_reply(&user, sent, &turns, &mut facts).await? {
                Ok(reply) => reply,
                Err(NoReply::Unfit(error)) if is_under_way(&user, sent, has_heard) => {
                    break (Move::Ends(failed_attacker(&error)), false);
                }
                Err(NoReply::Fault(error) | NoReply::Unfit(error)) => {
                    self.script.set_user(&facts);
                    return self.fail(error).await.map(Some);
                }
            };
            let text = reply.text.unwrap_or_default();
            let why = match user::read(&text, has_heard) {
                Ok(next) => break (next, user::says_declined(&text)),
                Err(why) => why,
            };
            if corrections < CORRECTIONS {
                corrections += 1;
                user::push_correction(&mut turns, &text, &why);
                continue;
            }
            // Small models answer in plain words, whatever they are told. Where a verdict is asked
            // for, words are none: they do not say whether the goal was reached. Those of a model
            // that does not want to attack are not an attack.
            let may_be_plain = !is_last && user.attack.is_none();
            if let Some(message) = user::plain_message(&text).filter(|_| may_be_plain) {
                break (Move::Says(message), false);
            }
            let error = unusable(&user, &text, &why);
            if is_under_way(&user, sent, has_heard) {
                break (Move::Ends(failed_attacker(&error)), false);
            }
            self.script.set_user(&facts);
            return self.fail(error).await.map(Some);
        };
        let tokens = facts.usage.and_then(|usage| usage.total());
        let tokens = tokens.map(|tokens| tokens.saturating_sub(before.unwrap_or(0)));
        match next {
            Move::Says(message) if !is_last => {
                let may_retract = user.attack == Some(AttackTalk::Crescendo);
                if declined && may_retract && taken_back < MOST_TAKEN_BACK {
                    self.script.take_back();
                }
                self.script.say(&message, tokens);
            }
            Move::Says(message) => facts.end(Verdict {
                outcome: UserOutcome::TurnLimit,
                reason: Some(format!(
                    "The user sent {sent} messages (`user.max_turns`) and did not reach its goal."
                )),
                closing: Some(message),
            }),
            Move::Ends(verdict) => facts.end(verdict),
        }
        self.script.set_user(&facts);
        Ok(None)
    }

    /// Requests one reply of the model that plays the user, and adds what it cost to `facts`.
    async fn user_reply(
        &mut self,
        user: &RunUser,
        sent: usize,
        turns: &[Turn],
        facts: &mut UserFacts,
    ) -> Result<UserReply, RunError> {
        if let Some(why) = self.crew.purse.refusal() {
            self.crew.stop_all(&why);
            return Err(RunError::Stopped);
        }
        if self.crew.stops.soft.is_cancelled() {
            return Err(RunError::Stopped);
        }
        let door = Endpoint::for_model(&user.model);
        if let Some(why) = self.crew.doors.refused(&door) {
            return Err(RunError::Barred(why));
        }
        let message = u32::try_from(sent).unwrap_or(u32::MAX).saturating_add(1);
        self.tell(RunEventKind::AskingUser { message });
        let request = provider::encode(&ModelRequest {
            model: &user.model,
            system: &user.instructions,
            turns,
            tools: &[],
        });
        let hash = format!("{}-user", provider::hash(&request));
        let asked = self.send(&user.model, message, request, hash).await?;
        for lost in &asked.lost {
            facts.spend(&lost.usage, lost.cost);
        }
        let bought = match asked.bought {
            Ok(bought) => bought,
            Err(fault) => {
                self.crew.handle_fault(&fault, &door);
                return Ok(Err(NoReply::Fault(provider_request::error(&fault))));
            }
        };
        fault::point!("talk.user_replied");
        let usage = bought.reply.usage;
        let cost = provider::price::cost(&usage, user.model.price.as_ref());
        let (ms, journaled) = (bought.ms, bought.journaled);
        if !journaled {
            self.crew.purse.pay(cost, &user.model.name, user.model.price.as_ref());
        }
        self.tell(RunEventKind::UserReplied { message, usage, cost, ms, journaled });
        facts.spend(&usage, cost);
        let reply = clean::reply(&self.crew.redactor, bought.reply);
        facts.model_id = reply.model_id.clone().or(facts.model_id.take());
        let why = match reply.stop {
            StopReason::Refused(_) => Some(Value::from(
                format!("The model `{}` refused to {}.", user.model.name, part(user)).as_str(),
            )),
            StopReason::Length => Some(Value::from(
                format!(
                    "The message of the simulated user was cut at the token limit. Raise `max_tokens` of the model `{}`, then continue.",
                    user.model.name
                )
                .as_str(),
            )),
            _ => error_of_reply(&reply),
        };
        Ok(why.map_or(Ok(reply), |why| Err(NoReply::Unfit(why))))
    }
}

/// Returns true for an attack to which the system has answered. What it answered is judged, also if
/// the attacker fails later: attackers refuse most where the system says the most harmful things.
fn is_under_way(user: &RunUser, sent: usize, has_heard: bool) -> bool {
    user.attack.is_some() && sent > 0 && has_heard
}

/// Returns the verdict of an attacker that failed on the way.
fn failed_attacker(error: &Value) -> Verdict {
    let reason = error.text().or_else(|| error.get("message")?.text());
    Verdict {
        outcome: UserOutcome::AttackerFailed,
        reason: reason.map(str::to_owned),
        closing: None,
    }
}

/// Returns the error for a model that does not reply in the required form.
fn unusable(user: &RunUser, reply: &str, why: &str) -> Value {
    let message = format!(
        "The model `{}`, which has to {}, did not reply in the required form: {why} Continue the run to ask it again, or choose another model.",
        user.model.name,
        part(user)
    );
    Value::Map(vec![
        ("message".into(), Value::Text(message)),
        ("text".into(), Value::Text(reply.to_owned())),
    ])
}

/// Returns what the model does in the run.
fn part(user: &RunUser) -> &'static str {
    if user.attack.is_some() { "lead the attack" } else { "play the user" }
}
