//! Resolves cells of an overview to runs: existing runs at their paths, and missing runs that the
//! suites define.

use super::selected_runs::{MOST_RUNS, Selection, refused, slot};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use std::collections::BTreeSet;
use std::sync::Arc;
use touchstone_api::{LaunchCell, Lineage, RunRow};
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::suite::Task;
use touchstone_formats::system::System;
use touchstone_runner::plan::Slot;
use touchstone_runner::setup::Setup;
use touchstone_store::query;
use touchstone_store::suites::Tasks;

/// Collects the runs of cells. A run of several cells is included once.
pub(super) fn select_cells(
    open: &OpenFolder,
    setup: &Setup,
    cells: &[LaunchCell],
) -> Result<Selection, AppError> {
    let tasks = open.flow.shelf.tasks();
    let mut wished = Selection::default();
    let mut paths = BTreeSet::new();
    for cell in cells {
        let Some(task) = tasks.get(&cell.task).map(|task| Arc::clone(&task.suite)) else {
            let why = format!("Its task `{}` is not in the input directory.", cell.task);
            wished.refused.push(refused(words(cell), why));
            continue;
        };
        if setup.model(&cell.model).is_none() {
            let why = format!(
                "Its model `{}` is unknown. Add it under `models:` in touchstone.yaml.",
                cell.model
            );
            wished.refused.push(refused(words(cell), why));
            continue;
        }
        let there = there(open, &tasks, &task, cell)?;
        for missing in
            missing(&task, cell, &there).into_iter().filter(|slot| paths.insert(slot.path.clone()))
        {
            match missing.why_not() {
                None => wished.matrix.slots.push(missing),
                Some(why) => wished.matrix.skipped.push((missing, why)),
            }
        }
        let of_benchmark =
            there.into_iter().map(|(_, row)| row).filter(|row| row.lineage != Some(Lineage::Fork));
        for row in of_benchmark.filter(|row| paths.insert(row.path.clone())) {
            let path = row.path.clone();
            match slot(open, setup, row) {
                Ok(slot) => wished.matrix.slots.push(slot),
                Err(why) => wished.refused.push(refused(path, why)),
            }
        }
        if wished.matrix.slots.len() > MOST_RUNS {
            let message =
                format!("These cells hold more than {MOST_RUNS} runs, the limit of one plan.");
            return Err(AppError::new(Code::BadRequest, message).hint("Select fewer of them."));
        }
    }
    // Sorted so that every cell gets its first run before any gets a second one, like in a matrix.
    wished.matrix.slots.sort_by(|one, other| order(&one.at).cmp(&order(&other.at)));
    Ok(wished)
}

fn order(at: &Coordinates) -> (u32, u32, &str, &str, &str) {
    (at.repeat, at.variation, &at.task, at.system.as_str(), &at.model)
}

/// Returns the existing runs of a cell, with the number of their variation.
fn there(
    open: &OpenFolder,
    tasks: &Tasks,
    task: &Arc<Task>,
    cell: &LaunchCell,
) -> Result<Vec<(Option<u32>, RunRow)>, AppError> {
    let by_folder = task.id.rsplit_once('/').map(|(folder, _)| folder);
    let is_same =
        |name: &&str| tasks.get(name).is_some_and(|known| Arc::ptr_eq(&known.suite, task));
    let names = std::iter::once(task.id.as_str()).chain(by_folder.filter(is_same));
    let mut rows = Vec::new();
    for name in names {
        rows.append(&mut open.ask(|index| query::rows_of(index, name, &cell.system, &cell.model))?);
    }
    let number = |row: &RunRow| {
        let place =
            |name: &str| task.variations.iter().position(|variation| variation.label() == name);
        let by_name = || u32::try_from(row.variation_name.as_deref().and_then(place)?).ok();
        row.variation.or_else(by_name)
    };
    let rows = rows.into_iter().map(|row| (number(&row), row));
    Ok(rows.filter(|(number, _)| cell.variation.is_none() || *number == cell.variation).collect())
}

/// Returns the runs of a cell that the suite defines and that do not exist.
fn missing(task: &Arc<Task>, cell: &LaunchCell, there: &[(Option<u32>, RunRow)]) -> Vec<Slot> {
    let all = 0..u32::try_from(task.variations.len()).unwrap_or(u32::MAX);
    let variations = cell.variation.map_or(all, |variation| variation..variation.saturating_add(1));
    // A fork that is named like a repeat occupies its number.
    let is_fork = |row: &RunRow| row.lineage == Some(Lineage::Fork);
    let numbers = |variation: u32| {
        names::repeats(task.repeat.max(1), |repeat| {
            let here = |(number, row): &&(Option<u32>, RunRow)| {
                *number == Some(variation) && row.repeat == repeat
            };
            let forks = there
                .iter()
                .filter(here)
                .filter(|(_, row)| is_fork(row) && names::fork(&row.path) == 0);
            forks.count() > 0
        })
    };
    let wanted = variations.flat_map(|variation| {
        numbers(variation).into_iter().map(move |repeat| (variation, repeat))
    });
    let is_there = |(variation, repeat): &(u32, u32)| {
        there.iter().any(|(number, row)| {
            *number == Some(*variation) && row.repeat == *repeat && !is_fork(row)
        })
    };
    let slot = |(variation, repeat)| {
        let (task_id, system, model) =
            (task.id.clone(), System::from(cell.system.as_str()), cell.model.clone());
        Slot::new(
            Arc::clone(task),
            Coordinates { task: task_id, system, model, variation, repeat, fork: 0 },
        )
    };
    wanted.filter(|place| !is_there(place)).map(slot).collect()
}

fn words(cell: &LaunchCell) -> String {
    let variation =
        cell.variation.map(|variation| format!(", variation {variation}")).unwrap_or_default();
    format!("{}{variation}, {} with {}", cell.task, cell.system, cell.model)
}
