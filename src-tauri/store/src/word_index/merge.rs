//! Merges segments of similar size, and rewrites those of which many runs are dead, a few blocks at
//! a time. What is written of an unfinished merge belongs to no segment.
use super::Places;
use super::block::{BlockReader, BlockWriter, PostingsWriter, for_each_run};
use super::segments::{dead, next_id, put_block, put_segment};
use crate::index::IndexError;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::HashSet;

/// Number of segments that are merged into one.
const TOGETHER: usize = 8;
/// Sizes in bytes up to which segments are merged with each other. Larger ones stay.
const LEVELS: [i64; 2] = [4 << 20, 32 << 20];
/// Number of bytes of blocks that are read in one step.
const STEP: usize = 4 << 20;
/// A segment is rewritten when more than one run of so many is dead.
const DEAD: i64 = 8;

/// Merging in the background.
#[derive(Default)]
pub(super) struct Merging {
    /// Whether what an earlier process left unfinished was removed.
    is_tidy: bool,
    open: Option<Merge>,
}

/// Segment as the index lists it.
struct Listed {
    id: i64,
    first: i64,
    last: i64,
    size: i64,
    runs: i64,
    dead: i64,
}

/// Segments that are being merged.
struct Merge {
    id: i64,
    inputs: Vec<Input>,
    writer: BlockWriter,
    size: usize,
    runs: usize,
    first: i64,
    last: i64,
}

/// One of them.
struct Input {
    id: i64,
    /// First term of the block that is read.
    at: Vec<u8>,
    reader: BlockReader,
    is_over: bool,
    /// Its dead runs when the merge began, with the segments they were first written to.
    dead: HashSet<i64>,
    forgotten: Vec<(i64, i64)>,
}

impl Merging {
    /// Does one step. Returns false when there is nothing to do.
    pub(super) fn step(&mut self, sql: &Connection) -> Result<bool, IndexError> {
        if self.open.is_none() {
            let transaction = sql.unchecked_transaction()?;
            if !self.is_tidy {
                remove_unfinished(&transaction)?;
                self.is_tidy = true;
            }
            self.open = Merge::begin(&transaction)?;
            transaction.commit()?;
        }
        let Some(mut merge) = self.open.take() else { return Ok(false) };
        let transaction = sql.unchecked_transaction()?;
        let is_over = merge.go_on(&transaction)?;
        if is_over {
            merge.finish(&transaction)?;
        }
        transaction.commit()?;
        self.open = Some(merge).filter(|_| !is_over);
        Ok(true)
    }
}

/// Deletes blocks that belong to no segment.
fn remove_unfinished(sql: &Connection) -> Result<(), IndexError> {
    const NEXT: &str = "SELECT min(segment) FROM word_blocks WHERE segment > ?";
    const IS_WHOLE: &str = "SELECT EXISTS (SELECT 1 FROM word_segments WHERE id = ?)";
    let mut at = 0;
    while let Some(next) =
        sql.prepare_cached(NEXT)?.query_row([at], |row| row.get::<_, Option<i64>>(0))?
    {
        at = next;
        if !sql.prepare_cached(IS_WHOLE)?.query_row([at], |row| row.get::<_, bool>(0))? {
            sql.execute("DELETE FROM word_blocks WHERE segment = ?", [at])?;
        }
    }
    Ok(())
}

