//! Tests of suites in all supported forms, and of the errors in malformed ones.
#![expect(clippy::unwrap_used, reason = "a suite that cannot be read fails the test")]
use touchstone_formats::suite::{self, Expected, Suite, ground_truth, is_suite};
use touchstone_formats::system::System;
use touchstone_formats::workspace;
use touchstone_model::error::ReadErrorKind;
use touchstone_model::value::Value;
use touchstone_model::{json, yaml};

const BOTH: &str = include_str!("../../../tests/fixtures/suites/both-forms.yaml");
const BROKEN: &str = include_str!("../../../tests/fixtures/suites/broken-indentation.yaml");

fn read(text: &str) -> Suite {
    suite::read(text, "folder/task").unwrap()
}

#[test]
fn long_and_short_variations_may_stand_in_one_list() {
    let suite = read(BOTH);
    let task = &suite.tasks[0];
    assert_eq!(task.id, "folder/task");
    assert_eq!(task.expected_tool_calls, ["query_parcels", "query_depots"]);
    assert_eq!(task.artifact.as_deref(), Some("oldest_parcels"));
    assert_eq!((task.repeat, task.nudge.map(|nudge| nudge.max)), (2, Some(2)));
    let labels: Vec<String> = task.variations.iter().map(suite::Variation::label).collect();
    assert_eq!(labels, ["five", "count: 10", "count: all"]);
    assert!(
        matches!(&task.variations[0].expected, Expected::Value(Value::List(rows)) if rows.len() == 1)
    );
    assert_eq!(task.variations[1].expected, Expected::None);
    assert_eq!(task.variations[2].expected, Expected::File("all.json".into()));
    assert_eq!(task.variations[2].parameters, [("count".to_owned(), "all".into())]);
}

#[test]
fn warnings_name_place_and_what_was_probably_meant() {
    let suite = read(BOTH);
    let shown: Vec<(Option<u32>, Option<u32>, &str)> = suite
        .warnings
        .iter()
        .map(|warning| (warning.line, warning.column, warning.message.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (
                Some(5),
                Some(12),
                "`{cuont}` looks like a parameter, but no variation has one of that name. Did you mean `{count}`?"
            ),
            (
                Some(10),
                Some(1),
                "`expected_toolcalls` is not a key of a suite. Did you mean `expected_tool_calls`?"
            ),
        ]
    );
}

#[test]
fn keys_that_are_indented_deeper_than_the_first_of_their_item_are_explained() {
    let error = suite::read(BROKEN, "broken").unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (ReadErrorKind::Syntax, Some(10), Some(9)));
    assert_eq!(
        error.message,
        "`depot_id` is indented deeper than `parcel_id` on the line above, which already has a value."
    );
    assert_eq!(error.excerpt.as_deref(), Some("        depot_id: 7"));
    assert_eq!(
        error.advice.as_deref(),
        Some(
            "Put `depot_id` under `parcel_id`: begin the line with 6 spaces instead of 8, and the lines of its neighbours too."
        )
    );
    let mended =
        BROKEN.replace("        depot", "      depot").replace("        days", "      days");
    assert_eq!(read(&mended).tasks[0].variations.len(), 2);
}

#[test]
fn forms_of_other_programs_are_read() {
    let nested = read(
        "promptql:\n  retrieval_prompt: 'a {n}'\n  oracle_prompt: b\n  result_artifact_name: rows\n  result_artifact_key: id\n\
         tool_calling:\n  retrieval_prompt: 'c {n}'\n  result_tag_name: rows_tag\n\
         variations:\n  - name: ten\n    parameters: {n: 10}\n    ground_truth_path: ten.json\n    oracle_data_file_paths: [one.json]\n",
    );
    let task = &nested.tasks[0];
    assert_eq!(
        (
            task.prompt(&System::PromptQl),
            task.prompt(&System::ToolCalling),
            task.prompt(&System::ToolCallingPython)
        ),
        (Some("a {n}"), Some("c {n}"), Some("c {n}"))
    );
    assert_eq!(
        (task.artifact.as_deref(), task.artifact_key.as_deref(), task.result_tag_name.as_deref()),
        (Some("rows"), Some("id"), Some("rows_tag"))
    );
    assert_eq!(task.variations[0].oracle_files[0].path, "one.json");
    let flat = read(
        "llm_prompt: a\noracle_prompt: b\noracle_data_list: [x.json]\nresult_tag_name: time\nground_truth_path: t.txt\nrepeat: 3\n",
    );
    let task = &flat.tasks[0];
    assert_eq!((task.prompt(&System::ToolCalling), task.repeat), (Some("a"), 3));
    assert_eq!(task.variations[0].expected, Expected::File("t.txt".into()));
    assert_eq!(task.variations[0].oracle_files[0].path, "x.json");
    assert!(flat.warnings.is_empty() && nested.warnings.is_empty());
}

