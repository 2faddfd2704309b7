//! Single requests to a model outside of any run: paid for once, journaled before the reply is
//! used, and stopped like runs. The content of request and reply is up to the caller.
use super::provider_request::{self, ProviderRequest};
use super::{LaunchContext, RunError, clean};
use crate::conversation::Turn;
use crate::event::RunEventKind;
use crate::journal::{Journal, JournalSnapshot};
use crate::provider::openai::embeddings;
use crate::provider::{
    self, Fault, FaultKind, HttpReply, HttpRequest, ModelRequest, StopReason, Usage,
};
use crate::spec::{Model, Provider};
use std::sync::Arc;

/// Turn number of a single request.
const TURN: u32 = 1;

/// Context of a request, and the key that its reply is stored under.
pub struct PromptRequest<'a> {
    /// Shared context.
    pub crew: &'a Arc<LaunchContext>,
    /// Purpose of the request, as named in events.
    pub path: &'a str,
    /// Journal that stores replies.
    pub journal: &'a Journal,
    /// Model to send it to.
    pub model: &'a Model,
    /// Distinguishes identical requests that are meant to be sent several times.
    pub mark: &'a str,
}

/// Redacted reply of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptReply {
    /// Text of the reply, or of the refusal. Empty if there was none.
    pub text: String,
    /// True if the model refused; then the text is no answer, whatever it looks like.
    pub refused: bool,
    /// Id of the model as the provider reports it.
    pub model_id: Option<String>,
    /// Usage and cost.
    pub paid: Paid,
}

/// Usage and cost of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paid {
    /// Total tokens.
    pub tokens: Option<u64>,
    /// Dollars; none if not known.
    pub cost: Option<f64>,
    /// True if it was paid for before.
    pub journaled: bool,
}

/// Reason there is no usable reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptError {
    /// Stopped; can be requested later.
    Stopped,
    /// Failure of the provider or the disk; a sentence.
    Failed(String),
    /// A reply arrived and was journaled, but is no answer: it was cut off, or the model refused.
    Useless {
        /// A sentence.
        why: String,
        /// True if it was paid for before.
        journaled: bool,
    },
}

/// Reply in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournaledReply {
    /// Text of the reply.
    Text(String),
    /// It was cut off, or the model refused.
    Useless,
}

/// Returns a journaled reply without sending a request; `None` if there is none or it cannot be
/// decoded.
pub fn journaled_reply(
    journal: &JournalSnapshot,
    model: &Model,
    mark: &str,
    instructions: &str,
    turns: &[Turn],
) -> Option<JournaledReply> {
    let (_, hash) = encode_request(model, mark, instructions, turns);
    let reply = decode_reply(model.provider, &journal.find(&hash)?.reply()).ok()?;
    let is_cut = reply.stop == StopReason::Length;
    let (text, refused) = words(reply);
    Some(if is_cut || refused { JournaledReply::Useless } else { JournaledReply::Text(text) })
}

/// Returns a request as it is sent, with the key that its reply is stored under.
fn encode_request(
    model: &Model,
    mark: &str,
    instructions: &str,
    turns: &[Turn],
) -> (HttpRequest, String) {
    let request =
        provider::encode(&ModelRequest { model, system: instructions, turns, tools: &[] });
    let hash = format!("{}-{mark}", provider::hash(&request));
    (request, hash)
}

/// Returns the key that the reply to a request is stored under.
pub fn hash(model: &Model, mark: &str, instructions: &str, turns: &[Turn]) -> String {
    encode_request(model, mark, instructions, turns).1
}

/// Returns true if the embeddings of two texts are journaled.
pub fn has_embeddings(
    journal: &JournalSnapshot,
    model: &Model,
    mark: &str,
    texts: &[String; 2],
) -> bool {
    let (_, hash) = embedding(model, mark, texts);
    journal.find(&hash).is_some_and(|kept| embeddings::decode::<2>(&kept.reply()).is_ok())
}

fn embedding(model: &Model, mark: &str, texts: &[String; 2]) -> (HttpRequest, String) {
    let request = embeddings::encode(model, texts);
    let hash = format!("{}-{mark}", provider::hash(&request));
    (request, hash)
}

/// Decodes a reply that is complete or cut off by the token limit. Any other unknown ending is an
/// error, and the request is sent again.
fn decode_reply(provider: Provider, reply: &HttpReply) -> Result<provider::Reply, Fault> {
    let decoded = provider::decode(provider, reply)?;
    let StopReason::Other(how) = &decoded.stop else { return Ok(decoded) };
    let message = format!(
        "The provider ended the reply with `{how}`, so it is not an answer. Ask again, or choose another model."
    );
    Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) })
}

