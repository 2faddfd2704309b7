//! **Pure.** The workspace file `touchstone.yaml`: folders, models and tools. It never holds a key.
pub mod label_edit;
pub mod labels;
pub mod renames;
pub mod rewrite;
pub mod schema;

use labels::Label;
use renames::Renames;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::node::{Node, Shape};
use touchstone_model::scalar::Scalar;
use touchstone_model::value::Value;
use touchstone_model::yaml;
use touchstone_model::yaml::tree::Item;

/// Content of a workspace file. The values in `systems` and `tools` are validated by the code that
/// uses them.
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
    /// Limits for runs.
    pub run: RunLimits,
    /// Model that plays simulated users, if the file names one.
    pub user_model: Option<String>,
    /// Scorers for queries of query sets, which name none themselves; if empty, the defaults apply.
    pub query_scorers: Vec<Value>,
    /// Corrections to the names of imported runs.
    pub imports: Renames,
    /// Saved views of the list of runs.
    pub views: Vec<View>,
    /// Labels of runs.
    pub labels: Vec<Label>,
    /// Unknown keys and values of the wrong type, in the order of the file. Such a value is treated
    /// as missing, so code that spends money according to the file must reject a file with faults.
    pub faults: Vec<ReadError>,
}

/// Saved view of the list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// Name.
    pub name: String,
    /// Filter; empty means all runs.
    pub filter: String,
    /// Column of the order, with a minus sign for the reverse one.
    pub sort: Option<String>,
    /// Columns to show, if it names any.
    pub columns: Option<Vec<String>>,
}

/// Settings of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// Name in commands and file names.
    pub name: String,
    /// `anthropic`, `openai`, `replay`.
    pub provider: Option<String>,
    /// Id at the provider.
    pub model: Option<String>,
    /// Address of the provider, if it is not the default.
    pub base_url: Option<String>,
    /// Maximum number of tokens in a reply.
    pub max_tokens: Option<u64>,
    /// Price in dollars per million tokens.
    pub price: Option<Price>,
    /// All other settings.
    pub extra: Vec<(String, Value)>,
}

/// Price in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Tokens read from the provider's cache, if specified.
    pub cache_read: Option<f64>,
    /// Tokens written to the provider's cache, if specified.
    pub cache_write: Option<f64>,
}

/// Limits for runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunLimits {
    /// Maximum number of concurrent runs.
    pub concurrency: Option<u32>,
    /// Maximum number of turns of a run.
    pub max_turns: Option<u32>,
    /// Cost in dollars at which a launch stops.
    pub max_cost: Option<f64>,
    /// True if nudges are sent automatically.
    pub nudge_auto: Option<bool>,
    /// Maximum number of nudges.
    pub nudge_max: Option<u32>,
}

/// Parses a workspace file. Fails if it is not valid YAML, is not a map, or holds a key or token,
/// so that no secret is shared by accident. All other problems are reported as faults and do not
/// prevent reading the rest.
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
    let run = root.get_non_null("run");
    let nudge = run.and_then(|run| run.get_non_null("nudge"));
    let switch = |value: Item<'_>| match value.shape() {
        Shape::Scalar(Scalar::Bool(on)) => Some(on),
        _ => None,
    };
    let scorers = root.get_non_null("queries").and_then(|queries| queries.get_non_null("scorers"));
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
            // `nudge: false` is short for `nudge: { auto: false }`.
            nudge_auto: nudge
                .and_then(|nudge| nudge.get_non_null("auto").or(Some(nudge)))
                .and_then(switch),
            nudge_max: nudge.and_then(|nudge| number(nudge, "max")),
        },
        user_model: text(root, "user_model"),
        imports: root.get_non_null("imports").map(Renames::read).unwrap_or_default(),
        views: named(root, "views").map(|(name, settings)| view(name, settings)).collect(),
        labels: named(root, "labels")
            .filter_map(|(name, settings)| labels::label(name, settings))
            .collect(),
        query_scorers: scorers.into_iter().flat_map(Node::items).map(Node::to_value).collect(),
        faults: Vec::new(),
    }
}

fn view(name: String, settings: Item<'_>) -> View {
    let columns = settings.get_non_null("columns").filter(|columns| columns.shape() == Shape::List);
    View {
        name,
        filter: text(settings, "filter").unwrap_or_default(),
        sort: text(settings, "sort").filter(|sort| schema::is_sort(sort)),
        columns: columns
            .map(|columns| columns.items().filter_map(Node::word).map(str::to_owned).collect()),
    }
}

fn model(name: String, settings: Item<'_>) -> Model {
    let own = ["provider", "model", "base_url", "max_tokens", "price"];
    let others = settings
        .entries()
        .filter_map(|(key, value)| Some((key.word()?.to_owned(), value.to_value())));
    let price = settings.get_non_null("price");
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

/// Returns the entries of the map under a key, by name.
fn named<'t>(root: Item<'t>, key: &str) -> impl Iterator<Item = (String, Item<'t>)> {
    let entries = root.get_non_null(key).into_iter().flat_map(Node::entries);
    entries.map(|(name, settings)| (name.word().unwrap_or_default().to_owned(), settings))
}

fn text(map: Item<'_>, key: &str) -> Option<String> {
    map.get_non_null(key).and_then(Node::word).map(str::to_owned)
}

fn number<T: std::str::FromStr>(map: Item<'_>, key: &str) -> Option<T> {
    match map.get_non_null(key)?.shape() {
        Shape::Scalar(Scalar::Number(text)) => text.parse().ok(),
        _ => None,
    }
}

fn dollars(map: Item<'_>, key: &str) -> Option<f64> {
    map.get_non_null(key).and_then(Node::number).filter(|number| *number >= 0.0)
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn bad(&self, node: Item<'_>, message: &str) -> ReadError {
        let offset = node.span().map_or(0, |(from, _)| from);
        ReadError::at_offset(ReadErrorKind::BadValue, self.text, offset, format!("{message}."))
    }

    /// Fails if there is a key or token anywhere. The error does not repeat it: its excerpt is
    /// empty.
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

/// Returns true for `${NAME}`, also after the kind of key: it refers to a key and does not hold
/// one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_read_with_their_order_and_columns_and_faults_name_the_nearest_word() {
        let file = read(
            "views:\n  dear: { filter: 'cost:>1', sort: -cost, columns: [task, cost] }\n  all: {}\n",
        )
        .unwrap();
        assert!(file.faults.is_empty(), "{:?}", file.faults);
        let dear = View {
            name: "dear".to_owned(),
            filter: "cost:>1".to_owned(),
            sort: Some("-cost".to_owned()),
            columns: Some(vec!["task".to_owned(), "cost".to_owned()]),
        };
        let all = View { name: "all".to_owned(), ..View::default() };
        assert_eq!(file.views, [dear, all]);
        let own = read("views: { x: { sort: '-answer.items[0].id' }, y: { sort: 'fact:a' } }\n");
        assert!(own.unwrap().faults.is_empty());
        let wrong = read("views: { x: { filter: a, sort: -costs, column: [a] } }\n").unwrap();
        assert_eq!(wrong.faults.len(), 2, "{:?}", wrong.faults);
        assert_eq!(wrong.views[0].sort, None);
    }
}
