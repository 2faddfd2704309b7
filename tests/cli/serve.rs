//! Tests of `touchstone serve`: the printed address, the page behind it, and the shutdown.
use crate::commands::{Access, COMMANDS};
use crate::sandbox::Sandbox;
use crate::served::{Served, until};
use serde_json::{Value, json};
use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

#[test]
fn it_prints_one_line_with_address_and_token_and_ends_well_on_ctrl_c() {
    let sandbox = Sandbox::usual("serve-line");
    let mut plain = Served::start(&sandbox, &[]);
    assert!(
        plain.line.starts_with("http://127.0.0.1:") && plain.line.contains("/?token="),
        "{}",
        plain.line
    );
    assert_eq!(plain.end().code(), Some(0));
    let mut json = Served::start(&sandbox, &["--json"]);
    let said: Value = serde_json::from_str(&json.line).unwrap();
    assert!(said["url"].as_str().unwrap().contains("/?token="));
    assert_eq!(json.end().code(), Some(0));
}

#[test]
fn the_demo_is_served_from_a_copy_in_the_state_directory() {
    let sandbox = Sandbox::usual("serve-demo");
    let served = Served::start_with(&sandbox, &["serve", "--demo"], &[]);
    let (status, reply) = served.call("status", &json!({}));
    assert_eq!((status, &reply["folder"]["demo"]), (200, &json!(true)), "{reply}");
    assert!(reply["folder"]["path"].as_str().unwrap().ends_with("state/demo"), "{reply}");
    assert_eq!(sandbox.run(&["serve", "--demo", "."]).status, 2);
}

#[test]
fn an_address_works_once_and_serve_again_prints_another() {
    let sandbox = Sandbox::usual("serve-once");
    let mut served = Served::start(&sandbox, &["--json"]);
    let status = |reply: &str| reply.split(' ').nth(1).unwrap().to_owned();
    let cookie = std::mem::take(&mut served.cookie);
    let path = |line: &str| {
        let url = serde_json::from_str::<Value>(line).unwrap()["url"].as_str().unwrap().to_owned();
        url[url.find("/?").unwrap()..].to_owned()
    };
    let first = path(&served.line);
    assert_eq!(status(&served.send("GET", &first, "")), "401", "it was used");
    // Whoever reads the address may ask for another one at once.
    let again = sandbox.run(&["serve", "--again", "--json"]);
    assert_eq!(again.status, 0, "{}", again.err);
    let second = path(&again.out);
    assert_ne!(second, first);
    assert_eq!(status(&served.send("GET", &second, "")), "303");
    assert_eq!(status(&served.send("GET", &second, "")), "401");
    served.cookie = cookie;
    assert_eq!(status(&served.send("GET", "/", "")), "200", "who is in stays in");
}

#[test]
fn serve_again_says_which_servers_run() {
    let sandbox = Sandbox::usual("serve-again");
    let again = sandbox.run(&["serve", "--again"]);
    assert_eq!(again.status, 2);
    assert!(again.err.contains("No server is running."), "{}", again.err);
    let (mut first, second) = (Served::start(&sandbox, &[]), Served::start(&sandbox, &[]));
    let again = sandbox.run(&["serve", "--again"]);
    assert_eq!(again.status, 2);
    let (one, other) = (first.port.to_string(), second.port.to_string());
    assert!(again.err.contains(&one) && again.err.contains(&other), "{}", again.err);
    let again = sandbox.run(&["serve", "--again", "--port", &other]);
    assert!(again.out.starts_with(&format!("http://127.0.0.1:{other}/?token=")), "{}", again.out);
    assert_eq!(first.end().code(), Some(0));
    assert_eq!(sandbox.run(&["serve", "--again"]).status, 0, "only one is left");
}

#[test]
fn a_server_that_is_started_again_takes_the_same_port_and_lets_its_pages_go_on() {
    let sandbox = Sandbox::usual("serve-return");
    let mut first = Served::start(&sandbox, &[]);
    let (port, cookie) = (first.port, first.cookie.clone());
    assert_eq!(first.end().code(), Some(0));
    let mut second = Served::start(&sandbox, &[]);
    assert_eq!(second.port, port);
    second.cookie = cookie;
    let (status, reply) = second.call("status", &json!({}));
    assert_eq!(status, 200, "{reply}");
}

#[test]
fn open_starts_the_browser_with_an_address_of_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::usual("serve-open");
    let tools = sandbox.folder.join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let opener = tools.join("xdg-open");
    let told = tools.join("told");
    std::fs::write(
        &opener,
        format!("#!/bin/sh\necho \"$1\" > {0}.new && mv {0}.new {0}\n", told.display()),
    )
    .unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let served = Served::start_with(
        &sandbox,
        &["serve", ".", "--open"],
        &[("PATH", &path), ("DISPLAY", ":99")],
    );
    crate::evaluating::until("the opener is started", || told.exists());
    let address = std::fs::read_to_string(&told).unwrap().trim().to_owned();
    assert_ne!(address, served.line.trim());
    let path = &address[address.find("/?").unwrap()..];
    assert!(served.send("GET", path, "").starts_with("HTTP/1.1 303"));
    assert!(
        served.send("GET", path, "").starts_with("HTTP/1.1 200"),
        "this one is let in by its cookie"
    );
}

