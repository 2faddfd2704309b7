//! Tests of conversations of several turns.
use super::{block, evaluator, parse_inputs, run_evaluation};
use crate::azure::Quirks;

const TALK: &str = r#"{"conversation": {"context": "all", "messages": [
    {"role": "assistant", "content": "Welcome."},
    {"role": "user", "content": "One?", "context": {"page": 1}},
    {"role": "assistant", "content": "Uno.", "context": "own", "ground_truth": "uno"},
    {"role": "user", "content": "Two?"},
    {"role": "user", "content": "In Latin."},
    {"role": "tool", "content": "x"},
    {"role": "assistant", "content": [{"type": "text", "text": "Duo."}]},
    {"role": "user", "content": "Bye"}]}}"#;

fn question_blocks(kind: &str, inputs: &str, names: &[&str], quirks: &Quirks) -> Vec<String> {
    let reply = if kind == "similarity" { "4" } else { "<S1>r</S1><S2>4</S2>" };
    let (questions, _) =
        run_evaluation(&evaluator(kind, "{}"), &parse_inputs(inputs), &[reply], quirks);
    let shown = |question| {
        names
            .iter()
            .map(|name| block(question, name).unwrap_or_else(|| "-".to_owned()))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    questions.iter().map(shown).collect()
}

#[test]
fn a_turn_is_what_was_asked_with_its_answer_and_not_the_next_of_each() {
    assert_eq!(
        question_blocks("coherence", TALK, &["query", "response"], &Quirks::default()),
        ["One? | Uno.", "Two?\nIn Latin. | Duo."]
    );
    assert_eq!(
        question_blocks("coherence", TALK, &["query", "response"], &Quirks::all()),
        ["One? | Welcome.", "Two? | Uno.", "In Latin. | [{'type': 'text', 'text': 'Duo.'}]"]
    );
    assert_eq!(
        question_blocks("fluency", TALK, &["response"], &Quirks::default()),
        ["Uno.", "Duo."]
    );
    let filled = Quirks::from_names(["turns_filled_up"]).unwrap();
    assert_eq!(
        question_blocks("response_completeness", TALK, &["ground_truth"], &filled),
        ["uno", ""]
    );
}

#[test]
fn a_turn_without_what_is_needed_is_an_error_of_the_input_before_anything_is_asked() {
    let talk = r#"{"conversation": {"messages": [
        {"role": "user", "content": "Q", "context": "c"}, {"role": "assistant", "content": "red", "ground_truth": "red"},
        {"role": "user", "content": "Q"}, {"role": "assistant", "content": "blue"}]}}"#;
    for (kind, lost) in [
        ("groundedness", "context"),
        ("retrieval", "context"),
        ("similarity", "ground_truth"),
        ("f1_score", "ground_truth"),
    ] {
        let (questions, came) =
            run_evaluation(&evaluator(kind, "{}"), &parse_inputs(talk), &["4"], &Quirks::default());
        let wanted = format!("input: Turn 2 of the conversation has no `{lost}`.");
        assert_eq!((questions.len(), came), (0, wanted));
    }
    let (_, filled) = run_evaluation(
        &evaluator("f1_score", "{}"),
        &parse_inputs(talk),
        &[],
        &Quirks::from_names(["turns_filled_up"]).unwrap(),
    );
    assert!(filled.starts_with(r#"{"f1_score":0.5,"#), "{filled}");
}

#[test]
fn calls_of_tools_are_no_words_and_an_answer_without_words_is_no_turn() {
    let talk = r#"{"conversation": {"messages": [
        {"role": "user", "content": "Q", "context": "early"},
        {"role": "user", "content": null, "context": "late"},
        {"role": "assistant", "content": null, "tool_calls": [], "ground_truth": "A", "context": "found"},
        {"role": "tool", "content": "x"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": "A", "ground_truth": null, "context": null},
        {"role": "user", "content": "Q2"},
        {"role": "assistant", "content": null, "tool_calls": []}]}}"#;
    let ours = Quirks::default();
    assert_eq!(question_blocks("coherence", talk, &["query", "response"], &ours), ["Q | A"]);
    assert_eq!(question_blocks("similarity", talk, &["ground_truth"], &ours), ["A"]);
    assert_eq!(
        question_blocks("groundedness", talk, &["context"], &ours),
        [r#"{"query_context":["early","late"],"response_context":"found"}"#]
    );
    let silent = r#"{"conversation": {"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": [{"type": "tool_call"}]}]}}"#;
    let (questions, came) =
        run_evaluation(&evaluator("fluency", "{}"), &parse_inputs(silent), &["4"], &ours);
    assert_eq!(
        (questions.len(), came.as_str()),
        (0, "input: The conversation has no message of a person that an assistant answers.")
    );
}

