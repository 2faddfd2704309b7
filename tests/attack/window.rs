//! Attacks on the real window with hostile texts and calls: no text of a file runs as code, and no
//! call of a command ends the program or opens a file that it must not.
use crate::chance::Chance;
use crate::commands::{Access, COMMANDS};
use crate::driver::Window;
use crate::program;
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Elements and attributes that no text of a file may become.
const SINKS: &str = "script:not([src]), iframe:not([title]), object, embed, base, meta[http-equiv], img[src^=http], [onerror], \
                     [onload], [onclick], a[href^=javascript], a[href^=data], a[href^=vbscript], form[action]";

/// Listens on an address that must not be contacted, and counts the connections.
fn sink() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = (&stream).read(&mut [0; 1]);
        }
    });
    (url, asked)
}

fn window(sandbox: &Sandbox) -> Window {
    let root = sandbox.folder.parent().unwrap();
    let (cache, state) = (root.join("cache"), root.join("state"));
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    Window::open(
        &[sandbox.folder.to_str().unwrap()],
        &[
            ("TOUCHSTONE_CACHE_DIR", &cache),
            ("TOUCHSTONE_STATE_DIR", &state),
            ("TOUCHSTONE_DEMO_DIR", &demo),
        ],
    )
}

#[test]
fn no_text_of_a_file_runs_in_the_window_or_asks_anybody() {
    let texts = crate::cases("MARKUP", 120);
    let (url, asked) = sink();
    let sandbox = Sandbox::with("attack-window", &[]);
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attack/payloads.mjs");
    let written = Command::new("node")
        .arg(generator)
        .arg(&sandbox.folder)
        .arg(texts.to_string())
        .arg(&url)
        .status();
    assert!(written.unwrap().success());
    let listed =
        program::run(&mut sandbox.command(&["list", ".", "--json"]), Duration::from_mins(2))
            .unwrap();
    let ids: Vec<String> = listed
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let window = window(&sandbox);
    window.until(
        "the runs are listed",
        "return document.querySelector('[data-testid=run-row], [data-testid=overview-grid] [role=row]') !== null",
    );
    window.run("window.refused = []; document.addEventListener('securitypolicyviolation', (e) => window.refused.push(e.violatedDirective)); return 1");
    let places = [
        "overview", "runs", "tasks", "failures", "trust", "problems", "evaluate", "launch",
        "settings",
    ];
    let places = places
        .iter()
        .map(|place| format!("#/{place}"))
        .chain(ids.iter().map(|id| format!("#/run/{id}")));
    let mut wrong = Vec::new();
    for place in places {
        window.run(&format!("location.hash = {}; return 1", json!(place)));
        window.until(
            &format!("{place} is drawn"),
            "return document.querySelector('main, [role=main]') !== null && document.querySelector('[aria-busy=true]') === null",
        );
        window.until(
            "two frames went by",
            "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
        );
        let found = window.run(&format!(
            "return [window.pwned ?? Object.prototype.pwned ?? null, window.refused, \
             document.body.querySelectorAll({}).length, location.protocol + location.host]",
            json!(SINKS)
        ));
        if found != json!([null, [], 0, "tauri:localhost"]) {
            wrong.push(format!("{place}: {found}"));
            window.run("window.refused = []; return 1");
        }
    }
    println!(
        "figure: window: {texts} texts, {} runs, {} wrong, {} requests elsewhere",
        ids.len(),
        wrong.len(),
        asked.load(Ordering::SeqCst)
    );
    assert!(wrong.is_empty() && asked.load(Ordering::SeqCst) == 0, "{wrong:?}");
    // Checks the check: it finds an element that was injected on purpose.
    window.run("const odd = document.createElement('object'); document.body.append(odd); return 1");
    let found =
        window.run(&format!("return document.body.querySelectorAll({}).length", json!(SINKS)));
    assert_eq!(found, json!(1));
}

#[test]
fn no_call_of_a_command_ends_the_window_or_reads_a_file_outside_of_the_folder() {
    let calls = crate::cases("CALLS", 300);
    let mut chance = crate::chance();
    let sandbox = Sandbox::usual("attack-calls");
    let window = window(&sandbox);
    window.until(
        "the runs are listed",
        "return document.querySelector('[data-testid=run-row], [data-testid=overview-grid] [role=row]') !== null",
    );
    // Local commands open a system dialog, which only a person can close.
    let commands: Vec<&str> = COMMANDS
        .iter()
        .filter(|(_, access)| !matches!(access, Access::Local(..)))
        .map(|(name, _)| *name)
        .collect();
    for _ in 0..calls.div_ceil(20) {
        let batch: Vec<Value> =
            (0..20).map(|_| json!([chance.pick(&commands), arguments(&mut chance)])).collect();
        let script = format!(
            "return Promise.all({}.map(([name, given]) => window.__TAURI_INTERNALS__.invoke(name, \
             given).then((reply) => JSON.stringify(reply) ?? '', (error) => JSON.stringify(error) \
             ?? '')))",
            json!(batch)
        );
        let replies = window.run(&script);
        for (call, reply) in batch.iter().zip(replies.as_array().unwrap()) {
            let reply = reply.as_str().unwrap();
            assert!(!reply.contains("root:x:0:0"), "{call} read a file of the system");
            assert!(
                !reply.contains("panicked") && !reply.contains("Internal error"),
                "{call}: {reply}"
            );
        }
    }
    assert_eq!(
        window.run("return window.__TAURI_INTERNALS__.invoke('status', {}).then(() => 'alive')"),
        json!("alive")
    );
    println!("figure: window: {calls} odd calls of {} commands", commands.len());
}

/// Generates random arguments: names that commands know, with values that they do not expect.
fn arguments(chance: &mut Chance) -> Value {
    const NAMES: [&str; 26] = [
        "id", "ids", "request", "filter", "sort", "span", "text", "path", "file", "folder",
        "version", "name", "key", "value", "step", "from", "to", "format", "baseline", "task",
        "model", "system", "message", "verdict", "rows", "launch",
    ];
    let mut given = serde_json::Map::new();
    for _ in 0..chance.below(5) {
        given.insert((*chance.pick(&NAMES)).to_owned(), value(chance, 3));
    }
    Value::Object(given)
}

fn value(chance: &mut Chance, depth: usize) -> Value {
    const TEXTS: [&str; 12] = [
        "",
        "../../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "0000000000000000",
        "state:error",
        "'; DROP TABLE runs; --",
        "\u{0}",
        "\u{202e}",
        "__proto__",
        "{}",
        "-1",
    ];
    match chance.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(chance.below(2) == 0),
        2 => json!([0, -1, i64::MAX, i64::MIN, 1 << 53][chance.index(5)]),
        3 => json!(*chance.pick(&TEXTS)),
        4 => json!("x".repeat(chance.index(100_000))),
        5 => Value::Array((0..chance.below(4)).map(|_| value(chance, depth - 1)).collect()),
        _ => {
            let names = [
                "id", "filter", "from", "to", "start", "end", "offset", "limit", "path", "text",
                "kind", "key",
            ];
            (0..chance.below(5))
                .map(|_| ((*chance.pick(&names)).to_owned(), value(chance, depth - 1)))
                .collect()
        }
    }
}
