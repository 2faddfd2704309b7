//! **Pure.** Tools with their APIs: from tool files, or from what queries say of them.
use super::names;
use super::query::{Api, Query};

/// All tools there are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pool {
    /// In the order they were found.
    pub tools: Vec<Tool>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tool {
    /// Its category, as its directory is called.
    pub category: String,
    /// Its name.
    pub name: String,
    /// What it does; none when nobody says.
    pub description: Option<String>,
    /// Its APIs, each with `category` and `tool` filled in.
    pub apis: Vec<Api>,
}

impl Pool {
    /// The tools that queries speak of, each API once, where there is no folder of tools.
    pub fn of_queries<'a>(queries: impl IntoIterator<Item = &'a Query>) -> Self {
        let mut pool = Self::default();
        for api in queries.into_iter().flat_map(|query| &query.apis) {
            pool.add(api);
        }
        pool
    }

    fn add(&mut self, api: &Api) {
        let category = names::category(&api.category);
        let known = self.tools.iter().position(|tool| tool.name == api.tool && tool.category == category);
        let at = known.unwrap_or_else(|| {
            self.tools.push(Tool { category, name: api.tool.clone(), ..Tool::default() });
            self.tools.len() - 1
        });
        let tool = &mut self.tools[at];
        if !tool.apis.iter().any(|known| known.name == api.name) {
            tool.apis.push(api.clone());
        }
    }

    /// An API by the names of requests: raw ones and standard ones mean the same. Without a category, of the first tool of that name.
    pub fn find(&self, category: Option<&str>, tool: &str, api: &str) -> Option<(&Tool, &Api)> {
        let (tool, api, category) = (names::standardize(tool), names::api_name(api), category.map(names::category));
        let fits = |known: &&Tool| {
            names::standardize(&known.name) == tool
                && category.as_ref().is_none_or(|category| known.category == *category)
        };
        let found = |known: &&Api| names::api_name(&known.name) == api;
        self.tools.iter().filter(fits).find_map(|tool| Some((tool, tool.apis.iter().find(found)?)))
    }
}
