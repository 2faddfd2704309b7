//! Watches the total memory and files of all processes of a sandbox, because rlimits apply to each
//! process separately. Looks through the root folder of the sandbox's first process, which shows
//! every process in it.
use super::PythonLimits;
use super::cgroup::ControlGroup;
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Interval between two checks.
const GLANCE: Duration = Duration::from_millis(20);

/// The exceeded limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// The processes used too much memory together.
    Memory,
    /// The program made too many files and folders.
    Files,
}

/// Limits of a whole sandbox.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Maximum number of bytes of memory for all processes together.
    pub(super) memory: u64,
    /// Maximum number of files and folders at a time.
    pub(super) files: u64,
}

/// A running sandbox, seen from outside.
pub(super) struct SandboxView {
    /// Root folder of its first process.
    pub(super) root: PathBuf,
    /// Its control group, if one could be created.
    pub(super) group: Option<ControlGroup>,
}

/// Memory that a control group counts in addition to that of programs: files, and the kernel's
/// memory for processes.
const BESIDES: u64 = 64 << 20;
/// Processes of a sandbox that the process limit does not count: bubblewrap outside.
const OUTSIDE: u64 = 1;

/// Creates a control group for a sandbox with these limits.
pub(super) fn control_group(limits: &PythonLimits) -> Option<ControlGroup> {
    let memory = limits.total.saturating_add(limits.files).saturating_add(BESIDES);
    ControlGroup::make(memory, limits.processes.saturating_add(OUTSIDE))
}

impl SandboxView {
    /// Finds the sandbox of a bubblewrap process whose program has not started. Makes its processes
    /// the first to be killed if the machine runs out of memory, and moves them into a control
    /// group if possible; child processes inherit both. Returns `None` if it has exited.
    pub(super) fn mark(bubblewrap: u32, limits: &PythonLimits) -> Option<Self> {
        let first = child(bubblewrap)?;
        let group = control_group(limits)
            .filter(|group| group.take(first).and_then(|()| group.take(bubblewrap)).is_ok());
        for process in [bubblewrap, first] {
            // If this is refused, the probe reports it.
            let _ = fs::write(format!("/proc/{process}/oom_score_adj"), "1000");
        }
        Some(Self { root: format!("/proc/{first}/root").into(), group })
    }

    /// Waits until a limit is exceeded.
    pub(super) async fn exceeds(root: PathBuf, bounds: Bounds) -> Excess {
        let root = Arc::new(root);
        loop {
            sleep(GLANCE).await;
            let root = Arc::clone(&root);
            // Reading may block for a while on a busy machine, and must not block the async
            // threads.
            if let Ok(Some(excess)) = tokio::task::spawn_blocking(move || look(&root, bounds)).await
            {
                return excess;
            }
        }
    }
}

/// Returns the only child of a process.
fn child(parent: u32) -> Option<u32> {
    if let Ok(children) = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")) {
        return children.split_whitespace().next()?.parse().ok();
    }
    // Some kernels do not provide this list.
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.find(|id| {
        number(&Path::new("/proc").join(id.to_string()).join("status"), "PPid:")
            == Some(u64::from(parent))
    })
}

fn look(root: &Path, bounds: Bounds) -> Option<Excess> {
    let count = |folder: &str| {
        let seen = rustix::fs::statvfs(root.join(folder)).ok()?;
        Some(seen.f_files.saturating_sub(seen.f_ffree))
    };
    let files: u64 = ["work", "dev/shm"].into_iter().filter_map(count).sum();
    if files > bounds.files {
        return Some(Excess::Files);
    }
    let processes = fs::read_dir(root.join("proc")).ok()?.flatten();
    let is_process = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
    };
    let processes: Vec<PathBuf> = processes.map(|entry| entry.path()).filter(is_process).collect();
    let sum = |file: &str, names: [&str; 2]| -> u64 {
        let held = |process: &PathBuf| {
            fs::read_to_string(process.join(file)).map_or(0, |text| sum_memory(&text, names))
        };
        processes.iter().map(held).fold(0, u64::saturating_add)
    };
    // `status` is cheap, but counts shared pages once per process; `smaps_rollup` counts them once.
    let is_more =
        sum("status", IN_ALL) > bounds.memory && sum("smaps_rollup", IN_PARTS) > bounds.memory;
    is_more.then_some(Excess::Memory)
}

/// Resident and swapped memory of a process.
const IN_ALL: [&str; 2] = ["VmRSS:", "VmSwap:"];
/// Like `IN_ALL`, but with only the process's share of shared pages.
const IN_PARTS: [&str; 2] = ["Pss:", "SwapPss:"];

/// Returns the sum of these fields in bytes.
fn sum_memory(text: &str, names: [&str; 2]) -> u64 {
    let kilobytes =
        names.into_iter().filter_map(|name| number_in(text, name)).fold(0, u64::saturating_add);
    kilobytes.saturating_mul(1 << 10)
}

/// Returns the number in a `name value` line of a file. `None` once the process has exited.
fn number(file: &Path, name: &str) -> Option<u64> {
    number_in(&fs::read_to_string(file).ok()?, name)
}

fn number_in(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_memory_counts_as_used() {
        let status = "Name:\tpython3\nVmHWM:\t  900 kB\nVmRSS:\t  200 kB\nRssAnon:\t  150 kB\nVmSwap:\t  300 kB\n";
        assert_eq!(sum_memory(status, IN_ALL), 500 << 10);
        let parts = "00-ff ---p 00:00 0 [rollup]\nRss:  200 kB\nPss:   40 kB\nPss_Anon:   9 kB\nSwap:  300 kB\nSwapPss:   60 kB\n";
        assert_eq!(sum_memory(parts, IN_PARTS), 100 << 10);
        assert_eq!(sum_memory("", IN_ALL), 0, "it has ended");
        // Checks the field names of the current kernel.
        let own = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
        assert!(IN_PARTS.iter().all(|name| number_in(&own, name).is_some()), "{own}");
    }
}
