//! Tests of the names of scorers in suites, and of the default scorers.
use super::{scorer, value};
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{
    Better, Need, Scorer, benchmark_scorers, choose, defaults, read,
};

fn read_yaml(list: &str) -> (Vec<Scorer>, Vec<String>) {
    match value(list) {
        Value::List(items) => read(&items),
        one => read(&[one]),
    }
}

/// Returns the names of the scorers, and the warnings.
fn format_scorers(list: &str) -> String {
    let (scorers, warnings) = read_yaml(list);
    let names: Vec<&str> = scorers.iter().map(Scorer::name).collect();
    let mut lines = vec![names.join(" | ")];
    lines.extend(warnings);
    lines.join("\n")
}

#[test]
fn every_scorer_of_the_design_can_be_named() {
    for (line, name) in [
        ("exact", "exact"),
        ("fields", "fields"),
        ("fields: {key: ticket_id, tolerance: 0.1, threshold: 0.9}", "fields"),
        ("fields: ticket_id", "fields"),
        ("fields: {key: [ticket_id, plan], ignore: note, ordered: true, strict: true}", "fields"),
        ("numeric", "numeric"),
        ("numeric: 5", "numeric"),
        ("numeric: 1%", "numeric"),
        ("numeric: {cutoff: 5, relative: true, field: priority_score}", "numeric: priority_score"),
        ("numeric: priority_score", "numeric: priority_score"),
        ("prefix_list", "prefix_list"),
        ("similar_list: 3", "similar_list"),
        ("kendall_tau", "kendall_tau"),
        ("kendall_tau: {key: ticket_id}", "kendall_tau"),
        ("text: f1", "text: f1"),
        ("\"text:f1\"", "text: f1"),
        ("text: {metric: rougeL, threshold: .5, nltk: 3.9.1}", "text: rougeL"),
        ("text: rouge5", "text: rouge5"),
        ("string_check: ilike", "string_check: ilike"),
        ("string_check: {op: like, reference: done}", "string_check: like"),
        ("string_check", "string_check: eq"),
        ("text_similarity: fuzzy", "text_similarity: fuzzy"),
        (
            "text_similarity: {evaluation_metric: fuzzy_match, pass_threshold: 0.8}",
            "text_similarity: fuzzy",
        ),
        ("text_similarity: rouge_l", "text_similarity: rougeL"),
        ("tool_calls", "tool_calls"),
        ("api_calls", "api_calls"),
        ("api_calls: seed", "api_calls: seed"),
        ("api_calls: {compat: seed, threshold: 0.5}", "api_calls: seed"),
        ("finish", "finish"),
        ("finish: ours", "finish"),
        ("finish: {rule: official}", "finish: official"),
        ("seed_heuristic", "seed_heuristic"),
        ("seed_heuristic: seed", "seed_heuristic: seed"),
        ("python: scorer.py", "python: scorer.py"),
        ("python: {path: checks/scorer.py, threshold: 0.8}", "python: checks/scorer.py"),
        ("judge:relevance", "judge:relevance"),
        ("judge: relevance", "judge:relevance"),
        ("judge:relevance: {model: anything, rounds: 3}", "judge:relevance"),
    ] {
        let found = scorer(line);
        assert_eq!(found.name(), name, "{line}");
        let twos = [
            "exact",
            "judge:relevance",
            "api_calls",
            "text_similarity: fuzzy",
            "text_similarity: rougeL",
            "text: rougeL",
        ];
        let version = match name {
            name if name.starts_with("fields") || name.starts_with("numeric") => 3,
            _ if twos.contains(&name) || line.starts_with("api_calls") => 2,
            _ => 1,
        };
        assert_eq!((found.version(), found.better()), (version, Better::Higher), "{line}");
    }
}

#[test]
fn a_list_may_be_written_in_any_way_that_says_which_scorers_are_meant() {
    for list in [
        "[exact, text: f1, numeric: {cutoff: 5}]",
        "- exact\n- text: f1\n- numeric:\n    cutoff: 5",
        "exact:\ntext: f1\nnumeric: {cutoff: 5}",
        "[{exact: }, {text: {metric: F1}}, {numeric: {cutoff: 5}}]",
    ] {
        assert_eq!(format_scorers(list), "exact | text: f1 | numeric", "{list}");
    }
}

