//! **Pure.** Settings of virtual APIs in the workspace file: the cache, the sources of new replies
//! and their order, and which replies to cache.
use crate::tools::Unusable;
use std::path::{Path, PathBuf};
use touchstone_formats::stabletoolbench::check::Rules;
use touchstone_formats::stabletoolbench::strip::Strip;
use touchstone_formats::workspace::schema;
use touchstone_model::nearest::nearest;
use touchstone_model::value::Value;

/// Default folder of cached replies.
const USUAL_CACHE: &str = "tool_response_cache";
/// Default name of the key of the real APIs.
pub const USUAL_KEY: &str = "TOOLBENCH_KEY";
/// Default timeout of a real API, in seconds.
const SECONDS: u64 = 60;

/// Settings of virtual APIs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualSettings {
    /// Folder of tool definitions; `None` to use only those in queries.
    pub tools_folder: Option<PathBuf>,
    /// Folder of cached replies; `None` disables the cache.
    pub cache: Option<PathBuf>,
    /// Name of the simulating model in the workspace file.
    pub simulator: Option<String>,
    /// Prompt style of the simulator.
    pub style: Style,
    /// Address of the real APIs.
    pub url: Option<String>,
    /// Environment variable or keyring entry with the key of the real APIs.
    pub key: String,
    /// Sources of replies and their order.
    pub order: Order,
    /// Replies to cache.
    pub save: Save,
    /// Shortening of replies; `None` leaves them unchanged.
    pub strip: Option<Shorten>,
    /// Rules for accepting replies of real APIs.
    pub check: Rules,
    /// Timeout of a real API, in seconds.
    pub seconds: u64,
    /// Log file with one line per call.
    pub log: Option<PathBuf>,
}

/// Prompt style of a simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// The whole definition of the API, in the format that `MirrorAPI` models were trained on.
    #[default]
    MirrorApi,
    /// A short definition and cached replies as examples, for any model.
    Gpt,
}

/// Sources of replies and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The cache, then the simulator, whose replies are cached. The real API only without a
    /// simulator.
    #[default]
    Mirror,
    /// The cache, then the real API; its successes are cached.
    Real,
    /// Like the original's `main.py`, including its mistakes: the cache, the real API, then the
    /// simulator.
    Main,
    /// Like `main_mirrorapi.py`: always the simulator, without a cache.
    MainMirror,
    /// Like `main_mirrorapi_cache.py`: [`Order::MainMirror`] with standardized names.
    MainMirrorCache,
}

/// The orders by their names in the settings.
const ORDERS: [(&str, Order); 5] = [
    ("mirror", Order::Mirror),
    ("real", Order::Real),
    ("main", Order::Main),
    ("mirrorapi", Order::MainMirror),
    ("mirrorapi_cache", Order::MainMirrorCache),
];

impl Order {
    /// Returns the order with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        ORDERS.iter().find(|(known, _)| *known == word).map(|(_, order)| *order)
    }

    /// Returns the default prompt style for this order.
    pub fn style(self) -> Style {
        if self == Self::Main { Style::Gpt } else { Style::MirrorApi }
    }

    /// Returns the default caching rule for this order.
    pub fn save(self) -> Save {
        if self == Self::Main { Save::All } else { Save::Successes }
    }

    /// Returns true if the order imitates one of the original servers, including their crashes.
    pub fn is_compat(self) -> bool {
        matches!(self, Self::Main | Self::MainMirror | Self::MainMirrorCache)
    }
}

/// Replies to cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Save {
    /// Only successful replies.
    #[default]
    Successes,
    /// Also failures of the simulator, which then stay cached, like in the original.
    All,
    /// No replies.
    Nothing,
}

/// Shortening of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shorten {
    /// In the mode that the request asks for.
    Asked,
    /// Always in this mode.
    Always(Strip),
}

