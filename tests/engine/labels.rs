//! Labels: they follow their questions and the reviews of people, and filters know them.
use crate::bench::{Bench, wait_until};
use fs_err as fs;
use std::collections::BTreeMap;
use touchstone_api::{
    Column, ExportFormat, ExportRequest, LabelEdit, LabelSchema, ListRequest, ReportFormat,
    ReportRequest, Review, RunLabel, RunRow, Sort, Span,
};

const FILE: &str = "touchstone.yaml";
const LABELS: &str = "# mine\nlabels:\n  quick: turns:<3\n  look: label:quick -label:severity=low\n  \
                      severity: { kind: category, values: [low, high] }\n  points: { kind: number, min: 0, max: 5 }\n";

fn bench() -> Bench {
    Bench::new()
        .file(FILE, LABELS)
        .answered("results/t-promptql-o1-variation0.yaml", "one")
        .answered("results/t-promptql-o1-variation0-run2.yaml", "two")
        .answered("results/t-promptql-o1-variation0-run3.yaml", "three")
        .open()
}

fn path(run: u32) -> String {
    let repeat = if run == 1 { String::new() } else { format!("-run{run}") };
    format!("t-promptql-o1-variation0{repeat}.yaml")
}

/// Gives a run labels, in the name of a person.
fn give(
    bench: &Bench,
    run: u32,
    author: &str,
    labels: &[(&str, &str)],
) -> Result<Option<u32>, String> {
    let labels: BTreeMap<String, String> =
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let review = Review {
        verdict: None,
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels,
    };
    let id = run_id(bench, &path(run));
    let done = bench.app().reviews().review_run_of(None, Some(author), &id, Some(&review));
    done.map_err(|error| error.message)
}

fn run_id(bench: &Bench, path: &str) -> String {
    wait_until(&format!("{path} is listed"), || bench.row(path)).id
}

fn listed(bench: &Bench, filter: &str) -> Vec<RunRow> {
    let sort = Sort { column: Column::Path, descending: false };
    let span = Span { offset: 0, limit: 100 };
    bench
        .app()
        .runs()
        .list_runs(ListRequest { filter: filter.to_owned(), sort, span })
        .unwrap()
        .rows
}

fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_until(what, || is_so().then_some(()));
}

fn paths(bench: &Bench, filter: &str) -> Vec<String> {
    listed(bench, filter).into_iter().map(|row| row.path).collect()
}

#[test]
fn a_label_is_a_filter_a_column_and_a_count_and_follows_reviews() {
    let bench = bench();
    assert_eq!(paths(&bench, "label:quick").len(), 3);
    assert_eq!(paths(&bench, "-label:quick"), [""; 0]);
    assert_eq!(paths(&bench, "label:severity"), [""; 0]);
    give(&bench, 1, "Ann", &[("severity", "low")]).unwrap();
    give(&bench, 1, "Zoë", &[("severity", "high"), ("points", "2.5")]).unwrap();
    give(&bench, 2, "Ann", &[("severity", "high")]).unwrap();
    wait("the values are listed", || paths(&bench, "label:severity").len() == 2);
    assert_eq!(paths(&bench, "label:severity=low"), [path(1)]);
    assert_eq!(paths(&bench, "label:severity=high -label:severity=low"), [path(2)]);
    assert_eq!(paths(&bench, "label:points>2"), [path(1)]);
    assert_eq!(paths(&bench, "-label:points>2"), [path(2), path(3)]);
    assert_eq!(paths(&bench, "label:look"), [path(2), path(3)]);

    let label = |name: &str, value: Option<&str>| RunLabel {
        name: name.to_owned(),
        value: value.map(str::to_owned),
    };
    let rows = listed(&bench, "repeat:1");
    assert_eq!(
        rows[0].labels,
        [
            label("quick", None),
            label("severity", Some("high")),
            label("severity", Some("low")),
            label("points", Some("2.5")),
        ]
    );
    let facets = bench.app().runs().facets().unwrap();
    let facet = facets.keys.iter().find(|facet| facet.key == "label").unwrap();
    let counts: Vec<_> = facet.values.iter().map(|one| (one.value.as_str(), one.count)).collect();
    assert_eq!(
        counts,
        [
            ("quick", Some(3)),
            ("look", Some(2)),
            ("severity", Some(2)),
            ("severity=low", Some(1)),
            ("severity=high", Some(2)),
            ("points", Some(1)),
            ("points=2.5", Some(1)),
        ]
    );
    let labels = bench.app().labels().all().unwrap();
    assert_eq!(
        (labels[1].count, labels[1].uses.as_slice()),
        (Some(2), &["quick".to_owned(), "severity".to_owned()][..])
    );
    assert!(
        matches!(&labels[2].schema, Some(LabelSchema::Category { values }) if values.len() == 2)
    );
}