/// Explains that a reply cut off by the token limit is no answer. A retry would be cut off, too.
fn cut(model: &Model) -> String {
    let at = model
        .max_tokens
        .map_or_else(|| "the most that the provider gives".to_owned(), |most| format!("{most}"));
    format!(
        "The reply was cut at {at} tokens: raise `max_tokens` of the model `{}` in touchstone.yaml.",
        model.name
    )
}

/// Returns the text of a reply, or of its refusal, and true if the model refused.
fn words(reply: provider::Reply) -> (String, bool) {
    let (refusal, refused) = match reply.stop {
        StopReason::Refused(words) => (words, true),
        _ => (None, false),
    };
    (reply.text.or(refusal).unwrap_or_default(), refused)
}

impl PromptRequest<'_> {
    /// Sends the request, unless its reply is journaled. Stops instead if the spend limit is
    /// reached.
    pub async fn ask(
        &self,
        instructions: &str,
        turns: &[Turn],
    ) -> Result<PromptReply, PromptError> {
        let asked = encode_request(self.model, self.mark, instructions, turns);
        let provider = self.model.provider;
        let decode = |reply: &HttpReply| decode_reply(provider, reply);
        let (reply, paid) = self.buy(asked, decode, |reply| reply.usage, |_| None).await?;
        if reply.stop == StopReason::Length {
            // Paid for without a usable result; reported like any other lost attempt.
            if !paid.journaled {
                self.crew.teller.send(
                    Some(self.path),
                    RunEventKind::Lost { turn: TURN, usage: reply.usage, cost: paid.cost },
                );
            }
            return Err(PromptError::Useless { why: cut(self.model), journaled: paid.journaled });
        }
        let reply = clean::reply(&self.crew.redactor, reply);
        let model_id = reply.model_id.clone();
        let (text, refused) = words(reply);
        Ok(PromptReply { text, refused, model_id, paid })
    }

    /// Like `ask`, for the embeddings of two texts.
    pub async fn embed(&self, texts: &[String; 2]) -> Result<([Vec<f64>; 2], Paid), PromptError> {
        let asked = embedding(self.model, self.mark, texts);
        let (reply, paid) = self
            .buy(asked, embeddings::decode::<2>, |reply| reply.usage, embeddings::packed::<2>)
            .await?;
        Ok((reply.vectors, paid))
    }

    async fn buy<T>(
        &self,
        (request, hash): (HttpRequest, String),
        decode: impl Fn(&HttpReply) -> Result<T, Fault>,
        usage: impl Fn(&T) -> Usage,
        packed: fn(&HttpReply) -> Option<Vec<u8>>,
    ) -> Result<(T, Paid), PromptError> {
        let Self { crew, model, .. } = self;
        // A reply that cannot be decoded is bought again, so it does not count as journaled.
        let is_kept =
            || self.journal.find(&hash, 0, None).is_some_and(|kept| decode(&kept.reply()).is_ok());
        if let Some(why) = crew.purse.refusal()
            && !is_kept()
        {
            crew.stop_all(&why);
            return Err(PromptError::Stopped);
        }
        if let Some(why) = self.journal.full().filter(|_| !is_kept()) {
            crew.stop_all(&why);
            return Err(PromptError::Stopped);
        }
        let question = ProviderRequest {
            crew,
            path: self.path,
            journal: self.journal.clone(),
            sitting: None,
            from: 0,
            turn: TURN,
            repeats: false,
            provider: model.provider,
            model: &model.model_id,
            key: model.key.as_deref(),
            price: model.price,
            hash,
            request,
            packed,
        };
        let asked = question.ask(&decode).await.map_err(|halt| self.to_prompt_error(halt))?;
        let bought = asked.bought.map_err(|fault| {
            if provider_request::concerns_all(&fault) {
                crew.stop_all(&fault.message);
            }
            PromptError::Failed(crew.redactor.clean(&fault.message).into_owned())
        })?;
        let used = usage(&bought.reply);
        let cost = provider::price::cost(&used, model.price.as_ref());
        if !bought.journaled {
            crew.purse.pay(cost, &model.name, model.price.as_ref());
        }
        Ok((bought.reply, Paid { tokens: used.total(), cost, journaled: bought.journaled }))
    }

    fn to_prompt_error(&self, halt: RunError) -> PromptError {
        match halt {
            RunError::Stopped => PromptError::Stopped,
            RunError::Barred(why) | RunError::Elsewhere(why) | RunError::Broken(why) => {
                PromptError::Failed(self.crew.redactor.clean(&why).into_owned())
            }
        }
    }
}
