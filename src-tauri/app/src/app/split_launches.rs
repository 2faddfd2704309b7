//! Launches that are split over the workers of a scheduler: submits them, shows them as their files
//! and the scheduler tell, stops them, and submits what is left.
use super::event_bus::EventSender;
use super::part_origin::new_launch_id;
use super::{App, OpenFolder};
use crate::error::{AppError, Code};
use crate::slurm::{self, Tasks};
use crate::split_view::{Scheduler, SplitFiles, group};
use crate::submit_script::{SplitScript, job_name, ranges};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use touchstone_api::{
    LaunchRequest, Shard, Span, SplitLaunch, SplitPart, SplitPartState, SplitState, Stale,
};
use touchstone_clock as clock;
use touchstone_runner::disk;
use touchstone_runner::lock::host;
use touchstone_runner::part_logs::PartLogs;
use touchstone_runner::submissions::{self, Submission, SubmittedJob};

/// Maximum number of parts on one page.
const MOST_ROWS: u32 = 500;
/// Minimum time between two questions to the scheduler.
const BETWEEN: Duration = Duration::from_secs(4);

/// Why a page that may not start programs does not show more.
const READ_ONLY: &str =
    "This page is read-only and starts no program, so states of the scheduler are not shown.";

/// How a launch is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitOptions {
    /// Number of parts.
    pub parts: u32,
    /// Number of parts that run at the same time; all if none is given.
    pub at_once: Option<u32>,
    /// Confirms that the targets of attacks may be attacked.
    pub confirmed: bool,
}

/// What is known of split launches.
#[derive(Default)]
pub(super) struct Splits {
    logs: Mutex<(PathBuf, PartLogs)>,
    said: Mutex<Option<Said>>,
    asking: AtomicBool,
}

/// Last answer of the scheduler.
struct Said {
    at: Instant,
    names: BTreeSet<String>,
    answer: Scheduler,
}

/// Whether the scheduler may be asked, and whether to wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Not,
    Later,
    Now,
}

impl Splits {
    fn last(&self) -> MutexGuard<'_, Option<Said>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the scheduler about jobs with these names.
    fn ask(&self, names: BTreeSet<String>) -> Scheduler {
        let answer = match slurm::tasks(&names) {
            Ok(tasks) => Scheduler { tasks: Some(Arc::new(tasks)), note: None },
            Err(note) => Scheduler { tasks: None, note: Some(note) },
        };
        *self.last() = Some(Said { at: Instant::now(), names, answer: answer.clone() });
        answer
    }

