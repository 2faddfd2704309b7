//! **Pure.** Formats a report as one HTML page: works without the network and without scripts,
//! supports light and dark themes, and prints. For security everything that comes from files is
//! escaped by the template; the only raw insertion is the built-in style sheet.
mod charts;
mod tables;

use super::causes;
use super::labels::label_table;
use super::page::{Head, Page};
use super::trend::{describe_sets, trend_tables};
use super::words;
use crate::escape::one_line;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style sheet. The application window allows it by its hash where it shows a preview.
const STYLE: &str = include_str!("style.css");
/// SHA-256 of the style sheet in base64, in the form of content security policies; a test compares
/// it.
const STYLE_HASH: &str = "sha256-MlSRKeAhzrQJc0ni+4PhS9n/W6HsmzLLrBIRfiKkD6Y=";

/// Formats the page. Themes other than `light` and `dark` are ignored.
pub(super) fn write(page: &Page, theme: Option<&str>) -> String {
    let theme = theme.filter(|theme| ["light", "dark"].contains(theme));
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(format!("default-src 'none'; style-src '{STYLE_HASH}'"));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(format!("Touchstone {}", page.head.version));
                title { (one_line(&page.head.title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (top(page))
                main { (body(page)) }
                footer { "Made by Touchstone " (page.head.version) " on " (page.head.made) "." }
            }
        }
    }
    .into_string()
}

fn top(page: &Page) -> Markup {
    let Head { title, folder, made, filter, scored_by, .. } = &page.head;
    html! {
        header {
            h1 { (one_line(title)) }
            @if let [first, others @ ..] = &page.headline[..] {
                p { strong { (one_line(first)) } " " (one_line(&others.join(" "))) }
            }
            @if let Some(cause) = causes::main_cause(page) { p { (with_code(&cause)) } }
            p.muted { (words::describe_scope(page)) "." }
            dl {
                dt { "Folder" } dd { (one_line(folder)) }
                dt { "Made" } dd { (made) }
                dt { "Runs" } dd { @if filter.is_empty() { "all" } @else { "those that pass the filter " code { (one_line(filter)) } } }
                dt { "Scored" } dd { (words::describe_scored(&page.head)) }
                dt { "Scored by" } dd { @if scored_by.is_empty() { (words::NONE) } @else { (one_line(&scored_by.join(", "))) } }
            }
            nav aria-label="Sections" {
                a href="#summary" { "Summary" }
                @if !page.notes.is_empty() { a href="#notes" { "Notes" } }
                @if !page.pairs.is_empty() { a href="#comparison" { "Comparison" } }
                @if !page.tasks.is_empty() { a href="#tasks" { "Tasks" } }
                @if page.trend.is_some() { a href="#trend" { "Trend" } }
                @if !page.queries.is_empty() { a href="#queries" { "Query sets" } }
                @if !page.scan.is_empty() { a href="#attacks" { "Attacks" } }
                @if !page.labels.is_empty() { a href="#labels" { "Labels" } }
                @if !page.stored.is_empty() { a href="#stored" { "Stored verdicts" } }
                a href="#failures" { "What went wrong" }
                @if !page.runs.is_empty() { a href="#runs" { "Runs" } }
                a href="#method" { "Method" }
            }
        }
    }
}

/// Renders a sentence in which backticks enclose code.
fn with_code(text: &str) -> Markup {
    let text = one_line(text);
    html! { @for (is_code, part) in words::code_parts(&text) {
        @if is_code { code { (part) } } @else { (part) }
    } }
}

fn body(page: &Page) -> Markup {
    html! {
        section id="summary" {
            h2 { "Summary" }
            @if page.groups.is_empty() {
                p { (words::nothing(&page.head.filter)) ", so there is nothing to sum up." }
            } @else {
                @if page.groups.iter().any(|group| group.score.is_some()) {
                    figure { (charts::scores(&words::by_score(&page.groups))) figcaption { "Mean score from 0 to 1; the bar is the 95 % interval." } }
                }
                (tables::groups(page))
                (charts::plots(&page.groups))
                @if let Some(text) = &page.not_drawn { p.caption { (one_line(text)) } }
            }
        }
        @if !page.notes.is_empty() {
            section id="notes" { details {
                summary { (words::counted(page.notes.len() as u64, "note", "notes")) " on these numbers" }
                @for note in &page.notes { p.note { (with_code(note)) } }
            } }
        }
        @if !page.pairs.is_empty() { section id="comparison" { h2 { "Comparison with " (one_line(&page.pairs[0].baseline)) } (tables::pairs(&page.pairs)) } }
        @if !page.tasks.is_empty() {
            section id="tasks" {
                h2 { "Tasks" }
                @if let Some((chart, folded)) = charts::heat(&page.groups, &page.tasks) {
                    figure { (chart) figcaption {
                        "Mean score by task" @if folded { ", its variations together: each has its \
                            row in the table" }
                            ". Columns: "
                            @for (at, group) in page.groups.iter().enumerate() { @if at > 0 { ", " }
                            (at + 1) " " (one_line(&group.name)) } "."
                    } }
                }
                @if charts::is_too_long(&page.tasks) { p.muted { "There are too many tasks for a chart of their scores; the table has all of them." } }
                (tables::tasks(&page.groups, &page.tasks))
            }
        }
        @if let Some(trend) = &page.trend {
            section id="trend" {
                h2 { "Trend" }
                p { (one_line(&describe_sets(trend))) }
                @if let Some(plot) = &trend.plot { (charts::trend(plot, &trend.trends)) }
                @for table in trend_tables(trend) { (tables::of_words(&table)) }
            }
        }
        @if !page.queries.is_empty() { section id="queries" { h2 { "Query sets" } @for table in &page.queries { (tables::of_words(table)) } } }
        @if !page.scan.is_empty() { section id="attacks" { h2 { "Attacks" } @for table in &page.scan { (tables::of_words(table)) } } }
        @if !page.labels.is_empty() { section id="labels" { h2 { "Labels" } (tables::of_words(&label_table(&page.labels))) } }
        @if !page.stored.is_empty() { section id="stored" { h2 { "Stored verdicts" } (tables::of_words(&words::stored_table(page))) } }
        section id="failures" { h2 { "What went wrong" } (tables::failures(page)) }
        @if !page.runs.is_empty() {
            section id="runs" { h2 { "Runs" } details { summary { (words::counted(page.runs.len() as u64, "run", "runs")) } (tables::runs(&page.runs)) } }
        }
        section id="method" { h2 { "Method" } @for line in &page.method { p { (line) } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    #[test]
    fn the_style_sheet_is_the_one_that_the_policies_allow() {
        let hash = format!("sha256-{}", STANDARD.encode(Sha256::digest(STYLE)));
        assert_eq!(STYLE_HASH, hash, "write it here, in tauri.conf.json and in serve/page.rs");
        let window = include_str!("../../../../../tauri.conf.json");
        assert!(
            window.contains(&format!("style-src 'self' '{hash}'")),
            "the window does not allow it"
        );
    }
}
