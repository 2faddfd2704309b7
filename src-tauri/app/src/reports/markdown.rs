//! **Pure.** Formats a report as Markdown: tables that are readable unrendered, and that texts from
//! files cannot break.
use super::causes;
use super::labels::label_table;
use super::page::{Page, Repeats, RunLine, Table};
use super::trend::{describe_sets, trend_tables};
use super::words::{self, NONE, Tone};
use crate::escape::one_line;
use std::fmt::Write as _;

/// Maximum number of listed runs that did not pass.
const MOST: usize = 200;

/// Formats the report.
pub(super) fn write(page: &Page) -> String {
    let mut out = String::new();
    let head = &page.head;
    let _ = writeln!(out, "# {}\n", escaped(&head.title));
    if let [first, others @ ..] = &page.headline[..] {
        let _ = write!(out, "**{}**", escaped(first));
        for sentence in others {
            let _ = write!(out, " {}", escaped(sentence));
        }
        out.push_str("\n\n");
    }
    if let Some(cause) = causes::main_cause(page) {
        let _ = writeln!(out, "{}\n", with_code(&cause));
    }
    let _ = writeln!(
        out,
        "{}. Scored: {}. Folder {}, {}.",
        words::describe_scope(page),
        words::describe_scored(head),
        escaped(&head.folder),
        head.made
    );
    if !head.scored_by.is_empty() {
        let _ = writeln!(out, "\nScored by {}.", escaped(&head.scored_by.join(", ")));
    }
    if !head.filter.is_empty() {
        let _ = writeln!(out, "\nFilter: {}", escaped(&head.filter));
    }
    groups(&mut out, page);
    notes(&mut out, page);
    pairs(&mut out, page);
    tasks(&mut out, page);
    trend(&mut out, page);
    queries(&mut out, page);
    scan(&mut out, page);
    labels(&mut out, page);
    stored(&mut out, page);
    failures(&mut out, page);
    if !page.runs.is_empty() {
        runs(&mut out, "Runs", &page.runs, page.runs.len());
    }
    out.push_str("\n## Method\n");
    for line in &page.method {
        let _ = writeln!(out, "\n{}", escaped(line));
    }
    let _ = writeln!(out, "\nMade by Touchstone {}.", head.version);
    out
}

fn groups(out: &mut String, page: &Page) {
    let groups = &page.groups;
    out.push_str("\n## Summary\n\n");
    if groups.is_empty() {
        let _ = writeln!(out, "{}.", words::nothing(&page.head.filter));
        return;
    }
    // These columns only appear if there are repeats, like in HTML.
    let repeats = groups.iter().any(|group| group.repeats.is_some());
    let of_repeats = |cells: [String; 2]| if repeats { cells.to_vec() } else { Vec::new() };
    let others = groups.iter().any(|group| words::others(group) > 0);
    let caption = words::summary_caption(groups);
    let _ = writeln!(out, "{caption} {}\n", words::describe_standings(page));
    let before = ["System", "Model", "Standing", "Runs", "Scored", "Errors"];
    let before = before.map(str::to_owned).into_iter();
    let before = before.chain(others.then(|| "Other".to_owned()));
    let before = before.chain(["Score (95 %)", "Passed", "Rate (95 %)"].map(str::to_owned));
    let after =
        ["Tokens a run", "Cost a run", "Cost in all", "Time a run", "Time, median", "Longest"]
            .map(str::to_owned);
    row(out, before.chain(of_repeats(words::repeats_heads(groups))).chain(after));
    let right = |count: usize| std::iter::repeat_n("--:", count);
    row(
        out,
        ["---", "---", "---"]
            .into_iter()
            .chain(right(12 + 2 * usize::from(repeats) + usize::from(others))),
    );
    for group in words::by_score(groups) {
        let standing = words::standing_word(group);
        let standing =
            if words::is_best(group) { format!("**{standing}**") } else { standing.to_owned() };
        let before = [
            plain(group.system.as_deref()),
            plain(group.model.as_deref()),
            if group.on_front == Some(true) { format!("{standing} ◆") } else { standing },
            group.runs.to_string(),
            group.scored.to_string(),
            group.errors.to_string(),
        ];
        let scores = [
            words::estimate(group.score),
            words::share(group.passed, group.decided),
            words::estimate(group.rate),
        ];
        let before = before
            .into_iter()
            .chain(others.then(|| words::others(group).to_string()))
            .chain(scores);
        let after = [
            words::mean(group.tokens, group.runs, words::tokens),
            words::mean(group.cost, group.runs, words::money),
            group.cost.map_or_else(
                || NONE.to_owned(),
                |cost| words::total(cost, group.runs, words::money),
            ),
            words::mean(group.seconds, group.runs, words::seconds),
            group.seconds.map_or_else(|| NONE.to_owned(), |s| words::seconds(s.median)),
            group.seconds.map_or_else(|| NONE.to_owned(), |s| words::seconds(s.most)),
        ];
        let of_k = |share: fn(Repeats) -> f64| {
            let said = |it: Repeats| {
                let tries = words::tries(it, groups)
                    .map_or_else(String::new, |tries| format!(" ({tries})"));
                format!("{}{tries}", words::score(Some(share(it))))
            };
            group.repeats.map_or_else(|| NONE.to_owned(), said)
        };
        row(out, before.chain(of_repeats([of_k(|it| it.any), of_k(|it| it.all)])).chain(after));
    }
}

