//! `submit`: prints what hands a launch to a scheduler. Runs nothing.
use super::{
    CommandError, CommandStatus, Outcome,
    run::{Limits, RunSelection},
    terminal::one_line,
};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use touchstone_app::error::{AppError, Code};

/// Scheduler that starts the parts of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    Slurm,
    Kubernetes,
    Parallel,
}

/// Arguments of `submit`.
#[derive(Debug, Args)]
pub(super) struct Submit {
    #[command(flatten)]
    which: RunSelection,
    #[command(flatten)]
    limits: Limits,
    /// Print what this scheduler takes, and start nothing: a script for `sbatch`, the manifest of an
    /// indexed job for `kubectl create`, or a script for GNU parallel
    #[arg(long, value_name = "SCHEDULER")]
    print: Scheduler,
    /// Split the launch into this many parts
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    parts: u32,
    /// Run this many parts at the same time [default: all]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    at_once: Option<u32>,
    /// Kubernetes: image that has `touchstone`
    #[arg(long)]
    image: Option<String>,
    /// Kubernetes: claim of the volume that holds the folder
    #[arg(long)]
    claim: Option<String>,
    /// Kubernetes: secret whose entries become environment variables, such as keys of providers
    #[arg(long)]
    secret: Option<String>,
}

pub(super) fn run(asked: &Submit) -> Outcome {
    if asked.which.shard().is_some() {
        let error = AppError::new(Code::BadRequest, "--shard is chosen by the scheduler here.");
        return Err(CommandError::Why(error.hint("Give the number of parts with --parts.")));
    }
    let folder = std::path::absolute(asked.which.folder())?;
    let parts = asked.parts;
    let words = asked.which.words(&folder).into_iter().chain(asked.limits.words());
    let words: Vec<String> = words.chain(["--shard".to_owned(), format!("auto/{parts}")]).collect();
    let text = match asked.print {
        Scheduler::Slurm => slurm(&words, parts, asked.at_once, &program()?),
        Scheduler::Parallel => parallel(&words, parts, asked.at_once, &program()?),
        Scheduler::Kubernetes => kubernetes(&words, &folder.to_string_lossy(), asked)?,
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    if asked.limits.max_cost.is_some() {
        let note = "Each part may spend an equal share of --max-cost, and runs its share of --concurrency.";
        let _ = writeln!(io::stderr(), "{}", one_line(note));
    }
    Ok(CommandStatus::Well)
}

fn program() -> Result<String, CommandError> {
    let program: PathBuf = std::env::current_exe()?;
    Ok(program.to_string_lossy().into_owned())
}

/// Script of an array. The signal reaches the program itself, which then pauses its runs.
fn slurm(words: &[String], parts: u32, at_once: Option<u32>, program: &str) -> String {
    let at_once = at_once.map(|count| format!("%{count}")).unwrap_or_default();
    format!(
        "#!/bin/sh\n\
         # Submit with: sbatch FILE. Submit again to run what is left.\n\
         #SBATCH --job-name=touchstone\n\
         #SBATCH --array=0-{}{at_once}\n\
         #SBATCH --output=touchstone-%A_%a.log\n\
         #SBATCH --signal=TERM@60\n\
         #SBATCH --requeue\n\
         exec {}\n",
        parts - 1,
        command_line(program, words),
    )
}

fn parallel(words: &[String], parts: u32, at_once: Option<u32>, program: &str) -> String {
    let jobs = at_once.unwrap_or(parts);
    format!(
        "#!/bin/sh\n\
         # Run with: sh FILE. Run again to run what is left. For other machines, add --sshloginfile.\n\
         seq {parts} | parallel --jobs {jobs} -N0 {}\n",
        quoted(&command_line(program, words)),
    )
}

/// Manifest of an indexed job, for `kubectl create`. The volume is mounted at the path of the folder.
fn kubernetes(words: &[String], folder: &str, asked: &Submit) -> Result<String, CommandError> {
    let (Some(image), Some(claim)) = (&asked.image, &asked.claim) else {
        let error =
            AppError::new(Code::BadRequest, "A job of Kubernetes needs --image and --claim.");
        return Err(CommandError::Why(error.hint(
            "Give an image that has `touchstone`, and the claim of the volume that holds the folder.",
        )));
    };
    let command: Vec<&str> =
        std::iter::once("touchstone").chain(words.iter().map(String::as_str)).collect();
    let secrets: Vec<_> =
        asked.secret.iter().map(|name| json!({ "secretRef": { "name": name } })).collect();
    let container = json!({
        "name": "touchstone",
        "image": image,
        "command": command,
        "envFrom": secrets,
        "volumeMounts": [{ "name": "folder", "mountPath": folder }],
    });
    let volume = json!({ "name": "folder", "persistentVolumeClaim": { "claimName": claim } });
    let job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "generateName": "touchstone-" },
        "spec": {
            "completionMode": "Indexed",
            "completions": asked.parts,
            "parallelism": asked.at_once.unwrap_or(asked.parts),
            "template": { "spec": {
                "restartPolicy": "OnFailure",
                "containers": [container],
                "volumes": [volume],
            } },
        },
    });
    Ok(format!("{job:#}\n"))
}

/// Formats a command for a shell.
fn command_line(program: &str, words: &[String]) -> String {
    let words = std::iter::once(program).chain(words.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell if it needs quotes.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,:=@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        for (word, text) in [
            ("billing/refund", "billing/refund"),
            ("billing/*", "'billing/*'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), text);
        }
    }
}
