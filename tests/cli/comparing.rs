//! Tests of `compare`: its output for two to four transcripts, as text and as JSON, and its exit
//! status.
use crate::HOSTILE;
use crate::sandbox::{ANSWERED, Ran, Sandbox};
use serde_json::{Value, json};

const FIRST: &str = "results/tickets-tool_calling-claude-variation0.yaml";
const OTHER: &str = "results/tickets-tool_calling-claude-variation0-run2.yaml";

/// The usual benchmark, plus a run with another query and another answer.
fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::usual(name);
    let other = ANSWERED
        .replace(
            "SELECT ticket_id FROM tickets",
            "SELECT ticket_id FROM tickets WHERE priority = 1",
        )
        .replace("I will look them up", "Let me look them up")
        .replace("answer:\n  - ticket_id: 7", "answer:\n  - ticket_id: 12");
    std::fs::write(sandbox.folder.join(OTHER), other).unwrap();
    sandbox
}

fn document(ran: &Ran) -> Value {
    assert_eq!(ran.err, "", "{ran:?}");
    let mut all = ran.json();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn compare_marks_where_two_runs_part_and_ends_with_one_when_they_do() {
    let sandbox = sandbox("compare");
    let same = sandbox.run(&["compare", FIRST, FIRST]);
    assert_eq!((same.status, same.err.as_str()), (0, ""), "{same:?}");
    assert!(
        same.out.contains("The runs did the same.")
            && same.out.contains("The answer of 2 equals that of 1."),
        "{}",
        same.out
    );
    let ran = sandbox.run(&["compare", FIRST, OTHER]);
    assert_eq!((ran.status, ran.err.as_str()), (1, ""), "{ran:?}");
    let marked: Vec<&str> = ran.out.lines().filter(|line| line.starts_with('>')).collect();
    assert!(
        marked.len() == 1 && marked[0].ends_with("3  3  similar   query_support_tickets"),
        "{}",
        ran.out
    );
    for text in
        ["reworded  assistant message", "The answer of 2 differs from", "{+ WHERE priority = 1+}"]
    {
        assert!(ran.out.contains(text), "{text} is missing in\n{}", ran.out);
    }
}

#[test]
fn compare_gives_programs_the_documented_shape() {
    let sandbox = sandbox("compare-json");
    let ran = sandbox.run(&["compare", "--json", FIRST, OTHER]);
    assert_eq!(ran.status, 1);
    let two = document(&ran);
    let keys = [
        "files",
        "steps",
        "stored",
        "first_divergence",
        "first_other_result",
        "answers",
        "coarse",
        "notes",
    ];
    assert_eq!(two.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    let step = json!({ "left": 2, "right": 2, "kind": "similar", "diverges": true, "title": "query_support_tickets" });
    assert_eq!((&two["steps"][2], &two["first_divergence"]), (&step, &Value::from(2)));
    assert_eq!(
        (&two["answers"][0]["file"], &two["answers"][0]["kind"]),
        (&Value::from(OTHER), &Value::from("changed"))
    );
    assert_eq!(two["files"][0]["state"], "answered");
    let waiting = "results/tickets-tool_calling-o3-mini-variation0.yaml";
    let ran = sandbox.run(&["compare", FIRST, FIRST, waiting, "--json"]);
    assert_eq!(ran.status, 1);
    let three = document(&ran);
    assert_eq!(three["steps"][0]["runs"], json!([0, 0, 0]));
    assert_eq!(
        (&three["steps"][1]["runs"], &three["steps"][1]["kind"]),
        (&json!([1, 1, null]), &Value::from("alone"))
    );
    assert_eq!(three["answers"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&three["files"][1]["parts_at"], &three["files"][2]["parts_at"]),
        (&Value::Null, &Value::from(2))
    );
}

#[test]
fn files_of_different_folders_are_compared_and_what_cannot_be_read_ends_with_two() {
    let (here, there) = (
        sandbox("compare-here"),
        Sandbox::with("compare-there", &[("a.yaml", ANSWERED), ("b.txt", "no")]),
    );
    let elsewhere = |name: &str| there.folder.join(name).to_str().unwrap().to_owned();
    let ran = here.run(&["compare", FIRST, &elsewhere("a.yaml")]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let damaged = "results/tickets-promptql-claude-variation0.yaml";
    for (file, why) in [
        (damaged.to_owned(), damaged),
        (elsewhere("b.txt"), "b.txt"),
        ("no/such.yaml".to_owned(), "no/such.yaml"),
    ] {
        let ran = here.run(&["compare", FIRST, &file]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(why) && !ran.err.contains("panicked"), "{}", ran.err);
    }
    // The other files are still compared.
    let ran = here.run(&["compare", damaged, FIRST, OTHER]);
    assert!(
        ran.status == 2
            && ran.out.contains("1 has nothing to compare.")
            && ran.out.contains("Differs for good from here"),
        "{ran:?}"
    );
    for few in
        [&["compare"][..], &["compare", FIRST], &["compare", FIRST, FIRST, FIRST, FIRST, FIRST]]
    {
        assert_eq!(here.run(few).status, 2, "{few:?}");
    }
}

#[test]
fn nothing_in_a_compared_file_steers_the_terminal() {
    let quoted: String =
        HOSTILE.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<Vec<_>>().concat();
    let run = |sql: &str| {
        format!(
            "conversation:\n  - user_message: \"x\"\n  - tool_call:\n      id: c\
             \n      name: \"query{quoted}\"\
             \n      params: {{ \"sql{quoted}\": \"{sql}{quoted}\" }}\
             \n      result: [{{ a: \"{sql}{quoted}\" }}]\nanswer: \"{sql}{quoted}\"\n"
        )
    };
    let (a, b, c) = (run("select one"), run("select two"), "conversation:\n  - user_message: x\n");
    let name = format!("c{HOSTILE}-tool_calling-o1-variation0.yaml");
    let sandbox = Sandbox::with("compare-hostile", &[("a.yaml", &a), ("b.yaml", &b), (&name, c)]);
    for files in [&["a.yaml", "b.yaml"][..], &["a.yaml", &name], &[&name, "a.yaml", "b.yaml"]] {
        let ran = sandbox.run(&[&["compare"], files].concat());
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.out.contains("\\u{1b}") && ran.out.contains("\\u{202e}"), "{}", ran.out);
        assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", ran.out);
    }
}

#[test]
fn compare_holds_each_answer_against_what_the_suite_expects_wherever_it_is_called() {
    let sandbox = sandbox("compare-expected");
    let check = |ran: &Ran| {
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.out.contains("The answer of 1 is as expected. It scores 1.00."), "{}", ran.out);
        assert!(ran.out.contains("The answer of 2 is not as expected: "), "{}", ran.out);
    };
    check(&sandbox.run(&["compare", FIRST, OTHER]));
    let apart = Sandbox::with("compare-apart", &[("a.yaml", ANSWERED)]);
    let [tasks, results] =
        ["tasks", "results"].map(|name| sandbox.folder.join(name).to_str().unwrap().to_owned());
    let [first, other] =
        [FIRST, OTHER].map(|name| sandbox.folder.join(name).to_str().unwrap().to_owned());
    check(&apart.run(&["compare", &first, &other]));
    check(&apart.run(&["compare", "-i", &tasks, "-o", &results, &first, &other]));
    let two = document(&sandbox.run(&["compare", "--json", FIRST, OTHER]));
    assert_eq!(
        (&two["files"][0]["expected"]["equal"], &two["files"][0]["score"]),
        (&json!(true), &json!(1.0))
    );
    assert_eq!(two["files"][1]["expected"]["equal"], json!(false));
    for (left, said) in [
        ("o1", "2 ended in a system error, so its answer"),
        ("o3-mini", "2 has not ended, so its answer"),
    ] {
        let open = format!("results/tickets-tool_calling-{left}-variation0.yaml");
        let ran = sandbox.run(&["compare", FIRST, &open]);
        assert!(ran.out.contains(said) && !ran.out.contains("The answer of 2 is"), "{}", ran.out);
        assert!(!ran.out.contains("has an answer"), "{}", ran.out);
        let told = document(&sandbox.run(&["compare", "--json", FIRST, &open]));
        assert_eq!(told["files"][1]["expected"], Value::Null, "a failed run is no wrong answer");
        assert_eq!(
            (&told["answers"][0]["kind"], &told["answers"][0]["summary"]),
            (&Value::Null, &Value::Null)
        );
    }
    let alone = document(&apart.run(&["compare", "--json", "a.yaml", "a.yaml"]));
    assert_eq!(alone["files"][0]["expected"], Value::Null, "nobody says what was expected");
}
