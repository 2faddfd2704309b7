//! Tools of a launch, opened once and shared by its runs. Owns the resolution of names to tools;
//! the tools themselves are implemented in modules of their own.
use super::run_tools::{self, Apis, CALL_API, OfferInputs, RunTools, SEARCH_APIS};
use crate::provider::ToolOffer;
use crate::search::observe;
use crate::secrets::Secrets;
use crate::setup::{Setup, ToolEntry};
use crate::tools::mcp::McpTool;
use crate::tools::python::{PythonLimits, PythonTool};
use crate::tools::sql::SqlTool;
use crate::tools::tool_folder;
use crate::tools::tool_index::ToolIndex;
use crate::tools::virtual_api::{ApiEnvironment, VirtualApis, VirtualSettings};
use crate::tools::{Called, ToolFailure, Unusable};
use futures_util::future::join_all;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::python_json::{Layout, Py};
use touchstone_formats::stabletoolbench::{Pool, functions};
use touchstone_formats::system::ToolKind;
use touchstone_model::value::Value;

/// Tools of the workspace by name, and the Python sandbox.
pub struct Toolbox {
    sandboxes: Semaphore,
    queries: Semaphore,
    tools: Vec<(String, Result<Tool, Unusable>)>,
    python: Option<Result<PythonTool, Unusable>>,
}

/// Maximum number of concurrent queries: each has a connection of its own, and databases allow few.
const QUERIES: usize = 16;

enum Tool {
    Sql { tool: SqlTool, schema: OnceCell<String> },
    Mcp(McpTool),
    Virtual(Box<Virtual>),
}

/// Virtual APIs with their search index.
struct Virtual {
    apis: VirtualApis,
    pool: Arc<Pool>,
    shelf: ToolIndex,
}

/// External resources that virtual APIs need.
pub struct VirtualApiContext {
    /// APIs that the queries contain, used without a tool folder.
    pub queries: Arc<Pool>,
    /// Connections for sending calls.
    pub wires: ApiEnvironment,
}

impl Default for Toolbox {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            python: None,
            sandboxes: Semaphore::new(cores()),
            queries: Semaphore::new(QUERIES),
        }
    }
}

