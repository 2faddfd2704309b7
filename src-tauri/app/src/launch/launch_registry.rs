//! Launches of this program and of earlier sessions: starting, viewing and stopping. Owns their
//! runtime and the list of them; each launch owns itself.
use super::LaunchActions;
use super::launch_selection::describe_launch;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use touchstone_api::{LaunchRun, LaunchRunState, LaunchState, LaunchView, Phase, Span};
use touchstone_clock as clock;
use touchstone_formats::names::Coordinates;
use touchstone_runner::event::Ending;
use touchstone_runner::http::client::Client;
use touchstone_runner::http::limiter::Limiters;
use touchstone_runner::launch::Launch;
use touchstone_runner::lock::host;
use touchstone_runner::past_logs::{PastLaunch, PastLogs};
use touchstone_runner::progress::{Progress, RunProgress, Stage};
use touchstone_store::query;
use touchstone_store::roots::{FileId, Root};

/// Maximum number of runs of a launch on one page.
const MOST_ROWS: u32 = 500;

/// Stop reason if the user stopped a launch.
const ASKED: &str = "It was stopped.";

/// Launches since the program started, of every folder that was open.
#[derive(Default)]
pub(crate) struct Launches {
    runtime: OnceLock<Runtime>,
    client: OnceLock<Client>,
    limiters: Arc<Limiters>,
    list: Mutex<Vec<Arc<Launch>>>,
    /// Logs of the output directory that is open.
    past: Mutex<(PathBuf, PastLogs)>,
    /// What earlier launches ran, in words, by their ids.
    described: Mutex<HashMap<String, String>>,
    begun: AtomicU64,
    opening: Mutex<CancellationToken>,
}

