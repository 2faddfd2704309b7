//! **Pure.** Trends of systems over sets of runs, and what changed between two sets.
use super::gate::{Gate, GateChange};
use super::leaderboard::{Figure, Tick};
use super::list::{FilterError, LeftOut};
use super::stats::{StatsEnds, StatsEstimate, StatsPasses};
use serde::{Deserialize, Serialize};

/// Way in which runs are grouped into sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum SetsBy {
    /// Day on which a run started, in UTC.
    Day,
    /// Week, from Monday.
    Week,
    /// Month.
    Month,
    /// First folder below the output directory.
    Folder,
    /// File that holds the runs.
    File,
    /// Commit that the files of the runs record.
    Commit,
    /// Tag of the run or of the suite of its task. A run with several tags is in several sets.
    Tag,
}

impl SetsBy {
    /// Returns what runs in no set lack, as the end of a sentence.
    pub const fn without(self) -> &'static str {
        match self {
            SetsBy::Day | SetsBy::Week | SetsBy::Month => "their time is not known",
            SetsBy::Folder | SetsBy::File => "they lie in no folder",
            SetsBy::Commit => "their files name no commit",
            SetsBy::Tag => "neither they nor their suites have a tag",
        }
    }

    /// Returns the word for these sets.
    pub const fn word(self) -> &'static str {
        match self {
            SetsBy::Day => "day",
            SetsBy::Week => "week",
            SetsBy::Month => "month",
            SetsBy::Folder => "folder",
            SetsBy::File => "file",
            SetsBy::Commit => "commit",
            SetsBy::Tag => "tag",
        }
    }
}

/// Runs for a trend.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendRequest {
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer whose scores are used; the first scorer of each task if none is given.
    pub scorer: Option<String>,
    /// Way in which runs are grouped into sets.
    pub by: SetsBy,
}

/// Trends of all systems, with plots of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct History {
    /// Generation of the index that was queried.
    pub generation: u64,
    /// The trends.
    pub trends: Trends,
    /// One plot for each measure that any run has.
    pub plots: Vec<TrendPlot>,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
}

/// Trends of all systems.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Trends {
    /// Sets of runs, in the order of their first run.
    pub sets: Vec<TrendSet>,
    /// Number of earlier sets that are left out.
    pub sets_left_out: u64,
    /// One group per system and model, in order.
    pub groups: Vec<TrendGroup>,
    /// Number of runs in no set: they lie in no folder, or name no commit or tag.
    pub left_out: u64,
    /// Number of comparisons that the 5 % of all claims are divided among.
    pub looked_at: u64,
    /// Matching runs that no other number here includes.
    #[serde(flatten)]
    pub left_out_runs: LeftOut,
}

/// A set of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendSet {
    /// Name: the day, week, month, folder, file, commit or tag.
    pub name: String,
    /// Filter of its runs, beside that of all.
    pub filter: String,
    /// Time of its first run, in seconds since 1970.
    pub from: Option<f64>,
    /// Number of runs.
    pub runs: u64,
}

/// Trend of a system with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendGroup {
    /// `system/model`.
    pub name: String,
    /// Filter of its runs.
    pub filter: String,
    /// One point per set with runs of the system.
    pub points: Vec<TrendPoint>,
    /// Comparison of the last set with the first, if there are more than two.
    pub overall: Option<TrendChange>,
}

/// Runs of a system in a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendPoint {
    /// Index of the set.
    pub set: u64,
    /// Outcomes of the runs.
    #[serde(flatten)]
    pub ends: StatsEnds,
    /// Mean score.
    pub score: Option<StatsEstimate>,
    /// Pass rate, if a scorer or a reviewer decides passes.
    pub passes: Option<StatsPasses>,
    /// Mean cost in dollars of the runs for which it is known.
    pub cost: Option<Figure>,
    /// Mean duration in seconds of the runs for which it is known.
    pub seconds: Option<Figure>,
    /// Comparison with the preceding set.
    pub change: Option<TrendChange>,
    /// At a change point, the comparison of the sets from here to the next one with those before.
    pub change_point: Option<TrendChange>,
    /// At the start of a new series, the number of tasks that cannot be compared with earlier sets:
    /// their text, expected output or scorer changed.
    pub new_series: Option<u64>,
}

/// Change of the score between earlier and later runs, over the tasks that have a score in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendChange {
    /// Mean difference, later minus earlier.
    pub difference: Option<f64>,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the difference; none for a single task.
    pub p: Option<f64>,
    /// `better` or `worse` if both the test and the interval show it, with the 5 % divided among
    /// all comparisons of the trends; else `unclear`.
    pub shown: &'static str,
    /// Tasks that passed and fail now.
    pub failed: Vec<String>,
    /// Tasks that failed and pass now.
    pub fixed: Vec<String>,
    /// Tasks with another result whose repeats disagree.
    pub flaky: Vec<String>,
    /// Number of tasks with a score in both sets that can be compared.
    pub pairs: u64,
    /// Number of tasks with a score in both sets whose text, expected output or scorer changed.
    pub not_comparable: u64,
}

/// Measure of a plot over sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum TrendMeasure {
    /// Mean score.
    Score,
    /// Pass rate.
    Passes,
    /// Mean cost of a run.
    Cost,
    /// Mean time of a run.
    Seconds,
}

