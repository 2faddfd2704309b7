//! **Pure.** The data that crosses the boundary to the page and the command line: requests, rows
//! and events. Owns only their shapes; `results` and `app` fill them. Ids are opaque to the page:
//! neither paths nor parts of queries ever come in from there.

mod compare;
mod evaluate;
mod export;
mod failures;
mod gate;
mod generate;
mod imported_verdicts;
mod judging;
mod labels;
mod launch;
mod leaderboard;
mod list;
mod new_suite;
mod overview;
mod queries;
mod red_team;
mod report;
mod run;
mod score;
mod split_launch;
mod stats;
mod status;
mod table_column;
mod tasks;
mod tree;
mod trend;
mod trust;

pub use compare::*;
pub use evaluate::*;
pub use export::*;
pub use failures::*;
pub use gate::*;
pub use generate::*;
pub use imported_verdicts::*;
pub use judging::*;
pub use labels::*;
pub use launch::*;
pub use leaderboard::*;
pub use list::*;
pub use new_suite::*;
pub use overview::*;
pub use queries::*;
pub use red_team::*;
pub use report::*;
pub use run::*;
pub use score::*;
pub use split_launch::*;
pub use stats::*;
pub use status::*;
pub use table_column::*;
pub use tasks::*;
pub use tree::*;
pub use trend::*;
pub use trust::*;
