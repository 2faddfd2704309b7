//! Running judging jobs: a few runs are judged at a time, each round is stored before the next one
//! is requested, and all of it can be stopped. Owns the order of these steps.
use super::JudgingActions;
use super::job::pending::{self, JudgeSpec, PendingJudgement, Target};
use super::job::progress::{JudgeOutcome, Progress};
use super::judge_state::{JudgeState, look_with};
use crate::OpenFolder;
use crate::error::AppError;
use crate::events::EventSender;
use crate::jobs::job_handle::JobHandle;
use crate::jobs::job_registry::{BackgroundJob, JobRegistry, catch_panic};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use touchstone_api::{JudgingView, Stale};
use touchstone_clock as clock;
use touchstone_formats::judgement::{Judgement, JudgementFile, Round};
use touchstone_judges::sowr::reference_first;
use touchstone_judges::{Judge, JudgeRef, JudgeRound, Next, Question, Subject};
use touchstone_runner::conversation::{AssistantMessage, Turn};
use touchstone_runner::event::RunEvent;
use touchstone_runner::execute::{LaunchContext, PromptError, PromptReply, PromptRequest};
use touchstone_runner::judgements::{JudgementFiles, describe_lock_error};
use touchstone_runner::spec::Model;
use touchstone_store::judgements;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum characters stored of a reply.
const LONGEST_REPLY: usize = 64 << 10;

/// Judging jobs since the program started.
pub(crate) type Judgings = JobRegistry<Work>;

/// A judging job.
pub(crate) struct Work {
    open: Arc<OpenFolder>,
    crew: Arc<LaunchContext>,
    model: Model,
    wish: JudgeSpec,
    max_cost: Option<f64>,
    course: JobHandle<Progress>,
}

impl JudgingActions<'_> {
    /// Returns the judging jobs of the open folder since the program started, newest first.
    pub fn judgings(self) -> Vec<JudgingView> {
        let Some(open) = self.app.current_folder() else { return Vec::new() };
        let list = self.app.inner.judgings.all();
        list.iter().filter(|work| Arc::ptr_eq(&work.open, &open)).map(|work| work.view()).collect()
    }

    /// Returns the state of a judging job.
    pub fn view(self, id: &str) -> Result<JudgingView, AppError> {
        Ok(self.app.inner.judgings.find(id)?.view())
    }

    /// Stops a judging job: requests in flight are completed and stored, nothing new is sent; `now`
    /// cancels requests in flight.
    pub fn stop_judging(self, id: &str, now: bool) -> Result<(), AppError> {
        self.app.inner.judgings.find(id)?.course.stop(now, "It was stopped.");
        Ok(())
    }

    /// Waits until a judging job is over; returns false on timeout.
    pub fn wait_judging(self, id: &str, timeout: Duration) -> Result<bool, AppError> {
        Ok(self.app.inner.judgings.find(id)?.course.wait(timeout))
    }
}

/// A locked run with its missing judgement.
struct LockedRun {
    bench: JudgementFiles,
    sheet: JudgementFile,
    owed: PendingJudgement,
    subject: Subject,
    judge: JudgeRef,
}

impl Work {
    pub(super) fn new(
        id: String,
        (open, crew): (Arc<OpenFolder>, Arc<LaunchContext>),
        (model, wish): (Model, JudgeSpec),
        (runs, max_cost): (usize, Option<f64>),
        poster: EventSender,
    ) -> Self {
        let progress = Progress::new(wish.judge.clone(), runs, wish.rounds);
        let course = JobHandle::new(id, crew.stops.clone(), (poster, Stale::Judgings), progress);
        Self { open, crew, model, wish, max_cost, course }
    }

    /// Judges runs with the given concurrency.
    pub(super) async fn run(
        self: Arc<Self>,
        targets: Vec<Target>,
        seats: usize,
        mut events: UnboundedReceiver<RunEvent>,
    ) {
        self.course.post();
        let seats = Arc::new(Semaphore::new(seats.max(1)));
        let mut running = JoinSet::new();
        for target in targets {
            let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { break };
            let work = Arc::clone(&self);
            running.spawn(async move {
                let end =
                    catch_panic(work.judge(&target)).await.unwrap_or_else(JudgeOutcome::Failed);
                drop(seat);
                work.course.lock().progress.record_outcome(&target, end);
                work.course.post();
            });
            while running.try_join_next().is_some() {
                self.course.drain_events(&mut events);
            }
        }
        while running.join_next().await.is_some() {
            self.course.drain_events(&mut events);
        }
        self.course.drain_events(&mut events);
        self.course.end();
    }

