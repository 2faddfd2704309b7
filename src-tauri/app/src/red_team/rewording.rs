//! Objectives that a model puts into the past tense, for the strategy `tense`. Replies are journaled, so
//! that each text is paid for once. What is asked and what it means is in `touchstone_runner`.
use super::RedTeamActions;
use super::scan_targets::{self, Part};
use crate::error::{AppError, Code};
use crate::jobs::spend_limit::{Budget, Prices};
use crate::launch::buying::{ReplyFiles, Unfinished};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touchstone_api::ScanTarget;
use touchstone_runner::attacker::{read_reworded, rewording_instructions};
use touchstone_runner::conversation::Turn;
use touchstone_runner::execute::{
    JournaledReply, LaunchContext, PromptError, PromptRequest, journaled_reply,
};
use touchstone_runner::journal::{self, Journal, JournalSnapshot};
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};

/// Name of the lock and the journal.
const HIDDEN: &str = ".reworded";
/// Number of requests for a text before it is given up.
const ATTEMPTS: usize = 3;
/// Characters of a token, for estimates.
const LETTERS: u64 = 4;
/// Tokens around a text in a reply, for estimates.
const AROUND: u64 = 12;

/// Request to put texts into the past tense.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RewordRequest {
    /// Model that words them.
    pub model: String,
    /// Texts.
    pub texts: Vec<String>,
    /// Dollars after which nothing more is asked.
    pub max_cost: Option<f64>,
}

/// Estimate of a request. Nothing has been sent.
#[derive(Debug, Clone, PartialEq)]
pub struct RewordPlan {
    /// Number of texts to send; those whose replies are kept are sent no more.
    pub requests: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Dollars; none if the model has no price.
    pub cost: Option<f64>,
    /// Warning that the spend limit has no effect.
    pub unbound: Option<String>,
    /// Model that receives the texts.
    pub receiver: ScanTarget,
}

/// Texts in the past tense.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reworded {
    /// The new texts by the old ones; none where the model gave no usable one.
    pub texts: BTreeMap<String, Option<String>>,
    /// Number of replies that were paid for now.
    pub requests: u64,
    /// Their cost in dollars; none if a price is unknown.
    pub cost: Option<f64>,
}

/// Request resolved against the workspace.
struct Resolved {
    setup: Setup,
    model: Model,
    budget: Budget,
    texts: BTreeSet<String>,
}

