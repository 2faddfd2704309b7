//! **Pure.** Resolves the workspace file and the built-in defaults into the configuration of runs.
//! Problems are reported as sentences, and only the faulty part is left out: one wrong model does
//! not hide the others.
use super::provider::{price, promptql};
use super::scalar_text::word;
use super::secrets;
use super::spec::{Model, Price, Provider};
use super::strategy::Strategy;
use super::tools::virtual_api;
use std::collections::BTreeSet;
use touchstone_formats::names::Coordinates;
use touchstone_formats::suite::{SimulatedUser, Task};
use touchstone_formats::system::{System, ToolKind};
use touchstone_formats::workspace::{self, Workspace};
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Base URLs of the well-known providers.
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
const OPENAI: &str = "https://api.openai.com/v1";
/// Default limit on the tokens of a reply, for providers that require one.
const MAX_TOKENS: u64 = 8192;
/// Maximum number of concurrent runs; each holds a connection and a file.
pub const MOST_AT_ONCE: u32 = 1000;

/// Configuration of runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setup {
    /// Models by name: built-in ones, then those of the workspace.
    pub models: Vec<Model>,
    /// Embedding models (`embeddings: true`). They answer nothing and are therefore not in
    /// `models`.
    pub embedders: Vec<Model>,
    /// Settings of the `PromptQL` system, if any.
    pub promptql: Option<Value>,
    /// Instructions that replace the built-in ones; `{schemas}` and `{now}` are filled in.
    pub system_prompt: Option<String>,
    /// Default strategy of runs.
    pub way: Strategy,
    /// Tools, in the order of the file.
    pub tools: Vec<ToolEntry>,
    /// Limits.
    pub rules: Rules,
    /// Model that plays simulated users of tasks that name none.
    pub user_model: Option<String>,
    /// Commit of the folder, which runs record when they begin.
    pub commit: Option<String>,
    /// Problems with parts that were left out, as sentences.
    pub wrong: Vec<String>,
    /// Unknown keys and values of the wrong type in the workspace file. Nothing is bought while
    /// there are any.
    pub faults: Vec<ReadError>,
}

/// Tool as defined in the workspace file.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolEntry {
    /// Name of the tool.
    pub name: String,
    /// Kind: `sql`, `mcp`, …
    pub kind: ToolKind,
    /// All settings of the tool in the file.
    pub settings: Value,
}

impl ToolEntry {
    /// Returns the name of the key that is sent in a header of its requests.
    pub fn key(&self) -> Option<String> {
        self.settings.get("url").filter(|_| self.kind == ToolKind::Virtual)?;
        let named = self.settings.get("toolbench_key_env").and_then(Value::text);
        Some(named.unwrap_or(virtual_api::USUAL_KEY).to_owned())
    }
}

/// Limits on runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Maximum number of concurrent runs.
    pub concurrency: u32,
    /// Maximum assistant turns per run.
    pub max_turns: u32,
    /// Maximum dollars per launch.
    pub max_cost: Option<f64>,
    /// True if models that stop early are nudged.
    pub nudge_auto: bool,
    /// Maximum nudges per run.
    pub nudge_max: u32,
    /// True if the workspace file enables nudges explicitly.
    pub nudge_asked: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            concurrency: 8,
            max_turns: 30,
            max_cost: None,
            nudge_auto: true,
            nudge_max: 3,
            nudge_asked: false,
        }
    }
}

