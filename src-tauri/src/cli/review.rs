//! `review`: writes or prints a person's review of a run.
use super::{
    CommandStatus, DirArgs, FolderArgs, Outcome, folder, nudge,
    terminal::{Paint, complain, lines, one_line},
};
use crate::Environment;
use clap::{Args, ValueEnum};
use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use touchstone_api::{self as rows, Verdict};
use touchstone_app::error::{AppError, Code};
use touchstone_app::reviews::Reviews;
use touchstone_app::runs::RunActions;

/// Arguments of `review`. Omitted parts keep their values.
#[derive(Debug, Args)]
pub(super) struct Review {
    /// Transcript of the run
    file: PathBuf,
    /// Your verdict on the answer [default: print the review]
    verdict: Option<Word>,
    /// Score from 0 to 1 that replaces the automatic one
    #[arg(long)]
    score: Option<f64>,
    /// Note to store with the review
    #[arg(long, allow_hyphen_values = true)]
    note: Option<String>,
    /// Give the run a label of touchstone.yaml, as NAME=VALUE; NAME= takes it away again
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label, allow_hyphen_values = true)]
    labels: Vec<(String, String)>,
    /// Remove your review; the old file is moved aside
    #[arg(long, conflicts_with_all = ["verdict", "score", "note", "labels"])]
    clear: bool,
    /// Your name, stored with the review [default: git's global `user.name`, else the system's
    /// user name]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    author: Option<String>,
    #[command(flatten)]
    dirs: DirArgs,
    /// Print the review as one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Word {
    Right,
    Partly,
    Wrong,
}

pub(super) fn run(asked: &Review, here: &Environment) -> Outcome {
    let file = &asked.file;
    folder::refuse_bucket(file)?;
    let (full, member) = folder::located(file).map_err(|why| {
        AppError::new(Code::NotFound, format!("{} could not be opened: {why}.", file.display()))
    })?;
    let folder = folder_of(&full);
    // If nothing indicates the folder that is meant, and it holds no review yet, the user must be
    // told where the review is kept.
    let is_alone = asked.dirs.output_dir.is_none() && !folder.join("touchstone.yaml").exists();
    let is_new = is_alone
        && RunActions::folder_above(&full).is_none()
        && !folder.join(".touchstone").is_dir();
    let kept_alone = is_new.then(|| folder.clone());
    let app = folder::ready(FolderArgs { folder: Some(folder), dirs: asked.dirs.clone() }, here)?;
    let id = app.runs().run_with(&full, member.as_deref())?;
    let author = asked.author.as_deref();
    if asked.clear {
        app.reviews().review_run_of(None, author, &id, None)?;
    } else if asked.verdict.is_some()
        || asked.score.is_some()
        || asked.note.is_some()
        || !asked.labels.is_empty()
    {
        let said = app.reviews().reviews_of(&id, author)?.own;
        app.reviews().review_run_of(None, author, &id, Some(&changed(said, asked)))?;
        if let Some(folder) = kept_alone {
            let message = format!(
                "Saved for the folder {}: commands on that folder count it.",
                folder.display()
            );
            let _ = writeln!(io::stderr(), "{}", one_line(&message));
        }
    }
    let Reviews { own, others, problem } = app.reviews().reviews_of(&id, author)?;
    if asked.json {
        let document = serde_json::json!({ "path": file, "review": own, "others": others });
        writeln!(io::stdout().lock(), "{document}")?;
    } else {
        print(own.as_ref(), &others, Paint(here.colour))?;
    }
    let Some(damaged) = problem else { return Ok(CommandStatus::Well) };
    complain(&AppError::new(Code::Failed, damaged));
    Ok(CommandStatus::WithFailures)
}

/// Returns the folder that holds the reviews of a file: the one with the workspace file, or else
/// one with a `.touchstone` directory, or else the folder of the file.
pub(super) fn folder_of(file: &Path) -> PathBuf {
    let workspace = nudge::workspace_of(file);
    // A folder of this user may be writable by others, such as /tmp, so the owner of `.touchstone`
    // is checked as well.
    let known =
        |dir: &&Path| dir.join(".touchstone").is_dir() && nudge::is_ours(&dir.join(".touchstone"));
    match nudge::above(file).find(known) {
        Some(known) if !workspace.join("touchstone.yaml").exists() => known.to_path_buf(),
        _ => workspace,
    }
}

/// Parses a label with its value.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn changed(said: Option<rows::Review>, asked: &Review) -> rows::Review {
    let said = said.unwrap_or(rows::Review {
        verdict: None,
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels: BTreeMap::new(),
    });
    let mut labels = said.labels.clone();
    for (name, value) in &asked.labels {
        if value.is_empty() {
            labels.remove(name);
        } else {
            labels.insert(name.clone(), value.clone());
        }
    }
    let verdict = asked.verdict.map(|word| match word {
        Word::Right => Verdict::Right,
        Word::Partly => Verdict::Partly,
        Word::Wrong => Verdict::Wrong,
    });
    // A verdict or score refers to the current answer; a note alone is added to the existing
    // review.
    let anew = verdict.is_some() || asked.score.is_some();
    rows::Review {
        answer: said.answer.filter(|_| !anew),
        verdict: verdict.or(said.verdict),
        score: asked.score.or(said.score),
        note: asked.note.clone().unwrap_or(said.note),
        labels,
        ..said
    }
}

fn print(own: Option<&rows::Review>, others: &[rows::Review], paint: Paint) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match own {
        Some(own) => line(&mut out, own, None, paint)?,
        None if others.is_empty() => return writeln!(out, "This run has no review."),
        None => writeln!(out, "This run has no review of yours.")?,
    }
    for other in others {
        line(&mut out, other, Some(other.author.as_deref().unwrap_or("unsigned")), paint)?;
    }
    Ok(())
}

/// Writes a review, after the name of its author if there is one.
fn line(
    out: &mut dyn io::Write,
    said: &rows::Review,
    author: Option<&str>,
    paint: Paint,
) -> io::Result<()> {
    let verdict = match said.verdict {
        Some(Verdict::Right) => paint.green("right"),
        Some(Verdict::Partly) => paint.yellow("partly right"),
        Some(Verdict::Wrong) => paint.red("wrong"),
        None => "no verdict".to_owned(),
    };
    let author = author.map(|name| format!("{}: ", one_line(name))).unwrap_or_default();
    let score = said.score.map(|score| format!(", score {score}")).unwrap_or_default();
    let stale = if said.stale { ", of an earlier answer" } else { "" };
    writeln!(out, "{author}{verdict}{}", one_line(&format!("{score}{stale}")))?;
    if !said.note.is_empty() {
        writeln!(out, "{}", lines(&said.note))?;
    }
    for (name, value) in &said.labels {
        writeln!(out, "label {}: {}", one_line(name), one_line(value))?;
    }
    for rows::StepNote { step, note } in &said.steps {
        writeln!(out, "step {}: {}", step.saturating_add(1), lines(note))?;
    }
    Ok(())
}
