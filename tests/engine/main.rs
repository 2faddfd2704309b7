//! One binary over the engine: each module a topic, each test name a rule.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod filter;
