//! Free-text search: the runs that contain a text, and the places of the matches. Questions about
//! the steps of runs: [`questions`] and [`step_search`].
//!
//! The matching rule is in [`super::snippet`]: exactly these characters, ignoring case, starting at
//! the start of a word. Names of tasks, systems and models match as well (see [`names`]). The text
//! of all runs is authoritative. Of runs that the full-text index holds, it finds words exactly, and
//! limits those that are read for anything else; runs that it does not hold yet are read. Results
//! therefore do not depend on the progress of the index, and text that no word index contains, like
//! `=>`, is found as well.
mod indexed;
mod names;
mod numbers;
mod places;
pub(crate) mod questions;
mod scan;
mod sequence;
pub(crate) mod step_search;
#[cfg(test)]
mod step_tests;
mod step_texts;
#[cfg(test)]
mod tests;

use super::blob::TextBlob;
use super::filter::Filter;
use super::index::{IndexError, Reader};
use super::run_set::RunSet;
use super::snippet::{Needle, around};
use super::word_index::lookup;
use std::ops::Range;
use touchstone_api::{Hit, Snippet, SnippetPiece, Span};

/// Maximum number of hits per run; the run's own page shows the rest.
const MAX_HITS_OF_RUN: usize = 20;
/// Approximate size of a snippet.
const SNIPPET_BYTES: usize = 160;
/// Minimum size of each part when a snippet shows several places.
const SHORTEST_PART: usize = 60;
/// Size of the pieces in which long texts are read.
const PIECE: usize = 1 << 20;
/// Overlap of consecutive pieces, so that no hit is split: the length of a needle, whose letters
/// may be longer in another case.
pub(super) const OVERLAP: usize = 4 * super::snippet::MAX_NEEDLE;

/// Texts that runs must and must not contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    wanted: Vec<Needle>,
    unwanted: Vec<Needle>,
    /// All wanted texts as one phrase; `None` when there is only one.
    phrase: Option<Needle>,
}

impl Texts {
    /// Collects the texts of a filter.
    pub(crate) fn from_filter(filter: &Filter) -> Self {
        let mut texts = Self::default();
        for (text, negated) in filter.texts() {
            if let Some(needle) = Needle::word(text) {
                if negated { texts.unwanted.push(needle) } else { texts.wanted.push(needle) }
            }
        }
        texts.phrase = Needle::phrase(&texts.wanted);
        texts
    }

    /// Returns true when there are no texts.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// Returns true when there are wanted texts, which snippets can show.
    pub(crate) fn any_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Iterates over all needles with their numbers: wanted ones first, then unwanted ones.
    fn needles(&self) -> impl Iterator<Item = (usize, &Needle)> {
        self.wanted.iter().chain(&self.unwanted).enumerate()
    }

    /// Returns the places of all wanted texts from `from` on, in order and without overlap. The
    /// phrase of all texts counts as one place.
    fn places(&self, text: &[u8], from: usize) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for needle in self.phrase.iter().chain(&self.wanted) {
            let mut at = from;
            while let Some(found) = needle.find(text, at) {
                at = found.end;
                places.push(found);
            }
        }
        places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
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

/// Returns those of the given runs that contain all wanted and no unwanted texts.
pub(crate) fn containing(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
) -> Result<RunSet, IndexError> {
    let named = names::found(index, texts, among)?;
    let waiting = lookup::waiting(index)?.and(among);
    let mut runs = indexed::containing(index, texts, &among.without(&waiting), &named)?;
    if !waiting.is_empty() {
        runs.extend(read_for(index, texts, &waiting, &named)?.iter());
    }
    Ok(runs)
}

/// Like [`containing`], by reading the texts of the given runs.
fn read_for(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
    named: &names::Named,
) -> Result<RunSet, IndexError> {
    let mut found = scan::among(index, texts, among, named)?;
    for (run, bits) in named.iter().filter(|(run, _)| among.contains(**run)) {
        *found.entry(*run).or_default() |= bits;
    }
    if texts.wanted.is_empty() {
        // A run without text cannot contain unwanted texts.
        let mut left = among.clone();
        for (run, _) in found.iter().filter(|(_, found)| **found != 0) {
            left.remove(*run);
        }
        return Ok(left);
    }
    let wanted = (1 << texts.wanted.len()) - 1;
    let mut runs = RunSet::default();
    found.iter().filter(|(_, found)| **found == wanted).for_each(|(run, _)| runs.insert(*run));
    Ok(runs)
}

/// Returns a snippet around the wanted texts. `None` when the run matches only by its names, which
/// its row shows anyway.
pub(crate) fn first_snippet(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    texts: &Texts,
) -> Result<Option<Snippet>, IndexError> {
    let first = places::in_run(index, text, run, texts, 1)?.shown.into_iter().next();
    first.map(|places| snippet(index, text, run, texts, &places)).transpose()
}

/// Returns the hits in runs, in the order of the runs.
pub(crate) fn hits(
    index: &Reader<'_>,
    runs: &[i64],
    texts: &Texts,
    span: Span,
) -> Result<Vec<Hit>, IndexError> {
    let text = index.text()?;
    let (mut skip, limit) = (span.offset as usize, span.limit as usize);
    let mut hits = Vec::new();
    for run in runs {
        if hits.len() == limit {
            break;
        }
        let found = places::in_run(index, &text, *run, texts, MAX_HITS_OF_RUN)?;
        let count = found.shown.len().max(1);
        let snippets = found.shown.iter().skip(skip).take(limit - hits.len());
        let mut snippets = snippets
            .map(|places| snippet(index, &text, *run, texts, places))
            .collect::<Result<Vec<_>, _>>()?;
        if !found.missing.is_empty() {
            let named = in_names(index, *run, texts, &found.missing)?;
            if found.shown.is_empty() && skip == 0 {
                snippets.push(Snippet { step: None, pieces: Vec::new() });
            }
            for snippet in &mut snippets {
                append(&mut snippet.pieces, &named);
            }
        }
        skip = skip.saturating_sub(count);
        if snippets.is_empty() {
            continue;
        }
        for snippet in snippets {
            hits.push(hit(index, *run, snippet)?);
        }
    }
    Ok(hits)
}

/// Returns a hit in a run.
pub(crate) fn hit(index: &Reader<'_>, run: i64, snippet: Snippet) -> Result<Hit, IndexError> {
    let (id, path) = index
        .prepare_cached("SELECT key, path FROM runs WHERE id = ?")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Hit { id, path, snippet })
}

