//! Compares the judges with azure-ai-evaluation 1.10.0 on the same inputs and replies. Its files
//! are not part of the repository; without them the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::collections::BTreeMap;
use std::path::Path;
use touchstone_formats::stabletoolbench::python;
use touchstone_judges::azure::{
    Evaluation, Evaluator, Failure, Inputs, Next, Outcome, Quirks, SkipReason, calls_of, reformat,
    tool_inputs,
};
use touchstone_model::json;
use touchstone_model::value::Value;

fn lines(name: &str) -> Vec<Value> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure").join(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case.get(key).and_then(Value::text).unwrap_or_default()
}

#[test]
fn messages_and_tools_are_put_into_words_as_the_package_does() {
    let (all, mut count) = (Quirks::all(), BTreeMap::new());
    for case in lines("reformat.jsonl") {
        let (function, input) = (text(&case, "function"), case.get("input").unwrap());
        let flag = |name: &str| case.get("kwargs").unwrap().get(name) == Some(&Value::Bool(true));
        let words = match function {
            "reformat_conversation_history" => {
                reformat::conversation_history(input, flag("include_system_messages"), &all)
            }
            "reformat_agent_response" => {
                reformat::agent_response(input, flag("include_tool_messages"), &all)
            }
            "reformat_tool_definitions" => reformat::tool_definitions(input, &all),
            _ => {
                let calls = calls_of(input, &all).map(Value::List);
                assert_eq!(calls.as_ref().ok(), case.get("output"), "{case:?}");
                *count.entry(function.to_owned()).or_insert(0) += 1;
                continue;
            }
        };
        // Some outputs equal their input, in which case a fallback to the input is
        // indistinguishable.
        let fell_back = case.get("fell_back_to_input") == Some(&Value::Bool(true));
        match &words {
            Some(words) => assert_eq!(case.get("output"), Some(&words.as_str().into()), "{case:?}"),
            None => assert!(fell_back, "{case:?}"),
        }
        let rendered = words.unwrap_or_else(|| python::text(input));
        assert_eq!(text(&case, "output_as_rendered_in_prompt"), rendered, "{case:?}");
        *count.entry(function.to_owned()).or_insert(0) += 1;
    }
    println!("by function: {count:?}");
    println!("cases: {}", count.values().sum::<i32>());
}

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Same,
    /// Both fail. The package raises a Python error, for which Touchstone has its own message.
    ErrorInOurWords,
    /// The case tests options of the model.
    ModelOption,
    /// Behavior that is never reproduced: reading images from the disk, and roles in texts.
    Never,
}

/// Questions and result of an evaluation.
struct Went {
    asked: Vec<String>,
    came: Result<Outcome, Failure>,
}

fn went(evaluator: &Evaluator, inputs: &Value, replies: &[String], quirks: &Quirks) -> Went {
    let named = |(name, value): &(Value, Value)| (name.text().unwrap().to_owned(), value.clone());
    let inputs = Inputs(inputs.entries().iter().map(named).collect());
    let mut evaluation = Evaluation::new(evaluator, &inputs, quirks);
    let mut asked = Vec::new();
    loop {
        match evaluation.next() {
            Next::Ask(question) => {
                // A single reply is repeated.
                let reply = replies.get(asked.len()).or(replies.last()).unwrap();
                asked.push(question.text);
                evaluation.add_reply(reply);
            }
            Next::Run(_) | Next::Embed(_) => panic!("only models are asked"),
            Next::Done(came) => return Went { asked, came },
        }
    }
}

/// Returns the kind of a class: `task_adherence` for `TaskAdherenceEvaluator`.
fn kind(class: &str) -> String {
    let name = class.trim_end_matches("Evaluator");
    if name == "QA" {
        return "qa".to_owned();
    }
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns the fenced text of that name in a question.
fn block(question: &str, name: &str) -> Option<String> {
    let (_, rest) = question.split_once(&format!("<{name}>\n"))?;
    let (inside, _) = rest.split_once(&format!("\n</{name}>"))?;
    Some(inside.lines().map(|line| line.strip_prefix("| ").unwrap()).collect::<Vec<_>>().join("\n"))
}

/// Converts texts such as `NaN`, which stand for numbers in these files.
fn numbers(value: &Value) -> Value {
    match value {
        Value::Text(text) if ["NaN", "Infinity", "-Infinity"].contains(&text.as_str()) => {
            Value::Number(text.clone())
        }
        Value::List(items) => Value::List(items.iter().map(numbers).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), numbers(value))).collect())
        }
        other => other.clone(),
    }
}

