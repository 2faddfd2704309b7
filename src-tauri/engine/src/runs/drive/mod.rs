//! Making one run: takes its lock, looks again what is owed, and does exactly that. Owns nothing of what a conversation or a reply
//! means; `converse` and `promptql` do.
mod ask;
mod converse;
mod desk;
mod prompt;
mod promptql;
mod toolbox;

pub use toolbox::Toolbox;

use super::event::{Ending, What};
use super::http::client::Client;
use super::http::keys::Keys;
use super::http::limiter::Limiters;
use super::http::redact::Redactor;
use super::launch::{Stops, Teller};
use super::lock::{self, RunLock};
use super::plan::{Owed, Slot};
use super::setup::Setup;
use super::{disk, plan};
use desk::Desk;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use touchstone_formats::names::Coordinates;

/// What all runs of a launch share.
pub struct Crew {
    /// Where transcripts go.
    pub output_dir: PathBuf,
    /// Models, systems, rules.
    pub setup: Setup,
    /// Keys.
    pub keys: Keys,
    /// Connections.
    pub client: Client,
    /// How many requests each provider takes.
    pub limiters: Limiters,
    /// Takes secrets out of whatever is written.
    pub redactor: Redactor,
    /// Tools.
    pub toolbox: Toolbox,
    /// Where events go.
    pub teller: Teller,
    /// How it is stopped.
    pub stops: Stops,
    /// What was spent, against the most that may be.
    pub purse: Purse,
}

/// One run that is owed.
#[derive(Debug, Clone)]
pub struct Job {
    /// Which run, of which task.
    pub slot: Slot,
    /// Its output file, relative to the output directory.
    pub path: String,
    /// From the start, with what is there moved aside.
    pub start_over: bool,
    /// Continue even where the file does not match the task.
    pub anyway: bool,
    /// A message of a person, added first.
    pub message: Option<String>,
}

/// What a launch spends.
#[derive(Debug, Default)]
pub struct Purse {
    most: Option<f64>,
    spent: Mutex<f64>,
}

impl Purse {
    /// A purse with at most so many dollars; none is no bound.
    pub fn new(most: Option<f64>) -> Self {
        Self { most, spent: Mutex::default() }
    }

    fn pay(&self, cost: f64) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += cost;
    }

    /// The bound, once it is reached.
    fn empty(&self) -> Option<f64> {
        let spent = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        self.most.filter(|most| spent >= *most)
    }
}

impl Crew {
    /// Takes on nothing new, because of something that concerns every run.
    fn stop_all(&self, why: &str) {
        if !self.stops.soft.is_cancelled() {
            self.stops.soft.cancel();
            self.teller.tell(None, What::Stopping { why: self.redactor.clean(why).into_owned() });
        }
    }

    /// Ends what was started for the launch.
    pub async fn close(&self) {
        self.toolbox.close().await;
    }
}

/// How a run ended, and why when that needs a word.
pub type Ended = (Ending, Option<String>);

/// Why a run could not go on; its file, when there is one, is as it was last written.
#[derive(Debug)]
enum Halt {
    /// It was stopped and can be continued.
    Stopped,
    /// Something of ours is in the way: the disk, a tool, a lock.
    Broken(String),
}

/// Makes one run.
pub async fn drive(crew: &Crew, job: &Job) -> Ended {
    match attempt(crew, job).await {
        Ok(ended) => ended,
        Err(Halt::Stopped) => (Ending::Stopped, None),
        Err(Halt::Broken(why)) => (Ending::Error, Some(crew.redactor.clean(&why).into_owned())),
    }
}

async fn attempt(crew: &Crew, job: &Job) -> Result<Ended, Halt> {
    let (dir, path) = (crew.output_dir.clone(), job.path.clone());
    let taken = blocking(move || RunLock::take(&dir, &path)).await?;
    let _lock = match taken {
        Ok(lock) => lock,
        Err(lock::Refused::Held { by }) => return Ok((Ending::Elsewhere, Some(format!("{by} is at it.")))),
        Err(other) => return Err(Halt::Broken(other.to_string())),
    };
    // The plan may be old by now: another process may have made this run in the meantime.
    let (dir, path) = (crew.output_dir.clone(), job.path.clone());
    let found = blocking(move || disk::look(&dir, &path)).await?;
    let (owed, document) = plan::owed(&job.slot, found, job.start_over, job.anyway);
    todo!("{owed:?}")
}

/// Does what blocks on a thread where it may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Halt> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Halt::Broken("A mistake in Touchstone ended this run.".to_owned()))
}
