//! Fills the full-text index in the background, newest runs first, in steps short enough not to
//! delay live changes. Can stop anywhere and resume, because each row says whether it is done.
use super::block::{BlockWriter, PostingsWriter};
use super::merge::Merging;
use super::segments::{LEFT_OUT, next_id, put_block, put_segment};
use super::terms::Terms;
use super::words::{BEGINNING, LONGEST, SHORT, for_each_term};
use super::{ELSEWHERE, Places, bit_of};
use crate::blob::TextBlob;
use crate::index::{IndexError, Writer, text_of};
use rusqlite::{Connection, OptionalExtension as _};
use std::ops::Range;
use touchstone_formats::transcript::step_list::StepList;

/// Number of bytes of text per step. Not a time limit, because on a busy machine that would lead to
/// small steps with many commits.
const STEP: u64 = 8 << 20;
/// Longer texts are left out and always read, because the words of one run are in memory together.
pub(super) const LARGEST: u64 = 16 << 20;
/// Maximum number of terms in memory together, but for those of one piece of text. A run that has
/// more is left out.
pub(super) const TERMS: usize = 1 << 20;
/// Tables of more bytes are not kept for the next step.
const KEPT: usize = 64 << 20;
/// Maximum number of runs per step.
const RUNS: u32 = 8_192;
/// Size of the pieces in which texts are read.
const PIECE: u64 = 1 << 20;
/// What is read before and after a piece: what decides whether a word starts, and the rest of the
/// last word.
const BEFORE: u64 = 4;
const AFTER: u64 = 3 * LONGEST as u64;

const WAITING: &str = "SELECT id, text_offset, text_len FROM runs INDEXED BY runs_wordless \
     WHERE words IS NULL AND text_len > 0 AND NOT claimed ORDER BY modified_ms DESC LIMIT ?";

const MARK: &str = "UPDATE runs SET words = ? WHERE id = ?";

/// Result of one step.
pub(crate) enum Done {
    /// Number of runs that were added.
    Runs(u64),
    /// Segments were merged.
    Merged,
    /// Nothing is left to do.
    Nothing,
}

/// The work on the full-text index of one writer.
#[derive(Default)]
pub(crate) struct Filling {
    segment: Segment,
    merging: Merging,
}

impl Filling {
    /// Does one step, or a shorter one if other work is pressing.
    pub(crate) fn step(
        &mut self,
        writer: &Writer,
        pressing: &dyn Fn() -> bool,
    ) -> Result<Done, IndexError> {
        if self.merging.step(&writer.sql)? {
            return Ok(Done::Merged);
        }
        let runs = waiting(&writer.sql)?;
        if runs.is_empty() {
            return Ok(Done::Nothing);
        }
        let blob = text_of(&writer.sql, &writer.dir)?;
        let transaction = writer.sql.unchecked_transaction()?;
        self.segment.clear();
        let mut left_out = 0;
        for (at, run) in runs.iter().enumerate() {
            if at > 0 && (pressing() || self.segment.terms.len() > TERMS) {
                break;
            }
            let is_long = run.text.end - run.text.start > LARGEST;
            if is_long || !self.segment.add(&transaction, &blob, run)? {
                transaction.prepare_cached(MARK)?.execute([LEFT_OUT, run.id])?;
                left_out += 1;
            }
        }
        let added = self.segment.write(&transaction)?;
        transaction.commit()?;
        if self.segment.memory() > KEPT {
            self.segment = Segment::default();
        }
        Ok(Done::Runs(added + left_out))
    }
}

/// A run whose words are wanted.
struct Waiting {
    id: i64,
    text: Range<u64>,
}

/// Returns the runs of the next step, in the order of their ids.
fn waiting(sql: &Connection) -> Result<Vec<Waiting>, IndexError> {
    let mut select = sql.prepare_cached(WAITING)?;
    let mut rows = select.query([RUNS])?;
    let (mut runs, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let (start, len) = (row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, i64>(2)?);
        let text = start..start.saturating_add(len.cast_unsigned());
        bytes += text.end - text.start;
        runs.push(Waiting { id: row.get(0)?, text });
        if bytes >= STEP {
            break;
        }
    }
    runs.sort_unstable_by_key(|run| run.id);
    Ok(runs)
}

/// Words of some runs, which become a segment.
#[derive(Default)]
struct Segment {
    /// Ids of the runs, in ascending order.
    runs: Vec<i64>,
    terms: Terms,
    /// Number of the term, place of the run in `runs`, and where in the run the term stands.
    found: Vec<(u32, u32, Places)>,
    /// The terms of one run.
    of_run: Terms,
    buffer: Vec<u8>,
    text: Vec<u8>,
}

impl Segment {
    fn clear(&mut self) {
        self.runs.clear();
        self.terms.clear();
        self.found.clear();
    }

    fn memory(&self) -> usize {
        let found = self.found.capacity() * size_of::<(u32, u32, Places)>();
        self.terms.memory() + self.of_run.memory() + found
    }

