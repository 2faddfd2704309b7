//! Checks that virtual APIs can be used here: the cache, the tools and the simulator. Sends no
//! request that costs money.
use super::VirtualSettings;
use crate::setup::Setup;
use crate::tools::{Unusable, tool_folder};
use fs_err as fs;
use rustix::fs::Access;
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpStream;

/// Timeout for connecting to a simulator on this machine.
const PATIENCE: Duration = Duration::from_secs(3);
/// Maximum number of cache files to count; the largest known cache has 16,000.
const MOST: usize = 100_000;

/// Describes the setup, in sentences for the user. Fails if a component is missing.
pub async fn look(settings: &VirtualSettings, setup: &Setup) -> Result<String, Unusable> {
    let mut said = vec![cache(settings.cache.as_deref())?];
    if let Some(dir) = &settings.tools_folder {
        let dir = dir.clone();
        let broken = |why: tokio::task::JoinError| Unusable {
            message: format!("The folder of tools could not be read: {why}."),
            fix: None,
        };
        // Loading a large folder takes a while and must not block async threads.
        let pool = tokio::task::spawn_blocking(move || tool_folder::load(&dir))
            .await
            .map_err(broken)??;
        said.push(format!(
            "{} tools with {} APIs are known.",
            pool.tools().len(),
            pool.api_count()
        ));
    }
    said.push(simulator(settings.simulator.as_deref(), setup).await?);
    if settings.url.is_some() {
        said.push("An address of real APIs is set.".to_owned());
    }
    Ok(said.join(" "))
}

fn cache(dir: Option<&Path>) -> Result<String, Unusable> {
    let Some(dir) = dir else { return Ok("Replies are not cached.".to_owned()) };
    let shown = dir.display();
    if !dir.exists() {
        return Ok(format!("The cache {shown} is created with the first reply."));
    }
    let usable = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    if let Err(why) = rustix::fs::access(dir, usable) {
        let message = format!("The cache {shown} cannot be read and written: {why}.");
        return Err(Unusable {
            message,
            fix: Some("Make the folder writable, or name another as `cache`.".to_owned()),
        });
    }
    Ok(format!("The cache {shown} has replies of {} APIs.", files(dir, 2)))
}

/// Counts the JSON files at this depth.
fn files(dir: &Path, depth: usize) -> usize {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let counted = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() && depth > 0 => files(&entry.path(), depth - 1),
        Ok(kind) if kind.is_file() && depth == 0 => {
            usize::from(entry.path().extension().is_some_and(|extension| extension == "json"))
        }
        _ => 0,
    });
    counted.take(MOST).sum()
}

/// Checks that a simulator on this machine accepts connections. A remote one is not checked,
/// because that would need a paid request.
async fn simulator(name: Option<&str>, setup: &Setup) -> Result<String, Unusable> {
    let Some(name) = name else { return Ok("No simulator is set.".to_owned()) };
    let Some(model) = setup.model(name) else {
        let message = format!("There is no model named `{name}` to simulate APIs.");
        return Err(Unusable {
            message,
            fix: Some("Add it under `models:` in touchstone.yaml.".to_owned()),
        });
    };
    let address = reqwest::Url::parse(&model.base_url).ok().and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some((host, url.port_or_known_default()?))
    });
    match address {
        Some((host, port)) if ["127.0.0.1", "localhost", "[::1]"].contains(&host.as_str()) => {
            let host = host.trim_matches(['[', ']']).to_owned();
            let connected =
                tokio::time::timeout(PATIENCE, TcpStream::connect((host.as_str(), port))).await;
            if matches!(connected, Ok(Ok(_))) {
                return Ok(format!("The simulator {name} can be reached."));
            }
            let message = format!("The simulator {name} does not answer at {}.", model.base_url);
            Err(Unusable {
                message,
                fix: Some("Start its server, or correct its `base_url`.".to_owned()),
            })
        }
        _ => Ok(format!("The simulator is {name}.")),
    }
}
