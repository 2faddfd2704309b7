//! Tools that one run may call, as offered to the model, and the function of virtual APIs that a
//! name refers to. Owns the number of offered functions and the form: one by one, or through a pair
//! of tools if there are more than the provider accepts.
use crate::provider::ToolOffer;
use crate::strategy::{Offering, Strategy};
use crate::tools::tool_index::{self, Entry, ToolIndex};
use crate::tools::{Called, ToolFailure, Unusable};
use touchstone_formats::stabletoolbench::functions::{self, Function};
use touchstone_formats::stabletoolbench::{Pool, Query, names};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Name of the tool that finds functions by their description.
pub const SEARCH_APIS: &str = names::SEARCH;
/// Name of the tool that calls one of them.
pub const CALL_API: &str = names::CALL;
/// Default and maximum number of functions that a search returns.
const FOUND: usize = 5;
const MOST_FOUND: usize = 20;

/// Tools that one run may call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunTools {
    /// Definitions sent to the model.
    pub offers: Vec<ToolOffer>,
    /// Functions of virtual APIs among them.
    pub apis: Option<Apis>,
}

/// Offered functions of virtual APIs.
#[derive(Debug, Clone, PartialEq)]
pub struct Apis {
    /// Name of the tool that they belong to.
    pub tool: String,
    /// Maximum characters of a reply that the model is shown.
    pub observation: usize,
    /// Short description of the offering.
    pub said: String,
    /// Number of functions, if they are offered through a pair of tools.
    pub many: Option<usize>,
    entries: Vec<Entry>,
}

/// Inputs that decide which functions are offered.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferInputs<'a> {
    /// Strategy of the run.
    pub way: Strategy,
    /// Query of the task, if it is from a query set.
    pub query: Option<&'a Query>,
    /// Prompt of the task, or the goal of its simulated user.
    pub prompt: &'a str,
    /// Maximum number of functions that the provider accepts.
    pub most: usize,
}

impl Default for OfferInputs<'_> {
    fn default() -> Self {
        Self { way: Strategy::default(), query: None, prompt: "", most: usize::MAX }
    }
}

impl RunTools {
    /// Returns the tools that calls can be checked against: all except the one that only submits
    /// the answer.
    pub(super) fn recorded_offers(&self) -> impl Iterator<Item = &ToolOffer> {
        self.offers.iter().filter(|offer| offer.name != functions::FINISH)
    }

    /// Adds functions of virtual APIs to the offered tools. Fails if there are more than the
    /// provider accepts.
    pub(super) fn offer_apis(
        &mut self,
        tool: &str,
        all: &ToolIndex,
        pool: &Pool,
        asked: &OfferInputs<'_>,
    ) -> Result<(), Unusable> {
        let refused = |message: String, fix: &str| Unusable { message, fix: Some(fix.to_owned()) };
        let room =
            asked.most.saturating_sub(self.offers.len() + usize::from(asked.way.method.is_some()));
        let offering = asked.way.offer.unwrap_or_default();
        let mut said = String::new();
        let entries = match offering {
            Offering::All if all.count() > room => Vec::new(),
            Offering::All => all.entries().to_vec(),
            Offering::Top(count) => {
                let found = all.search(asked.prompt, count as usize);
                found
                    .map_err(|why| {
                        refused(format!("The APIs could not be searched: {why}."), "Try again.")
                    })?
                    .into_iter()
                    .cloned()
                    .collect()
            }
            Offering::Query => {
                let query =
                    asked.query.filter(|query| !query.apis.is_empty()).ok_or_else(|| {
                        refused(
                            "The task names no APIs of its own, so `offer: query` offers none."
                                .to_owned(),
                            "Use `offer: all` or `offer: top-20`.",
                        )
                    })?;
                let shared = tool_index::shared(query);
                if !shared.is_empty() {
                    said = format!(
                        "; several APIs are called {}, which calls the first of them",
                        shared.join(", ")
                    );
                }
                tool_index::of_query(query, pool)
            }
        };
        if entries.len() > room {
            let message = format!(
                "{} functions would be offered, and the provider takes {room}.",
                entries.len()
            );
            return Err(refused(
                message,
                "Offer fewer, or all of them: then they are offered through a search.",
            ));
        }
        let many = (offering == Offering::All && all.count() > room).then_some(all.count());
        self.offers.extend(entries.iter().map(|entry| offer(entry.function.clone())));
        if many.is_some() {
            self.offers.extend([search_offer(all.count()), call_offer()]);
        }
        let said = match many {
            Some(count) => format!("{count} functions, through {SEARCH_APIS} and {CALL_API}"),
            None => format!("{} functions{said}", entries.len()),
        };
        let observation = asked.way.observation();
        self.apis = Some(Apis { tool: tool.to_owned(), observation, said, many, entries });
        Ok(())
    }
}

