//! The overview, for whoever asks.
use super::App;
use crate::error::{AppError, Code};
use crate::rows::{Overview, OverviewRequest};

impl App {
    /// A part of the matrix of tasks against systems and models.
    pub fn overview(&self, _request: &OverviewRequest) -> Result<Overview, AppError> {
        Err(unbuilt())
    }
}

fn unbuilt() -> AppError {
    AppError::new(Code::Failed, "This is not built yet.")
}
