//! The name under which a person reviews, where none is given: git's `user.name` of the folder, else
//! the name of the system's user. It is written into reviews of this person and nowhere else.
use super::App;
use crate::error::AppError;
use std::path::Path;
use std::process::{Command, Stdio};
use touchstone_api::{Author, AuthorSource};

/// Maximum characters of a name.
const LONGEST: usize = 100;

impl App {
    /// Returns the name under which reviews of the open folder are written.
    pub fn author(&self) -> Result<Author, AppError> {
        let open = self.require_folder()?;
        Ok(open.author.get_or_init(|| find(&open.flow.roots.folder)).clone())
    }

    /// Returns the given name of a person, or the one of [`App::author`]. `None` if there is none.
    pub(super) fn author_or(&self, given: Option<&str>) -> Result<Option<String>, AppError> {
        let given = given.and_then(name_in);
        Ok(if given.is_some() { given } else { self.author()?.name })
    }
}

fn find(folder: &Path) -> Author {
    let from_system = || {
        let name = ["USER", "LOGNAME"].iter().find_map(|key| name_in(&std::env::var(key).ok()?));
        let from = if name.is_some() { AuthorSource::System } else { AuthorSource::Nowhere };
        Author { name, from }
    };
    git_name(folder)
        .map_or_else(from_system, |name| Author { name: Some(name), from: AuthorSource::Git })
}

/// Asks git, because its settings include each other depending on the folder.
fn git_name(folder: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["config", "--get", "user.name"]);
    let asked = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    name_in(&String::from_utf8(asked.stdout).ok()?)
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
    fn git_settings_of_the_folder_come_before_the_user_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let ran = Command::new("git").arg("-C").arg(folder.path()).args(args).output();
            ran.is_ok_and(|ran| ran.status.success())
        };
        if git(&["init", "-q"]) && git(&["config", "user.name", "Zoë"]) {
            let author = find(folder.path());
            assert_eq!((author.name.as_deref(), author.from), (Some("Zoë"), AuthorSource::Git));
        }
    }
}
