//! Generations of the page: each writes a suite in the background, and can be watched and stopped.
//! Owns the jobs; what is asked and written is in `generating`.
use super::SuiteActions;
use super::generating::{GenerateProgress, GenerateRequest, Generated, MOST_TURNS, Source};
use super::generation::MOST_QUERIES;
use super::making_suites::{NewSuitePlace, new_suite};
use crate::error::{AppError, Code};
use crate::jobs::job_handle::{JobCost, JobHandle};
use crate::jobs::job_registry::{BackgroundJob, JobRegistry};
use crate::{App, OpenFolder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use touchstone_api::{
    Blocker, Generation, GenerationOptions, GenerationPlan, GenerationRequest, GenerationView,
    Stale,
};
use touchstone_runner::execute::Paid;
use touchstone_runner::launch::StopTokens;

/// Maximum bytes of a text of the page.
const MOST_BYTES: usize = 1 << 20;
/// Maximum time to wait until the suite that was written is among the tasks.
const UNTIL_LISTED: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(50);

/// Generations since the program started.
pub(crate) type Generations = JobRegistry<Work>;

/// A generation.
pub(crate) struct Work {
    open: Arc<OpenFolder>,
    request: GenerateRequest,
    place: NewSuitePlace,
    max_cost: Option<f64>,
    course: JobHandle<Progress>,
}

/// Progress of a generation.
pub(crate) struct Progress {
    done: u64,
    total: u64,
    waiting: Option<String>,
    written: bool,
    hint: Option<String>,
}

impl SuiteActions<'_> {
    /// Returns what generations can be made with. `may_run` is false for a page that is read-only.
    pub fn generation_options(self, may_run: bool) -> Result<GenerationOptions, AppError> {
        let open = self.app.require_folder()?;
        let setup = self.app.settings().setup_to_look()?;
        let why_not = (!may_run).then(|| Blocker {
            message: "This page is read-only and cannot generate tasks.".to_owned(),
            fix: Some("To allow it, start: touchstone serve --allow-run FOLDER".to_owned()),
        });
        let folder = open.flow.roots.input_dir.as_ref();
        let no_folder = || {
            folder.is_none().then(|| Blocker {
                message: "This folder has no folder of suites.".to_owned(),
                fix: Some(
                    "Create the folder `tasks`, or name one as `input_dir` in touchstone.yaml."
                        .to_owned(),
                ),
            })
        };
        Ok(GenerationOptions {
            models: if may_run { self.app.judging().judges_of(&setup) } else { Vec::new() },
            folder: folder.map(|dir| dir.to_string_lossy().into_owned()),
            most_bytes: MOST_BYTES as u64,
            most_queries: u32::try_from(MOST_QUERIES).unwrap_or(u32::MAX),
            most_turns: MOST_TURNS,
            why_not: why_not.or_else(no_folder),
        })
    }

    /// Returns the estimate of a request of the page. Nothing is sent.
    pub fn plan_page_generation(
        self,
        request: &GenerationRequest,
    ) -> Result<GenerationPlan, AppError> {
        let plan = self.plan_generation(&resolved(request, PathBuf::new())?)?;
        Ok(GenerationPlan {
            requests: plan.requests,
            tokens: plan.tokens,
            cost: plan.cost,
            unbound: plan.unbound,
        })
    }

    /// Starts to write a suite in the background. Fails if there is something with its name, or if
    /// another folder than `folder` is open.
    pub fn start_generation(
        self,
        folder: Option<&str>,
        request: &GenerationRequest,
    ) -> Result<Generation, AppError> {
        let open = self.app.require_folder()?;
        open.check_writable()?;
        let place = new_suite(&open, folder, &request.name)?;
        let request = resolved(request, place.path.clone())?;
        let max_cost = self.check_generation(&request)?.budget.most();
        let id = self.app.inner.launches.next_id();
        let events = (self.app.inner.bulletin.sender(), Stale::Generations);
        let total = request.queries as u64;
        let progress = Progress { done: 0, total, waiting: None, written: false, hint: None };
        let course = JobHandle::new(id.clone(), StopTokens::default(), events, progress);
        let work = Arc::new(Work { open: Arc::clone(&open), request, place, max_cost, course });
        {
            let now = self.app.lock();
            if now.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &open)) {
                let message = "Another folder was opened before the generation began.";
                return Err(AppError::new(Code::NoFolder, message));
            }
            // The replies of a folder are in one journal.
            if self.app.inner.generations.refuse_if_busy().is_err() {
                let message = "Tasks are being generated already.";
                return Err(AppError::new(Code::BadRequest, message)
                    .hint("Wait until that is done, or stop it."));
            }
            self.app.inner.generations.add(Arc::clone(&work));
        }
        let (app, at_work) = (self.app.clone(), Arc::clone(&work));
        let started = std::thread::Builder::new()
            .name("generate".to_owned())
            .spawn(move || at_work.run(&app));
        if started.is_err() {
            work.course.end();
            let message = "No thread is free to generate tasks.";
            return Err(AppError::new(Code::Failed, message).hint("Try again."));
        }
        Ok(Generation { generation: id })
    }

    /// Returns the generations of the open folder since the program started, newest first.
    pub fn generations(self) -> Vec<GenerationView> {
        let Some(open) = self.app.current_folder() else { return Vec::new() };
        let list = self.app.inner.generations.all();
        list.iter().filter(|work| Arc::ptr_eq(&work.open, &open)).map(|work| work.view()).collect()
    }

    /// Stops a generation: the request in flight is completed and stored, and the suite of the
    /// questions that there are is written; `now` cancels the request.
    pub fn stop_generation(self, id: &str, now: bool) -> Result<(), AppError> {
        self.app.inner.generations.find(id)?.course.stop(now, "It was stopped.");
        Ok(())
    }

    /// Waits until a generation is over; returns false on timeout.
    pub fn wait_generation(self, id: &str, timeout: Duration) -> Result<bool, AppError> {
        Ok(self.app.inner.generations.find(id)?.course.wait(timeout))
    }
}