#[test]
fn two_people_agree_on_a_category_as_far_as_both_gave_it() {
    let bench = bench();
    for run in 1..=3 {
        give(&bench, run, "Ann", &[("severity", if run == 1 { "low" } else { "high" })]).unwrap();
    }
    for run in 1..=2 {
        give(&bench, run, "Zoë", &[("severity", "low"), ("points", "1")]).unwrap();
    }
    wait("the values are listed", || paths(&bench, "label:points").len() == 2);
    let agreements = bench.app().labels().label_agreements("").unwrap();
    let [one] = agreements.as_slice() else { panic!("{agreements:?}") };
    assert_eq!(
        (one.label.as_str(), one.first.as_str(), one.second.as_str()),
        ("severity", "Ann", "Zoë")
    );
    assert_eq!((one.n, one.same, one.words.as_str()), (2, 1, "too few to tell"));
    assert_eq!(bench.app().labels().label_agreements("repeat:3").unwrap(), []);
}

#[test]
fn values_are_checked_kept_beside_those_of_others_and_undone() {
    let bench = bench();
    let change = give(&bench, 1, "Ann", &[("severity", "low")]).unwrap().unwrap();
    assert_eq!(
        give(&bench, 1, "Zoë", &[("severity", "mid")]).unwrap_err(),
        "Label `severity`: Choose one of: low, high."
    );
    assert_eq!(
        give(&bench, 1, "Zoë", &[("points", "9")]).unwrap_err(),
        "Label `points`: Write a number from 0 to 5."
    );
    assert!(
        give(&bench, 1, "Zoë", &[("owner", "x")])
            .unwrap_err()
            .starts_with("There is no label named")
    );
    assert!(
        give(&bench, 1, "Zoë", &[("quick", "yes")])
            .unwrap_err()
            .contains("follows from its question")
    );
    let file = bench.path(&format!("results/.touchstone/reviews/{}", path(1)));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("labels:\n  severity: low\n") && !text.contains("others"), "{text}");
    bench.app().reviews().undo_review(None, &run_id(&bench, &path(1)), change).unwrap();
    assert!(!file.exists());
}

#[test]
fn a_filter_becomes_a_label_and_the_file_keeps_its_comments() {
    let bench = bench();
    let save = |name: &str, question: &str| {
        bench.app().labels().save_label(None, name, question).map_err(|error| error.message)
    };
    save("dear one", "label:quick cost:>1").unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert_eq!(text, format!("{LABELS}  \"dear one\": \"label:quick cost:>1\"\n"));
    assert_eq!(paths(&bench, "-label:\"dear one\"").len(), 3);
    for (name, question, message) in [
        ("quick", "cost:>1", "The label was not saved: There is a label named `quick`."),
        ("me", "label:me", "label:me: There is no label “me”."),
        ("me", "modle:o1", "modle:o1: Unknown key"),
        ("me", "", "The label was not saved: A label needs a filter"),
        ("", "cost:>1", "The label was not saved: The name of a label"),
    ] {
        let refused = save(name, question).unwrap_err();
        assert!(refused.starts_with(message), "{refused}");
    }
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), text);
    let wrong = bench.app().labels().save_label(Some("another"), "x", "cost:>1").unwrap_err();
    assert!(wrong.message.contains("another folder is open"));
}