impl Default for VirtualSettings {
    fn default() -> Self {
        Self {
            tools_folder: None,
            cache: None,
            simulator: None,
            style: Style::default(),
            url: None,
            key: USUAL_KEY.to_owned(),
            order: Order::default(),
            save: Save::default(),
            strip: None,
            check: Rules::default(),
            seconds: SECONDS,
            log: None,
        }
    }
}

impl VirtualSettings {
    /// Reads the settings of a tool. `base` is the folder of the workspace file. `others` are keys
    /// that other code reads, such as those for offering tools. Fails on unknown keys and invalid
    /// values.
    pub fn read(
        name: &str,
        settings: &Value,
        base: &Path,
        others: &[&str],
    ) -> Result<Self, Unusable> {
        let reader = Reader { name, settings };
        reader.refuse_unknown(others)?;
        let path = |key: &str| Ok::<_, Unusable>(reader.text(key)?.map(|path| base.join(path)));
        let cache = match reader.non_null("cache") {
            Some(Value::Bool(false)) => None,
            None | Some(Value::Bool(true)) => Some(Self::usual_cache(base)),
            Some(_) => path("cache")?,
        };
        let mirror =
            reader.word("mirrorapi_cache", &[("true", Order::Mirror), ("false", Order::Real)])?;
        let order = reader.word("order", &ORDERS)?;
        if let (Some(mirror), Some(order)) = (mirror, order)
            && mirror != order
        {
            return Err(reader.wrong(
                "`mirrorapi_cache` and `order` contradict each other. Leave one of them out.",
            ));
        }
        let order = order.or(mirror).unwrap_or_default();
        let saves = [
            ("successes", Save::Successes),
            ("true", Save::Successes),
            ("all", Save::All),
            ("false", Save::Nothing),
            ("nothing", Save::Nothing),
        ];
        Ok(Self {
            tools_folder: path("tools_folder")?,
            cache,
            simulator: reader.text("simulator")?,
            style: reader
                .word("style", &[("mirrorapi", Style::MirrorApi), ("gpt", Style::Gpt)])?
                .unwrap_or(order.style()),
            url: reader.text("url")?,
            key: reader.text("toolbench_key_env")?.unwrap_or_else(|| USUAL_KEY.to_owned()),
            save: reader.word("save", &saves)?.unwrap_or(if order == Order::Main {
                Save::All
            } else {
                Save::Successes
            }),
            order,
            strip: reader
                .word(
                    "strip",
                    &[
                        ("false", None),
                        ("none", None),
                        ("asked", Some(Shorten::Asked)),
                        ("truncate", Some(Shorten::Always(Strip::Truncate))),
                        ("filter", Some(Shorten::Always(Strip::Filter))),
                        ("random", Some(Shorten::Always(Strip::Random))),
                    ],
                )?
                .flatten(),
            check: reader
                .word("check", &[("compat", Rules::Compat), ("strict", Rules::Strict)])?
                .unwrap_or_default(),
            seconds: reader.seconds()?,
            log: path("log")?,
        })
    }

    /// Returns the default folder of cached replies.
    pub fn usual_cache(base: &Path) -> PathBuf {
        base.join(USUAL_CACHE)
    }

    /// Returns the name of the key of the real APIs; `None` if no real API is used.
    pub fn key_name(&self) -> Option<&str> {
        self.url.is_some().then_some(self.key.as_str())
    }
}

struct Reader<'a> {
    name: &'a str,
    settings: &'a Value,
}

