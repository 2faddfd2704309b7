//! **Pure.** `touchstone.yaml`: which folders, which models, which tools. Never a key.
use crate::error::{ReadError, ReadErrorKind, text_of};
use crate::node::{Node, Shape};
use crate::value::Value;
use crate::yaml;
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
    /// Keys we do not know.
    pub extra: Vec<(String, Value)>,
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

/// Reads a workspace file. A key or token in it is an error, so that it is never shared by accident.
pub fn read(text: &str) -> Result<Workspace, ReadError> {
    let text = text_of(text.as_bytes())?;
    if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        return Ok(Workspace::default());
    }
    let tree = yaml::parse(text)?;
    let reader = Reader { text };
    reader.refuse_secrets(tree.root())?;
    reader.workspace(tree.root())
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn workspace(&self, root: Item<'_>) -> Result<Workspace, ReadError> {
        if root.shape() != Shape::Map {
            return Err(self.bad(root, "A workspace file has to be a map of keys"));
        }
        let mut workspace = Workspace::default();
        for (key, value) in root.entries() {
            match key.word().unwrap_or_default() {
                "input_dir" => workspace.input_dir = self.word(value)?,
                "output_dir" => workspace.output_dir = self.word(value)?,
                "models" => workspace.models = self.named(value, |name, value| self.model(name, value))?,
                "systems" => workspace.systems = self.named(value, |name, value| Ok((name, value.to_value())))?,
                "tools" => workspace.tools = self.named(value, |name, value| Ok((name, value.to_value())))?,
                "run" => workspace.run = self.limits(value)?,
                "queries" => workspace.query_scorers = self.query_scorers(value)?,
                word => workspace.extra.push((word.to_owned(), value.to_value())),
            }
        }
        Ok(workspace)
    }

    fn named<'t, T>(
        &self,
        map: Item<'t>,
        each: impl Fn(String, Item<'t>) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        if map.is_null() {
            return Ok(Vec::new());
        }
        if map.shape() != Shape::Map {
            return Err(self.bad(map, "Names with their settings are missing here"));
        }
        map.entries().map(|(key, value)| each(key.word().unwrap_or_default().to_owned(), value)).collect()
    }

    fn model(&self, name: String, model: Item<'_>) -> Result<Model, ReadError> {
        if model.shape() != Shape::Map {
            return Err(self.bad(model, "A model has to be a map").advise("Write it as `{ provider: …, model: … }`."));
        }
        let mut read = Model { name, ..Model::default() };
        for (key, value) in model.entries() {
            match key.word().unwrap_or_default() {
                "provider" => read.provider = self.word(value)?,
                "model" => read.model = self.word(value)?,
                "base_url" => read.base_url = self.word(value)?,
                "max_tokens" => read.max_tokens = Some(self.whole(value)?),
                "price" => read.price = Some(self.price(value)?),
                word => read.extra.push((word.to_owned(), value.to_value())),
            }
        }
        Ok(read)
    }

    fn price(&self, price: Item<'_>) -> Result<Price, ReadError> {
        let dollars = |given: Item<'_>| given.number().filter(|number| *number >= 0.0);
        let part = |key: &str| price.given(key).and_then(dollars);
        let (Some(input), Some(output)) = (part("input"), part("output")) else {
            let error = self.bad(price, "A price needs `input` and `output`");
            return Err(error.advise("Give dollars for a million tokens of each."));
        };
        for key in ["cache_read", "cache_write"] {
            if let Some(given) = price.given(key).filter(|given| dollars(*given).is_none()) {
                let error = self.bad(given, &format!("`{key}` of a price has to be a number of dollars"));
                return Err(error.advise("Give dollars for a million tokens, or leave it out."));
            }
        }
        Ok(Price { input, output, cache_read: part("cache_read"), cache_write: part("cache_write") })
    }

    fn limits(&self, run: Item<'_>) -> Result<RunLimits, ReadError> {
        let number = |at: Option<Item<'_>>| at.map(|at| self.whole(at)).transpose();
        let nudge = run.given("nudge");
        let cost = run.given("max_cost");
        if let Some(cost) = cost.filter(|cost| cost.number().is_none()) {
            return Err(self.bad(cost, "`max_cost` has to be a number of dollars"));
        }
        Ok(RunLimits {
            concurrency: number(run.given("concurrency"))?,
            max_turns: number(run.given("max_turns"))?,
            max_cost: cost.and_then(Node::number),
            nudge_auto: nudge.and_then(|nudge| nudge.given("auto")).and_then(Node::word).map(|word| word == "true"),
            nudge_max: number(nudge.and_then(|nudge| nudge.given("max")))?,
        })
    }

    fn query_scorers(&self, queries: Item<'_>) -> Result<Vec<Value>, ReadError> {
        let advice = "Write it as `queries: { scorers: [finish, judge:sopr] }`.";
        if let Some((key, _)) = queries.entries().find(|(key, _)| key.word() != Some("scorers")) {
            return Err(self.bad(key, "Of queries, only their `scorers` are told here").advise(advice));
        }
        match queries.given("scorers").map(Node::to_value) {
            None if queries.is_null() || queries.shape() == Shape::Map => Ok(Vec::new()),
            Some(Value::Null) => Ok(Vec::new()),
            Some(Value::List(list)) => Ok(list),
            _ => Err(self.bad(queries, "The scorers of queries have to be a list").advise(advice)),
        }
    }

    fn word(&self, value: Item<'_>) -> Result<Option<String>, ReadError> {
        match value.word() {
            Some(word) => Ok(Some(word.to_owned())),
            None if value.is_null() => Ok(None),
            None => Err(self.bad(value, "A text is missing here")),
        }
    }

    fn whole<T: std::str::FromStr>(&self, value: Item<'_>) -> Result<T, ReadError> {
        let number = value.word().and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.bad(value, "A whole number is missing here"))
    }

    fn bad(&self, node: Item<'_>, message: &str) -> ReadError {
        let offset = node.span().map_or(0, |(from, _)| from);
        ReadError::at(ReadErrorKind::BadValue, self.text, offset, format!("{message}."))
    }

    /// Looks for keys and tokens anywhere. What was found is not repeated: the excerpt stays empty.
    fn refuse_secrets(&self, node: Item<'_>) -> Result<(), ReadError> {
        let marked = |word: &str| MARKS.iter().any(|mark| word.starts_with(mark) && word.len() > 20);
        if node.word().is_some_and(|word| marked(word) && !only_names_one(word)) {
            return Err(self.secret(node));
        }
        for (key, value) in node.entries() {
            let name = key.word().unwrap_or_default().to_ascii_lowercase().replace('-', "_");
            let names_one = NAMES.iter().any(|secret| name == *secret || name.ends_with(&format!("_{secret}")));
            if names_one && value.word().is_some_and(|word| !word.is_empty() && !only_names_one(word)) {
                return Err(self.secret(value));
            }
        }
        node.items().try_for_each(|item| self.refuse_secrets(item))
    }

    fn secret(&self, node: Item<'_>) -> ReadError {
        let fault = self.bad(node, "This looks like a key or token, and keys do not belong in this file");
        let advice = "Remove it, and set the environment variable of the provider or store the key in the keyring.";
        ReadError { excerpt: None, ..fault }.advise(advice)
    }
}

/// True for `${NAME}`, also with the kind of the key before it: it says where a key is, and holds none.
fn only_names_one(word: &str) -> bool {
    let name = ["Bearer ", "Basic ", "Token "].iter().find_map(|kind| word.strip_prefix(kind)).unwrap_or(word);
    let name = name.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

const NAMES: [&str; 7] = ["api_key", "apikey", "secret", "password", "access_token", "auth_token", "authorization"];
const MARKS: [&str; 4] = ["sk-", "pk-", "Bearer ", "ghp_"];
