//! **Pure.** Names of users that a document gives away in its home folders, so that they can be
//! redacted elsewhere in it, too.
use regex::Regex;
use std::collections::BTreeSet;
use std::ops::Range;

use super::shapes::ESCAPE;

/// Minimum number of letters in a name. Shorter ones are parts of too many texts.
const SHORTEST: usize = 4;
/// Maximum number of names that are looked for, and of bytes of one of them.
const MOST: usize = 64;
const LONGEST: usize = 64;

/// Names of accounts that tell nobody apart, names of folders, stand-ins in documents, and words
/// that are names, too: to replace them would make texts hard to read, and would hide little.
const COMMON: [&str; 127] = [
    "account",
    "admin",
    "administrator",
    "agent",
    "agents",
    "answer",
    "april",
    "assistant",
    "august",
    "azureuser",
    "backup",
    "bash",
    "bill",
    "bitnami",
    "build",
    "builder",
    "chase",
    "christian",
    "circleci",
    "claude",
    "client",
    "cloud",
    "code",
    "coder",
    "codespace",
    "codex",
    "component",
    "computer",
    "config",
    "container",
    "daemon",
    "data",
    "database",
    "dean",
    "debian",
    "deploy",
    "desktop",
    "developer",
    "docker",
    "documents",
    "downloads",
    "drew",
    "earl",
    "error",
    "example",
    "faith",
    "fedora",
    "file",
    "files",
    "folder",
    "frank",
    "gemini",
    "github",
    "gitlab",
    "gitpod",
    "grace",
    "grant",
    "group",
    "guest",
    "home",
    "hope",
    "host",
    "hunter",
    "iris",
    "jenkins",
    "june",
    "laptop",
    "linux",
    "local",
    "localhost",
    "login",
    "main",
    "march",
    "mark",
    "mason",
    "media",
    "miles",
    "model",
    "mysql",
    "name",
    "nginx",
    "none",
    "null",
    "office",
    "openai",
    "operator",
    "oracle",
    "owner",
    "page",
    "path",
    "penny",
    "person",
    "pierce",
    "placeholder",
    "postgres",
    "project",
    "projects",
    "python",
    "redacted",
    "remote",
    "result",
    "results",
    "rich",
    "robin",
    "root",
    "rose",
    "sandbox",
    "server",
    "service",
    "shell",
    "someone",
    "source",
    "staff",
    "student",
    "summer",
    "support",
    "system",
    "task",
    "temp",
    "test",
    "tester",
    "tool",
    "username",
    "users",
    "will",
    "work",
    "workspace",
];

/// Names of users that were found.
#[derive(Debug, Default)]
pub(super) struct Users {
    names: BTreeSet<String>,
    /// Expression of all of them.
    looks: Option<Regex>,
}

impl Users {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds the name of a user, unless it is a common one.
    pub(super) fn learn(&mut self, name: &str) {
        let name = name.replace("%20", " ").to_lowercase();
        let letters = name.chars().filter(|c| c.is_alphabetic()).count();
        let is_common = COMMON.binary_search(&name.as_str()).is_ok();
        if letters < SHORTEST || name.len() > LONGEST || is_common || self.names.len() >= MOST {
            return;
        }
        if self.names.insert(name) {
            // The longest first: one may be the start of another.
            let mut names: Vec<String> =
                self.names.iter().map(|name| regex::escape(name)).collect();
            names.sort_by_key(|name| std::cmp::Reverse(name.len()));
            let names = names.join("|");
            self.looks =
                Regex::new(&format!(r"(?i)(?:^|[^\p{{L}}\p{{N}}]|(?-i:{ESCAPE}))({names})")).ok();
        }
    }

    /// Returns the places of a text where one of the names is a word.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let Some(looks) = &self.looks else { return Vec::new() };
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(groups) = looks.captures_at(text, from) {
            let Some(name) = groups.get(1) else { break };
            // What is before the next name may be the end of this one.
            from = name.end();
            let next = text.get(name.end()..).and_then(|rest| rest.chars().next());
            if !next.is_some_and(char::is_alphanumeric) {
                places.push(name.range());
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_names_are_in_order() {
        assert!(COMMON.is_sorted());
    }
}
