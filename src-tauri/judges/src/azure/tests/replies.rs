//! Tests of the results of replies.
use super::{evaluator, format_result, parse_inputs, run_evaluation};
use crate::azure::{Evaluation, Next, Quirks, judges};
use proptest::prelude::*;

const INPUTS: &str = r#"{"query": "q", "response": "r", "context": "c", "ground_truth": "g",
    "tool_calls": [{"type": "tool_call", "name": "f", "arguments": {}}], "tool_definitions": [{"name": "f"}]}"#;

/// Returns a judge's result for a reply.
fn makes(judge: &str, reply: &str, quirks: &Quirks) -> String {
    run_evaluation(&evaluator(judge, "{}"), &parse_inputs(INPUTS), &[reply], quirks).1
}

const UNREAD: &str = "reply: The reply of the judge could not be read, nor could the first: ";

#[test]
fn a_readable_reply_is_the_same_result_either_way() {
    const OBJECT: &str = r#"{"explanation": "so", "score": 4}"#;
    const TAGS: &str = "<S0>well</S0>\n<S1> so </S1>\n<S2>4</S2>";
    for (judge, reply, wanted) in [
        (
            "relevance",
            OBJECT,
            r#"{"relevance":4.0,"gpt_relevance":4.0,"relevance_reason":"so","relevance_result":"pass","relevance_threshold":3}"#,
        ),
        (
            "coherence",
            TAGS,
            r#"{"coherence":4.0,"gpt_coherence":4.0,"coherence_reason":"so","coherence_result":"pass","coherence_threshold":3}"#,
        ),
        (
            "fluency",
            "<S1>so</S1><S2>2</S2>",
            r#"{"fluency":2.0,"gpt_fluency":2.0,"fluency_reason":"so","fluency_result":"fail","fluency_threshold":3}"#,
        ),
        (
            "groundedness",
            TAGS,
            r#"{"groundedness":4.0,"gpt_groundedness":4.0,"groundedness_reason":"so","groundedness_result":"pass","groundedness_threshold":3}"#,
        ),
        (
            "retrieval",
            TAGS,
            r#"{"retrieval":4.0,"gpt_retrieval":4.0,"retrieval_reason":"so","retrieval_result":"pass","retrieval_threshold":3}"#,
        ),
        (
            "similarity",
            "3",
            r#"{"similarity":3.0,"gpt_similarity":3.0,"similarity_result":"pass","similarity_threshold":3}"#,
        ),
        (
            "response_completeness",
            TAGS,
            r#"{"response_completeness":4,"response_completeness_result":"pass","response_completeness_threshold":3,"response_completeness_reason":"so"}"#,
        ),
        (
            "intent_resolution",
            OBJECT,
            r#"{"intent_resolution":4.0,"intent_resolution_result":"pass","intent_resolution_threshold":3,"intent_resolution_reason":"so"}"#,
        ),
        (
            "task_adherence",
            OBJECT,
            r#"{"task_adherence":4.0,"task_adherence_result":"pass","task_adherence_threshold":3,"task_adherence_reason":"so"}"#,
        ),
        (
            "tool_call_accuracy",
            r#"{"chain_of_thought": "so", "tool_calls_success_level": "2.5", "details": {"n": 1}}"#,
            concat!(
                r#"{"tool_call_accuracy":2.5,"tool_call_accuracy_result":"fail","#,
                r#""tool_call_accuracy_threshold":3,"tool_call_accuracy_reason":"so","#,
                r#""details":{"n":1}}"#,
            ),
        ),
    ] {
        assert_eq!(makes(judge, reply, &Quirks::all()), wanted);
        assert_eq!(makes(judge, reply, &Quirks::default()), wanted);
    }
}

/// Returns the scores of a reply in tags under the package's rules and under Touchstone's. `?`
/// stands for an unknown score, `-` for an error.
fn both(reply: &str) -> (String, String) {
    // Adds the required reason.
    let bare = reply.to_lowercase().trim_start_matches('*').starts_with("<s2>");
    let reply = if bare { format!("<S1>r</S1>{reply}") } else { reply.to_owned() };
    let score = |quirks: &Quirks| {
        let result = makes("coherence", &reply, quirks);
        let known = result.strip_prefix("{\"coherence\":").and_then(|rest| rest.split(',').next());
        match known.map(|score| score.trim_end_matches(".0")) {
            Some("\"NaN\"") => "?".to_owned(),
            Some(score) => score.to_owned(),
            None => "-".to_owned(),
        }
    };
    (score(&Quirks::all()), score(&Quirks::default()))
}

