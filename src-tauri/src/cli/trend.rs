//! `trend`: follows each system over days, folders or files, and tells a change from noise.
use super::amounts::counted;
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use touchstone_api::{
    ChangesRequest, ChangesSide, SetChanges, SetsBy, TrendChange, TrendGroup, TrendPoint,
    TrendRequest, Trends,
};
use touchstone_app::number_format::{fixed, signed};
use touchstone_app::runs::RunActions;

/// Placeholder for an unknown value.
const NONE: &str = "–";
/// Number of tasks that are named; further ones are only counted.
const NAMED: usize = 3;

/// Arguments of `trend`.
#[derive(Debug, Args)]
pub(super) struct Trend {
    #[command(flatten)]
    place: FolderArgs,
    /// What a set of runs is: those of a day, week or month (in UTC), of a folder below the
    /// transcripts, of a file, of a commit that files record, or of a tag of runs or suites
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: By,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long)]
    scorer: Option<String>,
    /// Say what changed since this set, instead of the trends [default: the one before --after]
    #[arg(long, value_name = "SET")]
    before: Option<String>,
    /// Say what changed in this set, instead of the trends [default: the last one]
    #[arg(long, value_name = "SET")]
    after: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum By {
    Day,
    Week,
    Month,
    Folder,
    File,
    Commit,
    Tag,
}

impl From<By> for SetsBy {
    fn from(by: By) -> Self {
        match by {
            By::Day => Self::Day,
            By::Week => Self::Week,
            By::Month => Self::Month,
            By::Folder => Self::Folder,
            By::File => Self::File,
            By::Commit => Self::Commit,
            By::Tag => Self::Tag,
        }
    }
}

pub(super) fn run(asked: &Trend, here: &Environment) -> Outcome {
    RunActions::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.filter)?;
    let trouble = folder::suite_trouble(&app, &asked.filter)?;
    let request = TrendRequest {
        filter: asked.filter.clone(),
        scorer: asked.scorer.clone(),
        by: asked.by.into(),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.before.is_some() || asked.after.is_some() {
        let (before, after) = (asked.before.clone(), asked.after.clone());
        let changes = app.stats().set_changes(&ChangesRequest { trend: request, before, after })?;
        print(&mut out, asked.json, &changes, |out| {
            write_changes(out, changes.as_ref(), Paint(here.colour))
        })?;
    } else {
        let trends = app.stats().trends(&request)?;
        let by = asked.by.into();
        print(&mut out, asked.json, &trends, |out| write(out, &trends, by, Paint(here.colour)))?;
    }
    out.flush()?;
    folder::check_scorers(trouble.left_out.filter(|_| asked.scorer.is_none()))?;
    Ok(CommandStatus::Well)
}

/// Prints as JSON, or as text.
fn print(
    out: &mut dyn Write,
    json: bool,
    document: &impl Serialize,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if !json {
        return text(out);
    }
    serde_json::to_writer(&mut *out, document).map_err(io::Error::from)?;
    writeln!(out)
}

fn write_changes(
    out: &mut dyn Write,
    changes: Option<&SetChanges>,
    paint: Paint,
) -> io::Result<()> {
    let Some(changes) = changes else {
        return writeln!(out, "There is no earlier set to compare with.");
    };
    let side =
        |side: &ChangesSide| format!("{} ({})", one_line(&side.name), counted(side.runs, "run"));
    writeln!(out, "{}, compared with {}.", side(&changes.after), side(&changes.before))?;
    if changes.after.in_both > 0 {
        let runs = counted(changes.after.in_both, "run");
        writeln!(out, "In both sets, so not compared: {runs}.")?;
    }
    for group in &changes.groups {
        writeln!(out, "\n{}", paint.bold(&one_line(&group.name)))?;
        for sentence in group.worse.iter().chain(&group.remarks) {
            writeln!(out, "  {}", one_line(sentence))?;
        }
    }
    Ok(())
}

