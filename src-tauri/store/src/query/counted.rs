//! Conversion of indexed runs for the counting in `scoring::aggregate`.
use super::ScoredRun;
pub(super) use crate::outcome::end_of;
use touchstone_scoring::aggregate::Counted;

impl ScoredRun {
    /// Converts the run for counting. A system error counts as an error regardless of the scorers.
    /// Reviews by people are displayed separately and not counted.
    pub fn counted(&self) -> Counted<'_> {
        Counted {
            task: self.task.as_deref(),
            variation: self.variation,
            variation_name: self.variation_name.as_deref(),
            system: self.system.as_deref(),
            model: self.model.as_deref(),
            end: end_of(self.state, self.scoring, self.score, self.passed),
            scorer: self.scorer.as_deref(),
            fingerprint: self.fingerprint,
            nudged: self.nudges > 0,
            apart: self.lineage.is_some(),
            tokens: self.tokens,
            cost: self.cost,
            seconds: self.seconds,
        }
    }
}
