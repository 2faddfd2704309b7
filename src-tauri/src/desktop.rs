//! The desktop window: one page, and one command per user action. Owns no decisions except the
//! addresses that the page may navigate to.
mod judging;
mod reveal;

pub(crate) use reveal::give_no_keys;

use crate::environment::with_ours;
use crate::shutdown::{Shutdown, ShutdownRequest};
use crate::signals::EndSignals;
use std::path::PathBuf;
use tauri::{
    AppHandle, Builder, Context, DragDropEvent, Emitter as _, Manager as _, State, Url, WebviewUrl,
    WebviewWindowBuilder, WindowEvent, Wry, ipc::Invoke, webview::NewWindowResponse,
};
use tauri_plugin_dialog::DialogExt as _;
use touchstone_api::{
    Check, Comparison, Copied, DiffRequest, DiffView, Facets, Folders, Hit, KeyState,
    LaunchOptions, LaunchPlan, LaunchRequest, LaunchView, Launched, ListPosition, ListRequest,
    Matches, Overview, OverviewRequest, ProblemPage, Published, PublishedRequest, Report,
    ReportRequest, Review, RowPiece, RowRequest, RunPage, RunScores, RunView, RunsAround, Sort,
    Span, Status, StepDiff, StepPage, StepRef, TaskPage, TaskRequest, TaskView, TextPiece,
    TreeView,
};
use touchstone_app::{
    app::App,
    error::{AppError, Code},
};

/// Tauri event that carries all events of the engine; `ui/src/backend/tauri.ts` listens to it.
const EVENT: &str = "app_event";
/// Tauri event for errors that are not the reply to a command.
const ERROR_EVENT: &str = "app_trouble";

type Engine<'a> = State<'a, App>;
type Reply<T> = Result<T, AppError>;

/// Runs a command on a blocking thread, so that neither the window nor other commands wait for it.
async fn run<T: Send + 'static>(
    app: Engine<'_>,
    act: impl FnOnce(&App) -> Reply<T> + Send + 'static,
) -> Reply<T> {
    let app = App::clone(&app);
    let broken = |_| {
        Err(AppError::new(Code::Failed, "The command failed with an internal error of Touchstone."))
    };
    tauri::async_runtime::spawn_blocking(move || act(&app)).await.unwrap_or_else(broken)
}

