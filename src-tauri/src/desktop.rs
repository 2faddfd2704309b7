//! The desktop window: one page, which calls the commands. Owns no decisions except the addresses
//! that the page may navigate to.
use crate::calls::{self, Page};
use crate::shutdown::{Shutdown, ShutdownRequest};
use crate::signals::EndSignals;
use std::path::PathBuf;
use tauri::{
    AppHandle, Builder, Context, DragDropEvent, Emitter as _, Manager as _, Url, WebviewUrl,
    WebviewWindowBuilder, WindowEvent, Wry,
    ipc::{Invoke, InvokeBody, InvokeResponseBody},
    webview::NewWindowResponse,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};

/// Tauri event that carries all events of the engine; `ui/src/backend/tauri.ts` listens to it.
const EVENT: &str = "app_event";
/// Tauri event for errors that are not the reply to a command.
const ERROR_EVENT: &str = "app_trouble";

/// Tauri event for what was opened by dropping it.
const OPENED_EVENT: &str = "app_opened";

/// Opens the window at an address within the page, and returns when it is closed.
pub(crate) fn show(app: App, context: Context<Wry>, start: String) -> tauri::Result<()> {
    Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(app.clone())
        .manage(Shutdown::default())
        .invoke_handler(run_command)
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
            open_window(tauri, start)?;
            close_on_signals(tauri.handle().clone());
            Ok(())
        })
        .run(context)
}

/// Runs the command of a message on a blocking thread, so that neither the window nor other commands
/// wait for it.
fn run_command(invoke: Invoke<Wry>) -> bool {
    let Invoke { message, resolver, .. } = invoke;
    let window = message.webview_ref().app_handle().clone();
    let name = message.command().to_owned();
    let arguments = match message.payload() {
        InvokeBody::Json(arguments) => arguments.to_string().into_bytes(),
        InvokeBody::Raw(arguments) => arguments.clone(),
    };
    resolver.respond_async_serialized(async move {
        let run = move || {
            let app = App::clone(&window.state());
            calls::call(&app, &Page::Window(window), &name, &arguments)
        };
        let reply = tauri::async_runtime::spawn_blocking(run).await.unwrap_or_else(|_| {
            let message = "The command failed with an internal error of Touchstone.";
            Err(AppError::new(Code::Failed, message))
        });
        Ok(InvokeResponseBody::Json(reply?))
    });
    true
}

fn open_window(tauri: &tauri::App, start: String) -> tauri::Result<()> {
    let page = if start.is_empty() { WebviewUrl::default() } else { WebviewUrl::App(start.into()) };
    WebviewWindowBuilder::new(tauri, "main", page)
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

/// Opens what was dropped. There is no reply to a drop, so the outcome is sent as an event.
fn open_dropped(handle: &AppHandle, paths: Vec<PathBuf>) {
    let handle = handle.clone();
    tauri::async_runtime::spawn_blocking(move || {
        let _ = match handle.state::<App>().folder().open_paths(&paths) {
            Ok(opened) => handle.emit(OPENED_EVENT, &opened),
            Err(error) => handle.emit(ERROR_EVENT, &error),
        };
    });
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
