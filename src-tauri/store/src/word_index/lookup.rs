//! Looks up terms in the full-text index.
use super::Places;
use super::block::{Damaged, for_each_run};
use super::plan::Term;
use super::segments::{dead, open_block};
use crate::index::IndexError;
use crate::run_set::RunSet;
use rusqlite::{Connection, params};
use std::collections::HashSet;

const LAST: &str = "SELECT ifnull(max(id), 0) FROM runs";
const SEGMENTS: &str = "SELECT id, first, last FROM word_segments";
const BLOCKS: &str = "SELECT first, block FROM word_blocks WHERE segment = ?1 AND first >= \
     ifnull((SELECT max(first) FROM word_blocks WHERE segment = ?1 AND first <= ?2), x'') \
     ORDER BY first";
const WAITING: &str = "SELECT id FROM runs INDEXED BY runs_wordless \
                       WHERE words IS NULL AND text_len > 0 AND NOT claimed";
const LEFT_OUT: &str = "SELECT id FROM runs INDEXED BY runs_left_out WHERE words = 0";

/// The full-text index as a connection sees it.
pub(crate) struct WordIndex<'c> {
    sql: &'c Connection,
    /// Segments with their dead runs.
    segments: Vec<(i64, HashSet<i64>)>,
    /// No run has a larger id than this.
    last: i64,
}

impl<'c> WordIndex<'c> {
    pub(crate) fn open(sql: &'c Connection) -> Result<Self, IndexError> {
        let mut select = sql.prepare_cached(SEGMENTS)?;
        let mut rows = select.query([])?;
        let mut segments = Vec::new();
        while let Some(row) = rows.next()? {
            let dead = dead(sql, row.get(1)?, row.get(2)?)?;
            segments.push((row.get(0)?, dead.into_iter().map(|(_, run)| run).collect()));
        }
        let last = sql.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
        Ok(Self { sql, segments, last })
    }

    /// Returns the runs that hold a term in one of these places.
    pub(crate) fn runs_with(&self, term: &Term, places: Places) -> Result<RunSet, IndexError> {
        let mut runs = RunSet::default();
        let mut select = self.sql.prepare_cached(BLOCKS)?;
        for (segment, dead) in &self.segments {
            let mut rows = select.query(params![segment, term.bytes])?;
            'blocks: while let Some(row) = rows.next()? {
                let first: Vec<u8> = row.get(0)?;
                if first > term.bytes && !first.starts_with(&term.bytes) {
                    break;
                }
                let mut block = open_block(*segment, &first, row.get(1)?)?;
                loop {
                    if term.is(block.term()) {
                        self.take(block.postings(), dead, places, &mut runs)?;
                    } else if block.term() > term.bytes.as_slice() {
                        break 'blocks;
                    }
                    if !block.advance()? {
                        break;
                    }
                }
            }
        }
        Ok(runs)
    }

    /// Adds those of encoded runs that are alive and hold the term in one of these places.
    fn take(
        &self,
        postings: &[u8],
        dead: &HashSet<i64>,
        places: Places,
        runs: &mut RunSet,
    ) -> Result<(), Damaged> {
        let mut is_damaged = false;
        for_each_run(postings, &mut |run, at| {
            if at & places == 0 || !dead.is_empty() && dead.contains(&run) {
                return;
            }
            if run > self.last {
                is_damaged = true;
            } else {
                runs.insert(run);
            }
        })?;
        if is_damaged { Err(Damaged) } else { Ok(()) }
    }
}

/// Returns the runs whose texts the index does not hold yet, or leaves out.
pub(crate) fn waiting(sql: &Connection) -> Result<RunSet, IndexError> {
    let mut runs = RunSet::default();
    for some in [WAITING, LEFT_OUT] {
        let mut select = sql.prepare_cached(some)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            runs.insert(row.get(0)?);
        }
    }
    Ok(runs)
}