impl Work {
    /// Writes the suite, and ends the job when it is among the tasks.
    fn run(&self, app: &App) {
        self.course.post();
        let stops = &self.course.stops;
        let interrupts =
            || u32::from(stops.soft.is_cancelled()) + u32::from(stops.hard.is_cancelled());
        let generate =
            || app.suites().generate(&self.request, interrupts, |progress| self.record(progress));
        let done = catch_unwind(AssertUnwindSafe(generate)).unwrap_or_else(|_| {
            let message = "An internal error ended this. Please report it.";
            Err(AppError::new(Code::Failed, message))
        });
        match done {
            Ok(generated) => self.written(&generated),
            Err(error) => {
                let mut now = self.course.lock();
                now.why.get_or_insert(error.message);
                now.progress.hint = error.hint;
            }
        }
        self.course.lock().progress.waiting = None;
        self.course.end();
    }

    /// Records progress.
    fn record(&self, heard: GenerateProgress) {
        let mut now = self.course.lock();
        now.progress.waiting = None;
        match heard {
            GenerateProgress::Questions { done, .. } => now.progress.done = done as u64,
            GenerateProgress::Replied(Paid { journaled: true, .. }) => {}
            GenerateProgress::Replied(paid) => {
                let before = now.bill;
                now.bill = JobCost {
                    calls: before.calls + 1,
                    tokens: before.tokens + paid.tokens.unwrap_or(0),
                    cost: before.cost + paid.cost.unwrap_or(0.0),
                    unpriced: before.unpriced || paid.cost.is_none(),
                };
            }
            GenerateProgress::Retrying { seconds, why } => {
                now.progress.waiting = Some(format!("{why} Next attempt in {seconds} s."));
            }
        }
        drop(now);
        self.course.post();
    }

    fn written(&self, generated: &Generated) {
        self.open.flow.look_at(&self.place.file);
        let (flow, task) = (&self.open.flow, self.place.task.as_str());
        let deadline = Instant::now() + UNTIL_LISTED;
        let is_listed = || flow.shelf.tasks().get(task).is_some();
        while !is_listed() && Instant::now() < deadline {
            flow.live.wait(|_| is_listed(), GLANCE);
        }
        let mut now = self.course.lock();
        now.progress.written = true;
        now.progress.done = generated.queries as u64;
        if !generated.ended_early {
            // It is complete, also with fewer questions than wanted.
            now.progress.total = now.progress.done;
        }
        if now.why.is_none() {
            now.why.clone_from(&generated.why);
        }
        now.progress.hint = generated.ended_early.then(|| {
            "Its replies are kept: the same text, model and number of queries under another name pay only for the rest.".to_owned()
        });
    }

    fn view(&self) -> GenerationView {
        let now = self.course.lock();
        let (progress, bill) = (&now.progress, now.bill);
        GenerationView {
            id: self.course.id.clone(),
            task: self.place.task.clone(),
            file: self.place.path.to_string_lossy().into_owned(),
            model: self.request.model.clone(),
            began_ms: self.course.began_ms,
            state: self.course.state(
                now.over,
                if progress.written || !now.over { progress.done } else { 0 },
                progress.total,
            ),
            why: now.why.clone(),
            hint: progress.hint.clone(),
            waiting: progress.waiting.clone(),
            total: progress.total,
            done: progress.done,
            written: progress.written,
            calls: bill.calls,
            tokens: bill.tokens,
            cost: bill.cost,
            unpriced: bill.unpriced,
            max_cost: self.max_cost,
        }
    }
}

impl BackgroundJob for Work {
    type Progress = Progress;
    const WHAT: &'static str = "Tasks are being generated";
    const NAME: &'static str = "generation";

    fn handle(&self) -> &JobHandle<Progress> {
        &self.course
    }
}

/// Converts a request of the page, for a suite at a path.
fn resolved(request: &GenerationRequest, out: PathBuf) -> Result<GenerateRequest, AppError> {
    if request.text.len() > MOST_BYTES {
        let message = "The text is longer than 1 MB.";
        return Err(AppError::new(Code::BadRequest, message)
            .hint("Shorten it, or use the command line: touchstone generate --from FILE"));
    }
    let tasks = request.tasks.iter().map(|task| task.trim()).filter(|task| !task.is_empty());
    Ok(GenerateRequest {
        from: Source::Text {
            name: request.file.clone().unwrap_or_default(),
            text: request.text.clone(),
        },
        model: request.model.clone(),
        queries: request.queries as usize,
        turns: request.turns,
        tasks: tasks.map(str::to_owned).collect(),
        out,
        max_cost: request.max_cost,
        partial: true,
    })
}