#[test]
fn a_label_that_people_give_is_added_and_given() {
    let bench = bench();
    let add = |name: &str, schema: LabelSchema| {
        bench.app().labels().add_label(None, name, &schema).map_err(|error| error.message)
    };
    let category = |values: &[&str]| LabelSchema::Category {
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    add(" tone ", category(&["kind", "rude"])).unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert_eq!(
        text,
        format!("{LABELS}  \"tone\": {{ kind: category, values: [\"kind\", \"rude\"] }}\n")
    );
    wait("the label can be given", || {
        let labels = bench.app().labels().label_schemas().unwrap();
        labels.iter().any(|label| label.name == "tone" && label.schema.is_some())
    });
    for (name, schema, message) in [
        ("Severity", LabelSchema::Text, "The label was not saved: There is a label named"),
        ("", LabelSchema::Text, "The label was not saved: The name of a label"),
        ("x", category(&[]), "A category needs at least one value."),
        ("x", category(&["a", "a"]), "The label was not saved: A label cannot be added"),
        ("x", LabelSchema::Number { min: Some(2.0), max: Some(1.0) }, "The least value has to be"),
    ] {
        let refused = add(name, schema).unwrap_err();
        assert!(refused.starts_with(message), "{refused}");
    }
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), text);
}

fn edit(name: &str, question: Option<&str>, schema: Option<LabelSchema>) -> LabelEdit {
    LabelEdit { name: name.to_owned(), question: question.map(str::to_owned), schema }
}

#[test]
fn a_label_is_renamed_with_the_questions_that_ask_for_it_and_edited() {
    let bench = bench();
    let change = |name: &str, edit: LabelEdit| {
        bench.app().labels().change_label(None, name, &edit).map_err(|error| error.message)
    };
    let uses = bench.app().labels().label_uses("quick").unwrap();
    assert_eq!((uses.runs, uses.labels, uses.views.len()), (3, vec!["look".to_owned()], 0));
    change("quick", edit("very quick", Some("turns:<9"), None)).unwrap();
    let expected =
        LABELS.replace("  quick: turns:<3\n", "  \"very quick\": \"turns:<9\"\n").replace(
            "label:quick -label:severity=low",
            "\"label:\\\"very quick\\\" -label:severity=low\"",
        );
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), expected);
    wait("the new name counts", || paths(&bench, "label:\"very quick\"").len() == 3);
    assert_eq!(paths(&bench, "label:look").len(), 3);
    let category = |values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Some(LabelSchema::Category { values })
    };
    change("severity", edit("severity", None, category(&["low", "mid", "high"]))).unwrap();
    change("points", edit("points", None, Some(LabelSchema::Number { min: None, max: Some(9.0) })))
        .unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(text.contains("values: [\"low\", \"mid\", \"high\"] }"), "{text}");
    assert!(text.contains("points: { kind: number, max: 9 }"), "{text}");
    for (name, edit, message) in [
        ("gone", edit("x", Some("a"), None), "There is no label `gone`"),
        ("look", edit("Severity", Some("a"), None), "The label was not saved: There is a label"),
        ("look", edit("look", Some("label:look"), None), "Its question leads back to itself"),
        ("look", edit("look", Some(" "), None), "The question of a label has to be a filter"),
        ("look", edit("look", None, Some(LabelSchema::Text)), "A label keeps its kind."),
        ("severity", edit("severity", None, category(&[])), "A category needs at least one"),
        ("severity", edit("severity", None, category(&["a", "a"])), "The label was not saved"),
    ] {
        let refused = change(name, edit).unwrap_err();
        assert!(refused.starts_with(message), "{refused}");
    }
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), text);
    let wrong = bench.app().labels().remove_label(Some("another"), "look").unwrap_err();
    assert!(wrong.message.contains("another folder is open"), "{}", wrong.message);
}