#[test]
fn a_variation_without_a_parameter_that_the_prompt_uses_is_a_warning() {
    let suite = read(
        "llm_prompt: '{data} by {by}: {{}}'\nvariations:\n- {data: all, by: day}\n- {data: last 20}\n- parameters: {by: week}\n",
    );
    let told: Vec<_> =
        suite.warnings.iter().map(|one| (one.line.unwrap(), one.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (4, "This variation has no `by`, so `{by}` stays in its prompt unchanged."),
            (5, "This variation has no `data`, so `{data}` stays in its prompt unchanged.")
        ]
    );
    let task = &suite.tasks[0];
    let filled = |at| task.fill(task.prompt(&System::ToolCalling).unwrap(), Some(at));
    assert_eq!([filled(0), filled(1)], ["all by day: {}", "last 20 by {by}: {}"]);
}

#[test]
fn a_folder_of_loose_prompts_is_a_task() {
    let files = [
        ("promptql_prompt.txt", "do {\"x\": 1}"),
        (
            "correct_answer.json",
            r#"{"identifier": "rows", "title": "t", "artifact_type": "table", "data": [{"a": 1}]}"#,
        ),
    ];
    let suite = suite::from_folder("task", &files).unwrap().unwrap();
    assert_eq!(suite.tasks[0].artifact.as_deref(), Some("rows"));
    assert_eq!(
        suite.tasks[0].variations[0].expected,
        Expected::Value(yaml::read("- a: 1").unwrap())
    );
    assert!(suite::from_folder("task", &[("a.txt", "b")]).is_none());
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    for (text, kind, line, words) in [
        ("- a", ReadErrorKind::NotSuite, Some(1), "no map"),
        ("llm_prompt: a\nnudge: often", ReadErrorKind::BadValue, Some(2), "true, false or a map"),
        ("variations: []", ReadErrorKind::NotSuite, None, "no prompt"),
        ("llm_prompt: a\nvariations: {a: 1}", ReadErrorKind::BadValue, Some(2), "has to be a list"),
        ("llm_prompt: a\nvariations:\n- a", ReadErrorKind::BadValue, Some(3), "has to be a map"),
        (
            "llm_prompt: a\nvariations:\n- expected_output: 1\n  ground_truth_path: b",
            ReadErrorKind::BadValue,
            Some(4),
            "both given",
        ),
        ("llm_prompt: a\nrepeat: often", ReadErrorKind::BadValue, Some(2), "whole number"),
        ("llm_prompt: a\nllm_prompt: b", ReadErrorKind::Duplicate, Some(2), "twice"),
    ] {
        let error = suite::read(text, "t").unwrap_err();
        assert_eq!((error.kind, error.line), (kind, line), "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
}

#[test]
fn a_misspelt_key_of_a_short_variation_is_a_warning_unless_a_prompt_uses_it() {
    let suite = read(
        "llm_prompt: 'a {names}'\nvariations:\n- names: x\n  expected_outptu: 3\n- expected_outptu: 4\n  names: y\n",
    );
    let shown: Vec<_> =
        suite.warnings.iter().map(|one| (one.line, one.column, one.message.as_str())).collect();
    let message = "`expected_outptu` is not a key of a suite. Did you mean `expected_output`?";
    assert_eq!(shown, [(Some(4), Some(3), message)]);
}

#[test]
fn a_nudge_may_be_switched_off_in_a_word() {
    for (text, auto, max) in
        [("false", false, 3), ("true", true, 3), ("{max: 5}", true, 5), ("{auto: false}", false, 3)]
    {
        let nudge = read(&format!("llm_prompt: a\nnudge: {text}\n")).tasks[0].nudge.unwrap();
        assert_eq!((nudge.auto, nudge.max), (auto, max), "{text}");
    }
}

#[test]
fn a_shared_answer_is_not_repeated_without_limit() {
    let text = format!(
        "llm_prompt: a\nexpected_output: [{}]\nvariations:\n{}",
        "1,".repeat(10_000),
        "- a: 1\n".repeat(300)
    );
    assert_eq!(suite::read(&text, "t").unwrap_err().kind, ReadErrorKind::TooLarge);
}

#[test]
fn merge_keys_share_what_variations_have_in_common() {
    let suite =
        read("llm_prompt: '{a}{b}'\nvariations:\n- &base {a: 1, b: 2}\n- <<: *base\n  b: 3\n");
    let parameters = &suite.tasks[0].variations[1].parameters;
    let number = |text: &str| Value::Number(text.to_owned());
    assert_eq!(
        parameters.as_slice(),
        [("b".to_owned(), number("3")), ("a".to_owned(), number("1"))]
    );
}

#[test]
fn gold_files_are_json_yaml_or_text() {
    assert_eq!(ground_truth("a.json", "[1]").unwrap(), yaml::read("[1]").unwrap());
    assert_eq!(ground_truth("a.txt", "1000.10\n").unwrap(), Value::Number("1000.10".into()));
    assert_eq!(ground_truth("a.txt", "some words\n").unwrap(), "some words".into());
    assert!(ground_truth("a.json", "[1").is_err());
}

#[test]
fn suites_are_told_from_transcripts() {
    assert!(is_suite(&yaml::read(BOTH).unwrap()));
    assert!(is_suite(&yaml::read("tool_calling_python_prompt: a").unwrap()));
    assert!(!is_suite(&yaml::read("conversation: []").unwrap()));
    assert!(!is_suite(&yaml::read("tool_calling: 3").unwrap()));
}

#[test]
fn a_workspace_file_names_folders_models_and_tools() {
    let text = "input_dir: tasks\nmodels:\n  claude: { provider: anthropic, max_tokens: 8192, price: { input: 3.0, output: 15 } }\n\
                tools:\n  q: { kind: sql, database: 'sqlite:a.db' }\nrun: { concurrency: 8, max_cost: 5.00, nudge: { auto: true, max: 3 } }\n";
    let read = workspace::read(text).unwrap();
    assert_eq!((read.input_dir.as_deref(), read.output_dir.as_deref()), (Some("tasks"), None));
    let price = read.models[0].price.unwrap();
    assert!((price.input - 3.0).abs() < 1e-9 && (price.output - 15.0).abs() < 1e-9);
    assert_eq!(
        (read.run.concurrency, read.run.max_cost, read.run.nudge_max),
        (Some(8), Some(5.0), Some(3))
    );
    assert_eq!(read.tools[0].0, "q");
    assert_eq!(workspace::read("# nothing\n").unwrap(), workspace::Workspace::default());
}

#[test]
fn a_key_in_a_workspace_file_is_refused_and_not_repeated() {
    for text in [
        "models:\n  claude: { api_key: abc }\n",
        "systems:\n  promptql: { headers: [sk-012345678901234567890] }\n",
        "tools:\n  x: { headers: { Authorization: 'Bearer 0123456789abcdef0123' } }\n",
    ] {
        let error = workspace::read(text).unwrap_err();
        assert_eq!(
            (error.kind, error.line, &error.excerpt),
            (ReadErrorKind::BadValue, Some(2), &None),
            "{text}"
        );
        assert!(error.advice.is_some());
    }
    assert!(
        workspace::read("models:\n  a: { max_tokens: 5, price: { input: 0, output: 0 } }\n")
            .is_ok()
    );
}

#[test]
fn the_name_of_a_key_in_braces_is_no_key() {
    let with = |value: &str| {
        format!(
            "tools:\n  x: {{ headers: {{ Authorization: '{value}' }}, env: {{ API_KEY: '{value}' }} }}\n"
        )
    };
    for name in ["Bearer ${A_RATHER_LONG_NAME_1}", "${TOKEN}", "Basic ${A}"] {
        assert!(workspace::read(&with(name)).is_ok(), "{name}");
    }
    for key in ["Bearer ${A}b0123456789abcdef0", "${A}0123", "${}", "${a key}", "x${A}"] {
        assert!(workspace::read(&with(key)).is_err(), "{key}");
    }
}

#[test]
fn a_query_set_is_many_tasks() {
    let text = r#"[{"api_list": [{"tool_name": "t", "api_name": "a"}], "query": "find {x}", "relevant APIs": [["t", "a"]], "query_id": 588},
                  {"query": "second"}]"#;
    let suite = suite::read(text, "sets/G1").unwrap();
    let ids: Vec<&str> = suite.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["sets/G1/588", "sets/G1/1"]);
    assert_eq!(suite.tasks[0].prompt(&System::ToolCalling), Some("find {x}"));
    let query = suite.tasks[0].query.as_ref().unwrap();
    assert_eq!(
        (query.set.as_str(), query.id.as_str(), query.categories()),
        ("G1", "588", vec![""])
    );
    assert_eq!(query.row(), json::read(text).unwrap().items()[0]);
    assert_eq!(suite.tasks[0].expected_tool_calls, ["a_for_t"]);
    assert_eq!(suite.tasks[1].expected_tool_calls, [""; 0]);
    assert!(is_suite(&yaml::read(text).unwrap()) && !is_suite(&yaml::read("[{a: 1}]").unwrap()));
    assert_eq!(suite::read(r#"[{"query": 5}]"#, "t").unwrap_err().kind, ReadErrorKind::NotSuite);
}

#[test]
fn a_query_that_stands_twice_in_a_set_is_said() {
    let set = r#"[{"query_id": 7, "query": "a"}, {"query_id": 7, "query": "b"}, {"query_id": 8, "query": "c"}]"#;
    let suite = suite::read(set, "G1").unwrap();
    let said: Vec<&str> = suite.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(said, ["The query 7 appears twice in this set; the last one counts."]);
}

#[test]
fn a_user_stands_in_place_of_a_prompt() {
    let text = "user:\n  persona: A {mood} person.\n  goal: Book it.\n  knows: { name: Ada, seats: [1, 2] }\n  model: m\nvariations:\n- mood: calm\n";
    let suite = read(text);
    assert_eq!(suite.warnings, []);
    let task = &suite.tasks[0];
    let user = task.user.as_ref().unwrap();
    assert_eq!((user.max_turns, user.model.as_deref()), (8, Some("m")));
    assert_eq!(
        task.user_texts(Some(0)),
        [
            ("persona", "A calm person.".to_owned()),
            ("goal", "Book it.".to_owned()),
            ("knows", "- name: Ada\n- seats: [1,2]".to_owned())
        ]
    );
    assert!(task.suits(&System::ToolCalling, Some(0)));
    assert!(!task.suits(&System::PromptQl, Some(0)));
    assert!(is_suite(&yaml::read(text).unwrap()));
    let warned =
        read("user: { goal: 'Book {what}.', persna: x }\nvariations:\n- whit: a\n").warnings;
    assert!(warned.iter().any(|warning| warning.message.contains("persona")), "{warned:?}");
}

#[test]
fn a_variation_can_have_a_user_of_its_own_in_place_of_the_prompt() {
    let text = concat!(
        "tool_calling_prompt: '{what}'\nvariations:\n- parameters: { what: a }\n",
        "- parameters: { what: b }\n  user: { attack: crescendo, goal: '{what}!', max_turns: 3 }\n",
    );
    let suite = read(text);
    assert_eq!(suite.warnings, []);
    let task = &suite.tasks[0];
    assert_eq!((task.user_of(Some(0)), task.users().count()), (None, 1));
    let user = task.user_of(Some(1)).unwrap();
    assert_eq!((user.max_turns, user.attack), (3, Some(suite::AttackTalk::Crescendo)));
    let texts = [("attack", "crescendo".to_owned()), ("goal", "b!".to_owned())];
    assert_eq!(task.user_texts(Some(1)), texts);
    let short = read("tool_calling_prompt: '{user}'\nvariations:\n- user: { goal: x }\n");
    assert_eq!(short.tasks[0].users().count(), 0, "without `parameters` it is a parameter");
    let wrong = "tool_calling_prompt: a\nvariations:\n- parameters: {}\n  user: { goal: x, attack: loud }\n";
    let error = suite::read(wrong, "t").unwrap_err();
    assert!(error.to_string().contains("no known way to attack"), "{error}");
}

#[test]
fn a_user_of_another_program_beside_a_prompt_is_an_unknown_key() {
    for text in
        ["tool_calling_prompt: a\nuser: ada\n", "promptql: { retrieval_prompt: a }\nuser: [ada]\n"]
    {
        let all = read(text);
        assert!(all.tasks[0].user.is_none() && all.tasks[0].extra.len() == 1, "{text}");
        assert!(all.warnings[0].message.starts_with("`user` is ignored"), "{:?}", all.warnings);
    }
}

#[test]
fn a_user_that_cannot_be_played_says_what_to_write() {
    for (text, message) in [
        ("user: hello\n", "`user` has to be a map."),
        ("user: { persona: x }\n", "The simulated user has no goal."),
        ("user: { goal: ' ' }\n", "The simulated user has no goal."),
        ("user: { goal: x, max_turns: 0 }\n", "`max_turns` of a user has to be a whole number."),
        ("user: { goal: [x] }\n", "`goal` has to be a text."),
        (
            "tool_calling_prompt: a\nuser: { goal: x }\n",
            "The task has both a prompt and a simulated user.",
        ),
    ] {
        let error = suite::read(text, "t").unwrap_err();
        assert_eq!(error.message, message, "{text}");
    }
}