#[test]
fn what_cannot_be_read_is_left_out_with_what_to_write() {
    insta::assert_snapshot!(format_scorers("[feilds, exact]"), @r"
    exact
    `feilds` is not a scorer, so it is left out. Did you mean `fields`?
    ");
    insta::assert_snapshot!(format_scorers("accuracy"), @"

    `accuracy` is not a scorer, so it is left out. Known are `exact`, `fields`, `numeric`, \
        `prefix_list`, `similar_list`, `kendall_tau`, `text`, `string_check`, `text_similarity`, \
        `tool_calls`, `goal_reached`, `api_calls`, `finish`, `seed_heuristic`, `python`, `label_model`, \
        `score_model` and `judge`.
    ");
    insta::assert_snapshot!(format_scorers("[text, text: cosine, text: rougl, text_similarity: f1]"), @"

    `text` needs a measure, so it is left out. Write one of `f1`, `bleu`, `gleu`, `meteor`, `rouge1`, `rouge2`, `rouge3`, `rouge4`, `rouge5` and `rougeL`.
    `cosine` is not a measure of `text`, so it is left out. Write one of `f1`, `bleu`, `gleu`, \
        `meteor`, `rouge1`, `rouge2`, `rouge3`, `rouge4`, `rouge5` and `rougeL`.
    `rougl` is not a measure of `text`, so it is left out. Did you mean `rougeL`?
    `f1` is not a measure of `text_similarity`, so it is left out. Write one of `fuzzy`, `bleu`, \
        `gleu`, `meteor`, `rouge1`, `rouge2`, `rouge3`, `rouge4`, `rouge5` and `rougeL`.
    ");
    insta::assert_snapshot!(format_scorers("[numeric: {cutoff: wide}, fields: {tolerance: -1}, fields: {threshold: 80}, similar_list: {cutoff: 1.5}]"), @"

    `cutoff: wide` of `numeric` cannot be read, so the scorer is left out. Write a number from 0, or a percentage such as `1%`.
    `tolerance: -1` of `fields` cannot be read, so the scorer is left out. Write a number from 0, \
        a share such as `1%`, or both as `{ absolute: 0.5, relative: 0.01 }`.
    `threshold: 80` of `fields` cannot be read, so the scorer is left out. Write a number from 0 to 1.
    `cutoff: 1.5` of `similar_list` cannot be read, so the scorer is left out. Write a whole number from 0.
    ");
    insta::assert_snapshot!(format_scorers("[judge: {name: fac, rules: official}, judge: {name: sopr, rules: official}]"), @r"
    judge:sopr
    `judge:fac` has no official rules, so it is left out. Leave `rules: official` out of it.
    ");
    insta::assert_snapshot!(format_scorers("[python, judge, 5, [exact], exact: 3, string_check: same, text: {metric: f1, nltk: 2}]"), @r"

    `python` needs a module, so it is left out. Write its path beside the suite: `python: scorer.py`.
    `judge` needs a name, so it is left out. Write it as `judge:relevance`.
    A scorer has to be a name, such as `fields` or `text: f1`.
    A scorer has to be a name, such as `fields` or `text: f1`.
    `exact` does not take `3`, so it is left out.
    `operation: same` of `string_check` cannot be read, so the scorer is left out. Write `eq`, `ne`, `like` or `ilike`.
    `nltk: 2` of `text` cannot be read, so the scorer is left out. Write `3.10.4` or `3.9.1`.
    ");
}

#[test]
fn what_is_only_misspelt_or_misplaced_is_said_and_the_scorer_kept() {
    insta::assert_snapshot!(format_scorers("fields: {tolerence: 1, ids: [a]}"), @r"
    fields
    `ids` is not an option of `fields`, so it has no effect. It has `key`, `tolerance`, `relative`, `ignore`, `ordered`, `strict`, `dates` and `threshold`.
    `tolerence` is not an option of `fields`, so it has no effect. Did you mean `tolerance`?
    ");
    insta::assert_snapshot!(format_scorers("- text: f1\n  threshold: 0.7"), @r"
    text: f1
    `threshold` is beside `text`, so it has no effect. Indent it below, as in `text: { threshold: … }`.
    ");
    insta::assert_snapshot!(format_scorers("[fields, fields: {tolerance: 1}, fields]"), @r"
    fields | fields 2
    `fields` is there twice; once is enough.
    ");
    insta::assert_snapshot!(format_scorers("[judge: {name: tone, model: a}, judge: {name: tone, model: b}]"), @"judge:tone | judge:tone 2");
}

#[test]
fn a_suite_that_names_none_gets_what_fits_its_expected_output() {
    for (expected, usual, of_the_benchmark) in [
        ("[{ticket_id: 143}, {ticket_id: 287}]", "fields", "kendall_tau"),
        ("[143, 287]", "fields", "kendall_tau"),
        ("[{ticket_id: 143, plan: free}]", "fields", "exact"),
        ("[]", "fields", "exact"),
        ("{mean: 5}", "fields", "exact"),
        ("2301.8", "numeric", "numeric"),
        ("Paris", "text: f1", "exact"),
        ("true", "exact", "exact"),
        ("null", "exact", "exact"),
    ] {
        let expected = value(expected);
        let names =
            |scorers: &[Scorer]| scorers.iter().map(Scorer::name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(&defaults(Some(&expected))), usual, "{expected:?}");
        assert_eq!(names(&benchmark_scorers(Some(&expected))), of_the_benchmark, "{expected:?}");
        assert_eq!(names(&choose(&[], Some(&expected)).0), usual);
        assert_eq!(names(&choose(&["exact".into()], Some(&expected)).0), "exact");
        let (scorers, warnings) = choose(&["exakt".into()], Some(&expected));
        // An unknown name is an error, and no default scorer replaces it.
        assert_eq!((names(&scorers).as_str(), warnings.len()), ("", 1));
    }
    assert_eq!((defaults(None), benchmark_scorers(None)), (vec![], vec![]));
}

#[test]
fn scorers_with_other_options_have_another_identity() {
    let identity = |line: &str| scorer(line).identity();
    assert_eq!(
        identity("fields: {key: id, tolerance: 1}"),
        identity("fields: {tolerance: 1, key: id}")
    );
    assert_eq!(identity("fields"), "fields v3 {}");
    let all = [
        "fields",
        "fields: {key: id}",
        "fields: {tolerance: 1}",
        "fields: {tolerance: 1%}",
        "fields: {threshold: 0.5}",
        "numeric",
        "numeric: 5",
        "text: f1",
        "text: {metric: f1, nltk: 3.9.1}",
        "judge:relevance",
        "judge:relevance: {model: a}",
    ];
    let identities: std::collections::BTreeSet<String> =
        all.iter().map(|line| identity(line)).collect();
    assert_eq!(identities.len(), all.len());
}

#[test]
fn scorers_that_take_a_program_or_a_model_say_so() {
    assert_eq!(scorer("python: scorer.py").need(), Some(Need::Program("scorer.py".to_owned())));
    assert_eq!(scorer("judge:relevance").need(), Some(Need::Model("relevance".to_owned())));
    assert_eq!(scorer("fields").need(), None);
}

#[test]
fn a_judge_has_its_threshold_on_its_own_scale_and_says_what_it_does_not_take() {
    for (line, threshold) in [
        ("judge:relevance: {threshold: 4}", Some(0.75)),
        ("judge:relevance: {threshold: 1}", Some(0.0)),
        ("judge:violence: {threshold: 0}", Some(1.0)),
        ("judge:sopr: {threshold: 0.8}", Some(0.8)),
        ("judge:relevance: {model: m, rounds: 3}", None),
    ] {
        assert_eq!(scorer(line).threshold(), threshold, "{line}");
    }
    let said = scorer("judge:sopr: {model: m, rounds: 3, threshold: 1}");
    assert_eq!((said.rounds(), said.judge().and_then(|(_, model, _)| model)), (Some(3), Some("m")));
    insta::assert_snapshot!(
        format_scorers("[judge:relevance: {threshold: 0.8}, judge:sopr: {threshold: 4}, judge:sopr: {rounds: 50}, judge:fac: {round: 2, modle: m}]"),
        @r"
    judge:fac
    `threshold: 0.8` of `judge` cannot be read, so the scorer is left out. Write a number from 1 to 5.
    `threshold: 4` of `judge` cannot be read, so the scorer is left out. Write a number from 0 to 1.
    `rounds: 50` of `judge` cannot be read, so the scorer is left out. Write a number from 1 to 20.
    `modle` is not an option of `judge`, so it has no effect. Did you mean `model`?
    `round` is not an option of `judge`, so it has no effect. Did you mean `rounds`?
    "
    );
}

const TONE: &str = "label_model: { name: tone, input: 'x {{item.response}}', labels: [a, b], passing_labels: [a], model: m, rounds: 2 }";

#[test]
fn a_suite_may_ask_a_model_in_words_of_its_own() {
    let names = |yaml: &str| {
        let (scorers, warnings) = read_yaml(yaml);
        let names: Vec<&str> = scorers.iter().map(Scorer::name).collect();
        (names.join(" "), warnings.join(" "))
    };
    let (scorers, warnings) = read_yaml(&format!(
        "[{TONE}, score_model: {{ input: [{{ role: user, content: y }}], range: [0, 10], pass_threshold: 7 }}]"
    ));
    assert_eq!(warnings, [""; 0]);
    let (judge, model, _) = scorers[0].judge().unwrap();
    assert_eq!(
        (scorers[0].name(), &*judge.name, model, scorers[0].rounds()),
        ("judge:tone", "tone", Some("m"), Some(2))
    );
    assert!(scorers[0].passed(1.0) && !scorers[0].passed(0.5) && scorers[0].threshold().is_none());
    assert_eq!(scorers[1].name(), "judge:score_model");
    assert!(scorers[1].passed(0.7) && !scorers[1].passed(0.69));
    for (yaml, wanted) in [
        (
            "[label_model: { input: x, labels: [a], passing_labels: [b] }]",
            "`label_model` is left out. `b` of `passing_labels` is none of `labels`.",
        ),
        (
            "[label_model: { name: sopr, input: x, labels: [a], passing_labels: [a] }]",
            "`label_model` is left out. A judge named `sopr` exists already. Give this one another `name`.",
        ),
        (
            "[label_model: { name: stored, input: x, labels: [a], passing_labels: [a] }]",
            "`label_model` is left out. `stored` cannot be the name of a judge: imported verdicts use it. Give this one another `name`.",
        ),
        (
            "[score_model: { name: 'a b', input: x }]",
            "`score_model` is left out. `a b` cannot be the name of a judge. Write letters, digits, `_` and `-`.",
        ),
        (
            "[score_model: { range: [0, 1] }]",
            "`score_model` is left out. `input` has to be a list of messages, `{\"role\": …, \"content\": …}`.",
        ),
        (
            "[score_model: { input: x, pass_threshold: 7 }]",
            "`score_model` is left out. pass_threshold 7 must be within range [0.0, 1.0]",
        ),
        (
            "[text_similarity: cosine]",
            "`text_similarity: cosine` needs vectors of a model, which scorers of suites cannot \
             ask for, so it is left out. Take another measure here, or `touchstone evaluate`.",
        ),
    ] {
        assert_eq!(names(yaml), (String::new(), wanted.to_owned()), "{yaml}");
    }
    let twice = format!("[{TONE}, {}]", TONE.replace("x {{", "z {{"));
    assert_eq!(
        names(&twice),
        (
            "judge:tone".to_owned(),
            "Two scorers are named `judge:tone`, so the second is left out. Give it another `name`.".to_owned()
        )
    );
}
