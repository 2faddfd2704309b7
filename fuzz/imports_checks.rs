//! Properties of the readers of other tools' files that must hold for any input, shared by the fuzz
//! target and the test that replays its seeds.
use touchstone_formats::transcript::outline_of;
use touchstone_imports::convert::to_run;
use touchstone_imports::format::{Format, HEAD_BYTES};
use touchstone_imports::registry;
use touchstone_imports::{Folder, Input, Source};

/// Maximum number of runs of a file that are read.
const MOST_RUNS: usize = 50;

/// Names that every folder holds.
const NAMES: [&str; 6] =
    ["agent/", "event-1.json", "report.json", "result.json", "subagents/", "trajectory.json"];

/// Folder in which every file has the same content.
struct Same<'a>(&'a [u8]);

impl Folder for Same<'_> {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        // A journal of a database would hide the database.
        (!path.ends_with("-journal")).then(|| Box::new(self.0.to_vec()) as Box<dyn Source>)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        // Folders end at some depth.
        let names = NAMES.iter().filter(|name| folder.len() < 60 || !name.ends_with('/'));
        names.map(|name| (*name).to_owned()).collect()
    }
}

/// Reads an input: a byte that selects the format, a line with the path, and the file. Nothing
/// panics. `format` is used in the place of the one that the byte selects.
pub(crate) fn imports(format: Option<&dyn Format>, bytes: &[u8]) {
    let Some((number, rest)) = bytes.split_first() else { return };
    let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { return };
    let (path, content) = (String::from_utf8_lossy(&rest[..end]), &rest[end + 1..]);
    let formats = registry::sorted();
    let format = format.unwrap_or(formats[usize::from(*number) % formats.len()]);
    let _ = registry::detect(&path, &content[..content.len().min(HEAD_BYTES)]);
    let (source, folder) = (content.to_vec(), Same(content));
    let _ = registry::owner(&path, &folder);
    let input = Input { path: &path, source: &source, folder: &folder };
    let Ok(file) = registry::open(format, input) else { return };
    for at in 0..file.len().min(MOST_RUNS) {
        assert!(file.member(at).is_none_or(|name| !name.trim().is_empty()));
        assert_eq!(file.fingerprint(at), file.fingerprint(at));
        if let Ok(run) = file.read(at) {
            let outline = outline_of(&to_run(run, format.name()));
            assert!(outline.items.iter().all(|item| item.start as usize <= outline.text.len()));
        }
    }
    let _ = (file.file_error(), file.read(file.len()));
}
