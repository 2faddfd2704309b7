//! **Pure.** Joins what files and the scheduler say of split launches: submissions, the logs of parts,
//! and tasks of jobs. Files suffice; the scheduler adds why a part waits, and that it is gone.
use super::slurm::{Activity, Task, Tasks};
use super::submit_script::job_name;
use std::collections::{BTreeMap, HashMap};
use touchstone_api::{SplitJob, SplitLaunch, SplitPart, SplitPartState, SplitState};
use touchstone_runner::part_logs::PartLog;
use touchstone_runner::submissions::{Submission, SubmittedJob, is_launch_id};

/// Maximum number of parts that are believed.
const MOST_PARTS: u32 = 100_000;
/// Time without any event after which parts that have not begun are not expected any more, unless the
/// scheduler knows them, in milliseconds.
const ABANDONED_MS: i64 = 600_000;
/// Time after which a part that its scheduler does not know is lost, in milliseconds.
const PATIENCE_MS: i64 = 60_000;

/// Files of one split launch.
#[derive(Debug, Default)]
pub(crate) struct SplitFiles {
    pub(crate) submission: Option<Submission>,
    /// Logs of each part, the newest first.
    logs: HashMap<u32, Vec<PartLog>>,
    /// Any header of the newest start.
    newest: Option<PartLog>,
}

/// What the scheduler said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scheduler {
    /// Its tasks; none if it was not asked or did not answer.
    pub(crate) tasks: Option<std::sync::Arc<Tasks>>,
    /// Why it is not known, as a sentence.
    pub(crate) note: Option<String>,
    /// Who asked.
    pub(crate) asker: Asker,
}

/// Who asks a scheduler, on which the answer depends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Asker {
    /// Machine.
    pub(crate) host: String,
    /// Cluster of the machine, if it is known.
    pub(crate) home: Option<String>,
    /// Number of the user.
    pub(crate) user: Option<u32>,
}

impl Scheduler {
    /// Returns true if a job that is not in the answer is gone: other clusters do not list it, and
    /// some hide the jobs of others.
    fn proves_absence(&self, job: &SubmittedJob) -> bool {
        let asker = &self.asker;
        let is_user = job.user.is_none() || job.user == asker.user;
        let is_home = job.home.is_some() && job.home == asker.home;
        let is_cluster = job.cluster.is_some() || is_home || job.host == asker.host;
        self.tasks.is_some() && is_user && is_cluster
    }
}

/// Groups logs and submissions by launch.
pub(crate) fn group(
    submissions: Vec<Submission>,
    logs: Vec<PartLog>,
) -> BTreeMap<String, SplitFiles> {
    let mut launches: BTreeMap<String, SplitFiles> = BTreeMap::new();
    for submission in submissions.into_iter().filter(|one| one.parts <= MOST_PARTS) {
        let files = launches.entry(submission.launch.clone()).or_default();
        files.submission = Some(submission);
    }
    let is_valid = |log: &PartLog| {
        let header = &log.header;
        is_launch_id(&header.launch)
            && header.parts <= MOST_PARTS
            && (1..=header.parts).contains(&header.part)
    };
    for log in logs.into_iter().filter(is_valid) {
        let files = launches.entry(log.header.launch.clone()).or_default();
        if files.newest.as_ref().is_none_or(|newest| newest.header.at_ms < log.header.at_ms) {
            files.newest = Some(log.clone());
        }
        files.logs.entry(log.header.part).or_default().push(log);
    }
    for files in launches.values_mut() {
        for logs in files.logs.values_mut() {
            logs.sort_by_key(|log| std::cmp::Reverse(log.header.at_ms));
        }
    }
    launches
}

impl SplitFiles {
    /// Returns the number of parts. A launch that was submitted has as many as it says.
    pub(crate) fn parts(&self) -> u32 {
        let header = self.newest.as_ref().map(|log| log.header.parts);
        self.submission.as_ref().map(|one| one.parts).or(header).unwrap_or(0)
    }

