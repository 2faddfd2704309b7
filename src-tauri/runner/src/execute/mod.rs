//! Executes a single run: takes its lock, checks again which steps are missing, and executes
//! exactly those. The meaning of a conversation or a reply is owned by `converse` and `promptql`.
mod account;
mod active_timer;
mod clean;
mod converse;
mod endpoints;
mod prompt;
mod prompt_request;
mod promptql;
mod provider_request;
mod run_files;
pub mod run_tools;
mod run_user;
mod spend_limit;
mod toolbox;
mod tree_search;
mod user_model;

pub use account::Account;
pub use endpoints::Endpoints;
pub use prompt_request::{
    JournaledReply, Paid, PromptError, PromptReply, PromptRequest, has_embeddings, hash,
    journaled_reply,
};
pub use spend_limit::SpendLimit;
pub use toolbox::{Toolbox, VirtualApiContext};

use super::atomic_write::{self, Stamp};
use super::disk::{self, DiskError};
use super::disk_state::MOST_BYTES;
use super::event::{Ending, RunEventKind};
use super::fault;
use super::http::client::Client;
use super::http::keys::ApiKey;
use super::http::limiter::Limiters;
use super::http::redact::Redactor;
use super::journal::Journal;
use super::launch::{RunEventSender, StopTokens};
use super::lock::{LockError, RunLock};
use super::plan::{self, Decision, File, OnDisk, Slot, Step};
use super::provider::replay::{self, Recording};
use super::provider::{Fault, FaultKind};
use super::reply::ReplyFile;
use super::script::{Facts, TranscriptWriter, facts_of};
use super::secrets::Secrets;
use super::setup::Setup;
use super::spec::{Model, Provider};
use super::strategy::Strategy;
use active_timer::ActiveTimer;
use converse::Conversation;
use endpoints::Endpoint;
use promptql::PromptQlRun;
use run_files::RunFiles;
use run_tools::{OfferInputs, RunTools};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_clock as clock;
use touchstone_formats::names::Coordinates;
use touchstone_formats::stabletoolbench::Query;
use touchstone_formats::system::System;
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;
use tree_search::TreeSearch;
use user_model::RunUser;

/// Context shared by all runs of a launch.
pub struct LaunchContext {
    /// Directory for transcripts.
    pub output_dir: PathBuf,
    /// Folder of the workspace file.
    pub base: PathBuf,
    /// Models, systems and limits.
    pub setup: Setup,
    /// Keys by name, looked up once.
    pub keys: HashMap<String, ApiKey>,
    /// All other names in settings, looked up once.
    pub secrets: Secrets,
    /// HTTP client.
    pub client: Client,
    /// Request limits per provider.
    pub limiters: Arc<Limiters>,
    /// Removes secrets from everything that is written.
    pub redactor: Redactor,
    /// Tools.
    pub toolbox: Toolbox,
    /// Sender of events.
    pub teller: RunEventSender,
    /// Cancellation tokens.
    pub stops: StopTokens,
    /// Spending against the spend limit.
    pub purse: Arc<SpendLimit>,
    /// Endpoints that the runs send requests to.
    pub doors: Endpoints,
}

/// Run to execute.
#[derive(Debug, Clone)]
pub struct Job {
    /// The run and its task.
    pub slot: Slot,
    /// Permissions that the user gave.
    pub rules: plan::Rules,
    /// User message to add first.
    pub message: Option<String>,
}

impl LaunchContext {
    /// Sends a note to the user.
    pub fn note(&self, note: &str) {
        self.teller
            .send(None, RunEventKind::Noted { note: self.redactor.clean(note).into_owned() });
    }

    /// Stops the launch gracefully, for a reason that concerns every run.
    fn stop_all(&self, why: &str) {
        if !self.stops.soft.is_cancelled() {
            self.stops.soft.cancel();
            self.teller
                .send(None, RunEventKind::Stopping { why: self.redactor.clean(why).into_owned() });
        }
    }
}

impl LaunchContext {
    /// Reacts to an error of a provider: stops the whole launch if every run would fail with it, or
    /// only the runs of this endpoint if its key was refused.
    fn handle_fault(&self, fault: &Fault, door: &Endpoint) {
        if !fault.kind.concerns_all() {
            return;
        }
        if fault.kind != FaultKind::Key {
            return self.stop_all(&fault.message);
        }
        let is_first = self.doors.refuse(door.clone(), &fault.message);
        if self.doors.are_all_refused() {
            self.stop_all(&fault.message);
        } else if is_first {
            self.note(&format!(
                "{} Runs that need this key are stopped; the others continue.",
                fault.message
            ));
        }
    }