/// Returns the names of a run that match these needles.
fn in_names(
    index: &Reader<'_>,
    run: i64,
    texts: &Texts,
    needles: &[usize],
) -> Result<Vec<SnippetPiece>, IndexError> {
    let names = names::of_run(index, run)?;
    let mut pieces = Vec::new();
    for needle in needles.iter().filter_map(|at| texts.wanted.get(*at)) {
        let found =
            names.iter().find_map(|(label, name)| Some((label, name, names::find(needle, name)?)));
        if let Some((label, name, place)) = found {
            let mut shown = vec![SnippetPiece { text: format!("{label} "), hit: false }];
            shown.extend(around(name, place.clone(), &[place], SNIPPET_BYTES));
            append(&mut pieces, &shown);
        }
    }
    Ok(pieces)
}

/// Appends pieces from another place, with a separator.
fn append(pieces: &mut Vec<SnippetPiece>, other: &[SnippetPiece]) {
    if !pieces.is_empty() && !other.is_empty() {
        pieces.push(SnippetPiece { text: " … ".to_owned(), hit: false });
    }
    pieces.extend_from_slice(other);
}

/// Returns the text around the given places, with the step of the first.
fn snippet(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    texts: &Texts,
    places: &[Range<u64>],
) -> Result<Snippet, IndexError> {
    let mut snippet = Snippet { step: None, pieces: Vec::new() };
    let width = (SNIPPET_BYTES / places.len().max(1)).max(SHORTEST_PART);
    for (at, place) in places.iter().enumerate() {
        let (step, item) = item_at(index, run, place.start)?;
        let from = place.start.saturating_sub(SNIPPET_BYTES as u64).max(item.start);
        let to = (place.end + 2 * SNIPPET_BYTES as u64).min(item.end);
        let bytes = text.read(from, length(to.saturating_sub(from)))?;
        // The window may be cut inside a character; partial characters are dropped instead of shown
        // as broken.
        let torn =
            bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
        let inside = bytes.get(torn..).unwrap_or_default();
        let whole = inside.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let window = if inside.len() - whole.len() < 4 {
            whole.into()
        } else {
            String::from_utf8_lossy(inside)
        };
        let first = length(place.start - from).saturating_sub(torn);
        let last = length(place.end - from).saturating_sub(torn);
        append(
            &mut snippet.pieces,
            &around(&window, first..last, &texts.places(window.as_bytes(), first), width),
        );
        if at == 0 {
            snippet.step = step;
        }
    }
    Ok(snippet)
}

/// Returns the step of the item at a place, and the range of the item's text.
fn item_at(
    index: &Reader<'_>,
    run: i64,
    place: u64,
) -> Result<(Option<u32>, Range<u64>), IndexError> {
    const ITEM: &str = "SELECT step, start, len FROM items WHERE run = ? AND start <= ? ORDER BY start DESC LIMIT 1";
    let at = i64::try_from(place).unwrap_or(i64::MAX);
    let (step, start, len): (Option<u32>, i64, i64) = index
        .prepare_cached(ITEM)?
        .query_row([run, at], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok((step, unsigned(start)..unsigned(start) + unsigned(len)))
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
