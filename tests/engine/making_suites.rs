//! Suites from the tasks of runs: they hold what was asked and expected, load without problems, and
//! never replace a file.
use crate::bench::{Bench, answered, wait_until};
use fs_err as fs;
use touchstone_api::{RunScore, SuiteRequest, TaskView};

const SUITE: &str = "promptql_prompt: Count the {status} tickets\nscorers: [fields]\ntools: []\nvariations:\n  \
                     - { status: open, expected_output: { tickets: 42 } }\n  - { status: closed, expected_output: { tickets: 17 } }\n";
const OTHER: &str = "tool_calling_prompt: Write to jane.doe@example.org from /home/jane/x\nexpected_output: jane.doe@example.org\n";
/// Results of promptfoo.
const RECORDED: &str = r#"{"evalId":"e","results":{"version":3,"results":[
{"success":true,"score":1,"provider":{"id":"openai:gpt-4o"},"prompt":{"raw":"What is 2+2?","label":"p"},
"vars":{"q":"2+2"},"response":{"output":"4"},"testIdx":0,"promptIdx":0}]}}"#;

fn bench() -> Bench {
    Bench::new()
        .file("tasks/tickets.yaml", SUITE)
        .file("tasks/mail.yaml", OTHER)
        .answered("results/tickets-promptql-o1-variation0.yaml", "one")
        .answered("results/tickets-promptql-o1-variation0-run2.yaml", "two")
        .answered("results/tickets-tool_calling-o1-variation1.yaml", "three")
        .answered("results/mail-tool_calling-o1-variation0.yaml", "four")
        .answered("results/gone-tool_calling-o1-variation0.yaml", "five")
        .open()
}

fn request(filter: &str, name: &str) -> SuiteRequest {
    SuiteRequest { filter: filter.to_owned(), name: name.to_owned(), ..SuiteRequest::default() }
}

fn task(bench: &Bench, id: &str) -> TaskView {
    wait_until(&format!("{id} is listed"), || bench.app().suites().read_task(id).ok())
}

#[test]
fn a_plan_is_of_the_folder_that_it_was_asked_for_and_follows_suites_and_labels() {
    let bench = Bench::new()
        .file("touchstone.yaml", "labels: { again: 'repeat:>1' }\n")
        .file("tasks/p.yaml", "tool_calling_python_prompt: Use Python\nexpected_output: 1\n")
        .answered("results/p-tool_calling_python-o1-variation0.yaml", "one")
        .answered("results/p-tool_calling_python-o1-variation0-run2.yaml", "two")
        .open();
    let asked = request("label:again", "");
    let plan = || bench.app().suites().plan_suite(None, &asked).unwrap();
    wait_until("the runs are listed", || (plan().runs == 1).then_some(()));
    assert_eq!((plan().tasks[0].prompt.as_str(), plan().used), ("Use Python", 1));
    let other = bench.app().suites().plan_suite(Some("another"), &asked).unwrap_err();
    assert_eq!(other.message, "The suite was not made: another folder is open now.");
    bench.write("touchstone.yaml", "labels: { again: 'repeat:<9' }\n");
    wait_until("the label is read again", || (plan().runs == 2).then_some(()));
    bench.write("tasks/p.yaml", "tool_calling_python_prompt: Use it\nexpected_output: 1\n");
    wait_until("the suite is read again", || (plan().tasks[0].prompt == "Use it").then_some(()));
}

