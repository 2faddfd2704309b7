//! Dialogs of the desktop for choosing folders and files. Each blocks until the user answers.
use std::path::PathBuf;
use tauri::AppHandle;
use tauri_plugin_dialog::{DialogExt as _, FilePath};
use touchstone_api::{DataFile, ExportRequest, ReportRequest};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};

type Reply<T> = Result<T, AppError>;

/// Opens the folder that the user picks; returns false on cancel.
pub(crate) fn pick_folder(app: &App, window: &AppHandle) -> Reply<bool> {
    match window.dialog().file().set_title("Open a folder").blocking_pick_folder() {
        None => Ok(false),
        Some(picked) => app.folder().open(&into_path(picked)?).map(|()| true),
    }
}

/// Registers the data file that the user picks; returns `None` on cancel.
pub(crate) fn pick_file(app: &App, window: &AppHandle) -> Reply<Option<DataFile>> {
    let dialog = window.dialog().file().set_title("Choose a data file");
    let picked = dialog
        .add_filter("Rows", &["jsonl", "json", "csv", "tsv"])
        .add_filter("All files", &["*"])
        .blocking_pick_file();
    picked.map(|picked| app.evaluations().register_data(&into_path(picked)?)).transpose()
}

/// Writes a report to the file that the user picks, and returns its path; `None` on cancel.
pub(crate) fn save_report(
    app: &App,
    window: &AppHandle,
    request: &ReportRequest,
) -> Reply<Option<String>> {
    let report = app.reports().make_report(request, true)?;
    let dialog = window.dialog().file().set_title("Save the report");
    match dialog.set_file_name(&report.file_name).blocking_save_file() {
        None => Ok(None),
        Some(picked) => {
            let path = into_path(picked)?;
            app.reports().keep_report(&report, &path)?;
            Ok(Some(path.to_string_lossy().into_owned()))
        }
    }
}

/// Writes a run in a format of another tool to the file that the user picks. Returns the notes on
/// what was written; `None` on cancel.
pub(crate) fn save_export(
    app: &App,
    window: &AppHandle,
    request: &ExportRequest,
) -> Reply<Option<Vec<String>>> {
    let file = app.reports().export_run(request)?;
    let dialog = window.dialog().file().set_title("Export the run");
    match dialog.set_file_name(&file.file_name).blocking_save_file() {
        None => Ok(None),
        Some(picked) => {
            app.reports().keep_export(&file.text, &into_path(picked)?).map(|()| Some(file.notes))
        }
    }
}

/// Writes an image, sound or file of a transcript to the file that the user picks; returns false on
/// cancel.
pub(crate) fn save_media(
    app: &App,
    window: &AppHandle,
    (id, version): (&str, &str),
    part: &str,
) -> Reply<bool> {
    app.runs().save_media(id, version, part, |name| {
        let dialog = window.dialog().file().set_title("Save the file").set_file_name(name);
        dialog.blocking_save_file().map(into_path).transpose()
    })
}

fn into_path(picked: FilePath) -> Reply<PathBuf> {
    picked.into_path().map_err(|why| {
        let message = format!("What was picked is not a folder of this machine: {why}.");
        AppError::new(Code::BadRequest, message)
    })
}