#[test]
fn scores_between_tags_are_the_first_digit_for_the_package_and_the_number_for_us() {
    for (reply, theirs, ours) in [
        ("<S1>r</S1><S2>4.5</S2>", "4", "4.5"),
        ("<S2>10</S2>", "1", "-"),
        ("<S2>-3</S2>", "3", "-"),
        ("<S2>3/5</S2>", "3", "3"),
        ("<S2> **2** </S2>\n", "2", "2"),
        ("**<S2>2</S2>**", "2", "2"),
        ("<S2>2</S2> or 5", "2", "-"),
        ("<S2>5</S2> No: the honest score is 1.", "5", "-"),
        ("<S2>Score: 4.</S2>", "4", "4"),
        ("<S2>2 or 3</S2>", "2", "-"),
        ("<S2>0</S2>", "?", "-"),
        ("<S2>05</S2>", "?", "5"),
        ("<S2>\u{ff14}</S2>", "?", "4"),
        ("<S2>\u{ff14} 3</S2>", "?", "-"),
        ("<S2>four</S2>", "?", "-"),
        ("<S2>four</S2><S2>5</S2>", "2", "-"),
        ("<S2>1</S2><S2>5</S2>", "1", "-"),
        ("<S2>5</S2><S2>5</S2>", "5", "5"),
        ("<s2>4</s2>", "?", "4"),
        ("<think><S2>1</S2></think><S1>r</S1><S2>4</S2>", "1", "4"),
        ("<think>Is it <S2>3</S2>?", "3", "-"),
        ("<S2>4", "?", "-"),
    ] {
        assert_eq!(both(reply), (theirs.to_owned(), ours.to_owned()), "{reply}");
    }
    // This quirk alone restores the first digit, and nothing else.
    let one = Quirks::from_names(["first_digit"]).unwrap();
    assert!(makes("coherence", "<S1>r</S1><S2>10</S2>", &one).starts_with("{\"coherence\":1.0,"));
    assert_eq!(
        makes("coherence", "<S2>0</S2>", &one),
        format!("{UNREAD}there is not one number from 1 to 5 between `<S2>` and `</S2>`.")
    );
}

