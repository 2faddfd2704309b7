//! `failures`: prints why runs fail, as clusters of runs with the same cause.
use super::amounts::{counted, dollars};
use super::ask_yes::ask_yes;
use super::sensitive::{SensitiveArgs, tell_left_out};
use super::watch::Interrupts;
use super::{
    CommandError, CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Paint, one_line},
};
use crate::Environment;
use clap::Args;
use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use touchstone_api::{
    FailureCluster, FailureExample, FailureGroup, FailureKind, FailureMap, FailureReview,
    FailureShare, FailuresRequest, NameCausesPlan, NameCausesRequest, NamingView, PassingRunOf,
    Verdict,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::number_format::fixed;
use touchstone_app::runs::RunActions;

/// Maximum number of systems printed of a cluster.
const MOST_SYSTEMS: usize = 4;
/// Minimum time between two lines of progress.
const PACE: Duration = Duration::from_millis(200);

const JSON_HELP: &str = "\
Exit status: 0 done, 1 the transcript of a failed run could not be read, 2 the folder could not be read.

JSON: \"kinds\" lists kinds of causes, the most frequent first: {\"kind\",\"title\",\"is_error\",\"causes\",\"runs\",\"also\",
\"shares\"}; each failed run is counted under exactly one. \"clusters\" lists single causes:
{\"kind\",\"mode\",\"subject\",\"detail\",\"title\",\"is_error\",\"runs\",\"also\",\"shares\",\"examples\"}, where \"runs\"
counts the runs whose main cause it is, and \"also\" those in which it occurs as a second cause.
An example has the id and path of the run, \"step\" and \"quote\" that show the cause, and \"decisive\": the step at
which the run leaves for good the passing runs of its task that it is compared with, up to three. \"review\" is
what a person said of the run; it decides nothing here. Steps count from 0; the text counts from 1.";

/// Arguments of `failures`.
#[derive(Debug, Args)]
#[command(after_help = JSON_HELP)]
pub(super) struct FailuresOf {
    #[command(flatten)]
    place: FolderArgs,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long)]
    scorer: Option<String>,
    /// Number of runs to print for each cause, at most 20
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=20))]
    examples: u8,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Have this model name the causes, beside the names that rules give. Prints the estimate and asks
    /// first; names are kept in the output folder and not paid for again
    #[arg(long, value_name = "MODEL")]
    name_with: Option<String>,
    /// Ask the model nothing more after this many dollars
    #[arg(long, value_name = "X", requires = "name_with")]
    max_cost: Option<f64>,
    /// Only print what naming would take
    #[arg(long, requires = "name_with")]
    plan: bool,
    /// Have the causes named without asking
    #[arg(long, requires = "name_with")]
    yes: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &FailuresOf, here: &Environment) -> Outcome {
    RunActions::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.filter)?;
    let left_out =
        folder::suite_trouble(&app, &asked.filter)?.left_out.filter(|_| asked.scorer.is_none());
    let request = FailuresRequest { filter: asked.filter.clone(), scorer: asked.scorer.clone() };
    let progress = Progress::new();
    let include = asked.sensitive.include_sensitive;
    let tell = |read, total| progress.tell(read, total);
    let (mut map, mut folded) = app.failures().whole_map(&request, include, &tell)?;
    progress.clear();
    let mut is_named = true;
    if let Some(model) = &asked.name_with {
        let wanted = NameCausesRequest {
            failures: request.clone(),
            model: model.clone(),
            max_cost: asked.max_cost,
        };
        if asked.plan {
            return print_plan(&app.failures().plan_cause_names(&wanted)?, asked.json);
        }
        let Some(named) = name(&app, &wanted, asked.yes)? else {
            return Ok(CommandStatus::WithFailures);
        };
        is_named = named;
        (map, folded) = app.failures().whole_map(&request, include, &|_, _| ())?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        serde_json::to_writer(&mut out, &map).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write(&mut out, &map, usize::from(asked.examples), Paint(here.colour))?;
    }
    out.flush()?;
    let printed = printed(&map, usize::from(asked.examples)).map(|one| one.id.as_str());
    let printed: HashSet<&str> = printed.filter(|id| folded.contains(*id)).collect();
    tell_left_out(if asked.json { folded.len() } else { printed.len() } as u64);
    folder::check_scorers(left_out)?;
    let is_well = map.unreadable == 0 && is_named;
    Ok(if is_well { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Has a model name the causes. Returns `None` if the person refuses, and false if it ended early.
fn name(app: &App, request: &NameCausesRequest, yes: bool) -> Result<Option<bool>, CommandError> {
    let plan = app.failures().plan_cause_names(request)?;
    let mut out = io::stderr().lock();
    writeln!(out, "{}", describe_plan(&plan))?;
    if plan.requests == 0 {
        return Ok(Some(true));
    }
    if !yes {
        if !io::stdin().is_terminal() {
            let message = "Naming causes sends quotations of runs to a model.";
            return Err(AppError::new(Code::BadRequest, message)
                .hint("Add --yes to have it done without a question.")
                .into());
        }
        if !ask_yes(&mut out, "Send them?")? {
            writeln!(out, "Nothing was sent.")?;
            return Ok(None);
        }
    }
    drop(out);
    let interrupts = Interrupts::listen()?;
    let is_terminal = io::stderr().is_terminal();
    let on_progress = |view: &NamingView| {
        if is_terminal {
            let _ = write!(io::stderr(), "\r{} of {} causes named", view.done, view.all);
        }
    };
    let done = app.failures().name_causes(request, &|| interrupts.count(), &on_progress);
    if is_terminal {
        let _ = writeln!(io::stderr());
    }
    let done = done?;
    let cost = done.cost.map_or_else(|| "of unknown cost".to_owned(), dollars);
    let requests = counted(done.requests, "request");
    writeln!(io::stderr(), "{} named: {requests}, {cost}.", counted(done.done, "cause"))?;
    if done.without > 0 {
        writeln!(io::stderr(), "The model gave no name for {}.", counted(done.without, "cause"))?;
    }
    if let Some(why) = &done.why {
        writeln!(io::stderr(), "Not all causes were named: {}", one_line(why))?;
    }
    Ok(Some(done.why.is_none()))
}

fn describe_plan(plan: &NameCausesPlan) -> String {
    let cost = plan.cost.map_or_else(|| "the cost is unknown".to_owned(), dollars);
    let requests = counted(plan.requests, "request");
    let named = match plan.named {
        0 => String::new(),
        named => format!(" Named before: {}.", counted(named, "cause")),
    };
    let unbound = plan.unbound.as_ref().map(|note| format!(" {note}")).unwrap_or_default();
    one_line(&format!("About {requests}, {} tokens, {cost}.{named}{unbound}", plan.tokens))
        .into_owned()
}

fn print_plan(plan: &NameCausesPlan, json: bool) -> Outcome {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, plan).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(CommandStatus::Well);
    }
    writeln!(out, "{}", describe_plan(plan))?;
    for line in plan.example.iter().flat_map(|example| example.lines()) {
        writeln!(out, "  {}", one_line(line))?;
    }
    Ok(CommandStatus::Well)
}

