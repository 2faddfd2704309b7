//! Tests of the command line: the real program, run on temporary folders.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod buckets;
#[path = "../engine/canary.rs"]
mod canary;
#[path = "../../src-tauri/commands.rs"]
mod commands;
mod comparing;
#[path = "../engine/conversation.rs"]
mod conversation;
mod converting;
mod diff;
mod ending;
mod evaluating;
mod failures;
#[path = "../engine/gzip.rs"]
mod gzip;
mod keyring;
mod keyring_bus;
mod labels;
mod many;

mod gate;
mod judging;
mod messages;
mod metrics;
mod opening;
mod programs;
mod readme;
mod redteam;
mod reviewing;
mod running;
#[path = "../engine/s3_server.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod s3_server;
mod sandbox;
mod scoring;
#[path = "../engine/scripted.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod scripted;
mod secrets;
mod serve;
mod served;
mod sql_memory;
mod stabletoolbench;
mod stats;
mod stored;
mod submitting;
mod trend;
mod virtual_apis;

use sandbox::{ANSWERED, Sandbox};
use serde_json::{Value, json};
use std::{
    io::Read as _,
    process::{Command, Stdio},
};

const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2K\u{202e}";

#[test]
fn without_a_display_it_says_how_to_serve_and_ends_with_two() {
    let ran = Sandbox::usual("display").run(&["."]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("touchstone serve"), "{}", ran.err);
    assert_eq!(ran.out, "");
}

#[test]
fn a_folder_that_is_not_there_ends_with_two_and_a_sentence_with_its_name() {
    let sandbox = Sandbox::usual("missing");
    for command in [
        &["list", "no/such"][..],
        &["index", "no/such"],
        &["search", "text", "no/such"],
        &["serve", "no/such"],
        &["show", "no/such.yaml"],
    ] {
        let ran = sandbox.run(command);
        assert_eq!(ran.status, 2, "{command:?} {ran:?}");
        assert!(
            ran.err.contains("no/such") && !ran.err.contains("panicked"),
            "{command:?} {}",
            ran.err
        );
        assert_eq!(ran.out, "", "{command:?}");
    }
}

#[test]
fn a_results_folder_that_had_runs_and_is_gone_ends_with_two_and_says_where_it_was() {
    let run = "conversation:\n- user_message: Hello\n";
    let files =
        [("touchstone.yaml", "output_dir: out\n"), ("out/a-tool_calling-o1-variation0.yaml", run)];
    let sandbox = Sandbox::with("lost", &files);
    let (out, elsewhere) = (sandbox.folder.join("out"), sandbox.folder.join("elsewhere"));
    assert_eq!(sandbox.run(&["list", "."]).status, 0);
    std::fs::rename(&out, &elsewhere).unwrap();
    for command in [&["list", "."][..], &["index", "."], &["search", "Hello", "."]] {
        let ran = sandbox.run(command);
        assert_eq!(ran.status, 2, "{command:?} {ran:?}");
        assert!(
            ran.err.contains("Folder not found: ") && ran.err.contains("/out"),
            "{command:?} {}",
            ran.err
        );
        assert_eq!(ran.out, "", "{command:?}");
    }
    std::fs::rename(&elsewhere, &out).unwrap();
    assert_eq!(sandbox.run(&["list", "."]).status, 0);
}

#[test]
fn arguments_that_make_no_sense_end_with_two() {
    let sandbox = Sandbox::usual("arguments");
    for command in [
        &["list", "--sort", "beauty"][..],
        &["list", "--limit", "many"],
        &["serve", "--port", "70000"],
        &["show"],
    ] {
        assert_eq!(sandbox.run(command).status, 2, "{command:?}");
    }
}