fn map(outcome: &Outcome) -> Value {
    Value::Map(outcome.iter().map(|(key, value)| (key.as_str().into(), value.clone())).collect())
}

fn sorted(value: &Value) -> Value {
    let mut entries = value.entries().to_vec();
    entries.sort_by_key(|(key, _)| key.text().map(str::to_owned));
    Value::Map(entries)
}

fn compared(case: &Value, result: &Value, ended: &Result<Outcome, Failure>) -> Seen {
    match (result.get("error").and_then(Value::text), ended) {
        (None, Ok(outcome)) => {
            let (wanted, ours) = (numbers(result), map(outcome));
            let (wanted, ours) = if text(case, "kind") == "qa" {
                (sorted(&wanted), sorted(&ours))
            } else {
                (wanted, ours)
            };
            assert_eq!(wanted, ours, "{case:?}");
            Seen::Same
        }
        (Some("EvaluationException"), Err(failure)) => {
            let blame = if failure.by_input { "UserError" } else { "InternalError" };
            assert_eq!(
                text(result, "message"),
                format!("({blame}) {}", failure.message),
                "{case:?}"
            );
            Seen::Same
        }
        (
            Some("JSONDecodeError" | "TypeError" | "ValueError" | "UnboundLocalError"),
            Err(failure),
        ) => {
            assert!(!failure.by_input, "{case:?}");
            Seen::ErrorInOurWords
        }
        // Errors from values of an unexpected shape.
        (Some("AttributeError" | "KeyError" | "OverflowError"), Err(_)) => Seen::ErrorInOurWords,
        (Some("InvalidInputError"), Ok(_)) => Seen::Never,
        _ => panic!("{case:?} came to {ended:?}"),
    }
}

/// Returns the replies of a case, or replies that lead to its result when the case has none.
fn replies(case: &Value, kind: &str) -> Vec<String> {
    match case.get("judge_replies") {
        Some(Value::Text(reply)) if reply != "see script" => vec![reply.clone()],
        Some(Value::List(items)) if !items.is_empty() => items.iter().map(python::text).collect(),
        Some(Value::Null) => vec![String::new()],
        _ => {
            let result = case.get("result").unwrap();
            let names: &[&str] = if kind == "qa" {
                &["groundedness", "relevance", "coherence", "fluency", "similarity"]
            } else {
                &[kind]
            };
            let reply = |name: &&str| {
                let (score, reason) =
                    (result.get(name).map(python::text), text(result, &format!("{name}_reason")));
                let score = score.unwrap_or_else(|| "4".to_owned());
                match *name {
                    "similarity" => score,
                    "relevance" | "task_adherence" | "intent_resolution" => {
                        format!("{{\"explanation\": \"{reason}\", \"score\": {score}}}")
                    }
                    "tool_call_accuracy" => {
                        format!(
                            "{{\"chain_of_thought\": \"{reason}\", \"tool_calls_success_level\": {score}}}"
                        )
                    }
                    _ => format!("<S1>{reason}</S1><S2>{score}</S2>"),
                }
            };
            names.iter().map(reply).collect()
        }
    }
}

