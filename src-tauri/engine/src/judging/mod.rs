//! Scorers that take more than the answer: programs that people write. Owns what they are asked and what their replies mean; who runs
//! them, and in what, is the business of `App`.
pub(crate) mod python;
