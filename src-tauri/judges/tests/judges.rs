//! Compares the judges with the decisions of the `StableToolBench` scripts. Their files are not
//! part of the repository; without them the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::Path;
use touchstone_formats::stabletoolbench::answers::converted;
use touchstone_judges::sowr::shares;
use touchstone_judges::{
    JudgeRound, Next, Rules, Status, Subject, named, official_score, solve_rate,
};
use touchstone_model::json;
use touchstone_model::run::ScriptedEnd;
use touchstone_model::value::Value;

fn lines(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench")
        .join(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    let Value::Number(text) = value else { panic!("{value:?} is not a number") };
    text.parse().unwrap()
}

fn field(case: &Value, key: &str) -> Value {
    case.get(key).cloned().unwrap_or_default()
}

#[test]
fn sopr_decides_by_the_official_rule_what_the_script_decides_and_asks_as_often() {
    let mut cases = 0;
    for case in lines("sopr_decisions.jsonl") {
        let subject = subject(field(&case, "answer_details"), field(&case, "final_answer"));
        let mut sitting = JudgeRound::new(named("sopr").unwrap(), &subject, Rules::Official);
        let mut asked = 0;
        let replies = field(&case, "judge_replies");
        for reply in replies.items() {
            assert!(matches!(sitting.next(), Next::Ask(_)), "{case:?}");
            sitting.take(&format!(
                "{{\"verdict\": \"{}\", \"reason\": \"\"}}",
                reply.text().unwrap().to_lowercase()
            ));
            asked += 1;
        }
        match field(&case, "status") {
            // The script asked a question, but the case had no reply left.
            Value::Null => assert!(matches!(sitting.next(), Next::Ask(_)), "{case:?}"),
            status => {
                let Next::Ruled(ruling) = sitting.next() else { panic!("it rules: {case:?}") };
                assert_eq!(
                    Status::from_word(&ruling.word),
                    Status::from_word(status.text().unwrap()),
                    "{case:?}"
                );
                assert_eq!(asked, field(&case, "judge_calls").items().len(), "{case:?}");
            }
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

/// Returns the subject of a converted answers file with one entry.
fn subject(details: Value, final_answer: Value) -> Subject {
    let map = |entries: Vec<(&str, Value)>| {
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    };
    let answer = map(vec![("final_answer", final_answer), ("answer_details", details)]);
    let entry = map(vec![
        ("query", "q".into()),
        ("available_tools", Value::List(Vec::new())),
        ("answer", answer),
    ]);
    Subject::from_run(&converted::run("1", &entry), None)
}

/// Returns the verdict on a converted answer before any reply, or `asks`.
fn ruled(details: &str, final_answer: &str, rules: Rules) -> String {
    let subject = subject(json::read(details).unwrap(), json::read(final_answer).unwrap());
    match JudgeRound::new(named("sopr").unwrap(), &subject, rules).next() {
        Next::Ask(question) => {
            // The question shows the text that the script would show.
            let shown = subject
                .scripted
                .as_ref()
                .and_then(|end: &ScriptedEnd| end.answer.text())
                .unwrap_or_default();
            assert!(
                shown.contains("return_type") || question.text.contains(shown),
                "{shown}: {}",
                question.text
            );
            "asks".to_owned()
        }
        Next::Ruled(ruling) => ruling.word,
        Next::Unread => "unread".to_owned(),
    }
}

#[test]
fn each_check_of_the_script_before_it_asks_turns_on_one_character() {
    const ANSWER: &str = r#""{\"return_type\": \"give_answer\", \"final_answer\": \"x\"}""#;
    let chain = |last: &str| {
        format!(
            r#"[{{"role": "system", "message": "", "next": [{{"role": "user", "message": "", "next": [
                {{"role": "tool", "message": {{"name": "a", "arguments": "{{}}", "response": "r"}}, "next": [{last}]}}]}}]}}]"#
        )
    };
    let node = |role: &str, message: &str, next: &str| {
        format!(r#"{{"role": "{role}", "message": {message}, "next": [{next}]}}"#)
    };
    let finish =
        |name: &str| format!(r#"{{"name": "{name}", "arguments": "{{}}", "response": ""}}"#);
    let tool = |message: &str| chain(&node("tool", message, ""));
    let whole = tool(&finish("Finish"));
    let after = |message: &str| chain(&node("tool", &finish("Finish"), &node("tool", message, "")));
    for (what, solvable, unsolved) in [
        ("the name", tool(&finish("Finish")), tool(&finish("finish"))),
        ("the key of the name", tool(r#"{"name": "Finish"}"#), tool(r#"{"Name": "Finish"}"#)),
        (
            "the role of the node",
            chain(&node("tool", &finish("Finish"), "")),
            chain(&node("Tool", &finish("Finish"), "")),
        ),
        (
            "which node is last",
            chain(&node("tool", &finish("Finish"), &node("tool", r#""""#, ""))),
            chain(&node("tool", &finish("Finish"), &node("tool", r#"" ""#, ""))),
        ),
        (
            "who follows first",
            chain(&format!(
                "{},{}",
                node("tool", &finish("Finish"), ""),
                node("tool", &finish("b"), "")
            )),
            chain(&format!(
                "{},{}",
                node("tool", &finish("b"), ""),
                node("tool", &finish("Finish"), "")
            )),
        ),
        (
            "a message that Python printed, and one that is JSON",
            tool(r#""{'name': 'Finish', 'arguments': '{\"return_ty""#),
            tool(r#""{\"name\": \"Finish\", \"arguments\": \"{}\"}""#),
        ),
        (
            "the mark in a nested literal, and one with another letter",
            tool(r#"{"name": "q", "arguments": "{}", "response": {"name": "Finish"}}"#),
            tool(r#"{"name": "q", "arguments": "{}", "response": {"name": "Finish!"}}"#),
        ),
        (
            "the mark in a text, and with quotes that Python escapes",
            tool(r#"{"name": "q", "arguments": "{}", "response": "'name': 'Finish'"}"#),
            tool(r#"{"name": "q", "arguments": "{}", "response": "'name': 'Finish'\""}"#),
        ),
        (
            "a chain, and the same nodes as a flat list",
            format!("[{}]", node("tool", &finish("Finish"), "")),
            format!("[{},{}]", node("user", r#""""#, ""), node("tool", &finish("Finish"), "")),
        ),
        (
            "a node that says what is next, and one without the key",
            whole.clone(),
            whole.replace(r#""next": []"#, r#""nxt": []"#),
        ),
        ("a zero is no message", after("0"), after("1")),
        ("so is one with a point", after("0.0"), after("0.1")),
        ("and one with a sign", after("-0.0"), after("-0.5")),
        ("an empty list", after("[]"), after("[0]")),
        ("an empty object", after("{}"), after(r#"{"": 0}"#)),
        ("no", after("false"), after("true")),
    ] {
        assert_eq!(ruled(&solvable, ANSWER, Rules::Official), "asks", "{what}: {solvable}");
        assert_eq!(ruled(&unsolved, ANSWER, Rules::Official), "unsolved", "{what}: {unsolved}");
    }
    for (what, asks, unsolved) in [
        ("an answer, and none", r#"" ""#, r#""""#),
        ("giving up by the letter", r#""give_up_and_restar""#, r#""give_up_and_restart""#),
        (
            "giving up in the arguments",
            r#""{\"return_type\": \"give_up_and_Restart\"}""#,
            r#""{\"return_type\": \"give_up_and_restart\"}""#,
        ),
        (
            "speaking of giving up",
            r#""{\"return_type\": \"give_answer\", \"final_answer\": \"No give-up_and_restart.\"}""#,
            r#""{\"return_type\": \"give_answer\", \"final_answer\": \"No give_up_and_restart.\"}""#,
        ),
        (
            "an object is looked through by its keys",
            r#"{"kind": "give_up_and_restart"}"#,
            r#"{"give_up_and_restart": 1}"#,
        ),
        ("a list by its items", r#"["give_up_and_restart."]"#, r#"["give_up_and_restart"]"#),
        ("a number is not text", r#""1""#, "1"),
    ] {
        assert_eq!(ruled(&whole, asks, Rules::Official), "asks", "{what}: {asks}");
        assert_eq!(ruled(&whole, unsolved, Rules::Official), "unsolved", "{what}: {unsolved}");
    }
    // Touchstone's own rule detects cases that the script overlooks.
    for seen in [
        tool(
            r#""{\"name\": \"Finish\", \"arguments\": {\"return_type\": \"give_answer\", \"final_answer\": \"x\"}}""#,
        ),
        format!("[{},{}]", node("user", r#""""#, ""), node("tool", &finish("Finish"), "")),
    ] {
        assert_eq!(ruled(&seen, ANSWER, Rules::Ours), "asks", "{seen}");
        assert_eq!(ruled(&seen, ANSWER, Rules::Official), "unsolved", "{seen}");
    }
}

#[test]
fn without_the_official_rule_no_run_that_gave_up_is_put_to_a_judge_however_it_says_so() {
    let run = |arguments: &str| {
        format!(
            r#"[{{"role": "tool", "message": {{"name": "Finish", "arguments": {arguments}, "response": ""}}, "next": []}}]"#
        )
    };
    let gave = r#""{\"return_type\": \"give_answer\", \"final_answer\": \"x\"}""#;
    assert_eq!(ruled(&run(gave), gave, Rules::Ours), "asks");
    for arguments in [
        r#""{\"return_type\": \"give_up_and_restart\"}""#,
        r#""{\"return_type\": \"give_up_and_restart\", \"final_ans""#,
        r#""{'return_type': 'give_up_and_restart'}""#,
        r#"{"return_type": "give_up_and_restart"}"#,
        r#""{\"return_type\": \"give_up\"}""#,
    ] {
        for answer in [r#""x""#, r#""""#, gave] {
            assert_eq!(
                ruled(&run(arguments), answer, Rules::Ours),
                "unsolved",
                "{arguments} {answer}"
            );
        }
    }
    for answer in [
        r#""{\"return_type\": \"give_up_and_restart\"}""#,
        r#""{\"return_type\": \"give_up_and_restart\", \"final_ans""#,
        r#"{"return_type": "give_up_and_restart"}"#,
        r#""{'return_type': 'give_up_and_restart'}""#,
        r#""{\"return_type\":\"give_up_and_restart\",\"final_ans""#,
        r#""{'return_type' :'give_up_and_restart', 'fin""#,
        r#""{\"return_type\": \"give_up\"}""#,
        r#"{"return_type": "give_up"}"#,
    ] {
        for arguments in
            [gave, r#""{}""#, r#""{\"return_type\":\"give_up_and_restart\",\"final_ans""#]
        {
            assert_eq!(
                ruled(&run(arguments), answer, Rules::Ours),
                "unsolved",
                "{arguments} {answer}"
            );
        }
    }
    // An answer that mentions giving up is an answer.
    for answer in
        [r#""I give up and restart.""#, r#""{'x': {'return_type': 'give_up_and_restart'}}""#]
    {
        assert_eq!(ruled(&run(r#""{}""#), answer, Rules::Ours), "asks", "{answer}");
    }
}

#[test]
fn a_verdict_by_the_official_rule_is_stale_when_the_answer_that_was_shown_is_another() {
    let sopr = named("sopr").unwrap();
    let details = r#"[{"role": "tool", "message": {"name": "Finish", "arguments": "{}", "response": ""}, "next": []}]"#;
    let canon = |answer: &str, rules| {
        sopr.canon(&subject(json::read(details).unwrap(), json::read(answer).unwrap()), rules)
    };
    let (one, other) = (
        r#"{"return_type": "give_up", "why": "dull"}"#,
        r#"{"return_type": "give_up", "why": "late"}"#,
    );
    assert_eq!(ruled(details, one, Rules::Official), "asks");
    assert_ne!(canon(one, Rules::Official), canon(other, Rules::Official));
    assert_eq!(canon(one, Rules::Official), canon(one, Rules::Official));
    // Under Touchstone's own rules neither answer is shown.
    assert_eq!(canon(one, Rules::Ours), canon(other, Rules::Ours));
}

#[test]
fn solve_rates_are_those_of_the_script() {
    let mut cases = 0;
    for case in lines("sopr_aggregates.jsonl") {
        let judged: Vec<Vec<Option<f64>>> = field(&case, "is_solved")
            .entries()
            .iter()
            .map(|(_, rounds)| {
                let round = |at: usize| {
                    rounds
                        .get(&at.to_string())
                        .and_then(|word| Some(Status::from_word(word.text()?)?.score()))
                };
                (0..20).map(round).collect()
            })
            .collect();
        let times = number(&field(&case, "evaluate_times"));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small whole number"
        )]
        let rates = solve_rate(&judged, times as usize, 0).unwrap();
        let wanted: Vec<f64> =
            field(&case, "scores_per_round").items().iter().map(number).collect();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            wanted.len() == rates.rounds.len()
                && rates.rounds.iter().zip(&wanted).all(|(a, b)| near(*a, *b)),
            "{case:?}"
        );
        assert!(near(rates.mean * 100.0, number(&field(&case, "solve_rate_percent"))), "{rates:?}");
        assert!(
            (rates.spread * 100.0 - number(&field(&case, "std_percent"))).abs() < 1e-9,
            "{rates:?}"
        );
        let printed =
            format!("Solve rate: {:.1}% Std: {:.1}%", rates.mean * 100.0, rates.spread * 100.0);
        assert!(field(&case, "printed").text().unwrap().ends_with(&printed), "{printed}");
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn wins_are_counted_as_the_script_counts_them() {
    let mut cases = 0;
    for case in lines("sowr_cases.jsonl") {
        let points: Vec<(u32, u32)> = field(&case, "prefer_dict")
            .entries()
            .iter()
            .map(|(_, points)| {
                let of = |name: &str| {
                    points.get(name).map_or(0, |value| match value {
                        Value::Number(text) => text.parse().unwrap(),
                        _ => 0,
                    })
                };
                (of("virtual_chatgpt_cot"), of("virtual_chatgpt_dfs"))
            })
            .collect();
        let shares = shares(&points).unwrap();
        for (key, share) in
            [("win_rate", shares.win), ("lose_rate", shares.lose), ("tie_rate", shares.tie)]
        {
            assert!((number(&field(&case, key)) - share).abs() < 1e-12, "{key} {share}");
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn completeness_is_read_as_the_script_reads_it_only_for_comparing() {
    let mut cases = 0;
    for case in lines("fac_get_response.jsonl") {
        let verdict = field(&case, "judge_text");
        assert!(
            (f64::from(official_score(verdict.text().unwrap())) - number(&field(&case, "score")))
                .abs()
                < 1e-12,
            "{verdict:?}"
        );
        cases += 1;
    }
    assert_eq!(official_score("Not solved"), 1, "the mistake that ours does not make");
    println!("cases: {cases}");
}
