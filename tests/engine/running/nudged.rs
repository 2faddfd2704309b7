//! Tests of continuing runs: by automatic nudges, by a message, through an editor, and as a fork
//! from a step.
use super::stage::{
    ANSWER, NAME, PLAIN, QUERY, RUN, calls, calls_then_answers, count, fact, folder_with, plain,
    refuses, repeats, says, transcript_lines, workspace,
};
use super::{THINGS, document, ended, folder_of, request, run};
use crate::bench::{Bench, wait_until};
use crate::scripted::Scripted;
use fs_err as fs;
use touchstone_api::{
    Act, Copied, ForkRequest, LaunchRequest, LaunchRunState, Lineage, OverviewRequest,
    OverviewView, ReportFormat, ReportRequest, RunState, Span, StatsRequest,
};

const EXPECTS: &str =
    "tool_calling_prompt: How many?\nexpected_tool_calls: [query_things, query_more]\n";

fn messages(bench: &Bench) -> Vec<String> {
    let document = document(bench, RUN);
    let of =
        |item: &touchstone_model::value::Value| item.get("user_message")?.text().map(str::to_owned);
    document.items().iter().skip(1).filter_map(of).collect()
}

fn id(bench: &Bench, path: &str) -> String {
    bench.app().runs().id_of_file(&bench.path(path)).unwrap()
}

#[test]
fn a_run_that_stops_early_is_driven_on_as_often_as_it_may_be() {
    let both = "actually use the query_things, query_more tools to get the answer";
    let table = [
        ("", "", 3),
        ("run: { nudge: { max: 1 } }\n", "", 1),
        ("run: { nudge: { auto: false } }\n", "", 0),
        ("", "nudge: false\n", 0),
        ("run: { nudge: { auto: false } }\n", "nudge: { auto: true, max: 2 }\n", 2),
    ];
    for (workspace_says, task_says, times) in table {
        let server = Scripted::always(says(ANSWER));
        let bench =
            folder_with(&workspace(&server, "", workspace_says), &format!("{EXPECTS}{task_says}"));
        assert_eq!(run(&bench, &request()).done, 1);
        assert_eq!(messages(&bench), vec![both; times], "{workspace_says}{task_says}");
        assert_eq!(server.delivered(), times as u64 + 1);
        let counted = (times > 0).then(|| times.to_string());
        assert_eq!(fact(&bench, RUN, "nudges"), counted);
        assert!(document(&bench, RUN).get("answer").is_some());
    }
}

#[test]
fn a_call_that_failed_did_happen() {
    let server = Scripted::start(|seen| match (count(seen, "tool"), count(seen, "user")) {
        (0, _) => calls(&[("a", "query_things", "{\"no\": 1}")]),
        (1, 1) => says("I give up."),
        (1, _) => calls(&[("b", "query_more", QUERY)]),
        _ => says(ANSWER),
    });
    let bench = folder_with(&workspace(&server, "", ""), EXPECTS);
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(messages(&bench), ["actually use the query_more tools to get the answer"]);
    assert_eq!(server.delivered(), 4);
}

#[test]
fn a_message_by_hand_goes_on_with_a_run_whatever_it_ends_in() {
    let table = [
        "- assistant_message: no\nanswer: 1\n",
        "",
        "- error: it broke\n",
        "- tool_call: {id: x, name: query_things, params: {sql: SELECT 1 AS n}}\n",
    ];
    for tail in table {
        let server = Scripted::start(calls_then_answers);
        let head = "conversation:\n- user_message: Something else?\n";
        let bench =
            folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, format!("{head}{tail}")).open();
        let launched =
            bench.app().launches().nudge_run(&id(&bench, RUN), "  Look again. ", true).unwrap();
        assert_eq!(launched.run, Some(id(&bench, RUN)));
        let view = ended(&bench, &launched.launch);
        assert_eq!((view.done, view.total), (1, 1), "{tail}: {:?}", view.runs);
        assert_eq!(messages(&bench), ["Look again."], "{tail}");
        let said = transcript_lines(&bench, RUN);
        assert!(
            said.starts_with("{\"user_message\":\"Something else?\"}\n")
                && !said.contains(r#"{"error""#),
            "{said}"
        );
        assert!(
            document(&bench, RUN).get("answer").unwrap().items().len() == 1,
            "the answer is the new one"
        );
        let asked = server.seen()[0].json();
        assert!(asked.to_string().contains("Look again."), "{tail}");
        assert_eq!(
            fact(&bench, RUN, "nudges"),
            None,
            "only those that come by themselves are counted"
        );
    }
}

