//! **Pure.** Sums of values by task, by row and by run, so that which of these are the clusters is
//! decided when all values are known.
use super::RowKey;
use touchstone_metrics::stats::Clusters;

/// Sums of the values of one cluster.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// Sum of the values, and their number.
    total: (f64, f64),
    /// Number of values of 1 or more.
    ones: u64,
    /// Number of values with a verdict, and of those that passed.
    decided: (u64, u64),
}

/// Sums of the values of one column. Values of a row are added one after another, and so are the rows
/// of a task.
#[derive(Debug, Clone, Default)]
pub(super) struct UnitSums<'a> {
    row: Option<RowKey<'a>>,
    /// True if values have different tasks.
    has_tasks: bool,
    /// True if values have different rows.
    has_rows: bool,
    tasks: Vec<Sums>,
    rows: Vec<Sums>,
    /// Values of the first row, as long as it is the only one.
    runs: Vec<Sums>,
    /// Values without a task, each of which stands for itself.
    loose: Vec<Sums>,
    /// True if a value is neither 0 nor 1.
    has_fractions: bool,
}

impl Sums {
    fn add(&mut self, value: f64, passed: Option<bool>) {
        self.total.0 += value;
        self.total.1 += 1.0;
        self.ones += u64::from(value >= 1.0);
        self.decided.0 += u64::from(passed.is_some());
        self.decided.1 += u64::from(passed == Some(true));
    }

    fn from_value(value: f64, passed: Option<bool>) -> Self {
        let mut sums = Self::default();
        sums.add(value, passed);
        sums
    }
}

impl<'a> UnitSums<'a> {
    /// Adds a value of a row.
    pub(super) fn add(&mut self, row: &RowKey<'a>, value: f64, passed: Option<bool>) {
        if self.row.as_ref() != Some(row) {
            self.enter(*row);
        }
        self.has_fractions |= value > 0.0 && value < 1.0;
        if row.task.is_none() {
            self.loose.push(Sums::from_value(value, passed));
        } else {
            for sums in [self.tasks.last_mut(), self.rows.last_mut()].into_iter().flatten() {
                sums.add(value, passed);
            }
        }
        if !self.has_rows {
            self.runs.push(Sums::from_value(value, passed));
        }
    }

    fn enter(&mut self, row: RowKey<'a>) {
        let before = self.row.replace(row);
        let is_new_task = before.is_none_or(|before| before.task != row.task);
        if before.is_some() {
            self.has_tasks |= is_new_task;
            self.has_rows = true;
            self.runs = Vec::new();
        }
        if row.task.is_some() {
            if is_new_task {
                self.tasks.push(Sums::default());
            }
            self.rows.push(Sums::default());
        }
    }

    /// Returns the sums of the clusters: tasks; if there is only one task, rows; if there is only one
    /// row, values.
    fn clusters(&self) -> impl Iterator<Item = &Sums> {
        let (units, loose): (&[Sums], &[Sums]) = match (self.has_rows, self.has_tasks) {
            (false, _) => (&self.runs, &[]),
            (true, false) => (&self.rows, &self.loose),
            (true, true) => (&self.tasks, &self.loose),
        };
        units.iter().chain(loose)
    }

    /// Returns the values by cluster; `None` without values.
    pub(super) fn values(&self) -> Option<Clusters> {
        Clusters::from_sums(self.clusters().map(|sums| sums.total).collect())
    }

    /// Returns the number of ones and of values of each cluster, if every value is 0 or 1.
    pub(super) fn rates(&self) -> Option<Vec<(u64, u64)>> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a sum of ones"
        )]
        let rate = |sums: &Sums| (sums.ones, sums.total.1 as u64);
        (!self.has_fractions).then(|| self.clusters().map(rate).collect())
    }

    /// Returns the number of passes and of verdicts of each cluster with verdicts.
    pub(super) fn passes(&self) -> Vec<(u64, u64)> {
        let decided = self.clusters().filter(|sums| sums.decided.0 > 0);
        decided.map(|sums| (sums.decided.1, sums.decided.0)).collect()
    }
}
