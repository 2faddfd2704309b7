//! Tests of every format: hostile text stays text, unknown values are not numbers, large reports
//! stay small.
use super::page::{
    Amount, CauseLine, Causes, Cell, ClassLine, Estimate, FlakyLine, Group, Head, LabelSum, Page,
    Pair, Repeats, RunLine, Table, TaskLine,
};
use super::stored_tests::{stored_verdict, sum};
use super::write;
use touchstone_api::{
    FailureClass, FrontMeasure, LeftOut, ReportFormat, RowGroup, RunState, ScoreStanding, Standing,
    StoredResult, Verdict,
};

const FORMATS: [ReportFormat; 6] = [
    ReportFormat::Html,
    ReportFormat::Markdown,
    ReportFormat::Csv,
    ReportFormat::Json,
    ReportFormat::Jsonl,
    ReportFormat::Junit,
];

pub(super) fn estimate(value: f64) -> Estimate {
    Estimate { value, low: Some(value - 0.1), high: Some(value + 0.1) }
}

fn group(system: &str, model: &str, score: f64) -> Group {
    Group {
        among: RowGroup::Common,
        name: format!("{system}/{model}"),
        system: Some(system.to_owned()),
        model: Some(model.to_owned()),
        runs: 10,
        scored: 9,
        errors: 1,
        not_ended: 0,
        unscored: 0,
        standing: Some(Standing::Tied),
        why: Some(format!("Not shown to differ from {system}.")),
        on_front: Some(score > 0.8),
        on_cost_front: score > 0.8,
        on_time_front: score > 0.8,
        score: Some(estimate(score)),
        histogram: vec![0, 0, 0, 0, 0, 2, 0, 0, 3, 4],
        passed: 7,
        decided: 9,
        rate: Some(estimate(0.78)),
        repeats: Some(Repeats { k: 3, any: 0.9, all: 0.6, rows: 11, of: 18 }),
        tokens: Some(Amount {
            known: 10,
            sum: 123_456.0,
            mean: 12_345.6,
            low: Some(11_000.0),
            high: Some(13_500.0),
            median: 12_000.0,
            ninetieth: 20_000.0,
            most: 20_500.0,
        }),
        cost: Some(Amount {
            known: 8,
            sum: 0.5,
            mean: 0.05 + score,
            low: None,
            high: None,
            median: 0.05,
            ninetieth: 0.1,
            most: 0.11,
        }),
        seconds: None,
    }
}

pub(super) fn run(path: &str, reason: &str) -> RunLine {
    RunLine {
        path: path.to_owned(),
        task: Some("tickets".to_owned()),
        variation: Some("last 20".to_owned()),
        repeat: 1,
        system: Some("tool_calling".to_owned()),
        model: Some("o1".to_owned()),
        state: RunState::Answered,
        scoring: Some(ScoreStanding::Scored),
        scorer: Some("fields".to_owned()),
        score: Some(0.8),
        passed: Some(false),
        reason: Some(reason.to_owned()),
        class: Some(FailureClass::WrongAnswer),
        verdict: Some(Verdict::Partly),
        review_score: None,
        review_note: None,
        turns: 4,
        tool_calls: 3,
        nudges: 0,
        follow_ups: 0,
        lineage: None,
        forked_from: None,
        tokens: None,
        cost: None,
        seconds: Some(12.5),
        labels: Vec::new(),
        stored: Vec::new(),
    }
}

fn table(word: &str) -> Table {
    let line = vec![word.to_owned(), word.to_owned()];
    Table { caption: word.to_owned(), head: line.clone(), rows: vec![line] }
}

