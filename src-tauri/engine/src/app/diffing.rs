//! Answers, compared with what was expected or with each other.
use super::App;
use crate::error::{AppError, Code};
use crate::rows::{DiffRequest, DiffView};

impl App {
    /// A part of the comparison of two answers.
    pub fn diff_answer(&self, _request: &DiffRequest) -> Result<DiffView, AppError> {
        Err(unbuilt())
    }
}

fn unbuilt() -> AppError {
    AppError::new(Code::Failed, "This is not built yet.")
}
