//! Lower bound for any indexer: listing, reading and hashing the files.
use fs_err as fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;

/// Lists every file below a directory, with its size.
pub(crate) fn list(dir: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => files.push((entry.path(), meta.len())),
                Err(_) => {}
            }
        }
    }
    files
}

/// Reads and hashes the files on `threads` threads. The returned sum keeps the compiler from
/// removing the work.
pub(crate) fn read_and_hash(files: &[(PathBuf, u64)], threads: usize) -> u64 {
    let chunk = files.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> =
            files.chunks(chunk).map(|part| scope.spawn(move || hash_all(part))).collect();
        parts.into_iter().map(|p| p.join().unwrap_or(0)).fold(0, u64::wrapping_add)
    })
}

fn hash_all(files: &[(PathBuf, u64)]) -> u64 {
    let mut buffer = Vec::new();
    let mut sum = 0u64;
    for (path, _) in files {
        buffer.clear();
        if fs::File::open(path).and_then(|mut f| f.read_to_end(&mut buffer)).is_ok() {
            sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(&buffer));
        }
    }
    sum
}

/// Peak resident memory of this process so far, in megabytes.
pub(crate) fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// CPU time of this process so far, in seconds, which other load on the machine does not distort.
pub(crate) fn cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 =
        after.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}
