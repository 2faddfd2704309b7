//! One question to a model outside of any run: paid for once, kept before anything is made of the
//! reply, and stopped like runs are. What is asked, and what the reply means, is the caller's.
use super::ask::{self, Question};
use super::{Crew, Halt, clean};
use crate::event::What;
use crate::journal::{Journal, Kept};
use crate::provider::openai::embeddings;
use crate::provider::{self, Ask, Fault, FaultKind, HttpReply, HttpRequest, Stop, Usage};
use crate::spec::{Model, Provider};
use crate::talk::Turn;
use std::sync::Arc;

/// A question of its own is the first turn of nothing.
const TURN: u32 = 1;

/// Where it is asked, and what its reply is found again by.
pub struct Errand<'a> {
    /// What all questions share.
    pub crew: &'a Arc<Crew>,
    /// What it is for, as it is named in events.
    pub path: &'a str,
    /// Where replies are kept.
    pub journal: &'a Journal,
    /// Whom it is asked.
    pub model: &'a Model,
    /// Tells the same question apart that is meant to be asked several times.
    pub mark: &'a str,
}

/// What a model said, without secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// Its text; its words when it refused. Empty when it said nothing.
    pub text: String,
    /// It would not: its words are no answer, whatever they look like.
    pub refused: bool,
    /// The model, as the provider names it.
    pub model_id: Option<String>,
    /// What it took.
    pub paid: Paid,
}

/// What a reply took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paid {
    /// Tokens in and out.
    pub tokens: Option<u64>,
    /// Dollars; none when nobody knows.
    pub cost: Option<f64>,
    /// It was paid for before.
    pub journaled: bool,
}

/// Why nothing was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unheard {
    /// It was stopped and can be asked later.
    Stopped,
    /// The provider or the disk; a sentence.
    Failed(String),
    /// A reply came and is kept, but it is no answer: it was cut, or the model refused.
    Useless {
        /// A sentence.
        why: String,
        /// It was paid for before.
        journaled: bool,
    },
}

/// A reply that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// What was said.
    Text(String),
    /// It was cut, or the model refused.
    Useless,
}

/// A reply that is kept, without asking anybody; none when it is no reply.
pub fn kept(
    journal: &Kept,
    model: &Model,
    mark: &str,
    instructions: &str,
    turns: &[Turn],
) -> Option<Reply> {
    let (_, hash) = addressed(model, mark, instructions, turns);
    let reply = said(model.provider, &journal.find(&hash)?.reply()).ok()?;
    let is_cut = reply.stop == Stop::Length;
    let (text, refused) = words(reply);
    Some(if is_cut || refused { Reply::Useless } else { Reply::Text(text) })
}

/// A question as it is sent, and what its reply is found again by.
fn addressed(
    model: &Model,
    mark: &str,
    instructions: &str,
    turns: &[Turn],
) -> (HttpRequest, String) {
    let request = provider::encode(&Ask { model, system: instructions, turns, tools: &[] });
    let hash = format!("{}-{mark}", provider::hash(&request));
    (request, hash)
}

/// What the reply to a question is found again by.
pub fn hash(model: &Model, mark: &str, instructions: &str, turns: &[Turn]) -> String {
    addressed(model, mark, instructions, turns).1
}

/// True when the vectors of two texts are kept.
pub fn kept_vectors(journal: &Kept, model: &Model, mark: &str, texts: &[String; 2]) -> bool {
    let (_, hash) = embedding(model, mark, texts);
    journal.find(&hash).is_some_and(|kept| embeddings::decode::<2>(&kept.reply()).is_ok())
}

fn embedding(model: &Model, mark: &str, texts: &[String; 2]) -> (HttpRequest, String) {
    let request = embeddings::encode(model, texts);
    let hash = format!("{}-{mark}", provider::hash(&request));
    (request, hash)
}

