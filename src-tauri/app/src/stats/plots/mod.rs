//! **Pure.** Positions of plots, computed once for the page and for reports: axes with round marks,
//! points with intervals, and labels that do not cover each other.
mod axis;
mod labels;
mod lines;
mod names;

use axis::Axis;
use labels::{Area, Placed};
use std::collections::BTreeSet;
use touchstone_api::{Figure, LeaderboardRow, RowGroup, Scatter, ScatterLabel, ScatterPoint};

pub(crate) use lines::{Line, lines};
use names::shorten;

/// Size of a plot, and the space for its axes.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Number of different marks.
const SHAPES: u32 = 4;
/// Maximum number of characters of a label.
const LABEL_CHARS: usize = 18;
/// Maximum number of points that are labelled by name.
const MOST_NAMED: usize = 16;

/// Measure of the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Mean cost of a run.
    Cost,
    /// Mean time of a run.
    Seconds,
}

impl Measure {
    fn title(self, is_log: bool) -> String {
        let title = match self {
            Self::Cost => "Mean cost of a run",
            Self::Seconds => "Mean time of a run",
        };
        if is_log { format!("{title} (logarithmic)") } else { title.to_owned() }
    }
}

/// System with its model, as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn<'a> {
    pub(crate) system: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    /// True if it is compared with the others of the plot.
    pub(crate) is_compared: bool,
    pub(crate) score: Option<Figure>,
    /// Value of the horizontal axis.
    pub(crate) amount: Option<Figure>,
    /// True if no other one beats it in both measures over the tasks that both have.
    pub(crate) on_front: bool,
}

impl<'a> Drawn<'a> {
    /// Returns a row of a leaderboard with the values of a plot.
    pub(crate) fn of_row(row: &'a LeaderboardRow, measure: Measure, on_front: bool) -> Self {
        let amount = match measure {
            Measure::Cost => row.cost,
            Measure::Seconds => row.seconds,
        };
        let (system, model) = (row.system.as_deref(), row.model.as_deref());
        let is_compared = row.group == RowGroup::Common;
        Self { system, model, is_compared, score: row.score, amount, on_front }
    }

    fn name(&self) -> String {
        let system = self.system.unwrap_or("no system");
        format!("{system} · {}", self.model.unwrap_or("no model"))
    }
}

/// Point before the axes are known.
struct KnownPoint<'a> {
    row: usize,
    amount: Figure,
    score: Figure,
    of: &'a Drawn<'a>,
}

/// Returns the plot of a measure against the mean score, of those that are compared. `None` if fewer
/// than two have both.
pub(crate) fn scatter(all: &[Drawn<'_>], measure: Measure) -> Option<Scatter> {
    let known = |(row, of)| {
        let of: &Drawn<'_> = of;
        of.is_compared.then_some(())?;
        Some(KnownPoint { row, amount: of.amount?, score: of.score?, of })
    };
    let compared = all.iter().filter(|one| one.is_compared).count();
    let points: Vec<KnownPoint<'_>> = all.iter().enumerate().filter_map(known).collect();
    let ends = |it: Figure| [it.low.unwrap_or(it.value), it.high.unwrap_or(it.value)];
    let values: Vec<f64> = points.iter().map(|point| point.amount.value).collect();
    if points.len() < 2 || values.iter().all(|value| *value <= 0.0) {
        return None;
    }
    let reach = points.iter().flat_map(|point| ends(point.amount)).fold(0.0, f64::max);
    let x_axis = Axis::of_amounts(&values, reach, measure == Measure::Cost, (LEFT, WIDTH - RIGHT));
    let scores: Vec<f64> = points.iter().flat_map(|point| ends(point.score)).collect();
    let y_axis = Axis::of_scores(&scores, (HEIGHT - BOTTOM, TOP));
    let systems: BTreeSet<Option<&str>> = all.iter().map(|one| one.system).collect();
    let shape = |of: &Drawn<'_>| {
        let at = systems.iter().position(|system| *system == of.system);
        at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0) % SHAPES
    };
    let at: Vec<(f64, f64)> = points
        .iter()
        .map(|it| (x_axis.position(it.amount.value), y_axis.position(it.score.value)))
        .collect();
    let (numbered, labels) = labelled(all, &points, &at);
    let drawn = points.iter().zip(&at).zip(labels).map(|((point, (x, y)), label)| ScatterPoint {
        row: u32::try_from(point.row).unwrap_or(u32::MAX),
        x: round(*x),
        y: round(*y),
        x_range: range(point.amount, &x_axis),
        x_cut: point.amount.low.is_some_and(|low| x_axis.is_before(low)),
        y_range: range(point.score, &y_axis),
        shape: shape(point.of),
        on_front: point.of.on_front,
        label,
    });
    Some(Scatter {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: WIDTH - RIGHT,
        top: TOP,
        bottom: HEIGHT - BOTTOM,
        title: measure.title(x_axis.is_log()),
        x_ticks: x_axis.ticks(),
        y_ticks: y_axis.ticks(),
        points: drawn.collect(),
        numbered,
        left_out: u32::try_from(compared - points.len()).unwrap_or(u32::MAX),
    })
}

