//! Index of the functions of all APIs in a pool: lookup by offered name, and full-text search. Owns
//! an in-memory index; calling the APIs is done elsewhere.
use super::names;
use rusqlite::{Connection, params};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use touchstone_formats::stabletoolbench::functions::{self, Function};
use touchstone_formats::stabletoolbench::names::function_name;
use touchstone_formats::stabletoolbench::{Api, Pool, Query, Tool};

/// Maximum number of distinct words of a search query to use.
const WORDS: usize = 64;

/// Index of the APIs of a pool.
pub struct ToolIndex {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    index: Mutex<Connection>,
}

/// A function and the API that it calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The function, under the name offered to models.
    pub function: Function,
    /// Category of the tool.
    pub category: String,
    /// Name of the tool.
    pub tool: String,
    /// Name of the API.
    pub api: String,
}

impl ToolIndex {
    /// Indexes a pool. If several APIs have the same function name, only the first is kept.
    pub fn from_pool(pool: &Pool) -> rusqlite::Result<Self> {
        let all = pool.tools().iter().flat_map(|tool| tool.apis.iter().map(move |api| (tool, api)));
        let entries =
            distinct(all.map(|(tool, api)| entry(tool, api, functions::of_api(tool, api))));
        let by_name = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.function.name.clone(), at))
            .collect();
        let index = Connection::open_in_memory()?;
        index.execute_batch(
            "CREATE VIRTUAL TABLE apis USING fts5(api, tool, about, tokenize='porter unicode61')",
        )?;
        {
            let mut add = index
                .prepare("INSERT INTO apis(rowid, api, tool, about) VALUES (?1, ?2, ?3, ?4)")?;
            index.execute_batch("BEGIN")?;
            for (at, entry) in entries.iter().enumerate() {
                let found = pool.find(Some(&entry.category), &entry.tool, &entry.api);
                let about = found.map(|(tool, api)| {
                    format!(
                        "{} {} {}",
                        api.description,
                        tool.description.as_deref().unwrap_or_default(),
                        tool.category
                    )
                });
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                add.execute(params![
                    at,
                    plain(&entry.api),
                    plain(&entry.tool),
                    about.map(|about| plain(&about))
                ])?;
            }
            index.execute_batch("COMMIT")?;
        }
        Ok(Self { entries, by_name, index: Mutex::new(index) })
    }

    /// Number of functions.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns all entries, in the order of the pool.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the function with this name.
    pub fn named(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).and_then(|at| self.entries.get(*at))
    }

    /// Returns the functions that match a query, best first. Any of its words may match; rare words
    /// weigh more, and names weigh more than descriptions.
    pub fn search(&self, question: &str, most: usize) -> rusqlite::Result<Vec<&Entry>> {
        let words: BTreeSet<String> = plain(question)
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let words: Vec<String> =
            words.into_iter().take(WORDS).map(|word| format!("\"{word}\"")).collect();
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = index.prepare_cached(
            "SELECT rowid FROM apis WHERE apis MATCH ?1 ORDER BY bm25(apis, 4.0, 2.0, 1.0), rowid LIMIT ?2",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows =
            found.query_map(params![words.join(" OR "), most], |row| row.get::<_, i64>(0))?;
        let at = |row: rusqlite::Result<i64>| {
            Ok(usize::try_from(row?).ok().and_then(|at| self.entries.get(at)))
        };
        rows.filter_map(|row| at(row).transpose()).collect()
    }
}

/// Returns the functions of the APIs that a query names, with the pool's description if it has one.
pub fn of_query(query: &Query, pool: &Pool) -> Vec<Entry> {
    distinct(query.apis.iter().map(|own| {
        if let Some((tool, api)) = pool.find(Some(&own.category), &own.tool, &own.name) {
            return entry(tool, api, functions::of_api(tool, api));
        }
        let tool =
            Tool { category: own.category.clone(), name: own.tool.clone(), ..Tool::default() };
        entry(&tool, own, functions::of_api(&tool, own))
    }))
}

