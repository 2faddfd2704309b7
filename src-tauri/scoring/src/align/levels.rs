//! **Pure.** Walks the rows of runs in reading order: each row of a level is followed by the rows
//! of the steps that it contains. Steps of different levels never share a row.
use super::digest::Digest;
use super::merge::{self, Cells};
use super::pair::{MOST, SMALL};
use std::ops::Range;
use std::vec;
use touchstone_model::nesting::{level, subtree_ends};

/// Iterator over the rows, each with its nesting level.
pub(crate) struct Walk<'d> {
    runs: &'d [&'d [Digest]],
    /// For each run, the ends of the steps that each step contains.
    ends: Vec<Vec<usize>>,
    /// Remaining rows of each open level.
    open: Vec<vec::IntoIter<Cells>>,
    /// Number of steps of all runs.
    steps: usize,
    /// Number of cells that may still be weighed for nested levels.
    nested: usize,
    /// True if some area was too large to be weighed completely.
    pub(crate) coarse: bool,
}

impl<'d> Walk<'d> {
    pub(crate) fn new(runs: &'d [&'d [Digest]]) -> Self {
        let ends = |run: &&[Digest]| subtree_ends(run.iter().map(|digest| digest.depth));
        let ends: Vec<Vec<usize>> = runs.iter().map(ends).collect();
        let steps = runs.iter().map(|run| run.len()).sum();
        let mut walk = Self { runs, ends, open: Vec::new(), steps, nested: MOST, coarse: false };
        walk.enter(&runs.iter().map(|run| 0..run.len()).collect::<Vec<_>>());
        walk
    }

    /// Aligns one level: in each run, the steps of a range that no other step of it contains.
    fn enter(&mut self, ranges: &[Range<usize>]) {
        let of_run =
            |(ends, range): (&Vec<usize>, &Range<usize>)| level(ends, range.clone()).collect();
        let steps: Vec<Vec<usize>> = self.ends.iter().zip(ranges).map(of_run).collect();
        let digests = |(run, steps): (&&'d [Digest], &Vec<usize>)| -> Vec<&'d Digest> {
            steps.iter().filter_map(|at| run.get(*at)).collect()
        };
        let digests = self.runs.iter().zip(&steps).map(digests).collect();
        let share = self.share(&steps);
        let (mut rows, coarse) = merge::rows(digests, share);
        for (at, steps) in steps.iter().enumerate() {
            for cell in rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                *cell = cell.and_then(|step| steps.get(step).copied());
            }
        }
        self.coarse |= coarse;
        self.open.push(rows.into_iter());
    }

    /// Returns the number of cells that may be weighed for a level. Nested levels together get as
    /// much as the main path; small ones are weighed completely while that lasts.
    fn share(&mut self, steps: &[Vec<usize>]) -> usize {
        if self.open.is_empty() {
            return MOST;
        }
        let own: usize = steps.iter().map(Vec::len).sum();
        let share = (MOST.saturating_mul(own) / self.steps.max(1)).max(SMALL).min(self.nested);
        let mut lengths: Vec<usize> = steps.iter().map(Vec::len).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let cells = lengths.iter().take(2).copied().reduce(usize::saturating_mul);
        self.nested -= cells.unwrap_or(0).min(share);
        share
    }
}

impl Iterator for Walk<'_> {
    type Item = (u32, Cells);

    fn next(&mut self) -> Option<Self::Item> {
        let row = loop {
            match self.open.last_mut()?.next() {
                Some(row) => break row,
                None => self.open.pop(),
            };
        };
        let depth = u32::try_from(self.open.len() - 1).unwrap_or(u32::MAX);
        let inner = |(ends, step): (&Vec<usize>, &Option<usize>)| {
            step.and_then(|step| Some(step + 1..*ends.get(step)?)).unwrap_or(0..0)
        };
        let ranges: Vec<Range<usize>> = self.ends.iter().zip(&row).map(inner).collect();
        if ranges.iter().any(|range| !range.is_empty()) {
            self.enter(&ranges);
        }
        Some((depth, row))
    }
}
