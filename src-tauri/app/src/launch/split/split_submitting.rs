//! Hands launches to Slurm in parts, and what is left of them again. One process at a time does so for
//! a launch, and each submission is recorded before and after.
use super::slurm::{self, JobQuery, NotSubmitted};
use super::split_launches::{BY_HAND, is_left, job_query, no_launch};
use super::split_view::SplitFiles;
use super::submit_script::{SplitScript, job_name, ranges};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::launch::LaunchActions;
use crate::launch::part_origin::new_launch_id;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstone_api::{LaunchRequest, Shard, SplitLaunch, Stale};
use touchstone_clock as clock;
use touchstone_runner::disk;
use touchstone_runner::lock::{LockError, RunLock, host};
use touchstone_runner::submissions::{self, Submission, SubmittedJob};

/// Number of looks into the queue for a job of which `sbatch` did not tell, and the pause between.
const LOOKS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

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

/// What is handed over.
struct Batch {
    /// Record without the new job.
    submission: Submission,
    /// Record as it was; none if the launch is new.
    before: Option<Submission>,
    /// Parts, as ranges.
    parts: String,
    /// Dollars that each part may spend.
    share: Option<f64>,
    confirmed: bool,
    /// Cluster that is named for it.
    cluster: Option<String>,
}

impl LaunchActions<'_> {
    /// Submits a launch to Slurm in parts, and returns its id and that of the job. What every part
    /// would fail with is refused.
    pub fn submit_launch(
        self,
        request: &LaunchRequest,
        options: SplitOptions,
    ) -> Result<(String, String), AppError> {
        let open = self.app.require_folder()?;
        let dir = &open.flow.roots.output_dir;
        let count = options.parts.max(1);
        // One part stands for all: to plan all of them would read too much.
        let part = Some(Shard { index: 1, count });
        let prepared = self.prepare_launch(&LaunchRequest { shard: part, ..request.clone() })?;
        let (total, what) = prepared.size();
        if total == 0 {
            let error = AppError::new(Code::BadRequest, "Nothing to run: no task is chosen.");
            return Err(error.hint("Add a suite to the input directory, or choose other tasks."));
        }
        prepared.check(self.app, &open, (request, options.confirmed))?;
        let budget = prepared.budget(request)?;
        disk::make_root(dir).map_err(|why| unkept(&why))?;
        let submission = Submission {
            what: what.to_owned(),
            total,
            at_once: options.at_once,
            budget,
            ..Submission::new(new_launch_id(), count, request.clone())
        };
        let launch = submission.launch.clone();
        let _lock = lock(dir, &launch)?;
        let batch = Batch {
            submission,
            before: None,
            parts: format!("1-{count}"),
            share: budget.map(|budget| budget / f64::from(count)),
            confirmed: options.confirmed,
            cluster: slurm::chosen_cluster(),
        };
        Ok((launch, self.hand_over(&open, batch)?))
    }

    /// Submits the parts of a launch that are not complete and neither run nor wait. They share what
    /// is left of the budget, or of `max_cost`, after what was spent and what other parts may still
    /// spend. Targets of attacks are confirmed anew, unless this user confirmed them before: records
    /// may come from others. Returns the job and the parts.
    pub fn submit_again(
        self,
        id: &str,
        max_cost: Option<f64>,
        confirmed: bool,
    ) -> Result<(String, String), AppError> {
        let open = self.app.require_folder()?;
        let dir = &open.flow.roots.output_dir;
        let none = || no_launch(id);
        self.split_files(&open)?.remove(id).ok_or_else(none)?;
        // Files and queue are read under the lock, so that nothing is submitted twice.
        let _lock = lock(dir, id)?;
        let mut files = self.split_files(&open)?.remove(id).ok_or_else(none)?;
        let before = submitted(&files)?;
        let mut submission = before.clone();
        if max_cost.is_some() {
            submission.request.max_cost = max_cost;
            submission.budget = max_cost;
        }
        files.submission = Some(submission.clone());
        let view = self.look_again(id, &files)?;
        let left: Vec<u32> =
            view.rows.iter().filter(|row| is_left(row, view.state)).map(|row| row.part).collect();
        if left.is_empty() {
            return Err(nothing_left(&view));
        }
        self.check_part(&open, &submission, (left[0], confirmed))?;
        let reserved = files.reserved(&view.rows, &left);
        // Where prices are not known, the budget of touchstone.yaml has no effect.
        let is_bound = submission.request.max_cost.is_some() || view.unpriced == 0;
        let budget = files.budget().filter(|_| is_bound);
        let count = u32::try_from(left.len()).unwrap_or(u32::MAX);
        let share = remaining(budget, files.spent(), reserved)?.map(|rest| rest / f64::from(count));
        let parts = ranges(&left);
        let cluster = files.cluster().map(str::to_owned);
        adopt(&mut submission, &view);
        let before = Some(before);
        let batch = Batch { submission, before, parts: parts.clone(), share, confirmed, cluster };
        Ok((self.hand_over(&open, batch)?, parts))
    }

    /// Fails with what every part would fail with: a key that is missing here, a target that nobody
    /// confirmed. One part stands for all.
    fn check_part(
        self,
        open: &OpenFolder,
        submission: &Submission,
        (index, confirmed): (u32, bool),
    ) -> Result<(), AppError> {
        let part = Some(Shard { index, count: submission.parts });
        let request = LaunchRequest { shard: part, ..submission.request.clone() };
        self.prepare_launch(&request)?.check(self.app, open, (&request, confirmed))
    }

    /// Returns the view of a launch with what the scheduler says now. Fails if it says nothing.
    fn look_again(self, id: &str, files: &SplitFiles) -> Result<SplitLaunch, AppError> {
        let scheduler = self.app.inner.splits.ask(BTreeSet::from([job_query(id, files)]));
        if scheduler.tasks.is_none() {
            let note = scheduler.note.unwrap_or_default();
            let message = format!("Nothing was submitted, because parts may still wait. {note}");
            return Err(AppError::new(Code::Failed, message)
                .hint("Submit on a machine of the cluster that has `squeue` and `sbatch`."));
        }
        Ok(files.view(id, &scheduler, clock::now_ms()))
    }

    /// Records a submission, hands the parts to Slurm and records the job.
    fn hand_over(self, open: &OpenFolder, batch: Batch) -> Result<String, AppError> {
        let roots = &open.flow.roots;
        let dir = &roots.output_dir;
        let script = script(open, &batch)?;
        let Batch { mut submission, before, parts, share, cluster, .. } = batch;
        let mut job = SubmittedJob {
            scheduler: "slurm".to_owned(),
            id: String::new(),
            cluster: cluster.clone(),
            home: self.app.inner.splits.home(),
            user: Some(rustix::process::getuid().as_raw()),
            share,
            parts: parts.clone(),
            at_ms: clock::now_ms(),
            host: host(),
        };
        submission.jobs.push(job.clone());
        // Before the job, so that a full disk costs nothing, and what is submitted is never unknown.
        submissions::keep(dir, &submission).map_err(|why| unkept(&why))?;
        let submitted = submissions::make_output_folder(dir, &submission.launch)
            .map_err(|why| NotSubmitted::Refused(unkept(&why)))
            .and_then(|folder| {
                // In names of files, Slurm replaces `%` and letters.
                let folder = folder.to_string_lossy().replace('%', "%%");
                let output = PathBuf::from(folder).join("%A_%a.log").display().to_string();
                let options = script.slurm_options(&parts, &output);
                slurm::submit(&script.slurm(&parts), &options, cluster.as_deref(), &roots.folder)
            });
        match submitted {
            Ok(new) => {
                job.cluster = new.cluster.or(job.cluster);
                job.id = new.id;
            }
            Err(NotSubmitted::Refused(error)) => {
                take_back(dir, &submission.launch, before.as_ref());
                return Err(error);
            }
            Err(NotSubmitted::Unknown(why)) => {
                job.id = find(&submission, cluster).ok_or_else(|| unknown(&submission, &why))?;
            }
        }
        let id = job.id.clone();
        submission.jobs.pop();
        submission.jobs.push(job);
        if let Err(why) = submissions::keep(dir, &submission) {
            let message = format!("Job {id} was submitted, and that could not be recorded: {why}");
            return Err(AppError::new(Code::Failed, message)
                .hint("It goes on. `touchstone submit --status FOLDER` finds it by its name."));
        }
        self.app.inner.splits.forget();
        self.app.inner.bulletin.post(Stale::Launches);
        Ok(id)
    }
}

