//! Launches that are split over the workers of a scheduler: shows them as their files and the
//! scheduler tell, and stops them.
use super::slurm::{self, JobQuery, Tasks};
use super::split_view::{Asker, Scheduler, SplitFiles, group};
use super::submit_script::job_name;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::events::EventSender;
use crate::launch::LaunchActions;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::{Span, SplitLaunch, SplitPart, SplitPartState, SplitState, Stale};
use touchstone_clock as clock;
use touchstone_runner::disk::DiskError;
use touchstone_runner::lock::host;
use touchstone_runner::part_logs::PartLogs;
use touchstone_runner::submissions;

/// Maximum number of parts on one page.
const MOST_ROWS: u32 = 500;
/// Minimum time between two questions to the scheduler.
const BETWEEN: Duration = Duration::from_secs(4);

/// Time between requests to the scheduler while a launch is followed: files tell what happens between.
const BETWEEN_FOLLOWED: Duration = Duration::from_secs(15);

/// Why a page that may not start programs does not show more.
const READ_ONLY: &str =
    "This page is read-only and starts no program, so states of the scheduler are not shown.";

/// What is known of split launches.
#[derive(Default)]
pub(crate) struct Splits {
    logs: Mutex<(PathBuf, PartLogs)>,
    said: Mutex<Option<LastAnswer>>,
    asking: AtomicBool,
    home: OnceLock<String>,
}

/// Last answer of the scheduler.
struct LastAnswer {
    at: Instant,
    wanted: BTreeSet<JobQuery>,
    answer: Scheduler,
}

/// Whether the scheduler may be asked, and whether to wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Not,
    Later,
    Now,
    /// Like `Now`, if the last answer is old.
    Sometimes,
}

impl Splits {
    fn last(&self) -> MutexGuard<'_, Option<LastAnswer>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what the scheduler said.
    pub(super) fn forget(&self) {
        *self.last() = None;
    }

    /// Returns the cluster of this machine.
    pub(super) fn home(&self) -> Option<String> {
        match self.home.get() {
            Some(home) => Some(home.clone()),
            None => slurm::home().inspect(|home| drop(self.home.set(home.clone()))),
        }
    }

    /// Returns the last answer about these jobs if it is young.
    fn young(&self, wanted: &BTreeSet<JobQuery>) -> Option<Scheduler> {
        let is_young =
            |said: &&LastAnswer| said.wanted == *wanted && said.at.elapsed() < BETWEEN_FOLLOWED;
        self.last().as_ref().filter(is_young).map(|said| said.answer.clone())
    }

    /// Asks the scheduler about these jobs.
    pub(super) fn ask(&self, wanted: BTreeSet<JobQuery>) -> Scheduler {
        let user = Some(rustix::process::getuid().as_raw());
        let answer = match slurm::tasks(&wanted) {
            Ok(tasks) => Scheduler {
                tasks: Some(Arc::new(tasks)),
                note: None,
                asker: Asker { host: host(), home: self.home(), user },
            },
            Err(note) => Scheduler { note: Some(note), ..Scheduler::default() },
        };
        *self.last() = Some(LastAnswer { at: Instant::now(), wanted, answer: answer.clone() });
        answer
    }

    /// Returns the last answer of the scheduler, and asks again in the background if it is old.
    fn ask_later(self: &Arc<Self>, wanted: BTreeSet<JobQuery>, poster: EventSender) -> Scheduler {
        let (is_old, answer) = match self.last().as_ref() {
            Some(said) => {
                (said.wanted != wanted || said.at.elapsed() > BETWEEN, said.answer.clone())
            }
            None => (true, Scheduler::default()),
        };
        if is_old && !self.asking.swap(true, Ordering::AcqRel) {
            let splits = Arc::clone(self);
            std::thread::spawn(move || {
                let before = splits.last().as_ref().map(|said| said.answer.clone());
                let now = splits.ask(wanted);
                splits.asking.store(false, Ordering::Release);
                if before.is_none_or(|before| before.tasks != now.tasks || before.note != now.note)
                {
                    poster.post(Stale::Launches);
                }
            });
        }
        answer
    }
}

