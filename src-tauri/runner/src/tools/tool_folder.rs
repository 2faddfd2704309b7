//! Loads a folder of tools, in any supported layout. Owns the traversal and its limits: links are
//! not followed, nothing outside is read, and an unreadable file is skipped with a note. The crate
//! `formats` parses the files.
use super::Unusable;
use crate::disk::{DiskError, Folder};
use std::path::Path;
use touchstone_formats::stabletoolbench::Pool;

/// Maximum number of levels of folders: category, tool, and one above.
const DEPTH: usize = 3;
/// Maximum number of files to read; the largest known collection has 16,000.
const FILES: usize = 50_000;
/// Maximum number of bytes of one file; larger files are no tools.
const FILE_BYTES: u64 = 8 << 20;
/// Maximum number of bytes to read in all.
const ALL_BYTES: u64 = 512 << 20;
/// Maximum number of notes to keep.
const NOTES: usize = 20;

/// A loaded folder of tools.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The tools.
    pub pool: Pool,
    /// Reasons that files were skipped; only the first ones.
    pub notes: Vec<String>,
    /// Number of skipped files.
    pub left_out: usize,
}

/// Loads the tools of a folder. Fails if it cannot be read, is too large or holds no tools.
pub fn load(dir: &Path) -> Result<Pool, Unusable> {
    read(dir).map(|loaded| loaded.pool)
}

/// Like [`load`], and also returns notes on skipped files.
pub fn read(dir: &Path) -> Result<Loaded, Unusable> {
    let unusable = |message: String, fix: &str| Unusable { message, fix: Some(fix.to_owned()) };
    let root = match Folder::find(dir, &[]) {
        Ok(Some(root)) => root,
        found => {
            let why = found.err().map_or_else(|| "it is not there.".to_owned(), |error| error.why);
            let message = format!("The folder of tools {} could not be read: {why}", dir.display());
            return Err(unusable(message, "Name an existing folder that you may read."));
        }
    };
    let mut walk = Walk { loaded: Loaded::default(), files: 0, bytes: 0 };
    walk.folder(&root, &mut Vec::new())
        .map_err(|too_much| unusable(too_much, "Name the folder of the tools alone."))?;
    let loaded = walk.loaded;
    if loaded.pool.tools().is_empty() {
        let message = format!("The folder {} holds no tools.", dir.display());
        let found = loaded.notes.first().map(|note| format!(" {note}"));
        return Err(unusable(
            message + &found.unwrap_or_default(),
            "Tools are JSON files: CATEGORY/TOOL.json, CATEGORY/TOOL/API.json or TOOL.json.",
        ));
    }
    Ok(loaded)
}

struct Walk {
    loaded: Loaded,
    files: usize,
    bytes: u64,
}

impl Walk {
    /// Reads files before folders, both sorted by name; the same folder always gives the same pool.
    fn folder(&mut self, folder: &Folder, dirs: &mut Vec<String>) -> Result<(), String> {
        let mut names = folder.names("");
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        let (files, others): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| is_json(name));
        for name in files {
            self.file(folder, dirs, &name)?;
        }
        for name in if dirs.len() < DEPTH { others } else { Vec::new() } {
            // Other entries, such as code, notes or links, are ignored.
            let Ok(Some(inner)) = folder.inside(&name) else { continue };
            dirs.push(name);
            self.folder(&inner, dirs)?;
            dirs.pop();
        }
        Ok(())
    }

    fn file(&mut self, folder: &Folder, dirs: &[String], name: &str) -> Result<(), String> {
        self.files += 1;
        if self.files > FILES || self.bytes > ALL_BYTES {
            return Err(format!(
                "It holds more than {FILES} files or {} MB, the limit of a tools folder.",
                ALL_BYTES >> 20
            ));
        }
        let refused = |why: &str| format!("{}: {why}", folder.path.join(name).display());
        let taken = match folder.read(name, FILE_BYTES) {
            Ok(None) => return Ok(()),
            Err(DiskError { path, why, .. }) => Err(format!("{path}: {why}")),
            Ok(Some(bytes)) if bytes.is_empty() => Err(refused("it is empty.")),
            Ok(Some(bytes)) => {
                self.bytes += bytes.len() as u64;
                let dirs: Vec<&str> = dirs.iter().map(String::as_str).collect();
                let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                let text =
                    std::str::from_utf8(&bytes).map_err(|_| refused("it is not UTF-8 text."));
                text.and_then(|text| {
                    self.loaded
                        .pool
                        .add_file(&dirs, stem, text)
                        .map_err(|error| refused(&error.message))
                })
            }
        };
        if let Err(why) = taken {
            self.loaded.left_out += 1;
            if self.loaded.notes.len() < NOTES {
                self.loaded.notes.push(why);
            }
        }
        Ok(())
    }
}