#[test]
fn a_label_that_others_or_reviews_need_is_kept_and_values_outlive_a_removed_label() {
    let bench = bench();
    give(&bench, 1, "Ann", &[("severity", "high")]).unwrap();
    wait("the value is listed", || paths(&bench, "label:severity=high").len() == 1);
    let used = bench.app().labels().remove_label(None, "severity").unwrap_err();
    assert_eq!(used.message, "The label was not removed: `look` asks for it.");
    bench.app().labels().remove_label(None, "look").unwrap();
    bench.app().labels().remove_label(None, "severity").unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert_eq!(
        text,
        "# mine\nlabels:\n  quick: turns:<3\n  points: { kind: number, min: 0, max: 5 }\n"
    );
    wait("it is no label any more", || {
        bench.app().runs().check_filter_of_folder("label:severity").is_err()
    });
    bench.write(FILE, format!("{text}  severity: {{ kind: text }}\n"));
    wait("its values count again", || paths(&bench, "label:severity=high") == [path(1)]);
}

#[test]
fn reports_and_exports_have_the_labels() {
    let bench = bench();
    give(&bench, 1, "Ann", &[("severity", "high"), ("points", "4")]).unwrap();
    give(&bench, 2, "Ann", &[("severity", "low")]).unwrap();
    give(&bench, 2, "Zoë", &[("severity", "high")]).unwrap();
    wait("the values are listed", || paths(&bench, "label:severity=high").len() == 2);
    let report = |format| {
        let request = ReportRequest::for_format(format);
        bench.app().reports().make_report(&request, true).unwrap().text
    };
    let json: serde_json::Value = serde_json::from_str(&report(ReportFormat::Json)).unwrap();
    let sums: Vec<_> = json["labels"].as_array().unwrap().iter().collect();
    let count = |at: usize| (sums[at]["runs"].clone(), sums[at]["of"].clone());
    let names: Vec<_> = sums.iter().map(|sum| sum["label"].as_str().unwrap()).collect();
    assert_eq!(names, ["quick", "look", "severity", "severity", "points"]);
    assert_eq!(sums[2]["value"], "low");
    let pair = |runs: u64, of: u64| (runs.into(), of.into());
    assert_eq!(
        [0, 1, 2, 3, 4].map(count),
        [pair(3, 3), pair(2, 3), pair(1, 2), pair(2, 2), pair(1, 1)]
    );
    assert!(sums[0]["rate"]["low"].as_f64().unwrap() < 1.0);
    assert_eq!((&sums[4]["mean"]["value"], &sums[4]["rate"]), (&4.0.into(), &().into()));
    let lines = report(ReportFormat::Csv);
    let rows: Vec<&str> = lines.lines().collect();
    assert!(rows[0].ends_with(",label.look,label.points,label.quick,label.severity"), "{lines}");
    assert!(rows[1].ends_with(",,,yes,high; low"), "{lines}");
    assert!(rows[2].ends_with(",yes,,yes,"), "{lines}");
    assert!(rows[3].ends_with(",yes,4,yes,high"), "{lines}");
    let markdown = report(ReportFormat::Markdown);
    assert!(markdown.contains("| severity | low | promptql/o1 | 1/2 | 0.50 "), "{markdown}");
    let html = report(ReportFormat::Html);
    assert!(html.contains("<h2>Labels</h2>") && html.contains("href=\"#labels\""));
    let request = ExportRequest {
        id: run_id(&bench, &path(2)),
        format: ExportFormat::Atif,
        redact: None,
        include_sensitive: false,
    };
    let exported = bench.app().reports().export_run(&request).unwrap().text;
    let labels = "\"labels\":{\"quick\":true,\"severity\":[\"high\",\"low\"]}";
    assert!(exported.replace([' ', '\n'], "").contains(labels), "{exported}");
}

