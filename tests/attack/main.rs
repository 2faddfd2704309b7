//! Attacks on the real program with generated input: misbehaving providers, broken files, damaged
//! caches, hostile texts and calls in the window, and connections that strangers keep.
//!
//! `make test` runs a few cases of each, and none of the last kind. `make attack` runs many more
//! (`TOUCHSTONE_ATTACK_PROVIDERS`, `…_FILES`, `…_CACHES`, `…_MARKUP`, `…_CALLS`, `…_CONNECTIONS`),
//! with other random cases each time. To repeat a failure, set `TOUCHSTONE_SEED` to the seed that
//! it printed, and `TOUCHSTONE_ATTACK_ONLY` to run only one case.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caches;
#[path = "../engine/canary.rs"]
mod canary;
#[path = "../faults/chance.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod chance;
#[path = "../../src-tauri/commands.rs"]
mod commands;
mod connections;
#[path = "../engine/conversation.rs"]
mod conversation;

#[path = "../desktop/driver.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod driver;
mod files;
#[path = "../engine/gzip.rs"]
mod gzip;
mod program;
mod providers;
#[path = "../cli/sandbox.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod sandbox;
#[path = "../engine/scripted.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod scripted;
#[path = "../cli/served.rs"]
#[expect(dead_code, reason = "only a part of it is used here")]
mod served;
mod window;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns true under `make attack`, and false for the few cases of `make test`.
fn is_campaign() -> bool {
    std::env::var_os("TOUCHSTONE_ATTACK_PROVIDERS").is_some()
}

/// Returns the random generator of a campaign. Under `make test` its seed is fixed.
fn chance() -> chance::Chance {
    if is_campaign() || std::env::var_os("TOUCHSTONE_SEED").is_some() {
        return chance::Chance::seeded();
    }
    chance::Chance::with_seed(20)
}

/// Returns the number of cases of a kind: from its environment variable, or else `few`.
fn cases(kind: &str, few: usize) -> usize {
    std::env::var(format!("TOUCHSTONE_ATTACK_{kind}")).map_or(few, |text| text.parse().unwrap())
}

/// Runs all cases on four threads, prints their number, and fails with the list of all errors.
fn attack(kind: &str, cases: usize, case: impl Fn(usize) -> Result<(), String> + Sync) {
    let only: Option<usize> =
        std::env::var("TOUCHSTONE_ATTACK_ONLY").ok().map(|text| text.parse().unwrap());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= cases {
                        return;
                    }
                    if only.is_some_and(|only| only != number) {
                        continue;
                    }
                    if let Err(why) = case(number) {
                        wrong.lock().unwrap().push(format!("case {number}: {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    println!("figure: {kind}: {cases} cases, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} of {cases} {kind} cases:\n{}", wrong.len(), wrong.join("\n"));
}
