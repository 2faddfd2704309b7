//! The whole application without a window: folders, files, the index and the running of tasks.
//! [`app::App`] has one method per user action; the host only forwards calls to it and events from
//! it.
//!
//! ```text
//! results:  folder ─scan/watch→ reconcile → formats → index (SQLite) → query → App → view
//! runs:     launch → plan → provider codec → http → tools → transcript file (→ results)
//! ```
//! The files are the source of truth; the index is a cache that may be deleted at any time.

pub mod app;
mod baseline;
mod cause_names;
mod csv;
mod demo;
pub mod error;
pub mod escape;
mod evaluating;
mod found_results;
mod generation;
mod judging;
mod leaderboard;
mod opening;
mod paths;
mod plots;
mod reading;
mod recent;
mod reports;
mod slurm;
mod split_view;
mod state_file;
pub mod submit_script;
pub mod text_file;

pub use reports::{gate_junit, gate_markdown};
pub use touchstone_clock::format_utc_seconds;
pub use touchstone_scoring::number_format;

/// Formats of run files that can be read.
pub mod formats {
    pub use touchstone_imports::registry::{ListedFormat, listed};
}
