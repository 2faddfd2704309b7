//! Tests that result files of other programs survive a round trip: opened as runs, and written
//! again without loss.
use crate::bench::{Bench, beside_the_project};
use crate::evaluating::{ROWS, evaluate, request};
use crate::judging::workspace;
use crate::running::stage::says;
use crate::scripted::Scripted;
use fs_err as fs;
use std::time::Instant;
use touchstone_api::{EvaluateRequest, Report, ReportFormat, ReportRequest, StoredVerdict};
use touchstone_model::json;
use touchstone_model::value::Value;

const OWN: [&str; 5] =
    ["kept.json", "pier_small.json", "pier_large.json", "berths.json", "echo_target.json"];

fn fixture_text(name: &str) -> String {
    fs::read_to_string(beside_the_project("tests/fixtures/azure/rows").join(name)).unwrap()
}

fn exported(bench: &Bench, filter: &str) -> Report {
    let request = ReportRequest {
        filter: filter.to_owned(),
        ..ReportRequest::for_format(ReportFormat::Azure)
    };
    bench.app().reports().make_report(&request, true).unwrap()
}

/// Replaces every number that JSON cannot express by `null`.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(text) if text.parse::<f64>().map_or(true, |number| !number.is_finite()) => {
            Value::Null
        }
        Value::List(items) => Value::List(items.iter().map(plain).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

/// Checks that every column of each row is in the written row unchanged, and that nothing else is.
fn same_rows(name: &str, theirs: &[Value], ours: &[Value]) {
    assert_eq!(theirs.len(), ours.len(), "{name}");
    for (theirs, ours) in theirs.iter().zip(ours) {
        for (key, value) in theirs.entries() {
            let key = key.text().unwrap();
            assert_eq!(ours.get(key), Some(&plain(value)), "{name}: {key}");
        }
        for (key, value) in ours.entries() {
            let key = key.text().unwrap();
            assert!(
                theirs.get(key).is_some() || *value == Value::Null,
                "{name}: {key} came from nowhere"
            );
        }
    }
}

/// Expected fate of a metric of the package.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Same,
    /// Thresholds and other settings are not metrics (`thresholds_averaged`).
    Setting,
    /// The last of several verdicts counts, rows without a verdict count as not passed, and rates
    /// are truncated to two digits (`aggregate_over_all_rows`).
    OverAllRows,
    /// The pass rate of an evaluator with dots in its name has that full name
    /// (`names_cut_at_dots`).
    OtherName,
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn rule(name: &str, theirs: f64, file: &Value) -> Option<Rule> {
    let ours = file.get("metrics")?.get(name).and_then(number);
    let Some(ours) = ours else {
        let key = name.rsplit('.').next()?;
        let is_setting = key.ends_with("_threshold")
            || key.ends_with("_higher_is_better")
            || key.starts_with("gpt_");
        let cut = name.strip_suffix("binary_aggregate").filter(|begin| {
            let entries = file.get("metrics").map_or(&[][..], Value::entries);
            entries
                .iter()
                .filter_map(|(key, _)| key.text())
                .any(|key| key.starts_with(begin) && key.ends_with(".binary_aggregate"))
        });
        return is_setting.then_some(Rule::Setting).or(cut.map(|_| Rule::OtherName));
    };
    if (ours - theirs).abs() < 1e-12 {
        return Some(Rule::Same);
    }
    let as_theirs = last_verdict_over_all_rows(name, file)?;
    ((as_theirs - theirs).abs() <= 0.005 + 1e-9).then_some(Rule::OverAllRows)
}

/// Computes the share of rows whose last verdict is `pass`, like the package.
fn last_verdict_over_all_rows(name: &str, file: &Value) -> Option<f64> {
    let begin = format!("outputs.{}.", name.strip_suffix(".binary_aggregate")?);
    let rows = file.get("rows")?.items();
    let is_verdict = |key: &&str| key.starts_with(&begin) && key.ends_with("_result");
    let last =
        rows.first()?.entries().iter().filter_map(|(key, _)| key.text()).rfind(is_verdict)?;
    let passed =
        rows.iter().filter(|row| row.get(last).and_then(Value::text) == Some("pass")).count();
    Some(f64::from(u32::try_from(passed).unwrap()) / f64::from(u32::try_from(rows.len()).unwrap()))
}

fn same_metrics(name: &str, theirs: &Value, ours: &Value) -> Vec<Rule> {
    let entries = theirs.get("metrics").map_or(&[][..], Value::entries).iter();
    let told = entries.map(|(key, value)| (key.text().unwrap(), number(value).unwrap_or(f64::NAN)));
    let told = told.filter(|(_, value)| value.is_finite());
    told.map(|(key, value)| {
        rule(key, value, ours).unwrap_or_else(|| panic!("{name}: {key} was {value}: {ours:?}"))
    })
    .collect()
}

#[test]
fn a_file_that_is_opened_and_written_again_has_the_same_rows_and_all_that_was_said_of_them() {
    let bench = OWN
        .iter()
        .fold(Bench::new(), |bench, name| {
            bench.file(&format!("results/{name}"), fixture_text(name))
        })
        .open();
    for name in OWN {
        let report = exported(&bench, &format!("system:{}", name.trim_end_matches(".json")));
        let (theirs, ours) =
            (json::read_python(&fixture_text(name)).unwrap(), json::read(&report.text).unwrap());
        same_rows(name, theirs.get("rows").unwrap().items(), ours.get("rows").unwrap().items());
        same_metrics(name, &theirs, &ours);
        for key in ["studio_url", "evaluators", "made_with"] {
            let said = theirs.get(key).filter(|value| **value != Value::Null);
            assert!(
                said.is_none() || ours.get(key) == said,
                "{name}: {key} is {:?}",
                ours.get(key)
            );
        }
        let errors = |file: &Value| {
            let mut errors: Vec<String> = file
                .get("errors")
                .map_or(&[][..], Value::items)
                .iter()
                .map(|error| json::write(error, false))
                .collect();
            errors.sort();
            errors
        };
        assert_eq!(errors(&ours), errors(&theirs), "{name}");
        assert!(report.notes.is_empty(), "{name}: {:?}", report.notes);
        let again = Bench::new().file("results/again.json", &report.text).open();
        assert_eq!(exported(&again, "").text, report.text, "{name}");
    }
    let kept = json::read(&exported(&bench, "system:kept").text).unwrap();
    assert_eq!(
        kept.get("metrics").unwrap().get("my.own.longest"),
        Some(&Value::Number("23".to_owned()))
    );
}

#[test]
fn rows_of_several_files_say_which_they_are_and_what_held_of_one_file_alone_is_told_to_be_left_out()
{
    let bench = OWN.iter().fold(Bench::new(), |bench, name| {
        bench.file(&format!("results/{name}"), fixture_text(name))
    });
    let bench = bench
        .file("results/lines.jsonl", "{\"inputs.query\": \"a\", \"line_number\": 0}\n{\"inputs.query\": \"b\", \"line_number\": 1, \"outputs.tone.tone\": 5}\n")
        .file("results/other.json", fixture_text("kept.json").replace("\"version\": 2", "\"version\": 3"))
        .open();
    let report = exported(&bench, "system:kept,other,lines");
    let file = json::read(&report.text).unwrap();
    let rows = file.get("rows").unwrap().items();
    let runs: Vec<&str> =
        rows.iter().map(|row| row.get("inputs.run").unwrap().text().unwrap()).collect();
    let of = |file: &str, rows: usize| {
        (1..=rows).map(move |row| format!("{file}#row-{row}")).collect::<Vec<_>>()
    };
    assert_eq!(runs, [of("kept.json", 3), of("lines.jsonl", 2), of("other.json", 3)].concat());
    assert_eq!(rows[4].get("line_number"), Some(&Value::Number("1".to_owned())));
    let tone = file.get("evaluators").unwrap().get("tone").unwrap();
    assert_eq!(
        json::write(tone, false),
        r#"{"id":"tone","version":[2,3],"model":"claude","switches":["first_digit"]}"#
    );
    let rows: Vec<String> = file
        .get("errors")
        .unwrap()
        .items()
        .iter()
        .map(|error| json::write(error.get("row").unwrap(), false))
        .collect();
    assert_eq!(rows, ["1", "2", "6", "7"]);
    let left: Vec<&String> =
        report.notes.iter().filter(|note| note.contains("they are left out")).collect();
    assert_eq!(left.len(), 2, "{:?}", report.notes);
    assert!(
        left[0].contains("kept.json") && left[0].contains("my.own.longest, studio_url, made_with"),
        "{left:?}"
    );
    assert!(
        file.get("made_with").is_none()
            && file.get("metrics").unwrap().get("my.own.longest").is_none()
    );
    let part = exported(&bench, "path:kept.json#row-2");
    assert!(part.notes.iter().any(|note| note.contains("my.own.longest")), "{:?}", part.notes);
    assert!(!part.text.contains("inputs.run"), "one file needs no names");
}

const JUDGED: &str =
    "tool_calling_prompt: q\nvariations:\n- expected_output: Nine metres.\nscorers: [text: f1]\n";

#[test]
fn what_is_said_here_of_a_row_stands_beside_what_the_row_brought_under_the_same_name() {
    let row = concat!(
        r#"{"inputs.task": "depth", "inputs.system": "s", "inputs.model": "m", "#,
        r#""inputs.variation": 0, "inputs.repeat": 1, "inputs.query": "q", "#,
        r#""inputs.response": "Nine metres.", "outputs.f1_score.f1_score": 0.125}"#,
    );
    let bench = Bench::new()
        .file("tasks/depth.yaml", JUDGED)
        .file("results/rows.json", format!("{{\"rows\": [{row}], \"metrics\": {{}}}}"))
        .open();
    let file = json::read(&exported(&bench, "").text).unwrap();
    let row = &file.get("rows").unwrap().items()[0];
    let score =
        |name: &str| json::write(row.get(&format!("outputs.{name}.f1_score")).unwrap(), false);
    assert_eq!([score("f1_score"), score("f1_score-touchstone")], ["0.125", "1.0"], "{file:?}");
}

#[test]
fn files_of_the_package_come_through_with_their_rows_and_with_its_metrics_by_rule() {
    let folder = beside_the_project("../shared/golden/azure");
    let Ok(variants) = fs::read_dir(folder.join("evaluate_variants")) else {
        println!("cases: 0 files, for the golden folder is not there");
        return;
    };
    let mut paths: Vec<_> = variants.map(|entry| entry.unwrap().path()).collect();
    paths.push(folder.join("evaluate_out.json"));
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let value = json::read_python(&text).unwrap();
        let is_results = value.get("rows").is_some_and(|rows| !rows.items().is_empty());
        is_results.then(|| (path.file_stem().unwrap().to_string_lossy().into_owned(), text, value))
    };
    let files: Vec<(String, String, Value)> = paths.iter().filter_map(read).collect();
    let begin = |bench: Bench, (name, text, _): &(String, String, Value)| {
        bench.file(&format!("results/{name}.json"), text)
    };
    let bench = files.iter().fold(Bench::new(), begin).open();
    let (mut rules, mut rows) = (Vec::new(), 0);
    for (name, _, theirs) in &files {
        let ours = json::read(&exported(&bench, &format!("system:\"{name}\"")).text).unwrap();
        let (their_rows, our_rows) =
            (theirs.get("rows").unwrap().items(), ours.get("rows").unwrap().items());
        same_rows(name, their_rows, our_rows);
        rows += our_rows.len();
        rules.extend(same_metrics(name, theirs, &ours));
        assert_eq!(ours.get("_requests_sent"), theirs.get("_requests_sent"), "{name}");
    }
    rules.sort();
    let counted: Vec<String> =
        rules.chunk_by(PartialEq::eq).map(|same| format!("{:?} {}", same[0], same.len())).collect();
    let their_rows: usize =
        files.iter().map(|(_, _, value)| value.get("rows").unwrap().items().len()).sum();
    let has_rows =
        |path: &&std::path::PathBuf| fs::read_to_string(path).unwrap().contains("\"inputs.");
    assert!(rows > 0 && !files.is_empty(), "nothing was read of {}", folder.display());
    assert_eq!((files.len(), rows), (paths.iter().filter(has_rows).count(), their_rows));
    assert_eq!(bench.rows().len(), their_rows, "each row is a run");
    println!("cases: {} files, {rows} rows; metrics: {}", files.len(), counted.join(", "));
}

