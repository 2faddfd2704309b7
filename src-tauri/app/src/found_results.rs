//! Results of other tools in the places where these tools put them. Looks at names only: no file is
//! opened, and no link is followed, until a person opens one of them.
use crate::recent::folder_id;
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_api::FoundResults;

/// Maximum number of names that are looked at in a folder.
const MOST_NAMES: usize = 1_000;

/// Where tools keep their results.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Home folder of the user.
    pub(crate) home: Option<PathBuf>,
    /// Current folder.
    pub(crate) here: Option<PathBuf>,
    /// Values of the environment variables with which tools are configured.
    pub(crate) configured: Vec<(&'static str, PathBuf)>,
}

/// Tells whether an entry of a folder counts as a result.
type Counts = fn(&Path) -> bool;

/// A tool, a folder, and which of its entries count.
type Candidate = (&'static str, PathBuf, Counts);

/// Environment variables with which tools are told where to put their results.
const VARIABLES: [&str; 3] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "INSPECT_LOG_DIR"];

impl Places {
    /// Returns the places of this user and process.
    pub(crate) fn of_user() -> Self {
        let configured = VARIABLES.iter().filter_map(|name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some((*name, PathBuf::from(value)))
        });
        Self {
            home: etcetera::home_dir().ok(),
            here: std::env::current_dir().ok(),
            configured: configured.collect(),
        }
    }

    fn configured(&self, name: &str) -> Option<PathBuf> {
        self.configured.iter().find(|(known, _)| *known == name).map(|(_, path)| path.clone())
    }

    /// Returns the places to look at: the tool, the folder, and which names count as its results.
    fn candidates(&self) -> Vec<Candidate> {
        let home = |below: &str| self.home.as_ref().map(|home| home.join(below));
        let here = |below: &str| self.here.as_ref().map(|here| here.join(below));
        let in_config = |variable, below, usual| match self.configured(variable) {
            Some(folder) => Some(folder.join(below)),
            None => home(usual),
        };
        let all: [(&'static str, Option<PathBuf>, Counts); 6] = [
            (
                "Claude Code",
                in_config("CLAUDE_CONFIG_DIR", "projects", ".claude/projects"),
                is_folder,
            ),
            ("Codex", in_config("CODEX_HOME", "sessions", ".codex/sessions"), is_folder),
            ("Gemini CLI", home(".gemini/tmp"), is_folder),
            ("Inspect", self.configured("INSPECT_LOG_DIR"), is_inspect_log),
            ("Inspect", here("logs"), is_inspect_log),
            ("Harbor", here("jobs"), is_folder),
        ];
        all.into_iter().filter_map(|(tool, path, counts)| Some((tool, path?, counts))).collect()
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn is_inspect_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "eval")
}

/// Returns the folders with results of other tools, each once.
pub(crate) fn find(places: &Places) -> Vec<FoundResults> {
    let mut found: Vec<FoundResults> = Vec::new();
    for (tool, path, counts) in places.candidates() {
        if !path.is_absolute() || !is_folder(&path) {
            continue;
        }
        let names = fs::read_dir(&path).into_iter().flatten().flatten().take(MOST_NAMES);
        let entries = names.filter(|entry| counts(&entry.path())).count();
        let id = folder_id(&path);
        if entries > 0 && found.iter().all(|one| one.id != id) {
            found.push(FoundResults {
                id,
                tool: tool.to_owned(),
                path: path.to_string_lossy().into_owned(),
                entries: u32::try_from(entries).unwrap_or(u32::MAX),
            });
        }
    }
    found
}

/// Returns the folder with this id, if results are still there.
pub(crate) fn with_id(places: &Places, id: &str) -> Option<PathBuf> {
    let all = places.candidates().into_iter().map(|(_, path, _)| path);
    let mut all = all.filter(|path| path.is_absolute() && is_folder(path));
    all.find(|path| folder_id(path) == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_found_by_names_alone_where_tools_put_them() {
        let dir = tempfile::tempdir().unwrap();
        let (home, here) = (dir.path().join("home"), dir.path().join("here"));
        for folder in [
            "home/.claude/projects/-a",
            "home/.claude/projects/-b",
            "home/.codex/sessions",
            "home/.gemini/tmp/abc",
            "here/logs",
            "here/jobs/2026-01-01",
            "elsewhere/sessions/2026",
        ] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(home.join(".claude/projects/notes.txt"), "").unwrap();
        fs::write(here.join("logs/a.eval"), "not read").unwrap();
        fs::write(here.join("logs/server.log"), "").unwrap();
        let mut places =
            Places { home: Some(home.clone()), here: Some(here.clone()), configured: Vec::new() };
        let named = |places: &Places| {
            let found = find(places).into_iter();
            found.map(|one| (one.tool, one.entries)).collect::<Vec<_>>()
        };
        let all = |tools: &[(&str, u32)]| {
            tools.iter().map(|(tool, count)| ((*tool).to_owned(), *count)).collect::<Vec<_>>()
        };
        // The sessions of Codex are empty.
        let usual = [("Claude Code", 2), ("Gemini CLI", 1), ("Inspect", 1), ("Harbor", 1)];
        assert_eq!(named(&places), all(&usual));

        places.configured = vec![
            ("CODEX_HOME", dir.path().join("elsewhere")),
            ("INSPECT_LOG_DIR", here.join("logs")),
        ];
        let more =
            [("Claude Code", 2), ("Codex", 1), ("Gemini CLI", 1), ("Inspect", 1), ("Harbor", 1)];
        assert_eq!(named(&places), all(&more));
        let jobs = find(&places).pop().unwrap();
        assert_eq!(with_id(&places, &jobs.id), Some(here.join("jobs")));

        // A link is not followed, and what is gone is not offered.
        fs::rename(here.join("jobs"), here.join("moved")).unwrap();
        std::os::unix::fs::symlink("moved", here.join("jobs")).unwrap();
        assert_eq!(with_id(&places, &jobs.id), None);
        assert!(!named(&places).iter().any(|(tool, _)| tool == "Harbor"));
        assert_eq!(named(&Places::default()), []);
    }
}
