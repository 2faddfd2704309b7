//! Scores in the index: what each variation is measured against, what comes of it for a run, and
//! keeping both in agreement with the files. Knows the scorers only by their names; the rules are
//! in the scoring crate.
pub mod awaited;
pub(crate) mod companions;
pub(crate) mod held;
pub mod measure;
pub mod read;
pub(crate) mod renew;
pub mod write;
pub mod yardstick;
