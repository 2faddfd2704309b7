//! Compares decisions with an independently written table, for every possible state on disk.
use super::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;
use touchstone_formats::names::Coordinates;
use touchstone_formats::suite::{Prompts, Task, Variation};
use touchstone_formats::system::System;

fn task(id: &str, variations: usize, repeat: u32) -> Arc<Task> {
    let variation = |n: usize| Variation {
        parameters: vec![("n".into(), n.to_string().as_str().into())],
        ..Variation::default()
    };
    let prompts = Prompts {
        promptql: Some("ask {n}\n".into()),
        tool_calling: Some("call {n}\n".into()),
        ..Prompts::default()
    };
    Arc::new(Task {
        id: id.into(),
        prompts,
        variations: (0..variations).map(variation).collect(),
        repeat,
        ..Task::default()
    })
}

fn slot(system: &str) -> Slot {
    let (task, system, model) = (task("t", 1, 1), System::from(system), "o1".to_owned());
    Slot::new(
        task,
        Coordinates { task: "t".into(), system, model, variation: 0, repeat: 1, fork: 0 },
    )
}

/// Every possible end of a conversation, also after an edit or a crash, with the entry of the
/// design's table.
const TALKS: [(&str, &str); 22] = [
    ("{user_message: U}", "answer"),
    ("{user_message: U}, {assistant_message: b}, {user_message: by hand}", "answer"),
    ("{user_message: U}, {user_message: by hand}, {note: x}", "answer"),
    ("{user_message: U, assistant_message: null}", "answer"),
    ("{user_message: U}, {error: x}", "drop error"),
    ("{user_message: U}, {assistant_message: b}, {error: {status: 529}}", "drop error"),
    ("{user_message: U}, {tool_call: {name: t}}, {error: x}, {note: y}", "drop error"),
    ("{user_message: U}]\nerror: [beside", "drop error"),
    ("{user_message: U}, {assistant_message: b}, {tool_call: {name: t}}", "run calls"),
    ("{user_message: U}, {tool_call: {name: t, error: null}}", "run calls"),
    (
        "{user_message: U}, {tool_call: {name: t, turn: 1}}, {tool_call: {name: t, turn: 1, result: 1}}",
        "run calls",
    ),
    ("{user_message: U}, {tool_call: {name: t, result: 1}}", "ask again"),
    ("{user_message: U}, {tool_call: {name: t, result: null}}", "ask again"),
    ("{user_message: U}, {tool_call: {name: t, error: no}}", "ask again"),
    ("{user_message: U}, {assistant_message: b}", "complete"),
    ("{user_message: U}, {assistant_message: b}, {note: x}", "complete"),
    ("{user_message: U}, {error: x}, {assistant_message: b}", "complete"),
    ("{assistant_message: b}", "complete"),
    ("", "nothing said"),
    ("{note: x}", "nothing said"),
    ("{error: x}", "nothing said"),
    ("{user_message: U}, {assistant_message: b}]\nrun: {started: 1}\nz: [", "close"),
];

/// Decisions of the design as a table of words; nothing in it is taken from the code.
fn oracle(system: &str, file: &str, [locked, force, anyway, same]: [bool; 4]) -> &'static str {
    if locked {
        return "elsewhere";
    }
    match (file, force) {
        ("absent", _) => return "begin",
        (_, true) => return "begin anew",
        ("damaged", _) => return "damaged",
        _ => {}
    }
    match (system == "promptql", file) {
        (true, "reply") | (false, "complete") => "nothing",
        (true, "failed reply") | (false, "nothing said") => "begin anew",
        (true, _) | (false, "reply" | "failed reply") => "refused",
        (false, _) if !same && !anyway => "differs",
        (false, "drop error") => "drop error",
        (false, "answer") => "answer",
        (false, "run calls") => "run calls",
        (false, "ask again") => "ask again",
        (false, "close") => "close",
        _ => panic!("the table does not know {file}"),
    }
}

