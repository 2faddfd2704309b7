//! How long a run is being made: what went by while somebody was at it, over all the times it was gone on with. Owns no clock that can
//! be set, so that neither that nor a pause is in it.
use crate::runs::script::Facts;
use crate::runs::talk::Outcome;
use std::time::{Duration, Instant};

/// The time from when a run was begun, or gone on with, until it is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sitting {
    /// Seconds that were spent on it before; none when nobody knows.
    before: Option<f64>,
    began: Instant,
}

impl Sitting {
    /// Begins now, with a run whose file says this.
    pub(super) fn begin(file: &Facts) -> Self {
        Self { before: file.seconds.or_else(|| from_dates(file)), began: Instant::now() }
    }

    /// Adds what took so long and went by unseen: the process was cut off before it came into the file.
    pub(super) fn add(&mut self, ms: u64) {
        self.before = self.before.map(|before| before + Duration::from_millis(ms).as_secs_f64());
    }

    /// The same of calls that were run before, side by side.
    pub(super) fn add_calls(&mut self, before: &[Option<(Outcome, u64)>]) {
        self.add(before.iter().flatten().map(|(_, ms)| *ms).max().unwrap_or(0));
    }

    /// Seconds until now; none when nobody knows what was before.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.before.map(|before| before + self.began.elapsed().as_secs_f64())
    }
}

/// A file that does not say how long it was worked at was written in one go, from its first date to its last; one without a last date
/// was cut off, nobody knows when.
fn from_dates(file: &Facts) -> Option<f64> {
    let Some(started) = &file.started else { return Some(0.0) };
    let [started, finished] = [started, file.finished.as_ref()?].map(|date| date.parse::<jiff::Timestamp>());
    let seconds = finished.ok()?.duration_since(started.ok()?).as_secs_f64();
    (seconds >= 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(seconds: Option<f64>, started: &str, finished: &str) -> Facts {
        let date = |date: &str| (!date.is_empty()).then(|| date.to_owned());
        Facts { seconds, started: date(started), finished: date(finished), ..Facts::default() }
    }

    #[test]
    fn what_was_before_is_what_the_file_says_else_its_dates_else_not_known() {
        let (ten, eleven) = ("2025-03-04T10:00:00Z", "2025-03-04T11:00:00.500Z");
        for (facts, before) in [
            (file(None, "", ""), Some(0.0)),
            (file(None, "", eleven), Some(0.0)),
            (file(Some(4.5), ten, eleven), Some(4.5)),
            (file(Some(4.5), ten, ""), Some(4.5)),
            (file(None, ten, eleven), Some(3600.5)),
            (file(None, ten, ""), None),
            (file(None, eleven, ten), None),
            (file(None, "yesterday", ten), None),
        ] {
            assert_eq!(Sitting::begin(&facts).before, before, "{facts:?}");
        }
    }

    #[test]
    fn what_went_by_unseen_is_added_and_nothing_to_what_nobody_knows() {
        let mut known = Sitting::begin(&file(Some(2.0), "", ""));
        known.add(1500);
        assert!(known.seconds().is_some_and(|seconds| (3.5..60.0).contains(&seconds)));
        let mut unknown = Sitting { before: None, began: Instant::now() };
        unknown.add(1500);
        assert_eq!(unknown.seconds(), None);
    }
}
