//! `submit`: hands the parts of a launch to a scheduler, or prints what does; follows, stops and
//! submits again.
use super::ask_yes::ask_yes;
use super::{
    CommandError, CommandStatus, Outcome,
    amounts::counted,
    folder,
    run::{self, Limits, RunSelection, path_text},
};
use crate::Environment;
use clap::{ArgGroup, Args, ValueEnum};
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use touchstone_api::{LaunchRequest, Shard, SplitLaunch, SplitState};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::launch::new_launch_id;
use touchstone_app::launch::split::SplitOptions;
use touchstone_app::launch::split::submit_script::{Cluster, SplitScript};
use touchstone_app::number_format::fixed;

mod follow;
mod words;

/// Scheduler that starts the parts of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scheduler {
    Slurm,
    Kubernetes,
    Parallel,
}

/// Scheduler that jobs are handed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Submitter {
    Slurm,
}

/// Arguments of `submit`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["print", "scheduler", "status", "cancel", "again"])))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Submit {
    #[command(flatten)]
    which: RunSelection,
    #[command(flatten)]
    limits: Limits,
    /// Print what this scheduler takes, and start nothing: a script for `sbatch`, the manifest of an
    /// indexed job for `kubectl create`, or a script for GNU parallel
    #[arg(long, value_name = "SCHEDULER")]
    print: Option<Scheduler>,
    /// Hand the parts to this scheduler with `sbatch`, and follow them until they end. Ctrl-C ends
    /// only the following
    #[arg(long = "submit", value_name = "SCHEDULER")]
    scheduler: Option<Submitter>,
    /// Show how split launches of the folder stand, or one of them
    #[arg(long, value_name = "LAUNCH", num_args = 0..=1, require_equals = true, conflicts_with_all = SELECTION)]
    #[expect(clippy::option_option, reason = "the id of the launch is optional")]
    status: Option<Option<String>>,
    /// Stop a launch: parts that wait never begin, and those that run finish what is in flight
    #[arg(long, value_name = "LAUNCH", num_args = 0..=1, require_equals = true, conflicts_with_all = SELECTION)]
    #[expect(clippy::option_option, reason = "the id of the launch is optional")]
    cancel: Option<Option<String>>,
    /// Submit the parts of a launch again that ended or were lost before they were complete. They may
    /// spend what is left of its budget
    #[arg(long, value_name = "LAUNCH", num_args = 0..=1, require_equals = true, conflicts_with_all = SELECTION)]
    #[expect(clippy::option_option, reason = "the id of the launch is optional")]
    again: Option<Option<String>>,
    /// Split the launch into this many parts
    #[arg(long, required = true, value_parser = clap::value_parser!(u32).range(1..))]
    parts: Option<u32>,
    /// Run this many parts at the same time [default: all]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    at_once: Option<u32>,
    /// Return when the job is submitted, without following it
    #[arg(long)]
    detach: bool,
    /// With --cancel: end parts at once. Replies in flight are lost
    #[arg(long, requires = "cancel")]
    now: bool,
    /// With --status: print one JSON document per launch
    #[arg(long, requires = "status")]
    json: bool,
    /// Kubernetes: image that has `touchstone`
    #[arg(long)]
    image: Option<String>,
    /// Kubernetes: claim of the volume that is the folder
    #[arg(long)]
    claim: Option<String>,
    /// Kubernetes: secret whose entries become environment variables, such as keys of providers
    #[arg(long)]
    secret: Option<String>,
    /// Confirm that the systems of these runs may be attacked, for suites of attacks; with --cancel,
    /// ask no question
    #[arg(short, long)]
    yes: bool,
}

/// What a launch that exists has no use for.
const SELECTION: [&str; 3] = ["system", "model", "parts"];

pub(super) fn run(asked: &Submit, here: &Environment) -> Outcome {
    if let Some(scheduler) = asked.print {
        return print(asked, scheduler);
    }
    let (folder, app) = (asked.which.folder(), here.engine());
    let (input, output) = asked.which.dirs();
    app.folder().open_as_worker(&folder, input, output)?;
    match (&asked.status, &asked.cancel, &asked.again) {
        (Some(launch), ..) => status(&app, launch.as_deref(), asked.json),
        (_, Some(launch), _) => cancel(&app, launch.as_deref(), asked),
        (.., Some(launch)) => again(&app, launch.as_deref(), asked),
        _ => {
            app.folder().wait_ready(folder::PATIENCE)?;
            submit(&app, asked)
        }
    }
}