#[tauri::command]
async fn status(app: Engine<'_>) -> Reply<Status> {
    run(app, |app| Ok(app.status())).await
}
#[tauri::command]
async fn folders(app: Engine<'_>) -> Reply<Folders> {
    run(app, |app| Ok(app.folders(true, true))).await
}
#[tauri::command]
async fn open_recent(app: Engine<'_>, id: String) -> Reply<()> {
    run(app, move |app| app.open_recent(&id)).await
}
#[tauri::command]
async fn forget_recent(app: Engine<'_>, id: String) -> Reply<()> {
    run(app, move |app| app.forget_recent(&id)).await
}
#[tauri::command]
async fn open_demo(app: Engine<'_>) -> Reply<()> {
    run(app, App::open_demo).await
}
#[tauri::command]
async fn pick_folder(window: AppHandle, app: Engine<'_>) -> Reply<bool> {
    let asked = move || window.dialog().file().set_title("Open a folder").blocking_pick_folder();
    run(app, move |app| match asked().map(tauri_plugin_dialog::FilePath::into_path) {
        None => Ok(false),
        Some(path) => app.open(&path.map_err(not_a_path)?).map(|()| true),
    })
    .await
}
#[tauri::command]
async fn close_folder(app: Engine<'_>) -> Reply<()> {
    run(app, App::close_folder).await
}
#[tauri::command]
async fn facets(app: Engine<'_>) -> Reply<Facets> {
    run(app, App::facets).await
}
#[tauri::command]
async fn list_runs(app: Engine<'_>, request: ListRequest) -> Reply<RunPage> {
    run(app, move |app| app.list_runs(request)).await
}
#[tauri::command]
async fn locate_run(
    app: Engine<'_>,
    filter: String,
    sort: Sort,
    id: String,
) -> Reply<ListPosition> {
    run(app, move |app| app.locate_run(&filter, sort, &id)).await
}
#[tauri::command]
async fn runs_around(app: Engine<'_>, filter: String, sort: Sort, id: String) -> Reply<RunsAround> {
    run(app, move |app| app.runs_around(&filter, sort, &id)).await
}
#[tauri::command]
async fn search(app: Engine<'_>, text: String, span: Span) -> Reply<Vec<Hit>> {
    run(app, move |app| app.search(&text, span)).await
}
#[tauri::command]
async fn problems(app: Engine<'_>, span: Span) -> Reply<ProblemPage> {
    run(app, move |app| app.problems(span)).await
}
#[tauri::command]
async fn open_run(app: Engine<'_>, id: String) -> Reply<RunView> {
    run(app, move |app| app.open_run(&id)).await
}
#[tauri::command]
async fn read_steps(app: Engine<'_>, id: String, version: String, span: Span) -> Reply<StepPage> {
    run(app, move |app| app.read_steps(&id, &version, span)).await
}
#[tauri::command]
async fn read_tree(app: Engine<'_>, id: String, version: String) -> Reply<TreeView> {
    run(app, move |app| app.read_tree(&id, &version)).await
}
#[tauri::command]
async fn read_text(
    app: Engine<'_>,
    id: String,
    part: String,
    offset: u64,
    limit: u64,
) -> Reply<TextPiece> {
    run(app, move |app| app.read_text(&id, &part, offset, limit)).await
}
#[tauri::command]
async fn read_rows(
    app: Engine<'_>,
    id: String,
    part: String,
    request: RowRequest,
) -> Reply<RowPiece> {
    run(app, move |app| app.read_rows(&id, &part, request)).await
}
#[tauri::command]
async fn read_csv(app: Engine<'_>, id: String, part: String) -> Reply<String> {
    run(app, move |app| app.read_csv(&id, &part)).await
}
#[tauri::command]
async fn find_in_run(app: Engine<'_>, id: String, text: String) -> Reply<Matches> {
    run(app, move |app| app.find_in_run(&id, &text)).await
}
#[tauri::command]
async fn launch_options(app: Engine<'_>) -> Reply<LaunchOptions> {
    run(app, |app| app.launch_options(true)).await
}
#[tauri::command]
async fn plan_launch(app: Engine<'_>, request: LaunchRequest) -> Reply<LaunchPlan> {
    run(app, move |app| app.plan_launch(&request)).await
}
#[tauri::command]
async fn start_launch(app: Engine<'_>, request: LaunchRequest) -> Reply<Launched> {
    run(app, move |app| app.start_launch(&request)).await
}
#[tauri::command]
async fn launches(app: Engine<'_>) -> Reply<Vec<LaunchView>> {
    run(app, |app| Ok(app.launches())).await
}
#[tauri::command]
async fn launch(app: Engine<'_>, id: String, span: Span) -> Reply<LaunchView> {
    run(app, move |app| app.launch(&id, span)).await
}
#[tauri::command]
async fn stop_launch(app: Engine<'_>, id: String, now: bool) -> Reply<()> {
    run(app, move |app| app.stop_launch(&id, now)).await
}
#[tauri::command]
async fn retry_launch(app: Engine<'_>, id: String) -> Reply<Launched> {
    run(app, move |app| app.retry_launch(&id)).await
}
#[tauri::command(rename_all = "snake_case")]
async fn nudge_run(
    app: Engine<'_>,
    id: String,
    message: String,
    in_place: bool,
) -> Reply<Launched> {
    run(app, move |app| app.nudge_run(&id, &message, in_place)).await
}
#[tauri::command]
async fn fork_run(
    app: Engine<'_>,
    id: String,
    step: u32,
    message: Option<String>,
) -> Reply<Copied> {
    run(app, move |app| app.fork_run(&id, step, message.as_deref())).await
}
#[tauri::command]
async fn keys(app: Engine<'_>) -> Reply<Vec<KeyState>> {
    run(app, App::keys).await
}
#[tauri::command]
async fn set_key(app: Engine<'_>, name: String, key: String) -> Reply<()> {
    run(app, move |app| app.set_key(&name, key)).await
}
#[tauri::command]
async fn forget_key(app: Engine<'_>, name: String) -> Reply<()> {
    run(app, move |app| app.forget_key(&name)).await
}
#[tauri::command]
async fn test_model(app: Engine<'_>, name: String) -> Reply<Check> {
    run(app, move |app| app.test_model(&name)).await
}
#[tauri::command]
async fn overview(app: Engine<'_>, request: OverviewRequest) -> Reply<Overview> {
    run(app, move |app| app.overview(&request)).await
}
#[tauri::command]
async fn run_scores(app: Engine<'_>, id: String) -> Reply<RunScores> {
    run(app, move |app| app.run_scores(&id)).await
}
#[tauri::command]
async fn diff_answer(app: Engine<'_>, request: DiffRequest) -> Reply<DiffView> {
    run(app, move |app| app.diff_answer(&request)).await
}
#[tauri::command]
async fn compare_runs(app: Engine<'_>, ids: Vec<String>) -> Reply<Comparison> {
    run(app, move |app| app.compare_runs(&ids)).await
}
#[tauri::command]
async fn diff_steps(app: Engine<'_>, left: StepRef, right: StepRef) -> Reply<StepDiff> {
    run(app, move |app| app.diff_steps(&left, &right)).await
}
#[tauri::command]
async fn make_report(app: Engine<'_>, request: ReportRequest, whole: bool) -> Reply<Report> {
    run(app, move |app| app.make_report(&request, whole)).await
}
#[tauri::command]
async fn published(app: Engine<'_>, request: PublishedRequest) -> Reply<Published> {
    run(app, move |app| app.published(&request)).await
}
#[tauri::command]
async fn run_scorers(app: Engine<'_>, filter: String) -> Reply<u64> {
    run(app, move |app| app.run_scorers(&filter)).await
}
#[tauri::command]
async fn review_run(
    app: Engine<'_>,
    folder: Option<String>,
    id: String,
    review: Option<Review>,
) -> Reply<()> {
    run(app, move |app| app.review_run_of(folder.as_deref(), &id, review.as_ref())).await
}
#[tauri::command]
async fn list_tasks(app: Engine<'_>, request: TaskRequest) -> Reply<TaskPage> {
    run(app, move |app| app.list_tasks(request)).await
}
#[tauri::command]
async fn read_task(app: Engine<'_>, id: String) -> Reply<TaskView> {
    run(app, move |app| app.read_task(&id)).await
}
#[tauri::command]
async fn save_report(window: AppHandle, app: Engine<'_>, request: ReportRequest) -> Reply<bool> {
    run(app, move |app| {
        let made = app.make_report(&request, true)?;
        let asked =
            window.dialog().file().set_title("Save the report").set_file_name(&made.file_name);
        match asked.blocking_save_file().map(tauri_plugin_dialog::FilePath::into_path) {
            None => Ok(false),
            Some(path) => app.keep_report(&made, &path.map_err(not_a_path)?).map(|()| true),
        }
    })
    .await
}
#[tauri::command]
async fn doctor(app: Engine<'_>) -> Reply<Vec<Check>> {
    run(app, |app| Ok(with_ours(app.doctor(true)))).await
}