impl Setup {
    /// Resolves a workspace file; an empty one gives the defaults.
    pub fn from_workspace(workspace: &Workspace) -> Self {
        let mut setup = Setup {
            rules: rules(&workspace.run),
            user_model: workspace.user_model.clone(),
            faults: workspace.faults.clone(),
            ..Setup::default()
        };
        let named = |name: &str| workspace.models.iter().find(|model| model.name == name);
        for (name, ..) in BUILT_IN {
            setup.take(model(name, named(name)));
        }
        for other in workspace
            .models
            .iter()
            .filter(|model| !BUILT_IN.iter().any(|(name, ..)| *name == model.name))
        {
            setup.take(model(&other.name, Some(other)));
        }
        for (name, settings) in &workspace.systems {
            match System::from(name.as_str()) {
                System::PromptQl => setup.promptql = Some(settings.clone()),
                System::ToolCalling => {
                    setup.system_prompt =
                        settings.get("system_prompt").and_then(Value::text).map(str::to_owned);
                    match Strategy::from_settings(settings) {
                        Ok(way) => setup.way = way,
                        Err(why) => setup.wrong.push(format!("The system `tool_calling`: {why}")),
                    }
                }
                // The workspace file records a fault for other names.
                _ => {}
            }
        }
        for (name, settings) in &workspace.tools {
            let kind = ToolKind::from_settings(settings);
            setup.tools.push(ToolEntry { name: name.clone(), kind, settings: settings.clone() });
        }
        setup
    }

    /// Returns the model with that name.
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }

    /// Returns the strategy for a run: settings of the launch first, then of the model, then the
    /// defaults of all models.
    pub fn strategy_for(&self, asked: Strategy, at: &Coordinates, task: &Task) -> Strategy {
        if at.system == System::PromptQl {
            return Strategy::default();
        }
        let named =
            |tool: &ToolEntry| task.tools.as_ref().is_none_or(|tools| tools.contains(&tool.name));
        let has_apis = self.tools.iter().any(|tool| tool.kind == ToolKind::Virtual && named(tool));
        let of_model = self.model(&at.model).map(|model| model.way).unwrap_or_default();
        let way = asked.or(of_model).or(self.way).with_defaults(has_apis);
        match task.user_of(usize::try_from(at.variation).ok()) {
            // A search has one question, and nobody to talk with.
            Some(_) => Strategy { method: None, steps: None, queries: None, ..way },
            None => way,
        }
    }

    /// Returns the name of the model that plays a simulated user in a run: the one that the file of
    /// a resumed run records, as long as it is defined; else that of the suite, the launch or the
    /// workspace. `None` if there is no such user or nothing names a model.
    pub fn user_model_for<'s>(
        &'s self,
        user: Option<&'s SimulatedUser>,
        recorded: Option<&'s str>,
    ) -> Option<&'s str> {
        let user = user?;
        let recorded = recorded.filter(|name| self.model(name).is_some());
        recorded.or(user.model.as_deref()).or(self.user_model.as_deref())
    }

    /// Returns the `PromptQL` settings, if they are present and valid.
    pub fn promptql_spec(&self) -> Option<promptql::PromptQl> {
        promptql::read(self.promptql.as_ref()?).ok()
    }

    /// Returns the name of the `PromptQL` key.
    pub fn promptql_key(&self) -> Option<String> {
        self.promptql_spec().map(|spec| spec.key)
    }

    /// Returns the names of the keys that are sent in a header.
    pub fn keys(&self) -> BTreeSet<String> {
        let of_models =
            self.models.iter().chain(&self.embedders).filter_map(|model| model.key.clone());
        let of_tools = self.tools.iter().filter_map(ToolEntry::key);
        of_models.chain(self.promptql_key()).chain(of_tools).collect()
    }

    /// Returns all other names that are looked up in the environment or the keyring: `${NAME}` in
    /// tool settings and `{ env: NAME }` in those of `PromptQL`. Not all of them are secret;
    /// `secrets::of` tells which are.
    pub fn places(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        if let Some(spec) = self.promptql_spec() {
            names.extend(self.models.iter().flat_map(|model| spec.names(model)));
        }
        self.tools
            .iter()
            .for_each(|tool| secrets::collect_placeholders(&tool.settings, &mut names));
        names
    }

    fn take(&mut self, model: Result<Model, String>) {
        match model {
            Ok(model) if model.setting("embeddings") == Some(&Value::Bool(true)) => {
                if model.provider == Provider::OpenAi {
                    self.embedders.push(model);
                } else {
                    self.wrong.push(format!(
                        "The model `{}` gives embeddings, which only the provider `openai` supports.",
                        model.name
                    ));
                }
            }
            Ok(model) => self.models.push(model),
            Err(why) => self.wrong.push(why),
        }
    }
}