impl Toolbox {
    /// Opens the tools of the workspace, and the sandbox if a run needs it. A tool that cannot be
    /// opened is kept with the reason, and only runs that need it fail. `python` is the cache for
    /// the verification of the sandbox, if one is needed.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is another part of the world around a launch"
    )]
    pub async fn open(
        setup: &Setup,
        base: &Path,
        secrets: &Secrets,
        wanted: impl Fn(&str) -> bool,
        python: Option<&Path>,
        around: Option<&VirtualApiContext>,
    ) -> Self {
        let tools =
            join_all(setup.tools.iter().filter(|entry| wanted(&entry.name)).map(async |entry| {
                (entry.name.clone(), open(entry, setup, base, secrets, around).await)
            }));
        let tools = tools.await;
        let python = match python {
            Some(cache) => Some(PythonTool::open(cache, PythonLimits::default()).await),
            None => None,
        };
        Self { tools, python, sandboxes: Semaphore::new(cores()), queries: Semaphore::new(QUERIES) }
    }

    /// Returns the tools that a run may call: those its task names, or all; with the sandbox if
    /// `python` is set.
    pub fn tools_for_run(
        &self,
        wanted: Option<&[String]>,
        python: bool,
        asked: &OfferInputs<'_>,
    ) -> Result<RunTools, Unusable> {
        if let Some(missing) = wanted
            .into_iter()
            .flatten()
            .find(|name| !self.tools.iter().any(|(known, _)| known == *name))
        {
            let message = format!(
                "The task uses the tool `{missing}`, which the workspace file does not define."
            );
            let fix = format!(
                "Add `{missing}` under `tools:` in touchstone.yaml, or take it out of the task."
            );
            return Err(Unusable { message, fix: Some(fix) });
        }
        let (mut offers, mut apis) = (Vec::new(), None);
        for (name, tool) in self.selected_tools(wanted) {
            match tool {
                Ok(Tool::Sql { tool, .. }) => offers.push(tool.offer()),
                Ok(Tool::Mcp(tool)) => offers.extend(tool.offers()),
                Ok(Tool::Virtual(tool)) => {
                    if apis.replace((name, tool)).is_some() {
                        let message =
                            "More than one tool of virtual APIs would be offered.".to_owned();
                        let fix = "Let the task name one of them under `tools:`.".to_owned();
                        return Err(Unusable { message, fix: Some(fix) });
                    }
                }
                Err(why) => {
                    // Most reasons name the tool already.
                    let names_it = why.message.contains(&format!("`{name}`"));
                    let before = if names_it {
                        String::new()
                    } else {
                        format!("The tool `{name}` cannot be used: ")
                    };
                    return Err(Unusable { message: before + &why.message, fix: why.fix.clone() });
                }
            }
        }
        match self.python.as_ref().filter(|_| python) {
            Some(Ok(tool)) => offers.push(tool.offer()),
            Some(Err(why)) => return Err(why.clone()),
            None => {}
        }
        let mut kit = RunTools { offers, ..RunTools::default() };
        if let Some((name, tool)) = apis {
            kit.offer_apis(name, &tool.shelf, &tool.pool, asked)?;
        }
        if asked.way.method.is_some() {
            kit.offers.push(run_tools::offer(functions::finish()));
        }
        kit.offers = check_tool_names(kit.offers)?;
        Ok(kit)
    }

    /// Returns the schemas of the databases that a run may query, for its system prompt.
    pub async fn schemas(&self, wanted: Option<&[String]>) -> Result<String, ToolFailure> {
        let mut schemas = Vec::new();
        for (name, tool) in self.selected_tools(wanted) {
            if let Ok(Tool::Sql { tool, schema }) = tool {
                let schema = schema.get_or_try_init(|| tool.schema()).await?;
                schemas.push(format!("# {name}\n{}", schema.trim_end()));
            }
        }
        Ok(schemas.join("\n\n"))
    }

    /// Calls a tool. An unknown name is a failure that lists the available tools for the model.
    pub async fn call(
        &self,
        kit: &RunTools,
        name: &str,
        params: &Value,
        stop: &CancellationToken,
    ) -> Called {
        let offers = &kit.offers;
        if !offers.iter().any(|offer| offer.name == name) {
            let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
            let there = if names.is_empty() {
                "There are none.".to_owned()
            } else {
                format!("There are: {}.", names.join(", "))
            };
            return Err(ToolFailure::new(format!("There is no tool named `{name}`. {there}")));
        }
        if let Some(apis) = &kit.apis
            && let Some(Ok(Tool::Virtual(tool))) =
                self.tools.iter().find(|(known, _)| *known == apis.tool).map(|(_, tool)| tool)
            && let Some(called) = tool.call(apis, name, params, stop).await
        {
            return called;
        }
        if let Value::Text(text) = params {
            let message = format!(
                "The arguments are not a JSON object, so `{name}` was not called. What came: {}",
                short(text)
            );
            return Err(ToolFailure::new(message));
        }
        if let Some(Ok(tool)) = self
            .python
            .as_ref()
            .filter(|python| matches!(python, Ok(tool) if tool.offer().name == name))
        {
            let _place = acquire_permit(&self.sandboxes, stop).await?;
            return tool.call(params, stop).await;
        }
        for (known, tool) in &self.tools {
            match tool {
                Ok(Tool::Sql { tool, .. }) if known == name => {
                    let _place = acquire_permit(&self.queries, stop).await?;
                    return tool.call(params, stop).await;
                }
                Ok(Tool::Mcp(tool)) if tool.offers().iter().any(|offer| offer.name == name) => {
                    return tool.call(name, params, stop).await;
                }
                _ => {}
            }
        }
        Err(ToolFailure::new(format!("`{name}` cannot be called.")))
    }

    /// Closes connections and processes of the tools.
    pub async fn close(self) {
        for (_, tool) in self.tools {
            if let Ok(Tool::Mcp(tool)) = tool {
                tool.close().await;
            }
        }
    }

    fn selected_tools<'a>(
        &'a self,
        wanted: Option<&'a [String]>,
    ) -> impl Iterator<Item = (&'a str, &'a Result<Tool, Unusable>)> {
        let passes =
            move |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|known| known == name));
        self.tools
            .iter()
            .map(|(name, tool)| (name.as_str(), tool))
            .filter(move |(name, _)| passes(name))
    }
}

/// Waits for a permit, or fails if the call is stopped.
async fn acquire_permit<'a>(
    places: &'a Semaphore,
    stop: &CancellationToken,
) -> Result<SemaphorePermit<'a>, ToolFailure> {
    let stopped = || ToolFailure::new("The call was stopped before it began.");
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(stopped()),
        place = places.acquire() => place.map_err(|_| stopped()),
    }
}

