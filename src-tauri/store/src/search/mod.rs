//! Free text: which runs contain it, and where. Owns one rule and two ways to obey it.
//!
//! The rule is in [`super::snippet`]: exactly these characters, ignoring case, from the start of a
//! word on. Names of tasks, systems and models are found as well (see [`names`]). The text of all
//! runs decides; the full-text index, once it is complete, only narrows down which runs have to be
//! read. So an answer never changes because the index has come further, and text that no index
//! knows, like `=>`, is found as well.
mod candidates;
mod names;
mod places;
mod scan;
#[cfg(test)]
mod tests;

use super::blob::TextBlob;
use super::filter::Filter;
use super::index::{IndexError, Reader};
use super::query::RunSet;
use super::snippet::{Needle, around};
use std::ops::Range;
use touchstone_api::{Hit, Snippet, SnippetPiece, Span};

/// A search lists at most this many hits of one run; the run itself shows the rest.
const MAX_HITS_OF_RUN: usize = 20;
/// About how much text stands around a hit.
const SNIPPET_BYTES: usize = 160;
/// At least so much text stands around each of several places that are shown together.
const SHORTEST_PART: usize = 60;
/// Long texts are read in pieces of this size.
const PIECE: usize = 1 << 20;
/// How far pieces reach into the next, so that no hit is cut in two: a needle, whose letters may be
/// longer in another case.
pub(super) const OVERLAP: usize = 4 * super::snippet::MAX_NEEDLE;

/// The texts that runs must and must not contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    wanted: Vec<Needle>,
    unwanted: Vec<Needle>,
    /// All wanted texts, one after the other; none when there is only one.
    phrase: Option<Needle>,
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
        texts.phrase = Needle::phrase(&texts.wanted);
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

    /// Places of any wanted text from `from` on, in order, none reaching into another. The phrase
    /// of all is one place.
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

/// Those of some runs that contain what is wanted and nothing that is not.
pub(crate) fn containing(
    index: &Reader<'_>,
    texts: &Texts,
    among: &RunSet,
) -> Result<RunSet, IndexError> {
    let candidates =
        if index.words_complete()? { candidates::candidates(index, texts)? } else { None };
    let named = names::found(index, texts, among)?;
    let mut found = match candidates {
        Some(few) => {
            let mut few = few.and(among);
            for run in named.keys() {
                few.insert(*run);
            }
            scan::some(index, texts, &few, &named)?
        }
        None => scan::all(index, texts, among, &named)?,
    };
    for (run, bits) in named {
        *found.entry(run).or_default() |= bits;
    }
    if texts.wanted.is_empty() {
        // A run without any text does not contain what is unwanted.
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

/// The text of a run around what is wanted; none when the run was found by its names alone, which
/// stand in its row.
pub(crate) fn first_snippet(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    texts: &Texts,
) -> Result<Option<Snippet>, IndexError> {
    let first = places::in_run(index, text, run, texts, 1)?.shown.into_iter().next();
    first.map(|places| snippet(index, text, run, texts, &places)).transpose()
}

/// Hits of runs, in the order of the runs.
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
        let (id, path): (String, String) = index
            .prepare_cached("SELECT key, path FROM runs WHERE id = ?")?
            .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        hits.extend(snippets.into_iter().map(|snippet| Hit {
            id: id.clone(),
            path: path.clone(),
            snippet,
        }));
    }
    Ok(hits)
}

/// The names of a run by which these needles find it.
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

/// Adds a piece of another place.
fn append(pieces: &mut Vec<SnippetPiece>, other: &[SnippetPiece]) {
    if !pieces.is_empty() && !other.is_empty() {
        pieces.push(SnippetPiece { text: " … ".to_owned(), hit: false });
    }
    pieces.extend_from_slice(other);
}

/// The text around each of some places, with the step of the first.
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
        // The window is cut anywhere, perhaps within a letter: such halves are left out and not
        // shown as broken.
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

/// The step of the item that a place is in, and where its text begins and ends.
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
