//! Finds the runs that pass questions about their steps. Transcripts are not read, and of their text
//! only that of runs whose steps fit otherwise: first all runs are decided by the kinds of their
//! steps, then the others by their texts, in the order in which these lie in the blob.
use super::questions::{Questions, Verdict};
use super::sequence::Steps;
use super::step_texts::{Loaded, NoTexts, Window};
use super::{length, unsigned};
use crate::blob::TextBlob;
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use crate::snapshot_cache::RunSteps;
use crate::word_index::lookup::{self, WordIndex};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use touchstone_formats::transcript::step_list::StepList;

/// Maximum number of runs that are decided at once, and of bytes that their steps take, where the
/// steps are read from the index.
const BATCH: usize = 8_192;
const BATCH_BYTES: usize = 8 << 20;
/// When at most one run of so many is asked about, each is looked up by its id.
const FEW: usize = 20;
/// Fewer runs than this are decided on one thread.
const SEVERAL: usize = 1_024;

const ALL: &str = "SELECT run, start, steps FROM steps";
const ONE: &str = "SELECT run, start, steps FROM steps WHERE run = ?";
const LAST: &str = "SELECT coalesce(max(run), 0) FROM steps";

/// Maximum number of bytes of the texts of runs that are read at once. Longer runs are read in
/// pieces.
const TEXT_BYTES: u64 = 2 << 20;
/// Maximum gap between texts that is read along instead of skipped.
const GAP: u64 = 64 << 10;
/// Number of threads, as in the search for free text.
const THREADS: usize = 2;

/// A run that its texts decide, with the range of the text of its steps.
struct OpenRun<'s> {
    run: RunSteps<'s>,
    text: Range<u64>,
}

/// Returns those of the given runs that pass. What the full-text index holds of them, it decides as
/// far as it can.
pub(crate) fn passing(
    index: &Reader<'_>,
    questions: &Questions,
    among: &RunSet,
) -> Result<RunSet, IndexError> {
    let waiting = lookup::waiting(index)?.and(among);
    let words = WordIndex::open(index)?;
    let (rest, mut left) = questions.narrow(&words, &among.without(&waiting))?;
    if !rest.is_empty() {
        left = decided(index, &rest, &left)?;
    }
    if !waiting.is_empty() {
        left.extend(decided(index, questions, &waiting)?.iter());
    }
    Ok(left)
}

/// Returns those of the given runs that pass, by their steps and texts.
fn decided(index: &Reader<'_>, questions: &Questions, runs: &RunSet) -> Result<RunSet, IndexError> {
    let answered = if questions.ask_for_answer() { Some(index.answered()?) } else { None };
    let text = index.text()?;
    let search = Search { questions, answered: answered.as_deref(), text: &text };
    let mut passing = RunSet::default();
    // What is no run has no steps, and so passes what must not hold.
    let mut unknown = runs.clone();
    let mut take = |batch: &[RunSteps<'_>]| -> Result<(), IndexError> {
        for run in batch {
            unknown.remove(run.run);
        }
        search.decide(batch, &mut passing)?;
        Ok(())
    };
    match index.steps()? {
        Some(kept) => {
            let batch: Vec<RunSteps<'_>> = runs.iter().filter_map(|run| kept.get(run)).collect();
            take(&batch)?;
        }
        None => for_each_batch(index, runs, take)?,
    }
    if !questions.any_wanted() {
        passing.extend(unknown.iter());
    }
    Ok(passing)
}

/// Reads the steps of runs from the index, in batches.
fn for_each_batch(
    index: &Reader<'_>,
    runs: &RunSet,
    mut act: impl FnMut(&[RunSteps<'_>]) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let last: i64 = index.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
    let wanted = runs.len();
    let mut batch: Vec<(i64, u64, Range<usize>)> = Vec::new();
    let mut bytes = Vec::new();
    let mut give = |batch: &mut Vec<(i64, u64, Range<usize>)>, bytes: &mut Vec<u8>| {
        let steps = |(run, start, range): &(i64, u64, Range<usize>)| RunSteps {
            run: *run,
            start: *start,
            steps: &bytes[range.clone()],
        };
        let done = act(&batch.iter().map(steps).collect::<Vec<_>>());
        batch.clear();
        bytes.clear();
        done
    };
    let mut put = |row: &rusqlite::Row<'_>| -> Result<(), IndexError> {
        let from = bytes.len();
        bytes.extend_from_slice(row.get_ref(2)?.as_blob().unwrap_or_default());
        batch.push((row.get(0)?, unsigned(row.get(1)?), from..bytes.len()));
        let is_full = batch.len() >= BATCH || bytes.len() >= BATCH_BYTES;
        if is_full { give(&mut batch, &mut bytes) } else { Ok(()) }
    };
    if wanted < usize::try_from(last).unwrap_or(usize::MAX) / FEW {
        let mut query = index.prepare_cached(ONE)?;
        for run in runs.iter() {
            let mut rows = query.query([run])?;
            while let Some(row) = rows.next()? {
                put(row)?;
            }
        }
    } else {
        let mut query = index.prepare_cached(ALL)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if runs.contains(row.get(0)?) {
                put(row)?;
            }
        }
    }
    give(&mut batch, &mut bytes)
}

