//! Damages files of every registered format and opens them: no panic and no impossible value.
//! The files are those in `fixtures/<format>/`, and the golden ones where the
//! golden folder is there.
use crate::disk::{Disk, golden_root, list_files};
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstone_imports::format::HEAD_BYTES;
use touchstone_imports::registry;
use touchstone_imports::text::is_blank;
use touchstone_imports::{
    Detected, Event, EventKind, FORMATS, Folder, ImportedRun, Input, Repeat, RunEnd, Source, detect,
};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Largest file that is damaged, in bytes.
const LARGEST: usize = 100 << 10;

/// Bytes of damaged files that are opened for each kind of damage, however many formats there are.
const BUDGET: usize = 1_000_000;

struct File {
    path: String,
    bytes: Vec<u8>,
    root: PathBuf,
    /// Bytes that may be opened of it for each kind of damage.
    budget: usize,
}

/// Folder on the disk in which one file has other content.
struct Damaged<'a> {
    file: &'a File,
    bytes: &'a [u8],
}

impl Folder for Damaged<'_> {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        if path == self.file.path {
            return Some(Box::new(self.bytes.to_vec()));
        }
        let file = fs::read(self.file.root.join(path)).ok()?;
        Some(Box::new(file))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        Disk(self.file.root.clone()).list(folder)
    }
}

fn own_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn format_of(path: &str, bytes: &[u8]) -> Option<&'static str> {
    let (format, kind) = detect(path, &bytes[..bytes.len().min(HEAD_BYTES)])?;
    (!matches!(kind, Detected::NoRun(_))).then(|| format.name())
}

/// Returns the fixtures, and of the golden files the smallest of each format and ending.
fn all_files() -> Vec<File> {
    let mut found = Vec::new();
    for root in
        [Some(own_root()), golden_root().map(|golden| golden.join("files"))].into_iter().flatten()
    {
        let is_own = root == own_root();
        let mut paths = Vec::new();
        list_files(&root, "", &mut paths);
        let mut groups: BTreeMap<(&str, String), Vec<File>> = BTreeMap::new();
        for path in paths {
            let bytes = fs::read(root.join(&path)).unwrap();
            let Some(format) = format_of(&path, &bytes).filter(|_| bytes.len() <= LARGEST) else {
                continue;
            };
            let ending = path.rsplit('.').next().unwrap_or_default().to_owned();
            let file = File { path, bytes, root: root.clone(), budget: 0 };
            groups.entry((format, ending)).or_default().push(file);
        }
        for mut group in groups.into_values() {
            group.sort_by_key(|file| file.bytes.len());
            group.truncate(if is_own { usize::MAX } else { 2 });
            found.extend(group);
        }
    }
    let budget = BUDGET / found.len().max(1);
    found.into_iter().map(|file| File { budget, ..file }).collect()
}

/// Opens a file with other content and checks all its runs.
fn check(file: &File, bytes: &[u8], damage: &str) {
    let start = &bytes[..bytes.len().min(HEAD_BYTES)];
    let Some((format, kind)) = detect(&file.path, start) else { return };
    if matches!(kind, Detected::NoRun(_)) {
        return;
    }
    let name = format!("{} ({damage})", file.path);
    let folder = Damaged { file, bytes };
    let source = bytes.to_vec();
    let input = Input { path: &file.path, source: &source, folder: &folder };
    let Ok(opened) = registry::open(format, input) else { return };
    for at in 0..opened.len() {
        let member = opened.member(at);
        assert!(!member.is_some_and(|member| is_blank(&member)), "{name}: empty member");
        if let Ok(run) = opened.read(at) {
            check_run(&run, &name);
        }
    }
    // Neither has an answer, but both must return.
    let _ = (opened.file_error(), opened.read(opened.len()));
}

