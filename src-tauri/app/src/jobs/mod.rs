//! Parts of work in the background: handles, registries and spend limits.
pub(crate) mod job_handle;
pub(crate) mod job_registry;
pub(crate) mod spend_limit;
