//! **Pure.** Tables of a report in HTML.
use super::charts;
use crate::escape::one_line;
use crate::reports::causes;
use crate::reports::notes;
use crate::reports::page::{
    Amount, Cell, Estimate, Group, Page, Pair, Repeats, RunLine, Table, TaskLine,
};
use crate::reports::words::{self, NONE, Tone};
use maud::{Markup, html};

/// Number of list lines visible at first; the rest is folded.
const IN_SIGHT: usize = 40;

/// Number of characters up to which the head of a row, such as a date, stays on one line.
const SHORT: usize = 16;

pub(super) fn groups(page: &Page) -> Markup {
    let groups = &page.groups;
    let repeats = groups.iter().any(|group| group.repeats.is_some());
    let [any, all] = words::repeats_heads(groups);
    let others = groups.iter().any(|group| words::others(group) > 0);
    let chance = |value: Option<(f64, Repeats)>| {
        html! {
            @if let Some((value, repeats)) = value {
                (words::score(Some(value))) @if let Some(tries) = words::tries(repeats, groups) { span.below { (tries) } }
            } @else { (NONE) }
        }
    };
    html! {
        (framed(&words::summary_caption(groups), &html! {
            thead { tr {
                th scope="col" { "System" } th scope="col" { "Model" } th scope="col" { "Standing" }
                th.n scope="col" { "Runs" } th.n scope="col" { "Scored" } th.n scope="col" { "Errors" }
                @if others { th.n scope="col" { "Other" } }
                th.n scope="col" { "Score (95\u{a0}%)" } th.n scope="col" { "Passed" } th.n scope="col" { "Rate (95\u{a0}%)" }
                @if repeats { th.n scope="col" { (any) } th.n scope="col" { (all) } }
                th.n scope="col" { "Tokens a run" } th.n scope="col" { "Cost a run" } th.n scope="col" { "Time a run" }
            } }
            tbody { @for group in words::by_score(groups) { tr {
                th scope="row" { (plain(group.system.as_deref())) } td.model { (plain(group.model.as_deref())) }
                td title=[group.why.as_deref().map(one_line)] {
                    @if words::is_best(group) { strong { (words::standing_word(group)) } }
                    @else { (words::standing_word(group)) }
                    @if group.on_front == Some(true) { span.below { "◆ Pareto" } }
                }
                td.n { (words::count(group.runs)) } td.n { (words::count(group.scored)) }
                td.n { @if group.errors > 0 { span.err { (words::count(group.errors)) } } @else { "0" } }
                @if others { td.n { (words::count(words::others(group))) } }
                td.n { (ranged(group.score)) } td.n { (words::share(group.passed, group.decided)) } td.n { (ranged(group.rate)) }
                @if repeats {
                    td.n { (chance(group.repeats.map(|it| (it.any, it)))) } td.n { (chance(group.repeats.map(|it| (it.all, it)))) }
                }
                td.n { (averaged(group.tokens, group.runs, words::tokens)) }
                td.n { (averaged(group.cost, group.runs, words::money))
                    @if let Some(cost) = group.cost { span.below { (words::total(cost, group.runs, words::money)) " in all"
                    } } }
                td.n { (averaged(group.seconds, group.runs, words::seconds))
                    @if let Some(seconds) = group.seconds { span.below {
                        "median " (words::seconds(seconds.median)) ", longest " (words::seconds(seconds.most))
                    } } }
            } } }
        }))
        p.caption { (words::describe_standings(page)) }
    }
}

/// Renders the mean of an amount with its interval below it.
fn averaged(amount: Option<Amount>, runs: u64, write: fn(f64) -> String) -> Markup {
    let mean = amount.map_or_else(|| NONE.to_owned(), |amount| write(amount.mean));
    html! { (mean) @if let Some(below) = words::below_mean(amount, runs, write) { span.below { (below) } } }
}

/// Renders a value with its interval below it.
fn ranged(estimate: Option<Estimate>) -> Markup {
    let value = words::score(estimate.map(|it| it.value));
    let range = estimate.and_then(|it| Some((it.low?, it.high?)));
    html! { (value) @if let Some((low, high)) = range { span.below { (words::range(low, high)) } } }
}

