//! `plan` and `run`: plan a launch, and launch it.
use super::ask_yes::ask_yes;
use super::{
    CommandError, CommandStatus, FolderArgs, Outcome,
    amounts::counted,
    folder, shards,
    skipped_runs::{SkippedRuns, act, why},
    terminal::{Columns, Head, Paint, one_line},
    watch,
};
use crate::Environment;
use clap::Args;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use touchstone_api::{
    Blocked, Blocker, Estimate, LaunchPlan, LaunchRequest, Problem, ScanPlan, ScanTarget, Shard,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::launch::PartOrigin;
use touchstone_app::number_format::fixed;
use touchstone_runner::submissions;

/// Which runs.
#[derive(Debug, Args)]
pub(super) struct RunSelection {
    #[command(flatten)]
    place: FolderArgs,
    /// Systems to run, separated by commas: `promptql`, `tool_calling`, `tool_calling_python`
    #[arg(short, long, value_delimiter = ',', required = true)]
    system: Vec<String>,
    /// Models to run, separated by commas
    #[arg(short, long, value_delimiter = ',', required = true)]
    model: Vec<String>,
    /// Tasks to run: names, or patterns such as `billing/*` and `*588*` [default: all]. Leading
    /// folders of a name may be omitted; `*` matches within a folder, `**` across folders
    #[arg(short, long, value_delimiter = ',')]
    task: Vec<String>,
    /// Variations to run, from 0 [default: all]
    #[arg(long, value_delimiter = ',')]
    variation: Vec<u32>,
    /// Run each variation this many times
    #[arg(long)]
    repeat: Option<u32>,
    /// Run again from the start; old files are moved aside first
    #[arg(long)]
    force: bool,
    /// Resume runs even when their file no longer matches the task
    #[arg(long)]
    anyway: bool,
    /// Let this model play the simulated users of tasks that name none [default: `user_model` of the
    /// workspace file]
    #[arg(long, value_name = "MODEL")]
    user_model: Option<String>,
    /// Search for an answer with this method: `CoT@1`, `DFS_woFilter_w2` [default: from the
    /// workspace file]
    #[arg(long)]
    method: Option<String>,
    /// Offer these functions of virtual APIs: `all`, `query`, `top-20`
    #[arg(long)]
    offer: Option<String>,
    /// Limit the depth of a search; needs a method
    #[arg(long)]
    steps: Option<u32>,
    /// Limit the replies of one run; needs a method
    #[arg(long)]
    queries: Option<u32>,
}

/// Part of a launch.
#[derive(Debug, Args)]
struct Part {
    /// Run only one part of the plan, for several machines: `2/10`, or `auto/10` in a job of Slurm,
    /// Kubernetes or GNU parallel, and `auto` in one of Slurm. No other results are looked at
    #[arg(long, value_parser = shard)]
    shard: Option<Shard>,
    /// Id of the launch that the part belongs to, as `submit` gives it [default: that of the job, or
    /// of the same options]
    #[arg(long, requires = "shard", value_parser = launch_id)]
    launch: Option<String>,
}

/// Limits of a launch.
#[derive(Debug, Args)]
pub(super) struct Limits {
    /// Run this many at the same time; a part of a launch runs its share of it
    #[arg(long)]
    pub(super) concurrency: Option<u32>,
    /// Start nothing new after this many dollars; a part of a launch spends its share of it
    #[arg(long)]
    pub(super) max_cost: Option<f64>,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(super) struct Plan {
    #[command(flatten)]
    which: RunSelection,
    #[command(flatten)]
    part: Part,
    /// Print the plan as one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    which: RunSelection,
    #[command(flatten)]
    part: Part,
    /// Only print the plan
    #[arg(long)]
    plan: bool,
    #[command(flatten)]
    limits: Limits,
    /// Confirm that the systems of these runs may be attacked, for suites of attacks; asked once for
    /// each system
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object per event
    #[arg(long)]
    json: bool,
}

/// Returns the absolute form of a path as text.
pub(super) fn path_text(path: &Path) -> Result<String, AppError> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.into_os_string().into_string().map_err(|path| {
        let message = format!("The path {} is not text.", path.display());
        AppError::new(Code::BadRequest, message).hint("Rename the folder.")
    })
}

fn shard(text: &str) -> Result<Shard, String> {
    shards::read(text, |name| std::env::var(name).ok())
}

fn launch_id(text: &str) -> Result<String, String> {
    let why = "an id has up to 64 letters, digits and hyphens";
    submissions::is_launch_id(text).then(|| text.to_owned()).ok_or_else(|| why.to_owned())
}

impl RunSelection {
    /// Returns the folder to open.
    pub(super) fn folder(&self) -> PathBuf {
        self.place.folder.clone().unwrap_or_else(|| ".".into())
    }

    /// Returns the directories that were given in place of those of the folder.
    pub(super) fn dirs(&self) -> (Option<&Path>, Option<&Path>) {
        let dirs = &self.place.dirs;
        (dirs.input_dir.as_deref(), dirs.output_dir.as_deref())
    }

    pub(super) fn request(&self, shard: Option<Shard>) -> LaunchRequest {
        LaunchRequest {
            tasks: self.task.clone(),
            systems: self.system.clone(),
            models: self.model.clone(),
            variations: self.variation.clone(),
            repeats: self.repeat,
            start_over: self.force,
            anyway: self.anyway,
            shard,
            user_model: self.user_model.clone(),
            method: self.method.clone(),
            offer: self.offer.clone(),
            steps: self.steps,
            queries: self.queries,
            ..LaunchRequest::default()
        }
    }

    /// Returns an engine that has read the folder. An output directory given by an option need not
    /// exist; it is created with the first run.
    fn ready(&self, part: &Part, here: &Environment) -> Result<App, AppError> {
        // Models and tools come from the workspace file of the current folder, even if both
        // directories are given.
        let (folder, app) = (self.folder(), here.engine());
        let (input, output) = self.dirs();
        if part.shard.is_some() {
            app.folder().open_as_worker(&folder, input, output)?;
        } else {
            app.folder().open_to_run(&folder, input, output)?;
        }
        app.folder().wait_ready(folder::PATIENCE)?;
        Ok(app)
    }
}

pub(super) fn plan(asked: &Plan, here: &Environment) -> Outcome {
    let app = asked.which.ready(&asked.part, here)?;
    say(
        &app.launches().plan_launch(&asked.which.request(asked.part.shard))?,
        asked.json,
        Paint(here.colour),
    )
}

/// Prints the problems of the workspace file and the suites, on standard error so that they are not
/// mistaken for results.
fn tell_problems(plan: &LaunchPlan) {
    // The problem that blocks the whole launch is printed last, as the error.
    let last = plan.invalid.as_ref().map_or("", |invalid| invalid.message.as_str());
    for line in
        plan.problems.iter().map(Problem::to_line).filter(|line| !last.starts_with(line.as_str()))
    {
        let _ = writeln!(io::stderr(), "{}", one_line(&line));
    }
}

pub(super) fn run(asked: &Run, here: &Environment) -> Outcome {
    let app = asked.which.ready(&asked.part, here)?;
    let request = LaunchRequest {
        concurrency: asked.limits.concurrency,
        max_cost: asked.limits.max_cost,
        ..asked.which.request(asked.part.shard)
    };
    if asked.plan {
        return say(&app.launches().plan_launch(&request)?, asked.json, Paint(here.colour));
    }
    let prepared = app.launches().prepare_launch(&request)?;
    let plan = app.launches().show_launch(&request, &prepared)?;
    tell_problems(&plan);
    if let Some(Blocker { message, fix }) = plan.invalid {
        return Err(CommandError::Why(AppError {
            hint: fix,
            ..AppError::new(Code::Failed, message)
        }));
    }
    if let Some(scan) = plan.scan
        && !confirm(&app, &request, &scan, asked.yes)?
    {
        return Ok(CommandStatus::WithFailures);
    }
    let origin = request.shard.map(|_| {
        let variable = |name: &str| std::env::var(name).ok();
        PartOrigin::find(asked.part.launch.as_deref(), &request, variable)
    });
    let left = prepared.left_out();
    let launched = watch::launch(&app, asked.json, |listeners| {
        app.launches().start_prepared(&request, prepared, origin.as_ref(), listeners)
    });
    match launched {
        Err(CommandError::Why(error))
            if error.code == Code::BadRequest && plan.owed_total == 0 && plan.skipped_total > 0 =>
        {
            nothing_owed(plan.skipped_total, &SkippedRuns(left), asked.json)
        }
        other => other,
    }
}

/// Says what is sent to whom that attacks, and has the person confirm targets that nobody confirmed
/// yet. Returns false if the answer is no. Without a terminal, the launch fails with the reason.
pub(super) fn confirm(
    app: &App,
    request: &LaunchRequest,
    scan: &ScanPlan,
    yes: bool,
) -> Result<bool, CommandError> {
    let mut out = io::stderr().lock();
    for line in scan_lines(scan) {
        writeln!(out, "{}", one_line(&line))?;
    }
    let all = [scan.targets.as_slice(), &scan.attackers].concat();
    if all.iter().all(|target| target.confirmed) {
        return Ok(true);
    }
    if !yes {
        if !io::stdin().is_terminal() {
            return Ok(true);
        }
        if !ask_yes(&mut out, "Attack only systems that you own or may test. Start?")? {
            writeln!(out, "Nothing was sent.")?;
            return Ok(false);
        }
    }
    app.red_team().confirm_scan(request, &all)?;
    Ok(true)
}

/// Formats what is sent to whom that attacks.
fn scan_lines(scan: &ScanPlan) -> Vec<String> {
    let named = |names: &[String], none: &str| match names {
        [] => none.to_owned(),
        names => names.join(", "),
    };
    let mut lines = vec![format!(
        "{} of {} with {}.",
        counted(scan.attacks, "attack"),
        named(&scan.categories, "no named category"),
        named(&scan.strategies, "no named strategy")
    )];
    let address = |target: &ScanTarget| match (&target.address, &target.model) {
        (Some(address), Some(model)) => format!(" ({model} at {address})"),
        (Some(address), None) => format!(" ({address})"),
        (None, _) => String::new(),
    };
    let asked = |target: &ScanTarget| if target.confirmed { "" } else { "; not confirmed yet" };
    lines.extend(scan.targets.iter().map(|target| {
        let (to, asked) = (address(target), asked(target));
        format!("{} to {}{to}{asked}", counted(target.attacks, "attack"), target.target)
    }));
    lines.extend(scan.attackers.iter().map(|target| {
        let name = target.target.split_once('/').map_or("", |(_, name)| name);
        format!(
            "{} led by {name}{}: it gets the objectives and the answers, at most {}{}",
            counted(target.attacks, "conversation"),
            address(target),
            counted(target.requests.unwrap_or(0), "request"),
            asked(target)
        )
    }));
    lines
}

/// Prints that there is nothing to run, with the runs that were left out. This is a success if all
/// others are complete already, and a failure if some cannot be run.
fn nothing_owed(total: u64, left: &SkippedRuns, json: bool) -> Outcome {
    // The reader of standard error may be gone.
    let _ = writeln!(
        io::stderr(),
        "Nothing to run: of {}, {} not complete.",
        counted(total, "run"),
        left.are()
    );
    for line in left.lines() {
        let _ = writeln!(io::stderr(), "{line}");
    }
    if json {
        left.print(&mut io::stdout().lock())?;
    }
    Ok(if left.failed() == 0 { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn say(plan: &LaunchPlan, json: bool, paint: Paint) -> Outcome {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, plan).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write(&mut out, plan, paint)?;
    }
    out.flush()?;
    tell_problems(plan);
    match &plan.invalid {
        None => Ok(CommandStatus::Well),
        Some(Blocker { message, fix }) => Err(CommandError::Why(AppError {
            hint: fix.clone(),
            ..AppError::new(Code::Failed, message.clone())
        })),
    }
}

fn write(out: &mut dyn Write, plan: &LaunchPlan, paint: Paint) -> io::Result<()> {
    writeln!(out, "{}", paint.bold(&summary(plan)))?;
    for line in plan.scan.iter().flat_map(scan_lines) {
        writeln!(out, "{}", one_line(&line))?;
    }
    for cause in &plan.blocked {
        writeln!(out, "{}", one_line(&blocked(cause)))?;
    }
    for note in &plan.notes {
        writeln!(out, "{}", one_line(note))?;
    }
    for (runs, total) in [(&plan.owed, plan.owed_total), (&plan.skipped, plan.skipped_total)] {
        if runs.is_empty() {
            continue;
        }
        writeln!(out)?;
        let head = |title: &'static str| Head { title: title.into(), right: false };
        let mut table = Columns::new(vec![head("run"), head("act"), head("why")]);
        for run in runs {
            table.row(vec![
                one_line(&run.path).into_owned(),
                act(run.act).to_owned(),
                one_line(&why(run)).into_owned(),
            ]);
        }
        table.write(out, "", paint, &|_, text| text.to_owned())?;
        if (runs.len() as u64) < total {
            writeln!(out, "… and {} more", total - runs.len() as u64)?;
        }
    }
    if plan.owed_total > 0 {
        writeln!(out, "\n{}", estimate(&plan.estimate, plan.owed_total))?;
    }
    plan.unpriced
        .iter()
        .filter(|_| plan.unbound.is_none())
        .try_for_each(|why| writeln!(out, "{}", one_line(why)))?;
    plan.unbound.iter().try_for_each(|why| writeln!(out, "{}", one_line(why)))?;
    Ok(())
}

fn summary(plan: &LaunchPlan) -> String {
    match (plan.owed_total, plan.skipped_total) {
        (0, 0) => "Nothing to run".to_owned(),
        (0, skipped) => format!("Nothing to run, {skipped} skipped"),
        (owed, skipped) => format!("{owed} to run, {skipped} skipped"),
    }
}

/// Formats one line for a cause that keeps runs from starting.
fn blocked(cause: &Blocked) -> String {
    let fix = cause.fix.as_ref().map(|fix| format!(". {fix}")).unwrap_or_default();
    let why = cause.why.trim_end_matches('.');
    format!("cannot start here: {why} ({}){fix}", counted(cause.runs, "run"))
}

fn estimate(estimate: &Estimate, owed: u64) -> String {
    let Estimate { known, calls, tokens, cost } = estimate;
    if *known == 0 {
        return "No estimate: there are no past runs of these tasks.".to_owned();
    }
    let parts = [
        calls.map(|calls| format!("{calls} requests")),
        tokens.map(|tokens| format!("{tokens} tokens")),
        cost.map(|cost| format!("${}", fixed(cost, 2))).or_else(|| Some("cost unknown".to_owned())),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!(
        "About {}. Estimated for {known} of {owed} runs, from past runs of the same tasks.",
        parts.join(", ")
    )
}