    /// Returns the reason a job need not be started: its key was refused.
    pub(super) fn refusal_for(&self, job: &Job) -> Option<String> {
        let user = self.setup.user_model_for(job.slot.user(), job.slot.user_model.as_deref());
        let user = user.and_then(|name| self.setup.model(name));
        let why = self
            .doors
            .refused(&Endpoint::for_job(&self.setup, job)?)
            .or_else(|| self.doors.refused(&Endpoint::for_model(user?)))?;
        Some(self.redactor.clean(&why).into_owned())
    }
}

/// Outcome of a run, with a reason where needed.
pub type RunOutcome = (Ending, Option<String>);

/// Reason a run could not continue. Its file, if any, is as last written.
#[derive(Debug)]
enum RunError {
    /// Stopped; can be resumed.
    Stopped,
    /// Stopped, because the key it needs was refused; can be resumed.
    Barred(String),
    /// Another process is executing it.
    Elsewhere(String),
    /// Local failure: the disk, a tool or a lock.
    Broken(String),
}

impl From<DiskError> for RunError {
    fn from(error: DiskError) -> Self {
        RunError::Broken(error.to_string())
    }
}

impl From<LockError> for RunError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { by } => {
                RunError::Elsewhere(format!("Another process is working on it ({by})."))
            }
            other => RunError::Broken(other.to_string()),
        }
    }
}

/// Executes a run.
pub async fn execute_run(crew: Arc<LaunchContext>, job: Job) -> RunOutcome {
    match attempt(&crew, &job).await {
        Ok(ended) => ended,
        Err(RunError::Stopped) => (Ending::Stopped, None),
        Err(RunError::Barred(why)) => {
            (Ending::Stopped, Some(crew.redactor.clean(&why).into_owned()))
        }
        Err(RunError::Elsewhere(why)) => (Ending::Elsewhere, Some(why)),
        Err(RunError::Broken(why)) => (Ending::Error, Some(crew.redactor.clean(&why).into_owned())),
    }
}

/// State on disk, read under the lock, and the step that follows from it.
struct LockedRun {
    /// Held while the run is executed.
    _lock: RunLock,
    decision: Decision,
    document: Option<Document>,
    /// State of the transcript when it was read; `None` if there is none, or none any more.
    stamp: Option<Stamp>,
    /// None if there is nothing to do.
    journal: Option<Journal>,
}

async fn attempt(crew: &Arc<LaunchContext>, job: &Job) -> Result<RunOutcome, RunError> {
    // Missing prerequisites are detected before existing files are moved aside.
    let model = crew.setup.model(&job.slot.at.model);
    let model = model.ok_or_else(|| {
        RunError::Broken(format!("There is no model named `{}`.", job.slot.at.model))
    })?;
    let recording = recording(crew, job, model).await?;
    let is_talk = job.slot.at.system != System::PromptQl;
    let query = Query::of_task(&job.slot.task);
    let mut kit = if is_talk {
        tools_for_job(crew, job, model, query.as_ref(), job.slot.way)?
    } else {
        RunTools::default()
    };
    if !is_talk && recording.is_none() {
        promptql::settings(crew)?;
    }
    let (dir, taking) = (crew.output_dir.clone(), job.clone());
    let taken = blocking(move || lock_and_decide(&dir, &taking)).await??;
    let step = taken.decision.step.filter(|_| job.message.is_none() || taken.document.is_some());
    let (Some(step), Some(journal)) = (step, taken.journal.clone()) else {
        return Ok(outcome_without_work(&taken));
    };
    let resumed = !matches!(step, Step::Begin | Step::BeginAnew);
    crew.teller.send(Some(&job.slot.path), RunEventKind::Started { resumed });
    let desk = RunFiles::new(Arc::clone(crew), job.slot.path.clone(), journal.clone(), taken.stamp);
    if !is_talk {
        let mut file = ReplyFile::default();
        let sitting = ActiveTimer::begin(&Facts::default(), None);
        file.set_facts(&initial_facts(crew, job, model));
        return PromptQlRun { crew, job, model, recording, desk, sitting, file }.run_to_end().await;
    }
    // A resumed run keeps the strategy it was started with.
    let file = taken.document.filter(|_| resumed);
    let way = file.as_ref().map_or(job.slot.way, Strategy::from_transcript);
    if way != job.slot.way {
        kit = self::tools_for_job(crew, job, model, query.as_ref(), way)?;
    }
    let facts = file.as_ref().map(facts_of).unwrap_or_default();
    let mut script = script(crew, (job, model), file, &journal);
    let user = RunUser::for_run(crew, job, &mut script)?;
    let sitting = ActiveTimer::begin(
        &facts,
        journal.spent_ms(provider_request::from_line(script.facts().journal)),
    );
    script.set_strategy(&way, kit.apis.as_ref().map(|apis| apis.said.as_str()));
    script.set_offers(&redacted_offers(crew, &kit));
    let bounds = way.bounds();
    let talk = Conversation {
        crew,
        job,
        model,
        system: String::new(),
        kit: Arc::new(kit),
        recording,
        desk,
        sitting,
        script,
        sent: HashMap::new(),
        is_query: query.is_some(),
        searches: bounds.is_some(),
        user,
    };
    match bounds {
        Some(bounds) => TreeSearch::new(talk, bounds, way.compat == Some(true))?.run_to_end().await,
        None => talk.run_to_end().await,
    }
}

