//! Inspect logs, beside `inspect_ai` itself, which also writes them: `benches/inspect/make.py`.
//! `INSPECT_PYTHON` names a Python that has `inspect_ai`; without it, nothing is measured.
use crate::measures::{Home, LONG, ms, page, until};
use crate::{corpus, floor};
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use touchstone_api::Column;

/// Measurements on Inspect logs, each with the folder it is made on.
pub(crate) const MEASURES: [(&str, &str); 7] = [
    ("inspect-cold", "many"),
    ("inspect-peer-headers", "many"),
    ("inspect-peer-whole", "many"),
    ("inspect-cold", "wide"),
    ("inspect-peer-whole", "wide"),
    ("inspect-open", "large"),
    ("inspect-peer-whole", "large"),
];

/// Measurement on small JSON files of our own.
pub(crate) const JSON: &str = "json-cold";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/inspect").join(name)
}

fn python() -> Option<Command> {
    Some(Command::new(std::env::var_os("INSPECT_PYTHON")?))
}

/// Writes the logs, unless they are there. Returns `None` without a Python for it.
pub(crate) fn write(root: &Path) -> Option<PathBuf> {
    let folder = root.join("inspect");
    if !folder.join("complete").exists() {
        let made = python()?.arg(script("make.py")).arg(&folder).status();
        assert!(made.is_ok_and(|status| status.success()), "cannot write {}", folder.display());
    }
    python().map(|_| folder)
}

/// Writes 10,000 small transcripts as JSON.
pub(crate) fn write_json(root: &Path) -> PathBuf {
    let folder = root.join("json10000");
    if !folder.join("complete").exists() {
        fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
        let mut dice = corpus::Dice::new(17);
        for n in 0..10_000 {
            let text = format!(
                "{{\"conversation\": [{{\"user_message\": \"Question {n}?\"}}, \
                 {{\"assistant_message\": {{\"message\": \"Answer {}.\"}}}}], \"answer\": {n}}}",
                dice.below(1_000_000)
            );
            let name = format!("task{n}-tool_calling-o1-variation0.json");
            fs::write(folder.join(name), text).unwrap_or_else(|e| panic!("{e}"));
        }
        fs::write(folder.join("complete"), b"").unwrap_or_else(|e| panic!("{e}"));
    }
    folder
}

/// Runs one measurement on a folder. Returns false for other names.
pub(crate) fn run(name: &str, dir: &Path) -> bool {
    match name {
        "inspect-cold" | JSON => cold(dir),
        "inspect-open" => open(dir),
        "inspect-peer-headers" => peer(dir, "headers"),
        "inspect-peer-whole" => peer(dir, "whole"),
        _ => return false,
    }
    true
}

fn cold(dir: &Path) {
    let home = Home::empty(dir, "cold");
    let started = Instant::now();
    let app = home.open();
    until("the first row is there", || page(&app, "", Column::Modified, 0).total > 0);
    println!("cold: first row after {}", ms(started.elapsed()));
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let total = page(&app, "", Column::Modified, 0).total;
    println!("cold: {total} rows are listed and searchable after {}", ms(started.elapsed()));
    println!(
        "  until then: peak memory {} MB, processor {:.2} s",
        floor::peak_mb(),
        floor::cpu_s()
    );
    app.folder().wait_searchable(LONG).unwrap_or_else(|e| panic!("{e}"));
    println!("cold: full-text index complete after {}", ms(started.elapsed()));
}

fn open(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    let row = page(&app, "format:inspect", Column::Size, 0).rows.remove(0);
    for n in 1..=3 {
        let started = Instant::now();
        let view = app.runs().open_run(&row.id).unwrap_or_else(|e| panic!("{e}"));
        let took = started.elapsed();
        println!("open: {} steps: first content after {} (time {n})", view.total_steps, ms(took));
    }
}

fn peer(dir: &Path, kind: &str) {
    let Some(mut python) = python() else { return };
    let status = python.arg(script("peer.py")).arg(dir).arg(kind).status();
    assert!(status.is_ok_and(|status| status.success()), "inspect_ai could not read the logs");
}
