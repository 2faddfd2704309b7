//! Named points at which a test can kill the process, to check the state after a crash. Release
//! builds contain none of them.

/// Marks a point at which the process can be killed.
macro_rules! point {
    ($name:literal) => {
        #[cfg(debug_assertions)]
        $crate::fault::reached($name);
    };
}
pub(crate) use point;

/// Kills the process here if `TOUCHSTONE_FAIL_AT` is `name:count` and this is the count-th time.
#[cfg(debug_assertions)]
pub(crate) fn reached(name: &str) {
    if is_due(name) {
        die(name);
    }
}

/// Returns true the count-th time the named point is reached. The caller then has to call `die`.
#[cfg(debug_assertions)]
pub(crate) fn is_due(name: &str) -> bool {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static ARMED: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let wish = std::env::var("TOUCHSTONE_FAIL_AT").ok()?;
        let (name, count) = wish
            .rsplit_once(':')
            .map_or((wish.as_str(), 1), |(name, n)| (name, n.parse().unwrap_or(1)));
        Some((name.to_owned(), count))
    });
    static SEEN: AtomicU64 = AtomicU64::new(0);
    ARMED.as_ref().is_some_and(|(armed, count)| {
        armed == name && SEEN.fetch_add(1, Ordering::SeqCst) + 1 == *count
    })
}

/// Ends the process like `kill -9`: nothing is dropped, flushed or unlocked.
#[cfg(debug_assertions)]
pub(crate) fn die(name: &str) -> ! {
    eprintln!("died at {name}, as told by TOUCHSTONE_FAIL_AT");
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}
