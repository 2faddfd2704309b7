//! The tools of a launch, opened once and shared by its runs. Owns which tool a name means; what a tool does is in its own room.
use crate::runs::provider::Offer;
use crate::runs::setup::{Setup, ToolEntry};
use crate::runs::tools::mcp::McpTool;
use crate::runs::tools::python::{PythonLimits, PythonTool};
use crate::runs::tools::sql::SqlTool;
use crate::runs::tools::{Called, ToolFailure, Unusable};
use std::path::Path;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use touchstone_formats::value::Value;

/// Tools of the workspace by name, and the sandbox.
#[derive(Default)]
pub struct Toolbox {
    tools: Vec<(String, Result<Tool, Unusable>)>,
    python: Option<Result<PythonTool, Unusable>>,
}

enum Tool {
    Sql { tool: SqlTool, schema: OnceCell<String> },
    Mcp(McpTool),
}

impl Toolbox {
    /// Opens what the workspace names, and the sandbox when a run needs it. What cannot be opened is kept with the reason: only
    /// runs that need it are refused.
    pub async fn open(
        setup: &Setup,
        base: &Path,
        secret: &(dyn Fn(&str) -> Option<String> + Sync),
        cache: &Path,
        with_python: bool,
    ) -> Self {
        let mut tools = Vec::new();
        for entry in &setup.tools {
            tools.push((entry.name.clone(), open(entry, base, secret).await));
        }
        let python = if with_python { Some(PythonTool::open(cache, PythonLimits::default()).await) } else { None };
        Self { tools, python }
    }

    /// What a run may call: the tools its task names, or all; with the sandbox for the system that has it.
    pub fn offers(&self, wanted: Option<&[String]>, python: bool) -> Result<Vec<Offer>, Unusable> {
        if let Some(missing) =
            wanted.into_iter().flatten().find(|name| !self.tools.iter().any(|(known, _)| known == *name))
        {
            let message = format!("The task uses the tool `{missing}`, which the workspace file does not define.");
            let fix = format!("Add `{missing}` under `tools:` in touchstone.yaml, or take it out of the task.");
            return Err(Unusable { message, fix: Some(fix) });
        }
        let mut offers = Vec::new();
        for (name, tool) in self.wanted(wanted) {
            match tool {
                Ok(Tool::Sql { tool, .. }) => offers.push(tool.offer()),
                Ok(Tool::Mcp(tool)) => offers.extend(tool.offers()),
                Err(why) => {
                    // Most reasons name the tool already.
                    let names_it = why.message.contains(&format!("`{name}`"));
                    let before = if names_it { String::new() } else { format!("The tool `{name}` cannot be used: ") };
                    return Err(Unusable { message: before + &why.message, fix: why.fix.clone() });
                }
            }
        }
        match self.python.as_ref().filter(|_| python) {
            Some(Ok(tool)) => offers.push(tool.offer()),
            Some(Err(why)) => return Err(why.clone()),
            None => {}
        }
        Ok(offers)
    }

    /// The schemas of the databases a run may ask, for its instructions.
    pub async fn schemas(&self, wanted: Option<&[String]>) -> Result<String, ToolFailure> {
        let mut schemas = Vec::new();
        for (name, tool) in self.wanted(wanted) {
            if let Ok(Tool::Sql { tool, schema }) = tool {
                let schema = schema.get_or_try_init(|| tool.schema()).await?;
                schemas.push(format!("# {name}\n{}", schema.trim_end()));
            }
        }
        Ok(schemas.join("\n\n"))
    }

    /// Calls a tool. One that is not there is a mistake of the model, which is told what there is.
    pub async fn call(&self, offers: &[Offer], name: &str, params: &Value, stop: &CancellationToken) -> Called {
        if !offers.iter().any(|offer| offer.name == name) {
            let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
            let there = if names.is_empty() {
                "There are none.".to_owned()
            } else {
                format!("There are: {}.", names.join(", "))
            };
            return Err(ToolFailure::new(format!("There is no tool named `{name}`. {there}")));
        }
        if let Value::Text(text) = params {
            let message =
                format!("The arguments are no JSON object, so `{name}` was not called. What came: {}", short(text));
            return Err(ToolFailure::new(message));
        }
        if let Some(Ok(tool)) =
            self.python.as_ref().filter(|python| matches!(python, Ok(tool) if tool.offer().name == name))
        {
            return tool.call(params, stop).await;
        }
        for (known, tool) in &self.tools {
            match tool {
                Ok(Tool::Sql { tool, .. }) if known == name => return tool.call(params, stop).await,
                Ok(Tool::Mcp(tool)) if tool.offers().iter().any(|offer| offer.name == name) => {
                    return tool.call(name, params, stop).await;
                }
                _ => {}
            }
        }
        Err(ToolFailure::new(format!("`{name}` cannot be called.")))
    }

    /// Ends what was started for it.
    pub async fn close(self) {
        for (_, tool) in self.tools {
            if let Ok(Tool::Mcp(tool)) = tool {
                tool.close().await;
            }
        }
    }

    fn wanted<'a>(
        &'a self,
        wanted: Option<&'a [String]>,
    ) -> impl Iterator<Item = (&'a str, &'a Result<Tool, Unusable>)> {
        let passes = move |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|known| known == name));
        self.tools.iter().map(|(name, tool)| (name.as_str(), tool)).filter(move |(name, _)| passes(name))
    }
}

async fn open(
    entry: &ToolEntry,
    base: &Path,
    secret: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Result<Tool, Unusable> {
    match entry.kind.as_str() {
        "sql" => {
            let tool = SqlTool::open(&entry.name, &entry.settings, base, secret)?;
            tool.check().await?;
            Ok(Tool::Sql { tool, schema: OnceCell::new() })
        }
        "mcp" => McpTool::open(&entry.name, &entry.settings, base, secret).await.map(Tool::Mcp),
        other => Err(Unusable {
            message: format!("it has the kind `{other}`, which Touchstone does not know."),
            fix: Some("Write `kind: sql` or `kind: mcp`.".to_owned()),
        }),
    }
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(500).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
