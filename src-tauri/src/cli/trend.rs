//! `trend`: follows each system over days, folders or files, and tells a change from noise.
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use touchstone_api::{SetsBy, TrendChange, TrendGroup, TrendPoint, TrendRequest, Trends};
use touchstone_app::app::App;
use touchstone_app::number_format::{fixed, signed};

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
    /// transcripts, or of a file
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: By,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long)]
    scorer: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Week,
    Month,
    Folder,
    File,
}

impl From<By> for SetsBy {
    fn from(by: By) -> Self {
        match by {
            By::Day => Self::Day,
            By::Week => Self::Week,
            By::Month => Self::Month,
            By::Folder => Self::Folder,
            By::File => Self::File,
        }
    }
}

pub(super) fn run(asked: &Trend, here: &Environment) -> Outcome {
    App::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    let trouble = folder::suite_trouble(&app, &asked.filter)?;
    let trends = app.trends(&TrendRequest {
        filter: asked.filter.clone(),
        scorer: asked.scorer.clone(),
        by: asked.by.into(),
    })?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        serde_json::to_writer(&mut out, &trends).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write(&mut out, &trends, Paint(here.colour))?;
    }
    out.flush()?;
    folder::check_scorers(trouble.left_out.filter(|_| asked.scorer.is_none()))?;
    Ok(CommandStatus::Well)
}

fn write(out: &mut dyn Write, trends: &Trends, paint: Paint) -> io::Result<()> {
    if trends.groups.is_empty() {
        writeln!(out, "No run is in a set.")?;
    }
    for (at, group) in trends.groups.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", paint.bold(&one_line(&group.name)))?;
        table(trends, group).write(out, "  ", paint, &|_, text| text.to_owned())?;
        if let Some(change) = &group.overall {
            writeln!(out, "  Since the first set: {}.", describe(change))?;
        }
    }
    if trends.left_out > 0 {
        writeln!(out, "\n{} runs are in no set.", trends.left_out)?;
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
        let set = usize::try_from(point.set).ok().and_then(|at| trends.sets.get(at));
        let name = set.map_or(NONE.into(), |set| one_line(&set.name));
        columns.row(cells(&name, point));
    }
    columns
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
        point.cost.map_or(NONE.into(), |cost| format!("${}", fixed(cost, 4))),
        number(point.seconds, 1),
        point.change.as_ref().map_or(NONE.into(), describe),
    ]
}

/// Describes a change: the verdict, the difference with its interval, and the tasks.
fn describe(change: &TrendChange) -> String {
    let verdict = match change.shown {
        _ if change.pairs == 0 => return "no task in common".to_owned(),
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

fn named(tasks: &[String]) -> String {
    let names: Vec<_> = tasks.iter().take(NAMED).map(|task| one_line(task)).collect();
    match tasks.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