#[test]
fn a_label_with_a_mistake_is_a_problem_and_matches_nothing() {
    let bench = Bench::new()
        .file(FILE, "labels: { a: 'label:b', b: 'label:a', c: 'modle:o1' }\n")
        .answered("results/t-promptql-o1-variation0.yaml", "one")
        .open();
    for filter in ["label:a", "-label:a", "label:c", "label:none"] {
        assert_eq!(paths(&bench, filter), [""; 0], "{filter}");
        assert!(bench.app().runs().check_filter_of_folder(filter).is_err());
    }
    let messages: Vec<String> = bench.problems().into_iter().map(|one| one.message).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].starts_with("Label `a`: Its question leads back to itself: a → b → a."));
    // A correction counts at once.
    bench.write(FILE, "labels: { a: 'turns:<9' }\n");
    wait("the label is corrected", || paths(&bench, "label:a").len() == 1);
}

#[test]
fn a_label_that_takes_a_search_of_transcripts_is_listed_without_a_count() {
    let bench = Bench::new()
        .file(FILE, "labels:\n  word: one\n  uses: -label:word turns:<3\n  quick: turns:<3\n")
        .answered("results/t-promptql-o1-variation0.yaml", "one")
        .open();
    run_id(&bench, &path(1));
    let facets = bench.app().runs().facets().unwrap();
    let facet = facets.keys.iter().find(|facet| facet.key == "label").unwrap();
    let counts: Vec<_> = facet.values.iter().map(|one| (one.value.as_str(), one.count)).collect();
    assert_eq!(counts, [("word", None), ("uses", None), ("quick", Some(1))]);
    let counted: Vec<_> = bench.app().labels().all().unwrap().iter().map(|one| one.count).collect();
    assert_eq!(counted, [Some(1), Some(0), Some(1)]);
    let schemas: Vec<_> = bench.app().labels().label_schemas().unwrap();
    assert_eq!(schemas.len(), 3);
    assert!(schemas.iter().all(|one| one.count.is_none() && one.values.is_empty()));
}

#[test]
fn a_value_that_left_its_category_is_listed_with_the_labels_but_not_suggested() {
    let bench = bench();
    give(&bench, 1, "Ann", &[("severity", "low")]).unwrap();
    give(&bench, 2, "Ann", &[("severity", "high")]).unwrap();
    wait("the values are listed", || paths(&bench, "label:severity").len() == 2);
    bench.write(FILE, "labels:\n  severity: { kind: category, values: [high] }\n");
    let suggested = || {
        let facets = bench.app().runs().facets().unwrap();
        let facet = facets.keys.into_iter().find(|facet| facet.key == "label").unwrap();
        facet.values.into_iter().map(|one| one.value).collect::<Vec<_>>()
    };
    wait("the value is not suggested", || suggested() == ["severity", "severity=high"]);
    let labels = bench.app().labels().all().unwrap();
    let values: Vec<_> = labels[0].values.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(values, ["high", "low"]);
    assert_eq!(paths(&bench, "label:severity -label:severity=high"), [path(1)]);
}

