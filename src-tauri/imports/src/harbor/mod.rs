//! **Pure.** Trials of Harbor, trajectories in its format (ATIF) that stand alone, and results of
//! Terminal-Bench 1.
mod terminal_bench;
#[cfg(test)]
mod tests;
mod trajectory;
mod trial;

use crate::export::apply_summary;
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::run::ImportedRun;
use crate::sessions::{Session, finish};
use crate::source::{Folder, Input, resolve};
use touchstone_model::error::{ReadError, ReadErrorKind};
use trajectory::{Loader, Trajectory};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Harbor;

/// Reason that a file of a trial is no run.
const PART: &str = "It is part of a trial, whose folder is the run.";

impl Format for Harbor {
    fn name(&self) -> &'static str {
        "harbor"
    }

    fn title(&self) -> &'static str {
        "Harbor"
    }

    fn files(&self) -> &'static str {
        "<trial>/config.json, trajectory.json (ATIF), results.json of Terminal-Bench 1"
    }

    fn documentation(&self) -> &'static str {
        include_str!("harbor.md")
    }

    fn detect(&self, path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let no_run = |reason: &str| Some(Detected::NoRun(reason.to_owned()));
        if is_in_trial(path) {
            return no_run(PART);
        }
        let head = head.filter(|head| !head.is_list)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        match name {
            "config.json" if head.has(&["trial_name"]) => {
                let is_trial = head.has(&["task"]) || head.has(&["trials_dir"]);
                is_trial.then_some(Detected::Run)
            }
            "config.json" if is_job(head) => no_run("It says what a job was asked to do."),
            "result.json" if head.has(&["trial_name", "task_name"]) => no_run(PART),
            "result.json" if head.has(&["n_total_trials"]) => {
                no_run("It sums up a job, whose trials are the runs.")
            }
            "results.json" if head.has(&["task_id", "is_resolved"]) => Some(Detected::Run),
            "results.json"
                if head.has(&["results"]) && head.has_inner("results", "is_resolved") =>
            {
                no_run("It repeats the results of the trials beside it.")
            }
            "run_metadata.json" if head.has(&["run_id", "agent_name"]) => {
                no_run("It holds the settings of the trials beside it.")
            }
            _ => {
                let version = head.value("schema_version")?;
                version.starts_with("ATIF-v").then_some(Detected::Run)
            }
        }
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let text = crate::pieces::text(input.read_all()?)?;
        let mut loader = Loader::new(&input);
        let file = match input.name() {
            "config.json" => trial::read(&input, &text, &mut loader)?,
            "results.json" => terminal_bench::read(&input, &text)?,
            _ => open_trajectory(&input, &text, &mut loader)?,
        };
        Ok(Box::new(file))
    }

    fn owner(&self, path: &str, _folder: &dyn Folder) -> Option<String> {
        if let Some(at) = trial_end(path) {
            let own = format!("{}/config.json", &path[..at]);
            return (own != path).then_some(own);
        }
        let (folder, name) = path.rsplit_once('/')?;
        let folder = match name {
            "result.json" | "trial.log" | "exception.txt" | "lock.json" => folder,
            _ => folder.strip_suffix("/agent").or_else(|| folder.strip_suffix("/verifier"))?,
        };
        // The folder of a step belongs to the folder of the trial.
        let step = folder.rsplit_once('/').and_then(|(steps, _)| steps.strip_suffix("/steps"));
        Some(format!("{}/config.json", step.unwrap_or(folder)))
    }
}

/// Returns true for the settings of a job.
fn is_job(head: &Head) -> bool {
    let given = ["job_name", "jobs_dir", "n_attempts", "n_concurrent_trials", "agents", "datasets"];
    given.iter().filter(|key| head.has(&[key])).count() >= 2
}

/// Returns the end of the path of a trial's folder, which is named `<task>__<7 letters>`.
fn trial_end(path: &str) -> Option<usize> {
    let mut at = 0;
    for part in path.split('/') {
        at += part.len();
        let is_trial = part.rsplit_once("__").is_some_and(|(task, id)| {
            !task.is_empty() && id.len() == 7 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if is_trial && at < path.len() {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns true for files in the folders of a trial, among them the logs of the agent itself.
fn is_in_trial(path: &str) -> bool {
    let inside = trial_end(path).and_then(|at| path.get(at + 1..)).unwrap_or_default();
    let folder = inside.split_once('/').map(|(folder, _)| folder);
    matches!(folder, Some("agent" | "verifier" | "artifacts" | "steps"))
}

/// Opens a trajectory. It is no run if it belongs to a trial, or if another one refers to it.
fn open_trajectory(
    input: &Input<'_>,
    text: &str,
    loader: &mut Loader<'_>,
) -> Result<Session, ReadError> {
    let trajectory = Trajectory::read(text).ok_or_else(|| {
        ReadError::new(ReadErrorKind::NotTranscript, "The file is no trajectory.")
    })?;
    let nothing = || Session { member: None, run: None, error: None };
    if is_of_trial(input) || is_referred_to(input, &trajectory) {
        return Ok(nothing());
    }
    let member = trajectory.session_id();
    let error = (!trajectory.is_complete).then(crate::pieces::cut_off);
    let own = trajectory.own_summary();
    let mut run = finish(trajectory.into_run(loader));
    if let Some(own) = own {
        // What this program wrote is exact; the rest of the trajectory was derived from it.
        run = ImportedRun { events: run.events, ..ImportedRun::default() };
        apply_summary(&own, &mut run);
    }
    Ok(Session { member, run: Some(run), error })
}

/// Returns true for a trajectory in the folder `agent` of a trial or of one of its steps.
fn is_of_trial(input: &Input<'_>) -> bool {
    input.parent().rsplit('/').next() == Some("agent")
        && ["../config.json", "../../../config.json"].iter().any(|path| {
            let bytes = input.read_beside(path).unwrap_or_default();
            Head::read(&bytes).is_some_and(|head| head.has(&["trial_name"]))
        })
}

/// Maximum number of files that are searched for a reference.
const MOST_SEARCHED: usize = 50;

/// Maximum size of a file that is searched for a reference, in bytes.
const MOST_SEARCHED_BYTES: u64 = 32 << 20;

/// Returns true if a trajectory beside refers to this one, as its continuation or as a sub-agent.
/// Only names that suggest it are looked into: `x.cont-1.json`, or `x.<anything>.json` beside
/// `x.json`.
fn is_referred_to(input: &Input<'_>, trajectory: &Trajectory) -> bool {
    let own = input.name();
    let start = own.find(".cont-").map(|at| &own[..at]);
    let may_continue = trajectory.has_copied_context() || start.is_some();
    let names = input.folder.list(input.parent());
    let may_refer = |name: &&String| {
        let Some(stem) = name.strip_suffix(".json") else { return false };
        let is_parent = own.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
        let is_chain = may_continue && start.is_none_or(|start| name.starts_with(start));
        name.as_str() != own && (is_parent || is_chain)
    };
    names.iter().filter(may_refer).take(MOST_SEARCHED).any(|name| {
        let path = resolve(input.parent(), name);
        let source = path.and_then(|path| input.folder.open(&path));
        let source = source.filter(|source| source.size() <= MOST_SEARCHED_BYTES);
        let bytes = source.and_then(|source| crate::source::read_all(&*source).ok());
        let text = bytes.and_then(|bytes| crate::pieces::text(bytes).ok());
        let other = text.as_deref().and_then(Trajectory::read);
        other.is_some_and(|other| other.refers_to(own))
    })
}