/// Plot of a measure over sets, as positions to be drawn, in pixels from the top left.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendPlot {
    /// Measure.
    pub measure: TrendMeasure,
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
    /// Left edge of the area between the axes.
    pub left: f64,
    /// Right edge of the area.
    pub right: f64,
    /// Top edge of the area.
    pub top: f64,
    /// Bottom edge of the area.
    pub bottom: f64,
    /// Title of the vertical axis.
    pub title: String,
    /// Marks of the horizontal axis: the names of sets, as many as there is room for.
    pub x_ticks: Vec<Tick>,
    /// Marks of the vertical axis.
    pub y_ticks: Vec<Tick>,
    /// One line per group that has the measure.
    pub lines: Vec<TrendLine>,
    /// Number of groups that are not drawn: those with the fewest runs.
    pub left_out: u32,
}

/// Line of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendLine {
    /// Index of the group.
    pub group: u32,
    /// Kind of line and mark: one per line.
    pub look: u32,
    /// Points, in the order of the sets.
    pub dots: Vec<TrendDot>,
    /// Shortened name of the group.
    pub label: String,
    /// Vertical position of the baseline of the label, at the right edge.
    pub label_y: f64,
}

/// Point of a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TrendDot {
    /// Index among the points of the group.
    pub point: u32,
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// Vertical ends of the interval.
    pub range: Option<[f64; 2]>,
}

/// Two sets of runs to compare.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ChangesRequest {
    /// Filter, scorer and sets.
    pub trend: TrendRequest,
    /// Name of the earlier set; the one before the later set if none is given.
    pub before: Option<String>,
    /// Name of the later set; the last one if none is given.
    pub after: Option<String>,
}

/// What changed between two sets of runs, by the rules of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct SetChanges {
    /// Earlier runs.
    pub before: ChangesSide,
    /// Later runs.
    pub after: ChangesSide,
    /// One group per system and model, in order.
    pub groups: Vec<ChangesGroup>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ChangesSide {
    /// Name of the set, or of the baseline file.
    pub name: String,
    /// Filter of its runs; none for a baseline file, whose runs are not in the folder.
    pub filter: Option<String>,
    /// Number of runs that are compared.
    pub runs: u64,
    /// Number of runs that are in the other set as well, as a run may have several tags: they are not
    /// compared.
    pub in_both: u64,
}

/// A system with a model, in both sets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ChangesGroup {
    /// `system/model`.
    pub name: String,
    /// Filter of its runs.
    pub filter: String,
    /// What is worse or lost, in sentences.
    pub worse: Vec<String>,
    /// Other changes, in sentences.
    pub remarks: Vec<String>,
    /// Number of tasks and variations with a score in both sets.
    pub pairs: u64,
    /// Score.
    pub score: Option<ChangedMeasure>,
    /// Dollars per run.
    pub cost: Option<ChangedMeasure>,
    /// Seconds per run.
    pub seconds: Option<ChangedMeasure>,
    /// Changed tasks and variations, in order. One with several changes is there several times.
    pub tasks: Vec<ChangedTask>,
}

/// Measure over the pairs for which both sides know it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ChangedMeasure {
    /// Mean of the earlier runs.
    pub before: f64,
    /// Mean of the later runs.
    pub after: f64,
    /// Mean difference, later minus earlier.
    pub difference: f64,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// P-value of the difference; none for a single task.
    pub p: Option<f64>,
    /// `better` or `worse` if both the test and the interval show it, with the 5 % divided as in
    /// the trends; else `unclear`.
    pub shown: &'static str,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of pairs whose later runs are worse: a lower score, or more dollars or seconds.
    pub worse: u64,
    /// Number of pairs whose later runs are better.
    pub better: u64,
}

/// A changed task in a variation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ChangedTask {
    /// Name of the task and its variation.
    pub name: String,
    /// Kind of change.
    pub change: GateChange,
    /// Earlier runs; none if there are no runs.
    pub before: Option<TaskOutcome>,
    /// Later runs.
    pub after: Option<TaskOutcome>,
    /// Filter of its runs, beside those of the system and of the set.
    pub filter: String,
    /// Runs that show the change, the earlier one first, if both sides have runs in the folder.
    pub compare: Option<[String; 2]>,
}

/// Runs of a task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct TaskOutcome {
    /// Number of runs.
    pub runs: u64,
    /// Mean score.
    pub score: Option<f64>,
    /// Number of runs that passed.
    pub passed: u64,
    /// Number of runs that passed or failed.
    pub decided: u64,
}

/// The runs of the folder beside its baseline file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct BaselineView {
    /// Path of the baseline file.
    pub path: String,
    /// True if the file is there.
    pub exists: bool,
    /// Comparison of the runs with it, by the default rules of `touchstone gate`.
    pub gate: Option<Gate>,
    /// The comparison as Markdown.
    pub markdown: String,
    /// What changed.
    pub changes: Option<SetChanges>,
    /// Why the file cannot be read or written, as a sentence with the next step.
    pub trouble: Option<String>,
}

/// A baseline file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct BaselineSaved {
    /// Path of the file.
    pub path: String,
    /// Number of runs.
    pub runs: u64,
    /// Number of runs with a score.
    pub scored: u64,
    /// Filter that chose them.
    pub filter: String,
}
