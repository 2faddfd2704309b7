//! The results flow: what lies in the output directory, read, indexed, followed and asked. Knows nothing of how runs are made.

pub mod blob;
pub mod filter;
mod home;
pub mod index;
pub mod query;
mod seal;
mod search;
#[cfg(test)]
mod shelf;
pub mod snippet;
