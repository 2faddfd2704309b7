//! Two to four runs, beside each other.
use super::App;
use crate::error::{AppError, Code};
use crate::reading::{self, MOST_RUNS};
use crate::rows::{Comparison, StepDiff, StepRef};

impl App {
    /// Aligns the steps of runs.
    pub fn compare_runs(&self, ids: &[String]) -> Result<Comparison, AppError> {
        Self::compare_across(&ids.iter().map(|id| (self, id.as_str())).collect::<Vec<_>>())
    }

    /// The same for runs of different folders, each with the program that has its folder open.
    pub fn compare_across(runs: &[(&Self, &str)]) -> Result<Comparison, AppError> {
        if !(2..=MOST_RUNS).contains(&runs.len()) {
            let message = format!("Two to {MOST_RUNS} runs can be compared, not {}.", runs.len());
            return Err(AppError::new(Code::BadRequest, message));
        }
        let mut sides = Vec::new();
        for (app, id) in runs {
            let open = app.opened()?;
            sides.push(open.reading.side(&open.flow, id)?);
        }
        Ok(reading::beside(sides))
    }

    /// Compares two steps part by part.
    pub fn diff_steps(&self, left: &StepRef, right: &StepRef) -> Result<StepDiff, AppError> {
        Self::diff_steps_across((self, left), (self, right))
    }

    /// The same for steps of runs of different folders.
    pub fn diff_steps_across(left: (&Self, &StepRef), right: (&Self, &StepRef)) -> Result<StepDiff, AppError> {
        let side = |(app, step): (&Self, &StepRef)| {
            let open = app.opened()?;
            Ok::<_, AppError>(open.reading.step(&open.flow, step)?)
        };
        Ok(reading::differences(&side(left)?, &side(right)?)?)
    }
}
