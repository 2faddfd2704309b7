//! Chooses the places of a run that a search shows: places where all wanted texts occur together,
//! or else the first place of each.
use super::{OVERLAP, PIECE, SNIPPET_BYTES, Texts, item_at, length, unsigned};
use crate::blob::TextBlob;
use crate::index::{IndexError, Reader};
use std::ops::Range;

/// Search result within a run.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Places in the text of all runs for each hit: one where all wanted texts occur together, or
    /// else the first of each.
    pub(super) shown: Vec<Vec<Range<u64>>>,
    /// Indices of wanted texts that the transcript does not contain.
    pub(super) missing: Vec<usize>,
}

/// Place of one wanted text within a piece.
struct Found {
    place: Range<usize>,
    needle: usize,
    /// True when the match ends at the end of a word.
    whole: bool,
}

/// Places where all wanted texts occur together, by kind from best to worst. Only the best kind
/// that occurs is shown.
#[derive(Default)]
struct Together {
    phrases: Vec<Range<u64>>,
    /// Phrases whose last text is only a prefix of a word.
    opened: Vec<Range<u64>>,
    words: Vec<Range<u64>>,
    beginnings: Vec<Range<u64>>,
}

/// Returns the places of a run to show, for at most `most` hits.
pub(super) fn in_run(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    texts: &Texts,
    most: usize,
) -> Result<Places, IndexError> {
    let (start, len): (i64, i64) = index
        .prepare_cached("SELECT text_offset, text_len * (NOT claimed) FROM runs WHERE id = ?")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (start, len) = (unsigned(start), unsigned(len));
    let mut together = Together::default();
    let mut firsts: Vec<Option<Range<u64>>> = vec![None; texts.wanted.len()];
    let mut done = 0;
    while done < len && together.phrases.len() < most {
        // A piece starts a little early to include the context before a word; matches in that part
        // are skipped.
        let early = done.min(OVERLAP as u64);
        let begin = start + done - early;
        let piece = text.read(begin, length(len - done + early).min(PIECE + 2 * OVERLAP))?;
        let from = length(early);
        let absolute = |place: &Range<usize>| begin + place.start as u64..begin + place.end as u64;
        let add = |places: Vec<Range<usize>>, to: &mut Vec<Range<u64>>| -> Result<(), IndexError> {
            for place in places
                .iter()
                .filter(|place| (from..from + PIECE).contains(&place.start))
                .map(absolute)
            {
                if to.len() == most {
                    break;
                }
                if place.end <= item_at(index, run, place.start)?.1.end {
                    to.push(place);
                }
            }
            Ok(())
        };
        let found = all(texts, &piece);
        for one in found.iter().filter(|one| one.place.start >= from) {
            firsts[one.needle].get_or_insert_with(|| absolute(&one.place));
        }
        if let Some(phrase) = &texts.phrase {
            let (whole, opened) =
                phrase.find_all(&piece).partition(|place| ends_word(&piece, place.end));
            add(whole, &mut together.phrases)?;
            add(opened, &mut together.opened)?;
            add(windows(texts, found.iter().filter(|one| one.whole)), &mut together.words)?;
            add(windows(texts, found.iter()), &mut together.beginnings)?;
        } else {
            add(found.into_iter().map(|one| one.place).collect(), &mut together.phrases)?;
        }
        done += PIECE as u64;
    }
    let missing =
        firsts.iter().enumerate().filter(|(_, first)| first.is_none()).map(|(at, _)| at).collect();
    let Together { phrases, opened, words, beginnings } = together;
    let best = [phrases, opened, words, beginnings].into_iter().find(|places| !places.is_empty());
    let shown = match best {
        Some(places) => places.into_iter().map(|place| vec![place]).collect(),
        None => Vec::from_iter(apart(firsts)),
    };
    Ok(Places { shown, missing })
}

/// Returns every place of every wanted text, in order.
fn all(texts: &Texts, piece: &[u8]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (needle, wanted) in texts.wanted.iter().enumerate() {
        found.extend(wanted.find_all(piece).map(|place| Found {
            whole: ends_word(piece, place.end),
            place,
            needle,
        }));
    }
    found.sort_by_key(|one| (one.place.start, one.place.end));
    found
}

/// Returns true when a word ends at this position.
fn ends_word(piece: &[u8], at: usize) -> bool {
    piece.get(at).is_none_or(|next| next.is_ascii() && !next.is_ascii_alphanumeric())
}

/// Returns the ranges that contain a place of each wanted text and fit into a snippet, without
/// overlap.
fn windows<'a>(texts: &Texts, found: impl Iterator<Item = &'a Found>) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let mut last: Vec<Option<&Range<usize>>> = vec![None; texts.wanted.len()];
    for one in found {
        last[one.needle] = Some(&one.place);
        let Some(each) = last.iter().copied().collect::<Option<Vec<_>>>() else { continue };
        let start = each.iter().map(|place| place.start).min().unwrap_or(one.place.start);
        let end = each.iter().map(|place| place.end).max().unwrap_or(one.place.end);
        if end - start <= SNIPPET_BYTES {
            windows.push(start..end);
            last.fill(None);
        }
    }
    windows
}

/// Returns one hit made of the first place of each wanted text that occurs, in order.
fn apart(firsts: Vec<Option<Range<u64>>>) -> Option<Vec<Range<u64>>> {
    let mut places: Vec<Range<u64>> = firsts.into_iter().flatten().collect();
    places.sort_by_key(|place| place.start);
    (!places.is_empty()).then_some(places)
}
