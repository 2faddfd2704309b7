//! Dispatch of commands by name, with JSON arguments and replies, for the served page. One line per
//! command.
use crate::commands::{Access, COMMANDS};
use crate::environment::with_ours;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use touchstone_api::{
    DataFile, DiffRequest, EvaluateRequest, JudgeRequest, LaunchRequest, ListRequest,
    OverviewRequest, PublishedRequest, ReportRequest, Review, RowRequest, Sort, Span, StepRef,
    TaskRequest,
};
use touchstone_app::{
    app::App,
    error::{AppError, Code},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Id {
    id: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    request: ListRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Locate {
    filter: String,
    sort: Sort,
    id: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
    span: Span,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    span: Span,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    id: String,
    version: String,
    span: Span,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tree {
    id: String,
    version: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    id: String,
    part: String,
    offset: u64,
    limit: u64,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    id: String,
    part: String,
    request: RowRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    id: String,
    part: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Find {
    id: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Launch {
    request: LaunchRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Judge {
    request: JudgeRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Evaluate {
    request: EvaluateRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneLaunch {
    id: String,
    span: Span,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopLaunch {
    id: String,
    now: bool,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nudge {
    id: String,
    message: String,
    /// True to continue the run itself, even if it is finished.
    in_place: bool,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fork {
    id: String,
    step: u32,
    message: Option<String>,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    name: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    name: String,
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    request: OverviewRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Diff {
    request: DiffRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ids {
    ids: Vec<String>,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TwoSteps {
    left: StepRef,
    right: StepRef,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    request: ReportRequest,
    whole: bool,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tasks {
    request: TaskRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedArgs {
    request: PublishedRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    #[expect(dead_code, reason = "a served page saves by itself; the shape is still checked")]
    request: ReportRequest,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "a served page shows no folders; the shape is still checked")]
struct Reveal {
    id: String,
    file: u32,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    filter: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Two {
    first: String,
    second: String,
    filter: String,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewArgs {
    folder: Option<String>,
    id: String,
    review: Option<Review>,
}

impl ReviewArgs {
    fn keep(&self, app: &App) -> Result<(), AppError> {
        app.review_run_of(self.folder.as_deref(), &self.id, self.review.as_ref())
    }
}

/// Runs a command for the served page. Fails if the page may not run it, or if the name or
/// arguments are invalid.
pub(crate) fn call(
    app: &App,
    may_run: bool,
    name: &str,
    arguments: &[u8],
) -> Result<Vec<u8>, AppError> {
    if !may_run && COMMANDS.contains(&(name, Access::Act)) {
        let error = AppError::new(
            Code::NotAllowed,
            "This page is read-only and cannot run or change anything.",
        );
        let is_about_folders =
            ["open_recent", "forget_recent", "open_demo", "pick_folder", "close_folder"]
                .contains(&name);
        return Err(error.hint(if is_about_folders {
            "For another folder, start: touchstone serve FOLDER"
        } else {
            "To allow it, start: touchstone serve --allow-run FOLDER"
        }));
    }
    let json = arguments;
    match name {
        "status" => reply(json, |Nothing {}| Ok(app.status())),
        "folders" => reply(json, |Nothing {}| Ok(app.folders(false, may_run))),
        "open_recent" => reply(json, |Id { id }| app.open_recent(&id)),
        "forget_recent" => reply(json, |Id { id }| app.forget_recent(&id)),
        "open_demo" => reply(json, |Nothing {}| app.open_demo()),
        "pick_folder" => reply(json, |Nothing {}| pick_folder()),
        "close_folder" => reply(json, |Nothing {}| app.close_folder()),
        "facets" => reply(json, |Nothing {}| app.facets()),
        "list_runs" => reply(json, |List { request }| app.list_runs(request)),
        "locate_run" => {
            reply(json, |Locate { filter, sort, id }| app.locate_run(&filter, sort, &id))
        }
        "runs_around" => {
            reply(json, |Locate { filter, sort, id }| app.runs_around(&filter, sort, &id))
        }
        "search" => reply(json, |Text { text, span }| app.search(&text, span)),
        "problems" => reply(json, |Part { span }| app.problems(span)),
        "open_run" => reply(json, |Id { id }| app.open_run(&id)),
        "read_steps" => {
            reply(json, |Steps { id, version, span }| app.read_steps(&id, &version, span))
        }
        "read_tree" => reply(json, |Tree { id, version }| app.read_tree(&id, &version)),
        "read_text" => {
            reply(json, |Read { id, part, offset, limit }| app.read_text(&id, &part, offset, limit))
        }
        "read_rows" => reply(json, |Rows { id, part, request }| app.read_rows(&id, &part, request)),
        "read_csv" => reply(json, |Table { id, part }| app.read_csv(&id, &part)),
        "find_in_run" => reply(json, |Find { id, text }| app.find_in_run(&id, &text)),
        "launch_options" => reply(json, |Nothing {}| app.launch_options(may_run)),
        "plan_launch" => reply(json, |Launch { request }| app.plan_launch(&request)),
        "start_launch" => reply(json, |Launch { request }| app.start_launch(&request)),
        "launches" => reply(json, |Nothing {}| Ok(app.launches())),
        "launch" => reply(json, |OneLaunch { id, span }| app.launch(&id, span)),
        "stop_launch" => reply(json, |StopLaunch { id, now }| app.stop_launch(&id, now)),
        "retry_launch" => reply(json, |Id { id }| app.retry_launch(&id)),
        "nudge_run" => {
            reply(json, |Nudge { id, message, in_place }| app.nudge_run(&id, &message, in_place))
        }
        "fork_run" => {
            reply(json, |Fork { id, step, message }| app.fork_run(&id, step, message.as_deref()))
        }
        "keys" => reply(json, |Nothing {}| app.keys()),
        "set_key" => reply(json, |Key { name, key }| app.set_key(&name, key)),
        "forget_key" => reply(json, |Name { name }| app.forget_key(&name)),
        "test_model" => reply(json, |Name { name }| app.test_model(&name)),
        "overview" => reply(json, |Matrix { request }| app.overview(&request)),
        "run_scores" => reply(json, |Id { id }| app.run_scores(&id)),
        "diff_answer" => reply(json, |Diff { request }| app.diff_answer(&request)),
        "compare_runs" => reply(json, |Ids { ids }| app.compare_runs(&ids)),
        "diff_steps" => reply(json, |TwoSteps { left, right }| app.diff_steps(&left, &right)),
        "make_report" => reply(json, |Make { request, whole }| app.make_report(&request, whole)),
        "list_tasks" => reply(json, |Tasks { request }| app.list_tasks(request)),
        "read_task" => reply(json, |Id { id }| app.read_task(&id)),
        "published" => reply(json, |PublishedArgs { request }| app.published(&request)),
        "run_scorers" => reply(json, |Filter { filter }| app.run_scorers(&filter)),
        "review_run" => reply(json, |say: ReviewArgs| say.keep(app)),
        "save_report" => reply(json, |Save { .. }| save_report()),
        "reveal_file" => reply(json, |Reveal { .. }| reveal_file()),
        "doctor" => reply(json, |Nothing {}| Ok(with_ours(app.doctor(may_run)))),
        _ => of_judges(app, may_run, name, json),
    }
}

/// Commands for judging and evaluating.
fn of_judges(app: &App, may_run: bool, name: &str, json: &[u8]) -> Result<Vec<u8>, AppError> {
    match name {
        "judge_options" => reply(json, |Nothing {}| app.judge_options(may_run)),
        "judgings" => reply(json, |Nothing {}| Ok(app.judgings())),
        "trust" => reply(json, |Filter { filter }| app.trust(&filter)),
        "agreement" => {
            reply(json, |Two { first, second, filter }| app.agreement(&first, &second, &filter))
        }
        "plan_judging" => reply(json, |Judge { request }| app.plan_judging(&request)),
        "start_judging" => reply(json, |Judge { request }| app.start_judging(&request)),
        "stop_judging" => reply(json, |StopLaunch { id, now }| app.stop_judging(&id, now)),
        "evaluate_options" => reply(json, |Nothing {}| app.evaluate_options(may_run)),
        "look_at_data" => reply(json, |Id { id }| app.look_at_data(&id)),
        "evaluations" => reply(json, |Nothing {}| Ok(app.evaluations())),
        "unfinished_evaluations" => reply(json, |Nothing {}| app.unfinished_evaluations()),
        "pick_file" => reply(json, |Nothing {}| pick_file()),
        "make_rows" => reply(json, |Filter { filter }| app.make_rows(&filter)),
        "plan_evaluating" => reply(json, |Evaluate { request }| app.plan_evaluating(&request)),
        "start_evaluating" => reply(json, |Evaluate { request }| app.start_evaluating(&request)),
        "stop_evaluating" => reply(json, |StopLaunch { id, now }| app.stop_evaluating(&id, now)),
        "doctor" => reply(json, |Nothing {}| Ok(with_ours(app.doctor(may_run)))),
        _ => Err(AppError::new(Code::NotFound, "Touchstone knows no such command.")),
    }
}

/// Refuses: only the user who starts the server may choose folders of this machine.
fn pick_folder() -> Result<bool, AppError> {
    let error = AppError::new(
        Code::NotAllowed,
        "A served page cannot pick a folder of the machine that serves it.",
    );
    Err(error.hint("Start it with the folder instead: touchstone serve FOLDER"))
}

/// Refuses: the page lists the data files of the served folder instead.
fn pick_file() -> Result<Option<DataFile>, AppError> {
    let error = AppError::new(
        Code::NotAllowed,
        "A served page cannot pick a file of the machine that serves it.",
    );
    Err(error
        .hint("Choose one of the folder, or evaluate it there: touchstone evaluate --data FILE"))
}

/// Refuses: the page cannot open windows on this machine.
fn reveal_file() -> Result<(), AppError> {
    let error = AppError::new(
        Code::NotAllowed,
        "A served page cannot open the file manager of the machine that serves it.",
    );
    Err(error.hint("Copy the path instead."))
}

/// Refuses: the page downloads the report through the browser instead.
fn save_report() -> Result<bool, AppError> {
    let error = AppError::new(
        Code::NotAllowed,
        "A served page cannot write to the machine that serves it.",
    );
    Err(error.hint("Download the report, or write it there: touchstone report FOLDER"))
}

fn reply<A, T>(json: &[u8], act: impl FnOnce(A) -> Result<T, AppError>) -> Result<Vec<u8>, AppError>
where
    A: DeserializeOwned,
    T: Serialize,
{
    let arguments = serde_json::from_slice(json).map_err(|why| {
        AppError::new(Code::BadRequest, format!("The arguments could not be read: {why}."))
    })?;
    let value = act(arguments)?;
    serde_json::to_vec(&value).map_err(|why| {
        AppError::new(Code::Failed, format!("The reply could not be written: {why}."))
    })
}
