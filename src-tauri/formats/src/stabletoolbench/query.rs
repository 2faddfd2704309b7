//! **Pure.** Queries: their texts, the available APIs and the expected ones. A task holds its query
//! as a [`Brief`]: the data that lists and search need is parsed, the rest stays the text of its
//! row until it is needed.
use super::functions;
use super::names;
use crate::suite::Task;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::json::{Mode, Reader};
use touchstone_model::node::Node;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

/// One query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// Test set: the name of its file.
    pub set: Option<String>,
    /// Id, as decimal text.
    pub id: String,
    /// Text of the query.
    pub text: String,
    /// Expected APIs as in the file: a pair may occur twice.
    pub gold: Vec<ApiName>,
    /// Available APIs.
    pub apis: Vec<Api>,
}

/// One API.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Api {
    /// Category of its tool.
    pub category: String,
    /// Tool name.
    pub tool: String,
    /// API name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Required parameters.
    pub required: Vec<Parameter>,
    /// Optional parameters.
    pub optional: Vec<Parameter>,
    /// HTTP method, such as `GET`.
    pub method: String,
    /// Example of a reply: an object, or JSON as text that is often cut.
    pub template: Option<Value>,
    /// Keys of a reply to keep, if a tool file specifies them.
    pub schema: Option<Value>,
}

/// A parameter of an API.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// `STRING`, `NUMBER`, …, as written.
    pub kind: String,
    /// Description.
    pub description: String,
    /// Default value.
    pub default: Value,
}

/// A query in the form that its task holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// Test set: the name of its file.
    pub set: String,
    /// Id, as decimal text; its index in the file if it has none.
    pub id: String,
    /// Expected APIs as in the file: a pair may occur twice. All available APIs if the file has
    /// none.
    pub gold: Vec<ApiName>,
    /// Available APIs.
    pub apis: Vec<AvailableApi>,
    row: Row,
}

/// An API available to a query, by its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableApi {
    /// Category of its tool.
    pub category: Arc<str>,
    /// Tool name and API name.
    pub pair: ApiName,
}

/// Text of one row, as a range of the file text that all rows share.
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
    /// Returns the row as in the file, including unknown keys.
    pub fn row(&self) -> Value {
        json::read_as(self.row.text(), Mode::Embedded).unwrap_or_default()
    }

    /// Returns the distinct categories of its tools.
    pub fn categories(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.apis
            .iter()
            .map(|api| &*api.category)
            .filter(|category| seen.insert(*category))
            .collect()
    }

    /// Returns the distinct names of the expected functions.
    pub fn gold_functions(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let names = self.gold.iter().map(|pair| names::function_name(&pair.tool, &pair.api));
        names.filter(|name| seen.insert(name.clone())).collect()
    }

    /// Returns the APIs whose functions have the same name, by that name.
    pub fn shared(&self) -> Vec<(String, Vec<&ApiName>)> {
        functions::shared(self.apis.iter().map(|api| &api.pair))
    }
}

/// Values parsed from a row.
#[derive(Default)]
struct ParsedRow {
    text: Option<String>,
    id: Option<String>,
    gold: Option<Vec<ApiName>>,
    apis: Vec<AvailableApi>,
}

/// Parses the rows of a query set. Returns, for each row with a query, its text and its [`Brief`].
pub(crate) fn briefs(text: &str, set: &str) -> Result<Vec<(String, Brief)>, ReadError> {
    let file: Arc<str> = Arc::from(text);
    let (mut all, mut at) = (Vec::new(), 0);
    let mut categories: HashSet<Arc<str>> = HashSet::new();
    Reader::new(text, Mode::Embedded).parse_all(|reader| {
        reader.items(|reader| {
            let from = reader.offset();
            let ParsedRow { text, id, gold, apis } = row(reader, &mut categories)?;
            let id = id.unwrap_or_else(|| at.to_string());
            at += 1;
            let Some(text) = text else { return Ok(()) };
            let gold = gold.unwrap_or_else(|| apis.iter().map(|api| api.pair.clone()).collect());
            let row = Row { file: Arc::clone(&file), range: from..reader.offset() };
            all.push((text, Brief { set: set.to_owned(), id, gold, apis, row }));
            Ok(())
        })
    })?;
    Ok(all)
}

fn row(
    reader: &mut Reader<'_>,
    categories: &mut HashSet<Arc<str>>,
) -> Result<ParsedRow, ReadError> {
    let mut seen = ParsedRow::default();
    let mut other_gold = None;
    reader.entries(|reader, key| {
        match key {
            "query" => seen.text = reader.text()?.map(Into::into),
            "query_id" => seen.id = reader.value()?.word().map(str::to_owned),
            "relevant APIs" => {
                seen.gold =
                    Some(reader.value()?.items().iter().filter_map(read_api_name).collect());
            }
            "relevant_apis" => {
                other_gold =
                    Some(reader.value()?.items().iter().filter_map(read_api_name).collect());
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
) -> Result<AvailableApi, ReadError> {
    let (mut pair, mut category, mut name) = (ApiName::default(), String::new(), None);
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
    // Thousands of APIs share a few categories, so the text is shared.
    let category = categories.get(category.as_str()).cloned().unwrap_or_else(|| {
        let category: Arc<str> = Arc::from(category);
        categories.insert(Arc::clone(&category));
        category
    });
    Ok(AvailableApi { category, pair })
}

impl Query {
    /// Returns the query of a task of a query set; `None` for other tasks.
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
    /// Returns its tools with their APIs, in order of occurrence: `{category, tool_name, apis:
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

/// Parses the names of a tool and its API: `[tool_name, api_name]`, or an object with these keys.
pub fn read_api_name(value: &Value) -> Option<ApiName> {
    let (tool, api) = match value {
        Value::List(items) => (items.first()?, items.get(1)?),
        other => (other.get("tool_name")?, other.get("api_name")?),
    };
    Some(ApiName { tool: words(tool), api: words(api) })
}

impl Api {
    /// Parses an entry of `api_list`, of a query or of a tool file (`name` instead of `api_name`).
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

    /// Returns its tool name and API name.
    pub fn pair(&self) -> ApiName {
        ApiName { tool: self.tool.clone(), api: self.name.clone() }
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

/// Returns a text as it is, any other value as JSON; empty for null.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        other => other.word().map_or_else(|| json::write(other, false), str::to_owned),
    }
}