/// Questions to the runs of a snapshot.
struct Search<'a> {
    questions: &'a Questions,
    /// Runs with an answer, if a question is about it.
    answered: Option<&'a RunSet>,
    text: &'a TextBlob,
}

impl Search<'_> {
    fn has_answer(&self, run: i64) -> bool {
        self.answered.is_some_and(|answered| answered.contains(run))
    }

    /// Adds the runs of a batch that pass.
    fn decide(&self, batch: &[RunSteps<'_>], passing: &mut RunSet) -> io::Result<()> {
        let (runs, mut open) = self.by_kinds(batch)?;
        let has_answer = |run| self.has_answer(run);
        let by_texts = read_texts(self.text, self.questions, &has_answer, &mut open)?;
        for run in runs.into_iter().chain(by_texts) {
            passing.insert(run);
        }
        Ok(())
    }

    /// Decides runs by the kinds of their steps, on two threads. Returns those that pass, and those
    /// that their texts decide.
    fn by_kinds<'s>(&self, batch: &[RunSteps<'s>]) -> io::Result<(Vec<i64>, Vec<OpenRun<'s>>)> {
        let part = |runs: &[RunSteps<'s>]| {
            let mut list = StepList::default();
            let (mut passing, mut open) = (Vec::new(), Vec::new());
            for run in runs {
                list.decode_into(run.steps);
                let has_answer = self.has_answer(run.run);
                let mut steps = Steps { list: &list, texts: &mut NoTexts, has_answer };
                match self.questions.judge(&mut steps)? {
                    Verdict::Passes => passing.push(run.run),
                    Verdict::Fails => {}
                    Verdict::Open => {
                        let end = run.start.saturating_add(list.text_end());
                        open.push(OpenRun { run: *run, text: run.start..end });
                    }
                }
            }
            Ok((passing, open))
        };
        if batch.len() < SEVERAL {
            return part(batch);
        }
        let (one, other) = batch.split_at(batch.len() / 2);
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| part(other));
            let (mut passing, mut open) = part(one)?;
            let rest = thread.join().map_err(|_| io::Error::other("a search thread stopped"))??;
            passing.extend(rest.0);
            open.extend(rest.1);
            Ok((passing, open))
        })
    }
}

/// Returns the runs that pass by their texts.
fn read_texts(
    blob: &TextBlob,
    questions: &Questions,
    has_answer: &(dyn Fn(i64) -> bool + Sync),
    open: &mut [OpenRun<'_>],
) -> io::Result<Vec<i64>> {
    open.sort_unstable_by_key(|run| run.text.start);
    let groups = groups(open);
    let next = AtomicUsize::new(0);
    let work = || {
        // Each thread gets its own copy, because regex caches would be contended.
        let questions = &questions.clone();
        let (mut buffer, mut list, mut passing) = (Vec::new(), StepList::default(), Vec::new());
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            read_group(blob, questions, group, (&mut buffer, &mut list), &mut |run, steps| {
                steps.has_answer = has_answer(run);
                if questions.pass(steps)? {
                    passing.push(run);
                }
                Ok(())
            })?;
        }
        Ok(passing)
    };
    if groups.len() < 2 * THREADS {
        return work();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..THREADS).map(|_| scope.spawn(work)).collect();
        let mut passing = work()?;
        for thread in threads {
            let joined = thread.join().map_err(|_| io::Error::other("a search thread stopped"))?;
            passing.extend(joined?);
        }
        Ok(passing)
    })
}

/// Groups runs whose texts are read together.
fn groups<'o, 's>(open: &'o [OpenRun<'s>]) -> Vec<&'o [OpenRun<'s>]> {
    let mut groups = Vec::new();
    let mut from = 0;
    for at in 1..=open.len() {
        let together = open.get(at).is_some_and(|next| {
            let (begin, before) = (open[from].text.start, open[at - 1].text.end);
            next.text.end <= begin.saturating_add(TEXT_BYTES)
                && next.text.start <= before.saturating_add(GAP)
        });
        if !together {
            groups.push(&open[from..at]);
            from = at;
        }
    }
    groups
}

/// Reads the texts of a group, and passes on the runs that may hold what is needed.
fn read_group<'s>(
    blob: &TextBlob,
    questions: &Questions,
    group: &[OpenRun<'s>],
    (buffer, list): (&mut Vec<u8>, &mut StepList<'s>),
    take: &mut dyn FnMut(i64, &mut Steps<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let [first, ..] = group else { return Ok(()) };
    let begin = first.text.start;
    let end = group.iter().map(|run| run.text.end).max().unwrap_or(begin);
    if end - begin > TEXT_BYTES {
        for run in group {
            list.decode_into(run.run.steps);
            let texts = &mut Window::starting_at(blob, run.text.start);
            take(run.run.run, &mut Steps { list, texts, has_answer: false })?;
        }
        return Ok(());
    }
    let read = blob.read_into(begin, length(end - begin), buffer)?;
    for run in group {
        let range = length(run.text.start - begin)..length(run.text.end - begin);
        let text = read.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        if questions.needed_texts().all(|needle| needle.may_be_in(text)) {
            list.decode_into(run.run.steps);
            take(run.run.run, &mut Steps { list, texts: &mut Loaded(text), has_answer: false })?;
        }
    }
    Ok(())
}
