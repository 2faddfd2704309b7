//! Everything that touches the world, without any window: folders, files, the index, and the runs
//! that are made. `App` has one method for each thing a person can do; the host only carries calls
//! to it and events from it.
//!
//! ```text
//! results:  folder ─scan/watch→ reconcile → formats → index (SQLite) → query → App → view
//! runs:     launch → plan → provider codec → http → tools → transcript file (→ results)
//! ```
//! Files are the truth; the index is a cache that may be deleted at any time.

pub mod app;
mod csv;
mod demo;
pub mod error;
mod evaluating;
mod judging;
mod paths;
mod reading;
mod recent;
mod reports;
pub mod visible;

pub use touchstone_scoring::written;