fn check_run(run: &ImportedRun, name: &str) {
    let is_figure = |number: Option<f64>| number.is_none_or(|n| n.is_finite() && n >= 0.0);
    assert!(is_figure(run.cost), "{name}: cost {:?}", run.cost);
    assert!(is_figure(run.seconds), "{name}: seconds {:?}", run.seconds);
    match &run.repeat {
        Repeat::Stated(number) | Repeat::Number(number) => assert!(*number > 0, "{name}: repeat 0"),
        Repeat::Ordered { start, .. } => {
            assert!(start.is_none_or(f64::is_finite), "{name}: start {start:?}");
        }
    }
    for (key, text) in [("task", &run.task), ("system", &run.system), ("model", &run.model)] {
        assert!(text.as_deref() != Some(""), "{name}: empty {key}");
    }
    assert!(!run.answer.as_deref().is_some_and(is_blank), "{name}: blank answer");
    let may_fail = matches!(run.end, RunEnd::Error | RunEnd::Limit);
    assert!(run.error.is_none() || may_fail, "{name}: error in {:?}", run.end);
    if let Some(identity) = &run.identity {
        assert!(identity.rank.is_finite() && !identity.key.is_empty(), "{name}: {identity:?}");
    }
    check_events(&run.events, name, 0);
}

fn check_events(events: &[Event], name: &str, depth: usize) {
    assert!(depth < 100, "{name}: events nested too deeply");
    for event in events {
        let seconds = event.seconds;
        assert!(seconds.is_none_or(|n| n.is_finite() && n >= 0.0), "{name}: seconds {seconds:?}");
        match &event.kind {
            EventKind::SubAgent { events, .. } | EventKind::Abandoned(events) => {
                check_events(events, name, depth + 1);
            }
            _ => {}
        }
    }
}

/// Returns places spread over a length: all of them, if the budget allows to open that many.
fn places(length: usize, budget: usize) -> impl Iterator<Item = usize> {
    let count = (budget / length.max(1)).clamp(4, 300).min(length);
    (0..count).map(move |number| number * length / count)
}

/// Values that stand in the place of others.
const VALUES: [&str; 16] = [
    "null",
    "true",
    "-1",
    "-0.5",
    "0",
    "1e999",
    "-1e999",
    "1e308",
    "99999999999999999999999999",
    "NaN",
    "-Infinity",
    "\"\"",
    "\" \"",
    "\"\\ud800\"",
    "[]",
    "{}",
];

/// Start and end of a value or a key in a text.
type TokenRange = (usize, usize);

/// Returns the places of the plain values and of the keys in a JSON text.
fn tokens(text: &str) -> (Vec<TokenRange>, Vec<TokenRange>) {
    let (mut values, mut keys) = (Vec::new(), Vec::new());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            let rest = text.get(at..).unwrap_or_default().trim_start();
            if rest.starts_with(':') { &mut keys } else { &mut values }.push((start, at));
        } else if bytes[at].is_ascii_alphanumeric() || bytes[at] == b'-' {
            let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            at += bytes[at..].iter().take_while(is_plain).count();
            values.push((start, at));
        } else {
            at += 1;
        }
    }
    (values, keys)
}

/// Calls `damage` for places in the texts of all files, as many as the budget allows.
fn for_texts(damage: impl Fn(&File, &str, usize)) {
    for file in all_files() {
        let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
        let count = (file.budget / text.len().max(1)).clamp(4, 300);
        for number in 0..count {
            damage(&file, text, number);
        }
    }
}

/// Picks one of a list, another for each number.
fn pick<T>(list: &[T], number: usize) -> Option<&T> {
    // Steps by a prime visit all places before any comes again.
    list.get(number.wrapping_mul(7_919) % list.len().max(1))
}

#[test]
fn every_format_has_a_fixture_that_it_detects() {
    for format in FORMATS {
        let folder = own_root().join(format.name());
        let mut paths = Vec::new();
        if folder.is_dir() {
            list_files(&folder, &format!("{}/", format.name()), &mut paths);
        }
        let detected = paths.iter().any(|path| {
            let bytes = fs::read(own_root().join(path)).unwrap();
            format_of(path, &bytes) == Some(format.name())
        });
        assert!(detected, "Add a small file of the format to {}.", folder.display());
        assert!(!format.documentation().is_empty() && !format.files().is_empty());
    }
    for file in all_files() {
        check(&file, &file.bytes, "as it is");
    }
}