/// Checks further facts about the questions of a case.
fn questions(case: &Value, went: &Went) {
    if let Some(Value::Number(calls)) = case.get("judge_calls") {
        assert_eq!(calls, &went.asked.len().to_string(), "{case:?}");
    }
    if let Some(Value::List(turns)) = case.get("eval_inputs") {
        for (turn, question) in turns.iter().zip(&went.asked) {
            for (name, value) in turn.entries() {
                if let Some(shown) = block(question, name.text().unwrap()) {
                    assert_eq!(shown, python::text(value), "{case:?}");
                }
            }
        }
    }
    let file = text(case, "prompt_file");
    if file.starts_with("groundedness") {
        let with_query = went.asked.iter().any(|question| block(question, "query").is_some());
        assert_eq!(with_query, file.contains("with_query"), "{case:?}");
    }
    let mut shown: Vec<(&str, String)> = Vec::new();
    for line in case.get("data_lines").map(Value::items).unwrap_or_default() {
        let line = line.text().unwrap();
        let (label, rest) = line.split_once(':').unwrap_or_default();
        let name = match label.trim() {
            "QUERY" | "CONVERSATION" | "CONVERSATION_HISTORY" => "query",
            "RESPONSE" | "AGENT_RESPONSE" => "response",
            "CONTEXT" => "context",
            "TOOL CALLS" => "tool_calls",
            "TOOL DEFINITION" | "TOOL_DEFINITIONS" => "tool_definitions",
            _ => {
                // The line continues the previous value.
                let (_, text) = shown.last_mut().unwrap();
                text.push('\n');
                text.push_str(line);
                continue;
            }
        };
        shown.push((name, rest.trim().to_owned()));
    }
    for (name, text) in shown {
        let ours = block(&went.asked[0], name).unwrap();
        // A case may contain only the first of several lines.
        let first = ours.lines().next().unwrap_or_default();
        assert!(ours.trim() == text.trim() || first.trim() == text, "{text:?} {ours:?} {case:?}");
    }
}

#[test]
fn replies_become_the_results_of_the_package() {
    let mut count: BTreeMap<(String, Seen), usize> = BTreeMap::new();
    for case in lines("judge_parsing.jsonl") {
        let (class, of) = (text(&case, "evaluator"), text(&case, "kind"));
        let kind = kind(class);
        let result = case.get("result").unwrap();
        let mut add = |seen| *count.entry((of.to_owned(), seen)).or_insert(0) += 1;
        let evaluator = match Evaluator::read(&kind, case.get("init").unwrap()) {
            Ok(evaluator) => evaluator,
            // The package rejects the option for this evaluator, too.
            Err(_) if case.get("init").unwrap().get("is_reasoning_model").is_some() => {
                add(Seen::ModelOption);
                continue;
            }
            Err(error) => {
                assert!(result.get("error").is_some(), "{case:?}: {error}");
                add(Seen::ErrorInOurWords);
                continue;
            }
        };
        let inputs = case.get("inputs").unwrap();
        // Other cases call the evaluator directly; groundedness uses the query then.
        let quirks = match of {
            "groundedness_batch_path" => Quirks::all(),
            _ => Quirks::all().without("groundedness_ignores_query"),
        };
        // In conversations groundedness never uses the query.
        let quirks = if of == "conversation" { Quirks::all() } else { quirks };
        let replies = replies(&case, &kind);
        if of == "groundedness_state" {
            for part in ["first", "second"] {
                let went = went(&evaluator, inputs.get(part).unwrap(), &replies, &quirks);
                assert_eq!(compared(&case, result.get(part).unwrap(), &went.came), Seen::Same);
                // The package continues with the prompt of the previous row.
                assert_eq!(block(&went.asked[0], "query").is_some(), part == "first", "{case:?}");
            }
            add(Seen::Never);
            continue;
        }
        let went = went(&evaluator, inputs, &replies, &quirks);
        let seen = compared(&case, result, &went.came);
        questions(&case, &went);
        tools(&case, inputs);
        let pictures = case.get("image_parts").is_some();
        let roles = case.get("message_roles").map(Value::items).unwrap_or_default().len() > 2;
        add(if pictures || roles { Seen::Never } else { seen });
    }
    for ((kind, seen), count) in &count {
        println!("{kind:24} {seen:?}: {count}");
    }
    println!("cases: {}", count.values().sum::<usize>());
}

fn read(text: &str) -> Value {
    json::read(text).unwrap()
}

