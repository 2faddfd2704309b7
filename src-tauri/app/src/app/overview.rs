//! Queries for the overview.
use super::App;
use crate::error::AppError;
use touchstone_api::{Overview, OverviewRequest};

impl App {
    /// Returns a part of the matrix of tasks against systems and models.
    pub fn overview(&self, request: &OverviewRequest) -> Result<Overview, AppError> {
        let open = self.require_folder()?;
        let suites = open.flow.shelf.tasks();
        let overview = open.ask(|index| open.lists.overview(index, &suites, request));
        open.flow.live.stir();
        overview
    }
}
