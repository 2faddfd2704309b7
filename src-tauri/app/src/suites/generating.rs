//! Tasks that a model writes from a file: reads the file, asks for questions with their answers, and
//! writes the suite. Replies are journaled, so a failed generation is completed for the price of what
//! is missing. What is asked and what it means is in `generation`.
use super::SuiteActions;
use super::generation::{self, Batch, GenerateOptions, Pair};
use super::source_text::text_of;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::jobs::spend_limit::{Budget, Prices};
use crate::launch::buying::{ReplyFiles, Unfinished};
use crate::saving::NewFile;
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_runner::conversation::Turn;
use touchstone_runner::execute::{LaunchContext, Paid, PromptError, PromptRequest};
use touchstone_runner::journal::Journal;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};

pub use super::source_text::Source;

/// Name of the lock and the journal; no run can have it, because hidden files are never runs.
const HIDDEN: &str = ".generated";
/// Limit on the messages of a simulated user.
pub(super) const MOST_TURNS: u32 = 200;
/// Number of requests for a batch before the rest of it is given up.
const ATTEMPTS: usize = 3;

/// Progress of a generation.
#[derive(Debug, Clone, PartialEq)]
pub enum GenerateProgress {
    /// Number of questions so far, and of those asked for.
    Questions {
        /// Number of questions so far.
        done: usize,
        /// Asked for.
        all: usize,
    },
    /// A reply came.
    Replied(Paid),
    /// A request failed and will be retried.
    Retrying {
        /// Seconds until then.
        seconds: u64,
        /// Reason, as a sentence.
        why: String,
    },
}

/// Request to write tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GenerateRequest {
    /// Text.
    pub from: Source,
    /// Model that writes.
    pub model: String,
    /// Number of questions.
    pub queries: usize,
    /// Messages of a simulated user in each conversation; 1 for single questions.
    pub turns: u32,
    /// What the persons do who ask, in turn.
    pub tasks: Vec<String>,
    /// Suite to write; it must not exist.
    pub out: PathBuf,
    /// Dollars after which nothing more is asked.
    pub max_cost: Option<f64>,
    /// True to write the suite of the questions that there are when it ends early; false to write
    /// nothing, so that the same request can continue.
    pub partial: bool,
}

/// Estimate of a request. Nothing has been sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeneratePlan {
    /// Number of requests.
    pub requests: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Dollars; none if the model has no price.
    pub cost: Option<f64>,
    /// Warning that the spend limit has no effect.
    pub unbound: Option<String>,
}

/// Tasks that were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generated {
    /// Number of questions in the suite.
    pub queries: usize,
    /// Number of replies that were paid for now.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Option<u64>,
    /// Their cost in dollars; none if a price is unknown.
    pub cost: Option<f64>,
    /// Reason there are fewer questions than wanted, as a sentence.
    pub why: Option<String>,
    /// True if not everything was asked for.
    pub ended_early: bool,
}

/// Requests resolved against the workspace.
pub(super) struct Resolved {
    setup: Setup,
    model: Model,
    pub(super) budget: Budget,
    options: GenerateOptions,
    parts: Vec<String>,
    batches: Vec<Batch>,
}

