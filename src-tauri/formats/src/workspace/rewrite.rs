//! **Pure.** Writes corrections of imported names into the text of a workspace file. Changes only the
//! entries that differ, so that comments and the form of the file stay.
use super::renames::{Renames, RunNames, plain_path};
use super::{self as workspace, Workspace};
use crate::error::{ReadError, ReadErrorKind};
use crate::json;
use crate::node::{Node, Shape};
use crate::value::Value;
use crate::yaml;
use crate::yaml::tree::Item;
use std::collections::BTreeMap;

const SECTION: &str = "imports";
/// Indentation of a new level.
const STEP: &str = "  ";

/// Returns the text of a workspace file with other corrections. Fails if the file cannot be read, or
/// has a form in which an entry of `imports` cannot be changed alone.
pub fn rewrite(text: &str, renames: &Renames) -> Result<String, ReadError> {
    let before = workspace::read(text)?;
    let wanted = Workspace { imports: renames.clone(), ..before.clone() };
    let mut new = text.to_owned();
    let maps = values(&before.imports).into_iter().zip(values(renames));
    for ((map, old), (_, wanted)) in maps {
        for key in old.keys().filter(|key| !wanted.contains_key(*key)) {
            new = remove(&new, map, key).ok_or_else(fixed)?;
        }
        for (key, value) in wanted.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
            new = put(&new, map, key, value).ok_or_else(fixed)?;
        }
    }
    // Faults have line numbers, which may change.
    let without_faults = |one: Workspace| Workspace { faults: Vec::new(), ..one };
    let after = workspace::read(&new).map_err(|_| fixed())?;
    let is_kept = after.faults.len() <= before.faults.len();
    if !is_kept || without_faults(after) != without_faults(wanted) {
        return Err(fixed());
    }
    Ok(new)
}

fn fixed() -> ReadError {
    let message = "The section `imports` cannot be changed in this form of touchstone.yaml.";
    ReadError::new(ReadErrorKind::BadValue, message)
        .advise("Write each key of the file on a line of its own, or edit the section.")
}

/// Returns the maps of the section, with the YAML of their values.
fn values(renames: &Renames) -> [(&'static str, BTreeMap<String, String>); 4] {
    let texts = |names: &BTreeMap<String, String>| {
        names.iter().map(|(from, to)| (from.clone(), quoted(to))).collect()
    };
    let files = renames.files.iter().map(|(path, names)| (path.clone(), fields(names)));
    [
        ("systems", texts(&renames.systems)),
        ("models", texts(&renames.models)),
        ("tasks", texts(&renames.tasks)),
        ("files", files.collect()),
    ]
}

fn fields(names: &RunNames) -> String {
    let fields = [("task", &names.task), ("system", &names.system), ("model", &names.model)];
    let fields = fields.into_iter().filter_map(|(key, name)| Some((key, name.as_deref()?)));
    let fields: Vec<String> =
        fields.map(|(key, name)| format!("{key}: {}", quoted(name))).collect();
    format!("{{ {} }}", fields.join(", "))
}

/// Formats a text as YAML. Texts of JSON are texts of YAML, except for characters that YAML has only
/// escaped.
fn quoted(text: &str) -> String {
    let escaped = |letter: char| {
        let is_plain = !letter.is_control()
            && !matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
        if is_plain { letter.to_string() } else { format!("\\u{:04x}", u32::from(letter)) }
    };
    json::write(&Value::from(text), false).chars().map(escaped).collect()
}

type Entry<'t> = (Item<'t>, Item<'t>);

fn entry<'t>(map: Item<'t>, key: &str) -> Option<Entry<'t>> {
    map.entries().find(|(name, _)| name.word() == Some(key))
}

/// Returns the entry of a map of the section, by the key as [`Renames`] has it.
fn named_entry<'t>((map, name): (Item<'t>, &str), key: &str) -> Option<Entry<'t>> {
    let is_path = |word: &str| name == "files" && plain_path(word) == key;
    let found = map.entries().filter(|(word, _)| word.word().is_some_and(is_path)).last();
    entry(map, key).or(found)
}

/// Writes an entry of a map of the section.
fn put(text: &str, map: &str, key: &str, value: &str) -> Option<String> {
    let line = format!("{}: {value}", quoted(key));
    // A file without any key is no YAML document.
    let tree = yaml::parse(text).ok().filter(|tree| tree.root().shape() == Shape::Map);
    let section = tree.as_ref().and_then(|tree| entry(tree.root(), SECTION));
    let Some((_, section)) = section else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{gap}{SECTION}:\n{STEP}{map}:\n{STEP}{STEP}{line}\n"));
    };
    let Some((_, items)) = entry(section, map) else {
        return if is_flow(text, section) {
            append(text, section, &format!("{map}: {{ {line} }}"))
        } else {
            let indent = indent(text, section)?;
            append(text, section, &format!("{map}:\n{indent}{STEP}{line}"))
        };
    };
    match named_entry((items, map), key) {
        Some((_, old)) => {
            let (from, _) = old.span()?;
            // A block map ends with its last value.
            replace(text, from, content_end(text, old)?, value)
        }
        None => append(text, items, &line),
    }
}

