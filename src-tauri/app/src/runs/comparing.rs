//! Compares two to four runs side by side.
use super::RunActions;
use super::reading::{self, MOST_RUNS};
use crate::error::{AppError, Code};
use crate::{App, paths};
use std::path::{Path, PathBuf};
use touchstone_api::{Comparison, DiffRequest, Span, StepDiff, StepRef};

impl RunActions<'_> {
    /// Aligns the steps of runs. Fails unless there are two to four.
    pub fn compare_runs(self, ids: &[String]) -> Result<Comparison, AppError> {
        Self::compare_across(&ids.iter().map(|id| (self.app, id.as_str())).collect::<Vec<_>>())
    }

    /// Like [`Self::compare_runs`], for runs of different folders, each with the app that has its
    /// folder open.
    pub fn compare_across(runs: &[(&App, &str)]) -> Result<Comparison, AppError> {
        if !(2..=MOST_RUNS).contains(&runs.len()) {
            let message = format!("Two to {MOST_RUNS} runs can be compared, not {}.", runs.len());
            return Err(AppError::new(Code::BadRequest, message));
        }
        let mut sides = Vec::new();
        for (app, id) in runs {
            let open = app.require_folder()?;
            let mut side = open.reading.side(&open.flow, id)?;
            app.sensitive().mark_sensitive([&mut side.row])?;
            sides.push(side);
        }
        Ok(reading::compare_sides(sides))
    }

    /// Returns the nearest folder above a file that holds the tasks of the results around it.
    pub fn folder_above(file: &Path) -> Option<PathBuf> {
        paths::containing_folder(file)
    }

    /// Returns a one-line summary of the difference between the answer of a run and the expected
    /// output, and whether they are equal; `None` without expected output.
    pub fn diff_with_expected(self, id: &str) -> Option<(String, bool)> {
        let none = Span { offset: 0, limit: 0 };
        let request = DiffRequest {
            id: id.to_owned(),
            against: None,
            literal: false,
            changed_only: true,
            rows: none,
            lines: none,
        };
        self.diff_answer(&request).ok().map(|view| (view.summary, view.equal))
    }

    /// Compares two steps part by part.
    pub fn diff_steps(self, left: &StepRef, right: &StepRef) -> Result<StepDiff, AppError> {
        Self::diff_steps_across((self.app, left), (self.app, right))
    }

    /// Like [`Self::diff_steps`], for steps of runs of different folders.
    pub fn diff_steps_across(
        left: (&App, &StepRef),
        right: (&App, &StepRef),
    ) -> Result<StepDiff, AppError> {
        let side = |(app, step): (&App, &StepRef)| {
            let open = app.require_folder()?;
            Ok::<_, AppError>(open.reading.step(&open.flow, step)?)
        };
        Ok(reading::differences(&side(left)?, &side(right)?)?)
    }
}
