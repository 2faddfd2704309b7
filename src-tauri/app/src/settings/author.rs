//! The name under which a person reviews, where none is given: git's `user.name` of this user, else
//! the name of the system's user. Settings of the folder are not asked: they may come from a
//! stranger. It is written into reviews of this person and nowhere else.
use super::SettingsActions;
use crate::error::AppError;
use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use touchstone_api::{Author, AuthorSource};

/// Maximum characters of a name.
const LONGEST: usize = 100;
/// Maximum time to wait for git, and the polling interval.
const MOST_TIME: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

impl SettingsActions<'_> {
    /// Returns the name under which reviews of the open folder are written.
    pub fn author(self) -> Result<Author, AppError> {
        let open = self.app.require_folder()?;
        if let Some(author) = open.author.get() {
            return Ok(author.clone());
        }
        // Asked outside of the cell, so that nobody waits for somebody else's git.
        let author = find();
        Ok(open.author.get_or_init(|| author).clone())
    }

    /// Returns the given name of a person, or the one of [`Self::author`]. `None` if there is none.
    pub(crate) fn author_or(self, given: Option<&str>) -> Result<Option<String>, AppError> {
        let given = given.and_then(name_in);
        Ok(if given.is_some() { given } else { self.author()?.name })
    }
}

fn find() -> Author {
    let from_system = || {
        let name = ["USER", "LOGNAME"].iter().find_map(|key| name_in(&std::env::var(key).ok()?));
        let from = if name.is_some() { AuthorSource::System } else { AuthorSource::Nowhere };
        Author { name, from }
    };
    let git = output(&mut git_name(), MOST_TIME).and_then(|text| name_in(&text));
    git.map_or_else(from_system, |name| Author { name: Some(name), from: AuthorSource::Git })
}

/// Returns the command that prints `user.name` of this user's settings and their includes.
fn git_name() -> Command {
    let mut git = Command::new("git");
    git.args(["-C", "/", "config", "--global", "--includes", "--get", "user.name"]);
    git.env_remove("GIT_DIR").env_remove("GIT_COMMON_DIR");
    git
}

/// Returns what a command prints, up to a few kilobytes. `None` if it fails, or runs longer than
/// this and is killed.
fn output(command: &mut Command, longest: Duration) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let has_succeeded = wait(&mut child, longest)?.success();
    let mut text = String::new();
    let read = child.stdout.take()?.take(4 << 10).read_to_string(&mut text);
    (has_succeeded && read.is_ok()).then_some(text)
}

/// Waits for a program, and kills it after this time. `None` if it was killed.
pub(crate) fn wait(child: &mut Child, longest: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + longest;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
            _ => {
                tracing::warn!("git does not answer");
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Returns the name in a text: its first line, without control characters; `None` if it is empty.
fn name_in(text: &str) -> Option<String> {
    let line = text.trim().lines().next()?;
    let name: String = line.chars().filter(|char| !char.is_control()).take(LONGEST).collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line_without_control_characters() {
        assert_eq!(name_in(" Zoë Ö.\nsecond\n").as_deref(), Some("Zoë Ö."));
        assert_eq!(name_in("a\u{1b}[2Kb").as_deref(), Some("a[2Kb"));
        assert_eq!(name_in(&"x".repeat(500)).unwrap().len(), LONGEST);
        assert_eq!((name_in(""), name_in(" \n")), (None, None));
    }

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let begun = Instant::now();
        assert_eq!(output(Command::new("sleep").arg("60"), Duration::from_millis(50)), None);
        assert!(begun.elapsed() < Duration::from_secs(30));
        assert_eq!(output(&mut Command::new("no-such-program"), MOST_TIME), None);
    }

    #[test]
    fn git_settings_of_the_user_are_asked_and_those_of_the_folder_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings");
        std::fs::write(&settings, "[user]\nname = Zoë\n").unwrap();
        let ran = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        assert!(ran(Command::new("git").args(["init", "-q"]).arg(folder.path())));
        let fifo = folder.path().join("fifo");
        assert!(ran(Command::new("mkfifo").arg(&fifo)));
        let strange = format!("[user]\nname = Mallory\n[include]\npath = {}\n", fifo.display());
        std::fs::write(folder.path().join(".git/config"), strange).unwrap();
        let mut git = git_name();
        git.env("GIT_CONFIG_GLOBAL", &settings).current_dir(folder.path());
        let name = output(&mut git, Duration::from_secs(30)).and_then(|text| name_in(&text));
        assert_eq!(name.as_deref(), Some("Zoë"));
    }
}