impl SuiteActions<'_> {
    /// Returns the estimate of a request.
    pub fn plan_generation(self, request: &GenerateRequest) -> Result<GeneratePlan, AppError> {
        let Resolved { model, budget, parts, batches, .. } = self.resolve_generation(request)?;
        let (requests, input, output) = generation::estimate(&parts, &batches);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let cost = model
            .price
            .map(|price| (input as f64 * price.input + output as f64 * price.output) / 1e6);
        let unbound = budget.ineffective_note(&Prices::for_models([&model]));
        Ok(GeneratePlan { requests, tokens: input + output, cost, unbound })
    }

    /// Writes tasks and their suite. `interrupts` returns how often the user asked for an end: after
    /// the first time, requests in flight finish; after the second, they are given up.
    pub fn generate(
        self,
        request: &GenerateRequest,
        interrupts: impl Fn() -> u32,
        on_progress: impl Fn(GenerateProgress),
    ) -> Result<Generated, AppError> {
        let open = self.app.require_folder()?;
        let resolved = self.check_generation(request)?;
        if let Some(folder) = request.out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|why| failed(why.to_string()))?;
        }
        let (pairs, mut done, end) =
            self.ask_for_pairs(&open, &resolved, &interrupts, &on_progress)?;
        if let Some(why) = end {
            if !request.partial || pairs.is_empty() {
                return Err(unfinished(why, request.partial));
            }
            done.ended_early = true;
            done.why = Some(why);
        }
        if pairs.is_empty() {
            let why = done.why.unwrap_or_else(|| "The model wrote no questions.".to_owned());
            return Err(failed(why).hint("Choose another model, or another text."));
        }
        let from = request.from.file_name().to_string_lossy();
        let from = if from.is_empty() { "a text".into() } else { from };
        let about = format!("Written by {} from {from}.", resolved.model.name);
        let mut file = NewFile::create(&request.out)?;
        file.write(generation::suite(&pairs, &resolved.options, &about).as_bytes())?;
        if !file.keep_if_free()? {
            return Err(already_exists(&request.out));
        }
        done.queries = pairs.len();
        Ok(done)
    }

    /// Resolves a request, and fails if it cannot be carried out: the suite exists, the limit is
    /// unknown, or the key is missing.
    pub(super) fn check_generation(self, request: &GenerateRequest) -> Result<Resolved, AppError> {
        let mut resolved = self.resolve_generation(request)?;
        if fs::symlink_metadata(&request.out).is_ok() {
            return Err(already_exists(&request.out));
        }
        self.app.folder().refuse_among_results(&request.out)?;
        resolved.budget.check(&Prices::for_models([&resolved.model]))?;
        resolved.setup.rules.max_cost = resolved.budget.most();
        if let Some(why) =
            resolved.model.key.as_deref().and_then(|key| self.app.settings().no_key(key))
        {
            return Err(AppError::new(Code::BadRequest, why));
        }
        Ok(resolved)
    }

    fn resolve_generation(self, request: &GenerateRequest) -> Result<Resolved, AppError> {
        let setup = self.app.settings().setup()?;
        let bad = |why: String| AppError::new(Code::BadRequest, why);
        let model = setup
            .model(&request.model)
            .cloned()
            .ok_or_else(|| crate::settings::keys::no_model(&setup, &request.model))?;
        if model.provider == Provider::Replay {
            return Err(bad(format!("`{}` repeats recordings and writes nothing.", model.name)));
        }
        if !(1..=MOST_TURNS).contains(&request.turns) {
            return Err(bad(format!("The number of turns has to be from 1 to {MOST_TURNS}.")));
        }
        let stem = request.from.file_name().file_stem().or_else(|| request.out.file_stem());
        let name = stem.unwrap_or_default().to_string_lossy().into_owned();
        let options = GenerateOptions {
            queries: request.queries,
            turns: request.turns,
            tasks: request.tasks.clone(),
            name: format!("Questions about {name}"),
        };
        let parts = generation::parts(&text_of(&request.from)?);
        let batches = generation::batches(parts.len(), &options).map_err(bad)?;
        let budget = Budget::resolve(request.max_cost, &setup.rules)?;
        Ok(Resolved { setup, model, budget, options, parts, batches })
    }

    /// Asks for the pairs of all batches. Ends early when it is stopped or the provider fails; the
    /// reason is the last of what it returns.
    fn ask_for_pairs(
        self,
        open: &OpenFolder,
        resolved: &Resolved,
        interrupts: &impl Fn() -> u32,
        on_progress: &impl Fn(GenerateProgress),
    ) -> Result<(Vec<Pair>, Generated, Option<String>), AppError> {
        let hear = |seconds, why| on_progress(GenerateProgress::Retrying { seconds, why });
        let place = ReplyFiles { name: HIDDEN, busy: "is writing tasks" };
        let at = (open, &resolved.setup);
        let ((pairs, done), why) = self.app.launches().buy_some(
            at,
            &place,
            (interrupts, &hear),
            async |crew, journal| ask(crew, resolved, journal, (interrupts, on_progress)).await,
        )?;
        Ok((pairs, done, why))
    }
}

