//! How far judges agree with people and with each other, for whoever asks.
use super::App;
use crate::error::{AppError, Code};
use touchstone_api::{Agreement, Trust};

impl App {
    /// Who said something of the runs that pass a filter, and how far each two agree.
    pub fn trust(&self, filter: &str) -> Result<Trust, AppError> {
        let open = self.opened()?;
        Self::understood(filter)?;
        self.heed_models(&open);
        open.ask(|index| open.lists.trust(index, filter))
    }

    /// The agreement of two, with the table of what both say and the runs on which they disagree.
    pub fn agreement(
        &self,
        first: &str,
        second: &str,
        filter: &str,
    ) -> Result<Agreement, AppError> {
        let open = self.opened()?;
        Self::understood(filter)?;
        self.heed_models(&open);
        open.ask(|index| open.lists.agreement(index, (first, second), filter))?.ok_or_else(|| {
            AppError::new(Code::NotFound, "One of the two has said nothing of these runs.")
                .hint("Choose two of the judges that are listed.")
        })
    }
}