fn in_words(decision: &Decision) -> &'static str {
    match (decision.act, decision.step, &decision.differs) {
        (Act::Elsewhere, None, None) => "elsewhere",
        (Act::Start, Some(Step::Begin), None) => "begin",
        (Act::StartOver, Some(Step::BeginAnew), None) => "begin anew",
        (Act::Damaged, None, None) => "damaged",
        (Act::Nothing, None, None) => "nothing",
        (Act::Refused, None, None) => "refused",
        (Act::Refused, None, Some(_)) => "differs",
        (Act::Continue, Some(Step::DropError), None) => "drop error",
        (Act::Continue, Some(Step::Answer), None) => "answer",
        (Act::Continue, Some(Step::RunCalls), None) => "run calls",
        (Act::Continue, Some(Step::AskAgain), None) => "ask again",
        (Act::Continue, Some(Step::Close), None) => "close",
        _ => "no sense",
    }
}

/// Returns every possible file, with its entry in the table.
fn files(same: bool) -> Vec<(String, File, &'static str)> {
    let mut files = vec![
        ("no file".to_owned(), File::Absent, "absent"),
        ("half a file".to_owned(), File::from_bytes(b"conversation: ["), "damaged"),
        ("another file".to_owned(), File::from_bytes(b"a: 1\n"), "damaged"),
    ];
    for (text, what) in [
        ("output: {thread_id: x}\nanswer: 1\n", "reply"),
        ("output: {thread_id: x}\nerror: null\nanswer: 1\n", "reply"),
        ("output: {thread_id: x}\nerror: {status: 500}\nanswer: 1\n", "failed reply"),
        ("error: down\n", "failed reply"),
    ] {
        files.push((text.to_owned(), File::from_bytes(text.as_bytes()), what));
    }
    for (items, what) in TALKS {
        let text = format!("conversation: [{items}]\n")
            .replace(": U", if same { ": \"call 0\\n\"" } else { ": other" });
        files.push((text.clone(), File::from_bytes(text.as_bytes()), what));
    }
    files
}

