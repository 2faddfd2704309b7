//! Tests of simulated users: a second model plays the user of a task, both sides are paid for once,
//! and the user's verdict is the score of the run.
use super::stage::{
    QUERY, calls, chat, count, count_events, ear, fact, folder_with, journal, says,
    transcript_lines,
};
use super::{document, ended, request, run, view};
use crate::bench::{Bench, wait_until};
use crate::scripted::{Latch, Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::{Value, json};
use touchstone_api::{Act, ForkRequest, LaunchRequest, LaunchState, RunState};
use touchstone_runner::event::RunEventKind;

const RUN: &str = "results/count-tool_calling-scripted-variation0.yaml";
const NAME: &str = "count-tool_calling-scripted-variation0.yaml";

const TASK: &str = concat!(
    "user:\n",
    "  persona: A {mood} customer.\n",
    "  goal: Learn how many things there are.\n",
    "  knows: { name: Ada }\n",
    "  satisfied_when: A number was named.\n",
    "  max_turns: 2\n",
    "  model: user\n",
    "variations:\n",
    "- mood: calm\n",
);

/// A workspace file whose model `user` plays users on the same server.
fn workspace(server: &Scripted, more: &str) -> String {
    let (things, url) = (super::THINGS, server.url("/v1"));
    format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\
         \n  scripted: {{ provider: openai, base_url: '{url}', model: any, price: {{ input: 1.0, output: 2.0 }} }}\
         \n  user: {{ provider: openai, base_url: '{url}', model: player, price: {{ input: 10.0, output: 20.0 }} }}\
         \n{things}{more}"
    )
}

fn folder(server: &Scripted, task: &str) -> Bench {
    folder_with(&workspace(server, ""), task)
}

/// Returns true for a request to the model that plays the user.
fn is_user(seen: &Seen) -> bool {
    seen.json()["model"] == "player"
}

fn user_says(message: &str) -> Reply {
    says(&json!({ "status": "continue", "message": message }).to_string())
}

fn user_ends(status: &str, reason: &str) -> Reply {
    says(&json!({ "status": status, "reason": reason }).to_string())
}

fn texts(seen: &Seen) -> Vec<String> {
    let messages = seen.json()["messages"].clone();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.as_array().into_iter().flatten().map(text).collect()
}

/// A user that asks twice, and a system that calls a tool before its first answer.
fn talk(seen: &Seen) -> Reply {
    if is_user(seen) {
        return match count(seen, "assistant") {
            0 => user_says("How many?"),
            1 => user_says("And trees?"),
            _ => user_ends("reached", "Both numbers were named."),
        };
    }
    match (count(seen, "user"), count(seen, "tool")) {
        (1, 0) => calls(&[("c1", "query_things", QUERY)]),
        (1, _) => says("There are 7."),
        _ => says("Four.\n\n```json\n{\"n\": 4}\n```"),
    }
}

/// Number of requests of [`talk`]: three of the user, three of the system.
const REQUESTS: usize = 6;

