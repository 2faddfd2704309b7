//! **Pure.** What crosses the front doors: requests, rows and events, as the page and the command
//! line see them. Owns the shapes only; how they are filled is decided in `results` and `app`. Ids
//! are opaque to the page: no path and no piece of a query ever comes in from there.

mod compare;
mod evaluate;
mod judging;
mod launch;
mod list;
mod overview;
mod queries;
mod report;
mod run;
mod score;
mod stats;
mod status;
mod stored;
mod tasks;
mod tree;
mod trust;

pub use compare::*;
pub use evaluate::*;
pub use judging::*;
pub use launch::*;
pub use list::*;
pub use overview::*;
pub use queries::*;
pub use report::*;
pub use run::*;
pub use score::*;
pub use stats::*;
pub use status::*;
pub use stored::*;
pub use tasks::*;
pub use tree::*;
pub use trust::*;
