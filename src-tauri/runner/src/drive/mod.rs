//! Making one run: takes its lock, looks again what is owed, and does exactly that. Owns nothing of
//! what a conversation or a reply means; `converse` and `promptql` do.
mod account;
mod ask;
mod clean;
mod consult;
mod converse;
mod desk;
mod doors;
mod explore;
pub mod kit;
mod prompt;
mod promptql;
mod purse;
mod sitting;
mod toolbox;

pub use account::Account;
pub use consult::{Errand, Heard, Paid, Reply, Unheard, hash, kept, kept_vectors};
pub use doors::Doors;
pub use purse::Purse;
pub use toolbox::{Around, Toolbox};

use super::disk::{self, DiskError};
use super::event::{Ending, What};
use super::fault;
use super::http::client::Client;
use super::http::keys::ApiKey;
use super::http::limiter::Limiters;
use super::http::redact::Redactor;
use super::journal::Journal;
use super::launch::{Stops, Teller};
use super::lock::{LockError, RunLock};
use super::look::MOST_BYTES;
use super::plan::{self, Decision, File, OnDisk, Slot, Step};
use super::provider::replay::{self, Recording};
use super::provider::{Fault, FaultKind};
use super::publish;
use super::reply::ReplyFile;
use super::script::{Facts, Script, facts_of};
use super::secrets::Secrets;
use super::setup::Setup;
use super::spec::{Model, Provider};
use super::way::Way;
use converse::Talk;
use desk::Desk;
use doors::Door;
use explore::Quest;
use kit::{Asked, Kit};
use promptql::Asking;
use sitting::Sitting;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_clock as clock;
use touchstone_formats::names::Coordinates;
use touchstone_formats::stabletoolbench::Query;
use touchstone_formats::transcript::Document;
use touchstone_formats::value::Value;

/// What all runs of a launch share.
pub struct Crew {
    /// Where transcripts go.
    pub output_dir: PathBuf,
    /// Where the workspace file is.
    pub base: PathBuf,
    /// Models, systems, rules.
    pub setup: Setup,
    /// Keys by name, looked up once.
    pub keys: HashMap<String, ApiKey>,
    /// Everything else that settings name, looked up once.
    pub secrets: Secrets,
    /// Connections.
    pub client: Client,
    /// How many requests each provider takes.
    pub limiters: Arc<Limiters>,
    /// Takes secrets out of whatever is written.
    pub redactor: Redactor,
    /// Tools.
    pub toolbox: Toolbox,
    /// Where events go.
    pub teller: Teller,
    /// How it is stopped.
    pub stops: Stops,
    /// What was spent, against the most that may be.
    pub purse: Arc<Purse>,
    /// Whom its runs ask.
    pub doors: Doors,
}

/// One run that is owed.
#[derive(Debug, Clone)]
pub struct Job {
    /// Which run, of which task.
    pub slot: Slot,
    /// What the person allows.
    pub rules: plan::Rules,
    /// A message of a person, added first.
    pub message: Option<String>,
}

impl Crew {
    /// Says what the person should know.
    pub fn note(&self, note: &str) {
        self.teller.tell(None, What::Noted { note: self.redactor.clean(note).into_owned() });
    }

    /// Takes on nothing new, because of something that concerns every run.
    fn stop_all(&self, why: &str) {
        if !self.stops.soft.is_cancelled() {
            self.stops.soft.cancel();
            self.teller.tell(None, What::Stopping { why: self.redactor.clean(why).into_owned() });
        }
    }
}

impl Crew {
    /// Stops everybody who would be told the same, because of what a provider says against a
    /// question.
    fn heed(&self, fault: &Fault, door: &Door) {
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
                "{} Runs that need this key are stopped; the others go on.",
                fault.message
            ));
        }
    }

    /// Why a job need not be begun: its key was refused.
    pub(super) fn bars(&self, job: &Job) -> Option<String> {
        let why = self.doors.refused(&Door::of_job(&self.setup, job)?)?;
        Some(self.redactor.clean(&why).into_owned())
    }
}

/// How a run ended, and why when that needs a word.
pub type Ended = (Ending, Option<String>);

/// Why a run could not go on; its file, when there is one, is as it was last written.
#[derive(Debug)]
enum Halt {
    /// It was stopped and can be continued.
    Stopped,
    /// The same, because the key it needs was refused.
    Barred(String),
    /// Another process has it.
    Elsewhere(String),
    /// Something of ours is in the way: the disk, a tool, a lock.
    Broken(String),
}

impl From<DiskError> for Halt {
    fn from(error: DiskError) -> Self {
        Halt::Broken(error.to_string())
    }
}

