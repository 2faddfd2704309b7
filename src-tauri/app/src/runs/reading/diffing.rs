//! Diffs the answer of a run with the expected output, or with the answer of another run. Owns
//! which two values are compared and with which options of the suite. Caches the last few
//! comparisons, so that scrolling does not compare again.
use super::diff_view::Compared;
use super::run_cache::OpenedRun;
use super::task::{self, Origin};
use super::{PartId, Reading, RunReadError};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_api::{DiffRequest, DiffView, RunRow};
use touchstone_scoring::diff::Options;
use touchstone_store::folder_index::FolderIndex;

/// Maximum number of cached comparisons.
const MOST: usize = 4;
/// Maximum memory of all cached comparisons. The newest one always stays.
const MAX_WEIGHT: usize = 96 << 20;

/// Cache key: the inputs of a comparison.
#[derive(Clone, PartialEq)]
struct DiffKey {
    /// Id and version of the run on the right.
    right: (String, String),
    /// Id and version of the run on the left; `None` if the expected output is on the left.
    left: Option<(String, String)>,
    /// Source of the expected output and of the options.
    origin: Option<Origin>,
}

/// Cache of comparisons, most recently used first.
#[derive(Default)]
pub(super) struct DiffCache {
    compared: Mutex<Vec<(DiffKey, Arc<Compared>)>>,
}

impl DiffCache {
    fn find(&self, made: &DiffKey) -> Option<Arc<Compared>> {
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        let at = compared.iter().position(|(other, _)| other == made)?;
        compared[..=at].rotate_right(1);
        Some(Arc::clone(&compared[0].1))
    }

    fn put(&self, made: DiffKey, new: &Arc<Compared>) {
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        compared.retain(|(other, _)| *other != made);
        compared.insert(0, (made, Arc::clone(new)));
        let mut weight = 0;
        let fits = compared.iter().take(MOST).take_while(|(_, one)| {
            weight += one.weight;
            weight <= MAX_WEIGHT
        });
        let keep = fits.count().max(1);
        compared.truncate(keep);
    }
}

impl Reading {
    /// Returns a window of the comparison of two answers.
    pub(crate) fn diff(
        &self,
        flow: &FolderIndex,
        request: &DiffRequest,
    ) -> Result<DiffView, RunReadError> {
        let (row, right) = self.open_current(flow, &request.id)?;
        let left = match &request.against {
            Some(id) => Some(self.open_current(flow, id)?.1),
            None => None,
        };
        let named = |run: &OpenedRun| (run.id.clone(), run.version.clone());
        let made = DiffKey {
            right: named(&right),
            left: left.as_deref().map(named),
            origin: task::origin(flow, &row).filter(|_| !request.literal),
        };
        if let Some(compared) = self.compared.find(&made) {
            return Ok(compared.window(request));
        }
        let compared =
            Arc::new(compare(flow, &row, &right, left.as_deref(), made.origin.as_ref())?);
        self.compared.put(made, &compared);
        Ok(compared.window(request))
    }
}

fn compare(
    flow: &FolderIndex,
    row: &RunRow,
    right: &OpenedRun,
    left: Option<&OpenedRun>,
    origin: Option<&Origin>,
) -> Result<Compared, RunReadError> {
    let options = origin.map_or_else(Options::default, Origin::options);
    let mut notes: Vec<String> = right.faults.clone();
    notes.extend(lenient(
        right,
        if left.is_some() { "The answer on the right" } else { "The answer" },
    ));
    let answer = right.run.answer.as_ref().map(|answer| &answer.value);
    if let Some(left) = left {
        notes.extend(lenient(left, "The answer on the left"));
        let other =
            left.run.answer.as_ref().map(|answer| &answer.value).ok_or(RunReadError::NoAnswer)?;
        return Ok(Compared::new(other, answer, &Options { between: true, ..options }, notes));
    }
    let asked = task::for_run(flow, row).ok_or(RunReadError::NoTask)?;
    let Some(expected) = asked.value(PartId::Expected) else {
        return Err(asked
            .notes
            .first()
            .map_or(RunReadError::NoExpected, |why| RunReadError::BadExpected(why.clone())));
    };
    notes.extend(asked.notes.iter().cloned());
    Ok(Compared::new(&expected, answer, &options, notes))
}

fn lenient(run: &OpenedRun, which: &str) -> Option<String> {
    let answer = run.run.answer.as_ref().filter(|answer| answer.lenient)?;
    Some(format!("{which} is not strict JSON ({}); it was read leniently.", answer.source))
}
