//! Tests of the source code: no module imports one of a layer above it, pure modules use no file,
//! network or clock, and every Rust file begins with a header comment.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

mod cycles;

use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Directories, with the names that no file in them may contain.
const ROOMS: [(&str, &[&str]); 7] = [
    ("src-tauri/app/src/runs/reading", &["crate::App", "crate::OpenFolder", "crate::paths"]),
    ("src-tauri/app/src/judging/job", &["crate::App", "crate::runs", "crate::paths"]),
    ("src-tauri/app/src/evaluating/job", &["crate::App", "crate::runs", "crate::paths"]),
    (
        "ui/src/components",
        &["/app/", "/backend/", "/features/", "/generated", "/testing/", "@tauri-apps"],
    ),
    ("ui/src/domain", &["/app/", "/features/", "/testing/", "@tauri-apps"]),
    ("ui/src/features", &["/backend/tauri", "/testing/", "@tauri-apps", "/App.svelte"]),
    ("ui/src/generated", &["@tauri-apps"]),
];

/// Names that a pure module never contains. Strings are joined so that this file does not contain
/// them itself.
const WORLD: [&str; 10] = [
    "std::fs",
    "fs_err",
    "tokio",
    "rusqlite",
    "reqwest",
    "notify::",
    "SystemTime",
    "Instant::now",
    "std::env",
    "std::net",
];

const EMPTY_WORDS: [&str; 4] = ["manager", "helper", "util", "processor"];

struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Text before the tests of the same file.
    fn without_tests(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()
    }

    /// Text before the tests, without comments, which may mention forbidden names.
    fn code(&self) -> String {
        let lines =
            self.without_tests().lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn is_rust(&self) -> bool {
        self.ends(".rs")
    }

    fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests")
            || self.path.contains(".test")
            || self.path.starts_with("ui/src/testing/")
    }

    fn ends(&self, end: &str) -> bool {
        self.path.ends_with(end)
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for dir in ["src-tauri", "ui/src", "tests", "benches", "fuzz", "demo"] {
        collect(&root.join(dir), &mut paths);
    }
    let read = paths.into_iter().map(|path| {
        let below = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        Source { text: fs::read_to_string(&path).unwrap(), path: below }
    });
    let sources: Vec<Source> =
        read.filter(|source| !source.path.starts_with("ui/src/generated")).collect();
    assert!(sources.len() > 50, "the sources were not found");
    sources
}

fn collect(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            if !matches!(
                name.as_str(),
                "target" | "node_modules" | "dist" | "gen" | "corpus" | "artifacts"
            ) {
                collect(&path, into);
            }
        } else if ["rs", "ts", "svelte"]
            .iter()
            .any(|end| path.extension().is_some_and(|e| e == *end))
        {
            into.push(path);
        }
    }
}

fn none(found: impl IntoIterator<Item = String>, rule: &str) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn no_module_uses_a_higher_one() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let code = source.code();
        for (room, forbidden) in ROOMS {
            for name in forbidden.iter().filter(|name| {
                source.path.starts_with(&format!("{room}/")) && code.contains(**name)
            }) {
                wrong.push(format!("{} names {name}", source.path));
            }
        }
    }
    none(wrong, "a room may only use those below it (ARCHITECTURE.md)");
}

#[test]
fn no_feature_imports_another() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("ui/src/features/")) {
        let own = source.path.split('/').nth(3).unwrap();
        for import in source.text.lines().filter_map(|line| {
            line.split_once("from \"").map(|(_, path)| path.trim_end_matches(['"', ';']))
        }) {
            let other = import
                .strip_prefix("../")
                .filter(|rest| !rest.starts_with(".."))
                .and_then(|rest| rest.split('/').next());
            if other.is_some_and(|other| other != own && other != "shared") {
                wrong.push(format!("{} imports {import}", source.path));
            }
        }
    }
    none(wrong, "what two features share belongs in components or features/shared");
}

#[test]
fn only_one_file_of_the_page_knows_the_window() {
    let knows = sources().into_iter().filter(|s| {
        s.path.starts_with("ui/src/") && !s.is_test() && s.text.contains("@tauri-apps")
    });
    let knows: BTreeSet<String> = knows.map(|source| source.path).collect();
    none(
        knows.into_iter().filter(|path| path != "ui/src/backend/tauri.ts"),
        "only backend/tauri.ts may import it",
    );
}

