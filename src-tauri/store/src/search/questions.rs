//! Answers questions about the steps of runs from the index. Transcripts are not read; of their
//! text, only the pieces whose steps fit otherwise.
use super::sequence::{Found, Sequence, StepTexts, Steps, any_text};
use super::{SNIPPET_BYTES, candidates, length, unsigned};
use crate::blob::TextBlob;
use crate::filter::Filter;
use crate::index::{IndexError, Reader};
use crate::query::RunSet;
use crate::snippet::around;
use memchr::memmem::Finder;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use touchstone_api::{Snippet, SnippetPiece};
use touchstone_formats::transcript::step_list::{StepList, TextRole};

/// Maximum number of runs that are decided at once, and of bytes that their steps take.
const BATCH: usize = 8_192;
const BATCH_BYTES: usize = 8 << 20;
/// When at most one run of so many is asked about, each is looked up by its id.
const FEW: usize = 20;
/// Number of bytes that are read ahead when the texts of runs follow closely on each other, and
/// maximum size of a step that is read as a whole.
const AHEAD: u64 = 1 << 20;
/// Maximum gap between texts that count as close.
const GAP: u64 = 128 << 10;

const ALL: &str = "SELECT run, start, steps FROM steps";
const ONE: &str = "SELECT run, start, steps FROM steps WHERE run = ?";
const LAST: &str = "SELECT coalesce(max(run), 0) FROM steps";
const ANSWERED: &str = "SELECT id FROM runs WHERE has_answer <> 0";

/// Questions that runs must pass.
#[derive(Clone, Default)]
pub(crate) struct Questions(Vec<Question>);

#[derive(Clone)]
struct Question {
    negated: bool,
    any_of: Vec<Sequence>,
    /// Texts that every run holds for which it holds.
    required: Vec<String>,
}

/// Steps of a run as stored.
struct StoredSteps {
    run: i64,
    start: u64,
    steps: Vec<u8>,
}

impl Questions {
    /// Collects the questions of a filter.
    pub(crate) fn from_filter(filter: &Filter) -> Self {
        let prepared = filter.questions().map(|(any_of, negated)| Question {
            negated,
            required: match any_of.as_slice() {
                [one] if !negated => {
                    Sequence::required(one).into_iter().map(str::to_owned).collect()
                }
                _ => Vec::new(),
            },
            any_of: any_of.iter().filter_map(Sequence::new).collect(),
        });
        Self(prepared.collect())
    }

    /// Returns true when there are some that hold at a step, which snippets can show.
    pub(crate) fn any_wanted(&self) -> bool {
        self.0.iter().any(|question| !question.negated)
    }

    /// Decides whether a run passes.
    fn pass(&self, run: &mut Steps<'_>) -> io::Result<bool> {
        for question in &self.0 {
            if question.find(run)?.is_some() == question.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Question {
    fn find(&self, run: &mut Steps<'_>) -> io::Result<Option<(Found, &Sequence)>> {
        for sequence in &self.any_of {
            if let Some(found) = sequence.find(run)? {
                return Ok(Some((found, sequence)));
            }
        }
        Ok(None)
    }
}

/// Returns those of the given runs that pass.
pub(crate) fn passing(
    index: &Reader<'_>,
    questions: &Questions,
    among: &RunSet,
) -> Result<RunSet, IndexError> {
    let mut runs = among.clone();
    if index.words_complete()? {
        let required = questions.0.iter().flat_map(|question| &question.required);
        let texts = required.map(String::as_str);
        if let Some(few) = candidates::candidates(index, texts)? {
            runs = runs.and(&few);
        }
    }
    let answered = answered(index, questions)?;
    let text = index.text()?;
    let mut passing = RunSet::default();
    let mut unknown = runs.clone();
    for_each_batch(index, &runs, |batch| {
        for run in &batch {
            unknown.remove(run.run);
        }
        for run in decide(questions, &text, &answered, &batch)? {
            passing.insert(run);
        }
        Ok(())
    })?;
    if questions.any_wanted() {
        return Ok(passing);
    }
    // What is no run has no steps, and so passes what must not hold.
    unknown.iter().for_each(|run| passing.insert(run));
    Ok(passing)
}

/// Returns the runs with an answer, if a question is about it.
fn answered(index: &Reader<'_>, questions: &Questions) -> Result<RunSet, IndexError> {
    let mut answered = RunSet::default();
    let mut sequences = questions.0.iter().flat_map(|question| &question.any_of);
    if sequences.any(Sequence::asks_for_answer) {
        let mut query = index.prepare_cached(ANSWERED)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            answered.insert(row.get(0)?);
        }
    }
    Ok(answered)
}

/// Reads the steps of runs, in batches.
fn for_each_batch(
    index: &Reader<'_>,
    runs: &RunSet,
    mut act: impl FnMut(Vec<StoredSteps>) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let last: i64 = index.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
    let wanted = runs.iter().count();
    let mut batch = Vec::new();
    let mut bytes = 0;
    let mut put = |row: &rusqlite::Row<'_>, batch: &mut Vec<StoredSteps>| {
        let steps = row.get_ref(2)?.as_blob().unwrap_or_default().to_vec();
        bytes += steps.len();
        batch.push(StoredSteps { run: row.get(0)?, start: unsigned(row.get(1)?), steps });
        if batch.len() < BATCH && bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        act(std::mem::take(batch))
    };
    if wanted < usize::try_from(last).unwrap_or(usize::MAX) / FEW {
        let mut query = index.prepare_cached(ONE)?;
        for run in runs.iter() {
            let mut rows = query.query([run])?;
            while let Some(row) = rows.next()? {
                put(row, &mut batch)?;
            }
        }
    } else {
        let mut query = index.prepare_cached(ALL)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if runs.contains(row.get(0)?) {
                put(row, &mut batch)?;
            }
        }
    }
    act(batch)
}

