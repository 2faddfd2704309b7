//! Compares evaluators without a model, metrics and results files with the output of
//! azure-ai-evaluation 1.10.0. That output is not part of the repository; without it nothing is
//! compared. Tests on synthetic cases are in `azure_evaluators`.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::path::PathBuf;
use touchstone_judges::azure::{
    Evaluation, Evaluator, Failure, Inputs, Mapping, Metric, Next, Outcome, Outputs, Quirks,
    Results, ResultsRead, Table, metrics,
};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Returns a golden file; `None` when the folder does not exist. Panics when only the file is
/// missing, because the test names it wrongly.
fn golden(name: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name));
    Some(text.unwrap_or_else(|why| panic!("{name} of {}: {why}", folder.display())))
}

fn value(text: &str) -> Value {
    json::read(text).unwrap()
}

fn inputs(value: &Value) -> Inputs {
    Inputs(
        value
            .entries()
            .iter()
            .map(|(key, value)| (key.text().unwrap().to_owned(), value.clone()))
            .collect(),
    )
}

fn done(evaluator: &Evaluator, inputs: &Inputs, quirks: &Quirks) -> Result<Outcome, Failure> {
    let mut evaluation = Evaluation::new(evaluator, inputs, quirks);
    loop {
        match evaluation.next() {
            Next::Ask(question) => {
                evaluation.add_reply(stub(evaluator.takes.name, inputs, &question.text));
            }
            Next::Done(result) => return result,
            other => panic!("{other:?}"),
        }
    }
}

/// Returns the reply of the stub model with which the package produced its files: constant, except
/// for two kinds of answers.
fn stub(judge: &str, inputs: &Inputs, question: &str) -> &'static str {
    let nothing = inputs.get("response") == Some(&"".into());
    let unsure = question.contains("I do not know.");
    match judge {
        "similarity" => "4",
        "relevance" | "task_adherence" | "intent_resolution" if nothing => "",
        "relevance" | "task_adherence" | "intent_resolution" if unsure => {
            r#"{"explanation": "because", "score": 2}"#
        }
        "relevance" | "task_adherence" | "intent_resolution" => {
            r#"{"explanation": "because", "score": 4}"#
        }
        "coherence" if nothing => "<S1>because</S1><S2></S2>",
        _ if unsure => "<S1>because</S1><S2></S2>",
        _ => "<S1>because</S1><S2>5</S2>",
    }
}

fn with(params: &Value, more: &[(&str, &str)]) -> Value {
    let more = more.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    Value::Map(params.entries().iter().cloned().chain(more).collect())
}

/// Converts texts such as `NaN`, which stand for numbers in the files.
fn plain(value: &Value) -> Value {
    match value {
        Value::Text(text) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") => {
            Value::Number(text.clone())
        }
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

fn map(outcome: Outcome) -> Value {
    Value::Map(outcome.into_iter().map(|(key, value)| (Value::Text(key), value)).collect())
}

#[test]
fn text_evaluators_with_options_come_to_what_the_package_does() {
    let Some(text) = golden("metrics.jsonl") else { return };
    let (mut cases, mut refused, mut differ) = (0, 0, [0, 0]);
    for row in text.lines().map(|line| json::read(line).unwrap()) {
        if row.get("kind") != Some(&"text_params".into()) {
            continue;
        }
        let (group, params, theirs) =
            (row.get("group").unwrap(), row.get("params").unwrap(), row.get("outputs").unwrap());
        let kind = match group.text().unwrap() {
            "F1ScoreEvaluator" => "f1_score",
            "BleuScoreEvaluator" => "bleu_score",
            "GleuScoreEvaluator" => "gleu_score",
            "MeteorScoreEvaluator" => "meteor_score",
            "RougeScoreEvaluator" => "rouge_score",
            other => panic!("{other}"),
        };
        let name = format!("{kind} {}", json::write(params, false));
        let inputs = inputs(row.get("inputs").unwrap());
        let came = |quirks: &Quirks| {
            let evaluator =
                Evaluator::read_with_quirks("any", &with(params, &[("kind", kind)]), quirks)?;
            Ok(map(done(&evaluator, &inputs, quirks).unwrap()))
        };
        let theirs = theirs.get("message").and_then(Value::text).map_or(Ok(plain(theirs)), Err);
        let like_theirs: Result<Value, String> = came(&Quirks::all());
        assert_eq!(
            like_theirs.as_ref().map_err(String::as_str),
            theirs.as_ref().map_err(|why| *why),
            "{name}"
        );
        // The result is the same, or one quirk explains the difference.
        match (came(&Quirks::default()), &theirs) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(&ours, theirs, "{name}");
                cases += 1;
            }
            (Err(why), Err(_)) => {
                assert!(why.starts_with("Invalid rouge type: "), "{name} {why}");
                refused += 1;
            }
            (ours, _) => {
                let switches = ["rouge_types_unlisted", "rouge_thresholds_with_fraction"];
                let one = switches
                    .map(|switch| came(&Quirks::from_names([switch]).unwrap()) == like_theirs);
                let which =
                    one.iter().position(|same| *same).unwrap_or_else(|| panic!("{name}: {ours:?}"));
                differ[which] += 1;
            }
        }
    }
    println!(
        "cases: {cases} text_params, {refused} refused by both, {differ:?} differ by a switch"
    );
    assert!(cases > 90);
}