fn rules(run: &workspace::RunLimits) -> Rules {
    let usual = Rules::default();
    Rules {
        concurrency: run.concurrency.unwrap_or(usual.concurrency).clamp(1, MOST_AT_ONCE),
        max_turns: run.max_turns.unwrap_or(usual.max_turns).max(1),
        max_cost: run.max_cost,
        nudge_auto: run.nudge_auto.unwrap_or(usual.nudge_auto),
        nudge_max: run.nudge_max.unwrap_or(usual.nudge_max),
        nudge_asked: run.nudge_auto == Some(true),
    }
}

/// Models that exist without a workspace file.
const BUILT_IN: [(&str, Provider, &str); 3] = [
    ("claude", Provider::Anthropic, "claude-3-7-sonnet-latest"),
    ("o1", Provider::OpenAi, "o1"),
    ("o3-mini", Provider::OpenAi, "o3-mini"),
];

fn model(name: &str, said: Option<&workspace::Model>) -> Result<Model, String> {
    let built_in = BUILT_IN.iter().find(|(known, ..)| *known == name);
    let named = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if !named || name.starts_with('.') {
        return Err(format!(
            "The model `{name}` needs a name that can stand in a file name: letters, digits, `.`, `_` and `-`. What the provider calls it goes into `model:`."
        ));
    }
    let nothing = workspace::Model::default();
    let said = said.unwrap_or(&nothing);
    let provider = match (said.provider.as_deref(), built_in) {
        (Some("anthropic"), _) => Provider::Anthropic,
        (Some("openai"), _) => Provider::OpenAi,
        (Some("replay"), _) => Provider::Replay,
        (Some(other), _) => {
            return Err(format!(
                "The model `{name}` has the provider `{other}`; Touchstone knows `anthropic`, \
                 `openai` (and everything compatible, with `base_url`) and `replay`."
            ));
        }
        (None, Some((_, provider, _))) => *provider,
        (None, None) if said.base_url.is_some() => Provider::OpenAi,
        (None, None) => {
            return Err(format!(
                "The model `{name}` needs a `provider`: `anthropic`, `openai` or `replay`."
            ));
        }
    };
    let usual = if provider == Provider::Anthropic { ANTHROPIC } else { OPENAI };
    let base_url =
        said.base_url.as_deref().map_or(usual, |url| url.trim_end_matches('/')).to_owned();
    let model_id = said.model.clone().or_else(|| built_in.map(|(.., id)| (*id).to_owned()));
    let model_id = model_id.unwrap_or_else(|| name.to_owned());
    let flag =
        |key: &str| said.extra.iter().find(|(known, _)| known == key).map(|(_, value)| value);
    let reasoning = match flag("reasoning") {
        Some(Value::Bool(reasoning)) => *reasoning,
        _ => provider == Provider::OpenAi && base_url == OPENAI && thinks(&model_id),
    };
    // A key is sent only to the provider it belongs to, unless the file states otherwise.
    let key = match (flag("api_key_env").and_then(Value::text), provider) {
        (Some(name), _) => Some(name.to_owned()),
        (None, Provider::Anthropic) if base_url == ANTHROPIC => {
            Some("ANTHROPIC_API_KEY".to_owned())
        }
        (None, Provider::OpenAi) if base_url == OPENAI => Some("OPENAI_API_KEY".to_owned()),
        _ => None,
    };
    let price = said.price.map(|said| stated(said, price::list_price(&model_id)));
    let way = Strategy::read(|key| flag(key).and_then(word))
        .map_err(|why| format!("The model `{name}`: {why}"))?;
    Ok(Model {
        way,
        name: name.to_owned(),
        provider,
        price: price
            .or_else(|| (base_url == usual).then(|| price::list_price(&model_id)).flatten()),
        max_tokens: said.max_tokens.or((provider == Provider::Anthropic).then_some(MAX_TOKENS)),
        model_id,
        base_url,
        key,
        reasoning,
        keeps_system: false,
        settings: said.extra.iter().filter(|(key, _)| key != "api_key_env").cloned().collect(),
    })
}

