//! Tests of keys in the system keyring, with a real one: stored from the settings page, used by
//! every program of the user, deleted again, and never written to a file, log, event or reply.
use crate::canary;
use crate::keyring_bus::{Keyring, KeyringBus};
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::{Reply, Scripted, Seen};
use crate::served::{Served, until};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

const KEY: &str = "canary/kept+in=keyring~letters.4711";
const NAME: &str = "KEPT_KEY";
const RUN: [&str; 6] = ["run", ".", "--system", "tool_calling", "--model", "local"];

/// Provider that repeats the key in its reply, as the worst case.
fn repeats(seen: &Seen) -> Reply {
    let text = format!("You said {}.\n\n```json\n[7]\n```", seen.headers["authorization"]);
    let message = json!({ "role": "assistant", "content": text });
    Reply::json(&json!({
        "model": "any-1", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
    }))
}

/// A folder with one task for a model that needs a key, and its provider.
struct Stage {
    sandbox: Sandbox,
    server: Scripted,
}

impl Stage {
    fn new(name: &str) -> Self {
        let server = Scripted::start(repeats);
        let url = server.url("/v1");
        let workspace = format!(
            "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any, api_key_env: {NAME} }}\n"
        );
        let task = "tool_calling_prompt: Count the stones.\n";
        let files = [
            ("touchstone.yaml", workspace.as_str()),
            ("tasks/count.yaml", task),
            ("results/note.txt", ""),
        ];
        Self { sandbox: Sandbox::with(name, &files), server }
    }

    /// Returns the directory of everything that is written, including the keyring.
    fn everything(&self) -> PathBuf {
        self.sandbox.folder.parent().unwrap().to_owned()
    }

    fn keyring(&self, keyring: Keyring) -> KeyringBus {
        KeyringBus::start(&self.everything().join("home"), keyring)
    }

    /// Builds a command with this keyring, at the most verbose log level.
    fn command(&self, service: &KeyringBus, arguments: &[&str]) -> std::process::Command {
        let mut command = self.sandbox.command(arguments);
        command.envs([service.variable(), ("TOUCHSTONE_LOG", "trace")]).env_remove(NAME);
        command
    }

    fn ran(&self, service: &KeyringBus, arguments: &[&str]) -> Ran {
        let ran = Ran::from(self.command(service, arguments).output().unwrap());
        assert_eq!(canary::spot(ran.out.as_bytes(), KEY), None, "{arguments:?}: {}", ran.out);
        assert_eq!(canary::spot(ran.err.as_bytes(), KEY), None, "{arguments:?}: {}", ran.err);
        ran
    }

    /// Starts the server, with its log in a file.
    fn served(&self, service: &KeyringBus) -> Settings {
        let mut command = self.command(service, &["serve", ".", "--allow-run"]);
        command.stderr(Stdio::from(
            fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(self.everything().join("log"))
                .unwrap(),
        ));
        Settings(Served::start_command(&mut command))
    }

    /// Returns the keys received by the provider, in order.
    fn received_keys(&self) -> Vec<String> {
        let bearer =
            |seen: Seen| seen.headers["authorization"].trim_start_matches("Bearer ").to_owned();
        self.server.seen().into_iter().map(bearer).collect()
    }
}

/// Requests of the settings page.
struct Settings(Served);

impl Settings {
    fn ask(&self, command: &str, arguments: &Value) -> Value {
        let (status, reply) = self.0.call(command, arguments);
        assert_eq!(
            canary::spot(reply.to_string().as_bytes(), KEY),
            None,
            "{command}: {status} {reply}"
        );
        reply
    }

    /// Returns the state of the key.
    fn key(&self) -> Value {
        let keys = self.ask("keys", &json!({}));
        keys.as_array().unwrap().iter().find(|key| key["name"] == NAME).unwrap().clone()
    }

    fn store(&self, key: &str) -> Value {
        self.ask("set_key", &json!({ "name": NAME, "key": key }))
    }

    fn forget(&self) -> Value {
        self.ask("forget_key", &json!({ "name": NAME }))
    }

    /// Tests the model. Returns the result, and its description.
    fn test_model(&self) -> (bool, String) {
        let found = self.ask("test_model", &json!({ "name": "local" }));
        (found["ok"] == true, found["detail"].as_str().unwrap().to_owned())
    }

    /// Launches all runs, and returns the final state.
    fn launched(&self) -> Value {
        let request = json!({ "request": { "systems": ["tool_calling"], "models": ["local"], "start_over": true } });
        let begun = self.ask("start_launch", &request);
        let one = json!({ "id": begun["launch"], "span": { "offset": 0, "limit": 9 } });
        until(&self.0, "launch", &one, |launch| launch["state"] == "done");
        self.ask("launch", &one)
    }
}

