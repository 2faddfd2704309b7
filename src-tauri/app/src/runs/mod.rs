//! Runs: listing, searching, opening, comparing and renaming them.
mod comparing;
mod diffing;
mod listing;
mod opening;
pub(crate) mod reading;
mod renaming;

pub use diffing::{FileDiff, FileDiffOptions, InputFile, Style};
