//! **Pure.** The file formats: reads suites, transcripts and the layouts of other tools into the
//! data model, and writes them back. Opens no files, reads no clock, and does not panic on any
//! input.

pub mod answer_tag;
pub mod azure;
pub mod benchmark;
pub mod broken;
pub mod collection;
pub mod file_kind;
pub mod judgement;
pub mod names;
pub mod own_formats;
pub mod redact;
pub mod replies_path;
pub mod review;
pub mod stabletoolbench;
pub mod suite;
pub mod system;
pub mod template;
pub mod timestamps;
pub mod tool_offers;
pub mod transcript;
pub mod workspace;