/// Returns the runs of a batch that pass, decided on two threads.
fn decide(
    questions: &Questions,
    text: &TextBlob,
    answered: &RunSet,
    batch: &[StoredSteps],
) -> io::Result<Vec<i64>> {
    let half = |runs: &[StoredSteps]| {
        // Each thread gets its own copy, because regex caches would be contended.
        let questions = &questions.clone();
        let mut window = Window::new(text);
        let mut list = StepList::default();
        let mut passing = Vec::new();
        for run in runs {
            list.decode_into(&run.steps);
            window.start = run.start;
            let has_answer = answered.contains(run.run);
            let mut steps = Steps { list: &list, texts: &mut window, has_answer };
            if questions.pass(&mut steps)? {
                passing.push(run.run);
            }
        }
        Ok(passing)
    };
    let bytes: usize = batch.iter().map(|run| run.steps.len()).sum();
    if batch.len() < BATCH / 8 && bytes < BATCH_BYTES / 8 {
        return half(batch);
    }
    let (one, other) = batch.split_at(batch.len() / 2);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| half(other));
        let mut passing = half(one)?;
        passing.extend(thread.join().map_err(|_| io::Error::other("a search thread stopped"))??);
        Ok(passing)
    })
}

/// Text of runs that can be read in pieces.
trait ReadText {
    fn len(&self) -> u64;
    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>>;
}

impl ReadText for TextBlob {
    fn len(&self) -> u64 {
        TextBlob::len(self)
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        TextBlob::read(self, offset, len)
    }
}

/// Reads pieces of the text that mostly follow on each other.
struct Window<'t> {
    blob: &'t dyn ReadText,
    /// Where the text of the run starts.
    start: u64,
    begin: u64,
    bytes: Vec<u8>,
}

impl<'t> Window<'t> {
    fn new(blob: &'t dyn ReadText) -> Self {
        Self { blob, start: 0, begin: 0, bytes: Vec::new() }
    }
}

impl StepTexts for Window<'_> {
    fn with(
        &mut self,
        step: &Range<u64>,
        range: &Range<u64>,
        act: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        let absolute = |at: u64| self.start.checked_add(at).ok_or(io::ErrorKind::UnexpectedEof);
        let (from, to) = (absolute(range.start)?, absolute(range.end)?);
        let end = self.begin + self.bytes.len() as u64;
        if from < self.begin || to > end {
            // A step is read from its beginning, because its texts are wanted in any order.
            let is_whole = step.end.saturating_sub(step.start) <= AHEAD;
            let first = if is_whole { absolute(step.start)?.min(from) } else { from };
            let is_close = first >= self.begin && first <= end + GAP;
            let whole = if is_whole { absolute(step.end)?.max(to) } else { to };
            let ahead = first.saturating_add(AHEAD).min(self.blob.len());
            let to = if is_close { whole.max(ahead) } else { whole };
            self.bytes = self.blob.read(first, length(to.saturating_sub(first)))?;
            self.begin = first;
        }
        let (from, to) = (length(from - self.begin), length(to - self.begin));
        let text = self.bytes.get(from..to).unwrap_or_default();
        Ok(act(text.strip_suffix(b"\n").unwrap_or(text)))
    }
}

