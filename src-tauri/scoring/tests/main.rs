//! Tests of the public functions, in one program: each program more is linked anew after every
//! change.
mod aggregate;
mod diff;
mod failures;
mod scorers;
