//! Running evaluations: a few rows are evaluated at a time, every reply is stored before it is
//! used, and the results are written when all are complete. Owns the order of these steps. The
//! questions of a row are in `rounds`, the requests in `asking`.
mod asking;
mod result_rows;
mod rounds;

use super::EvaluationActions;
use super::job::evaluation_spec::EvaluationSpec;
use super::job::progress::{Progress, RowOutcome};
use super::job::results::{self, CollectedResults};
use super::job::rounds::{ReplyProblem, Round, combine_rounds};
use super::job::row_inputs::RowInputs;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::events::EventSender;
use crate::jobs::job_handle::JobHandle;
use crate::jobs::job_registry::{BackgroundJob, JobRegistry, catch_panic};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use touchstone_api::{EvaluateAgain, EvaluationView, Stale};
use touchstone_judges::azure::{self, Table};
use touchstone_runner::evaluations::{EvaluationFiles, OutputFile};
use touchstone_runner::event::RunEvent;
use touchstone_runner::execute::LaunchContext;
use touchstone_runner::http::redact::Redactor;
use touchstone_runner::journal::{Journal, Record};
use touchstone_runner::launch::StopTokens;
use touchstone_runner::spec::Model;
use touchstone_runner::tools::python::PythonTool;
use touchstone_store::roots::{FileId, Root};
use touchstone_store::{layouts, run_of_file};

/// Evaluations since the program started.
pub(crate) type Evaluations = JobRegistry<Work>;

/// Maximum number of concurrent programs; each may use a processor and its memory limit.
const PROGRAMS: usize = 2;

/// Parameters of an evaluation.
pub(super) struct Job {
    /// Displayed path of the data file.
    pub(super) data: String,
    /// Number of rows. The rows themselves are only held while the evaluation runs.
    pub(super) rows: usize,
    pub(super) wish: EvaluationSpec,
    /// Results file; `None` if none was given.
    pub(super) place: Option<OutputFile>,
    /// Displayed path of the results file.
    pub(super) shown: Option<String>,
    pub(super) filter: Option<String>,
    pub(super) replace: bool,
    /// Target program and arguments, called for each row; empty for none.
    pub(super) target: Vec<String>,
    /// Redacts secrets in target output.
    pub(super) redactor: Redactor,
    pub(super) max_cost: Option<f64>,
    /// Replies that are requested again although they were paid for.
    pub(super) again: EvaluateAgain,
    /// Notes for the user, as sentences.
    pub(super) notes: Vec<String>,
    /// Serialized request, stored for resuming until the results are complete; `None` if it is not
    /// resumable.
    pub(super) begun: Option<Vec<u8>>,
}

/// Models to call, if needed.
#[derive(Default)]
pub(super) struct Models {
    /// The judge model.
    pub(super) judge: Option<Model>,
    /// The embedding model.
    pub(super) embedder: Option<Model>,
}

/// Context for model requests.
pub(super) struct Asking {
    pub(super) crew: Arc<LaunchContext>,
    pub(super) models: Models,
}

/// An evaluation.
pub(crate) struct Work {
    open: Option<Arc<OpenFolder>>,
    job: Job,
    asking: Option<Asking>,
    programs: Option<PythonTool>,
    program_seats: Semaphore,
    /// Lock on the results file while the evaluation runs, with the journal of replies and target
    /// outputs.
    bench: Mutex<Option<EvaluationFiles>>,
    course: JobHandle<Progress>,
    /// Finished results, if they are not written to a file.
    made: Mutex<Option<String>>,
}

