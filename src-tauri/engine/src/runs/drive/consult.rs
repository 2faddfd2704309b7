//! One question to a model outside of any run: paid for once, kept before anything is made of the reply, and stopped like runs are.
//! What is asked, and what the reply means, is the caller's.
use super::ask::{self, Question};
use super::{Crew, Halt, clean};
use crate::runs::journal::{Journal, Kept};
use crate::runs::provider::openai::embeddings;
use crate::runs::provider::{self, Ask, Fault, HttpReply, HttpRequest, Reply, Stop, Usage};
use crate::runs::spec::Model;
use crate::runs::talk::Turn;
use std::sync::Arc;

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
}

/// The text of a reply that is kept, without asking anybody; none when it is no reply.
pub fn kept(journal: &Kept, model: &Model, mark: &str, instructions: &str, turns: &[Turn]) -> Option<String> {
    let (_, hash) = addressed(model, mark, instructions, turns);
    let reply = provider::decode(model.provider, &journal.find(&hash)?.reply()).ok()?;
    Some(words(reply))
}

/// A question as it is sent, and what its reply is found again by.
fn addressed(model: &Model, mark: &str, instructions: &str, turns: &[Turn]) -> (HttpRequest, String) {
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

/// What was said; the words of a model that refused.
fn words(reply: Reply) -> String {
    let refused = match reply.stop {
        Stop::Refused(words) => words,
        _ => None,
    };
    reply.text.or(refused).unwrap_or_default()
}

impl Errand<'_> {
    /// Asks, unless the reply is there already or the budget is spent.
    pub async fn ask(&self, instructions: &str, turns: &[Turn]) -> Result<Heard, Unheard> {
        let asked = addressed(self.model, self.mark, instructions, turns);
        let provider = self.model.provider;
        let decode = |reply: &HttpReply| provider::decode(provider, reply);
        let (reply, paid) = self.buy(asked, decode, |reply| reply.usage, |_| None).await?;
        let reply = clean::reply(&self.crew.redactor, reply);
        Ok(Heard { model_id: reply.model_id.clone(), text: words(reply), paid })
    }

    /// The vectors of two texts, the same way.
    pub async fn embed(&self, texts: &[String; 2]) -> Result<([Vec<f64>; 2], Paid), Unheard> {
        let asked = embedding(self.model, self.mark, texts);
        let (reply, paid) =
            self.buy(asked, embeddings::decode::<2>, |reply| reply.usage, embeddings::packed::<2>).await?;
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
        let is_kept = self.journal.find(&hash, 0, None).is_some();
        if !is_kept && let Some(most) = crew.purse.empty() {
            crew.stop_all(&format!("The budget of ${most} is spent."));
            return Err(Unheard::Stopped);
        }
        if let Some(why) = self.journal.full().filter(|_| !is_kept) {
            crew.stop_all(&why);
            return Err(Unheard::Stopped);
        }
        let question = Question {
            crew,
            path: self.path,
            journal: self.journal.clone(),
            from: 0,
            turn: 1,
            repeats: false,
            provider: model.provider,
            model: &model.model_id,
            key: model.key.as_deref(),
            price: model.price,
            hash,
            request,
            packed,
        };
        let asked = question.ask(decode).await.map_err(|halt| self.unheard(halt))?;
        let bought = asked.bought.map_err(|fault| {
            if ask::concerns_all(&fault) {
                crew.stop_all(&fault.message);
            }
            Unheard::Failed(crew.redactor.clean(&fault.message).into_owned())
        })?;
        let used = usage(&bought.reply);
        let cost = provider::price::cost(&used, model.price.as_ref());
        if !bought.journaled {
            crew.purse.pay(cost.unwrap_or(0.0));
        }
        Ok((bought.reply, Paid { tokens: used.total(), cost, journaled: bought.journaled }))
    }

    fn unheard(&self, halt: Halt) -> Unheard {
        match halt {
            Halt::Stopped => Unheard::Stopped,
            Halt::Elsewhere(why) | Halt::Broken(why) => Unheard::Failed(self.crew.redactor.clean(&why).into_owned()),
        }
    }
}
