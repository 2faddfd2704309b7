//! **Pure.** Rows of a leaderboard from the statistics of `scoring`: for the page and for reports.
use super::choice::choice;
use touchstone_api::{Figure, FrontMeasure, IntervalMethod, LeaderboardRow, RowGroup, Standing};
use touchstone_metrics::stats::Means;
use touchstone_scoring::aggregate::{
    self, Aggregate, Consumption, Front, FrontBy, Ranking, Summary,
};

/// Statistics of one system with one model.
pub(crate) struct Entry<'a> {
    pub(crate) system: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    /// Filter of its runs.
    pub(crate) filter: &'a str,
    pub(crate) summary: &'a Summary,
    /// Standing beside the best one, and the reason as a sentence.
    pub(crate) standing: Option<&'a (aggregate::Standing, String)>,
}

/// Returns one row per entry, in their order. `best` is the entry that the others are compared with.
pub(crate) fn rows(
    entries: &[Entry<'_>],
    front: Option<&Front>,
    best: Option<usize>,
) -> Vec<LeaderboardRow> {
    let reference = best.and_then(|at| entries.get(at));
    let row = |(at, entry): (usize, &Entry<'_>)| {
        let cell = &entry.summary.cell;
        LeaderboardRow {
            system: entry.system.map(str::to_owned),
            model: entry.model.map(str::to_owned),
            filter: entry.filter.to_owned(),
            runs: cell.runs,
            tasks: entry.summary.scored_rows(),
            shared_tasks: reference
                .filter(|_| best != Some(at))
                .map(|reference| entry.summary.shared_rows(reference.summary)),
            is_reference: best == Some(at),
            group: RowGroup::Unscored,
            errors: cell.errors,
            others: cell.runs - cell.scored - cell.errors,
            score: cell.score.map(|score| Figure {
                value: score.value,
                low: score.interval.map(|it| it.low),
                high: score.interval.map(|it| it.high),
                known: cell.scored,
                unknown: cell.runs - cell.scored,
            }),
            score_by: cell
                .score
                .filter(|score| score.interval.is_some())
                .map(|score| method(score.by)),
            passes: cell.passes.map(|passes| Figure {
                value: passes.share(),
                low: Some(passes.interval.low),
                high: Some(passes.interval.high),
                known: passes.of,
                unknown: cell.runs - passes.of,
            }),
            passed: cell.passes.map_or(0, |passes| passes.passed),
            cost: figure(&entry.summary.cost),
            seconds: figure(&entry.summary.seconds),
            tokens: figure(&entry.summary.tokens),
            histogram: entry.summary.histogram.to_vec(),
            standing: entry.standing.map(|(standing, _)| name(*standing)),
            why: entry.standing.map(|(_, why)| why.clone()),
            on_front: front.and_then(|front| front.on.get(at).copied().flatten()),
        }
    };
    let mut rows: Vec<LeaderboardRow> = entries.iter().enumerate().map(row).collect();
    set_groups(&mut rows);
    rows
}

/// Sets the groups of rows, and why rows are not ranked.
fn set_groups(rows: &mut [LeaderboardRow]) {
    let is_compared =
        rows.iter().any(|row| !matches!(row.standing, None | Some(Standing::Solution)));
    let scored = |row: &&LeaderboardRow| row.score.is_some() && row.standing.is_none();
    let is_alone = !is_compared && rows.iter().filter(scored).count() == 1;
    for row in rows {
        let (group, why) = match row.standing {
            _ if row.score.is_none() => (RowGroup::Unscored, None),
            Some(Standing::Solution) => (RowGroup::Solution, None),
            Some(Standing::Apart) => (RowGroup::Apart, None),
            // One of too many.
            Some(_) if row.shared_tasks == Some(0) => (RowGroup::Apart, None),
            Some(_) => (RowGroup::Common, None),
            None if is_alone => (RowGroup::Common, Some("It is not compared with another system.")),
            None if !is_compared => {
                (RowGroup::Uncompared, Some("It is not compared with another system."))
            }
            None => (RowGroup::Apart, Some("It has no tasks in common with the others.")),
        };
        row.group = group;
        row.why = row.why.take().or_else(|| why.map(str::to_owned));
    }
}

/// Says what plots leave out because it is not comparable.
pub(crate) fn not_drawn(rows: &[LeaderboardRow]) -> Option<String> {
    let has_place = |row: &&LeaderboardRow| {
        row.score.is_some() && (row.cost.is_some() || row.seconds.is_some())
    };
    let of = |group| rows.iter().filter(has_place).filter(|row| row.group == group).count();
    if of(RowGroup::Uncompared) > 0 {
        let text =
            "These systems are not compared with each other, so they are not drawn in one plot.";
        return Some(text.to_owned());
    }
    match of(RowGroup::Apart) {
        0 => None,
        1 => Some("1 system without tasks in common is not drawn against the others.".to_owned()),
        many => Some(format!(
            "{many} systems without tasks in common are not drawn against the others."
        )),
    }
}

fn method(by: Means) -> IntervalMethod {
    match by {
        Means::Wilson => IntervalMethod::Wilson,
        Means::Bootstrap => IntervalMethod::Bootstrap,
        Means::Student => IntervalMethod::Student,
    }
}

/// Returns the measure of a Pareto front.
pub(crate) fn measure(front: &Front) -> FrontMeasure {
    match front.by {
        FrontBy::Cost => FrontMeasure::Cost,
        FrontBy::Seconds => FrontMeasure::Seconds,
    }
}

/// Returns the least and greatest number of tasks over which two systems were compared.
pub(crate) fn front_rows(front: &Front) -> [u64; 2] {
    [front.rows.0, front.rows.1]
}

/// Returns a standing for the page.
fn name(standing: aggregate::Standing) -> Standing {
    match standing {
        aggregate::Standing::Best => Standing::Best,
        aggregate::Standing::Highest => Standing::Highest,
        aggregate::Standing::Tied => Standing::Tied,
        aggregate::Standing::TooFew => Standing::TooFew,
        aggregate::Standing::Behind => Standing::Behind,
        aggregate::Standing::Open => Standing::Open,
        aggregate::Standing::Apart => Standing::Apart,
        aggregate::Standing::Solution => Standing::Solution,
    }
}

/// Returns the mean of an amount for the page.
pub(crate) fn figure(of: &Consumption) -> Option<Figure> {
    Some(Figure {
        value: of.mean()?,
        low: of.interval.map(|it| it.low),
        high: of.interval.map(|it| it.high),
        known: of.amounts.known,
        unknown: of.amounts.unknown,
    })
}

/// Returns one row for each group of an aggregate, in their order.
pub(crate) fn rows_of(
    aggregate: &Aggregate<'_>,
    ranking: &Ranking,
    front: Option<&Front>,
) -> Vec<LeaderboardRow> {
    let entries: Vec<Entry<'_>> = aggregate
        .groups
        .iter()
        .zip(&ranking.standings)
        .map(|(group, standing)| Entry {
            system: group.column.system,
            model: group.column.model,
            filter: "",
            summary: &group.summary,
            standing: standing.as_ref(),
        })
        .collect();
    rows(&entries, front, ranking.best)
}

/// Returns the headline of statistics and reports: who is best or highest, which of those that are not
/// shown to differ to choose, and how that is known.
pub(crate) fn headline(ranking: &Ranking, rows: &[LeaderboardRow]) -> Vec<String> {
    let (first, rest) = ranking.sentences.split_at(ranking.sentences.len().min(1));
    first.iter().cloned().chain(choice(rows)).chain(rest.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_scoring::aggregate::{Counted, End};

    /// Returns group, standing and reason of each system, of runs with a system, a task and a score.
    fn placed(runs: &[(&'static str, Option<&'static str>, f64)]) -> Vec<String> {
        let model = |system| (system != "oracle").then_some("m");
        let counted: Vec<Counted<'_>> = runs
            .iter()
            .map(|(system, task, score)| Counted {
                task: *task,
                system: Some(*system),
                model: model(*system),
                end: if score.is_nan() { End::Error } else { End::Scored(*score, None) },
                ..Counted::default()
            })
            .collect();
        let aggregate = Aggregate::new(&counted, None);
        let rows = rows_of(&aggregate, &aggregate.ranking(), None);
        let text = |row: &LeaderboardRow| {
            let system = row.system.as_deref().unwrap_or_default();
            let standing = row.standing.map(|it| format!("{it:?}")).unwrap_or_default();
            let why = row.why.as_deref().unwrap_or_default();
            format!("{system} {:?} {standing}: {why}", row.group)
        };
        rows.iter().map(text).collect()
    }

    #[test]
    fn a_row_says_among_which_it_stands_and_why() {
        let both = [("a", Some("t"), 1.0), ("b", Some("t"), 0.5)];
        let others = [
            ("n", None, 1.0),
            ("oracle", Some("t"), 1.0),
            ("u", Some("t"), f64::NAN),
            ("z", Some("y"), 1.0),
        ];
        assert_eq!(
            placed(&[&both[..], &others].concat()),
            [
                "a Common Highest: Highest, but not shown to be better than all others.",
                "b Common TooFew: Too few tasks to tell it from a/m: -0.50 on 1 task.",
                "n Apart : It has no tasks in common with the others.",
                "oracle Solution Solution: It is the reference solution of the tasks.",
                "u Unscored : ",
                "z Apart Apart: No tasks in common with a/m.",
            ]
        );
        assert_eq!(
            placed(&[both[0], ("z", Some("y"), 1.0)]),
            [
                "a Uncompared : It is not compared with another system.",
                "z Uncompared : It is not compared with another system.",
            ]
        );
        assert_eq!(placed(&both[..1]), ["a Common : It is not compared with another system."]);
    }

    #[test]
    fn what_plots_leave_out_is_said() {
        let counted = |system: &'static str, task: &'static str| Counted {
            task: Some(task),
            system: Some(system),
            end: End::Scored(1.0, None),
            cost: Some(1.0),
            ..Counted::default()
        };
        let text = |runs: &[Counted<'_>]| {
            let aggregate = Aggregate::new(runs, None);
            not_drawn(&rows_of(&aggregate, &aggregate.ranking(), None))
        };
        let [a, b, y, z] =
            [counted("a", "t"), counted("b", "t"), counted("y", "y"), counted("z", "z")];
        assert_eq!(text(&[a, b]), None);
        let one = "1 system without tasks in common is not drawn against the others.";
        assert_eq!(text(&[a, b, z]).as_deref(), Some(one));
        let two = "2 systems without tasks in common are not drawn against the others.";
        assert_eq!(text(&[a, b, y, z]).as_deref(), Some(two));
        let text = text(&[a, z]);
        assert!(text.is_some_and(|text| text.contains("not compared with each other")));
    }
}
