//! **Pure.** The Chat Completions API of `OpenAI`, as it is spoken by many servers. Owns its shapes
//! and what is forgiven of servers that speak it badly; what a reply means to a run is decided
//! elsewhere.
mod decode;
pub mod embeddings;
mod encode;
mod stream;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub(super) use decode::used;
pub use encode::encode;
