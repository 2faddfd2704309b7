//! Tests of scorers that are programs, on the command line. Set `TOUCHSTONE_WITHOUT_SANDBOX=1`
//! where bubblewrap cannot work.
use crate::sandbox::Sandbox;

const TASK: &str = "tool_calling_prompt: How many?\nscorers: [python: scorer.py]\nvariations:\n- expected_output: [1, 2]\n";
const RUN: &str =
    "conversation:\n- user_message: How many?\n- assistant_message: Done.\nanswer: [1]\n";
const SCORER: &str = "import json\ndef evaluate_score(truth, result):\n    return len(json.loads(result)) / len(json.loads(truth))\n";

#[test]
fn score_runs_the_programs_of_scorers_unless_it_is_told_not_to() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let sandbox = Sandbox::with(
        "programs",
        &[
            ("tasks/counts.yaml", TASK),
            ("tasks/scorer.py", SCORER),
            ("results/counts-tool_calling-claude-variation0.yaml", RUN),
        ],
    );
    // Opening, listing and reading a folder run no program.
    assert_eq!(sandbox.run(&["list", "--json"]).json()[0]["score"], serde_json::Value::Null);
    let ran = sandbox.run(&["score", "--json", "--no-programs"]);
    assert_eq!(
        (ran.status, ran.json()[0]["reason"].as_str()),
        (0, Some("scorer.py has not run yet.")),
        "{ran:?}"
    );
    let ran = sandbox.run(&["score", "--json"]);
    assert_eq!((ran.status, ran.json()[0]["score"].as_f64()), (0, Some(0.5)), "{ran:?}");
    // The result of the program is stored.
    let ran = sandbox.run(&["score", "--json", "--no-programs", "--fail-under", "0.6"]);
    assert_eq!((ran.status, ran.json()[0]["score"].as_f64()), (1, Some(0.5)), "{ran:?}");
}
