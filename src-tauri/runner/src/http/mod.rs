//! HTTP requests to providers, with retries, rate limiting and keys that nothing else can read.
//! Owns connections, waits, keys and redaction. The meaning of requests and replies is not known
//! here.
//!
//! A caller provides an `HttpRequest` and a function that decodes an `HttpReply`;
//! [`persist::Sending`] does the rest.

pub mod client;
pub mod keys;
pub mod limiter;
pub mod pace;
pub mod persist;
pub mod redact;
pub mod retry;
