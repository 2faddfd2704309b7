//! Finds the components of the sandbox on this machine. Starts no process.
use super::advice;
use super::argv::{ETC, Parts, TOPS, Top};
use crate::tools::Unusable;
use fs_err as fs;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Search locations for programs.
#[derive(Debug, Clone)]
pub struct SearchPaths {
    /// Folders to search for bubblewrap, in the format of `PATH`.
    pub path: OsString,
    /// Python of the sandbox. Has to be below /usr, because the sandbox shows nothing else of the
    /// machine.
    pub python: PathBuf,
}

impl Default for SearchPaths {
    fn default() -> Self {
        let pythons = ["/usr/bin/python3", "/usr/local/bin/python3"];
        let python = pythons
            .into_iter()
            .find(|python| program(Path::new(python)).is_some())
            .unwrap_or(pythons[0]);
        Self { path: std::env::var_os("PATH").unwrap_or_default(), python: python.into() }
    }
}

/// Returns the components of a sandbox. Fails at the first missing one.
pub(super) fn parts(places: &SearchPaths) -> Result<Parts, Unusable> {
    if !cfg!(target_os = "linux") {
        return Err(advice::only_linux());
    }
    let mut folders = std::env::split_paths(&places.path).filter(|folder| folder.is_absolute());
    let bwrap = folders
        .find_map(|folder| program(&folder.join("bwrap")))
        .ok_or_else(advice::no_bubblewrap)?;
    let mut folders = ["/usr/bin", "/usr/local/bin"].iter();
    let prlimit = folders.find_map(|folder| program(&Path::new(folder).join("prlimit")));
    let prlimit = prlimit.ok_or_else(advice::no_prlimit)?;
    let python = program(&places.python).ok_or_else(|| advice::no_python(&places.python))?;
    if !fs::canonicalize(&python).is_ok_and(|real| real.starts_with("/usr"))
        || !python.starts_with("/usr")
    {
        return Err(advice::python_elsewhere(&python));
    }
    let as_nobody = rustix::process::geteuid().is_root();
    Ok(Parts { bwrap, prlimit, python, tops: tops(), as_nobody })
}

fn tops() -> Vec<(PathBuf, Top)> {
    let tops = TOPS.iter().chain(&ETC).map(PathBuf::from);
    let known = tops.filter_map(|top| {
        let found = fs::symlink_metadata(&top).ok()?;
        let kind =
            if found.is_symlink() { Top::Link(fs::read_link(&top).ok()?) } else { Top::Real };
        Some((top, kind))
    });
    known.collect()
}

/// Returns the path if it is an executable file.
fn program(path: &Path) -> Option<PathBuf> {
    let startable = rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    (startable && path.is_file()).then(|| path.to_owned())
}
