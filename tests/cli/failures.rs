//! Tests of `failures`: causes of a folder, as text and as JSON.
use crate::HOSTILE;
use crate::sandbox::Sandbox;
use serde_json::Value;

const SUITE: &str = "tool_calling_prompt: Refund it.\nexpected_tool_calls: [get_order, refund]\n\
                     expected_output: { total: 12.5 }\n";

fn call(tool: &str, argument: &str, outcome: &str) -> String {
    format!("  - tool_call: {{ name: {tool}, params: {{ id: '{argument}' }}, {outcome} }}\n")
}

fn run(steps: &[String], answer: &str) -> String {
    let steps = steps.concat();
    format!(
        "conversation:\n  - user_message: Refund it.\n{steps}  - assistant_message: |\n      \
         Done.\n      ```json\n      {answer}\n      ```\n"
    )
}

/// Six runs of one task: one passes, two fail by the same error of a tool, one never calls a tool,
/// one answers 100 times too much, one ends in an error of the provider.
fn folder(name: &str) -> Sandbox {
    with(name, &[])
}

/// Like [`folder`], with further files.
fn with(name: &str, more: &[(&str, &str)]) -> Sandbox {
    let found = |id: &str| call("get_order", id, "result: { id: 1 }");
    let refunded = call("refund", "1", "result: { done: true }");
    let lost = |id: &str| call("get_order", id, &format!("error: 'Order {id} was not found'"));
    let right = "{ \"total\": 12.5 }";
    let transcripts = [
        ("o1-variation0", run(&[found("1"), refunded.clone()], right)),
        ("o1-variation0-run2", run(&[lost("W17")], "{ \"total\": 1 }")),
        ("o3-variation0", run(&[lost("W9033")], "{ \"total\": 2 }")),
        ("o3-variation0-run2", run(&[found("1")], "{ \"total\": 3 }")),
        ("o3-variation0-run3", run(&[found("1"), refunded], "{ \"total\": 1250 }")),
        (
            "o3-variation0-run4",
            "conversation:\n  - user_message: Refund it.\n  - error: 'The provider answered 529 overloaded'\n".to_owned(),
        ),
    ];
    let transcripts =
        transcripts.map(|(name, text)| (format!("results/refund-tool_calling-{name}.yaml"), text));
    let mut files: Vec<(&str, &str)> =
        transcripts.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    files.push(("tasks/refund.yaml", SUITE));
    files.extend(more);
    Sandbox::with(name, &files)
}

fn document(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let ran = sandbox.run(&[&["failures", "--json"], arguments].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let mut documents = ran.json();
    assert_eq!(documents.len(), 1, "one document, one line");
    documents.remove(0)
}

#[test]
fn runs_are_grouped_by_their_main_cause() {
    let sandbox = folder("failures-causes");
    let map = document(&sandbox, &[]);
    assert_eq!((map["runs"].as_u64(), map["failed"].as_u64()), (Some(6), Some(5)), "{map}");
    let causes: Vec<(&str, u64, bool)> = map["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cluster| cluster["runs"] != 0)
        .map(|cluster| {
            let title = cluster["title"].as_str().unwrap();
            (title, cluster["runs"].as_u64().unwrap(), cluster["is_error"] == true)
        })
        .collect();
    assert_eq!(
        causes,
        [
            ("`get_order` failed: Order <id> was not found", 2, false),
            ("Never called `refund`", 1, false),
            ("System error: The provider answered 529 overloaded", 1, true),
            ("Field `total` is too large by a factor of 100", 1, false),
        ],
        "{map:#}"
    );
    let mut kinds: Vec<(&str, u64, u64)> = map["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| {
            let count = |key: &str| kind[key].as_u64().unwrap();
            (kind["kind"].as_str().unwrap(), count("causes"), count("runs"))
        })
        .filter(|(_, _, runs)| *runs > 0)
        .collect();
    assert_eq!(kinds[0].0, "tool_errors", "the most frequent comes first");
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            ("missing_calls", 1, 1),
            ("provider_errors", 1, 1),
            ("tool_errors", 1, 2),
            ("wrong_values", 1, 1),
        ]
    );
    assert_eq!(map["clusters"][0]["kind"], "tool_errors");
    let example = &map["clusters"][0]["examples"][0];
    assert_eq!(
        (&example["step"], &example["quote"]),
        (&1.into(), &"Order W17 was not found".into())
    );
    let decisive = &example["decisive"];
    assert_eq!(
        (&decisive["step"], decisive["baseline_path"].as_str()),
        (&1.into(), Some("refund-tool_calling-o1-variation0.yaml"))
    );
}

