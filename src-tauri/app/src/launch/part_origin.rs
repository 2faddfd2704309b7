//! Which split launch a part belongs to, and which job of a scheduler runs it.
use std::path::Path;
use touchstone_api::LaunchRequest;
use touchstone_clock as clock;
use touchstone_runner::disk::DiskError;
use touchstone_runner::lock::host;
use touchstone_runner::part::PartJob;
use touchstone_runner::part_logs::PartLogs;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum letters of the name of a machine in an id.
const LONGEST_HOST: usize = 20;

/// Where a part of a split launch comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartOrigin {
    /// Id of the launch, which all its parts share.
    pub launch: String,
    /// Job of the scheduler that runs the part.
    pub job: Option<PartJob>,
    /// True if the scheduler started the same task before.
    pub restarted: bool,
}

impl PartOrigin {
    /// Returns the origin of a part. Without the id of a launch, the parts of one job belong
    /// together, and without a job, those of the same request. `variable` returns an environment
    /// variable.
    pub fn find(
        launch: Option<&str>,
        request: &LaunchRequest,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let number = |name: &str| variable(name)?.parse::<u32>().ok();
        let job = number("SLURM_ARRAY_JOB_ID").zip(number("SLURM_ARRAY_TASK_ID"));
        let job = job.map(|(id, task)| {
            let (scheduler, id) = ("slurm".to_owned(), id.to_string());
            PartJob { scheduler, id, task }
        });
        let launch = match (launch, &job) {
            (Some(launch), _) => launch.to_owned(),
            (None, Some(job)) => format!("slurm-{}", job.id),
            (None, None) => format!("request-{:016x}", fingerprint(request)),
        };
        let restarted = number("SLURM_RESTART_COUNT").is_some_and(|count| count > 0);
        Self { launch, job, restarted }
    }

    /// Returns the dollars that earlier starts of this task spent of its share. Fails if the logs that
    /// say so cannot be read.
    pub(super) fn spent_before(&self, output_dir: &Path) -> Result<f64, DiskError> {
        // Only then are the logs of all parts read.
        let Some(job) = self.job.as_ref().filter(|_| self.restarted) else { return Ok(0.0) };
        let logs = PartLogs::default().read(output_dir)?.into_iter();
        let mine = logs
            .filter(|log| log.header.launch == self.launch && log.header.job.as_ref() == Some(job));
        Ok(mine.map(|log| log.sum.cost).fold(0.0, |sum, cost| sum + cost))
    }
}

/// Returns a number that follows from which runs are made and in how many parts.
fn fingerprint(request: &LaunchRequest) -> u64 {
    let shard = request.shard.map(|shard| touchstone_api::Shard { index: 0, ..shard });
    let request = LaunchRequest { shard, concurrency: None, max_cost: None, ..request.clone() };
    xxh3_64(&serde_json::to_vec(&request).unwrap_or_default())
}

/// Returns the id of a new split launch. Ids sort by time.
pub fn new_launch_id() -> String {
    let host: String = host().chars().filter(char::is_ascii_alphanumeric).collect();
    let host: String = host.chars().take(LONGEST_HOST).collect();
    format!("{}-{host}-{}", clock::now_ms(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_api::Shard;

    fn id(request: &LaunchRequest, environment: &[(&str, &str)]) -> String {
        let variable = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        PartOrigin::find(None, request, variable).launch
    }

    #[test]
    fn parts_of_one_launch_have_one_id() {
        let part = |index, count| LaunchRequest {
            shard: Some(Shard { index, count }),
            models: vec!["a".to_owned()],
            ..LaunchRequest::default()
        };
        assert_eq!(id(&part(1, 3), &[]), id(&part(2, 3), &[]));
        assert_ne!(id(&part(1, 3), &[]), id(&part(1, 4), &[]));
        let job = [("SLURM_ARRAY_JOB_ID", "12"), ("SLURM_ARRAY_TASK_ID", "3")];
        assert_eq!(id(&part(1, 3), &job), "slurm-12");
        let named = PartOrigin::find(Some("x"), &part(1, 3), |_| None);
        assert_eq!((named.launch.as_str(), named.job), ("x", None));
        assert!(touchstone_runner::submissions::is_launch_id(&new_launch_id()));
    }
}