impl Reader<'_> {
    fn refuse_unknown(&self, others: &[&str]) -> Result<(), Unusable> {
        for (key, _) in self.settings.entries() {
            let key = key.text().unwrap_or_default();
            if !schema::VIRTUAL.has(key) && !others.contains(&key) {
                let near = nearest(key, schema::VIRTUAL.names())
                    .map(|near| format!(" Did you mean `{near}`?"))
                    .unwrap_or_default();
                return Err(self.wrong(&format!("there is no setting `{key}`.{near}")));
            }
        }
        Ok(())
    }

    fn non_null(&self, key: &str) -> Option<&Value> {
        self.settings.get(key).filter(|value| **value != Value::Null)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Unusable> {
        match self.non_null(key) {
            None => Ok(None),
            Some(Value::Text(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(&format!("`{key}` has to be a text."))),
        }
    }

    /// Reads one of these words; `true` and `false` may be written without quotes.
    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, Unusable> {
        let word = match self.non_null(key) {
            None => return Ok(None),
            Some(Value::Bool(yes)) => yes.to_string(),
            Some(Value::Text(text)) => text.clone(),
            Some(_) => String::new(),
        };
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant);
        let names: Vec<String> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
        found
            .map(Some)
            .ok_or_else(|| self.wrong(&format!("`{key}` is one of {}.", names.join(", "))))
    }

    fn seconds(&self) -> Result<u64, Unusable> {
        let Some(value) = self.non_null("seconds") else { return Ok(SECONDS) };
        let whole = if let Value::Number(text) = value { text.parse().ok() } else { None };
        let fits = whole.filter(|seconds| (1..=3600).contains(seconds));
        fits.ok_or_else(|| self.wrong("`seconds` is not a whole number from 1 to 3600."))
    }

    fn wrong(&self, what: &str) -> Unusable {
        let fix = format!("Correct `tools: {{ {}: … }}` in touchstone.yaml.", self.name);
        Unusable { message: format!("The tool `{}`: {what}", self.name), fix: Some(fix) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::yaml;

    fn read(text: &str) -> Result<VirtualSettings, String> {
        let settings = yaml::read(text).map_err(|why| why.to_string())?;
        VirtualSettings::read("bench", &settings, Path::new("/w"), &["offer"])
            .map_err(|why| why.message)
    }

    #[test]
    fn without_a_word_replies_are_kept_beside_the_workspace_file_and_simulated() {
        let settings = read("{ kind: virtual, offer: search }").unwrap();
        let usual = VirtualSettings {
            cache: Some("/w/tool_response_cache".into()),
            ..VirtualSettings::default()
        };
        assert_eq!(settings, usual);
        assert_eq!(
            (settings.order, settings.check, settings.key_name()),
            (Order::Mirror, Rules::Compat, None)
        );
    }

    #[test]
    fn the_switch_of_the_document_and_the_orders_of_the_original_are_understood() {
        let order = |text: &str| read(text).map(|settings| (settings.order, settings.save));
        assert_eq!(order("{ mirrorapi_cache: true }"), Ok((Order::Mirror, Save::Successes)));
        assert_eq!(order("{ mirrorapi_cache: false }"), Ok((Order::Real, Save::Successes)));
        assert_eq!(order("{ order: main }"), Ok((Order::Main, Save::All)));
        assert_eq!(order("{ order: main, save: successes }"), Ok((Order::Main, Save::Successes)));
        assert!(
            order("{ mirrorapi_cache: true, order: real }").unwrap_err().contains("contradict")
        );
        let whole = read(
            "{ cache: false, url: 'http://127.0.0.1:1/v', strip: filter, check: strict, seconds: 5, save: false }",
        );
        let whole = whole.unwrap();
        assert_eq!(
            (whole.cache.clone(), whole.key_name(), whole.save),
            (None, Some("TOOLBENCH_KEY"), Save::Nothing)
        );
        assert_eq!(
            (whole.strip, whole.check),
            (Some(Shorten::Always(Strip::Filter)), Rules::Strict)
        );
    }

    #[test]
    fn invalid_settings_are_reported_with_the_valid_ones() {
        for (text, said) in [
            ("{ simulater: x }", "Did you mean `simulator`?"),
            ("{ check: lax }", "`compat`, `strict`"),
            ("{ seconds: 0 }", "from 1 to 3600"),
            ("{ simulator: [x] }", "`simulator` has to be a text"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }
}
