//! **Pure.** `touchstone.yaml`: which folders, which models, which tools. Never a key.
pub mod schema;

use crate::error::{ReadError, ReadErrorKind, text_of};
use crate::node::{Node, Shape};
use crate::value::Value;
use crate::yaml;
use crate::yaml::scalars::Scalar;
use crate::yaml::tree::Item;

/// What a workspace file says. What stands in `systems` and `tools` is judged by whoever uses it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Workspace {
    /// Directory of suites, relative to the file.
    pub input_dir: Option<String>,
    /// Directory of transcripts, relative to the file.
    pub output_dir: Option<String>,
    /// Models by name.
    pub models: Vec<Model>,
    /// Systems by name.
    pub systems: Vec<(String, Value)>,
    /// Tools by name.
    pub tools: Vec<(String, Value)>,
    /// How runs are run.
    pub run: RunLimits,
    /// Scorers of the queries of query sets, which name none themselves; empty is the usual ones.
    pub query_scorers: Vec<Value>,
    /// Keys that mean nothing and values of the wrong kind, in the order of the file. Such a value
    /// is read as if it was left out, so whoever spends money on what the file says has to refuse a
    /// file with faults.
    pub faults: Vec<ReadError>,
}

/// A model that can be asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// Name in commands and file names.
    pub name: String,
    /// `anthropic`, `openai`, `replay`.
    pub provider: Option<String>,
    /// Its id at the provider.
    pub model: Option<String>,
    /// Address of the provider, when it is another.
    pub base_url: Option<String>,
    /// Most tokens of one reply.
    pub max_tokens: Option<u64>,
    /// Dollars for a million tokens, in and out.
    pub price: Option<Price>,
    /// Everything else.
    pub extra: Vec<(String, Value)>,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// That are sent.
    pub input: f64,
    /// That come back.
    pub output: f64,
    /// That are read from the provider's cache, where it is said.
    pub cache_read: Option<f64>,
    /// That are written to it, where it is said.
    pub cache_write: Option<f64>,
}

/// How runs are run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunLimits {
    /// Runs at the same time.
    pub concurrency: Option<u32>,
    /// Most turns of one run.
    pub max_turns: Option<u32>,
    /// Dollars after which a launch stops.
    pub max_cost: Option<f64>,
    /// Whether runs are driven on by themselves.
    pub nudge_auto: Option<bool>,
    /// How often at most.
    pub nudge_max: Option<u32>,
}

/// Reads a workspace file. Fails where it is no YAML, is no map, or holds a key or token, so that
/// none is ever shared by accident. Anything else that is wrong is one of its faults and hides
/// nothing beside it.
pub fn read(text: &str) -> Result<Workspace, ReadError> {
    let text = text_of(text.as_bytes())?;
    if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        return Ok(Workspace::default());
    }
    let tree = yaml::parse(text)?;
    let reader = Reader { text };
    reader.refuse_secrets(tree.root())?;
    if tree.root().shape() != Shape::Map {
        return Err(reader.bad(tree.root(), "A workspace file has to be a map of keys"));
    }
    Ok(Workspace { faults: schema::faults(text, tree.root()), ..workspace(tree.root()) })
}

fn workspace(root: Item<'_>) -> Workspace {
    let run = root.given("run");
    let nudge = run.and_then(|run| run.given("nudge"));
    let switch = |value: Item<'_>| match value.shape() {
        Shape::Scalar(Scalar::Bool(on)) => Some(on),
        _ => None,
    };
    let scorers = root.given("queries").and_then(|queries| queries.given("scorers"));
    Workspace {
        input_dir: text(root, "input_dir"),
        output_dir: text(root, "output_dir"),
        models: named(root, "models").map(|(name, settings)| model(name, settings)).collect(),
        systems: named(root, "systems")
            .map(|(name, settings)| (name, settings.to_value()))
            .collect(),
        tools: named(root, "tools").map(|(name, settings)| (name, settings.to_value())).collect(),
        run: RunLimits {
            concurrency: run.and_then(|run| number(run, "concurrency")),
            max_turns: run.and_then(|run| number(run, "max_turns")),
            max_cost: run.and_then(|run| dollars(run, "max_cost")),
            // `nudge: false` says the same as `nudge: { auto: false }`.
            nudge_auto: nudge
                .and_then(|nudge| nudge.given("auto").or(Some(nudge)))
                .and_then(switch),
            nudge_max: nudge.and_then(|nudge| number(nudge, "max")),
        },
        query_scorers: scorers.into_iter().flat_map(Node::items).map(Node::to_value).collect(),
        faults: Vec::new(),
    }
}

