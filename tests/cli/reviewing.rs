//! Tests of `review`: a review is stored, printed, changed and deleted.
use crate::sandbox::{ANSWERED, Sandbox};

const FILE: &str = "results/tickets-tool_calling-claude-variation0.yaml";
const REVIEW: &str = "results/.touchstone/reviews/tickets-tool_calling-claude-variation0.yaml";

fn review_text(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.folder.join(REVIEW)).unwrap_or_default()
}

#[test]
fn what_is_said_is_kept_beside_the_run_and_printed() {
    let sandbox = Sandbox::usual("review");
    let nothing = sandbox.run(&["review", FILE]);
    assert_eq!((nothing.status, nothing.out.as_str()), (0, "This run has no review.\n"));
    assert!(!sandbox.folder.join("results/.touchstone").exists(), "asking writes nothing");
    let ran = sandbox.run(&[
        "review",
        FILE,
        "partly",
        "--score",
        "0.5",
        "--note",
        "Row 2 is off.\u{1b}[2K",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.out, "partly right, score 0.5\nRow 2 is off.\\u{1b}[2K\n");
    assert!(
        review_text(&sandbox).starts_with("verdict: partly\nscore: 0.5\n"),
        "{}",
        review_text(&sandbox)
    );
    // Fields that are not given are unchanged.
    let ran = sandbox.run(&["review", FILE, "wrong", "--json"]);
    let json = &ran.json()[0];
    assert_eq!(
        (&json["review"]["verdict"], &json["review"]["score"]),
        (&"wrong".into(), &0.5.into())
    );
    assert!(json["review"]["note"].as_str().unwrap().starts_with("Row 2") && json["path"] == FILE);
    let ran = sandbox.run(&["review", FILE, "--clear"]);
    assert_eq!(
        (ran.status, ran.out.as_str(), review_text(&sandbox).as_str()),
        (0, "This run has no review.\n", "")
    );
}

#[test]
fn a_review_lies_in_the_output_directory_of_the_workspace_wherever_the_run_is_below_it() {
    let files = [
        ("touchstone.yaml", "input_dir: tasks\noutput_dir: out\n"),
        ("tasks/a/t.yaml", "tool_calling_prompt: hello\n"),
        ("out/a/t-tool_calling-o1-variation0.yaml", ANSWERED),
    ];
    let sandbox = Sandbox::with("review-nested", &files);
    let ran = sandbox.run(&["review", "out/a/t-tool_calling-o1-variation0.yaml", "right"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "right\n"), "{ran:?}");
    assert!(
        sandbox.folder.join("out/.touchstone/reviews/a/t-tool_calling-o1-variation0.yaml").exists()
    );
}

#[test]
fn a_review_of_another_answer_says_so_and_one_that_cannot_be_read_ends_with_one() {
    let sandbox = Sandbox::usual("review-stale");
    sandbox.run(&["review", FILE, "right"]);
    std::fs::write(sandbox.folder.join(FILE), ANSWERED.replace("ticket_id: 7\n", "ticket_id: 8\n"))
        .unwrap();
    assert_eq!(sandbox.run(&["review", FILE]).out, "right, of an earlier answer\n");
    std::fs::write(sandbox.folder.join(REVIEW), "verdict: perfect\n").unwrap();
    let ran = sandbox.run(&["review", FILE]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.err.contains("line 1: This is not a verdict.") && ran.err.contains("Fix the file"),
        "{}",
        ran.err
    );
    for more in ["right", "--clear"] {
        let ran = sandbox.run(&["review", FILE, more]);
        assert!(ran.status != 0 && ran.err.contains("Not saved"), "{ran:?}");
    }
    assert_eq!(review_text(&sandbox), "verdict: perfect\n");
}

#[test]
fn a_note_alone_leaves_the_verdict_with_the_answer_that_it_was_given_for() {
    let sandbox = Sandbox::usual("review-note");
    sandbox.run(&["review", FILE, "right"]);
    std::fs::write(sandbox.folder.join(FILE), ANSWERED.replace("ticket_id: 7\n", "ticket_id: 8\n"))
        .unwrap();
    assert_eq!(
        sandbox.run(&["review", FILE, "--note", "Look again."]).out,
        "right, of an earlier answer\nLook again.\n"
    );
    assert_eq!(sandbox.run(&["review", FILE, "right"]).out, "right\nLook again.\n", "given anew");
}

#[test]
fn what_makes_no_sense_ends_with_two_and_writes_nothing() {
    let sandbox = Sandbox::usual("review-refused");
    for command in [
        &["review", FILE, "perfect"][..],
        &["review", FILE, "--score", "2"],
        &["review", FILE, "--score", "many"],
        &["review", FILE, "right", "--clear"],
        &["review", "no/such.yaml", "right"],
        &["review", "tasks/tickets.yaml", "right"],
    ] {
        let ran = sandbox.run(command);
        assert_eq!(ran.status, 2, "{command:?} {ran:?}");
        assert!(!ran.err.is_empty() && !ran.err.contains("panicked"), "{command:?}");
    }
    assert_eq!(review_text(&sandbox), "");
}

#[test]
fn a_review_in_a_folder_without_a_workspace_is_found_by_whoever_names_the_folder_above() {
    let sandbox =
        Sandbox::with("review-alone", &[("p/results/t-tool_calling-o1-variation0.yaml", ANSWERED)]);
    let ran = sandbox.run(&["review", "p/results/t-tool_calling-o1-variation0.yaml", "right"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "right\n"), "{ran:?}");
    assert!(
        ran.err.starts_with("Saved for the folder ") && ran.err.contains("p/results: "),
        "{}",
        ran.err
    );
    for folder in ["p", "p/results"] {
        let listed = sandbox.run(&["list", folder, "--filter", "review:yes", "--json"]);
        assert_eq!(listed.json().len(), 1, "{folder}: {listed:?}");
        assert!(
            sandbox.run(&["agreement", folder]).out.starts_with("1 run was reviewed."),
            "{folder}"
        );
    }
    let again = sandbox.run(&["review", "p/results/t-tool_calling-o1-variation0.yaml", "wrong"]);
    assert_eq!((again.status, again.err.as_str()), (0, ""), "it is said once");
    // If the folder above holds other runs as well, they are included.
    std::fs::write(sandbox.folder.join("p/t-tool_calling-o3-variation0.yaml"), ANSWERED).unwrap();
    assert_eq!(sandbox.run(&["list", "p", "--json"]).json().len(), 2);
}

#[test]
fn people_review_under_their_names_and_each_sees_the_others() {
    let sandbox = Sandbox::usual("review-authors");
    let by = |author: &str, more: &[&str]| {
        sandbox.run(&[&["review", FILE, "--author", author][..], more].concat())
    };
    assert_eq!(by("Ann", &["right"]).out, "right\n");
    let second = by("Zoë", &["wrong", "--note", "Row 2."]);
    assert_eq!(second.out, "wrong\nRow 2.\nAnn: right\n", "{second:?}");
    assert_eq!(
        by("Bo", &[]).out,
        "This run has no review of yours.\nAnn: right\nZoë: wrong\nRow 2.\n"
    );
    assert_eq!(
        by("Ann", &["--clear"]).out,
        "This run has no review of yours.\nZoë: wrong\nRow 2.\n"
    );
    assert!(review_text(&sandbox).starts_with("others:\n  - verdict: wrong\n"));
}
