//! **Pure.** Writes corrections of imported names into the text of a workspace file. Changes only the
//! entries that differ, so that comments and the form of the file stay.
use super::renames::{Renames, plain_path};
use super::{self as workspace, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::node::{Node, Shape};
use touchstone_model::run::RunNames;
use touchstone_model::value::Value;
use touchstone_model::yaml;
use touchstone_model::yaml::tree::Item;

const SECTION: &str = "imports";
/// Map of the section whose entries are maps of fields.
const FILES: &str = "files";
/// Indentation of a new level.
const STEP: &str = "  ";

/// Returns the text of a workspace file with other corrections. Fails if the file cannot be read, or
/// has a form in which an entry of `imports` cannot be changed alone.
pub fn rewrite(text: &str, renames: &Renames) -> Result<String, ReadError> {
    let before = workspace::read(text)?;
    let wanted = Workspace { imports: renames.clone(), ..before.clone() };
    let mut new = text.to_owned();
    for (place, value) in edits(&before.imports, renames) {
        let place: Vec<&str> = [SECTION].into_iter().chain(place).collect();
        let edited = match value {
            Some(value) => put(&new, &place, &value),
            None => remove(&new, &place),
        };
        new = edited.ok_or_else(fixed)?;
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

/// Keys below the section, and the YAML of the value there; `None` if there is to be none.
type Edit<'a> = (Vec<&'a str>, Option<String>);

/// Returns what differs. New values come first, so that a level which stays is never left empty.
fn edits<'a>(old: &'a Renames, new: &'a Renames) -> Vec<Edit<'a>> {
    let mut edits: Vec<Edit<'a>> = Vec::new();
    for (map, old, new) in [
        ("systems", &old.systems, &new.systems),
        ("models", &old.models, &new.models),
        ("tasks", &old.tasks, &new.tasks),
    ] {
        let differing = differing(old, new);
        edits.extend(
            differing.map(|(key, _, name)| (vec![map, key], name.map(|name| quoted(name)))),
        );
    }
    for (path, old, new) in differing(&old.files, &new.files) {
        let (Some(old), Some(new)) = (old, new) else {
            edits.push((vec![FILES, path], new.map(map_of_fields)));
            continue;
        };
        let both = fields(old).into_iter().zip(fields(new));
        let differing = both.filter(|((_, old), (_, new))| old != new);
        edits.extend(
            differing.map(|(_, (field, name))| (vec![FILES, path, field], name.map(quoted))),
        );
    }
    edits.sort_by_key(|(_, value)| value.is_none());
    edits
}

/// Returns the keys whose values differ, with the old and the new value.
fn differing<'a, V: PartialEq>(
    old: &'a BTreeMap<String, V>,
    new: &'a BTreeMap<String, V>,
) -> impl Iterator<Item = (&'a String, Option<&'a V>, Option<&'a V>)> {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let both = keys.into_iter().map(|key| (key, old.get(key), new.get(key)));
    both.filter(|(_, old, new)| old != new)
}

fn fields(names: &RunNames) -> [(&'static str, Option<&str>); 3] {
    let RunNames { task, system, model } = names;
    [("task", task.as_deref()), ("system", system.as_deref()), ("model", model.as_deref())]
}

fn map_of_fields(names: &RunNames) -> String {
    let fields = fields(names).into_iter();
    let fields = fields.filter_map(|(key, name)| Some(format!("{key}: {}", quoted(name?))));
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// Formats a text as YAML. Texts of JSON are texts of YAML, except for characters that YAML has only
/// escaped.
pub(super) fn quoted(text: &str) -> String {
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

/// Returns the entry of a map at the last of these keys, by that key as [`Renames`] has it.
fn named_entry<'t>(map: Item<'t>, place: &[&str]) -> Option<Entry<'t>> {
    let key = place.last()?;
    let is_path = |word: &str| matches!(place, [_, FILES, _]) && plain_path(word) == *key;
    let found = map.entries().filter(|(word, _)| word.word().is_some_and(is_path)).last();
    entry(map, key).or(found)
}

/// Writes an entry that is new. Returns `None` for one that is there, and for a form of the file in
/// which no entry can be written alone.
pub(super) fn put_new(text: &str, place: &[&str], value: &str) -> Option<String> {
    if let Ok(tree) = yaml::parse(text) {
        let mut map = Some(tree.root());
        for key in place {
            map = map.and_then(|map| entry(map, key)).map(|(_, value)| value);
        }
        if map.is_some() {
            return None;
        }
    }
    put(text, place, value)
}

/// Writes an entry of a section, and the levels above it that are missing.
pub(super) fn put(text: &str, place: &[&str], value: &str) -> Option<String> {
    // A file without any key is no YAML document.
    let tree = yaml::parse(text).ok().filter(|tree| tree.root().shape() == Shape::Map);
    let section = tree.as_ref().and_then(|tree| entry(tree.root(), place.first()?));
    let Some((_, mut map)) = section else {
        let end = line_ending(text);
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return Some(format!("{text}{gap}{}{end}", block(text, place, 0, "", value)));
    };
    for level in 1..place.len() {
        match named_entry(map, &place[..=level]) {
            Some((key, old)) if level + 1 == place.len() => {
                let (from, _) = old.span()?;
                // Brackets may not stand where the lines of a list began.
                if is_block_list(text, old) {
                    let (from, to) = (key.span()?.1, content_end(text, old)?);
                    return replace(text, from, to, &format!(": {value}"));
                }
                // A block map ends with its last value.
                return replace(text, from, content_end(text, old)?, value);
            }
            Some((_, inner)) => map = inner,
            None => return append(text, map, place, level, value),
        }
    }
    None
}

/// Gives an entry another name. Returns `None` if it is not there.
pub(super) fn rename_key(text: &str, place: &[&str], name: &str) -> Option<String> {
    let tree = yaml::parse(text).ok()?;
    let mut map = tree.root();
    let mut key = None;
    for level in 0..place.len() {
        let (found, value) = named_entry(map, &place[..=level])?;
        (key, map) = (Some(found), value);
    }
    let (from, to) = key?.span()?;
    replace(text, from, to, &quoted(name))
}

/// Removes an entry of the section, and what is empty without it. Comments within what is removed
/// go with it.
pub(super) fn remove(text: &str, place: &[&str]) -> Option<String> {
    let tree = yaml::parse(text).ok()?;
    let mut levels = Vec::new();
    let mut map = tree.root();
    for level in 0..place.len() {
        let found = named_entry(map, &place[..=level])?;
        levels.push((map, found));
        map = found.1;
    }
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

/// Writes an entry behind the last one of a map, which is at a level of the place. Fails for what is
/// no map.
fn append(text: &str, map: Item<'_>, place: &[&str], level: usize, value: &str) -> Option<String> {
    if is_flow(text, map) {
        let start = map.span().filter(|_| map.shape() == Shape::Map)?.0 + 1;
        let entry = flow(place, level, value);
        return match map.entries().last() {
            Some((key, value)) => {
                let end = content_end(text, value)?.max(key.span()?.1);
                replace(text, end, end, &format!(", {entry}"))
            }
            None => replace(text, start, start, &format!(" {entry} ")),
        };
    }
    let (key, last) = map.entries().last()?;
    let end = line_end(text, content_end(text, last)?.max(key.span()?.1));
    let entry = block(text, place, level, indent(text, map)?, value);
    let ending = line_ending(text);
    let gap = if text.get(..end)?.ends_with('\n') { "" } else { ending };
    replace(text, end, end, &format!("{gap}{entry}{ending}"))
}

/// Formats an entry with the keys from a level on, each on a line of its own.
fn block(text: &str, place: &[&str], level: usize, indent: &str, value: &str) -> String {
    let keys = place.iter().enumerate().skip(level);
    let lines =
        keys.map(|(at, _)| format!("{indent}{}{}:", STEP.repeat(at - level), key(place, at)));
    format!("{} {value}", lines.collect::<Vec<_>>().join(line_ending(text)))
}

/// Formats an entry with the keys from a level on, in brackets.
fn flow(place: &[&str], level: usize, value: &str) -> String {
    let last = format!("{}: {value}", key(place, place.len() - 1));
    let outer = (level..place.len() - 1).rev();
    outer.fold(last, |inner, at| format!("{}: {{ {inner} }}", key(place, at)))
}

/// Formats a key of a place. Those that a person chose are quoted.
fn key(place: &[&str], level: usize) -> String {
    let is_chosen = level == if place[0] == SECTION { 2 } else { 1 };
    if is_chosen { quoted(place[level]) } else { place[level].to_owned() }
}

/// Returns the line ending of a text, which is that of its first line.
fn line_ending(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}

fn replace(text: &str, from: usize, to: usize, new: &str) -> Option<String> {
    Some(format!("{}{new}{}", text.get(..from)?, text.get(to..)?))
}

/// Returns true for a map or list in brackets.
fn is_flow(text: &str, item: Item<'_>) -> bool {
    let start = item.span().and_then(|(from, _)| text.get(from..)).unwrap_or_default();
    item.shape() != Shape::Map || start.starts_with('{')
}

/// Returns true for a list without brackets.
fn is_block_list(text: &str, item: Item<'_>) -> bool {
    let start = item.span().and_then(|(from, _)| text.get(from..)).unwrap_or_default();
    item.shape() == Shape::List && item.items().next().is_some() && !start.starts_with('[')
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
    loop {
        if is_block_list(text, item) {
            item = item.items().last()?;
        } else if is_flow(text, item) {
            break;
        } else {
            let (key, value) = item.entries().last()?;
            (item, end) = (value, key.span()?.1);
        }
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
            // Lines end as those of the file do.
            if text.contains('\n') {
                let [text, expected] = [text, expected].map(|text| text.replace('\n', "\r\n"));
                assert_eq!(rewrite(&text, &wanted).unwrap(), expected, "{text}");
            }
        }
    }

    #[test]
    fn of_an_entry_of_a_file_only_the_field_that_differs_is_written() {
        let block = "imports:\n  files:\n    # old\n    ./logs/: # all\n      system: base # since May\n      # the best\n      \
                     model: m # note\n    x: { task: t, model: n } # x\n";
        let flow = "imports: { files: { logs: { system: base, model: m }, x: {} } } # all\n";
        let x = "x: { task: t, model: n }";
        for (text, wanted, expected) in [
            (
                block,
                format!("logs: {{ system: new, model: m }}, {x}"),
                block.replace("base", "\"new\""),
            ),
            (block, format!("logs: {{ model: m }}, {x}"), {
                block.replace("      system: base # since May\n", "")
            }),
            (block, format!("logs: {{ system: base }}, {x}"), {
                block.replace("      model: m # note\n", "")
            }),
            (
                block,
                format!("logs: {{ system: base, model: m, task: t }}, {x}"),
                block.replace("# note\n", "# note\n      task: \"t\"\n"),
            ),
            (
                block,
                format!("logs: {{ task: t }}, {x}"),
                block
                    .replace("      system: base # since May\n", "")
                    .replace("model: m # note\n", "task: \"t\"\n"),
            ),
            (
                block,
                "logs: { system: base, model: m }, x: { task: u, system: s }".to_owned(),
                block.replace("task: t, model: n }", "task: \"u\", system: \"s\" }"),
            ),
            (
                block,
                "logs: { system: base, model: m }".to_owned(),
                block.replace("    x: { task: t, model: n } # x\n", ""),
            ),
            (flow, "logs: { system: new, model: m }, x: {}".to_owned(), {
                flow.replace("base", "\"new\"")
            }),
            (flow, "logs: { system: base, model: m }, x: { task: t }".to_owned(), {
                flow.replace("{}", "{ task: \"t\" }")
            }),
        ] {
            let wanted = renames(&format!("imports: {{ files: {{ {wanted} }} }}"));
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

    /// Writes corrections of files in block form, with a comment in each line and between the lines.
    fn commented(files: &BTreeMap<String, RunNames>) -> String {
        let mut lines = vec!["imports:".to_owned(), "  files:".to_owned()];
        for (path, names) in files {
            lines.push(format!("    {}:", quoted(path)));
            let fields = fields(names).into_iter();
            lines.extend(
                fields.filter_map(|(key, name)| Some(format!("      {key}: {}", quoted(name?)))),
            );
        }
        let lines = lines.iter().enumerate();
        let lines = lines.map(|(at, line)| format!("# above {at}\n{line} # behind {at}\n"));
        lines.collect::<Vec<_>>().concat()
    }

    proptest! {
        #[test]
        fn a_name_of_a_file_is_changed_in_its_line_alone(
            renames in any_renames(), at in any::<prop::sample::Index>(), name in ".+"
        ) {
            prop_assume!(!renames.files.is_empty());
            let text = commented(&renames.files);
            let mut wanted = Renames { files: renames.files, ..Renames::default() };
            let mut given: Vec<&mut String> = wanted
                .files
                .values_mut()
                .flat_map(|one| [&mut one.task, &mut one.system, &mut one.model])
                .flatten()
                .collect();
            let count = given.len();
            **given.get_mut(at.index(count)).unwrap() = name;
            let new = rewrite(&text, &wanted).unwrap();
            let comment = |line: &str| line.rsplit_once(" # ").map(|(_, end)| end.to_owned());
            let lines = text.lines().zip(new.lines());
            prop_assert!(lines.clone().filter(|(old, new)| old != new).count() <= 1, "{text}{new}");
            prop_assert_eq!(text.lines().count(), new.lines().count());
            for (old, new) in lines {
                prop_assert_eq!(comment(old), comment(new));
            }
        }

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
