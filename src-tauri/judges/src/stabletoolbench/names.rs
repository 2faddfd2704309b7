//! **Pure.** Resolves the name of a called function to an API.
use std::collections::HashSet;
use touchstone_formats::stabletoolbench::{Api, Query, names};
use touchstone_model::run::ApiName;

/// Maximum length of a function name that providers accept.
const LONGEST: usize = 64;

/// APIs of a query, and the gold APIs among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offered {
    /// Distinct APIs in the order of the query. When a name stands for several APIs, the first is
    /// called.
    pub apis: Vec<ApiName>,
    /// Distinct gold APIs, in the order of the query.
    pub gold: Vec<ApiName>,
}

/// APIs that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// The API that is called.
    pub first: &'a ApiName,
    /// Other APIs with the same name.
    pub others: Vec<&'a ApiName>,
}

impl Offered {
    /// Creates the list for a query. Gold APIs that are missing from the query's list are included.
    pub fn from_query(query: &Query) -> Self {
        let each_once = |pairs: &mut dyn Iterator<Item = ApiName>| {
            let mut seen = HashSet::new();
            pairs.filter(|pair| seen.insert(pair.clone())).collect()
        };
        let gold = || query.gold.iter().cloned();
        Self {
            apis: each_once(&mut query.apis.iter().map(Api::pair).chain(gold())),
            gold: each_once(&mut gold()),
        }
    }

    /// Returns the API that a name stands for. The function name takes precedence over all other
    /// notations.
    pub fn find(&self, name: &str) -> Option<Found<'_>> {
        let forms: [fn(&ApiName) -> String; 5] = [
            |pair| names::function_name(&pair.tool, &pair.api),
            |pair| names::whole_function_name(&pair.tool, &pair.api),
            joined,
            |pair| sanitized(&joined(pair)),
            |pair| format!("{} {}", pair.tool, pair.api),
        ];
        forms.iter().find_map(|form| {
            let mut found = self.apis.iter().filter(|pair| form(pair) == name);
            Some(Found { first: found.next()?, others: found.collect() })
        })
    }

    /// Returns the gold APIs that share their function name with another API, which makes calls
    /// ambiguous.
    pub fn shared(&self) -> Vec<&ApiName> {
        let name = |pair: &ApiName| names::function_name(&pair.tool, &pair.api);
        let is_shared = |gold: &&ApiName| {
            self.apis.iter().any(|pair| pair != *gold && name(pair) == name(gold))
        };
        self.gold.iter().filter(is_shared).collect()
    }
}

fn joined(pair: &ApiName) -> String {
    format!("{}_{}", pair.tool, pair.api)
}

/// Sanitizes a name the way clients do before they send it to a provider: at most 64 letters,
/// digits, `-` and single `_`.
pub fn sanitized(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if c.is_alphanumeric() || c == '-' { c } else { '_' };
        if c != '_' || !out.ends_with('_') {
            out.push(c);
        }
    }
    let cut: String = out.trim_matches('_').chars().take(LONGEST).collect();
    cut.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered() -> Offered {
        let long = "Over And Over The Same Long Words In Every Name Of This Tool";
        let api = |tool: &str, name: &str| Api {
            tool: tool.to_owned(),
            name: name.to_owned(),
            ..Api::default()
        };
        let apis = vec![
            api("Sky_v2", "Star list"),
            api(long, "Today Sure"),
            api(long, "Tomorrow Sure"),
            api("Sky_v2", "4. Moons"),
        ];
        let gold = vec![apis[0].pair(), apis[2].pair(), apis[0].pair()];
        Offered::from_query(&Query { apis, gold, ..Query::default() })
    }

    #[test]
    fn every_way_to_write_a_name_leads_to_its_api() {
        let offered = offered();
        for (name, api) in [
            ("star_list_for_sky_v2", "Star list"),
            ("Sky_v2_Star list", "Star list"),
            ("Sky_v2_Star_list", "Star list"),
            ("Sky_v2 Star list", "Star list"),
            ("get_4_moons_for_sky_v2", "4. Moons"),
            ("Sky_v2_4_Moons", "4. Moons"),
            (
                "tomorrow_sure_for_over_and_over_the_same_long_words_in_every_name_of_this_tool",
                "Tomorrow Sure",
            ),
        ] {
            assert_eq!(
                offered.find(name).map(|found| found.first.api.as_str()),
                Some(api),
                "{name}"
            );
        }
        for name in ["star_list", "STAR_LIST_FOR_SKY_V2", "4_moons_for_sky_v2", "", "Finish"] {
            assert_eq!(offered.find(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_that_was_cut_stands_for_the_first_and_says_that_there_are_others() {
        let offered = offered();
        let name = names::function_name(&offered.apis[1].tool, "Tomorrow Sure");
        let found = offered.find(&name).unwrap();
        assert_eq!((found.first.api.as_str(), found.others.len()), ("Today Sure", 1));
        assert_eq!(offered.shared(), [&offered.gold[1]]);
        assert_eq!(offered.gold.len(), 2);
    }

    #[test]
    fn names_are_cleaned_as_clients_clean_them() {
        for (name, clean) in [
            (
                "Kick.com API | Kick API_Get Channel Clips",
                "Kick_com_API_Kick_API_Get_Channel_Clips",
            ),
            ("__a--b__", "a--b"),
            ("é €", "é"),
        ] {
            assert_eq!(sanitized(name), clean);
        }
        assert_eq!(sanitized(&"a ".repeat(40)).len(), 63);
    }
}
