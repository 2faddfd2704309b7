//! Tests of stopping: gracefully, at once, at the spend limit, and after a failure that affects all
//! runs.
use super::stage::{
    ANSWER, NAME, PLAIN, QUERY, RUN, calls, calls_then_answers, chat, count_events, ear,
    folder_with, journal, plain, refuses, repeats, says, workspace,
};
use super::{document, ended, request, run, view};
use crate::bench::wait_until;
use crate::scripted::{Latch, Reply, Scripted};
use fs_err as fs;
use std::time::{Duration, Instant};
use touchstone_api::{LaunchRequest, LaunchRunState, LaunchState};
use touchstone_runner::event::RunEventKind;

fn one_at_a_time(repeats_: u32) -> LaunchRequest {
    LaunchRequest { concurrency: Some(1), ..repeats(repeats_) }
}

/// A provider that holds its second reply until the latch opens.
fn with_its_second_reply_held() -> (Scripted, Latch) {
    let latch = Latch::default();
    let held = latch.clone();
    let server = Scripted::start(move |seen| match seen.number {
        1 => says(ANSWER).once_open(&held),
        _ => calls_then_answers(seen),
    });
    (server, latch)
}

#[test]
fn a_polite_stop_lets_the_reply_in_flight_be_saved_and_begins_nothing_new() {
    let latch = Latch::default();
    let held = latch.clone();
    let server = Scripted::start(move |seen| match seen.number {
        0 => calls(&[("c", "query_things", QUERY)]).once_open(&held),
        _ => calls_then_answers(seen),
    });
    let bench = plain(&server);
    let (events, listener) = ear();
    let launch =
        bench.app().launches().start_launch_with(&one_at_a_time(3), vec![listener]).unwrap().launch;
    server.wait_for(1);
    bench.app().launches().stop_launch(&launch, false).unwrap();
    wait_until("it says that it stops", || {
        (view(&bench, &launch).state == LaunchState::Stopping).then_some(())
    });
    assert!(
        bench
            .app()
            .launches()
            .retry_launch(&launch)
            .unwrap_err()
            .message
            .contains("still in progress")
    );
    latch.open();
    let view = ended(&bench, &launch);
    assert_eq!(
        (view.state, view.stopped, view.done, view.failed),
        (LaunchState::Stopped, 3, 0, 0),
        "{:?}",
        view.runs
    );
    assert!(view.why.is_some());
    assert_eq!(
        document(&bench, RUN).items().len(),
        2,
        "the call that was bought is in the file, not yet run"
    );
    assert_eq!(
        (
            server.delivered(),
            count_events(&events, |what| matches!(what, RunEventKind::Calling { .. }))
        ),
        (1, 0)
    );
    let again = bench.app().launches().retry_launch(&launch).unwrap().launch;
    let view = ended(&bench, &again);
    assert_eq!(
        (view.state, view.done, server.delivered()),
        (LaunchState::Done, 3, 6),
        "{:?}",
        view.runs
    );
}

#[test]
fn a_run_whose_last_word_comes_while_it_is_stopped_is_complete() {
    let latch = Latch::default();
    let held = latch.clone();
    let server = Scripted::start(move |_| says(ANSWER).once_open(&held));
    let bench = plain(&server);
    let launch = bench.app().launches().start_launch(&one_at_a_time(1)).unwrap().launch;
    server.wait_for(1);
    bench.app().launches().stop_launch(&launch, false).unwrap();
    latch.open();
    let view = ended(&bench, &launch);
    assert_eq!((view.state, view.done), (LaunchState::Done, 1), "{:?}", view.runs);
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
}

