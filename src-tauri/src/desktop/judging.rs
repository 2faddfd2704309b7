//! Commands of the window for judging, for the agreement of judges, and for evaluating data files.
use super::{Engine, Reply, not_a_path, run};
use tauri::AppHandle;
use tauri_plugin_dialog::DialogExt as _;
use touchstone_api::{
    Agreement, DataFile, DataLook, EvaluateOptions, EvaluatePlan, EvaluateRequest,
    EvaluateUnfinished, Evaluating, EvaluationView, JudgeOptions, JudgePlan, JudgeRequest, Judging,
    JudgingView, RowsMade, Trust,
};
use touchstone_app::app::App;

#[tauri::command]
pub(super) async fn judge_options(app: Engine<'_>) -> Reply<JudgeOptions> {
    run(app, |app| app.judge_options(true)).await
}
#[tauri::command]
pub(super) async fn judgings(app: Engine<'_>) -> Reply<Vec<JudgingView>> {
    run(app, |app| Ok(app.judgings())).await
}
#[tauri::command]
pub(super) async fn plan_judging(app: Engine<'_>, request: JudgeRequest) -> Reply<JudgePlan> {
    run(app, move |app| app.plan_judging(&request)).await
}
#[tauri::command]
pub(super) async fn start_judging(app: Engine<'_>, request: JudgeRequest) -> Reply<Judging> {
    run(app, move |app| app.start_judging(&request)).await
}
#[tauri::command]
pub(super) async fn stop_judging(app: Engine<'_>, id: String, now: bool) -> Reply<()> {
    run(app, move |app| app.stop_judging(&id, now)).await
}
#[tauri::command]
pub(super) async fn trust(app: Engine<'_>, filter: String) -> Reply<Trust> {
    run(app, move |app| app.trust(&filter)).await
}
#[tauri::command]
pub(super) async fn agreement(
    app: Engine<'_>,
    first: String,
    second: String,
    filter: String,
) -> Reply<Agreement> {
    run(app, move |app| app.agreement(&first, &second, &filter)).await
}
#[tauri::command]
pub(super) async fn evaluate_options(app: Engine<'_>) -> Reply<EvaluateOptions> {
    run(app, |app| app.evaluate_options(true)).await
}
#[tauri::command]
pub(super) async fn look_at_data(app: Engine<'_>, id: String) -> Reply<DataLook> {
    run(app, move |app| app.look_at_data(&id)).await
}
#[tauri::command]
pub(super) async fn evaluations(app: Engine<'_>) -> Reply<Vec<EvaluationView>> {
    run(app, |app| Ok(app.evaluations())).await
}
#[tauri::command]
pub(super) async fn unfinished_evaluations(app: Engine<'_>) -> Reply<Vec<EvaluateUnfinished>> {
    run(app, App::unfinished_evaluations).await
}
#[tauri::command]
pub(super) async fn pick_file(window: AppHandle, app: Engine<'_>) -> Reply<Option<DataFile>> {
    let asked = move || {
        let dialog = window.dialog().file().set_title("Choose a data file");
        dialog
            .add_filter("Rows", &["jsonl", "json", "csv", "tsv"])
            .add_filter("All files", &["*"])
            .blocking_pick_file()
    };
    run(app, move |app| match asked().map(tauri_plugin_dialog::FilePath::into_path) {
        None => Ok(None),
        Some(path) => app.register_data(&path.map_err(not_a_path)?).map(Some),
    })
    .await
}
#[tauri::command]
pub(super) async fn make_rows(app: Engine<'_>, filter: String) -> Reply<RowsMade> {
    run(app, move |app| app.make_rows(&filter)).await
}
#[tauri::command]
pub(super) async fn plan_evaluating(
    app: Engine<'_>,
    request: EvaluateRequest,
) -> Reply<EvaluatePlan> {
    run(app, move |app| app.plan_evaluating(&request)).await
}
#[tauri::command]
pub(super) async fn start_evaluating(
    app: Engine<'_>,
    request: EvaluateRequest,
) -> Reply<Evaluating> {
    run(app, move |app| app.start_evaluating(&request)).await
}
#[tauri::command]
pub(super) async fn stop_evaluating(app: Engine<'_>, id: String, now: bool) -> Reply<()> {
    run(app, move |app| app.stop_evaluating(&id, now)).await
}
