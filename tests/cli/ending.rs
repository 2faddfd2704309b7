//! Tests of termination signals, and of the information that child processes can read about the
//! program.
use crate::conversation::{Conversation, Wire};
use crate::evaluating::{is_caught, until};
use crate::sandbox::Sandbox;
use crate::scripted::{Latch, Reply, Scripted};
use crate::served::Served;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

const HANG_UP: u32 = 1;
const INTERRUPT: u32 = 2;

/// A folder in which each command calls the model.
fn folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any, price: {{ input: 1, output: 2 }} }}\n"
    );
    let judged =
        "conversation:\n- user_message: How many?\n- assistant_message: Three.\nanswer: 3\n";
    Sandbox::with(
        name,
        &[
            ("touchstone.yaml", &workspace),
            ("tasks/count.yaml", "tool_calling_prompt: How many?\n"),
            ("results/count-tool_calling-o1-variation0.yaml", judged),
            ("rows.jsonl", "{\"query\": \"How many?\", \"response\": \"Three.\"}\n"),
        ],
    )
}

/// Commands by name, with the number of requests each makes, and its arguments.
const WORK: [(&str, usize, &[&str]); 3] = [
    ("run", 1, &["run", ".", "--system", "tool_calling", "--model", "local", "--json"]),
    // A judge is called three times.
    ("judge", 3, &["score", ".", "--judge", "sopr", "--judge-model", "local", "--json"]),
    (
        "evaluate",
        1,
        &[
            "evaluate",
            "--data",
            "rows.jsonl",
            "--evaluators",
            "relevance",
            "--judge-model",
            "local",
            "--out",
            "out.json",
            "--replace",
        ],
    ),
];

