//! Tools of a Model Context Protocol server: listing and calling them. Owns one connection, and
//! reconnects when the server has gone away. The submodules interpret the settings, name the tools,
//! and parse the results.
mod child;
mod link;
mod process_tree;
mod reply;
mod settings;

use super::names::{self, ToolName};
use super::{Called, ToolFailure, Unusable};
use crate::provider::ToolOffer;
use link::{Link, LinkError};
use rmcp::model::Tool;
use settings::Settings;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;
use touchstone_model::value::Value;

/// A connected server and its tools.
pub struct McpTool {
    name: String,
    settings: Settings,
    tools: Vec<(ToolName, ToolOffer)>,
    /// The connection. `None` after it was lost, until the next call reconnects; calls in progress
    /// keep their own reference.
    link: std::sync::Mutex<Option<Arc<Link>>>,
    /// Held while connecting, so that concurrent calls share one connection.
    joining: tokio::sync::Mutex<()>,
}

impl McpTool {
    /// Starts or connects to the server and lists its tools. `settings` is the tool's entry in the
    /// workspace file; `secret` returns the value for a `${NAME}` in it; commands run in `base`.
    /// Fails if the settings are wrong or the server cannot be used.
    pub fn open(
        name: &str,
        settings: &Value,
        base: &Path,
        secret: &dyn Fn(&str) -> Option<String>,
    ) -> impl Future<Output = Result<McpTool, Unusable>> + Send + use<> {
        // Secrets are resolved before the first await.
        let settings = Settings::read(name, settings, base, secret);
        let name = name.to_owned();
        async move {
            let settings = settings?;
            let link = Link::join(&settings).await.map_err(|lost| unusable(&name, &lost))?;
            let listed = link.list(&settings).await.map_err(|lost| unusable(&name, &lost))?;
            let tools = choose(&name, &settings, &listed)?;
            let link = std::sync::Mutex::new(Some(Arc::new(link)));
            Ok(McpTool { name, settings, tools, link, joining: tokio::sync::Mutex::default() })
        }
    }

    /// Returns its tools, in the server's order.
    pub fn offers(&self) -> Vec<ToolOffer> {
        self.tools.iter().map(|(_, offer)| offer.clone()).collect()
    }

    /// Calls a tool by its offered name. Returns early if `stop` is cancelled; the server is then
    /// notified.
    pub async fn call(&self, tool: &str, params: &Value, stop: &CancellationToken) -> Called {
        let named = self.tools.iter().map(|(named, _)| named).find(|named| named.offered == tool);
        let named = named.ok_or_else(|| ToolFailure::new(format!("There is no tool `{tool}`.")))?;
        let arguments = reply::arguments(params)?;
        let stopped = || Err(ToolFailure::new("The call was stopped before the tool answered."));
        tokio::select! {
            biased;
            () = stop.cancelled() => stopped(),
            called = self.ask(&named.own, arguments) => called,
        }
    }

    /// Closes the connection. A started server gets a moment to exit by itself, and is then killed.
    pub async fn close(self) {
        let link = self.link.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = link.and_then(Arc::into_inner) {
            link.close().await;
        }
    }

    async fn ask(
        &self,
        tool: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> Called {
        let link = self.joined().await?;
        match link.call(&self.settings, tool, arguments).await {
            Ok(result) => reply::read(&result, &self.settings.secrets),
            Err(lost) => {
                if lost.gone {
                    self.leave(&link);
                }
                Err(ToolFailure::new(format!("`{}`: {}", self.name, lost.message)))
            }
        }
    }

    /// Returns the connection. If it was lost, reconnects once per call.
    async fn joined(&self) -> Result<Arc<Link>, ToolFailure> {
        let _turn = self.joining.lock().await;
        if let Some(link) = self.slot().as_ref().filter(|link| link.is_up()) {
            return Ok(Arc::clone(link));
        }
        let link = Link::join(&self.settings).await.map_err(|lost| {
            ToolFailure::new(format!(
                "The server `{}` has ended and could not be reached again: {}",
                self.name, lost.message
            ))
        })?;
        let link = Arc::new(link);
        *self.slot() = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Drops a lost connection, unless it was replaced already.
    fn leave(&self, lost: &Arc<Link>) {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|link| Arc::ptr_eq(link, lost)) {
            *slot = None;
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Link>>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unusable(name: &str, lost: &LinkError) -> Unusable {
    Unusable {
        message: format!("The server of the tool `{name}` cannot be used: {}", lost.message),
        fix: lost.fix.clone(),
    }
}

/// Maximum number of bytes of a tool's parameter schema: the whole schema is sent to the model with
/// each turn.
const LARGEST_SCHEMA: usize = 256 << 10;

fn too_large(name: &str, tool: &str) -> Unusable {
    let most = LARGEST_SCHEMA >> 10;
    Unusable {
        message: format!(
            "The server of the tool `{name}` cannot be used: its tool `{tool}` describes its parameters in more than {most} KiB."
        ),
        fix: Some(format!(
            "Leave `{tool}` out: list the tools you need as `tools: [...]` below `{name}` in touchstone.yaml."
        )),
    }
}

/// Selects the configured tools, under names that every provider accepts. Fails if a configured
/// tool does not exist or a schema is too large.
fn choose(
    name: &str,
    settings: &Settings,
    listed: &[Tool],
) -> Result<Vec<(ToolName, ToolOffer)>, Unusable> {
    let own: Vec<&str> = listed.iter().map(|tool| tool.name.as_ref()).collect();
    if let Some(wanted) =
        settings.only.iter().flatten().find(|wanted| !own.contains(&wanted.as_str()))
    {
        return Err(Unusable {
            message: format!("The server of the tool `{name}` has no tool `{wanted}`."),
            fix: Some(format!("It has: {}. Correct `tools:` in touchstone.yaml.", own.join(", "))),
        });
    }
    let wanted = |own: &str| {
        settings.only.as_ref().is_none_or(|only| only.iter().any(|wanted| wanted == own))
    };
    let mut tools = Vec::new();
    for (named, tool) in names::offered(&own, &settings.prefix).into_iter().zip(listed) {
        let twice = tools.iter().any(|(other, _): &(ToolName, ToolOffer)| other.own == named.own);
        if wanted(&named.own) && !twice {
            let description =
                tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
            let schema = serde_json::Value::Object(tool.input_schema.as_ref().clone());
            if schema.to_string().len() > LARGEST_SCHEMA {
                return Err(too_large(name, &named.own));
            }
            let offer = ToolOffer {
                name: named.offered.clone(),
                description: reply::hide(description, &settings.secrets),
                parameters: reply::value(&schema),
            };
            tools.push((named, offer));
        }
    }
    Ok(tools)
}
