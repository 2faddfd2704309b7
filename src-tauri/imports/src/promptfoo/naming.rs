//! **Pure.** Names of tasks and numbers of repeats, which promptfoo does not write: both follow from
//! the tests of the whole file.
use crate::text::{canonical_json, text_or_json};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use touchstone_model::value::Value;

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
    /// Position among the repeats.
    pub order: (u64, u64),
}

/// Name of the task and number of the repeat.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Name {
    pub task: String,
    pub repeat: u32,
}

/// Test, as far as it matters to the names and numbers of others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digest {
    name: u64,
    variables: u64,
    group: u64,
    order: (u64, u64),
}

impl Digest {
    /// Returns the digest of a test that cannot be read. It shares its name with no other.
    pub(super) fn unreadable(at: usize) -> Self {
        let own = hash(&("unreadable", at));
        Digest { name: own, variables: own, group: own, order: (0, 0) }
    }
}

/// Position of a test among all tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct NamePosition {
    /// Number of the repeat.
    pub repeat: u32,
    /// True if tests with other variables have the same name.
    pub is_shared: bool,
}

/// Names the tests of a file. Tests of the same name whose variables differ get their variables
/// behind the name.
pub(super) fn name_tests(tests: &[Test]) -> Vec<Name> {
    let digests: Vec<Digest> = tests.iter().map(Test::digest).collect();
    let places = place_tests(&digests);
    tests.iter().zip(places).map(|(test, place)| test.name_at(place)).collect()
}

/// Places the tests of an evaluation.
pub(super) fn place_tests(tests: &[Digest]) -> Vec<NamePosition> {
    let mut variants: HashMap<u64, HashSet<u64>> = HashMap::new();
    let mut groups: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, test) in tests.iter().enumerate() {
        variants.entry(test.name).or_default().insert(test.variables);
        groups.entry(test.group).or_default().push(at);
    }
    let is_shared = |test: &Digest| variants.get(&test.name).is_some_and(|known| known.len() > 1);
    let mut places: Vec<NamePosition> =
        tests.iter().map(|test| NamePosition { repeat: 1, is_shared: is_shared(test) }).collect();
    for mut group in groups.into_values() {
        group.sort_by_key(|at| tests[*at].order);
        for (repeat, at) in (1..).zip(group) {
            places[at].repeat = repeat;
        }
    }
    places
}

impl Test {
    /// Returns what matters to other tests.
    pub(super) fn digest(&self) -> Digest {
        let variables = canonical_json(&self.variables);
        Digest {
            name: hash(&self.name(&variables)),
            variables: hash(&variables),
            group: hash(&(&self.description, &variables, &self.prompt, &self.provider)),
            order: self.order,
        }
    }

    /// Returns the name of the task and the number of the repeat.
    pub(super) fn name_at(&self, place: NamePosition) -> Name {
        let variables = canonical_json(&self.variables);
        let name = self.name(&variables);
        let task = if place.is_shared { format!("{name} ({variables})") } else { name };
        Name { task, repeat: place.repeat }
    }

    fn name(&self, variables: &str) -> String {
        match (&self.description, self.variables.entries()) {
            (Some(description), _) => description.clone(),
            (None, [(_, only)]) => text_or_json(only).unwrap_or_else(|| variables.to_owned()),
            _ => variables.to_owned(),
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
