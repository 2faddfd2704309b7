//! **Pure.** Positions of a plot of lines over sets of runs, with the names of the lines beside their
//! ends.
use super::axis::Axis;
use super::names::shorten;
use super::{BOTTOM, LABEL_CHARS, LEFT, TOP, range, round};
use touchstone_api::{Figure, Tick, TrendDot, TrendLine, TrendMeasure, TrendPlot};

/// Size of a plot, and space before the names at the right edge.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const BEFORE_NAME: f64 = 25.0;
/// Maximum number of characters of the name of a line; there is room for at least `LABEL_CHARS`.
const NAME_CHARS: usize = 44;
/// Maximum number of lines, and of the characters of the name of a set.
const MOST_LINES: usize = 8;
const SET_CHARS: usize = 16;
/// Width of a character, and distance of the names of lines.
const CHAR: f64 = 6.7;
const NAME_HEIGHT: f64 = 15.0;
/// Largest distance of two points of one set.
const APART: f64 = 8.0;

/// Points of a group.
pub(crate) struct Line<'a> {
    /// Index of the group.
    pub(crate) group: usize,
    pub(crate) name: &'a str,
    pub(crate) runs: u64,
    /// Index of each point among those of the group, its set, and its value.
    pub(crate) points: Vec<(usize, usize, Figure)>,
}

/// Returns the plot of a measure; `None` if no group has it.
pub(crate) fn lines(
    measure: TrendMeasure,
    sets: &[&str],
    mut all: Vec<Line<'_>>,
) -> Option<TrendPlot> {
    all.retain(|line| !line.points.is_empty());
    let left_out = all.len().saturating_sub(MOST_LINES);
    all.sort_by_key(|line| std::cmp::Reverse(line.runs));
    all.truncate(MOST_LINES);
    all.sort_by_key(|line| line.group);
    let figures = || all.iter().flat_map(|line| line.points.iter().map(|(.., figure)| *figure));
    let ends = |it: Figure| [it.low.unwrap_or(it.value), it.high.unwrap_or(it.value)];
    let (top, bottom) = (TOP, HEIGHT - BOTTOM);
    let values: Vec<f64> = figures().map(|figure| figure.value).collect();
    let reach: Vec<f64> = figures().flat_map(ends).chain(values.iter().copied()).collect();
    let axis = match measure {
        _ if values.is_empty() => return None,
        TrendMeasure::Score | TrendMeasure::Passes => Axis::of_scores(&reach, (bottom, top)),
        TrendMeasure::Cost | TrendMeasure::Seconds => {
            let most = reach.iter().copied().fold(0.0, f64::max);
            if most <= 0.0 {
                return None;
            }
            Axis::of_amounts(&values, most, measure == TrendMeasure::Cost, (bottom, top))
        }
    };
    let longest = all.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let name_chars = longest.clamp(LABEL_CHARS, NAME_CHARS);
    let (left, right) = (LEFT + 12.0, WIDTH - BEFORE_NAME - float(name_chars) * CHAR);
    let band = (right - left) / float(sets.len().max(1));
    let apart = (band * 0.6 / float(all.len().max(1))).min(APART);
    let middle = (float(all.len()) - 1.0) / 2.0;
    let place = |set: usize| left + band * (float(set) + 0.5);
    let names: Vec<String> = all.iter().map(|line| line.name.to_owned()).collect();
    let mut drawn: Vec<TrendLine> = all
        .iter()
        .zip(shorten(&names, name_chars))
        .enumerate()
        .map(|(at, (line, label))| {
            let dot = |(point, set, figure): &(usize, usize, Figure)| TrendDot {
                point: small(*point),
                x: round(place(*set) + (float(at) - middle) * apart),
                y: round(axis.position(figure.value)),
                range: range(*figure, &axis),
            };
            let dots: Vec<TrendDot> = line.points.iter().map(dot).collect();
            let label_y = dots.last().map_or(bottom, |dot| dot.y) + 4.0;
            TrendLine { group: small(line.group), look: small(at), dots, label, label_y }
        })
        .collect();
    spread(&mut drawn, top + 4.0, bottom + 4.0);
    let title = match measure {
        TrendMeasure::Score => "Mean score",
        TrendMeasure::Passes => "Pass rate",
        TrendMeasure::Cost => "Mean cost of a run",
        TrendMeasure::Seconds => "Mean time of a run",
    };
    Some(TrendPlot {
        measure,
        width: WIDTH,
        height: HEIGHT,
        left,
        right,
        top,
        bottom,
        title: if axis.is_log() { format!("{title} (logarithmic)") } else { title.to_owned() },
        x_ticks: set_ticks(sets, band, place),
        y_ticks: axis.ticks(),
        lines: drawn,
        left_out: small(left_out),
    })
}