/// Removes an entry of a map of the section, and what is empty without it.
fn remove(text: &str, map: &str, key: &str) -> Option<String> {
    let tree = yaml::parse(text).ok()?;
    let root = tree.root();
    let section = entry(root, SECTION)?;
    let items = entry(section.1, map)?;
    let item = named_entry((items.1, map), key)?;
    let levels = [(root, section), (section.1, items), (items.1, item)];
    // The outermost level that holds nothing else.
    let at = (1..levels.len())
        .find(|at| levels[*at..].iter().all(|(map, _)| map.entries().count() == 1));
    let (map, (key, value)) = levels[at.map_or(levels.len() - 1, |at| at - 1)];
    let (from, to) = (key.span()?.0, content_end(text, value)?.max(key.span()?.1));
    if !is_flow(text, map) {
        return replace(text, line_start(text, from), line_end(text, to), "");
    }
    let mut entries = map.entries().skip_while(|(other, _)| other.span() != key.span()).skip(1);
    if let Some((next, _)) = entries.next() {
        return replace(text, from, next.span()?.0, "");
    }
    let before = map.entries().take_while(|(other, _)| other.span() != key.span()).last();
    let from = before.map_or(Some(from), |(_, value)| content_end(text, value))?;
    replace(text, from, to, "")
}

/// Writes an entry behind the last one of a map. Fails for an empty map, and for what is no map.
fn append(text: &str, map: Item<'_>, entry: &str) -> Option<String> {
    let (key, value) = map.entries().last()?;
    let end = content_end(text, value)?.max(key.span()?.1);
    if is_flow(text, map) {
        return replace(text, end, end, &format!(", {entry}"));
    }
    let (indent, end) = (indent(text, map)?, line_end(text, end));
    let gap = if text.get(..end)?.ends_with('\n') { "" } else { "\n" };
    replace(text, end, end, &format!("{gap}{indent}{entry}\n"))
}

fn replace(text: &str, from: usize, to: usize, new: &str) -> Option<String> {
    Some(format!("{}{new}{}", text.get(..from)?, text.get(to..)?))
}

/// Returns true for a map or list in brackets.
fn is_flow(text: &str, item: Item<'_>) -> bool {
    let start = item.span().and_then(|(from, _)| text.get(from..)).unwrap_or_default();
    item.shape() != Shape::Map || start.starts_with('{')
}

/// Returns the spaces before the first key of a block map.
fn indent<'t>(text: &'t str, map: Item<'_>) -> Option<&'t str> {
    let (from, _) = map.entries().next()?.0.span()?;
    let indent = text.get(line_start(text, from)..from)?;
    indent.bytes().all(|byte| byte == b' ').then_some(indent)
}

