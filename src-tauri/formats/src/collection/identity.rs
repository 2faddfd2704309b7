//! **Pure.** Identifies the run of a member: its query from the file, its set and model from the
//! path of the file.
use super::Read;
use super::entries::Entry;
use super::form::Form;
use std::fmt::Write as _;
use touchstone_model::node::Node;
use touchstone_model::value::Value;

/// Maximum length of names of sets, systems and models.
const MOST_NAME: usize = 200;

/// Well-known query sets. A name comes before any name that is a prefix of it.
const SETS: [&str; 6] =
    ["G1_instruction", "G1_category", "G1_tool", "G2_instruction", "G2_category", "G3_instruction"];

/// Identity of a run in a file of many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunIdentity {
    /// `<set>/<id>`, or the id alone if the set is unknown.
    pub task: Option<String>,
    /// System: the method, framework or agent.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Variation of the task, if known.
    pub variation: Option<u32>,
    /// Number of the evaluation of the same query, from 1.
    pub repeat: u32,
}

/// Identity that all members share, from the path and the metadata of the file.
#[derive(Debug, Default)]
pub(super) struct FileIdentity {
    set: Option<String>,
    system: Option<String>,
    model: Option<String>,
}

impl FileIdentity {
    pub(super) fn from_file(form: Form, path: &str, metadata: &Value) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = folder.rsplit('/').next().and_then(name_of);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let (set, rest) = SETS.iter().find_map(|set| Some((*set, around(stem, set)?))).unzip();
        let rest = rest.and_then(name_of);
        let set = set.map(str::to_owned);
        let word =
            |of: Option<&Value>, key: &str| of?.get(key).and_then(Node::word).and_then(name_of);
        match form {
            Form::Converted => Self { set, system: None, model: folder },
            // `evaluate()` writes files with these names by default.
            Form::Rows | Form::RowLines
                if matches!(stem, "evaluation_results" | "instance_results")
                    && folder.is_some() =>
            {
                Self { system: folder, ..Self::default() }
            }
            Form::Rows | Form::RowLines => Self { system: name_of(stem), ..Self::default() },
            Form::PassRate | Form::PassRateTable => {
                Self { set, system: None, model: rest.or(folder) }
            }
            Form::Results => {
                let (root, config) = (Some(metadata), metadata.get("config"));
                let named = |key: &str| word(config, key).or_else(|| word(root, key));
                // `framework` may hold system and model in one word.
                let system =
                    ["framework", "agent_name"].into_iter().find_map(|key| word(root, key));
                let system = word(config, "system").or(system);
                let model = ["model", "model_name", "agent_model"].into_iter().find_map(named);
                Self { set: named("test_set").or(set), system, model }
            }
        }
    }

    pub(super) fn of_entry(&self, entry: &Entry, read: Option<&Read>) -> RunIdentity {
        let id = entry.id.as_deref().and_then(name_of);
        let said = |of: fn(&Read) -> &Option<String>| {
            read.and_then(|read| of(read).as_deref()).and_then(name_of)
        };
        RunIdentity {
            task: said(|read| &read.task).or_else(|| {
                id.map(|id| {
                    self.set.as_ref().map_or_else(|| id.clone(), |set| format!("{set}/{id}"))
                })
            }),
            system: said(|read| &read.system).or_else(|| self.system.clone()),
            model: said(|read| &read.model).or_else(|| self.model.clone()),
            variation: read.and_then(|read| read.variation),
            repeat: read.and_then(|read| read.repeat).unwrap_or(entry.repeat).max(1),
        }
    }
}

/// Returns the text around the name of a set in a file stem, if the name is delimited there.
fn around<'a>(stem: &'a str, set: &str) -> Option<&'a str> {
    let (before, after) = stem.split_once(set)?;
    let alone = (before.is_empty() || before.ends_with('_'))
        && (after.is_empty() || after.starts_with('_'));
    alone.then(|| after.trim_start_matches('_'))
}

fn name_of(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty() && name.len() <= MOST_NAME).then(|| name.to_owned())
}

/// Returns the name of a member for files that are named after runs: `<file>/<key>`, with every
/// byte of the key that is no letter, digit, `-` or `_` as `%XX`. Nothing else is below a file, so
/// no other run has this name, and the encoding prevents a name from leaving its folder.
pub fn run_name(file: &str, key: &str) -> String {
    let mut name = format!("{file}/");
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

/// Returns the file and the key of a name. Returns `None` for names that [`run_name`] does not
/// produce.
pub fn parse_run_name(name: &str) -> Option<(&str, String)> {
    let (file, coded) = name.rsplit_once('/')?;
    let mut bytes = Vec::with_capacity(coded.len());
    let mut rest = coded;
    while let Some(first) = rest.chars().next() {
        let taken = if first == '%' { 3 } else { first.len_utf8() };
        let piece = rest.get(..taken)?;
        match piece.strip_prefix('%') {
            Some(digits) => bytes.push(u8::from_str_radix(digits, 16).ok()?),
            None => bytes.extend_from_slice(piece.as_bytes()),
        }
        rest = &rest[taken..];
    }
    let key = String::from_utf8(bytes).ok()?;
    (run_name(file, &key) == name).then_some((file, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_members_are_safe_names_of_files() {
        for (key, name) in [
            ("588", "a/b.json/588"),
            ("588-run2", "a/b.json/588-run2"),
            ("../x.yaml", "a/b.json/%2E%2E%2Fx%2Eyaml"),
        ] {
            assert_eq!(run_name("a/b.json", key), name);
        }
        for odd in ["588", "a/%2", "a/%zz", "a/%ff", "a/%41", "a/é", "a/x.y"] {
            assert_eq!(parse_run_name(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn a_name_leads_back_to_its_file_and_key(file in "[a-z/%.]{1,9}", key in "\\PC{1,9}|[%./a]{1,5}") {
            let name = run_name(&file, &key);
            prop_assert_eq!(parse_run_name(&name), Some((file.as_str(), key)));
        }
    }
}
