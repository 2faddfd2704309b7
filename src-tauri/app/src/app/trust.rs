//! Queries for the agreement of judges with people and with each other.
use super::App;
use crate::error::{AppError, Code};
use touchstone_api::{Agreement, Trust};

impl App {
    /// Returns the judges of the runs that match a filter, with the agreement of each two.
    pub fn trust(&self, filter: &str) -> Result<Trust, AppError> {
        let open = self.require_folder()?;
        self.check_filter_of_folder(filter)?;
        open.ask(|index| open.lists.trust(index, filter))
    }

    /// Returns the agreement of two judges, with the table of their verdicts and the runs on which
    /// they disagree.
    pub fn agreement(
        &self,
        first: &str,
        second: &str,
        filter: &str,
    ) -> Result<Agreement, AppError> {
        let open = self.require_folder()?;
        self.check_filter_of_folder(filter)?;
        open.ask(|index| open.lists.agreement(index, (first, second), filter))?.ok_or_else(|| {
            AppError::new(Code::NotFound, "One of the two has no verdicts on these runs.")
                .hint("Choose two of the judges that are listed.")
        })
    }
}
