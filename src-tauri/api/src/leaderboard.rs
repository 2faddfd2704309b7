//! **Pure.** Systems with their models beside each other: scores, cost, time and tokens with
//! intervals, and plots of them.
use super::list::FilterError;
use serde::{Deserialize, Serialize};

/// Runs of a leaderboard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LeaderboardRequest {
    /// Filter of the runs, with the syntax of the list.
    pub filter: String,
    /// Scorer whose scores are used; the first scorer of each task if none is given.
    pub scorer: Option<String>,
}

/// Systems with their models, those that are compared first; in each group the highest mean score
/// first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Leaderboard {
    /// Generation of the index that was queried.
    pub generation: u64,
    /// One row per system and model.
    pub rows: Vec<LeaderboardRow>,
    /// Which of those that are not shown to differ is cheapest and which fastest, in a sentence; none
    /// without a choice.
    pub choice: Option<String>,
    /// Which rows the plots leave out because they are not comparable, in a sentence.
    pub not_drawn: Option<String>,
    /// Number of omitted rows: those with the fewest runs.
    pub left_out: u32,
    /// Measure beside the score that decides what is on the Pareto front; none if fewer than two
    /// rows have both.
    pub front_by: Option<FrontMeasure>,
    /// Least and greatest number of tasks and variations over which two rows are compared for it.
    pub front_rows: Option<[u64; 2]>,
    /// Mean cost of a run against mean score; none if fewer than two rows have both.
    pub cost_plot: Option<Scatter>,
    /// Mean time of a run against mean score; none if fewer than two rows have both.
    pub time_plot: Option<Scatter>,
    /// Tokens of the filter that could not be parsed.
    pub misread: Vec<FilterError>,
}

/// Runs of one system with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LeaderboardRow {
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Filter that selects the runs of this row.
    pub filter: String,
    /// Number of runs.
    pub runs: u64,
    /// Number of tasks and variations with scores.
    pub tasks: u64,
    /// Number of these for which the best or highest row has scores, too; none for that row and if
    /// there is none.
    pub shared_tasks: Option<u64>,
    /// True for the best or highest row, with which the others are compared.
    pub is_reference: bool,
    /// Number of runs that ended in a system error.
    pub errors: u64,
    /// Number of runs without a score and without an error.
    pub others: u64,
    /// Mean score.
    pub score: Option<Figure>,
    /// How the interval of the mean score was made.
    pub score_by: Option<IntervalMethod>,
    /// Pass rate.
    pub passes: Option<Figure>,
    /// Number of passed runs.
    pub passed: u64,
    /// Mean cost of a run in dollars, over all runs that report one, also those in error.
    pub cost: Option<Figure>,
    /// Mean active time of a run in seconds.
    pub seconds: Option<Figure>,
    /// Mean number of tokens of a run.
    pub tokens: Option<Figure>,
    /// Number of scores in each tenth of the scale; 1 is in the last.
    pub histogram: Vec<u64>,
    /// Rows that it stands among.
    pub group: RowGroup,
    /// Standing beside the best one; none without a comparison.
    pub standing: Option<Standing>,
    /// Comparison that the standing rests on, or why there is none, as a sentence.
    pub why: Option<String>,
    /// True if no other row beats it in both measures of the Pareto front over the tasks that both
    /// have; none if one of the measures is unknown or no task is in common.
    pub on_front: Option<bool>,
}

/// Imported verdicts of one evaluator on the runs of one system with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct EvaluatorSummary {
    /// Name of the evaluator.
    pub evaluator: String,
    /// `system/model`; the name of the file for rows that other programs wrote.
    pub group: String,
    /// Filter of the runs of the system.
    pub filter: String,
    /// Number of runs whose files have a column of the evaluator.
    pub runs: u64,
    /// Mean of its numbers, on their own scale.
    pub mean: Option<Figure>,
    /// Share of passes among its verdicts that pass or fail.
    pub passes: Option<Figure>,
    /// Number of verdicts that ended in an error.
    pub errors: u64,
}

/// A mean or rate over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Figure {
    /// Mean or rate.
    pub value: f64,
    /// Lower bound of its 95 % confidence interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
    /// Number of runs that it covers.
    pub known: u64,
    /// Number of runs for which the value is unknown.
    pub unknown: u64,
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Wilson's, for scores that are all 0 or 1. It is wide even where all are equal.
    Wilson,
    /// From drawing tasks again and again.
    Bootstrap,
    /// Student's distribution, from how much few tasks differ.
    Student,
}

/// Standing of a system beside the best one, as far as comparisons in pairs show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// All others are shown to be worse.
    Best,
    /// The highest mean, though not all others are shown to be worse.
    Highest,
    /// Not shown to differ from the highest one.
    Tied,
    /// Like `Tied`, on so few common tasks that no test could show a difference.
    TooFew,
    /// Shown to be worse.
    Behind,
    /// Neither is shown: no system is better than all others, the test and the interval of the
    /// difference disagree, or there are too many systems to compare all.
    Open,
    /// No task in common with the best one.
    Apart,
    /// The reference solution of the tasks, which is not ranked.
    Solution,
}

/// Rows of a leaderboard that stand together, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum RowGroup {
    /// The best or highest row, and those that share tasks with it.
    Common,
    /// Reference solutions.
    Solution,
    /// No task in common with the best or highest row.
    Apart,
    /// Scores, but no two rows are compared.
    Uncompared,
    /// No scores.
    Unscored,
}

/// Measure beside the score on a Pareto front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum FrontMeasure {
    /// Mean cost.
    Cost,
    /// Mean time, where no cost is known.
    Seconds,
}

/// Plot of a measure against the mean score, as positions to be drawn, in pixels from the top left.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Scatter {
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
    /// Title of the horizontal axis.
    pub title: String,
    /// Marks of the horizontal axis.
    pub x_ticks: Vec<Tick>,
    /// Marks of the vertical axis, which shows the score.
    pub y_ticks: Vec<Tick>,
    /// Points, one per row that has both measures.
    pub points: Vec<ScatterPoint>,
    /// True if the labels are the numbers of the rows, because their names do not fit.
    pub numbered: bool,
    /// Number of rows that lack a measure.
    pub left_out: u32,
}

/// Mark of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct Tick {
    /// Position along the axis.
    pub at: f64,
    /// Value.
    pub label: String,
}

/// Point of a plot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScatterPoint {
    /// Index of the row.
    pub row: u32,
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// Horizontal ends of the interval of the measure.
    pub x_range: Option<[f64; 2]>,
    /// True if the interval goes on before the beginning of the axis.
    pub x_cut: bool,
    /// Vertical ends of the interval of the score.
    pub y_range: Option<[f64; 2]>,
    /// Kind of mark: one per system, repeated after four.
    pub shape: u32,
    /// True if no other row beats it in both measures of the plot over the tasks that both have.
    pub on_front: bool,
    /// Label, if there is room for it.
    pub label: Option<ScatterLabel>,
}

/// Label of a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct ScatterLabel {
    /// Shortened name, or number of the row from 1.
    pub text: String,
    /// Horizontal position of its left end.
    pub x: f64,
    /// Vertical position of its baseline.
    pub y: f64,
    /// End of the line that connects it to its point, if it is not beside it.
    pub line: Option<[f64; 2]>,
}
