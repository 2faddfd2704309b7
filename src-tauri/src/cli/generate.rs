//! `generate`: has a model write tasks from a text, as a suite.
use super::amounts::{dollars, pluralize};
use super::terminal::one_line;
use super::watch::Interrupts;
use super::{CommandStatus, FolderArgs, Outcome, folder};
use crate::Environment;
use clap::Args;
use serde_json::json;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use touchstone_app::suites::generating::{
    GeneratePlan, GenerateProgress, GenerateRequest, Generated,
};

/// Arguments of `generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
The model and its key are those of touchstone.yaml. Replies are kept in the output folder: the same
command, started again after a failure, pays only for what is missing.")]
pub(super) struct Generate {
    #[command(flatten)]
    place: FolderArgs,
    /// Text to ask about (.txt, .md), or rows (.csv, .jsonl)
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Number of questions
    #[arg(long, value_name = "N")]
    queries: usize,
    /// Let a simulated user ask, with at most this many messages
    #[arg(long, value_name = "K", default_value_t = 1)]
    turns: u32,
    /// What the person does who asks: `learn for an exam`; given several times, the questions take
    /// turns
    #[arg(long = "task", value_name = "TEXT")]
    tasks: Vec<String>,
    /// Model that writes
    #[arg(short, long)]
    model: String,
    /// Suite to write, such as `tasks/manual.yaml`; it must not exist
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Ask nothing more after this many dollars
    #[arg(long, value_name = "X")]
    max_cost: Option<f64>,
    /// When it is stopped or fails, write the suite of the questions that there are
    #[arg(long)]
    partial: bool,
    /// Only print the estimate
    #[arg(long)]
    plan: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Generate, here: &Environment) -> Outcome {
    let place = asked.place.folder.clone().unwrap_or_else(|| ".".into());
    let (app, dirs) = (here.engine(), &asked.place.dirs);
    app.folder().open_to_run(&place, dirs.input_dir.as_deref(), dirs.output_dir.as_deref())?;
    app.folder().wait_ready(folder::PATIENCE)?;
    let request = GenerateRequest {
        from: asked.from.clone().into(),
        model: asked.model.clone(),
        queries: asked.queries,
        turns: asked.turns,
        tasks: asked.tasks.clone(),
        out: asked.out.clone(),
        max_cost: asked.max_cost,
        partial: asked.partial,
    };
    let plan = app.suites().plan_generation(&request)?;
    if asked.plan {
        return print_plan(&mut io::stdout().lock(), &plan, asked.json);
    }
    print_plan(&mut io::stderr().lock(), &plan, false)?;
    let interrupts = Interrupts::listen()?;
    let is_terminal = io::stderr().is_terminal();
    let on_progress = |progress: GenerateProgress| match progress {
        GenerateProgress::Questions { done, all } if is_terminal => {
            let _ = write!(io::stderr(), "\r{done} of {all} questions");
        }
        GenerateProgress::Questions { .. } | GenerateProgress::Replied(_) => {}
        GenerateProgress::Retrying { seconds, why } => {
            let _ = writeln!(io::stderr(), "{} Next attempt in {seconds} s.", one_line(&why));
        }
    };
    let done = app.suites().generate(&request, || interrupts.count(), on_progress);
    if is_terminal {
        let _ = writeln!(io::stderr());
    }
    let Generated { queries, requests, tokens, cost, why, .. } = done?;
    let mut out = io::stdout().lock();
    if asked.json {
        let document = json!({
            "suite": asked.out.display().to_string(),
            "queries": queries,
            "requests": requests,
            "tokens": tokens,
            "cost": cost,
            "why": why,
        });
        writeln!(out, "{document}")?;
    } else {
        let noun = pluralize(queries as u64, "question");
        let paid = cost.map_or_else(|| "of unknown cost".to_owned(), dollars);
        writeln!(
            out,
            "Wrote {} with {queries} {noun}: {requests} {}, {paid}.",
            one_line(&asked.out.display().to_string()),
            pluralize(requests, "request"),
        )?;
    }
    if let Some(why) = &why {
        let _ = writeln!(io::stderr(), "There are fewer questions than wanted: {}", one_line(why));
    }
    Ok(if why.is_none() { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn print_plan(out: &mut dyn Write, plan: &GeneratePlan, json: bool) -> Outcome {
    let GeneratePlan { requests, tokens, cost, unbound } = plan;
    if json {
        let document =
            json!({ "requests": requests, "tokens": tokens, "cost": cost, "unbound": unbound });
        writeln!(out, "{document}")?;
        return Ok(CommandStatus::Well);
    }
    let money = cost.map_or_else(|| "the cost is unknown".to_owned(), dollars);
    writeln!(
        out,
        "About {requests} {}, {tokens} tokens, {money}.",
        pluralize(*requests, "request")
    )?;
    if let Some(unbound) = unbound {
        writeln!(out, "{}", one_line(unbound))?;
    }
    Ok(CommandStatus::Well)
}
