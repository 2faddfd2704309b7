//! Converts clusters to the types of the API.
use super::cache::{Analysis, KnownFailures};
use super::selection::{FailedRun, Selection};
use std::sync::Arc;
use touchstone_api::{
    FailureCluster, FailureExample, FailureGroup, FailureKind, FailureMap, FailureReview,
    FailureShare, FailureStep, FailuresState, RunCause, Verdict,
};
use touchstone_scoring::failures::{
    Cluster, ClusteredRun, Finding, KindOfCauses, MOST_EXAMPLES, Share, clusters, kinds,
};

/// Maximum number of clusters that are sent.
const MOST_CLUSTERS: usize = 300;

/// Indexes of the failed runs among the counted ones, by the place of the counted run.
fn failed_places(selection: &Selection) -> Vec<Option<usize>> {
    let mut failed_at: Vec<Option<usize>> = vec![None; selection.counted.len()];
    for (place, failed) in selection.failed.iter().enumerate() {
        failed_at[failed.at] = Some(place);
    }
    failed_at
}

/// Returns the counted runs with the findings of those that are known.
fn runs<'a>(
    selection: &'a Selection,
    read: &'a [Option<Arc<Analysis>>],
    failed_at: &[Option<usize>],
) -> Vec<ClusteredRun<'a>> {
    let findings = |place: &Option<usize>| {
        let analysis = place.and_then(|place| read.get(place)?.as_ref());
        analysis.map_or(&[][..], |analysis| analysis.findings.as_slice())
    };
    selection
        .counted
        .iter()
        .zip(failed_at)
        .map(|((group, task), place)| ClusteredRun {
            group: *group,
            task: selection.tasks.get(*task).map_or("", String::as_str),
            findings: findings(place),
        })
        .collect()
}

/// Returns the main cause of a failed run, by its index among the failed ones. `None` if it was not
/// read or has no cause.
pub(super) fn cause(
    selection: &Selection,
    known: &KnownFailures,
    place: usize,
) -> Option<RunCause> {
    let read = known.all(selection);
    let (failed, analysis) = (selection.failed.get(place)?, read.get(place)?.as_ref()?);
    let all = clusters(&runs(selection, &read, &failed_places(selection)));
    let cluster = all.iter().find(|cluster| cluster.runs.contains(&failed.at))?;
    let finding = quoted_finding(analysis, cluster);
    Some(RunCause {
        mode: cluster.cause.mode.name(),
        subject: cluster.cause.subject.clone(),
        detail: cluster.cause.detail.clone(),
        title: cluster.title.clone(),
        step: finding.and_then(|finding| finding.step),
        quote: finding.map(|finding| finding.quote.clone()).unwrap_or_default(),
        decisive: decisive(selection, failed, analysis),
    })
}

/// A failure map with the runs of its clusters.
pub(super) struct CauseMap {
    pub(super) map: FailureMap,
    /// Runs of each cluster by their place among the failed ones, those whose main cause it is first.
    pub(super) runs: Vec<Vec<usize>>,
}

/// Returns the failure map of the runs that are known.
pub(super) fn map(selection: &Selection, known: &KnownFailures, state: FailuresState) -> CauseMap {
    let read = known.all(selection);
    let failed_at = failed_places(selection);
    let runs = runs(selection, &read, &failed_at);
    let clustered = clusters(&runs);
    let groups = groups(selection, &read);
    let example = |cluster: &Cluster, (at, is_main): (usize, bool)| {
        let place = failed_at.get(at).copied().flatten()?;
        let analysis = read.get(place)?.as_ref()?;
        Some(example(selection, selection.failed.get(place)?, analysis, cluster, is_main))
    };
    let quotes = |cluster: &Cluster, at: usize| {
        let analysis = failed_at.get(at).copied().flatten().and_then(|at| read.get(at)?.as_ref());
        analysis
            .and_then(|analysis| quoted_finding(analysis, cluster))
            .is_some_and(|it| !it.quote.is_empty())
    };
    // Those that have a quotation come first.
    let examples = |cluster: &Cluster| {
        let main = cluster.runs.iter().map(|at| (*at, true));
        let also = cluster.also.iter().map(|at| (*at, false));
        let mut shown: Vec<(usize, bool)> = main.chain(also).collect();
        shown.sort_by_key(|(at, is_main)| (!is_main, !quotes(cluster, *at)));
        shown.truncate(MOST_EXAMPLES);
        shown.into_iter().filter_map(|run| example(cluster, run)).collect()
    };
    let known = || read.iter().flatten();
    let places = |cluster: &Cluster| {
        let all = cluster.runs.iter().chain(&cluster.also);
        all.filter_map(|at| failed_at.get(*at).copied().flatten()).collect()
    };
    let runs_of = clustered.iter().take(MOST_CLUSTERS).map(places).collect();
    let map = FailureMap {
        generation: selection.generation,
        state,
        read: known().count() as u64,
        failed: selection.failed.len() as u64,
        errors: selection.errors,
        runs: selection.counted.len() as u64,
        undecided: selection.undecided,
        unreadable: known().filter(|one| one.findings.is_empty()).count() as u64,
        left_out_runs: selection.left_out,
        passed_but_reviewed_wrong: selection.passed_but_reviewed_wrong,
        scorers: selection.scorers.clone(),
        kinds: kinds(&runs, &clustered).iter().map(|it| kind(it, &groups)).collect(),
        clusters_left_out: clustered.len().saturating_sub(MOST_CLUSTERS) as u64,
        clusters: clustered
            .iter()
            .take(MOST_CLUSTERS)
            .map(|cluster| FailureCluster {
                kind: cluster.cause.mode.kind().name(),
                mode: cluster.cause.mode.name(),
                subject: cluster.cause.subject.clone(),
                detail: cluster.cause.detail.clone(),
                title: cluster.title.clone(),
                is_error: cluster.cause.mode.is_error(),
                runs: cluster.runs.len() as u64,
                also: cluster.also.len() as u64,
                shares: cluster.shares.iter().map(|it| share(it, &groups)).collect(),
                examples: examples(cluster),
                named: None,
            })
            .collect(),
        groups,
        naming: None,
        misread: selection.misread.clone(),
    };
    CauseMap { map, runs: runs_of }
}

