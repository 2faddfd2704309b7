//! **Pure.** Encoding of the terms of a segment: sorted blocks, in which each term shares its
//! beginning with the one before, with the runs that hold it as differences of their ids.
use super::Places;

/// Size from which on a block is closed.
const FULL: usize = 8 << 10;

/// Writes terms, which must come in order.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    first: Vec<u8>,
    last: Vec<u8>,
    block: Vec<u8>,
    /// Closed blocks with their first terms.
    closed: Vec<(Vec<u8>, Vec<u8>)>,
}

impl BlockWriter {
    /// Adds a term with its encoded postings.
    pub(super) fn push(&mut self, term: &[u8], postings: &[u8]) {
        let mut shared = 0;
        if self.block.is_empty() {
            self.first = term.to_vec();
        } else {
            let both = self.last.iter().zip(term);
            shared = both.take_while(|(last, new)| last == new).count();
        }
        put_number(&mut self.block, shared as u64);
        put_number(&mut self.block, (term.len() - shared) as u64);
        self.block.extend_from_slice(&term[shared..]);
        put_number(&mut self.block, postings.len() as u64);
        self.block.extend_from_slice(postings);
        self.last.clear();
        self.last.extend_from_slice(term);
        if self.block.len() >= FULL {
            self.close();
        }
    }

    fn close(&mut self) {
        if !self.block.is_empty() {
            let block = std::mem::take(&mut self.block);
            self.closed.push((std::mem::take(&mut self.first), block));
        }
    }

    /// Returns the blocks that are closed, with their first terms.
    pub(super) fn take_closed(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        std::mem::take(&mut self.closed)
    }

    /// Closes the last block, and returns what [`BlockWriter::take_closed`] does.
    pub(super) fn finish(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.close();
        self.take_closed()
    }
}

/// Reads the terms of a block. Ends before the first byte that is not as it was written.
#[derive(Debug, Default)]
pub(super) struct BlockReader {
    block: Vec<u8>,
    at: usize,
    term: Vec<u8>,
    postings: std::ops::Range<usize>,
}

impl BlockReader {
    pub(super) fn new(block: Vec<u8>) -> Self {
        Self { block, ..Self::default() }
    }

    /// Goes to the next term. Returns false at the end.
    pub(super) fn advance(&mut self) -> bool {
        self.read().is_some()
    }

    fn read(&mut self) -> Option<()> {
        let shared = self.number()?;
        let suffix = self.range()?;
        if shared > self.term.len() {
            return None;
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(&self.block[suffix]);
        self.postings = self.range()?;
        Some(())
    }

    fn range(&mut self) -> Option<std::ops::Range<usize>> {
        let len = self.number()?;
        let range = self.at..self.at.checked_add(len)?;
        self.block.get(range.clone())?;
        self.at = range.end;
        Some(range)
    }

    fn number(&mut self) -> Option<usize> {
        let mut rest = self.block.get(self.at..)?;
        let before = rest.len();
        let number = take_number(&mut rest)?;
        self.at += before - rest.len();
        usize::try_from(number).ok()
    }

    pub(super) fn term(&self) -> &[u8] {
        &self.term
    }

    pub(super) fn postings(&self) -> &[u8] {
        &self.block[self.postings.clone()]
    }
}

/// Encodes the runs of a term, in ascending order, each with the places of the term.
#[derive(Debug, Default)]
pub(super) struct PostingsWriter {
    bytes: Vec<u8>,
    last: u64,
    places: Places,
}

impl PostingsWriter {
    pub(super) fn push(&mut self, run: i64, places: Places) {
        let run = run.cast_unsigned();
        let is_new = places != self.places;
        put_number(&mut self.bytes, run.wrapping_sub(self.last) << 1 | u64::from(is_new));
        if is_new {
            self.bytes.push(places);
        }
        (self.last, self.places) = (run, places);
    }

    /// Gives the bytes to a function, and starts anew.
    pub(super) fn take(&mut self, give: impl FnOnce(&[u8])) {
        give(&self.bytes);
        self.bytes.clear();
        (self.last, self.places) = (0, 0);
    }
}

/// Calls `take` with the runs of encoded postings, with their places.
pub(super) fn for_each_run(mut postings: &[u8], take: &mut impl FnMut(i64, Places)) {
    let (mut run, mut places) = (0_u64, 0);
    while let Some(number) = take_number(&mut postings) {
        if number & 1 == 1 {
            let Some((first, rest)) = postings.split_first() else { return };
            (places, postings) = (*first, rest);
        }
        run = run.wrapping_add(number >> 1);
        take(run.cast_signed(), places);
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    let low = |number: u64| u8::try_from(number & 0x7F).unwrap_or_default();
    while number >= 0x80 {
        bytes.push(low(number) | 0x80);
        number >>= 7;
    }
    bytes.push(low(number));
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7F) << shift;
        if *first < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn terms_read_back_with_their_runs(
            all in prop::collection::btree_map(
                prop::collection::vec(b'a'..b'e', 1..6),
                prop::collection::btree_map(1_i64..100_000, 1_u8..4, 0..300),
                0..60,
            ),
        ) {
            let mut writer = BlockWriter::default();
            let mut postings = PostingsWriter::default();
            for (term, runs) in &all {
                for (run, places) in runs {
                    postings.push(*run, *places);
                }
                postings.take(|bytes| writer.push(term, bytes));
            }
            let mut read: BTreeMap<Vec<u8>, BTreeMap<i64, u8>> = BTreeMap::new();
            for (first, block) in writer.finish() {
                let mut reader = BlockReader::new(block);
                let mut at_first = true;
                while reader.advance() {
                    prop_assert!(!at_first || reader.term() == first);
                    at_first = false;
                    let mut runs = BTreeMap::new();
                    for_each_run(reader.postings(), &mut |run, places| {
                        runs.insert(run, places);
                    });
                    read.insert(reader.term().to_vec(), runs);
                }
            }
            prop_assert_eq!(read, all);
        }

        #[test]
        fn any_bytes_are_read(block in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut reader = BlockReader::new(block);
            while reader.advance() {
                for_each_run(reader.postings(), &mut |_, _| {});
            }
        }
    }
}