/// Opens the window, and returns when it is closed.
pub(crate) fn show(app: App, context: Context<Wry>) -> tauri::Result<()> {
    Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(app.clone())
        .manage(Shutdown::default())
        .invoke_handler(commands())
        .on_window_event(|window, event| match event {
            WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
                open_dropped(window.app_handle(), paths.clone());
            }
            WindowEvent::CloseRequested { api, .. } if !may_close(window.app_handle()) => {
                api.prevent_close();
            }
            _ => {}
        })
        .setup(move |tauri| {
            let handle = tauri.handle().clone();
            let told = app.subscribe(Box::new(move |event| {
                let _ = handle.emit(EVENT, event);
            }));
            tauri.manage(told);
            open_window(tauri)?;
            close_on_signals(tauri.handle().clone());
            Ok(())
        })
        .run(context)
}

/// Returns the handler of all commands, by name.
#[rustfmt::skip] // One name per line would exceed the maximum length of functions.
fn commands() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        status, folders, open_recent, forget_recent, open_demo, pick_folder, close_folder, facets, list_runs,
        locate_run, runs_around, search, problems, open_run, read_steps, read_tree, read_text, read_rows, read_csv, find_in_run,
        launch_options, plan_launch, start_launch, launches, launch, stop_launch, retry_launch, nudge_run, fork_run,
        keys, set_key, forget_key, test_model, doctor, overview, run_scores, diff_answer, compare_runs, diff_steps,
        make_report, list_tasks, read_task, published, run_scorers, review_run, save_report,
        judging::judge_options, judging::judgings, judging::plan_judging, judging::start_judging,
        judging::stop_judging, judging::trust, judging::agreement, judging::evaluate_options, judging::look_at_data,
        judging::evaluations, judging::unfinished_evaluations, judging::pick_file, judging::plan_evaluating,
        judging::start_evaluating, judging::stop_evaluating, judging::make_rows, reveal::reveal_file
    ]
}