#[test]
fn a_result_belongs_to_the_call_of_its_id_also_where_it_stands_before_it() {
    const CALL: &str = "[TOOL_CALL] f()";
    let result = |id: &str, text: &str| {
        format!(
            r#"{{"role": "tool", "tool_call_id": "{id}", "content": [{{"type": "tool_result", "tool_result": "{text}"}}]}}"#
        )
    };
    let call = |id: &str| {
        format!(
            r#"{{"role": "assistant", "content": [{{"type": "tool_call", "tool_call_id": "{id}", "name": "f", "arguments": {{}}}}]}}"#
        )
    };
    for (messages, shown) in [
        (vec![result("c1", "20"), call("c1")], vec![CALL, "[TOOL_RESULT] 20"]),
        (vec![result("c2", "20"), call("c1")], vec![CALL]),
        (vec![call("c1"), result("c1", "20")], vec![CALL, "[TOOL_RESULT] 20"]),
        (
            vec![result("c2", "2"), result("c1", "1"), call("c1"), call("c2")],
            vec![CALL, "[TOOL_RESULT] 1", CALL, "[TOOL_RESULT] 2"],
        ),
        // A later result answers the call that precedes it; the early result goes to the call
        // without one.
        (
            vec![result("c1", "early"), call("c1"), result("c1", "late"), call("c1")],
            vec![CALL, "[TOOL_RESULT] late", CALL, "[TOOL_RESULT] early"],
        ),
    ] {
        let response = read(&format!("[{}]", messages.join(", ")));
        let ours = Quirks::default();
        assert_eq!(
            reformat::agent_response(&response, true, &ours),
            Some(shown.join("\n")),
            "{response:?}"
        );
        let calls = calls_of(&response, &ours).unwrap();
        let returned = calls.iter().filter(|call| call.get("tool_result").is_some()).count();
        assert_eq!(
            returned,
            shown.iter().filter(|line| line.starts_with("[TOOL_RESULT]")).count(),
            "{response:?}"
        );
    }
}

