//! **Pure.** The Messages API of Anthropic. Owns its shapes; what a reply means to a run is decided elsewhere.
mod decode;
mod encode;
mod stream;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;
