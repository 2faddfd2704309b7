//! Starts launches: plans of a request, and runs of an earlier launch again.
use super::launch_checks::{by_cause, cannot_start, check_inputs, failed, sentence};
use super::launch_plan::{PreparedLaunch, left, refuse, rules};
use super::launch_prices::parts_share;
use super::launch_registry::{id_of, unfinished};
use super::omitted_runs::left_out;
use super::part_origin::PartOrigin;
use super::{LaunchActions, revision};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::folder::segmenting;
use crate::sensitive::sensitive_marks;
use crate::settings::setup::setup_fault;
use std::sync::Arc;
use touchstone_api::{Act, Blocker, LaunchRequest, Launched, PlannedRun, Stale};
use touchstone_runner::execute::Job;
use touchstone_runner::launch::{Launch, Listener, RunEventSender};
use touchstone_runner::part::PartHeader;
use touchstone_runner::plan::Plan;
use touchstone_runner::setup::Setup;
use touchstone_runner::{disk, lock, log};
use touchstone_store::roots::{FileId, Root};

/// Listeners of a launch, and notes sent in addition to run events.
#[derive(Default)]
pub(super) struct LaunchListeners {
    listeners: Vec<Listener>,
    notes: Vec<String>,
    /// First line of the log, if this is a part of a split launch.
    part: Option<PartHeader>,
    /// Dollars that earlier starts of the part spent of its share.
    spent: f64,
    /// Is told after the log, so that the log never waits for it.
    last: Option<Listener>,
}

impl LaunchListeners {
    /// Listeners, with a note that is sent first.
    pub(super) fn noting(listeners: Vec<Listener>, note: String) -> Self {
        Self { listeners, notes: vec![note], ..Self::default() }
    }
}

impl From<Vec<Listener>> for LaunchListeners {
    fn from(listeners: Vec<Listener>) -> Self {
        Self { listeners, ..Self::default() }
    }
}