/// Price as given in the file. If it equals the list price, missing cache prices are taken from the
/// list.
fn stated(said: workspace::Price, list: Option<Price>) -> Price {
    let same = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let is_same = |list: &Price| same(list.input, said.input) && same(list.output, said.output);
    let list = list.filter(is_same);
    Price {
        input: said.input,
        output: said.output,
        cache_read: said.cache_read.or(list.and_then(|list| list.cache_read)),
        cache_write: said.cache_write.or(list.and_then(|list| list.cache_write)),
    }
}

/// Returns true for the ids of `OpenAI` models that reason before they answer.
fn thinks(id: &str) -> bool {
    ["o1", "o3", "o4", "gpt-5"].iter().any(|family| {
        id.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_setup(text: &str) -> Setup {
        Setup::from_workspace(&workspace::read(text).unwrap())
    }

    #[test]
    fn the_built_in_models_are_there_without_a_file() {
        let setup = parse_setup("");
        let shown: Vec<_> = setup
            .models
            .iter()
            .map(|m| (m.name.as_str(), m.model_id.as_str(), m.key.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                ("claude", "claude-3-7-sonnet-latest", Some("ANTHROPIC_API_KEY")),
                ("o1", "o1", Some("OPENAI_API_KEY")),
                ("o3-mini", "o3-mini", Some("OPENAI_API_KEY")),
            ]
        );
        assert!(setup.model("o1").unwrap().reasoning && !setup.model("claude").unwrap().reasoning);
        assert_eq!(setup.rules, Rules::default());
    }

    #[test]
    fn the_file_overrides_what_is_built_in_key_by_key() {
        let setup = parse_setup("models: { claude: { max_tokens: 100, temperature: 0 } }");
        let claude = setup.model("claude").unwrap();
        assert_eq!((claude.max_tokens, claude.provider), (Some(100), Provider::Anthropic));
        assert_eq!(claude.setting("temperature"), Some(&Value::Number("0".to_owned())));
    }

    #[test]
    fn a_key_is_never_meant_for_another_address() {
        let setup = parse_setup(
            "models: { o1: { base_url: 'https://elsewhere.example/v1/' }, a: { base_url: 'https://b.example', api_key_env: B_KEY } }",
        );
        let o1 = setup.model("o1").unwrap();
        assert_eq!(
            (o1.key.as_deref(), o1.base_url.as_str(), o1.price),
            (None, "https://elsewhere.example/v1", None)
        );
        let a = setup.model("a").unwrap();
        assert_eq!((a.key.as_deref(), a.provider), (Some("B_KEY"), Provider::OpenAi));
    }

    #[test]
    fn a_stated_price_says_what_the_cache_costs_or_is_that_of_the_list() {
        for (said, read, write) in [
            ("input: 3, output: 15", Some(0.3), Some(3.75)),
            ("input: 3.0, output: 15.0, cache_read: 0.5", Some(0.5), Some(3.75)),
            ("input: 2, output: 15", None, None),
            ("input: 2, output: 15, cache_read: 0.2, cache_write: 4", Some(0.2), Some(4.0)),
        ] {
            let setup = parse_setup(&format!("models: {{ claude: {{ price: {{ {said} }} }} }}"));
            let price = setup.model("claude").unwrap().price.unwrap();
            let shown = |dollars: Option<f64>| dollars.map(|dollars| format!("{dollars:.4}"));
            assert_eq!(
                (shown(price.cache_read), shown(price.cache_write)),
                (shown(read), shown(write)),
                "{said}"
            );
        }
        let wrong = workspace::read(
            "models: { claude: { price: { input: 1, output: 2, cache_read: much } } }",
        );
        assert!(wrong.unwrap().faults[0].message.contains("`cache_read`"));
    }

    #[test]
    fn one_wrong_model_does_not_hide_the_others() {
        let setup = parse_setup(
            "models: { 'a/b': { provider: openai }, c: { provider: other }, d: {}, e: { provider: replay } }",
        );
        assert_eq!(setup.models.len(), 4);
        assert_eq!(setup.wrong.len(), 3);
        assert!(
            setup.wrong[0].contains("a/b")
                && setup.wrong[1].contains("other")
                && setup.wrong[2].contains("`d`")
        );
    }
}
