//! Results of other tools in the places where these tools put them. Looks at names only: no file is
//! opened, and no link is followed, until a person opens one of them.
use crate::folder_id::folder_id;
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use touchstone_api::FoundResults;

/// Maximum number of names that are looked at in a place, with all folders below it.
const MOST_NAMES: usize = 1_000;
/// Maximum time for all places. A file system that does not answer hides the places behind it.
const LONGEST: Duration = Duration::from_secs(1);
/// Maximum number of looks that wait for a file system that does not answer.
const MOST_LOOKS: usize = 4;

/// Environment variables with which tools are told where to put their results.
const VARIABLES: [&str; 3] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "INSPECT_LOG_DIR"];

/// Where to look for results.
#[derive(Debug, Default, Clone)]
pub(crate) struct Places {
    /// Home folder of the user.
    pub(crate) home: Option<PathBuf>,
    /// Current folder.
    pub(crate) here: Option<PathBuf>,
    /// Values of the environment variables with which tools are configured.
    pub(crate) configured: Vec<(&'static str, PathBuf)>,
    /// Recent folders.
    pub(crate) recent: Vec<PathBuf>,
}

/// A tool, the folder of its results, and which names in it are results.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    tool: &'static str,
    /// Folder that the user has, which may be reached by links.
    base: PathBuf,
    /// Path of the results below it, where no link is followed.
    below: &'static str,
    /// Names of results below that; `*` stands for any letters, and a final `/` for a folder.
    names: &'static str,
    /// Noun for one result.
    unit: &'static str,
}

impl Candidate {
    fn path(&self) -> PathBuf {
        if self.below.is_empty() { self.base.clone() } else { self.base.join(self.below) }
    }
}

impl Places {
    /// Returns the places of this user and process, without recent folders.
    pub(crate) fn of_user() -> Self {
        let configured = VARIABLES.iter().filter_map(|name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some((*name, PathBuf::from(value)))
        });
        Self {
            home: etcetera::home_dir().ok(),
            here: std::env::current_dir().ok(),
            configured: configured.collect(),
            recent: Vec::new(),
        }
    }

    fn configured(&self, name: &str) -> Option<PathBuf> {
        self.configured.iter().find(|(known, _)| *known == name).map(|(_, path)| path.clone())
    }

    /// Returns the places to look at, in the order in which they are offered.
    fn candidates(&self) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut add = |tool, base: Option<PathBuf>, below, names, unit| {
            let base = base.filter(|base| base.is_absolute());
            all.extend(base.map(|base| Candidate { tool, base, below, names, unit }));
        };
        let home = || self.home.clone();
        match self.configured("CLAUDE_CONFIG_DIR") {
            None => add("Claude Code", home(), ".claude/projects", "*/*.jsonl", "session"),
            configured => add("Claude Code", configured, "projects", "*/*.jsonl", "session"),
        }
        match self.configured("CODEX_HOME") {
            None => add("Codex", home(), ".codex/sessions", "*/*/*/rollout-*", "session"),
            configured => add("Codex", configured, "sessions", "*/*/*/rollout-*", "session"),
        }
        add("Gemini CLI", home(), ".gemini/tmp", "*/chats/session-*", "session");
        add("OpenHands", home(), ".openhands/conversations", "*/", "conversation");
        add("promptfoo", home(), ".promptfoo", "promptfoo.db", "database");
        // Where results were before there was a database.
        add("promptfoo", home(), ".promptfoo/output", "*.json", "file");
        add("Inspect", self.configured("INSPECT_LOG_DIR"), "", "*.eval", "log");
        for folder in self.here.iter().chain(&self.recent) {
            add("Inspect", Some(folder.clone()), "logs", "*.eval", "log");
            add("Harbor", Some(folder.clone()), "jobs", "*/", "job");
        }
        all
    }
}

/// Entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    is_folder: bool,
}

/// Lists at most so many entries of a folder. Returns none for what is no folder, or is a link.
type List<'a> = &'a dyn Fn(&Path, usize) -> Vec<Entry>;

/// Returns what is found at a candidate.
fn look(candidate: &Candidate, list: List<'_>) -> Option<FoundResults> {
    let path = candidate.path();
    let mut left = MOST_NAMES;
    let entries = count(&path, candidate.names, list, &mut left);
    (entries > 0).then(|| FoundResults {
        id: folder_id(&path),
        tool: candidate.tool.to_owned(),
        path: path.to_string_lossy().into_owned(),
        entries,
        more: left == 0,
        unit: candidate.unit.to_owned(),
    })
}

