//! **Pure.** Charts of a report as SVG with text alternatives. Colours are classes of the style
//! sheet.
use crate::escape::one_line;
use crate::reports::page::{Cell, Estimate, Group, TaskLine};
use crate::reports::words::{self, Tone};
use crate::stats::plots::{self, Drawn, Measure};
use maud::{Markup, html};
use touchstone_api::{
    Figure, RowGroup, Scatter, ScatterPoint, TrendDot, TrendLine, TrendPlot, Trends,
};

/// Width of the name column (`NAMES`) and of the plot area (`MARKS`), and height of a line.
const NAMES: f64 = 260.0;
const MARKS: f64 = 460.0;
const LINE: f64 = 26.0;
/// Maximum characters of a name, which fit into the name column.
const NAME_CHARS: usize = 38;
/// Maximum number of lines of a heat map. Above it the variations of a task are merged; if that is
/// not enough, only the table is shown.
const MAX_LINES: usize = 400;

/// Draws the mean score with interval, one line per group.
pub(super) fn scores(groups: &[&Group]) -> Markup {
    let scored: Vec<(&Group, Estimate)> =
        groups.iter().filter_map(|group| Some((*group, group.score?))).collect();
    let height = LINE * float(scored.len()) + 34.0;
    let x = |value: f64| NAMES + MARKS * value.clamp(0.0, 1.0);
    html! {
        svg viewBox=(format!("0 0 {} {height}", NAMES + MARKS + 150.0))
            width=(NAMES + MARKS + 150.0)
            role="img" aria-label="Mean score of each system with each model" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.grid x1=(x(tick)) x2=(x(tick)) y1="4" y2=(height - 24.0) {}
                text.soft x=(x(tick)) y=(height - 8.0) text-anchor="middle" { (tick) }
            }
            @for (at, (group, score)) in scored.iter().enumerate() {
                @let y = LINE * float(at) + 16.0;
                g {
                    title { (one_line(&group.name)) ": " (words::estimate(Some(*score))) }
                    text x=(NAMES - 12.0) y=(y + 4.0) text-anchor="end" { (short(&group.name)) }
                    @if let (Some(low), Some(high)) = (score.low, score.high) {
                        line.span x1=(round(x(low))) x2=(round(x(high))) y1=(y) y2=(y) {}
                    }
                    circle.dot cx=(round(x(score.value))) cy=(y) r="4.5" {}
                    text x=(NAMES + MARKS + 14.0) y=(y + 4.0) { (words::estimate(Some(*score))) }
                }
            }
        }
    }
}

/// Draws the scores of each group as a histogram, and mean cost and mean time against mean score.
pub(super) fn plots(groups: &[Group]) -> Markup {
    let plots = [Measure::Cost, Measure::Seconds].map(|measure| {
        let drawn: Vec<Drawn<'_>> = groups.iter().map(|group| drawn_as(group, measure)).collect();
        plots::scatter(&drawn, measure)
    });
    html! {
        @if let Some(chart) = histogram(groups) {
            figure { (chart) figcaption { "How many runs have which score, in tenths of the scale." } }
        }
        @for plot in plots.iter().flatten() {
            figure { (scatter(plot, groups)) (legend(plot, groups)) }
        }
    }
}

fn drawn_as(group: &Group, measure: Measure) -> Drawn<'_> {
    let amount = match measure {
        Measure::Cost => group.cost,
        Measure::Seconds => group.seconds,
    };
    let figure = |value, low, high| Figure { value, low, high, known: 0, unknown: 0 };
    Drawn {
        system: group.system.as_deref(),
        model: group.model.as_deref(),
        is_compared: group.among == RowGroup::Common,
        score: group.score.map(|it| figure(it.value, it.low, it.high)),
        amount: amount.map(|it| figure(it.mean, it.low, it.high)),
        on_front: match measure {
            Measure::Cost => group.on_cost_front,
            Measure::Seconds => group.on_time_front,
        },
    }
}