impl RedTeamActions<'_> {
    /// Returns the estimate of a request.
    pub fn plan_rewording(self, request: &RewordRequest) -> Result<RewordPlan, AppError> {
        self.rewording_of(&self.resolve_rewording(request)?)
    }

    fn rewording_of(self, resolved: &Resolved) -> Result<RewordPlan, AppError> {
        let Resolved { model, budget, texts, .. } = resolved;
        let dir = self.app.require_folder()?.flow.roots.output_dir.clone();
        let kept = journal::read_snapshot(&dir, HIDDEN).map_err(|why| failed(why.to_string()))?;
        let mut plan = RewordPlan {
            requests: 0,
            tokens: 0,
            cost: model.price.map(|_| 0.0),
            unbound: budget.ineffective_note(&Prices::for_models([model])),
            receiver: scan_targets::receiver(Part::Words, model, &self.confirmed()),
        };
        for text in texts.iter().filter(|text| !is_kept(&kept, model, text)) {
            let letters = |text: &str| text.chars().count() as u64 / LETTERS;
            let (input, output) =
                (letters(rewording_instructions()) + letters(text), letters(text) + AROUND);
            plan.requests += 1;
            plan.tokens += input + output;
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let cost = model
                .price
                .map(|price| (input as f64 * price.input + output as f64 * price.output) / 1e6);
            plan.cost = plan.cost.zip(cost).map(|(sum, more)| sum + more);
        }
        plan.receiver.attacks = plan.requests;
        plan.receiver.requests = Some(plan.requests);
        Ok(plan)
    }

    /// Remembers that a model may receive the objectives. Nothing is sent.
    pub fn confirm_rewording(self, receiver: &ScanTarget) -> Result<(), AppError> {
        self.confirm_targets(std::slice::from_ref(receiver))
    }

    /// Puts texts into the past tense. `interrupts` returns how often the user asked for an end;
    /// `on_retry` gets the seconds until the next attempt, and the reason. Fails if nobody
    /// confirmed that the model may receive the texts.
    pub fn reword(
        self,
        request: &RewordRequest,
        interrupts: impl Fn() -> u32,
        on_retry: impl Fn(u64, String),
    ) -> Result<Reworded, AppError> {
        // What is checked is what is asked: the workspace file may change at any time.
        let mut resolved = self.resolve_rewording(request)?;
        let plan = self.rewording_of(&resolved)?;
        if plan.requests > 0 && !plan.receiver.confirmed {
            return Err(scan_targets::unconfirmed(&plan.receiver));
        }
        let open = self.app.require_folder()?;
        resolved.budget.check(&Prices::for_models([&resolved.model]))?;
        resolved.setup.rules.max_cost = resolved.budget.most();
        let key = resolved.model.key.as_deref().filter(|_| plan.requests > 0);
        if let Some(why) = key.and_then(|key| self.app.settings().no_key(key)) {
            return Err(AppError::new(Code::BadRequest, why));
        }
        let place = ReplyFiles { name: HIDDEN, busy: "is wording objectives" };
        let setup = &resolved.setup;
        self.app.launches().buy_replies(
            (&open, setup),
            &place,
            (&interrupts, &on_retry),
            async |crew, journal| ask(crew, &resolved, journal).await,
        )
    }

    fn resolve_rewording(self, request: &RewordRequest) -> Result<Resolved, AppError> {
        let setup = self.app.settings().setup()?;
        let model = setup
            .model(&request.model)
            .cloned()
            .ok_or_else(|| crate::settings::keys::no_model(&setup, &request.model))?;
        if model.provider == Provider::Replay {
            let why = format!("`{}` repeats recordings and words nothing.", model.name);
            return Err(AppError::new(Code::BadRequest, why));
        }
        let budget = Budget::resolve(request.max_cost, &setup.rules)?;
        Ok(Resolved { setup, model, budget, texts: request.texts.iter().cloned().collect() })
    }
}

/// Returns true if no more requests are needed for a text.
fn is_kept(kept: &JournalSnapshot, model: &Model, text: &str) -> bool {
    let turns = [Turn::User(text.to_owned())];
    let usable = |reply: JournaledReply| match reply {
        JournaledReply::Useless => true,
        JournaledReply::Text(reply) => read_reworded(&reply, text).is_some(),
    };
    let reply =
        |attempt| journaled_reply(kept, model, &mark(attempt), rewording_instructions(), &turns);
    let replies: Vec<Option<JournaledReply>> = (0..ATTEMPTS).map(reply).collect();
    replies.iter().all(Option::is_some) || replies.into_iter().flatten().any(usable)
}

/// Returns the mark of an attempt: a request that is repeated because its reply was of no use is
/// another request.
fn mark(attempt: usize) -> String {
    format!("tense-{attempt}")
}

async fn ask(
    crew: &Arc<LaunchContext>,
    resolved: &Resolved,
    journal: &Journal,
) -> Result<Reworded, Unfinished> {
    let mut done = Reworded { cost: Some(0.0), ..Reworded::default() };
    for text in &resolved.texts {
        let mut found = None;
        for attempt in 0..ATTEMPTS {
            if crew.stops.soft.is_cancelled() {
                return Err(Unfinished::Stopped);
            }
            let mark = mark(attempt);
            let request =
                PromptRequest { crew, path: HIDDEN, journal, model: &resolved.model, mark: &mark };
            let turns = [Turn::User(text.clone())];
            match request.ask(rewording_instructions(), &turns).await {
                Ok(reply) => {
                    if !reply.paid.journaled {
                        done.requests += 1;
                        done.cost = done.cost.zip(reply.paid.cost).map(|(sum, more)| sum + more);
                    }
                    if reply.refused {
                        break;
                    }
                    found = read_reworded(&reply.text, text);
                }
                Err(PromptError::Stopped) => return Err(Unfinished::Stopped),
                Err(PromptError::Useless { .. }) => break,
                Err(PromptError::Failed(why)) => return Err(Unfinished::Failed(why)),
            }
            if found.is_some() {
                break;
            }
        }
        done.texts.insert(text.clone(), found);
    }
    Ok(done)
}

fn failed(why: String) -> AppError {
    AppError::new(Code::Failed, why)
}