/// Returns the tool definitions in the form recorded in the transcript.
fn redacted_offers(crew: &LaunchContext, kit: &RunTools) -> Vec<Value> {
    kit.recorded_offers().map(|offer| clean::value(&crew.redactor, offer.value())).collect()
}

/// Returns the tools that the model may call.
fn tools_for_job(
    crew: &LaunchContext,
    job: &Job,
    model: &Model,
    query: Option<&Query>,
    way: Strategy,
) -> Result<RunTools, RunError> {
    let python = job.slot.at.system == System::ToolCallingPython;
    let prompt = job.slot.search_text();
    let asked = OfferInputs { way, query, prompt: &prompt, most: model.most_functions() };
    let kit = crew.toolbox.tools_for_run(job.slot.task.tools.as_deref(), python, &asked);
    kit.map_err(|why| {
        RunError::Broken(
            [Some(why.message), why.fix].into_iter().flatten().collect::<Vec<_>>().join(" "),
        )
    })
}

/// Creates or resumes the conversation, and adds the user message of the job, if any.
fn script(
    crew: &LaunchContext,
    (job, model): (&Job, &Model),
    document: Option<Document>,
    journal: &Journal,
) -> TranscriptWriter {
    let new = || match job.slot.user() {
        Some(_) => TranscriptWriter::without_messages(),
        None => TranscriptWriter::new(&job.slot.prompt()),
    };
    let mut script = document.map_or_else(new, TranscriptWriter::from);
    let begun = initial_facts(crew, job, model);
    let facts = script.facts();
    // A resumed run keeps the commit that it began at, even if it recorded none.
    let commit = begun.commit.clone().filter(|_| facts.started.is_none());
    // The id that the provider reported; before the first reply, the requested one.
    let model_id = facts.model_id.or_else(|| begun.model_id.clone());
    // From here on the file records the number of nudges; earlier ones are counted by their text.
    let told_by_words = script.nudges_by_words() as u64;
    let nudges = if facts.started.is_none() && told_by_words > 0 {
        facts.nudges.max(Some(told_by_words))
    } else {
        facts.nudges
    };
    let started = facts.started.or_else(|| begun.started.clone());
    script.set_facts(&Facts { model_id, started, nudges, commit, ..begun });
    script.forget("finished");
    if facts.journal.is_some_and(|lines| lines > journal.lines() as u64) {
        // A copy of a file without the journal that it refers to.
        script.forget("journal");
    }
    if let Some(message) = &job.message {
        script.drop_error();
        script.nudge(message);
    }
    script
}

