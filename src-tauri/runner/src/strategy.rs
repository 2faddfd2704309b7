//! **Pure.** Strategy of a run: the method that searches for an answer, and the functions it is
//! offered. Set in the workspace file, for all models or for one, and for a single launch; recorded
//! in the transcript.
use super::scalar_text::word;
use super::search::{Bounds, Method};
use std::fmt;
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;

/// Strategy settings. `None` stands for the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strategy {
    /// Search method; none for an ordinary conversation.
    pub method: Option<Method>,
    /// Maximum depth of a path in a search.
    pub steps: Option<u32>,
    /// Maximum replies in one search.
    pub queries: Option<u32>,
    /// Functions of virtual APIs to offer.
    pub offer: Option<Offering>,
    /// Maximum characters of an API reply that the model is shown.
    pub observation: Option<u32>,
    /// Resolves function names like the original system does.
    pub compat: Option<bool>,
}

/// Functions of virtual APIs to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Offering {
    /// All of them.
    #[default]
    All,
    /// Those that the query names.
    Query,
    /// The given number of functions that match the query best.
    Top(u32),
}

/// Defaults.
const STEPS: u32 = 12;
const QUERIES: u32 = 200;
const OBSERVATION: u32 = 1024;

/// Keys of the transcript's `run` section that record the strategy.
pub const FACTS: [&str; 6] = ["method", "steps", "queries", "offer", "observation", "compat"];

impl Offering {
    /// Parses `all`, `query` or `top-N`.
    pub fn read(text: &str) -> Result<Self, String> {
        let top =
            || text.strip_prefix("top-")?.parse().ok().filter(|count| (1..=1000).contains(count));
        match text {
            "all" => Ok(Self::All),
            "query" => Ok(Self::Query),
            _ => top().map(Self::Top).ok_or_else(|| {
                format!(
                    "`{text}` cannot be offered. Use `all`, `query` or `top-20`, with any number."
                )
            }),
        }
    }
}

impl fmt::Display for Offering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Query => f.write_str("query"),
            Self::Top(count) => write!(f, "top-{count}"),
        }
    }
}

impl Strategy {
    /// Reads settings. Returns a sentence for the first invalid one.
    pub fn read(setting: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |key: &str| {
            let read = |text: String| {
                let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
                number.ok_or_else(|| {
                    format!("`{key}` has to be a whole number from 1 on, not `{text}`.")
                })
            };
            setting(key).map(read).transpose()
        };
        let compat = match setting("compat").as_deref() {
            None => None,
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(other) => return Err(format!("`compat` has to be true or false, not `{other}`.")),
        };
        Ok(Self {
            method: setting("method").map(|text| Method::read(&text)).transpose()?,
            steps: number("steps")?,
            queries: number("queries")?,
            offer: setting("offer").map(|text| Offering::read(&text)).transpose()?,
            observation: number("observation")?,
            compat,
        })
    }

    /// Reads settings of a workspace file.
    pub fn from_settings(settings: &Value) -> Result<Self, String> {
        Self::read(|key| settings.get(key).and_then(word))
    }

    /// Reads the strategy recorded in a transcript. Invalid values count as absent, together with
    /// all others.
    pub fn from_transcript(document: &Document) -> Self {
        Self::read(|key| document.get("run")?.get(key).and_then(word)).unwrap_or_default()
    }

    /// Fills in missing settings from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            method: self.method.or(other.method),
            steps: self.steps.or(other.steps),
            queries: self.queries.or(other.queries),
            offer: self.offer.or(other.offer),
            observation: self.observation.or(other.observation),
            compat: self.compat.or(other.compat),
        }
    }

    /// Fills in the defaults of all settings that matter, in order to record them in the
    /// transcript. Runs without virtual APIs get no offering.
    #[must_use]
    pub fn with_defaults(self, has_apis: bool) -> Self {
        let searches = self.method.is_some();
        Self {
            method: self.method,
            steps: searches.then(|| self.steps.unwrap_or(STEPS)),
            queries: searches.then(|| self.queries.unwrap_or(QUERIES)),
            offer: has_apis.then(|| self.offer.unwrap_or_default()),
            observation: has_apis.then(|| self.observation.unwrap_or(OBSERVATION)),
            compat: self.compat.filter(|compat| *compat && has_apis),
        }
    }

    /// Returns the method with its limits; `None` for an ordinary conversation.
    pub fn bounds(&self) -> Option<Bounds> {
        let method = self.method?;
        Some(Bounds {
            method,
            steps: self.steps.unwrap_or(STEPS),
            queries: self.queries.unwrap_or(QUERIES),
        })
    }

    /// Returns the maximum characters of an API reply that the model is shown.
    pub fn observation(&self) -> usize {
        self.observation.unwrap_or(OBSERVATION) as usize
    }

    /// Returns the keys and values to record in the transcript.
    pub fn facts(&self) -> Vec<(&'static str, Value)> {
        let number = |number: u32| Value::Number(number.to_string());
        let all = [
            self.method.map(|method| Value::Text(method.to_string())),
            self.steps.map(number),
            self.queries.map(number),
            self.offer.map(|offer| Value::Text(offer.to_string())),
            self.observation.map(number),
            self.compat.map(Value::Bool),
        ];
        FACTS.into_iter().zip(all).filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::yaml;

    fn parse_strategy(text: &str) -> Result<Strategy, String> {
        Strategy::from_settings(&yaml::read(text).unwrap_or_default())
    }

    #[test]
    fn the_most_specific_setting_counts() {
        let all = parse_strategy("{ method: CoT@1, steps: 20, offer: query }").unwrap();
        let model = parse_strategy("{ method: DFS_woFilter_w2 }").unwrap();
        let launch = parse_strategy("{ offer: top-5 }").unwrap();
        let facts = launch.or(model).or(all).with_defaults(true).facts();
        let facts: Vec<_> = facts
            .into_iter()
            .map(|(key, value)| format!("{key} {}", word(&value).unwrap()))
            .collect();
        assert_eq!(
            facts,
            [
                "method DFS_woFilter_w2",
                "steps 20",
                "queries 200",
                "offer top-5",
                "observation 1024"
            ]
        );
    }

    #[test]
    fn a_run_without_method_and_apis_says_nothing() {
        assert_eq!(
            parse_strategy("{ steps: 3, offer: query, compat: true }")
                .unwrap()
                .with_defaults(false)
                .facts(),
            []
        );
    }

    #[test]
    fn unreadable_settings_are_reported() {
        for (text, why) in [
            ("{ method: BFS }", "not a method"),
            ("{ offer: best }", "top-20"),
            ("{ offer: top-0 }", "top-20"),
            ("{ steps: 0 }", "`steps`"),
            ("{ queries: many }", "`many`"),
            ("{ compat: seed }", "true or false"),
        ] {
            assert!(parse_strategy(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn a_transcript_says_how_it_was_made() {
        let way = parse_strategy("{ method: CoT@2, offer: all, compat: true }")
            .unwrap()
            .with_defaults(true);
        let mut document = Document::conversation();
        for (key, value) in way.facts() {
            document.set_run(key, value);
        }
        assert_eq!(Strategy::from_transcript(&document), way);
    }
}
