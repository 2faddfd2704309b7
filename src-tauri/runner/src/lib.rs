//! Runs: decides which runs are missing and executes exactly those. Owns the plan, the conversation
//! with a provider, the tools, the journal and the transcript file. Does not depend on the index or
//! on any user interface.

pub mod atomic_write;
pub mod attacker;
pub mod cause_names;
pub mod conversation;
pub mod disk;
pub mod disk_state;
pub mod evaluations;
pub mod event;
pub mod execute;
mod fault;
pub mod fork;
pub mod http;
pub mod journal;
pub mod judgements;
pub mod launch;
pub mod lock;
pub mod log;
mod model_json;
pub mod nudge;
pub mod part;
pub mod part_logs;
pub mod past_logs;
pub mod plan;
pub mod progress;
pub mod provider;
pub mod reply;
pub mod reviews;
mod scalar_text;
pub mod script;
pub mod search;
pub mod secrets;
pub mod segment_files;
pub mod sensitive_mark;
pub mod setup;
pub mod spec;
pub mod strategy;
pub mod submissions;
pub mod target;
pub mod tools;
pub mod user;

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests;