/// Line of progress on a terminal.
pub(super) struct Progress {
    shown: Option<Mutex<Option<Instant>>>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { shown: io::stderr().is_terminal().then(Mutex::default) }
    }

    pub(super) fn tell(&self, read: u64, total: u64) {
        let Some(Ok(mut last)) = self.shown.as_ref().map(Mutex::try_lock) else { return };
        if last.is_none_or(|last| last.elapsed() >= PACE) {
            *last = Some(Instant::now());
            let _ = write!(io::stderr(), "\r{read} of {total} failed runs read");
        }
    }

    pub(super) fn clear(&self) {
        let is_shown =
            self.shown.as_ref().is_some_and(|last| last.lock().is_ok_and(|it| it.is_some()));
        if is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// Returns the runs of a cluster that are printed.
fn examples_of(cluster: &FailureCluster, most: usize) -> impl Iterator<Item = &FailureExample> {
    cluster.examples.iter().filter(|one| one.is_main).take(most)
}

/// Returns the runs that are printed.
fn printed(map: &FailureMap, most: usize) -> impl Iterator<Item = &FailureExample> {
    let main = map.clusters.iter().filter(|cluster| cluster.runs > 0);
    main.flat_map(move |cluster| examples_of(cluster, most))
}

fn write(out: &mut dyn Write, map: &FailureMap, examples: usize, paint: Paint) -> io::Result<()> {
    writeln!(out, "{}", scope(map))?;
    for note in map.left_out_runs.notes() {
        writeln!(out, "{note}")?;
    }
    if map.unreadable > 0 {
        writeln!(out, "{} could not be read.", counted(map.unreadable, "failed run"))?;
    }
    let (main, second): (Vec<_>, Vec<_>) = map.clusters.iter().partition(|one| one.runs > 0);
    let width = map.kinds.iter().map(|one| one.runs.to_string().len()).max().unwrap_or(1);
    let format = Format { groups: &map.groups, width, examples, paint };
    for kind in map.kinds.iter().filter(|kind| kind.runs > 0) {
        let causes: Vec<&FailureCluster> =
            main.iter().copied().filter(|one| one.kind == kind.kind).collect();
        writeln!(out)?;
        // A kind with one cause is named by that cause.
        if kind.causes > 1 {
            format.write_kind(out, kind)?;
        }
        let level = if kind.causes > 1 { "  " } else { "" };
        for cluster in causes {
            format.write_cause(out, cluster, level)?;
        }
    }
    if !second.is_empty() {
        writeln!(out, "\nOnly as a second cause:")?;
        for cluster in second {
            writeln!(out, "  {:>width$}  {}", cluster.also, one_line(&cluster.title))?;
        }
    }
    if map.clusters_left_out > 0 {
        writeln!(out, "\n{} left out.", counted(map.clusters_left_out, "rare cause"))?;
    }
    Ok(())
}

/// Parts of the text that are the same for all causes.
struct Format<'a> {
    groups: &'a [FailureGroup],
    /// Width of the counts.
    width: usize,
    /// Number of runs to print of each cause.
    examples: usize,
    paint: Paint,
}

