//! Suites from the tasks of runs: they hold what was asked and expected, load without problems, and
//! never replace a file.
use crate::bench::{Bench, wait_until};
use fs_err as fs;
use touchstone_api::{SuiteRequest, TaskView};

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
    assert_eq!((plan.runs, plan.used, plan.notes.as_slice()), (3, 2, &[][..]));
    assert!(plan.preview.unwrap().text.starts_with("name:"));
    let made =
        bench.app().suites().make_suite(None, &request("task:tickets", "hard ones")).unwrap();
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
    assert!(plan.notes.iter().any(|note| note.starts_with("The tasks differ in `scorers`")));
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
    for key in ["tool_calling_python_prompt", "oracle_prompt", "repeat"] {
        let begin = format!("`{key}` is not part of the suite, but of 1 of 1 tasks.");
        assert!(made.notes.iter().any(|note| note.starts_with(&begin)), "{:?}", made.notes);
    }
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