fn model(name: String, settings: Item<'_>) -> Model {
    let own = ["provider", "model", "base_url", "max_tokens", "price"];
    let others = settings
        .entries()
        .filter_map(|(key, value)| Some((key.word()?.to_owned(), value.to_value())));
    let price = settings.given("price");
    Model {
        name,
        provider: text(settings, "provider"),
        model: text(settings, "model"),
        base_url: text(settings, "base_url"),
        max_tokens: number(settings, "max_tokens"),
        price: price.and_then(|price| {
            Some(Price {
                input: dollars(price, "input")?,
                output: dollars(price, "output")?,
                cache_read: dollars(price, "cache_read"),
                cache_write: dollars(price, "cache_write"),
            })
        }),
        extra: others.filter(|(key, _)| !own.contains(&key.as_str())).collect(),
    }
}

/// The entries of a map below a key, by name.
fn named<'t>(root: Item<'t>, key: &str) -> impl Iterator<Item = (String, Item<'t>)> {
    let entries = root.given(key).into_iter().flat_map(Node::entries);
    entries.map(|(name, settings)| (name.word().unwrap_or_default().to_owned(), settings))
}

fn text(map: Item<'_>, key: &str) -> Option<String> {
    map.given(key).and_then(Node::word).map(str::to_owned)
}

fn number<T: std::str::FromStr>(map: Item<'_>, key: &str) -> Option<T> {
    match map.given(key)?.shape() {
        Shape::Scalar(Scalar::Number(text)) => text.parse().ok(),
        _ => None,
    }
}

fn dollars(map: Item<'_>, key: &str) -> Option<f64> {
    map.given(key).and_then(Node::number).filter(|number| *number >= 0.0)
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn bad(&self, node: Item<'_>, message: &str) -> ReadError {
        let offset = node.span().map_or(0, |(from, _)| from);
        ReadError::at(ReadErrorKind::BadValue, self.text, offset, format!("{message}."))
    }

    /// Looks for keys and tokens anywhere. What was found is not repeated: the excerpt stays empty.
    fn refuse_secrets(&self, node: Item<'_>) -> Result<(), ReadError> {
        let marked =
            |word: &str| MARKS.iter().any(|mark| word.starts_with(mark) && word.len() > 20);
        if node.word().is_some_and(|word| marked(word) && !only_names_one(word)) {
            return Err(self.secret(node));
        }
        for (key, value) in node.entries() {
            let name = key.word().unwrap_or_default().to_ascii_lowercase().replace('-', "_");
            let names_one =
                NAMES.iter().any(|secret| name == *secret || name.ends_with(&format!("_{secret}")));
            if names_one
                && value.word().is_some_and(|word| !word.is_empty() && !only_names_one(word))
            {
                return Err(self.secret(value));
            }
        }
        node.items().try_for_each(|item| self.refuse_secrets(item))
    }

    fn secret(&self, node: Item<'_>) -> ReadError {
        let fault =
            self.bad(node, "This looks like a key or token, and keys do not belong in this file");
        let advice = "Remove it, and set the environment variable of the provider or store the key in the keyring.";
        ReadError { excerpt: None, ..fault }.advise(advice)
    }
}

/// True for `${NAME}`, also with the kind of the key before it: it says where a key is, and holds
/// none.
fn only_names_one(word: &str) -> bool {
    let name = ["Bearer ", "Basic ", "Token "]
        .iter()
        .find_map(|kind| word.strip_prefix(kind))
        .unwrap_or(word);
    let name = name.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

const NAMES: [&str; 7] =
    ["api_key", "apikey", "secret", "password", "access_token", "auth_token", "authorization"];
const MARKS: [&str; 4] = ["sk-", "pk-", "Bearer ", "ghp_"];
