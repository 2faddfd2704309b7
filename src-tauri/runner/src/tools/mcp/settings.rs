//! **Pure.** Settings of a server in the workspace file: transport, tools, timeout. Owns the
//! resolution of `${NAME}`; resolved values are secret and are kept out of all output.
use crate::tools::Unusable;
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstone_model::value::Value;

/// Default timeout in seconds.
const SECONDS: u64 = 60;
/// Shorter secrets are not hidden in texts, because they would match everywhere.
const SHORTEST_SECRET: usize = 6;

/// Settings of a server. Not `Debug`, because it holds secrets.
pub(super) struct Settings {
    /// Transport.
    pub reach: Reach,
    /// Names of the tools to use; `None` for all.
    pub only: Option<Vec<String>>,
    /// Prefix for the names of its tools.
    pub prefix: String,
    /// Timeout for starting the server, and for each call.
    pub patience: Duration,
    /// Secret values, to be hidden in output.
    pub secrets: Vec<String>,
}

/// Transport to a server.
pub(super) enum Reach {
    /// A program to start, with messages over its standard input and output.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// Additional environment variables.
        env: Vec<(String, String)>,
        /// Working directory.
        base: PathBuf,
    },
    /// A running server to connect to over HTTP.
    Url {
        /// Address.
        url: String,
        /// Headers sent with every request.
        headers: Vec<(String, String)>,
        /// True if the address or a header contains a secret.
        secret: bool,
    },
}

impl Settings {
    pub(super) fn read(
        name: &str,
        entry: &Value,
        base: &Path,
        secret: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Unusable> {
        let mut reader = Reader { name, secret, found: Vec::new() };
        let texts = |key: &str| entry.get(key).map(|value| texts(name, key, value)).transpose();
        let given = |key: &str| entry.get(key).filter(|value| **value != Value::Null);
        let reach = match (given("command"), given("url")) {
            (Some(_), None) => {
                let command = texts("command")?.unwrap_or_default();
                if command.first().is_none_or(String::is_empty) {
                    return Err(reader.wrong("`command` is empty"));
                }
                // Every process on the machine can read the command line of a program.
                if let Some(word) = command.iter().find(|word| word.contains("${")) {
                    return Err(in_environment(name, word));
                }
                Reach::Command {
                    command,
                    env: reader.pairs("env", entry.get("env"))?,
                    base: base.to_owned(),
                }
            }
            (None, Some(url)) => {
                let url = reader.resolve(url.text().unwrap_or_default())?;
                let headers = reader.pairs("headers", entry.get("headers"))?;
                let named = |(name, _): &(String, String)| is_secret(name);
                let secret = !reader.found.is_empty() || headers.iter().any(named);
                Reach::Url { url, headers, secret }
            }
            _ => return Err(reader.wrong("it needs either `command` or `url`")),
        };
        let seconds = match given("seconds") {
            None => SECONDS,
            Some(value) => parse_seconds(value)
                .ok_or_else(|| reader.wrong("`seconds` is not a whole number from 1 to 3600"))?,
        };
        Ok(Settings {
            reach,
            only: texts("tools")?,
            prefix: given("prefix").and_then(Value::text).unwrap_or_default().to_owned(),
            patience: Duration::from_secs(seconds),
            secrets: reader
                .found
                .into_iter()
                .filter(|secret| secret.len() >= SHORTEST_SECRET)
                .collect(),
        })
    }
}

struct Reader<'a> {
    name: &'a str,
    secret: &'a dyn Fn(&str) -> Option<String>,
    found: Vec<String>,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> Unusable {
        wrong(self.name, what)
    }

    /// Reads a map of names to values, for headers and environment variables.
    fn pairs(
        &mut self,
        key: &str,
        value: Option<&Value>,
    ) -> Result<Vec<(String, String)>, Unusable> {
        let Some(value) = value.filter(|value| **value != Value::Null) else {
            return Ok(Vec::new());
        };
        let Value::Map(entries) = value else {
            return Err(self.wrong(&format!("`{key}` is not a map")));
        };
        let mut pairs = Vec::new();
        for (name, value) in entries {
            let (Some(name), Some(text)) = (word(name), word(value)) else {
                return Err(self.wrong(&format!("`{key}` holds something that is not text")));
            };
            pairs.push((name, self.resolve(&text)?));
        }
        Ok(pairs)
    }

    /// Replaces every `${NAME}` in a text. Fails if a name is not set.
    fn resolve(&mut self, text: &str) -> Result<String, Unusable> {
        let mut resolved = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, behind)) = after.split_once('}').filter(|(name, _)| is_name(name))
            else {
                return Err(self.wrong("a `${` is not followed by a name and `}`"));
            };
            let value =
                (self.secret)(name).filter(|value| !value.is_empty()).ok_or_else(|| Unusable {
                    message: format!("The tool `{}` needs `{name}`, which is not set.", self.name),
                    fix: Some(format!(
                        "Set the environment variable {name}, or store it in the keyring."
                    )),
                })?;
            resolved.push_str(before);
            resolved.push_str(&value);
            self.found.push(value);
            rest = behind;
        }
        resolved.push_str(rest);
        Ok(resolved)
    }
}