#[test]
fn what_is_pure_names_no_file_no_net_and_no_clock() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| source.is_rust() && !source.is_test()) {
        let crates =
            ["model", "formats", "imports", "metrics", "judges", "scoring", "redteam", "api"]
                .map(|name| format!("src-tauri/{name}/src/"));
        let says_so = source
            .text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .any(|line| line.contains("**Pure.**"));
        if says_so || crates.iter().any(|pure| source.path.starts_with(pure.as_str())) {
            let code = source.code();
            wrong.extend(
                WORLD
                    .iter()
                    .filter(|name| code.contains(**name))
                    .map(|name| format!("{} names {name}", source.path)),
            );
        }
    }
    none(wrong, "a pure part gets what it needs as arguments");
}

/// Returns the name that a line declares with one of these keywords.
fn declared(line: &str, words: &[&str]) -> Option<String> {
    let mut parts = line.split_whitespace();
    let known = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "export",
        "default",
        "async",
        "const",
        "declare",
        "abstract",
    ];
    let word = parts.find(|part| !known.contains(part))?;
    let name: String = words
        .contains(&word)
        .then(|| parts.next())??
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

#[test]
fn every_rust_file_says_what_it_owns() {
    let silent =
        sources().into_iter().filter(|source| source.is_rust() && !source.text.starts_with("//!"));
    none(silent.map(|source| source.path), "begin the file with a `//!` line");
}

#[test]
fn no_name_is_empty() {
    let kinds = ["struct", "enum", "trait", "type", "fn", "mod", "interface", "class", "function"];
    let mut wrong = Vec::new();
    for source in sources() {
        for name in source.text.lines().filter_map(|line| declared(line, &kinds)) {
            let words = words(&name);
            let is_empty = |word: &String| {
                EMPTY_WORDS.iter().any(|empty| word == empty || *word == format!("{empty}s"))
            };
            // A long name is a sentence, like those of tests, and carries meaning.
            if words.len() <= 4 && words.iter().any(is_empty) {
                wrong.push(format!("{}: {name}", source.path));
            }
        }
    }
    none(wrong, "these words say nothing about what a thing is");
}

/// Splits a name in either style into words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() {
            words.push(String::new());
        }
        if letter != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Fail points may exist only in debug builds, since otherwise an environment variable could kill a
/// release.
#[test]
fn no_place_to_die_is_in_a_release_build() {
    let sources = sources();
    let of = |path: &str| sources.iter().find(|source| source.path == path).unwrap().text.clone();
    let faults = of("src-tauri/runner/src/fault.rs");
    let wrong = ungated(&faults);
    none(wrong, "write #[cfg(debug_assertions)] above it");
    let others =
        sources.iter().filter(|source| source.path.starts_with("src-tauri/") && !source.is_test());
    let others = others.filter(|source| {
        !source.path.ends_with("runner/src/fault.rs") && source.text.contains("TOUCHSTONE_FAIL")
    });
    none(others.map(|source| source.path.clone()), "only fault.rs may know of it");
    let manifest =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml")).unwrap();
    assert!(!manifest.contains("debug-assertions"), "a profile turns on what only tests may have");
    assert_eq!(ungated("pub(crate) fn reached(name: &str) {\n}\n").len(), 1);
    assert_eq!(ungated("#[cfg(debug_assertions)]\nfn a() {\n}\n"), [""; 0]);
}

/// Returns functions, and calls in a macro, that are part of every build.
fn ungated(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let acts = |line: &str| declared(line, &["fn"]).is_some() || line.starts_with("$crate::");
    let gated = |at: usize| at > 0 && lines[at - 1] == "#[cfg(debug_assertions)]";
    let open = lines.iter().enumerate().filter(|(at, line)| acts(line) && !gated(*at));
    open.map(|(_, line)| (*line).to_owned()).collect()
}

#[test]
fn the_reading_of_sources_sees_what_it_should() {
    assert_eq!(
        declared("    pub(crate) async fn look_at<E>(x: u8) {", &["fn"]).as_deref(),
        Some("look_at")
    );
    assert_eq!(
        declared("export default function open(a) {", &["function"]).as_deref(),
        Some("open")
    );
    assert_eq!(declared("    // fn in a comment {", &["fn"]), None);
    assert_eq!(words("FileInfo"), ["file", "info"]);
    assert_eq!(words("read_data_now"), ["read", "data", "now"]);
}
