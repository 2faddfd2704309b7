//! **Pure.** Aligns two or more runs: matches corresponding steps and finds where the runs diverge.
//!
//! ```text
//! Run → digests ─┐
//! Run → digests ─┼─ pairs with the first → rows → kinds → first divergence, folds
//! Run → digests ─┘
//! ```
//! Runs are aligned level by level: first their main paths, in which a sub-agent is one step, then
//! within each pair of sub-agents. Defines which steps count as equal; display is decided
//! elsewhere. Call ids and times of the run never count.
mod differences;
mod digest;
mod grid;
mod kind;
mod levels;
mod merge;
mod normal_form;
mod pair;
#[cfg(test)]
mod tests;
mod words;

pub use differences::{Change, Difference, differences};
pub use digest::{Digest, digests};
pub use kind::Kind;

pub(crate) use pair::{acts, agree};

use digest::Role;
use std::ops::Range;

/// Aligned runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alignment {
    /// Rows; in each column, steps are in the order of the run. The rows of a sub-agent follow its
    /// own.
    pub rows: Vec<Row>,
    /// Index of the first row in which the runs did different things. Extra steps after which a run
    /// does the same again do not count, unless there is nothing else. Different results of the same
    /// call are no divergence.
    pub first_divergence: Option<usize>,
    /// Index of the first row in which all runs did the same with different results.
    pub first_other_result: Option<usize>,
    /// Row of the first prompt, if the prompts differ.
    pub other_prompt: Option<usize>,
    /// Ranges of at least two consecutive rows that are exactly the same.
    pub folds: Vec<Range<usize>>,
    /// For each run, the row in which it diverges from the first run, as in `first_divergence`; `None`
    /// for the first run.
    pub parts: Vec<Option<usize>>,
    /// True if the runs are so long that only nearby steps were compared.
    pub coarse: bool,
}

/// A row of corresponding steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Step index of each run; `None` if the run has no step in this row.
    pub steps: Vec<Option<usize>>,
    /// Relation of each run's step to that of the first run.
    pub kinds: Vec<Kind>,
    /// Greatest of these differences.
    pub kind: Kind,
    /// True if the runs diverge in this row.
    pub diverges: bool,
    /// Nesting level: 0 on the main path.
    pub depth: u32,
}

/// Aligns runs with the first of them. Deterministic.
pub fn align(runs: &[&[Digest]]) -> Alignment {
    let mut alignment = Alignment { parts: vec![None; runs.len()], ..Alignment::default() };
    let mut walk = levels::Walk::new(runs);
    // For each run, the row in which it left the first run: with extra steps, after which it may come
    // back, and for good, with another step in place of one.
    let mut left: Vec<(Option<usize>, Option<usize>)> = vec![(None, None); runs.len()];
    for (at, (depth, steps)) in walk.by_ref().enumerate() {
        let row = row(runs, steps, depth);
        for (run, part) in alignment.parts.iter_mut().enumerate().skip(1) {
            let (extra, replaced) = &mut left[run];
            if agree_in(runs, &row, run) {
                *extra = None;
            } else if parts(runs, &row, run) {
                let is_pair = row.steps[0].is_some() && row.steps[run].is_some();
                let place = if is_pair { replaced } else { extra };
                *place = place.or(Some(at));
                *part = part.or(Some(at));
            }
        }
        let first = |place: &mut Option<usize>, is: bool| *place = place.or(is.then_some(at));
        first(&mut alignment.first_other_result, row.kinds.contains(&Kind::OtherResult));
        let prompt = depth == 0
            && digest_at(runs, &row.steps, 0).is_some_and(|digest| digest.role == Role::Prompt);
        first(
            &mut alignment.other_prompt,
            prompt && matches!(row.kind, Kind::Similar | Kind::Different),
        );
        alignment.rows.push(row);
    }
    let leaves = |(extra, replaced): &(Option<usize>, Option<usize>)| {
        extra.iter().chain(replaced).min().copied()
    };
    for (part, left) in alignment.parts.iter_mut().zip(&left) {
        *part = leaves(left).or(*part);
    }
    let leaves = left.iter().filter_map(leaves).min();
    alignment.first_divergence = leaves.or(alignment.parts.iter().flatten().min().copied());
    alignment.coarse = walk.coarse;
    alignment.folds = folds(&alignment.rows);
    alignment
}

fn row(runs: &[&[Digest]], steps: Vec<Option<usize>>, depth: u32) -> Row {
    let present = (0..runs.len()).filter_map(|run| digest_at(runs, &steps, run));
    let Some(first) = present.clone().next() else {
        return Row {
            kinds: vec![Kind::Absent; steps.len()],
            steps,
            kind: Kind::Absent,
            diverges: false,
            depth,
        };
    };
    let mut diverges = present.clone().count() < runs.len()
        && present.clone().any(|digest| kind::diverges(Kind::Absent, digest, None));
    let kinds: Vec<Kind> = (0..runs.len())
        .map(|run| {
            let Some(other) = digest_at(runs, &steps, run) else { return Kind::Absent };
            let (kind, parts) = pair::judge(first, other);
            diverges |= parts;
            kind
        })
        .collect();
    let kind = kinds.iter().copied().max().unwrap_or(Kind::Same);
    Row { steps, kinds, kind, diverges, depth }
}

/// Returns the step of a run in a row.
fn digest_at<'d>(runs: &[&'d [Digest]], steps: &[Option<usize>], run: usize) -> Option<&'d Digest> {
    runs.get(run)?.get((*steps.get(run)?)?)
}

/// Returns true if a run diverges from the first run in this row.
fn parts(runs: &[&[Digest]], row: &Row, run: usize) -> bool {
    match (digest_at(runs, &row.steps, 0), digest_at(runs, &row.steps, run)) {
        (Some(first), Some(other)) => pair::judge(first, other).1,
        (Some(alone), None) | (None, Some(alone)) => kind::diverges(Kind::Absent, alone, None),
        (None, None) => false,
    }
}

/// Returns true if a run takes the same step as the first run in this row.
fn agree_in(runs: &[&[Digest]], row: &Row, run: usize) -> bool {
    let digest = |run| digest_at(runs, &row.steps, run);
    digest(0).zip(digest(run)).is_some_and(|(first, other)| pair::agree(first, other))
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