#[test]
fn a_simulated_user_talks_until_its_goal_is_reached() {
    let server = Scripted::start(talk);
    let bench = folder(&server, TASK);
    let (events, listener) = ear();
    let launch =
        bench.app().launches().start_launch_with(&request(), vec![listener]).unwrap().launch;
    let view = ended(&bench, &launch);
    assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 1, 0), "{view:?}");
    let lines = transcript_lines(&bench, RUN);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], r#"{"user_message":"How many?","simulated":true,"tokens":110}"#);
    assert!(lines[1].starts_with(r#"{"tool_call""#), "{lines:?}");
    assert_eq!(lines[2], r#"{"assistant_message":"There are 7."}"#);
    assert_eq!(lines[3], r#"{"user_message":"And trees?","simulated":true,"tokens":110}"#);
    assert_eq!(lines.len(), 5);
    // Of the system: 3 requests of 100 tokens in and 10 out. The prices of the user are higher.
    assert_eq!(fact(&bench, RUN, "cost").as_deref(), Some("0.00036"));
    assert_eq!(fact(&bench, RUN, "turns").as_deref(), Some("3"));
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!(user["model"], "user");
    assert_eq!((&user["requests"], &user["cost"]), (&json!(3), &json!(0.0036)));
    assert_eq!(user["usage"], json!({ "input_tokens": 300, "output_tokens": 30 }));
    assert_eq!(
        (&user["outcome"], &user["reason"]),
        (&json!("reached"), &json!("Both numbers were named."))
    );
    assert!((view.cost - 0.00396).abs() < 1e-9, "{}", view.cost);
    assert_eq!(view.tokens, Some(6 * 110));
    let replied = |what: &RunEventKind| matches!(what, RunEventKind::UserReplied { .. });
    assert_eq!(count_events(&events, replied), 3);
    let seen = server.seen();
    assert_eq!(seen.len(), REQUESTS);
    let first = texts(&seen[0]);
    for part in ["A calm customer.", "Learn how many", "name: Ada", "A number was named."] {
        assert!(first[0].contains(part), "{part}: {first:?}");
    }
    // Neither side sees what is not meant for it.
    assert_eq!(texts(&seen[3])[3], "There are 7.");
    assert!(seen.iter().filter(|seen| !is_user(seen)).all(|seen| {
        let all = texts(seen).concat();
        !all.contains("A calm customer") && !all.contains("status")
    }));
    // A finished run is complete, and its own follow-ups are no messages of a person.
    let row = bench.wait_state(NAME, RunState::Answered);
    assert_eq!((row.nudges, row.lineage), (0, None));
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Nothing));
}

#[test]
fn the_verdict_of_the_user_is_the_score_and_a_stored_verdict() {
    for (status, passed) in [("reached", true), ("gave_up", false)] {
        let server = Scripted::start(move |seen| match (is_user(seen), count(seen, "assistant")) {
            (true, 0) => user_says("How many?"),
            (true, _) => user_ends(status, "Because."),
            _ => says("I do not know."),
        });
        let bench = folder(&server, TASK);
        assert_eq!(run(&bench, &request()).done, 1);
        let row = bench.wait_state(NAME, RunState::NoAnswer);
        assert_eq!((row.scorer.as_deref(), row.passed), (Some("goal_reached"), Some(passed)));
        assert_eq!(row.score_reason.as_deref(), Some("Because."));
        let stored = row.stored.unwrap();
        assert_eq!((stored.passed, stored.decided), (u32::from(passed), 1), "{stored:?}");
    }
}

#[test]
fn a_user_without_messages_left_is_asked_once_more_and_has_not_reached_its_goal() {
    let server =
        Scripted::start(
            |seen| {
                if is_user(seen) { user_says("And now?") } else { says("Not yet.") }
            },
        );
    let bench = folder(&server, TASK);
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(server.seen().iter().filter(|seen| is_user(seen)).count(), 3);
    let last = server.seen().iter().rfind(|seen| is_user(seen)).map(texts).unwrap();
    assert!(last.last().unwrap().contains("no messages left"), "{last:?}");
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!((&user["outcome"], &user["closing"]), (&json!("turn_limit"), &json!("And now?")));
    assert_eq!(document(&bench, RUN).items().len(), 4);
}

#[test]
fn a_malformed_reply_is_asked_for_again_and_every_request_is_counted() {
    let server = Scripted::start(|seen| {
        if !is_user(seen) {
            return says("Seven.");
        }
        match texts(seen).last().map(String::as_str) {
            Some(text) if text.starts_with("The conversation begins") => says("{\"message\": "),
            Some(text) if text.starts_with("That was not usable") => {
                says("Here:\n```json\n{\"message\": \"How many?\"}\n```")
            }
            _ => user_ends("Goal reached", "It said seven."),
        }
    });
    let bench = folder(&server, TASK);
    assert_eq!(run(&bench, &request()).done, 1);
    let lines = transcript_lines(&bench, RUN);
    assert!(
        lines.starts_with(r#"{"user_message":"How many?","simulated":true,"tokens":220}"#),
        "{lines}"
    );
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!((&user["requests"], &user["outcome"]), (&json!(3), &json!("reached")));
}

#[test]
fn plain_words_are_the_message_of_a_model_that_knows_no_json() {
    let server = Scripted::start(|seen| match (is_user(seen), count(seen, "assistant")) {
        (true, 0..3) => says("How many?"),
        (true, _) => user_ends("reached", "Yes."),
        _ => says("Seven."),
    });
    let bench = folder(&server, TASK);
    // Three requests for the first message; then its own message is the first reply.
    assert_eq!(run(&bench, &request()).done, 1);
    assert!(transcript_lines(&bench, RUN).starts_with(r#"{"user_message":"How many?""#));
}

#[test]
fn plain_words_are_no_verdict() {
    let server = Scripted::start(|seen| match (is_user(seen), count(seen, "assistant")) {
        (true, 0) => user_says("How many?"),
        (true, 1) => user_says("And trees?"),
        (true, _) => says("Thanks, that is all I needed."),
        _ => says("Seven."),
    });
    let bench = folder(&server, TASK);
    let view = run(&bench, &request());
    let why = view.runs[0].doing.clone().unwrap_or_default();
    assert!(view.failed == 1 && why.contains("did not reply in the required form"), "{view:?}");
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!(user["outcome"], Value::Null);
    assert_eq!(bench.wait_state(NAME, RunState::Error).passed, None);
}

#[test]
fn a_resumed_run_is_planned_and_paid_for_with_the_model_that_played() {
    let server =
        Scripted::start(|seen| if seen.number == 1 { Reply::new(400) } else { talk(seen) });
    let free = format!(
        "  free: {{ provider: openai, base_url: '{}', model: player }}\n{}",
        server.url("/v1"),
        super::THINGS
    );
    let file = workspace(&server, "").replace(super::THINGS, &free);
    let bench = folder_with(&file, &TASK.replace("  model: user\n", ""));
    let played_by = |name: &str| LaunchRequest { user_model: Some(name.into()), ..request() };
    assert_eq!(run(&bench, &played_by("free")).failed, 1);
    // Another model, or none, is named; the one of the file goes on, and it has no price.
    for asked in [played_by("user"), request()] {
        let plan = bench.app().launches().plan_launch(&asked).unwrap();
        assert_eq!((plan.owed_total, plan.blocked_total), (1, 0), "{plan:?}");
        assert_eq!(plan.user_models, ["free"]);
        assert!(plan.unpriced.is_some(), "{plan:?}");
        let limited = LaunchRequest { max_cost: Some(1.0), ..asked };
        assert!(bench.app().launches().start_launch(&limited).is_err());
    }
    // From the start, the named model plays.
    let anew = LaunchRequest { start_over: true, ..played_by("user") };
    assert_eq!(bench.app().launches().plan_launch(&anew).unwrap().user_models, ["user"]);
    assert_eq!(run(&bench, &played_by("user")).done, 1);
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!(user["model"], "free");
}

#[test]
fn a_model_that_cannot_play_ends_the_run_with_an_error_and_the_run_can_be_gone_on_with() {
    let server = Scripted::start(|seen| match seen.number {
        0 => user_says("How many?"),
        1 => says("Seven."),
        2..5 => says("{broken"),
        _ => user_ends("reached", "Yes."),
    });
    let bench = folder(&server, TASK);
    let view = run(&bench, &request());
    let why = view.runs[0].doing.clone().unwrap_or_default();
    assert!(view.failed == 1 && why.contains("did not reply in the required form"), "{view:?}");
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(server.seen().len(), 6);
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!((&user["requests"], &user["outcome"]), (&json!(5), &json!("reached")));
}

#[test]
fn a_refusal_and_a_cut_reply_of_the_user_are_errors() {
    for (finish, part) in [("length", "cut at the token limit"), ("content_filter", "refused")] {
        let server = Scripted::start(move |_| {
            let mut reply = chat(Some("{\"message\": \"Hi\"}"), &[]);
            reply["choices"][0]["finish_reason"] = json!(finish);
            Reply::json(&reply)
        });
        let bench = folder(&server, TASK);
        let view = run(&bench, &request());
        let why = view.runs[0].doing.clone().unwrap_or_default();
        assert!(view.failed == 1 && why.contains(part), "{finish}: {view:?}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[test]
fn a_run_stopped_at_any_request_is_gone_on_with_and_nothing_is_bought_twice() {
    for held in 0..REQUESTS {
        let latch = Latch::default();
        let gate = latch.clone();
        let server = Scripted::start(move |seen| {
            let reply = talk(seen);
            if seen.number == held { reply.once_open(&gate) } else { reply }
        });
        let bench = folder(&server, TASK);
        let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
        server.wait_for(held + 1);
        bench.app().launches().stop_launch(&launch, false).unwrap();
        wait_until("it says that it stops", || {
            (view(&bench, &launch).state == LaunchState::Stopping).then_some(())
        });
        latch.open();
        ended(&bench, &launch);
        assert_eq!(
            server.seen().len(),
            held + 1,
            "what was in flight is saved, nothing new is asked"
        );
        if held + 1 < REQUESTS {
            assert_eq!(run(&bench, &request()).done, 1, "request {held}");
        }
        assert_eq!(server.seen().len(), REQUESTS, "request {held}");
        let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
        assert_eq!(
            (&user["requests"], &user["cost"]),
            (&json!(3), &json!(0.0036)),
            "request {held}"
        );
        assert_eq!(fact(&bench, RUN, "cost").as_deref(), Some("0.00036"));
    }
}

#[test]
fn a_file_that_is_behind_its_journal_takes_both_sides_from_it() {
    let server = Scripted::start(talk);
    let bench = folder(&server, TASK);
    run(&bench, &request());
    let whole = transcript_lines(&bench, RUN);
    let text = fs::read_to_string(bench.path(RUN)).unwrap();
    let brief = fact(&bench, RUN, "user").unwrap();
    let brief: Value = serde_json::from_str(&brief).unwrap();
    let started = fact(&bench, RUN, "started").unwrap();
    let kept = journal(&bench, NAME);
    // As written before the first request: no message, and no count of anything.
    let begun = format!(
        "conversation: []\nrun:\n  system: tool_calling\n  model: scripted\n  started: {started}\n  user:\n    model: user\n    brief: '{}'\n    requests: 0\n",
        brief["brief"].as_str().unwrap()
    );
    bench.write(RUN, begun);
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.owed[0].act), (1, Act::Continue), "{plan:?}");
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(server.seen().len(), REQUESTS, "nothing is bought");
    assert_eq!(transcript_lines(&bench, RUN), whole, "{text}");
    let user: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!((&user["requests"], &user["cost"]), (&json!(3), &json!(0.0036)));
    assert!(journal(&bench, NAME).starts_with(&kept));
}

#[test]
fn a_budget_that_the_user_spent_buys_nothing_more_for_either_side() {
    // The first message costs 0.0012, the first reply of the system 0.00012.
    for (most, asked) in [(0.001, 1), (0.0013, 2), (0.0024, 4)] {
        let server = Scripted::start(talk);
        let bench = folder(&server, TASK);
        let view = run(&bench, &LaunchRequest { max_cost: Some(most), ..request() });
        assert_eq!((server.seen().len(), view.stopped), (asked, 1), "{most}: {view:?}");
        assert!(view.why.as_deref().is_some_and(|why| why.contains("is spent")), "{view:?}");
        assert_eq!(run(&bench, &request()).done, 1);
        assert_eq!(server.seen().len(), REQUESTS);
    }
}

#[test]
fn the_plan_names_the_model_that_plays_and_what_is_missing_for_it() {
    let task = TASK.replace("  model: user\n", "");
    let server = Scripted::start(talk);
    let bench = folder(&server, &task);
    let plan = |user: Option<&str>| {
        let user_model = user.map(str::to_owned);
        bench.app().launches().plan_launch(&LaunchRequest { user_model, ..request() })
    };
    let without = plan(None).unwrap();
    assert_eq!((without.owed_total, without.blocked_total, without.user_models.len()), (1, 1, 0));
    assert!(without.blocked[0].fix.as_deref().unwrap().contains("--user-model"), "{without:?}");
    assert!(bench.app().launches().start_launch(&request()).is_err());
    assert!(plan(Some("nobody")).unwrap_err().message.contains("nobody"));
    let with = plan(Some("user")).unwrap();
    assert_eq!(
        (with.blocked_total, with.user_models.as_slice()),
        (0, ["user".to_owned()].as_slice())
    );
    let asked = LaunchRequest { user_model: Some("user".into()), ..request() };
    assert_eq!(run(&bench, &asked).done, 1);
    // The setting of the workspace file, and the effort of both sides in the estimate.
    let bench = folder_with(&workspace(&server, "user_model: user\n"), &task);
    assert_eq!(run(&bench, &request()).done, 1);
    bench.wait_state(NAME, RunState::Answered);
    let estimate = wait_until("the run is in the estimate", || {
        let again = LaunchRequest { start_over: true, ..request() };
        Some(bench.app().launches().plan_launch(&again).unwrap().estimate)
            .filter(|estimate| estimate.known > 0)
    });
    assert_eq!((estimate.calls, estimate.tokens), (Some(6), Some(660)));
    assert!((estimate.cost.unwrap() - 0.00396).abs() < 1e-9, "{estimate:?}");
    // What another model would cost as the user is not known.
    let user_model = Some("scripted".to_owned());
    let other = LaunchRequest { start_over: true, user_model, ..request() };
    let estimate = bench.app().launches().plan_launch(&other).unwrap().estimate;
    assert_eq!((estimate.known, estimate.cost), (0, None));
}

#[test]
fn a_user_that_was_changed_is_another_run_and_promptql_has_none() {
    let server =
        Scripted::start(|seen| if seen.number == 1 { Reply::new(400) } else { talk(seen) });
    let bench = folder(&server, TASK);
    assert_eq!(run(&bench, &request()).failed, 1);
    bench.put("tasks/count.yaml", TASK.replace("calm", "angry"));
    let plan = wait_until("the change is noticed", || {
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        (plan.skipped_total == 1).then_some(plan)
    });
    let differs = plan.skipped[0].differs.clone().unwrap_or_default();
    assert!(differs.contains("simulated user"), "{plan:?}");
    let promptql = LaunchRequest { systems: vec!["promptql".into()], ..request() };
    let plan = bench.app().launches().plan_launch(&promptql).unwrap();
    assert!(plan.owed.is_empty() && plan.skipped[0].why.contains("simulated user"), "{plan:?}");
}

#[test]
fn a_message_of_a_person_after_the_end_is_answered_and_the_user_is_not_asked_again() {
    let server = Scripted::start(talk);
    let bench = folder(&server, TASK);
    run(&bench, &request());
    let id = bench.wait_state(NAME, RunState::Answered).id;
    let launch =
        bench.app().launches().nudge_run(&id, "Thank you, and bushes?", true).unwrap().launch;
    assert_eq!(ended(&bench, &launch).done, 1);
    assert_eq!(server.seen().len(), REQUESTS + 1);
    assert!(!is_user(server.seen().last().unwrap()));
    let row =
        wait_until("the message is counted", || bench.row(NAME).filter(|row| row.nudges == 1));
    assert!(row.lineage.is_some(), "{row:?}");
    // A fork goes on with the same user, who has not seen the end.
    let copied = bench
        .app()
        .launches()
        .fork_run(&id, &ForkRequest::new(2, Some("And trees, please?")))
        .unwrap();
    assert_eq!(ended(&bench, &copied.launch.unwrap()).done, 1);
    let original: Value = serde_json::from_str(&fact(&bench, RUN, "user").unwrap()).unwrap();
    assert_eq!(original["requests"], 3);
    assert!(server.seen().iter().filter(|seen| is_user(seen)).count() > 3);
}
