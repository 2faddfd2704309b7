//! Tests of the time of a run: the time spent on it, without the pauses before it resumed.
use super::stage::{
    NAME, PLAIN, RUN, calls, calls_then_answers, fact, folder_with, plain, says, workspace,
};
use super::{document, ended, folder_of, promptql, request, run, searching, view};
use crate::bench::{Bench, wait_until};
use crate::scripted::{Latch, Reply, Scripted};
use fs_err as fs;
use serde_json::Value as Json;
use std::time::{Duration, Instant};
use touchstone_api::{Act, RunState};
use touchstone_model::value::Value;

/// Returns the time spent on the run according to its file.
fn spent(bench: &Bench, path: &str) -> Option<f64> {
    fact(bench, path, "seconds").map(|seconds| seconds.parse().unwrap())
}

/// Delays each of some hundred bytes of a reply.
fn slowly(reply: Reply) -> Reply {
    reply.dribbled(Duration::from_millis(3))
}

/// Waits until the first run of a launch has been active for a time.
fn at_it(bench: &Bench, launch: &str, seconds: f64) {
    wait_until("it is at it", || {
        view(bench, launch).runs.first().filter(|run| run.seconds >= seconds).map(|_| ())
    });
}

#[test]
fn a_run_that_goes_on_takes_the_time_that_was_spent_before_and_no_pause() {
    for facts in [
        "seconds: 40.5, started: '2025-03-04T10:00:00.000Z'",
        // Written by another program or a person: the time from its first to its last date counts,
        // plus the time from now on.
        "started: '2025-03-04T10:00:00.000Z', finished: '2025-03-04T10:00:40.500Z'",
    ] {
        let server = Scripted::start(calls_then_answers);
        let waits = format!("conversation:\n- user_message: How many?\nrun: {{{facts}}}\n");
        let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, waits).open();
        assert_eq!(run(&bench, &request()).done, 1);
        let seconds = bench.wait_state(NAME, RunState::Answered).seconds;
        assert!(
            seconds.is_some_and(|seconds| (40.5..100.5).contains(&seconds)),
            "{facts}: {seconds:?}"
        );
    }
}

#[test]
fn of_a_run_that_was_cut_off_nobody_knows_when_the_dates_are_what_there_is() {
    let server = Scripted::start(calls_then_answers);
    let cut_off =
        "conversation:\n- user_message: How many?\nrun: {started: '2025-03-04T10:00:00.000Z'}\n";
    let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, cut_off).open();
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(spent(&bench, RUN), None);
    assert!(
        bench
            .wait_state(NAME, RunState::Answered)
            .seconds
            .is_some_and(|seconds| seconds > 86_400.0)
    );
}

#[test]
fn a_run_that_was_cut_off_behind_its_answer_is_not_taken_for_complete_because_it_says_its_time() {
    let server = Scripted::start(calls_then_answers);
    let answered =
        "conversation:\n- user_message: How many?\n- assistant_message: \"```json\\n7\\n```\"\n";
    let cut_off = format!("{answered}run: {{seconds: 4, started: '2025-03-04T10:00:00.000Z'}}\n");
    let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, cut_off).open();
    bench.wait_state(NAME, RunState::Answered);
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.owed[0].act), (1, Act::Continue));
    assert_eq!((run(&bench, &request()).done, server.seen().len()), (1, 0));
    assert!(
        fact(&bench, RUN, "finished").is_some()
            && spent(&bench, RUN).is_some_and(|spent| spent >= 4.0)
    );
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 0);
}

#[test]
fn what_came_and_was_cut_off_before_it_was_in_the_file_counts_with_the_time_it_took() {
    let server = Scripted::start(|seen| slowly(calls_then_answers(seen)));
    let bench = plain(&server);
    let began = Instant::now();
    assert_eq!(run(&bench, &request()).done, 1);
    let (whole, first) = (began.elapsed().as_secs_f64(), spent(&bench, RUN).unwrap());
    assert!((1.0..whole).contains(&first), "{first} of {whole}");
    // The state of the file before any reply was paid for.
    let mut file = document(&bench, RUN);
    file.set("conversation", Value::List(file.items()[..1].to_vec()));
    file.remove("answer");
    let kept =
        |key: &Value| key.text().is_some_and(|key| ["system", "model", "started"].contains(&key));
    let facts =
        file.get("run").unwrap().entries().iter().filter(|(key, _)| kept(key)).cloned().collect();
    file.set("run", Value::Map(facts));
    file.set_run("seconds", Value::Number("0".into()));
    for _ in 0..2 {
        bench.write(RUN, file.write());
        let began = Instant::now();
        assert_eq!(
            (run(&bench, &request()).done, server.delivered()),
            (1, 2),
            "nothing is bought again"
        );
        // The known time ends with the last reply.
        let (again, most) = (spent(&bench, RUN).unwrap(), first + began.elapsed().as_secs_f64());
        assert!((1.0..most).contains(&again), "{again}, first {first}, {most} at the most");
    }
}

