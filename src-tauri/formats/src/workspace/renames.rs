//! **Pure.** `imports` of the workspace file: a person's corrections to the tasks, systems and models
//! that the files of other tools name.
use crate::node::Node;
use crate::yaml::tree::Item;
use std::collections::BTreeMap;

/// Corrections to the names of imported runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renames {
    /// New names of tasks.
    pub tasks: BTreeMap<String, String>,
    /// New names of systems.
    pub systems: BTreeMap<String, String>,
    /// New names of models.
    pub models: BTreeMap<String, String>,
    /// Names for all runs of a file, or of the files in a folder, by path.
    pub files: BTreeMap<String, RunNames>,
}

/// Names of a run; `None` where it has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunNames {
    /// Task.
    pub task: Option<String>,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
}

impl Renames {
    /// Reads the section of the workspace file. Values of the wrong kind are left out; the schema
    /// reports them.
    pub(super) fn read(section: Item<'_>) -> Self {
        let names = |key| {
            entries(section, key)
                .filter_map(|(from, to)| Some((from, to.word()?.to_owned())))
                .collect()
        };
        let files = entries(section, "files").map(|(path, names)| {
            let name = |key| names.get_non_null(key).and_then(Node::word).map(str::to_owned);
            let path = path.trim_start_matches("./").trim_end_matches('/').to_owned();
            (path, RunNames { task: name("task"), system: name("system"), model: name("model") })
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

    /// Returns the names of a run of a file, corrected. A name given for the file replaces the one
    /// in it; of several paths the longest decides. A new name is not renamed again.
    pub fn apply(&self, path: &str, names: RunNames) -> RunNames {
        let mut given = RunNames::default();
        let holds = |folder: &str| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // Of two paths that hold a file, the longer one is the later in alphabetical order.
        for (_, names) in self.files.iter().filter(|(folder, _)| holds(folder)) {
            let RunNames { task, system, model } = names.clone();
            given = RunNames {
                task: task.or(given.task),
                system: system.or(given.system),
                model: model.or(given.model),
            };
        }
        let renamed = |name: Option<String>, renames: &BTreeMap<String, String>| {
            name.map(|name| renames.get(&name).cloned().unwrap_or(name))
        };
        RunNames {
            task: given.task.or_else(|| renamed(names.task, &self.tasks)),
            system: given.system.or_else(|| renamed(names.system, &self.systems)),
            model: given.model.or_else(|| renamed(names.model, &self.models)),
        }
    }
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
             x.json: { task: t }\n",
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
        ] {
            assert_eq!(renames.apply(path, from.clone()), to, "{path} {from:?}");
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

    proptest! {
        #[test]
        fn without_an_entry_a_name_stays(task in ".*", system in ".*", model in ".*", path in ".*") {
            let renames = renames("imports: { systems: { \"\\0never\": x }, files: { \"\\0never\": { model: x } } }");
            let names = names(&task, &system, &model);
            prop_assert_eq!(renames.apply(&path, names.clone()), names);
        }
    }
}
