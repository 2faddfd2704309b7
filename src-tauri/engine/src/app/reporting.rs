//! Reports, for whoever reads or keeps them.
use super::App;
use crate::error::{AppError, Code};
use crate::rows::{Report, ReportRequest};

impl App {
    /// Writes a report; with `whole`, all of it, else what a preview shows.
    pub fn make_report(&self, _request: &ReportRequest, _whole: bool) -> Result<Report, AppError> {
        Err(unbuilt())
    }
}

fn unbuilt() -> AppError {
    AppError::new(Code::Failed, "This is not built yet.")
}
