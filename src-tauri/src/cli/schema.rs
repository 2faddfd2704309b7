//! `schema`: prints the JSON Schema of `touchstone.yaml`, with which editors complete and check it.
use super::{CommandStatus, Outcome};
use std::io::{self, Write as _};

pub(super) fn run() -> Outcome {
    let schema = include_str!("../../../docs/reference/touchstone.schema.json");
    io::stdout().lock().write_all(schema.as_bytes())?;
    Ok(CommandStatus::Well)
}
