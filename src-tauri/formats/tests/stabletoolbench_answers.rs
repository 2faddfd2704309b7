//! Answers of `StableToolBench`, against what the original gives. Its files are not part of the project; without them those tests
//! have nothing to do, and those on files of our own remain.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::{Path, PathBuf};

use touchstone_formats::json;
use touchstone_formats::run::Standing;
use touchstone_formats::stabletoolbench::answers::{converted, details};
use touchstone_formats::value::Value;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stabletoolbench").join(name)
}

fn lines(name: &str) -> Vec<Value> {
    let file = golden(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| json::read_deep(line).unwrap()).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::text).unwrap_or_default()
}

#[test]
fn steps_for_judges_are_those_of_the_original() {
    let conversions = lines("conversions.jsonl");
    let mut cases = 0;
    for case in lines("get_steps.jsonl") {
        let of = |one: &&Value| {
            text(one, "query_id") == text(&case, "query_id") && text(one, "source").contains(text(&case, "source"))
        };
        let converted = conversions.iter().find(of).unwrap().get("converted").unwrap();
        let told = details::steps(converted.get("answer").and_then(|answer| answer.get("answer_details")).unwrap());
        assert_eq!(told, (text(&case, "answer_steps").to_owned(), text(&case, "final_step").to_owned()));
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn converted_answers_name_the_functions_they_called_and_are_read_as_runs() {
    let mut cases = 0;
    for case in lines("conversions.jsonl") {
        let converted = case.get("converted").unwrap();
        let details = converted.get("answer").and_then(|answer| answer.get("answer_details")).unwrap();
        let names: Vec<Value> = details::calls(details).iter().map(|(call, _)| Value::from(&*call.name)).collect();
        assert_eq!(names, case.get("called_function_names").unwrap().items());
        let run = converted::run(text(&case, "query_id"), converted);
        let outline = run.outline();
        let called: Vec<Value> = outline.calls.iter().map(|(name, _)| Value::from(&**name)).collect();
        assert_eq!(called, names);
        let answered = text(&case, "finish_type") != "give_up" && case.get("valid_data") == Some(&Value::Bool(true));
        assert_eq!(outline.standing == Standing::Answered, answered, "{}", text(&case, "source"));
        assert!(answered || outline.reason.is_some());
        cases += 1;
    }
    println!("cases: {cases}");
}
