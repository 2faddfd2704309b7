//! What the conductor does when nothing else is to be done, one short piece at a time: the indexes
//! that order lists, the full-text index, the rewriting of the text. Decides their order only.
use super::index::{IndexError, Writer};
use super::{compact, words};
use std::collections::VecDeque;

/// What is left to do.
pub(crate) struct Chores {
    indexes: VecDeque<&'static str>,
    words: bool,
    compact: bool,
}

/// What a piece of work did.
pub(crate) enum Done {
    /// Something nobody sees.
    Quietly,
    /// The full-text index grew by this many whole runs; it is complete or not.
    Words { finished: u64, all: bool },
}

impl Chores {
    pub(crate) fn new() -> Self {
        let indexes = include_str!("sort_indexes.sql")
            .split_inclusive(';')
            .filter(|text| text.contains("CREATE"));
        Self { indexes: indexes.collect(), words: true, compact: true }
    }

    /// There may be something to do again.
    pub(crate) fn wake(&mut self) {
        self.words = true;
        self.compact = true;
    }

    pub(crate) fn are_due(&self) -> bool {
        !self.indexes.is_empty() || self.words || self.compact
    }

    /// Does one piece; nothing when all is done.
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
            let finished = words::step(writer, pressing)?;
            self.words = finished.is_some();
            return Ok(Some(Done::Words {
                finished: finished.unwrap_or(0),
                all: finished.is_none(),
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