#[test]
fn a_stop_at_once_gives_up_what_is_in_flight_and_the_file_can_be_gone_on_with() {
    let (server, latch) = with_its_second_reply_held();
    let bench = plain(&server);
    let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
    server.wait_for(2);
    let began = Instant::now();
    bench.app().launches().stop_launch(&launch, true).unwrap();
    let view = ended(&bench, &launch);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!((view.state, view.stopped), (LaunchState::Stopped, 1));
    latch.open();
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(document(&bench, RUN).items().len(), 3);
    assert_eq!(server.seen().len(), 3, "only what was given up is asked again");
}

#[test]
fn a_stop_leaves_what_somebody_wrote_or_took_away_meanwhile_as_it_is() {
    for is_edit in [true, false] {
        let (server, latch) = with_its_second_reply_held();
        let bench = plain(&server);
        let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
        server.wait_for(2);
        let text = || fs::read_to_string(bench.path(RUN)).unwrap_or_default();
        // The transcript is written at intervals of 250 ms, for the last time while the second
        // reply is awaited. An edit before that is moved aside, since the run goes on.
        wait_until("the call is in the file, which has come to rest", || {
            let age = fs::metadata(bench.path(RUN)).ok()?.modified().ok()?.elapsed().ok()?;
            (text().contains("SELECT sum(number)") && age > Duration::from_secs(2)).then_some(())
        });
        let edited = text().replace("How many?", "How many, and why?");
        if is_edit {
            bench.put(RUN, &edited);
        } else {
            fs::remove_file(bench.path(RUN)).unwrap();
        }
        bench.app().launches().stop_launch(&launch, true).unwrap();
        assert_eq!(ended(&bench, &launch).stopped, 1);
        assert_eq!(text(), if is_edit { edited } else { String::new() });
        assert!(!bench.path("results/.touchstone/replaced").exists());
        latch.open();
    }
}

