//! All processes that come from a server: found by a mark in the environment that each inherits,
//! and by who started whom, so that those that left its process group or lost their parent are
//! found as well. One that both took the mark out of its environment and lost its parent is not.
use fs_err as fs;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that holds the mark.
pub(super) const VARIABLE: &str = "TOUCHSTONE_SERVER";
/// More generations than this are not started while the ones before are being ended.
const ROUNDS: usize = 100;

/// Returns a mark that no other server has.
pub(super) fn mark() -> String {
    static TURN: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), TURN.fetch_add(1, Ordering::Relaxed))
}

/// Kills all processes with the mark and all that they and `first`, while it is there, have
/// started.
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

/// Kills one process, if it is still the one that was meant: its number may have been given to
/// another meanwhile.
fn kill(process: u32, started_by: u32) {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    // Not there any more: it has ended.
    let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if parent(process) == Some(started_by) {
        let _ = pidfd_send_signal(&held, Signal::KILL);
    }
}

/// The processes that belong to the server now, each with the one that started it.
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
    // That of another user cannot be read, and is none of ours.
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
}

/// All processes that run, each with the one that started it.
fn processes() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|process: u32| Some((process, parent(process)?))).collect()
}

/// The process that started this one; none when it has ended.
fn parent(process: u32) -> Option<u32> {
    let stat =
        fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    // Its name stands in brackets and may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.next()?.parse().ok() }
}