#[test]
fn a_file_that_is_cut_off_never_panics() {
    for file in all_files() {
        for at in places(file.bytes.len(), file.budget) {
            check(&file, &file.bytes[..at], &format!("cut at {at}"));
        }
    }
}

#[test]
fn flipped_bytes_never_panic() {
    for file in all_files() {
        for (number, at) in places(file.bytes.len(), file.budget).enumerate() {
            let mut bytes = file.bytes.clone();
            bytes[at] = match number % 4 {
                0 => bytes[at] ^ 1 << (at % 8),
                1 => b"{}[]\":,\\0-"[at % 10],
                2 => 0,
                _ => 0xff,
            };
            check(&file, &bytes, &format!("byte {at}, {}", number % 4));
        }
    }
}

#[test]
fn values_of_other_kinds_and_huge_numbers_make_no_impossible_run() {
    for_texts(|file, text, number| {
        let (values, _) = tokens(text);
        let Some((start, end)) = pick(&values, number) else { return };
        let value = VALUES[number % VALUES.len()];
        let damaged = format!("{}{value}{}", &text[..*start], &text[*end..]);
        check(file, damaged.as_bytes(), &format!("{value} at {start}"));
    });
}

#[test]
fn negative_and_huge_figures_are_never_taken_over() {
    for file in all_files() {
        let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
        let (values, _) = tokens(text);
        for value in ["-7", "-0.25", "1e999", "-1e300", "18446744073709551615", "NaN"] {
            // All numbers at once, also those in quotes.
            let mut damaged = String::new();
            let mut from = 0;
            for (start, end) in &values {
                let plain = &text[*start..*end];
                let inside = plain.trim_matches('"');
                if inside.is_empty() || inside.parse::<f64>().is_err() {
                    continue;
                }
                damaged.push_str(&text[from..*start]);
                damaged.push_str(&plain.replace(inside, value));
                from = *end;
            }
            damaged.push_str(&text[from..]);
            check(&file, damaged.as_bytes(), &format!("all numbers {value}"));
        }
    }
}

#[test]
fn repeated_keys_never_panic() {
    for_texts(|file, text, number| {
        let (_, keys) = tokens(text);
        let Some((start, end)) = pick(&keys, number) else { return };
        let value = VALUES[number % VALUES.len()];
        let key = &text[*start..*end];
        let damaged = format!("{}{key}:{value},{}", &text[..*start], &text[*start..]);
        check(file, damaged.as_bytes(), &format!("{key} twice at {start}"));
    });
}

#[test]
fn deep_nesting_never_overflows_the_stack() {
    for file in all_files().into_iter().filter(|file| file.bytes.len() < 20_000) {
        let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
        let (values, _) = tokens(text);
        for (number, depth) in [60, 900, 5_000, 60, 900, 30_000].into_iter().enumerate() {
            let Some((start, end)) = pick(&values, number) else { continue };
            let (open, close) = [("[", "]"), ("{\"a\":", "}")][number % 2];
            let inside = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let damaged = format!("{}{inside}{}", &text[..*start], &text[*end..]);
            check(&file, damaged.as_bytes(), &format!("{depth} levels at {start}"));
            // The same as JSON in text, and without the ends.
            let quoted = json::write(&Value::Text(inside), false);
            let damaged = format!("{}{quoted}{}", &text[..*start], &text[*end..]);
            check(&file, damaged.as_bytes(), &format!("{depth} levels in text at {start}"));
            let damaged = format!("{}{}", &text[..*start], open.repeat(depth));
            check(&file, damaged.as_bytes(), &format!("{depth} open levels at {start}"));
        }
    }
}
