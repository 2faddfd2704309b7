//! Questions about the steps of runs, prepared for many runs: how they are decided, and where a
//! list shows that they hold. [`super::step_search`] asks them.
use super::indexed::with_all;
use super::sequence::{Found, Sequence, Steps, any_text};
use super::step_texts::Window;
use super::{SNIPPET_BYTES, unsigned};
use crate::blob::TextBlob;
use crate::filter::Filter;
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use crate::snippet::{Needle, around};
use crate::word_index::Places;
use crate::word_index::lookup::WordIndex;
use crate::word_index::plan::{Plan, Term};
use memchr::memmem::Finder;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use touchstone_api::{Snippet, SnippetPiece};
use touchstone_formats::transcript::step_list::{StepList, TextRole};

const ONE: &str = "SELECT run, start, steps FROM steps WHERE run = ?";

/// Questions that runs must pass.
#[derive(Clone, Default)]
pub(crate) struct Questions(Vec<Question>);

#[derive(Clone)]
struct Question {
    negated: bool,
    any_of: Vec<Kinds>,
}

/// A sequence, and what it asks of the kinds of steps alone.
#[derive(Clone)]
struct Kinds {
    sequence: Sequence,
    /// `None` when any run may fit.
    without_texts: Option<Sequence>,
    /// Terms that every run holds for which it holds, and where.
    terms: Vec<(Places, Term)>,
    /// Whether it holds for all runs with these terms.
    is_sure: bool,
}

impl Kinds {
    fn new(sequence: Sequence) -> Self {
        let (mut terms, mut is_sure) = (Vec::new(), sequence.is_a_text());
        for (places, needle) in sequence.required() {
            match Plan::for_needle(&needle) {
                Plan::Exactly(term) => terms.push((places, term)),
                Plan::AmongThose(some) => {
                    is_sure = false;
                    terms.extend(some.into_iter().map(|term| (places, term)));
                }
            }
        }
        Self { without_texts: sequence.without_texts(), sequence, terms, is_sure }
    }
}

/// What the kinds of the steps of a run say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passes,
    Fails,
    /// Its texts decide.
    Open,
}

impl Questions {
    /// Collects the questions of a filter.
    pub(crate) fn from_filter(filter: &Filter) -> Self {
        let prepared = filter.questions().map(|(any_of, negated)| Question {
            negated,
            any_of: any_of.iter().filter_map(Sequence::new).map(Kinds::new).collect(),
        });
        Self(prepared.collect())
    }

    /// Returns true when there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Asks the full-text index: returns the questions that are left, and those of the given runs
    /// that may pass.
    pub(super) fn narrow(
        &self,
        words: &WordIndex<'_>,
        among: &RunSet,
    ) -> Result<(Self, RunSet), IndexError> {
        let (mut rest, mut left) = (Vec::new(), among.clone());
        for question in &self.0 {
            let is_sure = question.any_of.iter().all(|kinds| kinds.is_sure);
            let mut holding = Some(RunSet::default()).filter(|_| is_sure || !question.negated);
            for kinds in &question.any_of {
                let Some(all) = &mut holding else { break };
                let terms = kinds.terms.iter().map(|(places, term)| (*places, term));
                match with_all(words, terms)? {
                    Some(runs) => all.extend(runs.iter()),
                    None => holding = None,
                }
            }
            match &holding {
                Some(runs) if question.negated => left = left.without(runs),
                Some(runs) => left = left.and(runs),
                None => {}
            }
            if holding.is_none() || !is_sure {
                rest.push(question.clone());
            }
        }
        Ok((Self(rest), left))
    }

    /// Returns true when there are some that hold at a step, which snippets can show.
    pub(crate) fn any_wanted(&self) -> bool {
        self.0.iter().any(|question| !question.negated)
    }

    /// Decides whether a run passes.
    pub(super) fn pass(&self, run: &mut Steps<'_>) -> io::Result<bool> {
        for question in &self.0 {
            if question.find(run)?.is_some() == question.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Decides a run by the kinds of its steps.
    pub(super) fn judge(&self, run: &mut Steps<'_>) -> io::Result<Verdict> {
        let mut all = Verdict::Passes;
        for question in &self.0 {
            match question.judge(run)? {
                Verdict::Fails => return Ok(Verdict::Fails),
                Verdict::Open => all = Verdict::Open,
                Verdict::Passes => {}
            }
        }
        Ok(all)
    }

    /// Returns texts that every run that passes must hold somewhere.
    pub(super) fn needed_texts(&self) -> impl Iterator<Item = &Needle> {
        self.0.iter().filter(|question| !question.negated).flat_map(|question| {
            let only = match question.any_of.as_slice() {
                [only] => Some(&only.sequence),
                _ => None,
            };
            only.into_iter().flat_map(Sequence::needed_texts)
        })
    }

    /// Returns true when one is about the answer.
    pub(super) fn ask_for_answer(&self) -> bool {
        let mut kinds = self.0.iter().flat_map(|question| &question.any_of);
        kinds.any(|kinds| kinds.sequence.asks_for_answer())
    }
}

impl Question {
    fn find(&self, run: &mut Steps<'_>) -> io::Result<Option<(Found, &Sequence)>> {
        for Kinds { sequence, .. } in &self.any_of {
            if let Some(found) = sequence.find(run)? {
                return Ok(Some((found, sequence)));
            }
        }
        Ok(None)
    }

    fn judge(&self, run: &mut Steps<'_>) -> io::Result<Verdict> {
        let mut is_open = false;
        for Kinds { sequence, without_texts, .. } in &self.any_of {
            let may_hold = match without_texts {
                None => true,
                Some(kinds) => kinds.find(run)?.is_some(),
            };
            if may_hold && !sequence.needs_texts() {
                return Ok(if self.negated { Verdict::Fails } else { Verdict::Passes });
            }
            is_open |= may_hold;
        }
        Ok(match (is_open, self.negated) {
            (true, _) => Verdict::Open,
            (false, true) => Verdict::Passes,
            (false, false) => Verdict::Fails,
        })
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
    let mut window = Window::starting_at(text, unsigned(row.get(1)?));
    for question in questions.0.iter().filter(|question| !question.negated) {
        let mut steps = Steps { list: &list, texts: &mut window, has_answer };
        let Some((found, sequence)) = question.find(&mut steps)? else { continue };
        let Some(step) = found.step.and_then(|step| list.steps.get(step)) else { continue };
        let tool = step.tool.and_then(|tool| list.tools.get(tool));
        let name = tool.map_or_else(String::new, |tool| format!("{tool} "));
        let mut pieces = vec![SnippetPiece { text: name, hit: false }];
        let (role, needle) = sequence.shown_text();
        let mut place = None;
        any_text(&list, step, (role, &mut window), &mut |bytes| {
            let at = needle.map_or(Some(0..0), |needle| needle.find(bytes, 0));
            place = at.map(|at| snippet_pieces(bytes, at));
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
    let mut window = Window::starting_at(&text, unsigned(row.get(1)?));
    let finders: Vec<Finder<'_>> = texts.iter().map(Finder::new).collect();
    let mut holds = |bytes: &[u8]| finders.iter().any(|finder| finder.find(bytes).is_some());
    for step in &list.steps {
        if any_text(&list, step, (TextRole::Result, &mut window), &mut holds)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the text around a place, which is marked unless it is empty.
fn snippet_pieces(bytes: &[u8], place: Range<usize>) -> Vec<SnippetPiece> {
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