impl Apis {
    /// Returns true if the functions are offered through a search.
    pub fn is_pair(&self) -> bool {
        self.many.is_some()
    }

    /// Returns the function with this name.
    pub fn served(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.function.name == name)
    }

    /// Returns the names of the functions, in offered order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|entry| entry.function.name.as_str())
    }
}

/// Converts a function to a tool definition.
pub(super) fn offer(function: Function) -> ToolOffer {
    ToolOffer {
        name: function.name,
        description: function.description,
        parameters: function.parameters,
    }
}

/// Executes the search tool: returns functions in the form of tool definitions.
pub(super) fn search(shelf: &ToolIndex, params: &Value) -> Called {
    let text = |key: &str| params.get(key).and_then(Value::text);
    let question = text("query")
        .ok_or_else(|| ToolFailure::new("Say what the function should do, as `query`."))?;
    let limit = match params.get("limit") {
        Some(Value::Number(number)) => number.parse().unwrap_or(FOUND),
        _ => FOUND,
    };
    let found = shelf.search(question, limit.clamp(1, MOST_FOUND));
    let found = found.map_err(|why| ToolFailure::new(format!("The search failed: {why}.")))?;
    if found.is_empty() {
        return Err(ToolFailure::new(
            "No function fits. Use other words: what it should return, or what it needs.",
        ));
    }
    let shown = |entry: &Entry| {
        let Function { name, description, parameters, .. } = entry.function.clone();
        let entries = [
            ("name", Value::Text(name)),
            ("description", Value::Text(description)),
            ("parameters", parameters),
        ];
        Value::Map(entries.map(|(key, value)| (key.into(), value)).into())
    };
    Ok(Value::List(found.into_iter().map(shown).collect()))
}

/// Resolves a call of the call tool: returns the API and its input.
pub(super) fn called<'s>(
    shelf: &'s ToolIndex,
    params: &Value,
) -> Result<(&'s Entry, String), ToolFailure> {
    let name = params.get("name").and_then(Value::text);
    let name = name.ok_or_else(|| ToolFailure::new("Say which function to call, as `name`."))?;
    let entry = shelf.named(name).ok_or_else(|| {
        ToolFailure::new(format!(
            "There is no function named `{name}`. Find its exact name with `{SEARCH_APIS}`."
        ))
    })?;
    Ok((entry, params.get("arguments").map_or_else(String::new, input)))
}

/// Formats arguments as the input text of an API.
pub(super) fn input(params: &Value) -> String {
    match params {
        Value::Text(text) => text.clone(),
        Value::Null => String::new(),
        other => json::write(other, false),
    }
}

fn search_offer(count: usize) -> ToolOffer {
    let description = format!(
        "Finds functions among the {count} there are, by what they do. Returns their exact names, what they do and their parameters."
    );
    let properties = [
        ("query", "string", "What the function should do, in a few words."),
        ("limit", "integer", "How many to return: 5 unless said otherwise, 20 at most."),
    ];
    ToolOffer {
        name: SEARCH_APIS.to_owned(),
        description,
        parameters: schema(&properties, &["query"]),
    }
}

fn call_offer() -> ToolOffer {
    let properties = [
        ("name", "string", "The exact name of the function, as it was found."),
        ("arguments", "object", "Its arguments, by name."),
    ];
    let description = "Calls a function that was found, and returns what it returns.".to_owned();
    ToolOffer {
        name: CALL_API.to_owned(),
        description,
        parameters: schema(&properties, &["name", "arguments"]),
    }
}

fn schema(properties: &[(&str, &str, &str)], required: &[&str]) -> Value {
    let text = |key: &str, value: &str| (Value::from(key), Value::from(value));
    let property = |(name, kind, about): &(&str, &str, &str)| {
        (Value::from(*name), Value::Map(vec![text("type", kind), text("description", about)]))
    };
    let required = required.iter().map(|name| Value::from(*name)).collect();
    Value::Map(vec![
        text("type", "object"),
        ("properties".into(), Value::Map(properties.iter().map(property).collect())),
        ("required".into(), Value::List(required)),
    ])
}
