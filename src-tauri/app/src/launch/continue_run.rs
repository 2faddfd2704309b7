//! Continues a single run: with a message added by hand, or with a fork that continues differently,
//! from an edited step or with another model.
use super::LaunchActions;
use super::launch_registry::id_of;
use super::launch_selection::Files;
use super::selected_runs::slot;
use super::starting::LaunchListeners;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use touchstone_api::{Copied, EditableStep, ForkRequest, Launched, RunRow, RunState, Stale};
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::system::System;
use touchstone_formats::transcript::Document;
use touchstone_runner::disk::DiskErrorKind;
use touchstone_runner::disk_state::MOST_BYTES;
use touchstone_runner::execute::Job;
use touchstone_runner::launch::Listener;
use touchstone_runner::lock::{LockError, RunLock};
use touchstone_runner::script::{End, TranscriptWriter};
use touchstone_runner::setup::Setup;
use touchstone_runner::strategy::Strategy;
use touchstone_runner::{atomic_write, disk, disk_state, fork, plan};
use touchstone_store::query;

/// Maximum time to wait until a copy is in the index.
const LISTED: Duration = Duration::from_secs(2);
/// Maximum bytes of a message; longer ones are accidentally pasted files.
const LONGEST: usize = fork::LONGEST_EDIT;
/// Reason to refuse a fork of a `PromptQL` run.
const ONE_REPLY: &str = "A PromptQL run is one question and one reply, so it cannot be continued from a \
    step. Run it again instead.";
/// Reason to refuse a fork that ends with a message of the model.
const NOTHING_TO_ANSWER: &str = "The edited message is the last one, so the model has nothing to answer. Write \
    the message that follows it, or only make the copy.";

