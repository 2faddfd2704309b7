//! Leaves out of failure maps what sensitive runs say: quotations, and causes that only their errors name.
use super::FailureActions;
use super::map::CauseMap;
use super::selection::Selection;
use crate::error::AppError;
use crate::sensitive::scan_care::{LEFT_OUT, is_sensitive_run, leave_out_quote};
use std::collections::HashSet;
use touchstone_api::{FailureCluster, FailureMap};
use touchstone_scoring::failures::{Cause, Mode};

impl FailureActions<'_> {
    /// Replaces what the map quotes of sensitive runs. Returns the ids of these runs.
    pub(super) fn leave_out_quotes(
        self,
        selection: &Selection,
        made: &CauseMap,
        map: &mut FailureMap,
    ) -> Result<HashSet<String>, AppError> {
        let sensitive = self.sensitive_places(selection)?;
        let id = |place: &usize| selection.failed.get(*place).map(|failed| failed.run.id.clone());
        let mut left_out = HashSet::new();
        let mut causes = 0_u32;
        for (cluster, runs) in map.clusters.iter_mut().zip(&made.runs) {
            let of_cluster = || runs.iter().filter(|place| sensitive.contains(*place));
            // A template holds only what all its errors have in common.
            if of_cluster().count() == runs.len() && leave_out_cause(cluster, causes + 1) {
                causes += 1;
                left_out.extend(of_cluster().filter_map(id));
            }
            let ids: HashSet<String> = of_cluster().filter_map(id).collect();
            for example in cluster.examples.iter_mut().filter(|one| ids.contains(&one.id)) {
                let note = example.review.as_mut().map(|review| &mut review.note);
                let quotes = [&mut example.quote].into_iter().chain(note);
                for quote in quotes.filter(|it| !it.is_empty()) {
                    leave_out_quote(quote);
                    left_out.insert(example.id.clone());
                }
            }
        }
        Ok(left_out)
    }

    /// Returns the main causes that may be sent to a model, without anything of a sensitive run: neither
    /// causes of such runs alone, nor these runs as examples of others.
    pub(super) fn causes_to_send(
        self,
        selection: &Selection,
        made: &CauseMap,
    ) -> Result<Vec<FailureCluster>, AppError> {
        let sensitive = self.sensitive_places(selection)?;
        let ids: HashSet<&str> = sensitive
            .iter()
            .filter_map(|place| selection.failed.get(*place))
            .map(|failed| failed.run.id.as_str())
            .collect();
        let is_sent = |(cluster, runs): &(&FailureCluster, &Vec<usize>)| {
            let main = usize::try_from(cluster.runs).unwrap_or(usize::MAX);
            runs.iter().take(main).any(|place| !sensitive.contains(place))
        };
        let without = |(cluster, _): (&FailureCluster, &Vec<usize>)| {
            let mut cluster = cluster.clone();
            cluster.examples.retain(|example| !ids.contains(example.id.as_str()));
            cluster
        };
        Ok(made.map.clusters.iter().zip(&made.runs).filter(is_sent).map(without).collect())
    }

    /// Returns the places of the sensitive ones among the failed runs.
    fn sensitive_places(self, selection: &Selection) -> Result<HashSet<usize>, AppError> {
        let sensitive = self.app.sensitive().sensitive_kinds()?;
        let failed = selection.failed.iter().enumerate().filter(|(_, failed)| {
            is_sensitive_run(&sensitive, failed.run.task.as_deref(), Some(&failed.run.layout))
        });
        Ok(failed.map(|(place, _)| place).collect())
    }
}

/// Replaces the text of an error in the name of a cause, with a number that tells several apart. Returns
/// false if the cause has no text.
fn leave_out_cause(cluster: &mut FailureCluster, number: u32) -> bool {
    let texts = [Mode::SystemError, Mode::ToolFailed];
    let Some(mode) = texts.into_iter().find(|mode| mode.name() == cluster.mode) else {
        return false;
    };
    if cluster.detail.is_empty() {
        return false;
    }
    let name = Cause::new(mode, &cluster.subject, "").title((0, 0));
    cluster.detail = format!("{LEFT_OUT} {number}");
    cluster.title = format!("{name}: {}", cluster.detail);
    cluster.named = None;
    true
}