impl EvaluationActions<'_> {
    /// Returns the evaluations of the open folder since the program started, newest first.
    pub fn evaluations(self) -> Vec<EvaluationView> {
        let Some(open) = self.app.current_folder() else { return Vec::new() };
        let here =
            |work: &&Arc<Work>| work.open.as_ref().is_some_and(|its| Arc::ptr_eq(its, &open));
        self.app.inner.evaluations.all().iter().filter(here).map(|work| work.view()).collect()
    }

    /// Returns the state of an evaluation.
    pub fn view(self, id: &str) -> Result<EvaluationView, AppError> {
        Ok(self.app.inner.evaluations.find(id)?.view())
    }

    /// Returns the number of rows for which the target was called so far, and how many of these had
    /// a stored output.
    pub fn evaluation_asked(self, id: &str) -> Result<(u64, u64), AppError> {
        let work = self.app.inner.evaluations.find(id)?;
        let standing = work.course.lock();
        Ok((standing.progress.asked, standing.progress.answered))
    }

    /// Stops an evaluation: requests in flight are completed and stored, nothing new is started;
    /// `now` cancels requests in flight.
    pub fn stop_evaluating(self, id: &str, now: bool) -> Result<(), AppError> {
        self.app.inner.evaluations.find(id)?.course.stop(now, "It was stopped.");
        Ok(())
    }

    /// Waits until an evaluation is over; returns false on timeout.
    pub fn wait_evaluation(self, id: &str, timeout: Duration) -> Result<bool, AppError> {
        Ok(self.app.inner.evaluations.find(id)?.course.wait(timeout))
    }

    /// Returns the content of the results file, written or not; `None` until the results are
    /// complete.
    pub fn evaluation_results(self, id: &str) -> Result<Option<String>, AppError> {
        let work = self.app.inner.evaluations.find(id)?;
        let Some(place) = work.job.place.as_ref().filter(|_| work.course.lock().progress.written)
        else {
            return Ok(work.made.lock().unwrap_or_else(PoisonError::into_inner).clone());
        };
        let failed = |why: String| {
            AppError::new(Code::Failed, format!("The results cannot be read again: {why}"))
        };
        let bytes = place.read().map_err(|why| failed(why.to_string()))?;
        bytes
            .map(|bytes| String::from_utf8(bytes).map_err(|why| failed(format!("{why}."))))
            .transpose()
    }
}

impl Work {
    pub(super) fn new(
        id: String,
        open: Option<Arc<OpenFolder>>,
        job: Job,
        (asking, programs, bench): (Option<Asking>, Option<PythonTool>, Option<EvaluationFiles>),
        poster: EventSender,
    ) -> Self {
        let stops =
            asking.as_ref().map_or_else(StopTokens::default, |asking| asking.crew.stops.clone());
        let progress = Progress::new(job.rows * job.wish.evaluators.len());
        let course = JobHandle::new(id, stops, (poster, Stale::Evaluations), progress);
        Self {
            open,
            job,
            asking,
            programs,
            program_seats: Semaphore::new(PROGRAMS),
            bench: Mutex::new(bench),
            course,
            made: Mutex::default(),
        }
    }

