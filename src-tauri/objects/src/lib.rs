//! Results in a bucket of an S3-compatible server: keeps a read-only copy of them in the cache, which
//! the store indexes and watches like any folder. Never writes to the bucket.
//!
//! The copy is laid out like the bucket. A small file beside it records which version of each object
//! it holds, so that a copy that was stopped goes on where it was, and later checks fetch only what
//! changed.

pub mod address;
mod catalog;
mod changes;
mod client;
pub mod copy;
pub mod error;
mod follow;
mod marks;
mod object_filter;
mod profiles;
mod rounds;
pub mod settings;
mod sign;
mod status;
mod stored_files;
mod xml;
