//! Tests of the remaining work of a file on disk, whichever program wrote it; no reply is paid for
//! twice.
use super::stage::{
    ANSWER, NAME, PLAIN, QUERY, RUN, calls, calls_then_answers, chat, count, fact, folder_with,
    journal, plain, says, transcript_lines, workspace,
};
use super::{document, request, run};
use crate::scripted::{Reply, Scripted};
use fs_err as fs;
use serde_json::json;
use touchstone_api::{Act, ForkRequest, LaunchRequest};
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;

/// Returns the document with its first items only, without the results of the last `open` calls.
fn cut(document: &Document, items: usize, open: usize) -> Document {
    let mut left = document.items()[..items].to_vec();
    for item in left.iter_mut().rev().take(open) {
        let Value::Map(entries) = item else { continue };
        for (_, call) in entries {
            let Value::Map(entries) = call else { continue };
            entries.retain(|(key, _)| !matches!(key.text(), Some("result" | "error" | "seconds")));
        }
    }
    let mut cut = document.clone();
    cut.set("conversation", Value::List(left));
    cut.remove("answer");
    cut
}

/// Like `cut`, without the facts that are only written later.
fn earlier(document: &Document, items: usize, open: usize) -> Document {
    let facts = ["finished", "seconds", "turns", "usage", "cost", "journal"];
    facts.into_iter().fold(cut(document, items, open), without)
}

fn without(mut document: Document, fact: &str) -> Document {
    let Some(run) = document.get("run") else { return document };
    let left = run.entries().iter().filter(|(key, _)| key.text() != Some(fact)).cloned().collect();
    document.set("run", Value::Map(left));
    document
}

