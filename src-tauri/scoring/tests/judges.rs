//! Judges against what the scripts of `StableToolBench` decide. Their files are not part of the project; without them there is
//! nothing to do.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::Path;
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_scoring::judges::sowr::shares;
use touchstone_scoring::judges::{
    Finish, Next, Rules, Sitting, Status, Subject, named, official_finish, official_score, solve_rate,
};

fn lines(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stabletoolbench").join(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    let Value::Number(text) = value else { panic!("{value:?} is no number") };
    text.parse().unwrap()
}

fn of(case: &Value, key: &str) -> Value {
    case.get(key).cloned().unwrap_or_default()
}

#[test]
fn sopr_decides_by_the_official_rule_what_the_script_decides_and_asks_as_often() {
    let mut cases = 0;
    for case in lines("sopr_decisions.jsonl") {
        let finish = official_finish(&of(&case, "answer_details"));
        let answer = of(&case, "final_answer").text().unwrap().to_owned();
        let subject = Subject { query: "q".to_owned(), answer, finish, ..Subject::default() };
        let mut sitting = Sitting::new(named("sopr").unwrap(), &subject, Rules::Official);
        let mut asked = 0;
        let replies = of(&case, "judge_replies");
        for reply in replies.items() {
            assert!(matches!(sitting.next(), Next::Ask(_)), "{case:?}");
            sitting.take(&format!("{{\"verdict\": \"{}\", \"reason\": \"\"}}", reply.text().unwrap().to_lowercase()));
            asked += 1;
        }
        match of(&case, "status") {
            // The script of the case had no reply left: it asked.
            Value::Null => assert!(matches!(sitting.next(), Next::Ask(_)), "{case:?}"),
            status => {
                let Next::Ruled(ruling) = sitting.next() else { panic!("it rules: {case:?}") };
                assert_eq!(Status::of(&ruling.word), Status::of(status.text().unwrap()), "{case:?}");
                assert_eq!(asked, of(&case, "judge_calls").items().len(), "{case:?}");
            }
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn finish_is_right_where_the_official_rule_overlooks_it() {
    // A message as JSON text, which the script never recognises.
    let details = json::read(r#"[{"role": "tool", "message": "{\"name\": \"Finish\"}", "next": []}]"#).unwrap();
    assert_eq!(official_finish(&details), Finish::Missing);
    let details = json::read(r#"[{"role": "tool", "message": {"name": "Finish"}, "next": []}]"#).unwrap();
    assert_eq!(official_finish(&details), Finish::Last);
}

#[test]
fn solve_rates_are_those_of_the_script() {
    let mut cases = 0;
    for case in lines("sopr_aggregates.jsonl") {
        let judged: Vec<Vec<Option<f64>>> = of(&case, "is_solved")
            .entries()
            .iter()
            .map(|(_, rounds)| {
                let round =
                    |at: usize| rounds.get(&at.to_string()).and_then(|word| Some(Status::of(word.text()?)?.score()));
                (0..20).map(round).collect()
            })
            .collect();
        let times = number(&of(&case, "evaluate_times"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
        let rates = solve_rate(&judged, times as usize, 0).unwrap();
        let wanted: Vec<f64> = of(&case, "scores_per_round").items().iter().map(number).collect();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            wanted.len() == rates.rounds.len() && rates.rounds.iter().zip(&wanted).all(|(a, b)| near(*a, *b)),
            "{case:?}"
        );
        assert!(near(rates.mean * 100.0, number(&of(&case, "solve_rate_percent"))), "{rates:?}");
        assert!((rates.spread * 100.0 - number(&of(&case, "std_percent"))).abs() < 1e-9, "{rates:?}");
        let printed = format!("Solve rate: {:.1}% Std: {:.1}%", rates.mean * 100.0, rates.spread * 100.0);
        assert!(of(&case, "printed").text().unwrap().ends_with(&printed), "{printed}");
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn wins_are_counted_as_the_script_counts_them() {
    let mut cases = 0;
    for case in lines("sowr_cases.jsonl") {
        let points: Vec<(u32, u32)> = of(&case, "prefer_dict")
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
        for (key, share) in [("win_rate", shares.win), ("lose_rate", shares.lose), ("tie_rate", shares.tie)] {
            assert!((number(&of(&case, key)) - share).abs() < 1e-12, "{key} {share}");
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn completeness_is_read_as_the_script_reads_it_only_for_comparing() {
    let mut cases = 0;
    for case in lines("fac_get_response.jsonl") {
        let verdict = of(&case, "judge_text");
        assert!(
            (f64::from(official_score(verdict.text().unwrap())) - number(&of(&case, "score"))).abs() < 1e-12,
            "{verdict:?}"
        );
        cases += 1;
    }
    assert_eq!(official_score("Not solved"), 1, "the mistake that ours does not make");
    println!("cases: {cases}");
}
