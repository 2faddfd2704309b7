//! **Pure.** Python modules that return scores: scorers with a function
//! `evaluate_score(ground_truth: str, test_result: str) -> float`, and graders with `grade(sample:
//! dict, item: dict) -> float`. Builds the program that calls a module, and parses its result. A
//! module is trusted no more than programs written by models.
use serde::Deserialize;
use std::time::Duration;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Functions and parameters of the modules.
const SCORER: (&str, &str) = ("evaluate_score", "ground_truth, test_result");
const GRADER: (&str, &str) = ("grade", "sample, item");
const ASK: &str = include_str!("ask.py");
/// Maximum size of the module and both arguments together, in bytes.
const LARGEST: usize = 16 << 20;
/// Maximum number of characters of a module's output that are shown.
const PRINTED: usize = 400;

/// Result of a scorer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScorerReply {
    /// Score from 0 to 1.
    pub(crate) score: f64,
    /// Last line of the module's output, if any.
    pub(crate) printed: Option<String>,
}

/// Builds the program that calls a scorer. Fails if it would be too large.
pub(crate) fn scorer_program(
    name: &str,
    source: &str,
    expected: &Value,
    answer: &Value,
) -> Result<String, String> {
    let given = [text(expected), text(answer)].map(|text| literal(&text));
    program(name, source, SCORER.0, &given)
}

/// Builds the program that calls a grader. Fails if it would be too large.
pub(crate) fn grader_program(
    name: &str,
    source: &str,
    sample: &Value,
    item: &Value,
) -> Result<String, String> {
    let given = [sample, item].map(|value| format!("[{}]", literal(&json::write(value, false))));
    program(name, source, GRADER.0, &given)
}

/// Builds the program that loads a grader without calling it, to check that it can be called.
pub(crate) fn reading(name: &str, source: &str) -> Result<String, String> {
    written(name, source, GRADER.0, "None")
}

fn program(
    name: &str,
    source: &str,
    function: &str,
    [first, second]: &[String; 2],
) -> Result<String, String> {
    written(name, source, function, &format!("({first}, {second})"))
}

fn written(name: &str, source: &str, function: &str, given: &str) -> Result<String, String> {
    if source.len() + given.len() > LARGEST {
        let most = LARGEST >> 20;
        return Err(format!("{name} and its input are larger than the limit of {most} MB."));
    }
    let [name, source, function] = [name, source, function].map(literal);
    Ok(format!("NAME, SOURCE, FUNCTION, GIVEN = {name}, {source}, {function}, {given}\n{ASK}"))
}

/// Formats a Python string literal; JSON strings are valid Python literals.
fn literal(text: &str) -> String {
    json::write(&Value::from(text), false)
}

/// Formats an argument: text unchanged, everything else as JSON that Python can parse.
fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => json::write_back(other),
    }
}

/// Output of the program: a score, or the reason that there is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    score: Option<String>,
    /// A returned value that is not a number.
    other: Option<String>,
    /// Exception raised by the module; `line` has its line number.
    error: Option<String>,
    line: Option<u32>,
    /// True if the module does not define the function.
    #[serde(default)]
    missing: bool,
}

/// Parses a scorer's result from the result of the tool that ran the program. Fails with a sentence
/// if it is not a score.
pub(crate) fn parse_score(
    name: &str,
    ended: &Value,
    wall: Duration,
) -> Result<ScorerReply, String> {
    let (score, printed) = returned(name, SCORER, ended, wall)?;
    Ok(ScorerReply { score: bounded(name, &score)?, printed })
}

/// Parses a grader's score, with the failures of a scorer's.
pub(crate) fn parse_grade(name: &str, ended: &Value, wall: Duration) -> Result<f64, String> {
    let (score, _) = returned(name, GRADER, ended, wall)?;
    bounded(name, &score)
}

/// A number outside the scale is an error of the module and does not rate the answer.
fn bounded(name: &str, score: &str) -> Result<f64, String> {
    let number = score.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    number.ok_or_else(|| format!("{name} returned {score}, and a score is a number from 0 to 1."))
}

