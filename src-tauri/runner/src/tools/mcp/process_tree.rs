//! Finds and kills all processes of a server. They are found by a mark in their inherited
//! environment and by parent, which includes processes that left the process group or whose parent
//! has exited. A process that both removed the mark from its environment and lost its parent is not
//! found.
use fs_err as fs;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Environment variable that holds the mark.
pub(super) const VARIABLE: &str = "TOUCHSTONE_SERVER";
/// Maximum number of rounds of killing; each round catches processes started during the one before.
const ROUNDS: usize = 100;

/// Returns a mark that no other server has.
pub(super) fn mark() -> String {
    static TURN: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), TURN.fetch_add(1, Ordering::Relaxed))
}

/// Kills all processes with the mark, the process `first` if it still exists, and all their
/// descendants.
pub(super) fn end(mark: &str, first: Option<u32>) {
    let entry = format!("{VARIABLE}={mark}");
    let mut ended = BTreeSet::new();
    for _ in 0..ROUNDS {
        let new: Vec<(u32, u32)> =
            members(&entry, first).into_iter().filter(|member| ended.insert(*member)).collect();
        if new.is_empty() {
            return;
        }
        for (process, parent) in new {
            kill(process, parent);
        }
    }
}

/// Kills a process if it still has the same parent: its id may have been reused by another process.
fn kill(process: u32, started_by: u32) {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    // The process has exited.
    let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if parent(process) == Some(started_by) {
        let _ = pidfd_send_signal(&held, Signal::KILL);
    }
}

/// Returns the server's current processes, each with its parent.
fn members(entry: &str, first: Option<u32>) -> Vec<(u32, u32)> {
    let mut processes = processes();
    let marked =
        processes.iter().map(|(process, _)| *process).filter(|process| is_marked(*process, entry));
    let mut members: BTreeSet<u32> = marked.chain(first).collect();
    loop {
        let started = |(process, parent): &&(u32, u32)| {
            members.contains(parent) && !members.contains(process)
        };
        let more: Vec<u32> =
            processes.iter().filter(started).map(|(process, _)| *process).collect();
        if more.is_empty() {
            processes.retain(|(process, _)| members.contains(process));
            return processes;
        }
        members.extend(more);
    }
}

fn is_marked(process: u32, entry: &str) -> bool {
    // The environment of another user's process cannot be read, and such a process is not part of
    // the server.
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
}

/// Returns all running processes, each with its parent.
fn processes() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|process: u32| Some((process, parent(process)?))).collect()
}

/// Returns the parent of a process; `None` if it has exited.
fn parent(process: u32) -> Option<u32> {
    let stat =
        fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    // The process name is in parentheses and may contain any character.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.next()?.parse().ok() }
}