/// Counts the names below a folder that fit a pattern, as long as names are left to look at. Goes no
/// deeper than the pattern.
fn count(folder: &Path, names: &str, list: List<'_>, left: &mut usize) -> u32 {
    let entries = list(folder, *left);
    *left = left.saturating_sub(entries.len());
    let (name, rest) =
        names.split_once('/').map_or((names, None), |(name, rest)| (name, Some(rest)));
    let fitting = entries.iter().filter(|entry| fits(name, &entry.name));
    match rest {
        None => fitting.filter(|entry| !entry.is_folder).map(|_| 1).sum(),
        Some("") => fitting.filter(|entry| entry.is_folder).map(|_| 1).sum(),
        Some(rest) => fitting
            .filter(|entry| entry.is_folder)
            .map(|entry| count(&folder.join(&entry.name), rest, list, left))
            .sum(),
    }
}

/// Returns true if a name fits a pattern with at most one star.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

/// Lists a folder of this machine.
fn list_folder(folder: &Path, most: usize) -> Vec<Entry> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(most);
    let entry = |entry: fs::DirEntry| Entry {
        name: entry.file_name().to_string_lossy().into_owned(),
        is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
    };
    entries.map(entry).collect()
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// Returns true if a folder is there, and neither it nor anything between it and its base is a link.
fn is_there(candidate: &Candidate) -> bool {
    let path = candidate.path();
    is_folder(&path) && path.ancestors().take_while(|above| *above != candidate.base).all(is_folder)
}

/// Looks that are in progress.
#[derive(Debug, Default)]
pub(crate) struct Looks(Arc<AtomicUsize>);

impl Looks {
    /// Returns the folders with results of other tools, each once, as far as the file system says so
    /// in time.
    pub(crate) fn find(&self, places: Places) -> Vec<FoundResults> {
        let (found, finds) = mpsc::channel();
        if self.0.fetch_add(1, Ordering::SeqCst) >= MOST_LOOKS {
            self.0.fetch_sub(1, Ordering::SeqCst);
            return Vec::new();
        }
        let looks = Arc::clone(&self.0);
        let look_around = move || {
            for candidate in places.candidates().iter().filter(|one| is_there(one)) {
                // Nobody listens any more when it took too long.
                let _ = look(candidate, &list_folder).map(|one| found.send(one));
            }
            looks.fetch_sub(1, Ordering::SeqCst);
        };
        if thread::Builder::new().name("found-results".to_owned()).spawn(look_around).is_err() {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
        let end = Instant::now() + LONGEST;
        let mut all: Vec<FoundResults> = Vec::new();
        while let Ok(one) = finds.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if all.iter().all(|other| other.id != one.id) {
                all.push(one);
            }
        }
        all
    }
}

