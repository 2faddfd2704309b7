//! **Pure.** Result files of other tools, opened where they lie: one module for each format, all
//! listed in [`registry`]. A reader turns a file into [`ImportedRun`]s; it writes nothing, and
//! opens other files only through the [`Folder`] it is given.
//!
//! To add a format, write a module with a type that implements [`Format`], and add it to
//! [`registry::FORMATS`].

pub mod agentdojo;
pub mod agentv;
pub mod azure_redteam;
pub mod bfcl;
pub mod chats;
pub mod claude_code;
pub mod codex;
pub mod convert;
pub mod csv;
pub mod deepeval;
pub mod export;
pub mod format;
pub mod gemini_cli;
pub mod harbor;
pub mod head;
pub mod inspect;
pub mod langfuse;
pub mod lm_eval;
pub mod media;
pub mod messages;
pub mod mini_swe_agent;
pub mod openai_agents_sdk;
pub mod openhands;
pub mod otel;
pub mod pieces;
pub mod promptfoo;
pub mod registry;
pub mod run;
pub mod sessions;
pub mod single;
pub mod slices;
pub mod source;
pub mod sqlite;
pub mod swe_agent;
pub mod swe_bench;
pub mod tau;
#[cfg(test)]
mod testing;
pub mod text;
pub mod traces;
mod zstd;

pub use format::{Detected, Format, ImportedFile};
pub use registry::{FORMATS, detect};
pub use run::{
    Event, EventKind, Identity, ImportedRun, ImportedVerdict, Media, MediaContent, Repeat, RunEnd,
    TokenCounts,
};
pub use source::{Folder, Input, NoFolder, Source};
