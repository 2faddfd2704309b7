//! **Pure.** The failure map: why runs fail.
//!
//! ```text
//! failed run ─ detect ─→ findings: cause, evidence ─┐
//!            └ decisive ← passing runs of its task  ├─ clusters: causes with runs and shares
//! failed run ─ …                                   ─┘
//! ```
//! Kinds of causes are counted above the clusters. A run has one or more findings; the order of [`Mode`]
//! says which one is its main cause. Errors keep their template, because templates are merged only when
//! all of them are known. Texts of runs are untrusted and are quoted as they are, cut to a bounded length.
mod answers;
mod clusters;
mod decisive;
mod detect;
mod kinds;
mod modes;
mod templates;
mod text;

pub use clusters::{Cluster, ClusteredRun, MOST_EXAMPLES, Share, clusters};
pub use decisive::{DecisiveStep, PassingRun, decisive_step, leaves_for_good};
pub use detect::{FailedRun, Finding, findings};
pub use kinds::{Kind, KindOfCauses, kinds};
pub use modes::{Cause, Fault, Mode};
