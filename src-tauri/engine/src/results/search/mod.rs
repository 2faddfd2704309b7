//! Free text: which runs contain it, and where. Owns one rule and two ways to obey it.
//!
//! The rule is in [`super::snippet`]: exactly these characters, ignoring case, from the start of a word on. The text of all runs
//! decides; the full-text index, once it is complete, only narrows down which runs have to be read. So an answer never
//! changes because the index has come further, and text that no index knows, like `=>`, is found as well.
mod candidates;
mod scan;
#[cfg(test)]
mod tests;

use super::blob::TextBlob;
use super::filter::Filter;
use super::index::{IndexError, Reader};
use super::query::RunSet;
use super::snippet::{Needle, around};
use crate::rows::{Hit, Snippet, Span};
use std::ops::Range;

/// A search lists at most this many hits of one run; the run itself shows the rest.
const MAX_HITS_OF_RUN: usize = 20;
/// About how much text stands around a hit.
const SNIPPET_BYTES: usize = 160;
/// Long texts are read in pieces of this size.
const PIECE: usize = 1 << 20;
/// How far pieces reach into the next, so that no hit is cut in two: a needle, whose letters may be longer in another case.
pub(super) const OVERLAP: usize = 4 * super::snippet::MAX_NEEDLE;

/// The texts that runs must and must not contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    wanted: Vec<Needle>,
    unwanted: Vec<Needle>,
}

impl Texts {
    /// The texts of a filter.
    pub(crate) fn of(filter: &Filter) -> Self {
        let mut texts = Self::default();
        for (text, negated) in filter.texts() {
            if let Some(needle) = Needle::word(text) {
                if negated { texts.unwanted.push(needle) } else { texts.wanted.push(needle) }
            }
        }
        texts
    }

    /// True when nothing is asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// True when there is something to show.
    pub(crate) fn any_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Places of any wanted text, in order, none reaching into another.
    fn places(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut places: Vec<_> = self.wanted.iter().flat_map(|needle| needle.find_all(text)).collect();
        places.sort_by_key(|place| (place.start, place.end));
        let mut end = 0;
        places.retain(|place| {
            place.start >= end && {
                end = place.end;
                true
            }
        });
        places
    }
}

/// Those of some runs that contain what is wanted and nothing that is not.
pub(crate) fn containing(index: &Reader<'_>, texts: &Texts, among: &RunSet) -> Result<RunSet, IndexError> {
    let candidates = if index.words_complete()? { candidates::candidates(index, texts)? } else { None };
    let found = match candidates {
        Some(few) => scan::some(index, texts, &few.and(among))?,
        None => scan::all(index, texts, among)?,
    };
    if texts.wanted.is_empty() {
        // A run without any text does not contain what is unwanted.
        let mut left = among.clone();
        found.iter().filter(|(_, found)| **found != 0).for_each(|(run, _)| left.remove(*run));
        return Ok(left);
    }
    let wanted = (1 << texts.wanted.len()) - 1;
    let mut runs = RunSet::default();
    found.iter().filter(|(_, found)| **found == wanted).for_each(|(run, _)| runs.insert(*run));
    Ok(runs)
}

/// Where a run contains a wanted text first.
pub(crate) fn first_snippet(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    texts: &Texts,
) -> Result<Option<Snippet>, IndexError> {
    let first = places_in(index, text, run, texts, 1)?.into_iter().next();
    first.map(|place| snippet(index, text, run, texts, place)).transpose()
}

/// Hits of runs, in the order of the runs.
pub(crate) fn hits(index: &Reader<'_>, runs: &[i64], texts: &Texts, span: Span) -> Result<Vec<Hit>, IndexError> {
    let text = index.text()?;
    let (mut skip, limit) = (span.offset as usize, span.limit as usize);
    let mut hits = Vec::new();
    for run in runs {
        let places = places_in(index, &text, *run, texts, MAX_HITS_OF_RUN)?;
        let shown = places.get(skip..).unwrap_or_default();
        skip = skip.saturating_sub(places.len());
        if shown.is_empty() {
            continue;
        }
        let (id, path): (String, String) = index
            .prepare_cached("SELECT key, path FROM runs WHERE id = ?")?
            .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for place in shown.iter().take(limit - hits.len()) {
            let snippet = snippet(index, &text, *run, texts, *place)?;
            hits.push(Hit { id: id.clone(), path: path.clone(), snippet });
        }
        if hits.len() == limit {
            break;
        }
    }
    Ok(hits)
}

/// Where in the text of all runs the first wanted texts of one run begin.
fn places_in(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    texts: &Texts,
    most: usize,
) -> Result<Vec<u64>, IndexError> {
    let (start, len): (i64, i64) = index
        .prepare_cached("SELECT text_offset, text_len FROM runs WHERE id = ?")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (start, len) = (unsigned(start), unsigned(len));
    let mut places = Vec::new();
    let mut done = 0;
    while done < len && places.len() < most {
        // A piece begins a little early, so that the start of a word is seen, and what was found there is passed over.
        let early = done.min(OVERLAP as u64);
        let piece = text.read(start + done - early, length(len - done + early).min(PIECE + 2 * OVERLAP))?;
        let from = length(early);
        let found = texts.places(&piece).into_iter().map(|place| place.start);
        let inside = found.filter(|place| (from..from + PIECE).contains(place));
        places.extend(inside.map(|place| start + done - early + place as u64));
        done += PIECE as u64;
    }
    places.truncate(most);
    Ok(places)
}

/// The text around a place, within its item.
fn snippet(index: &Reader<'_>, text: &TextBlob, run: i64, texts: &Texts, place: u64) -> Result<Snippet, IndexError> {
    const ITEM: &str = "SELECT step, start, len FROM items WHERE run = ? AND start <= ? ORDER BY start DESC LIMIT 1";
    let at = i64::try_from(place).unwrap_or(i64::MAX);
    let (step, start, len): (Option<u32>, i64, i64) =
        index.prepare_cached(ITEM)?.query_row([run, at], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let (start, end) = (unsigned(start), unsigned(start) + unsigned(len));
    let from = place.saturating_sub(SNIPPET_BYTES as u64).max(start);
    let to = (place + (OVERLAP + SNIPPET_BYTES) as u64).min(end);
    let bytes = text.read(from, length(to.saturating_sub(from)))?;
    // The window is cut anywhere, perhaps within a letter: such halves are left out and not shown as broken.
    let torn = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    let window = String::from_utf8_lossy(&bytes[torn..]);
    let mut places = texts.places(window.as_bytes());
    let first = length(place - from).saturating_sub(torn);
    places.retain(|found| found.start >= first.min(SNIPPET_BYTES));
    Ok(Snippet { step, pieces: around(&window, &places, SNIPPET_BYTES) })
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
