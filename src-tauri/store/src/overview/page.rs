//! **Pure.** Section of a matrix for the page: the visible rows under the current folds, and their
//! cells.
use super::{Loose, Matrix, TaskRows, VariationKey, VariationRow, cell};
use crate::filter::typed;
use std::collections::{BTreeMap, HashSet};
use touchstone_api::{
    FilterError, Overview, OverviewCell, OverviewColumn, OverviewKind, OverviewRequest,
    OverviewRow, OverviewView,
};

/// Maximum number of rows per section.
const MAX_ROWS: u32 = 500;

/// Visible row.
enum Line<'a> {
    Task(&'a TaskRows, bool),
    Variation(&'a TaskRows, &'a VariationRow),
    Tag(Option<&'a str>, Vec<&'a TaskRows>),
    /// True if they are shown.
    Missing(bool),
    Loose(&'a Loose),
}

/// Tasks and variations without any run.
struct WithoutRuns<'a> {
    tasks: Vec<&'a TaskRows>,
    /// Variations of tasks that have others with runs.
    variations: Vec<&'a VariationRow>,
}

impl WithoutRuns<'_> {
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.variations.is_empty()
    }

    /// Says how many there are: `3 tasks and 1 variation without runs`.
    fn describe(&self) -> String {
        let counted = |count: usize, name: &str| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {name}{plural}"))
        };
        let all = [counted(self.tasks.len(), "task"), counted(self.variations.len(), "variation")];
        format!("{} without runs", all.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }
}