fn stored(bench: &Bench, path: &str) -> Vec<StoredVerdict> {
    bench
        .app()
        .scoring()
        .run_scores(&bench.row(path).unwrap_or_else(|| panic!("no {path}")).id)
        .unwrap()
        .stored
}

#[test]
fn an_evaluator_that_failed_on_a_row_is_shown_with_the_reason_and_is_no_verdict() {
    let bench = Bench::new().file("results/kept.json", fixture_text("kept.json")).open();
    let told = |path: &str| {
        let told = |one: StoredVerdict| {
            format!(
                "{} {} {}",
                one.evaluator,
                if one.silent { "failed:" } else { "said:" },
                one.reason.unwrap_or_default()
            )
        };
        stored(&bench, path)
            .into_iter()
            .map(told)
            .filter(|told| !told.ends_with(": "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told("kept.json#row-1"),
        ["tone said: Calm.", "never failed: There is no model of that name."]
    );
    assert_eq!(told("kept.json#row-2"), ["tone failed: The reply of the judge could not be read."]);
    assert_eq!(told("kept.json#row-3"), ["tone said: Boastful."]);
}

#[test]
fn replies_that_were_paid_for_are_shown_also_of_an_evaluator_that_never_came_to_a_result() {
    let server = Scripted::always(says("I would rather not."));
    for switches in ["", "all"] {
        let bench = Bench::new()
            .file("touchstone.yaml", workspace(&server, ""))
            .file("tasks/rows.jsonl", ROWS)
            .open();
        let switches = if switches.is_empty() { Vec::new() } else { vec![switches.to_owned()] };
        let wish =
            EvaluateRequest { switches: switches.clone(), ..request(&bench, &["task_adherence"]) };
        evaluate(&bench, &wish);
        let bench = bench.reopen();
        let said = stored(&bench, "evaluations/rows.json#row-2");
        let [one] = said.as_slice() else { panic!("{said:?}") };
        assert!(one.evaluator == "task_adherence" && one.silent && one.reason.is_some(), "{one:?}");
        assert_eq!(one.rounds[0].replies[0], "I would rather not.", "{switches:?}");
    }
}

#[test]
fn ten_thousand_rows_of_others_are_written_again_in_their_order() {
    let row = |n: usize| {
        format!(
            concat!(
                r#"{{"inputs.query": "Question {n}?", "inputs.response": "Answer {n}.", "#,
                r#""inputs.ground_truth": "{n}", "outputs.f1.f1_score": 0.5, "outputs.f1.f1_result": "pass"}}"#,
            ),
            n = n,
        )
    };
    let rows: Vec<String> = (0..10_000).map(row).collect();
    let text = format!("{{\"rows\": [{}], \"metrics\": {{}}}}", rows.join(", "));
    let bench = Bench::new().file("results/many.json", &text).open();
    let begun = Instant::now();
    let report = exported(&bench, "");
    println!("10,000 rows, written: {:?}", begun.elapsed());
    assert_eq!(report.runs, 10_000);
    assert!(report.text.starts_with(text.strip_suffix("], \"metrics\": {}}").unwrap()));
    assert!(report.text.contains(r#""metrics": {"f1.f1_score": 0.5, "f1.binary_aggregate": 1.0}"#));
}
