//! Runs that a request selects, as runs that can be made.
use crate::OpenFolder;
use std::sync::Arc;
use touchstone_api::RunRow;
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::system::System;
use touchstone_runner::plan::{Decision, Matrix, Planned, Slot};
use touchstone_runner::setup::Setup;

/// Maximum number of runs planned at once, which bounds memory.
pub(super) const MOST_RUNS: usize = 2_000_000;

/// Runs of a matrix, and runs that cannot be part of it.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) matrix: Matrix,
    pub(super) refused: Vec<Planned>,
    /// Number of runs of all parts.
    pub(super) total: u64,
    /// What the request is about, in a few words.
    pub(super) what: String,
}

/// Reason to refuse writing to a file of many runs.
const ONE_OF_MANY: &str = "It is one of many runs in a file of another program. Such files are never changed, so it cannot be rerun, resumed or forked.";

/// Returns a run of the index as a run that can be made.
pub(super) fn slot(open: &OpenFolder, setup: &Setup, row: RunRow) -> Result<Slot, String> {
    if row.format.is_some() {
        return Err("Another tool recorded it, and its file is read-only.".to_owned());
    }
    if row.member.is_some() {
        return Err(ONE_OF_MANY.to_owned());
    }
    let (Some(task), Some(system), Some(model), Some(variation)) =
        (row.task, row.system, row.model, row.variation)
    else {
        return Err("The file name does not identify the run, so it cannot be rerun.".to_owned());
    };
    let known = open.flow.shelf.tasks().get(&task).map(|task| Arc::clone(&task.suite));
    let known = known.ok_or_else(|| format!("Its task `{task}` is not in the input directory."))?;
    if setup.model(&model).is_none() {
        return Err(format!(
            "Its model `{model}` is unknown. Add it under `models:` in touchstone.yaml."
        ));
    }
    let at = Coordinates {
        task,
        system: System::from(system.as_str()),
        model,
        variation,
        repeat: row.repeat,
        fork: names::fork(&row.path),
    };
    // The file may use another of the supported names; it is continued in place.
    Ok(Slot { path: row.path, ..Slot::new(known, at) })
}

pub(super) fn refused(path: String, why: String) -> Planned {
    let at = Coordinates {
        task: String::new(),
        system: System::Other(String::new()),
        model: String::new(),
        variation: 0,
        repeat: 1,
        fork: 0,
    };
    let slot = Slot { path, ..Slot::new(Arc::default(), at) };
    Planned { slot, decision: Decision::refused(why) }
}
