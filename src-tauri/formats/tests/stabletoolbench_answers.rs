//! Compares answers of `StableToolBench` with the original system's. Its files are not part of the
//! repository; without them only the tests on synthetic files run.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use touchstone_formats::transcript::outline_of;

use touchstone_formats::file_kind::{self, FileKind};
use touchstone_formats::stabletoolbench::answers::convert::{self, Defects};
use touchstone_formats::stabletoolbench::answers::{converted, details, raw};
use touchstone_model::json;
use touchstone_model::run::{RecordedState, StepKind};
use touchstone_model::value::Value;

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
            text(one, "query_id") == text(&case, "query_id")
                && text(one, "source").contains(text(&case, "source"))
        };
        let converted = conversions.iter().find(of).unwrap().get("converted").unwrap();
        let told = details::steps(
            converted.get("answer").and_then(|answer| answer.get("answer_details")).unwrap(),
        );
        assert_eq!(
            told,
            (text(&case, "answer_steps").to_owned(), text(&case, "final_step").to_owned())
        );
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn converted_answers_name_the_functions_they_called_and_are_read_as_runs() {
    let mut cases = 0;
    for case in lines("conversions.jsonl") {
        let converted = case.get("converted").unwrap();
        let details =
            converted.get("answer").and_then(|answer| answer.get("answer_details")).unwrap();
        let names: Vec<Value> =
            details::calls(details).iter().map(|(call, _)| Value::from(&*call.name)).collect();
        assert_eq!(names, case.get("called_function_names").unwrap().items());
        let run = converted::run(text(&case, "query_id"), converted);
        let outline = outline_of(&run);
        let called: Vec<Value> =
            outline.calls.iter().map(|(name, _)| Value::from(&**name)).collect();
        assert_eq!(called, names);
        let answered = text(&case, "finish_type") != "give_up"
            && case.get("valid_data") == Some(&Value::Bool(true));
        assert_eq!(
            outline.standing == RecordedState::Answered,
            answered,
            "{}",
            text(&case, "source")
        );
        assert!(answered || outline.reason.is_some());
        cases += 1;
    }
    println!("cases: {cases}");
}

/// Returns the bytes of the raw answer that a case refers to.
fn source(case: &Value) -> Vec<u8> {
    let name = text(case, "source");
    let old = name
        .strip_prefix("OpenBMB/ToolBench:data_example/")
        .map(|rest| format!("toolbench_data/{rest}"));
    fs_err::read(golden(old.as_deref().unwrap_or(name))).unwrap()
}

#[test]
fn raw_answers_are_converted_as_the_original_does_it() {
    let (mut cases, mut drawn) = (0, 0);
    for case in lines("conversions.jsonl") {
        let converted = convert::raw(&source(&case), text(&case, "method"), Defects::Kept).unwrap();
        let golden = case.get("converted").unwrap();
        let entry = &converted.entry;
        assert_eq!(entry.get("query"), golden.get("query"));
        let outcomes: Vec<&str> = case
            .get("distinct_outcome_sha256")
            .map_or(&[][..], Value::items)
            .iter()
            .filter_map(Value::text)
            .collect();
        if outcomes.is_empty() {
            assert_eq!(entry.get("answer"), golden.get("answer"), "{}", text(&case, "source"));
            assert_eq!(converted.chosen_by, None);
        } else {
            let details =
                entry.get("answer").and_then(|answer| answer.get("answer_details")).unwrap();
            assert!(
                outcomes.contains(&&*sha256(python_json(details).as_bytes())),
                "{}",
                text(&case, "source")
            );
            assert!(converted.chosen_by.is_some());
            drawn += 1;
        }
        let tools = python_json(entry.get("available_tools").unwrap());
        assert_eq!(sha256(tools.as_bytes()), text(&case, "available_tools_sha256_of_json"));
        cases += 1;
    }
    println!("cases: {cases}, of them drawn by lot by the original: {drawn}");
}

#[test]
fn what_the_original_converted_of_scripted_runs_is_converted_alike() {
    let (mut cases, mut drawn) = (0, 0);
    for case in lines("inference_cases.jsonl") {
        let Some(raw) = case.get("raw_answer").filter(|raw| **raw != Value::Null) else { continue };
        let bytes = json::write(raw, false);
        let converted =
            convert::raw(bytes.as_bytes(), text(&case, "method"), Defects::Kept).unwrap();
        let (entry, name) = (converted.entry.get("answer").unwrap(), text(&case, "case"));
        match case.get("converted_answer").filter(|golden| **golden != Value::Null) {
            Some(_) if converted.chosen_by.is_some() => drawn += 1,
            Some(golden) => assert_eq!(entry, golden, "{name}"),
            None => assert!(case.get("convert_exception") != Some(&Value::Null), "{name}"),
        }
        let run = raw::read(bytes.as_bytes()).unwrap();
        // A run has its functions parsed; the file of a case may have a text in their place.
        let [parsed, read] =
            [outline_of(&run), raw::outline(bytes.as_bytes()).unwrap()].map(|mut outline| {
                outline.facts.retain(|(key, _)| key != "function");
                outline
            });
        assert_eq!(parsed, read, "{name}");
        cases += 1;
    }
    println!("cases: {cases}, of them drawn by lot by the original: {drawn}");
}