    /// Adds the words of a run. Returns false if there are too many different ones.
    fn add(
        &mut self,
        sql: &Connection,
        blob: &TextBlob,
        run: &Waiting,
    ) -> Result<bool, IndexError> {
        const STEPS: &str = "SELECT steps FROM steps WHERE run = ?";
        let steps: Option<Vec<u8>> =
            sql.prepare_cached(STEPS)?.query_row([run.id], |row| row.get(0)).optional()?;
        let steps = steps.unwrap_or_default();
        let mut places = PlacesInRun::new(&StepList::decode(&steps));
        self.of_run.clear();
        let Range { start, end } = run.text;
        let mut from = start;
        while from < end {
            let to = end.min(from + PIECE);
            let begin = from.saturating_sub(BEFORE).max(start);
            let len = end.min(to + AFTER) - begin;
            let piece = blob.read_into(begin, length(len), &mut self.text)?;
            let range = length(from - begin)..length(to - begin);
            let of_run = &mut self.of_run;
            for_each_term(piece, range, &mut self.buffer, &mut |at, term| {
                let places = places.at_offset(begin - start + at as u64);
                of_run.add(term, places);
            });
            if self.of_run.len() > TERMS {
                return Ok(false);
            }
            from = to;
        }
        self.take_run(run.id);
        Ok(true)
    }

    /// Moves the terms of a run to those of the segment, with the beginnings of its words.
    fn take_run(&mut self, run: i64) {
        let in_segment = low(self.runs.len());
        self.runs.push(run);
        let words = self.of_run.len();
        for number in 0..words {
            let (term, places) = self.of_run.get(number);
            let Some(first) = term.first().filter(|first| first.is_ascii_alphanumeric()) else {
                continue;
            };
            let beginning = [BEGINNING, *first, term.get(1).copied().unwrap_or_default()];
            for len in 1..=term.len().min(SHORT) {
                self.of_run.add(&beginning[..=len], places);
            }
        }
        for (term, places) in self.of_run.iter() {
            let number = low(self.terms.add(term, 0));
            self.found.push((number, in_segment, places));
        }
    }

    /// Writes the segment, and marks its runs. Returns their number.
    fn write(&mut self, sql: &Connection) -> Result<u64, IndexError> {
        if self.runs.is_empty() {
            return Ok(0);
        }
        let id = next_id(sql)?;
        let mut blocks = self.blocks();
        let mut size = 0;
        for (first, block) in blocks.finish() {
            size += block.len();
            put_block(sql, id, &first, block)?;
        }
        put_segment(sql, id, id..=id, (size, self.runs.len()))?;
        let mut mark = sql.prepare_cached(MARK)?;
        for run in &self.runs {
            mark.execute([id, *run])?;
        }
        Ok(self.runs.len() as u64)
    }

    fn blocks(&self) -> BlockWriter {
        // Sorts by term with one count of each: what is found is already in the order of the runs.
        let mut sorted: Vec<usize> = (0..self.terms.len()).collect();
        sorted.sort_unstable_by_key(|number| self.terms.term(*number));
        let mut ends = vec![0_usize; self.terms.len()];
        for (term, _, _) in &self.found {
            ends[*term as usize] += 1;
        }
        let mut end = 0;
        for number in &sorted {
            // First the place of its next run, in the end that behind its last.
            (ends[*number], end) = (end, end + ends[*number]);
        }
        let mut runs = vec![(0_u32, 0); self.found.len()];
        for (term, run, places) in &self.found {
            let at = &mut ends[*term as usize];
            runs[*at] = (*run, *places);
            *at += 1;
        }
        let (mut writer, mut postings) = (BlockWriter::default(), PostingsWriter::default());
        let mut from = 0;
        for number in sorted {
            let to = ends[number];
            for (run, places) in &runs[from..to] {
                postings.push(self.runs[*run as usize], *places);
            }
            postings.take(|bytes| writer.push(self.terms.term(number), bytes));
            from = to;
        }
        writer
    }
}

/// Which kinds of texts lie where in a run.
struct PlacesInRun {
    ranges: Vec<(Range<u64>, Places)>,
    next: usize,
}

impl PlacesInRun {
    fn new(list: &StepList<'_>) -> Self {
        let texts = list.steps.iter().flat_map(|step| {
            let texts = list.texts_of(step).iter();
            texts.map(|(role, range)| (range.clone(), bit_of(step.kind, *role)))
        });
        Self { ranges: texts.collect(), next: 0 }
    }

    /// Returns the kind at an offset. Offsets must come in ascending order.
    fn at_offset(&mut self, offset: u64) -> Places {
        while let Some((range, places)) = self.ranges.get(self.next) {
            if offset < range.end {
                return if range.contains(&offset) { *places } else { ELSEWHERE };
            }
            self.next += 1;
        }
        ELSEWHERE
    }
}

fn low(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
