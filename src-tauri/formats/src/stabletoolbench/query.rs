//! **Pure.** Queries: what is asked, which APIs there are for it, and which of them are right to
//! call. A task holds a query as `Brief`: what lists and search need was read, the rest is the text
//! of its row until somebody asks.
use super::functions;
use super::names;
use crate::error::ReadError;
use crate::json;
use crate::json::{Mode, Reader};
use crate::node::Node;
use crate::suite::Task;
use crate::value::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Test set: the name of its file.
    pub set: Option<String>,
    /// Its id, as decimal text.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// APIs that are right to call, as the file has them: the same pair may stand twice.
    pub gold: Vec<Pair>,
    /// APIs that are there for it.
    pub apis: Vec<Api>,
}

/// A tool and one of its APIs, by the names that files give them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Pair {
    /// `tool_name`.
    pub tool: String,
    /// `api_name`.
    pub api: String,
}

/// One API.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Api {
    /// Category of its tool.
    pub category: String,
    /// Its tool.
    pub tool: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Parameters that have to be given.
    pub required: Vec<Parameter>,
    /// Parameters that may be given.
    pub optional: Vec<Parameter>,
    /// `GET`.
    pub method: String,
    /// What a reply looks like: an object, or JSON as a text that is often cut.
    pub template: Option<Value>,
    /// Which keys of a reply are kept, where a tool file says so.
    pub schema: Option<Value>,
}

/// A parameter of an API.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// `STRING`, `NUMBER`, …, as written.
    pub kind: String,
    /// What it means.
    pub description: String,
    /// What it is when nobody gives it.
    pub default: Value,
}

/// A query as its task holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// Test set: the name of its file.
    pub set: String,
    /// Its id, as decimal text; its place in the file when it has none.
    pub id: String,
    /// APIs that are right to call, as the file has them: the same pair may stand twice. Those that
    /// are there for it, where nobody says.
    pub gold: Vec<Pair>,
    /// APIs that are there for it.
    pub apis: Vec<Offered>,
    row: Row,
}

/// An API that is there for a query, by its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Category of its tool.
    pub category: Arc<str>,
    /// Its tool and its name.
    pub pair: Pair,
}

/// The text of one row of a file that all its rows share.
#[derive(Clone)]
struct Row {
    file: Arc<str>,
    range: Range<usize>,
}

