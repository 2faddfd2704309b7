//! What a person says of a run.
use super::App;
use crate::error::{AppError, Code};
use crate::rows::Review;

impl App {
    /// Keeps a review beside the run; none takes it away.
    pub fn review_run(&self, _id: &str, _review: Option<&Review>) -> Result<(), AppError> {
        Err(unbuilt())
    }
}

fn unbuilt() -> AppError {
    AppError::new(Code::Failed, "This is not built yet.")
}