impl Launches {
    /// Returns the async runtime; created on first use, because most sessions only view results.
    pub(crate) fn runtime(&self) -> Result<&Runtime, AppError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let made =
            tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("runs").build();
        let made = made.map_err(|why| {
            AppError::new(Code::Failed, format!("Runs cannot start here: {why}."))
        })?;
        Ok(self.runtime.get_or_init(|| made))
    }

    /// Returns the HTTP client shared by all launches.
    pub(crate) fn client(&self) -> &Client {
        self.client.get_or_init(Client::default)
    }

    /// Returns the rate limiters per provider, shared by all launches.
    pub(crate) fn limiters(&self) -> Arc<Limiters> {
        Arc::clone(&self.limiters)
    }

    /// Returns an id that no launch of this folder has had, on whatever machine. The log file is
    /// named after it.
    pub(crate) fn next_id(&self) -> String {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let host: String = host().chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{}-{host}-{}-{number}", clock::now_ms(), std::process::id())
    }

    pub(super) fn add(&self, launch: Arc<Launch>) {
        self.lock().insert(0, launch);
    }

    /// Returns the token that cancels the opening of tools before a launch starts.
    pub(super) fn opening(&self) -> CancellationToken {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fails while runs are in progress: their paths belong to the open folder.
    pub(crate) fn refuse_if_busy(&self) -> Result<(), AppError> {
        let at_work = self.at_work();
        if at_work.is_empty() {
            return Ok(());
        }
        let runs: u64 = at_work.iter().map(|launch| launch.with_progress(Progress::unended)).sum();
        let what = if runs == 1 { "1 run is".to_owned() } else { format!("{runs} runs are") };
        let error = AppError::new(
            Code::BadRequest,
            format!("{what} in progress in the open folder, so it stays open."),
        );
        Err(error.hint(
            "Wait until they are done, or stop them: the bar at the bottom leads to the launch.",
        ))
    }

    fn at_work(&self) -> Vec<Arc<Launch>> {
        self.lock().iter().filter(|launch| !launch.is_over()).cloned().collect()
    }

    pub(super) fn find(&self, id: &str) -> Result<Arc<Launch>, AppError> {
        let gone = || AppError::new(Code::NotFound, "This launch is not known here.");
        self.lock().iter().find(|launch| launch.id == id).cloned().ok_or_else(gone)
    }

    /// Returns the launches of earlier sessions in an output directory, newest first.
    fn past(&self, dir: &Path) -> Vec<Arc<PastLaunch>> {
        let here = self.lock().iter().map(|launch| launch.id.clone()).collect();
        let mut known = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != *dir {
            *known = (dir.to_owned(), PastLogs::default());
        }
        known.1.read(dir, &here).unwrap_or_else(|error| {
            tracing::warn!(%error, "the logs of earlier launches could not be read");
            Vec::new()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Launch>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Launches {
    fn drop(&mut self) {
        // Blocking tasks are writes that are nearly done. A runtime must not be dropped from within
        // itself, and dropping must not wait forever.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl LaunchActions<'_> {
    /// Returns the launches of the open folder, newest first, without their runs: those since the
    /// program started, then those of which there are logs.
    pub fn all(self) -> Vec<LaunchView> {
        let Some(open) = self.app.current_folder() else { return Vec::new() };
        let dir = &open.flow.roots.output_dir;
        let none = Span { offset: 0, limit: 0 };
        let past = self.app.inner.launches.past(dir);
        let past = past.iter().map(|launch| self.view_of_past(&open, launch, none));
        let list = self.app.inner.launches.lock().clone();
        let here = list.iter().filter(|launch| launch.output_dir == *dir);
        here.map(|launch| view(launch, none)).chain(past).collect()
    }

    /// Returns the state of a launch, with a window of its runs.
    pub fn view(self, id: &str, span: Span) -> Result<LaunchView, AppError> {
        let found = self.app.inner.launches.find(id);
        if found.is_err()
            && let Some(open) = self.app.current_folder()
        {
            let past = self.app.inner.launches.past(&open.flow.roots.output_dir);
            if let Some(launch) = past.iter().find(|launch| launch.id == id) {
                return Ok(self.view_of_past(&open, launch, span));
            }
        }
        Ok(view(found?.as_ref(), span))
    }

    /// Stops a launch: requests in flight are completed and stored, nothing new is started; `now`
    /// cancels requests in flight.
    pub fn stop_launch(self, id: &str, now: bool) -> Result<(), AppError> {
        self.app.inner.launches.find(id)?.stop(now, ASKED);
        self.app.inner.bulletin.post(touchstone_api::Stale::Launches);
        Ok(())
    }

    /// Cancels launches that are still opening their tools.
    pub fn stop_opening(self) {
        let mut opening =
            self.app.inner.launches.opening.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *opening).cancel();
    }

    /// Stops all launches, judging jobs, evaluations and generations with this reason; returns true
    /// if the caller has to wait for any.
    pub fn stop_all_launches(self, now: bool, why: &str) -> bool {
        self.stop_opening();
        let running = self.app.inner.launches.at_work();
        for launch in &running {
            launch.stop(now, why);
        }
        if !running.is_empty() {
            self.app.inner.bulletin.post(touchstone_api::Stale::Launches);
        }
        let judgings = self.app.inner.judgings.stop_all(now, why);
        let evaluations = self.app.inner.evaluations.stop_all(now, why);
        let generations = self.app.inner.generations.stop_all(now, why);
        judgings || evaluations || generations || !running.is_empty()
    }

    /// Waits until no job is running; returns false on timeout.
    pub fn wait_launches(self, timeout: Duration) -> bool {
        let deadline = std::time::Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(std::time::Instant::now());
        self.app.inner.launches.at_work().iter().all(|launch| launch.wait(left()))
            && self.app.inner.judgings.wait(left())
            && self.app.inner.evaluations.wait(left())
            && self.app.inner.generations.wait(left())
    }

    /// Waits until a launch is over; returns false on timeout.
    pub fn wait_launch(self, id: &str, timeout: Duration) -> Result<bool, AppError> {
        Ok(self.app.inner.launches.find(id)?.wait(timeout))
    }
}

/// Returns the paths of the runs of a launch that did not complete, and whether each had started.
pub(super) fn unfinished(launch: &Launch) -> HashMap<String, bool> {
    let is_left = |stage| {
        matches!(
            stage,
            Stage::Waiting | Stage::Ended(Ending::Error | Ending::Stopped | Ending::Elsewhere)
        )
    };
    let left =
        |run: &RunProgress| is_left(run.stage).then(|| (run.path.clone(), run.began_ms.is_some()));
    launch.with_progress(|progress| progress.runs().iter().filter_map(left).collect())
}

fn view(launch: &Launch, span: Span) -> LaunchView {
    let over = launch.is_over();
    launch.with_progress(|progress| LaunchView {
        id: launch.id.clone(),
        what: describe(launch.jobs.iter().map(|job| &job.slot.at)),
        max_cost: launch.rules.max_cost,
        runs: window(progress, span, launch.now_ms()),
        ..counted(progress, over)
    })
}

impl LaunchActions<'_> {
    /// Returns the state of a launch of an earlier session. Runs that never started are only counted.
    fn view_of_past(self, open: &OpenFolder, launch: &PastLaunch, span: Span) -> LaunchView {
        let progress = &launch.progress;
        let last = progress.runs().iter().filter_map(|run| run.ended_ms.or(run.began_ms)).max();
        let mut seen = counted(progress, true);
        seen.waiting = launch.planned.saturating_sub(progress.runs().len() as u64);
        seen.stopped += std::mem::take(&mut seen.running);
        seen.total += seen.waiting;
        if seen.waiting + seen.stopped > 0 {
            seen.state = LaunchState::Stopped;
        }
        LaunchView {
            id: launch.id.clone(),
            what: self.describe_past(open, launch),
            ended_ms: seen.ended_ms.or(last).or(Some(seen.began_ms)),
            runs: window(progress, span, last.unwrap_or(seen.began_ms)),
            ..seen
        }
    }

    /// Describes a launch by its runs, which are looked up once.
    fn describe_past(self, open: &OpenFolder, launch: &PastLaunch) -> String {
        /// Number of runs whose tasks and systems are looked up.
        const SOME: usize = 50;
        let known = &self.app.inner.launches.described;
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = known().get(&launch.id) {
            return words.clone();
        }
        let rows = open.ask(|index| {
            let runs = launch.progress.runs().iter().take(SOME);
            runs.filter_map(|run| query::row_by_key(index, &id_of(&run.path)).transpose())
                .collect::<Result<Vec<_>, _>>()
        });
        let rows = rows.unwrap_or_default();
        let tasks = rows.iter().filter_map(|row| row.task.as_deref());
        let systems = rows.iter().filter_map(|row| row.system.as_deref().zip(row.model.as_deref()));
        match (rows.len(), launch.planned) {
            (0, 1) => "1 run".to_owned(),
            (0, planned) => format!("{planned} runs"),
            _ => {
                let words = describe_launch(tasks, systems);
                if open.flow.live.now().phase == Phase::Ready {
                    known().insert(launch.id.clone(), words.clone());
                }
                words
            }
        }
    }
}

/// Returns the counts of a launch.
fn counted(progress: &Progress, over: bool) -> LaunchView {
    let ended = |how: Ending| progress.count(|stage| stage == Stage::Ended(how));
    let stopped = ended(Ending::Stopped);
    let waiting = progress.count(|stage| stage == Stage::Waiting);
    let state = match (over, &progress.stopping) {
        (false, Some(_)) => LaunchState::Stopping,
        (false, None) => LaunchState::Running,
        (true, _) if stopped + waiting > 0 => LaunchState::Stopped,
        (true, _) => LaunchState::Done,
    };
    LaunchView {
        id: String::new(),
        what: String::new(),
        began_ms: progress.began_ms,
        ended_ms: progress.ended_ms,
        state,
        why: progress.stopping.clone(),
        total: progress.runs().len() as u64,
        waiting,
        running: progress.count(|stage| stage == Stage::Running),
        done: ended(Ending::Answered) + ended(Ending::NoAnswer),
        failed: ended(Ending::Error),
        elsewhere: ended(Ending::Elsewhere),
        stopped,
        tokens: progress.tokens,
        cost: progress.cost,
        unpriced: progress.unpriced,
        max_cost: None,
        notes: progress.notes.clone(),
        more_notes: progress.more_notes,
        runs: Vec::new(),
    }
}

fn describe<'a>(runs: impl Iterator<Item = &'a Coordinates> + Clone) -> String {
    let systems = runs.clone().map(|run| (run.system.as_str(), run.model.as_str()));
    describe_launch(runs.map(|run| run.task.as_str()), systems)
}

/// Returns a window of runs: running ones first, then failed, stopped, waiting, done; each group in
/// planned order.
fn window(progress: &Progress, span: Span, now: i64) -> Vec<LaunchRun> {
    let rank = |stage: Stage| match stage {
        Stage::Running => 0,
        Stage::Ended(Ending::Error | Ending::Elsewhere) => 1,
        Stage::Ended(Ending::Stopped) => 2,
        Stage::Waiting => 3,
        Stage::Ended(Ending::Answered | Ending::NoAnswer) => 4,
    };
    if span.limit == 0 {
        return Vec::new();
    }
    let mut runs: Vec<&RunProgress> = progress.runs().iter().collect();
    runs.sort_by_key(|run| rank(run.stage));
    let window =
        runs.into_iter().skip(span.offset as usize).take(span.limit.min(MOST_ROWS) as usize);
    window.map(|run| row(run, now)).collect()
}

fn row(run: &RunProgress, now: i64) -> LaunchRun {
    let ms = run.began_ms.map_or(0, |began| run.ended_ms.unwrap_or(now) - began);
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run, shown with one digit")]
    let seconds = ms.max(0) as f64 / 1000.0;
    LaunchRun {
        run: id_of(&run.path),
        path: run.path.clone(),
        state: match run.stage {
            Stage::Waiting => LaunchRunState::Waiting,
            Stage::Running => LaunchRunState::Running,
            Stage::Ended(Ending::Answered) => LaunchRunState::Answered,
            Stage::Ended(Ending::NoAnswer) => LaunchRunState::NoAnswer,
            Stage::Ended(Ending::Error) => LaunchRunState::Error,
            Stage::Ended(Ending::Stopped) => LaunchRunState::Stopped,
            Stage::Ended(Ending::Elsewhere) => LaunchRunState::Elsewhere,
        },
        turn: run.turn,
        doing: run.doing.clone(),
        tokens: run.tokens,
        cost: run.cost,
        seconds,
    }
}

/// Returns the id that the run at this path has or will have in the index.
pub(super) fn id_of(path: &str) -> String {
    touchstone_store::run_id(&FileId::new(Root::Output, path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::names;

    #[test]
    fn a_launch_is_described_by_what_it_runs() {
        let what = |paths: &[&str]| {
            let runs: Vec<Coordinates> =
                paths.iter().map(|path| names::read(path, &["o3-mini"]).unwrap()).collect();
            describe(runs.iter())
        };
        let one = "churn-promptql-claude-variation0.yaml";
        assert_eq!(
            what(&[one, "churn-promptql-claude-variation1.yaml"]),
            "churn · promptql/claude"
        );
        assert_eq!(what(&[one, "b-promptql-claude-variation0.yaml"]), "2 tasks · promptql/claude");
        assert_eq!(what(&[one, "b-tool_calling-o3-mini-variation0.yaml"]), "2 tasks · 2 systems");
    }
}
