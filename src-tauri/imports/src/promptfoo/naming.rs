//! **Pure.** Names of tasks and numbers of repeats, which promptfoo does not write: both follow from
//! the tests of the whole file.
use crate::text::{canonical_json, text_or_json};
use std::collections::{BTreeMap, HashMap, HashSet};
use touchstone_formats::value::Value;

/// Test of a result, as far as its name and its number depend on it.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    /// Description of the test.
    pub description: Option<String>,
    /// Variables, an object.
    pub variables: Value,
    /// Prompt, as it was before its variables were filled in.
    pub prompt: String,
    /// Provider.
    pub provider: String,
    /// Place among the repeats.
    pub order: (u64, u64),
}

/// Name of the task and number of the repeat.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Name {
    pub task: String,
    pub repeat: u32,
}

/// Names the tests of a file. Tests of the same name whose variables differ get their variables
/// behind the name.
pub(super) fn name_tests(tests: &[Test]) -> Vec<Name> {
    let keys: Vec<String> = tests.iter().map(|test| canonical_json(&test.variables)).collect();
    let names: Vec<String> = tests.iter().zip(&keys).map(|(test, key)| test.name(key)).collect();
    let mut variants: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, test) in tests.iter().enumerate() {
        variants.entry(&names[at]).or_default().insert(&keys[at]);
        let group = (&test.description, &keys[at], &test.prompt, &test.provider);
        groups.entry(group).or_default().push(at);
    }
    let mut repeats = vec![1; tests.len()];
    for mut group in groups.into_values() {
        group.sort_by_key(|at| tests[*at].order);
        for (repeat, at) in (1..).zip(group) {
            repeats[at] = repeat;
        }
    }
    let name = |at: usize| {
        let is_shared = variants.get(names[at].as_str()).is_some_and(|known| known.len() > 1);
        let task =
            if is_shared { format!("{} ({})", names[at], keys[at]) } else { names[at].clone() };
        Name { task, repeat: repeats[at] }
    };
    (0..tests.len()).map(name).collect()
}

impl Test {
    fn name(&self, variables: &str) -> String {
        match (&self.description, self.variables.entries()) {
            (Some(description), _) => description.clone(),
            (None, [(_, only)]) => text_or_json(only).unwrap_or_else(|| variables.to_owned()),
            _ => variables.to_owned(),
        }
    }
}
