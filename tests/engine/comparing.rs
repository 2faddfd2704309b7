//! Tests of comparing runs: the alignment of steps, the point of divergence, the reply, and runs
//! that cannot be read or have changed.
use crate::bench::{Bench, answered, beside_the_project, broken};
use std::fmt::Write as _;
use touchstone_api::{Comparison, DiffKind, PartDiff, Relation, Span, StepRef};
use touchstone_app::App;
use touchstone_app::error::Code;
use touchstone_app::runs::RunActions;

/// Maximum size of a comparison as JSON; `MAX_STEPS` is that of two steps.
const MAX_REPLY: usize = 3 << 20;
const MAX_STEPS: usize = 400 << 10;

fn id(bench: &Bench, path: &str) -> String {
    bench.row(path).unwrap_or_else(|| panic!("{path} is listed")).id
}

fn compare(bench: &Bench, paths: &[&str]) -> Comparison {
    let ids: Vec<String> = paths.iter().map(|path| id(bench, path)).collect();
    bench.app().runs().compare_runs(&ids).unwrap()
}

/// Formats rows and notes as text.
fn format_comparison(comparison: &Comparison) -> String {
    let mut out = String::new();
    for row in &comparison.rows {
        for step in &row.steps {
            let _ = write!(out, "{:>2} ", step.map_or("-".to_owned(), |step| step.to_string()));
        }
        let mark = if row.diverges { " <" } else { "" };
        let _ = writeln!(out, "{:?} {}{mark}", row.relation, row.title);
    }
    let (first, result) = (comparison.first_divergence, comparison.first_other_result);
    let _ = write!(out, "first {first:?}, other result {result:?}");
    for run in &comparison.runs {
        let summary = run.answer_summary.as_deref().unwrap_or("-");
        let trouble =
            run.trouble.as_deref().map(|trouble| format!("; {trouble}")).unwrap_or_default();
        let _ = write!(
            out,
            "\n{}: parts {:?}, answer {:?}: {summary}{trouble}",
            run.row.path, run.parts_at, run.answer
        );
    }
    for note in &comparison.notes {
        let _ = write!(out, "\n{note}");
    }
    out
}

fn steps(comparison: &Comparison, runs: [usize; 2], steps: [u32; 2]) -> [StepRef; 2] {
    [0, 1].map(|at| {
        let run = &comparison.runs[runs[at]];
        StepRef { id: run.row.id.clone(), version: run.version.clone(), step: steps[at] }
    })
}

fn diff(app: &App, comparison: &Comparison, runs: [usize; 2], at: [u32; 2]) -> Vec<PartDiff> {
    let [left, right] = steps(comparison, runs, at);
    app.runs().diff_steps(&left, &right).unwrap().parts
}

fn conversation(sql: &str, says: &str, answer: &str) -> String {
    format!(
        "conversation:\n- user_message: How many?\n- assistant_message: I look. {says}\n- tool_call:\n    id: c-{says}\n    \
         name: query_plans\n    params: {{ sql: \"{sql}\" }}\n    result: '[{{\"n\": 3}}]'\n- assistant_message: {says}\n\
         answer:\n{answer}"
    )
}

