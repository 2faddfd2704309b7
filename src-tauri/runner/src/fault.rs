//! Places where a test may kill the process, to see what a crash leaves behind. Nothing of it is in
//! a release build.

/// A place where the process may be told to die.
macro_rules! point {
    ($name:literal) => {
        #[cfg(debug_assertions)]
        $crate::fault::reached($name);
    };
}
pub(crate) use point;

/// Dies here when `TOUCHSTONE_FAIL_AT` is `name:count` and this is the count-th time.
#[cfg(debug_assertions)]
pub(crate) fn reached(name: &str) {
    if is_due(name) {
        die(name);
    }
}

/// True the count-th time that the named place is reached. The place itself has to die then.
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

/// Ends the process as `kill -9` does: nothing is dropped, flushed or unlocked by us.
#[cfg(debug_assertions)]
pub(crate) fn die(name: &str) -> ! {
    eprintln!("died at {name}, as told by TOUCHSTONE_FAIL_AT");
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}
