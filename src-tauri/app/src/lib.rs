//! The whole application without a window: folders, files, the index and the running of tasks.
//! [`App`] hands out the actions on each place; the host only forwards calls to them, and events
//! from it.
//!
//! ```text
//! results:  folder ─scan/watch→ reconcile → formats → index (SQLite) → query → App → view
//! runs:     launch → plan → provider codec → http → tools → transcript file (→ results)
//! ```
//! The files are the source of truth; the index is a cache that may be deleted at any time.

mod app;
mod csv;
pub mod error;
pub mod escape;
pub mod evaluating;
pub mod events;
pub mod failures;
pub mod folder;
mod folder_id;
mod jobs;
pub mod judging;
pub mod labels;
pub mod launch;
mod open_folder;
mod paths;
pub mod red_team;
pub mod reports;
pub mod reviews;
pub mod runs;
pub mod saving;
pub mod scoring;
pub mod sensitive;
pub mod settings;
mod state_file;
pub mod stats;
pub mod suites;
pub mod text_file;

pub use app::{App, AppConfig};
pub(crate) use open_folder::{OpenFolder, Purpose};
pub use touchstone_clock::format_utc_seconds;
pub use touchstone_metrics::number_format;

/// Formats of run files that can be read.
pub mod formats {
    pub use touchstone_imports::registry::{ListedFormat, listed};
}