pub(super) fn page(word: &str, runs: Vec<RunLine>) -> Page {
    let cell = Cell {
        runs: 3,
        scored: 2,
        passed: 1,
        decided: 2,
        errors: 1,
        score: Some(0.5),
        flaky: true,
    };
    Page {
        head: Head {
            title: word.to_owned(),
            folder: word.to_owned(),
            made: "2025-01-20 12:00 UTC".to_owned(),
            version: "0.1.0".to_owned(),
            filter: word.to_owned(),
            scorers: vec![word.to_owned()],
            scored_by: vec![word.to_owned()],
            runs: 10,
            left_out: LeftOut::default(),
            scored: 9,
            errors: 1,
            not_ended: 0,
            unscored: 0,
            tasks: 2,
        },
        groups: vec![group(word, "claude", 0.9), group("tool_calling", word, 0.6)],
        front_by: Some(FrontMeasure::Cost),
        front_rows: Some([10, 10]),
        queries: vec![table(word)],
        trend: None,
        labels: vec![LabelSum {
            label: word.to_owned(),
            value: Some(word.to_owned()),
            group: word.to_owned(),
            runs: 1,
            of: 2,
            rate: Some(estimate(0.5)),
            mean: None,
        }],
        scan: vec![table(word)],
        pairs: vec![Pair {
            name: word.to_owned(),
            baseline: word.to_owned(),
            pairs: 9,
            wins: 1,
            ties: 5,
            losses: 3,
            difference: Some(estimate(-0.2)),
            p_score: Some(0.04),
            p_pass: None,
            detectable: Some(0.3),
            outcome: "worse".to_owned(),
            more: vec![word.to_owned()],
            unpaired: vec![word.to_owned()],
            sentences: vec![word.to_owned()],
            doubtful: true,
        }],
        tasks: vec![
            TaskLine {
                task: word.to_owned(),
                variation: Some(word.to_owned()),
                cells: vec![cell.clone(), Cell::default()],
            },
            TaskLine {
                task: "other".to_owned(),
                variation: None,
                cells: vec![Cell::default(), cell],
            },
        ],
        stored: Vec::new(),
        causes: Some(Causes {
            failed: 6,
            read: 5,
            kinds: vec![CauseLine {
                title: "Wrong values".to_owned(),
                kind: "wrong_values",
                is_error: false,
                runs: 4,
                shares: vec![Some((1, 10)), None],
                example: None,
                quote: String::new(),
            }],
            lines: vec![CauseLine {
                title: word.to_owned(),
                kind: "wrong_values",
                is_error: false,
                runs: 3,
                shares: vec![Some((1, 10)), None],
                example: Some(word.to_owned()),
                quote: word.to_owned(),
            }],
            left_out: 2,
        }),
        classes: vec![ClassLine { class: FailureClass::WrongAnswer, counts: vec![2, 3] }],
        flaky: vec![FlakyLine {
            group: word.to_owned(),
            task: word.to_owned(),
            variation: Some(word.to_owned()),
            passed: 1,
            decided: 2,
        }],
        failed: runs.clone(),
        runs,
        headline: vec![word.to_owned()],
        not_drawn: Some(word.to_owned()),
        notes: vec![word.to_owned()],
        method: vec!["Intervals are of 95 %.".to_owned()],
    }
}

