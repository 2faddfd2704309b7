//! Tests of runs, from the request to the file: every owed run is executed, paid replies are
//! stored, and stopped runs resume.
mod attackers;
mod broken_replies;
mod cells;
#[cfg(debug_assertions)]
mod clocks;
mod edited;
mod endings;
mod events;
mod first;
mod lost;
mod nudged;
mod on_disk;
mod owed;
mod planned;
mod promptql;
mod searching;
mod secrets;
mod sharing;
mod simulating;
mod split;
pub(crate) mod stage;
mod stopping;
mod times;
mod toolbox;
mod users;
mod workers;

use super::bench::{Bench, DEADLINE};
use super::conversation::{Conversation, Wire};
use super::scripted::{Reply, Scripted};
use fs_err as fs;
use serde_json::json;
use touchstone_api::{Act, LaunchRequest, LaunchState, LaunchView, Span};
use touchstone_formats::transcript::Document;

/// A task that expects the use of a tool; `folder_of` creates the database behind it.
const TASK: &str = "tool_calling_prompt: How many {what} are there?\nexpected_tool_calls: [query_things]\nvariations:\n  - what: stones\n  - what: trees\n";

fn workspace(url: &str, provider: &str) -> String {
    format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  scripted: {{ provider: {provider}, base_url: '{url}', model: any, price: {{ input: \
         1.0, output: 2.0 }} }}\n{THINGS}"
    )
}

/// The tool over the database of [`folder_of`].
pub(crate) const THINGS: &str = "tools:\n  query_things: { kind: sql, database: 'sqlite:data/things.db', description: Things. }\n";

/// A folder with the task, the database and a model served by the scripted server.
pub(crate) fn folder(server: &Scripted, wire: Wire) -> Bench {
    let provider = if wire == Wire::Messages { "anthropic" } else { "openai" };
    folder_of(&workspace(&server.url("/v1"), provider), TASK).open()
}

/// A folder with a database, not open yet.
pub(crate) fn folder_of(workspace: &str, task: &str) -> Bench {
    let bench = Bench::new().file("touchstone.yaml", workspace).file("tasks/count.yaml", task);
    fs::create_dir_all(bench.path("data")).unwrap();
    let sql = rusqlite::Connection::open(bench.path("data/things.db")).unwrap();
    sql.execute_batch(
        "CREATE TABLE things (name TEXT, number INTEGER); INSERT INTO things VALUES ('stones', 3), ('trees', 4);",
    )
    .unwrap();
    bench
}

pub(crate) fn request() -> LaunchRequest {
    LaunchRequest {
        systems: vec!["tool_calling".into()],
        models: vec!["scripted".into()],
        ..LaunchRequest::default()
    }
}

/// Runs everything owed to its end.
pub(crate) fn run(bench: &Bench, request: &LaunchRequest) -> LaunchView {
    let launched = bench.app().launches().start_launch(request).unwrap();
    ended(bench, &launched.launch)
}

/// Waits for the end of a launch, and returns its state.
pub(crate) fn ended(bench: &Bench, launch: &str) -> LaunchView {
    assert!(
        bench.app().launches().wait_launch(launch, DEADLINE).unwrap(),
        "the launch did not end"
    );
    view(bench, launch)
}

/// Returns the current state of a launch.
pub(crate) fn view(bench: &Bench, launch: &str) -> LaunchView {
    bench.app().launches().view(launch, Span { offset: 0, limit: 100 }).unwrap()
}

pub(crate) fn document(bench: &Bench, path: &str) -> Document {
    Document::read(&fs::read(bench.path(path)).unwrap()).unwrap()
}

fn scripted(wire: Wire, turns: usize) -> Scripted {
    let conversation = Conversation::new(wire, turns);
    Scripted::start(move |seen| conversation.reply(seen))
}

const FIRST: &str = "results/count-tool_calling-scripted-variation0.yaml";

#[test]
fn a_launch_makes_every_run_that_is_owed_and_nothing_twice() {
    for wire in [Wire::Chat, Wire::Messages] {
        let server = scripted(wire, 1);
        let bench = folder(&server, wire);
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        assert_eq!((plan.owed_total, plan.skipped_total), (2, 0));
        assert!(plan.owed.iter().all(|run| run.act == Act::Start));
        let view = run(&bench, &request());
        assert_eq!(
            (view.state, view.done, view.failed),
            (LaunchState::Done, 2, 0),
            "{:?}",
            view.runs
        );
        assert!(
            view.cost > 0.0 && view.tokens.is_some_and(|tokens| tokens > 0) && view.unpriced == 0
        );
        let document = document(&bench, FIRST);
        assert!(document.get("answer").is_some());
        assert_eq!(document.items().len(), 4, "{}", document.write());
        assert_eq!(server.delivered(), 4);
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        assert_eq!((plan.owed_total, plan.skipped_total), (0, 2));
    }
}

#[test]
fn a_provider_that_fails_ends_the_run_in_an_error_and_it_goes_on_from_there() {
    let conversation = Conversation::new(Wire::Chat, 1);
    let server = Scripted::start(move |seen| {
        let second = seen.json()["messages"].as_array().unwrap().len() > 2;
        if second && seen.number == 1 {
            return Reply::json(
                &json!({ "error": { "message": "no", "type": "invalid_request_error" } }),
            )
            .status(400);
        }
        conversation.reply(seen)
    });
    let bench = folder(&server, Wire::Chat);
    let only = LaunchRequest { variations: vec![0], ..request() };
    let view = run(&bench, &only);
    assert_eq!((view.state, view.failed), (LaunchState::Done, 1), "{:?}", view.runs);
    let view = run(&bench, &only);
    assert_eq!((view.done, view.failed), (1, 0), "{:?}", view.runs);
    assert_eq!(document(&bench, FIRST).items().len(), 4);
}
