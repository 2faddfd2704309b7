//! **Pure.** How much is read, how deep, and how long things are waited for.
use std::time::Duration;

/// Every bound of the results flow, in one place.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Larger files are rows with a reason.
    pub file_bytes: u64,
    /// Larger suites are refused: they stay in memory.
    pub suite_bytes: u64,
    /// All suites of a folder together; what does not fit any more is left out, and told.
    pub suites: Held,
    /// Directories below this are not entered.
    pub depth: usize,
    /// Entries after this are not listed.
    pub entries: usize,
    /// A file that does not parse is being written until it has not changed for this long.
    pub settle: Duration,
    /// How often a folder is listed where the system does not tell of changes.
    pub poll: Duration,
    /// How often a watched folder is listed all the same.
    pub rescan: Duration,
    /// How long there must be no change before changes are looked at.
    pub quiet: Duration,
    /// How long changes wait at most, however many follow.
    pub patience: Duration,
    /// How long the disk is left alone when an index was found, while nobody has its first page
    /// yet.
    pub calm: Duration,
    /// Whether the system is asked to tell of changes at all.
    pub watch: bool,
}

/// What suites hold in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Variations of all tasks.
    pub variations: usize,
    /// Values: parameters, expected answers, scorers and everything else that is written in a
    /// suite.
    pub values: usize,
    /// Bytes of the files.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            suite_bytes: 16 << 20,
            suites: Held { variations: 200_000, values: 2_000_000, bytes: 256 << 20 },
            depth: 16,
            entries: 200_000,
            settle: Duration::from_secs(5),
            poll: Duration::from_secs(2),
            rescan: Duration::from_secs(30),
            quiet: Duration::from_millis(25),
            patience: Duration::from_millis(80),
            calm: Duration::from_secs(1),
            watch: true,
        }
    }
}