/// Checks the names of all tools: providers refuse a whole request because of one invalid or
/// duplicate name.
fn check_tool_names(offers: Vec<ToolOffer>) -> Result<Vec<ToolOffer>, Unusable> {
    let fits = |name: &str| {
        (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    if let Some(strange) = offers.iter().find(|offer| !fits(&offer.name)) {
        let message = format!("The tool `{}` has a name that providers do not take.", strange.name);
        let fix = "Use at most 64 letters, digits, `_` and `-` in touchstone.yaml.";
        return Err(Unusable { message, fix: Some(fix.to_owned()) });
    }
    let twice = |at: usize, name: &str| offers.iter().skip(at + 1).any(|other| other.name == name);
    if let Some((_, offer)) = offers.iter().enumerate().find(|(at, offer)| twice(*at, &offer.name))
    {
        let message = format!("Two tools are named `{}`, which is ambiguous.", offer.name);
        let fix = "Give one of the servers a `prefix:` in touchstone.yaml, or let the task name its `tools:`.";
        return Err(Unusable { message, fix: Some(fix.to_owned()) });
    }
    Ok(offers)
}

/// Maximum number of concurrent programs: more would only slow each other down, and each may take
/// much memory.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

async fn open(
    entry: &ToolEntry,
    setup: &Setup,
    base: &Path,
    secrets: &Secrets,
    around: Option<&VirtualApiContext>,
) -> Result<Tool, Unusable> {
    if let Some((name, why)) = secrets.first_lookup_error(&entry.settings) {
        let message =
            format!("The tool `{}` needs {name}, which cannot be looked up. {why}", entry.name);
        return Err(Unusable { message, fix: None });
    }
    let secret = &|name: &str| secrets.get(name);
    match &entry.kind {
        ToolKind::Sql => {
            let tool = SqlTool::open(&entry.name, &entry.settings, base, secret)?;
            tool.check().await?;
            Ok(Tool::Sql { tool, schema: OnceCell::new() })
        }
        ToolKind::Mcp => {
            McpTool::open(&entry.name, &entry.settings, base, secret).await.map(Tool::Mcp)
        }
        ToolKind::Virtual => Virtual::open(entry, setup, base, around)
            .await
            .map(|tool| Tool::Virtual(Box::new(tool))),
        ToolKind::Other(other) => Err(Unusable {
            message: format!("its kind `{other}` is unknown."),
            fix: Some("Write `kind: sql`, `kind: mcp` or `kind: virtual`.".to_owned()),
        }),
    }
}

impl Virtual {
    async fn open(
        entry: &ToolEntry,
        setup: &Setup,
        base: &Path,
        around: Option<&VirtualApiContext>,
    ) -> Result<Self, Unusable> {
        let settings = VirtualSettings::read(&entry.name, &entry.settings, base, &[])?;
        let broken = |why: String| Unusable {
            message: format!("Its APIs cannot be searched: {why}"),
            fix: None,
        };
        let around = around.ok_or_else(|| broken("nothing can be sent from here.".to_owned()))?;
        let (folder, queries) = (settings.tools_folder.clone(), Arc::clone(&around.queries));
        let shelved = tokio::task::spawn_blocking(move || {
            let pool =
                folder.map_or(Ok(queries), |folder| tool_folder::load(&folder).map(Arc::new))?;
            let shelf = ToolIndex::from_pool(&pool).map_err(|why| broken(why.to_string()))?;
            Ok((pool, shelf))
        });
        let (pool, shelf) = shelved.await.map_err(|why| broken(why.to_string()))??;
        let apis = VirtualApis::open(settings, setup, Arc::clone(&pool), around.wires.clone())?;
        Ok(Self { apis, pool, shelf })
    }

    /// Returns `None` if the name is none of these functions.
    async fn call(
        &self,
        kit: &Apis,
        name: &str,
        params: &Value,
        stop: &CancellationToken,
    ) -> Option<Called> {
        if kit.is_pair() && name == SEARCH_APIS {
            return Some(run_tools::search(&self.shelf, params));
        }
        let (entry, input) = if kit.is_pair() && name == CALL_API {
            match run_tools::called(&self.shelf, params) {
                Ok(call) => call,
                Err(why) => return Some(Err(why)),
            }
        } else {
            (kit.served(name)?, run_tools::input(params))
        };
        let reply = self
            .apis
            .call(&entry.category, &entry.tool, &entry.api, &input, "truncate", stop)
            .await;
        let Some(reply) = reply else {
            return Some(Err(ToolFailure::new("The call was stopped.")));
        };
        if reply.status != 200 {
            // Worded like the original client does for a server that broke off.
            let error = format!("request invalid, data error. status_code={}", reply.status);
            let entries =
                vec![("error".into(), error.as_str().into()), ("response".into(), "".into())];
            return Some(Ok(Value::Text(observe::cut(
                Py::Map(entries).dumps(Layout::Python),
                kit.observation,
            ))));
        }
        // An error that an API reports is an ordinary reply, shown to the model in the original's
        // form.
        Some(Ok(Value::Text(observe::cut(reply.observation(), kit.observation))))
    }
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(500).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::workspace;

    #[tokio::test]
    async fn a_locked_keyring_is_the_reason_and_not_a_password_that_is_not_set() {
        let file =
            "tools: { sales: { kind: sql, database: 'postgres://me:${PASSWORD}@127.0.0.1:9/d' } }";
        let setup = Setup::from_workspace(&workspace::read(file).unwrap());
        let said = async |secrets: Secrets| {
            let toolbox =
                Toolbox::open(&setup, Path::new("."), &secrets, |_| true, None, None).await;
            toolbox.tools_for_run(None, false, &OfferInputs::default()).unwrap_err().message
        };
        let locked = Secrets::look_up(setup.places(), |_| {
            Err("The keyring is locked. Unlock it.".to_owned())
        });
        let nowhere = Secrets::look_up(setup.places(), |_| Ok(None));
        insta::assert_snapshot!(said(locked).await, @"The tool `sales` needs PASSWORD, which cannot be looked up. The keyring is locked. Unlock it.");
        insta::assert_snapshot!(said(nowhere).await, @"The tool `sales`: The address of the database needs PASSWORD, which is not set.");
    }
}