#[test]
fn runs_stand_beside_each_other_step_by_step_with_their_answers() {
    let bench = Bench::new()
        .file(
            "results/plans-tool_calling-o1-variation0.yaml",
            conversation("select 1", "Three.", "- n: 3\n- n: 4\n"),
        )
        .file(
            "results/plans-tool_calling-o1-variation0-run2.yaml",
            conversation("SELECT 1;", "It is 3", "- n: 4\n- n: 3\n"),
        )
        .file(
            "results/plans-tool_calling-o1-variation0-run3.yaml",
            conversation("select 2", "Two.", "- n: 3.0\n- n: 4\n"),
        )
        .open();
    let paths = ["", "-run2", "-run3"]
        .map(|repeat| format!("plans-tool_calling-o1-variation0{repeat}.yaml"));
    let comparison = compare(&bench, &paths.each_ref().map(String::as_str));
    insta::assert_snapshot!(format_comparison(&comparison), @"
     0  0  0 Same prompt
     1  1  1 OtherWords assistant message
     2  2  2 Similar query_plans <
     3  3  3 Different assistant message <
    first Some(2), other result None
    plans-tool_calling-o1-variation0.yaml: parts None, answer Same: -
    plans-tool_calling-o1-variation0-run2.yaml: parts Some(3), answer Changed: all 2 rows are there, 1 moved: #3 (1 → 2)
    plans-tool_calling-o1-variation0-run3.yaml: parts Some(2), answer Alike: all 2 rows the same
    ");
    assert_eq!(comparison.runs[0].row, bench.row(&paths[0]).unwrap());
    let swapped = compare(&bench, &[&paths[2], &paths[0]]);
    assert_eq!(swapped.first_divergence, Some(2));
    let parts = diff(bench.app(), &comparison, [0, 2], [2, 2]);
    let said: Vec<_> = parts.iter().map(|part| (part.label.as_str(), part.kind)).collect();
    assert_eq!(said, [("sql", DiffKind::Changed), ("result", DiffKind::Same)]);
    let pieces: Vec<_> =
        parts[0].pieces.iter().map(|piece| (piece.text.as_str(), piece.change)).collect();
    assert_eq!(
        pieces,
        [("select ", DiffKind::Same), ("1", DiffKind::Missing), ("2", DiffKind::Extra)]
    );
    assert!(parts.iter().all(|part| part.whole && !part.coarse) && parts[1].pieces.is_empty());
}

const PROMPTQL: &str = "output:
  assistant_actions:
  - message: I look.
    plan: Ask the database.
    code: executor.run_sql('select 1')
    code_output: SQL statement returned 1 rows.
  modified_artifacts:
  - identifier: plans
    title: Plans
    artifact_type: table
    data: [{ n: 3 }]
answer: [{ n: 3 }]
";

#[test]
fn runs_of_different_kinds_are_compared_too_and_a_damaged_one_says_why_not() {
    let bench = Bench::new()
        .answered("results/plans-tool_calling-o1-variation0.yaml", "Three.")
        .file("results/plans-promptql-o1-variation0.yaml", PROMPTQL)
        .file("results/plans-tool_calling-o3-mini-variation0.yaml", broken())
        .open();
    insta::assert_snapshot!(format_comparison(&compare(&bench, &[
        "plans-tool_calling-o1-variation0.yaml",
        "plans-promptql-o1-variation0.yaml",
        "plans-tool_calling-o3-mini-variation0.yaml",
    ])), @"
     0  -  - Alone prompt
     -  0  - Alone assistant message
     1  1  - Different query_plans / program <
     2  -  - Alone assistant message <
     -  2  - Alone artifact plans <
    first Some(2), other result None
    plans-tool_calling-o1-variation0.yaml: parts None, answer Same: -
    plans-promptql-o1-variation0.yaml: parts Some(2), answer Same: -
    plans-tool_calling-o3-mini-variation0.yaml: parts None, answer Absent: -; A line that is \
        neither a key nor part of the value before it. Line 3, column 5:   - assistant_message: \
        indented too deep Give all keys of one map the same indentation.
    ");
    let comparison = compare(
        &bench,
        &["plans-tool_calling-o3-mini-variation0.yaml", "plans-promptql-o1-variation0.yaml"],
    );
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.steps[0].is_none() && row.relation == Relation::Alone && !row.diverges)
    );
    assert_eq!((comparison.rows.len(), comparison.runs[1].answer), (3, DiffKind::Same));
}

