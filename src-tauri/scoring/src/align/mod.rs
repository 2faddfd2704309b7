//! **Pure.** Two and more runs side by side: which step of one belongs to which of another, and
//! where they part.
//!
//! ```text
//! Run → digests ─┐
//! Run → digests ─┼─ pairs with the first → rows → kinds → first divergence, folds
//! Run → digests ─┘
//! ```
//! Owns what counts as the same; how it is shown is decided elsewhere. Ids of calls and times of
//! the run never count.
mod differences;
mod digest;
mod form;
mod grid;
mod kind;
mod merge;
mod pair;
#[cfg(test)]
mod tests;
mod words;

pub use differences::{Change, Difference, differences};
pub use digest::{Digest, digests};
pub use kind::Kind;

use digest::Role;
use std::ops::Range;

/// Runs side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alignment {
    /// In the order of every run.
    pub rows: Vec<Row>,
    /// The first row in which not all did the same; what comes of the same call is no such thing.
    pub first_divergence: Option<usize>,
    /// The first row in which all did the same and not the same came of it.
    pub first_other_result: Option<usize>,
    /// The row of the first prompt, when they were not all asked the same.
    pub other_prompt: Option<usize>,
    /// Stretches of rows that are the same to the letter, of two rows and more.
    pub folds: Vec<Range<usize>>,
    /// For each run where it parts from the first one; none for the first.
    pub parts: Vec<Option<usize>>,
    /// True when the runs are so long that only what is near was compared.
    pub coarse: bool,
}

/// Steps that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// For each run its step, as an index; none when it has none here.
    pub steps: Vec<Option<usize>>,
    /// How each stands to the first one in this row.
    pub kinds: Vec<Kind>,
    /// The furthest apart of these.
    pub kind: Kind,
    /// True when the runs part here.
    pub diverges: bool,
}

/// Aligns runs with the first of them. The same runs always give the same rows.
pub fn align(runs: &[&[Digest]]) -> Alignment {
    let (cells, coarse) = merge::rows(runs);
    let mut alignment = Alignment { parts: vec![None; runs.len()], coarse, ..Alignment::default() };
    for (at, steps) in cells.into_iter().enumerate() {
        let row = row(runs, steps);
        for (run, part) in alignment.parts.iter_mut().enumerate().skip(1) {
            if part.is_none() && parts(runs, &row, run) {
                *part = Some(at);
            }
        }
        let first = |place: &mut Option<usize>, is: bool| *place = place.or(is.then_some(at));
        first(&mut alignment.first_divergence, row.diverges);
        first(&mut alignment.first_other_result, row.kinds.contains(&Kind::OtherResult));
        let prompt = told(runs, &row.steps, 0).is_some_and(|digest| digest.role == Role::Prompt);
        first(
            &mut alignment.other_prompt,
            prompt && matches!(row.kind, Kind::Similar | Kind::Different),
        );
        alignment.rows.push(row);
    }
    alignment.folds = folds(&alignment.rows);
    alignment
}

fn row(runs: &[&[Digest]], steps: Vec<Option<usize>>) -> Row {
    let present = (0..runs.len()).filter_map(|run| told(runs, &steps, run));
    let Some(first) = present.clone().next() else {
        return Row {
            kinds: vec![Kind::Absent; steps.len()],
            steps,
            kind: Kind::Absent,
            diverges: false,
        };
    };
    let mut diverges =
        present.clone().count() < runs.len() && kind::parts(Kind::Absent, first, None);
    let kinds: Vec<Kind> = (0..runs.len())
        .map(|run| {
            let Some(other) = told(runs, &steps, run) else { return Kind::Absent };
            let (kind, parts) = pair::judge(first, other);
            diverges |= parts;
            kind
        })
        .collect();
    let kind = kinds.iter().copied().max().unwrap_or(Kind::Same);
    Row { steps, kinds, kind, diverges }
}

/// The step of a run in a row.
fn told<'d>(runs: &[&'d [Digest]], steps: &[Option<usize>], run: usize) -> Option<&'d Digest> {
    runs.get(run)?.get((*steps.get(run)?)?)
}

/// True when a run parts from the first one in a row.
fn parts(runs: &[&[Digest]], row: &Row, run: usize) -> bool {
    match (told(runs, &row.steps, 0), told(runs, &row.steps, run)) {
        (Some(first), Some(other)) => pair::judge(first, other).1,
        (Some(alone), None) | (None, Some(alone)) => kind::parts(Kind::Absent, alone, None),
        (None, None) => false,
    }
}

fn folds(rows: &[Row]) -> Vec<Range<usize>> {
    let mut folds: Vec<Range<usize>> = Vec::new();
    for (at, _) in rows.iter().enumerate().filter(|(_, row)| row.kind == Kind::Same) {
        match folds.last_mut() {
            Some(fold) if fold.end == at => fold.end = at + 1,
            _ => folds.push(at..at + 1),
        }
    }
    folds.retain(|fold| fold.len() > 1);
    folds
}
