//! Tests of searches for an answer over virtual APIs: the offered functions, the requests, the
//! content of the file, and that no reply is paid for twice.
use super::stage::{calls, chat, count, fact, says};
use super::{document, ended, request, run};
use crate::bench::{Bench, wait_until};
use crate::scripted::{Latch, Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::json;
use touchstone_api::{Act, ForkRequest, LaunchRequest, LaunchState};
use touchstone_formats::transcript::{Document, outline_of};
use touchstone_model::run::TreeKind;
use touchstone_model::value::Value;

pub(super) const GIVES: &str =
    r#"{"return_type": "give_answer", "final_answer": "It stands at 152 cm."}"#;
const GIVES_UP: &str = r#"{"return_type": "give_up_and_restart"}"#;
pub(super) const LEVEL: &str = "level_for_river_gauge";
pub(super) const RUN: &str = "results/G1_instruction/1-tool_calling-scripted-variation0.yaml";

fn queries() -> String {
    let api = |name: &str, about: &str| {
        json!({
            "category_name": "Weather", "tool_name": "River Gauge", "api_name": name, "api_description": about, "method": "GET",
            "required_parameters": [{ "name": "place", "type": "STRING", "description": "Where", "default": "Elz" }], "optional_parameters": [],
        })
    };
    let query = |id: u32, place: &str, apis: serde_json::Value, gold: &str| {
        json!({
        "query_id": id,
        "query": format!("How high does the water stand at {place}?"),
        "api_list": apis, "relevant APIs": [["River Gauge", gold]]
        })
    };
    let level = || api("Level", "How high the water stands");
    let outlook = || api("Outlook", "How high it will stand tomorrow");
    let set = [
        query(1, "Elz", json!([level(), outlook()]), "Level"),
        query(2, "Kinzig", json!([outlook(), level()]), "Level"),
        query(3, "Murg", json!([outlook()]), "Outlook"),
    ];
    json!(set).to_string()
}

/// A folder with three queries, replies of their APIs and a model served by the server. `way` is
/// added to the workspace file.
pub(super) fn folder(server: &Scripted, way: &str, model: &str) -> Bench {
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  scripted: {{ provider: openai, base_url: '{}', model: any, price: {{ input: 1.0, \
         output: 2.0 }}{model} }}\nsystems: {{ tool_calling: {{ {way} }} }}\n\
         tools: {{ apis: {{ kind: virtual, cache: apis }} }}\n",
        server.url("/v1")
    );
    let level = json!({ "{'place': 'Elz'}": { "error": "", "response": { "cm": 152, "at": "ö" } },
        "{'place': 'Kinzig'}": { "error": "", "response": { "cm": 99 } } });
    let outlook =
        json!({ "{'place': 'Murg'}": { "error": "Unauthorized error...", "response": "" } });
    Bench::new()
        .file("touchstone.yaml", workspace)
        .file("tasks/G1_instruction.json", queries())
        .file("apis/Weather/river_gauge_for_Weather/level.json", level.to_string())
        .file("apis/Weather/river_gauge_for_Weather/outlook.json", outlook.to_string())
        .open()
}

pub(super) fn only(task: &str) -> LaunchRequest {
    LaunchRequest { tasks: vec![task.into()], ..request() }
}

pub(super) fn call_reply(name: &str, arguments: &str) -> Reply {
    calls(&[("c", name, arguments)])
}

