//! **Pure.** What `StableToolBench` counts: APIs that were called against those that had to be,
//! whether an answer was finished, its summary, and the results that others published.
mod calls;
mod finish;
mod likely;
mod names;
mod published;
mod summary;

pub use calls::{ApiCalls, Called, literal};
pub use finish::{Finish, FinishRule, Returned, is_finish, literal_names};
pub use likely::Likely;
pub use names::{Found, Offered, sanitized};
pub use published::{Figure, Metric, Published, SETS, Standing, published};
pub use summary::{Evaluation, Summary};
