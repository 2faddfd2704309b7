//! Fuzz target of `imports_checks::imports`. `TOUCHSTONE_FUZZ_FORMAT` limits it to one format.
#![no_main]
#[path = "../imports_checks.rs"]
mod imports_checks;

use std::sync::LazyLock;
use touchstone_imports::format::Format;
use touchstone_imports::registry;

static FORMAT: LazyLock<Option<&'static dyn Format>> = LazyLock::new(|| {
    let name = std::env::var("TOUCHSTONE_FUZZ_FORMAT").ok()?;
    Some(registry::by_name(&name).unwrap_or_else(|| panic!("no format is called {name}")))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| imports_checks::imports(*FORMAT, bytes));