#[test]
fn a_run_that_changed_since_is_said_to_have_changed_and_one_that_is_gone_to_be_gone() {
    let (left, right) = (
        "results/plans-tool_calling-o1-variation0.yaml",
        "results/plans-tool_calling-o1-variation1.yaml",
    );
    let bench = Bench::new()
        .answered(left, "Three.")
        .answered(right, "Four.")
        .limit(|limits| limits.watch = false)
        .open();
    let comparison = compare(&bench, &[&left[8..], &right[8..]]);
    assert_eq!(comparison.notes, ["These runs answer different variations of their task."]);
    bench.put(right, answered("Five."));
    let [a, b] = steps(&comparison, [0, 1], [2, 2]);
    assert_eq!(diff(bench.app(), &comparison, [0, 0], [2, 2])[0].kind, DiffKind::Same);
    // Steps that are open still show the version that was compared.
    assert_eq!(diff(bench.app(), &comparison, [0, 1], [2, 2])[0].kind, DiffKind::Changed);
    let again = compare(&bench, &[&left[8..], &right[8..]]);
    assert_ne!(again.runs[1].version, comparison.runs[1].version);
    let error = bench.app().runs().diff_steps(&a, &b).unwrap_err();
    assert_eq!((error.code, error.hint.is_some()), (Code::Gone, true), "{error:?}");
    let error = bench.app().runs().diff_steps(&a, &StepRef { step: 3, ..a.clone() }).unwrap_err();
    assert_eq!(error.code, Code::BadRequest, "{error:?}");
    let error = bench.app().runs().compare_runs(&[a.id.clone(), "unknown".to_owned()]).unwrap_err();
    assert_eq!(error.code, Code::NotFound, "{error:?}");
    for count in [0, 1, 5] {
        let error = bench.app().runs().compare_runs(&vec![a.id.clone(); count]).unwrap_err();
        assert_eq!(error.code, Code::BadRequest, "{count}");
    }
    bench.remove(right);
    let error = bench.app().runs().compare_runs(&[a.id, b.id]).unwrap_err();
    assert!(matches!(error.code, Code::Gone | Code::NotFound), "{error:?}");
}

#[test]
fn runs_of_different_folders_are_compared_with_the_programs_that_have_them_open() {
    let here = Bench::new().answered("results/a.yaml", "Three.").open();
    let there = Bench::new().answered("results/b.yaml", "Four.").open();
    let ids = [id(&here, "a.yaml"), id(&there, "b.yaml")];
    let comparison =
        RunActions::compare_across(&[(here.app(), &ids[0]), (there.app(), &ids[1])]).unwrap();
    assert_eq!(comparison.rows.iter().map(|row| row.relation).max(), Some(Relation::OtherWords));
    let [left, right] = steps(&comparison, [0, 1], [2, 2]);
    let parts =
        RunActions::diff_steps_across((here.app(), &left), (there.app(), &right)).unwrap().parts;
    assert_eq!(parts[0].kind, DiffKind::Changed);
    assert_eq!(here.app().runs().diff_steps(&left, &right).unwrap_err().code, Code::NotFound);
}

#[test]
fn whatever_the_runs_hold_what_is_told_of_them_stays_small() {
    let long = |seed: &str| {
        let mut file = "conversation:\n- user_message: x\n".to_owned();
        let hostile = format!("\"{}\"", "\\u0001".repeat(30));
        for n in 0..11_000 {
            let _ = writeln!(
                file,
                "- tool_call: {{id: c{n}, name: {hostile}, params: {{sql: {seed} {n}}}, result: {n}}}"
            );
        }
        file
    };
    let wide = |seed: &str| {
        let parameters: String = (0..400).fold(String::new(), |all, n| {
            all + &format!("\"{n}{}\": \"{}\", ", "k".repeat(300), seed.repeat(900))
        });
        format!("conversation:\n- tool_call: {{id: c, name: q, params: {{{parameters}}}}}\n")
    };
    let bench = Bench::new()
        .file("results/a.yaml", long("a"))
        .file("results/b.yaml", long("b"))
        .file("results/c.yaml", wide("c"))
        .file("results/d.yaml", wide("d"))
        .open();
    let comparison = compare(&bench, &["a.yaml", "b.yaml"]);
    let weight = serde_json::to_vec(&comparison).unwrap().len();
    assert!(
        weight < MAX_REPLY && comparison.coarse && comparison.notes.len() == 2,
        "{weight} {:?}",
        comparison.notes
    );
    let comparison = compare(&bench, &["c.yaml", "d.yaml"]);
    let weight = serde_json::to_vec(&comparison).unwrap().len();
    assert!(weight < MAX_REPLY, "{weight}");
    let parts = diff(bench.app(), &comparison, [0, 1], [0, 0]);
    let weight = serde_json::to_vec(&parts).unwrap().len();
    assert!(weight < MAX_STEPS && parts.iter().any(|part| !part.whole), "{weight}");
}

