//! Background tasks of the indexer, done one short step at a time when nothing else waits: the sort
//! indexes, the full-text index, the compaction of the text blob. Decides only their order.
use super::compact;
use super::index::{IndexError, Writer};
use super::word_index::fill::{self, Filling};
use std::collections::VecDeque;

/// Remaining background tasks.
pub(crate) struct BackgroundTasks {
    indexes: VecDeque<&'static str>,
    /// Whether the full-text index may lack something.
    words: bool,
    filling: Filling,
    compact: bool,
}

/// Result of one step.
pub(crate) enum Done {
    /// Work without a visible effect.
    Quietly,
    /// The full-text index gained this many complete runs. `all` is true when it is complete.
    Words { finished: u64, all: bool },
}

impl BackgroundTasks {
    pub(crate) fn new() -> Self {
        let indexes = include_str!("sort_indexes.sql")
            .split_inclusive(';')
            .filter(|text| text.contains("CREATE"));
        Self { indexes: indexes.collect(), words: true, filling: Filling::default(), compact: true }
    }

    /// Marks the full-text index and the compaction as possibly due again.
    pub(crate) fn wake(&mut self) {
        self.words = true;
        self.compact = true;
    }

    pub(crate) fn are_due(&self) -> bool {
        !self.indexes.is_empty() || self.words || self.compact
    }

    /// Does one step. Returns `None` when nothing is left to do.
    pub(crate) fn step(
        &mut self,
        writer: &mut Writer,
        pressing: &dyn Fn() -> bool,
    ) -> Result<Option<Done>, IndexError> {
        if let Some(index) = self.indexes.pop_front() {
            writer.sql.execute_batch(index)?;
            return Ok(Some(Done::Quietly));
        }
        if self.words {
            return Ok(Some(match self.filling.step(writer, pressing)? {
                fill::Done::Runs(finished) => Done::Words { finished, all: false },
                fill::Done::Merged => Done::Quietly,
                fill::Done::Nothing => {
                    self.words = false;
                    Done::Words { finished: 0, all: true }
                }
            }));
        }
        if self.compact {
            self.compact = false;
            if compact::is_due(writer)? {
                compact::rewrite(writer)?;
            }
            return Ok(Some(Done::Quietly));
        }
        Ok(None)
    }
}
