//! Tests of comparing answers: the values compared, the rules, and the size of the reply.
use crate::bench::{Bench, wait_until};
use std::fmt::Write as _;
use touchstone_api::{DiffKind, DiffLine, DiffRequest, DiffRow, DiffView, Span};
use touchstone_app::error::Code;

/// Maximum size of a reply as JSON.
const MAX_VIEW: usize = 1 << 20;

const TASK: &str = "tool_calling_prompt: Which tickets come first?
variations:
  - expected_output:
      - { ticket_id: 143, plan: free, score: 84.1 }
      - { ticket_id: 287, plan: base, score: 70.10 }
      - { ticket_id: 286, plan: free, score: 3 }
  - ground_truth_path: gold.json
  - parameters: { data: nothing }
";

fn transcript(answer: &str) -> String {
    format!("conversation:\n- user_message: Which?\n- assistant_message: These.\n{answer}")
}

fn answer(rows: &str) -> String {
    transcript(&format!("answer: {rows}\n"))
}

const RIGHT: &str = "[{ticket_id: 143, plan: free, score: 84.1}, {ticket_id: 287, plan: base, score: 70.1}, {ticket_id: 286, plan: free, score: 3}]";
const WRONG: &str = "[{ticket_id: 286, plan: free, score: '3'}, {ticket_id: 143, plan: free, score: 81.9}, {ticket_id: 9, plan: x}]";

fn bench() -> Bench {
    Bench::new()
        .file("tasks/tickets.yaml", TASK)
        .file("results/tickets-tool_calling-o1-variation0.yaml", answer(RIGHT))
        .file("results/tickets-tool_calling-claude-variation0.yaml", answer(WRONG))
        .file("results/tickets-tool_calling-o3-mini-variation0.yaml", transcript(""))
        .file("results/tickets-tool_calling-o1-variation1.yaml", answer(RIGHT))
        .file("results/tickets-tool_calling-o1-variation2.yaml", answer(RIGHT))
        .file("results/other-tool_calling-o1-variation0.yaml", answer(RIGHT))
        .open()
}

fn id(bench: &Bench, path: &str) -> String {
    bench.row(&format!("{path}.yaml")).unwrap_or_else(|| panic!("{path} is listed")).id
}

fn all() -> Span {
    Span { offset: 0, limit: 1_000 }
}

fn request(bench: &Bench, path: &str, against: Option<&str>) -> DiffRequest {
    let against = against.map(|path| id(bench, path));
    DiffRequest {
        id: id(bench, path),
        against,
        literal: false,
        changed_only: false,
        rows: all(),
        lines: all(),
    }
}

fn view(bench: &Bench, path: &str, against: Option<&str>) -> DiffView {
    bench.app().runs().diff_answer(&request(bench, path, against)).unwrap()
}

fn format_row(row: &DiffRow) -> String {
    let mut told = format!("{:?} {} {:?}>{:?}", row.kind, row.label, row.from, row.to);
    if row.moved {
        told.push_str(" moved");
    }
    for cell in &row.cells {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let note = cell.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        write!(told, " | {:?} {} {}{note}", cell.kind, text(&cell.left), text(&cell.right))
            .unwrap();
    }
    told + "\n"
}

fn lines(view: &DiffView) -> String {
    let side = |side: &Option<touchstone_api::DiffSide>| {
        let Some(side) = side else { return String::new() };
        let piece = |piece: &touchstone_api::TextChange| match piece.change {
            DiffKind::Same => piece.text.clone(),
            _ => format!("[{}]", piece.text),
        };
        format!("{} {}", side.number, side.pieces.iter().map(piece).collect::<String>())
    };
    let line = |line: &DiffLine| match line {
        DiffLine::Pair { change, left, right } => {
            format!("{change:?}: {} | {}", side(left), side(right)).trim_end().to_owned()
        }
        DiffLine::Folded { count } => format!("{count} folded"),
    };
    view.lines.iter().map(|one| line(one) + "\n").collect()
}