    /// Returns the jobs of Slurm that run parts, the newest last.
    pub(crate) fn slurm_jobs(&self) -> Vec<String> {
        let submitted = self.submission.iter().flat_map(|one| &one.jobs);
        let submitted = submitted.filter(|job| job.scheduler == "slurm").map(|job| &job.id);
        let logged = self.logs.values().flatten().filter_map(|log| log.header.job.as_ref());
        let logged = logged.filter(|job| job.scheduler == "slurm").map(|job| &job.id);
        let number = |id: &String| id.parse::<u64>().ok();
        let jobs: std::collections::BTreeSet<u64> =
            submitted.chain(logged).filter_map(number).collect();
        jobs.into_iter().map(|job| job.to_string()).collect()
    }

    /// Returns the cluster that was named for the jobs.
    pub(crate) fn cluster(&self) -> Option<&str> {
        self.submission.as_ref()?.jobs.last()?.cluster.as_deref()
    }

    /// Returns the newest job that was submitted for a part.
    fn job_of(&self, part: u32) -> Option<&SubmittedJob> {
        self.submission.as_ref()?.jobs.iter().rev().find(|job| job.has_part(part))
    }

    /// Returns true if a part may still run or begin, as far as files tell.
    pub(crate) fn may_be_active(&self) -> bool {
        let is_over = |part: u32| {
            self.logs.get(&part).and_then(|logs| logs.first()).is_some_and(|log| log.sum.finished)
        };
        !(1..=self.parts()).all(is_over) || self.is_newer_job()
    }

    /// Returns true if a job was submitted after every start of a part.
    fn is_newer_job(&self) -> bool {
        let job = self.submission.as_ref().and_then(|one| one.jobs.last());
        job.is_some_and(|job| self.newest.as_ref().is_none_or(|log| log.header.at_ms < job.at_ms))
    }

    /// Returns the dollars that were spent by all parts.
    pub(crate) fn spent(&self) -> f64 {
        self.logs.values().flatten().map(|log| log.sum.cost).fold(0.0, |sum, cost| sum + cost)
    }

    /// Returns the budget of the whole launch in dollars.
    pub(crate) fn budget(&self) -> Option<f64> {
        let submission = self.submission.as_ref();
        submission
            .and_then(|one| one.budget.or(one.request.max_cost))
            // The header of a part that was submitted again holds what was left of it.
            .or_else(|| self.newest.as_ref()?.header.max_cost)
    }

    /// Returns the dollars that parts which run or wait may still spend.
    pub(crate) fn reserved(&self, rows: &[SplitPart], left: &[u32]) -> f64 {
        use SplitPartState::{Running, Stopping, Waiting};
        let is_busy = |row: &&SplitPart| {
            matches!(row.state, Running | Stopping | Waiting) && !left.contains(&row.part)
        };
        let equal = self.budget().map(|most| most / f64::from(self.parts().max(1)));
        let reserved = |row: &SplitPart| {
            let job = self.job_of(row.part);
            let share = job.and_then(|job| job.share).or(equal).unwrap_or(0.0);
            // Each start of the same task spends from one share.
            let of_job =
                |log: &&PartLog| log.header.job.as_ref().map(|of| &of.id) == job.map(|job| &job.id);
            let logs = self.logs.get(&row.part).into_iter().flatten().filter(of_job);
            (share - logs.map(|log| log.sum.cost).fold(0.0, |sum, cost| sum + cost)).max(0.0)
        };
        rows.iter().filter(is_busy).map(reserved).fold(0.0, |sum, cost| sum + cost)
    }

