//! Health checks of the installation, with fixes.
use super::FolderActions;
use fs_err as fs;
use rusqlite::Connection;
use std::time::Duration;
use touchstone_api::{Check, Phase, WatchMeans};
use touchstone_store::index_dir::make_private;
use touchstone_store::open::reason;

/// Maximum time to wait for the state of the file watcher.
const UNTIL_WATCHED: Duration = Duration::from_secs(5);

impl FolderActions<'_> {
    /// Returns all checks. Front ends add their own.
    pub fn doctor(self, may_run: bool) -> Vec<Check> {
        let mut checks = vec![self.cache(), database(), watches()];
        checks.extend(self.folder_check());
        checks.extend(self.suites_check());
        checks.extend(self.leftovers_checks());
        if may_run {
            checks.extend(self.runs_checks());
        }
        checks
    }

    fn cache(self) -> Check {
        let dir = &self.app.inner.config.cache_dir;
        let probe = dir.join(format!(".probe-{}", std::process::id()));
        let tried = make_private(dir)
            .and_then(|()| fs::write(&probe, b""))
            .and_then(|()| fs::remove_file(&probe));
        let shown = dir.display();
        match tried {
            Ok(()) => fine("Cache folder", format!("{shown} can be written.")),
            Err(error) => wrong(
                "Cache folder",
                format!("{shown} cannot be written: {}.", reason(&error)),
                "Make it writable, or set XDG_CACHE_HOME to a folder that is. Until then every start reads all files again.",
            ),
        }
    }

    /// Returns a check for problems of suites, including folders that only look like suites; `None`
    /// if there are none.
    fn suites_check(self) -> Option<Check> {
        let problems = self.app.current_folder()?.flow.shelf.problems();
        let more = match problems.len() {
            0 => return None,
            1 => String::new(),
            many => format!(" And {} more.", many - 1),
        };
        let detail = format!("{}{more}", problems[0].to_line());
        Some(note(
            "Suites",
            detail,
            "Problems and `touchstone plan` list what is wrong with suites.",
        ))
    }

    fn folder_check(self) -> Option<Check> {
        let open = self.app.current_folder()?;
        // Watching starts a moment after reading.
        open.flow.live.wait(|now| now.watching.by != WatchMeans::Off, UNTIL_WATCHED);
        let watching = open.flow.live.now().watching;
        let path = &open.folder.path;
        let output = &open.flow.roots.output_dir;
        Some(match (fs::read_dir(output), watching.by) {
            (Err(_), _) if !matches!(open.flow.live.now().phase, Phase::Failed { .. }) => {
                let output = output.display();
                fine(
                    "Open folder",
                    format!("{path} is read. There are no runs yet: {output} does not exist."),
                )
            }
            (Err(error), _) => wrong(
                "Open folder",
                format!("{path} cannot be listed: {}.", reason(&error)),
                "Check that it exists and that you may read it.",
            ),
            (Ok(_), WatchMeans::Polling) => fine(
                "Open folder",
                format!("{path} is read. {}", watching.notice.unwrap_or_default()),
            ),
            (Ok(_), WatchMeans::Native) => {
                fine("Open folder", format!("{path} is read and watched."))
            }
            (Ok(_), WatchMeans::Off) => {
                fine("Open folder", format!("{path} is read, and not watched yet."))
            }
        })
    }
}

fn database() -> Check {
    let tried = Connection::open_in_memory().and_then(|sql| {
        sql.execute_batch("CREATE TABLE t (x)")?;
        sql.query_row("SELECT sqlite_version()", [], |row| row.get::<_, String>(0))
    });
    match tried {
        Ok(version) => fine("Index", format!("SQLite {version} works.")),
        Err(error) => {
            wrong("Index", format!("SQLite does not work: {error}."), "Install Touchstone again.")
        }
    }
}

fn watches() -> Check {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
    };
    match (number("max_user_watches"), number("max_user_instances")) {
        (Some(watches), Some(instances)) if watches < 8192 || instances < 16 => wrong(
            "Watching",
            format!("The system allows only {watches} watched folders in {instances} programs."),
            "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512",
        ),
        (Some(watches), Some(_)) => {
            fine("Watching", format!("The system allows {watches} watched folders."))
        }
        _ => fine(
            "Watching",
            "The limits of this system are unknown; folders are polled if necessary.".to_owned(),
        ),
    }
}

pub(super) fn fine(name: &str, detail: String) -> Check {
    Check { name: name.to_owned(), ok: true, detail, fix: None }
}

/// Returns a passed check with a hint.
pub(super) fn note(name: &str, detail: String, fix: &str) -> Check {
    Check { fix: Some(fix.to_owned()), ..fine(name, detail) }
}

pub(super) fn wrong(name: &str, detail: String, fix: &str) -> Check {
    Check { name: name.to_owned(), ok: false, detail, fix: Some(fix.to_owned()) }
}
