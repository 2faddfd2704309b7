//! **Pure.** Charts of a report as SVG with text alternatives. Colours are classes of the style
//! sheet.
use crate::escape::one_line;
use crate::reports::page::{Cell, Estimate, Group, TaskLine};
use crate::reports::words::{self, Tone};
use maud::{Markup, html};

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
pub(super) fn scores(groups: &[Group]) -> Markup {
    let scored: Vec<(&Group, Estimate)> =
        groups.iter().filter_map(|group| Some((group, group.score?))).collect();
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

/// Draws mean cost per run against mean score. `None` if fewer than two groups have both.
pub(super) fn costs(groups: &[Group]) -> Option<Markup> {
    let known: Vec<(&Group, f64, f64)> = groups
        .iter()
        .filter_map(|group| Some((group, group.cost?.mean, group.score?.value)))
        .collect();
    let most = known.iter().map(|(_, cost, _)| *cost).fold(0.0, f64::max);
    if known.len() < 2 || most <= 0.0 {
        return None;
    }
    let (left, width, height) = (50.0, 560.0, 240.0);
    let (step, end) = steps(most);
    let x = |cost: f64| left + width * cost / end;
    let y = |score: f64| 12.0 + height * (1.0 - score.clamp(0.0, 1.0));
    Some(html! {
        svg viewBox=(format!("0 0 {} {}", left + width + 220.0, height + 50.0))
            width=(left + width + 220.0)
            role="img" aria-label="Mean cost of a run against mean score" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.grid x1=(left) x2=(left + width) y1=(y(tick)) y2=(y(tick)) {}
                text.soft x=(left - 8.0) y=(y(tick) + 4.0) text-anchor="end" { (tick) }
            }
            line.axis x1=(left) x2=(left + width) y1=(y(0.0)) y2=(y(0.0)) {}
            @for tick in (0..).map(|at| step * f64::from(at)).take_while(|tick| *tick <= end * 1.000_001) {
                text.soft x=(round(x(tick))) y=(height + 30.0) text-anchor="middle" { (plainly(tick, step)) }
            }
            text.soft x=(left + width / 2.0) y=(height + 46.0) text-anchor="middle" { "dollars a run" }
            @for ((group, cost, score), label) in known.iter().zip(apart(&known.iter().map(|(_, _, score)| y(*score)).collect::<Vec<_>>())) {
                g {
                    title { (one_line(&group.name)) ": " (words::score(Some(*score))) " at " (words::money(*cost)) }
                    circle.dot cx=(round(x(*cost))) cy=(round(y(*score))) r="4.5" {}
                    text.halo x=(round(x(*cost) + 9.0)) y=(round(label + 4.0)) { (short(&group.name)) }
                }
            }
        }
    })
}

/// Returns the round step of a cost axis, and its end.
fn steps(most: f64) -> (f64, f64) {
    let rough = most / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|it| it * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    (step, step * (most / step).ceil())
}

/// Formats an axis label in dollars, with as many decimals as the step needs.
fn plainly(dollars: f64, step: f64) -> String {
    let mut places = 0;
    while places < 9
        && (step * 10_f64.powi(places)).fract() > 1e-6
        && (step * 10_f64.powi(places)).fract() < 1.0 - 1e-6
    {
        places += 1;
    }
    format!("${dollars:.0$}", usize::try_from(places).unwrap_or(0))
}

/// Moves labels down so that they do not overlap, starting from the wanted heights.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut placed = wanted.to_vec();
    let mut last = f64::NEG_INFINITY;
    for at in order {
        placed[at] = placed[at].max(last + 13.0);
        last = placed[at];
    }
    placed
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
    fn labels_never_stand_on_each_other_and_move_only_as_far_as_they_must() {
        assert_eq!(apart(&[10.0, 50.0, 12.0]), [10.0, 50.0, 23.0]);
        assert_eq!(apart(&[]), [0.0; 0]);
    }

    #[test]
    fn an_axis_of_dollars_has_round_steps_with_the_places_they_need() {
        let ticks = |most: f64| {
            let (step, end) = steps(most);
            (0..=6)
                .map(|at| step * f64::from(at))
                .take_while(|tick| *tick <= end * 1.000_001)
                .map(|tick| plainly(tick, step))
                .collect::<Vec<_>>()
        };
        assert_eq!(ticks(0.5123), ["$0.0", "$0.2", "$0.4", "$0.6"]);
        assert_eq!(ticks(0.0007), ["$0.0000", "$0.0002", "$0.0004", "$0.0006", "$0.0008"]);
        assert_eq!(ticks(8.0), ["$0", "$2", "$4", "$6", "$8"]);
        assert_eq!(ticks(1234.0), ["$0", "$500", "$1000", "$1500"]);
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let long = format!("{}-model-b", "x".repeat(60));
        assert!(short(&long).ends_with("-model-b") && short(&long).starts_with('…'));
        assert_eq!(short(&long).chars().count(), NAME_CHARS);
    }
}