impl From<LockError> for Halt {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { by } => Halt::Elsewhere(format!("Another process is at it ({by}).")),
            other => Halt::Broken(other.to_string()),
        }
    }
}

/// Makes one run.
pub async fn drive(crew: Arc<Crew>, job: Job) -> Ended {
    match attempt(&crew, &job).await {
        Ok(ended) => ended,
        Err(Halt::Stopped) => (Ending::Stopped, None),
        Err(Halt::Barred(why)) => (Ending::Stopped, Some(crew.redactor.clean(&why).into_owned())),
        Err(Halt::Elsewhere(why)) => (Ending::Elsewhere, Some(why)),
        Err(Halt::Broken(why)) => (Ending::Error, Some(crew.redactor.clean(&why).into_owned())),
    }
}

/// What was found on disk under the lock, and what is owed because of it.
struct Taken {
    /// Held for as long as the run is made.
    _lock: RunLock,
    decision: Decision,
    document: Option<Document>,
    /// Only where something is owed.
    journal: Option<Journal>,
}

async fn attempt(crew: &Arc<Crew>, job: &Job) -> Result<Ended, Halt> {
    // What is missing is found before anything that is there is moved aside.
    let model = crew.setup.model(&job.slot.at.model);
    let model = model
        .ok_or_else(|| Halt::Broken(format!("There is no model named `{}`.", job.slot.at.model)))?;
    let recording = recording(crew, job, model).await?;
    let is_talk = job.slot.at.system != "promptql";
    let query = Query::of_task(&job.slot.task);
    let mut kit =
        if is_talk { kit(crew, job, model, query.as_ref(), job.slot.way)? } else { Kit::default() };
    if !is_talk && recording.is_none() {
        promptql::settings(crew)?;
    }
    let (dir, taking) = (crew.output_dir.clone(), job.clone());
    let taken = blocking(move || take(&dir, &taking)).await??;
    let step = taken.decision.step.filter(|_| job.message.is_none() || taken.document.is_some());
    let (Some(step), Some(journal)) = (step, taken.journal.clone()) else {
        return Ok(nothing_owed(&taken));
    };
    let resumed = !matches!(step, Step::Begin | Step::BeginAnew);
    crew.teller.tell(Some(&job.slot.path), What::Started { resumed });
    let desk = Desk::new(Arc::clone(crew), job.slot.path.clone(), journal.clone());
    if !is_talk {
        let mut file = ReplyFile::default();
        let sitting = Sitting::begin(&Facts::default(), None);
        file.set_facts(&begun(job, model));
        return Asking { crew, job, model, recording, desk, sitting, file }.hold().await;
    }
    // A run goes on the way it was begun.
    let file = taken.document.filter(|_| resumed);
    let way = file.as_ref().map_or(job.slot.way, Way::of_file);
    if way != job.slot.way {
        kit = self::kit(crew, job, model, query.as_ref(), way)?;
    }
    let facts = file.as_ref().map(facts_of).unwrap_or_default();
    let mut script = script(job, model, file, &journal);
    let sitting = Sitting::begin(&facts, journal.spent_ms(ask::from_line(script.facts().journal)));
    script.set_way(&way, kit.apis.as_ref().map(|apis| apis.said.as_str()));
    script.set_offers(&told(crew, &kit));
    let bounds = way.bounds();
    let talk = Talk {
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
    };
    match bounds {
        Some(bounds) => Quest::new(talk, bounds, way.compat == Some(true))?.hold().await,
        None => talk.hold().await,
    }
}

/// What the model is offered, as it goes into the file.
fn told(crew: &Crew, kit: &Kit) -> Vec<Value> {
    kit.told().map(|offer| clean::value(&crew.redactor, offer.value())).collect()
}

/// What the model may call.
fn kit(
    crew: &Crew,
    job: &Job,
    model: &Model,
    query: Option<&Query>,
    way: Way,
) -> Result<Kit, Halt> {
    let python = job.slot.at.system == "tool_calling_python";
    let prompt = job.slot.prompt();
    let asked = Asked { way, query, prompt: &prompt, most: model.most_functions() };
    let kit = crew.toolbox.kit(job.slot.task.tools.as_deref(), python, &asked);
    kit.map_err(|why| {
        Halt::Broken(
            [Some(why.message), why.fix].into_iter().flatten().collect::<Vec<_>>().join(" "),
        )
    })
}