fn script(open: &OpenFolder, batch: &Batch) -> Result<SplitScript, AppError> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("A script cannot name {}: it is no text.", path.display());
            AppError::new(Code::BadRequest, message).hint("Rename it.")
        })
    };
    let program = std::env::current_exe().ok().filter(|program| program.is_file());
    let program = program.ok_or_else(|| {
        let message = "The program that runs here was moved or replaced, so parts could not start it. Nothing was submitted.";
        AppError::new(Code::Failed, message).hint("Restart Touchstone, and submit again.")
    })?;
    let (roots, submission) = (&open.flow.roots, &batch.submission);
    // Each part divides by the number of all parts.
    let max_cost = batch.share.map(|share| share * f64::from(submission.parts));
    Ok(SplitScript {
        launch: submission.launch.clone(),
        program: text(&program)?,
        folder: text(&roots.folder)?,
        input_dir: roots.input_dir.as_deref().map(text).transpose()?,
        output_dir: Some(text(&roots.output_dir)?),
        request: LaunchRequest { max_cost, ..submission.request.clone() },
        parts: submission.parts,
        at_once: submission.at_once,
        confirmed: batch.confirmed,
    })
}

/// Locks the record of a launch.
fn lock(dir: &Path, launch: &str) -> Result<RunLock, AppError> {
    RunLock::take(dir, &format!("submissions/{launch}.yaml")).map_err(|error| match error {
        LockError::Held { by } => AppError::new(
            Code::Failed,
            format!("Another process submits parts of this launch right now ({by})."),
        )
        .hint("`touchstone submit --status FOLDER` shows what it submitted."),
        error => AppError::new(Code::Failed, format!("Nothing was submitted: {error}")),
    })
}

