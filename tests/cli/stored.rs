//! Tests of verdicts stored in files of `evaluate()`, on the command line: listed, compared,
//! reported, and measured against people.
use crate::sandbox::Sandbox;
use serde_json::json;

const SMALL: &str = "results/pier_small.json";
const LARGE: &str = "results/pier_large.json";

fn sandbox(name: &str) -> Sandbox {
    let fixture = |name: &str| {
        let rows =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/azure/rows");
        std::fs::read_to_string(rows.join(name)).unwrap()
    };
    let (small, large) = (fixture("pier_small.json"), fixture("pier_large.json"));
    let files = [
        ("touchstone.yaml", "output_dir: results\n"),
        (SMALL, small.as_str()),
        (LARGE, large.as_str()),
        (
            "results/.touchstone/reviews/pier_small.json/row-2.yaml",
            "verdict: right\nnote: I say so.\n",
        ),
    ];
    Sandbox::with(name, &files)
}

#[test]
fn list_finds_runs_by_what_is_stored_and_says_what_it_does_not_understand() {
    let sandbox = sandbox("stored-list");
    let ran = sandbox.run(&["list", ".", "--filter", "stored:relevance=fail", "--json"]);
    let rows: Vec<_> =
        ran.json().into_iter().map(|row| (row["path"].clone(), row["stored"].clone())).collect();
    let fails = json!({ "passed": 0, "decided": 2, "errors": 0 });
    assert_eq!(
        rows,
        [(json!("pier_large.json#row-3"), fails.clone()), (json!("pier_small.json#row-2"), fails)],
        "{ran:?}"
    );
    let first =
        sandbox.run(&["list", ".", "--sort", "-stored", "--limit", "1", "--json"]).json().remove(0);
    assert_eq!(first["stored"]["passed"], first["stored"]["decided"]);
    let ran = sandbox.run(&["list", ".", "--filter", "stored:relevance=maybe"]);
    assert!(
        ran.status == 2 && ran.err.contains("Write one of pass, fail, open, error, none"),
        "{ran:?}"
    );
}

#[test]
fn stats_offer_to_count_by_an_evaluator_and_count_by_the_chosen_one() {
    let sandbox = sandbox("stored-stats");
    let ran = sandbox.run(&["stats", "."]);
    assert!(ran.err.contains("add --scorer 'verdict:f1'"), "{ran:?}");
    let ran = sandbox.run(&["stats", ".", "--scorer", "verdict:relevance"]);
    assert!(ran.out.contains("pier_large scores highest (0.67 over 3 runs)"), "{ran:?}");
    assert!(!ran.err.contains("--scorer"), "{ran:?}");
    let ran = sandbox.run(&["stats", ".", "--scorer", "verdict:tone"]);
    let known = "Choose one of: verdict:f1, verdict:relevance.";
    assert!(ran.status != 0 && ran.err.contains(known), "{ran:?}");
}

#[test]
fn compare_has_a_line_for_each_evaluator_that_changes_no_exit_status() {
    let sandbox = sandbox("stored-compare");
    let (small, large) = (format!("{SMALL}#row-3"), format!("{LARGE}#row-3"));
    let ran = sandbox.run(&["compare", &small, &large]);
    let lines: Vec<String> =
        ran.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in ["stored verdict 1 2", "f1 0.5 pass 0.0 fail", "relevance no result 1.0 fail"] {
        assert!(lines.iter().any(|known| known == line), "{line}: {}", ran.out);
    }
    let told = sandbox.run(&["compare", &small, &large, "--json"]).json().remove(0);
    assert_eq!(told["stored"][1]["said"][0]["result"], "none");
    assert_eq!(told["stored"][1]["said"][1]["reason"], "Nothing was said.");
    assert_eq!(sandbox.run(&["compare", &small, &small]).status, 0);
}

#[test]
fn agreement_counts_what_is_stored_and_a_report_tells_it() {
    let sandbox = sandbox("stored-agreement");
    let ran = sandbox.run(&["agreement", ".", "--judge", "stored: relevance"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("No run is judged yet"), "{}", ran.out);
    assert!(
        !ran.out.contains("Not counted"),
        "of whom nothing is stored nothing is counted: {}",
        ran.out
    );
    assert!(
        ran.out.contains("people (rows) and stored: relevance (columns)")
            && ran.out.contains("stored: relevance wrong: It does not answer."),
        "{}",
        ran.out
    );
    // One reviewed run and five others are too few for an agreement, so these pairs are folded.
    let table = |more: &[&str]| sandbox.run(&[&["agreement", "."], more].concat()).out;
    let folded = table(&[]);
    assert!(
        folded.contains("\n3 pairs have too few runs to tell: --all lists them.\n"),
        "{folded}"
    );
    assert!(!folded.contains("too few to tell"), "{folded}");
    let all = table(&["--all"]);
    assert_eq!(
        (all.matches("too few to tell").count(), all.contains("--all")),
        (3, false),
        "{all}"
    );
    assert_eq!(
        sandbox.run(&["agreement", ".", "--json"]).json()[0]["pairs"].as_array().map(Vec::len),
        Some(3)
    );
    let ran = sandbox.run(&["report", ".", "--format", "md", "--out", "-"]);
    assert!(ran.out.contains("| relevance | pier\\_small | 3 | 2 | 3.00 "), "{}", ran.out);
}