#[test]
fn a_message_to_a_finished_run_goes_to_a_fork_unless_the_run_itself_is_asked_for() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    bench.wait_state(NAME, RunState::Answered);
    let original = fs::read(bench.path(RUN)).unwrap();
    let send = |path: &str, in_place: bool| {
        let launched =
            bench.app().launches().nudge_run(&id(&bench, path), "Look again.", in_place).unwrap();
        let view = ended(&bench, &launched.launch);
        assert_eq!((view.done, view.total), (1, 1), "{:?}", view.runs);
        assert_eq!(
            launched.run.as_deref(),
            Some(view.runs[0].run.as_str()),
            "the answer names the run that goes on"
        );
        (view.runs[0].path.clone(), view.notes)
    };
    let (fork, notes) = send(RUN, false);
    assert_eq!(fork, "count-tool_calling-scripted-variation0-fork1.yaml");
    assert_eq!(notes, [format!("Fork created: {fork}. {NAME} is unchanged.")]);
    assert_eq!(fs::read(bench.path(RUN)).unwrap(), original);
    let path = format!("results/{fork}");
    let before = transcript_lines(&bench, RUN);
    assert!(
        transcript_lines(&bench, &path)
            .starts_with(&format!("{before}\n{{\"user_message\":\"Look again.\"}}")),
        "all of it was copied"
    );
    // A fork is a separate conversation already, and is continued itself.
    bench.wait_state(&fork, RunState::Answered);
    assert_eq!(send(&path, false), (fork, Vec::new()));
    assert_eq!(send(RUN, true), (NAME.to_owned(), Vec::new()));
    wait_until("it is listed as continued", || {
        let row = bench.rows().into_iter().find(|row| row.path == NAME)?;
        (row.lineage == Some(Lineage::FollowUps) && row.follow_ups == 1).then_some(())
    });
}