#[test]
fn list_takes_filter_and_order_from_a_view_of_the_workspace_file() {
    let run = "conversation:\n- user_message: Hello\n";
    let sandbox = Sandbox::with(
        "list-view",
        &[
            (
                "touchstone.yaml",
                "output_dir: out\nviews:\n  last: { filter: 'model:o1', sort: -variation }\n",
            ),
            ("out/a-tool_calling-o1-variation0.yaml", run),
            ("out/a-tool_calling-o1-variation1.yaml", run),
            ("out/a-tool_calling-claude-variation2.yaml", run),
        ],
    );
    let paths = |more: &[&str]| {
        let ran = sandbox.run(&[&["list", "--json", "--view", "last"][..], more].concat());
        let path = |row: &serde_json::Value| row["path"].as_str().unwrap_or_default().to_owned();
        ran.json().iter().map(path).collect::<Vec<_>>()
    };
    let [first, second] = ["0", "1"].map(|n| format!("a-tool_calling-o1-variation{n}.yaml"));
    assert_eq!(paths(&[]), [second.clone(), first.clone()]);
    assert_eq!(paths(&["--sort", "path"]), [first.clone(), second]);
    assert_eq!(paths(&["--filter", "variation:0"]), [first]);
    let unknown = sandbox.run(&["list", "--view", "none"]);
    assert_eq!(unknown.status, 2);
    assert!(
        unknown.err.contains("There is no view named `none`.")
            && unknown.err.contains("There are: last."),
        "{}",
        unknown.err
    );
}