#[test]
fn an_answer_is_shown_beside_what_was_expected() {
    let bench = bench();
    let view = view(&bench, "tickets-tool_calling-claude-variation0", None);
    assert!(!view.equal && !view.coarse && view.notes.is_empty());
    assert_eq!(view.aligned.as_deref(), Some("by ticket_id"));
    assert_eq!(
        view.columns
            .iter()
            .map(|column| (column.name.as_str(), column.numeric))
            .collect::<Vec<_>>(),
        [("ticket_id", true), ("plan", false), ("score", false)]
    );
    assert_eq!((view.total_rows, view.total_lines), (4, view.lines.len() as u64));
    insta::assert_snapshot!(view.summary, @"0 of 3 rows right, 1 missing (#287), 1 extra (#9), 1 \
        field differs: score 84.1 → 81.9, 1 moved: #286 (3 → 1), 1 value of another type");
    insta::assert_snapshot!(view.rows.iter().map(format_row).collect::<String>(), @"
    Changed #143 Some(1)>Some(2) | Same 143 - | Same free - | Changed 84.1 81.9
    Extra #9 None>Some(3) | Extra - 9 | Extra - x | Absent - -
    Missing #287 Some(2)>None | Missing 287 - | Missing base - | Missing 70.10 -
    Alike #286 Some(3)>Some(1) moved | Same 286 - | Same free - | Alike 3 3 (text instead of number)
    ");
    insta::assert_snapshot!(lines(&view), @"
    Same: 1 - ticket_id: 143 | 1 - ticket_id: 143
    Same: 2   plan: free | 2   plan: free
    Changed: 3   score: [84.1] | 3   score: [81.9]
    Extra:  | 4 [- ticket_id: 9]
    Extra:  | 5 [  plan: x]
    Missing: 4 [- ticket_id: 287] |
    Missing: 5 [  plan: base] |
    Missing: 6 [  score: 70.10] |
    Changed: 7 # place [3] | 6 # place [1]
    Same: 8 - ticket_id: 286 | 7 - ticket_id: 286
    Same: 9   plan: free | 8   plan: free
    Alike: 10   score: 3 | 9   score: [']3[']
    ");
    insta::assert_snapshot!(format!("{:?}", view.stops), @"[2]");
}

#[test]
fn what_is_equal_is_left_out_when_that_is_asked_for() {
    let bench = bench();
    let path = "tickets-tool_calling-o1-variation0";
    let mut asked = request(&bench, path, None);
    let whole = bench.app().runs().diff_answer(&asked).unwrap();
    assert!(whole.equal);
    assert_eq!(
        (whole.summary.as_str(), whole.total_rows, whole.total_lines),
        ("all 3 rows right", 3, 9)
    );
    asked.changed_only = true;
    let changed = bench.app().runs().diff_answer(&asked).unwrap();
    // 70.10 equals 70.1, but is written differently.
    assert_eq!(
        changed.rows.iter().map(|row| (row.kind, row.label.as_str())).collect::<Vec<_>>(),
        [(DiffKind::Alike, "#287")]
    );
    insta::assert_snapshot!(lines(&changed), @"
    2 folded
    Same: 3   score: 84.1 | 3   score: 84.1
    Same: 4 - ticket_id: 287 | 4 - ticket_id: 287
    Same: 5   plan: base | 5   plan: base
    Alike: 6   score: [70.10] | 6   score: [70.1]
    Same: 7 - ticket_id: 286 | 7 - ticket_id: 286
    Same: 8   plan: free | 8   plan: free
    Same: 9   score: 3 | 9   score: 3
    ");
    assert!(changed.stops.is_empty());
}

#[test]
fn answers_of_two_runs_are_shown_beside_each_other() {
    let bench = bench();
    let (o1, claude) =
        ("tickets-tool_calling-o1-variation0", "tickets-tool_calling-claude-variation0");
    let there = view(&bench, claude, Some(o1));
    let back = view(&bench, o1, Some(claude));
    let kinds = |view: &DiffView, kind| view.rows.iter().filter(|row| row.kind == kind).count();
    assert_eq!((kinds(&there, DiffKind::Missing), kinds(&there, DiffKind::Extra)), (1, 1));
    assert_eq!((kinds(&back, DiffKind::Missing), kinds(&back, DiffKind::Extra)), (1, 1));
    assert_eq!(there.rows.iter().filter(|row| row.moved).count(), 1);
    assert!(view(&bench, o1, Some(o1)).equal);
    // A run without a known suite can be compared with another one.
    assert!(view(&bench, "other-tool_calling-o1-variation0", Some(o1)).equal);
}

#[test]
fn without_an_answer_everything_is_missing() {
    let bench = bench();
    let view = view(&bench, "tickets-tool_calling-o3-mini-variation0", None);
    assert_eq!(
        (view.summary.as_str(), view.equal, view.total_rows, view.total_lines),
        ("no answer", false, 3, 9)
    );
    assert!(view.rows.iter().all(|row| row.kind == DiffKind::Missing));
    assert!(
        view.lines.iter().all(|line| matches!(
            line,
            DiffLine::Pair { change: DiffKind::Missing, right: None, .. }
        ))
    );
}

#[test]
fn what_cannot_be_compared_is_said_with_the_next_step() {
    let bench = bench();
    let error = |path: &str, against: Option<&str>| {
        bench.app().runs().diff_answer(&request(&bench, path, against)).unwrap_err()
    };
    let nothing = error("tickets-tool_calling-o1-variation2", None);
    assert_eq!(nothing.code, Code::NotFound);
    insta::assert_snapshot!(nothing, @"
    The suite says nothing of what was expected of this run.
    Write `expected_output` into the suite, or compare with the answer of another run.
    ");
    insta::assert_snapshot!(error("tickets-tool_calling-o1-variation1", None), @"
    The expected output in gold.json could not be read: the file is not there any more.
    Fix that file, or the suite that names it.
    ");
    insta::assert_snapshot!(error("other-tool_calling-o1-variation0", None), @"
    The suite of this run is not in the folder, so it is not known what was expected.
    Open the folder that holds the suite too, or compare with the answer of another run.
    ");
    insta::assert_snapshot!(error("tickets-tool_calling-o1-variation0", Some("tickets-tool_calling-o3-mini-variation0")), @"
    The run to compare with has no answer.
    Choose a run that ended with an answer.
    ");
    let unknown = DiffRequest {
        id: "nothing".to_owned(),
        ..request(&bench, "tickets-tool_calling-o1-variation0", None)
    };
    assert_eq!(bench.app().runs().diff_answer(&unknown).unwrap_err().code, Code::NotFound);
}

#[test]
fn a_file_that_changes_is_compared_again() {
    let bench = bench();
    let path = "tickets-tool_calling-o1-variation1";
    let asked = request(&bench, path, None);
    let wait_for = |summary: &str| {
        let view = || bench.app().runs().diff_answer(&asked).ok();
        wait_until(summary, || view().filter(|view| view.summary == summary));
    };
    bench.put("tasks/gold.json", "[{\"ticket_id\": 143, \"plan\": \"free\", \"score\": 84.1}]");
    wait_for("1 of 1 row right, 2 extra (#287, #286)");
    bench.put("tasks/gold.json", "[]");
    wait_for("no rows were expected, and 3 came");
    bench.put("results/tickets-tool_calling-o1-variation1.yaml", answer("[]"));
    assert_eq!(view(&bench, path, None).summary, "equal: an empty list");
}

#[test]
fn the_suite_says_what_counts_as_a_difference() {
    let summary = |task: &str, rows: &str| {
        let bench = Bench::new()
            .file(
                "tasks/t.yaml",
                format!(
                    "tool_calling_prompt: x\n{task}\nvariations:\
                \n  - expected_output: [{{name: a, n: 1, at: x}}, {{name: b, n: 2, at: x}}]\n"
                ),
            )
            .file("results/t-tool_calling-o1-variation0.yaml", answer(rows))
            .open();
        let view = view(&bench, "t-tool_calling-o1-variation0", None);
        format!("{} ({})", view.summary, view.aligned.unwrap_or_default())
    };
    let rows = "[{name: b, n: 1, at: y}, {name: a, n: 2.01, at: y}]";
    insta::assert_snapshot!(summary("", rows), @"0 of 2 rows right, 4 fields differ: n wrong in 2 rows, at wrong in 2 rows, 1 moved: a (1 → 2) (by name)");
    insta::assert_snapshot!(summary("result_artifact_key: n", rows), @"\
        0 of 2 rows right, 1 missing (#2), 1 extra (#2.01), 2 fields differ: name a → b, at x → y \
        (by n)");
    insta::assert_snapshot!(summary("scorers: [exact, fields: {key: name, ignore: at, tolerance: 1.5}]", rows), @"\
        all 2 rows are there, 1 moved: a (1 → 2), 2 values within tolerance (by name)");
}

#[test]
fn a_reply_is_bounded_however_large_the_answers_are() {
    let row = |n: usize, word: &str| {
        format!("- ticket_id: {n}\n  text: {}\n  more: {word}{n}\n", word.repeat(3_000))
    };
    let rows = |word: &str| (0..600).map(|n| row(n, word)).collect::<String>();
    let bench = Bench::new()
        .file(
            "results/t-tool_calling-o1-variation0.yaml",
            transcript(&format!("answer:\n{}", rows("left"))),
        )
        .file(
            "results/t-tool_calling-o1-variation1.yaml",
            transcript(&format!("answer:\n{}", rows("right"))),
        )
        .open();
    let mut asked =
        request(&bench, "t-tool_calling-o1-variation1", Some("t-tool_calling-o1-variation0"));
    asked.rows.limit = u32::MAX;
    asked.lines.limit = u32::MAX;
    let view = bench.app().runs().diff_answer(&asked).unwrap();
    assert_eq!((view.total_rows, view.total_lines), (600, 1_800));
    assert!(!view.rows.is_empty() && !view.lines.is_empty());
    let weight = serde_json::to_vec(&view).unwrap().len();
    assert!(weight < MAX_VIEW, "{weight}");
    // The rest is available page by page.
    let mut seen = Vec::new();
    while seen.len() < 600 {
        asked.rows.offset = u32::try_from(seen.len()).unwrap();
        let piece = bench.app().runs().diff_answer(&asked).unwrap().rows;
        assert!(!piece.is_empty());
        seen.extend(piece.into_iter().map(|row| row.label));
    }
    assert_eq!(seen, (0..600).map(|n| format!("#{n}")).collect::<Vec<_>>());
}