/// Renders a table with its caption above. The caption stays visible when the table scrolls
/// sideways.
fn framed(caption: &str, table: &Markup) -> Markup {
    html! { p.caption { (caption) } div.scroll tabindex="0" { table aria-label=(caption) { (table) } } }
}

/// Renders a table of texts; the first cell of each row is its header.
pub(super) fn of_words(table: &Table) -> Markup {
    html! {
        (framed(&one_line(&table.caption), &html! {
            thead { tr { @for (at, name) in table.head.iter().enumerate() { th.n[at > 0] scope="col" { (one_line(name)) } } } }
            tbody { @for row in &table.rows { tr {
                @for (at, word) in row.iter().enumerate() {
                    @if at == 0 { th.short[word.chars().count() <= SHORT] scope="row" { (super::with_code(word)) } } @else { td.n { (super::with_code(word)) } }
                }
            } } }
        }))
    }
}

pub(super) fn pairs(pairs: &[Pair]) -> Markup {
    html! {
        @if pairs.iter().any(|pair| pair.pairs > 0) { (framed("Paired by task and variation; \
            repeats of one side are averaged first. A positive difference is better than the baseline.", &html! {
            thead { tr {
                th scope="col" { "System with model" } th.n scope="col" { "Tasks and variations" } th.n scope="col" { "Better" }
                th.n scope="col" { "Equal" } th.n scope="col" { "Worse" }
                th.n scope="col" { "Difference (95\u{a0}%)" } th.n scope="col" { "p of scores" }
                th.n scope="col" { "p of passes" } th.n scope="col" { "Could have shown" }
            } }
            tbody { @for pair in pairs { tr {
                th scope="row" { (one_line(&pair.name)) } td.n { (words::count(pair.pairs)) }
                td.n { (words::count(pair.wins)) } td.n { (words::count(pair.ties)) } td.n { (words::count(pair.losses)) }
                td.n { (words::difference(pair.difference)) } td.n { (words::p_value(pair.p_score)) } td.n { (words::p_value(pair.p_pass)) }
                td.n { (words::score(pair.detectable)) }
            } } }
        })) }
        @for pair in pairs {
            h3 { (one_line(&pair.name)) ": " (pair.outcome) @if pair.doubtful { " " span.part { "compare with care" } } }
            @for sentence in &pair.sentences { p { (one_line(sentence)) } }
            @if !pair.more.is_empty() { details {
                summary { "What " (one_line(&pair.name)) " won and took" }
                @for sentence in &pair.more { p { (one_line(sentence)) } }
            } }
            @if pair.unpaired.len() > 3 { details {
                summary { "All " (words::count(pair.unpaired.len() as u64)) " rows without a counterpart" }
                ul { @for one in &pair.unpaired { li { (one_line(one)) } } }
            } }
        }
    }
}

pub(super) fn tasks(groups: &[Group], tasks: &[TaskLine]) -> Markup {
    html! {
        details open[tasks.len() <= IN_SIGHT] {
            summary { (words::counted(tasks.len() as u64, "row of scores", "rows of scores")) }
            (framed(words::SIGNS, &html! {
                thead { tr { th scope="col" { "Task" } @for group in groups { th.n scope="col" { (breakable(&group.name)) } } } }
                tbody { @for task in tasks { tr {
                    th scope="row" { (one_line(&charts::name(task))) }
                    @for cell in &task.cells { td.n { (cell_text(cell)) } }
                } } }
        }))
        }
    }
}

fn cell_text(cell: &Cell) -> Markup {
    html! {
        @if let Some(tone) = Tone::for_cell(cell) {
            span class=(class(tone)) { (tone.sign()) " " (words::score(cell.score)) }
            } @else if cell.errors == 0 { span.muted { (NONE) } }
        @if cell.decided > 1 { " " span.muted.small { (words::share(cell.passed, cell.decided)) @if cell.flaky { " flaky" } } }
        @if cell.errors > 0 { " " span.err.small { (cell.errors) @if cell.errors == 1 { " error" } @else { " errors" } } }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Right => "right",
        Tone::Part => "part",
        Tone::Wrong => "wrong",
    }
}

