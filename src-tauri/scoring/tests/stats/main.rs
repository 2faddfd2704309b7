//! Statistics against published values, against an independent oracle (`scripts/oracle/stats.py`),
//! by their laws, by how often intervals hold what they are about, and on nothing at all.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod coverage;
mod laws;
mod nothing;
mod oracle;
mod published;
