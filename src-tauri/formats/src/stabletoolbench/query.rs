//! **Pure.** Queries: what is asked, which APIs there are for it, and which of them are right to call.
use crate::json;
use crate::node::Node;
use crate::suite::Task;
use crate::value::Value;

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

impl Query {
    /// The query behind a task of a query set; none for other tasks.
    pub fn of_task(task: &Task) -> Option<Self> {
        let extra = |key: &str| task.extra.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        let (place, id) = task.id.rsplit_once('/').unwrap_or(("", &task.id));
        let set = place.rsplit('/').next().filter(|set| !set.is_empty());
        let list = extra("api_list").map(Value::items);
        let gold = extra("relevant APIs").or_else(|| extra("relevant_apis"));
        if list.is_none() && gold.is_none() {
            return None;
        }
        let apis: Vec<Api> = list.unwrap_or_default().iter().map(Api::read).collect();
        let gold = gold.map_or_else(
            || apis.iter().map(Api::pair).collect(),
            |gold| gold.items().iter().filter_map(Pair::read).collect(),
        );
        let text = task.prompts.tool_calling.clone().unwrap_or_default();
        Some(Self { set: set.map(str::to_owned), id: id.to_owned(), text, gold, apis })
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
        let parameters = |key: &str| entry.get(key).map_or(&[][..], Value::items).iter().map(Parameter::read).collect();
        let name = if entry.get("api_name").is_some() { text("api_name") } else { text("name") };
        Self {
            category: text("category_name"),
            tool: text("tool_name"),
            name,
            description: if text("api_description").is_empty() { text("description") } else { text("api_description") },
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