fn is_json(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    fn fixture(name: &str) -> Loaded {
        read(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../tests/fixtures/stabletoolbench")
                .join(name),
        )
        .unwrap()
    }

    #[test]
    fn the_same_tools_are_read_from_all_layouts() {
        for layout in ["tools", "tools-by-api", "tools-flat"] {
            let Loaded { pool, notes, .. } = fixture(layout);
            assert_eq!((pool.tools().len(), pool.api_count(), notes.len()), (3, 8, 0), "{layout}");
            for (category, tool, api) in [
                ("Weather", "River Gauge", "3 day outlook"),
                ("Real_Estate", "homes_for_real_estate_for_Real_Estate", "list_homes"),
                (
                    "Education",
                    "Municipal Library Catalogue And Lending Statistics Service",
                    "Catalogue",
                ),
            ] {
                assert!(pool.find(Some(category), tool, api).is_some(), "{layout} {tool} {api}");
            }
        }
    }

    #[test]
    fn files_that_are_not_tools_are_left_out_and_links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("tools");
        fs::create_dir_all(dir.join("Data/.hidden")).unwrap();
        fs::create_dir_all(home.path().join("outside")).unwrap();
        let tool = r#"{"tool_name": "T", "api_list": [{"name": "a"}]}"#;
        fs::write(dir.join("Data/t.json"), tool).unwrap();
        fs::write(dir.join("Data/empty.json"), "").unwrap();
        fs::write(dir.join("Data/broken.json"), "{").unwrap();
        fs::write(dir.join("Data/.hidden/u.json"), tool.replace('T', "U")).unwrap();
        fs::write(home.path().join("outside/v.json"), tool.replace('T', "V")).unwrap();
        std::os::unix::fs::symlink(home.path().join("outside"), dir.join("Linked")).unwrap();
        std::os::unix::fs::symlink(home.path().join("outside/v.json"), dir.join("Data/v.json"))
            .unwrap();
        let loaded = read(&dir).unwrap();
        assert_eq!(
            loaded.pool.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            ["T"]
        );
        assert_eq!(loaded.left_out, 3, "{:?}", loaded.notes);
        assert!(load(&dir.join("nothing")).unwrap_err().message.contains("not there"));
        assert!(load(&home.path().join("tools/Data/.hidden/..")).is_ok());
        let empty = tempfile::tempdir().unwrap();
        assert!(load(empty.path()).unwrap_err().message.contains("no tools"));
    }

    #[test]
    fn real_folders_of_tools_are_read() {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stabletoolbench");
        let Ok(Loaded { pool, left_out, .. }) = read(&root.join("toolenv/tools")) else { return };
        assert_eq!((pool.tools().len(), pool.api_count(), left_out), (814, 2_490, 0));
        let schemas = read(&root.join("toolbench_data/toolenv/response_examples")).unwrap();
        let with = schemas
            .pool
            .tools()
            .iter()
            .flat_map(|tool| &tool.apis)
            .filter(|api| api.schema.is_some())
            .count();
        println!(
            "cases: {} tools, {} schemas, {} files left out",
            pool.tools().len(),
            with,
            schemas.left_out
        );
        assert!(with > 0);
    }
}
