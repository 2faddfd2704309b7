//! Follows the workspace file of an open folder for the index: reads it again when it changed.
use crate::paths;
use std::path::PathBuf;
use std::sync::Arc;
use touchstone_formats::system::ToolKind;
use touchstone_formats::tool_offers;
use touchstone_formats::workspace::Workspace;
use touchstone_model::value::Value;
use touchstone_runner::setup::Setup;
use touchstone_store::judgements::Marks;
use touchstone_store::settings::{ReadSettings, Settings, SettingsChange, SuiteSettings};

/// Returns a function that reads the settings of a folder's workspace file, and `None` while the
/// file stays unchanged. A change is read once it is the same at two calls: an editor that writes
/// in place empties the file first, and an empty file is a valid one.
pub(crate) fn follow(folder: PathBuf) -> ReadSettings {
    let mut read_at = None;
    let mut last = paths::workspace_stamp(&folder);
    let mut unreadable = false;
    Box::new(move || {
        // Taken before the content is read: a later change leads to a different stamp.
        let stamp = paths::workspace_stamp(&folder);
        let is_changing = std::mem::replace(&mut last, stamp) != stamp;
        let is_same = read_at == Some(stamp);
        // Permissions can change without a change of the stamp.
        if is_same && !unreadable || is_changing && read_at.is_some() {
            return None;
        }
        let read = paths::workspace(&folder).transpose();
        // Changed while it was read.
        if read_at.is_some() && paths::workspace_stamp(&folder) != stamp {
            return None;
        }
        read_at = Some(stamp);
        unreadable = read.is_err();
        match read {
            Ok(workspace) => Some(SettingsChange::Read(settings(&workspace.unwrap_or_default()))),
            Err(_) => (!is_same).then_some(SettingsChange::Unreadable),
        }
    })
}

fn settings(workspace: &Workspace) -> Settings {
    Settings {
        suites: SuiteSettings {
            query_scorers: workspace.query_scorers.clone(),
            tools: tool_offers::declared(&workspace.tools),
            tool_names: tool_names(&workspace.tools),
        },
        marks: marks(&Setup::from_workspace(workspace)),
        renames: Arc::new(workspace.imports.clone()),
    }
}

/// Returns each tool of the workspace file with the function names under which it is called. The
/// names are `None` if only a server or a set of APIs knows them.
fn tool_names(tools: &[(String, Value)]) -> Vec<(String, Option<Vec<String>>)> {
    let names = |name: &String, settings: &Value| match ToolKind::from_settings(settings) {
        ToolKind::Sql => Some(vec![name.clone()]),
        ToolKind::Mcp => {
            let prefix = settings.get("prefix").and_then(Value::text).unwrap_or_default();
            let only = settings.get("tools").filter(|only| matches!(only, Value::List(_)))?;
            only.items().iter().map(|tool| Some(format!("{prefix}{}", tool.text()?))).collect()
        }
        ToolKind::Virtual | ToolKind::Other(_) => None,
    };
    tools.iter().map(|(name, settings)| (name.clone(), names(name, settings))).collect()
}

/// Returns the configuration mark of each model by name.
pub(crate) fn marks(setup: &Setup) -> Marks {
    setup.models.iter().map(|model| (model.name.clone(), model.mark())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    #[test]
    fn settings_are_read_at_first_and_after_each_change_that_stays_and_an_unreadable_file_is_reported_once()
     {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("touchstone.yaml");
        let mut read = follow(home.path().to_owned());
        let tools = |change: Option<SettingsChange>| match change {
            Some(SettingsChange::Read(settings)) => settings.suites.tool_names.len(),
            other => panic!("no settings: {other:?}"),
        };
        assert_eq!(tools(read()), 0);
        assert!(read().is_none());
        fs::write(&file, "tools: { a: { kind: sql, database: 'sqlite:a.db' } }\n").unwrap();
        assert!(read().is_none(), "it may change again");
        assert_eq!(tools(read()), 1);
        assert!(read().is_none());
        // An editor writes in place.
        fs::write(&file, "").unwrap();
        assert!(read().is_none());
        fs::write(&file, "tools: [\n").unwrap();
        assert!(read().is_none());
        assert!(matches!(read(), Some(SettingsChange::Unreadable)));
        assert!(read().is_none());
        fs::remove_file(&file).unwrap();
        assert!(read().is_none());
        assert_eq!(tools(read()), 0);
    }
}
