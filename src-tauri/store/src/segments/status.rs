//! **Pure.** What segments were good for in an open folder.
use super::files::RefusedSegment;

/// Maximum number of wrong claims and refused segments that are kept for display.
const MOST_TOLD: usize = 100;

/// What segments were good for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentStatus {
    /// Number of runs that were taken from segments.
    pub claimed: u64,
    /// Number of claims that the files did not agree with.
    pub wrong: u64,
    /// First of these: the run's path, and what is wrong.
    pub wrong_claims: Vec<(String, String)>,
    /// Segments that are not used.
    pub refused: Vec<RefusedSegment>,
}

impl SegmentStatus {
    pub(crate) fn note_wrong(&mut self, path: String, what: String) {
        self.wrong += 1;
        if self.wrong_claims.len() < MOST_TOLD {
            self.wrong_claims.push((path, what));
        }
    }

    pub(crate) fn refuse(&mut self, refused: RefusedSegment) {
        if self.refused.len() < MOST_TOLD && !self.refused.contains(&refused) {
            self.refused.push(refused);
        }
    }
}
