//! Commands of Slurm: submits arrays, lists their tasks and cancels them. Its answers become
//! sentences with the next step.
use crate::error::{AppError, Code};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use touchstone_runner::http::keys::whole_environment;

mod queue;
mod submitting;

pub(crate) use queue::{Activity, Task, Tasks};
pub(crate) use submitting::{NotSubmitted, submit};

/// Time that a command may take. A busy controller answers after many seconds.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(10);
/// Maximum bytes of an answer.
const MOST: u64 = 64 << 20;

/// Answer of a command that succeeded.
struct Answer {
    out: Vec<u8>,
    is_cut: bool,
}

/// Reason that a command failed.
enum Failure {
    /// The program is not on this machine.
    Absent,
    /// It failed with this last line of its errors.
    Refused(String),
    /// It was ended because it took too long.
    Silent,
}

impl Failure {
    /// Says why, without a dot.
    fn words(self) -> String {
        match self {
            Self::Absent => "it is not on this machine".to_owned(),
            Self::Refused(why) => why,
            Self::Silent => format!("it does not answer within {} s", PATIENCE.as_secs()),
        }
    }
}

/// Jobs that are asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JobQuery {
    /// Cluster; the one of this machine if none is given.
    pub(crate) cluster: Option<String>,
    /// Name of the jobs.
    pub(crate) name: String,
}

/// Returns true if a command of Slurm is on this machine.
pub(crate) fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn is_unreachable(why: &str) -> bool {
    let why = why.to_lowercase();
    ["unable to contact", "connection refused", "timed out", "does not answer", "communication"]
        .iter()
        .any(|part| why.contains(part))
}

/// Returns the cluster that `sbatch` is told to submit to by the environment.
pub(crate) fn chosen_cluster() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    variable("SBATCH_CLUSTERS").or_else(|| variable("SLURM_CLUSTERS"))
}

