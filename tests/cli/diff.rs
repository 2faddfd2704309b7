//! Tests of `diff`: the differences between two values.
use crate::sandbox::{ANSWERED, Sandbox};
use std::io::Write as _;
use std::process::Stdio;

const EXPECTED: &str = r#"[
  {"ticket_id": 143, "plan": "free", "score": 84.10},
  {"ticket_id": 287, "plan": "base", "score": 70},
  {"ticket_id": 286, "plan": "free", "score": 3}
]"#;
const ACTUAL: &str = "- { ticket_id: 143, plan: free, score: 84.1 }\n- { ticket_id: '287', plan: free, score: 70.4 }\n- { ticket_id: 9 }\n";
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2K\u{202e}";

fn sandbox(name: &str) -> Sandbox {
    let hostile = serde_json::json!([{ "id": 1, HOSTILE: HOSTILE }]).to_string();
    let other = serde_json::json!([{ "id": 1, HOSTILE: "x" }]).to_string();
    let nested = serde_json::json!({ "rows": [1, 2], "more": [HOSTILE], HOSTILE: 1 }).to_string();
    Sandbox::with(
        name,
        &[
            ("expected.json", EXPECTED),
            ("actual.yaml", ACTUAL),
            ("answered.yaml", ANSWERED),
            ("seven.json", r#"[{"ticket_id": 7}]"#),
            ("broken.json", r#"{"a": "#),
            ("hostile.json", &hostile),
            ("other.json", &other),
            ("nested.json", &nested),
            ("lenient.json", "[{'ticket_id': 7},]"),
        ],
    )
}

#[test]
fn the_sentence_comes_first_and_the_rows_that_differ_after_it() {
    let ran = sandbox("diff-table").run(&["diff", "expected.json", "actual.yaml"]);
    assert_eq!((ran.status, ran.err.as_str()), (1, ""), "{ran:?}");
    assert_eq!(
        ran.out,
        "1 of 3 rows right, 1 missing (#286), 1 extra (#9), 2 fields differ: plan base → free, score 70 → 70.4, 1 value of another type  (rows by ticket_id)
         row  ticket_id                           plan         score
alike    1    143                                 free         84.10 = 84.1
differs  2    287 = 287 (text instead of number)  base → free  70 → 70.4
extra    → 3  9
missing  3    286                                 free         3
"
    );
}

#[test]
fn line_by_line_a_value_that_is_only_written_in_another_way_is_told_from_one_that_is_wrong_without_colour()
 {
    let sandbox = Sandbox::with(
        "diff-lines",
        &[
            ("left.json", r#"{"plan": "free", "score": 84.10}"#),
            ("right.json", r#"{"plan": "base", "score": 84.1}"#),
        ],
    );
    let ran = sandbox.run(&["diff", "left.json", "right.json"]);
    let marked: Vec<&str> =
        ran.out.lines().filter(|line| line.ends_with("(equal, written differently)")).collect();
    assert_eq!(marked.len(), 2, "{}", ran.out);
    assert!(marked.iter().all(|line| line.contains("84.1")), "{}", ran.out);
    assert!(
        ran.out.lines().any(|line| line.starts_with("- plan") && line.ends_with("free")),
        "{}",
        ran.out
    );
}

#[test]
fn equal_values_end_with_zero_different_ones_with_one_and_what_is_not_understood_with_two() {
    let sandbox = sandbox("diff-status");
    for (arguments, status) in [
        (&["expected.json", "expected.json"][..], 0),
        (&["expected.json", "actual.yaml"], 1),
        (&["expected.json", "actual.yaml", "--tolerance", "1%"], 1),
        (&["seven.json", "answered.yaml"], 0),
        (&["seven.json", "lenient.json"], 0),
        (&["broken.json", "seven.json"], 2),
        (&["no/such.json", "seven.json"], 2),
        (&[".", "seven.json"], 2),
        (&["-", "-"], 2),
        (&["seven.json"], 2),
        (&["seven.json", "seven.json", "--tolerance", "much"], 2),
    ] {
        let ran = sandbox.run(&[&["diff"], arguments].concat());
        assert_eq!(ran.status, status, "{arguments:?} {ran:?}");
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        assert_eq!(ran.out.is_empty(), status == 2, "{ran:?}");
    }
    let broken = sandbox.run(&["diff", "broken.json", "seven.json"]);
    assert!(
        broken
            .err
            .starts_with("broken.json cannot be read. Line 1: The JSON text ends in the middle."),
        "{}",
        broken.err
    );
    assert!(
        sandbox
            .run(&["diff", "seven.json", "answered.yaml"])
            .err
            .contains("answered.yaml is a transcript: its answer is compared.")
    );
    assert!(
        sandbox
            .run(&["diff", "seven.json", "lenient.json"])
            .err
            .contains("lenient.json is not strict JSON")
    );
}

#[test]
fn options_choose_what_counts_as_a_difference() {
    let sandbox = sandbox("diff-options");
    let out = |arguments: &[&str]| {
        sandbox.run(&[&["diff", "expected.json", "actual.yaml"], arguments].concat()).out
    };
    assert!(out(&["--key", "plan"]).contains("(rows by plan)"));
    assert!(out(&["--key", "ticket_id", "--key", "plan"]).contains("(rows by ticket_id and plan)"));
    assert!(out(&["--tolerance", "1%"]).contains("1 value within tolerance"));
    assert!(out(&["--tolerance", "0.5", "--ignore", "plan"]).starts_with("2 of 3 rows right"));
}

#[test]
fn programs_get_one_document_with_its_summary() {
    let ran = sandbox("diff-json").run(&["diff", "expected.json", "actual.yaml", "--json"]);
    assert_eq!(ran.status, 1);
    let [document] = &ran.json()[..] else { panic!("{}", ran.out) };
    assert!(document["summary"].as_str().unwrap().starts_with("1 of 3 rows right"));
    assert_eq!(
        (&document["equal"], &document["counts"]["rows"]["missing"]),
        (&false.into(), &1.into())
    );
    assert_eq!(
        document["diff"]["rows"][1]["diff"]["fields"][0]["diff"]["note"],
        "text instead of number"
    );
}

#[test]
fn one_side_may_come_from_standard_input() {
    let sandbox = sandbox("diff-stdin");
    let mut child = sandbox
        .command(&["diff", "seven.json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"- ticket_id: 8\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("7 → 8"));
}

#[test]
fn nothing_that_a_value_says_steers_the_terminal() {
    let sandbox = sandbox("diff-hostile");
    for (expected, actual) in [
        ("hostile.json", "other.json"),
        ("nested.json", "hostile.json"),
        ("nested.json", "other.json"),
        ("nested.json", "seven.json"),
    ] {
        let ran = sandbox.run(&["diff", expected, actual]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", ran.out);
    }
    assert!(sandbox.run(&["diff", "hostile.json", "other.json"]).out.contains("\\u{1b}"));
}
