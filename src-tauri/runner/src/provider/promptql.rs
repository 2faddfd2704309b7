//! **Pure.** Codec for the PromptQL query API, versions 1 and 2. Owns the settings in
//! `systems.promptql`, the request bodies, and the shape of a reply. Secrets are written as `{ env:
//! NAME }` in the settings, and stay that way in the body until the sender fills them in.
use super::fault::{self, Service};
use super::wire::{self, count, map, put, words};
use super::{Auth, Fault, FaultKind, HttpReply, HttpRequest};
use crate::spec::{Model, Provider};
use touchstone_formats::workspace::schema::PROMPTQL;
use touchstone_model::value::Value;

/// Default base URL.
pub const BASE_URL: &str = "https://api.promptql.pro.hasura.io";
/// Default name of the key.
pub const KEY: &str = "PROMPTQL_API_KEY";
/// Returns the keys of the settings, for error messages.
fn keys() -> String {
    PROMPTQL.names().collect::<Vec<_>>().join(", ")
}

/// Settings of the system `promptql`.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptQl {
    /// Base URL, without a trailing slash.
    pub base_url: String,
    /// API version, with the project or build to query.
    pub version: Version,
    /// Headers for the project, as a map. Values may be `{ env: NAME }`.
    pub headers: Value,
    /// Time zone for questions that depend on time.
    pub timezone: String,
    /// Environment variable or keyring entry of the key.
    pub key: String,
    /// Number of times that a reply with only a plan is answered with "go ahead".
    pub confirm_plans: u32,
}

/// API version.
#[derive(Debug, Clone, PartialEq)]
pub enum Version {
    /// The request names the models.
    V1 {
        /// SQL URL of the project.
        url: String,
        /// Planning model: one for all (a map with a `provider`), or a map from model names to such
        /// maps; otherwise derived from the run's model.
        llm: Option<Value>,
        /// Model used inside programs; defaults to `llm`.
        ai_primitives_llm: Option<Value>,
        /// Additional instructions.
        system_instructions: Option<String>,
    },
    /// The build determines the models; requests name none.
    V2(Builds),
}

/// Build to query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Builds {
    /// One build for the runs of all models.
    One(Build),
    /// A build for each model, by the model's name.
    ByModel(Vec<(String, Build)>),
}

/// A build of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Build {
    /// By id.
    Id(String),
    /// By version.
    Version(String),
}

/// A request to PromptQL.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Settings of the system.
    pub spec: &'a PromptQl,
    /// Model of the run; selects the models or the build.
    pub model: &'a Model,
    /// Message to send now.
    pub prompt: &'a str,
    /// Existing artifacts.
    pub artifacts: &'a [Value],
    /// Earlier exchanges, oldest first.
    pub earlier: &'a [Interaction],
}

/// One message and its reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// The message.
    pub prompt: String,
    /// The whole reply.
    pub output: Value,
}

/// Parses the settings from the workspace file. Fails, with a sentence for the user, on an unknown
/// key or an invalid value.
pub fn read(settings: &Value) -> Result<PromptQl, String> {
    let settings = match settings {
        Value::Map(_) => settings,
        Value::Null => &Value::Map(Vec::new()),
        _ => return Err(format!("`systems.promptql` has to be a map of these keys: {}.", keys())),
    };
    let strange = settings.entries().iter().find_map(|(key, _)| match key.text() {
        Some(key) if PROMPTQL.has(key) => None,
        other => Some(other.unwrap_or("a key that is not text").to_owned()),
    });
    if let Some(key) = strange {
        return Err(format!("`systems.promptql` has no key `{key}`; it has {}.", keys()));
    }
    let ddn = settings.get("ddn").unwrap_or(&Value::Null);
    Ok(PromptQl {
        base_url: word(settings, "base_url")?
            .unwrap_or_else(|| BASE_URL.to_owned())
            .trim_end_matches('/')
            .to_owned(),
        version: version(settings, ddn)?,
        headers: headers(ddn.get("headers"))?,
        timezone: word(settings, "timezone")?.unwrap_or_else(|| "UTC".to_owned()),
        key: word(settings, "key")?.unwrap_or_else(|| KEY.to_owned()),
        confirm_plans: match settings.get("confirm_plans") {
            None | Some(Value::Null) => 0,
            given => count(given).and_then(|times| u32::try_from(times).ok()).ok_or(
                "`systems.promptql.confirm_plans` has to be a number of times, such as 2.",
            )?,
        },
    })
}

