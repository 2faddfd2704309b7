//! Kills that involve other processes: another launch on the same folder, a program of a model that
//! is running, and a graceful Ctrl-C.
use crate::chance::Chance;
use crate::conversation::{Conversation, Wire};
use crate::lives::{DEADLINE, exit_of, kill_after, until};
use crate::sandbox::Sandbox;
use crate::scripted::{Latch, Scripted};
use crate::stage::{AT_ONCE, Stage};
use crate::{Folder, straight};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn two_at_once_on_one_folder_share_the_work_though_both_are_killed() {
    let mut chance = Chance::seeded();
    let (expected, took) = straight("faults-alone");
    let mut folder = Folder::new(Stage::new("faults-two", None));
    for round in 0..4 {
        let mut both = [folder.stage.begin(None), folder.stage.begin(None)];
        // In the last round neither is killed, and each leaves the runs of the other alone.
        for child in both.iter_mut().take(3 - round) {
            kill_after(child, took.mul_f64(chance.part() / 2.0));
        }
        for child in &mut both {
            let status = exit_of(child);
            folder.kills += usize::from(status.code().is_none());
            assert!(matches!(status.code(), None | Some(0 | 1)), "{status}");
        }
        let found = folder.stage.found();
        let lost = folder.stage.delivered() - found.replies;
        assert!(lost <= folder.kills * AT_ONCE, "{lost} lost after {} kills", folder.kills);
        assert_eq!(found.replies, found.bought.len(), "something was bought by both");
    }
    folder.finish(&expected);
}

#[test]
fn a_first_interrupt_lets_what_is_in_flight_be_saved_and_all_can_be_gone_on_with() {
    let latch = Latch::default();
    let (expected, _) = straight("faults-calm");
    let stage = Stage::new("faults-interrupted", Some(latch.clone()));
    let mut child = stage.run(&[]).stdout(Stdio::null()).spawn().unwrap();
    until("as many requests as may be", DEADLINE, || stage.asked().len() == AT_ONCE);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("Stopping: calls in flight finish first."), "{said}");
    latch.open();
    assert_eq!(exit_of(&mut child).code(), Some(1));
    let found = stage.found();
    assert_eq!((stage.asked().len(), found.replies, found.turns), (AT_ONCE, AT_ONCE, AT_ONCE));
    assert_eq!(found.left, [""; 0]);
    Folder::new(stage).finish(&expected);
}

#[test]
fn nothing_of_a_models_program_outlives_a_kill() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let conversation = Conversation {
        arguments: |_, _| json!({ "pythonCode": PROGRAM }),
        ..Conversation::new(Wire::Chat, 1)
    };
    let server = Scripted::start(move |seen| conversation.reply(seen));
    let url = server.url("/v1");
    let workspace =
        format!("input_dir: tasks\nmodels:\n  chat: {{ base_url: '{url}', provider: openai }}\n");
    let sandbox = Sandbox::with(
        "faults-python",
        &[("touchstone.yaml", &workspace), ("tasks/a.yaml", "tool_calling_prompt: Wait.\n")],
    );
    let mut command = sandbox.command(&[
        "run",
        ".",
        "-o",
        "results",
        "--system",
        "tool_calling_python",
        "--model",
        "chat",
    ]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let ours = || below(child.id());
    until("the program runs", DEADLINE, || ours().iter().any(|process| process.name == "sleep"));
    let before = ours();
    assert!(
        before.iter().any(|process| process.name == "bwrap") && before.iter().all(Process::lives),
        "{before:?}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    until("every process is gone", Duration::from_secs(1), || !before.iter().any(Process::lives));
}

const PROGRAM: &str = "import subprocess, time\nsubprocess.Popen(['sleep', '25'])\ntime.sleep(25)";

/// A process as described in `/proc`.
#[derive(Debug, PartialEq)]
struct Process {
    id: u32,
    name: String,
    parent: u32,
    began: String,
}

impl Process {
    fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // A zombie process counts as gone.
        (fields[0] != "Z").then(|| Process {
            id,
            name: name.to_owned(),
            parent: fields[1].parse().unwrap(),
            began: fields[19].to_owned(),
        })
    }

    /// Returns true while the process exists. Its number may have been reused since.
    fn lives(&self) -> bool {
        Process::of(self.id).is_some_and(|now| now.began == self.began)
    }
}

/// Returns all descendants of a process.
fn below(id: u32) -> Vec<Process> {
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut others: Vec<Process> = numbers.filter_map(Process::of).collect();
    let (mut found, mut parents) = (Vec::new(), vec![id]);
    while let Some(parent) = parents.pop() {
        let (mine, rest): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|process| process.parent == parent);
        parents.extend(mine.iter().map(|process| process.id));
        found.extend(mine);
        others = rest;
    }
    found
}