/// Returns the systems with the number of failed runs that were read.
fn groups(selection: &Selection, read: &[Option<Arc<Analysis>>]) -> Vec<FailureGroup> {
    let mut groups = selection.groups.clone();
    for (failed, _) in selection.failed.iter().zip(read).filter(|(_, read)| read.is_some()) {
        let group = selection.counted.get(failed.at).map(|(group, _)| *group);
        if let Some(group) = group.and_then(|at| groups.get_mut(at)) {
            group.read += 1;
        }
    }
    groups
}

fn kind(found: &KindOfCauses, groups: &[FailureGroup]) -> FailureKind {
    FailureKind {
        kind: found.kind.name(),
        title: found.kind.title(),
        is_error: found.kind.is_error(),
        causes: found.causes,
        runs: found.runs,
        also: found.also,
        shares: found.shares.iter().map(|it| share(it, groups)).collect(),
    }
}

/// Returns a share. It has no interval while failed runs of the system are not read.
fn share(share: &Share, groups: &[FailureGroup]) -> FailureShare {
    let is_whole = groups.get(share.group).is_none_or(|group| group.read == group.failed);
    let interval = share.interval.filter(|_| is_whole);
    FailureShare {
        group: share.group,
        runs: share.runs,
        failed: share.failed,
        all: share.all,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    }
}

/// Returns the finding of a run that belongs to a cluster.
fn quoted_finding<'a>(analysis: &'a Analysis, cluster: &Cluster) -> Option<&'a Finding> {
    analysis.findings.iter().find(|finding| {
        finding.cause.mode == cluster.cause.mode
            && finding.cause.subject == cluster.cause.subject
            && (!finding.template.is_empty() || finding.cause.detail == cluster.cause.detail)
    })
}

/// Returns the step at which a run leaves the passing runs of its task for good.
fn decisive(selection: &Selection, failed: &FailedRun, analysis: &Analysis) -> Option<FailureStep> {
    let step = analysis.decisive?;
    let baseline = selection.baselines.get(failed.baseline)?.get(step.baseline)?;
    Some(FailureStep {
        step: step.step,
        baseline: baseline.id.clone(),
        baseline_path: baseline.path.clone(),
        baseline_name: baseline.label(),
        baseline_of: baseline.kinship(&failed.run),
        instead: step.instead,
    })
}

fn example(
    selection: &Selection,
    failed: &FailedRun,
    analysis: &Arc<Analysis>,
    cluster: &Cluster,
    is_main: bool,
) -> FailureExample {
    let run = &failed.run;
    let finding = quoted_finding(analysis, cluster);
    let review = run.verdict.map(|verdict| FailureReview {
        verdict,
        note: run.review_note.clone().unwrap_or_default(),
        disagrees: verdict == Verdict::Right,
    });
    let decisive = decisive(selection, failed, analysis);
    FailureExample {
        id: run.id.clone(),
        path: run.path.clone(),
        group: selection.counted.get(failed.at).map_or(0, |(group, _)| *group),
        task: run.task.clone(),
        variation: run.variation_name.clone().or_else(|| {
            run.variation.filter(|number| *number > 0).map(|number| number.to_string())
        }),
        is_main,
        step: finding.and_then(|finding| finding.step),
        quote: finding.map(|finding| finding.quote.clone()).unwrap_or_default(),
        review,
        decisive,
    }
}
