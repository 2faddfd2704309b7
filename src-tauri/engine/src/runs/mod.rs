//! Runs: what is owed, and doing exactly that. Owns the plan, the conversation with a provider, the tools, the journal and the
//! transcript file; knows nothing of the index and of whoever looks on.

pub mod event;
pub mod provider;
pub mod spec;
pub mod talk;
pub mod tools;