/// Returns the record of a launch that can be submitted again.
fn submitted(files: &SplitFiles) -> Result<Submission, AppError> {
    let Some(submission) = files.submission.clone() else {
        let message = "This launch was not submitted by Touchstone, so it cannot do so again.";
        return Err(AppError::new(Code::BadRequest, message).hint(BY_HAND));
    };
    if submission.request.start_over {
        let message = "This launch runs everything again from the start, so what is left of it cannot be told from files.";
        return Err(AppError::new(Code::BadRequest, message)
            .hint("Submit a new launch without --force: it runs what is incomplete."));
    }
    Ok(submission)
}

/// Records the number of a job that the queue knows and `sbatch` did not say.
fn adopt(submission: &mut Submission, view: &SplitLaunch) {
    let known: BTreeSet<String> = submission.jobs.iter().map(|job| job.id.clone()).collect();
    let mut found = view.jobs.iter().map(|job| &job.id).filter(|id| !known.contains(*id));
    let nameless = submission.jobs.iter_mut().filter(|job| job.id.is_empty());
    for (job, id) in nameless.zip(&mut found) {
        job.id.clone_from(id);
    }
}

/// Looks for the newest job in the queue by its name, which only this launch has.
fn find(submission: &Submission, cluster: Option<String>) -> Option<String> {
    let name = job_name(&submission.launch);
    let wanted = BTreeSet::from([JobQuery { cluster, name: name.clone() }]);
    let is_new = |id: &String| submission.jobs.iter().all(|job| job.id != *id);
    (0..LOOKS).find_map(|look| {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        slurm::tasks(&wanted).ok()?.jobs(&name).into_iter().rev().find(is_new)
    })
}

/// Restores the record after a refusal.
fn take_back(dir: &Path, launch: &str, before: Option<&Submission>) {
    match before {
        None => submissions::remove(dir, launch),
        Some(before) => {
            if let Err(error) = submissions::keep(dir, before) {
                tracing::warn!(%error, "the record of a launch names a job that was refused");
            }
        }
    }
}

fn unknown(submission: &Submission, why: &str) -> AppError {
    let launch = &submission.launch;
    let message = format!("It is not known whether Slurm took the job: {why}.");
    AppError::new(Code::Failed, message).hint(format!(
        "Do not launch anew. `touchstone submit --status={launch} FOLDER` finds the job by its name; \
         if it is not in the queue after a minute, --again={launch} submits it.",
    ))
}

fn nothing_left(view: &SplitLaunch) -> AppError {
    let message = match view.waiting + view.running {
        0 => "Nothing is left to submit: all parts are complete.".to_owned(),
        1 => "Nothing is left to submit: 1 part still runs or waits.".to_owned(),
        busy => format!("Nothing is left to submit: {busy} parts still run or wait."),
    };
    let hint = "`touchstone submit --status FOLDER` says of each what it waits for.";
    AppError::new(Code::BadRequest, message).hint(hint)
}

/// Returns what is left of a budget. Fails if nothing is.
fn remaining(most: Option<f64>, spent: f64, reserved: f64) -> Result<Option<f64>, AppError> {
    let Some(most) = most else { return Ok(None) };
    let rest = most - spent - reserved;
    // Shares that do not divide evenly leave less than this.
    if rest <= most * 1e-9 {
        let others = if reserved > 0.0 {
            format!(", and parts that run or wait may spend ${reserved:.2}")
        } else {
            String::new()
        };
        let message = format!("${spent:.2} of ${most} is spent{others}, so nothing was submitted.");
        return Err(AppError::new(Code::BadRequest, message).hint(
            "Type `touchstone submit --again --max-cost DOLLARS FOLDER` with a higher budget for the whole launch.",
        ));
    }
    Ok(Some(rest))
}

fn unkept(why: &disk::DiskError) -> AppError {
    AppError::new(
        Code::Failed,
        format!("The submission could not be recorded, so nothing was submitted: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_what_was_not_spent_and_what_others_may_not_spend() {
        assert_eq!(remaining(None, 5.0, 1.0).unwrap(), None);
        assert_eq!(remaining(Some(5.0), 2.0, 1.0).unwrap(), Some(2.0));
        let error = remaining(Some(5.0), 5.0, 0.0).unwrap_err();
        assert!(error.message.contains("$5.00 of $5 is spent, so"), "{error}");
        let error = remaining(Some(5.0), 2.0, 3.0).unwrap_err();
        assert!(error.message.contains("parts that run or wait may spend $3.00"), "{error}");
    }
}