/// Returns the name of the cluster of this machine, if Slurm says it.
pub(crate) fn home() -> Option<String> {
    let mut command = without_keys("scontrol");
    command.args(["show", "config"]);
    let answer = run(command, b"").ok()?;
    let text = String::from_utf8_lossy(&answer.out);
    let name = text.lines().find_map(|line| line.trim().strip_prefix("ClusterName"))?;
    let name = name.trim().strip_prefix('=')?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the tasks of these jobs. Fails with a sentence.
pub(crate) fn tasks(wanted: &BTreeSet<JobQuery>) -> Result<Tasks, String> {
    let mut clusters: BTreeMap<Option<&str>, BTreeSet<String>> = BTreeMap::new();
    for one in wanted {
        clusters.entry(one.cluster.as_deref()).or_default().insert(one.name.clone());
    }
    let mut all = Tasks::default();
    for (cluster, names) in clusters {
        all.extend(tasks_of(cluster, &names)?);
    }
    Ok(all)
}

fn tasks_of(cluster: Option<&str>, names: &BTreeSet<String>) -> Result<Tasks, String> {
    let mut json = without_keys("squeue");
    json.args(on(cluster)).args(["--json", "--states=all"]);
    // Older versions list all jobs, whatever is asked for, and some do not know JSON.
    let names_text = names.iter().map(String::as_str).collect::<Vec<_>>().join(",");
    json.arg(format!("--name={names_text}"));
    match run(json, b"") {
        Ok(answer) if !answer.is_cut => {
            if let Some(tasks) = Tasks::from_json(&answer.out, names) {
                return Ok(tasks);
            }
        }
        Err(Failure::Absent) => return Err(NO_SQUEUE.to_owned()),
        Err(Failure::Silent) => return Err(unanswered(&Failure::Silent.words())),
        Err(Failure::Refused(why)) if is_unreachable(&why) => return Err(unanswered(&why)),
        Ok(_) | Err(Failure::Refused(_)) => {}
    }
    let mut plain = without_keys("squeue");
    plain.args(on(cluster));
    plain.args(["--noheader", "--array", "--states=all", "--format=%F|%K|%T|%r|%N|%j"]);
    plain.arg(format!("--name={names_text}"));
    match run(plain, b"") {
        Ok(answer) if answer.is_cut => Err(
            "`squeue` lists more tasks than can be read, so states of the scheduler are not shown."
                .to_owned(),
        ),
        Ok(answer) => Ok(Tasks::from_plain(&String::from_utf8_lossy(&answer.out), names)),
        Err(Failure::Absent) => Err(NO_SQUEUE.to_owned()),
        Err(failure) => Err(unanswered(&failure.words())),
    }
}

/// Returns the argument that chooses a cluster.
fn on(cluster: Option<&str>) -> Option<String> {
    cluster.map(|cluster| format!("--clusters={cluster}"))
}

const NO_SQUEUE: &str = "`squeue` is not on this machine, so states of the scheduler are not shown; the files tell the rest.";

fn unanswered(why: &str) -> String {
    format!(
        "`squeue` failed, so states of the scheduler are not shown: {why}. `sinfo` shows whether Slurm is up."
    )
}

/// Cancels jobs. Parts that wait never begin; those that run get one signal to finish what is in
/// flight, or with `now` are ended.
pub(crate) fn cancel(cluster: Option<&str>, jobs: &[String], now: bool) -> Result<(), AppError> {
    let steps: &[&[&str]] = if now {
        &[&[]]
    } else {
        &[&["--state=PENDING"], &["--state=RUNNING", "--signal=TERM", "--batch"]]
    };
    for step in steps {
        let mut command = without_keys("scancel");
        command.args(on(cluster)).args(*step).args(jobs);
        match run(command, b"") {
            Ok(_) => {}
            Err(Failure::Absent) => {
                let message = "`scancel` is not on this machine, so nothing was stopped.";
                let hint = how_to_cancel(cluster, jobs);
                return Err(AppError::new(Code::NotFound, message).hint(hint));
            }
            // A job that is over is not there any more, or has nothing to signal.
            Err(Failure::Refused(why)) if is_over(&why) => {}
            Err(failure) => {
                let message = format!("`scancel` failed: {}.", failure.words());
                let hint = how_to_cancel(cluster, jobs);
                return Err(AppError::new(Code::Failed, message).hint(hint));
            }
        }
    }
    Ok(())
}

fn is_over(why: &str) -> bool {
    let why = why.to_lowercase();
    why.contains("invalid job id") || why.contains("already completing or completed")
}

/// Returns what to type to stop jobs.
pub(crate) fn how_to_cancel(cluster: Option<&str>, jobs: &[String]) -> String {
    let words: Vec<String> = on(cluster).into_iter().chain(jobs.iter().cloned()).collect();
    format!("Type `scancel {}` on a machine of the cluster.", words.join(" "))
}

/// Creates a command that gets only the variables that Slurm and the system need.
fn without_keys(program: &str) -> Command {
    const NAMES: [&str; 7] =
        ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LD_LIBRARY_PATH", "KRB5CCNAME"];
    let is_needed = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        // The cluster is an argument.
        let is_slurm = name.starts_with("SLURM_") && name != "SLURM_CLUSTERS";
        NAMES.contains(&name.as_ref()) || is_slurm || name.starts_with("MUNGE_")
    };
    let mut command = Command::new(program);
    let all = whole_environment().into_iter();
    command.env_clear().envs(all.filter(|(name, _)| is_needed(name)));
    command
}

/// Runs a command with this input. Kills it if it takes too long.
fn run(mut command: Command, input: &[u8]) -> Result<Answer, Failure> {
    // All numbers of an array, not only the first.
    command.env("SLURM_BITSTR_LEN", "0").env("LC_ALL", "C");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::Absent,
        _ => Failure::Refused(error.to_string()),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // On a thread, as a command may not read. One that ends without reading says why itself.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let out = read_all(child.stdout.take());
    let err = read_all(child.stderr.take());
    let status = wait(&mut child);
    let read = |thread: std::thread::JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
    let Some(status) = status else {
        return Err(Failure::Silent);
    };
    let (out, err) = (read(out), read(err));
    if status.success() {
        let is_cut = out.len() as u64 > MOST;
        return Ok(Answer { out, is_cut });
    }
    let err = String::from_utf8_lossy(&err);
    let why = line(&err);
    Err(Failure::Refused(if why.is_empty() { status.to_string() } else { why }))
}

/// Reads on a thread, so that neither pipe fills up.
fn read_all(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(MOST + 1).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        bytes
    })
}

fn wait(child: &mut Child) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Returns the last line of an answer without the names of program and function, and without the
/// final dot.
fn line(text: &str) -> String {
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let last = last.split_once("error: ").map_or(last, |(_, why)| why);
    let shown = last.chars().filter(|letter| !letter.is_control()).take(300).collect::<String>();
    shown.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_an_error_is_shown_without_names() {
        let text = "sbatch: something\nsbatch: error: Batch job submission failed: Nope.\n\n";
        assert_eq!(line(text), "Batch job submission failed: Nope");
    }
}
