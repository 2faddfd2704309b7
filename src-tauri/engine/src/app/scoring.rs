//! Scores of runs: what is known of them, and the scorers that have to be asked for.
use super::App;
use crate::error::{AppError, Code};
use crate::rows::RunScores;

impl App {
    /// What every scorer and a person say of a run.
    pub fn run_scores(&self, id: &str) -> Result<RunScores, AppError> {
        let (review, note) = self.review_of(id)?;
        Ok(RunScores { scores: Vec::new(), class: None, review, notes: note.into_iter().collect() })
    }

    /// Runs the scorers that are programs, over the runs that pass a filter and wait for them; says how many it was.
    pub fn run_scorers(&self, _filter: &str) -> Result<u64, AppError> {
        Err(unbuilt())
    }
}

fn unbuilt() -> AppError {
    AppError::new(Code::Failed, "This is not built yet.")
}