    /// Returns the view of the launch, with all parts.
    pub(crate) fn view(&self, id: &str, scheduler: &Scheduler, now_ms: i64) -> SplitLaunch {
        let tasks = scheduler.tasks.as_deref();
        let rows: Vec<SplitPart> =
            (1..=self.parts()).map(|part| self.part(id, part, scheduler, now_ms)).collect();
        let count = |state| rows.iter().filter(|row| row.state == state).count() as u64;
        let sum = |pick: fn(&SplitPart) -> u64| add(rows.iter().map(pick));
        let (done, failed, total) = (sum(|row| row.done), sum(|row| row.failed), self.total(&rows));
        let is_expected = || {
            self.is_recent(now_ms) || self.is_queued(id, tasks) || self.is_hidden(&rows, scheduler)
        };
        let state = state_of_launch(&rows, done >= total && failed == 0, is_expected);
        let is_over = matches!(state, SplitState::Unfinished | SplitState::Done);
        let logs = || self.logs.values().flatten();
        let latest = self.logs.values().filter_map(|logs| planned(logs));
        let submission = self.submission.as_ref();
        let submitted = submission.and_then(|one| one.jobs.first()).map(|job| job.at_ms);
        let what = submission.map(|one| one.what.clone()).filter(|what| !what.is_empty());
        let mut jobs = self.slurm_jobs();
        // A job whose number could not be recorded is found by its name.
        let found = tasks.map(|tasks| tasks.jobs(&job_name(id))).unwrap_or_default();
        jobs.extend(found.into_iter().filter(|job| !self.slurm_jobs().contains(job)));
        let slurm = |id: String| SplitJob { scheduler: "slurm".to_owned(), id };
        SplitLaunch {
            id: id.to_owned(),
            what: what
                .or_else(|| self.newest.as_ref().map(|log| log.header.what.clone()))
                .unwrap_or_default(),
            began_ms: logs().map(|log| log.header.at_ms).chain(submitted).min().unwrap_or(now_ms),
            ended_ms: self.last_ms().filter(|_| is_over),
            state,
            parts: rows.len() as u64,
            waiting: count(SplitPartState::Waiting),
            running: count(SplitPartState::Running) + count(SplitPartState::Stopping),
            ended: count(SplitPartState::Ended),
            lost: count(SplitPartState::Lost),
            total,
            done,
            failed,
            left_out: add(latest.map(|log| log.header.left_out)),
            at_work: sum(|row| row.at_work),
            tokens: logs().filter_map(|log| log.sum.tokens).reduce(u64::saturating_add),
            cost: self.spent(),
            unpriced: add(logs().map(|log| log.sum.unpriced)),
            max_cost: self.budget(),
            jobs: jobs.into_iter().map(slurm).collect(),
            note: scheduler.note.clone(),
            may_stop: false,
            how_to_stop: String::new(),
            may_submit: false,
            how_to_submit: None,
            rows,
        }
    }

    /// Returns the number of runs. Parts that have not begun do not say how many they have, but all
    /// others say how many there are.
    fn total(&self, rows: &[SplitPart]) -> u64 {
        let known = add(rows.iter().filter_map(|row| row.total));
        if rows.iter().all(|row| row.total.is_some()) {
            return known;
        }
        let said = self.newest.as_ref().map(|log| log.header.total);
        said.or(self.submission.as_ref().map(|one| one.total)).unwrap_or(0).max(known)
    }

    /// Returns the time of the last event.
    fn last_ms(&self) -> Option<i64> {
        self.logs.values().flatten().map(|log| log.sum.at_ms.max(log.header.at_ms)).max()
    }

    /// Returns true if something happened lately.
    fn is_recent(&self, now_ms: i64) -> bool {
        let jobs = self.submission.iter().flat_map(|one| &one.jobs).map(|job| job.at_ms);
        self.last_ms().into_iter().chain(jobs).any(|at| now_ms.saturating_sub(at) < ABANDONED_MS)
    }

