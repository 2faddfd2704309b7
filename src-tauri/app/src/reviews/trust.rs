//! Queries for the agreement of judges with people and with each other.
use super::ReviewActions;
use crate::error::{AppError, Code};
use crate::sensitive::scan_care::{is_sensitive, leave_out_quote};
use touchstone_api::{Agreement, Trust};

impl ReviewActions<'_> {
    /// Returns the judges of the runs that match a filter, with the agreement of each two.
    pub fn trust(self, filter: &str) -> Result<Trust, AppError> {
        let open = self.app.require_folder()?;
        self.app.runs().check_filter_of_folder(filter)?;
        open.ask(|index| open.lists.trust(index, filter))
    }

    /// Returns the agreement of two judges, with the table of their verdicts and the runs on which
    /// they disagree. Reasons of sensitive runs are left out, as they quote what was said.
    pub fn agreement(self, first: &str, second: &str, filter: &str) -> Result<Agreement, AppError> {
        let open = self.app.require_folder()?;
        self.app.runs().check_filter_of_folder(filter)?;
        let found = open.ask(|index| open.lists.agreement(index, (first, second), filter))?;
        let mut agreement = found.ok_or_else(|| {
            AppError::new(Code::NotFound, "One of the two has no verdicts on these runs.")
                .hint("Choose two of the judges that are listed.")
        })?;
        let ids: Vec<String> = agreement.disagreements.iter().map(|one| one.run.clone()).collect();
        let (rows, sensitive) =
            (self.app.reports().rows_by_id(&ids)?, self.app.sensitive().sensitive_kinds()?);
        let both = agreement.disagreements.iter_mut().zip(&rows);
        for (one, _) in both.filter(|(_, row)| is_sensitive(&sensitive, row)) {
            [&mut one.first_why, &mut one.second_why]
                .into_iter()
                .flatten()
                .for_each(leave_out_quote);
        }
        Ok(agreement)
    }
}
