//! **Pure.** Systems that answer tasks, and kinds of tools.
use std::fmt;
use touchstone_model::value::Value;

/// System that answers a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum System {
    /// The `PromptQL` API.
    PromptQl,
    /// A model that calls tools.
    ToolCalling,
    /// A model that calls tools and runs Python.
    ToolCallingPython,
    /// System of another program, which cannot be run here.
    Other(String),
}

impl System {
    /// Systems that can be run. Their names occur in file names.
    pub const RUNNABLE: [Self; 3] = [Self::PromptQl, Self::ToolCalling, Self::ToolCallingPython];

    /// Returns the name in files, filters and options.
    pub fn as_str(&self) -> &str {
        match self {
            Self::PromptQl => "promptql",
            Self::ToolCalling => "tool_calling",
            Self::ToolCallingPython => "tool_calling_python",
            Self::Other(name) => name,
        }
    }

    /// Returns true for a system that can be run.
    pub fn is_runnable(&self) -> bool {
        !matches!(self, Self::Other(_))
    }

    /// Returns the names of the systems that can be run, separated by commas.
    pub fn runnable_names() -> String {
        Self::RUNNABLE.each_ref().map(Self::as_str).join(", ")
    }
}

impl From<&str> for System {
    fn from(name: &str) -> Self {
        let known = Self::RUNNABLE.into_iter().find(|system| system.as_str() == name);
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl fmt::Display for System {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Kind of a tool of the workspace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolKind {
    /// A database.
    Sql,
    /// A server of the Model Context Protocol.
    Mcp,
    /// APIs of a benchmark, from a cache or a simulator.
    Virtual,
    /// Unknown kind, or none.
    Other(String),
}

impl ToolKind {
    /// Parses the settings of a tool.
    pub fn from_settings(settings: &Value) -> Self {
        match settings.get("kind").and_then(Value::text).unwrap_or_default() {
            "sql" => Self::Sql,
            "mcp" => Self::Mcp,
            "virtual" => Self::Virtual,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the name in the workspace file.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Sql => "sql",
            Self::Mcp => "mcp",
            Self::Virtual => "virtual",
            Self::Other(name) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_keeps_its_name_whether_it_can_be_run_or_not() {
        for name in ["promptql", "tool_calling", "tool_calling_python", "CoT@1", ""] {
            assert_eq!(System::from(name).as_str(), name);
        }
        let runnable = ["promptql", "tool_calling_python", "Promptql"].map(System::from);
        assert_eq!(runnable.each_ref().map(System::is_runnable), [true, true, false]);
    }
}