    /// Returns true if the scheduler knows a part that waits.
    fn is_queued(&self, id: &str, tasks: Option<&Tasks>) -> bool {
        let name = job_name(id);
        let waits = |task: &Task| task.activity == Activity::Waiting;
        let newest = |part| tasks.and_then(|tasks| tasks.newest(&name, part));
        (1..=self.parts()).filter_map(newest).any(waits)
    }

    /// Returns true if a part waits in a job of which the scheduler does not tell here.
    fn is_hidden(&self, rows: &[SplitPart], scheduler: &Scheduler) -> bool {
        let waits = |row: &&SplitPart| row.state == SplitPartState::Waiting;
        let jobs = rows.iter().filter(waits).filter_map(|row| self.job_of(row.part));
        jobs.into_iter().any(|job| !scheduler.proves_absence(job))
    }

    fn part(&self, id: &str, part: u32, scheduler: &Scheduler, now_ms: i64) -> SplitPart {
        let (name, tasks) = (job_name(id), scheduler.tasks.as_deref());
        let task = tasks.and_then(|tasks| tasks.newest(&name, part));
        let none = Vec::new();
        let logs = self.logs.get(&part).unwrap_or(&none);
        let latest = logs.first();
        let plan = planned(logs);
        let (state, word) = match latest {
            Some(log) if task.is_some() || !self.is_submitted_after(log) => state_of(log, task),
            _ => self.unbegun(part, task, scheduler, now_ms),
        };
        let job = latest.and_then(|log| log.header.job.as_ref());
        let job = job.map(|job| (job.id.clone(), job.task));
        let job = task.map(|task| (task.job.clone(), part)).or(job);
        let why = latest.and_then(|log| {
            let sum = &log.sum;
            [&log.header.why, &sum.stopping, &sum.first_error].into_iter().flatten().next().cloned()
        });
        SplitPart {
            part,
            state,
            word,
            host: latest.map(|log| log.header.host.clone()).filter(|host| !host.is_empty()),
            job: job.map(|(id, number)| format!("{id}_{number}")),
            total: plan.map(|log| {
                let header = &log.header;
                header.owed.saturating_add(header.complete).saturating_add(header.left_out)
            }),
            done: plan.map_or(0, |log| log.header.complete.saturating_add(log.sum.done)),
            failed: plan.map_or(0, |log| log.sum.failed),
            at_work: latest
                .filter(|_| matches!(state, SplitPartState::Running | SplitPartState::Stopping))
                .map_or(0, |log| log.sum.running.len() as u64),
            cost: logs.iter().map(|log| log.sum.cost).fold(0.0, |sum, cost| sum + cost),
            unpriced: logs.iter().map(|log| log.sum.unpriced).sum(),
            starts: u32::try_from(logs.len()).unwrap_or(u32::MAX),
            began_ms: latest.map(|log| log.header.at_ms),
            last_ms: latest.map(|log| log.sum.at_ms.max(log.header.at_ms)),
            why,
        }
    }

    /// Returns true if a part was submitted again after this start.
    fn is_submitted_after(&self, log: &PartLog) -> bool {
        let of = log.header.job.as_ref().map(|job| &job.id);
        self.job_of(log.header.part).is_some_and(|job| {
            let is_over = !log.lives || log.sum.finished;
            is_over && job.at_ms > log.header.at_ms && of != Some(&job.id)
        })
    }

