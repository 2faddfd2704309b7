//! The long-running commands: the window, the server, and opening paths in one of them.
use super::{CommandStatus, DirArgs, Outcome, folder};
use crate::{
    Environment, calls, desktop,
    serve::{
        Events, Invites, Page, Server, ServerState,
        control::{self, Control},
    },
    shutdown::{Shutdown, ShutdownRequest},
    signals::EndSignals,
};
use clap::Args;
use sha2::{Digest as _, Sha256};
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};
use tauri::{Context, Url, Wry};
use touchstone_api::Opened;
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::events::Subscription;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Folder to open, or `s3://BUCKET/PREFIX` [default: none, shows the start page]
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
    /// Open a copy of the sample data
    #[arg(long, conflicts_with_all = ["folder", "input_dir", "output_dir"])]
    demo: bool,
    /// Print another address of a server that is running, for one more browser
    #[arg(long, conflicts_with_all = ["folder", "input_dir", "output_dir", "demo", "allow_run", "open"])]
    again: bool,
    #[command(flatten)]
    page: ServedPage,
}

/// Options of a served page.
#[derive(Debug, Args)]
struct ServedPage {
    /// Listen on this port; 0 picks a free one [default: the same one for a folder, if it is free]
    #[arg(long)]
    port: Option<u16>,
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

impl ServedPage {
    /// Returns true if any of the options is given.
    fn is_given(&self) -> bool {
        self.port.is_some() || self.allow_run || self.open || self.json
    }
}

/// Arguments of `open`.
#[derive(Debug, Args)]
pub(super) struct Open {
    /// A folder, `s3://BUCKET/PREFIX`, or files with results: logs, sessions, traces, transcripts
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Serve the page and print its address instead of opening the window; implied by the options
    /// below, and where there is no display
    #[arg(long)]
    serve: bool,
    #[command(flatten)]
    page: ServedPage,
}

/// Tauri context with the embedded page.
fn context() -> Context<Wry> {
    tauri::generate_context!()
}

/// Opens the window. Fails if there is no display; this is checked first, because the toolkit would
/// end the process.
pub(super) fn window(path: Option<&PathBuf>, demo: bool, here: &Environment) -> Outcome {
    if !here.display {
        let error = AppError::new(Code::Failed, "There is no display here to open a window on.");
        return Err(error
            .hint("Serve the same page to a browser instead: touchstone serve FOLDER")
            .into());
    }
    show(path.map_or(&[], std::slice::from_ref), demo, here)
}

/// Opens paths in the window, or serves the page on them.
pub(super) fn open(asked: &Open, here: &Environment) -> Outcome {
    if here.display && !asked.serve && !asked.page.is_given() {
        return show(&asked.paths, false, here);
    }
    let app = here.engine();
    let start = start_address(&app.folder().open_paths(&asked.paths)?);
    serve_page(&app, &asked.page, &start, here)
}

/// Shows the window, with these paths open.
fn show(paths: &[PathBuf], demo: bool, here: &Environment) -> Outcome {
    // Must run before any thread or process of the window exists.
    crate::environment::give_no_keys_to_the_window();
    let app = here.engine();
    let mut start = String::new();
    if demo {
        app.folder().open_demo()?;
    } else if !paths.is_empty() {
        start = start_address(&app.folder().open_paths(paths)?);
    }
    desktop::show(app, context(), start).map_err(|why| {
        AppError::new(Code::Failed, format!("The window could not be opened: {why}."))
    })?;
    Ok(CommandStatus::Well)
}

/// Returns the address within the page that shows what was opened: the list with its filter, or the
/// only run of it. Empty for a whole folder.
fn start_address(opened: &Opened) -> String {
    if opened.filter.is_empty() {
        return String::new();
    }
    let Ok(mut address) = Url::parse("page:/") else { return String::new() };
    address.query_pairs_mut().append_pair("q", &opened.filter).append_pair("single", "");
    format!("#/runs?{}", address.query().unwrap_or_default())
}

/// Serves the page on a folder until Ctrl-C.
pub(super) fn serve(asked: Serve, here: &Environment) -> Outcome {
    if asked.again {
        return announce_again(&asked.page, here);
    }
    let app = here.engine();
    if asked.demo {
        app.folder().open_demo()?;
    } else if let Some(place) = folder::chosen(asked.folder, asked.dirs) {
        folder::open(&app, &place)?;
    }
    serve_page(&app, &asked.page, "", here)
}

/// Serves the page until Ctrl-C. `start` is the address within the page that it opens at.
fn serve_page(app: &App, asked: &ServedPage, start: &str, here: &Environment) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let state_dir = here.state_dir();
        let server = bind(app, asked.port, &state_dir)?;
        let end = interrupted(app.clone())?;
        let invites = server.invites();
        // Before the first address: whoever reads it may ask for another one at once.
        let control = Control::open(&state_dir, server.port());
        match control {
            Ok(control) => {
                tokio::spawn(control.answer(Arc::clone(&invites), start.to_owned()));
            }
            Err(error) => {
                tracing::warn!(%error, "`touchstone serve --again` cannot reach this server");
            }
        }
        announce(&(invites.address()? + start), asked.json)?;
        eprintln!("Each address works once. For another browser: touchstone serve --again");
        if asked.open {
            open_browser(&invites, start, here)?;
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

/// Binds a port: the given one, else the one that stays the same for the open folder, so that its
/// pages go on when the server comes back. Falls back to a free one.
fn bind(app: &App, port: Option<u16>, state_dir: &Path) -> Result<Server, AppError> {
    let folder = app.folder().status().folder.map_or_else(String::new, |folder| folder.path);
    let server = match port {
        Some(port) => Server::bind(port, state_dir),
        None => {
            Server::bind(usual_port(&folder), state_dir).or_else(|_| Server::bind(0, state_dir))
        }
    };
    server.map_err(|why| {
        let port = port.unwrap_or_default();
        AppError::new(Code::Failed, format!("Port {port} of 127.0.0.1 could not be taken: {why}."))
            .hint("Leave --port out to get a free one.")
    })
}

/// Returns the usual port of a folder, below those that systems give to connections.
fn usual_port(folder: &str) -> u16 {
    let hash = Sha256::digest(folder.as_bytes());
    20_000 + u16::from_be_bytes([hash[0], hash[1]]) % 10_000
}

/// Prints another address of the only running server, or of the one on the given port.
fn announce_again(asked: &ServedPage, here: &Environment) -> Outcome {
    let state_dir = here.state_dir();
    let running = control::running(&state_dir);
    let port = match (asked.port, running.as_slice()) {
        (Some(port), _) if running.contains(&port) => port,
        (None, [port]) => *port,
        (Some(port), _) => {
            let error = AppError::new(Code::Failed, format!("No server runs on port {port}."));
            return Err(error.hint("Start one: touchstone serve FOLDER").into());
        }
        (None, []) => {
            let error = AppError::new(Code::Failed, "No server is running.");
            return Err(error.hint("Start one: touchstone serve FOLDER").into());
        }
        (None, ports) => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            let several = format!("Servers run on the ports {}.", ports.join(", "));
            let hint = format!("Choose one: touchstone serve --again --port {}", ports[0]);
            return Err(AppError::new(Code::Failed, several).hint(hint).into());
        }
    };
    announce(&control::ask(&state_dir, port)?, asked.json)?;
    Ok(CommandStatus::Well)
}

/// Opens the page with the desktop's default browser. The arguments of a process are readable by
/// all users, so the address handed over is one that no other user can use (`serve/invites.rs`).
fn open_browser(invites: &Invites, start: &str, here: &Environment) -> io::Result<()> {
    const BY_HAND: &str = "Please open the printed address by hand.";
    if !here.display {
        eprintln!("There is no display here to open a browser on. {BY_HAND}");
        return Ok(());
    }
    let mut opener = Command::new("xdg-open");
    crate::reveal::give_no_keys(&mut opener);
    opener
        .arg(invites.address_to_hand_over()? + start)
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

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_api::Folder;

    #[test]
    fn a_folder_has_the_same_port_each_time_and_others_have_other_ones() {
        let ports: Vec<u16> = ["", "/a", "/b"].map(usual_port).to_vec();
        assert_eq!(ports, ["", "/a", "/b"].map(usual_port));
        assert!(ports.iter().all(|port| (20_000..30_000).contains(port)), "{ports:?}");
        assert!(ports[0] != ports[1] && ports[1] != ports[2]);
    }

    #[test]
    fn the_page_starts_with_the_filter_of_what_was_opened() {
        let folder = Folder {
            id: "1".to_owned(),
            name: "w".to_owned(),
            path: "/w".to_owned(),
            input_dir: None,
            output_dir: "/w".to_owned(),
            demo: false,
        };
        let start = |filter: &str| {
            start_address(&Opened { folder: folder.clone(), filter: filter.to_owned() })
        };
        assert_eq!(start(""), "");
        let filter = r#"file:"a b&c#d.json""#;
        assert_eq!(start(filter), "#/runs?q=file%3A%22a+b%26c%23d.json%22&single=");
    }
}