/// Takes the lock, then reads the file again: the plan may be outdated, because another process may
/// have executed this run in the meantime.
fn lock_and_decide(dir: &Path, job: &Job) -> Result<LockedRun, RunError> {
    let path = &job.slot.path;
    let lock = RunLock::take(dir, path)?;
    fault::point!("run.locked");
    let mut stamp = atomic_write::stamp_of(dir, path)?;
    let bytes = disk::read(dir, path, MOST_BYTES)?;
    let file = bytes.as_deref().map_or(File::Absent, File::from_bytes);
    let mut decision = plan::decide(&job.slot, &OnDisk { file, locked_by: None }, job.rules);
    if job.message.is_some()
        && decision.step.is_none()
        && decision.act == touchstone_api::Act::Nothing
    {
        decision.step = Some(Step::Answer);
    }
    // The transcript of a conversation is written before anything is bought. If it is missing, the
    // replies in the journal belong to a file that a user removed. `PromptQL` output is in no file
    // before the end.
    let is_talk = job.slot.at.system != System::PromptQl;
    if decision.step == Some(Step::BeginAnew)
        || (decision.step == Some(Step::Begin) && (is_talk || job.rules.start_over))
    {
        atomic_write::start_over(dir, path)?;
        stamp = None;
    }
    let document = bytes.as_deref().and_then(|bytes| Document::read(bytes).ok());
    let journal = decision.step.map(|_| Journal::open(dir, path)).transpose()?;
    Ok(LockedRun { _lock: lock, decision, document, stamp, journal })
}

/// Outcome if there is nothing to do: another process did it in the meantime, or it is impossible.
fn outcome_without_work(taken: &LockedRun) -> RunOutcome {
    use touchstone_api::Act;
    match taken.decision.act {
        Act::Nothing => {
            (Ending::Elsewhere, Some("Another process completed it in the meantime.".to_owned()))
        }
        _ => (Ending::Error, Some(taken.decision.why.clone())),
    }
}

/// Returns the facts recorded at the start of a run.
fn initial_facts(crew: &LaunchContext, job: &Job, model: &Model) -> Facts {
    Facts {
        system: Some(job.slot.at.system.to_string()),
        model: Some(job.slot.at.model.clone()),
        model_id: Some(model.model_id.clone()),
        started: Some(clock::format_utc(clock::now_ms())),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        commit: crew.setup.commit.clone(),
        ..Facts::default()
    }
}

/// Loads the recording that replaces the provider, for a replayed model.
async fn recording(
    crew: &LaunchContext,
    job: &Job,
    model: &Model,
) -> Result<Option<Recording>, RunError> {
    if model.provider != Provider::Replay {
        return Ok(None);
    }
    let dir = recordings_of(model, &crew.base, &crew.output_dir);
    let (at, recorded) = (job.slot.at.clone(), model.model_id.clone());
    blocking(move || find(&dir, &at, &recorded)).await?.map(Some)
}

/// Returns the folder of the recordings that a model replays.
fn recordings_of(model: &Model, base: &Path, output_dir: &Path) -> PathBuf {
    let named = model.setting("recordings").and_then(touchstone_model::value::Value::text);
    named.map_or_else(|| output_dir.to_owned(), |named| base.join(named))
}

/// Returns the reason a run cannot be replayed; `None` if it can be, or if its model is not a
/// replayed one.
pub fn not_recorded(
    model: &Model,
    at: &Coordinates,
    base: &Path,
    output_dir: &Path,
) -> Option<String> {
    if model.provider != Provider::Replay {
        return None;
    }
    let dir = recordings_of(model, base, output_dir);
    let paths = replay::recording_paths(at, &model.model_id);
    let missing = paths.iter().all(|path| !dir.join(path).is_file());
    missing.then(|| {
        format!(
            "There is no recording to replay: {}.",
            paths.first().map(String::as_str).unwrap_or_default()
        )
    })
}

/// Finds the recording of these coordinates, or of their first repeat.
fn find(dir: &Path, at: &Coordinates, recorded: &str) -> Result<Recording, RunError> {
    let paths = replay::recording_paths(at, recorded);
    for path in &paths {
        if let Some(bytes) = disk::read(dir, path, MOST_BYTES)? {
            let document = Document::read(&bytes).map_err(|error| error.to_string());
            return document.and_then(|document| Recording::read(&document)).map_err(|why| {
                RunError::Broken(format!("The recording {path} cannot be replayed: {why}"))
            });
        }
    }
    let wanted = paths.first().map(String::as_str).unwrap_or_default();
    Err(RunError::Broken(format!("There is no recording of this run to replay: {wanted}.")))
}

/// Runs blocking work on a thread where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RunError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| {
        RunError::Broken("An internal error ended this run. Please report it.".to_owned())
    })
}
