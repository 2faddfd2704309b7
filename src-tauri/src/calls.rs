//! Runs commands of the page by name, with JSON arguments and replies, for the window and for the
//! served page.
use crate::commands::{Access, COMMANDS};
use crate::environment::with_ours;
use crate::{dialogs, reveal};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tauri::AppHandle;
use touchstone_api::{
    Agreement, AttackScorecard, Author, BaselineSaved, BaselineView, ChangesRequest, Check,
    Comparison, Copied, DataFile, DataLook, DiffRequest, DiffView, EditableStep, EvaluateOptions,
    EvaluatePlan, EvaluateRequest, EvaluateUnfinished, EvaluatedRows, Evaluating, EvaluationView,
    EvaluatorSummary, ExportRequest, ExportedFile, Facets, FailureMap, FailuresRequest, Folders,
    ForkRequest, FoundResults, Generation, GenerationOptions, GenerationPlan, GenerationRequest,
    GenerationView, History, Hit, JudgeOptions, JudgePlan, JudgeRequest, Judging, JudgingView,
    KeyState, LabelAgreement, LabelEdit, LabelSchema, LabelUses, LabelView, LaunchOptions,
    LaunchPlan, LaunchRequest, LaunchView, Launched, Leaderboard, LeaderboardRequest, ListPosition,
    ListRequest, ListView, Matches, MediaFile, NameCausesPlan, NameCausesRequest, Overview,
    OverviewRequest, OwnColumns, ProblemPage, Published, PublishedRequest, QueueOrder,
    QueueProgress, ReadProgress, Report, ReportRequest, Review, RowPiece, RowRequest, RowsMade,
    RunBeginning, RunCause, RunNames, RunOutline, RunPage, RunRow, RunScores, RunView, RunsAround,
    ScanTarget, SensitiveRuns, SetChanges, Sort, Span, SplitLaunch, Status, StepDiff, StepEdit,
    StepPage, StepRef, SuiteMade, SuitePlan, SuiteRequest, TaskPage, TaskRequest, TaskView,
    TextPiece, TreeView, TrendRequest, Trust,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};

type Reply<T> = Result<T, AppError>;

/// Page that runs a command.
pub(crate) enum Page {
    /// The page of the window.
    Window(AppHandle),
    /// A page in a browser.
    Served {
        /// True with `--allow-run`.
        may_act: bool,
    },
}

impl Page {
    fn is_window(&self) -> bool {
        matches!(self, Page::Window(_))
    }

    fn may_act(&self) -> bool {
        matches!(self, Page::Window(_) | Page::Served { may_act: true })
    }

    fn window(&self) -> Reply<&AppHandle> {
        match self {
            Page::Window(window) => Ok(window),
            Page::Served { .. } => {
                Err(AppError::new(Code::NotAllowed, "Only the window can do this."))
            }
        }
    }

    /// Fails if this page may not run commands of an access level.
    fn check(&self, access: Access) -> Reply<()> {
        let (refusal, hint) = match access {
            Access::Local(refusal, hint) if !self.is_window() => (refusal, hint),
            Access::Act if !self.may_act() => {
                (LOOK_ONLY, "To allow it, start: touchstone serve --allow-run FOLDER")
            }
            Access::Open if !self.may_act() => {
                (LOOK_ONLY, "For another folder, start: touchstone serve FOLDER")
            }
            _ => return Ok(()),
        };
        Err(AppError::new(Code::NotAllowed, refusal).hint(hint))
    }
}

const LOOK_ONLY: &str = "This page is read-only and cannot run or change anything.";

type Run = fn(&App, &Page, &[u8]) -> Reply<String>;

macro_rules! runs {
    ($(
        $(#[doc = $doc:literal])*
        $access:ident $(($($refusal:literal),*))?
        $name:ident($($argument:ident: $type:ty),*) -> $reply:ty = $run:expr;
    )*) => {
        [$({
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Arguments {
                $($argument: $type),*
            }
            |app, page, json| {
                let Arguments { $($argument),* } = parse(json)?;
                reply::<$reply>(app, page, $run)
            }
        }),*]
    };
}

/// Function of each of the `COMMANDS`.
const RUNS: [Run; COMMANDS.len()] = page_commands!(runs);

/// Runs a command. Fails if the page may not run it, or if the name or arguments are invalid.
pub(crate) fn call(app: &App, page: &Page, name: &str, arguments: &[u8]) -> Reply<String> {
    let mut commands = COMMANDS.iter().zip(RUNS);
    let Some(((_, access), run)) = commands.find(|((known, _), _)| *known == name) else {
        return Err(AppError::new(Code::NotFound, "Touchstone knows no such command."));
    };
    page.check(*access)?;
    run(app, page, arguments)
}

fn parse<A: DeserializeOwned>(json: &[u8]) -> Reply<A> {
    serde_json::from_slice(json).map_err(|why| {
        AppError::new(Code::BadRequest, format!("The arguments could not be read: {why}."))
    })
}

fn reply<T: Serialize>(
    app: &App,
    page: &Page,
    run: impl FnOnce(&App, &Page) -> Reply<T>,
) -> Reply<String> {
    serde_json::to_string(&run(app, page)?).map_err(|why| {
        AppError::new(Code::Failed, format!("The reply could not be written: {why}."))
    })
}

#[cfg(test)]
mod tests;
