//! Runs: listing, searching, opening, comparing and renaming them.
mod comparing;
mod diffing;
mod listing;
mod opening;
pub(crate) mod reading;
mod renaming;

use crate::App;

pub use diffing::{FileDiff, FileDiffOptions, InputFile, Style};

/// The actions on runs.
#[derive(Clone, Copy)]
pub struct RunActions<'a> {
    pub(crate) app: &'a App,
}