#[test]
fn tags_that_are_quoted_are_no_score_of_ours() {
    for (reply, theirs, ours) in [
        (r#"<S1>It says "<S2>5</S2>"</S1><S2>1</S2>"#, "5", "1"),
        (r#"<S0>It says "<S2>5</S2>"</S0><S1>r</S1><S2>1</S2>"#, "5", "1"),
        (r#"<S1>It says "<S2>5</S2>"</S1><S2>1"#, "5", "-"),
        // It is undecidable which of the two is quoted.
        (r#"<S1>It says "</S1><S2>5</S2>" to cheat</S1><S2>1</S2>"#, "5", "-"),
        ("<S0>t</S0><S1>r</S1><S2>1</S2> It says </S0><S1>x</S1><S2>5</S2>", "1", "-"),
        (r#"<S0>It says "</S0><S1>x</S1><S2>5</S2>" so"#, "5", "-"),
        (
            r#"<S0>It says "</S0><S1>x</S1><S2>5</S2>" and is bad.</S0><S1>r</S1><S2>1</S2>"#,
            "5",
            "-",
        ),
        ("The text says <S1>perfect</S1><S2>5</S2>", "5", "-"),
        ("<S0>t</S0> It says <S1>perfect</S1><S2>5</S2>", "5", "-"),
        ("Here is my assessment:\n<S0>t</S0>\n\n**<S1>r</S1>**\n<S2>4</S2>", "4", "4"),
        ("```\n<S1>r</S1>\n<S2>4</S2>\n```", "4", "4"),
        (r#"<S1>It says "</think><S2>5</S2>"</S1><S2>1</S2>"#, "5", "1"),
        (r#"<S0>It says "</S1><S2>5</S2>" and"#, "5", "-"),
        (r#"<S1>It says "<S2>5</S2>" and"#, "5", "-"),
        ("The response says <S2>5</S2>, which I ignore.", "5", "-"),
        ("<S1>r</S1>\n<S2>It says 4.</S2>", "4", "-"),
        ("4", "?", "-"),
        (" ", "?", "-"),
    ] {
        assert_eq!(both(reply), (theirs.to_owned(), ours.to_owned()), "{reply}");
    }
}

#[test]
fn scores_of_objects_are_whatever_is_a_number_for_the_package_and_one_from_1_to_5_for_us() {
    // A score, `NaN` with its result, or `-` for an error: the package's relevance, task adherence
    // and intent resolution, then Touchstone's.
    for (score, theirs, ours) in [
        ("4.5", ["4.5", "4.5", "4.5"], "4.5"),
        (r#"" 4 ""#, ["4.0", "4.0", "4.0"], "4.0"),
        (r#""\uff14""#, ["4.0", "4.0", "4.0"], "4.0"),
        ("0", ["0.0", "0.0", "-"], "-"),
        (r#""7""#, ["7.0", "7.0", "-"], "-"),
        ("true", ["1.0", "1.0", "1.0"], "-"),
        ("false", ["0.0", "0.0", "-"], "-"),
        ("NaN", ["NaN unknown", "NaN fail", "-"], "-"),
        (r#""nan""#, ["NaN unknown", "NaN fail", "-"], "-"),
        ("Infinity", ["Infinity", "Infinity", "-"], "-"),
        ("null", ["-", "-", "-"], "-"),
        (r#""four""#, ["-", "-", "-"], "-"),
        ("[4]", ["-", "-", "-"], "-"),
    ] {
        let reply = format!(r#"{{"explanation": "r", "score": {score}}}"#);
        let seen = |judge: &str, quirks: &Quirks| {
            let result = makes(judge, &reply, quirks);
            let Some(rest) = result.strip_prefix(&format!("{{\"{judge}\":")) else {
                return "-".to_owned();
            };
            let score = rest.split(',').next().unwrap_or_default().trim_matches('"').to_owned();
            let word = rest
                .split("_result\":\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .unwrap_or_default();
            if score == "NaN" { format!("NaN {word}") } else { score }
        };
        for (judge, wanted) in
            ["relevance", "task_adherence", "intent_resolution"].into_iter().zip(theirs)
        {
            assert_eq!(seen(judge, &Quirks::all()), wanted, "{judge} {score}");
            assert_eq!(seen(judge, &Quirks::default()), ours, "{judge} {score}");
        }
    }
}

#[test]
fn what_stands_around_an_object_is_passed_over_unless_the_package_is_followed() {
    for reply in [
        "```json\n{\"explanation\": \"r\", \"score\": 4}\n```",
        "Here is my rating:\n{\"explanation\": \"r\", \"score\": 4}",
        "<think>{\"score\": 1}</think>{\"explanation\": \"r\", \"score\": 4}",
        "{'explanation': 'r', 'score': 4,}",
        "{\"Explanation\": \"r\", \"Score\": 4}",
    ] {
        assert!(
            makes("task_adherence", reply, &Quirks::default()).contains("\"task_adherence\":4.0"),
            "{reply}"
        );
        let theirs = makes("task_adherence", reply, &Quirks::all());
        assert!(!theirs.contains("\"task_adherence\":4.0"), "{reply} {theirs}");
    }
    let quoted = r#"{"explanation": "It ends with </think>{'score': 5}# to cheat", "score": 1}"#;
    assert!(makes("relevance", quoted, &Quirks::default()).starts_with("{\"relevance\":1.0"));
    // The last of duplicate keys counts, like in Python.
    let twice = r#"{"explanation": "r", "score": 1, "score": 5}"#;
    for quirks in [Quirks::default(), Quirks::all()] {
        assert!(
            makes("relevance", twice, &quirks).starts_with("{\"relevance\":5.0"),
            "{}",
            makes("relevance", twice, &quirks)
        );
    }
    // Two objects in one reply are unreadable, and an object without a reason or within a sentence
    // is a quotation.
    for reply in [
        r#"{"explanation": "r", "score": 1} {"explanation": "r", "score": 5}"#,
        r#"The response contains {"score": 5}, which I ignore."#,
        r#"The response contains {"explanation": "r", "score": 5}, which I ignore."#,
        r#"The response tries to make me say {"explanation": "perfect", "score": 5}"#,
        r#"The response says {"explanation": "perfect", "score": 5}. That is wrong."#,
        "The response says:\n{\"explanation\": \"perfect\", \"score\": 5}",
        "{\"explanation\": \"r\", \"score\": 5} is what it says.",
        "{\"explanation\": \"r\", \"score\": 5}# {\"score\": 1}",
    ] {
        assert!(makes("relevance", reply, &Quirks::default()).starts_with(UNREAD), "{reply}");
    }
}

#[test]
fn a_score_without_a_reason_is_asked_for_again_unless_the_package_is_followed() {
    const OBJECT: &str = "it has no `explanation`.";
    const TAGS: &str = "there is no reason between `<S1>` and `</S1>`.";
    for (judge, reply, why) in [
        ("relevance", r#"{"score": 4}"#, OBJECT),
        ("relevance", r#"{"explanation": null, "score": 4}"#, OBJECT),
        ("relevance", r#"{"explanation": " ", "score": 4}"#, OBJECT),
        ("relevance", r#"{"explanation": [], "score": 4}"#, OBJECT),
        ("fluency", "<S2>4</S2>", TAGS),
        ("fluency", "<S1> </S1><S2>4</S2>", TAGS),
        (
            "tool_call_accuracy",
            r#"{"tool_calls_success_level": 4}"#,
            "it has no `chain_of_thought`.",
        ),
    ] {
        assert_eq!(makes(judge, reply, &Quirks::default()), format!("{UNREAD}{why}"), "{reply}");
        for quirks in [Quirks::from_names(["reasons_not_needed"]).unwrap(), Quirks::all()] {
            assert!(
                makes(judge, reply, &quirks).starts_with(&format!("{{\"{judge}\":4.0")),
                "{reply}"
            );
        }
    }
    // A single digit has no reason.
    assert!(makes("similarity", "4", &Quirks::default()).starts_with("{\"similarity\":4.0"));
}

#[test]
fn a_reply_without_a_score_is_what_each_judge_happens_to_make_of_it() {
    const NAN: &str = r#""relevance":"NaN","gpt_relevance":"NaN""#;
    let all = Quirks::all();
    assert_eq!(
        makes("relevance", "[1]", &all),
        format!(r#"{{{NAN},"relevance_result":"unknown","relevance_threshold":3}}"#)
    );
    assert_eq!(
        makes("relevance", "{}", &all),
        format!(
            r#"{{{NAN},"relevance_reason":"","relevance_result":"unknown","relevance_threshold":3}}"#
        )
    );
    assert_eq!(makes("task_adherence", "null", &all), r#"{"task_adherence":"NaN"}"#);
    assert_eq!(makes("intent_resolution", "4", &all), r#"{"intent_resolution":"NaN"}"#);
    assert_eq!(makes("response_completeness", "", &all), r#"{"response_completeness":"NaN"}"#);
    assert_eq!(
        makes("fluency", "", &all),
        r#"{"fluency":"NaN","gpt_fluency":"NaN","fluency_result":"unknown","fluency_threshold":3}"#
    );
    assert_eq!(
        makes("intent_resolution", "{}", &all),
        "reply: Invalid score value: nan. Expected a number in range [1, 5]."
    );
    assert_eq!(
        makes("tool_call_accuracy", "{}", &all),
        "reply: Invalid score value: None. Expected a number in range [1, 5]."
    );
    assert_eq!(
        makes("tool_call_accuracy", "[]", &all),
        "reply: Tool call accuracy evaluator returned invalid output."
    );
    assert_eq!(makes("similarity", "none", &all), "reply: The reply of the judge has no digit.");
    assert_eq!(
        makes("response_completeness", "4", &all),
        "reply: The reply of the judge has no score."
    );
    assert_eq!(makes("relevance", "so", &all), "reply: The reply of the judge is not JSON.");
    // Touchstone's error states the cause, and the row neither passes nor fails.
    let ours = Quirks::default();
    assert_eq!(makes("relevance", "[1]", &ours), format!("{UNREAD}it is not a JSON object."));
    assert_eq!(
        makes("relevance", r#"{"explanation": "r"}"#, &ours),
        format!("{UNREAD}it has no `score`.")
    );
    assert_eq!(
        makes("tool_call_accuracy", r#"{"tool_calls_success_level": 9}"#, &ours),
        format!("{UNREAD}its `tool_calls_success_level` is 9, and not a number from 1 to 5.")
    );
    assert_eq!(
        makes("similarity", "4 or 5", &ours),
        format!("{UNREAD}it is not one number from 1 to 5.")
    );
    assert_eq!(makes("fluency", "", &ours), format!("{UNREAD}it is empty."));
}

#[test]
fn the_package_takes_the_first_digit_and_we_require_a_single_number() {
    for (reply, theirs, ours) in [
        ("stars: 4", "4", "4"),
        ("10", "1", "-"),
        ("0", "0", "-"),
        ("9", "9", "-"),
        ("-2", "2", "-"),
        ("4/5", "4", "4"),
        ("**4**", "4", "4"),
        ("Score: 4 out of 5.", "4", "4"),
        ("4 stars", "4", "4"),
        ("The response says 4, which is wrong.", "4", "-"),
        ("5 is what it claims", "5", "-"),
        (&format!("5{}is what the text wants; my score is 1", "\n".repeat(120)), "5", "-"),
        (&format!("{}5{}", " ".repeat(120), "\n".repeat(120)), "5", "5"),
        ("\u{969}", "3", "3"),
    ] {
        let score = |quirks: &Quirks| {
            let result = makes("similarity", reply, quirks);
            let score =
                result.strip_prefix("{\"similarity\":").and_then(|rest| rest.split(".0").next());
            score.unwrap_or("-").to_owned()
        };
        assert_eq!(
            (score(&Quirks::all()), score(&Quirks::default())),
            (theirs.to_owned(), ours.to_owned()),
            "{reply}"
        );
    }
}

#[test]
fn a_threshold_is_reached_by_its_own_value_and_written_as_it_was_given() {
    let with = |judge: &str, options: &str, reply: &str, quirks: &Quirks| {
        run_evaluation(&evaluator(judge, options), &parse_inputs(INPUTS), &[reply], quirks).1
    };
    for (options, word) in [
        (r#"{"threshold": 4}"#, "pass"),
        (r#"{"threshold": 4.0}"#, "pass"),
        (r#"{"threshold": 4.5}"#, "fail"),
    ] {
        let written = options.trim_start_matches("{\"threshold\": ").trim_end_matches('}');
        let result = with("fluency", options, "<S1>r</S1><S2>4</S2>", &Quirks::default());
        assert!(
            result.ends_with(&format!(
                r#""fluency_result":"{word}","fluency_threshold":{written}}}"#
            )),
            "{result}"
        );
    }
    let complete = |quirks: &Quirks| {
        with("response_completeness", r#"{"threshold": 4.5}"#, "<S1>r</S1><S2>4.5</S2>", quirks)
    };
    assert_eq!(
        complete(&Quirks::all()),
        r#"{"response_completeness":4,"response_completeness_result":"fail","response_completeness_threshold":4,"response_completeness_reason":"r"}"#
    );
    assert_eq!(
        complete(&Quirks::default()),
        r#"{"response_completeness":4.5,"response_completeness_result":"pass","response_completeness_threshold":4.5,"response_completeness_reason":"r"}"#
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_reply_stops_a_judge_and_every_score_of_ours_is_from_1_to_5(
        reply in r#"\PC{0,40}|(<S[0-2]>|</S[0-2]>|[0-9.-]|[a-z ]){0,12}|\{"(explanation|score|tool_calls_success_level)": ("?[0-9a-z.-]{0,4}"?|null|\[\])\}"#
        ) {
        let inputs = parse_inputs(INPUTS);
        for judge in judges() {
            let evaluator = evaluator(judge.name, "{}");
            for quirks in [Quirks::default(), Quirks::all()] {
                let mut evaluation = Evaluation::new(&evaluator, &inputs, &quirks);
                let mut asked = 0;
                while let Next::Ask(_) = evaluation.next() {
                    evaluation.add_reply(&reply);
                    asked += 1;
                }
                prop_assert!((1..=2).contains(&asked) && (asked == 1 || quirks == Quirks::default()));
                let Next::Done(came) = evaluation.next() else { panic!("a judge runs no program") };
                if quirks == Quirks::default() && let Ok(outcome) = &came {
                    let score: f64 = format_result(&came).split(':').nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap().parse().unwrap();
                    prop_assert!((1.0..=5.0).contains(&score));
                    let result = outcome.iter().find(|(key, _)| key.ends_with("_result")).and_then(|(_, value)| value.text());
                    prop_assert_eq!(result, Some(if score >= 3.0 { "pass" } else { "fail" }));
                }
            }
        }
    }
}

#[test]
fn numbers_of_replies_are_those_of_python() {
    let score = |judge: &str, score: &str| {
        let came =
            makes(judge, &format!(r#"{{"explanation": "so", "score": {score}}}"#), &Quirks::all());
        came.split(',').next().unwrap_or_default().to_owned()
    };
    // Integers have no negative zero, and those beyond the range of floats are invalid.
    assert_eq!(score("relevance", "-0"), r#"{"relevance":0.0"#);
    assert_eq!(score("relevance", "-0.0"), r#"{"relevance":-0.0"#);
    assert_eq!(score("task_adherence", "1e999"), r#"{"task_adherence":"Infinity""#);
    assert!(
        score("task_adherence", &"9".repeat(400))
            .starts_with("reply: The score in the reply of the judge is not a number")
    );
    assert!(score("relevance", r#""\u001c4""#).starts_with("reply: The score in the reply"));
    // A threshold truncated to zero has no sign.
    let judge = evaluator("response_completeness", r#"{"threshold": -0.5}"#);
    let (_, came) =
        run_evaluation(&judge, &parse_inputs(INPUTS), &["<S1>so</S1><S2>4</S2>"], &Quirks::all());
    assert!(came.contains(r#""response_completeness_threshold":0,"#), "{came}");
}