#[test]
fn causes_stand_under_their_kind() {
    let files = [
        ("results/refund-tool_calling-o1-variation0-run7.yaml", "{ \"total\": -12.5 }"),
        ("results/refund-tool_calling-o1-variation0-run8.yaml", "{ \"total\": 13.5 }"),
    ];
    let done = |answer| {
        run(&[call("get_order", "1", "result: 1"), call("refund", "1", "result: 1")], answer)
    };
    let texts: Vec<(&str, String)> =
        files.into_iter().map(|(file, answer)| (file, done(answer))).collect();
    let more: Vec<(&str, &str)> = texts.iter().map(|(file, text)| (*file, &**text)).collect();
    let ran = with("failures-kinds", &more).run(&["failures", "--examples", "0"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    let kind = "3  Wrong values: 3 causes";
    let at = lines.iter().position(|line| line.starts_with(kind)).unwrap();
    assert_eq!(at, 2, "the most frequent kind comes first: {}", ran.out);
    assert!(lines[at + 1].starts_with("   tool_calling/o1 2 of 4 ("), "{}", ran.out);
    for cause in ["has the wrong sign", "has another value", "is too large by a factor of 100"] {
        let start = format!("  1  Field `total` {cause}");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{cause}: {}", ran.out);
    }
}

#[test]
fn the_filter_chooses_the_runs_and_the_text_names_the_place() {
    let sandbox = folder("failures-filter");
    let ran = sandbox.run(&["failures", "--filter", "model:o1"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for line in [
        "1 of 2 runs failed or is only partly right.",
        "1  `get_order` failed: Order <id> was not found",
        "tool_calling/o1 1 of 2",
        "refund-tool_calling-o1-variation0-run2.yaml, step 2: Order W17 was not found",
        "differs for good from passing runs from step 2",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    let many = sandbox.run(&["failures", "--examples", "21"]);
    assert_eq!(many.status, 2, "more than are kept is refused, not cut: {many:?}");
    assert!(many.err.contains("20"), "{}", many.err);
    let none = sandbox.run(&["failures", "--examples", "0"]);
    assert!(!none.out.contains("step 2"), "{}", none.out);
}

#[test]
fn a_review_is_shown_beside_the_run_and_decides_nothing() {
    let sandbox = folder("failures-review");
    let file = "results/refund-tool_calling-o3-variation0-run3.yaml";
    let note = ["--note", "cents are fine"];
    let reviewed = sandbox.run(&[&["review", file, "right"][..], &note].concat());
    assert_eq!(reviewed.status, 0, "{reviewed:?}");
    let passed = "results/refund-tool_calling-o1-variation0.yaml";
    assert_eq!(sandbox.run(&["review", passed, "wrong"]).status, 0);
    let ran = sandbox.run(&["failures"]);
    for line in [
        "5 of 6 runs failed",
        "1 run that passed was reviewed as wrong or partly right.",
        "reviewed: right, unlike the score (cents are fine)",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

#[test]
fn a_run_without_an_answer_has_not_failed_if_none_was_expected() {
    let silent = "conversation:\n  - user_message: Say something.\n  - assistant_message: Hm.\n";
    let other = [
        ("tasks/talk.yaml", "tool_calling_prompt: Say something.\n"),
        ("results/talk-tool_calling-o1-variation0.yaml", silent),
    ];
    let map = document(&with("failures-silent", &other), &[]);
    assert_eq!(
        (map["runs"].as_u64(), map["failed"].as_u64(), map["undecided"].as_u64()),
        (Some(6), Some(5), Some(1)),
        "{map}"
    );
}

#[test]
fn nothing_in_a_transcript_steers_the_terminal() {
    let text = run(&[call("get_order", "1", &format!("error: \"{HOSTILE}\""))], "{ \"total\": 1 }");
    let file = "results/refund-tool_calling-o1-variation0-run9.yaml";
    let sandbox = with("failures-hostile", &[(file, &text)]);
    let ran = sandbox.run(&["failures", "--filter", "model:o1", "--examples", "9"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.out.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.out);
}

#[test]
fn an_unknown_scorer_is_refused() {
    let ran = folder("failures-scorer").run(&["failures", "--scorer", "felds"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("felds"), "{ran:?}");
}

#[test]
fn naming_asks_first_and_says_what_it_would_take() {
    let model =
        "models: { m: { provider: openai, base_url: 'http://127.0.0.1:9/v1', model: any } }\n";
    let sandbox = with("failures-names", &[("touchstone.yaml", model)]);
    let plan = sandbox.run(&["failures", "--name-with", "m", "--plan"]);
    assert_eq!(plan.status, 0, "{plan:?}");
    assert!(
        plan.out.starts_with("About ") && plan.out.contains("the cost is unknown."),
        "{plan:?}"
    );
    let refused = sandbox.run(&["failures", "--name-with", "m"]);
    assert!(refused.status == 2 && refused.err.contains("Add --yes"), "{refused:?}");
    let unknown = sandbox.run(&["failures", "--name-with", "none", "--plan"]);
    assert_eq!(unknown.status, 2, "{unknown:?}");
    assert_eq!(sandbox.run(&["failures", "--plan"]).status, 2);
}