/// Returns the labels of points: names if all have room, else the numbers of the rows.
fn labelled(
    all: &[Drawn<'_>],
    points: &[KnownPoint<'_>],
    at: &[(f64, f64)],
) -> (bool, Vec<Option<ScatterLabel>>) {
    let area = Area { left: LEFT, top: TOP - 8.0, right: WIDTH, bottom: HEIGHT - BOTTOM };
    let names: Vec<String> = all.iter().map(Drawn::name).collect();
    let short = shorten(&names, LABEL_CHARS);
    let texts: Vec<String> = points.iter().map(|point| short[point.row].clone()).collect();
    if points.len() <= MOST_NAMED {
        let placed: Option<Vec<Placed>> =
            labels::place_labels(&texts, at, area).into_iter().collect();
        if let Some(placed) = placed {
            let all = placed.into_iter().zip(texts).map(|(it, text)| Some(it.label(text)));
            return (false, all.collect());
        }
    }
    let texts: Vec<String> = points.iter().map(|point| (point.row + 1).to_string()).collect();
    let placed = labels::place_labels(&texts, at, area);
    (true, placed.into_iter().zip(texts).map(|(it, text)| Some(it?.label(text))).collect())
}

fn range(figure: Figure, axis: &Axis) -> Option<[f64; 2]> {
    Some([round(axis.position(figure.low?)), round(axis.position(figure.high?))])
}

/// Returns the path of the arrow at the left end of an interval that goes on beyond the axis.
pub(crate) fn arrow(x: f64, y: f64) -> String {
    format!("M{} {}L{x} {y}L{} {}", x + 4.0, y - 3.5, x + 4.0, y + 3.5)
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(model: &str, score: f64, amount: Option<f64>) -> Drawn<'_> {
        let figure = |value: f64| Figure {
            value,
            low: Some(value * 0.9),
            high: Some(value * 1.1),
            known: 3,
            unknown: 0,
        };
        let score = Some(Figure { high: Some((score * 1.1).min(1.0)), ..figure(score) });
        let amount = amount.map(figure);
        let system = Some("s");
        Drawn { system, model: Some(model), is_compared: true, score, amount, on_front: false }
    }

    fn texts(plot: &Scatter) -> Vec<&str> {
        plot.points.iter().filter_map(|it| Some(it.label.as_ref()?.text.as_str())).collect()
    }

    #[test]
    fn what_lacks_a_measure_is_no_point_and_is_counted() {
        let rows = [drawn("a", 0.5, Some(1.0)), drawn("b", 0.6, None), drawn("c", 0.7, Some(2.0))];
        let plot = scatter(&rows, Measure::Cost).unwrap();
        assert_eq!(plot.points.iter().map(|point| point.row).collect::<Vec<_>>(), [0, 2]);
        assert_eq!((plot.left_out, plot.numbered), (1, false));
        assert_eq!(texts(&plot), ["s · a", "s · c"]);
        assert_eq!(scatter(&rows[..2], Measure::Cost), None, "one point is no plot");
        let apart = Drawn { is_compared: false, ..drawn("d", 1.0, Some(9.0)) };
        let others = scatter(&[&rows[..], &[apart]].concat(), Measure::Cost);
        assert_eq!(others, Some(plot), "nor is one that is not compared a point");
    }

    #[test]
    fn points_and_intervals_are_within_the_axes() {
        let names: Vec<String> = (0..40).map(|n| format!("m{n}")).collect();
        let cost = |n: u32| Some(0.001 * f64::from(1 + n * n));
        let rows: Vec<Drawn<'_>> = (0..40_u32)
            .zip(&names)
            .map(|(n, name)| drawn(name, f64::from(n % 7) / 6.0, cost(n)))
            .collect();
        let plot = scatter(&rows, Measure::Cost).unwrap();
        for point in &plot.points {
            let xs = point.x_range.unwrap_or([point.x; 2]).into_iter().chain([point.x]);
            let ys = point.y_range.unwrap_or([point.y; 2]).into_iter().chain([point.y]);
            for x in xs {
                assert!((plot.left..=plot.right).contains(&x), "{point:?}");
            }
            for y in ys {
                assert!((plot.top..=plot.bottom).contains(&y), "{point:?}");
            }
        }
        assert!(plot.numbered, "so many names have no room");
        assert_eq!(texts(&plot)[..3], ["1", "2", "3"]);
    }

    #[test]
    fn equal_points_keep_their_labels_apart() {
        let names: Vec<String> = (0..6).map(|n| format!("model-{n}")).collect();
        let rows: Vec<Drawn<'_>> = names.iter().map(|name| drawn(name, 0.5, Some(1.0))).collect();
        let plot = scatter(&rows, Measure::Cost).unwrap();
        let at: Vec<(f64, f64)> =
            plot.points.iter().filter_map(|it| it.label.as_ref()).map(|it| (it.x, it.y)).collect();
        for (index, one) in at.iter().enumerate() {
            for other in &at[..index] {
                assert!(
                    (one.1 - other.1).abs() >= 13.0 || (one.0 - other.0).abs() > 40.0,
                    "{at:?}"
                );
            }
        }
    }

    #[test]
    fn an_interval_that_goes_on_beyond_the_axis_is_marked() {
        let from_zero = |row: Drawn<'static>| Drawn {
            amount: row.amount.map(|amount| Figure { low: Some(0.0), ..amount }),
            ..row
        };
        let rows = [from_zero(drawn("a", 0.5, Some(1.0))), drawn("b", 0.6, Some(100.0))];
        let plot = scatter(&rows, Measure::Cost).unwrap();
        assert_eq!(plot.points.iter().map(|it| it.x_cut).collect::<Vec<_>>(), [true, false]);
        let near = [from_zero(drawn("a", 0.5, Some(1.0))), drawn("b", 0.6, Some(2.0))];
        let plot = scatter(&near, Measure::Cost).unwrap();
        assert!(plot.points.iter().all(|it| !it.x_cut), "a linear axis begins at 0");
    }
}
