//! Scorers that take more than the answer: programs that people write, and judges that are models.
//! Owns what they are asked, what is owed of them and what their replies mean; who runs and asks
//! them is the business of `App`.
pub(crate) mod owed;
pub(crate) mod progress;
pub(crate) mod python;
