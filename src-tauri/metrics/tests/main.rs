//! Tests of the public functions, in one program: each program more is linked anew after every
//! change.
mod computed;
mod expected;
mod golden;
mod stats;