fn offered(seen: &Seen) -> Vec<String> {
    let tools = seen.json()["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the role and the content of the last message of a request.
pub(super) fn last(seen: &Seen) -> (String, String) {
    let message = seen.json()["messages"].as_array().unwrap().last().unwrap().clone();
    (
        message["role"].as_str().unwrap().to_owned(),
        message["content"].as_str().unwrap_or_default().to_owned(),
    )
}

#[test]
fn queries_run_to_their_answers_over_virtual_apis() {
    let server = Scripted::start(|seen| {
        let asked = seen.json()["messages"].to_string();
        let place = ["Elz", "Kinzig", "Murg"]
            .into_iter()
            .find(|place| asked.contains(&format!("at {place}?")))
            .unwrap();
        let name = if place == "Murg" { "outlook_for_river_gauge" } else { LEVEL };
        if count(seen, "tool") == 0 {
            call_reply(name, &format!(r#"{{"place": "{place}"}}"#))
        } else {
            call_reply("Finish", GIVES)
        }
    });
    let bench = folder(&server, "method: CoT@1, offer: query", "");
    let view = run(&bench, &request());
    assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 3, 0), "{:?}", view.runs);
    let seen = server.seen();
    assert!(seen.iter().all(|seen| offered(seen).contains(&"Finish".to_owned())));
    let shown = |place: &str| {
        let asks = seen.iter().find(|seen| {
            count(seen, "tool") == 1 && seen.json()["messages"].to_string().contains(place)
        });
        last(asks.unwrap()).1
    };
    assert_eq!(shown("at Elz"), r#"{"error": "", "response": {"cm": 152, "at": "\u00f6"}}"#);
    assert_eq!(shown("at Murg"), r#"{"error": "Unauthorized error...", "response": ""}"#);
    let file = document(&bench, RUN);
    assert_eq!(file.get("answer").and_then(|answer| answer.text()), Some("It stands at 152 cm."));
    for (key, value) in [
        ("method", "\"CoT@1\""),
        ("offer", "\"query\""),
        ("steps", "12"),
        ("observation", "1024"),
        ("turns", "2"),
    ] {
        assert_eq!(fact(&bench, RUN, key).as_deref(), Some(value), "{key}");
    }
    let murg = document(&bench, "results/G1_instruction/3-tool_calling-scripted-variation0.yaml")
        .run()
        .unwrap();
    assert_eq!(murg.tree.unwrap().nodes[1].trouble.as_deref(), Some("Not authorized"));
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
}

#[test]
fn a_query_without_a_method_has_its_whole_last_message_for_its_answer_when_it_ends() {
    const FENCED: &str = "First:\n```json\n{\"city\": \"x\"}\n```";
    const WORDS: &str = "It stands at 152 cm.";
    let server = Scripted::sequence([
        Reply::json(&chat(Some(FENCED), &[("c", LEVEL, r#"{"place": "Elz"}"#)])),
        says(WORDS),
    ]);
    let bench = folder(&server, "offer: query", "");
    let view = run(&bench, &only("1"));
    assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 1, 0), "{:?}", view.runs);
    assert_eq!(document(&bench, RUN).get("answer").and_then(|answer| answer.text()), Some(WORDS));
    // A file without the copied answer and without times is just as complete.
    let file = fs::read_to_string(bench.path(RUN)).unwrap();
    let begin = file.find("\nanswer:").unwrap();
    fs::write(bench.path(RUN), format!("{}\n", &file[..begin])).unwrap();
    let plan = bench.app().launches().plan_launch(&only("1")).unwrap();
    let skipped: Vec<_> = plan.skipped.iter().map(|run| (run.act, run.why.as_str())).collect();
    assert_eq!(skipped, [(Act::Nothing, "It is complete.")]);
}

#[test]
fn a_tree_is_told_whole_and_the_way_that_counts_is_the_conversation() {
    let server = Scripted::sequence([
        Reply::json(&chat(
            Some("I look."),
            &[
                ("c", LEVEL, r#"{"place": "Elz"}"#),
                ("c", "outlook_for_river_gauge", r#"{"place": "Elz"}"#),
            ],
        )),
        call_reply("Finish", GIVES_UP),
        call_reply("made_up", "{}"),
        call_reply("Finish", GIVES),
    ]);
    let bench = folder(&server, "method: DFS_woFilter_w2, offer: query", "");
    let view = run(&bench, &only("*/1"));
    assert_eq!((view.done, view.failed), (1, 0), "{:?}", view.runs);
    let seen = server.seen();
    let (role, another) = last(&seen[2]);
    assert!(role == "user" && another.contains("- level_for_river_gauge with"), "{another}");
    assert!(
        !seen[3].json()["messages"].to_string().contains("You were at this point"),
        "it is said once"
    );
    assert!(seen[3].body.windows(35).any(|part| part == b"invalid_hallucination_function_name"));
    let run = document(&bench, RUN).run().unwrap();
    let tree = run.tree.as_ref().unwrap();
    let shown: Vec<_> = tree
        .nodes
        .iter()
        .map(|node| (node.parent, node.kind, node.text.as_str(), node.pruned, node.step))
        .collect();
    assert_eq!(
        shown,
        [
            (None, TreeKind::Root, "", false, None),
            (Some(0), TreeKind::Thought, "I look.", false, None),
            (Some(1), TreeKind::Call, LEVEL, false, None),
            (Some(2), TreeKind::Call, "outlook_for_river_gauge", false, None),
            (Some(3), TreeKind::Finish, "Finish", true, None),
            (Some(0), TreeKind::Call, "made_up", false, Some(1)),
            (Some(5), TreeKind::Finish, "Finish", false, Some(2)),
        ]
    );
    assert_eq!(run.steps.len(), 3);
    assert_eq!(fact(&bench, RUN, "turns").as_deref(), Some("4"), "every reply is counted");
    assert_eq!(fact(&bench, RUN, "cost").as_deref(), Some("0.00048"));
}

#[test]
fn a_search_without_an_answer_has_none_and_is_complete() {
    let server = Scripted::always(call_reply("Finish", GIVES_UP));
    let bench = folder(&server, "method: CoT@2, offer: query", "");
    let view = run(&bench, &only("*/1"));
    assert_eq!((view.done, server.delivered()), (1, 2), "{:?}", view.runs);
    let file = document(&bench, RUN);
    assert!(file.get("answer").is_none());
    assert_eq!(
        outline_of(&file.run().unwrap()).standing,
        touchstone_model::run::RecordedState::NoAnswer
    );
    let plan = bench.app().launches().plan_launch(&only("*/1")).unwrap();
    assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Nothing), "{:?}", plan.skipped);
}

#[test]
fn a_search_that_was_stopped_goes_on_where_it_was_and_buys_nothing_twice() {
    for now in [false, true] {
        let latch = Latch::default();
        let held = latch.clone();
        let server = Scripted::start(move |seen| match seen.number {
            0 => call_reply(LEVEL, r#"{"place": "Elz"}"#),
            1 => call_reply("Finish", GIVES_UP),
            2 => call_reply("outlook_for_river_gauge", "{}").once_open(&held),
            _ if count(seen, "tool") == 0 => call_reply("outlook_for_river_gauge", "{}"),
            _ => call_reply("Finish", GIVES),
        });
        let bench = folder(&server, "method: DFS_woFilter_w2, offer: query", "");
        let launch = bench.app().launches().start_launch(&only("*/1")).unwrap().launch;
        server.wait_for(3);
        wait_until("the file tells of the first way", || {
            fact(&bench, RUN, "tree").filter(|tree| tree.contains("\"pruned\""))
        });
        bench.app().launches().stop_launch(&launch, now).unwrap();
        latch.open();
        assert_eq!(ended(&bench, &launch).stopped, 1);
        assert_eq!(run(&bench, &only("*/1")).done, 1);
        assert_eq!(
            server.seen().len(),
            if now { 5 } else { 4 },
            "only what was given up is asked again"
        );
        let nodes = document(&bench, RUN).run().unwrap().tree.unwrap().nodes;
        assert_eq!(
            nodes.iter().map(|node| node.parent).collect::<Vec<_>>(),
            [None, Some(0), Some(1), Some(0), Some(3)]
        );
        assert_eq!(fact(&bench, RUN, "turns").as_deref(), Some("4"));
    }
}

/// Returns the file with only the first `nodes` nodes of the tree.
fn lost(whole: &Document, nodes: usize) -> Document {
    let mut file = whole.clone();
    file.remove("answer");
    file.keep(1);
    let mut tree = whole.get("run").unwrap().get("tree").unwrap().clone();
    if let Value::Map(entries) = &mut tree
        && let Some((_, Value::List(list))) = entries.last_mut()
    {
        list.truncate(nodes);
    }
    let of_the_end = |key: Option<&str>| matches!(key, Some("finished" | "seconds" | "journal"));
    let facts = whole
        .get("run")
        .unwrap()
        .entries()
        .iter()
        .filter(|(key, _)| !of_the_end(key.text()))
        .cloned();
    file.set("run", Value::Map(facts.collect()));
    file.set_run("tree", tree);
    file
}

#[test]
fn a_search_whose_file_lost_its_end_takes_it_from_the_journal() {
    let script = || {
        Scripted::sequence([
            call_reply(LEVEL, r#"{"place": "Elz"}"#),
            call_reply("Finish", GIVES_UP),
            call_reply(LEVEL, "{}"),
            call_reply("Finish", GIVES),
        ])
    };
    let server = script();
    let bench = folder(&server, "method: DFS_woFilter_w2, offer: query", "");
    run(&bench, &only("*/1"));
    let whole = document(&bench, RUN);
    // Simulates a crash: the paid replies are in the journal, and the file is in its initial or an
    // intermediate state.
    for nodes in 0..4 {
        bench.write(RUN, lost(&whole, nodes).write());
        let view = run(&bench, &only("*/1"));
        assert_eq!((view.done, server.seen().len()), (1, 4), "{nodes}: {:?}", view.runs);
        let again = document(&bench, RUN);
        assert_eq!((again.items(), again.get("answer")), (whole.items(), whole.get("answer")));
        assert_eq!(again.get("run").unwrap().get("tree"), whole.get("run").unwrap().get("tree"));
    }
}

#[test]
fn a_failed_call_of_a_search_is_not_tried_again_where_the_model_was_told_of_it() {
    let server = Scripted::start(|seen| match count(seen, "tool") {
        0 => calls(&[
            ("a", "query_things", r#"{"sql": "SELECT n FROM later"}"#),
            ("b", LEVEL, r#"{"place": "Elz"}"#),
        ]),
        _ => call_reply("Finish", GIVES),
    });
    let bench = folder(&server, "method: CoT@1, offer: query, system_prompt: Be brief.", "");
    let workspace = fs::read_to_string(bench.path("touchstone.yaml")).unwrap();
    let with_things = "tools: { query_things: { kind: sql, database: 'sqlite:data/things.db' }, ";
    bench.write("touchstone.yaml", workspace.replace("tools: { ", with_things));
    fs::create_dir_all(bench.path("data")).unwrap();
    let things = rusqlite::Connection::open(bench.path("data/things.db")).unwrap();
    things.execute_batch("CREATE TABLE things (n INTEGER)").unwrap();
    let view = run(&bench, &only("*/1"));
    assert_eq!((view.done, server.seen().len()), (1, 2), "{:?}", view.runs);
    let whole = document(&bench, RUN);
    assert!(whole.write().contains("no such table"), "{}", whole.write());
    things.execute_batch("CREATE TABLE later (n INTEGER)").unwrap();
    let cut_off = || lost(&whole, 0).write();
    bench.write(RUN, cut_off());
    let view = run(&bench, &only("*/1"));
    assert_eq!((view.done, server.seen().len()), (1, 2), "{}", document(&bench, RUN).write());
    assert_eq!(
        document(&bench, RUN).get("run").unwrap().get("tree"),
        whole.get("run").unwrap().get("tree")
    );
    // If the model was not told of the error, the call is repeated, and works by now.
    let kept =
        "results/.touchstone/journal/G1_instruction/1-tool_calling-scripted-variation0.jsonl";
    let lines = fs::read_to_string(bench.path(kept)).unwrap();
    let untold: Vec<&str> = lines.lines().take(3).collect();
    bench.write(kept, untold.join("\n") + "\n");
    bench.write(RUN, cut_off());
    let view = run(&bench, &only("*/1"));
    assert_eq!((view.done, server.seen().len()), (1, 3), "{lines}");
    assert!(!document(&bench, RUN).write().contains("no such table"));
}

#[test]
fn a_search_that_failed_is_gone_on_with_and_not_in_another_way() {
    let server = Scripted::start(|seen| match seen.number {
        0 => call_reply(LEVEL, r#"{"place": "Elz"}"#),
        1 => super::stage::refuses(400, "invalid_request_error", "no"),
        _ => call_reply("Finish", GIVES),
    });
    let bench = folder(&server, "method: CoT@1, offer: query", "");
    assert_eq!(run(&bench, &only("*/1")).failed, 1);
    let other = LaunchRequest { method: Some("DFS_woFilter_w2".into()), ..only("*/1") };
    let plan = bench.app().launches().plan_launch(&other).unwrap();
    assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Refused));
    let differs = plan.skipped[0].differs.clone().unwrap();
    assert!(
        differs.contains("method in the file: CoT@1") && differs.contains("DFS_woFilter_w2"),
        "{differs}"
    );
    let anyway = LaunchRequest { anyway: true, ..other };
    assert_eq!(run(&bench, &anyway).done, 1);
    assert_eq!(
        fact(&bench, RUN, "method").as_deref(),
        Some("\"CoT@1\""),
        "it goes on as it was begun"
    );
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn more_functions_than_a_provider_takes_are_offered_through_a_search() {
    let server = Scripted::sequence([
        call_reply("search_apis", r#"{"query": "how high is the water", "limit": 1}"#),
        call_reply(
            "call_api",
            r#"{"name": "level_for_river_gauge", "arguments": {"place": "Elz"}}"#,
        ),
        call_reply("call_api", r#"{"name": "level", "arguments": {}}"#),
        call_reply("Finish", GIVES),
    ]);
    let bench = folder(&server, "method: CoT@1", ", max_tools: 2");
    assert_eq!(run(&bench, &only("*/1")).done, 1);
    let seen = server.seen();
    assert_eq!(offered(&seen[0]), ["search_apis", "call_api", "Finish"]);
    assert!(
        seen[0].json()["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains("There are 2 functions")
    );
    assert!(
        last(&seen[1]).1.contains("\"name\":\"level_for_river_gauge\""),
        "{:?}",
        last(&seen[1])
    );
    assert!(last(&seen[2]).1.contains("152"));
    assert!(last(&seen[3]).1.contains("no function named `level`"));
    assert_eq!(
        fact(&bench, RUN, "offered").as_deref(),
        Some("\"2 functions, through search_apis and call_api\"")
    );
}

#[test]
fn functions_are_offered_as_it_was_asked() {
    let server = Scripted::always(call_reply("Finish", GIVES));
    let bench = folder(&server, "method: CoT@1", "");
    for (offer, task, functions) in [
        ("all", "*/3", vec!["level_for_river_gauge", "outlook_for_river_gauge", "Finish"]),
        ("query", "*/3", vec!["outlook_for_river_gauge", "Finish"]),
        ("top-1", "*/3", vec!["level_for_river_gauge", "Finish"]),
    ] {
        let asked = LaunchRequest { offer: Some(offer.into()), start_over: true, ..only(task) };
        assert_eq!(run(&bench, &asked).done, 1, "{offer}");
        assert_eq!(offered(server.seen().last().unwrap()), functions, "{offer}");
    }
    let wrong = LaunchRequest { offer: Some("best".into()), ..request() };
    assert!(bench.app().launches().plan_launch(&wrong).unwrap_err().message.contains("top-20"));
}

#[test]
fn the_calls_that_are_right_for_a_query_are_told_to_nobody_unless_that_is_asked_for() {
    let server = Scripted::always(says("I do not know."));
    let bench = folder(&server, "", "");
    assert_eq!(run(&bench, &only("*/1")).done, 1);
    assert_eq!(server.delivered(), 1);
    let seen = server.seen().last().unwrap().clone();
    assert_eq!(
        offered(&seen),
        ["level_for_river_gauge", "outlook_for_river_gauge"],
        "without a method nothing ends it but an answer"
    );
    assert_eq!(fact(&bench, RUN, "method"), None);
    let text = std::fs::read_to_string(bench.path("touchstone.yaml")).unwrap();
    bench.write("touchstone.yaml", text + "run: { nudge: { auto: true, max: 1 } }\n");
    let again = LaunchRequest { start_over: true, ..only("*/1") };
    assert_eq!(run(&bench, &again).done, 1);
    assert_eq!(server.delivered(), 3);
}

#[test]
fn a_message_is_not_taken_by_a_search_that_is_over() {
    let server = Scripted::always(call_reply("Finish", GIVES));
    let bench = folder(&server, "method: CoT@1", "");
    let launched = bench.app().launches().start_launch(&only("*/1")).unwrap();
    ended(&bench, &launched.launch);
    let id = &super::view(&bench, &launched.launch).runs[0].run;
    wait_until("the run is listed", || bench.app().runs().open_run(id).ok());
    let refused = bench.app().launches().nudge_run(id, "And tomorrow?", false).unwrap_err().message;
    assert!(refused.contains("takes no message"), "{refused}");
    let mut file = document(&bench, RUN);
    assert_eq!(file.items().len(), 2);
    file.push("user_message", "And tomorrow?".into());
    bench.write(RUN, file.write());
    let plan = bench.app().launches().plan_launch(&only("*/1")).unwrap();
    let why = plan.owed.iter().chain(&plan.skipped).map(|run| run.why.as_str()).collect::<Vec<_>>();
    assert!(plan.owed_total == 0 && why[0].contains("takes no message"), "{why:?}");
    // A copy is a conversation with the functions of the search.
    let copied =
        bench.app().launches().fork_run(id, &ForkRequest::new(1, Some("And tomorrow?"))).unwrap();
    assert_eq!(
        ended(&bench, &copied.launch.unwrap()).failed,
        1,
        "a model that only calls Finish comes to no end"
    );
    let copy = RUN.replace("variation0", "variation0-fork1");
    assert_eq!((fact(&bench, &copy, "method"), fact(&bench, &copy, "tree")), (None, None));
    assert_eq!(
        offered(server.seen().last().unwrap()),
        ["level_for_river_gauge", "outlook_for_river_gauge"]
    );
}
