//! Active time of a run across resumes, excluding pauses. Uses a monotonic clock; changes of the
//! system time have no effect. Waiting for a busy provider counts, because the run was in progress.
use crate::script::Facts;
use std::time::{Duration, Instant};
use touchstone_formats::timestamps;

/// Timer that runs from the start or resume of a run until it stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActiveTimer {
    /// Active time before; none if not known.
    before: Option<Duration>,
    began: Instant,
}

impl ActiveTimer {
    /// Starts the timer with the time recorded in the file or in the journal, whichever is longer.
    /// The journal may be ahead if the run was interrupted before the file was written.
    pub(super) fn begin(file: &Facts, journal_ms: Option<u64>) -> Self {
        Self { before: before(file, journal_ms), began: Instant::now() }
    }

    /// Raises the earlier time to that of a journaled reply that had not reached the file.
    pub(super) fn reach(&mut self, journal_ms: Option<u64>) {
        self.before = self.before.max(journal_ms.map(Duration::from_millis));
    }

    /// Returns the active time to date; `None` if the earlier time is not known.
    fn spent(&self) -> Option<Duration> {
        self.before?.checked_add(self.began.elapsed())
    }

    /// Returns the active time in seconds.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.spent().map(|spent| spent.as_secs_f64())
    }

    /// Returns the active time in milliseconds.
    pub(super) fn ms(&self) -> Option<u64> {
        u64::try_from(self.spent()?.as_millis()).ok()
    }
}

/// Returns the earlier active time according to file and journal.
fn before(file: &Facts, journal_ms: Option<u64>) -> Option<Duration> {
    let said = file
        .seconds
        .or_else(|| from_dates(file))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // A journal beside a file without a start time belongs to another run.
    said.max(journal_ms.filter(|_| file.started.is_some()).map(Duration::from_millis))
}

/// Computes the active time from the dates of a file without a recorded duration, which was written
/// in one go. Returns `None` without an end date: the run was interrupted at an unknown time.
fn from_dates(file: &Facts) -> Option<f64> {
    let Some(started) = &file.started else { return Some(0.0) };
    Some(timestamps::seconds(file.finished.as_ref()?)? - timestamps::seconds(started)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(seconds: Option<f64>, started: &str, finished: &str) -> Facts {
        let date = |date: &str| (!date.is_empty()).then(|| date.to_owned());
        Facts { seconds, started: date(started), finished: date(finished), ..Facts::default() }
    }

    #[test]
    fn earlier_time_comes_from_the_file_else_its_dates_else_is_unknown() {
        let (ten, eleven) = ("2025-03-04T10:00:00Z", "2025-03-04T11:00:00.500Z");
        for (facts, seconds) in [
            (file(None, "", ""), Some(0.0)),
            (file(None, "", eleven), Some(0.0)),
            (file(Some(4.5), ten, eleven), Some(4.5)),
            (file(Some(4.5), ten, ""), Some(4.5)),
            (file(None, ten, eleven), Some(3600.5)),
            (file(None, "1740096727", "1740096737.5"), Some(10.5)),
            (file(None, "2025-03-04 10:00:00", "2025-03-04 10:00:02 UTC"), Some(2.0)),
            (file(None, ten, ""), None),
            (file(None, eleven, ten), None),
            (file(None, "yesterday", ten), None),
        ] {
            assert_eq!(
                before(&facts, None).map(|before| before.as_secs_f64()),
                seconds,
                "{facts:?}"
            );
        }
    }

    #[test]
    fn journal_time_beyond_the_file_counts_once() {
        let of =
            |seconds, journal_ms| before(&file(seconds, "2025-03-04T10:00:00Z", ""), journal_ms);
        assert_eq!(of(Some(2.0), Some(1500)), Some(Duration::from_secs(2)));
        assert_eq!(of(Some(2.0), Some(9500)), Some(Duration::from_millis(9500)));
        assert_eq!(of(None, Some(9500)), Some(Duration::from_millis(9500)));
        assert_eq!(
            before(&file(None, "", ""), Some(9500)),
            Some(Duration::ZERO),
            "a journal of another file"
        );
    }

    #[test]
    fn time_continues_from_the_known_total_and_unknown_totals_stay_unknown() {
        let known = ActiveTimer { before: Some(Duration::from_secs(2)), began: Instant::now() };
        assert!(known.seconds().is_some_and(|seconds| (2.0..60.0).contains(&seconds)));
        assert!(known.ms().is_some_and(|ms| (2_000..60_000).contains(&ms)));
        let unknown = ActiveTimer { before: None, began: Instant::now() };
        assert_eq!((unknown.seconds(), unknown.ms()), (None, None));
    }
}
