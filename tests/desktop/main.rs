//! Tests of the real window, driven like a person would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../engine/conversation.rs"]
mod conversation;
mod driver;
#[path = "../engine/gzip.rs"]
mod gzip;
mod keyring;
#[path = "../cli/keyring_bus.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod keyring_bus;
mod launching;
mod reviewing;
#[path = "../engine/scripted.rs"]
#[expect(dead_code, reason = "shared with the engine's tests, which use all of it")]
mod scripted;
mod stage;

use serde_json::json;
use stage::Stage;

const SESSION: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/claude_code/session.jsonl");

#[test]
fn the_demo_opens_from_the_start_screen() {
    let stage = Stage::empty("demo");
    let window = stage.window(&[]);
    window.until_text("Open the demo");
    window.picture("start");
    window.click("[data-testid=open-demo]");
    window.until(
        "the overview is shown",
        "return document.querySelector('[data-testid=headline]') !== null",
    );
    window.picture("overview");
    assert_eq!(window.run("return location.href"), json!("tauri://localhost#/overview"));
    window.run("location.hash = '#/runs'; return 1");
    window.until(
        "the runs are listed",
        "return document.querySelectorAll('[data-testid=run-row]').length > 10",
    );
    window.picture("runs");
}

#[test]
fn the_start_screen_opens_results_of_another_tool() {
    let stage = Stage::empty("found");
    stage.file(".claude/projects/-work/0a1b.jsonl", SESSION);
    let home = [("HOME", stage.folder()), ("CLAUDE_CONFIG_DIR", "")];
    let window = stage.window_with(&[], &home);
    window.until_text("Claude Code");
    window.until_text("1 session");
    window.picture("found");
    window.click("[data-testid=found] button");
    window.until(
        "the session is listed",
        "return document.querySelectorAll('[data-testid=run-row]').length === 1",
    );
}

#[test]
fn a_file_that_is_named_opens_its_run() {
    let stage = Stage::empty("named");
    for name in ["one", "two"] {
        stage.file(&format!("{name}.jsonl"), SESSION);
    }
    let file = stage.beside("folder/one.jsonl");
    let window = stage.window(&["open", file.to_str().unwrap()]);
    window.until("the run is open", "return location.hash.startsWith('#/run/')");
    window.until_text("List the files.");
}

#[test]
fn the_list_narrows_as_the_filter_is_typed_and_a_run_opens_by_key() {
    let stage = Stage::empty("filter");
    stage.transcript(
        "alpha-tool_calling-o1-variation0",
        "  - user_message: first\n  - assistant_message: the answer is in **alpha**\n",
    );
    stage.transcript(
        "beta-tool_calling-claude-variation0",
        "  - user_message: second\n  - error: no credit\n",
    );
    let window = stage.list();
    window.until(
        "both runs are listed",
        "return document.querySelectorAll('[data-testid=run-row]').length === 2",
    );
    window.press(&["/"]);
    window.until(
        "the filter has the focus",
        "return document.activeElement.dataset.testid === 'filter'",
    );
    window.fill("[data-testid=filter]", "state:error");
    window.until(
        "one run is left",
        "return document.querySelectorAll('[data-testid=run-row]').length === 1",
    );
    window.until_text("beta");
    window.picture("filtered");
    window.press(&["\u{e007}"]);
    window.press(&["\u{e007}"]);
    window.until("the run is open", "return location.hash.startsWith('#/run/')");
    window.until_text("no credit");
    window.picture("run");
}

#[test]
fn a_file_that_is_dropped_into_the_folder_appears_by_itself() {
    let stage = Stage::empty("live");
    stage.transcript("one-tool_calling-o1-variation0", "  - user_message: first\n");
    let window = stage.list();
    window.until(
        "one run is listed",
        "return document.querySelectorAll('[data-testid=run-row]').length === 1",
    );
    stage.transcript("two-tool_calling-o1-variation0", "  - user_message: second\n");
    window.until(
        "two runs are listed",
        "return document.querySelectorAll('[data-testid=run-row]').length === 2",
    );
    window.until_text("two");
}