/// Checks the result of loading a grader. Fails with the reason if the grader cannot be called.
/// Code outside its functions runs while loading, and may never end.
pub(crate) fn check_grader(name: &str, ended: &Value, wall: Duration) -> Result<(), String> {
    let outside = match ended.get("outcome").and_then(Value::text) {
        Some("timeout" | "cpu" | "memory" | "files") => {
            " It failed while loading; code outside of functions runs then."
        }
        _ => "",
    };
    returned(name, GRADER, ended, wall).map(drop).map_err(|why| format!("{why}{outside}"))
}

/// Returns the score as written by the program, and the last line of the module's output.
fn returned(
    name: &str,
    (function, given): (&str, &str),
    ended: &Value,
    wall: Duration,
) -> Result<(String, Option<String>), String> {
    let word = |key: &str| ended.get(key).and_then(Value::text).unwrap_or_default();
    match word("outcome") {
        // Long output of the module is cut; the reply itself is never long.
        "ok" | "output" => {}
        "timeout" => return Err(format!("{name} took longer than {} s.", wall.as_secs())),
        "cpu" => return Err(format!("{name} took more computing time than it may.")),
        "memory" => return Err(format!("{name} needs more memory than it may take.")),
        "files" => return Err(format!("{name} makes more files than it may.")),
        "killed" if !word("signal").is_empty() => {
            return Err(format!("{name} was ended by {}.", word("signal")));
        }
        "killed" => return Err(format!("{name} was stopped.")),
        _ => {
            return Err(format!(
                "{name} could not be run{}.",
                last(word("stderr")).map_or_else(String::new, |why| format!(": {why}"))
            ));
        }
    }
    let early = || format!("{name} ended before it returned a score.");
    let reply: Reply = serde_json::from_str(word("stdout")).map_err(|_| early())?;
    if let Some(error) = reply.error {
        return Err(failed(name, &error, reply.line));
    }
    if let Some(shown) = reply.other {
        return Err(format!("{name} returned {shown}, and a score is a number from 0 to 1."));
    }
    if reply.missing {
        return Err(format!("{name} has no function {function}({given})."));
    }
    Ok((reply.score.ok_or_else(early)?, last(word("stderr"))))
}

fn failed(name: &str, error: &str, line: Option<u32>) -> String {
    let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
    let advice = if error.starts_with("ModuleNotFoundError") {
        " A scorer is one file, and imports what the Python of this system has."
    } else {
        ""
    };
    format!("{name} failed{line}: {}.{advice}", error.trim_end_matches('.'))
}