#[test]
fn forks_and_continued_runs_are_in_no_number_unless_the_filter_names_them() {
    let server = Scripted::always(says(ANSWER));
    let done = "conversation:\n- user_message: How many?\n- assistant_message: 7\n";
    let driven = "- user_message: actually use the query_things tools to get the answer\n- assistant_message: 7\n";
    let sent = "- user_message: And now?\n- assistant_message: 7\n";
    let forked = "run: {forked_from: {file: a, step: 0}}\n";
    let name = |rest: &str| format!("results/count-tool_calling-scripted-variation0{rest}.yaml");
    let bench = folder_of(&workspace(&server, "", ""), PLAIN)
        .file(&name(""), done)
        .file(&name("-run2"), format!("{done}{driven}answer: 7\n"))
        .file(&name("-run3"), format!("{done}answer: 7\n{forked}"))
        .file(&name("-run4"), format!("{done}{sent}answer: 7\n"))
        .file(&name("-fork1"), format!("{done}answer: 7\n"))
        .open();
    let stats = |filter: &str| {
        let request = StatsRequest { filter: filter.to_owned(), ..StatsRequest::default() };
        let stats = bench.app().stats().systems(&request).unwrap();
        (stats.ends.runs, stats.left_out_runs.forks_left_out)
    };
    wait_until("all are read", || (bench.rows().len() == 5).then_some(()));
    assert_eq!(stats(""), (2, 3), "what was added automatically is no message of a person");
    assert_eq!(stats("forked:no"), (2, 0));
    assert_eq!(stats("forked:yes"), (3, 0));
    assert_eq!(stats("forked:yes,no"), (5, 0));
    let overview = |filter: &str| {
        let span = Span { offset: 0, limit: 10 };
        let filter = filter.to_owned();
        let asked = OverviewRequest {
            filter,
            scorer: None,
            folded: true,
            except: vec![],
            find: None,
            view: OverviewView::default(),
            span,
        };
        let overview = bench.app().stats().overview(&asked).unwrap();
        let cell = overview.rows[0].cells[0].clone().unwrap();
        (overview.runs, overview.forks, cell.runs, cell.forks)
    };
    assert_eq!(overview(""), (2, 3, 2, 3));
    assert_eq!(overview("forked:yes"), (3, 0, 3, 0));
    let report = |filter: &str| {
        let request = ReportRequest {
            filter: filter.to_owned(),
            ..ReportRequest::for_format(ReportFormat::Json)
        };
        bench.app().reports().make_report(&request, true).unwrap()
    };
    assert_eq!(report("").runs, 2);
    assert!(report("").notes.iter().any(|note| {
        note.starts_with("3 runs that are forks, were continued or are superseded are left out")
    }));
    assert!(
        report("forked:yes").text.contains(r#""lineage":"fork""#)
            || report("forked:yes").text.contains(r#""lineage": "fork""#)
    );
    assert!(
        bench.app().reviews().trust("").unwrap().notes.iter().any(|note| note.contains("left out"))
    );
}

#[test]
fn a_message_of_a_person_in_the_words_of_an_automatic_one_continues_the_run_all_the_same() {
    let words = "actually use the query_more tools to get the answer";
    let listed = |bench: &Bench, wanted: (Option<Lineage>, u32)| {
        wait_until(&format!("it is listed as {wanted:?}"), || {
            let row = bench
                .rows()
                .into_iter()
                .find(|row| row.path == NAME && row.state == RunState::Answered)?;
            ((row.lineage, row.follow_ups) == wanted).then_some(())
        });
    };
    let server = Scripted::always(says(ANSWER));
    let once = "run: { nudge: { max: 1 } }\n";
    let bench = folder_with(&workspace(&server, "", once), EXPECTS);
    assert_eq!(run(&bench, &request()).done, 1);
    assert_eq!(messages(&bench).len(), 1);
    listed(&bench, (None, 0));
    let launched = bench.app().launches().nudge_run(&id(&bench, RUN), words, true).unwrap();
    assert_eq!(ended(&bench, &launched.launch).done, 1);
    listed(&bench, (Some(Lineage::FollowUps), 1));
    // A message added by another program before the run resumed here counts as automatic.
    let file = format!(
        "conversation:\n- user_message: How many?\n- assistant_message: 7\n- user_message: {words}\n"
    );
    let bench = folder_of(&workspace(&server, "", once), EXPECTS).file(RUN, file).open();
    assert_eq!(run(&bench, &request()).done, 1);
    listed(&bench, (None, 0));
    assert_eq!(fact(&bench, RUN, "nudges").as_deref(), Some("1"));
}

#[test]
fn no_fork_is_taken_for_a_repeat_and_no_repeat_is_written_over_a_fork() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    bench.wait_state(NAME, RunState::Answered);
    // Forks once had the names of repeats.
    let old = "results/count-tool_calling-scripted-variation0-run2.yaml";
    let copied = fs::read_to_string(bench.path(RUN))
        .unwrap()
        .replace("run:\n", &format!("run:\n  forked_from: {{file: {NAME}, step: 2}}\n"));
    assert!(copied.contains("forked_from"));
    bench.put(old, &copied);
    wait_until("the fork is listed", || {
        bench.rows().into_iter().find(|row| row.lineage == Some(Lineage::Fork))
    });
    bench.app().launches().fork_run(&id(&bench, RUN), &ForkRequest::new(2, None)).unwrap();
    let plan = bench.app().launches().plan_launch(&repeats(3)).unwrap();
    let paths: Vec<&str> = plan.owed.iter().map(|run| run.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "count-tool_calling-scripted-variation0-run3.yaml",
            "count-tool_calling-scripted-variation0-run4.yaml"
        ]
    );
    assert_eq!(run(&bench, &repeats(3)).done, 2);
    assert_eq!(fs::read_to_string(bench.path(old)).unwrap(), copied);
    assert_eq!(bench.app().launches().plan_launch(&repeats(3)).unwrap().owed_total, 0);
    assert_eq!(bench.app().launches().plan_launch(&repeats(1)).unwrap().owed_total, 0);
    wait_until("both repeats are listed", || {
        let span = Span { offset: 0, limit: 10 };
        let asked = OverviewRequest {
            filter: String::new(),
            scorer: None,
            folded: true,
            except: vec![],
            find: None,
            view: OverviewView::default(),
            span,
        };
        (bench.app().stats().overview(&asked).unwrap().runs == 3).then_some(())
    });
    let view = bench.app().runs().open_run(&id(&bench, RUN)).unwrap();
    assert_eq!(view.lineage.fork_count, 2, "the original names its forks");
    let fork = bench.app().runs().open_run(&id(&bench, old)).unwrap();
    let origin = fork.lineage.origin.unwrap();
    assert_eq!(
        (origin.id, origin.step),
        (Some(id(&bench, RUN)), Some(2)),
        "and a fork its original"
    );
}