/// Returns the text that the first question found, or else the beginning of the step at which it
/// holds. `None` when it is about no step.
pub(crate) fn snippet(
    index: &Reader<'_>,
    text: &TextBlob,
    run: i64,
    questions: &Questions,
) -> Result<Option<Snippet>, IndexError> {
    let has_answer = index
        .prepare_cached("SELECT has_answer FROM runs WHERE id = ?")?
        .query_row([run], |row| row.get(0))?;
    let mut query = index.prepare_cached(ONE)?;
    let mut rows = query.query([run])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let list = StepList::decode(row.get_ref(2)?.as_blob().unwrap_or_default());
    let mut window = Window { start: unsigned(row.get(1)?), ..Window::new(text) };
    for question in questions.0.iter().filter(|question| !question.negated) {
        let mut steps = Steps { list: &list, texts: &mut window, has_answer };
        let Some((found, sequence)) = question.find(&mut steps)? else { continue };
        let Some(step) = found.step.and_then(|step| list.steps.get(step)) else { continue };
        let tool = step.tool.and_then(|tool| list.tools.get(tool));
        let name = tool.map_or_else(String::new, |tool| format!("{tool} "));
        let mut pieces = vec![SnippetPiece { text: name, hit: false }];
        let (role, needle) = sequence.shown_text();
        let mut place = None;
        any_text(step, role, &mut window, &mut |bytes| {
            let at = needle.map_or(Some(0..0), |needle| needle.find(bytes, 0));
            place = at.map(|at| shown(bytes, at));
            place.is_some()
        })?;
        pieces.extend(place.unwrap_or_default());
        pieces.retain(|piece| !piece.text.is_empty());
        return Ok(Some(Snippet { step: Some(step.step), pieces }));
    }
    Ok(None)
}

/// Returns true if the result of a call or a program of a run holds one of the texts.
pub(crate) fn results_hold(
    index: &Reader<'_>,
    run: i64,
    texts: &BTreeSet<String>,
) -> Result<bool, IndexError> {
    let mut query = index.prepare_cached(ONE)?;
    let mut rows = query.query([run])?;
    let Some(row) = rows.next()? else { return Ok(false) };
    let list = StepList::decode(row.get_ref(2)?.as_blob().unwrap_or_default());
    let text = index.text()?;
    let mut window = Window { start: unsigned(row.get(1)?), ..Window::new(&text) };
    let finders: Vec<Finder<'_>> = texts.iter().map(Finder::new).collect();
    let mut holds = |bytes: &[u8]| finders.iter().any(|finder| finder.find(bytes).is_some());
    for step in &list.steps {
        if any_text(step, TextRole::Result, &mut window, &mut holds)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the text around a place, which is marked unless it is empty.
fn shown(bytes: &[u8], place: Range<usize>) -> Vec<SnippetPiece> {
    let from = place.start.saturating_sub(SNIPPET_BYTES);
    let to = place.end.min(place.start + SNIPPET_BYTES);
    let around_it = &bytes[from..bytes.len().min(to + 2 * SNIPPET_BYTES)];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Characters that the edges of the window cut are left out.
    let before = text(&around_it[..place.start - from]);
    let before = before.trim_start_matches(char::REPLACEMENT_CHARACTER);
    let hit = text(&bytes[place.start..to]);
    let after = text(&around_it[to - from..]);
    let after = after.trim_end_matches(char::REPLACEMENT_CHARACTER);
    let marked = before.len()..before.len() + hit.len();
    let window = format!("{before}{hit}{after}");
    if marked.is_empty() {
        let end = window.floor_char_boundary(SNIPPET_BYTES);
        return vec![SnippetPiece { text: window[..end].trim_end().to_owned(), hit: false }];
    }
    around(&window, marked.clone(), &[marked], SNIPPET_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Text that counts what is read of it.
    struct Counted(u64, Cell<u64>);

    impl ReadText for Counted {
        fn len(&self) -> u64 {
            self.0
        }

        fn read(&self, _: u64, len: usize) -> io::Result<Vec<u8>> {
            self.1.set(self.1.get() + len as u64);
            Ok(vec![b'x'; len])
        }
    }

    #[test]
    fn the_texts_of_steps_are_read_about_once_in_whatever_order() {
        let text = Counted(20 << 20, Cell::new(0));
        let mut window = Window::new(&text);
        for start in (0..text.0).step_by(1_000) {
            let step = start..start + 900;
            // The result before the arguments, as the last place of a sequence is looked at first.
            for range in [start + 500..start + 900, start..start + 400] {
                window.with(&step, &range, &mut |_| false).unwrap();
            }
        }
        assert!(text.1.get() < 2 * text.0, "{}", text.1.get());
    }
}