#[test]
fn no_script_of_a_transcript_runs_and_no_link_leads_away() {
    let stage = Stage::empty("hostile");
    stage.transcript("hostile-tool_calling-o1-variation0", stage::HOSTILE);
    let window = stage.list();
    window.run("window.refused = []; document.addEventListener('securitypolicyviolation', (e) => window.refused.push(e.violatedDirective)); return 1");
    window.until(
        "the run is listed",
        "return document.querySelector('[data-testid=run-row]') !== null",
    );
    let before = window.run("return location.href.split('#')[0]");
    window.run("document.querySelector('[data-testid=run-row] a').click(); return 1");
    window.until("the run is open", "return location.hash.startsWith('#/run/')");
    // The end of the transcript: everything before it has been rendered.
    window.until_text("harmless end");
    window.picture("hostile");
    window.run("for (const link of document.querySelectorAll('main a, article a')) if (!link.getAttribute('href')?.startsWith('#')) link.click(); return 1");
    window.until(
        "two frames went by",
        "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
    );
    assert_eq!(
        window.run("return [window.pwned ?? null, document.title.includes('pwned')]"),
        json!([null, false])
    );
    assert_eq!(window.run("return location.href.split('#')[0]"), before);
    let sinks = "return document.querySelectorAll('#app script, #app iframe, #app object, #app \
        img[src^=http], #app [onerror], #app [onload], #app a[href^=javascript]').length";
    assert_eq!(window.run(sinks), json!(0));
    assert_eq!(
        window.run("return window.refused"),
        json!([]),
        "the page itself asks for nothing that the policy refuses"
    );
}

#[test]
fn the_page_can_call_our_commands_and_no_others() {
    let stage = Stage::empty("commands");
    let window = stage.window(&[]);
    window.until_text("Touchstone");
    let ask = |command: &str, arguments: &str| {
        window.run(&format!(
            "return window.__TAURI_INTERNALS__.invoke('{command}', {arguments}).then(() => 'allowed', (error) => JSON.stringify(error))"
        ))
    };
    assert_eq!(ask("status", "{}"), json!("allowed"));
    for (command, arguments) in [
        ("plugin:window|create", "{}"),
        (
            "plugin:webview|create_webview_window",
            "{options: {label: 'x', url: 'http://127.0.0.1/'}}",
        ),
        ("plugin:window|set_title", "{value: 'x'}"),
        ("plugin:path|resolve_directory", "{directory: 1}"),
        ("plugin:event|emit", "{event: 'app_event', payload: 1}"),
        ("plugin:dialog|open", "{options: {directory: true}}"),
        ("plugin:app|version", "{}"),
        ("no_such_command", "{}"),
    ] {
        assert!(ask(command, arguments).as_str().unwrap().contains("not"), "{command} is allowed");
    }
}

#[test]
fn the_page_runs_no_text_as_code_and_takes_no_text_as_html() {
    let stage = Stage::empty("policy");
    let window = stage.window(&[]);
    window.until_text("Touchstone");
    let tried = |script: &str| {
        window.run(&format!(
            "try {{ {script}; return 'done' }} catch (error) {{ return error.name }}"
        ))
    };
    assert_eq!(tried("eval('1')"), json!("EvalError"));
    assert_eq!(tried("new Function('1')"), json!("EvalError"));
    assert_eq!(tried("document.body.innerHTML = '<p>'"), json!("TypeError"));
    assert_eq!(
        window.run("return fetch('https://example.com/').then(() => 'fetched', () => 'refused')"),
        json!("refused")
    );
    assert_eq!(window.run("return window.open('https://example.com/') === null"), json!(true));
    window.run("location.href = 'https://example.com/'; return 1");
    window.run("location.href = 'data:text/html,x'; return 1");
    assert_eq!(window.run("return location.protocol + location.host"), json!("tauri:localhost"));
}

#[test]
fn places_that_are_loaded_when_they_are_opened_are_there_and_a_report_is_drawn_in_its_frame() {
    let stage = Stage::empty("places");
    for model in ["o1", "claude"] {
        let items = format!("  - user_message: first\n  - assistant_message: said by {model}\n");
        stage.transcript(&format!("alpha-tool_calling-{model}-variation0"), &items);
    }
    let window = stage.list();
    window.until(
        "both runs are listed",
        "return document.querySelectorAll('[data-testid=run-row]').length === 2",
    );
    for (place, text) in [
        ("settings", "Keys"),
        ("problems", "Problems"),
        ("launch", "Launch"),
        ("overview", "claude"),
        ("compare", "compare"),
    ] {
        window.run(&format!("location.hash = '#/{place}'; return 1"));
        window.until_text(text);
    }
    window.run("location.hash = '#/report'; return 1");
    let report = window.text_of_frame("iframe");
    assert!(report.contains("claude") && report.contains("2 runs"), "{report}");
    window.picture("report");
}