fn open_window(tauri: &tauri::App) -> tauri::Result<()> {
    WebviewWindowBuilder::new(tauri, "main", WebviewUrl::default())
        .title("Touchstone")
        .inner_size(1280.0, 820.0)
        .min_inner_size(800.0, 560.0)
        .on_navigation(may_go_to)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .build()
        .map(drop)
}

/// Reason for stopping, displayed with the runs.
const CLOSED: &str = "The window closes when these runs have stopped.";

/// Returns true if the window may close at once. While runs are in progress, it stays open until
/// they have stopped, and displays a message.
fn may_close(handle: &AppHandle) -> bool {
    match handle.state::<Shutdown>().request(&handle.state::<App>(), CLOSED) {
        ShutdownRequest::Granted => return true,
        ShutdownRequest::Hurries => return false,
        ShutdownRequest::Waits => {}
    }
    let told = AppError::new(
        Code::BadRequest,
        "Runs are in progress. The window closes when replies in flight are saved.",
    );
    let _ = handle.emit(
        ERROR_EVENT,
        told.hint("Close it again to abort them. Stopped runs can be resumed later."),
    );
    let handle = handle.clone();
    tauri::async_runtime::spawn_blocking(move || {
        handle.state::<Shutdown>().wait(&handle.state::<App>(), CLOSED);
        if let Some(window) = handle.get_webview_window("main") {
            // The window may be gone already.
            let _ = window.destroy();
        }
    });
    false
}

/// Treats Ctrl-C in the terminal, the end of that terminal and the end of the desktop session as
/// requests to close the window.
fn close_on_signals(handle: AppHandle) {
    tauri::async_runtime::spawn(async move {
        let Ok(mut signals) = EndSignals::listen() else { return };
        loop {
            signals.next().await;
            if let Some(window) = handle.get_webview_window("main") {
                let _ = window.close();
            }
        }
    });
}

/// Opens the first of the dropped folders. There is no reply to a drop, so errors are sent as an
/// event.
fn open_dropped(handle: &AppHandle, paths: Vec<PathBuf>) {
    let handle = handle.clone();
    tauri::async_runtime::spawn_blocking(move || {
        if let Err(error) = dropped(&paths).and_then(|folder| handle.state::<App>().open(folder)) {
            let _ = handle.emit(ERROR_EVENT, &error);
        }
    });
}

/// Returns the first dropped path that is not a file. Missing or unreadable folders are reported by
/// the engine.
fn dropped(paths: &[PathBuf]) -> Reply<&PathBuf> {
    paths.iter().find(|path| !path.is_file()).ok_or_else(|| {
        let error = AppError::new(Code::BadRequest, "What was dropped is not a folder.");
        error.hint("Drop the folder that holds the transcripts, or the whole benchmark.")
    })
}

fn not_a_path(why: impl std::fmt::Display) -> AppError {
    AppError::new(
        Code::BadRequest,
        format!("What was picked is not a folder of this machine: {why}."),
    )
}

/// Returns true if the page may navigate to a URL: only to its own, and in development to that of
/// the development server.
fn may_go_to(url: &Url) -> bool {
    let built_in = url.scheme() == "tauri" && url.host_str() == Some("localhost");
    let developed = cfg!(dev) && url.origin().ascii_serialization() == "http://127.0.0.1:5173";
    // Reports are displayed in a sandboxed frame, at a blob URL that only this page can create.
    if let Some(made) = url.as_str().strip_prefix("blob:") {
        return Url::parse(made).is_ok_and(|made| may_go_to(&made) && made.scheme() != "blob");
    }
    let plain = url.username().is_empty()
        && url.password().is_none()
        && (url.port().is_none() || developed);
    plain && (built_in || developed)
}

#[cfg(test)]
mod tests;