    async fn judge(self: &Arc<Self>, target: &Target) -> JudgeOutcome {
        if self.course.is_stopping() {
            return JudgeOutcome::Stopped;
        }
        let (work, its) = (Arc::clone(self), target.clone());
        let taken = tokio::task::spawn_blocking(move || work.take(&its)).await;
        let mut taken = match taken {
            Ok(Ok(taken)) => taken,
            Ok(Err(end)) => return end,
            Err(_) => {
                return JudgeOutcome::Failed(
                    "An internal error ended this. Please report it.".to_owned(),
                );
            }
        };
        while let Some(round) = taken.owed.round() {
            if self.course.is_stopping() {
                return JudgeOutcome::Stopped;
            }
            let said = match self.round(&taken, &target.path, round).await {
                Ok(said) => said,
                Err(PromptError::Stopped) => return JudgeOutcome::Stopped,
                Err(PromptError::Failed(why) | PromptError::Useless { why, .. }) => {
                    return JudgeOutcome::Failed(why);
                }
            };
            taken.owed.judgement.rounds.push(said);
            let (work, path) = (Arc::clone(self), target.path.clone());
            let kept = tokio::task::spawn_blocking(move || work.keep(taken, &path)).await;
            taken = match kept {
                Ok(Ok(taken)) => taken,
                Ok(Err(why)) => {
                    return JudgeOutcome::Failed(format!(
                        "The judgement could not be saved: {why}"
                    ));
                }
                Err(_) => {
                    return JudgeOutcome::Failed(
                        "An internal error ended this. Please report it.".to_owned(),
                    );
                }
            };
        }
        let without_answer = is_without_answer(&self.wish, &taken.judge, &taken.subject);
        JudgeOutcome::Judged { rounds: taken.owed.judgement.rounds, without_answer }
    }

    /// Locks a run and determines again which rounds are missing: another process may have made
    /// them.
    fn take(&self, target: &Target) -> Result<LockedRun, JudgeOutcome> {
        let failed =
            |why: String| JudgeOutcome::Failed(self.crew.redactor.clean(&why).into_owned());
        // Checked before locking, so that no file is created for a run that is skipped.
        let first = look_with(&self.open, &self.wish, target, &JudgementFile::default())
            .map_err(|why| failed(why.message))?;
        if let JudgeState::Skipped(why) = first {
            return Err(JudgeOutcome::Skipped(why));
        }
        let bench = JudgementFiles::take(&self.open.flow.roots.output_dir, &target.path)
            .map_err(|why| failed(describe_lock_error(&why)))?;
        let bytes = bench.read().map_err(|why| failed(why.to_string()))?;
        let sheet = bytes.as_deref().map(judgements::read).transpose().map_err(|why| {
            failed(format!(
                "Earlier judgements cannot be read and are not overwritten: {} Fix the file, or move it away.",
                why.message
            ))
        })?;
        let sheet = sheet.unwrap_or_default();
        let wish = self.wish.for_run(target).unwrap_or_else(|| self.wish.clone());
        match look_with(&self.open, &self.wish, target, &sheet)
            .map_err(|why| failed(why.message))?
        {
            JudgeState::Skipped(why) => Err(JudgeOutcome::Skipped(why)),
            JudgeState::Owed { owed, subject } => {
                Ok(LockedRun { bench, sheet, owed: *owed, subject: *subject, judge: wish.judge })
            }
            JudgeState::Complete { inputs, subject } => {
                Err(Self::complete(&wish, &sheet, &inputs, &subject))
            }
        }
    }

    /// Returns the stored judgement, as the result of a run of which nothing is missing.
    fn complete(
        wish: &JudgeSpec,
        sheet: &JudgementFile,
        inputs: &str,
        subject: &Subject,
    ) -> JudgeOutcome {
        let of_it = |said: &&Judgement| wish.matches(said, inputs);
        let read = |said: &&Judgement| said.rounds.iter().any(|round| round.score.is_some());
        let mut all = sheet.judgements().iter().filter(of_it);
        let said = all.clone().rfind(read).or_else(|| all.next_back());
        let rounds = said.map(|said| said.rounds.clone()).unwrap_or_default();
        JudgeOutcome::Judged {
            rounds,
            without_answer: is_without_answer(wish, &wish.judge, subject),
        }
    }