fn notes(out: &mut String, page: &Page) {
    if !page.notes.is_empty() {
        out.push_str("\n## Notes\n\n");
    }
    for note in &page.notes {
        let _ = writeln!(out, "- {}", with_code(note));
    }
}

/// Escapes a sentence in which backticks enclose code, which stays code.
fn with_code(text: &str) -> String {
    let text = one_line(text);
    // What files say may look like code: only what no reader of Markdown can take for markup is.
    let is_plain = |part: &str| {
        part.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | ':' | ',' | '.' | '-'))
    };
    let part = |(is_code, part): (bool, &str)| match is_code {
        true if is_plain(part) => format!("`{part}`"),
        true => escaped(&format!("`{part}`")),
        false => escaped(part),
    };
    words::code_parts(&text).into_iter().map(part).collect()
}

fn pairs(out: &mut String, page: &Page) {
    let Some(first) = page.pairs.first() else { return };
    let _ = writeln!(out, "\n## Comparison with {}\n", escaped(&first.baseline));
    row(
        out,
        [
            "System with model",
            "Tasks and variations",
            "Better / equal / worse",
            "Difference (95 %)",
            "p of scores",
            "p of passes",
            "Could have shown",
        ],
    );
    row(out, ["---", "--:", "--:", "--:", "--:", "--:", "--:"]);
    for pair in &page.pairs {
        row(
            out,
            [
                escaped(&pair.name),
                pair.pairs.to_string(),
                format!("{} / {} / {}", pair.wins, pair.ties, pair.losses),
                words::difference(pair.difference),
                words::p_value(pair.p_score),
                words::p_value(pair.p_pass),
                words::score(pair.detectable),
            ],
        );
    }
    for pair in &page.pairs {
        let _ = writeln!(out, "\n### {}: {}\n", escaped(&pair.name), pair.outcome);
        for sentence in pair.sentences.iter().chain(&pair.more) {
            let _ = writeln!(out, "- {}", escaped(sentence));
        }
    }
}

fn tasks(out: &mut String, page: &Page) {
    if page.tasks.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Tasks\n\n{}\n", words::SIGNS);
    row(
        out,
        std::iter::once("Task".to_owned())
            .chain(page.groups.iter().map(|group| escaped(&group.name))),
    );
    row(out, std::iter::once("---").chain(page.groups.iter().map(|_| "--:")));
    for task in &page.tasks {
        let name = words::named(&task.task, task.variation.as_deref());
        let cells = task.cells.iter().map(|cell| {
            let sign =
                Tone::for_cell(cell).map_or_else(String::new, |tone| format!("{} ", tone.sign()));
            let mut text = format!("{sign}{}", words::score(cell.score));
            if cell.decided > 1 {
                let _ = write!(text, " {}", words::share(cell.passed, cell.decided));
            }
            if cell.errors > 0 {
                let _ = write!(text, " +{} err", cell.errors);
            }
            text
        });
        row(out, std::iter::once(escaped(&name)).chain(cells));
    }
}

fn queries(out: &mut String, page: &Page) {
    if !page.queries.is_empty() {
        out.push_str("\n## Query sets\n");
    }
    for table in &page.queries {
        of_words(out, table);
    }
}

fn scan(out: &mut String, page: &Page) {
    if !page.scan.is_empty() {
        out.push_str("\n## Attacks\n");
    }
    for table in &page.scan {
        of_words(out, table);
    }
}

