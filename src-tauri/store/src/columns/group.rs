//! The columns of some consecutive run ids. A change copies only the groups of the runs that
//! changed.
use super::values::{Ints, Names, Paths, Reals};
use crate::run_key::RunKey;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of ids in a group.
pub(super) const ROWS: usize = 1 << 14;
/// Number of words of a set of them.
pub(super) const WORDS: usize = ROWS / 64;

/// Columns of texts, in the order of [`SELECT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Task,
    System,
    Model,
    State,
    VariationName,
    Layout,
    Tools,
    MissingCalls,
    Scorer,
    Class,
    Scoring,
    Verdict,
    Lineage,
    Commit,
    Tags,
    SuiteTags,
}
pub(super) const TEXTS: usize = Text::SuiteTags as usize + 1;

/// Columns of whole numbers, in the order of [`SELECT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Int {
    Variation,
    Repeat,
    StateOrder,
    Turns,
    ToolCalls,
    FailedCalls,
    Nudges,
    Tokens,
    Size,
    ModifiedMs,
    HasAnswer,
    Passed,
    Steps,
    Fork,
    /// 1 with a review.
    Reviewed,
    /// 1 in layouts that are only read.
    Foreign,
    /// Characters of the name of the run in its file.
    MemberLength,
}
const INTS: usize = Int::MemberLength as usize + 1;

/// Columns of fractions, in the order of [`SELECT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Real {
    Cost,
    Seconds,
    Score,
    StoredShare,
    Started,
}
const REALS: usize = Real::Started as usize + 1;

/// Reads the columns of runs: id, key, path, texts, whole numbers, fractions.
pub(crate) const SELECT: &str = "SELECT id, key, path, task, system, model, state, variation_name, layout, \
     tools, missing_calls, scorer, class, scoring, verdict, lineage, commit_name, tags, suite_tags, \
     variation, repeat, state_order, turns, tool_calls, failed_calls, nudges, tokens, size, \
     modified_ms, has_answer, passed, steps, fork, \
     verdict IS NOT NULL OR review_score IS NOT NULL, \
     member IS NOT NULL OR layout = 'raw_answer', length(member), \
     cost, seconds, score, stored_share, started FROM runs";
const FIRST_TEXT: usize = 3;
const FIRST_INT: usize = FIRST_TEXT + TEXTS;
const FIRST_REAL: usize = FIRST_INT + INTS;

/// Columns of [`ROWS`] ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    present: Vec<u64>,
    keys: Vec<u64>,
    /// Keys that are no number.
    odd_keys: HashMap<u16, Box<str>>,
    paths: Paths,
    texts: [Ints; TEXTS],
    ints: [Ints; INTS],
    reals: [Reals; REALS],
}

impl Group {
    /// Ids of the group that are runs.
    pub(super) fn present(&self) -> &[u64] {
        &self.present
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present.iter().all(|word| *word == 0)
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.present.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    pub(super) fn path(&self, at: usize) -> &str {
        self.paths.get(at)
    }

    pub(super) fn key(&self, at: usize) -> RunKey {
        let odd = u16::try_from(at).ok().and_then(|at| self.odd_keys.get(&at));
        match odd {
            Some(text) => RunKey::Text(text.clone()),
            None => RunKey::Number(self.keys.get(at).copied().unwrap_or_default()),
        }
    }

    pub(super) fn texts(&self, of: Text) -> &Ints {
        &self.texts[of as usize]
    }

    pub(super) fn ints(&self, of: Int) -> &Ints {
        &self.ints[of as usize]
    }

    pub(super) fn reals(&self, of: Real) -> &Reals {
        &self.reals[of as usize]
    }

    /// Sets a run. Returns false when there is no more room.
    pub(super) fn put(
        &mut self,
        at: usize,
        row: &Row<'_>,
        names: &mut [Arc<Names>; TEXTS],
    ) -> rusqlite::Result<bool> {
        if at / 64 >= self.present.len() {
            self.present.resize(at / 64 + 1, 0);
        }
        if at >= self.keys.len() {
            self.keys.resize(at + 1, 0);
        }
        let odd = u16::try_from(at).unwrap_or(u16::MAX);
        match RunKey::from(row.get_ref(1)?.as_str()?) {
            RunKey::Number(number) => {
                self.keys[at] = number;
                self.odd_keys.remove(&odd);
            }
            RunKey::Text(text) => {
                self.odd_keys.insert(odd, text);
            }
        }
        if !self.paths.set(at, row.get_ref(2)?.as_str()?) {
            return Ok(false);
        }
        let texts = self.texts.iter_mut().zip(names).zip(FIRST_TEXT..);
        for ((codes, names), column) in texts {
            let text = row.get_ref(column)?.as_str_or_null()?;
            let code = text.map(|text| match names.code(text) {
                Some(code) => code,
                None => Arc::make_mut(names).add(text),
            });
            codes.set(at, code.map(i64::from));
        }
        for (ints, column) in self.ints.iter_mut().zip(FIRST_INT..) {
            ints.set(at, row.get_ref(column)?.as_i64_or_null()?);
        }
        for (reals, column) in self.reals.iter_mut().zip(FIRST_REAL..) {
            let real = match row.get_ref(column)? {
                #[expect(clippy::cast_precision_loss, reason = "as SQLite compares it")]
                ValueRef::Integer(number) => Some(number as f64),
                value => value.as_f64_or_null()?,
            };
            reals.set(at, real);
        }
        self.present[at / 64] |= 1 << (at % 64);
        Ok(true)
    }

    /// Removes a run, with all its values, so that no column has to be compared with the set of runs.
    pub(super) fn remove(&mut self, at: usize) {
        if !self.has(at) {
            return;
        }
        self.present[at / 64] &= !(1 << (at % 64));
        self.paths.set(at, "");
        self.texts.iter_mut().chain(&mut self.ints).for_each(|ints| ints.set(at, None));
        self.reals.iter_mut().for_each(|reals| reals.set(at, None));
    }

    /// Number of bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        let ints = self.texts.iter().chain(&self.ints).map(Ints::bytes).sum::<usize>();
        let reals = self.reals.iter().map(Reals::bytes).sum::<usize>();
        size_of::<Self>()
            + (self.present.len() + self.keys.len()) * size_of::<u64>()
            + self.paths.bytes()
            + ints
            + reals
    }
}
