//! **Pure.** Answers of `StableToolBench`: raw ones, as produced, and converted ones, as judged.
pub mod convert;
pub mod converted;
pub mod details;
pub mod finish;
mod nodes;
pub mod raw;
mod steps;
mod tree;

pub use finish::Finish;
pub use steps::GAVE_UP_REASON;

use touchstone_model::run::{Run, Step, StepKind};
use touchstone_model::value::Value;

/// Returns true if the file of a run records that it gave up, whatever its calls are.
pub fn is_given_up(run: &Run) -> bool {
    let reason = |(key, value): &(String, Value)| {
        key == "run.reason" && value.text() == Some(steps::GAVE_UP_REASON)
    };
    run.answer.is_none() && run.facts.iter().any(reason)
}

/// Returns the outcome of the last call of `Finish` among the steps of a run.
pub fn last_finish(run: &Run) -> Finish {
    let is_finish =
        |step: &&Step| step.kind == StepKind::ToolCall && step.title.as_deref() == Some(FINISH);
    run.steps.iter().rfind(is_finish).map_or(Finish::Nothing, |step| finish::of_parts(&step.parts))
}

/// Name of the function that ends a run.
pub const FINISH: &str = "Finish";
