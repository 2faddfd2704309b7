//! Tests of the public functions, in one program: each program more is linked anew after every
//! change.
mod agree;
mod answers;
mod edits;
mod emit;
mod nasty;
