//! **Pure.** `StableToolBench`: its queries, the names and keys of its APIs, its tools, and the
//! file formats of its runs.
pub mod answers;
pub mod cache_file;
pub mod check;
pub mod filter;
pub mod functions;
pub mod names;
pub mod pool;
pub mod python;
pub mod python_json;
pub mod query;
pub mod request;
pub mod results;
pub mod strip;

pub use pool::{Pool, Tool};
pub use query::{Api, AvailableApi, Brief, Parameter, Query, read_api_name};
pub use results::ResultFile;