#[test]
fn a_message_that_cannot_be_added_is_refused_before_anything_happens() {
    let server = Scripted::always(says(ANSWER));
    let promptql = "results/count-promptql-scripted-variation0.yaml";
    let bench = folder_of(&workspace(&server, "", ""), PLAIN)
        .file(RUN, "conversation: [\n")
        .file(promptql, "output: {}\n")
        .file(
            "results/other-tool_calling-scripted-variation0.yaml",
            "conversation:\n- user_message: a\n",
        )
        .open();
    let refused = |path: &str, message: &str| {
        bench.app().launches().nudge_run(&id(&bench, path), message, true).unwrap_err().message
    };
    let said = [
        refused(RUN, "go on"),
        refused(promptql, "go on"),
        refused("results/other-tool_calling-scripted-variation0.yaml", "go on"),
        refused(RUN, " \n"),
        refused(RUN, &"x".repeat(1100 << 10)),
        bench.app().launches().nudge_run("nonsense", "go on", true).unwrap_err().message,
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    The file cannot be read: The file ends in the middle: unclosed bracket '['. Running it again from the start moves the file aside first.
    A PromptQL run is one question and one reply; no message can be added.
    Its task `other` is not in the input directory.
    The message is empty. Write what the model should do.
    The message is longer than 1 MB. Shorten it.
    This run is no longer in the list.
    ");
    assert!(server.seen().is_empty() && bench.app().launches().all().is_empty());
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), "conversation: [\n");
}

#[test]
fn a_message_that_an_editor_added_is_found_and_answered() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    bench.wait_state(NAME, RunState::Answered);
    assert_eq!(bench.status().counts.waiting, 0);
    let text = fs::read_to_string(bench.path(RUN)).unwrap();
    let (before, after) = text.split_once("answer:").unwrap();
    bench.put(RUN, format!("{before}  - user_message: And now?\nanswer:{after}"));
    let row = bench.wait_state(NAME, RunState::Waiting);
    wait_until("it is counted", || (bench.status().counts.waiting == 1).then_some(()));
    let named = LaunchRequest { runs: vec![row.id], ..LaunchRequest::default() };
    let plan = bench.app().launches().plan_launch(&named).unwrap();
    assert_eq!((plan.owed_total, plan.owed[0].act), (1, Act::Continue));
    assert_eq!(run(&bench, &named).done, 1);
    assert_eq!(messages(&bench), ["And now?"]);
    bench.wait_state(NAME, RunState::Answered);
}

#[test]
fn a_message_stays_when_the_run_fails_and_is_not_added_again_when_it_is_retried() {
    let server = Scripted::start(|seen| match seen.number {
        0 => refuses(400, "invalid_request_error", "no"),
        _ => says(ANSWER),
    });
    let file = "conversation:\n- user_message: How many?\n- assistant_message: no\n";
    let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, file).open();
    let launched = bench.app().launches().nudge_run(&id(&bench, RUN), "More.", true).unwrap();
    assert_eq!(ended(&bench, &launched.launch).failed, 1);
    assert_eq!(messages(&bench), ["More."]);
    let again = bench.app().launches().retry_launch(&launched.launch).unwrap();
    assert_eq!(ended(&bench, &again.launch).done, 1);
    assert_eq!(messages(&bench), ["More."]);
}

#[test]
fn a_message_is_added_by_a_retry_when_the_run_had_not_begun() {
    let server = Scripted::always(says(ANSWER));
    let file = "conversation:\n- user_message: How many?\n- assistant_message: no\n";
    let broken = workspace(&server, "", "").replace("things.db", "missing.db");
    let bench = folder_of(&broken, PLAIN).file(RUN, file).open();
    let launched = bench.app().launches().nudge_run(&id(&bench, RUN), "More.", true).unwrap();
    let view = ended(&bench, &launched.launch);
    assert_eq!(view.failed, 1);
    assert!(view.runs[0].doing.as_ref().unwrap().contains("query_things"), "{:?}", view.runs);
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), file, "nothing was begun");
    bench.write("touchstone.yaml", workspace(&server, "", ""));
    let again = bench.app().launches().retry_launch(&launched.launch).unwrap();
    assert_eq!(ended(&bench, &again.launch).done, 1);
    assert_eq!(messages(&bench), ["More."]);
}