fn scatter(plot: &Scatter, groups: &[Group]) -> Markup {
    let group = |point: &ScatterPoint| groups.get(point.row as usize);
    html! {
        svg viewBox=(format!("0 0 {} {}", plot.width, plot.height)) width=(plot.width * 1.15)
            role="img" aria-label=(format!("{} against mean score; the table above says the same", plot.title)) {
            @for tick in &plot.y_ticks {
                line.grid x1=(plot.left) x2=(plot.right) y1=(tick.at) y2=(tick.at) {}
                text.soft x=(plot.left - 8.0) y=(tick.at + 4.0) text-anchor="end" { (tick.label) }
            }
            text.soft text-anchor="middle" transform=(format!("translate(10 {}) rotate(-90)", f64::midpoint(plot.top, plot.bottom))) { "Mean score" }
            line.axis x1=(plot.left) x2=(plot.right) y1=(plot.bottom) y2=(plot.bottom) {}
            @for tick in &plot.x_ticks {
                line.axis x1=(tick.at) x2=(tick.at) y1=(plot.bottom) y2=(plot.bottom + 4.0) {}
                text.soft x=(tick.at) y=(plot.bottom + 17.0) text-anchor="middle" { (tick.label) }
            }
            text.soft x=(f64::midpoint(plot.left, plot.right)) y=(plot.height - 8.0) text-anchor="middle" { (plot.title) }
            @for point in &plot.points {
                g {
                    @if let Some(group) = group(point) { title {
                        (one_line(&group.name)) ": " (words::estimate(group.score))
                    } }
                    @if let Some([low, high]) = point.x_range { line.whisker x1=(low) x2=(high) y1=(point.y) y2=(point.y) {}
                        @if point.x_cut { path.whisker fill="none" d=(plots::arrow(low, point.y)) {} }
                    }
                    @if let Some([low, high]) = point.y_range { line.whisker x1=(point.x) x2=(point.x) y1=(low) y2=(high) {} }
                    path class=(if point.on_front { "mark front" } else { "mark" }) d=(mark(point.shape, point.x, point.y)) {}
                }
            }
            @for label in plot.points.iter().filter_map(|point| Some((point, point.label.as_ref()?))) {
                @if let Some([x, y]) = label.1.line { line.grid x1=(label.0.x) y1=(label.0.y) x2=(x) y2=(y) {} }
                text.halo x=(label.1.x) y=(label.1.y) { (one_line(&label.1.text)) }
            }
        }
    }
}

