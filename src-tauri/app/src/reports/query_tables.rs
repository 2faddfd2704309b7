//! **Pure.** Tables of a report on query sets: the results of runs, and published ones.
use super::page::Table;
use super::words::NONE;
use touchstone_api::{
    OwnFigure, OwnRow, PublishedFigure, PublishedRow, QueryMean, QueryShare, QuerySummary,
};
use touchstone_judges::stabletoolbench::{Metric, SETS};
use touchstone_metrics::number_format::fixed;

/// Returns the tables: one of summaries, and one per metric that has rows. Empty without runs of
/// query sets.
pub(crate) fn tables(
    summaries: &[QuerySummary],
    own: &[OwnRow],
    published: &[PublishedRow],
) -> Vec<Table> {
    if summaries.is_empty() {
        return Vec::new();
    }
    let mut tables = vec![sums(summaries)];
    for metric in Metric::ALL.map(Metric::name) {
        let others =
            published.iter().filter(|row| row.metric == metric && row.standing == "current");
        let ours = own.iter().filter(|row| row.metric == metric);
        let rows: Vec<Vec<String>> = ours.map(own_row).chain(others.map(published_row)).collect();
        if !rows.is_empty() {
            tables.push(beside(metric, rows));
        }
    }
    tables
}

fn sums(summaries: &[QuerySummary]) -> Table {
    let row = |one: &QuerySummary| {
        vec![
            one.name.clone(),
            one.total_queries.to_string(),
            one.total_evaluations.to_string(),
            (one.total_evaluations - one.answered).to_string(),
            mean(one.average_api_call_score),
            share(one.finished),
            share(one.solved),
            mean(one.average_sopr_score),
            mean(one.average_sopr_of_answered),
            one.left_out.to_string(),
        ]
    };
    let judged = match summaries.iter().find_map(|one| one.judged_by.as_deref()) {
        Some(judge) => format!("Solved and SoPR by {judge}."),
        None => "No judge decided whether answers solve their queries.".to_owned(),
    };
    Table {
        caption: format!(
            "Over evaluations, with 95 % intervals. {judged} Runs that ended in a system error, or have not ended, are left out."
        ),
        head: words([
            "System with model",
            "Queries",
            "Evaluations",
            "No answer",
            "API call score",
            "Finished",
            "Solved",
            "SoPR of judged",
            "SoPR of answers",
            "Left out",
        ]),
        rows: summaries.iter().map(row).collect(),
    }
}

fn beside(metric: &str, rows: Vec<Vec<String>>) -> Table {
    let mut head = words(["System"]);
    head.extend(SETS.iter().map(|(set, _)| (*set).to_owned()));
    head.extend(words(["As published", "Mean of sets", "Mean by query", "Judge"]));
    let caption = format!(
        "{metric} in percent. Own results have 95 % intervals; published ones are as printed (± \
         deviation over rounds), with recomputed means beside the printed average."
    );
    Table { caption, head, rows }
}

fn own_row(row: &OwnRow) -> Vec<String> {
    let mut cells = vec![format!("{} (own)", row.name)];
    cells.extend(row.sets.iter().map(|set| set.map_or_else(|| NONE.to_owned(), figure)));
    cells.push(NONE.to_owned());
    cells.push(row.mean.map_or_else(|| NONE.to_owned(), |mean| fixed(mean, 2)));
    cells.push(figure(row.all));
    cells.push(row.scorer.clone());
    cells
}

fn published_row(row: &PublishedRow) -> Vec<String> {
    let against = row.against.as_ref().map(|other| format!(" against {other}")).unwrap_or_default();
    let mut cells = vec![format!("{}{against}, {}", row.system, row.section)];
    cells.extend(row.sets.iter().map(|set| printed(*set)));
    cells.push(printed(row.average));
    cells.push(fixed(row.mean, 2));
    cells.push(fixed(row.weighted, 2));
    cells.push(row.judge.clone().unwrap_or_else(|| NONE.to_owned()));
    cells
}

/// Formats `41.2 (33.0–49.9), n 120/163`.
fn figure(of: OwnFigure) -> String {
    let ends = match (of.low, of.high) {
        (Some(low), Some(high)) => format!(" ({}–{})", fixed(low, 1), fixed(high, 1)),
        _ => String::new(),
    };
    format!("{}{ends}, n {}/{}", fixed(of.value, 1), of.n, of.of)
}

fn printed(of: PublishedFigure) -> String {
    of.deviation.map_or_else(
        || fixed(of.value, 1),
        |deviation| format!("{} ± {}", fixed(of.value, 1), fixed(deviation, 1)),
    )
}

fn share(of: Option<QueryShare>) -> String {
    of.map_or_else(
        || NONE.to_owned(),
        |of| {
            format!(
                "{}/{}, {} % ({}–{})",
                of.count,
                of.of,
                fixed(of.percentage, 1),
                fixed(of.low, 1),
                fixed(of.high, 1)
            )
        },
    )
}

fn mean(of: Option<QueryMean>) -> String {
    match of {
        None => NONE.to_owned(),
        Some(QueryMean { value, low: Some(low), high: Some(high), .. }) => {
            format!("{} ({}–{})", fixed(value, 2), fixed(low, 2), fixed(high, 2))
        }
        Some(QueryMean { value, .. }) => fixed(value, 2),
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
