//! Health checks for running: the sandbox, the databases of the workspace, the keys. Spends no
//! money and starts no server.
use super::FolderActions;
use super::doctor::{fine, note, wrong};
use crate::paths;
use crate::settings::setup::fault_line;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;
use touchstone_api::Check;
use touchstone_formats::system::ToolKind;
use touchstone_model::error::ReadError;
use touchstone_runner::http::keys::Source;
use touchstone_runner::setup::{Setup, ToolEntry};
use touchstone_runner::tools::sql::SqlTool;
use touchstone_runner::tools::virtual_api::{self, VirtualSettings};
use touchstone_runner::tools::{Unusable, python};

/// Time limit of a database check. The page waits for all checks together.
const PATIENCE: Duration = Duration::from_secs(5);

impl FolderActions<'_> {
    /// Checks the requirements of launches, with the databases and keys of the open folder.
    pub(super) fn runs_checks(self) -> Vec<Check> {
        // Nothing that a bucket names is connected to.
        let open = self.app.current_folder().filter(|open| open.bucket.is_none());
        let base = open.map(|open| open.flow.roots.folder.clone());
        let read = base.as_deref().and_then(paths::workspace).transpose();
        let unread = read.as_ref().err().map(|why| {
            let advice =
                why.advice.as_deref().unwrap_or("Until you fix it, its settings are ignored.");
            wrong("Workspace file", format!("touchstone.yaml could not be read: {why}"), advice)
        });
        let faults = read
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .map_or(&[][..], |workspace| workspace.faults.as_slice());
        let faults: Vec<Check> = faults
            .iter()
            .map(|fault| {
                let advice = fault.advice.as_deref().unwrap_or("Correct it.");
                let alone = ReadError { advice: None, ..fault.clone() };
                wrong(
                    "Workspace file",
                    fault_line(&alone),
                    &format!("{advice} Until then, no runs start."),
                )
            })
            .collect();
        let setup = Setup::from_workspace(&read.ok().flatten().unwrap_or_default());
        let databases =
            base.as_deref().map(|base| self.databases(&setup, base)).unwrap_or_default();
        let runtime = match self.app.inner.launches.runtime() {
            Ok(runtime) => runtime,
            Err(why) => {
                return vec![wrong(
                    "Runs",
                    why.message,
                    "Let this user start more threads (ulimit -u).",
                )];
            }
        };
        let (mut checks, databases, apis) = runtime.block_on(async {
            let sandbox = sandbox(&self.app.inner.config.cache_dir);
            tokio::join!(sandbox, looked_at(databases), virtual_apis(&setup, base.as_deref()))
        });
        checks.extend(unread);
        checks.extend(faults);
        checks.extend(
            setup
                .wrong
                .iter()
                .map(|why| wrong("Workspace file", why.clone(), "Correct touchstone.yaml.")),
        );
        checks.extend(databases);
        checks.extend(apis);
        checks.push(self.keyring());
        checks.extend(self.key_checks(&setup));
        checks
    }

    fn databases(self, setup: &Setup, base: &Path) -> Vec<(String, Result<SqlTool, Unusable>)> {
        let secret =
            |name: &str| self.app.inner.keys.secret(name).ok()?.map(|secret| secret.to_string());
        let open = |tool: &ToolEntry| {
            (
                format!("Database of {}", tool.name),
                SqlTool::open(&tool.name, &tool.settings, base, &secret),
            )
        };
        setup.tools.iter().filter(|tool| tool.kind == ToolKind::Sql).map(open).collect()
    }

    fn keyring(self) -> Check {
        match self.app.inner.keys.can_store() {
            Ok(()) => {
                fine("Keyring", "Keys can be stored in the keyring of this system.".to_owned())
            }
            // Keys in the environment work without a keyring.
            Err(why) => note("Keyring", why.to_string(), "Only needed to store keys in Settings."),
        }
    }

    fn key_checks(self, setup: &Setup) -> Vec<Check> {
        let check = |name: String| {
            let title = format!("Key {name}");
            match self.app.inner.keys.source(&name) {
                Ok(Some(Source::Environment)) => fine(&title, "Set in the environment.".to_owned()),
                Ok(Some(Source::Keyring)) => fine(&title, "Set in the keyring.".to_owned()),
                Ok(None) => note(
                    &title,
                    "Not set. Only runs that use it need it.".to_owned(),
                    &self.app.inner.keys.how_to_set(&name),
                ),
                Err(why) => wrong(
                    &title,
                    why.to_string(),
                    "Unlock the keyring, or set it in the environment.",
                ),
            }
        };
        setup.keys().into_iter().map(check).collect()
    }
}

/// Checks the sandbox for programs written by models. Its properties become one line if all hold.
async fn sandbox(cache: &Path) -> Vec<Check> {
    let told = python::checks(cache).await;
    let is_property = |name: &str| name.starts_with("Sandbox: ");
    let holding = told.iter().filter(|(name, found)| is_property(name) && found.is_ok()).count();
    let shown = told.into_iter().filter(|(name, found)| !is_property(name) || found.is_err());
    let mut checks: Vec<Check> = shown.map(|(name, found)| check(&name, found)).collect();
    if holding > 0 {
        let tried =
            format!("Tested from inside: {holding} kinds of escape and overuse, all blocked.");
        checks.push(fine("Sandbox restrictions", tried));
    }
    checks
}

/// Checks all databases concurrently; results are in the order of the workspace file.
async fn looked_at(databases: Vec<(String, Result<SqlTool, Unusable>)>) -> Vec<Check> {
    let mut looking = JoinSet::new();
    for (at, (name, tool)) in databases.into_iter().enumerate() {
        looking.spawn(async move {
            let found = match tool {
                Ok(tool) => tokio::time::timeout(PATIENCE, tool.check())
                    .await
                    .unwrap_or_else(|_| Err(silent())),
                Err(why) => Err(why),
            };
            (at, check(&name, found))
        });
    }
    let mut checks = looking.join_all().await;
    checks.sort_by_key(|(at, _)| *at);
    checks.into_iter().map(|(_, check)| check).collect()
}

/// Checks the virtual APIs of the workspace file: their cache, tools and simulator.
async fn virtual_apis(setup: &Setup, base: Option<&Path>) -> Vec<Check> {
    let mut checks = Vec::new();
    for tool in setup.tools.iter().filter(|tool| tool.kind == ToolKind::Virtual) {
        let Some(base) = base else { continue };
        let found = match VirtualSettings::read(&tool.name, &tool.settings, base, &[]) {
            Ok(settings) => virtual_api::look(&settings, setup).await,
            Err(why) => Err(why),
        };
        checks.push(check(&format!("Virtual APIs of {}", tool.name), found));
    }
    checks
}

fn silent() -> Unusable {
    Unusable {
        message: format!("It did not answer within {} seconds.", PATIENCE.as_secs()),
        fix: Some(
            "Check its address in touchstone.yaml, and that the server runs and can be reached from here.".to_owned(),
        ),
    }
}

fn check(name: &str, found: Result<String, Unusable>) -> Check {
    match found {
        Ok(detail) => fine(name, detail),
        Err(Unusable { message, fix }) => {
            Check { name: name.to_owned(), ok: false, detail: message, fix }
        }
    }
}