/// The conversation as it is begun or gone on with, and the message of a person that comes first.
fn script(job: &Job, model: &Model, document: Option<Document>, journal: &Journal) -> Script {
    let mut script = document.map_or_else(|| Script::new(&job.slot.prompt()), Script::from);
    let begun = begun(job, model);
    let facts = script.facts();
    // As the provider named it when it answered; before that, as it is asked for.
    let model_id = facts.model_id.or_else(|| begun.model_id.clone());
    // From here on the file says how many there are, so those that came before are counted now.
    let told_by_words = script.nudges_by_words() as u64;
    let nudges = if facts.started.is_none() && told_by_words > 0 {
        facts.nudges.max(Some(told_by_words))
    } else {
        facts.nudges
    };
    let started = facts.started.or_else(|| begun.started.clone());
    script.set_facts(&Facts { model_id, started, nudges, ..begun });
    script.forget("finished");
    if facts.journal.is_some_and(|lines| lines > journal.lines() as u64) {
        // A copy of a file, without the journal it speaks of.
        script.forget("journal");
    }
    if let Some(message) = &job.message {
        script.drop_error();
        script.nudge(message);
    }
    script
}

/// Takes the lock, then looks at the file: the plan may be old by now, because another process made
/// this run in the meantime.
fn take(dir: &Path, job: &Job) -> Result<Taken, Halt> {
    let path = &job.slot.path;
    let lock = RunLock::take(dir, path)?;
    fault::point!("run.locked");
    let bytes = disk::read(dir, path, MOST_BYTES)?;
    let file = bytes.as_deref().map_or(File::Absent, File::of);
    let mut decision = plan::decide(&job.slot, &OnDisk { file, locked_by: None }, job.rules);
    if job.message.is_some()
        && decision.step.is_none()
        && decision.act == touchstone_api::Act::Nothing
    {
        decision.step = Some(Step::Answer);
    }
    // A conversation is written before anything is bought for it: replies in the journal of one
    // that is not there were for a file that somebody took away. What `PromptQL` returned is in no
    // file before the end.
    let is_talk = job.slot.at.system != "promptql";
    if decision.step == Some(Step::BeginAnew)
        || (decision.step == Some(Step::Begin) && (is_talk || job.rules.start_over))
    {
        publish::start_over(dir, path)?;
    }
    let document = bytes.as_deref().and_then(|bytes| Document::read(bytes).ok());
    let journal = decision.step.map(|_| Journal::open(dir, path)).transpose()?;
    Ok(Taken { _lock: lock, decision, document, journal })
}

/// Somebody else did it in the meantime, or it cannot be done.
fn nothing_owed(taken: &Taken) -> Ended {
    use touchstone_api::Act;
    match taken.decision.act {
        Act::Nothing => {
            (Ending::Elsewhere, Some("Another process made it in the meantime.".to_owned()))
        }
        _ => (Ending::Error, Some(taken.decision.why.clone())),
    }
}

/// What the file says of a run from its first moment on.
fn begun(job: &Job, model: &Model) -> Facts {
    Facts {
        system: Some(job.slot.at.system.clone()),
        model: Some(job.slot.at.model.clone()),
        model_id: Some(model.model_id.clone()),
        started: Some(clock::written(clock::now_ms())),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Facts::default()
    }
}

/// The recording that answers in place of a provider.
async fn recording(crew: &Crew, job: &Job, model: &Model) -> Result<Option<Recording>, Halt> {
    if model.provider != Provider::Replay {
        return Ok(None);
    }
    let dir = recordings_of(model, &crew.base, &crew.output_dir);
    let (at, recorded) = (job.slot.at.clone(), model.model_id.clone());
    blocking(move || find(&dir, &at, &recorded)).await?.map(Some)
}

/// Where the recordings are that a model replays.
fn recordings_of(model: &Model, base: &Path, output_dir: &Path) -> PathBuf {
    let named = model.setting("recordings").and_then(touchstone_formats::value::Value::text);
    named.map_or_else(|| output_dir.to_owned(), |named| base.join(named))
}

/// Why a run cannot be replayed; none when it can, or when its model is asked for real.
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

/// The recording of these coordinates, or of their first repeat.
fn find(dir: &Path, at: &Coordinates, recorded: &str) -> Result<Recording, Halt> {
    let paths = replay::recording_paths(at, recorded);
    for path in &paths {
        if let Some(bytes) = disk::read(dir, path, MOST_BYTES)? {
            let document = Document::read(&bytes).map_err(|error| error.to_string());
            return document.and_then(|document| Recording::read(&document)).map_err(|why| {
                Halt::Broken(format!("The recording {path} cannot be replayed: {why}"))
            });
        }
    }
    let wanted = paths.first().map(String::as_str).unwrap_or_default();
    Err(Halt::Broken(format!("There is no recording of this run to replay: {wanted}.")))
}

/// Does what blocks on a thread where it may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Halt> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Halt::Broken("A mistake in Touchstone ended this run.".to_owned()))
}
