//! Tests of the statistics against published values, against an independent oracle
//! (`scripts/oracle/stats.py`), by their properties, by the coverage of intervals, and on empty
//! input.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod coverage;
mod laws;
mod nothing;
mod oracle;
mod published;
