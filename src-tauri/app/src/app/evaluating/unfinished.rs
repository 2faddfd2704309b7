//! What was asked for is kept beside the replies until the results are there, so that it can be
//! gone on with after the program ended.
use super::super::{App, OpenFolder};
use super::{Asked, FOLDER, disk};
use crate::error::AppError;
use std::cmp::Reverse;
use std::sync::Arc;
use touchstone_api::{EvaluateAgain, EvaluateRequest, EvaluateUnfinished};
use touchstone_clock as clock;
use touchstone_runner::evaluations;

impl App {
    /// What was begun in the open folder from the page and has no whole results, newest first; not
    /// what is under way.
    pub fn unfinished_evaluations(&self) -> Result<Vec<EvaluateUnfinished>, AppError> {
        let open = self.opened()?;
        let under_way = self.evaluations_under_way(&open);
        let kept = evaluations::unfinished(&open.flow.roots.output_dir, FOLDER).map_err(disk)?;
        // One of another version, or of somebody else's making, is nothing that could be gone on
        // with.
        let known = kept.iter().filter_map(|text| serde_json::from_slice(text).ok());
        let mut left: Vec<EvaluateUnfinished> =
            known.filter(|one: &EvaluateUnfinished| !under_way.contains(&one.out)).collect();
        left.sort_by_key(|one| Reverse(one.began_ms));
        Ok(left)
    }

    /// The files of results, as they are shown, of what goes on in a folder.
    fn evaluations_under_way(&self, open: &Arc<OpenFolder>) -> Vec<String> {
        self.inner.evaluations.all().iter().filter_map(|work| work.under_way(open)).collect()
    }
}

/// What is kept of a request of the page; of the command line nothing is. That something is bought
/// again or replaced is said anew by whoever goes on.
pub(super) fn to_keep(
    asked: &Asked,
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
        .map_err(|why| super::bad(format!("The request cannot be kept: {why}")))
}