#[test]
fn the_tasks_of_a_filter_become_a_suite_that_loads_without_problems() {
    let bench = bench();
    let plan = bench.app().suites().plan_suite(None, &request("task:tickets", "")).unwrap();
    let rows: Vec<_> =
        plan.tasks.iter().map(|one| (one.name.as_str(), one.prompt.as_str(), one.runs)).collect();
    assert_eq!(
        rows,
        [
            ("tickets: status: open", "Count the open tickets", 2),
            ("tickets: status: closed", "Count the closed tickets", 1)
        ]
    );
    assert_eq!((plan.runs, plan.used), (3, 2));
    assert_eq!(plan.notes, ["Kept from the tasks: `scorers` and `tools`."]);
    let files: Vec<_> =
        plan.files.iter().map(|one| (one.suffix.as_str(), one.variations)).collect();
    assert_eq!(files, [("", 2)]);
    assert!(plan.preview.unwrap().text.starts_with("name:"));
    let made =
        bench.app().suites().make_suite(None, &request("task:tickets", "hard ones")).unwrap();
    let [made] = made.files.as_slice() else { panic!("{made:?}") };
    assert_eq!((made.task.as_str(), made.variations), ("hard ones", 2));
    let made = task(&bench, "hard ones");
    assert_eq!(made.problems, []);
    let expected: Vec<_> = made
        .variations
        .iter()
        .map(|one| one.expected.as_ref().unwrap().text.replace([' ', '\n'], ""))
        .collect();
    assert_eq!(expected, ["{\"tickets\":42}", "{\"tickets\":17}"]);
    assert_eq!(made.scorers.unwrap().text.replace([' ', '\n'], ""), "[\"fields\"]");
    assert_eq!(made.variations[0].label, "tickets: status: open");
}

#[test]
fn some_tasks_are_chosen_and_what_is_left_out_is_said() {
    let bench = bench();
    let plan = bench.app().suites().plan_suite(None, &request("", "")).unwrap();
    assert_eq!(plan.tasks.len(), 4);
    assert!(
        plan.notes.iter().any(|note| note.starts_with("Without an expected answer: 1 of 4 tasks.")),
        "{:?}",
        plan.notes
    );
    let begin =
        "The tasks differ in `scorers` and `tools`, which a suite has once: they become 2 files";
    assert!(plan.notes.iter().any(|one| one.starts_with(begin)), "{:?}", plan.notes);
    let mail = plan.tasks.iter().find(|one| one.name == "mail").unwrap();
    let chosen = SuiteRequest { tasks: Some(vec![mail.key.clone()]), ..request("", "only") };
    assert_eq!(bench.app().suites().plan_suite(None, &chosen).unwrap().used, 1);
    let none = SuiteRequest { tasks: Some(Vec::new()), ..request("", "only") };
    assert!(bench.app().suites().plan_suite(None, &none).unwrap().preview.is_none());
    assert!(
        bench
            .app()
            .suites()
            .make_suite(None, &none)
            .unwrap_err()
            .message
            .starts_with("None of these runs")
    );
    let row = bench.row("mail-tool_calling-o1-variation0.yaml").unwrap();
    let selected = SuiteRequest { runs: vec![row.id], redact: true, ..request("", "safe") };
    let made = bench.app().suites().make_suite(None, &selected).unwrap();
    let text = fs::read_to_string(bench.path("tasks/safe.yaml")).unwrap();
    assert!(!text.contains("jane") && text.contains("[redacted]"), "{text}");
    assert!(made.notes.iter().any(|note| note.contains("redacted")), "{:?}", made.notes);
}

#[test]
fn a_suite_never_replaces_a_file_and_its_name_stays_in_the_folder() {
    let bench = bench();
    let make = |name: &str| {
        bench
            .app()
            .suites()
            .make_suite(None, &request("task:mail", name))
            .map_err(|error| error.message)
    };
    assert_eq!(make("mail").unwrap_err(), "There is a task named `mail`.");
    for name in ["", "../x", "a/b", ".hidden", "a\nb"] {
        assert!(make(name).is_err(), "{name}");
    }
    bench.write("tasks/notes.yaml", "just notes\n");
    assert!(make("notes").unwrap_err().contains("exists already"));
    assert_eq!(fs::read_to_string(bench.path("tasks/notes.yaml")).unwrap(), "just notes\n");
    let among = bench.app().suites().write_suite(&request("", "x"), &bench.path("results/x.yaml"));
    assert!(among.unwrap_err().message.contains("output directory"));
    assert!(bench.app().suites().make_suite(None, &request("label:nothing", "x")).is_err());
    let elsewhere = bench.app().suites().make_suite(Some("another"), &request("task:mail", "x"));
    assert_eq!(
        elsewhere.unwrap_err().message,
        "The suite was not made: another folder is open now."
    );
    assert!(!bench.path("tasks/x.yaml").exists());
}