/// Returns the function names that several APIs of a query share; a call reaches the first of them.
pub fn shared(query: &Query) -> Vec<String> {
    let names: Vec<String> =
        query.apis.iter().map(|api| function_name(&api.tool, &api.name)).collect();
    let mut twice: Vec<String> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if names.iter().take(at).any(|other| other == name) && !twice.contains(name) {
            twice.push(name.clone());
        }
    }
    twice
}

fn entry(tool: &Tool, api: &Api, function: Function) -> Entry {
    Entry {
        function,
        category: tool.category.clone(),
        tool: tool.name.clone(),
        api: api.name.clone(),
    }
}

/// Keeps the first entry of each name, and converts names to the form that providers accept.
fn distinct(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut seen = BTreeSet::new();
    let mut entries: Vec<Entry> =
        entries.filter(|entry| seen.insert(entry.function.name.clone())).collect();
    let own: Vec<&str> = entries.iter().map(|entry| entry.function.name.as_str()).collect();
    let offered: Vec<String> =
        names::offered(&own, "").into_iter().map(|named| named.offered).collect();
    for (entry, offered) in entries.iter_mut().zip(offered) {
        entry.function.name = offered;
    }
    entries
}

/// Replaces everything but letters and digits with spaces.
fn plain(text: &str) -> String {
    let word = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    text.chars().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        let mut pool = Pool::default();
        let tool = |name: &str, apis: &[(&str, &str)]| {
            let api = |(name, about): &(&str, &str)| {
                format!(r#"{{"name": "{name}", "description": "{about}"}}"#)
            };
            let apis: Vec<String> = apis.iter().map(api).collect();
            format!(
                r#"{{"tool_name": "{name}", "tool_description": "About {name}", "api_list": [{}]}}"#,
                apis.join(",")
            )
        };
        let files = [
            (
                "Data",
                tool(
                    "Clubs",
                    &[
                        ("Search players", "Finds a footballer by name"),
                        ("Transfers", "Where a footballer went"),
                    ],
                ),
            ),
            (
                "Weather",
                tool(
                    "River",
                    &[
                        ("Level", "How high the water stands"),
                        ("Forecast", "How high it will stand"),
                    ],
                ),
            ),
            ("Odd", tool("a^b", &[("x", "odd")])),
        ];
        for (category, file) in files {
            pool.add_file(&[category], "t", &file).unwrap();
        }
        pool
    }

    #[test]
    fn functions_are_found_by_what_they_do_the_best_first() {
        let shelf = ToolIndex::from_pool(&pool()).unwrap();
        let found = |question: &str, most| {
            let found = shelf.search(question, most).unwrap();
            found.into_iter().map(|entry| entry.function.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(found("where do players search?", 1), ["search_players_for_clubs"]);
        assert_eq!(
            found("How high is the river's water level", 2),
            ["level_for_river", "forecast_for_river"]
        );
        assert_eq!(found("footballers", 5).len(), 2);
        assert_eq!(found("\" OR * ) -- ^", 5), Vec::<&str>::new());
        assert_eq!(found("nothing of that kind xyz", 5), Vec::<&str>::new());
        assert_eq!((shelf.count(), found("clubs OR river NEAR", 9).len()), (5, 4));
    }

    #[test]
    fn names_that_providers_do_not_take_lead_back_to_their_api() {
        let shelf = ToolIndex::from_pool(&pool()).unwrap();
        let entry = shelf.entries().iter().find(|entry| entry.tool == "a^b").unwrap();
        let name = &entry.function.name;
        assert!(name.starts_with("x_for_a_b_") && name.is_ascii() && name.len() <= 64, "{name}");
        assert_eq!(shelf.named(name), Some(entry));
    }

    #[test]
    fn the_first_api_of_a_shared_name_is_kept_with_a_note() {
        let tool = "t".repeat(60);
        let api = |name: &str| Api {
            category: "C".into(),
            tool: tool.clone(),
            name: name.into(),
            ..Api::default()
        };
        let query =
            Query { apis: vec![api("first"), api("burst"), api("other")], ..Query::default() };
        let entries = of_query(&query, &Pool::default());
        assert_eq!(entries.iter().map(|entry| entry.api.as_str()).collect::<Vec<_>>(), ["first"]);
        assert_eq!(shared(&query).len(), 1);
    }
}
