//! **Pure.** Limits on sizes, depths and waiting times.
use std::time::Duration;

/// All limits for reading and indexing a folder.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum size of a result file. Larger ones become rows with a reason.
    pub file_bytes: u64,
    /// Maximum size of a suite file. Larger ones are refused because suites stay in memory.
    pub suite_bytes: u64,
    /// Limits for all suites of a folder together. Suites beyond them are left out and reported.
    pub suites: SuiteUsage,
    /// Maximum directory depth.
    pub depth: usize,
    /// Maximum memory for the names of a listing, in bytes; this is some two million files.
    pub listing_bytes: usize,
    /// A file that does not parse counts as being written until it has been unchanged for this
    /// long.
    pub settle: Duration,
    /// Interval between listings without a file watcher.
    pub poll: Duration,
    /// Interval between listings of a watched folder.
    pub rescan: Duration,
    /// Changes are handled after this long without another change.
    pub quiet: Duration,
    /// Maximum delay of a change while others keep arriving.
    pub patience: Duration,
    /// Maximum time without disk access after opening an existing index, so that the first page
    /// loads undisturbed.
    pub calm: Duration,
    /// Enables the file watcher.
    pub watch: bool,
    /// Lists the results. One of many machines that share a launch does not: it looks at its own
    /// runs only.
    pub results: bool,
    /// Leaves files whose runs segments claim unread until a run is opened. Their text is not
    /// searched.
    pub trust_claims: bool,
}

/// Memory use of suites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SuiteUsage {
    /// Number of variations of all tasks.
    pub variations: usize,
    /// Number of values: parameters, expected answers, scorers and everything else written in a
    /// suite.
    pub values: usize,
    /// Size of the files in bytes.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            suite_bytes: 16 << 20,
            suites: SuiteUsage { variations: 200_000, values: 2_000_000, bytes: 256 << 20 },
            depth: 16,
            listing_bytes: 512 << 20,
            settle: Duration::from_secs(5),
            poll: Duration::from_secs(2),
            rescan: Duration::from_secs(30),
            quiet: Duration::from_millis(25),
            patience: Duration::from_millis(80),
            calm: Duration::from_secs(1),
            watch: true,
            results: true,
            trust_claims: false,
        }
    }
}