#[test]
fn a_task_that_another_tool_recorded_is_asked_again() {
    let bench = Bench::new().file("results/promptfoo.json", RECORDED).open();
    let plan = bench.app().suites().plan_suite(None, &request("", "")).unwrap();
    assert_eq!(plan.tasks.len(), 1, "{plan:?}");
    assert_eq!(plan.tasks[0].prompt, "What is 2+2?");
    assert_eq!(plan.tasks[0].recorded_by.as_deref(), Some("promptfoo"));
    bench.app().suites().make_suite(None, &request("", "again")).unwrap();
    let made = task(&bench, "again");
    assert_eq!((made.problems.len(), made.variations.len()), (0, 1));
}

#[test]
fn a_recorded_task_has_the_prompt_of_the_first_run_that_holds_one() {
    const EMPTY: &str = "conversation:\n  - assistant_message: I cannot.\n";
    let bench = Bench::new()
        .file("results/gone-tool_calling-o1-variation0.yaml", EMPTY)
        .answered("results/gone-tool_calling-o1-variation0-run2.yaml", "two")
        .file("results/gone-tool_calling-o1-variation0-run3.yaml", EMPTY)
        .file("results/lost-tool_calling-o1-variation0.yaml", EMPTY)
        .open();
    let plan = bench.app().suites().plan_suite(None, &request("", "")).unwrap();
    let [one] = plan.tasks.as_slice() else { panic!("{plan:?}") };
    assert_eq!((one.name.as_str(), one.runs), ("gone", 3));
    let note = "Left out, because the prompt is not known: 1 task.";
    assert!(plan.notes.iter().any(|known| known == note), "{:?}", plan.notes);
}

#[test]
fn redaction_covers_the_scorers_and_says_that_they_changed() {
    let suite = "tool_calling_prompt: Who?\nexpected_output: Ann\nscorers:\n  - string_check: { operation: eq, \
                 reference: jane@example.org }\n  - python: /home/jane/score.py\n";
    let bench = Bench::new()
        .file("tasks/who.yaml", suite)
        .answered("results/who-tool_calling-o1-variation0.yaml", "one")
        .open();
    let made = bench
        .app()
        .suites()
        .make_suite(None, &SuiteRequest { redact: true, ..request("", "safe") })
        .unwrap();
    let text = fs::read_to_string(bench.path("tasks/safe.yaml")).unwrap();
    assert!(!text.contains("jane") && text.contains("/score.py"), "{text}");
    let note = "Redacted in `scorers`. Correct it in the file before it is used.";
    assert!(made.notes.iter().any(|known| known == note), "{:?}", made.notes);
}

#[test]
fn settings_of_nudges_are_kept_and_what_a_suite_cannot_hold_is_said() {
    let suite = "tool_calling_prompt: Who?\ntool_calling_python_prompt: Who, in Python?\noracle_prompt: Who, of these?\n\
                 repeat: 3\nnudge: { auto: false, max: 2 }\nexpected_output: Ann\n";
    let bench = Bench::new()
        .file("tasks/who.yaml", suite)
        .answered("results/who-tool_calling-o1-variation0.yaml", "one")
        .open();
    let made = bench.app().suites().make_suite(None, &request("", "again")).unwrap();
    let text = fs::read_to_string(bench.path("tasks/again.yaml")).unwrap();
    assert!(text.contains("nudge:\n  auto: false\n  max: 2\n"), "{text}");
    assert!(text.contains("repeat: 3\n"), "{text}");
    for key in ["tool_calling_python_prompt", "oracle_prompt"] {
        let begin = format!("`{key}` is not part of the suite, but of 1 of 1 tasks.");
        assert!(made.notes.iter().any(|note| note.starts_with(&begin)), "{:?}", made.notes);
    }
}