fn write(out: &mut dyn Write, trends: &Trends, by: SetsBy, paint: Paint) -> io::Result<()> {
    if trends.groups.is_empty() {
        writeln!(out, "No run is in a set.")?;
    }
    for (at, group) in trends.groups.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", paint.bold(&one_line(&group.name)))?;
        table(trends, group).write(out, "  ", paint, &|_, text| text.to_owned())?;
        for point in &group.points {
            if let Some(tasks) = point.new_series {
                let (name, tasks) = (set_name(trends, point), counted(tasks, "task"));
                writeln!(
                    out,
                    "  Not compared before {name}: {tasks} with another text, expected output or \
                     scorer there."
                )?;
            }
            if let Some(change) = &point.change_point {
                let name = set_name(trends, point);
                writeln!(out, "  Change point at {name}: {}.", describe(change))?;
            }
        }
        if let Some(change) = &group.overall {
            writeln!(out, "  Since the first set: {}.", describe(change))?;
        }
    }
    for note in trends.left_out_runs.notes() {
        writeln!(out, "\n{note}")?;
    }
    if trends.left_out > 0 {
        let runs = counted(trends.left_out, "run");
        writeln!(out, "\nIn no set, because {}: {runs}.", by.without())?;
    }
    if trends.sets_left_out > 0 {
        let sets = counted(trends.sets_left_out, "earlier set");
        writeln!(out, "\n{sets} left out. Longer ones show all: --by month")?;
    }
    Ok(())
}

fn table(trends: &Trends, group: &TrendGroup) -> Columns {
    let head = |title: &'static str, right| Head { title: title.into(), right };
    let mut columns = Columns::new(vec![
        head("set", false),
        head("n", true),
        head("score", true),
        head("95 %", true),
        head("passed", true),
        head("error", true),
        head("cost", true),
        head("seconds", true),
        head("change", false),
    ]);
    for point in &group.points {
        columns.row(cells(&set_name(trends, point), point));
    }
    columns
}

fn set_name(trends: &Trends, point: &TrendPoint) -> String {
    let set = usize::try_from(point.set).ok().and_then(|at| trends.sets.get(at));
    set.map_or(NONE.into(), |set| one_line(&set.name).into_owned())
}

fn cells(name: &str, point: &TrendPoint) -> Vec<String> {
    let number = |value: Option<f64>, digits| value.map_or(NONE.into(), |it| fixed(it, digits));
    let interval = point.score.and_then(|score| score.low.zip(score.high));
    vec![
        name.to_owned(),
        point.ends.scored.to_string(),
        number(point.score.map(|score| score.value), 3),
        interval
            .map_or(NONE.into(), |(low, high)| format!("{} to {}", fixed(low, 3), fixed(high, 3))),
        point.passes.map_or(NONE.into(), |it| format!("{}/{}", it.passed, it.of)),
        point.ends.errors.to_string(),
        point.cost.map_or(NONE.into(), |cost| format!("${}", fixed(cost.value, 4))),
        number(point.seconds.map(|seconds| seconds.value), 1),
        point.change.as_ref().map_or(NONE.into(), describe),
    ]
}

/// Describes a change: the verdict, the difference with its interval, and the tasks.
fn describe(change: &TrendChange) -> String {
    let verdict = match change.shown {
        _ if change.pairs == 0 => return no_pairs(change),
        "unclear" => "no difference shown",
        shown => shown,
    };
    let difference = change.difference.map_or(String::new(), |difference| {
        let interval = change.low.zip(change.high);
        let interval = interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", signed(low, 3), signed(high, 3))
        });
        format!(", {}{interval}", signed(difference, 3))
    });
    let kinds =
        [("fails", &change.failed), ("passes now", &change.fixed), ("flaky", &change.flaky)];
    let mut change = format!("{verdict}{difference}");
    for (what, tasks) in kinds.iter().filter(|(_, tasks)| !tasks.is_empty()) {
        let _ = write!(change, "; {what}: {}", named(tasks));
    }
    change
}

/// Says why nothing is compared.
fn no_pairs(change: &TrendChange) -> String {
    match change.not_comparable {
        0 => "no task in common".to_owned(),
        tasks => {
            let tasks = counted(tasks, "task");
            format!("none comparable, {tasks} with another text, expected output or scorer")
        }
    }
}

fn named(tasks: &[String]) -> String {
    let names: Vec<_> = tasks.iter().take(NAMED).map(|task| one_line(task)).collect();
    match tasks.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
