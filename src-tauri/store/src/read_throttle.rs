//! **Pure.** Limits how often a large, changing file is read again: the larger, the less often, so
//! that a log being written does not delay everything else.
use super::reconcile::Unit;
use super::unit_id::UnitId;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Smaller units are read on every change.
const LARGE: u64 = 4 << 20;
/// Number of bytes of large units that are read again per second.
const BYTES_A_SECOND: u64 = 8 << 20;

/// Time of the last read of each large unit.
#[derive(Debug, Default)]
pub(crate) struct ReadThrottle {
    last: HashMap<UnitId, Instant>,
}

impl ReadThrottle {
    /// Returns the time at which a unit should be read, or `None` to read it now.
    pub(crate) fn hold(&mut self, unit: &Unit, now: Instant) -> Option<Instant> {
        let size: u64 = unit.files.values().map(|found| found.stamp.size).sum();
        if size < LARGE {
            return None;
        }
        let pause = Duration::from_millis(size.saturating_mul(1000) / BYTES_A_SECOND);
        match self.last.get(&unit.id) {
            Some(last) if *last + pause > now => Some(*last + pause),
            _ => {
                self.last.insert(unit.id.clone(), now);
                None
            }
        }
    }

    /// Forgets units that were not read for ten minutes.
    pub(crate) fn tidy(&mut self, now: Instant) {
        self.last.retain(|_, last| now.duration_since(*last) < Duration::from_mins(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::Stamp;
    use crate::reconcile::unit_of;
    use crate::roots::{FileId, Root};
    use crate::scan::Found;

    fn unit(size: u64) -> Unit {
        let file = FileId::new(Root::Output, "a.yaml");
        let found = Found { stamp: Stamp { size, ..Stamp::default() }, odd: None };
        Unit { id: unit_of(&file, false), files: [(file, found)].into_iter().collect() }
    }

    #[test]
    fn a_large_file_is_read_at_once_and_then_again_after_a_time_that_fits_its_size() {
        let (mut pace, start) = (ReadThrottle::default(), Instant::now());
        let (size, pause) = (80 << 20, Duration::from_secs(10));
        assert_eq!(pace.hold(&unit(size), start), None);
        assert_eq!(pace.hold(&unit(size), start + pause / 2), Some(start + pause));
        assert_eq!(pace.hold(&unit(size), start + pause), None);
        assert_eq!(pace.hold(&unit(size), start + pause), Some(start + pause * 2));
    }

    #[test]
    fn a_small_file_is_always_read() {
        let (mut pace, now) = (ReadThrottle::default(), Instant::now());
        assert_eq!(
            [pace.hold(&unit(LARGE - 1), now), pace.hold(&unit(LARGE - 1), now)],
            [None, None]
        );
    }
}