/// Draws the scores over sets of runs, one line per group, with change points.
pub(super) fn trend(plot: &TrendPlot, trends: &Trends) -> Markup {
    let turn = |group: u32, point: u32| {
        let points = &trends.groups.get(group as usize)?.points;
        points.get(point as usize)?.change_point.as_ref()
    };
    let name = |group: u32| trends.groups.get(group as usize).map_or("", |group| &group.name);
    // A line has a gap before each set that is not compared with the one before.
    let path = |line: &TrendLine| -> String {
        let points = trends.groups.get(line.group as usize).map(|group| &group.points);
        let joins = |dot: &TrendDot| {
            let point = points.and_then(|points| points.get(dot.point as usize));
            point.and_then(|point| point.change.as_ref()).is_none_or(|change| change.pairs > 0)
        };
        let step = |(at, dot): (usize, &TrendDot)| {
            format!("{}{} {}", if at > 0 && joins(dot) { "L" } else { "M" }, dot.x, dot.y)
        };
        line.dots.iter().enumerate().map(step).collect()
    };
    html! {
        figure {
            svg viewBox=(format!("0 0 {} {}", plot.width, plot.height)) width=(plot.width * 1.15)
                role="img" aria-label=(format!("{} over sets of runs; the tables below say the same", plot.title)) {
                @for tick in &plot.y_ticks {
                    line.grid x1=(plot.left) x2=(plot.right) y1=(tick.at) y2=(tick.at) {}
                    text.soft x=(plot.left - 8.0) y=(tick.at + 4.0) text-anchor="end" { (tick.label) }
                }
                line.axis x1=(plot.left) x2=(plot.right) y1=(plot.bottom) y2=(plot.bottom) {}
                @for tick in &plot.x_ticks {
                    line.axis x1=(tick.at) x2=(tick.at) y1=(plot.bottom) y2=(plot.bottom + 4.0) {}
                    text.soft x=(tick.at) y=(plot.bottom + 17.0) text-anchor="middle" { (one_line(&tick.label)) }
                }
                @for line in &plot.lines {
                    path class=(format!("line {}", look(line))) d=(path(line)) stroke-dasharray=[dashes(line.look)] {}
                }
                @for line in &plot.lines { g class=(look(line)) {
                    @for dot in &line.dots {
                        @if let Some([low, high]) = dot.range { line.span x1=(dot.x) x2=(dot.x) y1=(low) y2=(high) {} }
                        path.mark d=(mark(line.look % 4, dot.x, dot.y)) { title { (one_line(name(line.group))) } }
                        @if let Some(change) = turn(line.group, dot.point) {
                            text.halo x=(dot.x) y=(dot.y - 10.0) text-anchor="middle" {
                                @if change.shown == "worse" { "▼" } @else { "▲" }
                            }
                        }
                    }
                    path.mark d=(mark(line.look % 4, plot.right + 16.0, line.label_y - 4.0)) {}
                    text x=(plot.right + 25.0) y=(line.label_y) { (one_line(&line.label)) title { (one_line(name(line.group))) } }
                } }
            }
            figcaption {
                (plot.title) "; bars are 95\u{a0}% intervals; lines join sets that are compared. \
                    ▼ and ▲ are change points."
                @for (at, line) in plot.lines.iter().enumerate() {
                    @if at == 0 { " Marks: " } @else { ", " }
                    @if dashes(line.look).is_some() { "hollow " }
                    (SHAPES[line.look as usize % SHAPES.len()])
                    @if dashes(line.look).is_some() { " with dashes" }
                    " " (one_line(name(line.group)))
                    @if at + 1 == plot.lines.len() { "." }
                }
                @if plot.left_out > 0 { " Not drawn: " (words::counted(u64::from(plot.left_out), "system", "systems")) " with the fewest runs." }
            }
        }
    }
}

/// Returns the classes of a line: its colour, and hollow marks where their shapes repeat.
fn look(line: &TrendLine) -> String {
    format!("l{}{}", line.look % 8, if dashes(line.look).is_some() { " hollow" } else { "" })
}

/// Returns the dashes of a line, where marks alone do not tell it apart.
fn dashes(look: u32) -> Option<&'static str> {
    (look >= 4).then_some("6 3")
}

fn legend(plot: &Scatter, groups: &[Group]) -> Markup {
    let mut systems: Vec<(u32, &str)> = plot
        .points
        .iter()
        .filter_map(|point| {
            let system = groups.get(point.row as usize)?.system.as_deref();
            Some((point.shape, system.unwrap_or("no system")))
        })
        .collect();
    systems.sort_unstable();
    systems.dedup();
    let numbered = plot.points.iter().filter(|_| plot.numbered);
    html! {
        figcaption {
            (plot.title) " against mean score, with 95\u{a0}% intervals. Filled marks are on the \
                Pareto front of the two, over common tasks. Where all scores are 0 or 1, the interval \
                is Wilson's, which stays wide also if all runs pass or all fail; other intervals \
                come from how much the tasks differ."
            @if plot.points.iter().any(|point| point.x_cut) {
                " An arrow marks an interval that goes on beyond the axis."
            }
            @if systems.len() > 1 { " Marks: " @for (at, (shape, system)) in systems.iter().enumerate() {
                @if at > 0 { ", " } (SHAPES[*shape as usize % SHAPES.len()]) " " (one_line(system)) } "." }
            @if plot.left_out > 0 { " Not drawn, because a value is unknown: " (plot.left_out) "." }
            @for (at, point) in numbered.enumerate() {
                @if at == 0 { " Numbers: " } @else { ", " }
                @if let Some(group) = groups.get(point.row as usize) { (point.row + 1) "\u{a0}" (one_line(&group.name)) }
            }
        }
    }
}

/// Names of the marks, in the order of their drawing.
const SHAPES: [&str; 4] = ["circle", "square", "triangle", "diamond"];

