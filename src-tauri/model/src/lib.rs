//! **Pure.** The data model: the run with its steps and its answer, values with exact numbers, and
//! YAML and JSON. Knows no layout of any file, and uses no other crate of ours.

pub mod answer;
pub mod error;
pub mod fences;
pub mod json;
pub mod nearest;
pub mod nesting;
pub mod node;
pub mod run;
pub mod scalar;
pub mod value;
pub mod yaml;
