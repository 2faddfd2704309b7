//! `stabletoolbench serve`: runs the server of virtual APIs, from its arguments to its shutdown.
use super::{
    CommandError, CommandStatus, Outcome,
    frontends::{announce, say},
};
use crate::{
    Environment,
    serve::{Secret, VirtualServer},
    signals::EndSignals,
};
use clap::Args;
use std::{io, path::PathBuf};
use tokio::sync::watch;
use touchstone_app::error::{AppError, Code};
use touchstone_app::suites::virtual_apis::VirtualApiOptions;

/// Arguments of `stabletoolbench serve`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that can be typed")]
pub(super) struct Serve {
    /// Folder with touchstone.yaml [default: the current folder]
    folder: Option<PathBuf>,
    /// Listen on this port; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Folder of cached replies
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Do not read or write cached replies
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// Folder of tool definitions
    #[arg(long, value_name = "DIR")]
    tools: Option<PathBuf>,
    /// Model in touchstone.yaml that simulates APIs
    #[arg(long, value_name = "MODEL")]
    simulator: Option<String>,
    /// Address of a server of the real APIs
    #[arg(long, value_name = "URL")]
    real: Option<String>,
    /// Sources to try in order: mirror (cache, simulator, real), real (cache, real), or main,
    /// mirrorapi or `mirrorapi_cache` as in the original
    #[arg(long, value_name = "NAME")]
    order: Option<String>,
    /// Cache failures of the simulator too, like the original
    #[arg(long)]
    save_all: bool,
    /// Detect failures of real APIs without false alarms
    #[arg(long)]
    strict: bool,
    /// Write one JSON object per call to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Environment variable with the token that clients must send [default: a new token]
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
    /// Accept calls without a token, from every program on this machine; calls may cost money
    #[arg(long, conflicts_with = "token_env")]
    no_token: bool,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

/// Minimum length of a token chosen by the user.
const SHORTEST_TOKEN: usize = 16;

impl Serve {
    /// Returns the token that clients must send, if any. The port is reachable for every user of
    /// the machine, so a token is required if answers may cost money, unless `--no-token` is set.
    fn token(&self, may_cost: bool) -> Result<Option<Secret>, CommandError> {
        let Some(name) = &self.token_env else {
            return Ok(if may_cost && !self.no_token { Some(Secret::random()?) } else { None });
        };
        let is_fit = |token: &String| {
            token.len() >= SHORTEST_TOKEN
                && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
        };
        let Some(token) = std::env::var(name).ok().filter(is_fit) else {
            let error = AppError::new(
                Code::BadRequest,
                format!(
                    "The variable {name} holds no token: at least {SHORTEST_TOKEN} letters, digits, -, _, . and ~."
                ),
            );
            return Err(error
                .hint(format!("Set one: export {name}=$(openssl rand -hex 32)"))
                .into());
        };
        Ok(Some(Secret::new(token)))
    }

    fn server_settings(&self) -> VirtualApiOptions {
        VirtualApiOptions {
            folder: self.folder.clone().unwrap_or_else(|| ".".into()),
            cache: self.cache.clone(),
            no_cache: self.no_cache,
            tools: self.tools.clone(),
            simulator: self.simulator.clone(),
            real: self.real.clone(),
            order: self.order.clone(),
            save_all: self.save_all,
            strict: self.strict,
            log: self.log.clone(),
        }
    }
}

/// Serves until Ctrl-C.
pub(super) fn serve(asked: &Serve, here: &Environment) -> Outcome {
    let door = here.engine().suites().open_virtual(&asked.server_settings())?;
    let token = asked.token(door.may_cost())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = VirtualServer::bind(asked.port, token).map_err(|why| {
            let error = AppError::new(
                Code::Failed,
                format!("Port {} of 127.0.0.1 could not be taken: {why}.", asked.port),
            );
            error.hint("Leave --port out to get a free one.")
        })?;
        let asked_to_end = interrupted()?;
        for line in door.settings_summary() {
            eprintln!("{line}");
        }
        announce(&server.address(), asked.json)?;
        server.run(door, asked_to_end).await;
        Ok(CommandStatus::Well)
    })
}

/// Returns the number of end signals received. Signals are listened to from this call on.
fn interrupted() -> io::Result<watch::Receiver<u8>> {
    let mut signals = EndSignals::listen()?;
    let (asked, heard) = watch::channel(0);
    tokio::spawn(async move {
        for times in 1..=2 {
            signals.next().await;
            if times == 1 {
                say("Stopping: calls in flight finish first. Press Ctrl-C again to abort them.");
            }
            asked.send_replace(times);
        }
        // Keeps the sender alive, since receivers would take its end for a signal.
        asked.closed().await;
    });
    Ok(heard)
}