#[test]
fn a_key_that_is_stored_from_settings_is_used_and_forgotten_and_is_nowhere_but_in_the_keyring() {
    let stage = Stage::new("keyring");
    let service = stage.keyring(Keyring::Open);
    let mut page = stage.served(&service);
    let events = page.0.events();
    let unset = json!({ "name": NAME, "used_by": ["local"], "source": "none", "can_store": true, "wrong": null });
    assert_eq!(page.key(), unset);
    let missing = format!(
        "There is no key {NAME}. Store it in the settings, or set {NAME} in the environment."
    );
    assert_eq!(page.test_model(), (false, missing.clone()));
    assert_eq!(page.store(&format!(" {KEY}\n")), Value::Null);
    assert_eq!(page.key()["source"], "keyring");
    let said = "any-1 answers: You said Bearer [redacted].";
    let (works, found) = page.test_model();
    assert!(works && found.starts_with(said), "{found}");
    let launch = page.launched();
    assert_eq!(
        (&launch["total"], stage.received_keys()),
        (&json!(1), vec![KEY.to_owned(); 2]),
        "{launch}"
    );
    let written = fs::read_to_string(
        stage.sandbox.folder.join("results/count-tool_calling-local-variation0.yaml"),
    );
    assert!(written.unwrap().contains("You said Bearer [redacted]."));
    // Another program of the same user finds the key there, too.
    let again = stage.ran(&service, &[RUN.as_slice(), &["--force", "--json"]].concat());
    assert_eq!((again.status, stage.received_keys()), (0, vec![KEY.to_owned(); 3]), "{again:?}");
    let doctor = stage.ran(&service, &["doctor", "."]);
    assert!(doctor.out.contains(&format!("Key {NAME}: Set in the keyring.")), "{doctor:?}");
    // A second key replaces the first, and an environment variable takes precedence over both.
    page.store("another-key");
    page.test_model();
    let own = stage
        .command(&service, &[RUN.as_slice(), &["--force"]].concat())
        .env(NAME, "of-the-environment")
        .output();
    assert_eq!(own.unwrap().status.code(), Some(0));
    assert_eq!(stage.received_keys()[3..], ["another-key", "of-the-environment"]);
    page.store(KEY);
    assert_eq!(page.forget(), Value::Null);
    assert_eq!(page.forget(), Value::Null, "what is not there is forgotten already");
    assert_eq!(page.key(), unset);
    assert_eq!(page.test_model(), (false, missing.clone()));
    let refused = stage.ran(&service, &[RUN.as_slice(), &["--force"]].concat());
    let told =
        ["Cannot start here: ", NAME, " is not set (1 run).", "Store it in the settings, or set"];
    assert!(
        refused.status == 2 && told.iter().all(|words| refused.err.contains(words)),
        "{refused:?}"
    );
    assert_eq!(stage.received_keys().len(), 5, "without a key nothing is sent");
    assert_eq!(page.0.end().code(), Some(0));
    let events = events.join().unwrap();
    assert!(
        events.contains("\"stale\"") && canary::spot(events.as_bytes(), KEY).is_none(),
        "{events}"
    );
    assert!(fs::metadata(stage.everything().join("log")).unwrap().len() > 1_000, "it does log");
    assert_eq!(canary::search(&stage.everything(), KEY), []);
    fs::write(stage.sandbox.folder.join("planted"), KEY).unwrap();
    assert_eq!(canary::search(&stage.everything(), KEY).len(), 1, "the search finds what is there");
}

#[test]
fn a_key_in_a_locked_keyring_is_not_called_unset_and_what_to_do_is_said() {
    let stage = Stage::new("keyring-locked");
    let open = stage.keyring(Keyring::Open);
    stage.served(&open).store(KEY);
    drop(open);
    let locked = stage.keyring(Keyring::Locked);
    let page = stage.served(&locked);
    let (key, advice) = (page.key(), "Unlock it and try again, or set the key in the environment.");
    let why = key["wrong"].as_str().unwrap();
    assert!(
        why.starts_with("The keyring of the system does not open: ") && why.ends_with(advice),
        "{why}"
    );
    assert_eq!((&key["source"], &key["can_store"]), (&json!("none"), &json!(true)));
    assert_eq!(page.test_model(), (false, why.to_owned()));
    assert_eq!(page.store("another-key-of-this-provider")["message"], why);
    assert_eq!(page.forget()["message"], why);
    let refused = stage.ran(&locked, &RUN);
    let cause = format!("{NAME} cannot be used");
    assert!(
        refused.status != 0 && refused.err.contains(&cause) && refused.err.contains(why),
        "{refused:?}"
    );
    assert_eq!(stage.received_keys(), [""; 0]);
    drop(page);
    drop(locked);
    // The key is still there after the keyring is unlocked.
    let open = stage.keyring(Keyring::Open);
    assert_eq!((stage.ran(&open, &RUN).status, stage.received_keys()), (0, vec![KEY.to_owned()]));
    assert_eq!(canary::search(&stage.everything(), KEY), []);
}

#[test]
fn without_a_keyring_bus_settings_say_so_and_the_environment_still_works() {
    let stage = Stage::new("keyring-absent");
    let service = stage.keyring(Keyring::Absent);
    let page = stage.served(&service);
    let key = page.key();
    assert_eq!(
        (&key["source"], &key["can_store"], &key["wrong"]),
        (&json!("none"), &json!(false), &Value::Null)
    );
    let refused = page.store(KEY);
    let why = refused["message"].as_str().unwrap();
    let (start, end) = (
        "Keys cannot be stored on this system: no Secret Service, such as GNOME Keyring, answers (",
        "). Set them in the environment.",
    );
    assert!(why.starts_with(start) && why.ends_with(end), "{why}");
    assert_eq!(page.test_model(), (false, format!("There is no key {NAME}. {why}")));
    let doctor = stage.ran(&service, &["doctor", "."]);
    let advice = format!("Set {NAME} in the environment, and start Touchstone again.");
    assert!(doctor.out.contains(why) && doctor.out.contains(&advice), "{doctor:?}");
    assert_eq!(stage.received_keys(), [""; 0]);
    // Same behaviour without any bus.
    let ran = |more: &[(&str, &str)]| {
        let mut command = stage.command(&service, &RUN);
        Ran::from(
            command
                .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus")
                .envs(more.iter().copied())
                .output()
                .unwrap(),
        )
    };
    let refused = ran(&[]);
    let advice = format!("{NAME} is not set");
    assert!(
        refused.status != 0 && refused.err.contains(&advice) && stage.received_keys().is_empty(),
        "{refused:?}"
    );
    assert_eq!((ran(&[(NAME, KEY)]).status, stage.received_keys()), (0, vec![KEY.to_owned()]));
}