impl LaunchActions<'_> {
    /// Sends a message to a run. A finished run of the benchmark stays unchanged: the message goes
    /// to a fork of it, unless `in_place` is set. Forks, runs that a person continued before, and
    /// unfinished runs are continued themselves.
    pub fn nudge_run(self, id: &str, message: &str, in_place: bool) -> Result<Launched, AppError> {
        self.nudge_run_with(id, message, in_place, Vec::new())
    }

    /// Like [`Self::nudge_run`], with listeners for every event.
    pub fn nudge_run_with(
        self,
        id: &str,
        message: &str,
        in_place: bool,
        listeners: Vec<Listener>,
    ) -> Result<Launched, AppError> {
        let open = self.app.require_folder()?;
        open.check_directories_exist()?;
        let message = worded(message)?;
        let setup = self.app.settings().setup()?;
        self.refuse_secrets(&setup, [message])?;
        let found = row(&open, id)?;
        let is_finished = matches!(found.state, RunState::Answered | RunState::NoAnswer);
        if !in_place
            && is_finished
            && found.lineage.is_none()
            && let Some(end) = end(&open, &found.path)
        {
            let (copied, launched) =
                self.fork(&open, setup, id, (&ForkRequest::new(end, Some(message)), listeners))?;
            let launch = launched.map(|launched| launched.launch).unwrap_or_default();
            return Ok(Launched { launch, run: Some(copied) });
        }
        let mut slot = slot(&open, &setup, found).map_err(cannot)?;
        if slot.at.system == System::PromptQl {
            return Err(cannot(
                "A PromptQL run is one question and one reply; no message can be added.".to_owned(),
            ));
        }
        // A message to this file is meant for this file, even if the task has changed since.
        let rules = plan::Rules { start_over: false, anyway: true };
        let on_disk = disk_state::read_disk_state(&open.flow.roots.output_dir, &slot.path);
        slot.user_model = on_disk.user_model().map(str::to_owned);
        if on_disk.searches() {
            return Err(cannot(plan::NO_MESSAGE.to_owned()));
        }
        let found = plan::decide(&slot, &on_disk, rules);
        if found.step.is_none() && found.act != touchstone_api::Act::Nothing {
            return Err(cannot(found.why));
        }
        self.check_ready(&open, &setup, &slot)?;
        self.begin(
            &open,
            setup,
            vec![Job { slot, rules, message: Some(message.to_owned()) }],
            listeners.into(),
        )
    }

    /// Copies a run up to a step to a fork, and continues it if the request says so.
    pub fn fork_run(self, id: &str, fork: &ForkRequest) -> Result<Copied, AppError> {
        let (run, launched) = self.fork_run_with(id, fork, Vec::new())?;
        Ok(Copied { run, launch: launched.map(|launched| launched.launch) })
    }

    /// Like [`LaunchActions::fork_run`], with listeners for every event. Returns the id of the fork, and its
    /// launch if it is continued.
    pub fn fork_run_with(
        self,
        id: &str,
        fork: &ForkRequest,
        listeners: Vec<Listener>,
    ) -> Result<(String, Option<Launched>), AppError> {
        let open = self.app.require_folder()?;
        open.check_directories_exist()?;
        let message = fork.message.as_deref().map(worded).transpose()?.map(str::to_owned);
        if fork.edit.as_ref().is_some_and(|edit| edit.text.len() > fork::LONGEST_EDIT) {
            return Err(cannot("The edited text is longer than 1 MB. Shorten it.".to_owned()));
        }
        // A copy alone sends no requests.
        let setup = if fork.runs() {
            self.app.settings().setup()?
        } else {
            self.app.settings().setup_to_look()?
        };
        let texts = fork.edit.as_ref().map(|edit| edit.text.as_str());
        self.refuse_secrets(&setup, texts.into_iter().chain(message.as_deref()))?;
        let run = Some(fork.runs());
        let fork = ForkRequest { message, run, ..fork.clone() };
        self.fork(&open, setup, id, (&fork, listeners))
    }

    /// Fails if a text that is to be written and sent contains a key or a secret of the workspace.
    fn refuse_secrets<'t>(
        self,
        setup: &Setup,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), AppError> {
        let redactor = self.app.settings().known_secrets(setup).redactor();
        // Text that merely looks like a key may be part of what is tried.
        if texts.into_iter().all(|text| redactor.redact_known(text) == text) {
            return Ok(());
        }
        let message = "The text contains a key or a secret of this workspace. It would be written to the \
             transcript and sent to the model.";
        Err(AppError::new(Code::BadRequest, message).hint("Leave it out."))
    }

    /// Returns what can be edited of a step before a run is continued from it.
    pub fn editable_step(self, id: &str, step: u32) -> Result<EditableStep, AppError> {
        let open = self.app.require_folder()?;
        let found = row(&open, id)?;
        if found.format.is_some() || found.member.is_some() {
            return Err(cannot("Another tool recorded it, and its file is read-only.".to_owned()));
        }
        let document = document(&open.flow.roots.output_dir, &found.path)?;
        fork::editable(&document, step as usize).map_err(|why| cannot(why.to_string()))
    }

    /// Creates a fork. Returns its id, and its launch if it is continued.
    fn fork(
        self,
        open: &OpenFolder,
        setup: Setup,
        id: &str,
        (fork, listeners): (&ForkRequest, Vec<Listener>),
    ) -> Result<(String, Option<Launched>), AppError> {
        let found = row(open, id)?;
        let former = found.model.clone().unwrap_or_default();
        let mut slot = slot_of_fork(open, &setup, found, fork.model.as_ref())?;
        let dir = &open.flow.roots.output_dir;
        if slot.at.system == System::PromptQl && fork.runs() {
            return Err(cannot(ONE_REPLY.to_owned()));
        }
        if fork.runs() {
            slot.user_model =
                disk_state::read_disk_state(dir, &slot.path).user_model().map(str::to_owned);
            self.check_ready(open, &setup, &slot)?;
            self.app.red_team().check_scan(&setup, std::iter::once(&slot))?;
        }
        let copy = fork::fork(
            &document(dir, &slot.path)?,
            &slot.path,
            fork.step as usize,
            fork::Change {
                message: fork.message.as_deref(),
                edit: fork.edit.as_ref(),
                models: Some((&former, &slot.at.model)),
            },
        )
        .map_err(|why| cannot(why.to_string()))?;
        if fork.runs() && copy.end() == End::Assistant {
            return Err(cannot(NOTHING_TO_ANSWER.to_owned()));
        }
        let (at, lock) = free(dir, &slot, Files::new(open, &setup))?;
        let path = names::write(&at);
        // The journal of a deleted run may remain; its replies do not belong to this copy.
        atomic_write::start_over(dir, &path).map_err(|error| cannot(error.to_string()))?;
        atomic_write::replace(dir, &path, copy.write().as_bytes())
            .map_err(|error| cannot(error.to_string()))?;
        drop(lock);
        self.app.inner.bulletin.post(Stale::Status);
        // The page opens the copy next and has to find it.
        wait_listed(open, &id_of(&path));
        if !fork.runs() {
            return Ok((id_of(&path), None));
        }
        let note = format!("Fork created: {path}. {} is unchanged.", slot.path);
        let copied =
            plan::Slot { path, user_model: slot.user_model, ..plan::Slot::new(slot.task, at) };
        let rules = plan::Rules { start_over: false, anyway: true };
        let (telling, run) = (LaunchListeners::noting(listeners, note), id_of(&copied.path));
        let launched =
            self.begin(open, setup, vec![Job { slot: copied, rules, message: None }], telling)?;
        Ok((run, Some(launched)))
    }
}

