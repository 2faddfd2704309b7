//! **Pure.** Codec for Anthropic's Messages API. Owns its JSON shapes; the runner decides what a
//! reply means for a run.
mod decode;
mod encode;
mod stream;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub(super) use decode::parse_usage;
pub use encode::encode;
