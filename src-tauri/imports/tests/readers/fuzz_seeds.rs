//! Replays the seeds of the fuzz target, which `scripts/fuzz.sh` makes of the fixtures. `make fuzz`
//! continues from them with generated inputs.
use crate::disk::list_files;
use fs_err as fs;
use std::path::Path;
use touchstone_imports::registry;

#[path = "../../../../fuzz/imports_checks.rs"]
mod imports_checks;

#[test]
fn the_seeds_of_the_fuzz_target_hold_and_select_their_formats() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut folders: Vec<String> = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    // The number of a folder is the number of its format.
    let names: Vec<_> = registry::sorted().iter().map(|format| format.name()).collect();
    assert_eq!(folders, names);
    for (number, folder) in (0..).zip(folders) {
        let mut paths = Vec::new();
        list_files(&root.join(&folder), "", &mut paths);
        for path in paths {
            let content = fs::read(root.join(&folder).join(&path)).unwrap();
            let seed = [&[number], path.as_bytes(), b"\n", &content].concat();
            imports_checks::imports(None, &seed);
        }
    }
}
