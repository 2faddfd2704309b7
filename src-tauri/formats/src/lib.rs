//! **Pure.** What is on disk: suites, transcripts and other people's layouts, to and from one
//! model. No file is opened here, no clock is read, nothing panics on any input.

pub mod answer;
pub mod azure;
pub mod benchmark;
pub mod beside;
pub mod collection;
pub mod error;
mod fences;
pub mod json;
pub mod judgement;
pub mod kind;
pub mod names;
pub mod nearest;
mod node;
pub mod offered;
pub mod review;
pub mod run;
pub mod stabletoolbench;
pub mod stamp;
pub mod suite;
pub mod template;
pub mod transcript;
pub mod value;
pub mod workspace;
pub mod yaml;

pub use error::{ReadError, ReadErrorKind};
