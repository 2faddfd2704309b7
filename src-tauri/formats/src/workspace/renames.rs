//! **Pure.** `imports` of the workspace file: a person's corrections to the tasks, systems and models
//! that the files of other tools name.
use std::collections::BTreeMap;
use touchstone_model::node::Node;
use touchstone_model::run::RunNames;
use touchstone_model::yaml::tree::Item;

/// Corrections to the names of imported runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renames {
    /// New names of tasks.
    pub tasks: BTreeMap<String, String>,
    /// New names of systems.
    pub systems: BTreeMap<String, String>,
    /// New names of models.
    pub models: BTreeMap<String, String>,
    /// Names for all runs of the files at a path or below it, by path. `*` in a path is any text
    /// without `/`, and `[*]` is a star.
    pub files: BTreeMap<String, RunNames>,
}

impl Renames {
    /// Reads the section of the workspace file. Values of the wrong kind are left out; the schema
    /// reports them.
    pub(super) fn read(section: Item<'_>) -> Self {
        let names = |key| {
            entries(section, key)
                .filter_map(|(from, to)| Some((from, to.word()?.to_owned())))
                .filter(|(_, to)| !to.is_empty())
                .collect()
        };
        let files = entries(section, "files").map(|(path, names)| {
            let name = |key| {
                let name = names.get_non_null(key).and_then(Node::word);
                name.filter(|name| !name.is_empty()).map(str::to_owned)
            };
            (
                plain_path(&path).to_owned(),
                RunNames { task: name("task"), system: name("system"), model: name("model") },
            )
        });
        Self {
            tasks: names("tasks"),
            systems: names("systems"),
            models: names("models"),
            files: files.collect(),
        }
    }

    /// Returns true if nothing is corrected.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Changes the corrections so that a run of a file with the names `own` gets the names `new`, and
    /// its own where one is missing in `new`: all corrections that stand between are taken back. A
    /// correction for the name in the file concerns all runs with it; where the file has no name, it
    /// concerns the file.
    pub fn set(&mut self, path: &str, own: &RunNames, new: &RunNames) {
        for name in Name::ALL {
            let own = name.get(own).cloned();
            let new = name.get(new).cloned().filter(|new| !new.is_empty());
            let new = new.filter(|new| own.as_ref() != Some(new));
            while let Some(pattern) = self.naming_pattern(path, name).cloned() {
                name.get_mut(self.files.entry(pattern).or_default()).clone_from(&new);
                if new.is_some() {
                    break;
                }
            }
            let is_given = self.naming_pattern(path, name).is_some();
            let renames = match name {
                Name::Task => &mut self.tasks,
                Name::System => &mut self.systems,
                Name::Model => &mut self.models,
            };
            match (own, new) {
                _ if is_given => {}
                (Some(own), Some(new)) => drop(renames.insert(own, new)),
                (Some(own), None) => drop(renames.remove(&own)),
                (None, new) => {
                    let exact = path.replace('*', STAR);
                    *name.get_mut(self.files.entry(exact).or_default()) = new;
                }
            }
        }
        self.files.retain(|_, names| *names != RunNames::default());
    }

    /// Returns the names of a run of a file, corrected. A name given for the file replaces the one
    /// in it. A new name is not renamed again.
    pub fn apply(&self, path: &str, names: RunNames) -> RunNames {
        let corrected = |name: Name, own: Option<String>, renames: &BTreeMap<String, String>| {
            let given = self.naming_pattern(path, name).and_then(|pattern| self.files.get(pattern));
            let given = given.and_then(|names| name.get(names).cloned());
            given.or_else(|| own.map(|own| renames.get(&own).cloned().unwrap_or(own)))
        };
        RunNames {
            task: corrected(Name::Task, names.task, &self.tasks),
            system: corrected(Name::System, names.system, &self.systems),
            model: corrected(Name::Model, names.model, &self.models),
        }
    }

    /// Returns the entry of `files` that gives a name to the runs of a file. Of several paths the
    /// deepest decides, of these one without `*`, of these the longest.
    fn naming_pattern(&self, path: &str, name: Name) -> Option<&String> {
        let entries = self.files.iter().filter(|(_, names)| name.get(names).is_some());
        let matching = entries.map(|(pattern, _)| pattern).filter(|one| holds(one, path));
        matching.max_by_key(|one| {
            (one.split('/').count(), !one.replace(STAR, "").contains('*'), one.len())
        })
    }
}

/// Stands for a star in a path, where `*` alone is any text.
const STAR: &str = "[*]";