#[test]
fn found_documents_come_to_what_the_package_does() {
    let Some(text) = golden("metrics.jsonl") else { return };
    let (mut cases, mut refused) = (0, 0);
    for row in text.lines().map(|line| json::read(line).unwrap()) {
        if row.get("kind") != Some(&"document_retrieval".into()) {
            continue;
        }
        let name = row.get("id").and_then(Value::text).unwrap();
        let (params, theirs) = (row.get("params").unwrap(), row.get("outputs").unwrap());
        let ours = Evaluator::read("any", &with(params, &[("kind", "document_retrieval")]))
            .and_then(|evaluator| {
                let inputs = inputs(row.get("inputs").unwrap());
                done(&evaluator, &inputs, &Quirks::all()).map_err(|failure| failure.message)
            });
        match (ours, theirs.get("message")) {
            (Ok(ours), None) => {
                assert_eq!(map(ours), plain(theirs), "{name}");
                cases += 1;
            }
            (Err(why), Some(_)) => {
                assert!(why.ends_with('.'), "{name} {why}");
                refused += 1;
            }
            (ours, _) => panic!("{name} {ours:?} / {theirs:?}"),
        }
    }
    println!("cases: {cases} document_retrieval, {refused} refused by both");
    assert!(cases > 30);
}

/// An evaluator of a test: its name in results, kind, options and mapping.
struct EvaluatorSpec {
    name: &'static str,
    kind: &'static str,
    options: &'static str,
    mapping: &'static [(&'static str, &'static str)],
}

const fn evaluator_spec(name: &'static str, kind: &'static str) -> EvaluatorSpec {
    EvaluatorSpec { name, kind, options: "{}", mapping: &[] }
}

/// Does what the package's `evaluate` does: rows, evaluators, metrics and the file.
fn evaluated(
    text: &str,
    csv: bool,
    evaluators: &[EvaluatorSpec],
    target: Option<&Table>,
    quirks: &Quirks,
) -> Result<String, String> {
    let data = Table::read(text, csv, quirks)?;
    let names: Vec<&str> = data.columns.iter().map(String::as_str).collect();
    let said: Vec<&str> =
        target.iter().flat_map(|target| &target.columns).map(String::as_str).collect();
    // The default mapping is listed among the evaluators, like in the package.
    let (usual, evaluators): (Vec<&EvaluatorSpec>, Vec<&EvaluatorSpec>) =
        evaluators.iter().partition(|one| one.name == "default");
    let usual = Mapping::read(usual.into_iter().flat_map(|one| one.mapping).copied())?;
    let mut outputs = Vec::new();
    for EvaluatorSpec { name, kind, options, mapping } in evaluators {
        let options = with(&value(options), &[("kind", kind)]);
        let evaluator = Evaluator::read(name, &options)?;
        let own = Mapping::read(mapping.iter().copied())?;
        let own = own.with_defaults(&usual, quirks);
        let has = |row: &usize| {
            own.is_satisfied_by(
                &data.columns,
                |key| data.value(*row, key),
                |key| target?.value(*row, key),
                true,
            )
        };
        let none = quirks.has("mapped_in_all_rows") && !(0..data.rows.len()).all(|row| has(&row));
        let mapping = own.clone().completed(names.iter().copied(), &said);
        let mut results = Outputs::new(&evaluator, data.rows.len());
        for row in 0..if none { 0 } else { data.rows.len() } {
            let inputs = mapping.inputs(|key| data.value(row, key), |key| target?.value(row, key));
            if let Ok(outcome) = done(&evaluator, &evaluator.filtered(&inputs), quirks) {
                results.set(row, &outcome);
            }
        }
        outputs.push(results);
    }
    let metrics = metrics(&outputs, quirks);
    let results = Results {
        data: &data,
        target,
        outputs: &outputs,
        metrics: &metrics,
        about: &[],
        faults: &[],
        kept: None,
    };
    Ok(results.text(quirks))
}

