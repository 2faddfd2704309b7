//! Progress of reading a file, which another thread asks for, and which can be stopped.
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Progress of reading one file.
#[derive(Debug, Default)]
pub struct ReadWatch {
    read: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl ReadWatch {
    /// Sets the number of bytes of the file.
    pub fn start(&self, total: u64) {
        self.read.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Returns the number of bytes that were read, and of all bytes. Readers that look at a place
    /// twice are not ahead of the file.
    pub fn progress(&self) -> (u64, u64) {
        let total = self.total.load(Relaxed);
        (self.read.load(Relaxed).min(total), total)
    }

    /// Ends the reading as soon as more of the file is asked for.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Returns true after [`ReadWatch::stop`].
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.read.fetch_add(bytes, Relaxed);
    }
}
