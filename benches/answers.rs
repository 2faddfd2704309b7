//! Measures raw answers of `StableToolBench`: milliseconds per file to read its outline, to parse
//! it and to convert it, next to the time of `serde_json` for the same bytes. Uses the folder in
//! `TOUCHSTONE_ANSWERS`, or else the small files of the tests. Prints a table; never fails.
use fs_err as fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;
use touchstone_formats::stabletoolbench::answers::convert::{self, Defects};
use touchstone_formats::stabletoolbench::answers::raw;
use touchstone_model::json;

/// Number of rounds over all files; the fastest one counts.
const ROUNDS: u32 = 40;

fn main() {
    let ours =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stabletoolbench/answers");
    let folder = std::env::var_os("TOUCHSTONE_ANSWERS").map_or(ours, PathBuf::from);
    let files = answers(&folder);
    let bytes: usize = files.iter().map(Vec::len).sum();
    if files.is_empty() {
        println!("There are no raw answers in {}.", folder.display());
        return;
    }
    println!(
        "{} raw answers, {} KB each on average; milliseconds for each file:",
        files.len(),
        bytes / files.len() / 1024
    );
    show("serde_json reads it (the floor)", &files, |file| {
        black_box(serde_json::from_slice::<serde_json::Value>(file).is_ok());
    });
    show("outline, as the index asks for it", &files, |file| {
        black_box(raw::outline(file).is_ok());
    });
    show("read whole, as the page asks for it", &files, |file| {
        black_box(raw::read(file).is_ok());
    });
    show("converted", &files, |file| {
        black_box(convert::raw(file, "M", Defects::Mended).is_ok());
    });
    show("converted and written", &files, |file| {
        if let Ok(converted) = convert::raw(file, "M", Defects::Mended) {
            black_box(json::write(&converted.entry, true).len());
        }
    });
}

/// Returns the contents of every raw answer below a folder.
fn answers(folder: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "json") {
                found.extend(fs::read(path).ok().filter(|file| raw::outline(file).is_ok()));
            }
        }
    }
    found
}

fn show(what: &str, files: &[Vec<u8>], work: impl Fn(&[u8])) {
    let round = || {
        let start = Instant::now();
        for file in files {
            work(file);
        }
        start.elapsed().as_secs_f64() * 1000.0
    };
    let best = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
    let count = u32::try_from(files.len()).map_or(1.0, f64::from);
    println!("  {what:<40} {:>8.3}", best / count);
}