impl Format<'_> {
    /// Writes the line of a kind of causes, and its share of each system.
    fn write_kind(&self, out: &mut dyn Write, kind: &FailureKind) -> io::Result<()> {
        let title = self.paint.bold(kind.title);
        let causes = counted(kind.causes, "cause");
        writeln!(out, "{:>1$}  {title}: {causes}{2}", kind.runs, self.width, self.also(kind.also))?;
        self.write_systems(out, &kind.shares, "")
    }

    /// Writes a cause with runs that have it.
    fn write_cause(
        &self,
        out: &mut dyn Write,
        cluster: &FailureCluster,
        level: &str,
    ) -> io::Result<()> {
        let title = one_line(&cluster.title);
        let title = if level.is_empty() { self.paint.bold(&title) } else { title.into_owned() };
        let also = self.also(cluster.also);
        writeln!(out, "{level}{:>1$}  {title}{also}", cluster.runs, self.width)?;
        let indent = format!("{level}{}", " ".repeat(self.width + 2));
        if let Some(named) = &cluster.named {
            let (name, model) = (one_line(&named.name), one_line(&named.model));
            let by = self.paint.dim(&format!("(named by {model})"));
            writeln!(out, "{indent}{name}  {by}")?;
        }
        self.write_systems(out, &cluster.shares, level)?;
        for example in examples_of(cluster, self.examples) {
            write_example(out, example, &indent, self.paint)?;
        }
        Ok(())
    }

    fn write_systems(
        &self,
        out: &mut dyn Write,
        shares: &[FailureShare],
        level: &str,
    ) -> io::Result<()> {
        let indent = format!("{level}{}", " ".repeat(self.width + 2));
        match systems(shares, self.groups) {
            Some(systems) => writeln!(out, "{indent}{}", one_line(&systems)),
            None => Ok(()),
        }
    }

    fn also(&self, also: u64) -> String {
        match also {
            0 => String::new(),
            also => self.paint.dim(&format!("  (and {also} more as a second cause)")),
        }
    }
}