/// Returns the names of as many sets as there is room for, always of the last one.
fn set_ticks(sets: &[&str], band: f64, place: impl Fn(usize) -> f64) -> Vec<Tick> {
    let names: Vec<String> = sets.iter().map(|name| (*name).to_owned()).collect();
    let short = shorten(&names, SET_CHARS);
    let widest = short.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let needed = float(widest) * CHAR + 10.0;
    let every = (1..=sets.len()).find(|every| float(*every) * band >= needed).unwrap_or(sets.len());
    let mut ticks: Vec<Tick> = short
        .into_iter()
        .enumerate()
        .rev()
        .step_by(every.max(1))
        .map(|(at, label)| Tick { at: round(place(at)), label })
        .collect();
    ticks.reverse();
    ticks
}

/// Moves names apart that would cover each other, as little as possible within an area.
fn spread(lines: &mut [TrendLine], top: f64, bottom: f64) {
    let mut order: Vec<&mut TrendLine> = lines.iter_mut().collect();
    order.sort_by(|one, other| one.label_y.total_cmp(&other.label_y));
    let mut least = top;
    for line in &mut order {
        line.label_y = line.label_y.max(least);
        least = line.label_y + NAME_HEIGHT;
    }
    let mut most = bottom;
    for line in order.iter_mut().rev() {
        line.label_y = round(line.label_y.min(most));
        most = line.label_y - NAME_HEIGHT;
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sets and lines are small")]
fn float(count: usize) -> f64 {
    count as f64
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(group: usize, name: &'static str, values: &[f64]) -> Line<'static> {
        let figure = |value: f64| Figure {
            value,
            low: Some(value * 0.8),
            high: Some((value * 1.1).min(1.0)),
            known: 3,
            unknown: 0,
        };
        let points = values.iter().enumerate().map(|(at, value)| (at, at, figure(*value)));
        Line { group, name, runs: 10 - group as u64, points: points.collect() }
    }

    #[test]
    fn names_of_lines_do_not_cover_each_other_and_stay_within_the_plot() {
        let all = (0..7).map(|at| line(at, "a/b", &[0.9, 1.0])).collect();
        let plot = lines(TrendMeasure::Score, &["one", "two"], all).unwrap();
        let mut names: Vec<f64> = plot.lines.iter().map(|line| line.label_y).collect();
        names.sort_by(f64::total_cmp);
        assert!(names.windows(2).all(|two| two[1] - two[0] >= NAME_HEIGHT - 0.2), "{names:?}");
        assert!(names[0] >= plot.top && names[6] <= plot.bottom + 4.0, "{names:?}");
    }

    #[test]
    fn names_of_lines_are_whole_where_they_have_room() {
        let name = "tool_calling_python/claude-3-7-sonnet";
        let plot = lines(TrendMeasure::Score, &["one"], vec![line(0, name, &[0.9])]).unwrap();
        assert_eq!(plot.lines[0].label, name);
        assert!(plot.right < plot.width - 37.0 * CHAR);
    }

    #[test]
    fn points_of_one_set_lie_beside_each_other_and_within_the_axes() {
        let plot =
            lines(TrendMeasure::Score, &["a"], vec![line(0, "x", &[0.5]), line(1, "y", &[0.5])]);
        let plot = plot.unwrap();
        let [one, other] = [0, 1].map(|at| &plot.lines[at].dots[0]);
        assert!(one.x < other.x && one.x > plot.left && other.x < plot.right);
        let [low, high] = one.range.unwrap();
        assert!(plot.top <= high && high < one.y && one.y < low && low <= plot.bottom);
    }

    #[test]
    fn sets_are_named_as_far_as_there_is_room_and_the_last_one_always() {
        let names: Vec<String> = (10..40).map(|day| format!("2026-01-{day}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let plot = lines(TrendMeasure::Score, &names, vec![line(0, "x", &[0.5; 30])]).unwrap();
        assert_eq!(plot.x_ticks.last().map(|tick| tick.label.as_str()), Some("2026-01-39"));
        let apart = plot.x_ticks.windows(2).map(|two| two[1].at - two[0].at);
        assert!(plot.x_ticks.len() > 4 && apart.fold(f64::MAX, f64::min) > 70.0);
    }

    #[test]
    fn a_measure_that_no_run_has_is_no_plot_and_the_groups_with_most_runs_are_drawn() {
        assert_eq!(lines(TrendMeasure::Cost, &["a"], vec![line(0, "x", &[])]), None);
        assert_eq!(lines(TrendMeasure::Cost, &["a"], vec![line(0, "x", &[0.0])]), None);
        let all = (0..10).map(|at| line(at, "x", &[0.5])).collect();
        let plot = lines(TrendMeasure::Score, &["a"], all).unwrap();
        let drawn: Vec<u32> = plot.lines.iter().map(|line| line.group).collect();
        assert_eq!((drawn, plot.left_out), ((0..8).collect(), 2));
    }
}
