//! Statistics against published values, against an independent oracle (`scripts/oracle/stats.py`), by their laws, and on nothing at all.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod laws;
mod nothing;
mod oracle;
mod published;