/// Returns the error for a `${NAME}` in a command line, which other processes could read.
fn in_environment(tool: &str, word: &str) -> Unusable {
    let named =
        word.split_once("${").and_then(|(_, after)| after.split_once('}')).map(|(named, _)| named);
    let named = named.filter(|named| is_name(named)).unwrap_or("NAME");
    Unusable {
        message: format!(
            "The settings of the tool `{tool}` are wrong: `command` holds `{word}`, and every program on this machine can read command lines."
        ),
        fix: Some(format!(
            "Give it to the server in its environment: write `env: {{{named}: \"${{{named}}}\"}}` beside `command` in touchstone.yaml."
        )),
    }
}

fn wrong(name: &str, what: &str) -> Unusable {
    Unusable {
        message: format!("The settings of the tool `{name}` are wrong: {what}."),
        fix: Some(
            "Write it in touchstone.yaml as `{kind: mcp, command: [program, argument]}` or `{kind: mcp, url: …}`."
                .to_owned(),
        ),
    }
}

/// Reads one text or a list of texts.
fn texts(name: &str, key: &str, value: &Value) -> Result<Vec<String>, Unusable> {
    let items = match value {
        Value::List(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    };
    let words: Option<Vec<String>> = items.iter().map(word).collect();
    words.ok_or_else(|| wrong(name, &format!("`{key}` is not a list of texts")))
}

/// Returns a text, a number in its original notation, or a boolean as text.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

fn parse_seconds(value: &Value) -> Option<u64> {
    word(value)?.parse().ok().filter(|seconds| (1..=3600).contains(seconds))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

/// Returns true for a header that usually holds a secret, even if it is not written as `${NAME}`.
fn is_secret(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["authorization", "cookie", "key", "token", "secret"].iter().any(|word| header.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    #[expect(clippy::unwrap_in_result, reason = "the text of a test is JSON")]
    fn read(entry: &str) -> Result<Settings, Unusable> {
        let secret = |name: &str| (name == "TOKEN").then(|| "t0ken-value".to_owned());
        Settings::read("notes", &json::read(entry).unwrap(), Path::new("/base"), &secret)
    }

    fn refused(entry: &str) -> String {
        read(entry).err().unwrap().message
    }

    #[test]
    fn a_name_in_braces_is_replaced_and_remembered_as_secret() {
        let settings =
            read(r#"{"command": ["a", "$HOME"], "env": {"X": "<${TOKEN}>", "PORT": 80}}"#).unwrap();
        let Reach::Command { command, env, .. } = settings.reach else { panic!("it is a command") };
        assert_eq!(command, ["a", "$HOME"]);
        assert_eq!(
            env,
            [("X".to_owned(), "<t0ken-value>".to_owned()), ("PORT".to_owned(), "80".to_owned())]
        );
        assert_eq!(settings.secrets, ["t0ken-value"]);
        assert_eq!(settings.patience, Duration::from_mins(1));
    }

    #[test]
    fn no_secret_is_put_among_the_words_that_a_server_is_started_with() {
        for command in [
            r#"["${TOKEN}"]"#,
            r#"["a", "--key=${TOKEN}"]"#,
            r#"["a", "${OTHER}"]"#,
            r#""${TOKEN}""#,
        ] {
            let refused = read(&format!(r#"{{"command": {command}}}"#)).err().unwrap();
            assert!(refused.message.contains("can read command lines"), "{refused}");
            assert!(!refused.message.contains("t0ken"), "{refused}");
            assert!(refused.fix.unwrap().contains(": \"${"), "{command}");
        }
    }

    #[test]
    fn headers_that_hold_a_key_are_told_from_others() {
        for (headers, expected) in [
            (r#"{"Authorization": "Bearer ${TOKEN}"}"#, true),
            (r#"{"X-Any": "${TOKEN}"}"#, true),
            (r#"{"X-Api-Key": "plain"}"#, true),
            (r#"{"Accept-Language": "en"}"#, false),
        ] {
            let settings =
                read(&format!(r#"{{"url": "http://a", "headers": {headers}}}"#)).unwrap();
            let Reach::Url { secret, .. } = settings.reach else { panic!("it is an address") };
            assert_eq!(secret, expected, "{headers}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        insta::assert_snapshot!([
            refused("{}"),
            refused(r#"{"command": [], "seconds": 1}"#),
            refused(r#"{"command": ["a"], "url": "http://b"}"#),
            refused(r#"{"command": [["a"]]}"#),
            refused(r#"{"command": ["a"], "env": {"K": "${OTHER}"}}"#),
            refused(r#"{"command": ["a"], "env": {"K": "${a b}"}}"#),
            refused(r#"{"command": ["a"], "env": ["K"]}"#),
            refused(r#"{"command": ["a"], "seconds": 0}"#),
        ].join("\n"), @r#"
        The settings of the tool `notes` are wrong: it needs either `command` or `url`.
        The settings of the tool `notes` are wrong: `command` is empty.
        The settings of the tool `notes` are wrong: it needs either `command` or `url`.
        The settings of the tool `notes` are wrong: `command` is not a list of texts.
        The tool `notes` needs `OTHER`, which is not set.
        The settings of the tool `notes` are wrong: a `${` is not followed by a name and `}`.
        The settings of the tool `notes` are wrong: `env` is not a map.
        The settings of the tool `notes` are wrong: `seconds` is not a whole number from 1 to 3600.
        "#);
    }
}