#[test]
fn from_every_earlier_state_a_run_comes_to_the_same_end_and_buys_nothing_again() {
    let server = Scripted::start(|seen| match count(seen, "tool") {
        0 => calls(&[("a", "query_things", QUERY), ("b", "query_things", "{}")]),
        2 => Reply::json(&chat(Some("And now?"), &[("c", "query_things", QUERY)])),
        _ => says(ANSWER),
    });
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    let (whole, text) = (document(&bench, RUN), fs::read_to_string(bench.path(RUN)).unwrap());
    assert_eq!((whole.items().len(), server.delivered()), (6, 3), "{text}");
    let kept = || {
        let text = journal(&bench, NAME);
        let lasting = text.lines().filter(|line| !line.contains(r#""failed":true"#));
        lasting.map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, says) = (kept(), transcript_lines(&bench, RUN));
    assert_eq!(before.len(), 5, "three replies, and two calls that worked");
    for (items, open) in [(1, 0), (3, 2), (3, 1), (3, 0), (5, 1), (5, 0), (6, 0)] {
        bench.write(RUN, earlier(&whole, items, open).write());
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        assert_eq!((plan.owed_total, plan.owed[0].act), (1, Act::Continue), "{items} {open}");
        let view = run(&bench, &request());
        assert_eq!((view.done, view.tokens), (1, None), "{items} {open}: {:?}", view.runs);
        let again = document(&bench, RUN);
        assert_eq!(
            (transcript_lines(&bench, RUN), again.get("answer")),
            (says.clone(), whole.get("answer")),
            "{items} {open}"
        );
        assert_eq!(server.delivered(), 3, "{items} {open}: something was bought twice");
        assert_eq!(kept(), before, "{items} {open}: nothing that worked was run twice either");
    }
}

/// Changes the database of the folder.
fn change(bench: &crate::bench::Bench, sql: &str) {
    rusqlite::Connection::open(bench.path("data/things.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn what_somebody_takes_out_of_a_finished_run_is_asked_for_and_run_anew() {
    let server = Scripted::start(calls_then_answers);
    let says_no_time = "systems: { tool_calling: { system_prompt: Be brief. } }\n";
    let bench = folder_with(&workspace(&server, "", says_no_time), PLAIN);
    assert_eq!(run(&bench, &request()).done, 1);
    let usage = || fact(&bench, RUN, "usage").unwrap();
    assert_eq!((server.delivered(), usage().contains("200")), (2, true), "{}", usage());
    // Without the last message.
    bench.write(RUN, cut(&document(&bench, RUN), 2, 0).write());
    let view = run(&bench, &request());
    assert_eq!((view.done, view.tokens, server.delivered()), (1, Some(110), 3), "{:?}", view.runs);
    assert_eq!(usage(), r#"{"input_tokens":300,"output_tokens":30}"#, "each reply is counted once");
    // Without the result of the call.
    change(&bench, "UPDATE things SET number = 100 WHERE name = 'stones'");
    bench.write(RUN, cut(&document(&bench, RUN), 2, 1).write());
    assert_eq!((run(&bench, &request()).done, server.delivered()), (1, 4));
    assert!(
        transcript_lines(&bench, RUN).contains("104"),
        "the call was run: {}",
        transcript_lines(&bench, RUN)
    );
    assert_eq!(usage(), r#"{"input_tokens":400,"output_tokens":40}"#);
}

#[test]
fn a_call_that_failed_is_tried_again_when_its_error_is_taken_out_of_a_run_that_was_cut_off() {
    let server = Scripted::start(|seen| match count(seen, "tool") {
        0 => calls(&[("a", "query_things", r#"{"sql": "SELECT n FROM later"}"#)]),
        _ => says(ANSWER),
    });
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).done, 1);
    assert!(
        transcript_lines(&bench, RUN).contains("no such table"),
        "{}",
        transcript_lines(&bench, RUN)
    );
    change(&bench, "CREATE TABLE later (n INTEGER); INSERT INTO later VALUES (77)");
    bench.write(RUN, earlier(&document(&bench, RUN), 2, 1).write());
    assert_eq!(run(&bench, &request()).done, 1);
    assert!(transcript_lines(&bench, RUN).contains("77"), "{}", transcript_lines(&bench, RUN));
}

#[test]
fn a_call_that_failed_is_not_tried_again_where_the_model_was_told_of_it_before_the_run_was_cut_off()
{
    let failing = ("a", "query_things", r#"{"sql": "SELECT n FROM later"}"#);
    let server = Scripted::start(move |seen| match count(seen, "tool") {
        0 => calls(&[failing, ("b", "query_things", QUERY)]),
        _ => says(ANSWER),
    });
    let says_no_schema = "systems: { tool_calling: { system_prompt: Be brief. } }\n";
    let bench = folder_with(&workspace(&server, "", says_no_schema), PLAIN);
    assert_eq!(run(&bench, &request()).done, 1);
    let whole = document(&bench, RUN);
    change(&bench, "CREATE TABLE later (n INTEGER); INSERT INTO later VALUES (77)");
    // Also after another cut, and if only one of the two calls had been written.
    for open in [2, 2, 1] {
        bench.write(RUN, earlier(&whole, 3, open).write());
        assert_eq!(
            (run(&bench, &request()).done, server.delivered()),
            (1, 2),
            "{open}: nothing was bought twice"
        );
        assert!(
            transcript_lines(&bench, RUN).contains("no such table"),
            "{}",
            transcript_lines(&bench, RUN)
        );
    }
    // With another message the next reply is unknown, so it is requested.
    let mut other = earlier(&whole, 3, 2);
    other.set("conversation", Value::List([other.items(), &[message("And quickly.")]].concat()));
    bench.write(RUN, other.write());
    assert_eq!((run(&bench, &request()).done, server.delivered()), (1, 3));
    assert!(transcript_lines(&bench, RUN).contains("77"), "{}", transcript_lines(&bench, RUN));
}

fn message(text: &str) -> Value {
    Value::Map(vec![("user_message".into(), text.into())])
}

const HEAD: &str = "remark: mine\nconversation:\n- user_message: How many?\n";

#[test]
fn a_file_that_was_written_by_hand_is_gone_on_with_from_where_it_ends() {
    let call = "- assistant_message: Let me look.\n- tool_call: {id: x, name: query_things, params: {sql: SELECT 1 AS n}";
    let table = [
        ("", Act::Continue, "It ends with an unanswered message.", 2, 3),
        (&format!("{call}}}\n"), Act::Continue, "It ends with a tool call that did not run.", 1, 3),
        (
            &format!("{call}, result: [{{n: 1}}]}}\n"),
            Act::Continue,
            "It ends with a tool result.",
            1,
            3,
        ),
        (&format!("{call}, error: no}}\n"), Act::Continue, "It ends with a tool result.", 1, 3),
        ("- error: it broke\n", Act::Continue, "It ended in an error: it broke", 2, 3),
        (
            &format!("{call}, result: 1}}\n- error: {{status: 500}}\n"),
            Act::Continue,
            "It ended in an error: ",
            1,
            3,
        ),
        (
            "- assistant_message: no\n- user_message: but\n",
            Act::Continue,
            "It ends with an unanswered message.",
            2,
            5,
        ),
        (
            "- assistant_message: no\n",
            Act::Nothing,
            "It is complete, without an answer of its own.",
            0,
            2,
        ),
        ("- assistant_message: yes\nanswer: 1\n", Act::Nothing, "It is complete.", 0, 2),
    ];
    for (tail, act, why, bought, items) in table {
        let server = Scripted::start(calls_then_answers);
        let bench = plain(&server);
        bench.write(RUN, format!("{HEAD}{tail}"));
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        let planned = plan.owed.first().or(plan.skipped.first()).unwrap();
        assert_eq!(planned.act, act, "{tail}");
        assert!(planned.why.starts_with(why), "{tail}: {}", planned.why);
        if act == Act::Nothing {
            assert!(bench.app().launches().start_launch(&request()).is_err(), "{tail}");
        } else {
            let view = run(&bench, &request());
            assert_eq!(view.done, 1, "{tail}: {:?}", view.runs);
        }
        let document = document(&bench, RUN);
        assert_eq!(server.delivered(), bought, "{tail}");
        assert!(document.items().len() >= items, "{tail}: {}", document.write());
        assert_eq!(document.get("remark"), Some(&Value::from("mine")), "{tail}");
        assert!(!transcript_lines(&bench, RUN).contains(r#"{"error""#), "{tail}");
    }
}

#[test]
fn a_damaged_file_is_left_alone_and_kept_when_the_run_starts_over() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    bench.write(RUN, "conversation: [\n");
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Damaged), "{:?}", plan.skipped);
    assert!(plan.skipped[0].why.contains("moves the file aside"), "{}", plan.skipped[0].why);
    let anew = LaunchRequest { start_over: true, ..request() };
    assert_eq!(run(&bench, &anew).done, 1);
    let first: String = transcript_lines(&bench, RUN);
    assert_eq!(replaced(&bench), ["conversation: [\n"]);
    // Starting over once more moves the result and its journal away together, so everything is paid
    // for again.
    assert_eq!((server.delivered(), run(&bench, &anew).done, server.delivered()), (2, 1, 4));
    assert_eq!(transcript_lines(&bench, RUN), first);
    assert_eq!(replaced(&bench).len(), 3, "two files and a journal");
    assert_eq!(journal(&bench, NAME).lines().count(), 3);
}

#[test]
fn a_result_that_was_taken_away_is_made_anew_and_not_out_of_its_journal() {
    let server = Scripted::start(calls_then_answers);
    let says_no_time = "systems: { tool_calling: { system_prompt: Be brief. } }\n";
    let bench = folder_with(&workspace(&server, "", says_no_time), PLAIN);
    assert_eq!((run(&bench, &request()).done, server.delivered()), (1, 2));
    bench.remove(RUN);
    let view = run(&bench, &request());
    assert_eq!((view.done, view.tokens, server.delivered()), (1, Some(220), 4));
    assert_eq!(replaced(&bench).len(), 1, "the journal is kept all the same");
}

fn replaced(bench: &crate::bench::Bench) -> Vec<String> {
    let mut left = vec![bench.path("results/.touchstone/replaced")];
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => left.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => found.push(fs::read_to_string(&path).unwrap()),
        }
    }
    found.sort();
    found
}

#[test]
fn a_reply_that_was_cut_is_asked_for_again() {
    let server = Scripted::start(|seen| {
        let mut cut = chat(Some("Her"), &[]);
        cut["choices"][0]["finish_reason"] = json!("length");
        if seen.number < 2 { Reply::json(&cut) } else { says(ANSWER) }
    });
    let bench = plain(&server);
    assert_eq!(run(&bench, &request()).failed, 1);
    assert_eq!(fact(&bench, RUN, "journal").as_deref(), Some("1"));
    assert_eq!((run(&bench, &request()).failed, server.delivered()), (1, 2));
    assert_eq!(fact(&bench, RUN, "journal").as_deref(), Some("2"));
    assert_eq!((run(&bench, &request()).done, server.delivered()), (1, 3));
    assert_eq!(document(&bench, RUN).items().len(), 2);
    assert_eq!(
        fact(&bench, RUN, "usage").as_deref(),
        Some(r#"{"input_tokens":300,"output_tokens":30}"#)
    );
}

#[test]
fn a_file_that_is_another_run_is_refused_with_what_differs() {
    let server = Scripted::start(calls_then_answers);
    let bench = plain(&server);
    let other = "conversation:\n- user_message: How few?\n";
    bench.write(RUN, format!("{other}run: {{model: somebody}}\n"));
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    let refused = &plan.skipped[0];
    assert_eq!((plan.owed_total, refused.act), (0, Act::Refused));
    insta::assert_snapshot!(refused.differs.as_ref().unwrap(), @r"
    model in the file: somebody
    model asked for:  scripted
    --- first message in the file
    +++ prompt of the task
    @@ -1 +1 @@
    -How few?
    +How many?
    ");
    assert!(bench.app().launches().start_launch(&request()).is_err());
    assert_eq!(server.seen().len(), 0);
    let anyway = LaunchRequest { anyway: true, ..request() };
    assert_eq!(run(&bench, &anyway).done, 1);
    assert!(transcript_lines(&bench, RUN).starts_with(r#"{"user_message":"How few?"}"#));
    bench.write(RUN, other);
    assert_eq!(run(&bench, &LaunchRequest { start_over: true, ..request() }).done, 1);
    assert!(transcript_lines(&bench, RUN).starts_with(r#"{"user_message":"How many?"}"#));
}

#[test]
fn a_run_that_is_named_is_gone_on_with_under_the_name_it_has() {
    let server = Scripted::start(calls_then_answers);
    let strange = "results/count.yaml-tool_calling-scripted-variation0.yaml";
    let bench = super::folder_of(&workspace(&server, "", ""), PLAIN).file(strange, HEAD);
    let gone = "results/gone-tool_calling-scripted-variation0.yaml";
    let unknown = "results/count-tool_calling-nobody-variation0.yaml";
    let odd = "results/notes.yaml";
    let bench = bench.file(gone, HEAD).file(unknown, HEAD).file(odd, HEAD).open();
    let ids: Vec<String> = [strange, gone, unknown, odd]
        .iter()
        .map(|path| bench.app().runs().id_of_file(&bench.path(path)).unwrap())
        .collect();
    let named = LaunchRequest { runs: ids, ..LaunchRequest::default() };
    let plan = bench.app().launches().plan_launch(&named).unwrap();
    let why: Vec<&str> = plan.skipped.iter().map(|run| run.why.as_str()).collect();
    assert_eq!(
        plan.owed.iter().map(|run| run.path.as_str()).collect::<Vec<_>>(),
        [strange.trim_start_matches("results/")]
    );
    insta::assert_snapshot!(why.join("\n"), @r"
    Its task `gone` is not in the input directory.
    Its model `nobody` is unknown. Add it under `models:` in touchstone.yaml.
    The file name does not identify the run, so it cannot be rerun.
    ");
    assert_eq!(run(&bench, &named).done, 1);
    assert!(document(&bench, strange).get("answer").is_some());
    assert!(!bench.path(RUN).exists(), "no second file of the same run");
    let error = bench
        .app()
        .launches()
        .plan_launch(&LaunchRequest { runs: vec!["nonsense".to_owned()], ..request() })
        .unwrap_err();
    assert!(error.message.contains("no longer in the list"), "{error:?}");
}

#[test]
fn json_beside_results_is_no_result_unless_it_is_a_transcript_and_that_is_not_written_over() {
    let server = Scripted::always(says(ANSWER));
    let json = RUN.replace(".yaml", ".json");
    let bench = super::folder_of(&workspace(&server, "", ""), PLAIN)
        .file(&json, r#"{"raw": "dump"}"#)
        .open();
    assert_eq!(run(&bench, &request()).done, 1);
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Nothing));
    bench.remove(RUN);
    let waits = r#"{"conversation": [{"user_message": "How many?"}]}"#;
    bench.put(&json, waits);
    for request in [request(), LaunchRequest { start_over: true, ..request() }] {
        let plan = bench.app().launches().plan_launch(&request).unwrap();
        assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Refused));
        insta::allow_duplicates! {
            insta::assert_snapshot!(plan.skipped[0].why, @"Its result is a JSON file, and \
                Touchstone writes YAML. Move that file out of the output directory to run it here.");
        }
    }
    assert_eq!(fs_err::read_to_string(bench.path(&json)).unwrap(), waits);
}

#[test]
fn a_result_is_found_under_every_name_that_is_read() {
    let done = "conversation:\n- user_message: How many?\n- assistant_message: 7\nanswer: 7\n";
    let waits = done.replace("answer: 7\n", "- user_message: And now?\n");
    for name in [
        "count.yaml-tool_calling-scripted-variation0.yaml",
        "count-tool_calling-scripted-variation0.yml",
    ] {
        let server = Scripted::always(says(ANSWER));
        let path = format!("results/{name}");
        let bench = super::folder_of(&workspace(&server, "", ""), PLAIN).file(&path, done).open();
        let plan = bench.app().launches().plan_launch(&request()).unwrap();
        assert_eq!(
            (plan.owed_total, plan.skipped[0].act, plan.skipped[0].path.as_str()),
            (0, Act::Nothing, name)
        );
        bench.write(&path, &waits);
        assert_eq!(run(&bench, &request()).done, 1);
        assert!(
            transcript_lines(&bench, &path).contains("And now?") && !bench.path(RUN).exists(),
            "{name}: no second file"
        );
        let again = LaunchRequest { start_over: true, ..request() };
        assert_eq!(run(&bench, &again).done, 1);
        assert!(
            !transcript_lines(&bench, &path).contains("And now?") && !bench.path(RUN).exists(),
            "{name}: no second file"
        );
        let second = format!("results/{}", name.replace("variation0", "variation0-run2"));
        bench.write(&second, done);
        let id = bench.app().runs().id_of_file(&bench.path(&path)).unwrap();
        bench.wait_state(name, touchstone_api::RunState::Answered);
        bench.app().launches().fork_run(&id, &ForkRequest::new(1, None)).unwrap();
        assert!(
            bench.path(&RUN.replace("variation0", "variation0-fork1")).exists(),
            "{name}: a fork is no repeat"
        );
    }
}

#[test]
fn two_results_of_one_run_are_named_and_none_of_them_is_touched() {
    let server = Scripted::always(says(ANSWER));
    let other = "results/count.yaml-tool_calling-scripted-variation0.yaml";
    let bench = super::folder_of(&workspace(&server, "", ""), PLAIN)
        .file(RUN, HEAD)
        .file(other, HEAD)
        .open();
    for start_over in [false, true] {
        let plan =
            bench.app().launches().plan_launch(&LaunchRequest { start_over, ..request() }).unwrap();
        assert_eq!((plan.owed_total, plan.skipped[0].act), (0, Act::Refused));
        insta::allow_duplicates! {
            insta::assert_snapshot!(plan.skipped[0].why, @"There is more than one result of this \
                run: count-tool_calling-scripted-variation0.yaml and \
                count.yaml-tool_calling-scripted-variation0.yaml. Move one of them out of the \
                output directory.");
        }
    }
}

#[test]
fn a_request_that_means_nothing_is_refused_with_what_there_is() {
    let server = Scripted::always(says(ANSWER));
    let bench = folder_with(&workspace(&server, "", ""), PLAIN);
    let wrong = [
        LaunchRequest { models: vec!["gpt".into()], ..request() },
        LaunchRequest { models: vec![], ..request() },
        LaunchRequest { systems: vec!["magic".into()], ..request() },
        LaunchRequest { tasks: vec!["x*".into()], ..request() },
    ];
    let said = wrong.iter().map(|wrong| {
        let error = bench.app().launches().start_launch(wrong).unwrap_err();
        format!("{} {}", error.message, error.hint.unwrap_or_default())
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @"
    There is no model named `gpt`. There are: claude, o1, o3-mini, scripted. Others are added under `models:` in touchstone.yaml.
    A launch needs at least one system and one model. Choose them in the launch sheet, or give --system and --model.
    There is no system named `magic`. There are: promptql, tool_calling, tool_calling_python.
    No task matches `x*`. Task names are paths below the input directory, without extension; \
        leading folders may be omitted. `*` matches within a folder, `**` across folders.
    ");
    let none = LaunchRequest {
        variations: vec![3],
        systems: vec!["tool_calling".into(), "promptql".into()],
        ..request()
    };
    let plan = bench.app().launches().plan_launch(&none).unwrap();
    let why: Vec<&str> = plan.skipped.iter().map(|run| run.why.as_str()).collect();
    insta::assert_snapshot!(why.join("\n"), @r"
    The task has no variation 3; it has 1, counted from 0.
    The task has no prompt for promptql.
    ");
    assert_eq!((plan.owed_total, server.seen().len()), (0, 0));
}

#[test]
fn a_result_whose_name_would_be_too_long_is_refused_and_one_as_long_as_can_be_is_run_and_begun_anew()
 {
    let server = Scripted::start(calls_then_answers);
    let rest = "-tool_calling-scripted-variation0.yaml".len();
    let (fits, over) = ("f".repeat(254 - rest), "o".repeat(257 - rest));
    let bench = super::folder_of(&workspace(&server, "", ""), PLAIN);
    let bench = bench
        .file(&format!("tasks/{fits}.yaml"), PLAIN)
        .file(&format!("tasks/{over}.yaml"), PLAIN)
        .open();
    let only = LaunchRequest { tasks: vec![fits.clone()], ..request() };
    let anew = LaunchRequest { start_over: true, ..request() };
    for request in [&request(), &anew] {
        let plan = bench.app().launches().plan_launch(request).unwrap();
        assert_eq!(
            (plan.owed_total, plan.skipped_total, plan.skipped[0].act),
            (2, 1, Act::Refused)
        );
        insta::allow_duplicates! {
            insta::assert_snapshot!(plan.skipped[0].why, @"Its file name would have 257 bytes, and \
                the limit is 254. Make the file name of the task 3 letters shorter.");
        }
    }
    let mut done = 0;
    for request in [&only, &LaunchRequest { start_over: true, ..only.clone() }] {
        let view = run(&bench, request);
        assert_eq!(view.done, 1, "{:?}", view.runs);
        done += 2;
        assert_eq!(server.delivered(), done, "it was begun anew, without what the journal held");
    }
    assert_eq!(replaced(&bench).len(), 2, "the result and its journal");
    let name = format!("{fits}-tool_calling-scripted-variation0.yaml");
    let row = bench.wait_state(&name, touchstone_api::RunState::Answered);
    let error = bench.app().launches().fork_run(&row.id, &ForkRequest::new(2, None)).unwrap_err();
    assert!(error.message.contains("6 letters shorter"), "a copy has a longer name: {error:?}");
    assert_eq!(
        fs::read_dir(bench.path("results")).unwrap().count(),
        2,
        "the run and our own folder"
    );
}