/// Returns what the scorers say of a run, without what they are called.
fn scores_of(bench: &Bench, path: &str) -> Vec<RunScore> {
    let row = wait_until(path, || bench.row(path).filter(|row| row.score.is_some()));
    bench.app().scoring().run_scores(&row.id).unwrap().scores
}

#[test]
fn runs_of_a_new_suite_are_scored_as_those_of_the_suites_that_it_is_made_from() {
    let tickets = "tool_calling_prompt: Count the {status} tickets\nscorers: [{ text: f1 }, { fields: { ignore: [note] } }]\n\
                   expected_tool_calls: [query_plans]\nexpected_promptql_artifact: counts\n\
                   result_artifact_key: status\ntags: [support, counts]\nrepeat: 2\nvariations:\n\
                   - { name: open ones, parameters: { status: open }, expected_output: { tickets: 42, note: a } }\n\
                   - { name: closed ones, parameters: { status: closed }, expected_output: { tickets: 17 } }\n";
    let money = "tool_calling_prompt: How much?\ntags: [money]\nscorers: [{ numeric: { cutoff: 10 } }]\n\
                 expected_tool_calls: [pay]\nexpected_output: 5\n";
    let run =
        |answer: &str| answered("So.").replace("answer:\n- n: 3\n", &format!("answer: {answer}\n"));
    let (partly, near) = (run("{ tickets: 42, note: b }"), run("8"));
    let bench = Bench::new()
        .file("tasks/tickets.yaml", tickets)
        .file("tasks/sub/money.yaml", money)
        .file("results/tickets-tool_calling-o1-variation0.yaml", &partly)
        .file("results/tickets-tool_calling-o1-variation1.yaml", &partly)
        .file("results/sub/money-tool_calling-o1-variation0.yaml", &near)
        .open();
    let plan = bench.app().suites().plan_suite(None, &request("", "hard")).unwrap();
    let files: Vec<_> =
        plan.files.iter().map(|one| (one.suffix.as_str(), one.variations)).collect();
    let made = bench.app().suites().make_suite(None, &request("", "hard")).unwrap();
    let names: Vec<_> = made.files.iter().map(|one| (one.task.as_str(), one.variations)).collect();
    assert_eq!(names, [("hard-sub-money", 1), ("hard-tickets", 2)]);
    assert_eq!(files, [("-sub-money", 1), ("-tickets", 2)]);
    let text = fs::read_to_string(bench.path("tasks/hard-tickets.yaml")).unwrap();
    for kept in [
        "repeat: 2\n",
        "tags:\n  - support\n  - counts\n",
        "expected_promptql_artifact: counts\n",
        "result_artifact_key: status\n",
        "name: 'tickets: open ones'\n",
    ] {
        assert!(text.contains(kept), "{kept} {text}");
    }
    for id in ["hard-tickets", "hard-sub-money"] {
        assert_eq!(task(&bench, id).problems, []);
    }
    for (old, new, answer) in [
        ("tickets-tool_calling-o1-variation0", "hard-tickets-tool_calling-o1-variation0", &partly),
        ("tickets-tool_calling-o1-variation1", "hard-tickets-tool_calling-o1-variation1", &partly),
        (
            "sub/money-tool_calling-o1-variation0",
            "hard-sub-money-tool_calling-o1-variation0",
            &near,
        ),
    ] {
        bench.put(&format!("results/{new}.yaml"), answer);
        let (old, new) =
            (scores_of(&bench, &format!("{old}.yaml")), scores_of(&bench, &format!("{new}.yaml")));
        assert_eq!(new, old);
        assert!(!old.is_empty() && old[0].scorer != "fields", "{old:?}");
    }
    let missing = |name: &str| {
        let row = bench.row(&format!("{name}.yaml")).unwrap();
        bench.app().scoring().run_scores(&row.id).unwrap().class
    };
    let class = missing("sub/money-tool_calling-o1-variation0");
    assert_eq!(missing("hard-sub-money-tool_calling-o1-variation0"), class);
}

