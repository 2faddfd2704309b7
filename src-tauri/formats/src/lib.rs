//! **Pure.** What is on disk: suites, transcripts and other people's layouts, to and from one model. No file is opened here,
//! no clock is read, nothing panics on any input.

pub mod run;
pub mod value;
