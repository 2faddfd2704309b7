//! Finds cycles between the modules of a folder: modules of which each uses the next, so that none
//! can be read, tested or moved alone. Only paths count that begin with `crate::` or `super::`; a
//! module and the ones inside it may use each other.
use super::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Known cycles: folder, and the modules of the cycle. Only remove entries and modules, by moving
/// what two modules share below both.
const KNOWN: &[(&str, &str)] = &[
    ("formats", "stabletoolbench suite transcript"),
    ("formats::stabletoolbench", "functions pool query"),
    ("host::serve", "connections socket"),
    ("judges::azure", "pandas table"),
    ("runner", "execute launch"),
    ("runner", "provider search spec strategy"),
    ("runner", "secrets setup tools"),
    ("runner::tools::sql", "process sqlite"),
    (
        "store",
        "imported_verdicts imports inbox index_writer indexer ingest judgements load members \
         overview parse_unit query record rescore reviews scoring settings state_counts suites \
         watch watching",
    ),
    ("store::overview", "expected gather"),
];

/// Modules that each module of a folder uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the crate and the path of the module that a file holds.
fn module(source: &Source) -> Option<(String, Vec<String>)> {
    let path = source.path.strip_prefix("src-tauri/")?.strip_suffix(".rs")?;
    let (name, path) = match path.strip_prefix("src/") {
        Some(path) => ("host", path),
        None => path.split_once("/src/")?,
    };
    let mut path: Vec<String> = path.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod") || path == ["lib"] {
        path.pop();
    }
    Some((name.to_owned(), path))
}

/// Splits code into words, `::` and single other characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()) {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        let (token, behind) = rest.split_at(length);
        found.push(token);
        rest = behind.trim_start();
    }
    found
}

/// Collects the paths of a `use` tree or of a plain path that begins at a position. Returns the
/// position behind it.
fn paths<'c>(
    tokens: &[&'c str],
    mut at: usize,
    before: &[&'c str],
    into: &mut Vec<Vec<&'c str>>,
) -> usize {
    let is_word = |at: usize| {
        tokens.get(at).is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic()))
    };
    if tokens.get(at) == Some(&"{") {
        at += 1;
        while tokens.get(at).is_some_and(|token| *token != "}") {
            at = paths(tokens, at, before, into).max(at + 1);
            at += usize::from(tokens.get(at) == Some(&","));
        }
        return at + 1;
    }
    let mut path = before.to_vec();
    while is_word(at) {
        path.push(tokens[at]);
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    if tokens.get(at) == Some(&"{") && tokens.get(at.wrapping_sub(1)) == Some(&"::") {
        return paths(tokens, at, &path, into);
    }
    into.push(path);
    at
}

/// Returns the paths from the root of the crate that a module names.
fn named(module: &[String], code: &str) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if matches!(tokens[at], "crate" | "super")
            && tokens.get(at + 1) == Some(&"::")
            && tokens.get(at.wrapping_sub(1)) != Some(&"::")
        {
            paths(&tokens, at, &[], &mut found);
        }
    }
    let absolute = |path: &Vec<&str>| {
        let up = path.iter().take_while(|part| **part == "super").count();
        let root = if up == 0 { 0 } else { module.len().saturating_sub(up) };
        let rest = path[up.max(1)..].iter().map(|part| (*part).to_owned());
        module[..root].iter().cloned().chain(rest).collect()
    };
    found.iter().map(absolute).collect()
}

/// Returns which modules use which of the same folder, by folder.
fn uses(modules: &BTreeMap<(String, Vec<String>), String>) -> BTreeMap<String, Uses> {
    let mut folders: BTreeMap<String, Uses> = BTreeMap::new();
    for ((name, module), code) in modules {
        for mut path in named(module, code) {
            while !path.is_empty() && !modules.contains_key(&(name.clone(), path.clone())) {
                path.pop();
            }
            let same = module.iter().zip(&path).take_while(|(one, other)| one == other).count();
            if let (Some(from), Some(to)) = (module.get(same), path.get(same)) {
                let folder = [std::slice::from_ref(name), &module[..same]].concat().join("::");
                let uses = folders.entry(folder).or_default();
                uses.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    folders
}

/// Returns all modules that a module uses, directly or through others.
fn reached<'u>(uses: &'u Uses, from: &'u String) -> BTreeSet<&'u String> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        open.extend(uses.get(module).into_iter().flatten().filter(|to| reached.insert(*to)));
    }
    reached
}

/// Returns the largest cycles, each as the sorted names of its modules.
fn cycles(uses: &Uses) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for module in uses.keys() {
        let back = |other: &&String| reached(uses, other).contains(module);
        let cycle: Vec<&String> = reached(uses, module).into_iter().filter(back).collect();
        if cycle.len() > 1 {
            found.insert(cycle.into_iter().map(String::as_str).collect::<Vec<_>>().join(" "));
        }
    }
    found
}

#[test]
fn no_modules_of_a_folder_use_each_other_in_a_circle() {
    let sources = sources();
    let modules = sources.iter().filter(|source| source.is_rust() && !source.is_test());
    let modules = modules.filter_map(|source| Some((module(source)?, source.code()))).collect();
    let found: BTreeSet<(String, String)> = uses(&modules)
        .iter()
        .flat_map(|(folder, uses)| cycles(uses).into_iter().map(|cycle| (folder.clone(), cycle)))
        .collect();
    let known = KNOWN.iter().map(|(folder, cycle)| ((*folder).into(), (*cycle).into())).collect();
    let list = |cycles: &BTreeSet<(String, String)>| format!("{cycles:#?}");
    let new = &found - &known;
    assert!(new.is_empty(), "move what they share below both modules: {}", list(&new));
    let gone = &known - &found;
    assert!(gone.is_empty(), "these are mended, remove them from KNOWN: {}", list(&gone));
}

#[test]
fn a_cycle_is_found_over_folders_and_use_trees() {
    let module = |path: &str, code: &str| {
        let path = path.split('/').map(str::to_owned).collect::<Vec<_>>();
        (("x".to_owned(), path), code.to_owned())
    };
    let modules = BTreeMap::from([
        module("a", "use crate::{other::{X, Y}, b::c::{self, D}};"),
        module("b", "pub mod c; use c::D;"),
        module("b/c", "fn f() { super::super::e::g() }"),
        module("b/d", "use super::c::D;"),
        module("e", "impl crate::a::A for u8 {}"),
        module("f", "use crate::a::A;"),
    ]);
    let folders = uses(&modules);
    assert_eq!(cycles(&folders["x"]), BTreeSet::from(["a b e".to_owned()]));
    assert_eq!(cycles(&folders["x::b"]), BTreeSet::new());
}
