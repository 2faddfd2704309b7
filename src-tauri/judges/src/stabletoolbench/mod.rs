//! **Pure.** Measures of `StableToolBench`: the API call score, whether an answer was finished,
//! summaries, and published results.
mod calls;
mod finish;
mod likely;
mod names;
mod published;
mod summary;

pub use calls::{ApiCalls, Called, literal};
pub use finish::{Finish, FinishRule, Returned, is_finish, literal_names};
pub use likely::HeuristicVerdict;
pub use names::{Found, Offered, sanitized};
pub use published::{Figure, Metric, Published, SETS, Visibility, published};
pub use summary::{Evaluation, Summary};
