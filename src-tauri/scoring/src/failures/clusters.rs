//! **Pure.** Groups failed runs by their causes.
use super::detect::Finding;
use super::modes::{Cause, Mode};
use super::templates::merge;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_metrics::stats::{Interval, Level, wilson_clustered};

/// Maximum number of examples of a cluster.
pub const MOST_EXAMPLES: usize = 20;

/// A run among those that clusters are made of.
#[derive(Debug, Clone, Copy)]
pub struct ClusteredRun<'a> {
    /// System and model: the index of the group that the run belongs to.
    pub group: usize,
    /// Task.
    pub task: &'a str,
    /// Its findings; empty for a run that did not fail.
    pub findings: &'a [Finding],
}

/// Runs that failed for the same cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The cause, with the template of the error as its detail.
    pub cause: Cause,
    /// Sentence that names it.
    pub title: String,
    /// Runs whose main cause it is, by index, in order.
    pub runs: Vec<usize>,
    /// Runs in which it occurs beside another main cause, by index, in order.
    pub also: Vec<usize>,
    /// Share of each group, in the order of the groups; only groups in which it is a main cause.
    pub shares: Vec<Share>,
}

/// Share of a group's runs that failed for a cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Index of the group.
    pub group: usize,
    /// Runs of the group that failed for this cause.
    pub runs: u64,
    /// Runs of the group that failed.
    pub failed: u64,
    /// All runs of the group.
    pub all: u64,
    /// Interval of the share of all runs; runs of one task are not independent.
    pub interval: Option<Interval>,
}

/// Groups runs by cause, the most frequent main cause first. Every failed run is in the `runs` of
/// exactly one cluster. Causes that are nowhere the main one come last.
pub fn clusters(runs: &[ClusteredRun<'_>]) -> Vec<Cluster> {
    let causes = Causes::new(runs);
    let mut found: BTreeMap<Cause, Members> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for (place, finding) in run.findings.iter().enumerate() {
            let cause = causes.cause_for(finding);
            if !seen.insert(cause.clone()) {
                continue;
            }
            let members = found.entry(cause).or_default();
            if place == 0 {
                members.main.push(at);
            } else {
                members.also.push(at);
            }
            let (least, most) = members.times.unwrap_or((finding.times, finding.times));
            members.times = Some((least.min(finding.times), most.max(finding.times)));
        }
    }
    let groups = Groups::new(runs);
    let mut clusters: Vec<Cluster> = found
        .into_iter()
        .map(|(cause, members)| Cluster {
            title: cause.title(members.times.unwrap_or_default()),
            shares: groups.shares(runs, &members.main),
            cause,
            runs: members.main,
            also: members.also,
        })
        .collect();
    clusters.sort_by(|one, other| {
        let order = |cluster: &Cluster| {
            (std::cmp::Reverse(cluster.runs.len()), std::cmp::Reverse(cluster.also.len()))
        };
        order(one).cmp(&order(other)).then_with(|| one.cause.cmp(&other.cause))
    });
    keep_apart(&mut clusters);
    clusters
}

/// Gives causes whose shortened titles are equal the whole text of their errors.
fn keep_apart(clusters: &mut [Cluster]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for cluster in &*clusters {
        *seen.entry(cluster.title.clone()).or_default() += 1;
    }
    for cluster in clusters {
        let is_shared = seen.get(&cluster.title).is_some_and(|times| *times > 1);
        if let Some(whole) = cluster.cause.whole_title().filter(|_| is_shared) {
            cluster.title = whole;
        }
    }
}

/// Runs with a cause.
#[derive(Default)]
struct Members {
    main: Vec<usize>,
    also: Vec<usize>,
    /// Least and greatest number of equal calls.
    times: Option<(u32, u32)>,
}

/// Causes with the templates of their errors merged. Errors are only merged within one mode and
/// tool.
struct Causes<'a> {
    merged: BTreeMap<(Mode, &'a str), BTreeMap<&'a [String], String>>,
}