/// Returns the score from a judge's replies, or the error.
fn came(kind: &str, replies: &[&str], quirks: &Quirks) -> Result<String, String> {
    let evaluator =
        Evaluator::read(kind, &Value::Map(Vec::new())).map_err(|why| format!("{why:?}"))?;
    let row = read(r#"{"query": "q", "response": "r", "context": "c", "ground_truth": "g"}"#);
    let replies: Vec<String> = replies.iter().map(|reply| (*reply).to_owned()).collect();
    let went = went(&evaluator, &row, &replies, quirks);
    let score = |outcome: Outcome| outcome.into_iter().find(|(key, _)| key == kind).unwrap().1;
    went.came.map(|outcome| python::text(&score(outcome))).map_err(|failure| failure.message)
}

#[test]
fn of_a_key_that_stands_twice_in_a_reply_the_last_value_counts_as_everywhere_in_json() {
    for quirks in [Quirks::default(), Quirks::all()] {
        for (reply, score) in [
            (r#"{"explanation":"dup","score":1,"score":5}"#, "5.0"),
            (r#"{"explanation":"dup","score":5,"score":1}"#, "1.0"),
            (r#"{"score":3,"explanation":"a","explanation":"b"}"#, "3.0"),
        ] {
            for kind in ["relevance", "intent_resolution", "task_adherence"] {
                assert_eq!(came(kind, &[reply], &quirks), Ok(score.to_owned()), "{kind} {reply}");
            }
        }
    }
    let ours = Quirks::default();
    for (reply, score) in [
        ("```json\n{\"explanation\":\"dup\",\"score\":1,\"score\":5}\n```", "5.0"),
        ("{'explanation': 'dup', 'score': 1, 'score': 5}", "5.0"),
        (r#"{"EXPLANATION": "x", "Score": 4}"#, "4.0"),
        // An exact key takes precedence over keys that differ in case; of those, the last counts.
        (r#"{"explanation": "x", "score": 2, "Score": 4}"#, "2.0"),
        (r#"{"explanation": "x", "SCORE": 2, "Score": 4}"#, "4.0"),
    ] {
        assert_eq!(came("relevance", &[reply], &ours), Ok(score.to_owned()), "{reply}");
    }
    for two in [
        r#"{"explanation":"a","score":1} {"explanation":"a","score":5}"#,
        r#"[{"score":1,"score":5}]"#,
    ] {
        assert!(came("relevance", &[two], &ours).is_err(), "{two}");
    }
}

#[test]
fn what_stands_for_a_score_is_named_as_it_was_written() {
    for written in ["Infinity", "-Infinity", "NaN", "9.50", "1e400", "\"four\"", "null", "[1]"] {
        let reply = format!(r#"{{"explanation": "x", "score": {written}}}"#);
        let why = came("relevance", &[&reply], &Quirks::default()).unwrap_err();
        assert!(
            why.contains(&format!("its `score` is {written}, and not a number from 1 to 5")),
            "{written}: {why}"
        );
    }
}

#[test]
fn with_asked_once_nothing_is_said_of_asking_again() {
    let once = Quirks::from_names(["asked_once"]).unwrap();
    for kind in ["relevance", "coherence", "similarity", "violence", "protected_material"] {
        let (again, alone) = (came(kind, &["{}"], &Quirks::default()), came(kind, &["{}"], &once));
        assert!(again.unwrap_err().contains("nor could the first"), "{kind}");
        let alone = alone.unwrap_err();
        assert!(
            !alone.contains("first") && !alone.contains("again") && !alone.contains("second"),
            "{alone}"
        );
    }
}

#[test]
fn five_judges_accept_that_their_model_reasons_and_four_have_it_asked_so() {
    let row = r#"{"query": "q", "response": "r", "context": "c", "ground_truth": "g",
        "tool_calls": [{"type": "tool_call", "tool_call_id": "1", "name": "f", "arguments": {}}],
        "tool_definitions": [{"name": "f", "parameters": {}}]}"#;
    let named = |(name, value): &(Value, Value)| (name.text().unwrap().to_owned(), value.clone());
    let inputs = Inputs(read(row).entries().iter().map(named).collect());
    let quirks = Quirks::default();
    for kind in [
        "intent_resolution",
        "task_adherence",
        "tool_call_accuracy",
        "response_completeness",
        "groundedness",
    ] {
        for reasons in [true, false] {
            let options = read(&format!(r#"{{"is_reasoning_model": {reasons}}}"#));
            let evaluator = Evaluator::read(kind, &options).unwrap();
            let inputs = evaluator.filtered(&inputs);
            let mut evaluation = Evaluation::new(&evaluator, &inputs, &quirks);
            for _ in 0..2 {
                let Next::Ask(question) = evaluation.next() else { panic!("{kind} asks twice") };
                assert_eq!(question.reasoning, reasons && kind != "groundedness", "{kind}");
                evaluation.add_reply("unreadable");
            }
        }
        let wrong = Evaluator::read(kind, &read(r#"{"is_reasoning_model": "yes"}"#));
        assert_eq!(
            wrong,
            Err(format!("`is_reasoning_model` of `{kind}` has to be true or false."))
        );
    }
    for kind in ["relevance", "coherence", "fluency", "retrieval", "similarity", "qa", "violence"] {
        let refused = Evaluator::read(kind, &read(r#"{"is_reasoning_model": true}"#));
        assert!(refused.unwrap_err().contains("no option named `is_reasoning_model`"), "{kind}");
    }
}

/// Compares the inputs of the judge of tool calls, before the bug that hides the definitions.
fn tools(case: &Value, inputs: &Value) {
    let Some(wanted) = case.get("prompt_inputs") else { return };
    let named = |(name, value): &(Value, Value)| (name.text().unwrap().to_owned(), value.clone());
    let inputs = Inputs(inputs.entries().iter().map(named).collect());
    match tool_inputs(&inputs, &Quirks::all()) {
        Ok((calls, definitions)) => {
            assert_eq!(wanted.get("tool_calls"), Some(&Value::List(calls)), "{case:?}");
            // The package repeats a definition for each call; Touchstone shows each once.
            let mut once: Vec<Value> = Vec::new();
            for tool in wanted.get("tool_definitions").unwrap().items() {
                if !once.contains(tool) {
                    once.push(tool.clone());
                }
            }
            assert_eq!(once, definitions, "{case:?}");
        }
        Err(SkipReason::NotApplicable(why)) => {
            assert_eq!(text(wanted, "error_message"), why, "{case:?}");
        }
        Err(SkipReason::Fails(why)) => panic!("{case:?}: {why}"),
    }
}

/// Returns the outputs of an evaluator in a row of a results file, without NaN.
fn outputs(row: &Value, name: &str) -> Vec<(String, Value)> {
    let of = |(key, value): &(Value, Value)| {
        let key = key.text()?.strip_prefix(&format!("outputs.{name}."))?;
        let none = matches!(value, Value::Number(number) if number == ".nan");
        (!none).then(|| (key.to_owned(), value.clone()))
    };
    row.entries().iter().filter_map(of).collect()
}

/// Returns a reply that leads to these outputs of a judge, for one turn if there are several.
fn reply_for(judge: &str, known: &[(String, Value)], turn: usize) -> String {
    let turns = known.iter().find(|(key, _)| key == "evaluation_per_turn").map(|(_, turns)| turns);
    let of = |key: &str| match turns {
        Some(turns) => turns.get(key).and_then(|values| values.items().get(turn)).cloned(),
        None => known.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone()),
    };
    let score = of(judge).map_or("none".to_owned(), |score| python::text(&score));
    let reason =
        of(&format!("{judge}_reason")).map_or("?".to_owned(), |reason| python::text(&reason));
    let details = of("details").map_or("{}".to_owned(), |details| json::write(&details, false));
    match judge {
        "similarity" => score,
        "relevance" | "task_adherence" | "intent_resolution" => {
            format!("{{\"explanation\": \"{reason}\", \"score\": {score}}}")
        }
        "tool_call_accuracy" => format!(
            "{{\"chain_of_thought\": \"{reason}\", \"tool_calls_success_level\": {score}, \"details\": {details}}}"
        ),
        _ => format!("<S1>{reason}</S1><S2>{score}</S2>"),
    }
}

/// Compares values. Tables write integers with a fraction when another row has one.
fn same(ours: &Value, theirs: &Value) -> bool {
    let number = |text: &str| text.trim_start_matches('.').parse::<f64>().unwrap();
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => {
            number(ours).total_cmp(&number(theirs)).is_eq()
        }
        (Value::List(ours), Value::List(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Map(ours), Value::Map(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| ours.0 == theirs.0 && same(&ours.1, &theirs.1))
        }
        (ours, theirs) => ours == theirs,
    }
}

#[test]
fn rows_of_whole_evaluations_come_to_what_the_package_wrote() {
    let (quirks, mut count) = (Quirks::all(), 0);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/azure/evaluate_variants");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    }
    let files = fs_err::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let name = path.display();
        let file = json::read_python(&fs_err::read_to_string(&path).unwrap()).unwrap();
        for row in file.get("rows").map(Value::items).unwrap_or_default() {
            let mut kinds: Vec<&str> = Vec::new();
            for (key, _) in row.entries() {
                let kind =
                    key.text().and_then(|key| key.strip_prefix("outputs.")?.split('.').next());
                kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
            }
            let input = |(key, value): &(Value, Value)| {
                Some((key.text()?.strip_prefix("inputs.")?.to_owned(), value.clone()))
            };
            let inputs = Inputs(row.entries().iter().filter_map(input).collect());
            for kind in kinds {
                // Other evaluators ask no model, or are custom ones.
                let evaluator = Evaluator::read(kind, &Value::Map(Vec::new()));
                let Some(evaluator) = evaluator.ok().filter(|evaluator| evaluator.takes.model)
                else {
                    continue;
                };
                let wanted = outputs(row, kind);
                let judges: &[&str] = match kind {
                    "qa" => &["groundedness", "relevance", "coherence", "fluency", "similarity"],
                    _ => &[kind],
                };
                let given = Value::Map(
                    evaluator
                        .filtered(&inputs)
                        .0
                        .into_iter()
                        .map(|(name, value)| (Value::Text(name), value))
                        .collect(),
                );
                let turns = if kind == "qa" { 1 } else { 2 };
                let replies: Vec<String> = (0..turns)
                    .flat_map(|turn| judges.iter().map(move |judge| (judge, turn)))
                    .map(|(judge, turn)| reply_for(judge, &wanted, turn))
                    .collect();
                let came = went(&evaluator, &given, &replies, &quirks).came;
                // A failed row has no values at all, and NaN scores are absent.
                let is_none =
                    |value: &Value| matches!(value, Value::Number(number) if number == "NaN");
                let mut ours = came.unwrap_or_default();
                ours.retain(|(_, value)| !is_none(value));
                ours.sort_by(|a, b| a.0.cmp(&b.0));
                let mut wanted = wanted;
                wanted.sort_by(|a, b| a.0.cmp(&b.0));
                let alike = |(ours, theirs): (&(String, Value), &(String, Value))| {
                    ours.0 == theirs.0 && same(&numbers(&ours.1), &theirs.1)
                };
                assert!(
                    ours.len() == wanted.len() && ours.iter().zip(&wanted).all(alike),
                    "{name} {kind}\n{ours:?}\n{wanted:?}"
                );
                count += 1;
            }
        }
    }
    println!("cases: {count}");
    assert!(count > 0);
}