/// Returns the last line that is not blank, cut if it is long.
fn last(printed: &str) -> Option<String> {
    let line = printed.lines().rev().find(|line| !line.trim().is_empty())?.trim();
    Some(line.chars().take(PRINTED).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ended(outcome: &str, stdout: &str, stderr: &str) -> Value {
        let entry = |key: &str, value: &str| (Value::from(key), Value::from(value));
        Value::Map(vec![
            entry("outcome", outcome),
            entry("stdout", stdout),
            entry("stderr", stderr),
        ])
    }

    fn describe_result(outcome: &str, stdout: &str, stderr: &str) -> String {
        match parse_score("a.py", &ended(outcome, stdout, stderr), Duration::from_secs(30)) {
            Ok(said) => format!("{} {:?}", said.score, said.printed),
            Err(why) => why,
        }
    }

    #[test]
    fn only_a_number_from_0_to_1_is_a_score() {
        for (reply, meaning) in [
            (r#"{"score": "0.1"}"#, "0.1 None"),
            (r#"{"score": "1.0"}"#, "1 None"),
            (r#"{"score": "nan"}"#, "a.py returned nan, and a score is a number from 0 to 1."),
            (r#"{"score": "inf"}"#, "a.py returned inf, and a score is a number from 0 to 1."),
            (r#"{"score": "-0.5"}"#, "a.py returned -0.5, and a score is a number from 0 to 1."),
            (r#"{"score": "80.0"}"#, "a.py returned 80.0, and a score is a number from 0 to 1."),
            (
                r#"{"other": "True (bool)"}"#,
                "a.py returned True (bool), and a score is a number from 0 to 1.",
            ),
            (
                r#"{"missing": true}"#,
                "a.py has no function evaluate_score(ground_truth, test_result).",
            ),
            (r#"{"error": "KeyError: 'id'", "line": 3}"#, "a.py failed in line 3: KeyError: 'id'."),
            (r#"{"score": "0.5", "more": 1}"#, "a.py ended before it returned a score."),
            (r#"{"error": "KeyboardInterrupt", "line": null}"#, "a.py failed: KeyboardInterrupt."),
            ("", "a.py ended before it returned a score."),
            ("0.5", "a.py ended before it returned a score."),
        ] {
            assert_eq!(describe_result("ok", reply, ""), meaning, "{reply}");
        }
        let reply = r#"{"score": "0.25"}"#;
        assert_eq!(describe_result("output", reply, "one\ntwo  \n\n"), "0.25 Some(\"two\")");
        assert_eq!(describe_result("timeout", reply, ""), "a.py took longer than 30 s.");
        assert_eq!(describe_result("killed", "", ""), "a.py was stopped.");
        assert_eq!(
            describe_result("exception", "", "Traceback\nSyntaxError: x\n"),
            "a.py could not be run: SyntaxError: x."
        );
        assert_eq!(describe_result("", "", ""), "a.py could not be run.");
    }

    #[test]
    fn a_grader_is_read_before_it_is_asked() {
        let of = |reply: &str| check_grader("g", &ended("ok", reply, ""), Duration::from_secs(1));
        assert_eq!(of(r#"{"score": "0"}"#), Ok(()));
        assert_eq!(
            of(r#"{"missing": true}"#).unwrap_err(),
            "g has no function grade(sample, item)."
        );
        let late = |outcome: &str| {
            check_grader("g", &ended(outcome, "", ""), Duration::from_secs(30)).unwrap_err()
        };
        let outside = "It failed while loading; code outside of functions runs then.";
        assert_eq!(late("timeout"), format!("g took longer than 30 s. {outside}"));
        assert_eq!(late("cpu"), format!("g took more computing time than it may. {outside}"));
        assert_eq!(late("killed"), "g was stopped.");
        assert!(
            reading("g", "x")
                .unwrap()
                .starts_with(r#"NAME, SOURCE, FUNCTION, GIVEN = "g", "x", "grade", None"#)
        );
    }

    #[test]
    fn texts_are_handed_over_as_they_are_and_the_rest_as_json() {
        let list = Value::List(vec![Value::Number("84.10".to_owned()), Value::from("ä\"")]);
        let program = scorer_program("a.py", "x = '\\n'", &list, &Value::from("Paris\n")).unwrap();
        let first = program.lines().next().unwrap();
        insta::assert_snapshot!(first, @r#"NAME, SOURCE, FUNCTION, GIVEN = "a.py", "x = '\\n'", "evaluate_score", ("[84.10,\"ä\\\"\"]", "Paris\n")"#);
        let large = Value::from("x".repeat(LARGEST).as_str());
        assert!(scorer_program("a.py", "", &large, &list).is_err());
    }

    proptest! {
        #[test]
        fn any_program_output_becomes_a_score_or_an_error(
            outcome in "ok|output|killed|[a-z]{0,3}",
            stdout in "\\PC{0,40}|\\{\"score\": \"[0-9.e-]{0,5}\"\\}"
            ) {
            let ended = ended(&outcome, &stdout, &stdout);
            match parse_score("a.py", &ended, Duration::from_secs(1)) {
                Ok(said) => prop_assert!((0.0..=1.0).contains(&said.score)),
                Err(why) => prop_assert!(why.starts_with("a.py ") && why.ends_with('.')),
            }
        }
    }
}