const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>|`]]>&amp;\u{202e}\u{0}\u{1b}[31m\r\n# x](javascript:alert(1))";

#[test]
fn hostile_text_is_text_in_every_format() {
    let stored = vec![stored_verdict(HOSTILE, StoredResult::Open, HOSTILE)];
    let page = Page {
        stored: vec![sum(HOSTILE)],
        ..page(HOSTILE, vec![RunLine { stored, ..run(HOSTILE, HOSTILE) }])
    };
    for format in FORMATS {
        let text = write(&page, format, Some("dark\" onload=\"alert(1)")).unwrap();
        assert!(
            !text.contains(['\u{202e}', '\u{0}', '\u{1b}']),
            "{format:?} holds what cannot be seen"
        );
        if matches!(format, ReportFormat::Html | ReportFormat::Markdown | ReportFormat::Junit) {
            assert!(!text.contains("<script") && !text.contains("<img"), "{format:?} holds a tag");
            assert!(!text.contains("onload=\"alert"), "{format:?} took a theme as it came");
        }
    }
}

#[test]
fn no_address_in_a_text_becomes_a_link_in_markdown() {
    let reason = "https://a.example/x www.b.example WWW.c.example me@d.example ftp://e";
    let page = page(reason, vec![run(reason, reason)]);
    let text = write(&page, ReportFormat::Markdown, None).unwrap();
    assert!(text.contains("a.example") && text.contains("d.example"));
    for link in ["://", "www.", "WWW.", "@"] {
        assert!(!text.contains(link), "{link}");
    }
}

#[test]
fn the_summary_is_in_the_order_of_the_leaderboard_with_its_notes_folded_behind_it() {
    let mut page = page("plain", Vec::new());
    page.groups.reverse();
    page.groups[0].standing = Some(Standing::TooFew);
    page.groups.insert(
        0,
        Group {
            score: None,
            standing: None,
            among: RowGroup::Unscored,
            ..group("none", "o1", 0.0)
        },
    );
    page.notes = vec!["1 replay. `model:replay` shows it, `a|b` and `<b>` do not.".to_owned()];
    let html = write(&page, ReportFormat::Html, None).unwrap();
    let summary = html.split_once("id=\"summary\"").unwrap().1;
    let at = |text: &str| summary.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(
        at("plain</th>") < at("tool_calling</th>") && at("tool_calling</th>") < at("none</th>")
    );
    assert_eq!(summary.matches("<strong>not shown to differ</strong>").count(), 1);
    assert_eq!(summary.matches("<strong>too few tasks to tell</strong>").count(), 1);
    assert!(
        at("<summary>1 note") > at("none</th>") && at("id=\"notes\"") < at("id=\"comparison\"")
    );
    assert!(
        html.contains("<code>model:replay</code> shows it, <code>a|b</code> and <code>&lt;b&gt;")
    );
    let text = write(&page, ReportFormat::Markdown, None).unwrap();
    assert!(
        text.contains("`model:replay` shows it, \\`a\\|b\\` and \\`&lt;b&gt;\\` do not."),
        "{text}"
    );
    assert!(text.find("| none |") > text.find("| tool\\_calling |"));
}

#[test]
fn a_time_in_a_spreadsheet_is_in_whole_milliseconds_and_all_else_is_exact() {
    let timed = RunLine {
        seconds: Some(12.673_000_097_274_78),
        score: Some(0.1 + 0.2),
        cost: Some(0.000_012_345_6),
        ..run("a.yaml", "x")
    };
    let csv = write(&page("plain", vec![timed]), ReportFormat::Csv, None).unwrap();
    assert!(csv.contains(",12.673,"), "{csv}");
    assert!(csv.contains(",0.30000000000000004,") && csv.contains("0.0000123456"), "{csv}");
}

#[test]
fn results_over_repeats_name_their_rows() {
    let page = page("plain", Vec::new());
    for format in [ReportFormat::Markdown, ReportFormat::Html] {
        let text = write(&page, format, None).unwrap();
        assert!(
            text.contains("over 11 of 18 rows")
                && text.contains("One of 3 passes")
                && text.contains("All 3 pass"),
            "{text}"
        );
    }
    let json = write(&page, ReportFormat::Json, None).unwrap();
    assert!(json.contains("\"rows\": 11") && json.contains("\"of\": 18"), "{json}");
}

#[test]
fn a_suite_of_runs_that_say_no_time_has_none() {
    let timeless = RunLine { seconds: None, ..run("a.yaml", "1 field differs") };
    let text = write(&page("plain", vec![timeless]), ReportFormat::Junit, None).unwrap();
    assert!(text.contains("<testsuite ") && !text.contains("time="), "{text}");
}

#[test]
fn a_page_holds_no_script_no_address_and_no_other_style_than_its_own() {
    let html = write(
        &page("plain", vec![run("a.yaml", "1 field differs")]),
        ReportFormat::Html,
        Some("dark"),
    )
    .unwrap();
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\" data-theme=\"dark\">"));
    for never in ["<script", "http://", "https://", " style=", "<link", "url(", "javascript:"] {
        assert!(!html.contains(never), "{never}");
    }
    assert_eq!(html.matches("<style>").count(), 1);
}

#[test]
fn a_cell_of_a_spreadsheet_is_never_a_formula() {
    let page = page("plain", vec![run("=cmd|'/c calc'!A1", "-2+3"), run("@sum(a1)", "+1")]);
    let csv = write(&page, ReportFormat::Csv, None).unwrap();
    assert!(
        csv.contains("\r\n'=cmd")
            && csv.contains(",'-2+3,")
            && csv.contains("\r\n'@sum(a1),")
            && csv.contains(",'+1,")
    );
}

/// Returns a report as Markdown, in two halves.
fn markdown() -> (String, String) {
    let reason = "1 field differs: score 84.1 → 81.9";
    let page = page("plain", vec![run("tickets-tool_calling-o1-variation0.yaml", reason)]);
    let text = write(&page, ReportFormat::Markdown, None).unwrap();
    let at = text.find("## Tasks").unwrap();
    (text[..at].trim_end().to_owned(), text[at..].to_owned())
}

#[test]
fn markdown_begins_with_what_it_comes_to() {
    insta::assert_snapshot!(markdown().0, @"
    # plain

    **plain**

    What goes wrong most: “Wrong values”, in 4 of 5 failed runs read so far (6 in all).

    10 runs of 2 tasks, with 2 systems and 2 models. Scored: 9 of 10; 1 ended in an error and is counted apart. Folder plain, 2025-01-20 12:00 UTC.

    Scored by plain.

    Filter: plain

    ## Summary

    One line for each system with each model. Errors are counted apart, not as wrong answers. Not shown \
        to differ: from the highest one, on the tasks that both have. Too few tasks: fewer than 6 in \
        common with it. Behind: shown to be worse. Undecided: \
        the runs show neither. ◆ Pareto: over the 10 tasks and variations that both have, no other has a mean score at least as high for \
        at most the same mean cost. Costs include runs in error. Intervals are of 95 %.

    | System | Model | Standing | Runs | Scored | Errors | Score (95 %) | Passed | Rate (95 %) | One of 3 \
        passes | All 3 pass | Tokens a run | Cost a run | Cost in all | Time a run | Time, median | Longest |
    | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
    | plain | claude | **not shown to differ** ◆ | 10 | 9 | 1 | 0.90 (0.80–1.00) | 7/9 | 0.78 (0.68–0.88) | 0.90 (over 11 of \
        18 rows) | 0.60 (over 11 of 18 rows) | 12 346 (11 000–13 500) | $0.9500 (of 8/10) | at least $0.5000 | – | – | – |
    | tool\\_calling | plain | **not shown to differ** | 10 | 9 | 1 | 0.60 (0.50–0.70) | 7/9 | 0.78 (0.68–0.88) | 0.90 (over \
        11 of 18 rows) | 0.60 (over 11 of 18 rows) | 12 346 (11 000–13 500) | $0.6500 (of 8/10) | at least $0.5000 \
        | – | – | – |

    ## Notes

    - plain

    ## Comparison with plain

    | System with model | Tasks and variations | Better / equal / worse | Difference (95 %) | p of scores | p of passes | Could have shown |
    | --- | --: | --: | --: | --: | --: | --: |
    | plain | 9 | 1 / 5 / 3 | −0.20 (−0.30 to −0.10) | 0.040 | – | 0.30 |

    ### plain: worse

    - plain
    - plain
    ");
}

#[test]
fn markdown_reads_as_tables() {
    insta::assert_snapshot!(markdown().1, @"
    ## Tasks

    ✓ right: every run passed; ◐ partly right; ✕ wrong: none passed, and the mean is below 0.50; \
        where nothing decides what passes, ✓ from 0.95 on. Beside it the mean score, and how many \
        runs passed where there are several.

    | Task | plain/claude | tool\\_calling/plain |
    | --- | --: | --: |
    | plain · plain | ◐ 0.50 1/2 +1 err | – |
    | other | – | ◐ 0.50 1/2 +1 err |

    ## Query sets

    plain

    | plain | plain |
    | --- | --- |
    | plain | plain |

    ## Attacks

    plain

    | plain | plain |
    | --- | --- |
    | plain | plain |

    ## Labels

    How many runs have a label. Values that people gave are counted among the runs to which somebody gave one; a run counts under each value that it has.

    | Label | Value | System with model | Runs | Share (95 %) | Mean (95 %) |
    | --- | --- | --- | --- | --- | --- |
    | plain | plain | plain | 1/2 | 0.50 (0.40–0.60) | – |

    ## What went wrong

    ### Causes

    Causes of 5 failed runs read so far (6 in all) by kind, each counted under its main one; beside it the runs of each system. 2 rarer causes are left out.

    | Cause | Runs | plain/claude | tool\\_calling/plain | Example |
    | --- | --- | --- | --- | --- |
    | Wrong values | 4 | 1/10 | – |  |
    | · plain | 3 | 1/10 | – | plain: plain |

    ### Classes

    | What | plain/claude | tool\\_calling/plain |
    | --- | --: | --: |
    | wrong answer | 2 | 3 |

    - flaky: plain · plain, plain: 1/2 passed

    ### Runs that did not pass

    | Run | State | Score | Why | A person says |
    | --- | --- | --: | --- | --- |
    | tickets-tool\\_calling-o1-variation0.yaml | wrong answer | 0.80 | 1 field differs: score 84.1 → 81.9 | partly right |

    ### Runs

    | Run | State | Score | Why | A person says |
    | --- | --- | --: | --- | --- |
    | tickets-tool\\_calling-o1-variation0.yaml | wrong answer | 0.80 | 1 field differs: score 84.1 → 81.9 | partly right |

    ## Method

    Intervals are of 95 %.

    Made by Touchstone 0.1.0.
    ");
}

#[test]
fn a_build_server_sees_failures_errors_and_what_was_skipped_apart_and_what_a_person_says_of_each() {
    let failed = RunLine {
        state: RunState::Error,
        scoring: Some(ScoreStanding::Error),
        passed: None,
        score: None,
        class: Some(FailureClass::SystemError),
        verdict: None,
        ..run("b.yaml", "429 <too many>")
    };
    let skipped = RunLine {
        scoring: Some(ScoreStanding::NoExpected),
        passed: None,
        score: None,
        class: None,
        repeat: 2,
        verdict: None,
        review_note: Some("Read twice.".to_owned()),
        ..run("c.yaml", "no expected output")
    };
    let passed = RunLine {
        passed: Some(true),
        score: Some(1.0),
        class: None,
        verdict: None,
        ..run("e.yaml", "all right")
    };
    let contradicted = RunLine {
        path: "d.yaml".to_owned(),
        verdict: Some(Verdict::Wrong),
        review_score: Some(0.25),
        review_note: Some("<b> ]]>".to_owned()),
        ..passed.clone()
    };
    let page = page(
        "plain",
        vec![run("a.yaml", "1 field differs"), failed, skipped, contradicted, passed],
    );
    insta::assert_snapshot!(write(&page, ReportFormat::Junit, None).unwrap(), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="plain" tests="5" failures="1" errors="1" skipped="1">
      <testsuite name="tool_calling/o1" tests="5" failures="1" errors="1" skipped="1" time="62.500">
        <testcase classname="tickets" name="last 20" file="a.yaml" time="12.500">
          <failure message="1 field differs" type="wrong answer">score 0.8000</failure>
          <system-out>A person says: partly right</system-out>
        </testcase>
        <testcase classname="tickets" name="last 20" file="b.yaml" time="12.500">
          <error message="429 &lt;too many&gt;" type="system error"></error>
        </testcase>
        <testcase classname="tickets" name="last 20 (repeat 2)" file="c.yaml" time="12.500">
          <skipped message="no expected output"></skipped>
          <system-out>A person says: Read twice.</system-out>
        </testcase>
        <testcase classname="tickets" name="last 20" file="d.yaml" time="12.500">
          <system-out>A person says (not as scored): wrong, score 0.25: &lt;b&gt; ]]&gt;</system-out>
        </testcase>
        <testcase classname="tickets" name="last 20" file="e.yaml" time="12.500"/>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn five_thousand_runs_stay_under_ten_megabytes_in_every_format() {
    let runs: Vec<RunLine> = (0..5_000)
        .map(|n| {
            run(
                &format!("some/folder/a_rather_long_task_name_{n}-tool_calling_python-o3-mini-variation{n}-run2.yaml"),
                "8 of 10 rows right, 1 missing (#143), 1 field differs: priority_score 84.1 → 81.9",
            )
        })
        .collect();
    let page = page("plain", runs);
    for format in FORMATS {
        let size = write(&page, format, None).unwrap().len();
        assert!(size < 10_000_000, "{format:?}: {size} bytes");
    }
}

#[test]
fn nothing_to_report_is_said_and_no_table_is_empty() {
    let mut page = page("plain", Vec::new());
    (page.groups, page.pairs, page.tasks, page.classes, page.flaky) = <_>::default();
    let html = write(&page, ReportFormat::Html, None).unwrap();
    assert!(html.contains("No run passes the filter") && !html.contains("<tbody></tbody>"));
    page.head.filter = String::new();
    for format in [ReportFormat::Html, ReportFormat::Markdown] {
        let text = write(&page, format, None).unwrap();
        assert!(
            text.contains("No runs were found in this folder")
                && !text.contains("passes the filter"),
            "{format:?}"
        );
    }
    for format in FORMATS {
        write(&page, format, None).unwrap();
    }
}

#[test]
fn every_format_that_lists_runs_shows_reviews_beside_scores() {
    let said = RunLine {
        passed: Some(true),
        score: Some(1.0),
        verdict: Some(Verdict::Wrong),
        review_score: Some(0.25),
        review_note: Some("Ticket 9 is\nfrom 2023.".to_owned()),
        class: None,
        ..run("a.yaml", "all right")
    };
    let reviewed = Page { failed: Vec::new(), ..page("plain", vec![said]) };
    for format in FORMATS {
        let text = write(&reviewed, format, None).unwrap();
        assert!(
            text.contains("wrong") && text.contains("0.25") && text.contains("from 2023."),
            "{format:?}: {text}"
        );
    }
    let html = write(&reviewed, ReportFormat::Html, None).unwrap();
    assert!(html.contains("A person says") && html.contains("not as scored"));
    let unread = RunLine { verdict: None, ..run("a.yaml", "all right") };
    let nobody = Page { failed: Vec::new(), ..page("plain", vec![unread]) };
    assert!(!write(&nobody, ReportFormat::Html, None).unwrap().contains("A person says"));
}

#[test]
fn too_many_rows_for_a_chart_are_drawn_by_task_and_too_many_tasks_are_said() {
    let cell =
        |score: f64, scored| Cell { runs: scored, scored, score: Some(score), ..Cell::default() };
    let lines = |tasks: usize, variations: usize| -> Vec<TaskLine> {
        let line = |n: usize| TaskLine {
            task: format!("task {:04}", n / variations),
            variation: Some(format!("variation {}", n % variations)),
            // Three runs of the first variation and one of each other: every run counts equally.
            cells: vec![cell(0.0, if n.is_multiple_of(variations) { 3 } else { 1 }), cell(1.0, 1)],
        };
        (0..tasks * variations).map(line).collect()
    };
    let html = |tasks, variations| {
        let page = Page { tasks: lines(tasks, variations), ..page("plain", Vec::new()) };
        write(&page, ReportFormat::Html, None).unwrap()
    };
    let drawn = |html: &str| html.matches(" rx=\"2\"").count();
    assert_eq!(drawn(&html(200, 2)), 800, "400 rows of two groups");
    let folded = html(200, 3);
    assert_eq!(drawn(&folded), 400);
    assert!(folded.contains("its variations together"));
    let beyond = html(401, 2);
    assert_eq!(drawn(&beyond), 0);
    assert!(beyond.contains("too many tasks for a chart"));
}
