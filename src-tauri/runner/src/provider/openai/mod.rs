//! **Pure.** Codec for the Chat Completions API of `OpenAI`, which many other servers offer too.
//! Owns its JSON shapes and the tolerance for servers that deviate from them; the runner decides
//! what a reply means for a run.
mod decode;
pub mod embeddings;
mod encode;
mod stream;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub(super) use decode::parse_usage;
pub use encode::encode;
