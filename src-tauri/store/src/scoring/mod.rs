//! Scores in the index: the scoring spec of each variation, the scores of each run, and keeping
//! both in sync with the files. Refers to scorers only by name; their rules are in the scoring
//! crate.
pub mod awaited;
pub(crate) mod companions;
pub(crate) mod held;
pub mod measure;
pub mod read;
pub(crate) mod renew;
pub mod write;
pub mod yardstick;
