//! Tests of launches in the real window, and of runs in progress when it is closed.
use crate::conversation::{Conversation, Wire};
use crate::driver::{Window, wait};
use crate::scripted::{Latch, Scripted};
use crate::stage::Stage;

const RUN: &str = "results/count-tool_calling-slow-variation0.yaml";

fn state(window: &Window, word: &str) {
    window.until(
        &format!("the launch is {word}"),
        &format!(
            "return document.querySelector('[data-testid=launch-state]')?.textContent === '{word}'"
        ),
    );
}

fn launch(window: &Window, asked: &str) {
    window.until(
        "the folder is open",
        "return document.querySelector('[data-testid=status]')?.innerText.includes('watching')",
    );
    window.run(&format!("location.hash = '#/launch?{asked}'; return 1"));
    window.until(
        "something is owed",
        "return document.querySelector('[data-testid=run]:enabled') !== null",
    );
    window.picture("launch");
    window.click("[data-testid=run]");
    window.until("the launch is shown", "return location.hash.startsWith('#/launch/')");
}

#[test]
fn the_demo_runs_in_the_window_and_its_runs_can_be_read() {
    let stage = Stage::empty("launch");
    let window = stage.window(&["--demo"]);
    launch(&window, "system=tool_calling&model=replay&variation=0");
    state(&window, "Done");
    // The head and the rows are loaded separately, and the newer of the two shows the state of the
    // launch.
    let rows = "const rows = [...document.querySelectorAll('[data-testid=launch-run]')];";
    window.until(
        "all answered",
        &format!("{rows} return rows.length > 0 && rows.every((row) => row.innerText.includes('Answered'))"),
    );
    window.picture("launched");
    window.click("[data-testid=launch-run] a");
    window.until("the run is open", "return document.querySelector('[data-testid=step]') !== null");
    window.until_text("Rerun");
}

/// A folder with one run that waits for the latch.
fn waiting(name: &str, latch: &Latch) -> (Stage, Scripted) {
    let (conversation, latch) = (Conversation::new(Wire::Chat, 0), latch.clone());
    let server = Scripted::start(move |seen| conversation.reply(seen).once_open(&latch));
    let stage = Stage::empty(name);
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  slow: {{ provider: openai, base_url: '{url}' }}\n"
    );
    stage.file("touchstone.yaml", &workspace);
    stage.file("tasks/count.yaml", "tool_calling_prompt: How many are there?\n");
    stage.file("results/note.txt", "");
    (stage, server)
}

fn is_there(program: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{program}/stat")).unwrap_or_default();
    // A zombie process, which its parent has not reaped yet, also counts as gone.
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn a_window_that_is_closed_waits_for_what_is_in_flight_and_says_so() {
    let latch = Latch::default();
    let (stage, server) = waiting("close", &latch);
    let window = stage.window(&[stage.folder()]);
    launch(&window, "system=tool_calling&model=slow");
    server.wait_for(1);
    let program = window.program();
    window.ask_to_end();
    state(&window, "Stopping");
    window.until_text("The window closes when");
    window.picture("closing");
    assert!(is_there(program));
    latch.open();
    wait("the window is gone", || (!is_there(program)).then_some(()));
    assert!(stage.read(RUN).contains("Here it is."), "the reply in flight was saved");
}

#[test]
fn a_window_that_is_closed_twice_does_not_wait() {
    let latch = Latch::default();
    let (stage, server) = waiting("close-twice", &latch);
    let window = stage.window(&[stage.folder()]);
    launch(&window, "system=tool_calling&model=slow");
    server.wait_for(1);
    let program = window.program();
    window.ask_to_end();
    state(&window, "Stopping");
    window.ask_to_end();
    wait("the window is gone", || (!is_there(program)).then_some(()));
    assert!(!stage.read(RUN).contains("Here it is."), "nobody waited for the reply");
    latch.open();
}

#[test]
fn a_window_without_runs_closes_at_once() {
    let stage = Stage::empty("close-idle");
    let window = stage.window(&[stage.folder()]);
    window.until_text("Touchstone");
    let program = window.program();
    window.ask_to_end();
    wait("the window is gone", || (!is_there(program)).then_some(()));
}

#[test]
fn no_process_of_the_window_has_a_key_in_its_surroundings() {
    const KEY: &str = "canary-key-of-the-window";
    let stage = Stage::empty("keys");
    let window = stage.window_with(
        &["--demo"],
        &[("CANARY_API_KEY", KEY), ("WEBKIT_CANARY", "canary-of-webkit")],
    );
    window.until(
        "the page is there",
        "return document.querySelector('[data-testid=status]') !== null",
    );
    let environments = |word: &str| {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let named = all.filter(|process| {
            let text = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains("WebKitWebProcess")
        });
        let seen =
            named.map(|process| std::fs::read(process.path().join("environ")).unwrap_or_default());
        seen.filter(|text| String::from_utf8_lossy(text).contains(word)).count()
    };
    assert!(environments("canary-of-webkit") > 0, "its processes are seen");
    assert_eq!(environments(KEY), 0);
}
