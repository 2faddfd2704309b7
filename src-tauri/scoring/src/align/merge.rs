//! **Pure.** Builds the rows for one level of two or more runs. Each run is paired with the first one; steps
//! that the first run lacks are paired among the others. In each column the steps keep their order
//! and occur once.
use super::digest::Digest;
use super::pair::pair;

/// A row: the step index of each run, `None` if the run has no step in this row.
pub(crate) type Cells = Vec<Option<usize>>;

/// Returns the rows for some runs, and true if some area was too large to be weighed completely.
/// `most` limits the number of cells that are weighed for each pair of runs.
pub(crate) fn rows(runs: Vec<Vec<&Digest>>, most: usize) -> (Vec<Cells>, bool) {
    let Some(first) = runs.first() else { return (Vec::new(), false) };
    let mut table = Table {
        own: (0..first.len()).map(|step| cells(runs.len(), 0, step)).collect(),
        between: vec![Vec::new(); first.len() + 1],
        runs,
        most,
        coarse: false,
    };
    for run in 1..table.runs.len() {
        table.add(run);
    }
    (table.finish(), table.coarse)
}

fn cells(runs: usize, run: usize, step: usize) -> Cells {
    let mut cells = vec![None; runs];
    cells[run] = Some(step);
    cells
}

struct Table<'d> {
    runs: Vec<Vec<&'d Digest>>,
    /// One row for each step of the first run.
    own: Vec<Cells>,
    /// Rows without the first run: before each of its steps, and after the last.
    between: Vec<Vec<Cells>>,
    most: usize,
    coarse: bool,
}

impl Table<'_> {
    fn add(&mut self, run: usize) {
        let pairing = pair(&self.runs[0], &self.runs[run], self.most);
        self.coarse |= pairing.coarse;
        let mut from = 0;
        for (own, step) in pairing.pairs.into_iter().chain([(self.own.len(), self.runs[run].len())])
        {
            // Steps that only the first run has come first, so steps without a partner are placed
            // directly before the next pair.
            self.insert(own, run, from..step);
            if let Some(row) = self.own.get_mut(own) {
                row[run] = Some(step);
            }
            from = step + 1;
        }
    }

    /// Adds steps of a run to the rows of a gap.
    fn insert(&mut self, gap: usize, run: usize, steps: std::ops::Range<usize>) {
        if steps.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut self.between[gap]);
        let there: Vec<&Digest> = rows.iter().filter_map(|row| self.representative(row)).collect();
        let ends = (there.len(), steps.len());
        let pairing = pair(&there, &self.runs[run][steps.clone()], self.most);
        self.coarse |= pairing.coarse;
        let mut merged = Vec::with_capacity(rows.len() + steps.len());
        let mut rows = rows.into_iter();
        let (mut row_at, mut step_at) = (0, steps.start);
        for (row, step) in pairing.pairs.into_iter().chain([ends]) {
            merged.extend(rows.by_ref().take(row - row_at));
            let step = steps.start + step;
            merged.extend((step_at..step).map(|step| cells(self.runs.len(), run, step)));
            if let Some(mut both) = rows.next() {
                both[run] = Some(step);
                merged.push(both);
            }
            (row_at, step_at) = (row + 1, step + 1);
        }
        self.between[gap] = merged;
    }

    /// Returns the digest that represents a row: the step of the first run that has one.
    fn representative(&self, row: &Cells) -> Option<&Digest> {
        let (run, step) = row.iter().enumerate().find_map(|(run, step)| Some((run, (*step)?)))?;
        self.runs[run].get(step).copied()
    }

    fn finish(&mut self) -> Vec<Cells> {
        let mut rows = Vec::new();
        let mut own = std::mem::take(&mut self.own).into_iter();
        for between in std::mem::take(&mut self.between) {
            rows.extend(between);
            rows.extend(own.next());
        }
        rows
    }
}
