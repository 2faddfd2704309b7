//! **Pure.** What several rounds of one evaluator on one row come to: numbers are the mean of the rounds with the spread in a key of its
//! own, everything else is what the last round said. A round without a result counts in none of it.
use touchstone_formats::stabletoolbench::python;
use touchstone_formats::value::Value;
use touchstone_scoring::azure::{Failure, Outcome};
use touchstone_scoring::judges::mean_and_spread;

/// The end of keys that say how far rounds lie apart.
const SPREAD: &str = "_spread";

/// One result of all rounds; why there is none when no round has one.
pub(crate) fn together(mut rounds: Vec<Result<Outcome, Failure>>) -> Result<Outcome, Failure> {
    if rounds.len() == 1 {
        return rounds.remove(0);
    }
    let mut said = Vec::new();
    let mut failure = None;
    for round in rounds {
        match round {
            Ok(outcome) => said.push(outcome),
            Err(why) => failure = Some(why),
        }
    }
    let Some(last) = said.last() else {
        let none = || Failure { by_input: false, message: "No round came to a result.".to_owned() };
        return Err(failure.unwrap_or_else(none));
    };
    let mut outcome = Outcome::new();
    for (key, value) in last {
        match mean(&said, key) {
            Some((mean, spread)) => {
                // What is the same in all rounds stays as it was written.
                let same = said.iter().all(|round| get(round, key) == Some(value));
                outcome.push((key.clone(), if same { value.clone() } else { number(mean) }));
                if !is_told(key) {
                    outcome.push((format!("{key}{SPREAD}"), number(spread)));
                }
            }
            None => outcome.push((key.clone(), value.clone())),
        }
    }
    judge_again(&said, &mut outcome);
    Ok(outcome)
}

/// True for numbers that are the same in every round, because somebody set them.
fn is_told(key: &str) -> bool {
    key.ends_with("_threshold")
}

/// Mean and spread of a key; none when a round has no number there.
fn mean(said: &[Outcome], key: &str) -> Option<(f64, f64)> {
    let numbers: Option<Vec<f64>> = said.iter().map(|outcome| float(get(outcome, key)?)).collect();
    mean_and_spread(&numbers?)
}

/// Says anew whether it passes, where the rounds do not agree: by the mean, in the direction that the rounds were judged in.
fn judge_again(said: &[Outcome], outcome: &mut Outcome) {
    let names: Vec<String> =
        outcome.iter().filter_map(|(key, _)| Some(key.strip_suffix("_result")?.to_owned())).collect();
    for name in names {
        let result = format!("{name}_result");
        let words: Vec<Option<&str>> = said.iter().map(|round| get(round, &result).and_then(Value::text)).collect();
        if words.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        let of = |round: &Outcome| {
            let score = get(round, &name).or_else(|| get(round, &format!("{name}_score"))).and_then(float)?;
            Some((score, get(round, &format!("{name}_threshold")).and_then(float)?))
        };
        let less_is_better = said.iter().zip(&words).any(|(round, word)| {
            of(round).is_some_and(|(score, limit)| {
                (score < limit && *word == Some("pass")) || (score > limit && *word == Some("fail"))
            })
        });
        let Some((score, limit)) = of(outcome) else { continue };
        let passes = if less_is_better { score <= limit } else { score >= limit };
        let word = Value::from(if passes { "pass" } else { "fail" });
        outcome.iter_mut().filter(|(key, _)| *key == result).for_each(|(_, value)| *value = word.clone());
    }
}

fn get<'a>(outcome: &'a Outcome, key: &str) -> Option<&'a Value> {
    outcome.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn number(value: f64) -> Value {
    Value::Number(python::float(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::json;

    fn outcome(text: &str) -> Result<Outcome, Failure> {
        let failed = |why: &dyn std::fmt::Display| Failure { by_input: true, message: why.to_string() };
        let value = json::read(text).map_err(|why| failed(&why))?;
        Ok(value.entries().iter().map(|(key, value)| (key.text().unwrap().to_owned(), value.clone())).collect())
    }

    fn failure() -> Result<Outcome, Failure> {
        Err(Failure { by_input: false, message: "Unread.".to_owned() })
    }

    fn told(rounds: Vec<Result<Outcome, Failure>>) -> String {
        match together(rounds) {
            Ok(outcome) => json::write(
                &Value::Map(outcome.into_iter().map(|(key, value)| (Value::from(key.as_str()), value)).collect()),
                false,
            ),
            Err(why) => why.message,
        }
    }

    #[test]
    fn numbers_are_the_mean_with_their_spread_and_words_are_those_of_the_last_round() {
        let round = |score: u32, result: &str, reason: &str| {
            outcome(&format!(r#"{{"a":{score}.0,"a_result":"{result}","a_threshold":3,"a_reason":"{reason}"}}"#))
        };
        let agreed = told(vec![round(2, "pass", "x"), round(4, "pass", "y"), failure(), round(6, "pass", "z")]);
        let agreed_says = r#"{"a":4.0,"a_spread":1.632993161855452,"a_result":"pass","a_threshold":3,"a_reason":"z"}"#;
        assert_eq!(agreed, agreed_says);
        insta::assert_snapshot!(
            told(vec![round(5, "pass", "x"), round(1, "fail", "y"), round(1, "fail", "z")]),
            @r#"{"a":2.3333333333333335,"a_spread":1.8856180831641267,"a_result":"fail","a_threshold":3,"a_reason":"z"}"#
        );
    }

    #[test]
    fn one_round_stays_as_it_is_and_none_is_why() {
        insta::assert_snapshot!(told(vec![outcome(r#"{"a":4,"a_result":"pass"}"#)]), @r#"{"a":4,"a_result":"pass"}"#);
        insta::assert_snapshot!(told(vec![failure(), failure()]), @"Unread.");
        assert!(together(Vec::new()).is_err());
    }

    #[test]
    fn where_less_is_better_the_mean_is_judged_so() {
        let round = |score: u32, result: &str| {
            outcome(&format!(r#"{{"v_score":{score},"v_result":"{result}","v_threshold":3}}"#))
        };
        let worse = r#"{"v_score":4.0,"v_score_spread":3.0,"v_result":"fail","v_threshold":3}"#;
        assert_eq!(told(vec![round(1, "pass"), round(7, "fail")]), worse);
        let fine = r#"{"v_score":2.5,"v_score_spread":1.5,"v_result":"pass","v_threshold":3}"#;
        assert_eq!(told(vec![round(1, "pass"), round(4, "fail")]), fine);
    }
}