/// Returns the launch that continues a copy. If it was only copied, waits until it is listed, and
/// launches it.
fn continued(bench: &Bench, copied: &Copied) -> String {
    copied.launch.clone().unwrap_or_else(|| {
        wait_until("the copy is in the list", || {
            bench.rows().into_iter().find(|row| row.id == copied.run)
        });
        let only = LaunchRequest { runs: vec![copied.run.clone()], ..LaunchRequest::default() };
        bench.app().launches().start_launch(&only).unwrap().launch
    })
}

#[test]
fn a_copy_goes_on_differently_and_the_original_stays() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    bench.wait_state(NAME, RunState::Answered);
    let original = fs::read(bench.path(RUN)).unwrap();
    let fork = |step: u32, message: Option<&str>| {
        let copied = bench
            .app()
            .launches()
            .fork_run(&id(&bench, RUN), &ForkRequest::new(step, message))
            .unwrap();
        assert_eq!(
            copied.launch.is_some(),
            message.is_some(),
            "without a message it is only copied"
        );
        let view = ended(&bench, &continued(&bench, &copied));
        assert_eq!(
            (view.total, view.runs[0].state),
            (1, LaunchRunState::Answered),
            "{:?}",
            view.runs
        );
        assert_eq!(copied.run, view.runs[0].run);
        view.runs[0].path.clone()
    };
    // The last reply is requested again; the call before it is not.
    assert_eq!(fork(2, None), "count-tool_calling-scripted-variation0-fork1.yaml");
    let second = "results/count-tool_calling-scripted-variation0-fork1.yaml";
    assert_eq!(
        (transcript_lines(&bench, second), server.delivered()),
        (transcript_lines(&bench, RUN), 3)
    );
    assert_eq!(
        fact(&bench, second, "turns").as_deref(),
        Some("1"),
        "only what was bought for the copy counts"
    );
    assert_eq!(
        fact(&bench, second, "forked_from").as_deref(),
        Some(format!(r#"{{"file":"{NAME}","step":2}}"#).as_str())
    );
    // The first message differs from the task, and still the copy is complete.
    assert_eq!(fork(0, Some("How few?")), "count-tool_calling-scripted-variation0-fork2.yaml");
    let third = "results/count-tool_calling-scripted-variation0-fork2.yaml";
    assert!(transcript_lines(&bench, third).starts_with(r#"{"user_message":"How few?"}"#));
    assert!(fact(&bench, third, "forked_from").unwrap().contains(r#""edited":true"#));
    // A copy of a copy.
    bench.wait_state(second.trim_start_matches("results/"), RunState::Answered);
    let copied = bench
        .app()
        .launches()
        .fork_run(&id(&bench, second), &ForkRequest::new(1, Some("Say more.")))
        .unwrap();
    let view = ended(&bench, &continued(&bench, &copied));
    assert_eq!(view.runs[0].path, "count-tool_calling-scripted-variation0-fork3.yaml");
    assert_eq!(fs::read(bench.path(RUN)).unwrap(), original);
    let missing =
        bench.app().launches().fork_run(&id(&bench, RUN), &ForkRequest::new(99, None)).unwrap_err();
    assert!(missing.message.contains("no such step"), "{missing:?}");
}

#[test]
fn a_copy_takes_nothing_that_was_brought_to_a_copy_that_is_gone() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    bench.wait_state(NAME, RunState::Answered);
    let second = "results/count-tool_calling-scripted-variation0-fork1.yaml";
    let mut brought = Vec::new();
    for _ in 0..2 {
        let copied = bench
            .app()
            .launches()
            .fork_run(&id(&bench, RUN), &ForkRequest::new(0, Some("How few?")))
            .unwrap();
        assert_eq!(ended(&bench, &continued(&bench, &copied)).done, 1);
        brought.push(transcript_lines(&bench, second).contains("107"));
        bench.remove(second);
        let sql = rusqlite::Connection::open(bench.path("data/things.db")).unwrap();
        sql.execute("UPDATE things SET number = number + 50", []).unwrap();
    }
    assert_eq!(brought, [false, true], "the call of the second copy was run");
    assert_eq!(server.delivered(), 6);
}

#[test]
fn where_the_model_cannot_be_asked_a_message_changes_no_run_and_makes_no_copy() {
    let server = Scripted::always(says(ANSWER));
    let no_key = workspace(&server, ", api_key_env: KEY_THAT_IS_NOT_SET", "");
    let file = "conversation:\n- user_message: How many?\n- assistant_message: 7\nanswer: 7\n";
    let bench = folder_of(&no_key, PLAIN).file(RUN, file).key("ANOTHER_KEY", "0123456789").open();
    let id = id(&bench, RUN);
    let refused = [
        bench.app().launches().nudge_run(&id, "More.", true).unwrap_err().message,
        bench
            .app()
            .launches()
            .fork_run(&id, &ForkRequest::new(1, Some("More.")))
            .unwrap_err()
            .message,
    ];
    for why in refused {
        assert!(why.contains("KEY_THAT_IS_NOT_SET"), "{why}");
    }
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), file);
    assert_eq!(
        (fs::read_dir(bench.path("results")).unwrap().count(), bench.app().launches().all().len()),
        (1, 0)
    );
    assert_eq!(
        bench.app().launches().fork_run(&id, &ForkRequest::new(1, None)).unwrap().launch,
        None,
        "a copy alone asks nobody"
    );
}

#[test]
fn a_retry_changes_no_file_where_the_model_cannot_be_asked_any_more() {
    let server = Scripted::start(|_| refuses(400, "invalid_request_error", "no"));
    let bench = plain(&server);
    let launched = bench.app().launches().start_launch(&request()).unwrap();
    assert_eq!(ended(&bench, &launched.launch).failed, 1);
    let before = fs::read_to_string(bench.path(RUN)).unwrap();
    bench.write("touchstone.yaml", workspace(&server, ", api_key_env: KEY_THAT_IS_NOT_SET", ""));
    let why = bench.app().launches().retry_launch(&launched.launch).unwrap_err().message;
    assert!(why.contains(NAME) && why.contains("KEY_THAT_IS_NOT_SET"), "{why}");
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), before);
}

