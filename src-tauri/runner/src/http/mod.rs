//! HTTP to providers: sending a request as often as the rules allow, at a pace the provider bears,
//! with a key that nothing else gets to see. Owns connections, waits, keys and the cleaning of
//! text; knows nothing of what a request or a reply means.
//!
//! A caller has an `HttpRequest` and a function that decodes an `HttpReply`; [`persist::Sending`]
//! does the rest.

pub mod client;
pub mod keys;
pub mod limiter;
pub mod pace;
pub mod persist;
pub mod redact;
pub mod retry;