impl<'a> Causes<'a> {
    fn new(runs: &[ClusteredRun<'a>]) -> Self {
        let mut all: BTreeMap<(Mode, &str), BTreeSet<&[String]>> = BTreeMap::new();
        for finding in runs.iter().flat_map(|run| run.findings) {
            if !finding.template.is_empty() {
                let key = (finding.cause.mode, finding.cause.subject.as_str());
                all.entry(key).or_default().insert(&finding.template);
            }
        }
        Self { merged: all.into_iter().map(|(key, all)| (key, merge(all))).collect() }
    }

    fn cause_for(&self, finding: &Finding) -> Cause {
        let cause = &finding.cause;
        let merged = self.merged.get(&(cause.mode, cause.subject.as_str()));
        let detail = merged.and_then(|merged| merged.get(&*finding.template));
        match detail {
            Some(detail) => Cause::new(cause.mode, &cause.subject, detail),
            None => cause.as_ref().clone(),
        }
    }
}

/// Counts of all runs, by group and task.
pub(super) struct Groups<'a> {
    tasks: BTreeMap<usize, BTreeMap<&'a str, u64>>,
    failed: BTreeMap<usize, u64>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(runs: &[ClusteredRun<'a>]) -> Self {
        let mut groups = Self { tasks: BTreeMap::new(), failed: BTreeMap::new() };
        for run in runs {
            *groups.tasks.entry(run.group).or_default().entry(run.task).or_default() += 1;
            *groups.failed.entry(run.group).or_default() += u64::from(!run.findings.is_empty());
        }
        groups
    }

    /// Returns the share of each group in some of the runs.
    pub(super) fn shares(&self, runs: &[ClusteredRun<'_>], of_cause: &[usize]) -> Vec<Share> {
        let mut counts: BTreeMap<usize, BTreeMap<&str, u64>> = BTreeMap::new();
        for run in of_cause.iter().filter_map(|at| runs.get(*at)) {
            *counts.entry(run.group).or_default().entry(run.task).or_default() += 1;
        }
        let share = |(group, counts): (usize, BTreeMap<&str, u64>)| {
            let tasks = self.tasks.get(&group)?;
            let by_task: Vec<(u64, u64)> = tasks
                .iter()
                .map(|(task, all)| (counts.get(task).copied().unwrap_or(0), *all))
                .collect();
            Some(Share {
                group,
                runs: counts.values().sum(),
                failed: self.failed.get(&group).copied().unwrap_or(0),
                all: tasks.values().sum(),
                interval: wilson_clustered(&by_task, Level::default()),
            })
        };
        counts.into_iter().filter_map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::templates::template;

    fn finding(mode: Mode, subject: &str, message: &str) -> Finding {
        Finding {
            cause: Cause::new(mode, subject, "").into(),
            template: template(message).into(),
            step: None,
            quote: message.to_owned(),
            times: 0,
        }
    }

    fn run(group: usize, findings: &[Finding]) -> ClusteredRun<'_> {
        ClusteredRun { group, task: "t", findings }
    }

    #[test]
    fn a_run_is_in_the_cluster_of_its_main_cause_and_beside_others() {
        let orders = [finding(Mode::ToolFailed, "get_order", "order 17 not found")];
        let both = [
            finding(Mode::ToolFailed, "get_order", "order 4 not found"),
            finding(Mode::NeverCalled, "refund", ""),
        ];
        let refund = [finding(Mode::NeverCalled, "refund", "")];
        let runs = [run(0, &orders), run(1, &both), run(1, &refund), run(0, &[]), run(0, &[])];
        let found = clusters(&runs);
        let told: Vec<(&str, &[usize], &[usize])> =
            found.iter().map(|it| (it.title.as_str(), &it.runs[..], &it.also[..])).collect();
        assert_eq!(
            told,
            [
                ("`get_order` failed: order <n> not found", &[0, 1][..], &[][..]),
                ("Never called `refund`", &[2], &[1]),
            ]
        );
        let share = found[0].shares[0];
        assert_eq!((share.group, share.runs, share.failed, share.all), (0, 1, 1, 3));
        let interval = share.interval.unwrap();
        assert!(interval.low < 1.0 / 3.0 && interval.high > 1.0 / 3.0);
    }

    #[test]
    fn errors_of_one_tool_are_merged_and_those_of_two_tools_are_not() {
        let one = [finding(Mode::ToolFailed, "sql", "no such column: prio")];
        let other = [finding(Mode::ToolFailed, "sql", "no such column: state")];
        let third = [finding(Mode::ToolFailed, "csv", "no such column: state")];
        let runs = [run(0, &one), run(0, &other), run(0, &third)];
        let titles: Vec<String> = clusters(&runs).into_iter().map(|it| it.title).collect();
        assert_eq!(
            titles,
            ["`sql` failed: no such column: <value>", "`csv` failed: no such column: state"]
        );
    }

    #[test]
    fn titles_have_the_gist_of_an_error_unless_it_is_the_same_for_two() {
        let limit = "The provider answered 429 rate_limit_exceeded: limit of 200 tokens per minute \
                     reached. Tried 3 times over 21 seconds, then stopped.";
        let busy = "Overloaded right now, please wait. The queue is full";
        let down = "Overloaded right now, please wait. A machine is down";
        let errors = [limit, busy, down].map(|text| [finding(Mode::SystemError, "", text)]);
        let runs: Vec<_> = errors.iter().map(|findings| run(0, findings)).collect();
        let mut titles: Vec<String> = clusters(&runs).into_iter().map(|it| it.title).collect();
        titles.sort();
        assert_eq!(
            titles,
            [
                "System error: Overloaded right now, please wait. A machine is down",
                "System error: Overloaded right now, please wait. The queue is full",
                "System error: The provider answered 429 rate_limit_exceeded: limit of <n> \
                 tokens per…",
            ]
        );
    }

    #[test]
    fn without_failures_there_are_no_clusters() {
        assert!(clusters(&[]).is_empty() && clusters(&[run(0, &[])]).is_empty());
    }
}