/// A reply that was said to its end, or cut: what ended in a way that nobody knows is none, and is
/// asked for again.
fn said(provider: Provider, reply: &HttpReply) -> Result<provider::Reply, Fault> {
    let decoded = provider::decode(provider, reply)?;
    let Stop::Other(how) = &decoded.stop else { return Ok(decoded) };
    let message = format!(
        "The provider ended the reply with `{how}`, so what it holds is no answer. Ask again, or another model."
    );
    Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) })
}

/// Why a reply that was cut is no answer: asking again would be cut the same.
fn cut(model: &Model) -> String {
    let at = model
        .max_tokens
        .map_or_else(|| "the most that the provider gives".to_owned(), |most| format!("{most}"));
    format!(
        "The reply was cut at {at} tokens: raise `max_tokens` of the model `{}` in touchstone.yaml.",
        model.name
    )
}

/// What was said; the words of a model that refused, and that it did.
fn words(reply: provider::Reply) -> (String, bool) {
    let (refusal, refused) = match reply.stop {
        Stop::Refused(words) => (words, true),
        _ => (None, false),
    };
    (reply.text.or(refusal).unwrap_or_default(), refused)
}

impl Errand<'_> {
    /// Asks, unless the reply is there already or the budget is spent.
    pub async fn ask(&self, instructions: &str, turns: &[Turn]) -> Result<Heard, Unheard> {
        let asked = addressed(self.model, self.mark, instructions, turns);
        let provider = self.model.provider;
        let decode = |reply: &HttpReply| said(provider, reply);
        let (reply, paid) = self.buy(asked, decode, |reply| reply.usage, |_| None).await?;
        if reply.stop == Stop::Length {
            // Paid for, and nothing is heard: it is told like any attempt that brought nothing.
            if !paid.journaled {
                self.crew.teller.tell(
                    Some(self.path),
                    What::Lost { turn: TURN, usage: reply.usage, cost: paid.cost },
                );
            }
            return Err(Unheard::Useless { why: cut(self.model), journaled: paid.journaled });
        }
        let reply = clean::reply(&self.crew.redactor, reply);
        let model_id = reply.model_id.clone();
        let (text, refused) = words(reply);
        Ok(Heard { text, refused, model_id, paid })
    }

    /// The vectors of two texts, the same way.
    pub async fn embed(&self, texts: &[String; 2]) -> Result<([Vec<f64>; 2], Paid), Unheard> {
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
    ) -> Result<(T, Paid), Unheard> {
        let Self { crew, model, .. } = self;
        // What cannot be read is bought again, so it is not kept.
        let is_kept =
            || self.journal.find(&hash, 0, None).is_some_and(|kept| decode(&kept.reply()).is_ok());
        if let Some(why) = crew.purse.closed()
            && !is_kept()
        {
            crew.stop_all(&why);
            return Err(Unheard::Stopped);
        }
        if let Some(why) = self.journal.full().filter(|_| !is_kept()) {
            crew.stop_all(&why);
            return Err(Unheard::Stopped);
        }
        let question = Question {
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
        let asked = question.ask(&decode).await.map_err(|halt| self.unheard(halt))?;
        let bought = asked.bought.map_err(|fault| {
            if ask::concerns_all(&fault) {
                crew.stop_all(&fault.message);
            }
            Unheard::Failed(crew.redactor.clean(&fault.message).into_owned())
        })?;
        let used = usage(&bought.reply);
        let cost = provider::price::cost(&used, model.price.as_ref());
        if !bought.journaled {
            crew.purse.pay(cost, &model.name, model.price.as_ref());
        }
        Ok((bought.reply, Paid { tokens: used.total(), cost, journaled: bought.journaled }))
    }

    fn unheard(&self, halt: Halt) -> Unheard {
        match halt {
            Halt::Stopped => Unheard::Stopped,
            Halt::Barred(why) | Halt::Elsewhere(why) | Halt::Broken(why) => {
                Unheard::Failed(self.crew.redactor.clean(&why).into_owned())
            }
        }
    }
}