impl Row {
    fn text(&self) -> &str {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Row({} bytes)", self.range.len())
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Brief {
    /// The row as the file has it, with keys that nobody knows.
    pub fn row(&self) -> Value {
        json::read_as(self.row.text(), Mode::Embedded).unwrap_or_default()
    }

    /// Categories of its tools, each once.
    pub fn categories(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.apis
            .iter()
            .map(|api| &*api.category)
            .filter(|category| seen.insert(*category))
            .collect()
    }

    /// Names of the functions that are right to call, each once.
    pub fn gold_functions(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let names = self.gold.iter().map(|pair| names::function_name(&pair.tool, &pair.api));
        names.filter(|name| seen.insert(name.clone())).collect()
    }

    /// APIs whose functions bear the same name, by that name.
    pub fn shared(&self) -> Vec<(String, Vec<&Pair>)> {
        functions::shared(self.apis.iter().map(|api| &api.pair))
    }
}

/// What was read of a row.
#[derive(Default)]
struct Seen {
    text: Option<String>,
    id: Option<String>,
    gold: Option<Vec<Pair>>,
    apis: Vec<Offered>,
}

/// Reads the rows of a query set: of each that asks something, its text and what its task holds.
pub(crate) fn briefs(text: &str, set: &str) -> Result<Vec<(String, Brief)>, ReadError> {
    let file: Arc<str> = Arc::from(text);
    let (mut all, mut at) = (Vec::new(), 0);
    let mut categories: HashSet<Arc<str>> = HashSet::new();
    Reader::new(text, Mode::Embedded).whole(|reader| {
        reader.items(|reader| {
            let from = reader.at();
            let Seen { text, id, gold, apis } = row(reader, &mut categories)?;
            let id = id.unwrap_or_else(|| at.to_string());
            at += 1;
            let Some(text) = text else { return Ok(()) };
            let gold = gold.unwrap_or_else(|| apis.iter().map(|api| api.pair.clone()).collect());
            let row = Row { file: Arc::clone(&file), range: from..reader.at() };
            all.push((text, Brief { set: set.to_owned(), id, gold, apis, row }));
            Ok(())
        })
    })?;
    Ok(all)
}

fn row(reader: &mut Reader<'_>, categories: &mut HashSet<Arc<str>>) -> Result<Seen, ReadError> {
    let mut seen = Seen::default();
    let mut other_gold = None;
    reader.entries(|reader, key| {
        match key {
            "query" => seen.text = reader.text()?.map(Into::into),
            "query_id" => seen.id = reader.value()?.word().map(str::to_owned),
            "relevant APIs" => {
                seen.gold = Some(reader.value()?.items().iter().filter_map(Pair::read).collect());
            }
            "relevant_apis" => {
                other_gold = Some(reader.value()?.items().iter().filter_map(Pair::read).collect());
            }
            "api_list" => reader.items(|reader| {
                seen.apis.push(offered(reader, categories)?);
                Ok(())
            })?,
            _ => reader.pass()?,
        }
        Ok(())
    })?;
    seen.gold = seen.gold.or(other_gold);
    Ok(seen)
}

fn offered(
    reader: &mut Reader<'_>,
    categories: &mut HashSet<Arc<str>>,
) -> Result<Offered, ReadError> {
    let (mut pair, mut category, mut name) = (Pair::default(), String::new(), None);
    reader.entries(|reader, key| {
        match key {
            "category_name" => category = words(&reader.value()?),
            "tool_name" => pair.tool = words(&reader.value()?),
            "api_name" => pair.api = words(&reader.value()?),
            "name" => name = Some(words(&reader.value()?)),
            _ => reader.pass()?,
        }
        Ok(())
    })?;
    if pair.api.is_empty() {
        pair.api = name.unwrap_or_default();
    }
    // Thousands of APIs are of a few categories.
    let category = categories.get(category.as_str()).cloned().unwrap_or_else(|| {
        let category: Arc<str> = Arc::from(category);
        categories.insert(Arc::clone(&category));
        category
    });
    Ok(Offered { category, pair })
}

impl Query {
    /// The query behind a task of a query set; none for other tasks.
    pub fn of_task(task: &Task) -> Option<Self> {
        let brief = task.query.as_ref()?;
        let row = brief.row();
        Some(Self {
            set: Some(brief.set.clone()).filter(|set| !set.is_empty()),
            id: brief.id.clone(),
            text: task.prompts.tool_calling.clone().unwrap_or_default(),
            gold: brief.gold.clone(),
            apis: row.get("api_list").map_or(&[][..], Value::items).iter().map(Api::read).collect(),
        })
    }
}

impl Query {
    /// Its tools with their APIs, in the order they come up: `{category, tool_name, apis:
    /// [{api_name, api_description}]}`.
    pub fn available_tools(&self) -> Value {
        let mut tools: Vec<(&Api, Vec<Value>)> = Vec::new();
        let mut places: HashMap<(&str, &str), usize> = HashMap::new();
        for api in &self.apis {
            let said = [("api_name", &api.name), ("api_description", &api.description)];
            let said =
                Value::Map(said.map(|(key, text)| (key.into(), Value::Text(text.clone()))).into());
            let at = *places.entry((&api.category, &api.tool)).or_insert(tools.len());
            match tools.get_mut(at) {
                Some((_, apis)) => apis.push(said),
                None => tools.push((api, vec![said])),
            }
        }
        let tool = |(api, apis): (&Api, Vec<Value>)| {
            Value::Map(vec![
                ("category".into(), Value::Text(api.category.clone())),
                ("tool_name".into(), Value::Text(api.tool.clone())),
                ("apis".into(), Value::List(apis)),
            ])
        };
        Value::List(tools.into_iter().map(tool).collect())
    }
}

impl Pair {
    /// `[tool_name, api_name]`, or an object with these keys.
    pub fn read(value: &Value) -> Option<Self> {
        let (tool, api) = match value {
            Value::List(items) => (items.first()?, items.get(1)?),
            other => (other.get("tool_name")?, other.get("api_name")?),
        };
        Some(Self { tool: words(tool), api: words(api) })
    }
}

impl Api {
    /// An entry of `api_list`, of a query or of a tool file (`name` in place of `api_name`).
    pub fn read(entry: &Value) -> Self {
        let text = |key: &str| entry.get(key).map(words).unwrap_or_default();
        let parameters = |key: &str| {
            entry.get(key).map_or(&[][..], Value::items).iter().map(Parameter::read).collect()
        };
        let name = if entry.get("api_name").is_some() { text("api_name") } else { text("name") };
        Self {
            category: text("category_name"),
            tool: text("tool_name"),
            name,
            description: if text("api_description").is_empty() {
                text("description")
            } else {
                text("api_description")
            },
            required: parameters("required_parameters"),
            optional: parameters("optional_parameters"),
            method: text("method"),
            template: entry.get("template_response").cloned(),
            schema: entry.get("schema").cloned(),
        }
    }

    /// Its tool and its name.
    pub fn pair(&self) -> Pair {
        Pair { tool: self.tool.clone(), api: self.name.clone() }
    }
}

impl Parameter {
    fn read(entry: &Value) -> Self {
        let text = |key: &str| entry.get(key).map(words).unwrap_or_default();
        Self {
            name: text("name"),
            kind: text("type"),
            description: text("description"),
            default: entry.get("default").cloned().unwrap_or_default(),
        }
    }
}

/// A text, or what else stands there as JSON; nothing for null.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        other => other.word().map_or_else(|| json::write(other, false), str::to_owned),
    }
}
