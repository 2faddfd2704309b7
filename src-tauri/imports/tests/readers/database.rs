//! The database of promptfoo gives the same runs as the files that promptfoo exports from it. The
//! files were exported by promptfoo 0.123.1, but for the evaluation in its older layout.
use crate::disk::Disk;
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::Path;
use touchstone_imports::registry;
use touchstone_imports::{ImportedRun, Input, detect};

fn read(path: &str) -> BTreeMap<String, ImportedRun> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/promptfoo/database");
    let bytes = fs::read(root.join(path)).unwrap();
    let (format, _) = detect(path, &bytes).unwrap();
    let folder = Disk(root);
    let input = Input { path, source: &bytes, folder: &folder };
    let file = registry::open(format, input).unwrap();
    assert_eq!((format.name(), file.file_error()), ("promptfoo", None));
    (0..file.len()).map(|at| (file.member(at).unwrap(), file.read(at).unwrap())).collect()
}

#[test]
fn the_database_of_promptfoo_gives_the_runs_that_it_exports() {
    let database = read("promptfoo.db");
    let mut count = 0;
    for (file, runs) in [("repeated.json", 12), ("messages.json", 1), ("older.json", 3)] {
        let exported = read(file);
        assert_eq!(exported.len(), runs, "{file}");
        for (member, run) in exported {
            let id = fact(&run, "evaluation").unwrap();
            let stored = &database[&format!("{id} {member}")];
            // The version of promptfoo that exported the file is not in the database.
            let only_exported = ["promptfoo version", "results version", "evaluation started"];
            let without = |run: &ImportedRun| {
                let mut run = run.clone();
                run.facts.retain(|(key, _)| !only_exported.contains(&key.as_str()));
                run.facts.sort_by(|(a, _), (b, _)| a.cmp(b));
                run.identity = None;
                run
            };
            assert_eq!(without(stored), without(&run), "{file}: {member}");
            let started = fact(stored, "evaluation started").unwrap();
            let is_close = |time: String| time.starts_with(&started[..16]);
            assert!(fact(&run, "evaluation started").is_some_and(is_close), "{started}");
            let (stored, exported) = (stored.identity.as_ref(), run.identity.as_ref());
            assert_eq!(stored.map(|one| &one.key), exported.map(|one| &one.key));
            assert!(
                stored.zip(exported).is_none_or(|(stored, exported)| stored.rank > exported.rank)
            );
            count += 1;
        }
    }
    assert_eq!(count, database.len());
}

fn fact(run: &ImportedRun, key: &str) -> Option<String> {
    let (_, value) = run.facts.iter().find(|(known, _)| known == key)?;
    value.text().map(str::to_owned)
}
