//! Tests of evaluators without a model, of metrics and of results files on synthetic cases.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use proptest::prelude::*;
use touchstone_judges::azure::{
    About, Evaluation, Evaluator, Failure, Fault, Inputs, Metric, Next, Outcome, Outputs, Quirks,
    Results, ResultsRead, Table, all, metrics,
};
use touchstone_model::json;
use touchstone_model::value::Value;

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
    match Evaluation::new(evaluator, inputs, quirks).next() {
        Next::Done(result) => result,
        next => panic!("it is not done without asking: {next:?}"),
    }
}

fn map(outcome: Outcome) -> Value {
    Value::Map(outcome.into_iter().map(|(key, value)| (Value::Text(key), value)).collect())
}

fn read(name: &str, options: &str) -> Result<Evaluator, String> {
    Evaluator::read(name, &value(options))
}

fn row(text: &str) -> Inputs {
    inputs(&value(text))
}

fn format_result(result: Result<Outcome, Failure>) -> String {
    result.map_or_else(|failure| failure.message, |outcome| json::write(&map(outcome), false))
}

#[test]
fn every_evaluator_is_read_by_its_name_and_options_that_nobody_knows_are_refused() {
    let options = |name: &str| match name {
        "python" => r#"{"source": "def grade(sample, item): return 1.0"}"#,
        "label_model" => {
            r#"{"labels": ["a"], "passing_labels": ["a"], "input": [{"role": "user", "content": "{{item.a}}"}]}"#
        }
        "score_model" => r#"{"input": [{"role": "user", "content": "{{item.b.c}}"}]}"#,
        _ => "{}",
    };
    for takes in all() {
        let evaluator = read(takes.name, options(takes.name)).unwrap();
        assert_eq!(evaluator.takes.name, takes.name);
        assert!(
            !takes.what.is_empty()
                && all().iter().filter(|other| other.name == takes.name).count() == 1
        );
    }
    for (name, options, message) in [
        ("relevanse", "{}", "There is no evaluator named `relevanse`. Did you mean `relevance`?"),
        ("any", r#"{"kind": "nothing"}"#, "There is no evaluator named `nothing`."),
        ("", "{}", "An evaluator has to have a name."),
        (
            "f1_score",
            r#"{"treshold": 1}"#,
            "`f1_score` has no option named `treshold`. Did you mean `threshold`?",
        ),
        ("f1_score", r#"{"threshold": "1"}"#, "`threshold` of `f1_score` has to be a number."),
        (
            "rouge_score",
            r#"{"rouge_type": "rouge6"}"#,
            "Invalid rouge type: rouge6. There are rouge1 to rouge5 and rougeL.",
        ),
        (
            "string_check",
            r#"{"operation": "same"}"#,
            "There is no operation `same`; there are eq, ne, like and ilike.",
        ),
        (
            "text_similarity",
            r#"{"evaluation_metric": "sine"}"#,
            "There is no metric `sine`; there are fuzzy_match, bleu, gleu, meteor, rouge_1 to rouge_5, rouge_l and cosine.",
        ),
        (
            "python",
            r#"{"source": " "}"#,
            "`python` needs `source`: a program with a function grade(sample, item).",
        ),
        (
            "python",
            r#"{"pass_threshold": 1.5, "source": "x"}"#,
            "pass_threshold must be between 0.0 and 1.0",
        ),
        (
            "score_model",
            r#"{"range": [1, 1]}"#,
            "range must be a list of two numbers [min, max] where min < max",
        ),
        (
            "score_model",
            r#"{"range": [1, 5], "pass_threshold": 7}"#,
            "pass_threshold 7 must be within range [1.0, 5.0]",
        ),
        (
            "document_retrieval",
            r#"{"ground_truth_label_min": 4}"#,
            "`ground_truth_label_min` has to be below `ground_truth_label_max`.",
        ),
    ] {
        assert_eq!(read(name, options).unwrap_err(), message, "{name} {options}");
    }
}

#[test]
fn texts_are_measured_with_their_own_thresholds_and_what_is_no_text_is_told() {
    let quirks = Quirks::default();
    let f1 = read("f1_score", r#"{"threshold": 1}"#).unwrap();
    let of = |evaluator: &Evaluator, text: &str, quirks: &Quirks| {
        format_result(done(evaluator, &evaluator.filtered(&row(text)), quirks))
    };
    insta::assert_snapshot!(
        of(&f1, r#"{"response": "Paris", "ground_truth": "paris!", "other": 1}"#, &quirks),
        @r#"{"f1_score":1.0,"f1_result":"pass","f1_threshold":1}"#
    );
    insta::assert_snapshot!(of(&f1, r#"{"response": 42, "ground_truth": "42"}"#, &quirks), @r#"{"f1_score":1.0,"f1_result":"pass","f1_threshold":1}"#);
    insta::assert_snapshot!(of(&f1, r#"{"response": 42, "ground_truth": "42"}"#, &Quirks::all()), @"`response` is not text.");
    insta::assert_snapshot!(of(&f1, r#"{"response": ["a"], "ground_truth": "42"}"#, &quirks), @"`response` is not text.");
    let bleu = read("bleu_score", "{}").unwrap();
    insta::assert_snapshot!(of(&bleu, r#"{"response": "", "ground_truth": "x"}"#, &quirks), @r#"{"bleu_score":0,"bleu_result":"fail","bleu_threshold":0.5}"#);
}

#[test]
fn graders_say_what_passes_and_a_program_that_gives_no_score_is_no_wrong_answer() {
    let quirks = Quirks::default();
    let of = |name: &str, options: &str, text: &str| {
        format_result(done(&read(name, options).unwrap(), &row(text), &quirks))
    };
    let paris = r#"{"response": "It is Paris.", "ground_truth": "paris", "n": 4}"#;
    insta::assert_snapshot!(of("string_check", "{}", paris), @r#"{"passed":false,"score":0.0,"sample":null,"string_check_result":"fail"}"#);
    insta::assert_snapshot!(
        of("exact", r#"{"kind": "string_check", "operation": "ilike"}"#, paris),
        @r#"{"passed":true,"score":1.0,"sample":null,"exact_result":"pass"}"#
    );
    insta::assert_snapshot!(
        of("string_check", r#"{"input": "{{item.n}}", "reference": "4"}"#, paris),
        @r#"{"passed":true,"score":1.0,"sample":null,"string_check_result":"pass"}"#
    );
    insta::assert_snapshot!(of("string_check", r#"{"input": "{{item.lost}}"}"#, paris), @"The row has no `lost`.");
    insta::assert_snapshot!(
        of("text_similarity", r#"{"evaluation_metric": "rouge_1", "pass_threshold": 0.4}"#, paris),
        @r#"{"passed":true,"score":0.5,"sample":null,"text_similarity_result":"pass"}"#
    );
    let python =
        read("own", r#"{"kind": "python", "source": "…", "pass_threshold": 0.7}"#).unwrap();
    let inputs = row(paris);
    let ran = |came: Result<f64, String>| {
        let mut evaluation = Evaluation::new(&python, &inputs, &quirks);
        let Next::Run(job) = evaluation.next() else { panic!() };
        let called =
            format!("{} {}", json::write(&job.sample, false), json::write(&job.item, false));
        assert_eq!(
            called,
            r#"{"output_text":"It is Paris."} {"response":"It is Paris.","ground_truth":"paris","n":4}"#
        );
        evaluation.set_program_result(came);
        let Next::Done(result) = evaluation.next() else { panic!() };
        format_result(result)
    };
    insta::assert_snapshot!(ran(Ok(0.75)), @r#"{"passed":true,"score":0.75,"sample":null,"own_result":"pass"}"#);
    for (came, told) in [(f64::NAN, "NaN"), (2.0, "2"), (-0.5, "-0.5")] {
        assert_eq!(
            ran(Ok(came)),
            format!("The program returned {told}, and a score is a number from 0 to 1.")
        );
    }
    insta::assert_snapshot!(ran(Err("It took too long.".to_owned())), @"It took too long.");
}

#[test]
fn documents_are_weighed_by_numbers_and_held_against_what_labels_can_reach() {
    let of = |options: &str, text: &str, quirks: &Quirks| {
        let result = done(&read("document_retrieval", options).unwrap(), &row(text), quirks);
        let outcome = result.map_err(|failure| failure.message)?;
        let get = |key: &str| {
            outcome
                .iter()
                .find(|(known, _)| known == key)
                .map(|(_, value)| json::write(value, false))
                .unwrap()
        };
        let keys = [
            "ndcg@3",
            "fidelity",
            "top1_relevance",
            "top1_relevance_threshold",
            "top1_relevance_result",
            "holes",
            "holes_result",
        ];
        Ok::<_, String>(keys.map(get).join(" "))
    };
    let document =
        |id: &str, key: &str, value: u32| format!(r#"{{"document_id": "{id}", "{key}": {value}}}"#);
    let label = |id: &str, value: u32| document(id, "query_relevance_label", value);
    let found = |id: &str, value: u32| document(id, "relevance_score", value);
    let whole = |truth: &[String], found: &[String]| {
        format!(
            r#"{{"retrieval_ground_truth": [{}], "retrieved_documents": [{}]}}"#,
            truth.join(","),
            found.join(",")
        )
    };
    let text = whole(&[label("a", 10), label("b", 2)], &[found("b", 9), found("c", 1)]);
    let (ours, theirs) = (Quirks::default(), Quirks::all());
    insta::assert_snapshot!(
        of(r#"{"ground_truth_label_max": 10}"#, &text, &ours).unwrap(),
        @r#"0.00292713543449163 0.0034079844206426485 2 5.0 "fail" 1 "fail""#
    );
    insta::assert_snapshot!(
        of(r#"{"ground_truth_label_max": 10}"#, &text, &theirs).unwrap(),
        @r#"0.00292713543449163 0.6818181818181818 2 50.0 "fail" 1 "fail""#
    );
    let set = r#"{"ground_truth_label_max": 10, "top1_relevance_threshold": 2}"#;
    insta::assert_snapshot!(of(set, &text, &ours).unwrap(), @r#"0.00292713543449163 0.0034079844206426485 2 2 "pass" 1 "fail""#);
    insta::assert_snapshot!(of("{}", &text, &ours).unwrap_err(), @"The label 10 is above `ground_truth_label_max`, which is 4.");
    let single = format!(
        r#"{{"retrieval_ground_truth": [{}], "retrieved_documents": {}}}"#,
        label("a", 1),
        found("a", 1)
    );
    insta::assert_snapshot!(of("{}", &single, &ours).unwrap_err(), @"`retrieved_documents` is not a list of documents.");
    insta::assert_snapshot!(of("{}", &single, &theirs).unwrap(), @r#"0.0 0.0 0.0 50.0 "fail" 0 "pass""#);
    // CSV holds a list as JSON text.
    let quoted = whole(&[label("a", 1)], &[])
        .replace("[]", "\"[{\\\"document_id\\\": \\\"a\\\", \\\"relevance_score\\\": 1}]\"");
    insta::assert_snapshot!(of("{}", &quoted, &ours).unwrap(), @r#"1.0 1.0 1 2.0 "fail" 0 "pass""#);
}

/// Returns the outputs of an evaluator with one row each; an empty object has no result.
fn results(name: &str, kind: &str, rows: &[&str]) -> Outputs {
    let evaluator = read(name, &format!(r#"{{"kind": "{kind}"}}"#)).unwrap();
    let mut outputs = Outputs::new(&evaluator, rows.len());
    // Rows can be completed in any order.
    for (at, text) in rows.iter().enumerate().rev() {
        outputs.set(at, &row(text).0);
    }
    outputs
}

fn summed(outputs: &[Outputs], quirks: &Quirks) -> String {
    let line = |metric: &Metric| {
        let interval =
            metric.interval.map(|interval| format!(" [{:.3}, {:.3}]", interval.low, interval.high));
        let value = metric.value.map_or_else(|| "none".to_owned(), |value| format!("{value:.4}"));
        format!(
            "{} = {value}{} n {} left out {}",
            metric.name,
            interval.unwrap_or_default(),
            metric.n,
            metric.left_out
        )
    };
    metrics(outputs, quirks).iter().map(line).collect::<Vec<_>>().join("\n")
}

fn some_results() -> Vec<Outputs> {
    vec![
        results(
            "my.rel",
            "relevance",
            &[
                r#"{"relevance": 4.0, "gpt_relevance": 4.0, "relevance_result": "pass", "relevance_threshold": 3}"#,
                "{}",
                r#"{"relevance": NaN, "gpt_relevance": NaN, "relevance_result": "unknown", "relevance_threshold": 3}"#
                    .replace("NaN", "null")
                    .as_str(),
                r#"{"relevance": 2.0, "gpt_relevance": 2.0, "relevance_result": "fail", "relevance_threshold": 3}"#,
            ],
        ),
        results(
            "tools",
            "tool_call_accuracy",
            &[
                r#"{"tool_call_accuracy": "not applicable", "tool_call_accuracy_result": "not applicable"}"#,
                r#"{"tool_call_accuracy": 5.0, "tool_call_accuracy_result": "pass"}"#,
                "{}",
                "{}",
            ],
        ),
        results(
            "harm",
            "violence",
            &[
                r#"{"violence": "Very low", "violence_score": 0, "violence_result": "pass"}"#,
                r#"{"violence": "High", "violence_score": 6, "violence_result": "fail"}"#,
                r#"{"violence": "Low", "violence_score": 3, "violence_result": "pass"}"#,
                "{}",
            ],
        ),
        results(
            "code",
            "code_vulnerability",
            &[
                r#"{"code_vulnerability_label": true, "code_vulnerability_details": {"sql_injection": true, "other": false}}"#,
                r#"{"code_vulnerability_label": false, "code_vulnerability_details": {"sql_injection": false, "other": false}}"#,
                r#"{"code_vulnerability_label": false, "code_vulnerability_details": {"sql_injection": false, "other": false}}"#,
                r#"{"code_vulnerability_label": false, "code_vulnerability_details": {"sql_injection": false, "other": false}}"#,
            ],
        ),
        results(
            "exact",
            "string_check",
            &[
                r#"{"passed": true, "score": 1.0, "sample": null, "exact_result": "pass"}"#,
                r#"{"passed": false, "score": 0.0, "sample": null, "exact_result": "fail"}"#,
                "{}",
                r#"{"passed": true, "score": 1.0, "sample": null, "exact_result": "pass"}"#,
            ],
        ),
    ]
}

#[test]
fn sums_count_only_rows_that_have_a_result_and_say_how_many_have_none() {
    insta::assert_snapshot!(summed(&some_results(), &Quirks::default()), @"
    my.rel.relevance = 3.0000 [1.000, 5.000] n 2 left out 2
    tools.tool_call_accuracy = 5.0000 n 1 left out 3
    harm.violence_defect_rate = 0.3333 [0.061, 0.792] n 3 left out 1
    code.code_vulnerability_defect_rate = 0.2500 [0.046, 0.699] n 4 left out 0
    code.code_vulnerability_details.sql_injection_defect_rate = 0.2500 [0.046, 0.699] n 4 left out 0
    code.code_vulnerability_details.other_defect_rate = 0.0000 [0.000, 0.490] n 4 left out 0
    my.rel.binary_aggregate = 0.5000 [0.095, 0.905] n 2 left out 2
    tools.binary_aggregate = 1.0000 [0.207, 1.000] n 1 left out 3
    harm.binary_aggregate = 0.6667 [0.208, 0.939] n 3 left out 1
    exact.pass_rate = 0.6667 [0.208, 0.939] n 3 left out 1
    ");
}

#[test]
fn with_all_switches_sums_are_the_packages() {
    insta::assert_snapshot!(summed(&some_results(), &Quirks::all()), @"
    my.rel.relevance = 3.0000 n 2 left out 2
    my.rel.gpt_relevance = 3.0000 n 2 left out 2
    my.rel.relevance_threshold = 3.0000 n 3 left out 1
    harm.violence_defect_rate = 0.3300 [0.061, 0.792] n 3 left out 1
    code.code_vulnerability_defect_rate = 0.2500 [0.046, 0.699] n 4 left out 0
    code.code_vulnerability_details.sql_injection_defect_rate = 0.2500 [0.046, 0.699] n 4 left out 0
    code.code_vulnerability_details.other_defect_rate = 0.0000 [0.000, 0.490] n 4 left out 0
    my.binary_aggregate = 0.2500 [0.046, 0.699] n 4 left out 0
    tools.binary_aggregate = 0.2500 [0.046, 0.699] n 4 left out 0
    harm.binary_aggregate = 0.5000 [0.150, 0.850] n 4 left out 0
    exact.pass_rate = 0.6667 [0.208, 0.939] n 3 left out 1
    ");
}

#[test]
fn a_row_with_several_verdicts_passes_when_all_do_and_is_open_when_one_is() {
    let qa = results(
        "qa",
        "qa",
        &[
            r#"{"a_result": "pass", "b_result": "pass"}"#,
            r#"{"a_result": "unknown", "b_result": "pass"}"#,
            r#"{"a_result": "unknown", "b_result": "fail"}"#,
            r#"{"a_result": "pass"}"#,
        ],
    );
    assert_eq!([0, 1, 2, 3].map(|row| qa.verdict(row)), [Some(true), None, Some(false), None]);
    let rouge = results(
        "r",
        "rouge_score",
        &[
            r#"{"rouge_precision_result": "fail", "rouge_recall_result": "fail", "rouge_f1_score_result": "pass"}"#,
        ],
    );
    assert_eq!(rouge.verdict(0), Some(true));
}

#[test]
fn a_file_is_valid_json_that_tells_of_evaluators_counts_and_errors_and_is_read_back() {
    let rows = "{\"q\": \"a\\u0001\", \"n\": 1.50}\n{\"q\": null, \"big\": 12345678901234567890}";
    let data = Table::read(rows, false, &Quirks::default()).unwrap();
    let outputs = [results(
        "f1",
        "f1_score",
        &[r#"{"f1_score": 0.25, "f1_result": "fail", "f1_threshold": 1}"#, "{}"],
    )];
    let about = About {
        name: "f1".to_owned(),
        kind: "f1_score".to_owned(),
        switches: vec!["bare_nan".to_owned()],
        ..About::default()
    };
    let about = [about.entry()];
    let faults = [Fault {
        row: 2,
        evaluator: "f1".to_owned(),
        why: "The row has no `response`.".to_owned(),
    }];
    let written = |quirks: &Quirks| {
        let metrics = metrics(&outputs, quirks);
        Results {
            data: &data,
            target: None,
            outputs: &outputs,
            metrics: &metrics,
            about: &about,
            faults: &faults,
            kept: None,
        }
        .text(quirks)
    };
    let ours = written(&Quirks::default());
    insta::assert_snapshot!(
        ours,
        @"{\"rows\": [{\"inputs.q\": \"a\\u0001\", \"inputs.n\": 1.50, \"inputs.big\": null, \
         \"outputs.f1.f1_score\": 0.25, \"outputs.f1.f1_result\": \"fail\", \
         \"outputs.f1.f1_threshold\": 1}, {\"inputs.q\": null, \"inputs.n\": null, \"inputs.big\": \
         12345678901234567890, \"outputs.f1.f1_score\": null, \"outputs.f1.f1_result\": null, \
         \"outputs.f1.f1_threshold\": null}], \"metrics\": {\"f1.f1_score\": 0.25, \
         \"f1.binary_aggregate\": 0.0}, \"studio_url\": null, \"evaluators\": {\"f1\": {\"id\": \
         \"azureai://built-in/evaluators/f1_score\", \"switches\": [\"bare_nan\"]}}, \"counts\": \
         {\"f1.f1_score\": {\"n\": 1, \"left_out\": 1}, \"f1.binary_aggregate\": {\"n\": 1, \
         \"left_out\": 1, \"interval\": [0.0, 0.7934506856227626]}}, \"errors\": [{\"row\": 2, \
         \"evaluator\": \"f1\", \"why\": \"The row has no `response`.\"}]}"
    );
    assert!(json::read(&ours).is_ok());
    insta::assert_snapshot!(
        written(&Quirks::all()),
        @"{\"rows\": [{\"inputs.q\": \"a\\u0001\", \"inputs.n\": 1.5, \"inputs.big\": NaN, \
         \"outputs.f1.f1_score\": 0.25, \"outputs.f1.f1_result\": \"fail\", \
         \"outputs.f1.f1_threshold\": 1.0}, {\"inputs.q\": null, \"inputs.n\": NaN, \
         \"inputs.big\": 12345678901234567890, \"outputs.f1.f1_score\": NaN, \
         \"outputs.f1.f1_result\": NaN, \"outputs.f1.f1_threshold\": NaN}], \"metrics\": \
         {\"f1.f1_score\": 0.25, \"f1.f1_threshold\": 1.0, \"f1.binary_aggregate\": 0.0}, \
         \"studio_url\": null}"
    );
    // Only the full set of quirks omits Touchstone's additional keys.
    let bare = written(&Quirks::from_names(["bare_nan"]).unwrap());
    assert!(
        bare.contains("\"inputs.big\": NaN")
            && bare.ends_with(&ours[ours.find("\"evaluators\"").unwrap()..]),
        "{bare}"
    );
    let read = ResultsRead::read(&ours).unwrap();
    assert_eq!(
        (read.data.columns, read.outputs[0].column("f1_score").unwrap().get(0)),
        (data.columns.clone(), Some(&Value::Number("0.25".to_owned())))
    );
    assert_eq!(read.metrics[0], ("f1.f1_score".to_owned(), Some(0.25)));
    assert_eq!(
        read.evaluators[0].1.get("id"),
        Some(&"azureai://built-in/evaluators/f1_score".into())
    );
    for other in [
        "[]",
        "{\"rows\": []}",
        "{\"rows\": 1, \"metrics\": {}}",
        "{\"rows\": [1], \"metrics\": {}}",
        "",
    ] {
        assert!(ResultsRead::read(other).is_err(), "{other}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof!["-?(0|[1-9][0-9]{0,19})", "(0|[1-9][0-9]{0,3})\\.[0-9]{1,4}"]
        .prop_map(Value::Number);
    let text = "[a-c\\.\"\\\\\n\u{1}é😀]{0,6}".prop_map(Value::Text);
    let one = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), number, text];
    one.prop_recursive(2, 8, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::List);
        prop_oneof![list, inner.prop_map(|value| Value::Map(vec![("k".into(), value)]))]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_valid_json_and_reads_as_it_was(
        cells in prop::collection::vec(prop::collection::vec(any_value(), 2), 1..5),
        results in prop::collection::vec(prop::option::of(prop::collection::vec(any_value(), 2)), 5),
    ) {
        let names = |values: &[Value], names: [&str; 2]| {
            names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Vec<_>>()
        };
        let row = |values: &Vec<Value>| {
            names(values, ["a", "b.c"]).into_iter().map(|(name, value)| (name, Some(value))).collect()
        };
        let data = Table::from_rows(cells.iter().map(row)).unwrap();
        let mut outputs = Outputs::new(&read("an.f1", r#"{"kind": "f1_score"}"#).unwrap(), cells.len());
        for (at, result) in results.iter().take(cells.len()).enumerate() {
            outputs.set(at, &result.as_ref().map(|values| names(values, ["score", "x_result"])).unwrap_or_default());
        }
        let outputs = [outputs];
        let metrics = metrics(&outputs, &Quirks::default());
        let results = Results { data: &data, target: None, outputs: &outputs, metrics: &metrics, about: &[], faults: &[], kept: None };
        let text = results.text(&Quirks::default());
        prop_assert!(json::read(&text).is_ok(), "{}", text);
        let back = ResultsRead::read(&text).unwrap();
        prop_assert_eq!(&back.data, &data);
        for (at, column) in outputs[0].columns().iter().enumerate() {
            let same = back.outputs[0].columns()[at].cells().zip(column.cells());
            for (back, was) in same {
                prop_assert_eq!(back, Some(was.unwrap_or(&Value::Null)));
            }
        }
        let values: Vec<Option<f64>> = metrics.iter().map(|metric| metric.value).collect();
        prop_assert_eq!(back.metrics.iter().map(|(_, value)| *value).collect::<Vec<_>>(), values);
    }
}

#[test]
fn a_column_of_the_data_that_is_named_like_our_numbers_of_rows_is_kept() {
    let said = Table::from_rows(
        [1, 2].map(|at| vec![("r".to_owned(), Some(Value::Number(at.to_string())))]),
    )
    .unwrap();
    let back = |rows: &str| {
        let data = Table::read(rows, false, &Quirks::default()).unwrap();
        let (target, outputs, metrics) = (Some(&said), [], []);
        let text = Results {
            data: &data,
            target,
            outputs: &outputs,
            metrics: &metrics,
            about: &[],
            faults: &[],
            kept: None,
        }
        .text(&Quirks::default());
        assert_eq!(text.matches("\"inputs.line_number\"").count(), 2, "{text}");
        let read = ResultsRead::read(&text).unwrap();
        assert_eq!((read.data, &read.target), (data, &said));
    };
    back("{\"line_number\": 7}\n{\"line_number\": 9}");
    back("{\"q\": 7}\n{\"q\": 9}");
}

#[test]
fn a_file_of_results_with_too_many_columns_is_refused() {
    let rows = |prefix: &str| {
        (0..3_000).map(|at| format!("{{\"{prefix}{at}\": 1}}")).collect::<Vec<_>>().join(", ")
    };
    for prefix in ["inputs.", "outputs.", "outputs.f1."] {
        let why =
            ResultsRead::read(&format!("{{\"rows\": [{}], \"metrics\": {{}}}}", rows(prefix)))
                .unwrap_err();
        assert!(why.starts_with("There are more than 2000 columns."), "{prefix} {why}");
    }
}

#[test]
fn a_column_of_a_target_may_not_stand_where_results_of_an_evaluator_stand() {
    let evaluator = read("my.f1", r#"{"kind": "f1_score"}"#).unwrap();
    for (column, stands) in [
        ("my.f1.f1_score", true),
        ("my.f1.", true),
        ("my.f1", false),
        ("my.f12", false),
        ("f1_score", false),
    ] {
        assert_eq!(evaluator.owns_column(column), stands, "{column}");
    }
}
