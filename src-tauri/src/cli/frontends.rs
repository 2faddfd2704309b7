//! The two long-running commands: the window and the server.
use super::{CommandStatus, DirArgs, Outcome, folder};
use crate::{
    Environment, calls, desktop,
    serve::{Events, Invites, Page, Server, ServerState},
    shutdown::{Shutdown, ShutdownRequest},
    signals::EndSignals,
};
use clap::Args;
use std::{
    io::{self, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
};
use tauri::{Context, Wry};
use touchstone_app::{
    app::{App, Subscription},
    error::{AppError, Code},
};

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that can be typed")]
pub(super) struct Serve {
    /// Folder to open [default: none, shows the start page]
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
    /// Open a copy of the sample data
    #[arg(long, conflicts_with_all = ["folder", "input_dir", "output_dir"])]
    demo: bool,
    /// Listen on this port; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Let the page launch runs, which spends money and executes programs
    #[arg(long)]
    allow_run: bool,
    /// Open the page in the default browser
    #[arg(long)]
    open: bool,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

/// Tauri context with the embedded page.
fn context() -> Context<Wry> {
    tauri::generate_context!()
}

/// Opens the window. Fails if there is no display; this is checked first, because the toolkit would
/// end the process.
pub(super) fn window(folder: Option<PathBuf>, demo: bool, here: &Environment) -> Outcome {
    if !here.display {
        let error = AppError::new(Code::Failed, "There is no display here to open a window on.");
        return Err(error
            .hint("Serve the same page to a browser instead: touchstone serve FOLDER")
            .into());
    }
    // Must run before any thread or process of the window exists.
    crate::environment::give_no_keys_to_the_window();
    let app = here.engine();
    if demo {
        app.open_demo()?;
    } else if let Some(folder) = folder {
        app.open(&folder)?;
    }
    desktop::show(app, context()).map_err(|why| {
        AppError::new(Code::Failed, format!("The window could not be opened: {why}."))
    })?;
    Ok(CommandStatus::Well)
}

/// Serves the page until Ctrl-C.
pub(super) fn serve(asked: Serve, here: &Environment) -> Outcome {
    let app = here.engine();
    if asked.demo {
        app.open_demo()?;
    } else if let Some(place) = folder::chosen(asked.folder, asked.dirs) {
        folder::open(&app, &place)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(asked.port).map_err(|why| {
            let error = AppError::new(
                Code::Failed,
                format!("Port {} of 127.0.0.1 could not be taken: {why}.", asked.port),
            );
            error.hint("Leave --port out to get a free one.")
        })?;
        let end = interrupted(app.clone())?;
        let invites = server.invites();
        // Before the first address: whoever reads it may send the signal at once.
        announce_again(Arc::clone(&invites), asked.json)?;
        announce(&invites.address()?, asked.json)?;
        eprintln!(
            "Each address works once. For another browser: kill -USR1 {}",
            std::process::id()
        );
        if asked.open {
            open_browser(&invites, here)?;
        }
        let (inside, _told) = inside(app.clone(), asked.allow_run);
        server.run(inside, end).await?;
        Ok(CommandStatus::Well)
    })
}

/// Returns a future that completes when the server may end. Signals are listened to from this call
/// on, before the future is first polled. While runs are in progress, the page is served until they
/// have stopped; a second signal aborts the calls in flight.
fn interrupted(app: App) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    const WHY: &str = "The server ends when these runs have stopped.";
    let mut signals = EndSignals::listen()?;
    let leaving = Arc::new(Shutdown::default());
    Ok(async move {
        let mut wait = None;
        loop {
            let over = async {
                match &mut wait {
                    Some(wait) => drop(std::pin::Pin::new(wait).await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = signals.next() => {}
                () = over => return,
            }
            match leaving.request(&app, WHY) {
                ShutdownRequest::Granted => return,
                ShutdownRequest::Hurries => say("Stopping now."),
                ShutdownRequest::Waits => {
                    say(
                        "Stopping: calls in flight finish first. Press Ctrl-C again to abort them.",
                    );
                    let (app, leaving) = (app.clone(), Arc::clone(&leaving));
                    wait = Some(tokio::task::spawn_blocking(move || leaving.wait(&app, WHY)));
                }
            }
        }
    })
}

/// Prints a line on standard error. Ignores failures: the terminal may be gone.
pub(super) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a new address on each SIGUSR1. A key press would only work on a terminal, and reading it
/// would stop a server in the background.
fn announce_again(invites: Arc<Invites>, json: bool) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut asked = signal(SignalKind::user_defined1())?;
    tokio::spawn(async move {
        while asked.recv().await.is_some() {
            if let Err(error) = invites.address().and_then(|address| announce(&address, json)) {
                tracing::warn!(%error, "another address could not be printed");
            }
        }
    });
    Ok(())
}

/// Opens the page with the desktop's default browser. The arguments of a process are readable by
/// all users, so the address handed over is one that no other user can use (`serve/invites.rs`).
fn open_browser(invites: &Invites, here: &Environment) -> io::Result<()> {
    const BY_HAND: &str = "Please open the printed address by hand.";
    if !here.display {
        eprintln!("There is no display here to open a browser on. {BY_HAND}");
        return Ok(());
    }
    let mut opener = Command::new("xdg-open");
    crate::reveal::give_no_keys(&mut opener);
    opener
        .arg(invites.address_to_hand_over()?)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Some openers return only when the browser ends.
    std::thread::Builder::new().name("browser".to_owned()).spawn(move || {
        match opener.status() {
            Ok(status) if status.success() => {}
            Ok(_) => eprintln!("No browser could be opened. {BY_HAND}"),
            Err(error) => eprintln!("xdg-open could not be started: {error}. {BY_HAND}"),
        }
    })?;
    Ok(())
}

/// Prints the address of a server and flushes the output.
pub(super) fn announce(address: &str, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::json!({ "url": address }))?;
    } else {
        writeln!(out, "{address}")?;
    }
    out.flush()
}

/// Builds the handlers of the server. Events are forwarded until the returned subscription is
/// dropped.
fn inside(app: App, may_run: bool) -> (ServerState, Subscription) {
    let events = Events::new();
    let passed_on = events.clone();
    let told = app.subscribe(Box::new(move |event| passed_on.send(event)));
    let page = Arc::new(Page::built_in(context().assets()));
    (
        ServerState {
            calls: Arc::new(move |name, arguments| {
                let caller = calls::Page::Served { may_act: may_run };
                calls::call(&app, &caller, name, arguments).map(String::into_bytes)
            }),
            events,
            page,
        },
        told,
    )
}