/// Describes the runs: `18 of 69 runs failed or are only partly right, 2 of them ended in an error.
/// 3 runs have no result yet.`
fn scope(map: &FailureMap) -> String {
    let undecided = match map.undecided {
        0 => String::new(),
        1 => " 1 run has no result.".to_owned(),
        n => format!(" {n} runs have no result."),
    };
    if map.runs == 0 {
        return format!("No run with a result matches.{undecided}");
    }
    let errors = match map.errors {
        0 => String::new(),
        n => format!(", {n} of them ended in an error"),
    };
    let doubted = match map.passed_but_reviewed_wrong {
        0 => String::new(),
        1 => " 1 run that passed was reviewed as wrong or partly right.".to_owned(),
        n => format!(" {n} runs that passed were reviewed as wrong or partly right."),
    };
    let verb = if map.failed == 1 { "is" } else { "are" };
    let runs = counted(map.runs, "run");
    format!(
        "{} of {runs} failed or {verb} only partly right{errors}.{undecided}{doubted}",
        map.failed
    )
}

/// Returns the share of each system, the most frequent first.
fn systems(shares: &[FailureShare], groups: &[FailureGroup]) -> Option<String> {
    let mut shares: Vec<&FailureShare> = shares.iter().collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.runs));
    let share = |share: &&FailureShare| {
        let name = groups.get(share.group).map_or("", |group| group.name.as_str());
        let interval = match (share.low, share.high) {
            (Some(low), Some(high)) => {
                format!(" ({} to {} %)", fixed(low * 100.0, 0), fixed(high * 100.0, 0))
            }
            _ => String::new(),
        };
        format!("{name} {} of {}{interval}", share.runs, share.all)
    };
    let mut all: Vec<String> = shares.iter().take(MOST_SYSTEMS).map(share).collect();
    let rest = shares.len().saturating_sub(MOST_SYSTEMS);
    if rest > 0 {
        all.push(format!("{rest} more"));
    }
    (!all.is_empty()).then(|| all.join(", "))
}

/// Describes what a person said of a failed run: `reviewed: right, unlike the score (only rounded)`.
fn reviewed(review: &FailureReview) -> String {
    let verdict = match review.verdict {
        Verdict::Right => "right",
        Verdict::Partly => "partly right",
        Verdict::Wrong => "wrong",
    };
    let unlike = if review.disagrees { ", unlike the score" } else { "" };
    let note = if review.note.is_empty() { String::new() } else { format!(" ({})", review.note) };
    format!("reviewed: {verdict}{unlike}{note}")
}

fn write_example(
    out: &mut dyn Write,
    example: &FailureExample,
    indent: &str,
    paint: Paint,
) -> io::Result<()> {
    let step = example.step.map(|step| format!(", step {}", step + 1)).unwrap_or_default();
    let place = format!("{}{step}", one_line(&example.path));
    if example.quote.is_empty() {
        writeln!(out, "{indent}{}", paint.dim(&place))?;
    } else {
        writeln!(out, "{indent}{} {}", paint.dim(&format!("{place}:")), one_line(&example.quote))?;
    }
    if let Some(review) = &example.review {
        writeln!(out, "{indent}{}", paint.dim(&one_line(&reviewed(review))))?;
    }
    if let Some(decisive) = &example.decisive {
        let path = one_line(&decisive.baseline_path);
        let step = decisive.step + 1;
        let of = match decisive.baseline_of {
            PassingRunOf::SameSystemAndModel => "same system and model".to_owned(),
            PassingRunOf::SameSystem => {
                format!("same system, {}", one_line(&decisive.baseline_name))
            }
            PassingRunOf::OtherSystem => {
                format!("another system, {}", one_line(&decisive.baseline_name))
            }
        };
        let text = format!(
            "differs for good from passing runs from step {step}: compare with {path} ({of})"
        );
        writeln!(out, "{indent}{}", paint.dim(&text))?;
    }
    Ok(())
}
