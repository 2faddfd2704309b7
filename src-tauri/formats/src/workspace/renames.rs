//! **Pure.** `imports` of the workspace file: a person's corrections to the tasks, systems and models
//! that the files of other tools name.
use super::{self as workspace, Workspace};
use crate::error::{ReadError, ReadErrorKind};
use crate::json;
use crate::node::Node;
use crate::value::Value;
use crate::yaml;
use crate::yaml::tree::Item;
use std::collections::BTreeMap;
use std::fmt::Write as _;

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

    /// Changes the corrections so that a run of a file with the names `own` gets the names `new`.
    /// Where a name is missing in `new`, the correction is taken back. A correction for the name in
    /// the file concerns all runs with it; where the file has no name, it concerns the file.
    pub fn set(&mut self, path: &str, own: &RunNames, new: &RunNames) {
        let fields: [Field<'_>; 3] = [
            (&mut self.tasks, &own.task, &new.task, |names| &mut names.task),
            (&mut self.systems, &own.system, &new.system, |names| &mut names.system),
            (&mut self.models, &own.model, &new.model, |names| &mut names.model),
        ];
        for (renames, own, new, field) in fields {
            let new = new.clone().filter(|new| !new.is_empty() && Some(new) != own.as_ref());
            let given = self.files.iter_mut().rev().find_map(|(folder, names)| {
                Some(field(names)).filter(|name| name.is_some() && holds(folder, path))
            });
            match (given, own, new) {
                (Some(given), _, new) => *given = new,
                (None, Some(own), Some(new)) => drop(renames.insert(own.clone(), new)),
                (None, Some(own), None) => drop(renames.remove(own)),
                (None, None, Some(new)) => {
                    *field(self.files.entry(path.to_owned()).or_default()) = Some(new);
                }
                (None, None, None) => {}
            }
        }
        self.files.retain(|_, names| *names != RunNames::default());
    }

    /// Returns the names of a run of a file, corrected. A name given for the file replaces the one
    /// in it; of several paths the longest decides. A new name is not renamed again.
    pub fn apply(&self, path: &str, names: RunNames) -> RunNames {
        let mut given = RunNames::default();
        // Of two paths that hold a file, the longer one is the later in alphabetical order.
        for (_, names) in self.files.iter().filter(|(folder, _)| holds(folder, path)) {
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

/// Corrections of one name, the names of a run in the file and as wanted, and the name's field.
type Field<'a> = (
    &'a mut BTreeMap<String, String>,
    &'a Option<String>,
    &'a Option<String>,
    fn(&mut RunNames) -> &mut Option<String>,
);

fn holds(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the text of a workspace file with other corrections. Everything outside of the section
/// `imports` stays as it is. Fails if the file cannot be read, or has a form in which the section
/// cannot be replaced.
pub fn rewrite(text: &str, renames: &Renames) -> Result<String, ReadError> {
    let before = workspace::read(text)?;
    let section = section(renames);
    // A file without any key is no YAML document.
    let tree = yaml::parse(text).ok();
    let entry = tree
        .as_ref()
        .and_then(|tree| tree.root().entries().find(|(key, _)| key.word() == Some("imports")));
    let from = entry.and_then(|(key, _)| key.span()).map_or(text.len(), |(from, _)| from);
    // The section ends before the next line that is neither blank nor indented.
    let (head, rest) = text.split_at(from);
    let mut to = 0;
    for (at, line) in rest.split_inclusive('\n').enumerate() {
        if at > 0 && !line.starts_with([' ', '\n', '\r']) {
            break;
        }
        to += line.len();
    }
    let kept = rest[..to].trim_end_matches('\n').len() + 1;
    let tail = rest.get(kept..).unwrap_or_default();
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let whole = format!("{head}{gap}{section}{tail}");
    let after = workspace::read(&whole).ok();
    if after != Some(Workspace { imports: renames.clone(), ..before }) {
        let message = "The section `imports` cannot be changed in this form of touchstone.yaml.";
        return Err(ReadError::new(ReadErrorKind::BadValue, message)
            .advise("Write each key of the file on a line of its own, or edit the section."));
    }
    Ok(whole)
}

/// Formats the section; nothing if there are no corrections.
fn section(renames: &Renames) -> String {
    // Texts of JSON are texts of YAML.
    let quoted = |text: &str| json::write(&Value::from(text), false);
    let mut lines = String::new();
    let maps =
        [("systems", &renames.systems), ("models", &renames.models), ("tasks", &renames.tasks)];
    for (key, names) in maps.into_iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(lines, "  {key}:");
        for (from, to) in names {
            let _ = writeln!(lines, "    {}: {}", quoted(from), quoted(to));
        }
    }
    if !renames.files.is_empty() {
        lines.push_str("  files:\n");
    }
    for (path, names) in &renames.files {
        let fields =
            [("task", &names.task), ("system", &names.system), ("model", &names.model)].into_iter();
        let fields = fields.filter_map(|(key, name)| Some((key, name.as_deref()?)));
        let fields: Vec<String> =
            fields.map(|(key, name)| format!("{key}: {}", quoted(name))).collect();
        let _ = writeln!(lines, "    {}: {{ {} }}", quoted(path), fields.join(", "));
    }
    if lines.is_empty() { lines } else { format!("imports:\n{lines}") }
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

    #[test]
    fn a_rewritten_file_keeps_everything_else_and_reads_as_it_was_told() {
        let some = |to: &str| Renames {
            systems: BTreeMap::from([("react \"a\"".to_owned(), to.to_owned())]),
            ..Renames::default()
        };
        let section =
            |to: &str| format!("imports:\n  systems:\n    \"react \\\"a\\\"\": \"{to}\"\n");
        let head = "# where\noutput_dir: results # here\n";
        let tail = "# limits\nrun: { concurrency: 2 }\n";
        for text in ["", "# nothing yet\n", head, "output_dir: results"] {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            assert_eq!(rewrite(text, &some("x")).unwrap(), format!("{text}{gap}{}", section("x")));
        }
        let between = format!("{head}imports: {{ systems: {{ a: b }} }}\n{tail}");
        assert_eq!(rewrite(&between, &some("x")).unwrap(), format!("{head}{}{tail}", section("x")));
        let block = format!(
            "{head}imports:\n  systems:\n    a: b\n  models: {{ c: d }}\n  # an end\n{tail}"
        );
        assert_eq!(rewrite(&block, &some("x")).unwrap(), format!("{head}{}{tail}", section("x")));
        assert_eq!(rewrite(&block, &Renames::default()).unwrap(), format!("{head}{tail}"));
        let last = format!("{head}imports:\n  systems: {{ a: b }}\n");
        assert_eq!(rewrite(&last, &Renames::default()).unwrap(), head);
        let refused = rewrite("{ output_dir: results }\n", &some("x")).unwrap_err();
        assert!(refused.message.contains("cannot be changed"), "{}", refused.message);
        assert!(rewrite("a: [\n", &some("x")).is_err());
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

    proptest! {
        #[test]
        fn any_names_survive_in_the_file(pairs in proptest::collection::btree_map(".*", ".*", 0..4), path in ".*", model in ".*") {
            let file = RunNames { model: Some(model), ..RunNames::default() };
            let trimmed = path.trim_start_matches("./").trim_end_matches('/').to_owned();
            let renames = Renames {
                systems: pairs,
                files: BTreeMap::from([(trimmed, file)]),
                ..Renames::default()
            };
            // A file whose names look like keys is refused whole.
            if let Ok(text) = rewrite("output_dir: x\n", &renames) {
                prop_assert_eq!(workspace::read(&text).unwrap().imports, renames);
            }
        }

        #[test]
        fn without_an_entry_a_name_stays(task in ".*", system in ".*", model in ".*", path in ".*") {
            let renames = renames("imports: { systems: { \"\\0never\": x }, files: { \"\\0never\": { model: x } } }");
            let names = names(&task, &system, &model);
            prop_assert_eq!(renames.apply(&path, names.clone()), names);
        }
    }
}
