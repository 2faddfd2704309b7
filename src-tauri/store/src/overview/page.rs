//! **Pure.** Section of a matrix for the page: the visible rows under the current folds, and their
//! cells.
use super::{Loose, Matrix, TaskRows, VariationKey, VariationRow, cell};
use crate::filter::typed;
use std::collections::HashSet;
use touchstone_api::{
    FilterError, Overview, OverviewCell, OverviewColumn, OverviewKind, OverviewRequest, OverviewRow,
};

/// Maximum number of rows per section.
const MAX_ROWS: u32 = 500;

/// Visible row.
enum Line<'a> {
    Task(&'a TaskRows, bool),
    Variation(&'a TaskRows, &'a VariationRow),
    Loose(&'a Loose),
}

impl Matrix {
    /// Returns the requested rows, with all column heads.
    pub fn page(
        &self,
        request: &OverviewRequest,
        generation: u64,
        misread: Vec<FilterError>,
    ) -> Overview {
        let except: HashSet<&str> = request.except.iter().map(String::as_str).collect();
        let folded = |task: &TaskRows| request.folded != except.contains(task.id.as_str());
        let lines = self.tasks.iter().map(|task| (task, task.variations.len() < 2 || folded(task)));
        let height =
            |(task, folded): (&TaskRows, bool)| 1 + if folded { 0 } else { task.variations.len() };
        let total: usize = lines.clone().map(height).sum();
        let sought = self.tasks.iter().position(|task| request.find.as_ref() == Some(&task.id));
        let found: Option<usize> = sought.map(|at| lines.clone().take(at).map(height).sum());
        let lines = lines.flat_map(|(task, folded)| {
            let shown = if folded { &[][..] } else { &task.variations[..] };
            std::iter::once(Line::Task(task, folded))
                .chain(shown.iter().map(move |row| Line::Variation(task, row)))
        });
        let lines = lines.chain(self.loose.as_ref().map(Line::Loose));
        let (offset, limit) =
            (request.span.offset as usize, request.span.limit.min(MAX_ROWS) as usize);
        Overview {
            generation,
            columns: self.heads(),
            columns_left_out: u32::try_from(self.columns_left_out).unwrap_or(u32::MAX),
            total_rows: total as u64 + u64::from(self.loose.is_some()),
            tasks: self.tasks.len() as u64,
            found: found.map(|at| at as u64),
            rows: lines.skip(offset).take(limit).map(|line| self.row(&line)).collect(),
            scorers: self.scorers.clone(),
            headline: self.headline.clone(),
            runs: self.totals.runs,
            scored: self.totals.scored,
            errors: self.totals.errors,
            waiting: self.totals.waiting,
            running: self.totals.running,
            damaged: self.totals.damaged,
            no_expected: self.totals.no_expected,
            unasked: self.totals.unasked,
            unscored: self.totals.unscored,
            forks: self.totals.forks,
            superseded: self.totals.superseded,
            missing: self.totals.missing,
            misread,
        }
    }

    fn heads(&self) -> Vec<OverviewColumn> {
        let head = |column: &super::Column| OverviewColumn {
            system: column.system.clone(),
            model: column.model.clone(),
            filter: format!(
                "{} {}",
                filter_token("system", column.system.as_deref()),
                filter_token("model", column.model.as_deref())
            ),
            cell: column.cell.clone(),
        };
        self.columns.iter().map(head).collect()
    }

    fn row(&self, line: &Line<'_>) -> OverviewRow {
        match line {
            Line::Task(task, folded) => OverviewRow {
                kind: OverviewKind::Task,
                task: Some(task.id.clone()),
                variation: None,
                label: task.label.clone(),
                variations: u32::try_from(task.variations.len()).unwrap_or(u32::MAX),
                folded: *folded && task.variations.len() > 1,
                filter: of_task(task),
                runs: task.variations.iter().map(|row| row.facts.0.len() as u64).sum(),
                cells: self.cells(|column| cell::of_task(task, column)),
            },
            Line::Variation(task, row) => OverviewRow {
                kind: OverviewKind::Variation,
                task: Some(task.id.clone()),
                variation: if let VariationKey::Numbered(number) = &row.place {
                    Some(*number)
                } else {
                    None
                },
                label: row.label.clone(),
                variations: 0,
                folded: false,
                filter: format!("{} {}", of_task(task), of_variation(row)),
                runs: row.facts.0.len() as u64,
                cells: self.cells(|column| cell::of_row(row, column)),
            },
            Line::Loose(loose) => OverviewRow {
                kind: OverviewKind::Loose,
                task: None,
                variation: None,
                label: None,
                variations: 0,
                folded: false,
                filter: filter_token("task", None),
                runs: loose.runs,
                cells: self.cells(|column| cell::of_loose(loose.facts.in_column(column))),
            },
        }
    }

    fn cells(&self, cell: impl Fn(u16) -> Option<OverviewCell>) -> Vec<Option<OverviewCell>> {
        (0..).zip(&self.columns).map(|(at, _)| cell(at)).collect()
    }
}

fn of_task(task: &TaskRows) -> String {
    format!("task:{}", task.names.iter().map(|name| typed(name)).collect::<Vec<_>>().join(","))
}

fn of_variation(row: &VariationRow) -> String {
    match (&row.place, &row.label) {
        (VariationKey::Numbered(number), Some(name)) if row.by_name => {
            format!("variation:{number},{}", typed(name))
        }
        (VariationKey::Numbered(number), _) => format!("variation:{number}"),
        (VariationKey::Named(name), _) => format!("variation:{}", typed(name)),
        (VariationKey::Unknown, _) => filter_token("variation", None),
    }
}

/// Filter token for a value. Without a value, the token that matches only runs lacking one.
fn filter_token(key: &str, value: Option<&str>) -> String {
    value.map_or_else(|| format!("-{key}:*"), |value| format!("{key}:{}", typed(value)))
}
