//! Log of a launch: one line per event in `.touchstone/launches/`. It is an ordinary listener: if
//! it cannot write, the runs continue.
use super::disk::{Folder, PRIVATE, SIDECARS, write_all};
use super::launch::Listener;
use rustix::fs::{Mode, OFlags};
use std::path::Path;

/// Returns a listener that appends events to the log of the launch with this id, or `None` if the
/// log cannot be opened.
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
