//! **Pure.** What crosses the front doors: requests, rows and events, as the page and the command line see them.
//! Owns the shapes only; how they are filled is decided in `results` and `app`.
//! Ids are opaque to the page: no path and no piece of a query ever comes in from there.

mod launch;
mod list;
mod run;
mod status;

pub use launch::*;
pub use list::*;
pub use run::*;
pub use status::*;