    /// Returns the state of a part that has not begun.
    fn unbegun(
        &self,
        part: u32,
        task: Option<&Task>,
        scheduler: &Scheduler,
        now_ms: i64,
    ) -> (SplitPartState, String) {
        use SplitPartState::{Ended, Lost, Running, Waiting};
        if let Some(task) = task {
            return match task.activity {
                Activity::Waiting => (Waiting, task.word.clone()),
                Activity::Running => (Running, "is starting".to_owned()),
                Activity::Ended => (Lost, "ended before it began to run".to_owned()),
                Activity::Killed => (Lost, task.word.clone()),
                Activity::Cancelled => (Ended, task.word.clone()),
            };
        }
        let Some(job) = self.job_of(part) else { return (Waiting, "has not begun".to_owned()) };
        let is_old = now_ms.saturating_sub(job.at_ms) > PATIENCE_MS;
        let (state, word) = match &scheduler.tasks {
            Some(tasks) if tasks.is_cancelled(&job.id) => (Ended, "was cancelled"),
            Some(_) if is_old && scheduler.proves_absence(job) => match job.id.as_str() {
                "" => (Lost, "was not submitted: the scheduler does not know it"),
                _ => (Lost, "the scheduler does not know it any more"),
            },
            Some(_) if is_old => {
                let word = format!("is not known to Slurm here; it was submitted on {}", job.host);
                return (Waiting, word);
            }
            _ if job.id.is_empty() => (Waiting, "may have been submitted"),
            _ => (Waiting, "has not begun"),
        };
        (state, word.to_owned())
    }
}

fn add(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Returns the state of a launch with these parts.
fn state_of_launch(
    rows: &[SplitPart],
    is_complete: bool,
    is_expected: impl Fn() -> bool,
) -> SplitState {
    let has = |state| rows.iter().any(|row| row.state == state);
    match () {
        () if has(SplitPartState::Running) => SplitState::Running,
        () if has(SplitPartState::Stopping) => SplitState::Stopping,
        () if has(SplitPartState::Waiting) && is_expected() => SplitState::Waiting,
        () if is_complete => SplitState::Done,
        () => SplitState::Unfinished,
    }
}

/// Returns the newest log of a part that got as far as a plan.
fn planned(logs: &[PartLog]) -> Option<&PartLog> {
    let has_plan = |log: &&PartLog| {
        let header = &log.header;
        header.why.is_none() || (header.owed | header.complete | header.left_out) > 0
    };
    logs.iter().find(has_plan).or(logs.first())
}

/// Returns the state of a part from its newest log and the newest task of the scheduler.
fn state_of(log: &PartLog, task: Option<&Task>) -> (SplitPartState, String) {
    use SplitPartState::{Ended, Lost, Running, Stopping, Waiting};
    let job = log.header.job.as_ref().map(|job| job.id.as_str());
    let is_newer = task.is_some_and(|task| job != Some(task.job.as_str()));
    let left = log.sum.failed | log.header.left_out;
    let over = match () {
        () if !log.sum.finished => None,
        () if log.header.why.is_some() => Some("made no runs"),
        () if log.sum.stopping.is_some() => Some("stopped"),
        () if left > 0 => Some("ended, with runs left"),
        () => Some("ended"),
    };
    match (task, over) {
        (Some(task), _) if task.activity == Activity::Waiting => (Waiting, task.word.clone()),
        (Some(task), _) if is_newer && task.activity == Activity::Running => {
            (Running, "is starting".to_owned())
        }
        // The scheduler makes room or replaces a machine, and starts the same task again.
        (Some(task), Some("stopped")) if task.activity == Activity::Running => {
            (Running, "is ending or starts again".to_owned())
        }
        (Some(task), None) if task.activity == Activity::Running && !log.lives => {
            (Running, "is starting again".to_owned())
        }
        (_, Some(word)) => (Ended, word.to_owned()),
        (Some(task), None)
            if !is_newer && matches!(task.activity, Activity::Killed | Activity::Cancelled) =>
        {
            (Lost, task.word.clone())
        }
        (Some(task), None) if !is_newer && task.activity == Activity::Ended => {
            (Lost, "its process is gone".to_owned())
        }
        (_, None) if !log.lives => (Lost, "its process is gone".to_owned()),
        (_, None) if log.sum.stopping.is_some() => {
            (Stopping, "finishes what is in flight".to_owned())
        }
        (_, None) => (Running, "runs".to_owned()),
    }
}

#[cfg(test)]
mod tests;
