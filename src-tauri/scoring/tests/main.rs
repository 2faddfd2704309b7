//! Tests of the public functions, in one program: each program more is linked anew after every
//! change.
mod aggregate;
mod azure_evaluate;
mod azure_evaluators;
mod azure_judges;
mod computed;
mod diff;
mod expected;
mod failures;
mod golden;
mod judges;
mod scorers;
mod stabletoolbench;
mod stats;