/// Returns the path of a mark.
fn mark(shape: u32, x: f64, y: f64) -> String {
    let start = |right: f64, down: f64| format!("M{} {}", round(x + right), round(y + down));
    match shape {
        0 => start(-4.5, 0.0) + "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
        1 => start(-4.0, -4.0) + "h8v8h-8Z",
        2 => start(0.0, -5.0) + "l5 9h-10Z",
        _ => start(0.0, -5.5) + "l5.5 5.5l-5.5 5.5l-5.5 -5.5Z",
    }
}

/// Draws how many runs of each group have which score. `None` without any score.
fn histogram(groups: &[Group]) -> Option<Markup> {
    let scored: Vec<(&Group, u64)> = groups
        .iter()
        .map(|group| (group, group.histogram.iter().sum()))
        .filter(|(_, runs)| *runs > 0)
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "counts of runs are far below 2^53")]
    let share = |count: u64, of: u64| count as f64 / of as f64;
    let shares =
        scored.iter().flat_map(|(group, of)| group.histogram.iter().map(|n| share(*n, *of)));
    let most = shares.fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let (line, bars) = (48.0, 34.0);
    let wide = MARKS / 10.0;
    let height = line * float(scored.len()) + 26.0;
    Some(html! {
        svg viewBox=(format!("0 0 {} {height}", NAMES + MARKS + 150.0)) width=(NAMES + MARKS + 150.0)
            role="img" aria-label="Number of runs by score, for each system with each model" {
            @for (row, (group, of)) in scored.iter().enumerate() {
                @let base = line * float(row) + 44.0;
                text x=(NAMES - 12.0) y=(base - 4.0) text-anchor="end" { (short(&group.name)) }
                line.axis x1=(NAMES) x2=(NAMES + MARKS) y1=(base) y2=(base) {}
                @for (at, count) in group.histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
                    @let tall = (bars * share(*count, *of) / most).max(1.0);
                    rect.bar x=(round(NAMES + wide * float(at) + 1.0)) y=(round(base - tall)) width=(round(wide - 2.0)) height=(round(tall)) {
                        title { (one_line(&group.name)) ", " (words::score(Some(float(at) / 10.0))) " to "
                            (words::score(Some(float(at + 1) / 10.0))) ": " (words::counted(*count, "run", "runs")) }
                    }
                    text.soft x=(round(NAMES + wide * (float(at) + 0.5))) y=(round(base - tall - 2.0)) text-anchor="middle" { (words::count(*count)) }
                }
                text.soft x=(NAMES + MARKS + 14.0) y=(base - 4.0) { (words::counted(*of, "score", "scores")) }
            }
            @for tick in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
                text.soft x=(NAMES + MARKS * tick) y=(height - 6.0) text-anchor="middle" { (tick) }
            }
        }
    })
}

/// Draws the score of each variation in each group as colours; the flag is true if the variations
/// of a task were merged. `None` if there is nothing to compare or there are too many lines.
pub(super) fn heat(groups: &[Group], tasks: &[TaskLine]) -> Option<(Markup, bool)> {
    let by_task = folded(tasks);
    let tasks = by_task.as_deref().unwrap_or(tasks);
    if groups.is_empty() || tasks.len() < 2 || tasks.len() > MAX_LINES {
        return None;
    }
    Some((drawn(groups, tasks), by_task.is_some()))
}

/// Returns true if there are too many tasks to draw, even with merged variations.
pub(super) fn is_too_long(tasks: &[TaskLine]) -> bool {
    folded(tasks).is_some_and(|tasks| tasks.len() > MAX_LINES)
}