#[test]
fn none_of_several_suites_is_written_if_the_name_of_one_is_taken() {
    let bench = bench();
    bench.write("tasks/hard-tickets.yaml", "just notes\n");
    let refused = bench.app().suites().make_suite(None, &request("", "hard")).unwrap_err();
    assert!(refused.message.contains("hard-tickets.yaml exists already"), "{}", refused.message);
    let written: Vec<_> = fs::read_dir(bench.path("tasks"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("hard"))
        .collect();
    assert_eq!(written, ["hard-tickets.yaml"]);
    let out = bench.path("elsewhere.yaml");
    let made = bench.app().suites().write_suite(&request("", "elsewhere"), &out).unwrap();
    assert!(made.files.iter().all(|one| std::path::Path::new(&one.file).exists()), "{made:?}");
    assert_eq!(made.files.len(), 2);
}

#[test]
fn names_of_several_suites_are_redacted_too_and_never_equal() {
    let suite = |turns: u32| {
        format!("tool_calling_prompt: Who?\nmax_turns: {turns}\nexpected_output: Ann\n")
    };
    let bench = Bench::new()
        .file("tasks/jane@example.org.yaml", suite(1))
        .file("tasks/joan@example.org.yaml", suite(2))
        .answered("results/jane@example.org-tool_calling-o1-variation0.yaml", "one")
        .answered("results/joan@example.org-tool_calling-o1-variation0.yaml", "two")
        .open();
    let asked = SuiteRequest { redact: true, ..request("", "safe") };
    let made = bench.app().suites().make_suite(None, &asked).unwrap();
    let names: Vec<_> = made.files.iter().map(|one| one.task.as_str()).collect();
    assert_eq!(names, ["safe-redacted", "safe-redacted-2"]);
    let text = fs::read_to_string(bench.path("tasks/safe-redacted-2.yaml")).unwrap();
    assert!(!text.contains("joan"), "{text}");
}

#[test]
fn a_scorer_program_is_named_from_the_folder_of_the_new_suite() {
    let suite = "tool_calling_prompt: Who?\nexpected_output: Ann\nscorers:\n  - python: score.py\n  - python: \
                 { path: more/score.py, threshold: 0.5 }\n";
    let bench = Bench::new()
        .file("tasks/sub/who.yaml", suite)
        .file("tasks/sub/score.py", "pass\n")
        .file("tasks/sub/more/score.py", "pass\n")
        .answered("results/sub/who-tool_calling-o1-variation0.yaml", "one")
        .open();
    bench.app().suites().make_suite(None, &request("", "again")).unwrap();
    let text = fs::read_to_string(bench.path("tasks/again.yaml")).unwrap();
    assert!(text.contains("python: sub/score.py\n"), "{text}");
    assert!(text.contains("path: sub/more/score.py\n"), "{text}");
    assert_eq!(task(&bench, "again").problems, []);
}

#[test]
fn tasks_with_a_simulated_user_are_left_out_with_a_note() {
    let bench = Bench::new()
        .file("tasks/tickets.yaml", SUITE)
        .file("tasks/talk.yaml", "user: { goal: Find out how many tickets are open }\n")
        .answered("results/tickets-tool_calling-o1-variation0.yaml", "one")
        .answered("results/talk-tool_calling-o1-variation0.yaml", "two")
        .open();
    task(&bench, "talk");
    let plan = bench.app().suites().plan_suite(None, &request("", "")).unwrap();
    assert_eq!(
        plan.tasks.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        ["tickets: status: open"]
    );
    let note = "Left out, because a simulated user asks: 1 task.";
    assert!(plan.notes.iter().any(|one| one.starts_with(note)), "{:?}", plan.notes);
}