/// Returns the end of the last scalar or bracket of a node. A block map itself ends only where the
/// next node begins.
fn content_end(text: &str, mut item: Item<'_>) -> Option<usize> {
    let mut end = 0;
    while !is_flow(text, item) {
        let (key, value) = item.entries().last()?;
        (item, end) = (value, key.span()?.1);
    }
    Some(item.span()?.1.max(end))
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// Returns the start of the next line; the place itself at the start of a line.
fn line_end(text: &str, at: usize) -> usize {
    if line_start(text, at) == at {
        return at;
    }
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn renames(yaml: &str) -> Renames {
        let read = workspace::read(yaml).unwrap();
        assert_eq!(read.faults, [], "{yaml}");
        read.imports
    }

    #[test]
    fn only_the_entries_that_differ_are_written() {
        let block = "# top\nimports: # corrections\n  # old agents\n  systems:\n    react: promptql # since May\n    \
                     # the second\n    'say': \"mine\"\n  files:\n    logs: # all\n      system: base\n\n# limits\nrun: { concurrency: 2 }\n";
        let flow =
            "imports: { systems: { react: promptql, say: mine }, models: { a: b } } # x\nrun: {}\n";
        for (text, wanted, expected) in [
            ("", "imports: { systems: { a: b } }", "imports:\n  systems:\n    \"a\": \"b\"\n"),
            (
                "# nothing\n",
                "imports: { tasks: { a: b } }",
                "# nothing\nimports:\n  tasks:\n    \"a\": \"b\"\n",
            ),
            (
                "run: {}",
                "imports: { models: { a: b } }",
                "run: {}\nimports:\n  models:\n    \"a\": \"b\"\n",
            ),
            (
                block,
                "imports: { systems: { react: x, say: mine }, files: { logs: { system: base } } }",
                &block.replace("promptql #", "\"x\" #"),
            ),
            (
                block,
                "imports: { systems: { react: promptql }, files: { logs: { system: base } } }",
                &block.replace("    'say': \"mine\"\n", ""),
            ),
            (
                block,
                "imports: { systems: { react: promptql, say: mine, z: y }, files: { logs: { system: base } } }",
                &block.replace("\"mine\"\n", "\"mine\"\n    \"z\": \"y\"\n"),
            ),
            (
                block,
                "imports: { systems: { react: promptql, say: mine }, tasks: { a: b }, files: { logs: { system: base } } }",
                &block.replace(
                    "      system: base\n",
                    "      system: base\n  tasks:\n    \"a\": \"b\"\n",
                ),
            ),
            (
                block,
                "imports: { systems: { react: promptql, say: mine } }",
                &block.replace("  files:\n    logs: # all\n      system: base\n", ""),
            ),
            (
                flow,
                "imports: { systems: { react: promptql, say: x }, models: { a: b } }",
                &flow.replace("mine", "\"x\""),
            ),
            (
                flow,
                "imports: { systems: { say: mine }, models: { a: b } }",
                &flow.replace("react: promptql, ", ""),
            ),
            (
                flow,
                "imports: { systems: { react: promptql }, models: { a: b } }",
                &flow.replace(", say: mine", ""),
            ),
            (
                flow,
                "imports: { systems: { react: promptql, say: mine } }",
                &flow.replace(", models: { a: b }", ""),
            ),
            (
                flow,
                "imports: { systems: { react: promptql, say: mine }, models: { a: b }, tasks: { c: d } }",
                &flow.replace("{ a: b }", "{ a: b }, tasks: { \"c\": \"d\" }"),
            ),
            ("run: {}\nimports: { systems: { a: b } }\n", "run: {}", "run: {}\n"),
            ("imports:\n  systems:\n    a: b\n# end\nrun: {}\n", "run: {}", "# end\nrun: {}\n"),
            (
                "imports:\n  systems:\n    a: b",
                "imports: { systems: { a: b, c: d } }",
                "imports:\n  systems:\n    a: b\n    \"c\": \"d\"\n",
            ),
        ] {
            let wanted = renames(wanted);
            assert_eq!(rewrite(text, &wanted).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_file_in_another_form_is_left_alone() {
        let wanted = renames("imports: { systems: { a: b } }");
        for text in [
            "imports: {}\n",
            "imports:\n",
            "imports: { systems: {} }\n",
            "--- { imports: }\n",
            "a: [\n",
        ] {
            match rewrite(text, &wanted) {
                Ok(new) => assert_eq!(workspace::read(&new).unwrap().imports, wanted, "{text}"),
                Err(error) => assert!(!error.message.is_empty(), "{text}"),
            }
        }
        let refused = rewrite("{ output_dir: results }\n", &wanted).unwrap_err();
        assert!(refused.message.contains("cannot be changed"), "{}", refused.message);
    }

    #[test]
    fn mistakes_elsewhere_in_the_file_do_not_matter() {
        let text = "imports:\n  systems:\n    a: b\nrun: { concurrencyy: 2 }\n";
        let new = rewrite(text, &renames("imports: { systems: { a: b, c: d } }")).unwrap();
        assert_eq!(new, text.replace("a: b\n", "a: b\n    \"c\": \"d\"\n"));
    }

    fn any_renames() -> impl Strategy<Value = Renames> {
        let names = || proptest::collection::btree_map("[a-c*]{0,2}|.*", ".+", 0..4);
        let file = (proptest::option::of(".+"), proptest::option::of(".+"))
            .prop_map(|(system, model)| RunNames { system, model, task: None });
        let files = proptest::collection::btree_map("[a-c]{1,2}", file, 0..3);
        (names(), names(), names(), files).prop_map(|(tasks, systems, models, mut files)| {
            files.retain(|_, names| *names != RunNames::default());
            Renames { tasks, systems, models, files }
        })
    }

    proptest! {
        #[test]
        fn any_corrections_can_follow_any_others(first in any_renames(), second in any_renames()) {
            let start = "# a\noutput_dir: x # b\n";
            let text = rewrite(start, &first).unwrap();
            prop_assert!(text.starts_with(start));
            let text = rewrite(&text, &second).unwrap();
            prop_assert_eq!(workspace::read(&text).unwrap().imports, second);
            prop_assert_eq!(rewrite(&text, &Renames::default()).unwrap(), start);
        }
    }
}