fn version(settings: &Value, ddn: &Value) -> Result<Version, String> {
    let id = builds(settings, "build_id", Build::Id)?;
    let build = id.or(builds(settings, "build_version", Build::Version)?);
    let named = word(settings, "version")?;
    match (named.as_deref(), build) {
        (Some("v2") | None, Some(build)) => Ok(Version::V2(build)),
        (Some("v2"), None) => {
            Err("`systems.promptql` of version v2 needs `build_id` or `build_version` to choose the build."
                .to_owned())
        }
        (Some("v1") | None, _) => {
            let url = word(ddn, "url")?.ok_or(
                "`systems.promptql` needs `ddn: { url: … }` (version v1) or `build_version` (version v2).",
            )?;
            Ok(Version::V1 {
                url,
                llm: model_choice(settings, "llm")?,
                ai_primitives_llm: model_choice(settings, "ai_primitives_llm")?,
                system_instructions: word(settings, "system_instructions")?,
            })
        }
        (Some(other), _) => Err(format!("`systems.promptql.version` is `{other}`; it can be v1 or v2.")),
    }
}

/// Parses a build, or a map of model names to builds.
fn builds(
    settings: &Value,
    key: &str,
    build: fn(String) -> Build,
) -> Result<Option<Builds>, String> {
    let Some(Value::Map(entries)) = settings.get(key) else {
        return Ok(word(settings, key)?.map(build).map(Builds::One));
    };
    let each = entries.iter().map(|(model, given)| match (model.text(), given) {
        (Some(model), Value::Text(text) | Value::Number(text)) if !text.trim().is_empty() => {
            Ok((model.to_owned(), build(text.clone())))
        }
        _ => Err(format!(
            "`systems.promptql.{key}` has to be a build, or a map of names of models to builds."
        )),
    });
    Ok(Some(Builds::ByModel(each.collect::<Result<_, _>>()?)))
}

fn word(map: &Value, key: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text) | Value::Number(text)) if !text.trim().is_empty() => {
            Ok(Some(text.clone()))
        }
        Some(_) => Err(format!("`{key}` of `systems.promptql` has to be a text.")),
    }
}

fn headers(given: Option<&Value>) -> Result<Value, String> {
    let wrong = || {
        "`systems.promptql.ddn.headers` has to be a map of names to texts or to `{ env: NAME }`."
            .to_owned()
    };
    match given {
        None | Some(Value::Null) => Ok(Value::Map(Vec::new())),
        Some(map @ Value::Map(entries)) => {
            let fits = |value: &Value| {
                matches!(value, Value::Text(_) | Value::Number(_)) || env(value).is_some()
            };
            if entries.iter().all(|(_, value)| fits(value)) {
                Ok(map.clone())
            } else {
                Err(wrong())
            }
        }
        Some(_) => Err(wrong()),
    }
}

fn model_choice(settings: &Value, key: &str) -> Result<Option<Value>, String> {
    match settings.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(map @ Value::Map(_)) => Ok(Some(map.clone())),
        Some(_) => Err(format!(
            "`systems.promptql.{key}` has to be a map with a `provider`, or a map of names of models to such maps."
        )),
    }
}

/// Returns the name in `{ env: NAME }`.
fn env(value: &Value) -> Option<&str> {
    match value {
        Value::Map(entries) if entries.len() == 1 => value.get("env").and_then(Value::text),
        _ => None,
    }
}

impl PromptQl {
    /// Returns the build for the runs of a model. `None` for version 1, and if the settings name no
    /// build for this model.
    pub fn build(&self, model: &Model) -> Option<&Build> {
        match &self.version {
            Version::V1 { .. } => None,
            Version::V2(Builds::One(build)) => Some(build),
            Version::V2(Builds::ByModel(all)) => {
                all.iter().find(|(name, _)| *name == model.name).map(|(_, build)| build)
            }
        }
    }

    /// Returns the reason that a model cannot be run, if the settings name builds for other models
    /// only.
    pub fn missing_build_reason(&self, model: &Model) -> Option<String> {
        let name = &model.name;
        let lacks = matches!(self.version, Version::V2(_)) && self.build(model).is_none();
        lacks.then(|| {
            format!("`systems.promptql` in touchstone.yaml names no build for the model `{name}`")
        })
    }

    /// Returns the environment variables that a request for this model needs, in addition to the
    /// key.
    pub fn names(&self, model: &Model) -> Vec<String> {
        let mut names = Vec::new();
        collect(&self.headers, &mut names);
        if let Version::V1 { llm, ai_primitives_llm, .. } = &self.version {
            collect(&chosen(llm.as_ref(), model), &mut names);
            collect(&chosen(ai_primitives_llm.as_ref().or(llm.as_ref()), model), &mut names);
        }
        names.sort();
        names.dedup();
        names
    }
}

fn collect(value: &Value, names: &mut Vec<String>) {
    if let Some(name) = env(value) {
        names.push(name.to_owned());
    }
    value.entries().iter().for_each(|(_, value)| collect(value, names));
    value.items().iter().for_each(|value| collect(value, names));
}

