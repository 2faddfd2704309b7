//! Scorers that need more than the answer: user-written programs, and models as judges. Owns their
//! inputs, the work left to do, and the meaning of their replies; `App` runs the programs and sends
//! the requests.
pub(crate) mod pending;
pub(crate) mod progress;
pub(crate) mod python;
