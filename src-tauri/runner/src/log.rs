//! The log of a launch: every event, one a line, in `.touchstone/launches/`. A listener like any
//! other: when it cannot write, the runs go on.
use super::disk::{Folder, PRIVATE, SIDECARS, write_all};
use super::launch::Listener;
use rustix::fs::{Mode, OFlags};
use std::path::Path;

/// Writes what it is told to the log of the launch of that id.
pub fn listener(output_dir: &Path, id: &str) -> Option<Listener> {
    let folder = Folder::make(output_dir, &[SIDECARS, "launches"], PRIVATE);
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let opened = folder.and_then(|folder| {
        let name = format!("{id}.jsonl");
        folder
            .open(&name, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| folder.error(&name, error))
    });
    let file =
        opened.inspect_err(|error| tracing::warn!(%error, "this launch is not logged")).ok()?;
    let mut well = true;
    Some(Box::new(move |events| {
        let mut lines = Vec::new();
        for line in events.iter().filter_map(|event| serde_json::to_vec(event).ok()) {
            lines.extend(line);
            lines.push(b'\n');
        }
        if let Err(error) = write_all(&file, &lines)
            && std::mem::take(&mut well)
        {
            tracing::warn!(%error, "the log of this launch has gaps");
        }
    }))
}
