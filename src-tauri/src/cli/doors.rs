//! The two doors that stay open: the window and the server.
use super::{Dirs, Ended, Outcome, folder};
use crate::{
    Surroundings, calls, desktop,
    serve::{Events, Inside, Page, Server},
};
use clap::Args;
use std::{
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
};
use tauri::{Context, Wry};
use touchstone_engine::{
    app::{App, Subscription},
    error::{AppError, Code},
};

/// What `serve` takes.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The folder to open; without one the start page is shown
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: Dirs,
    /// Open a copy of the sample data
    #[arg(long, conflicts_with_all = ["folder", "input_dir", "output_dir"])]
    demo: bool,
    /// Port to listen on; a free one when left out
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Let the page launch runs, which spends money and runs programs
    #[arg(long)]
    allow_run: bool,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

/// The page, built in.
fn context() -> Context<Wry> {
    tauri::generate_context!()
}

/// Opens the window. Without a display the toolkit would end the program, so that is found out before it is touched.
pub(super) fn window(folder: Option<PathBuf>, demo: bool, here: &Surroundings) -> Outcome {
    if !here.display {
        let error = AppError::new(Code::Failed, "There is no display here to open a window on.");
        return Err(error.hint("Serve the same page to a browser instead: touchstone serve FOLDER").into());
    }
    let app = here.engine();
    if demo {
        app.open_demo()?;
    } else if let Some(folder) = folder {
        app.open(&folder)?;
    }
    desktop::show(app, context())
        .map_err(|why| AppError::new(Code::Failed, format!("The window could not be opened: {why}.")))?;
    Ok(Ended::Well)
}

/// Serves the page until Ctrl-C.
pub(super) fn serve(asked: Serve, here: &Surroundings) -> Outcome {
    let app = here.engine();
    if asked.demo {
        app.open_demo()?;
    } else if let Some(place) = folder::chosen(asked.folder, asked.dirs) {
        folder::open(&app, &place)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(asked.port).await.map_err(|why| {
            let error =
                AppError::new(Code::Failed, format!("Port {} of 127.0.0.1 could not be taken: {why}.", asked.port));
            error.hint("Leave --port out to get a free one.")
        })?;
        let end = interrupted()?;
        announce(&server.address(), asked.json)?;
        let (inside, _told) = inside(app.clone(), asked.allow_run);
        server.run(inside, end).await?;
        Ok(Ended::Well)
    })
}

/// Ctrl-C, or the polite signal that scripts send. Listened to from the call on, also before the end is waited for.
fn interrupted() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupted, mut terminated) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

fn announce(address: &str, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::json!({ "url": address }))?;
    } else {
        writeln!(out, "{address}")?;
    }
    out.flush()
}

/// The listening ends when the second is dropped.
fn inside(app: App, may_run: bool) -> (Inside, Subscription) {
    let events = Events::new();
    let passed_on = events.clone();
    let told = app.subscribe(Box::new(move |event| passed_on.send(event)));
    let page = Arc::new(Page::built_in(context().assets()));
    (Inside { calls: Arc::new(move |name, arguments| calls::call(&app, may_run, name, arguments)), events, page }, told)
}
