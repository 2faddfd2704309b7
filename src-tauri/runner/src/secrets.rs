//! **Pure.** Secrets of a workspace file: names to look up for it, and which of their values must
//! never be written anywhere. Owns that rule. Provider keys are in `http::keys`; redaction is in
//! `http::redact`.
use super::provider::promptql::{self, PromptQl, Version};
use super::setup::{Setup, ToolEntry};
use super::tools::sql;
use std::collections::{BTreeSet, HashMap};
use touchstone_formats::system::ToolKind;
use touchstone_model::value::Value;
use zeroize::Zeroizing;

/// Looks up a value by its name.
type Look<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Values of the names in `${NAME}` and `{ env: NAME }` of the settings, looked up once.
#[derive(Default)]
pub struct Secrets {
    values: HashMap<String, Zeroizing<String>>,
    wrong: HashMap<String, String>,
}

impl Secrets {
    /// Looks up these names. Lookup errors (such as a locked keyring) are recorded separately from
    /// names that are not set.
    pub fn look_up(
        names: impl IntoIterator<Item = String>,
        look: impl Fn(&str) -> Result<Option<Zeroizing<String>>, String>,
    ) -> Self {
        let mut found = Self::default();
        for name in names {
            match look(&name) {
                Ok(None) => {}
                Ok(Some(value)) => drop(found.values.insert(name, value)),
                Err(why) => drop(found.wrong.insert(name, why)),
            }
        }
        found
    }

    /// Adds lookup errors of provider keys.
    pub fn add_wrong(&mut self, wrong: HashMap<String, String>) {
        self.wrong.extend(wrong);
    }

    /// Returns the value of a name, or `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<String> {
        self.values.get(name).map(|value| value.as_str().to_owned())
    }

    /// Returns the error of looking up a name, if there was one.
    pub fn lookup_error(&self, name: &str) -> Option<&str> {
        self.wrong.get(name).map(String::as_str)
    }

    /// Returns the first name in these settings whose lookup failed, with the error.
    pub fn first_lookup_error(&self, settings: &Value) -> Option<(String, &str)> {
        let mut names = BTreeSet::new();
        collect_placeholders(settings, &mut names);
        names.into_iter().find_map(|name| self.lookup_error(&name).map(|why| (name.clone(), why)))
    }
}

/// Collects the names in `${NAME}`.
pub fn collect_placeholders(settings: &Value, names: &mut BTreeSet<String>) {
    names.extend(named(settings.text().unwrap_or_default()).map(str::to_owned));
    settings.items().iter().for_each(|item| collect_placeholders(item, names));
    settings.entries().iter().for_each(|(_, value)| collect_placeholders(value, names));
}

fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

/// Returns the values that must never be written anywhere: database passwords, values passed to
/// tool servers, and `PromptQL` headers. User names, database names, hosts and paths are not
/// secret: they occur in many programs.
pub fn secret_values(setup: &Setup, look: Look) -> Vec<Zeroizing<String>> {
    let mut found = Vec::new();
    for tool in &setup.tools {
        match tool.kind {
            ToolKind::Sql => {
                let address = tool.settings.get("database").and_then(Value::text);
                found.extend(address.into_iter().flat_map(|address| sql::passwords(address, look)));
            }
            _ => server(tool, look, &mut found),
        }
    }
    if let Some(spec) = setup.promptql.as_ref().and_then(|settings| promptql::read(settings).ok()) {
        found.extend(
            setup.models.iter().flat_map(|model| spec.names(model)).filter_map(|name| look(&name)),
        );
        of_promptql(&spec, &mut found);
    }
    found.into_iter().map(Zeroizing::new).collect()
}

/// Collects the secrets passed to a tool server: every value looked up for its variables and
/// headers, the password in its URL, and those literal values and placeholders in its URL and its
/// command whose name sounds secret.
fn server(tool: &ToolEntry, look: Look, found: &mut Vec<String>) {
    for (name, value) in ["env", "headers"]
        .iter()
        .filter_map(|part| tool.settings.get(part))
        .flat_map(Value::entries)
    {
        let text = value.text().unwrap_or_default();
        found.extend(named(text).filter_map(look));
        literal(name, value, found);
    }
    let url = tool.settings.get("url").and_then(Value::text);
    found.extend(url.into_iter().flat_map(|url| sql::passwords(url, look)));
    let mut names = BTreeSet::new();
    for part in ["url", "command"].iter().filter_map(|part| tool.settings.get(part)) {
        collect_placeholders(part, &mut names);
    }
    found.extend(names.iter().filter(|name| sounds_secret(name)).filter_map(|name| look(name)));
}

