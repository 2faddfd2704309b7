//! **Pure.** Tests whether a system withstands attacks: objectives, the strategies that disguise them,
//! the suites that they become, and the scorecard of the runs. Owns no texts of attacks except a
//! small mild set that probes refusals.
mod category;
mod converters;
mod morse;
mod objectives;
mod scorecard;
mod strategy;
mod suites;
#[cfg(test)]
mod tests;

pub use category::Category;
pub use objectives::{Objective, ObjectiveFile, read_objectives, starter_objectives};
pub use scorecard::{
    AttackResult, AttackRun, AttackTexts, Rate, Scorecard, azure_result, scorecard,
};
pub use strategy::{Attack, Complexity, Slots, Strategy, parse_attacks};
pub use suites::{
    Carrier, HiddenMessage, PLANTED, Suite, SuiteOptions, TAG, hidden_messages, mark_in_prompt,
    suites, used_objectives,
};