    /// Returns the last answer of the scheduler, and asks again in the background if it is old.
    fn ask_later(self: &Arc<Self>, names: BTreeSet<String>, poster: EventSender) -> Scheduler {
        let (is_old, answer) = match self.last().as_ref() {
            Some(said) => (said.names != names || said.at.elapsed() > BETWEEN, said.answer.clone()),
            None => (true, Scheduler::default()),
        };
        if is_old && !self.asking.swap(true, Ordering::AcqRel) {
            let splits = Arc::clone(self);
            std::thread::spawn(move || {
                let before = splits.last().as_ref().map(|said| said.answer.clone());
                let now = splits.ask(names);
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

impl App {
    /// Returns the split launches of the open folder, newest first, without their parts. `may_act`
    /// allows to ask the scheduler.
    pub fn split_launches(&self, may_act: bool) -> Vec<SplitLaunch> {
        let Some(open) = self.current_folder() else { return Vec::new() };
        let asking = if may_act { Asking::Later } else { Asking::Not };
        let mut launches = newest_first(self.look(&open, asking));
        for launch in &mut launches {
            launch.rows.clear();
        }
        launches
    }

    /// Like [`App::split_launches`] with all parts, and waits for the scheduler's answer.
    pub fn split_launches_now(&self) -> Result<Vec<SplitLaunch>, AppError> {
        let launches = newest_first(self.look(self.require_folder()?.as_ref(), Asking::Now));
        Ok(launches.into_iter().map(in_order).collect())
    }

    /// Returns a split launch with a range of its parts.
    pub fn split_launch(
        &self,
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
    pub fn split_launch_now(&self, id: &str) -> Result<SplitLaunch, AppError> {
        self.find_split(id, Asking::Now).map(in_order)
    }

    fn find_split(&self, id: &str, asking: Asking) -> Result<SplitLaunch, AppError> {
        let open = self.require_folder()?;
        self.look(&open, asking).remove(id).ok_or_else(|| no_launch(id))
    }

    /// Reads the files, and perhaps asks the scheduler.
    fn look(&self, open: &OpenFolder, asking: Asking) -> BTreeMap<String, SplitLaunch> {
        let launches = self.split_files(open);
        let is_asked = |(_, files): &(&String, &SplitFiles)| {
            files.may_be_active() && !files.slurm_jobs().is_empty()
        };
        let names: BTreeSet<String> =
            launches.iter().filter(is_asked).map(|(id, _)| job_name(id)).collect();
        let splits = &self.inner.splits;
        let scheduler = match asking {
            _ if names.is_empty() => Scheduler::default(),
            Asking::Not => Scheduler { tasks: None, note: Some(READ_ONLY.to_owned()) },
            Asking::Later => splits.ask_later(names.clone(), self.inner.bulletin.sender()),
            Asking::Now => splits.ask(names.clone()),
        };
        let now = clock::now_ms();
        let view = |(id, files): (String, SplitFiles)| {
            let is_asked = names.contains(&job_name(&id));
            let unasked = Scheduler::default();
            let mut launch = files.view(&id, if is_asked { &scheduler } else { &unasked }, now);
            let tasks = scheduler.tasks.as_deref().filter(|_| is_asked);
            may(&mut launch, &files, tasks, asking != Asking::Not);
            (id, launch)
        };
        launches.into_iter().map(view).collect()
    }

    fn split_files(&self, open: &OpenFolder) -> BTreeMap<String, SplitFiles> {
        let dir = &open.flow.roots.output_dir;
        let logs = {
            let mut known = self.inner.splits.logs.lock().unwrap_or_else(PoisonError::into_inner);
            if known.0 != *dir {
                *known = (dir.clone(), PartLogs::default());
            }
            known.1.read(dir)
        };
        group(submissions::all(dir), logs)
    }

    /// Stops a split launch: parts that wait never begin, and those that run finish what is in
    /// flight; `now` ends them at once. Only jobs that the scheduler knows by the name of the launch
    /// are cancelled.
    pub fn stop_split_launch(&self, id: &str, now: bool) -> Result<(), AppError> {
        let open = self.require_folder()?;
        let files = self.split_files(&open).remove(id).ok_or_else(|| no_launch(id))?;
        let jobs = files.slurm_jobs();
        if jobs.is_empty() {
            let message =
                "No job of Slurm runs parts of this launch, so it cannot be stopped here.";
            return Err(AppError::new(Code::BadRequest, message).hint(NO_JOBS));
        }
        let name = job_name(id);
        let answer = self.inner.splits.ask(BTreeSet::from([name.clone()]));
        let tasks = answer.tasks.ok_or_else(|| {
            let message = "Slurm does not say which jobs these are, so nothing was stopped.";
            AppError::new(Code::Failed, message).hint(slurm::how_to_cancel(&jobs))
        })?;
        let known = tasks.jobs(&name);
        if known.is_empty() {
            let message = "Slurm knows no job of this launch any more.";
            return Err(AppError::new(Code::BadRequest, message).hint(
                "If parts still run, they were submitted to another cluster: stop them there.",
            ));
        }
        slurm::cancel(&known, now)?;
        *self.inner.splits.last() = None;
        self.inner.bulletin.post(Stale::Launches);
        Ok(())
    }

    /// Submits a launch to Slurm in parts, and returns its id and that of the job. What every part
    /// would fail with is refused.
    pub fn submit_launch(
        &self,
        request: &LaunchRequest,
        options: SplitOptions,
    ) -> Result<(String, String), AppError> {
        let open = self.require_folder()?;
        let dir = &open.flow.roots.output_dir;
        // One part stands for all: to plan all of them would read too much.
        let part = Some(Shard { index: 1, count: options.parts.max(1) });
        let prepared = self.prepare_launch(&LaunchRequest { shard: part, ..request.clone() })?;
        let (total, what) = prepared.size();
        if total == 0 {
            let error = AppError::new(Code::BadRequest, "Nothing to run: no task is chosen.");
            return Err(error.hint("Add a suite to the input directory, or choose other tasks."));
        }
        prepared.check(self, &open, request)?;
        disk::make_root(dir).map_err(|why| unkept(&why))?;
        let submission = Submission {
            what: what.to_owned(),
            total,
            at_once: options.at_once,
            ..Submission::new(new_launch_id(), options.parts.max(1), request.clone())
        };
        let parts = format!("1-{}", submission.parts);
        let launch = submission.launch.clone();
        let job = self.hand_over(&open, submission, request, (&parts, options.confirmed))?;
        Ok((launch, job))
    }

    /// Submits the parts of a launch that are not complete and neither run nor wait. Of a budget,
    /// they may spend what is left, or what `max_cost` leaves. Targets of attacks are confirmed anew,
    /// unless this user confirmed them before: records may come from others. Returns the job and the
    /// parts.
    pub fn submit_again(
        &self,
        id: &str,
        max_cost: Option<f64>,
        confirmed: bool,
    ) -> Result<(String, String), AppError> {
        let open = self.require_folder()?;
        let files = self.split_files(&open).remove(id).ok_or_else(|| no_launch(id))?;
        let Some(mut submission) = files.submission.clone() else {
            let message = "This launch was not submitted by Touchstone, so it cannot do so again.";
            return Err(AppError::new(Code::BadRequest, message).hint(BY_HAND));
        };
        if submission.request.start_over {
            let message = "This launch runs everything again from the start, so what is left of it cannot be told from files.";
            return Err(AppError::new(Code::BadRequest, message)
                .hint("Submit a new launch without --force: it runs what is incomplete."));
        }
        let scheduler = self.inner.splits.ask(BTreeSet::from([job_name(id)]));
        if scheduler.tasks.is_none() {
            let note = scheduler.note.unwrap_or_default();
            let message = format!("Nothing was submitted, because parts may still wait. {note}");
            return Err(AppError::new(Code::Failed, message)
                .hint("Submit on a machine of the cluster that has `squeue` and `sbatch`."));
        }
        let view = files.view(id, &scheduler, clock::now_ms());
        let left = view.rows.iter().filter(|row| is_left(row, view.state));
        let left: Vec<u32> = left.map(|row| row.part).collect();
        if left.is_empty() {
            let busy = view.waiting + view.running;
            let message = match busy {
                0 => "Nothing is left to submit: all parts are complete.".to_owned(),
                1 => "Nothing is left to submit: 1 part still runs or waits.".to_owned(),
                busy => format!("Nothing is left to submit: {busy} parts still run or wait."),
            };
            return Err(AppError::new(Code::BadRequest, message));
        }
        submission.request.max_cost = max_cost.or(submission.request.max_cost);
        let mut request = submission.request.clone();
        request.max_cost = remaining(request.max_cost, files.spent())?;
        let parts = ranges(&left);
        let job = self.hand_over(&open, submission, &request, (&parts, confirmed))?;
        Ok((job, parts))
    }

    /// Records a submission, hands these parts to Slurm and records the job.
    fn hand_over(
        &self,
        open: &OpenFolder,
        mut submission: Submission,
        request: &LaunchRequest,
        (parts, confirmed): (&str, bool),
    ) -> Result<String, AppError> {
        let roots = &open.flow.roots;
        let dir = &roots.output_dir;
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let program = std::env::current_exe().map_err(|error| {
            AppError::new(
                Code::Failed,
                format!("This program does not know its own path: {error}."),
            )
        })?;
        let script = SplitScript {
            launch: submission.launch.clone(),
            program: text(&program),
            folder: text(&roots.folder),
            input_dir: roots.input_dir.as_deref().map(text),
            output_dir: Some(text(dir)),
            request: request.clone(),
            parts: submission.parts,
            at_once: submission.at_once,
            confirmed,
        };
        let is_first = submission.jobs.is_empty();
        // Before the job, so that a full disk costs nothing.
        submissions::keep(dir, &submission).map_err(|why| unkept(&why))?;
        let submitted = submissions::make_output_folder(dir, &submission.launch)
            .map_err(|why| unkept(&why))
            .and_then(|folder| {
                let output = PathBuf::from(text(&folder).replace('%', "%%")).join("%A_%a.log");
                slurm::submit(&script.slurm(parts), &output, &roots.folder)
            });
        let id = submitted.inspect_err(|_| {
            if is_first {
                submissions::remove(dir, &submission.launch);
            }
        })?;
        submission.jobs.push(SubmittedJob {
            scheduler: "slurm".to_owned(),
            id: id.clone(),
            parts: parts.to_owned(),
            at_ms: clock::now_ms(),
            host: host(),
        });
        if let Err(why) = submissions::keep(dir, &submission) {
            let message = format!("Job {id} was submitted, and that could not be recorded: {why}");
            return Err(AppError::new(Code::Failed, message)
                .hint("It goes on. Its parts show in the window once they begin."));
        }
        *self.inner.splits.last() = None;
        self.inner.bulletin.post(Stale::Launches);
        Ok(id)
    }
}

/// How to stop what no job of Slurm runs.
const NO_JOBS: &str = "Stop what started it: press Ctrl-C in GNU parallel, or type `kubectl delete job NAME`. Parts that get a signal finish what is in flight first.";
/// How to run what is left of a launch that was not submitted from here.
const BY_HAND: &str = "Run its script or command again: it runs what is left.";

/// Says what can be done about a launch from here.
fn may(launch: &mut SplitLaunch, files: &SplitFiles, tasks: Option<&Tasks>, may_act: bool) {
    let jobs = files.slurm_jobs();
    launch.how_to_stop =
        if jobs.is_empty() { NO_JOBS.to_owned() } else { slurm::how_to_cancel(&jobs) };
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
fn is_left(row: &SplitPart, launch: SplitState) -> bool {
    let is_over = matches!(row.state, SplitPartState::Ended | SplitPartState::Lost)
        || (row.state == SplitPartState::Waiting && launch == SplitState::Unfinished);
    is_over && row.total.is_none_or(|total| row.done < total)
}

/// Returns what is left of a budget. Fails if nothing is.
fn remaining(most: Option<f64>, spent: f64) -> Result<Option<f64>, AppError> {
    let Some(most) = most else { return Ok(None) };
    if spent >= most {
        let message = format!("${spent:.2} of ${most} is spent, so nothing was submitted.");
        return Err(AppError::new(Code::BadRequest, message).hint(
            "Type `touchstone submit --again --max-cost DOLLARS FOLDER` with a higher budget for the whole launch.",
        ));
    }
    Ok(Some(most - spent))
}

fn unkept(why: &disk::DiskError) -> AppError {
    AppError::new(
        Code::Failed,
        format!("The submission could not be recorded, so nothing was submitted: {why}"),
    )
}

fn no_launch(id: &str) -> AppError {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_what_was_not_spent() {
        assert_eq!(remaining(None, 5.0).unwrap(), None);
        assert_eq!(remaining(Some(5.0), 2.0).unwrap(), Some(3.0));
        let error = remaining(Some(5.0), 5.0).unwrap_err();
        assert!(error.message.contains("$5.00 of $5 is spent"), "{error}");
    }
}