#[test]
fn a_tool_that_computes_is_given_up_at_once_too_and_run_again() {
    let endless = r#"{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"}"#;
    let server = Scripted::start(move |seen| match seen.number {
        0 => calls(&[("c", "query_things", endless)]),
        _ => says(ANSWER),
    });
    let bench = plain(&server);
    let (events, listener) = ear();
    let launch =
        bench.app().launches().start_launch_with(&request(), vec![listener]).unwrap().launch;
    wait_until("it calls", || {
        (count_events(&events, |what| matches!(what, RunEventKind::Calling { .. })) == 1)
            .then_some(())
    });
    let began = Instant::now();
    bench.app().launches().stop_launch(&launch, true).unwrap();
    assert_eq!(ended(&bench, &launch).stopped, 1);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(
        !journal(&bench, NAME).contains(r#""kind":"tool""#),
        "it did not fail, it was given up"
    );
}

#[test]
fn whoever_waits_to_ask_again_is_stopped_without_asking() {
    // A delay requested by the provider, so long that only the stop can end it.
    let server = Scripted::always(
        Reply::new(429).header("retry-after", "50").text("text/plain", "slow down"),
    );
    let bench = plain(&server);
    for now in [false, true] {
        let (events, listener) = ear();
        let launch =
            bench.app().launches().start_launch_with(&request(), vec![listener]).unwrap().launch;
        if now {
            // The provider's delay now applies to all requests.
            wait_until("it asks", || {
                (count_events(&events, |what| matches!(what, RunEventKind::Asking { .. })) == 1)
                    .then_some(())
            });
        } else {
            wait_until("it waits", || {
                (count_events(&events, |what| matches!(what, RunEventKind::Retrying { .. })) == 1)
                    .then_some(())
            });
        }
        let began = Instant::now();
        bench.app().launches().stop_launch(&launch, now).unwrap();
        assert_eq!(ended(&bench, &launch).stopped, 1);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
    assert!(server.seen().len() <= 2);
}

#[test]
fn a_launch_stops_when_its_budget_is_spent() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let view = run(&bench, &LaunchRequest { max_cost: Some(0.0003), ..one_at_a_time(4) });
    assert_eq!(
        (view.state, view.done, view.stopped),
        (LaunchState::Stopped, 1, 3),
        "{:?}",
        view.runs
    );
    assert_eq!(
        (view.why.as_deref(), view.max_cost),
        (Some("The budget of $0.0003 is spent."), Some(0.0003))
    );
    assert_eq!(server.delivered(), 3, "the reply that spent it was in flight; nothing after it");
    let again = bench.app().launches().retry_launch(&view.id).unwrap().launch;
    assert_eq!(ended(&bench, &again).max_cost, Some(0.0003));
}

#[test]
fn a_budget_stops_a_launch_whose_model_does_not_say_what_it_took() {
    let server = Scripted::start(|seen| {
        let mut reply = chat(Some(ANSWER), &[]);
        if seen.number > 0 {
            reply.as_object_mut().unwrap().remove("usage");
        }
        Reply::json(&reply)
    });
    let bench = plain(&server);
    let view = run(&bench, &LaunchRequest { max_cost: Some(5.0), ..one_at_a_time(4) });
    assert_eq!(
        (view.state, view.done, view.stopped),
        (LaunchState::Stopped, 2, 2),
        "{:?}",
        view.runs
    );
    insta::assert_snapshot!(view.why.unwrap(), @"A reply of `scripted` did not report its tokens, \
        so the rest of the budget of $5 is unknown. Make the server report usage, or leave out the \
        budget.");
    assert_eq!(run(&bench, &one_at_a_time(4)).done, 2, "without a budget it goes on");
    // If only the workspace file has a spend limit, a model without a price is reported in the
    // plan, and not limited.
    let unpriced = workspace(&server, "", "run: { max_cost: 5 }\n")
        .replace(", price: { input: 1.0, output: 2.0 }", "");
    let bench = folder_with(&unpriced, PLAIN);
    assert_eq!(run(&bench, &one_at_a_time(3)).done, 3);
}

#[test]
fn what_would_fail_for_all_stops_the_whole_launch_with_the_reason() {
    let table = [
        (429, "insufficient_quota", "You exceeded your current quota.", "quota"),
        (400, "enforced_spend_limit_reached", "The limit of the workspace is reached.", "limit"),
        (401, "invalid_api_key", "Incorrect API key provided.", "key"),
    ];
    for (status, kind, message, word) in table {
        let server = Scripted::always(refuses(status, kind, message));
        let bench = plain(&server);
        let view = run(&bench, &one_at_a_time(4));
        assert_eq!(
            (view.state, view.failed, view.stopped),
            (LaunchState::Stopped, 1, 3),
            "{kind}: {:?}",
            view.runs
        );
        let why = view.why.unwrap();
        assert!(why.to_lowercase().contains(word), "{kind}: {why}");
        assert_eq!(server.seen().len(), 1, "{kind}: asked again in vain");
    }
}

#[test]
fn a_key_that_is_refused_stops_those_who_need_it_and_nobody_else() {
    let wrong = Scripted::always(refuses(401, "invalid_api_key", "Incorrect API key provided."));
    let server = Scripted::start(calls_then_answers);
    let (right, other) = (workspace(&server, "", ""), wrong.url("/v1"));
    let model =
        |name: &str| format!("  {name}: {{ provider: openai, base_url: '{other}', model: any }}\n");
    let models = format!("models:\n{}{}", model("first"), model("second"));
    let bench = folder_with(&right.replace("models:\n", &models), PLAIN);
    let all = LaunchRequest {
        models: vec!["first".into(), "second".into(), "scripted".into()],
        concurrency: Some(1),
        ..repeats(3)
    };
    let (events, listener) = ear();
    let launch = bench.app().launches().start_launch_with(&all, vec![listener]).unwrap().launch;
    let view = ended(&bench, &launch);
    assert_eq!((view.done, view.failed, view.stopped), (3, 1, 5), "{:?}", view.runs);
    assert_eq!(
        (wrong.seen().len(), server.delivered()),
        (1, 6),
        "two models are asked in one place with one key, the third elsewhere"
    );
    assert_eq!((view.state, view.why), (LaunchState::Stopped, None));
    let says = |what: &RunEventKind| matches!(what, RunEventKind::Noted { note } if note.contains("key") && note.contains("others continue"));
    assert_eq!(count_events(&events, says), 1);
    let begun = fs::read_dir(bench.path("results")).unwrap().flatten();
    let begun = begun.filter(|entry| entry.file_name().to_string_lossy().ends_with(".yaml"));
    assert_eq!(begun.count(), 4, "what was not begun has no file");
}

#[test]
fn runs_whose_key_is_not_set_are_refused_before_anything_is_sent() {
    let server = Scripted::always(says(ANSWER));
    let bench =
        folder_with(&workspace(&server, ", api_key_env: TOUCHSTONE_TEST_NO_SUCH_KEY", ""), PLAIN);
    let plan = bench.app().launches().plan_launch(&one_at_a_time(3)).unwrap();
    assert_eq!((plan.owed_total, plan.skipped_total, plan.blocked_total), (3, 0, 3));
    assert!(plan.blocked[0].why.contains("TOUCHSTONE_TEST_NO_SUCH_KEY"), "{:?}", plan.blocked);
    let refused = bench.app().launches().start_launch(&one_at_a_time(3)).unwrap_err();
    assert!(refused.message.contains("TOUCHSTONE_TEST_NO_SUCH_KEY"), "{refused}");
    assert!(
        server.seen().is_empty()
            && !bench.path("results/count-tool_calling-scripted-variation0.yaml").exists()
    );
}

#[test]
fn a_provider_that_fails_for_a_while_is_asked_again_and_one_run_that_fails_is_one_run() {
    let server = Scripted::start(|seen| {
        let asked = seen.json()["messages"].to_string();
        match (asked.contains("bad"), seen.number) {
            (true, _) => refuses(500, "server_error", "broken"),
            (false, 0 | 1) => refuses(503, "server_error", "busy"),
            _ => calls_then_answers(seen),
        }
    });
    let task = "tool_calling_prompt: '{what}'\nvariations:\n  - what: good\n  - what: bad\n  - what: fine\n";
    let bench = folder_with(&workspace(&server, "", ""), task);
    let (events, listener) = ear();
    let wanted = LaunchRequest { concurrency: Some(1), ..request() };
    let launch = bench.app().launches().start_launch_with(&wanted, vec![listener]).unwrap().launch;
    let view = ended(&bench, &launch);
    assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 2, 1), "{:?}", view.runs);
    assert_eq!(
        count_events(&events, |what| matches!(what, RunEventKind::Retrying { .. })),
        4,
        "two for each"
    );
    let failed = view.runs.iter().find(|run| run.state == LaunchRunState::Error).unwrap();
    assert!(
        failed.path.contains("variation1") && failed.doing.as_ref().unwrap().contains("500"),
        "{failed:?}"
    );
    assert_eq!(
        journal(&bench, NAME).lines().count(),
        5,
        "attempts that failed, too: two, two replies and a call"
    );
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again_and_both_are_in_the_journal() {
    let conversation = crate::conversation::Conversation::new(crate::conversation::Wire::Chat, 0);
    let server = Scripted::start(move |seen| match seen.number {
        0 => Reply::events([("", super::stage::chat(Some("Half"), &[]).to_string())])
            .header("x-should-retry", "true"),
        _ => conversation.reply(seen),
    });
    let bench = folder_with(&workspace(&server, ", stream: true", ""), PLAIN);
    let view = run(&bench, &request());
    assert_eq!((view.done, server.delivered()), (1, 2), "{:?}", view.runs);
    assert_eq!(document(&bench, RUN).items().len(), 2);
    let journal = journal(&bench, NAME);
    assert_eq!(journal.lines().count(), 2, "{journal}");
    assert!(journal.lines().next().unwrap().contains("Half"));
}