    /// Evaluates all rows with the given concurrency and writes the results.
    pub(super) async fn run(
        self: Arc<Self>,
        table: Arc<Table>,
        seats: usize,
        mut events: UnboundedReceiver<RunEvent>,
    ) {
        self.course.post();
        if let Err(why) = catch_panic(self.go(table, seats, &mut events)).await {
            self.course.lock().why = Some(why);
        }
        // Released before the end is signalled: a waiting caller may start the next evaluation at
        // once.
        drop(self.bench.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.course.end();
    }

    async fn go(
        self: &Arc<Self>,
        table: Arc<Table>,
        seats: usize,
        events: &mut UnboundedReceiver<RunEvent>,
    ) {
        if let Err(why) = self.begin().await {
            self.course.lock().why = Some(why);
            return;
        }
        let seats = Arc::new(Semaphore::new(seats.max(1)));
        let said = self.ask_target(&table, &seats).await;
        let wish = &self.job.wish;
        let sheet = Arc::new(tokio::task::block_in_place(|| {
            RowInputs::new(wish, &table, said).with_occurrences(wish)
        }));
        drop(table);
        self.course.lock().progress.notes.clone_from(&sheet.notes);
        let unanswered = sheet.target_failure(wish).filter(|_| !self.course.is_stopping());
        let made = match unanswered {
            // No model is paid if there can be no result.
            Some(why) => {
                self.course.lock().why = Some(why);
                None
            }
            None => Some(self.evaluate(&seats, &sheet, events).await),
        };
        if let Some(made) = made.filter(CollectedResults::is_whole) {
            let work = Arc::clone(self);
            let written = tokio::task::spawn_blocking(move || work.write(&sheet, &made)).await;
            if let Err(why) = written.unwrap_or_else(|_| {
                Err("An internal error ended this. Please report it.".to_owned())
            }) {
                self.course.lock().why = Some(format!("The results could not be written: {why}"));
            }
        }
    }

    /// Prepares the evaluation: programs that do not load would fail on every row. The request is
    /// stored for resuming only after that.
    async fn begin(&self) -> Result<(), String> {
        self.read_programs().await?;
        let bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = bench.as_ref().zip(self.job.begun.as_ref());
        let kept = tokio::task::block_in_place(|| {
            begun.map_or(Ok(()), |(bench, begun)| bench.begin(begun))
        });
        kept.map_err(|why| format!("The request could not be saved: {why}"))
    }

    /// Runs every evaluator on every row, in row order.
    async fn evaluate(
        self: &Arc<Self>,
        seats: &Arc<Semaphore>,
        sheet: &Arc<RowInputs>,
        events: &mut UnboundedReceiver<RunEvent>,
    ) -> CollectedResults {
        let (rows, evaluators) = (self.job.rows, self.job.wish.evaluators.len());
        let mut made = CollectedResults::new(&self.job.wish, rows);
        let mut running = JoinSet::new();
        for unit in 0..rows * evaluators {
            let Ok(seat) = Arc::clone(seats).acquire_owned().await else { break };
            if self.course.is_stopping() {
                break;
            }
            let (work, sheet) = (Arc::clone(self), Arc::clone(sheet));
            let (row, at) = (unit / evaluators, unit % evaluators);
            running.spawn(async move {
                let failed = |why| Some(vec![Round::no_reply(why, Vec::new())]);
                let ended = catch_panic(work.unit(&sheet, row, at)).await.unwrap_or_else(failed);
                drop(seat);
                (row, at, ended)
            });
            while let Some(done) = running.try_join_next() {
                self.take(&mut made, done);
            }
            self.course.drain_events(events);
        }
        while let Some(done) = running.join_next().await {
            self.take(&mut made, done);
            self.course.drain_events(events);
        }
        self.course.drain_events(events);
        made
    }

    /// Records the result of one evaluator on one row.
    fn take(
        &self,
        made: &mut CollectedResults,
        done: Result<(usize, usize, Option<Vec<Round>>), tokio::task::JoinError>,
    ) {
        let Ok((row, at, ended)) = done else { return };
        let evaluator = &self.job.wish.evaluators[at].evaluator;
        let name = &evaluator.name;
        let Some(rounds) = ended else {
            self.course.lock().progress.record_outcome(
                row as u64 + 1,
                (at, name),
                RowOutcome::Stopped,
            );
            return;
        };
        for (number, round) in rounds.iter().enumerate() {
            made.record_replies((row, evaluator, number), round);
            self.course.lock().progress.unread += u64::from(round.is_unread());
        }
        let is_missing = rounds.iter().any(|round| round.lack == Some(ReplyProblem::Unheard));
        let result = combine_rounds(rounds, evaluator.limit_of_grader());
        let end = match &result {
            Ok(_) => RowOutcome::Done,
            Err(why) if is_missing => RowOutcome::Missing(why.message.clone()),
            Err(why) => RowOutcome::Failed(why.message.clone()),
        };
        self.course.lock().progress.record_outcome(row as u64 + 1, (at, name), end);
        made.record_result(row, at, &result);
        self.course.post();
    }

    /// Writes raw replies before the results, so that results never exist without their replies.
    fn write(&self, sheet: &RowInputs, made: &CollectedResults) -> Result<(), String> {
        let model = |one: &azure::Evaluator| {
            let models = &self.asking.as_ref()?.models;
            let model = if one.embeds() {
                models.embedder.as_ref()
            } else {
                models.judge.as_ref().filter(|_| one.takes.model)
            };
            model.map(|model| model.name.clone())
        };
        let (text, metrics) = results::compose(sheet, &self.job.wish, made, model)?;
        let replies = made.replies(&layouts::contents(text.as_bytes()));
        if let Some(bench) = self.bench.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            bench.keep(&replies).map_err(|why| why.to_string())?;
        }
        if let Some(place) = &self.job.place {
            place.write(text.as_bytes(), self.job.replace).map_err(|why| why.to_string())?;
            self.written(place, text.as_bytes());
            // While results are missing, journaled target outputs stay valid for the remaining
            // rows.
            let journal = self.journal().filter(|_| !made.has_gaps());
            if let Some(Err(error)) = journal.map(|journal| journal.note(Record::Written)) {
                tracing::debug!(%error, "what the target said counts once more");
            }
            let bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(Err(error)) =
                bench.as_ref().filter(|_| !made.has_gaps()).map(EvaluationFiles::end)
            {
                tracing::debug!(%error, "a finished evaluation is still offered for resuming");
            }
        }
        self.course.lock().progress.metrics = metrics;
        if self.job.place.is_none() {
            *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        Ok(())
    }

    /// Records that the file was written, and the run ids of its rows if it lies among the results.
    fn written(&self, place: &OutputFile, text: &[u8]) {
        let keys = if self.job.filter.is_some() { layouts::keys(text) } else { Vec::new() };
        let file = FileId::new(Root::Output, place.path.as_str());
        let progress = &mut self.course.lock().progress;
        progress.written = true;
        progress.name_runs(|at| keys.get(at).map(|key| run_of_file(&file, Some(key))));
    }

    /// Returns the displayed results file while the evaluation is running in this folder.
    pub(super) fn under_way(&self, open: &Arc<OpenFolder>) -> Option<String> {
        let is_here = self.open.as_ref().is_some_and(|its| Arc::ptr_eq(its, open));
        self.job.shown.clone().filter(|_| is_here && !self.course.is_over())
    }

    /// Returns the journal of replies and target outputs; `None` once the evaluation is over.
    fn journal(&self) -> Option<Journal> {
        self.bench.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.journal().cloned()
    }

    fn view(&self) -> EvaluationView {
        let standing = self.course.lock();
        let (progress, bill) = (&standing.progress, standing.bill);
        EvaluationView {
            id: self.course.id.clone(),
            data: self.job.data.clone(),
            model: self.judge().map(|model| model.name.clone()),
            began_ms: self.course.began_ms,
            state: self.course.state(
                standing.over,
                progress.done + progress.failed,
                progress.total,
            ),
            why: standing.why.clone(),
            notes: self.job.notes.iter().chain(&progress.notes).cloned().collect(),
            total: progress.total,
            done: progress.done,
            failed: progress.failed,
            main_reason: progress.main_reason(),
            missing: progress.missing,
            unread: progress.unread,
            calls: bill.calls,
            tokens: bill.tokens,
            cost: bill.cost,
            unpriced: bill.unpriced,
            max_cost: self.job.max_cost,
            troubles: progress.troubles(),
            file: self.job.shown.clone().filter(|_| progress.written),
            filter: self.job.filter.clone().filter(|_| progress.written),
            metrics: progress.metrics.clone(),
        }
    }

    /// Returns the judge model.
    fn judge(&self) -> Option<&Model> {
        self.asking.as_ref()?.models.judge.as_ref()
    }
}

impl BackgroundJob for Work {
    type Progress = Progress;
    const WHAT: &'static str = "A data file is being evaluated";
    const NAME: &'static str = "evaluation";

    fn handle(&self) -> &JobHandle<Progress> {
        &self.course
    }
}
