//! Runs the programs of scorers in the sandbox. They only run at the request of the user.
use super::ScoringActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::judging::job::python::{ScorerReply, parse_score, scorer_program};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use touchstone_api::ScoreDetail;
use touchstone_model::json;
use touchstone_runner::tools::python::{PythonLimits, PythonTool};
use touchstone_store::open;
use touchstone_store::roots::{FileId, Roots};
use touchstone_store::scoring::measure::ask;
use touchstone_store::scoring::pending_requests::PendingRequest;
use touchstone_store::scoring::write::ProgramResult;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum size of a module.
const LARGEST_MODULE: u64 = 1 << 20;
/// Maximum number of concurrent programs; each may use a processor and its memory limit.
const AT_A_TIME: usize = 4;

/// Results of running programs.
pub(super) struct ProgramResults {
    /// Result of each question, unordered. A question whose module has just changed is omitted: its
    /// key is about to change.
    pub(super) kept: Vec<ProgramResult>,
    /// Reason why the rest could not run.
    pub(super) trouble: Option<AppError>,
}

impl ScoringActions<'_> {
    /// Runs the program of every question once.
    pub(super) fn ask_programs(
        self,
        open: &OpenFolder,
        questions: &[PendingRequest],
    ) -> Result<ProgramResults, AppError> {
        let Some(first) = questions.first() else {
            return Ok(ProgramResults { kept: Vec::new(), trouble: None });
        };
        let runtime = self.app.inner.launches.runtime()?;
        let limits = PythonLimits::default();
        let opened =
            runtime.block_on(PythonTool::open(&self.app.inner.config.cache_dir, limits.clone()));
        let tool = opened.map_err(|why| {
            let name = first.scorer.name();
            let message = format!(
                "`{name}` is a program, and programs only run in a sandbox. {}",
                why.message
            );
            AppError { hint: why.fix, ..AppError::new(Code::Failed, message) }
        })?;
        let mut modules = HashMap::new();
        let mut asked = ProgramResults { kept: Vec::new(), trouble: None };
        let mut programs = Vec::new();
        for awaited in questions {
            let module = modules
                .entry(&awaited.program)
                .or_insert_with(|| module(&open.flow.roots, &awaited.program));
            match program(module.as_ref(), awaited) {
                Ok(Some(program)) => programs.push((awaited, program)),
                Ok(None) => {}
                Err(why) => asked.kept.push(result_of_reply(awaited.ask, Err(why))),
            }
        }
        runtime.block_on(run(&tool, &limits, programs, &mut asked));
        Ok(asked)
    }
}

/// Runs programs with limited concurrency.
async fn run(
    tool: &PythonTool,
    limits: &PythonLimits,
    programs: Vec<(&PendingRequest, String)>,
    asked: &mut ProgramResults,
) {
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from).min(AT_A_TIME);
    let turns = Arc::new(Semaphore::new(at_a_time));
    let stop = CancellationToken::new();
    let mut running = JoinSet::new();
    for (awaited, program) in programs {
        let (tool, turns, stop, wall) =
            (tool.clone(), Arc::clone(&turns), stop.clone(), limits.wall);
        let (name, ask) = (awaited.program.to_display(), awaited.ask);
        running.spawn(async move {
            let _turn = turns.acquire().await;
            if stop.is_cancelled() {
                return Ok(None);
            }
            let ended = tool.run(&program, &stop).await.map_err(|failure| failure.message)?;
            Ok::<_, String>(
                (!stop.is_cancelled())
                    .then(|| result_of_reply(ask, parse_score(&name, &ended, wall))),
            )
        });
    }
    while let Some(done) = running.join_next().await {
        match done {
            Ok(Ok(kept)) => asked.kept.extend(kept),
            Ok(Err(why)) => {
                // A sandbox failure affects all programs and says nothing about the answers.
                stop.cancel();
                asked.trouble.get_or_insert_with(|| sandbox_failed(&why));
            }
            Err(error) => {
                stop.cancel();
                asked.trouble.get_or_insert_with(|| sandbox_failed(&error.to_string()));
            }
        }
    }
}

fn sandbox_failed(why: &str) -> AppError {
    AppError::new(Code::Failed, format!("A scorer could not be run: {why}"))
        .hint("Check the sandbox with `touchstone doctor`, then try again.")
}

/// A module as it is on disk, with its hash.
struct Module {
    hash: u64,
    source: String,
}

fn module(roots: &Roots, file: &FileId) -> Result<Module, String> {
    let (bytes, _) = open::read(roots, file, LARGEST_MODULE)
        .map_err(|why| format!("{} could not be read: {why}.", file.to_display()))?;
    let hash = xxh3_64(&bytes);
    let source = String::from_utf8(bytes)
        .map_err(|_| format!("{} is not UTF-8 text.", file.to_display()))?;
    Ok(Module { hash, source })
}

/// Returns the program for a question; `None` if the module has changed since.
fn program(
    module: Result<&Module, &String>,
    awaited: &PendingRequest,
) -> Result<Option<String>, String> {
    let module = module.map_err(Clone::clone)?;
    if ask(module.hash, &json::write_back(&awaited.expected), &awaited.answer) != awaited.ask {
        return Ok(None);
    }
    let answer = json::read_back(&awaited.answer)
        .map_err(|why| format!("The answer could not be read: {}", why.message))?;
    scorer_program(&awaited.program.to_display(), &module.source, &awaited.expected, &answer)
        .map(Some)
}

/// Converts a reply to a result for the index.
fn result_of_reply(ask: i64, reply: Result<ScorerReply, String>) -> ProgramResult {
    match reply {
        Ok(ScorerReply { score, printed }) => {
            let detail = printed.map(|value| ScoreDetail { name: "printed".to_owned(), value });
            let reason = format!("the program returned {score}");
            ProgramResult { ask, score: Some(score), reason, detail: detail.into_iter().collect() }
        }
        Err(reason) => ProgramResult { ask, score: None, reason, detail: Vec::new() },
    }
}
