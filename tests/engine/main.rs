//! One binary over the engine: each module a topic, each test name a rule.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod broken_files;
mod filter;
mod folders;
mod index;
mod layers;
mod listing;
mod mcp;
mod opening;
mod real_folders;
mod search;
mod suites;
mod survival;
mod trust;
mod watch;