fn trend(out: &mut String, page: &Page) {
    let Some(trend) = &page.trend else { return };
    let _ = writeln!(out, "\n## Trend\n\n{}", escaped(&describe_sets(trend)));
    for table in trend_tables(trend) {
        of_words(out, &table);
    }
}

fn labels(out: &mut String, page: &Page) {
    if !page.labels.is_empty() {
        out.push_str("\n## Labels\n");
        of_words(out, &label_table(&page.labels));
    }
}

fn stored(out: &mut String, page: &Page) {
    if !page.stored.is_empty() {
        out.push_str("\n## Stored verdicts\n");
        of_words(out, &words::stored_table(page));
    }
}

fn of_words(out: &mut String, table: &Table) {
    let _ = writeln!(out, "\n{}\n", escaped(&table.caption));
    row(out, table.head.iter().map(|word| escaped(word)));
    row(out, table.head.iter().map(|_| "---"));
    for line in &table.rows {
        row(out, line.iter().map(|word| with_code(word)));
    }
}

fn failures(out: &mut String, page: &Page) {
    if page.classes.is_empty() && page.failed.is_empty() {
        return;
    }
    out.push_str("\n## What went wrong\n");
    if let Some(found) = page.causes.as_ref().filter(|found| !found.kinds.is_empty()) {
        out.push_str("\n### Causes\n");
        of_words(out, &causes::table(page, found));
        out.push_str("\n### Classes\n");
    }
    out.push('\n');
    if !page.classes.is_empty() {
        row(
            out,
            std::iter::once("What".to_owned())
                .chain(page.groups.iter().map(|group| escaped(&group.name))),
        );
        row(out, std::iter::once("---").chain(page.groups.iter().map(|_| "--:")));
        for line in &page.classes {
            row(
                out,
                std::iter::once(words::class(line.class).to_owned())
                    .chain(line.counts.iter().map(u64::to_string)),
            );
        }
    }
    if !page.flaky.is_empty() {
        out.push('\n');
    }
    for line in &page.flaky {
        let variation =
            line.variation.as_ref().map_or_else(String::new, |v| format!(" · {}", escaped(v)));
        let _ = writeln!(
            out,
            "- flaky: {}{variation}, {}: {} passed",
            escaped(&line.task),
            escaped(&line.group),
            words::share(line.passed, line.decided)
        );
    }
    if !page.failed.is_empty() {
        runs(out, "Runs that did not pass", &page.failed, MOST);
    }
}

fn runs(out: &mut String, title: &str, runs: &[RunLine], most: usize) {
    let reviewed = runs.iter().take(most).any(|run| words::review(run).is_some());
    let stored = runs.iter().take(most).any(|run| !run.stored.is_empty());
    let cells = |cells: [String; 4], [said, kept]: [String; 2]| {
        cells.into_iter().chain(reviewed.then_some(said)).chain(stored.then_some(kept))
    };
    let _ = writeln!(out, "\n### {title}\n");
    let names = ["A person says", "Stored verdicts"].map(str::to_owned);
    row(out, cells(["Run", "State", "Score", "Why"].map(str::to_owned), names));
    row(
        out,
        cells(["---", "---", "--:", "---"].map(str::to_owned), ["---", "---"].map(str::to_owned)),
    );
    for run in runs.iter().take(most) {
        let state = run.class.map_or(words::state(run.state), words::class).to_owned();
        let label =
            run.lineage.map_or_else(String::new, |lineage| format!(" ({})", lineage.label()));
        let of_run = [
            escaped(&run.path) + &label,
            state,
            words::score(run.score),
            plain(run.reason.as_deref()),
        ];
        row(
            out,
            cells(
                of_run,
                [words::review(run), words::all_stored(run)].map(|said| plain(said.as_deref())),
            ),
        );
    }
    if runs.len() > most {
        let _ = writeln!(out, "\n{} more are in the other formats.", runs.len() - most);
    }
}

pub(super) fn row<T: AsRef<str>>(out: &mut String, cells: impl IntoIterator<Item = T>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {} |", cell.as_ref());
    }
    out.push('\n');
}

fn plain(text: Option<&str>) -> String {
    text.map_or_else(|| NONE.to_owned(), escaped)
}

/// Escapes a text so that it contains no markup: no end of cell, no link, no tag.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in one_line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => {
                out.extend(['\\', c]);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '.' if out.ends_with(['w', 'W']) => out.push_str("&#46;"),
            _ => out.push(c),
        }
    }
    // URLs, mail addresses and host names would otherwise become links.
    out.replace("://", "&#58;//")
}
