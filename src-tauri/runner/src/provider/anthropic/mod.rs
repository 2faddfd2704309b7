//! **Pure.** The Messages API of Anthropic. Owns its shapes; what a reply means to a run is decided
//! elsewhere.
mod decode;
mod encode;
mod stream;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub(super) use decode::used;
pub use encode::encode;