fn print(asked: &Submit, scheduler: Scheduler) -> Outcome {
    let folder = path_text(&asked.which.folder())?;
    let (input, output) = asked.which.dirs();
    let dir = |path: Option<&Path>| path.map(path_text).transpose();
    let script = SplitScript {
        launch: new_launch_id(),
        program: path_text(&std::env::current_exe()?)?,
        folder,
        input_dir: dir(input)?,
        output_dir: dir(output)?,
        request: request(asked),
        parts: asked.parts(),
        at_once: asked.at_once,
        confirmed: asked.yes,
    };
    let text = match (scheduler, &asked.image, &asked.claim) {
        (Scheduler::Slurm, ..) => script.slurm(&format!("1-{}", asked.parts())),
        (Scheduler::Parallel, ..) => script.parallel(),
        (Scheduler::Kubernetes, Some(image), Some(claim)) => {
            script.kubernetes(Cluster { image, claim, secret: asked.secret.as_deref() })
        }
        (Scheduler::Kubernetes, ..) => {
            let error =
                AppError::new(Code::BadRequest, "A job of Kubernetes needs --image and --claim.");
            return Err(CommandError::Why(error.hint(
                "Give an image that has `touchstone`, and the claim of the volume that is the folder.",
            )));
        }
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    note_share(asked);
    Ok(CommandStatus::Well)
}

/// Says what each part may spend.
fn note_share(asked: &Submit) {
    if let Some(most) = asked.limits.max_cost {
        let share = fixed(most / f64::from(asked.parts()), 4);
        // The reader of standard error may be gone.
        let _ = writeln!(io::stderr(), "Each part may spend ${share}, each time it is started.");
    }
}

fn request(asked: &Submit) -> LaunchRequest {
    LaunchRequest {
        concurrency: asked.limits.concurrency,
        max_cost: asked.limits.max_cost,
        ..asked.which.request(None)
    }
}

impl Submit {
    fn parts(&self) -> u32 {
        self.parts.unwrap_or(1)
    }
}

fn submit(app: &App, asked: &Submit) -> Outcome {
    // One part stands for all.
    let part = Some(Shard { index: 1, count: asked.parts() });
    let part = LaunchRequest { shard: part, ..request(asked) };
    if let Some(scan) = app.launches().plan_launch(&part)?.scan
        && !run::confirm(app, &part, &scan, asked.yes)?
    {
        return Ok(CommandStatus::WithFailures);
    }
    let options =
        SplitOptions { parts: asked.parts(), at_once: asked.at_once, confirmed: asked.yes };
    let (launch, job) = app.launches().submit_launch(&request(asked), options)?;
    let parts = counted(u64::from(asked.parts()), "part");
    writeln!(io::stdout(), "Submitted {parts} as job {job} of Slurm, launch {launch}.")?;
    note_share(asked);
    after(app, &launch, asked)
}

fn again(app: &App, launch: Option<&str>, asked: &Submit) -> Outcome {
    let launch = match launch {
        Some(launch) => launch.to_owned(),
        None => {
            choose(app, "--again", |launch| launch.may_submit || launch.how_to_submit.is_some())?
        }
    };
    let (job, parts) = app.launches().submit_again(&launch, asked.limits.max_cost, asked.yes)?;
    let noun = if parts.contains([',', '-']) { "parts" } else { "part" };
    writeln!(io::stdout(), "Submitted {noun} {parts} again as job {job} of Slurm.")?;
    after(app, &launch, asked)
}

/// Follows a launch that was submitted, or says how to.
fn after(app: &App, launch: &str, asked: &Submit) -> Outcome {
    if asked.detach {
        writeln!(io::stdout(), "To see how it stands: touchstone submit --status={launch} FOLDER")?;
        return Ok(CommandStatus::Well);
    }
    follow::follow(app, launch)
}

fn status(app: &App, launch: Option<&str>, json: bool) -> Outcome {
    let launches = match launch {
        Some(launch) => vec![app.launches().split_launch_now(launch)?],
        None => app.launches().split_launches_now()?,
    };
    let mut out = io::stdout().lock();
    for launch in &launches {
        if json {
            serde_json::to_writer(&mut out, launch).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            words::describe(launch).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
    }
    if launches.is_empty() && !json {
        writeln!(out, "No launch of this folder was split over several machines.")?;
    }
    out.flush()?;
    Ok(CommandStatus::Well)
}

fn cancel(app: &App, launch: Option<&str>, asked: &Submit) -> Outcome {
    let launch = match launch {
        Some(launch) => launch.to_owned(),
        None => choose(app, "--cancel", is_active)?,
    };
    let view = app.launches().split_launch_now(&launch)?;
    if !asked.yes && !confirm(&view, asked.now)? {
        return Ok(CommandStatus::WithFailures);
    }
    app.launches().stop_split_launch(&launch, asked.now)?;
    let words = if asked.now {
        "Its parts are ended."
    } else {
        "Parts that wait never begin; those that run finish what is in flight. To end them at once: --cancel --now"
    };
    writeln!(io::stdout(), "{words}")?;
    Ok(CommandStatus::Well)
}

/// Asks once for all parts. Without a terminal, the answer is no, with how to say yes.
fn confirm(launch: &SplitLaunch, now: bool) -> Result<bool, CommandError> {
    let parts =
        format!("{} that run and {} that wait", counted(launch.running, "part"), launch.waiting);
    if !io::stdin().is_terminal() {
        let message = format!("Nothing was stopped, because nobody can be asked about {parts}.");
        return Err(AppError::new(Code::BadRequest, message).hint("Confirm with --yes.").into());
    }
    let how = if now { "End" } else { "Stop" };
    let mut out = io::stderr().lock();
    let question = format!("{how} {parts} of {}?", words::title(launch));
    let is_yes = ask_yes(&mut out, &question)?;
    if !is_yes {
        writeln!(out, "Nothing was stopped.")?;
    }
    Ok(is_yes)
}

fn is_active(launch: &SplitLaunch) -> bool {
    !matches!(launch.state, SplitState::Unfinished | SplitState::Done)
}

/// Returns the only launch that is meant. Fails if there is none, or a choice.
fn choose(
    app: &App,
    option: &str,
    is_meant: impl Fn(&SplitLaunch) -> bool,
) -> Result<String, AppError> {
    let mut meant = app.launches().split_launches_now()?;
    meant.retain(is_meant);
    match meant.as_slice() {
        [only] => Ok(only.id.clone()),
        [] => Err(AppError::new(Code::NotFound, format!("There is no launch for {option} here."))
            .hint("`touchstone submit --status FOLDER` lists the split launches of a folder.")),
        several => {
            let ids: Vec<&str> = several.iter().map(|launch| launch.id.as_str()).collect();
            let message = format!("There are several launches for {option}: {}.", ids.join(", "));
            Err(AppError::new(Code::BadRequest, message)
                .hint(format!("Name one: {option}={}", ids.first().unwrap_or(&"LAUNCH"))))
        }
    }
}