impl Matrix {
    /// Returns the requested rows, with all column heads.
    pub fn page(
        &self,
        request: &OverviewRequest,
        generation: u64,
        misread: Vec<FilterError>,
    ) -> Overview {
        let without = self.without_runs();
        let lines = self.lines(request, &without);
        let is_sought = |line: &Line<'_>| match line {
            Line::Task(task, _) => request.find.as_ref() == Some(&task.id),
            _ => false,
        };
        let found = lines.iter().position(is_sought);
        let order = self.order(request.view);
        let (offset, limit) =
            (request.span.offset as usize, request.span.limit.min(MAX_ROWS) as usize);
        let shown = lines.iter().skip(offset).take(limit);
        Overview {
            generation,
            columns: self.heads(&order),
            columns_left_out: u32::try_from(self.columns_left_out).unwrap_or(u32::MAX),
            total_rows: lines.len() as u64,
            tasks: self.tasks.len() as u64,
            tags: self.tasks.iter().any(|task| self.tag(task).is_some()),
            found: found.map(|at| at as u64),
            rows: shown.map(|line| self.row(line, &order, &without)).collect(),
            scorers: self.scorers.clone(),
            headline: self.ranking.sentences.clone(),
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
            replays_left_out: self.totals.replays,
            evaluations_left_out: self.totals.evaluations,
            missing: self.totals.missing,
            misread,
        }
    }

    /// Returns all visible rows.
    fn lines<'a>(&'a self, request: &OverviewRequest, without: &WithoutRuns<'a>) -> Vec<Line<'a>> {
        let OverviewView { missing, by_tag, .. } = request.view;
        let except: HashSet<&str> = request.except.iter().map(String::as_str).collect();
        let of_task = |task: &'a TaskRows| {
            let is_excepted = except.contains(task.id.as_str());
            let folded = task.variations.len() < 2 || request.folded != is_excepted;
            let rows = task.variations.iter().filter(move |row| missing || row.has_runs());
            let rows = rows.take(if folded { 0 } else { usize::MAX });
            std::iter::once(Line::Task(task, folded))
                .chain(rows.map(move |row| Line::Variation(task, row)))
        };
        let with_runs = || self.tasks.iter().filter(|task| has_runs(task));
        let mut lines: Vec<Line<'a>> = Vec::new();
        if by_tag {
            let mut by_tag: BTreeMap<(bool, Option<&str>), Vec<&'a TaskRows>> = BTreeMap::new();
            for task in with_runs() {
                let tag = self.tag(task);
                by_tag.entry((tag.is_none(), tag)).or_default().push(task);
            }
            for ((_, tag), tasks) in by_tag {
                let rows: Vec<Line<'a>> = tasks.iter().flat_map(|task| of_task(task)).collect();
                lines.push(Line::Tag(tag, tasks));
                lines.extend(rows);
            }
        } else {
            lines.extend(with_runs().flat_map(of_task));
        }
        if !without.is_empty() {
            lines.push(Line::Missing(missing));
        }
        if missing {
            lines.extend(without.tasks.iter().flat_map(|task| of_task(task)));
        }
        lines.extend(self.loose.as_ref().map(Line::Loose));
        lines
    }

    fn without_runs(&self) -> WithoutRuns<'_> {
        let (with, tasks): (Vec<&TaskRows>, _) = self.tasks.iter().partition(|task| has_runs(task));
        let rows = with.iter().flat_map(|task| &task.variations);
        WithoutRuns { tasks, variations: rows.filter(|row| !row.has_runs()).collect() }
    }

    /// Returns the first tag of a task.
    fn tag(&self, task: &TaskRows) -> Option<&str> {
        self.suites.get(&task.id)?.suite.tags.first().map(String::as_str)
    }

    /// Returns the columns in the requested order.
    fn order(&self, view: OverviewView) -> Vec<u16> {
        let mut order: Vec<(u16, &super::Column)> = (0..).zip(&self.columns).collect();
        if view.by_model {
            // Unknown ones come last.
            order.sort_by_key(|(_, one)| {
                (one.model.is_none(), &one.model, one.system.is_none(), &one.system)
            });
        }
        order.into_iter().map(|(at, _)| at).collect()
    }

    fn heads(&self, order: &[u16]) -> Vec<OverviewColumn> {
        let head = |column: &super::Column| OverviewColumn {
            system: column.system.clone(),
            model: column.model.clone(),
            filter: column_filter(column.system.as_deref(), column.model.as_deref()),
            cell: column.cell.clone(),
        };
        order.iter().filter_map(|at| self.columns.get(usize::from(*at))).map(head).collect()
    }

    fn row(&self, line: &Line<'_>, order: &[u16], without: &WithoutRuns<'_>) -> OverviewRow {
        let facts = &*self.facts;
        let cells = |cell: &dyn Fn(u16) -> Option<OverviewCell>| -> Vec<Option<OverviewCell>> {
            order.iter().map(|at| cell(*at)).collect()
        };
        // Rows that are no task and no variation.
        let row = |kind| OverviewRow {
            kind,
            task: None,
            variation: None,
            label: None,
            variations: 0,
            folded: false,
            filter: String::new(),
            runs: 0,
            cells: Vec::new(),
        };
        match line {
            Line::Tag(tag, tasks) => {
                let names = tasks.iter().flat_map(|task| &task.names).map(|name| typed(name));
                OverviewRow {
                    label: tag.map(str::to_owned),
                    variations: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
                    filter: format!("task:{}", names.collect::<Vec<_>>().join(",")),
                    runs: tasks.iter().map(|task| runs_of(task)).sum(),
                    cells: cells(&|column| cell::of_tasks(facts, tasks, column)),
                    ..row(OverviewKind::Tag)
                }
            }
            Line::Missing(shown) => {
                let tasks = without.tasks.iter().flat_map(|task| &task.variations);
                let rows: Vec<&VariationRow> =
                    tasks.chain(without.variations.iter().copied()).collect();
                OverviewRow {
                    label: Some(without.describe()),
                    folded: !shown,
                    cells: cells(&|column| cell::of_missing(&rows, column)),
                    ..row(OverviewKind::Missing)
                }
            }
            Line::Task(task, folded) => OverviewRow {
                kind: OverviewKind::Task,
                task: Some(task.id.clone()),
                variation: None,
                label: task.label.clone(),
                variations: u32::try_from(task.variations.len()).unwrap_or(u32::MAX),
                folded: *folded && task.variations.len() > 1,
                filter: of_task(task),
                runs: runs_of(task),
                cells: cells(&|column| cell::of_task(facts, task, column)),
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
                runs: row.runs.len() as u64,
                cells: cells(&|column| cell::of_row(facts, row, column)),
            },
            Line::Loose(loose) => OverviewRow {
                filter: filter_token("task", None),
                runs: loose.count,
                cells: cells(&|column| cell::of_loose(facts, &loose.runs, column)),
                ..row(OverviewKind::Loose)
            },
        }
    }
}

fn has_runs(task: &TaskRows) -> bool {
    task.variations.iter().any(VariationRow::has_runs)
}

fn runs_of(task: &TaskRows) -> u64 {
    task.variations.iter().map(|row| row.runs.len() as u64).sum()
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

/// Returns the filter of the runs of a system with a model.
pub fn column_filter(system: Option<&str>, model: Option<&str>) -> String {
    format!("{} {}", filter_token("system", system), filter_token("model", model))
}

/// Filter token for a value. Without a value, the token that matches only runs lacking one.
fn filter_token(key: &str, value: Option<&str>) -> String {
    value.map_or_else(|| format!("-{key}:*"), |value| format!("{key}:{}", typed(value)))
}
