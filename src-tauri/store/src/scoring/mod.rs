//! Scores in the index: the scoring spec of each variation, the scores of each run, and keeping
//! both in sync with the files. Refers to scorers only by name; their rules are in the scoring
//! crate.
pub mod expectation;
pub mod measure;
pub mod pending_requests;
pub mod read;
pub(crate) mod referenced_files;
pub(crate) mod rescore;
pub mod scoring_spec;
pub(crate) mod stored_run;
pub mod write;