/// Returns the folder with this id, if it is still there.
pub(crate) fn with_id(places: &Places, id: &str) -> Option<PathBuf> {
    let mut all = places.candidates().into_iter();
    let candidate = all.find(|one| folder_id(&one.path()) == id && is_there(one))?;
    Some(candidate.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Places {
        Places {
            home: Some("/home/me".into()),
            here: Some("/data".into()),
            configured: Vec::new(),
            recent: vec!["/old".into()],
        }
    }

    /// Finds results in a tree of names; those that end in `/` are folders.
    fn found(places: &Places, tree: &[&str]) -> Vec<String> {
        let list = |folder: &Path, most: usize| {
            let within = format!("{}/", folder.display());
            let mut entries: Vec<Entry> = Vec::new();
            for path in tree.iter().filter_map(|path| path.strip_prefix(within.as_str())) {
                let (name, is_folder) =
                    path.split_once('/').map_or((path, false), |(name, _)| (name, true));
                if !name.is_empty() && entries.iter().all(|entry| entry.name != name) {
                    entries.push(Entry { name: name.to_owned(), is_folder });
                }
            }
            entries.truncate(most);
            entries
        };
        let candidates = places.candidates();
        let finds = candidates.iter().filter_map(|candidate| look(candidate, &list));
        let more = |one: &FoundResults| if one.more { "+" } else { "" };
        finds
            .map(|one| {
                format!("{} {} {}{} {}", one.tool, one.path, one.entries, more(&one), one.unit)
            })
            .collect()
    }

    #[test]
    fn results_are_offered_by_the_names_in_a_listing() {
        let tree = [
            "/home/me/.claude/projects/-a/1.jsonl",
            "/home/me/.claude/projects/-a/2.jsonl",
            "/home/me/.claude/projects/-a/2/subagents/agent-1.jsonl",
            "/home/me/.claude/projects/-b/3.jsonl",
            "/home/me/.claude/projects/notes.txt",
            "/home/me/.codex/sessions/2026/01/02/rollout-1.jsonl",
            "/home/me/.codex/sessions/2026/01/03/rollout-2.jsonl.zst",
            "/home/me/.gemini/tmp/abc/chats/session-1.json",
            "/home/me/.gemini/tmp/abc/logs.json",
            "/home/me/.openhands/conversations/abc/base_state.json",
            "/home/me/.promptfoo/output/a.json",
            "/home/me/.promptfoo/promptfoo.db",
            "/data/logs/a.eval",
            "/data/logs/b.eval/",
            "/data/logs/server.log",
            "/data/jobs/2026-01-01/x__1234567/config.json",
            "/old/logs/c.eval",
        ];
        insta::assert_snapshot!(found(&usual(), &tree).join("\n"), @r"
        Claude Code /home/me/.claude/projects 3 session
        Codex /home/me/.codex/sessions 2 session
        Gemini CLI /home/me/.gemini/tmp 1 session
        OpenHands /home/me/.openhands/conversations 1 conversation
        promptfoo /home/me/.promptfoo 1 database
        promptfoo /home/me/.promptfoo/output 1 file
        Inspect /data/logs 1 log
        Harbor /data/jobs 1 job
        Inspect /old/logs 1 log
        ");
        let mut places = usual();
        places.configured =
            vec![("CODEX_HOME", "/home/me/other".into()), ("INSPECT_LOG_DIR", "relative".into())];
        assert!(!found(&places, &tree).iter().any(|line| line.starts_with("Codex")));
    }

    #[test]
    fn what_holds_no_results_is_not_offered() {
        let tree = [
            "/home/me/.claude/projects/-a/",
            "/home/me/.promptfoo/promptfoo.yaml",
            "/data/logs/server.log",
            "/data/jobs/notes.txt",
        ];
        assert_eq!(found(&usual(), &tree), Vec::<String>::new());
        assert_eq!(found(&Places::default(), &tree), Vec::<String>::new());
    }

    #[test]
    fn counting_stops_at_the_maximum_number_of_names() {
        let many: Vec<String> = (0..1_500).map(|at| format!("/data/logs/{at}.eval")).collect();
        let tree: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(found(&usual(), &tree), ["Inspect /data/logs 1000+ log"]);
    }

    #[test]
    fn no_link_is_followed_and_each_folder_is_offered_once() {
        let dir = tempfile::tempdir().unwrap();
        let (home, here) = (dir.path().join("home"), dir.path().join("here"));
        for folder in ["real/projects/-a", "home/.codex/sessions/2026/1/2", "here/logs"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("real/projects/-a/1.jsonl"), "").unwrap();
        std::os::unix::fs::symlink("../real", home.join(".claude")).unwrap();
        fs::write(home.join(".codex/sessions/2026/1/2/rollout-1.jsonl"), "").unwrap();
        fs::write(here.join("logs/a.eval"), "not read").unwrap();
        let places = Places {
            home: Some(home),
            here: Some(here.clone()),
            configured: vec![("INSPECT_LOG_DIR", here.join("logs"))],
            recent: vec![here.clone()],
        };
        let all = Looks::default().find(places.clone());
        let tools: Vec<&str> = all.iter().map(|one| one.tool.as_str()).collect();
        assert_eq!(tools, ["Codex", "Inspect"]);
        assert_eq!(with_id(&places, &all[1].id), Some(here.join("logs")));

        fs::rename(here.join("logs"), here.join("moved")).unwrap();
        std::os::unix::fs::symlink("moved", here.join("logs")).unwrap();
        assert_eq!(with_id(&places, &all[1].id), None);
        assert_eq!(Looks::default().find(places).len(), 1);
    }

    #[test]
    fn a_file_system_that_does_not_answer_holds_up_a_bounded_number_of_looks() {
        let looks = Looks(Arc::new(AtomicUsize::new(MOST_LOOKS)));
        assert_eq!(looks.find(usual()), []);
        assert_eq!(looks.0.load(Ordering::SeqCst), MOST_LOOKS);
    }
}