#[test]
fn every_file_and_request_is_planned_as_the_table_says() {
    let mut cases = 0;
    for bits in 0..16 {
        let [locked, force, anyway, same] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
        for system in &System::RUNNABLE {
            let system = system.as_str();
            for (text, file, what) in files(same) {
                let on_disk = OnDisk { file, locked_by: locked.then(|| "process 1".to_owned()) };
                let decision = decide(&slot(system), &on_disk, Rules { start_over: force, anyway });
                let expected = oracle(system, what, [locked, force, anyway, same]);
                assert_eq!(
                    in_words(&decision),
                    expected,
                    "{system} {text} locked {locked} force {force} anyway {anyway} same {same}: {decision:?}"
                );
                assert!(
                    decision.why.ends_with('.') || decision.why.contains("error: "),
                    "{}",
                    decision.why
                );
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 16 * 3 * 29);
}

#[test]
fn what_differs_is_shown_line_by_line() {
    let refused = |text: &str| {
        decide(
            &slot("tool_calling"),
            &OnDisk { file: File::from_bytes(text.as_bytes()), locked_by: None },
            Rules::default(),
        )
    };
    let differs = |text: &str| refused(text).differs.unwrap_or_default();
    insta::assert_snapshot!(differs("conversation: [{user_message: \"call 1\\nmore\"}]\nrun: {model: claude, system: tool_calling_python}\n"), @r"
    system in the file: tool_calling_python
    system asked for:  tool_calling
    model in the file: claude
    model asked for:  o1
    --- first message in the file
    +++ prompt of the task
    @@ -1,2 +1 @@
    -call 1
    -more
    +call 0
    ");
    insta::assert_snapshot!(differs("conversation: [{tool_call: {name: t}}]\n").trim_end(), @"The file has no first message.");
    for same in ["call 0", "call 0\\n", "call 0\\n\\n", "call 0\\r\\n"] {
        assert_eq!(
            differs(&format!("conversation: [{{user_message: \"{same}\"}}]\nrun: {{model: o1}}\n")),
            "",
            "{same}"
        );
    }
    let edited = "conversation: [{user_message: else}]\nrun: {forked_from: {file: a, step: 0, edited: true}}\n";
    assert_eq!(refused(edited).act, Act::Continue);
    assert!(
        differs(&format!("conversation: [{{user_message: \"{}\"}}]\n", "é\\n".repeat(9_000))).len()
            < 5_000
    );
}

#[test]
fn a_run_that_cannot_be_made_is_refused_with_the_reason() {
    let reasons = |system: &str, model: &str, variation: u32| {
        let at = Coordinates {
            task: "t".into(),
            system: system.into(),
            model: model.into(),
            variation,
            repeat: 1,
            fork: 0,
        };
        let decision =
            decide(&Slot::new(task("t", 1, 1), at), &OnDisk::default(), Rules::default());
        (decision.act, decision.why)
    };
    assert_eq!(reasons("tool_calling", "o1", 0).0, Act::Start);
    insta::assert_snapshot!(reasons("tool_calling", "o1", 1).1, @"The task has no variation 1; it has 1, counted from 0.");
    insta::assert_snapshot!(reasons("other", "o1", 0).1, @"There is no system `other`; there are promptql, tool_calling, tool_calling_python.");
    insta::assert_snapshot!(reasons("tool_calling", "a/b", 0).1, @"`a/b` cannot stand in the name of a file. Give the model another name.");
    let named = |stem: &str, model: &str| {
        let at = Coordinates {
            task: format!("{}/{stem}", "deep".repeat(50)),
            system: "tool_calling".into(),
            model: model.into(),
            variation: 0,
            repeat: 12,
            fork: 0,
        };
        decide(&Slot::new(task("t", 1, 1), at), &OnDisk::default(), Rules::default())
    };
    let most = 254 - "-tool_calling-o1-variation0-run12.yaml".len();
    assert_eq!(
        named(&"x".repeat(most), "o1").act,
        Act::Start,
        "folders above it have names of their own"
    );
    let refusals = [
        named(&"x".repeat(most + 1), "o1"),
        named(&"x".repeat(most + 40), "o1"),
        named(&"\u{e9}".repeat(most / 2 + 20), "o1"),
        named("t", &"m".repeat(most + 40)),
    ];
    assert!(refusals.iter().all(|refused| refused.act == Act::Refused), "{refusals:?}");
    insta::assert_snapshot!(refusals.map(|refused| refused.why).join("\n"), @r"
    Its file name would have 255 bytes, and the limit is 254. Make the file name of the task a letter shorter.
    Its file name would have 294 bytes, and the limit is 254. Make the file name of the task 40 letters shorter.
    Its file name would have 294 bytes, and the limit is 254. Make the file name of the task 20 letters shorter.
    Its file name would have 293 bytes, and the limit is 254. Make the name of the model 39 letters shorter.
    ");
    let elsewhere = OnDisk { file: File::Impossible("no.".into()), locked_by: None };
    for start_over in [false, true] {
        let refused = decide(&slot("tool_calling"), &elsewhere, Rules { start_over, anyway: true });
        assert_eq!((refused.act, refused.step), (Act::Refused, None));
    }
    let mut bare = (*task("t", 1, 1)).clone();
    bare.prompts.promptql = None;
    let wish = MatrixSpec {
        systems: vec!["promptql".into(), "tool_calling".into()],
        models: vec!["o1".into()],
        ..MatrixSpec::default()
    };
    let matrix = matrix(&[Arc::new(bare)], &wish);
    assert_eq!(matrix.slots.len(), 1);
    insta::assert_snapshot!(matrix.skipped[0].1, @"The task has no prompt for promptql.");
}

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn everybody_has_a_turn_before_anybody_has_a_second_one() {
    let tasks = [task("b", 1, 2), task("a", 2, 1)];
    let wish = MatrixSpec {
        systems: vec![System::ToolCalling],
        models: names(&["o1", "claude"]),
        ..MatrixSpec::default()
    };
    let paths: Vec<String> =
        matrix(&tasks, &wish).slots.into_iter().map(|slot| slot.path).collect();
    insta::assert_snapshot!(paths.join("\n"), @r"
    a-tool_calling-o1-variation0.yaml
    a-tool_calling-claude-variation0.yaml
    b-tool_calling-o1-variation0.yaml
    b-tool_calling-claude-variation0.yaml
    a-tool_calling-o1-variation1.yaml
    a-tool_calling-claude-variation1.yaml
    b-tool_calling-o1-variation0-run2.yaml
    b-tool_calling-claude-variation0-run2.yaml
    ");
    let narrow = MatrixSpec { variations: vec![1], repeats: Some(2), ..wish };
    let found = matrix(&tasks, &narrow);
    assert_eq!((found.slots.len(), found.skipped.len()), (4, 4));
    let twice = matrix(
        &[task("a", 1, 1), task("a", 1, 1)],
        &MatrixSpec { repeats: None, variations: vec![], ..narrow },
    );
    assert_eq!((twice.slots.len(), twice.skipped.len()), (2, 2));
}

#[test]
fn a_fork_has_a_number_of_its_own_and_is_never_a_repeat() {
    let at = slot("tool_calling").at;
    let numbers = |at: &Coordinates| (at.repeat, at.fork);
    assert_eq!(numbers(&next_fork(&at, |_| false)), (1, 1));
    assert_eq!(numbers(&next_fork(&at, |at| at.fork < 3)), (1, 3));
    assert_eq!(numbers(&next_fork(&Coordinates { repeat: 7, fork: 4, ..at }, |_| false)), (7, 1));
}

#[test]
fn repeats_are_counted_past_files_that_are_forks() {
    let tasks = [task("a", 1, 3)];
    let wish = MatrixSpec {
        systems: vec![System::ToolCalling],
        models: names(&["o1"]),
        ..MatrixSpec::default()
    };
    let path = |rest: &str| format!("a-tool_calling-o1-variation0{rest}.yaml");
    let forks = HashSet::from([path("-run2"), path("-run4")]);
    let mut found = matrix(&tasks, &wish);
    found.find(
        |at| if at.repeat <= 4 { vec![touchstone_formats::names::write(at)] } else { Vec::new() },
        &forks,
    );
    let paths: Vec<String> = found.slots.into_iter().map(|slot| slot.path).collect();
    assert_eq!(paths, [path(""), path("-run3"), path("-run5")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_plan_is_the_same_every_time_and_each_run_is_in_it_once_and_in_one_shard(
        tasks in prop::collection::btree_map("[a-c]{1,2}", (1..4usize, 1..3u32), 0..5),
        order in any::<prop::sample::Index>(),
        models in prop::sample::subsequence(vec!["o1", "o3-mini", "claude"], 0..3),
        systems in prop::sample::subsequence(System::RUNNABLE.to_vec(), 0..3),
        variations in prop::collection::vec(0..4u32, 0..3),
        repeats in prop::option::of(1..3u32),
        of in 1..5u64,
        seed in any::<usize>(),
    ) {
        let mut tasks: Vec<_> = tasks.iter().map(|(id, (variations, repeat))| task(id, *variations, *repeat)).collect();
        let wish = MatrixSpec { models: names(&models), systems, variations, repeats, ..MatrixSpec::default() };
        let all = files(true);
        let disk = |slot: &Slot| OnDisk { file: all[(slot.path.len() + seed % 97) % all.len()].1.clone(), locked_by: None };
        let plan = |tasks: &[Arc<Task>], shard| outstanding(matrix(tasks, &MatrixSpec { shard, ..wish.clone() }), disk, Rules::default());
        let whole = plan(&tasks, None);
        if !tasks.is_empty() {
            let by = order.index(tasks.len());
            tasks.rotate_left(by);
        }
        prop_assert_eq!(&plan(&tasks, None), &whole);
        let paths = |plan: &Plan| -> Vec<String> {
            plan.owed.iter().chain(&plan.skipped).map(|planned| planned.slot.path.clone()).collect()
        };
        let mut every = paths(&whole);
        every.sort();
        let mut once = every.clone();
        once.dedup();
        prop_assert_eq!(&once, &every);
        let parts = (1..=of).map(|part| plan(&tasks, Some(Shard { part, of })));
        let mut together: Vec<String> = parts.flat_map(|plan| paths(&plan)).collect();
        together.sort();
        prop_assert_eq!(together, every);
    }
}

#[test]
fn functions_are_searched_by_what_a_simulated_user_wants() {
    let user = touchstone_formats::suite::SimulatedUser {
        attack: None,
        persona: None,
        goal: "Book it.".into(),
        knows: None,
        satisfied_when: None,
        max_turns: 2,
        model: None,
    };
    let asked = slot("tool_calling");
    assert_eq!(asked.search_text(), asked.prompt());
    let task = Arc::new(Task { user: Some(user), ..Task::default() });
    let with_user = Slot { task, ..asked };
    assert_eq!(with_user.search_text(), "Book it.");
}
