//! **Pure.** Tools with their APIs, read from tool files or collected from queries. Owns the lookup
//! by name.
use super::names;
use super::query::{Api, Query, words};
use std::collections::{HashMap, HashSet};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// The set of all tools.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pool {
    tools: Vec<Tool>,
    /// Indexes of the tools with each standardized name.
    by_name: HashMap<String, Vec<usize>>,
    /// For each tool, the indexes of its APIs by standardized name; the first of equal names wins.
    apis: Vec<HashMap<String, usize>>,
    /// Index of a tool by standardized name and category.
    places: HashMap<(String, String), usize>,
    /// Known APIs, as the index of the tool and the name as written.
    known: HashSet<(usize, String)>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tool {
    /// Category, as in the name of its directory; empty if unknown.
    pub category: String,
    /// Name.
    pub name: String,
    /// Description, if known.
    pub description: Option<String>,
    /// APIs, each with `category` and `tool` filled in.
    pub apis: Vec<Api>,
}

impl Pool {
    /// Collects the tools mentioned in queries, each API once. Used when there is no tool folder.
    pub fn of_queries<'a>(queries: impl IntoIterator<Item = &'a Query>) -> Self {
        let mut pool = Self::default();
        for api in queries.into_iter().flat_map(|query| &query.apis) {
            let at = pool.get_or_add_tool(&names::category(&api.category), &api.tool);
            pool.put(at, api);
        }
        pool
    }

    /// Returns the tools, in the order in which they were found.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the number of APIs.
    pub fn api_count(&self) -> usize {
        self.tools.iter().map(|tool| tool.apis.len()).sum()
    }

    /// Adds a file of a tool folder, given the directories between that folder and the file, and
    /// the name of the file without extension. A list of APIs is a complete tool, in the category
    /// named by its directory; anything else is one API of the tool named by its directory. Fails
    /// if the file is neither.
    pub fn add_file(&mut self, dirs: &[&str], stem: &str, text: &str) -> Result<(), ReadError> {
        let file = json::read_as(text, json::Mode::Embedded)?;
        let text = |key: &str| file.get(key).map(words).filter(|text| !text.is_empty());
        let category = |dir: Option<&&str>| {
            let said = || {
                text("tool_category").or_else(|| text("category_name")).or_else(|| text("category"))
            };
            dir.map(|dir| (*dir).to_owned()).or_else(said).unwrap_or_default()
        };
        if let Some(Value::List(entries)) = file.get("api_list") {
            let name =
                text("tool_name").or_else(|| text("name")).unwrap_or_else(|| stem.to_owned());
            let at = self.get_or_add_tool(&names::category(&category(dirs.last())), &name);
            self.describe(at, text("tool_description").or_else(|| text("description")));
            for entry in entries {
                self.put(at, &Api::read(entry));
            }
            return Ok(());
        }
        if !matches!(file, Value::Map(_)) || (text("api_name").is_none() && text("name").is_none())
        {
            let message = "Not a tool: it has neither an `api_list` nor an `api_name`.";
            return Err(ReadError::new(ReadErrorKind::BadValue, message));
        }
        let (parents, dir) =
            dirs.split_last().map_or((&[][..], None), |(dir, parents)| (parents, Some(*dir)));
        let name = text("tool_name").or(dir.map(str::to_owned)).unwrap_or_else(|| stem.to_owned());
        let at = self.get_or_add_tool(&names::category(&category(parents.last())), &name);
        self.describe(at, text("tool_description"));
        self.put(at, &Api::read(&file));
        Ok(())
    }

    /// Returns the index of a tool, adding it if it is new.
    fn get_or_add_tool(&mut self, category: &str, name: &str) -> usize {
        let (standard, new) = (names::standardize(name), self.tools.len());
        let at = *self.places.entry((standard.clone(), category.to_owned())).or_insert(new);
        if at == new {
            self.by_name.entry(standard).or_default().push(new);
            self.tools.push(Tool {
                category: category.to_owned(),
                name: name.to_owned(),
                ..Tool::default()
            });
            self.apis.push(HashMap::new());
        }
        at
    }

    fn describe(&mut self, at: usize, description: Option<String>) {
        if let Some(tool) = self.tools.get_mut(at) {
            tool.description = tool.description.take().or(description);
        }
    }

    /// Adds an API to a tool, unless the tool has one of that name.
    fn put(&mut self, at: usize, api: &Api) {
        let (Some(tool), Some(places)) = (self.tools.get_mut(at), self.apis.get_mut(at)) else {
            return;
        };
        if !self.known.insert((at, api.name.clone())) {
            return;
        }
        places.entry(names::api_name(&api.name)).or_insert(tool.apis.len());
        tool.apis.push(Api {
            category: tool.category.clone(),
            tool: tool.name.clone(),
            ..api.clone()
        });
    }

    /// Finds an API by the names in a request. Raw names, standardized names and the function name
    /// are equivalent, and the tool may have its category as a suffix (`weather_for_Data`). Without
    /// a category, returns the API of the first matching tool that has it.
    pub fn find(&self, category: Option<&str>, tool: &str, api: &str) -> Option<(&Tool, &Api)> {
        let category = category.map(names::category);
        let named = |tool: &str, raw: &str| {
            self.named(category.as_deref(), &names::standardize(tool), raw, api)
        };
        named(tool, tool).or_else(|| {
            // Only at the end: the names of some tools contain the same words.
            let end = format!("_for_{}", category.as_deref()?);
            named(tool.strip_suffix(&end)?, tool)
        })
    }

    /// Finds an API by the standardized tool name. `raw` is the tool name in the request, which may
    /// be the suffix of a function name.
    fn named(
        &self,
        category: Option<&str>,
        tool: &str,
        raw: &str,
        api: &str,
    ) -> Option<(&Tool, &Api)> {
        let places = self.by_name.get(tool)?;
        let fits = |known: &Tool| {
            known.category.is_empty()
                || category.is_none_or(|category| known.category.eq_ignore_ascii_case(category))
        };
        let whole = names::api_name(api);
        let cut = || {
            let standard = whole.strip_suffix(&format!("_for_{tool}"));
            standard.or_else(|| whole.split_once(&format!("_for_{raw}")).map(|(cut, _)| cut))
        };
        let tools =
            places.iter().filter_map(|at| Some((self.tools.get(*at)?, self.apis.get(*at)?)));
        tools.filter(|(known, _)| fits(known)).find_map(|(tool, apis)| {
            let at = apis.get(&whole).or_else(|| apis.get(cut()?))?;
            Some((tool, tool.apis.get(*at)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: &str = r#"{"tool_name": "Weather", "tool_description": "Says how it is outside.", "api_list": [
        {"name": "By City", "description": "of a city", "required_parameters": [{"name": "city", "type": "STRING", "description": "", "default": ""}]},
        {"name": "by-city"}, {"name": "ID"}]}"#;

    fn found(pool: &Pool, category: Option<&str>, tool: &str, api: &str) -> Option<String> {
        let (tool, api) = pool.find(category, tool, api)?;
        Some(format!("{}/{}/{}", tool.category, tool.name, api.name))
    }

    #[test]
    fn an_api_is_found_by_raw_and_standard_names_and_by_its_function() {
        let mut pool = Pool::default();
        pool.add_file(&["Data"], "weather", TOOL).unwrap();
        for (tool, api) in [
            ("Weather", "By City"),
            ("weather", "by_city"),
            ("weather_for_Data", "By City"),
            ("weather", "by_city_for_weather"),
            ("Weather", "by_city_for_weather"),
        ] {
            assert_eq!(
                found(&pool, Some("Data"), tool, api).as_deref(),
                Some("Data/Weather/By City"),
                "{tool} {api}"
            );
        }
        assert_eq!(found(&pool, None, "weather", "is_id").as_deref(), Some("Data/Weather/ID"));
        assert_eq!(found(&pool, None, "weather", "ids"), None);
        assert_eq!(found(&pool, Some("Music"), "weather", "id"), None);
        assert_eq!(found(&pool, Some("Data"), "climate", "id"), None);
        assert_eq!(
            (pool.tools()[0].description.as_deref(), pool.api_count()),
            (Some("Says how it is outside."), 3)
        );
    }

    #[test]
    fn only_the_category_at_the_end_is_cut_from_the_name_of_a_tool() {
        let mut pool = Pool::default();
        pool.add_file(
            &["Real_Estate"],
            "homes_for_real_estate",
            r#"{"tool_name": "Homes for real estate", "api_list": [{"name": "List"}]}"#,
        )
        .unwrap();
        for tool in [
            "Homes for real estate",
            "homes_for_real_estate",
            "homes_for_real_estate_for_Real_Estate",
        ] {
            assert!(found(&pool, Some("Real_Estate"), tool, "list").is_some(), "{tool}");
        }
        assert_eq!(found(&pool, Some("Real_Estate"), "homes", "list"), None);
    }

    #[test]
    fn tools_of_the_same_name_in_two_categories_are_two_tools() {
        let mut pool = Pool::default();
        pool.add_file(&["Events"], "demo", r#"{"tool_name": "Demo", "api_list": [{"name": "a"}]}"#)
            .unwrap();
        pool.add_file(
            &["Sports"],
            "demo",
            r#"{"tool_name": "Demo", "api_list": [{"name": "a"}, {"name": "b"}]}"#,
        )
        .unwrap();
        assert_eq!(found(&pool, Some("Sports"), "demo", "a").as_deref(), Some("Sports/Demo/a"));
        assert_eq!(found(&pool, None, "demo", "a").as_deref(), Some("Events/Demo/a"));
        assert_eq!(found(&pool, None, "demo", "b").as_deref(), Some("Sports/Demo/b"));
    }

    #[test]
    fn a_folder_may_hold_a_file_for_each_tool_or_for_each_api_with_or_without_directories() {
        let mut pool = Pool::default();
        pool.add_file(
            &["Data", "weather"],
            "by_city",
            r#"{"api_name": "By City", "description": "x"}"#,
        )
        .unwrap();
        pool.add_file(
            &["Data", "weather"],
            "by_zip",
            r#"{"name": "By Zip", "tool_name": "Weather"}"#,
        )
        .unwrap();
        pool.add_file(&[], "rates", r#"{"tool_name": "Rates", "api_list": [{"name": "Now"}]}"#)
            .unwrap();
        pool.add_file(
            &[],
            "songs",
            r#"{"tool_name": "Songs", "tool_category": "Music", "api_list": []}"#,
        )
        .unwrap();
        let all: Vec<_> = pool
            .tools()
            .iter()
            .map(|tool| (&*tool.category, &*tool.name, tool.apis.len()))
            .collect();
        assert_eq!(all, [("Data", "weather", 2), ("", "Rates", 1), ("Music", "Songs", 0)]);
        assert!(pool.find(Some("Anything"), "rates", "now").is_some());
        for text in ["", "[]", "{}", "3", r#"{"api_list": 3}"#] {
            assert!(pool.add_file(&["Data"], "x", text).is_err(), "{text}");
        }
    }
}
