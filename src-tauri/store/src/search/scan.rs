//! Searches the text of runs on two threads and returns the texts that each of them contains.
use super::names::Named;
use super::{OVERLAP, Texts, length, unsigned};
use crate::blob::TextBlob;
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of threads. Two cores are always available; more threads would only wait for memory.
const THREADS: usize = 2;
/// Maximum number of bytes read at once. Short runs are read together, longer ones in pieces of
/// this size.
const BATCH: u64 = 2 << 20;
/// Maximum gap between two runs that is read along instead of skipped.
const GAP: u64 = 64 << 10;

/// When at most one run of so many is searched, each is looked up by its id.
const FEW: usize = 20;
const LAST: &str = "SELECT coalesce(max(id), 0) FROM runs";
const EXTENTS: &str = "SELECT id, text_offset, text_len FROM runs WHERE text_len > 0 AND NOT claimed ORDER BY text_offset";
const EXTENT: &str = "SELECT text_offset, text_len * (NOT claimed) FROM runs WHERE id = ?";

/// Text of one run, or a piece of it.
struct Piece {
    run: i64,
    start: u64,
    len: u64,
    /// True for the first piece of a run. The first bytes of later pieces overlap the previous
    /// piece.
    first: bool,
    /// True when the piece is the whole text of the run.
    whole: bool,
}

/// Bits of the needles found in each run: wanted ones first, then unwanted ones.
type Found = HashMap<i64, u128>;

/// Searches the text of the runs in `among`. Runs that lack a wanted text may be missing from the
/// result.
///
/// `named` holds the needles found in the names of runs.
pub(super) fn among(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
    named: &Named,
) -> Result<Found, IndexError> {
    let text = index.text()?;
    let mut pieces = Vec::new();
    let last: i64 = index.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
    if among.len() < usize::try_from(last).unwrap_or(usize::MAX) / FEW {
        let mut query = index.prepare_cached(EXTENT)?;
        for run in among.iter() {
            let (start, len) = query.query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
            cut(&text, run, (unsigned(start), unsigned(len)), &mut pieces)?;
        }
        pieces.sort_by_key(|piece| piece.start);
        return Ok(read(&text, texts, &batches(&pieces), named)?);
    }
    let mut query = index.prepare_cached(EXTENTS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let run = row.get(0)?;
        if among.contains(run) {
            cut(&text, run, (unsigned(row.get(1)?), unsigned(row.get(2)?)), &mut pieces)?;
        }
    }
    Ok(read(&text, texts, &batches(&pieces), named)?)
}

/// Cuts the text of a run into overlapping pieces, so that no match is split. Fails when the extent
/// lies outside of the text, as a damaged index may claim.
fn cut(
    text: &TextBlob,
    run: i64,
    (start, len): (u64, u64),
    pieces: &mut Vec<Piece>,
) -> io::Result<()> {
    if !text.holds(start, len) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut done = 0;
    while done < len {
        let early = done.min(OVERLAP as u64);
        let size = (len - done).min(BATCH);
        pieces.push(Piece {
            run,
            start: start + done - early,
            len: size + early,
            first: done == 0,
            whole: size == len,
        });
        done += size;
    }
    Ok(())
}

/// Groups neighbouring pieces that are read together.
fn batches(pieces: &[Piece]) -> Vec<&[Piece]> {
    let mut batches = Vec::new();
    let mut from = 0;
    for at in 1..=pieces.len() {
        let together = pieces.get(at).is_some_and(|next| {
            let (begin, before) = (pieces[from].start, &pieces[at - 1]);
            next.start + next.len <= begin + BATCH && next.start <= before.start + before.len + GAP
        });
        if !together {
            batches.push(&pieces[from..at]);
            from = at;
        }
    }
    batches
}

fn read(text: &TextBlob, texts: &Texts, batches: &[&[Piece]], named: &Named) -> io::Result<Found> {
    let next = AtomicUsize::new(0);
    let work = || {
        // Each thread gets its own copy, because regex caches would be contended.
        let texts = &texts.clone();
        let mut found = Found::new();
        let mut buffer = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            read_batch(text, texts, batch, &mut buffer, (named, &mut found))?;
        }
        Ok(found)
    };
    if batches.len() < 2 * THREADS {
        return work();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..THREADS).map(|_| scope.spawn(work)).collect();
        let mut found = work()?;
        for thread in threads {
            for (run, bits) in
                thread.join().map_err(|_| io::Error::other("a search thread stopped"))??
            {
                *found.entry(run).or_default() |= bits;
            }
        }
        Ok(found)
    })
}

fn read_batch(
    text: &TextBlob,
    texts: &Texts,
    batch: &[Piece],
    buffer: &mut Vec<u8>,
    (named, found): (&Named, &mut Found),
) -> io::Result<()> {
    let [first, ..] = batch else { return Ok(()) };
    let end = batch.iter().map(|piece| piece.start + piece.len).max().unwrap_or(first.start);
    let read = text.read_into(first.start, length(end - first.start), buffer)?;
    for piece in batch {
        let at = length(piece.start - first.start);
        let known = named.get(&piece.run).copied().unwrap_or_default();
        let bits = needles(texts, piece, &read[at..at + length(piece.len)], known);
        if let Some(bits) = bits {
            *found.entry(piece.run).or_default() |= bits;
        }
    }
    Ok(())
}

/// Returns the needles found in the piece, or `None` when the run is certain not to match. Needles
/// in `known` were found in the names and need not be in the text.
fn needles(texts: &Texts, piece: &Piece, text: &[u8], known: u128) -> Option<u128> {
    // A match at the very start of a later piece was seen completely in the previous one, together
    // with the text before it.
    let from = if piece.first { 0 } else { 4 };
    let mut bits = 0;
    for (at, needle) in texts.wanted.iter().enumerate() {
        if needle.find(text, from).is_some() {
            bits |= 1 << at;
        } else if piece.whole && known & (1 << at) == 0 {
            return None;
        }
    }
    for (at, needle) in texts.unwanted.iter().enumerate() {
        if needle.find(text, from).is_some() {
            bits |= 1 << (texts.wanted.len() + at);
        }
    }
    Some(bits)
}