fn list(sql: &Connection) -> Result<Vec<Listed>, IndexError> {
    const ALL: &str = "SELECT id, first, last, size, runs, \
        (SELECT count(*) FROM word_dead d WHERE d.segment BETWEEN s.first AND s.last) \
        FROM word_segments s ORDER BY first";
    let mut select = sql.prepare_cached(ALL)?;
    let rows = select.query_map([], |row| {
        Ok(Listed {
            id: row.get(0)?,
            first: row.get(1)?,
            last: row.get(2)?,
            size: row.get(3)?,
            runs: row.get(4)?,
            dead: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns neighbours that are to be merged, or one that is to be rewritten.
fn choose(all: &[Listed]) -> Option<&[Listed]> {
    let neighbours = LEVELS.iter().find_map(|level| {
        all.windows(TOGETHER).find(|some| some.iter().all(|segment| segment.size < *level))
    });
    let with_dead = || {
        let is_due = |segment: &Listed| segment.dead > segment.runs / DEAD;
        all.iter().position(is_due).map(|at| &all[at..=at])
    };
    neighbours.or_else(with_dead)
}

impl Merge {
    fn begin(sql: &Connection) -> Result<Option<Self>, IndexError> {
        let all = list(sql)?;
        let Some(some) = choose(&all) else { return Ok(None) };
        let runs: i64 = some.iter().map(|segment| segment.runs - segment.dead).sum();
        let mut merge = Self {
            id: next_id(sql)?,
            inputs: Vec::with_capacity(some.len()),
            writer: BlockWriter::default(),
            size: 0,
            runs: usize::try_from(runs).unwrap_or(0),
            first: some.first().map_or(0, |segment| segment.first),
            last: some.last().map_or(0, |segment| segment.last),
        };
        for segment in some {
            merge.inputs.push(Input::open(sql, segment)?);
        }
        Ok(Some(merge))
    }

    /// Merges some blocks. Returns true at the end.
    fn go_on(&mut self, sql: &Connection) -> Result<bool, IndexError> {
        let mut postings = PostingsWriter::default();
        let mut runs: Vec<(i64, Places)> = Vec::new();
        let mut read = 0;
        while read < STEP {
            let open = self.inputs.iter().filter(|input| !input.is_over);
            let Some(term) = open.map(|input| input.reader.term()).min().map(<[u8]>::to_vec) else {
                return Ok(true);
            };
            runs.clear();
            for input in &mut self.inputs {
                if input.is_over || input.reader.term() != term {
                    continue;
                }
                read += input.reader.postings().len() + term.len();
                for_each_run(input.reader.postings(), &mut |run, places| {
                    if input.dead.is_empty() || !input.dead.contains(&run) {
                        runs.push((run, places));
                    }
                });
                input.advance(sql)?;
            }
            runs.sort_unstable_by_key(|(run, _)| *run);
            if runs.is_empty() {
                continue;
            }
            for (run, places) in &runs {
                postings.push(*run, *places);
            }
            postings.take(|bytes| self.writer.push(&term, bytes));
        }
        let closed = self.writer.take_closed();
        self.put(sql, closed)?;
        Ok(false)
    }

    fn put(&mut self, sql: &Connection, blocks: Vec<(Vec<u8>, Vec<u8>)>) -> Result<(), IndexError> {
        for (first, block) in blocks {
            self.size += block.len();
            put_block(sql, self.id, &first, &block)?;
        }
        Ok(())
    }

    /// Puts the new segment in the place of the others.
    fn finish(&mut self, sql: &Connection) -> Result<(), IndexError> {
        let blocks = self.writer.finish();
        self.put(sql, blocks)?;
        for input in &self.inputs {
            sql.prepare_cached("DELETE FROM word_blocks WHERE segment = ?")?.execute([input.id])?;
            sql.prepare_cached("DELETE FROM word_segments WHERE id = ?")?.execute([input.id])?;
            let mut forget =
                sql.prepare_cached("DELETE FROM word_dead WHERE segment = ? AND run = ?")?;
            for (segment, run) in &input.forgotten {
                forget.execute([segment, run])?;
            }
        }
        if self.size > 0 {
            put_segment(sql, self.id, self.first..=self.last, (self.size, self.runs))?;
        }
        Ok(())
    }
}

impl Input {
    fn open(sql: &Connection, segment: &Listed) -> Result<Self, IndexError> {
        const FIRST: &str = "SELECT first, block FROM word_blocks WHERE segment = ? \
                             ORDER BY first LIMIT 1";
        let forgotten = dead(sql, segment.first, segment.last)?;
        let mut input = Self {
            id: segment.id,
            at: Vec::new(),
            reader: BlockReader::default(),
            is_over: false,
            dead: forgotten.iter().map(|(_, run)| *run).collect(),
            forgotten,
        };
        let first = sql
            .prepare_cached(FIRST)?
            .query_row([segment.id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        input.take(first);
        Ok(input)
    }

    fn take(&mut self, block: Option<(Vec<u8>, Vec<u8>)>) {
        match block {
            Some((first, block)) => {
                self.at = first;
                self.reader = BlockReader::new(block);
                self.is_over = !self.reader.advance();
            }
            None => self.is_over = true,
        }
    }

    fn advance(&mut self, sql: &Connection) -> Result<(), IndexError> {
        const NEXT: &str = "SELECT first, block FROM word_blocks \
                            WHERE segment = ? AND first > ? ORDER BY first LIMIT 1";
        if self.reader.advance() {
            return Ok(());
        }
        let next = sql
            .prepare_cached(NEXT)?
            .query_row(params![self.id, self.at], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        self.take(next);
        Ok(())
    }
}