impl LaunchActions<'_> {
    /// Starts the launch of a request.
    pub fn start_launch(self, request: &LaunchRequest) -> Result<Launched, AppError> {
        self.start_launch_with(request, Vec::new())
    }

    /// Like [`Self::start_launch`], with listeners for every event.
    pub fn start_launch_with(
        self,
        request: &LaunchRequest,
        listeners: Vec<Listener>,
    ) -> Result<Launched, AppError> {
        self.app.require_folder()?.check_directories_exist()?;
        let prepared = self.prepare_launch(request)?;
        self.start_prepared(request, prepared, None, listeners).map(|(launched, _)| launched)
    }

    /// Starts a plan, and also returns the incomplete runs that are not made, with reasons. A part of
    /// a split launch is logged even if it makes no runs.
    pub fn start_prepared(
        self,
        request: &LaunchRequest,
        prepared: PreparedLaunch,
        part: Option<&PartOrigin>,
        listeners: Vec<Listener>,
    ) -> Result<(Launched, Vec<PlannedRun>), AppError> {
        let open = self.app.require_folder()?;
        let header = part.map(|origin| prepared.header(request, origin));
        let spent = part.map_or(Ok(0.0), |origin| origin.spent_before(&open.flow.roots.output_dir));
        let spent = spent.map_err(|why| {
            let message = format!("What this part spent before could not be read: {why}");
            AppError::new(Code::Failed, message)
                .hint("Make the folder readable, and start it again.")
        })?;
        let listeners = LaunchListeners::from(listeners);
        let last = header.as_ref().map(|part| segmenting::listener(Arc::clone(&open), part.part));
        let telling = LaunchListeners { part: header.clone(), spent, last, ..listeners };
        let started = self.start_plan(&open, request, prepared, telling);
        if let (Err(error), Some(mut header)) = (&started, header) {
            let is_idle = header.owed == 0 && header.left_out == 0;
            header.why = (!is_idle).then(|| error.to_string());
            let id = self.app.inner.launches.next_id();
            log::note_idle_part(&open.flow.roots.output_dir, &id, &header);
        }
        started
    }

    fn start_plan(
        self,
        open: &OpenFolder,
        request: &LaunchRequest,
        prepared: PreparedLaunch,
        mut telling: LaunchListeners,
    ) -> Result<(Launched, Vec<PlannedRun>), AppError> {
        let PreparedLaunch { mut setup, mut plan, .. } = prepared;
        open.check_directories_exist()?;
        if let Some(fault) = setup_fault(&setup) {
            return Err(failed(fault));
        }
        let lacking = self.refuse_blocked(open, &setup, &mut plan);
        if plan.owed.is_empty() && !lacking.is_empty() {
            return Err(cannot_start(&by_cause(&lacking)));
        }
        let budget = check_inputs(open, request, &setup, &plan)?;
        let shards = request.shard.map_or(1, |shard| shard.count.max(1));
        let concurrency = request.concurrency.unwrap_or(setup.rules.concurrency);
        setup.rules.concurrency = parts_share(concurrency, shards);
        // Each machine spends its share at most, because none knows what the others spend.
        setup.rules.max_cost =
            budget.most().map(|most| (most / f64::from(shards) - telling.spent).max(0.0));
        if let Some(refused) =
            plan.skipped.iter().find(|run| run.decision.act == Act::Refused && plan.owed.is_empty())
        {
            let why = &refused.decision.why;
            return Err(AppError::new(
                Code::BadRequest,
                format!("Nothing can be run. {}: {why}", refused.slot.path),
            ));
        }
        for run in &plan.skipped {
            lock::clear_away(&open.flow.roots.output_dir, &run.slot.path);
        }
        let left = left(&plan);
        let rules = rules(request);
        let jobs: Vec<Job> = plan
            .owed
            .into_iter()
            .map(|planned| Job { slot: planned.slot, rules, message: None })
            .collect();
        if let Some(part) = &mut telling.part {
            part.left_out += part.owed - jobs.len() as u64;
            part.owed = jobs.len() as u64;
        }
        Ok((self.begin(open, setup, jobs, telling)?, left))
    }

    /// Launches again the runs of a launch that failed or were stopped.
    pub fn retry_launch(self, id: &str) -> Result<Launched, AppError> {
        let open = self.app.require_folder()?;
        let old = self.app.inner.launches.find(id)?;
        if old.output_dir != open.flow.roots.output_dir {
            let error = AppError::new(Code::BadRequest, "This launch belongs to another folder.");
            return Err(error.hint("Open that folder first."));
        }
        if !old.is_over() {
            let error = AppError::new(Code::BadRequest, "This launch is still in progress.");
            return Err(error.hint("Stop it first, or wait until it is done."));
        }
        let left = unfinished(&old);
        let again = |job: &Job| {
            let begun = *left.get(&job.slot.path)?;
            let mut job = job.clone();
            if begun {
                // The run has restarted since, so it resumes from its current state. Its message
                // was added then, too.
                job.rules.start_over = false;
                job.message = None;
            }
            Some(job)
        };
        let jobs: Vec<Job> = old.jobs.iter().filter_map(again).collect();
        let mut setup = self.app.settings().setup()?;
        setup.user_model = old.user_model.clone().or(setup.user_model);
        let (jobs, left) = self.ready_jobs(&open, &setup, jobs)?;
        setup.rules.max_cost = old.rules.max_cost;
        setup.rules.concurrency = old.rules.concurrency;
        self.begin(
            &open,
            setup,
            jobs,
            LaunchListeners { notes: left, ..LaunchListeners::default() },
        )
    }

    /// Splits jobs into those that can be made here and sentences about the others. A refused run
    /// is not changed on disk. Fails if no job can be made.
    fn ready_jobs(
        self,
        open: &OpenFolder,
        setup: &Setup,
        jobs: Vec<Job>,
    ) -> Result<(Vec<Job>, Vec<String>), AppError> {
        let why = jobs.iter().map(|job| self.unready(open, setup, &job.slot));
        let why: Vec<_> = why.collect();
        let (mut ready, mut refused) = (Vec::new(), Vec::new());
        for (job, why) in jobs.into_iter().zip(why) {
            match why {
                None => ready.push(job),
                Some(why) => refused.push((job.slot.path, why)),
            }
        }
        match refused.first().filter(|_| ready.is_empty()) {
            Some((path, why)) => {
                Err(AppError::new(Code::BadRequest, format!("Nothing can be run. {path}: {why}")))
            }
            None => Ok((ready, left_out(&refused))),
        }
    }

    /// Moves planned runs without the required keys or settings to the skipped ones. Returns the
    /// missing ones for each planned run.
    fn refuse_blocked(
        self,
        open: &OpenFolder,
        setup: &Setup,
        plan: &mut Plan,
    ) -> Vec<Vec<Blocker>> {
        let lacking = self.lacking_of(open, setup, plan.owed.iter().map(|planned| &planned.slot));
        let mut each = lacking.iter();
        refuse(plan, |_| each.next().and_then(|troubles| troubles.first()).map(sentence));
        lacking
    }

    /// Starts these jobs on the runtime of launches.
    pub(super) fn begin(
        self,
        open: &OpenFolder,
        mut setup: Setup,
        jobs: Vec<Job>,
        telling: LaunchListeners,
    ) -> Result<Launched, AppError> {
        open.check_directories_exist()?;
        let LaunchListeners { mut listeners, notes, part, last, .. } = telling;
        if jobs.is_empty() {
            let error = AppError::new(Code::BadRequest, "Nothing to run.");
            return Err(error
                .hint("Run again from the start to replace results; old files are moved aside."));
        }
        self.app.red_team().check_scan(&setup, jobs.iter().map(|job| &job.slot))?;
        let dir = &open.flow.roots.output_dir;
        if !dir.is_dir() && open.is_worker() {
            let message = format!("The output directory {} does not exist.", dir.display());
            return Err(AppError::new(Code::NotFound, message)
                .hint("Mount it on this machine, or create it if nothing has run yet."));
        }
        if !dir.is_dir() {
            // The directory never existed. Registers it now, so that a later loss is detected.
            disk::make_root(dir).map_err(|why| {
                AppError::new(
                    Code::Failed,
                    format!("The output directory could not be created: {why}"),
                )
            })?;
            open.flow.look_at(&FileId::new(Root::Output, ""));
        }
        sensitive_marks::mark_attacks(dir, &jobs)?;
        setup.commit = revision::of_folder(&open.flow.roots.folder, dir);
        let runtime = self.app.inner.launches.runtime()?;
        let run = if let [job] = jobs.as_slice() { Some(id_of(&job.slot.path)) } else { None };
        let id = self.app.inner.launches.next_id();
        let poster = self.app.inner.bulletin.sender();
        listeners.push(Box::new(move |_| poster.post(Stale::Launches)));
        listeners.extend(log::listener(&open.flow.roots.output_dir, &id, part.as_ref()));
        listeners.extend(last);
        let (teller, events) = RunEventSender::new();
        let given_up = self.app.inner.launches.opening();
        let crew = runtime.block_on(
            given_up.run_until_cancelled(self.launch_context(open, setup, &jobs, teller)),
        );
        let crew = crew.ok_or_else(|| {
            AppError::new(Code::Failed, "It was stopped while opening tools, so no run started.")
        })?;
        for note in &notes {
            crew.note(note);
        }
        let crew = Arc::new(crew);
        {
            // Opening the tools took time, so the folder is checked again. The lock prevents
            // opening another folder until the launch is registered.
            let now = self.app.lock();
            if now.as_ref().is_none_or(|now| !std::ptr::eq(now.as_ref(), open)) {
                return Err(AppError::new(
                    Code::NoFolder,
                    "Another folder was opened before the runs began.",
                ));
            }
            let _inside = runtime.enter();
            let launch = Launch::start(id.clone(), crew, jobs, events, listeners);
            self.app.inner.launches.add(Arc::new(launch));
        }
        self.app.inner.bulletin.post(Stale::Launches);
        Ok(Launched { launch: id, run })
    }
}
