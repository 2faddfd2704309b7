//! The baseline of an attack: the run of its objective without a disguise.
use super::RedTeamActions;
use crate::error::AppError;
use touchstone_api::RunRow;
use touchstone_redteam::Attack;
use touchstone_store::query;

impl RedTeamActions<'_> {
    /// Returns the run of the same task, system and model whose objective is not disguised: the same
    /// repeat if there is one, else the first. `None` for a run that is no disguised attack.
    pub fn attack_baseline(self, id: &str) -> Result<Option<RunRow>, AppError> {
        let open = self.app.require_folder()?;
        let Some(mut row) = open.ask(|index| query::row_by_key(index, id))? else {
            return Ok(None);
        };
        self.app.sensitive().mark_sensitive([&mut row])?;
        let is_disguised = attack_of_row(&row).is_some_and(|attack| attack != Attack::baseline());
        let (Some(task), Some(system), Some(model)) = (&row.task, &row.system, &row.model) else {
            return Ok(None);
        };
        if row.sensitive != Some(true) || row.format.is_some() || !is_disguised {
            return Ok(None);
        }
        let runs = open.ask(|index| query::rows_of(index, task, system, model))?;
        let is_candidate = |other: &RunRow| {
            other.lineage.is_none()
                && other.superseded_by.is_none()
                && attack_of_row(other) == Some(Attack::baseline())
        };
        let baseline = runs
            .into_iter()
            .filter(is_candidate)
            .min_by_key(|other| (other.repeat != row.repeat, other.repeat));
        let Some(mut baseline) = baseline else { return Ok(None) };
        self.app.sensitive().mark_sensitive([&mut baseline])?;
        Ok(Some(baseline))
    }
}

/// Returns the attack that a variation is named by.
fn attack_of_row(row: &RunRow) -> Option<Attack> {
    row.variation_name.as_deref().and_then(|name| Attack::from_name(name).ok())
}
