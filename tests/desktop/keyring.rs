//! Tests that a key goes from the settings to a real keyring, and never returns to the page.
use crate::conversation::{Conversation, Wire};
use crate::driver::Window;
use crate::keyring_bus::{Keyring, KeyringBus};
use crate::scripted::Scripted;
use crate::stage::Stage;

const KEY: &str = "canary-kept-in-the-keyring-4711";
const FORM: &str = "form:has([aria-label='Key for KEPT_KEY'])";

/// Waits until the key is shown with this state.
fn key_is(window: &Window, how: &str) {
    let said = "[...document.querySelectorAll('[data-testid=keys] li')].find((one) => one.innerText.includes('KEPT_KEY'))";
    window.until(
        &format!("the key is {how}"),
        &format!("return {said}?.innerText.includes('{how}')"),
    );
}

#[test]
fn a_key_that_is_stored_in_settings_is_shown_as_set_works_and_can_be_forgotten() {
    let stage = Stage::empty("keyring");
    let service = KeyringBus::start(&stage.beside("home"), Keyring::Open);
    let conversation = Conversation::new(Wire::Chat, 0);
    let server = Scripted::start(move |seen| conversation.reply(seen));
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any, api_key_env: KEPT_KEY }}\n"
    );
    stage.file("touchstone.yaml", &workspace);
    stage.file("tasks/count.yaml", "tool_calling_prompt: How many are there?\n");
    stage.file("results/note.txt", "");
    let window = stage.window_with(&[stage.folder()], &[service.variable()]);
    window.until_text("Touchstone");
    window.run("location.hash = '#/settings'; return 1");
    key_is(&window, "not set");
    window.fill("[aria-label='Key for KEPT_KEY']", KEY);
    window.click(&format!("{FORM} [type=submit]"));
    key_is(&window, "set in the keyring");
    window.click("[aria-label='Test local']");
    window.until_text("any answers:");
    window.picture("keyring");
    let shown: Vec<String> =
        server.seen().iter().map(|seen| seen.headers["authorization"].clone()).collect();
    assert_eq!(shown, [format!("Bearer {KEY}")]);
    let everything = "return document.documentElement.outerHTML + \
        [...document.querySelectorAll('input')].map((field) => field.value).join() + \
        JSON.stringify(localStorage)";
    let page = window.run(everything);
    assert!(
        page.as_str().unwrap().contains("KEPT_KEY") && !page.as_str().unwrap().contains(KEY),
        "{page}"
    );
    window.click(&format!("{FORM} [type=button]"));
    key_is(&window, "not set");
    window.click("[aria-label='Test local']");
    window.until_text("There is no key KEPT_KEY.");
    assert_eq!(server.seen().len(), 1);
}