fn of_promptql(spec: &PromptQl, found: &mut Vec<String>) {
    literals(&spec.headers, found);
    if let Version::V1 { llm, ai_primitives_llm, .. } = &spec.version {
        llm.iter().chain(ai_primitives_llm).for_each(|choice| literals(choice, found));
    }
}

/// Collects literal secrets of the file, recursively.
fn literals(map: &Value, found: &mut Vec<String>) {
    for (name, value) in map.entries() {
        literal(name, value, found);
        literals(value, found);
    }
}

/// Collects a literal value whose name sounds secret, in full and without the word before it
/// (`Bearer …`).
fn literal(name: &Value, value: &Value, found: &mut Vec<String>) {
    let Some(text) = value.text().filter(|text| !text.contains("${")) else { return };
    if name.text().is_some_and(sounds_secret) {
        found.push(text.to_owned());
        found.extend(text.split_whitespace().next_back().map(str::to_owned));
    }
}

fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie", "token", "key", "secret", "passw", "pwd", "credential"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    const PROMPTQL: &str = r#"{
        "ddn": { "url": "https://sql.example", "headers": { "x-role": "administrator", "x-token": { "env": "DDN" }, "authorization": "Bearer literal-word" } },
        "llm": { "provider": "openai", "api_key": "literal-llm-key" }
    }"#;
    const TOOLS: &str = r#"{
        "parts": { "kind": "sql", "database": "postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}:5432/${DB_NAME}" },
        "behind": { "kind": "sql", "database": "postgres://${DB_USER}@h/${DB_NAME}?password=${OTHER}" },
        "whole": { "kind": "sql", "database": "${DATABASE_URL}" },
        "file": { "kind": "sql", "database": "sqlite:${DATA_DIR}/x.db" },
        "started": { "kind": "mcp", "command": ["${DATA_DIR}/server", "--token", "${CLI_TOKEN}"],
            "env": { "A": "${ENV_VALUE}", "API_KEY": "literal-env-key", "MODE": "readonly-mode" } },
        "reached": { "kind": "mcp", "url": "https://me:${URL_PASS}@h/${DB_NAME}",
            "headers": { "X-A": "Bearer ${HEADER}", "Cookie": "literal-cookie" } }
    }"#;

    /// Built in code, because the file format refuses literal secrets under most names.
    fn setup() -> Setup {
        let tool = |(name, settings): &(Value, Value)| ToolEntry {
            name: name.text().unwrap().to_owned(),
            kind: ToolKind::from_settings(settings),
            settings: settings.clone(),
        };
        let tools = json::read(TOOLS).unwrap().entries().iter().map(tool).collect();
        let built_in = Setup::from_workspace(&touchstone_formats::workspace::Workspace::default());
        Setup { tools, promptql: Some(json::read(PROMPTQL).unwrap()), ..built_in }
    }

    fn look(name: &str) -> Option<String> {
        match name {
            "DATABASE_URL" => Some(
                "postgresql://url_user:in%40side%2Dword@db.example/shop?sslmode=require".to_owned(),
            ),
            "NOT_SET" => None,
            _ => Some(format!("value of {name}")),
        }
    }

    #[test]
    fn passwords_and_headers_are_secret_and_names_hosts_and_paths_are_not() {
        let setup = setup();
        let found: BTreeSet<String> =
            secret_values(&setup, &look).iter().map(|secret| secret.to_string()).collect();
        insta::assert_snapshot!(found.into_iter().collect::<Vec<_>>().join("\n"), @"
        Bearer literal-word
        in%40side%2Dword
        in@side-word
        literal-cookie
        literal-env-key
        literal-llm-key
        literal-word
        value of CLI_TOKEN
        value of DB_PASSWORD
        value of DDN
        value of ENV_VALUE
        value of HEADER
        value of OTHER
        value of URL_PASS
        value%20of%20DB%5FPASSWORD
        value%20of%20OTHER
        value%20of%20URL%5FPASS
        ");
    }

    #[test]
    fn a_value_that_cannot_be_looked_up_is_told_from_one_that_is_not_set() {
        let setup = setup();
        let found = Secrets::look_up(setup.places(), |name| match name {
            "OTHER" => Err("The keyring is locked.".to_owned()),
            "DB_USER" => Ok(None),
            _ => Ok(Some(Zeroizing::new("with spaces, and ümlauts".to_owned()))),
        });
        let trouble = |name: &str| {
            let tool = setup.tools.iter().find(|tool| tool.name == name).unwrap();
            found.first_lookup_error(&tool.settings)
        };
        assert_eq!(trouble("behind"), Some(("OTHER".to_owned(), "The keyring is locked.")));
        assert_eq!(
            (trouble("parts"), found.get("DB_USER"), found.get("OTHER")),
            (None, None, None)
        );
        assert_eq!(found.get("DB_PASSWORD").as_deref(), Some("with spaces, and ümlauts"));
    }
}
