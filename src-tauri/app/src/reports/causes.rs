//! **Pure.** The causes of failures in a report: taken from the failure map, and in words.
use super::page::{CauseLine, Causes, Group, Page, Table};
use super::words::{NONE, count, counted};
use crate::escape::one_line;
use touchstone_api::{FailureCluster, FailureKind, FailureMap, FailureShare};

/// Maximum number of causes of failures, and of characters of the quotation beside each.
const MOST_CAUSES: usize = 20;
const QUOTE_CHARS: usize = 160;

/// Converts the causes of a failure map, with their counts by the groups of a report.
pub(crate) fn causes(map: &FailureMap, groups: &[Group]) -> Causes {
    let shares_of = |shares: &[FailureShare]| {
        let share_of = |group: &Group| {
            let at = map.groups.iter().position(|known| known.name == group.name)?;
            let share = shares.iter().find(|share| share.group == at);
            Some((share.map_or(0, |share| share.runs), map.groups.get(at)?.runs))
        };
        groups.iter().map(share_of).collect()
    };
    let kind = |kind: &FailureKind| CauseLine {
        title: kind.title.to_owned(),
        kind: kind.kind,
        is_error: kind.is_error,
        runs: kind.runs,
        shares: shares_of(&kind.shares),
        example: None,
        quote: String::new(),
    };
    let line = |cluster: &FailureCluster| {
        let example = cluster.examples.iter().find(|one| one.is_main);
        let quote = example.map(|one| one.quote.as_str()).unwrap_or_default();
        CauseLine {
            title: cluster.title.clone(),
            kind: cluster.kind,
            is_error: cluster.is_error,
            runs: cluster.runs,
            shares: shares_of(&cluster.shares),
            example: example.map(|one| one.path.clone()),
            quote: shorten(quote),
        }
    };
    let main = || map.clusters.iter().filter(|cluster| cluster.runs > 0);
    let lines: Vec<CauseLine> = main().take(MOST_CAUSES).map(line).collect();
    let left_out = (main().count() - lines.len()) as u64 + map.clusters_left_out;
    let kinds = map.kinds.iter().filter(|kind| kind.runs > 0).map(kind).collect();
    Causes { failed: map.failed, read: map.read, kinds, lines, left_out }
}

/// Returns the start of a quotation.
fn shorten(quote: &str) -> String {
    match quote.char_indices().nth(QUOTE_CHARS) {
        Some((end, _)) => format!("{}…", &quote[..end]),
        None => quote.to_owned(),
    }
}

/// Describes the most frequent kind of causes; `None` without one.
pub(super) fn main_cause(page: &Page) -> Option<String> {
    let causes = page.causes.as_ref()?;
    let first = causes.kinds.first()?;
    let title = title(first);
    Some(format!(
        "What goes wrong most: “{}”, in {} of {}.",
        one_line(&title),
        count(first.runs),
        describe_read(causes)
    ))
}

/// Describes how many failed runs were read, and of how many if some are left.
fn describe_read(causes: &Causes) -> String {
    let read = counted(causes.read, "failed run", "failed runs");
    if causes.read < causes.failed {
        format!("{read} read so far ({} in all)", count(causes.failed))
    } else {
        read
    }
}

/// Names a cause, and says if it is an error rather than a wrong answer.
fn title(line: &CauseLine) -> String {
    if line.is_error { format!("{} (error)", line.title) } else { line.title.clone() }
}

/// Describes what the table of causes covers.
fn describe_causes(causes: &Causes) -> String {
    let read = describe_read(causes);
    let left_out = match causes.left_out {
        0 => String::new(),
        1 => " 1 rarer cause is left out.".to_owned(),
        left_out => format!(" {} rarer causes are left out.", count(left_out)),
    };
    format!(
        "Causes of {read} by kind, each counted under its main one; beside it the runs of each \
         system.{left_out}"
    )
}

/// Builds the table of causes: how often each occurs, by system, and one run that shows it.
pub(super) fn table(page: &Page, causes: &Causes) -> Table {
    let names = page.groups.iter().map(|group| group.name.clone());
    let head = ["Cause".to_owned(), "Runs".to_owned()].into_iter().chain(names);
    let row = |line: &CauseLine| {
        let shares = line.shares.iter().map(|share| {
            share.map_or_else(|| NONE.to_owned(), |(runs, all)| format!("{runs}/{all}"))
        });
        let example = match (&line.example, line.quote.as_str()) {
            (None, _) => String::new(),
            (Some(path), "") => path.clone(),
            (Some(path), quote) => format!("{path}: {quote}"),
        };
        [title(line), count(line.runs)].into_iter().chain(shares).chain([example]).collect()
    };
    let kind = |one: &CauseLine| {
        let causes = causes.lines.iter().filter(|line| line.kind == one.kind);
        let causes = causes
            .map(|line| row(&CauseLine { title: format!("· {}", line.title), ..line.clone() }));
        [row(one)].into_iter().chain(causes).collect::<Vec<_>>()
    };
    Table {
        caption: describe_causes(causes),
        head: head.chain(["Example".to_owned()]).collect(),
        rows: causes.kinds.iter().flat_map(kind).collect(),
    }
}
