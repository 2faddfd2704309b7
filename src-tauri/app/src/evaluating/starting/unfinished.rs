//! Stores the request of an evaluation beside its replies until the results are complete, so that
//! it can be resumed after the program ended.
use super::{FOLDER, ResolvedRequest, disk};
use crate::OpenFolder;
use crate::error::AppError;
use crate::evaluating::EvaluationActions;
use std::cmp::Reverse;
use std::sync::Arc;
use touchstone_api::{EvaluateAgain, EvaluateRequest, EvaluateUnfinished};
use touchstone_clock as clock;
use touchstone_runner::evaluations;

impl EvaluationActions<'_> {
    /// Returns evaluations started from the page in the open folder that have no complete results,
    /// newest first, without running ones.
    pub fn unfinished_evaluations(self) -> Result<Vec<EvaluateUnfinished>, AppError> {
        let open = self.app.require_folder()?;
        let under_way = self.evaluations_under_way(&open);
        let kept = evaluations::unfinished(&open.flow.roots.output_dir, FOLDER).map_err(disk)?;
        // Requests of another version or of another program cannot be resumed.
        let known = kept.iter().filter_map(|text| serde_json::from_slice(text).ok());
        let mut left: Vec<EvaluateUnfinished> =
            known.filter(|one: &EvaluateUnfinished| !under_way.contains(&one.out)).collect();
        left.sort_by_key(|one| Reverse(one.began_ms));
        Ok(left)
    }

    /// Returns the displayed results files of running evaluations in a folder.
    fn evaluations_under_way(self, open: &Arc<OpenFolder>) -> Vec<String> {
        self.app.inner.evaluations.all().iter().filter_map(|work| work.under_way(open)).collect()
    }
}

/// Serializes a request of the page for resuming; `None` for requests of the command line. `again`
/// and `replace` are reset, because the user has to confirm them again on resuming.
pub(super) fn to_keep(
    asked: &ResolvedRequest,
    request: &EvaluateRequest,
) -> Result<Option<Vec<u8>>, AppError> {
    if asked.filter.is_none() {
        return Ok(None);
    }
    let request =
        EvaluateRequest { again: EvaluateAgain::Nothing, replace: false, ..request.clone() };
    let one = EvaluateUnfinished {
        data: asked.found.file.path.clone(),
        out: asked.shown.clone().unwrap_or_default(),
        began_ms: clock::now_ms(),
        request,
    };
    serde_json::to_vec(&one)
        .map(Some)
        .map_err(|why| super::bad(format!("The request cannot be saved: {why}")))
}
