//! Tests of the words of a report, identical in every human-readable format.
use super::page::{Cell, Head, Repeats};
use super::tests::page;
use super::words::Tone;
use super::write;
use touchstone_api::ReportFormat;

#[test]
fn groups_with_different_numbers_of_repeats_show_their_own() {
    let mut page = page("plain", Vec::new());
    page.groups[1].repeats = Some(Repeats { k: 5, any: 0.9, all: 0.5, rows: 18, of: 18 });
    let text = write(&page, ReportFormat::Markdown, None).unwrap();
    assert!(
        text.contains("One of k passes") && text.contains("0.90 (k = 3, over 11 of 18 rows)"),
        "{text}"
    );
    assert!(text.contains("0.50 (k = 5)"), "{text}");
}

#[test]
fn a_report_says_of_whom_it_is_and_what_became_of_all_runs() {
    let mut page = page("plain", Vec::new());
    page.head = Head {
        runs: 1_234,
        scored: 1_200,
        errors: 1,
        not_ended: 30,
        unscored: 3,
        tasks: 1,
        ..page.head
    };
    page.groups[1].system = Some("plain".to_owned());
    for format in [ReportFormat::Markdown, ReportFormat::Html] {
        let text = write(&page, format, None).unwrap();
        assert!(
            text.contains("1\u{202f}234 runs of 1 task, with 1 system and 2 models."),
            "{text}"
        );
        let stand = "1\u{202f}200 of 1\u{202f}234; 1 ended in an error and is counted apart; 30 have not ended; 3 ended without a score or cannot be read";
        assert!(text.contains(stand), "{text}");
    }
}

#[test]
fn a_cell_says_without_colour_how_good_it_is() {
    let cell = |scored, passed, decided, score| Cell {
        runs: scored,
        scored,
        passed,
        decided,
        score,
        ..Cell::default()
    };
    let table = [
        (cell(2, 2, 2, Some(0.4)), Some(Tone::Right)),
        (cell(2, 1, 2, Some(0.9)), Some(Tone::Part)),
        (cell(2, 0, 2, Some(0.9)), Some(Tone::Part)),
        (cell(2, 0, 2, Some(0.1)), Some(Tone::Wrong)),
        (cell(1, 0, 0, Some(0.96)), Some(Tone::Right)),
        (cell(1, 0, 0, Some(0.6)), Some(Tone::Part)),
        (cell(1, 0, 0, Some(0.49)), Some(Tone::Wrong)),
        (cell(0, 0, 0, None), None),
    ];
    for (cell, tone) in table {
        assert_eq!(Tone::for_cell(&cell), tone, "{cell:?}");
    }
    let html = write(&page("plain", Vec::new()), ReportFormat::Html, None).unwrap();
    assert!(
        html.contains("<span class=\"part\">◐ 0.50</span>") && html.contains("◐ partly right;")
    );
}