/// Replies to the requests of each command, once the latch is open.
fn answers(work: &str, latch: &Latch) -> Scripted {
    let (conversation, latch) = (Conversation::new(Wire::Chat, 0), latch.clone());
    let says = |text: &str| {
        Reply::json(&json!({
            "id": "c", "object": "chat.completion", "model": "any-1",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
        }))
    };
    let judged = says(r#"{"reason": "All there.", "verdict": "solved"}"#);
    let evaluated = says(r#"{"explanation": "All there.", "score": 5}"#);
    let work = work.to_owned();
    Scripted::start(move |seen| {
        let reply = match work.as_str() {
            "run" => conversation.reply(seen),
            "judge" => judged.clone(),
            _ => evaluated.clone(),
        };
        reply.once_open(&latch)
    })
}

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    sandbox.hanging_up(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn hang_up(child: &Child) {
    kill_process(Pid::from_child(child), Signal::HUP).unwrap();
}

#[test]
fn after_a_hang_up_what_is_in_flight_is_finished_and_kept() {
    for (work, owed, arguments) in WORK {
        let latch = Latch::default();
        let server = answers(work, &latch);
        let sandbox = folder(&format!("hang-up-{work}"), &server);
        let mut child = start(&sandbox, arguments);
        server.wait_for(1);
        until("hang-ups are listened to", || is_caught(&child.id().to_string(), HANG_UP));
        hang_up(&child);
        latch.open();
        let status = child.wait().unwrap();
        assert!(status.code().is_some(), "{work}: {status}");
        let again = sandbox.run(arguments);
        assert_eq!(
            (again.status, server.seen().len()),
            (0, owed),
            "{work}: what was said is kept: {again:?}"
        );
    }
}

#[test]
fn a_second_hang_up_gives_up_what_is_in_flight() {
    for (work, _, arguments) in WORK {
        let latch = Latch::default();
        let server = answers(work, &latch);
        let sandbox = folder(&format!("hang-up-twice-{work}"), &server);
        let mut child = start(&sandbox, arguments);
        server.wait_for(1);
        until("hang-ups are listened to", || is_caught(&child.id().to_string(), HANG_UP));
        let ended = std::cell::Cell::new(None);
        let child = std::cell::RefCell::new(&mut child);
        // Two signals in quick succession may be received as one, so the signal is repeated.
        until("it has ended", || {
            let mut child = child.borrow_mut();
            hang_up(&child);
            ended.set(child.try_wait().unwrap());
            ended.get().is_some()
        });
        let code = ended.get().and_then(|status| status.code());
        assert!(code.is_some_and(|code| code != 0), "{work}: {ended:?}");
        latch.open();
    }
}

#[test]
fn a_server_ends_well_when_its_terminal_is_gone() {
    let sandbox = Sandbox::usual("hang-up-serve");
    let mut served = Served::start_command(&mut sandbox.hanging_up(&["serve", "."]));
    assert_eq!(served.end_by("HUP").code(), Some(0));
}

#[test]
fn a_program_that_is_to_outlive_its_terminal_does() {
    let latch = Latch::default();
    let server = answers("run", &latch);
    let sandbox = folder("hang-up-ignored", &server);
    let plain = sandbox.command(WORK[0].2);
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args());
    command
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(&sandbox.folder);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    server.wait_for(1);
    until("interrupts are listened to", || is_caught(&child.id().to_string(), INTERRUPT));
    assert!(!is_caught(&child.id().to_string(), HANG_UP));
    hang_up(&child);
    latch.open();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Script that writes everything a child can learn about its parent to `seen`, then creates `done`.
const SPY: &str = "#!/bin/sh
{
  echo own; env
  for file in environ auxv maps; do echo $file; cat /proc/$PPID/$file 2>&1 | tr '\\0' '\\n'; done
  echo memory; head -c 1 /proc/$PPID/mem 2>&1
  echo arguments; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'
} > $1/seen
echo > $1/done
";
const KEY: &str = "canary-key-that-nobody-may-see";

/// Command run as an ordinary user, since root may read all data of all processes.
fn ordinary(program: &std::ffi::OsStr) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

#[test]
fn a_program_that_is_started_sees_no_key_of_the_one_that_starts_it() {
    let server = answers("run", &Latch::default());
    let sandbox = folder("spy", &server);
    let spy = sandbox.folder.join("spy");
    fs::write(&spy, SPY).unwrap();
    let workspace = fs::read_to_string(sandbox.folder.join("touchstone.yaml")).unwrap();
    let tool = format!(
        "tools:\n  spy: {{ kind: mcp, command: ['{}', '{}'] }}\n",
        spy.display(),
        sandbox.folder.display()
    );
    fs::write(sandbox.folder.join("touchstone.yaml"), workspace + &tool).unwrap();
    let everybody = |path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    };
    for path in ["", "spy", "results", "..", "tasks"] {
        everybody(&sandbox.folder.join(path));
    }
    let seen = |mut command: Command| {
        for file in ["seen", "done"] {
            let _ = fs::remove_file(sandbox.folder.join(file));
        }
        let ran = command.env("CANARY_API_KEY", KEY).current_dir(&sandbox.folder).output().unwrap();
        assert!(sandbox.folder.join("done").exists(), "{ran:?}");
        // The file is read lossily, since `auxv` holds raw binary numbers.
        String::from_utf8_lossy(&fs::read(sandbox.folder.join("seen")).unwrap()).into_owned()
    };
    // Control: a program without protection exposes all of it.
    let mut careless = ordinary("sh".as_ref());
    careless.args(["-c", "env -u CANARY_API_KEY ./spy .; :"]);
    let shown = seen(careless);
    assert!(shown.contains("environ\n") && shown.contains(KEY), "{shown}");
    assert!(shown.contains(" r-xp "), "its memory is seen: {shown}");
    let plain = sandbox.command(WORK[0].2);
    let mut careful = ordinary(plain.get_program());
    careful
        .args(plain.get_args())
        .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let shown = seen(careful);
    assert!(!shown.contains(KEY), "{shown}");
    for file in ["environ", "auxv", "maps", "mem"] {
        let refused = shown
            .lines()
            .any(|line| line.contains(&format!("/{file}")) && line.contains("Permission denied"));
        assert!(refused, "{file}: {shown}");
    }
    assert!(shown.contains("\nrun\n"), "arguments are seen, and hold no key: {shown}");
}