/// Returns a run as one of the model that continues a fork of it.
fn slot_of_fork(
    open: &OpenFolder,
    setup: &Setup,
    mut found: RunRow,
    model: Option<&String>,
) -> Result<plan::Slot, AppError> {
    if let Some(name) = model {
        if setup.model(name).is_none() {
            return Err(crate::settings::keys::no_model(setup, name));
        }
        found.model = found.model.map(|_| name.clone());
    }
    slot(open, setup, found).map_err(cannot)
}

/// Reads the transcript of a run.
fn document(dir: &Path, path: &str) -> Result<Document, AppError> {
    let bytes = disk::read(dir, path, MOST_BYTES).map_err(|error| cannot(error.to_string()))?;
    let bytes =
        bytes.ok_or_else(|| AppError::new(Code::Gone, "The file of this run no longer exists."))?;
    Document::read(&bytes).map_err(|error| cannot(error.to_string()))
}

/// Returns the last step of a conversation; `None` if no fork can be made of it.
fn end(open: &OpenFolder, path: &str) -> Option<u32> {
    let bytes = disk::read(&open.flow.roots.output_dir, path, MOST_BYTES).ok().flatten()?;
    let script = TranscriptWriter::from(Document::read(&bytes).ok()?);
    let is_search = Strategy::from_transcript(script.document()).method.is_some();
    u32::try_from(script.steps().checked_sub(1)?).ok().filter(|_| !is_search)
}

/// Locks the first free fork number, so that two forks created at once get two files.
fn free(
    dir: &Path,
    original: &plan::Slot,
    files: Files<'_>,
) -> Result<(Coordinates, RunLock), AppError> {
    let files = RefCell::new(files);
    loop {
        // Other read errors do not count as taken, because the counting would not end.
        let is_there = |path: &str| match disk::read(dir, path, MOST_BYTES) {
            Ok(there) => there.is_some(),
            Err(error) => error.kind == DiskErrorKind::InTheWay,
        };
        let is_taken = |at: &Coordinates| {
            !files.borrow_mut().paths_for(at).is_empty() || is_there(&names::write(at))
        };
        let at = plan::next_fork(&original.at, is_taken);
        let copy = plan::Slot::new(Arc::clone(&original.task), at.clone());
        if let Some(why) = copy.too_long() {
            return Err(cannot(why));
        }
        match RunLock::take(dir, &copy.path) {
            Ok(lock) => match disk::read(dir, &copy.path, MOST_BYTES) {
                Ok(None) => return Ok((at, lock)),
                Err(error) if error.kind != DiskErrorKind::InTheWay => {
                    return Err(cannot(error.to_string()));
                }
                _ => {}
            },
            Err(LockError::Held { .. }) => {}
            Err(other) => return Err(cannot(other.to_string())),
        }
    }
}

/// Waits briefly until a run that was just written is in the index. It appears without waiting,
/// too.
fn wait_listed(open: &OpenFolder, id: &str) {
    let until = Instant::now() + LISTED;
    loop {
        let seen = open.flow.live.now().generation;
        let listed = open.ask(|index| query::row_by_key(index, id)).is_ok_and(|row| row.is_some());
        let left = until.saturating_duration_since(Instant::now());
        if listed || left.is_zero() {
            return;
        }
        open.flow.live.wait(|now| now.generation != seen, left);
    }
}

fn row(open: &OpenFolder, id: &str) -> Result<RunRow, AppError> {
    let row = open.ask(|index| query::row_by_key(index, id))?;
    row.ok_or_else(|| AppError::new(Code::NotFound, "This run is no longer in the list."))
}

fn worded(message: &str) -> Result<&str, AppError> {
    match message.trim() {
        "" => Err(AppError::new(
            Code::BadRequest,
            "The message is empty. Write what the model should do.",
        )),
        long if long.len() > LONGEST => {
            Err(AppError::new(Code::BadRequest, "The message is longer than 1 MB. Shorten it."))
        }
        message => Ok(message),
    }
}

fn cannot(why: String) -> AppError {
    AppError::new(Code::BadRequest, why)
}