#[test]
fn every_start_has_another_token() {
    let sandbox = Sandbox::usual("serve-token");
    let token = |served: &Served| served.line.split_once("token=").unwrap().1.to_owned();
    assert_ne!(token(&Served::start(&sandbox, &[])), token(&Served::start(&sandbox, &[])));
}

#[test]
fn a_taken_port_is_said_and_ends_with_two() {
    let sandbox = Sandbox::usual("serve-port");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = sandbox.run(&["serve", "--port", &port]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains(&port) && ran.err.contains("--port"), "{}", ran.err);
}

#[test]
fn the_commands_answer_over_http() {
    let sandbox = Sandbox::usual("serve-calls");
    let served = Served::start(&sandbox, &[]);
    let request = json!({ "filter": "", "sort": { "column": "path", "descending": false }, "span": { "offset": 0, "limit": 50 } });
    let request = json!({ "request": request });
    let page = until(&served, "list_runs", &request, |page| page["total"] == 4);
    let (status, view) = served.call("open_run", &json!({ "id": page["rows"][1]["id"] }));
    assert_eq!((status, &view["row"]["state"]), (200, &json!("answered")));
    assert!(
        served.send("GET", "/", "").contains("<div id=\"app\">"),
        "the page is built in: npm --prefix ui run build"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let sandbox = Sandbox::usual("serve-refusals");
    let served = Served::start(&sandbox, &[]);
    for (name, arguments, wanted) in [
        ("pick_folder", json!({}), (403, "not_allowed")),
        ("open_run", json!({ "id": "no-such-run" }), (404, "not_found")),
        ("open_run", json!({ "id": "../../etc/passwd" }), (404, "not_found")),
        ("open_run", json!({ "id": 7 }), (400, "bad_request")),
        ("open_run", json!({}), (400, "bad_request")),
        ("open_run", json!({ "id": "a", "path": "/etc/passwd" }), (400, "bad_request")),
        ("status", json!(null), (400, "bad_request")),
        ("no_such_command", json!({}), (404, "not_found")),
    ] {
        let (status, error) = served.call(name, &arguments);
        assert_eq!((status, error["code"].as_str().unwrap()), wanted, "{name} {arguments} {error}");
    }
    let (_, refused) = served.call("pick_folder", &json!({}));
    assert!(refused["hint"].as_str().unwrap().contains("touchstone serve FOLDER"));
}

#[test]
fn a_page_that_only_looks_changes_nothing_whatever_it_asks() {
    let sandbox = Sandbox::usual("serve-looks");
    let other = sandbox.root().join("other");
    std::fs::create_dir_all(other.join("results")).unwrap();
    std::fs::write(other.join("results/a.yaml"), "output: {}\n").unwrap();
    std::fs::create_dir_all(sandbox.root().join("demo/tasks")).unwrap();
    std::fs::write(sandbox.root().join("demo/tasks/a.yaml"), "tool_calling_prompt: Count.\n")
        .unwrap();
    // Opens another folder, so that it is remembered.
    drop(Served::start_with(&sandbox, &["serve", other.to_str().unwrap()], &[]));
    let served = Served::start(&sandbox, &[]);
    let is_ready = |status: &Value| status["phase"]["kind"] == "ready";
    let ready = until(&served, "status", &json!({}), is_ready);
    let (_, folders) = served.call("folders", &json!({}));
    assert_eq!(
        (folders["recent"].as_array().unwrap().len(), &folders["can_open"]),
        (2, &json!(false)),
        "{folders}"
    );
    let before = files(sandbox.root());
    let span = json!({ "offset": 0, "limit": 50 });
    let list =
        json!({ "filter": "", "sort": { "column": "path", "descending": false }, "span": span });
    let (_, runs) = served.call("list_runs", &json!({ "request": list }));
    let run = runs["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["state"] == "answered")
        .unwrap()["id"]
        .clone();
    let version = served.call("open_run", &json!({ "id": run })).1["version"].clone();

    for (name, access) in COMMANDS {
        let mut given = vec![
            json!({}),
            json!({ "id": run }),
            json!({ "id": run, "span": span }),
            json!({ "request": list }),
            json!({ "filter": "" }),
            json!({ "span": span }),
            json!({ "text": "stones", "span": span }),
            json!({ "id": run, "version": version, "span": span }),
            json!({ "id": run, "now": true }),
            json!({ "name": "KEY", "key": "value" }),
            json!({ "id": run, "message": "more" }),
            json!({ "id": run, "step": 0, "message": null }),
            json!({ "ids": [run] }),
            json!({ "request": { "filter": "", "format": "html" }, "whole": true }),
        ];
        given.extend(
            folders["recent"]
                .as_array()
                .unwrap()
                .iter()
                .map(|folder| json!({ "id": folder["id"] })),
        );
        for arguments in given {
            let (status, reply) = served.call(name, &arguments);
            if *access != Access::Look {
                assert_eq!(
                    (status, reply["code"].as_str()),
                    (403, Some("not_allowed")),
                    "{name} {arguments}: {reply}"
                );
            }
        }
    }
    let now = until(&served, "status", &json!({}), is_ready);
    assert_eq!((&now["folder"], &now["counts"]), (&ready["folder"], &ready["counts"]));
    assert_eq!(served.call("folders", &json!({})).1, folders);
    assert_eq!(served.call("list_runs", &json!({ "request": list })).1["rows"], runs["rows"]);
    let after = files(sandbox.root());
    let changed =
        before.iter().filter(|(path, text)| after.get(*path) != Some(text)).map(|(path, _)| path);
    let new = after.keys().filter(|path| !before.contains_key(*path));
    assert_eq!(changed.chain(new).collect::<Vec<_>>(), Vec::<&std::path::PathBuf>::new());
}

/// Returns every file below a folder except those of the cache.
fn files(root: &std::path::Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && path != root.join("cache") {
                waiting.push(path);
            } else if path.is_file() {
                found.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn when_the_system_lets_no_more_folders_be_watched_all_is_found_by_listing_and_the_notice_says_so_once()
 {
    let sandbox = Sandbox::usual("serve-watches");
    // In its own user namespace the program has its own limit of watches.
    let program = sandbox.command(&[]);
    let limit = "echo 4 >/proc/sys/user/max_inotify_watches && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", limit, "sh"]).arg(program.get_program());
    command.args(["serve", ".", "--json"]).current_dir(&sandbox.folder).stdin(Stdio::null());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let served = Served::start_command(&mut command);
    let status = |wish: &dyn Fn(&Value) -> bool| until(&served, "status", &json!({}), wish);
    status(&|status| status["watching"]["by"] == "native" && status["phase"]["kind"] == "ready");
    for n in 0..8 {
        let dir = sandbox.folder.join(format!("results/n{n}/deeper"));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("run.yaml"), crate::ANSWERED).unwrap();
    }
    let reply =
        status(&|status| status["counts"]["runs"] == 12 && status["watching"]["by"] == "polling");
    let notice = reply["watching"]["notice"].as_str().unwrap();
    assert_eq!(notice.matches("fs.inotify.max_user_watches").count(), 1, "{notice}");
    assert!(notice.contains("lists it every few seconds"), "{notice}");
    // Changes without a notification are still found.
    std::fs::write(sandbox.folder.join("results/n7/deeper/late.yaml"), crate::ANSWERED).unwrap();
    status(&|status| status["counts"]["runs"] == 13);
}

#[test]
fn a_text_of_two_hundred_megabytes_is_a_row_that_says_so_and_is_not_held_twice() {
    let sandbox = Sandbox::usual("serve-huge");
    let path = sandbox.folder.join("results/huge.yaml");
    let mut file = std::fs::OpenOptions::new().create_new(true).write(true).open(&path).unwrap();
    file.write_all(b"conversation:\n- user_message: |\n").unwrap();
    let line = [&[b' '; 4], "word ".repeat(13_000).trim_end().as_bytes(), b"\n"].concat();
    for _ in 0..200_000_000 / line.len() {
        file.write_all(&line).unwrap();
    }
    file.set_modified(std::time::SystemTime::now() - Duration::from_hours(1)).unwrap();
    let served = Served::start(&sandbox, &[]);
    until(&served, "status", &json!({}), |status| status["phase"]["kind"] == "ready");
    let memory = std::fs::read_to_string(format!("/proc/{}/status", served.id())).unwrap();
    let kilobytes = |name: &str| -> u64 {
        let line = memory.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    // The mapped pages of the program itself are excluded: an unoptimised build has many, and the
    // kernel can reclaim them.
    let peak = kilobytes("VmHWM:") - kilobytes("RssFile:");
    assert!(peak < 260_000, "{peak} kB at most");
    let request = json!({ "request": { "filter": "", "sort": { "column": "path", "descending": false },
        "span": { "offset": 0, "limit": 50 } } });
    let (_, page) = served.call("list_runs", &request);
    let rows = page["rows"].as_array().unwrap();
    let huge = rows.iter().find(|row| row["path"] == "huge.yaml").unwrap();
    assert_eq!((rows.len(), &huge["state"]), (5, &json!("damaged")));
    assert!(huge["reason"].as_str().unwrap().contains("more than 16777216 bytes"), "{huge}");
}
