//! Narrows a search with the full-text index to the runs that contain all words of the wanted
//! texts. Never excludes a matching run, but may include others.
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;

/// A word in more items than this does not narrow the search: reading the text is as fast then.
const TOO_MANY: u64 = 10_000;
/// Shorter word prefixes occur nearly everywhere and are slow to query.
const SHORTEST: usize = 3;

const ITEMS_WITH: &str = "SELECT rowid FROM words WHERE words MATCH ?";
const RUN_OF: &str = "SELECT run FROM items WHERE id = ?";
const COUNTS: &str = "SELECT doc FROM terms WHERE term >= ? AND term <= ?";

/// Returns the candidate runs for texts that all must be there, or `None` when the index cannot
/// narrow the search.
pub(super) fn candidates<'t>(
    index: &Reader<'_>,
    texts: impl Iterator<Item = &'t str>,
) -> Result<Option<RunSet>, IndexError> {
    let mut narrowed: Option<RunSet> = None;
    for word in texts.flat_map(words) {
        let Some(runs) = runs_with(index, &word)? else { continue };
        narrowed = Some(match narrowed {
            None => runs,
            Some(known) => known.and(&runs),
        });
    }
    Ok(narrowed)
}

/// Search word of letters and digits only, so that user input cannot contain query syntax.
struct Word {
    text: String,
    whole: bool,
}

/// Splits a text into words. Returns none for non-ASCII texts, because the full-text index splits
/// and folds other letters by its own rules. The text may end inside a word, so its last word is a
/// prefix.
fn words(text: &str) -> Vec<Word> {
    if !text.is_ascii() {
        return Vec::new();
    }
    let ends_inside = text.ends_with(|last: char| last.is_ascii_alphanumeric());
    let mut words: Vec<Word> = text
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| Word { text: word.to_owned(), whole: true })
        .collect();
    if let Some(last) = words.last_mut() {
        last.whole = !ends_inside;
    }
    words.retain(|word| word.text.len() >= SHORTEST);
    words
}

/// Returns the runs that contain the word, or `None` when there are too many.
fn runs_with(index: &Reader<'_>, word: &Word) -> Result<Option<RunSet>, IndexError> {
    if !is_rare(index, word)? {
        return Ok(None);
    }
    let mut question = format!("\"{}\"", word.text);
    if !word.whole {
        question.push('*');
    }
    let mut query = index.prepare_cached(ITEMS_WITH)?;
    let mut items = query.query([question])?;
    let mut run_of = index.prepare_cached(RUN_OF)?;
    let mut runs = RunSet::default();
    while let Some(item) = items.next()? {
        runs.insert(run_of.query_row([item.get::<_, i64>(0)?], |row| row.get(0))?);
    }
    Ok(Some(runs))
}

/// Returns true when few items contain the word. The full-text index collects all matches before it
/// returns the first, so the number of items is summed up term by term until it exceeds the limit.
fn is_rare(index: &Reader<'_>, word: &Word) -> Result<bool, IndexError> {
    let first = word.text.to_ascii_lowercase();
    let last = if word.whole { first.clone() } else { format!("{first}\u{10FFFF}") };
    let mut query = index.prepare_cached(COUNTS)?;
    let mut counts = query.query([first, last])?;
    let mut items = 0;
    while let Some(count) = counts.next()? {
        items += count.get::<_, i64>(0)?.unsigned_abs();
        if items > TOO_MANY {
            return Ok(false);
        }
    }
    Ok(true)
}