#[test]
fn a_retry_says_which_runs_it_leaves_out_and_why() {
    let server = Scripted::start(|_| refuses(400, "invalid_request_error", "no"));
    let url = server.url("/v1");
    let with = |key: &str| {
        format!(
            "input_dir: tasks\noutput_dir: results\nmodels:\
             \n  open: {{ provider: openai, base_url: '{url}' }}\
             \n  shut: {{ provider: openai, base_url: '{url}'{key} }}\n{THINGS}"
        )
    };
    let bench = folder_with(&with(""), PLAIN);
    let models = vec!["open".to_owned(), "shut".to_owned()];
    let launched =
        bench.app().launches().start_launch(&LaunchRequest { models, ..repeats(2) }).unwrap();
    assert_eq!(ended(&bench, &launched.launch).failed, 4);
    bench.write("touchstone.yaml", with(", api_key_env: KEY_THAT_IS_NOT_SET"));
    let again = bench.app().launches().retry_launch(&launched.launch).unwrap();
    let view = ended(&bench, &again.launch);
    assert_eq!((view.total, view.notes.len()), (2, 1), "{:?}", view.notes);
    let note = &view.notes[0];
    assert!(
        note.starts_with("2 runs are left out, ")
            && note.contains("shut")
            && note.contains("KEY_THAT_IS_NOT_SET")
    );
}

#[test]
fn a_copy_of_half_a_turn_leaves_out_the_calls_that_were_not_run() {
    let server = Scripted::start(|seen| {
        let texts = seen.json()["messages"].to_string();
        assert!(!texts.contains("not_run"), "{texts}");
        says(ANSWER)
    });
    let file = "conversation:\n- user_message: How many?\n\
        - tool_call: {id: a, name: query_things, params: {}, result: 1, turn: 1}\n\
        - tool_call: {id: b, name: not_run, params: {}, turn: 1}\n";
    let bench = folder_of(&workspace(&server, "", ""), PLAIN).file(RUN, file).open();
    for (step, message) in [(1, None), (2, Some("More."))] {
        let copied = bench
            .app()
            .launches()
            .fork_run(&id(&bench, RUN), &ForkRequest::new(step, message))
            .unwrap();
        assert_eq!(ended(&bench, &continued(&bench, &copied)).done, 1);
    }
    assert_eq!(fs::read_to_string(bench.path(RUN)).unwrap(), file);
}