    /// Runs one round: sends questions until there is a ruling, or two replies in a row cannot be
    /// parsed.
    async fn round(
        &self,
        taken: &LockedRun,
        path: &str,
        round: usize,
    ) -> Result<Round, PromptError> {
        let mark = taken.owed.mark(round);
        let mut subject = taken.subject.clone();
        if let Some(rival) = &mut subject.rival {
            // Random, but equal when the round is repeated, so that paid replies are found in the
            // journal.
            rival.seed = xxh3_64(format!("{}-{mark}", taken.owed.judgement.inputs).as_bytes());
        }
        let mut sitting = JudgeRound::new(&taken.judge, &subject, self.wish.rules);
        let errand = PromptRequest {
            crew: &self.crew,
            path,
            journal: &taken.bench.journal,
            model: &self.model,
            mark: &mark,
        };
        let (mut replies, mut model_id, mut tokens, mut cost) = (Vec::new(), None, None, Some(0.0));
        let mut refused = false;
        let (begun, mut fresh) = (Instant::now(), true);
        loop {
            // A refusal is not a verdict whatever its text looks like, and nothing more is sent.
            let next = if refused { Next::Unread } else { sitting.next() };
            let Next::Ask(question) = next else {
                let shown = subject.rival.as_ref().filter(|_| !replies.is_empty());
                let order = shown.map(|rival| {
                    if reference_first(rival.seed) { "reference first" } else { "candidate first" }
                });
                let over =
                    pending::round(next, refused, replies, clock::format_utc(clock::now_ms()));
                let over = over
                    .ok_or_else(|| PromptError::Failed("The judge did not finish.".to_owned()))?;
                return Ok(Round {
                    order: order.map(str::to_owned),
                    model_id,
                    tokens,
                    cost: cost.filter(|_| tokens.is_some()),
                    seconds: fresh.then(|| begun.elapsed().as_secs_f64()),
                    ..over
                });
            };
            let PromptReply { text, refused: would_not, model_id: id, paid } =
                errand.ask(&question.instructions, &turns(&question)).await?;
            self.course.add_reply(&paid);
            fresh &= !paid.journaled;
            model_id = id.or(model_id);
            tokens = paid.tokens.map_or(tokens, |used| Some(tokens.unwrap_or(0) + used));
            cost = cost.zip(paid.cost).map(|(sum, paid)| sum + paid);
            refused = would_not;
            sitting.take(&text);
            replies.push(text.chars().take(LONGEST_REPLY).collect());
        }
    }

    /// Stores the judgement so far; it is durable on return.
    fn keep(&self, mut taken: LockedRun, path: &str) -> Result<LockedRun, String> {
        taken.sheet.put(taken.owed.place, taken.owed.judgement.clone());
        taken.bench.write(&taken.sheet.write()).map_err(|why| why.to_string())?;
        self.open.flow.look_at(&judgements::file_of_path(path));
        Ok(taken)
    }

    fn view(&self) -> JudgingView {
        let standing = self.course.lock();
        let (progress, bill) = (&standing.progress, standing.bill);
        let finished = progress.done + progress.failed + progress.skipped;
        JudgingView {
            id: self.course.id.clone(),
            judge: self.wish.judge.name.to_string(),
            model: self.wish.model.clone(),
            began_ms: self.course.began_ms,
            state: self.course.state(standing.over, finished, progress.total),
            why: standing.why.clone(),
            total: progress.total,
            done: progress.done,
            unread: progress.unread,
            failed: progress.failed,
            skipped: progress.skipped,
            calls: bill.calls,
            tokens: bill.tokens,
            cost: bill.cost,
            unpriced: bill.unpriced,
            max_cost: self.max_cost,
            troubles: progress.troubles.clone(),
            rates: progress.rates(standing.over),
        }
    }
}

impl BackgroundJob for Work {
    type Progress = Progress;
    const WHAT: &'static str = "Runs are being judged";
    const NAME: &'static str = "judging";

    fn handle(&self) -> &JobHandle<Progress> {
        &self.course
    }
}

fn is_without_answer(wish: &JudgeSpec, judge: &Judge, subject: &Subject) -> bool {
    !judge.pairs && pending::is_unasked(judge, subject, wish.rules)
}

/// Returns the model with the options that the question requires.
pub(crate) fn asked_model<'m>(model: &'m Model, question: &Question) -> Cow<'m, Model> {
    if question.reasoning { Cow::Owned(model.as_reasoning()) } else { Cow::Borrowed(model) }
}

/// Converts a question to a conversation, including the previous reply that could not be parsed.
pub(crate) fn turns(question: &Question) -> Vec<Turn> {
    let mut turns = vec![Turn::User(question.text.clone())];
    if let Some((reply, again)) = &question.unread {
        // Some providers reject a turn without text.
        let text = if reply.trim().is_empty() { "(nothing)".to_owned() } else { reply.clone() };
        turns.push(Turn::Assistant(AssistantMessage {
            text: Some(text),
            ..AssistantMessage::default()
        }));
        turns.push(Turn::User((*again).to_owned()));
    }
    turns
}