const TEXTS: [EvaluatorSpec; 3] = [
    evaluator_spec("f1", "f1_score"),
    evaluator_spec("bleu", "bleu_score"),
    evaluator_spec("rouge", "rouge_score"),
];

fn variant(name: &str) -> Option<String> {
    golden(&format!("evaluate_variants/{name}"))
}

/// Compares the produced file with the package's file byte by byte. Returns the number of
/// comparisons, 0 when that file is missing.
fn same(
    name: &str,
    data: Option<String>,
    evaluators: &[EvaluatorSpec],
    target: Option<&Table>,
) -> usize {
    let theirs =
        if name == "main" { golden("evaluate_out.json") } else { variant(&format!("{name}.json")) };
    let (Some(theirs), Some(data)) = (theirs, data) else { return 0 };
    assert!(!data.is_empty(), "{name}");
    let ours = evaluated(&data, name.starts_with("csv"), evaluators, target, &Quirks::all());
    assert_eq!(ours, Ok(theirs), "{name}");
    1
}

#[test]
fn files_of_results_are_those_of_the_package_to_the_byte() {
    let main = || golden("evaluate_in.jsonl");
    let [f1, bleu, rouge] = TEXTS;
    let rouge1 = EvaluatorSpec {
        options: r#"{"rouge_type": "rouge1"}"#,
        ..evaluator_spec("rouge1", "rouge_score")
    };
    let all = [
        f1,
        bleu,
        rouge,
        evaluator_spec("gleu", "gleu_score"),
        evaluator_spec("meteor", "meteor_score"),
        rouge1,
    ];
    let f1 = [evaluator_spec("f1", "f1_score")];
    let documents = [evaluator_spec("doc_retrieval", "document_retrieval")];
    let cases = [
        same("main", main(), &TEXTS, None),
        same("all_text_evaluators", main(), &all, None),
        same("dotted_name", main(), &[evaluator_spec("my.f1", "f1_score")], None),
        same("missing_columns", variant("column_mapping.jsonl"), &TEXTS, None),
        same("nulls", variant("nulls.jsonl"), &TEXTS, None),
        same("numeric_strings", variant("numeric_strings.jsonl"), &f1, None),
        same("coercion_no_dates", variant("coercion_no_dates.jsonl"), &f1, None),
        same("csv_input", variant("csv_input.csv"), &f1, None),
        same("document_retrieval", variant("document_retrieval.jsonl"), &documents, None),
    ];
    println!("cases: {} files of evaluate, without a model", cases.iter().sum::<usize>());
}

#[test]
fn files_of_mapped_columns_and_targets_are_those_of_the_package_to_the_byte() {
    let data = || variant("column_mapping.jsonl");
    let mapping = &[("response", "${data.answer}"), ("ground_truth", "${data.expected}")];
    let mapped = TEXTS.map(|asked| EvaluatorSpec { mapping, ..asked });
    let [f1, bleu, rouge] = TEXTS;
    let usual = [EvaluatorSpec { mapping, ..evaluator_spec("default", "") }, f1, bleu, rouge];
    let mut cases = same("column_mapping", data(), &mapped, None)
        + same("column_mapping_default", data(), &usual, None);
    let echo = |line: &str| {
        let query = value(line).get("query").and_then(Value::text).unwrap().to_owned();
        let (said, extra) = (format!("echo {query}"), query.chars().count().to_string());
        vec![
            ("response".to_owned(), Some(Value::Text(said))),
            ("extra".to_owned(), Some(Value::Number(extra))),
        ]
    };
    let data = || variant("target.jsonl");
    let said = Table::from_rows(data().unwrap_or_default().lines().map(echo)).unwrap();
    let mapping = &[("response", "${target.response}"), ("ground_truth", "${data.ground_truth}")];
    cases += same("target", data(), &[evaluator_spec("f1", "f1_score")], Some(&said));
    cases += same(
        "target_mapped",
        data(),
        &[EvaluatorSpec { mapping, ..evaluator_spec("f1", "f1_score") }],
        Some(&said),
    );
    println!("cases: {cases} files of evaluate, with mappings and targets");
}