#[test]
fn the_values_of_a_renamed_label_follow_it_also_those_that_hold_no_more() {
    let bench = bench();
    give(&bench, 1, "Ann", &[("severity", "high")]).unwrap();
    wait("the value is listed", || paths(&bench, "label:severity=high").len() == 1);
    bench.write(
        &format!("results/{}", path(1)),
        super::bench::answered("else").replace("n: 3", "n: 4"),
    );
    wait("the value holds no more", || paths(&bench, "label:severity").is_empty());
    let schema = |values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Some(LabelSchema::Category { values })
    };
    let change = |name: &str, values: &[&str]| {
        let edit = edit(name, None, schema(values));
        bench.app().labels().change_label(None, "severity", &edit).map_err(|error| error.message)
    };
    let lost = change("severity", &["low"]).unwrap_err();
    assert_eq!(lost, "The label keeps its value high: reviews give it.");
    give(&bench, 2, "Bo", &[("severity", "low")]).unwrap();
    wait("the other value is listed", || paths(&bench, "label:severity=low").len() == 1);
    change("harm", &["low", "high"]).unwrap();
    wait("its values follow", || {
        bench.app().runs().check_filter_of_folder("label:harm").is_ok()
            && paths(&bench, "label:harm=low") == [path(2)]
    });
    let file = |n: u32| {
        let review = format!("results/.touchstone/reviews/{}", path(n));
        fs::read_to_string(bench.path(&review)).unwrap()
    };
    assert!(file(1).contains("harm: high") && !file(1).contains("severity"), "{}", file(1));
    assert!(file(2).contains("harm: low"), "{}", file(2));
    let workspace = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(workspace.contains("harm"), "{workspace}");
    // Another label of the former name: its values are not mixed with those of the renamed one.
    bench.write(FILE, format!("{workspace}  severity: {{ kind: text }}\n"));
    wait("there is such a label", || {
        bench.app().runs().check_filter_of_folder("label:severity").is_ok()
    });
    give(&bench, 3, "Cy", &[("severity", "odd")]).unwrap();
    wait("it has a value", || paths(&bench, "label:severity=odd").len() == 1);
    let text = edit("harm", None, Some(LabelSchema::Text));
    let taken = bench.app().labels().change_label(None, "severity", &text).unwrap_err();
    assert_eq!(taken.message, "The label was not saved: There is a label named `harm`.");
    // Nor where that label is gone, and reviews still have its values.
    bench.write(FILE, workspace);
    wait("it is gone", || bench.app().runs().check_filter_of_folder("label:severity").is_err());
    let back = edit("severity", None, schema(&["low", "high"]));
    let kept = bench.app().labels().change_label(None, "harm", &back).unwrap_err();
    let why = "The label keeps its name: 1 review has values of `severity` from before.";
    assert_eq!(kept.message, why);
    assert!(file(3).contains("severity: odd"), "{}", file(3));
}

#[test]
fn texts_of_labels_of_sensitive_runs_are_left_out_of_reports_and_exports() {
    let bench = Bench::new()
        .file(FILE, "labels:\n  said: { kind: text }\n  bad: { kind: category, values: [yes] }\n")
        .file("results/.touchstone/sensitive/m.json", "{\"tasks\": [\"t\"]}")
        .answered("results/t-promptql-o1-variation0.yaml", "one")
        .open();
    give(&bench, 1, "Ann", &[("said", "pasted quote"), ("bad", "yes")]).unwrap();
    wait("the value is listed", || paths(&bench, "label:bad=yes").len() == 1);
    for format in [ReportFormat::Json, ReportFormat::Csv] {
        let with = |include_sensitive| {
            let request = ReportRequest { include_sensitive, ..ReportRequest::for_format(format) };
            bench.app().reports().make_report(&request, true).unwrap().text
        };
        assert!(with(true).contains("pasted quote"), "{}", with(true));
        let without = with(false);
        let left_out = without.contains("[sensitive text left out]");
        assert!(left_out && !without.contains("pasted quote"), "{without}");
    }
    for (include_sensitive, has) in [(true, true), (false, false)] {
        let id = run_id(&bench, &path(1));
        let format = ExportFormat::Atif;
        let request = ExportRequest { id, format, redact: None, include_sensitive };
        let text = bench.app().reports().export_run(&request).unwrap().text;
        assert_eq!(text.contains("pasted quote"), has, "{text}");
        assert!(text.contains("\"bad\""), "{text}");
    }
}
