//! Rules of scores of queries of `StableToolBench`: what was called and whether it was finished, whatever was expected.
use crate::bench::Bench;
use touchstone_engine::rows::{FailureClass, ScoreStanding};

/// A query with two gold APIs.
pub(crate) const QUERY: &str = r#"tool_calling_prompt: Which stars and moons are there?
api_list:
- {category_name: Sky, tool_name: Sky_v2, api_name: Stars, api_description: "All of them", required_parameters: [], optional_parameters: [], method: GET}
- {category_name: Sky, tool_name: Sky_v2, api_name: Moons, api_description: "All of them", required_parameters: [], optional_parameters: [], method: GET}
relevant APIs: [[Sky_v2, Stars], [Sky_v2, Moons]]
variations: [{}]
"#;
pub(crate) const QUERY_FILE: &str = "tasks/G1_instruction/588.yaml";

pub(crate) fn run(model: &str) -> String {
    format!("results/G1_instruction/588-tool_calling-{model}-variation0.yaml")
}

/// A run that calls functions with parameters, and answers with a text.
pub(crate) fn transcript(calls: &[(&str, &str)], answer: Option<&str>) -> String {
    let call =
        |(name, params): &(&str, &str)| format!("- tool_call: {{name: {name}, params: {{{params}}}, result: ok}}\n");
    let calls: String = calls.iter().map(call).collect();
    let answer = answer.map(|answer| format!("answer: {answer}\n")).unwrap_or_default();
    format!("conversation:\n- user_message: Which?\n{calls}- assistant_message: Done.\n{answer}")
}

#[test]
fn a_query_is_scored_by_what_was_called_without_an_expected_output_and_without_an_answer() {
    let both = [("stars_for_sky_v2", ""), ("Sky_v2_Moons", ""), ("Finish", "return_type: give_answer")];
    let found = [("call_api", "name: stars_for_sky_v2, arguments: {}"), ("weather", "")];
    let bench = Bench::new()
        .file(QUERY_FILE, QUERY)
        .file(&run("a"), transcript(&both, Some("Two stars and one moon are there to be seen, and that is all of it.")))
        .file(&run("b"), transcript(&found, None))
        .open();
    let told = |model: &str| {
        let row = bench.row(run(model).trim_start_matches("results/")).unwrap();
        let said = bench.app().run_scores(&row.id).unwrap();
        assert_eq!((said.scores.len(), said.notes.as_slice()), (3, &[][..]), "{said:?}");
        let scores = said.scores;
        assert!(scores.iter().all(|score| score.standing == ScoreStanding::Scored), "{scores:?}");
        let line = |score: &touchstone_engine::rows::RunScore| {
            let verdict = if score.passed == Some(true) { "passed" } else { "failed" };
            format!("{} v{} {:.2} {verdict}: {}", score.scorer, score.version, score.score.unwrap(), score.reason)
        };
        (row.class, scores.iter().map(line).collect::<Vec<_>>().join("\n"))
    };
    let (class, said) = told("a");
    assert_eq!(class, None);
    insta::assert_snapshot!(said, @r"
    api_calls v2 1.00 passed: both gold APIs called
    finish v1 1.00 passed: `Finish` was called with an answer
    seed_heuristic v1 1.00 passed: not a judgement: “Two stars and one moon are there to be s…”, finished, API call score 1
    ");
    let (class, said) = told("b");
    assert_eq!(class, Some(FailureClass::NoAnswer));
    insta::assert_snapshot!(said, @r"
    api_calls v2 0.50 failed: 1 of 2 gold APIs called, never called: `Moons`, no API of the query: `weather`
    finish v1 0.00 failed: `Finish` was never called
    seed_heuristic v1 0.00 failed: not a judgement: there is no answer
    ");
}