#[test]
fn promptql_that_was_cut_off_behind_its_reply_counts_it_with_the_time_it_took() {
    let server = Scripted::always(slowly(Reply::json(&promptql::answers())));
    let bench = promptql::folder(&server, promptql::V2);
    assert_eq!(run(&bench, &promptql::promptql_launch()).done, 1);
    let first = spent(&bench, promptql::PQL).unwrap();
    assert!(first >= 0.5, "{first}");
    // The reply is stored, but the file was not written any more.
    let journal =
        bench.path("results/.touchstone/journal/count-promptql-scripted-variation0.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    let line = lines.split_inclusive('\n').next().unwrap();
    let came = serde_json::from_str::<Json>(line).unwrap()["record"]["spent_ms"].as_f64().unwrap()
        / 1000.0;
    assert!((0.5..=first).contains(&came), "{came} of {first}");
    fs::write(&journal, line).unwrap();
    fs::remove_file(bench.path(promptql::PQL)).unwrap();
    assert_eq!(
        (run(&bench, &promptql::promptql_launch()).done, server.seen().len()),
        (1, 1),
        "nothing is bought again"
    );
    assert!(spent(&bench, promptql::PQL).is_some_and(|again| again >= came));
    // The stored reply does not apply to another question.
    fs::write(&journal, line).unwrap();
    fs::remove_file(bench.path(promptql::PQL)).unwrap();
    let task = "promptql_prompt: How many {what}?\nexpected_promptql_artifact: table\nvariations: [{what: shrubs}, {what: ferns}]\n";
    bench.write("tasks/count.yaml", task);
    let owed =
        || bench.app().launches().plan_launch(&promptql::promptql_launch()).unwrap().owed_total;
    wait_until("the task is read again", || (owed() == 2).then_some(()));
    let began = Instant::now();
    assert_eq!((run(&bench, &promptql::promptql_launch()).done, server.seen().len()), (2, 3));
    let (anew, most) = (spent(&bench, promptql::PQL).unwrap(), began.elapsed().as_secs_f64());
    assert!(anew < most, "{anew}, {most} at the most");
}

#[test]
fn a_long_call_is_not_written_again_and_again_and_what_was_spent_on_it_is_kept_when_it_is_given_up()
{
    let endless = r#"{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"}"#;
    let server = Scripted::start(move |seen| match seen.number {
        0 => calls(&[("c", "query_things", endless)]),
        _ => says("Never asked."),
    });
    let bench = folder_with(&workspace(&server, "", ""), PLAIN);
    let launch = bench.app().launches().start_launch(&request()).unwrap().launch;
    let written = || fs::metadata(bench.path(RUN)).unwrap().modified().unwrap();
    wait_until("the call is in the file", || {
        fs::read_to_string(bench.path(RUN))
            .is_ok_and(|text| text.contains("WITH RECURSIVE"))
            .then_some(())
    });
    let before = written();
    at_it(&bench, &launch, 2.0);
    assert_eq!(written(), before, "nothing came in between");
    bench.app().launches().stop_launch(&launch, true).unwrap();
    assert_eq!(ended(&bench, &launch).stopped, 1);
    let seconds = spent(&bench, RUN);
    assert!(seconds.is_some_and(|seconds| seconds > 1.5), "{seconds:?}");
    assert_eq!(fact(&bench, RUN, "finished"), None);
}

#[test]
fn a_search_that_is_given_up_keeps_what_was_spent_on_it_and_takes_it_along() {
    let latch = Latch::default();
    let held = latch.clone();
    let server = Scripted::start(move |seen| match seen.number {
        0 => searching::call_reply(searching::LEVEL, r#"{"place": "Elz"}"#),
        1 => searching::call_reply("Finish", searching::GIVES).once_open(&held),
        _ => searching::call_reply("Finish", searching::GIVES),
    });
    let bench = searching::folder(&server, "method: DFS_woFilter_w2, offer: query", "");
    let wanted = searching::only("*/1");
    let launch = bench.app().launches().start_launch(&wanted).unwrap().launch;
    server.wait_for(2);
    at_it(&bench, &launch, 2.0);
    bench.app().launches().stop_launch(&launch, true).unwrap();
    latch.open();
    assert_eq!(ended(&bench, &launch).stopped, 1);
    let left = spent(&bench, searching::RUN).unwrap();
    assert!(left > 1.5, "{left}");
    let began = Instant::now();
    assert_eq!(run(&bench, &wanted).done, 1);
    let (whole, most) =
        (spent(&bench, searching::RUN).unwrap(), left + began.elapsed().as_secs_f64());
    assert!((left..most).contains(&whole), "{whole}, left at {left}, {most} at the most");
}