/// Asks for the pairs of all batches. Returns those that there are, and why it ended early.
async fn ask(
    crew: &Arc<LaunchContext>,
    resolved: &Resolved,
    journal: &Journal,
    (interrupts, on_progress): (&impl Fn() -> u32, &impl Fn(GenerateProgress)),
) -> ((Vec<Pair>, Generated), Option<Unfinished>) {
    let (mut pairs, mut done) = (Vec::new(), Generated { cost: Some(0.0), ..Generated::default() });
    for batch in &resolved.batches {
        let Some(part) = resolved.parts.get(batch.part) else { continue };
        let mut tasks = batch.tasks.clone();
        for attempt in 0..ATTEMPTS {
            // A request that is repeated because its reply was of no use is another request.
            let mark = format!("generate-{attempt}");
            let request =
                PromptRequest { crew, path: HIDDEN, journal, model: &resolved.model, mark: &mark };
            if crew.stops.soft.is_cancelled() || interrupts() > 0 {
                return ((pairs, done), Some(Unfinished::Stopped));
            }
            let message = generation::message(part, &tasks, &pairs);
            match request.ask(generation::instructions(), &[Turn::User(message)]).await {
                Ok(reply) => {
                    on_progress(GenerateProgress::Replied(reply.paid));
                    if !reply.paid.journaled {
                        done.requests += 1;
                        done.tokens = reply
                            .paid
                            .tokens
                            .map_or(done.tokens, |more| Some(done.tokens.unwrap_or(0) + more));
                        done.cost = done.cost.zip(reply.paid.cost).map(|(sum, more)| sum + more);
                    }
                    let new = if reply.refused {
                        Vec::new()
                    } else {
                        generation::read(&reply.text, &tasks, &pairs)
                    };
                    tasks.drain(..new.len());
                    pairs.extend(new);
                }
                Err(PromptError::Stopped) => return ((pairs, done), Some(Unfinished::Stopped)),
                // The reply was paid for: the part of the text has no more than this.
                Err(PromptError::Useless { why, .. }) => {
                    done.why = Some(why);
                    break;
                }
                Err(PromptError::Failed(why)) => {
                    return ((pairs, done), Some(Unfinished::Failed(why)));
                }
            }
            on_progress(GenerateProgress::Questions {
                done: pairs.len(),
                all: resolved.options.queries,
            });
            if tasks.is_empty() {
                break;
            }
        }
    }
    if done.why.is_none() && pairs.len() < resolved.options.queries {
        done.why = Some("The model wrote fewer questions than it was asked for.".to_owned());
    }
    ((pairs, done), None)
}

/// Returns the error of a generation that can be continued. No suite is written, so that the same
/// request writes the whole one.
fn unfinished(why: String, partial: bool) -> AppError {
    let hint = if partial {
        "No question was written yet. Replies that were paid for are kept: the same text, model and number of queries continue from there."
    } else {
        "Nothing was written. Replies that were paid for are kept: the same command continues from there."
    };
    failed(why).hint(hint)
}

fn already_exists(path: &Path) -> AppError {
    AppError::new(Code::BadRequest, format!("{} exists already.", path.display()))
        .hint("Choose another name. Suites are never replaced, as runs refer to them.")
}

fn failed(why: String) -> AppError {
    AppError::new(Code::Failed, why)
}
