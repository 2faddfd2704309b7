//! Hands arrays to `sbatch`, and tells a refusal from an answer that did not arrive.
use super::{Failure, line, run, whole_environment};
use crate::error::{AppError, Code};
use std::path::Path;
use std::process::Command;

/// A job that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewJob {
    /// Number of the job.
    pub(crate) id: String,
    /// Cluster that took it, if `sbatch` says it.
    pub(crate) cluster: Option<String>,
}

/// Reason that a submission did not succeed.
#[derive(Debug)]
pub(crate) enum NotSubmitted {
    /// Nothing was submitted.
    Refused(AppError),
    /// The job may be in the queue. Holds what was said instead of its number.
    Unknown(String),
}

/// Submits a script from a folder, with arguments that precede what it and the environment say.
pub(crate) fn submit(
    script: &str,
    arguments: &[String],
    cluster: Option<&str>,
    chdir: &Path,
) -> Result<NewJob, NotSubmitted> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(super::on(cluster)).args(arguments);
    // Jobs get the environment of `sbatch`, and need the keys of providers.
    command.current_dir(chdir).env_clear().envs(whole_environment());
    command.env_remove("SBATCH_CLUSTERS").env_remove("SLURM_CLUSTERS");
    let answer = run(command, script.as_bytes()).map_err(not_submitted)?;
    let text = String::from_utf8_lossy(&answer.out);
    job_of(&text).ok_or_else(|| {
        NotSubmitted::Unknown(format!(
            "it does not say the number of the job, but `{}`",
            line(&text)
        ))
    })
}

/// Returns the job that the last line names: `12`, or `12;cluster`.
fn job_of(text: &str) -> Option<NewJob> {
    let last = text.trim_end().lines().last().unwrap_or_default();
    let (id, cluster) = last.split_once(';').unwrap_or((last, ""));
    let (id, cluster) = (id.trim(), cluster.trim());
    let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let cluster = Some(cluster.to_owned()).filter(|cluster| !cluster.is_empty());
    is_number.then(|| NewJob { id: id.to_owned(), cluster })
}

fn not_submitted(failure: Failure) -> NotSubmitted {
    match failure {
        Failure::Absent => NotSubmitted::Refused(
            AppError::new(Code::NotFound, "`sbatch` is not on this machine, so nothing was submitted.")
                .hint("Submit on a machine of the cluster that has it, or print the script with --print slurm and take it there."),
        ),
        Failure::Silent => NotSubmitted::Unknown(failure.words()),
        Failure::Refused(why) if is_broken_off(&why) => NotSubmitted::Unknown(why),
        Failure::Refused(why) => NotSubmitted::Refused(refused(&why)),
    }
}

/// Returns true for errors of a connection after which the controller may have the job.
fn is_broken_off(why: &str) -> bool {
    let why = why.to_lowercase();
    let never_connected = ["unable to contact", "connect failure", "connection refused"];
    let broken = ["timed out", "timeout", "communication", "socket", "zero bytes", "signal: "];
    !never_connected.iter().any(|part| why.contains(part))
        && broken.iter().any(|part| why.contains(part))
}

fn refused(why: &str) -> AppError {
    let has = |text: &str| why.to_lowercase().contains(text);
    let (message, hint) = if has("invalid job array") {
        (
            "Slurm refuses an array of this many parts.".to_owned(),
            "Give fewer --parts; `scontrol show config` says its limit as MaxArraySize.",
        )
    } else if super::is_unreachable(why) {
        (
            format!("The controller of Slurm does not answer, so nothing was submitted: {why}."),
            "Try again later; `sinfo` shows whether it is up.",
        )
    } else if has("partition") || has("account") || has("qos") || has("time limit") {
        (
            format!("Slurm refuses the job: {why}."),
            "Set what it needs in the environment, such as SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_QOS or SBATCH_TIMELIMIT, and submit again.",
        )
    } else {
        (
            format!("Slurm refuses the job: {why}."),
            "Print the script with --print slurm, change it, and submit it with `sbatch`.",
        )
    };
    AppError::new(Code::Failed, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_become_sentences_with_the_next_step() {
        for (why, message, hint) in [
            (
                "Batch job submission failed: Invalid job array specification",
                "Slurm refuses an array of this many parts.",
                "--parts",
            ),
            (
                "Batch job submission failed: Unable to contact slurm controller (connect failure)",
                "does not answer, so nothing was submitted",
                "sinfo",
            ),
            (
                "invalid partition specified: x",
                "invalid partition specified: x",
                "SBATCH_PARTITION",
            ),
            ("whatever", "Slurm refuses the job: whatever.", "--print slurm"),
        ] {
            let NotSubmitted::Refused(error) = not_submitted(Failure::Refused(why.to_owned()))
            else {
                panic!("{why}")
            };
            assert!(error.message.contains(message), "{error}");
            assert!(error.hint.unwrap_or_default().contains(hint), "{why}");
        }
    }

    #[test]
    fn a_connection_that_broke_off_is_no_refusal() {
        for why in [
            "Batch job submission failed: Socket timed out on send/recv operation",
            "Batch job submission failed: Zero Bytes were transmitted or received",
            "signal: 15 (SIGTERM)",
        ] {
            let failure = Failure::Refused(why.to_owned());
            assert!(matches!(not_submitted(failure), NotSubmitted::Unknown(_)), "{why}");
        }
        assert!(matches!(not_submitted(Failure::Silent), NotSubmitted::Unknown(_)));
    }

    #[test]
    fn the_cluster_is_read_with_the_number() {
        let job = |id: &str, cluster: Option<&str>| {
            Some(NewJob { id: id.to_owned(), cluster: cluster.map(str::to_owned) })
        };
        assert_eq!(job_of("note\n12\n"), job("12", None));
        assert_eq!(job_of("12;west\n"), job("12", Some("west")));
        assert_eq!(job_of("12\nYour job is queued."), None);
    }
}
