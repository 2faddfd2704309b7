//! **Pure.** Finds the runs that suites expect in each column and that do not exist.
use super::gather::Gathering;
use super::{Column, Holds, slot_of};
use crate::filter::{Filter, Slot};
use crate::suites::{Task, Tasks};
use std::collections::HashSet;
use std::sync::Arc;
use touchstone_formats::names as file_names;
use touchstone_formats::system::System;

/// Maximum repeat count. A larger one is considered a typing error, as in launches.
const MOST_REPEATS: u32 = 1_000;

/// Counts the missing runs into the rows and returns their number. Returns `None` when the filter
/// uses keys other than the position of a run.
pub(super) fn count_missing(
    gathered: &mut Gathering,
    columns: &[Column],
    suites: &Tasks,
    filter: &Filter,
) -> Option<u64> {
    if !filter.asks_only_where() {
        return None;
    }
    let mut missing = 0;
    for task in suites.all() {
        for (column, Column { system, model, expects_runs, .. }) in (0..).zip(columns) {
            let (Some(system), Some(model), true) = (system, model, *expects_runs) else {
                continue;
            };
            missing += of_column(gathered, task, column, (system, model), filter);
        }
    }
    Some(missing)
}

fn of_column(
    gathered: &mut Gathering,
    task: &Task,
    column: u16,
    (system, model): (&str, &str),
    filter: &Filter,
) -> u64 {
    let id = task.suite.id.as_str();
    let names = gathered.names(id);
    let names: Vec<&str> = std::iter::once(id).chain(names.iter().map(String::as_str)).collect();
    let repeats = task.suite.repeat.clamp(1, MOST_REPEATS);
    let facts = Arc::clone(&gathered.facts);
    let mut missing = 0;
    let agent = System::from(system);
    for (variation, index) in (0..).zip(0..task.suite.variations.len()) {
        // Without a prompt or a simulated user for the system, there can be no run.
        if !task.suite.suits(&agent, Some(index)) {
            continue;
        }
        let name = task.variation_name(index);
        let admitted = |repeat: &u32| {
            let place = Slot {
                task: &names,
                system,
                model,
                variation,
                variation_name: name.as_deref(),
                repeat: *repeat,
            };
            filter.admits(&place)
        };
        let taken = gathered.taken_by_forks(task, variation, column);
        let repeats = file_names::repeats(repeats, |number| taken.contains(&number));
        let wanted: Vec<u32> = repeats.into_iter().filter(admitted).collect();
        if wanted.is_empty() {
            continue;
        }
        let row = gathered.row(task, variation, name);
        let here = [row.runs.in_column(column), row.forks.in_column(column)];
        let there = here.into_iter().flat_map(|positions| facts.at_positions(positions));
        let there: HashSet<u32> =
            there.filter(|fact| slot_of(fact) == Holds::Repeat).map(|fact| fact.repeat).collect();
        let lacking = wanted.iter().filter(|repeat| !there.contains(repeat)).count();
        if lacking > 0 {
            row.missing.push((column, u32::try_from(lacking).unwrap_or(u32::MAX)));
            missing += lacking as u64;
        }
    }
    missing
}