#[test]
fn list_writes_one_object_a_line_with_exactly_the_documented_keys() {
    let ran = Sandbox::usual("list-json").run(&["list", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let rows = ran.json();
    assert_eq!(rows.len(), 4);
    let keys = [
        "id",
        "path",
        "task",
        "system",
        "model",
        "variation",
        "repeat",
        "lineage",
        "forked_from",
        "follow_ups",
        "state",
        "score",
        "passed",
        "reason",
        "turns",
        "tool_calls",
        "tokens",
        "cost",
        "seconds",
        "stored",
        "labels",
        "prompt",
    ];
    for row in &rows {
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    }
    let states: Vec<_> = rows
        .iter()
        .map(|row| (row["model"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        [("claude", "damaged"), ("claude", "answered"), ("o1", "error"), ("o3-mini", "waiting")]
    );
    assert_eq!(
        (&rows[1]["tool_calls"], &rows[1]["tokens"], &rows[1]["cost"]),
        (&Value::from(1), &Value::Null, &Value::Null)
    );
}

#[test]
fn list_filters_sorts_and_stops_where_it_is_told() {
    let sandbox = Sandbox::usual("list-filter");
    let models = |arguments: &[&str]| -> Vec<String> {
        let rows = sandbox.run(&[&["list", ".", "--json"], arguments].concat()).json();
        rows.iter().map(|row| row["model"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(models(&["--filter", "state:error"]), ["o1"]);
    assert_eq!(
        models(&["--filter", "system:tool_calling", "--sort", "-model", "--limit", "2"]),
        ["o3-mini", "o1"]
    );
    assert_eq!(
        models(&["--filter", "-state:error -system:promptql", "--sort", "-model", "--limit", "1"]),
        ["o3-mini"]
    );
    assert_eq!(models(&["--limit", "0"]), [""; 0]);
}

#[test]
fn the_two_directories_can_be_named_by_themselves() {
    let sandbox = Sandbox::usual("dirs");
    let other = sandbox.folder.join("elsewhere");
    std::fs::rename(sandbox.folder.join("results"), &other).unwrap();
    assert_eq!(sandbox.run(&["list", "--json", "-o", "elsewhere"]).json().len(), 4);
    let names = |arguments: &[&str]| {
        let rows =
            sandbox.run(&[&["list", "--json", "--filter", "model:o1"], arguments].concat()).json();
        rows.iter().map(|row| row["task"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["-i", "tasks", "-o", "elsewhere"]), ["tickets"]);
    let ran = sandbox.run(&["list", "-i", "no/such", "-o", "elsewhere"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("no/such"), "{}", ran.err);
}

#[test]
fn an_invalid_filter_prints_no_run_says_why_and_ends_with_two_in_every_command_that_takes_one() {
    let sandbox = Sandbox::usual("misread");
    let judge = ["score", "--judge", "sopr", "--judge-model", "claude", "--filter"];
    let commands: [&[&str]; 8] = [
        &["list", "--filter"],
        &["list", "--json", "--filter"],
        &["search"],
        &["stats", "--filter"],
        &["score", "--filter"],
        &["agreement", "--filter"],
        &["report", "--format", "md", "--out", "-", "--filter"],
        &["messages", "--folder", ".", "--filter"],
    ];
    for command in commands.into_iter().chain([judge.as_slice()]) {
        for (typed, why) in [
            ("review:none", "Unknown review \"none\". Did you mean no?"),
            ("tickets -state:eror", "Unknown state \"eror\". Did you mean error?"),
            ("scroe<0.5", "Unknown key \"scroe\". Did you mean score<0.5?"),
        ] {
            let ran = sandbox.run(&[command, &[typed]].concat());
            assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{command:?} {typed}: {ran:?}");
            assert!(ran.err.contains(why), "{command:?} {typed}: {}", ran.err);
        }
    }
    let by_turns = sandbox.run(&["list", "--json", "--filter", "turns>=1 -turns>100"]);
    assert!(by_turns.status == 0 && !by_turns.json().is_empty(), "{by_turns:?}");
}

#[test]
fn free_text_finds_runs_by_the_names_of_their_task_system_and_model() {
    let sandbox = Sandbox::usual("names");
    for (text, runs) in [
        ("claude", 2),
        ("o3-mini", 1),
        ("tool_calling", 3),
        ("ticket", 4),
        ("nobody-by-this-name", 0),
    ] {
        let listed = sandbox.run(&["list", "--json", "--filter", text]);
        assert_eq!((listed.status, listed.json().len()), (0, runs), "{text}: {listed:?}");
    }
    let hits = sandbox.run(&["search", "o3-mini"]);
    assert!(hits.out.contains("model o3-mini"), "{hits:?}");
}

#[test]
fn search_shows_the_place_that_matched_in_whole_words() {
    let filler =
        "The agent looked at such a table and then at another column of notes. ".repeat(12);
    let file = format!(
        "conversation:\n- user_message: Now note how many.\n- assistant_message: '{filler}'\n\
         - tool_call:\n    name: sql\n    error: '{filler} no such column: priority_score. \
         {filler}'\n- assistant_message: '{filler} no such column again. Apart {filler}'\n"
    );
    let apart = format!(
        "conversation:\n- user_message: zebra {filler}\n- assistant_message: '{filler} quagga'\n"
    );
    let almost = format!(
        "conversation:\n- user_message: Go.\n- assistant_message: '{filler} no such columnar store. {filler} no such          column. {filler}'\n"
    );
    let sandbox = Sandbox::with(
        "search-words",
        &[
            ("results/almost-tool_calling-o1-variation0.yaml", &almost),
            ("results/count-tool_calling-o1-variation0.yaml", &file),
            ("results/apart-tool_calling-o1-variation0.yaml", &apart),
        ],
    );
    let snippets = |text: &str, run: &str| -> Vec<String> {
        let ran = sandbox.run(&["search", "--json", text]);
        let all = ran.json();
        let of_run = all.iter().filter(|hit| hit["path"].as_str().unwrap().contains(run));
        of_run.map(|hit| hit["snippet"].as_str().unwrap().to_owned()).collect()
    };
    let words: std::collections::BTreeSet<&str> =
        file.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    for text in ["no such column", "\"no such column\""] {
        let found = snippets(text, "count");
        assert_eq!(found.len(), 2, "{text}: {found:?}");
        for snippet in &found {
            assert!(snippet.contains("no such column"), "{text}: {snippet}");
            let cut = snippet
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .find(|word| !words.contains(word));
            assert_eq!(cut, None, "{text}: {snippet}");
        }
    }
    // The prefix of another word is no match while the word itself occurs, however much space
    // separates the words.
    let found = snippets("no such column", "almost");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("no such          column.") && !found[0].contains("columnar"),
        "{found:?}"
    );
    let found = snippets("no such columna", "almost");
    assert!(found.len() == 1 && found[0].contains("columnar"), "{found:?}");
    // Words that never occur together are each shown in their own context.
    let found = snippets("quagga zebra", "apart");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("zebra") && found[0].contains("quagga"), "{found:?}");
}

#[test]
fn list_for_people_stands_in_columns_and_has_no_colour_in_a_pipe() {
    let ran = Sandbox::usual("list-plain").run(&["list"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 5, "{}", ran.out);
    assert!(lines[0].starts_with("state"));
    let column = lines[0].find("file").unwrap();
    assert!(lines[1..].iter().all(|line| line[column..].starts_with("tickets-")), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'));
}

#[test]
fn nothing_that_a_file_says_steers_the_terminal() {
    let transcript = ANSWERED
        .replace("zebra", "\\u001b[2K\\u202e")
        .replace("I will look them up in the", "\"")
        .replace(" table.", "\"");
    let name = format!("results/{HOSTILE}-tool_calling-o1-variation0.yaml");
    let sandbox = Sandbox::with(
        "hostile",
        &[(&name, &transcript), ("tasks/a.yaml", "tool_calling_prompt: a\n")],
    );
    for command in [&["list"][..], &["show", &name], &["search", "Printer"]] {
        let ran = sandbox.run(command);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(
            ran.out.contains("\\u{1b}") && ran.out.contains("\\u{202e}"),
            "{command:?} {}",
            ran.out
        );
        assert!(!ran.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{command:?} {:?}", ran.out);
    }
}

#[test]
fn index_counts_what_it_found() {
    let sandbox = Sandbox::usual("index");
    std::fs::write(sandbox.folder.join("results/notes.txt"), "buy milk").unwrap();
    let report = sandbox.run(&["index", ".", "--json"]).json().remove(0);
    let keys = [
        "files",
        "runs",
        "damaged",
        "not_transcripts",
        "suites_not_read",
        "not_read",
        "scan_ms",
        "index_ms",
        "search_ready_ms",
    ];
    assert_eq!(report.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    assert_eq!(
        (&report["runs"], &report["damaged"], &report["not_transcripts"]),
        (&Value::from(4), &Value::from(1), &Value::from(1))
    );
    let words = sandbox.run(&["index", "."]);
    assert!(words.out.contains("4 runs") && words.out.contains("damaged"), "{}", words.out);
}

#[test]
fn index_names_every_suite_that_is_not_read_with_the_reason() {
    let sandbox = Sandbox::usual("index-unread");
    let report = || sandbox.run(&["index", ".", "--json"]);
    let before = report().json().remove(0);
    assert_eq!((&before["suites_not_read"], &before["not_read"]), (&json!(0), &json!([])));
    for n in 0..25 {
        let path = sandbox.folder.join(format!("tasks/bad{n:02}.yaml"));
        std::fs::write(path, "tool_calling_prompt: x\nvariations: 3\n").unwrap();
    }
    std::fs::write(sandbox.folder.join("touchstone.yaml"), "run: { max_csot: 1 }\n").unwrap();
    let ran = report();
    let after = ran.json().remove(0);
    assert_eq!(after["suites_not_read"], 25);
    let reasons: Vec<&str> =
        after["not_read"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(reasons.len(), 26, "all of them, and the workspace file: {reasons:?}");
    assert!(reasons[0].starts_with("touchstone.yaml") && reasons[0].contains("max_csot"));
    assert!(reasons[25].starts_with("tasks/bad24.yaml"), "{reasons:?}");
    assert!(ran.err.ends_with("And 6 more that could not be read.\n"), "{}", ran.err);
    let words = sandbox.run(&["index", "."]);
    assert!(words.out.contains("25 suites are not read"), "{}", words.out);
}

#[test]
fn show_prints_the_whole_transcript_readable() {
    let ran = Sandbox::usual("show")
        .run(&["show", "results/tickets-tool_calling-claude-variation0.yaml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for text in [
        "List the newest",
        "query_support_tickets",
        "SELECT ticket_id",
        "Printer on fire",
        "Answer",
    ] {
        assert!(ran.out.contains(text), "{text} is missing in\n{}", ran.out);
    }
}

#[test]
fn show_gives_programs_every_step_to_its_end() {
    let long = "0123456789 ".repeat(200_000);
    let steps = format!("  - assistant_message: {long}\n").repeat(2)
        + &"  - user_message: again\n".repeat(1500);
    let sandbox = Sandbox::with(
        "show-json",
        &[("a-tool_calling-o1-variation0.yaml", &format!("conversation:\n{steps}"))],
    );
    let ran = sandbox.run(&["show", "--json", "a-tool_calling-o1-variation0.yaml"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let view = ran.json().remove(0);
    let steps = view["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1502);
    assert_eq!(steps[0]["parts"][0]["body"]["text"].as_str().unwrap().trim(), long.trim());
}

#[test]
fn show_says_when_a_file_is_no_transcript() {
    let sandbox = Sandbox::with("show-other", &[("notes.txt", "buy milk")]);
    let ran = sandbox.run(&["show", "notes.txt"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("not a transcript"), "{}", ran.err);
}

#[test]
fn search_tells_file_step_and_the_text_around() {
    let sandbox = Sandbox::usual("search");
    let hits = sandbox.run(&["search", "zebra", "--json"]).json();
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!(
        hits[0].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["path", "step", "snippet"]
    );
    assert!(
        hits[0]["path"].as_str().unwrap().ends_with("tickets-tool_calling-claude-variation0.yaml")
    );
    assert_eq!(hits[0]["step"], 1);
    assert!(hits[0]["snippet"].as_str().unwrap().contains("zebra"));
    assert!(sandbox.run(&["search", "zebra"]).out.contains("step 2"));
    let nothing = sandbox.run(&["search", "giraffe", "--json"]);
    assert_eq!((nothing.status, nothing.out.as_str()), (0, ""));
}

#[test]
fn doctor_answers_in_words_and_as_json() {
    let sandbox = Sandbox::usual("doctor");
    let ran = sandbox.run(&["doctor", "--json"]);
    let checks = ran.json().remove(0)["checks"].as_array().unwrap().clone();
    assert!(!checks.is_empty());
    let well = checks.iter().all(|check| check["ok"] == true);
    assert_eq!(ran.status, i32::from(!well));
    assert!(sandbox.run(&["doctor"]).out.contains(checks[0]["name"].as_str().unwrap()));
}

#[test]
fn clear_deletes_what_was_replaced_only_when_somebody_says_so() {
    let sandbox = Sandbox::with(
        "clear",
        &[
            ("tasks/tickets.yaml", "tool_calling_prompt: How many?\n"),
            (
                "results/tickets-tool_calling-o1-variation0.yaml",
                "conversation:\n- user_message: How many?\n",
            ),
            ("results/.touchstone/replaced/tickets.yaml", "paid for"),
        ],
    );
    let kept = sandbox.folder.join("results/.touchstone/replaced/tickets.yaml");
    assert!(sandbox.run(&["doctor", "."]).out.contains("Replaced results: 1 file, 8 B"));
    // There is no terminal to confirm on, and piped input does not count as confirmation.
    for asked in [sandbox.run(&["clear"]), sandbox.fed(&["clear"], b"y\n")] {
        assert_eq!(asked.status, 2, "{asked:?}");
        assert!(asked.err.contains("--yes") && kept.exists(), "{asked:?}");
    }
    let done = sandbox.run(&["clear", "--yes"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(done.out.contains("1 file (8 B)") && !kept.exists(), "{done:?}");
    assert!(sandbox.run(&["clear"]).out.contains("Replaced results: none."));
    assert!(sandbox.run(&["list"]).out.contains("tickets"), "the results are still there");
}

#[test]
fn doctor_looks_at_the_databases_and_keys_of_the_folder_it_is_given() {
    let workspace = "input_dir: tasks\noutput_dir: results\nmodels:\n  own: { provider: openai, base_url: \"http://127.0.0.1:9/v1\", \
        model: m, api_key_env: KEY_OF_THE_OTHER_FOLDER }\ntools:\n  tickets: { kind: sql, database: \"sqlite:no-such.db\" }\n";
    let sandbox = Sandbox::usual("doctor-folder");
    let inner = sandbox.folder.join("inner");
    std::fs::create_dir_all(inner.join("results")).unwrap();
    std::fs::create_dir(inner.join("tasks")).unwrap();
    std::fs::write(inner.join("touchstone.yaml"), workspace).unwrap();
    let checks = |mut command: Command| {
        let ran: sandbox::Ran = command.output().unwrap().into();
        let found = ran.json().remove(0)["checks"].as_array().unwrap().clone();
        let found =
            found.into_iter().map(|check| (check["name"].as_str().unwrap().to_owned(), check));
        (ran.status, found.collect::<std::collections::BTreeMap<_, _>>())
    };
    let (key, database) = ("Key KEY_OF_THE_OTHER_FOLDER", "Database of tickets");
    let (_, without) = checks(sandbox.command(&["doctor", "--json"]));
    assert!(!without.contains_key(key) && !without.contains_key("Open folder"), "{without:?}");
    let here = || {
        let mut command = sandbox.command(&["doctor", "--json"]);
        command.current_dir(&inner);
        command
    };
    let given = sandbox.command(&["doctor", "inner", "--json"]);
    let dirs =
        sandbox.command(&["doctor", "inner", "--json", "-i", "tasks", "-o", "inner/results"]);
    for command in [given, here(), dirs] {
        let (status, with) = checks(command);
        assert_eq!(status, 1, "{with:?}");
        assert_eq!(
            (&with[database]["ok"], &with[key]["ok"]),
            (&false.into(), &true.into()),
            "{with:?}"
        );
        assert!(
            with["Open folder"]["detail"].as_str().unwrap().ends_with("is read and watched."),
            "{with:?}"
        );
    }
    std::fs::write(inner.join("touchstone.yaml"), "input_dir: [\n").unwrap();
    let (status, broken) = checks(here());
    assert_eq!((status, &broken["Workspace file"]["ok"]), (1, &false.into()), "{broken:?}");
    // A folder without any run yet is fine.
    std::fs::write(inner.join("touchstone.yaml"), workspace).unwrap();
    std::fs::remove_dir(inner.join("results")).unwrap();
    let (status, fresh) = checks(here());
    assert_eq!(
        (status, &fresh["Open folder"]["ok"], &fresh[database]["ok"]),
        (1, &true.into(), &false.into())
    );
    assert!(
        fresh["Open folder"]["detail"].as_str().unwrap().contains("There are no runs yet"),
        "{fresh:?}"
    );
    let ran = sandbox.run(&["doctor", "no/such"]);
    assert_eq!(
        (ran.status, ran.out.as_str(), ran.err.contains("no/such")),
        (2, "", true),
        "{ran:?}"
    );
}

#[test]
fn show_takes_the_directories_that_make_a_file_the_run_of_a_task() {
    let sandbox = Sandbox::usual("show-dirs");
    std::fs::create_dir(sandbox.folder.join("results/deep")).unwrap();
    let name = "tickets-tool_calling-claude-variation0.yaml";
    std::fs::rename(
        sandbox.folder.join("results").join(name),
        sandbox.folder.join("results/deep").join(name),
    )
    .unwrap();
    std::fs::create_dir(sandbox.folder.join("tasks/deep")).unwrap();
    std::fs::rename(
        sandbox.folder.join("tasks/tickets.yaml"),
        sandbox.folder.join("tasks/deep/tickets.yaml"),
    )
    .unwrap();
    let file = format!("results/deep/{name}");
    let shown = |dirs: &[&str]| sandbox.run(&[&["show", &file, "--json"], dirs].concat());
    let task = |dirs: &[&str]| shown(dirs).json().remove(0)["task"]["id"].clone();
    assert_eq!(task(&[]), Value::Null);
    assert_eq!(task(&["-i", "tasks/deep"]), "tickets");
    assert_eq!(task(&["-i", "tasks", "-o", "results"]), "deep/tickets");
    let path = shown(&["-o", "results"]).json().remove(0)["row"]["path"].clone();
    assert_eq!(path, format!("deep/{name}"));
    let outside = shown(&["-o", "tasks"]);
    assert_eq!(
        (outside.status, outside.err.contains("it is not in tasks")),
        (2, true),
        "{outside:?}"
    );
    assert_eq!(shown(&["-i", "no/such"]).status, 2);
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    let sandbox = Sandbox::usual("pipe");
    let mut listing =
        sandbox.command(&["show", "results/tickets-tool_calling-claude-variation0.yaml"]);
    let mut child = listing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn the_program_leaves_no_core_file_behind() {
    let limit =
        Command::new("sh").args(["-c", "grep 'core file' /proc/self/limits"]).output().unwrap();
    assert!(limit.status.success(), "this test reads /proc");
    let sandbox = Sandbox::usual("core");
    let mut served = served::Served::start(&sandbox, &[]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", served.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().rev().nth(2), Some("0"), "{core}");
    served.end();
}
