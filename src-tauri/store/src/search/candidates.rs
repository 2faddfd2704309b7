//! Narrows a search down with the full-text index: which runs hold all the words of the wanted
//! texts. Never leaves out a run that the text itself would give; may name more.
use super::Texts;
use crate::index::{IndexError, Reader};
use crate::query::RunSet;

/// A word that stands in more items than this narrows nothing down: reading the text is then as
/// fast.
const TOO_MANY: u64 = 10_000;
/// Shorter beginnings of words stand nearly everywhere, and asking for them is slow.
const SHORTEST: usize = 3;

const ITEMS_WITH: &str = "SELECT rowid FROM words WHERE words MATCH ?";
const RUN_OF: &str = "SELECT run FROM items WHERE id = ?";
const COUNTS: &str = "SELECT doc FROM terms WHERE term >= ? AND term <= ?";

/// None when the index cannot narrow it down.
pub(super) fn candidates(index: &Reader<'_>, texts: &Texts) -> Result<Option<RunSet>, IndexError> {
    let mut narrowed: Option<RunSet> = None;
    for word in texts.wanted.iter().flat_map(|needle| words(needle.text())) {
        let Some(runs) = runs_with(index, &word)? else { continue };
        narrowed = Some(match narrowed {
            None => runs,
            Some(known) => known.and(&runs),
        });
    }
    Ok(narrowed)
}

/// A word to be asked for: letters and digits only, so that nothing typed can be syntax of the
/// index.
struct Word {
    text: String,
    whole: bool,
}

/// The words of a text. Only ASCII texts have any: other letters are taken apart and folded by
/// rules of the index's own. The text may end within a word, so its last one is the beginning of a
/// word.
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

/// None when there are too many.
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

/// Whether few items hold the word. The full-text index would gather all of them before it gives
/// the first, so they are counted word by word until there are too many.
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