/// Real runs, with the step at which they diverge according to a person who read both.
const REAL: [(&str, &str, &str); 11] = [
    // The second also removes the project ids from the descriptions.
    ("tool_calling 1", "tool_calling 2", "query_support_tickets"),
    // One classifies by keywords and inserts no rows; the other writes classes and figures into its
    // program.
    ("tool_calling_python 1", "tool_calling_python 3", "execute_python_program"),
    // Both send the same query; then one reasons by itself, and the other writes a program.
    ("tool_calling 1", "tool_calling_python 1", "execute_python_program"),
    ("tool_calling 1", "tool_calling_python 3", "execute_python_program"),
    ("tool_calling 2", "tool_calling_python 1", "query_support_tickets"),
    ("tool_calling 2", "tool_calling_python 3", "query_support_tickets"),
    // Equal plans, different programs; that of the second fails.
    ("promptql 1", "promptql 2", "program"),
    ("promptql 1", "promptql 3", "program"),
    ("promptql 2", "promptql 3", "program"),
    ("promptql 1", "tool_calling 1", "program / query_support_tickets"),
    ("promptql 3", "tool_calling_python 3", "program / query_support_tickets"),
];

#[test]
fn real_runs_part_where_a_person_would_say() {
    let golden = beside_the_project("../shared/golden/benchmark");
    if !golden.exists() {
        println!("cases: 0 (the real benchmark folder is not there)");
        return;
    }
    let bench = Bench::new().open_at(golden.to_str().unwrap());
    let rows = bench.rows();
    let find = |name: &str| {
        let (system, repeat) = name.split_once(' ').unwrap();
        let is = |row: &&touchstone_api::RunRow| {
            let model = row.model.as_deref() == Some("claude");
            model && row.system.as_deref() == Some(system) && row.repeat.to_string() == repeat
        };
        rows.iter().find(is).unwrap_or_else(|| panic!("{name} is listed")).id.clone()
    };
    for (left, right, title) in REAL {
        for ids in [[find(left), find(right)], [find(right), find(left)]] {
            let comparison = bench.app().runs().compare_runs(&ids).unwrap();
            let row = &comparison.rows[comparison.first_divergence.unwrap() as usize];
            let sorted = |title: &str| {
                let mut names: Vec<&str> = title.split(" / ").collect();
                names.sort_unstable();
                names.join(" / ")
            };
            assert_eq!(sorted(&row.title), title, "{left}, {right}");
            for run in &comparison.runs {
                let page = bench
                    .app()
                    .runs()
                    .read_steps(&run.row.id, &run.version, Span { offset: 0, limit: 200 })
                    .unwrap();
                assert_eq!(page.total_steps, run.steps);
            }
        }
    }
    println!("cases: {}", REAL.len());
}

#[test]
fn the_heads_compare_answers_by_the_rules_of_the_suite_as_the_diff_does() {
    let suite = "tool_calling_prompt: How many?\nscorers: [fields: { tolerance: 1 }]\nvariations:\n- parameters: {}\n  expected_output: 5\n";
    let says = |answer: &str| {
        answered("Done.").replace("answer:\n- n: 3\n", &format!("answer: {answer}\n"))
    };
    let (five, more) =
        ("t-tool_calling-claude-variation0.yaml", "t-tool_calling-o1-variation0.yaml");
    let bench = Bench::new()
        .file("tasks/t.yaml", suite)
        .file(&format!("results/{five}"), says("5"))
        .file(&format!("results/{more}"), says("5.5"))
        .open();
    assert_eq!(compare(&bench, &[five, more]).runs[1].answer, DiffKind::Alike);
    bench.remove("tasks/t.yaml");
    crate::bench::wait_until("the suite is gone", || {
        (compare(&bench, &[five, more]).runs[1].answer == DiffKind::Changed).then_some(())
    });
}