#[test]
fn files_with_judges_are_those_of_the_package_to_the_byte() {
    let main = || golden("evaluate_in.jsonl");
    let names = [
        "relevance",
        "coherence",
        "groundedness",
        "task_adherence",
        "intent_resolution",
        "response_completeness",
        "similarity",
        "tool_call_accuracy",
    ];
    let judges = names.map(|name| evaluator_spec(name, name));
    let talk = ["coherence", "groundedness"].map(|name| evaluator_spec(name, name));
    let cases = [
        same("judges_stubbed", main(), &judges, None),
        same("judges_no_tools", main(), &judges[..7], None),
        same("conversation", variant("conversation.jsonl"), &talk, None),
    ];
    println!("cases: {} files of evaluate, with judges", cases.iter().sum::<usize>());
}

#[test]
fn what_the_package_refuses_is_refused_in_its_words_when_it_is_followed() {
    let refused = |text: &str, mapping| {
        evaluated(
            text,
            false,
            &[EvaluatorSpec { mapping, ..evaluator_spec("f1", "f1_score") }],
            None,
            &Quirks::all(),
        )
        .unwrap_err()
    };
    let (Some(dates), Some(main)) = (variant("coercion.jsonl"), golden("evaluate_in.jsonl")) else {
        return;
    };
    for (name, ours) in [
        ("coercion.json", refused(&dates, &[])),
        ("bad_mapping.json", refused(&main, &[("response", "${foo.bar}")])),
    ] {
        let theirs = value(&variant(name).unwrap());
        let message = theirs.get("message").and_then(Value::text).unwrap();
        assert!(
            format!("(UserError) {ours}").starts_with(message) || ours == message,
            "{name}: {ours} / {message}"
        );
    }
    println!("cases: 2 refusals of evaluate");
}

#[test]
fn what_a_file_says_in_its_rows_comes_to_the_metrics_that_it_has_and_to_the_same_file() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/azure/evaluate_variants");
    let Ok(folder) = fs_err::read_dir(folder) else { return };
    let mut names: Vec<String> =
        folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| PathBuf::from(name).extension().is_some_and(|end| end == "json"));
    let names = names
        .iter()
        .map(|name| format!("evaluate_variants/{name}"))
        .chain(["evaluate_out.json".to_owned()]);
    let mut cases = 0;
    for name in names {
        let theirs = golden(&name).unwrap();
        // Some of the files describe an error, and one describes all other files.
        let Ok(read) = ResultsRead::read(&theirs) else {
            let other = json::read_python(&theirs).unwrap();
            assert!(other.get("rows").is_none(), "{name}");
            continue;
        };
        let quirks = Quirks::all();
        let mut metrics = metrics(&read.outputs, &quirks);
        // Metrics added by an evaluator's own code have no column.
        let is_known =
            |name: &str, metrics: &[Metric]| metrics.iter().any(|metric| metric.name == name);
        let mut by_hand = 0;
        for (name, value) in &read.metrics {
            let column = name.rsplit_once('.').and_then(|(evaluator, key)| {
                read.outputs.iter().find(|outputs| outputs.name == evaluator)?.column(key)
            });
            if !is_known(name, &metrics) && column.is_none() {
                metrics.push(Metric {
                    name: name.clone(),
                    value: *value,
                    interval: None,
                    n: 8,
                    left_out: 0,
                });
                by_hand += 1;
            }
        }
        let target = (!read.target.columns.is_empty()).then_some(&read.target);
        let results = Results {
            data: &read.data,
            target,
            outputs: &read.outputs,
            metrics: &metrics,
            about: &[],
            faults: &[],
            kept: None,
        };
        let ours = results.text(&quirks);
        let ours_read = ResultsRead::read(&ours).unwrap();
        assert_eq!(ours_read.metrics, read.metrics, "{name}");
        assert_eq!((&ours_read.data, &ours_read.outputs), (&read.data, &read.outputs), "{name}");
        // Added metrics can be integers, and files printed with indentation differ in text.
        assert!(ours == theirs || by_hand > 0 || theirs.contains('\n'), "{name}\n{ours}\n{theirs}");
        cases += 1;
    }
    println!("cases: {cases} files of evaluate, read and summed up again");
}