impl LaunchActions<'_> {
    /// Returns the split launches of the open folder, newest first, without their parts. `may_act`
    /// allows to ask the scheduler.
    pub fn split_launches(self, may_act: bool) -> Result<Vec<SplitLaunch>, AppError> {
        let Some(open) = self.app.current_folder() else { return Ok(Vec::new()) };
        let asking = if may_act { Asking::Later } else { Asking::Not };
        let mut launches = newest_first(self.look(&open, asking)?);
        for launch in &mut launches {
            launch.rows.clear();
        }
        Ok(launches)
    }

    /// Like [`Self::split_launches`] with all parts, and waits for the scheduler's answer.
    pub fn split_launches_now(self) -> Result<Vec<SplitLaunch>, AppError> {
        let launches = newest_first(self.look(self.app.require_folder()?.as_ref(), Asking::Now)?);
        Ok(launches.into_iter().map(in_order).collect())
    }

    /// Returns a split launch with a range of its parts.
    pub fn split_launch(
        self,
        id: &str,
        span: Span,
        may_act: bool,
    ) -> Result<SplitLaunch, AppError> {
        let asking = if may_act { Asking::Later } else { Asking::Not };
        let mut launch = in_order(self.find_split(id, asking)?);
        let rows = launch.rows.into_iter().skip(span.offset as usize);
        launch.rows = rows.take(span.limit.min(MOST_ROWS) as usize).collect();
        Ok(launch)
    }

    /// Returns a split launch with all parts, and waits for the scheduler's answer.
    pub fn split_launch_now(self, id: &str) -> Result<SplitLaunch, AppError> {
        self.find_split(id, Asking::Now).map(in_order)
    }

    /// Like [`Self::split_launch_now`] for who looks every few seconds.
    pub fn split_launch_followed(self, id: &str) -> Result<SplitLaunch, AppError> {
        self.find_split(id, Asking::Sometimes).map(in_order)
    }

    fn find_split(self, id: &str, asking: Asking) -> Result<SplitLaunch, AppError> {
        let open = self.app.require_folder()?;
        self.look(&open, asking)?.remove(id).ok_or_else(|| no_launch(id))
    }

    /// Reads the files, and perhaps asks the scheduler.
    fn look(
        self,
        open: &OpenFolder,
        asking: Asking,
    ) -> Result<BTreeMap<String, SplitLaunch>, AppError> {
        let launches = self.split_files(open)?;
        let is_asked = |(_, files): &(&String, &SplitFiles)| {
            files.may_be_active() && (files.submission.is_some() || !files.slurm_jobs().is_empty())
        };
        let asked: BTreeSet<JobQuery> =
            launches.iter().filter(is_asked).map(|(id, files)| job_query(id, files)).collect();
        let splits = &self.app.inner.splits;
        let scheduler = match asking {
            _ if asked.is_empty() => Scheduler::default(),
            Asking::Not => Scheduler { note: Some(READ_ONLY.to_owned()), ..Scheduler::default() },
            Asking::Later => splits.ask_later(asked.clone(), self.app.inner.bulletin.sender()),
            Asking::Now => splits.ask(asked.clone()),
            Asking::Sometimes => {
                let young = splits.young(&asked);
                young.unwrap_or_else(|| splits.ask(asked.clone()))
            }
        };
        let now = clock::now_ms();
        let view = |(id, files): (String, SplitFiles)| {
            let is_asked = asked.contains(&job_query(&id, &files));
            let unasked = Scheduler::default();
            let mut launch = files.view(&id, if is_asked { &scheduler } else { &unasked }, now);
            let tasks = scheduler.tasks.as_deref().filter(|_| is_asked);
            may(&mut launch, &files, tasks, asking != Asking::Not);
            (id, launch)
        };
        Ok(launches.into_iter().map(view).collect())
    }

    /// Reads the records and logs of split launches. Fails if their folders cannot be read: without
    /// them, nothing would say that there is no launch.
    pub(super) fn split_files(
        self,
        open: &OpenFolder,
    ) -> Result<BTreeMap<String, SplitFiles>, AppError> {
        let dir = &open.flow.roots.output_dir;
        let unread = |error: DiskError| {
            let message = format!("The split launches of this folder could not be read: {error}");
            AppError::new(Code::Failed, message).hint(
                "Make this folder readable, or move aside what is in its place, and look again.",
            )
        };
        let logs = {
            let mut known =
                self.app.inner.splits.logs.lock().unwrap_or_else(PoisonError::into_inner);
            if known.0 != *dir {
                *known = (dir.clone(), PartLogs::default());
            }
            known.1.read(dir).map_err(unread)?
        };
        Ok(group(submissions::all(dir).map_err(unread)?, logs))
    }

    /// Stops a split launch: parts that wait never begin, and those that run finish what is in
    /// flight; `now` ends them at once. Only jobs that the scheduler knows by the name of the launch
    /// are cancelled.
    pub fn stop_split_launch(self, id: &str, now: bool) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        let files = self.split_files(&open)?.remove(id).ok_or_else(|| no_launch(id))?;
        let jobs = files.slurm_jobs();
        if jobs.is_empty() && files.submission.is_none() {
            let message =
                "No job of Slurm runs parts of this launch, so it cannot be stopped here.";
            return Err(AppError::new(Code::BadRequest, message).hint(NO_JOBS));
        }
        let name = job_name(id);
        let answer = self.app.inner.splits.ask(BTreeSet::from([job_query(id, &files)]));
        let tasks = answer.tasks.ok_or_else(|| {
            let message = "Slurm does not say which jobs these are, so nothing was stopped.";
            AppError::new(Code::Failed, message).hint(how_to_cancel(id, &files))
        })?;
        let known = tasks.jobs(&name);
        if known.is_empty() {
            let message = "Slurm knows no job of this launch any more.";
            return Err(AppError::new(Code::BadRequest, message).hint(
                "If parts still run, they were submitted to another cluster: stop them there.",
            ));
        }
        slurm::cancel(files.cluster(), &known, now)?;
        self.app.inner.splits.forget();
        self.app.inner.bulletin.post(Stale::Launches);
        Ok(())
    }
}