/// One of the names of a run.
#[derive(Debug, Clone, Copy)]
enum Name {
    Task,
    System,
    Model,
}

impl Name {
    const ALL: [Self; 3] = [Self::Task, Self::System, Self::Model];

    fn get(self, names: &RunNames) -> Option<&String> {
        match self {
            Self::Task => names.task.as_ref(),
            Self::System => names.system.as_ref(),
            Self::Model => names.model.as_ref(),
        }
    }

    fn get_mut(self, names: &mut RunNames) -> &mut Option<String> {
        match self {
            Self::Task => &mut names.task,
            Self::System => &mut names.system,
            Self::Model => &mut names.model,
        }
    }
}

/// Returns a path without `./` before and `/` behind it.
pub(super) fn plain_path(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

/// Returns true if a path is at or below the paths of a pattern.
fn holds(pattern: &str, path: &str) -> bool {
    let mut names = path.split('/');
    pattern.split('/').all(|pattern| names.next().is_some_and(|name| is_match(pattern, name)))
}

/// Returns true if a pattern matches a whole name; `*` is any text, and `[*]` is a star.
fn is_match(pattern: &str, name: &str) -> bool {
    if pattern.contains(STAR) {
        // No name of a file holds the character that takes the place of the stars.
        return is_match(&pattern.replace(STAR, "\0"), &name.replace('*', "\0"));
    }
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The earliest place of each piece leaves the most for those behind it.
    for piece in middle.split('*') {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(end)
}

/// Returns the entries of the map under a key, by name.
fn entries<'t>(section: Item<'t>, key: &str) -> impl Iterator<Item = (String, Item<'t>)> {
    let entries = section.get_non_null(key).into_iter().flat_map(Node::entries);
    entries.filter_map(|(name, value)| Some((name.word()?.to_owned(), value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;
    use proptest::prelude::*;

    fn names(task: &str, system: &str, model: &str) -> RunNames {
        let name = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        RunNames { task: name(task), system: name(system), model: name(model) }
    }

    fn renames(yaml: &str) -> Renames {
        let read = workspace::read(yaml).unwrap();
        assert_eq!(read.faults, [], "{yaml}");
        read.imports
    }

    #[test]
    fn names_are_renamed_once_and_a_name_for_a_file_replaces_the_one_in_it() {
        let renames = renames(
            "imports:\n  systems: { react: promptql, promptql: other, 1: one }\n  models: { openai/o1: o1 }\n  \
             tasks: { a/1: b/1 }\n  files:\n    logs: { system: plain, model: m }\n    ./logs/new/: { system: new }\n    \
             x.json: { task: t }\n    runs/base-*: { system: base }\n    runs/base-3: { system: three }\n    \
             runs/*/x*.json: { system: x, model: deep }\n",
        );
        for (path, from, to) in [
            ("a.eval", names("a/1", "react", "openai/o1"), names("b/1", "promptql", "o1")),
            ("a.eval", names("", "1", "o1"), names("", "one", "o1")),
            ("a.eval", names("", "", ""), names("", "", "")),
            ("logs/a.eval", names("a/1", "react", ""), names("b/1", "plain", "m")),
            ("logs/new/b/c.eval", names("", "", "x"), names("", "new", "m")),
            ("logs2/a.eval", names("", "react", ""), names("", "promptql", "")),
            ("x.json", names("a/1", "", ""), names("t", "", "")),
            ("x.json2", names("a/1", "", ""), names("b/1", "", "")),
            ("runs/base-1/a/b.json", names("", "s", ""), names("", "base", "")),
            ("runs/base/b.json", names("", "s", ""), names("", "s", "")),
            ("runs/base-2/x-1.json", names("", "s", ""), names("", "x", "deep")),
            ("runs/base-3/b.json", names("", "s", ""), names("", "three", "")),
        ] {
            assert_eq!(renames.apply(path, from.clone()), to, "{path} {from:?}");
        }
    }

    #[test]
    fn a_star_is_any_text_within_a_name() {
        for (pattern, name, is_matching) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "abc", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("a*b*c", "axbxc", true),
            ("a*b*c", "axcxb", false),
            ("*b*", "abc", true),
            ("*ab*ab", "ab", false),
            ("*ab*ab", "xabab", true),
            ("ü*", "über", true),
            ("a[*]b", "a*b", true),
            ("a[*]b", "axb", false),
            ("[*]*", "*b", true),
            ("a[[*]]b", "a[*]b", true),
        ] {
            assert_eq!(is_match(pattern, name), is_matching, "{pattern} {name}");
        }
    }

    #[test]
    fn a_mistake_in_the_section_is_an_error_with_its_line() {
        for (yaml, message) in [
            ("imports:\n  system: { a: b }\n", "`system` is not a key of `imports`."),
            ("imports:\n  systems: [a]\n", "`systems` has to be a map of names to new names."),
            (
                "imports:\n  systems: { a: [b] }\n",
                "`systems` has to be a map of names to new names.",
            ),
            (
                "imports:\n  systems: { a: '' }\n",
                "`systems` has to be a map of names to new names.",
            ),
            ("imports:\n  files: { a: b }\n", "`imports.files.a` has to be a map of keys."),
            (
                "imports:\n  files: { a: { sytem: b } }\n",
                "`sytem` is not a key of `imports.files.a`.",
            ),
        ] {
            let faults = workspace::read(yaml).unwrap().faults;
            let found: Vec<_> = faults.iter().map(|one| (one.line, one.message.as_str())).collect();
            assert_eq!(found, [(Some(2), message)], "{yaml}");
        }
    }

    #[test]
    fn a_set_name_is_the_one_that_the_run_gets_and_can_be_taken_back() {
        let start = renames("imports: { systems: { a: b }, files: { logs: { model: m } } }");
        let rows = [
            ("x.json", names("t", "a", "o1"), names("t", "c", "o1")),
            ("x.json", names("t", "a", "o1"), names("t2", "a", "o2")),
            ("logs/x.json", names("t", "", "o1"), names("t", "s", "n")),
            ("logs/x.json", names("", "", ""), names("t", "s", "n")),
        ];
        for (path, own, new) in rows {
            let mut renames = start.clone();
            renames.set(path, &own, &new);
            assert_eq!(renames.apply(path, own.clone()), new, "{path} {own:?}");
            renames.set(path, &own, &RunNames::default());
            assert_eq!(renames.apply(path, own.clone()), own, "{path} {own:?}");
        }
    }

    /// Corrections at several levels, for one file in particular and for many.
    fn any_renames() -> impl Strategy<Value = Renames> {
        let patterns = ["logs", "logs/x", "logs/x/f", "logs/*", "*/x", "l*/x/*", "a*b", "a[*]b"];
        let name = || prop::option::of("[a-c]");
        let names = (name(), name(), name());
        let names = names.prop_map(|(task, system, model)| RunNames { task, system, model });
        let files =
            prop::collection::btree_map(prop::sample::select(patterns.to_vec()), names, 0..6);
        let map = || prop::collection::btree_map("[a-c]", "[a-c]", 0..3);
        (map(), map(), map(), files).prop_map(|(tasks, systems, models, files)| {
            let files = files.into_iter().map(|(path, names)| (path.to_owned(), names)).collect();
            Renames { tasks, systems, models, files }
        })
    }

    proptest! {
        #[test]
        fn a_run_gets_the_names_that_are_set_and_else_its_own(
            mut renames in any_renames(),
            path in prop::sample::select(vec!["logs/x/f", "logs/y", "z/x/f", "a*b", "axb", "a[*]b"]),
            own in prop::array::uniform3("[a-c]?"), new in prop::array::uniform3("[a-c]?"),
        ) {
            let [own, new] = [own, new].map(|[task, system, model]| names(&task, &system, &model));
            renames.set(path, &own, &new);
            let expected = RunNames {
                task: new.task.or(own.task.clone()),
                system: new.system.or(own.system.clone()),
                model: new.model.or(own.model.clone()),
            };
            prop_assert_eq!(renames.apply(path, own), expected);
        }

        #[test]
        fn a_file_whose_name_holds_a_star_is_corrected_alone(own in "[a-c]?", new in "[a-c]") {
            let mut renames = Renames::default();
            renames.set("a*b", &names(&own, "", ""), &names(&own, &new, ""));
            prop_assert_eq!(renames.apply("a*b", RunNames::default()), names("", &new, ""));
            prop_assert_eq!(renames.apply("axb", RunNames::default()), RunNames::default());
        }

        #[test]
        fn without_an_entry_a_name_stays(task in ".*", system in ".*", model in ".*", path in ".*") {
            let renames = renames("imports: { systems: { \"\\0never\": x }, files: { \"\\0never\": { model: x } } }");
            let names = names(&task, &system, &model);
            prop_assert_eq!(renames.apply(&path, names.clone()), names);
        }
    }
}