/// Merges the variations of each task if there are too many lines. Each run counts equally.
fn folded(tasks: &[TaskLine]) -> Option<Vec<TaskLine>> {
    if tasks.len() <= MAX_LINES {
        return None;
    }
    let mut lines: Vec<TaskLine> = Vec::new();
    for task in tasks {
        match lines.last_mut().filter(|last| last.task == task.task) {
            Some(last) => {
                for (sum, cell) in last.cells.iter_mut().zip(&task.cells) {
                    *sum = together(sum, cell);
                }
            }
            None => lines.push(TaskLine { variation: None, ..task.clone() }),
        }
    }
    Some(lines)
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs are far below 2^53")]
fn together(one: &Cell, other: &Cell) -> Cell {
    let score = match (one.score, other.score) {
        (Some(left), Some(right)) => {
            let share = other.scored as f64 / (one.scored + other.scored).max(1) as f64;
            Some(left * (1.0 - share) + right * share)
        }
        (left, right) => left.or(right),
    };
    Cell {
        runs: one.runs + other.runs,
        scored: one.scored + other.scored,
        passed: one.passed + other.passed,
        decided: one.decided + other.decided,
        errors: one.errors + other.errors,
        score,
        flaky: one.flaky || other.flaky,
    }
}

fn drawn(groups: &[Group], tasks: &[TaskLine]) -> Markup {
    let wide = (MARKS / float(groups.len())).clamp(26.0, 90.0);
    let (line, head) = (20.0, 22.0);
    let (width, height) =
        (NAMES + wide * float(groups.len()) + 10.0, head + line * float(tasks.len()) + 4.0);
    html! {
        svg viewBox=(format!("0 0 {width} {height}")) width=(width) role="img" aria-label="\
            Score of each task with each system and model; the table below says the same" {
            @for (at, _) in groups.iter().enumerate() {
                text.soft x=(NAMES + wide * (float(at) + 0.5)) y="14" text-anchor="middle" { (at + 1) }
            }
            @for (row, task) in tasks.iter().enumerate() {
                @let y = head + line * float(row);
                text x=(NAMES - 12.0) y=(y + 14.0) text-anchor="end" { (short(&name(task))) }
                @for (at, cell) in task.cells.iter().enumerate() {
                    rect class=(shade(cell)) x=(round(NAMES + wide * float(at) + 1.0)) y=(y + 1.0) width=(round(wide - 2.0)) height=(line - 2.0) rx="2" {
                        title { (one_line(&name(task))) ", "
                            (groups.get(at).map_or_else(String::new, |group| one_line(&group.name).into_owned()))
                            ": " (cell_label(cell)) }
                    }
                    @if wide >= 52.0 || (wide >= 34.0 && cell.score.is_some()) {
                        text x=(round(NAMES + wide * (float(at) + 0.5))) y=(y + 14.0) text-anchor="middle" { (cell_label(cell)) }
                    }
                }
            }
        }
    }
}

/// Returns the name of a task with its variation.
pub(super) fn name(task: &TaskLine) -> String {
    words::named(&task.task, task.variation.as_deref())
}

/// Returns the colour class, by the tones of the table: right, partly right, and two shades of
/// wrong.
fn shade(cell: &Cell) -> &'static str {
    match (Tone::for_cell(cell), cell.score) {
        (Some(Tone::Right), _) => "h3",
        (Some(Tone::Part), _) => "h2",
        (Some(Tone::Wrong), Some(score)) if score >= 0.2 => "h1",
        (Some(Tone::Wrong), _) => "h0",
        (None, _) => "hole",
    }
}

/// Returns the text of a cell: its score, or the reason why there is none.
fn cell_label(cell: &Cell) -> String {
    match cell.score {
        Some(_) => words::score(cell.score),
        None if cell.errors > 0 => "error".to_owned(),
        None if cell.runs > 0 => "no score".to_owned(),
        None => String::new(),
    }
}

/// Shortens a name at its beginning: systems, models and variations differ at the end.
fn short(name: &str) -> String {
    let name = one_line(name);
    let chars = name.chars().count();
    if chars <= NAME_CHARS {
        return name.into_owned();
    }
    let end: String = name.chars().skip(chars - NAME_CHARS + 1).collect();
    format!("…{end}")
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines are small")]
fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        let long = format!("{}-model-b", "x".repeat(60));
        assert!(short(&long).ends_with("-model-b") && short(&long).starts_with('…'));
        assert_eq!(short(&long).chars().count(), NAME_CHARS);
    }
}