/// How to stop what no job of Slurm runs.
const NO_JOBS: &str = "Stop what started it: press Ctrl-C in GNU parallel, or type `kubectl delete job NAME`. \
    Parts that get a signal finish what is in flight first.";
/// How to run what is left of a launch that was not submitted from here.
pub(super) const BY_HAND: &str = "Run its script or command again: it runs what is left.";

/// Returns what to ask the scheduler about a launch.
pub(super) fn job_query(id: &str, files: &SplitFiles) -> JobQuery {
    JobQuery { cluster: files.cluster().map(str::to_owned), name: job_name(id) }
}

/// Says how to stop a launch elsewhere.
fn how_to_cancel(id: &str, files: &SplitFiles) -> String {
    match files.slurm_jobs() {
        jobs if !jobs.is_empty() => slurm::how_to_cancel(files.cluster(), &jobs),
        _ if files.submission.is_some() => {
            slurm::how_to_cancel(files.cluster(), &[format!("--name={}", job_name(id))])
        }
        _ => NO_JOBS.to_owned(),
    }
}

/// Says what can be done about a launch from here.
fn may(launch: &mut SplitLaunch, files: &SplitFiles, tasks: Option<&Tasks>, may_act: bool) {
    launch.how_to_stop = how_to_cancel(&launch.id, files);
    let is_active = !matches!(launch.state, SplitState::Unfinished | SplitState::Done);
    let is_known = tasks.is_some_and(|tasks| !tasks.jobs(&job_name(&launch.id)).is_empty());
    launch.may_stop = may_act && is_active && is_known && slurm::is_here("scancel");
    let has_left = launch.rows.iter().any(|row| is_left(row, launch.state));
    launch.how_to_submit = match &files.submission {
        _ if !has_left => None,
        None => Some(BY_HAND.to_owned()),
        Some(one) if one.request.start_over => {
            Some("It runs everything from the start. Launch anew without that to run what is incomplete.".to_owned())
        }
        Some(_) if !may_act => Some("This page is read-only and submits nothing.".to_owned()),
        Some(one) if !slurm::is_here("sbatch") => Some(format!(
            "Type `touchstone submit --again={} FOLDER` on a machine of the cluster.",
            one.launch
        )),
        Some(_) => None,
    };
    launch.may_submit = has_left && launch.how_to_submit.is_none();
}

/// Returns true for a part that neither runs nor waits, and is not complete.
pub(super) fn is_left(row: &SplitPart, launch: SplitState) -> bool {
    let is_over = matches!(row.state, SplitPartState::Ended | SplitPartState::Lost)
        || (row.state == SplitPartState::Waiting && launch == SplitState::Unfinished);
    is_over && row.total.is_none_or(|total| row.done < total)
}

pub(super) fn no_launch(id: &str) -> AppError {
    AppError::new(Code::NotFound, format!("There is no split launch `{id}` in this folder."))
        .hint("`touchstone submit --status FOLDER` lists those that there are.")
}

fn newest_first(launches: BTreeMap<String, SplitLaunch>) -> Vec<SplitLaunch> {
    let mut launches: Vec<SplitLaunch> = launches.into_values().collect();
    launches.sort_by_key(|launch| std::cmp::Reverse(launch.began_ms));
    launches
}

/// Orders the parts: first those that run, then lost, waiting and ended ones.
fn in_order(mut launch: SplitLaunch) -> SplitLaunch {
    launch.rows.sort_by_key(|row| match row.state {
        SplitPartState::Running | SplitPartState::Stopping => 0,
        SplitPartState::Lost => 1,
        SplitPartState::Waiting => 2,
        SplitPartState::Ended => 3,
    });
    launch
}