/// Encodes a request. `look` returns the value of an environment variable; if it returns `None`,
/// the `{ env: NAME }` stays in the body. That form is used for hashing and display: it holds no
/// secret, and does not change with one.
pub fn encode(question: &Question, look: &dyn Fn(&str) -> Option<String>) -> HttpRequest {
    let spec = question.spec;
    let own = map([("user_message", map([("text", Value::from(question.prompt))]))]);
    let interactions = question.earlier.iter().map(format_interaction).chain([own]).collect();
    let artifacts = Value::List(question.artifacts.to_vec());
    let timezone = Value::from(spec.timezone.as_str());
    let headers = substitute_env(&spec.headers, look);
    let mut body = Value::Map(Vec::new());
    match &spec.version {
        Version::V1 { url, llm, ai_primitives_llm, system_instructions } => {
            let primitives = ai_primitives_llm.as_ref().or(llm.as_ref());
            put(&mut body, "version", Value::from("v1"));
            put(&mut body, "llm", substitute_env(&chosen(llm.as_ref(), question.model), look));
            put(
                &mut body,
                "ai_primitives_llm",
                substitute_env(&chosen(primitives, question.model), look),
            );
            put(&mut body, "ddn", map([("url", Value::from(url.as_str())), ("headers", headers)]));
            put(&mut body, "artifacts", artifacts);
            if let Some(instructions) = system_instructions {
                put(&mut body, "system_instructions", Value::from(instructions.as_str()));
            }
            put(&mut body, "timezone", timezone);
        }
        Version::V2(_) => {
            let (key, build) = match spec.build(question.model) {
                Some(Build::Id(id)) => ("build_id", Value::from(id.as_str())),
                Some(Build::Version(version)) => ("build_version", Value::from(version.as_str())),
                None => ("build_version", Value::Null),
            };
            put(&mut body, "version", Value::from("v2"));
            put(&mut body, "ddn", map([(key, build), ("headers", headers)]));
            put(&mut body, "artifacts", artifacts);
            put(&mut body, "timezone", timezone);
        }
    }
    put(&mut body, "interactions", Value::List(interactions));
    put(&mut body, "stream", Value::Bool(false));
    // A program runs for as long as it needs, and the response only comes when it has ended.
    let request = wire::request(format!("{}/query", spec.base_url), &[], Auth::Bearer, &body);
    HttpRequest { patience: wire::patience(true), ..request }
}

fn format_interaction(interaction: &Interaction) -> Value {
    let actions =
        interaction.output.get("assistant_actions").cloned().unwrap_or(Value::List(Vec::new()));
    map([
        ("user_message", map([("text", Value::from(interaction.prompt.as_str()))])),
        ("assistant_actions", actions),
    ])
}

/// Returns the model parameter: from the settings, otherwise derived from the model's provider.
fn chosen(given: Option<&Value>, model: &Model) -> Value {
    if let Some(given) = given {
        if given.get("provider").is_some() {
            return given.clone();
        }
        if let Some(own) = given.get(&model.name) {
            return own.clone();
        }
    }
    let provider = match model.provider {
        Provider::Anthropic => "anthropic",
        Provider::OpenAi => "openai",
        Provider::Replay => return map([("provider", Value::from("hasura"))]),
    };
    map([("provider", Value::from(provider)), ("model", Value::from(model.model_id.as_str()))])
}

/// Replaces each `{ env: NAME }` with the value that `look` returns for it, if any.
fn substitute_env(value: &Value, look: &dyn Fn(&str) -> Option<String>) -> Value {
    if let Some(found) = env(value).and_then(look) {
        return Value::Text(found);
    }
    match value {
        Value::Map(entries) => Value::Map(
            entries.iter().map(|(key, value)| (key.clone(), substitute_env(value, look))).collect(),
        ),
        other => other.clone(),
    }
}

/// Returns the JSON body of a response, with numbers as they were written. Fails if the response is
/// an error or has no `assistant_actions`.
pub fn decode(reply: &HttpReply) -> Result<Value, Fault> {
    if !(200..300).contains(&reply.status) {
        return Err(fault::fault_from_reply(Service::PromptQl, reply));
    }
    let body = wire::object(Service::PromptQl, reply)?;
    if !matches!(body.get("assistant_actions"), Some(Value::List(_))) {
        let message =
            "PromptQL answered, but with no `assistant_actions`; check its `base_url`.".to_owned();
        return Err(Fault { kind: FaultKind::Refused, message, status: Some(reply.status) });
    }
    Ok(body)
}

/// Returns true if a reply only proposes a plan: it ran no code and modified no artifact.
pub fn is_plan_only(output: &Value) -> bool {
    let actions = output.get("assistant_actions").map(Value::items).unwrap_or_default();
    let made = output.get("modified_artifacts").map(Value::items).unwrap_or_default();
    let ran = |action: &Value| {
        ["code", "code_output", "code_error"].iter().any(|key| words(action, key).is_some())
    };
    made.is_empty()
        && !actions.iter().any(ran)
        && actions.last().is_some_and(|action| words(action, "plan").is_some())
}

#[cfg(test)]
mod tests;