#[test]
fn context_is_what_was_known_of_all_and_of_each_message_that_is_judged() {
    assert_eq!(
        question_blocks("groundedness", TALK, &["query", "context"], &Quirks::default()),
        [
            r#"One? | {"global_context":"all","query_context":{"page":1},"response_context":"own"}"#,
            "Two?\nIn Latin. | {\"global_context\":\"all\"}"
        ]
    );
    let theirs = Quirks::all().without("turns_zipped");
    assert_eq!(
        question_blocks("groundedness", TALK, &["query", "context"], &theirs)[0],
        "- | {'global_context': 'all', 'query_context': {'page': 1}, 'response_context': 'own'}"
    );
    // Retrieval does not judge the answer and does not receive its context.
    assert_eq!(
        question_blocks("retrieval", TALK, &["context"], &theirs)[0],
        "{'global_context': 'all', 'query_context': {'page': 1}}"
    );
}

#[test]
fn turns_come_to_means_with_everything_of_each_turn() {
    let judge = evaluator("fluency", r#"{"threshold": 4}"#);
    let replies = ["<S1>a</S1><S2>5</S2>", "<S1>b</S1><S2>2</S2>"];
    let per_turn = concat!(
        r#""evaluation_per_turn":{"fluency":[5.0,2.0],"gpt_fluency":[5.0,2.0],"#,
        r#""fluency_reason":["a","b"],"fluency_result":["pass","fail"],"fluency_threshold":[4,"#,
        r#"4]}"#,
    );
    let (_, ours) = run_evaluation(&judge, &parse_inputs(TALK), &replies, &Quirks::default());
    assert_eq!(
        ours,
        format!(
            r#"{{"fluency":3.5,"fluency_result":"fail","gpt_fluency":3.5,"fluency_threshold":4,{per_turn}}}"#
        )
    );
    let zipped = Quirks::all().without("turns_zipped");
    let (_, theirs) = run_evaluation(&judge, &parse_inputs(TALK), &replies, &zipped);
    assert_eq!(
        theirs,
        format!(r#"{{"fluency":3.5,"gpt_fluency":3.5,"fluency_threshold":4.0,{per_turn}}}"#)
    );
    // With quirks, a turn without a score makes the overall score NaN.
    let (_, theirs) =
        run_evaluation(&judge, &parse_inputs(TALK), &["<S1>r</S1><S2>5</S2>", "no"], &zipped);
    assert!(
        theirs.starts_with(r#"{"fluency":"NaN","gpt_fluency":"NaN","fluency_threshold":4.0,"#),
        "{theirs}"
    );
    let (questions, ours) = run_evaluation(
        &judge,
        &parse_inputs(TALK),
        &["<S1>r</S1><S2>5</S2>", "no"],
        &Quirks::default(),
    );
    assert_eq!(
        (questions.len(), ours.starts_with("reply: The reply of the judge could not be read")),
        (3, true)
    );
}

#[test]
fn one_turn_is_its_own_result_and_none_is_an_error_of_the_input() {
    let judge = evaluator("fluency", "{}");
    let result = |conversation: &str, quirks: &Quirks| {
        run_evaluation(
            &judge,
            &parse_inputs(&format!(r#"{{"conversation": {conversation}}}"#)),
            &["<S1>r</S1><S2>4</S2>"],
            quirks,
        )
        .1
    };
    let one = r#"{"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}"#;
    let wanted = r#"{"fluency":4.0,"gpt_fluency":4.0,"fluency_reason":"r","fluency_result":"pass","fluency_threshold":3}"#;
    assert_eq!(
        (result(one, &Quirks::all()), result(one, &Quirks::default())),
        (wanted.to_owned(), wanted.to_owned())
    );
    let none = r#"{"messages": [{"role": "user", "content": "Q"}]}"#;
    assert_eq!(result(none, &Quirks::all()), "{}");
    assert_eq!(
        result(none, &Quirks::default()),
        "input: The conversation has no message of a person that an assistant answers."
    );
    let picture = r#"{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}"#;
    assert_eq!(
        result(picture, &Quirks::default()),
        "input: Only text conversation inputs are supported."
    );
    assert_eq!(
        result("7", &Quirks::default()),
        "input: The conversation has no list named `messages`."
    );
    for odd in [
        r#"{"messages": ""}"#,
        r#"{"messages": {}}"#,
        r#"{"messages": [{"role": "system", "content": [PICTURE]}]}"#,
    ] {
        let odd = odd.replace("PICTURE", r#"{"type": "image_url", "image_url": {"url": "x"}}"#);
        assert_eq!(result(&odd, &Quirks::all()), "{}", "{odd}");
        assert!(result(&odd, &Quirks::default()).starts_with("input: "), "{odd}");
    }
    // Tables hold a conversation as JSON text.
    let text = touchstone_model::json::write(&one.into(), false);
    assert_eq!(result(&text, &Quirks::default()), wanted);
}

#[test]
fn texts_are_measured_turn_by_turn_too() {
    let talk = r#"{"conversation": {"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "red cat", "ground_truth": "red cat"},
        {"role": "user", "content": "Q"}, {"role": "assistant", "content": "blue", "ground_truth": "red"}]}}"#;
    let result = |kind: &str, quirks: &Quirks| {
        run_evaluation(&evaluator(kind, "{}"), &parse_inputs(talk), &[], quirks).1
    };
    let turns = r#""evaluation_per_turn":{"f1_score":[1.0,0.0],"f1_result":["pass","fail"],"f1_threshold":[0.5,0.5]}"#;
    assert_eq!(
        result("f1_score", &Quirks::all()),
        format!(r#"{{"f1_score":0.5,"f1_threshold":0.5,{turns}}}"#)
    );
    assert_eq!(
        result("f1_score", &Quirks::default()),
        format!(r#"{{"f1_score":0.5,"f1_result":"pass","f1_threshold":0.5,{turns}}}"#)
    );
    // ROUGE has three scores with a result each.
    let rouge = evaluator("rouge_score", r#"{"recall_threshold": 0.6}"#);
    let of_rouge = |quirks: &Quirks| run_evaluation(&rouge, &parse_inputs(talk), &[], quirks).1;
    assert!(
        of_rouge(&Quirks::default()).starts_with(concat!(
            r#"{"rouge_precision":0.5,"rouge_precision_result":"pass","rouge_recall":0.5,"#,
            r#""rouge_recall_result":"fail","rouge_f1_score":0.5,"#,
            r#""rouge_f1_score_result":"pass","rouge_precision_threshold":0.5"#,
        )),
        "{}",
        of_rouge(&Quirks::default())
    );
    assert!(of_rouge(&Quirks::all()).starts_with(
        r#"{"rouge_precision":0.5,"rouge_recall":0.5,"rouge_f1_score":0.5,"rouge_precision_threshold":0.5"#
    ));
}

#[test]
fn all_parts_of_content_safety_have_the_result_the_word_and_the_reason_of_their_worst_turn() {
    // Two turns with four questions each.
    let replies: Vec<String> = [0, 1, 6, 2, 4, 0, 0, 2]
        .iter()
        .enumerate()
        .map(|(at, severity)| format!(r#"{{"reason": "reply {at}", "severity": {severity}}}"#))
        .collect();
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let (asked, came) = run_evaluation(
        &evaluator("content_safety", "{}"),
        &parse_inputs(TALK),
        &replies,
        &Quirks::default(),
    );
    assert_eq!(asked.len(), 8);
    for told in [
        r#""violence":"Medium","violence_score":4,"violence_reason":"reply 4","violence_result":"fail","violence_threshold":3"#,
        r#""hate_unfairness":"Very low","hate_unfairness_score":1,"hate_unfairness_reason":"reply 1","hate_unfairness_result":"pass""#,
        r#""sexual":"High","sexual_score":6,"sexual_reason":"reply 2","sexual_result":"fail""#,
        r#""self_harm":"Low","self_harm_score":2,"self_harm_reason":"reply 3","self_harm_result":"pass""#,
    ] {
        assert!(
            came.split("evaluation_per_turn").next().is_some_and(|whole| whole.contains(told)),
            "{told}\n{came}"
        );
    }
}

#[test]
fn what_the_package_fails_over_in_a_conversation_fails_the_row_only_its_way() {
    const TEXT_ONLY: &str = "input: Only text conversation inputs are supported.";
    const UNEQUAL: &str = "reply: Mismatched number of user and assistant messages.";
    const ADDRESS: &str = "input: A picture in a content has no address.";
    const ANSWER: &str = r#"{"role": "assistant", "content": "A"}"#;
    let picture = |url: &str| {
        format!(r#"{{"role": "user", "content": [{{"type": "image_url", "image_url": {url}}}]}}"#)
    };
    let asks = r#"{"role": "user", "content": "Q"}"#.to_owned();
    for (messages, theirs, ours) in [
        (vec![asks.clone(), ANSWER.to_owned()], "", ""),
        (
            vec![r#"{"content": "lost"}"#.to_owned(), asks.clone(), ANSWER.to_owned()],
            "input: A message of the conversation has no role.",
            "",
        ),
        (
            vec![r#"{"role": "user", "content": ["Q"]}"#.to_owned(), ANSWER.to_owned()],
            "input: A part of a content is not an object.",
            "",
        ),
        (vec![picture("{}"), ANSWER.to_owned()], "", ""),
        (vec![picture("null"), ANSWER.to_owned()], ADDRESS, ""),
        (vec![picture(r#"{"url": 1}"#), ANSWER.to_owned()], TEXT_ONLY, TEXT_ONLY),
        (vec![picture(r#"{"url": 1}"#)], UNEQUAL, TEXT_ONLY),
        (
            vec![picture(r#"{"url": 1}"#), ANSWER.to_owned(), asks, ANSWER.to_owned()],
            "reply: Conversation can have only one assistant message.",
            TEXT_ONLY,
        ),
    ] {
        let inputs = parse_inputs(&format!(
            r#"{{"conversation": {{"messages": [{}]}}}}"#,
            messages.join(", ")
        ));
        let came = |quirks: &Quirks| {
            let came = run_evaluation(
                &evaluator("fluency", "{}"),
                &inputs,
                &["<S1>r</S1><S2>4</S2>"],
                quirks,
            )
            .1;
            if came.starts_with('{') { String::new() } else { came }
        };
        assert_eq!(
            (came(&Quirks::all()).as_str(), came(&Quirks::default()).as_str()),
            (theirs, ours),
            "{messages:?}"
        );
    }
}

#[test]
fn task_adherence_is_told_of_no_tools_as_the_prompt_of_the_package_does() {
    let talk = r#"{"conversation": {"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}}"#;
    let shown = |inputs: &str, quirks: &Quirks| {
        let reply = r#"{"explanation": "e", "score": 4}"#;
        let (questions, _) = run_evaluation(
            &evaluator("task_adherence", "{}"),
            &parse_inputs(inputs),
            &[reply],
            quirks,
        );
        block(&questions[0], "tool_definitions").unwrap()
    };
    assert_eq!(
        (shown(talk, &Quirks::all()), shown(talk, &Quirks::default())),
        ("[]".into(), "(none was given)".into())
    );
    let row = r#"{"query": "Q", "response": "A"}"#;
    assert_eq!(
        (shown(row, &Quirks::all()), shown(row, &Quirks::default())),
        ("None".into(), "(none was given)".into())
    );
}

#[test]
fn qa_judges_a_conversation_turn_by_turn() {
    let talk = r#"{"conversation": {"context": "c", "messages": [
        {"role": "user", "content": "One?"}, {"role": "assistant", "content": "uno", "ground_truth": "uno"},
        {"role": "user", "content": "Two?"}, {"role": "assistant", "content": "tres", "ground_truth": "duo"}]}}"#;
    let of = |score: u8| {
        let tags = format!("<S1>r</S1><S2>{score}</S2>");
        let object = format!(r#"{{"explanation": "e", "score": {score}}}"#);
        [tags.clone(), object, tags.clone(), tags, score.to_string()]
    };
    let replies = [of(5), of(2)].concat();
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let qa = |quirks: &Quirks| {
        run_evaluation(&evaluator("qa", "{}"), &parse_inputs(talk), &replies, quirks)
    };
    let (questions, ours) = qa(&Quirks::default());
    assert_eq!(questions.len(), 10);
    assert_eq!(block(&questions[5], "query"), Some("Two?".to_owned()));
    assert!(
        ours.starts_with(
            r#"{"groundedness":3.5,"groundedness_result":"pass","gpt_groundedness":3.5,"#
        ),
        "{ours}"
    );
    assert!(
        ours.contains(
            r#""f1_score":0.5,"f1_result":"pass","f1_threshold":0.5,"evaluation_per_turn""#
        ),
        "{ours}"
    );
    assert!(ours.contains(r#""f1_result":["pass","fail"],"f1_threshold":[0.5,0.5]"#), "{ours}");
    let (_, theirs) = qa(&Quirks::all());
    assert!(
        theirs.contains(r#""f1_score":0.5,"f1_threshold":3.0,"evaluation_per_turn""#),
        "{theirs}"
    );
    assert!(theirs.contains(r#""f1_result":["pass","pass"],"f1_threshold":[3,3]"#), "{theirs}");
    let strict = evaluator("qa", r#"{"f1_score_threshold": 0.6}"#);
    let always = Quirks::from_names(["qa_f1_always_passes"]).unwrap();
    for (quirks, wanted) in [(Quirks::default(), "fail"), (always, "pass")] {
        let (_, came) = run_evaluation(&strict, &parse_inputs(talk), &replies, &quirks);
        assert!(came.contains(&format!(r#""f1_score":0.5,"f1_result":"{wanted}""#)), "{came}");
    }
    // A null content is a missing input.
    let silent = talk.replace(r#""content": "uno", "#, r#""content": null, "#);
    let (_, theirs) =
        run_evaluation(&evaluator("qa", "{}"), &parse_inputs(&silent), &[], &Quirks::all());
    assert_eq!(theirs, "input: A turn of the conversation has no `response`.");
}
