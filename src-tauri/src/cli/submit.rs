//! `submit`: prints what hands a launch to a scheduler. Runs nothing.
use super::{
    CommandError, CommandStatus, Outcome,
    run::{Limits, RunSelection, path_text},
};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{self, Write};
use touchstone_app::error::{AppError, Code};
use touchstone_app::number_format::fixed;

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
    /// Kubernetes: claim of the volume that is the folder
    #[arg(long)]
    claim: Option<String>,
    /// Kubernetes: secret whose entries become environment variables, such as keys of providers
    #[arg(long)]
    secret: Option<String>,
    /// Confirm that the systems of these runs may be attacked, for suites of attacks
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(asked: &Submit) -> Outcome {
    let folder = path_text(&asked.which.folder())?;
    let mut words = asked.which.words(folder.as_ref())?;
    let (parts, at_once) = (asked.parts, asked.at_once.unwrap_or(asked.parts).min(asked.parts));
    // A part divides by the number of parts, of which not all run at the same time.
    let concurrency = asked.limits.concurrency.map(|count| count.saturating_mul(parts) / at_once);
    words.extend(concurrency.map(|count| format!("--concurrency={count}")));
    words.extend(asked.limits.max_cost.map(|cost| format!("--max-cost={cost}")));
    words.extend(asked.yes.then(|| "--yes".to_owned()));
    let text = match asked.print {
        Scheduler::Slurm => slurm(&words, (parts, asked.at_once), &program()?),
        Scheduler::Parallel => parallel(&words, (parts, at_once), &program()?),
        Scheduler::Kubernetes => kubernetes(&words, &folder, asked)?,
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    if let Some(most) = asked.limits.max_cost {
        let share = fixed(most / f64::from(parts), 4);
        let note = format!("Each part may spend ${share}, each time it is started.");
        // The reader of standard error may be gone.
        let _ = writeln!(io::stderr(), "{note}");
    }
    Ok(CommandStatus::Well)
}

fn program() -> Result<String, CommandError> {
    Ok(path_text(&std::env::current_exe()?)?)
}

/// Seconds before its time limit at which a job is told to end: replies in flight are saved then.
const LEAD: u32 = 120;

/// Script of an array. The signal reaches the batch shell, which the program replaces.
fn slurm(words: &[String], (parts, at_once): (u32, Option<u32>), program: &str) -> String {
    let at_once = at_once.map(|count| format!("%{count}")).unwrap_or_default();
    format!(
        "#!/bin/sh\n\
         # Submit with: sbatch FILE. Submit again to run what is left.\n\
         #SBATCH --job-name=touchstone\n\
         #SBATCH --array=1-{parts}{at_once}\n\
         #SBATCH --output=touchstone-%A_%a.log\n\
         #SBATCH --signal=B:TERM@{LEAD}\n\
         #SBATCH --requeue\n\
         exec {} --shard=\"$SLURM_ARRAY_TASK_ID/{parts}\"\n",
        command_line(program, words),
    )
}

/// Script that GNU parallel calls again for each part, so that nothing of the command is replaced.
fn parallel(words: &[String], (parts, at_once): (u32, u32), program: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Run with: sh FILE. Run again to run what is left. For other machines, add --sshloginfile.\n\
         if [ $# = 1 ]; then\n  exec {} --shard=\"$1/{parts}\"\nfi\n\
         seq {parts} | parallel --jobs {at_once} sh \"$(realpath \"$0\")\" {{}}\n",
        command_line(program, words),
    )
}

/// Manifest of an indexed job, for `kubectl create`. The volume is mounted at the path of the
/// folder. A part that failed is not started again, because it would have a new budget.
fn kubernetes(words: &[String], folder: &str, asked: &Submit) -> Result<String, CommandError> {
    let (Some(image), Some(claim)) = (&asked.image, &asked.claim) else {
        let error =
            AppError::new(Code::BadRequest, "A job of Kubernetes needs --image and --claim.");
        return Err(CommandError::Why(error.hint(
            "Give an image that has `touchstone`, and the claim of the volume that is the folder.",
        )));
    };
    // Kubernetes replaces `$(NAME)` in a command.
    let command = std::iter::once("touchstone").chain(words.iter().map(String::as_str));
    let mut command: Vec<String> = command.map(|word| word.replace('$', "$$")).collect();
    command.push(format!("--shard=auto/{}", asked.parts));
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
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": asked.parts,
            "template": { "spec": {
                "restartPolicy": "Never",
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
