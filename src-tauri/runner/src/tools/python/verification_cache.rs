//! Cache of sandbox verifications per boot, binaries and limits: in memory, and in a small file of
//! the cache folder. Only success is cached; failures are probed again.
use super::argv;
use super::sandbox::Sandbox;
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

/// Versions of a verified sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verified {
    /// Version of bubblewrap, as it prints it.
    pub(super) bubblewrap: String,
    /// Version of python inside the sandbox.
    pub(super) python: String,
}

#[derive(Serialize, Deserialize)]
struct CacheEntry {
    key: String,
    #[serde(flatten)]
    verified: Verified,
}

static KNOWN: Mutex<BTreeSet<u128>> = Mutex::new(BTreeSet::new());

/// Returns a hash of everything that a verification depends on.
pub(super) fn key(sandbox: &Sandbox) -> io::Result<u128> {
    let parts = &sandbox.parts;
    let mut hash = Xxh3Default::new();
    let mut part = |bytes: &[u8]| hash.update(&xxh3_128(bytes).to_le_bytes());
    part(&fs::read("/proc/sys/kernel/random/boot_id")?);
    for binary in [&parts.bwrap, &parts.prlimit, &parts.python] {
        part(&fs::read(binary)?);
    }
    part(sandbox.filter.as_deref().unwrap_or_default());
    for argument in argv::arguments(parts, &sandbox.limits, Some(3)) {
        part(argument.as_encoded_bytes());
    }
    part(include_bytes!("canary.py"));
    part(&rustix::process::geteuid().as_raw().to_le_bytes());
    Ok(hash.digest128())
}

/// Returns true if the sandbox was verified.
pub(super) fn is_known(cache: &Path, key: u128) -> bool {
    let kept = || serde_json::from_str::<CacheEntry>(&fs::read_to_string(file(cache)).ok()?).ok();
    let in_memory = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
    in_memory || kept().is_some_and(|kept| kept.key == hex(key))
}

/// Caches a successful verification. If the file cannot be written, the next start verifies again.
pub(super) fn remember(cache: &Path, key: u128, verified: &Verified) {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    let kept = CacheEntry { key: hex(key), verified: verified.clone() };
    let write = |text: String| {
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(file(cache))?
            .write_all(text.as_bytes())
    };
    let written = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(cache)
        .and_then(|()| Ok(serde_json::to_string(&kept)?))
        .and_then(write);
    if let Err(error) = written {
        tracing::debug!(%error, "the sandbox is verified again at the next start");
    }
}

/// Clears the cache, so that the sandbox is verified again.
pub(super) fn forget(cache: &Path) {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clear();
    // If it cannot be removed, it is overwritten later.
    let _ = fs::remove_file(file(cache));
}

fn file(cache: &Path) -> PathBuf {
    cache.join("python-sandbox.json")
}

fn hex(key: u128) -> String {
    format!("{key:032x}")
}