#[test]
fn the_conversions_that_came_with_the_answers_are_ours() {
    let mut cases = 0;
    for (folder, method) in
        [("virtual_chatgpt_cot", "CoT@1"), ("virtual_chatgpt_dfs", "DFS_woFilter_w2")]
    {
        let file = golden(&format!(
            "data_example/model_predictions_converted/{folder}/G1_instruction.json"
        ));
        let Ok(shipped) = fs_err::read_to_string(file) else { continue };
        let shipped = json::read_deep(&shipped).unwrap();
        for (id, shipped) in shipped.entries() {
            let id = id.text().unwrap();
            let file =
                golden(&format!("data_example/answer/{folder}/G1_instruction/{id}_{method}.json"));
            assert_eq!(convert::id(&file.file_name().unwrap().to_string_lossy()), id);
            let bytes = fs_err::read(file).unwrap();
            assert_eq!(convert::raw(&bytes, method, Defects::Kept).unwrap().entry, *shipped);
            // A raw answer and its conversion contain the same calls.
            let (raw, converted) = (raw::outline(&bytes).unwrap(), converted::outline(id, shipped));
            assert_eq!(
                (raw.calls, raw.standing, raw.answer),
                (converted.calls, converted.standing, converted.answer)
            );
            cases += 1;
        }
    }
    println!("cases: {cases}");
}

#[test]
fn real_raw_answers_are_read_whole_and_their_outlines_agree() {
    let (mut cases, mut trees, mut nodes) = (0, 0, 0);
    for case in lines("conversions.jsonl") {
        let bytes = source(&case);
        let run = raw::read(&bytes).unwrap();
        let outline = raw::outline(&bytes).unwrap();
        assert_eq!(outline_of(&run), outline);
        assert!(outline.tokens.is_some());
        assert_eq!(
            file_kind::detect(
                text(&case, "source").rsplit('/').next().unwrap(),
                &bytes[..bytes.len().min(16 << 10)]
            ),
            FileKind::RawAnswer
        );
        let answered = text(&case, "finish_type") != "give_up"
            && case.get("valid_data") == Some(&Value::Bool(true));
        assert_eq!(
            outline.standing == RecordedState::Answered,
            answered,
            "{}",
            text(&case, "source")
        );
        if let Some(tree) = &run.tree {
            trees += 1;
            nodes += tree.nodes.len();
            for (at, node) in tree.nodes.iter().enumerate() {
                assert!(node.parent.is_none_or(|parent| (parent as usize) < at));
                let step = node.step.map(|step| &run.steps[step as usize]);
                assert!(step.is_none_or(|step| {
                    step.title.as_deref().is_none_or(|title| title == node.text)
                }));
            }
            let linked = tree.nodes.iter().filter(|node| node.step.is_some()).count();
            let told = run
                .steps
                .iter()
                .filter(|step| matches!(step.kind, StepKind::Assistant | StepKind::ToolCall));
            assert_eq!(linked, told.count());
        }
        cases += 1;
    }
    println!("cases: {cases}, trees: {trees}, nodes: {nodes}");
}

/// Writes JSON like Python's `json.dumps`.
fn python_json(value: &Value) -> String {
    let join = |all: Vec<String>| all.join(", ");
    match value {
        Value::List(items) => format!("[{}]", join(items.iter().map(python_json).collect())),
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| {
                format!("{}: {}", python_json(key), python_json(value))
            };
            format!("{{{}}}", join(entries.iter().map(entry).collect()))
        }
        other => {
            let mut out = String::new();
            for letter in json::write(other, false).chars() {
                let mut units = [0; 2];
                match letter {
                    '\u{7f}' => out.push(letter),
                    letter if letter.is_ascii() => out.push(letter),
                    letter => {
                        for unit in letter.encode_utf16(&mut units) {
                            let _ = write!(out, "\\u{unit:04x}");
                        }
                    }
                }
            }
            out
        }
    }
}

/// Returns the SHA-256 digest in hexadecimal digits (FIPS 180-4).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the constants are the first bits of roots of small numbers"
)]
fn sha256(bytes: &[u8]) -> String {
    let primes: Vec<u64> = (2..312_u64).filter(|n| (2..*n).all(|d| n % d != 0)).take(64).collect();
    let root =
        |prime: u64, power: f64| ((prime as f64).powf(power).fract() * 4_294_967_296.0) as u32;
    let rounds: Vec<u32> = primes.iter().map(|prime| root(*prime, 1.0 / 3.0)).collect();
    let mut hash: Vec<u32> = primes.iter().take(8).map(|prime| root(*prime, 0.5)).collect();
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((bytes.len() + 9).div_ceil(64) * 64 - 8, 0);
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|four| u32::from_be_bytes(four.try_into().unwrap()))
            .collect();
        for at in 16..64 {
            let (a, b) = (w[at - 15], w[at - 2]);
            let a = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let b = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[at - 16].wrapping_add(a).wrapping_add(w[at - 7]).wrapping_add(b));
        }
        let mut s = hash.clone();
        for at in 0..64 {
            let e = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
            let choice = (s[4] & s[5]) ^ (!s[4] & s[6]);
            let one = s[7]
                .wrapping_add(e)
                .wrapping_add(choice)
                .wrapping_add(rounds[at])
                .wrapping_add(w[at]);
            let a = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
            let two = a.wrapping_add((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s.rotate_right(1);
            s[4] = s[4].wrapping_add(one);
            s[0] = one.wrapping_add(two);
        }
        hash.iter_mut().zip(s).for_each(|(hash, s)| *hash = hash.wrapping_add(s));
    }
    hash.iter().fold(String::new(), |mut text, word| {
        let _ = write!(text, "{word:08x}");
        text
    })
}

#[test]
fn the_hash_of_these_tests_is_the_known_one() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