pub(super) fn failures(page: &Page) -> Markup {
    html! {
        @if page.classes.is_empty() && page.failed.is_empty() {
            p { @if page.head.scored == 0 { "Nothing was scored." } @else { "Nothing: every run that was scored passed."
            } } }
        @if let Some(found) = page.causes.as_ref().filter(|found| !found.kinds.is_empty()) {
            h3 { "Causes" }
            (of_words(&causes::table(page, found)))
            h3 { "Classes" }
        }
        @if !page.classes.is_empty() {
            (framed("Runs per failure class. A run is counted once, under the first class that applies.", &html! {
                thead { tr { th scope="col" { "What" } @for group in &page.groups { th.n scope="col" { (breakable(&group.name)) } } } }
                tbody { @for line in &page.classes { tr {
                    th scope="row" { (words::class(line.class)) } @for n in &line.counts { td.n { (words::count(*n)) } }
                } } }
        }))
        }
        @if !page.flaky.is_empty() {
            h3 { "Repeats that disagree" }
            ul { @for line in &page.flaky { li {
                (one_line(&line.task)) @if let Some(variation) = &line.variation { " · " (one_line(variation)) }
                ", " (one_line(&line.group)) ": " (words::share(line.passed, line.decided)) " passed"
            } } }
        }
        @if !page.failed.is_empty() {
            h3 { "Runs that did not pass" }
            (failed(&page.failed[..page.failed.len().min(IN_SIGHT)]))
            @if page.failed.len() > IN_SIGHT { details {
                summary { (words::count((page.failed.len() - IN_SIGHT) as u64)) " more" }
                (failed(&page.failed[IN_SIGHT..]))
            } }
        }
    }
}

fn failed(runs: &[RunLine]) -> Markup {
    html! {
        div.scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Run" } th scope="col" { "What" } th.n scope="col" { "Score" } th scope="col" { "Why" } } }
            tbody { @for run in runs { tr {
                td.path { (one_line(&run.path))
                @if let Some(lineage) = run.lineage { " " span.small { "(" (lineage.label()) ")" } } }
                td { (run.class.map_or(NONE, words::class)) } td.n { (words::score(run.score)) }
                td { (plain(run.reason.as_deref())) @if let Some(said) = words::review(run) { span.below { "A person says: " (said) } } }
            } } }
        } }
    }
}

pub(super) fn runs(runs: &[RunLine]) -> Markup {
    let reviewed = runs.iter().any(|run| words::review(run).is_some());
    let stored = runs.iter().any(|run| !run.stored.is_empty());
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th scope="col" { "Run" } th scope="col" { "State" } th.n scope="col" { "Score" }
                th scope="col" { "Passed" } th.n scope="col" { "Turns" } th.n scope="col" { "Calls" }
                th.n scope="col" { "Tokens" } th.n scope="col" { "Cost" } th.n scope="col" { "Time" }
                @if reviewed { th scope="col" { "A person says" } }
                @if stored { th scope="col" { "Stored verdicts" } }
            } }
            tbody { @for run in runs { tr {
                td.path { (one_line(&run.path))
                @if let Some(lineage) = run.lineage { " " span.small { "(" (lineage.label()) ")" } } }
                td { (words::state(run.state)) } td.n { (words::score(run.score)) }
                td { @match run.passed { Some(true) => span.right { "yes" }, Some(false) => span.wrong { "no" }, None => (NONE) } }
                td.n { (run.turns) } td.n { (run.tool_calls) }
                td.n { (run.tokens.map_or_else(|| NONE.to_owned(), words::count)) }
                td.n { (run.cost.map_or_else(|| NONE.to_owned(), words::money)) }
                td.n { (run.seconds.map_or_else(|| NONE.to_owned(), words::seconds)) }
                @if reviewed { td {
                    (words::review(run).unwrap_or_else(|| NONE.to_owned()))
                    @if notes::contradicts(run.verdict, run.passed) { " " span.part.small { "not as scored" } } } }
                @if stored { td { (words::all_stored(run).unwrap_or_else(|| NONE.to_owned())) } }
            } } }
        } }
    }
}

/// Renders a name that may wrap after `/` and `_`.
fn breakable(name: &str) -> Markup {
    let name = one_line(name);
    html! { @for part in name.split_inclusive(['/', '_']) { (part) wbr; } }
}

fn plain(text: Option<&str>) -> String {
    text.map_or_else(|| NONE.to_owned(), |text| one_line(text).into_owned())
}
