//! Tests of the public functions, in one program: each program more is linked anew after every
//! change.
mod azure_evaluate;
mod azure_evaluators;
mod azure_judges;
mod judges;
mod stabletoolbench;
