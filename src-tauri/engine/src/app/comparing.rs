//! Two to four runs, beside each other.
use super::App;
use crate::error::{AppError, Code};
use crate::rows::{Comparison, StepDiff, StepRef};

impl App {
    /// Aligns the steps of runs.
    pub fn compare_runs(&self, _ids: &[String]) -> Result<Comparison, AppError> {
        Err(unbuilt())
    }

    /// Compares two steps part by part.
    pub fn diff_steps(&self, _left: &StepRef, _right: &StepRef) -> Result<StepDiff, AppError> {
        Err(unbuilt())
    }
}

fn unbuilt() -> AppError {
    AppError::new(Code::Failed, "This is not built yet.")
}
