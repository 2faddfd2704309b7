//! **Pure.** Names of users that a document gives away in its home folders, so that they can be
//! redacted elsewhere in it, too.
use regex::Regex;
use std::collections::BTreeSet;
use std::ops::Range;

use super::shapes::ESCAPE;

/// Minimum number of letters in a name. Shorter ones are parts of too many texts.
const SHORTEST: usize = 4;
/// Maximum number of names that are looked for.
pub(super) const MOST: usize = 64;
/// Maximum number of bytes of a name.
const LONGEST: usize = 64;

/// Names of accounts that tell nobody apart, names of folders, stand-ins in documents, and words
/// that are names, too: to replace them would make texts hard to read, and would hide little.
const COMMON: [&str; 210] = [
    "account",
    "admin",
    "administrator",
    "agent",
    "agents",
    "aider",
    "airflow",
    "almalinux",
    "alpine",
    "anaconda",
    "ansible",
    "answer",
    "apache",
    "app-user",
    "appuser",
    "april",
    "arch",
    "assistant",
    "august",
    "azureuser",
    "backup",
    "bash",
    "bill",
    "bitnami",
    "build",
    "builder",
    "centos",
    "chase",
    "christian",
    "circleci",
    "claude",
    "claude-code",
    "clickhouse",
    "client",
    "cline",
    "cloud",
    "cloudshell",
    "code",
    "coder",
    "codespace",
    "codex",
    "colab",
    "colima",
    "component",
    "computer",
    "conda",
    "config",
    "container",
    "copilot",
    "core",
    "cursor",
    "daemon",
    "data",
    "database",
    "dean",
    "debian",
    "deck",
    "deploy",
    "desktop",
    "developer",
    "devin",
    "docker",
    "documents",
    "downloads",
    "drew",
    "earl",
    "ec2-user",
    "elasticsearch",
    "error",
    "example",
    "faith",
    "fedora",
    "file",
    "files",
    "flink",
    "folder",
    "frank",
    "gcp-user",
    "gemini",
    "gemini-cli",
    "github",
    "github-actions",
    "gitlab",
    "gitpod",
    "goose",
    "gpadmin",
    "grace",
    "gradle",
    "grant",
    "group",
    "guest",
    "hadoop",
    "harbor",
    "home",
    "homebrew",
    "hope",
    "host",
    "hunter",
    "iris",
    "jenkins",
    "jovyan",
    "june",
    "jupyter",
    "jupyterhub",
    "kafka",
    "kaggle",
    "kali",
    "kubernetes",
    "laptop",
    "lima",
    "linux",
    "linuxbrew",
    "local",
    "localhost",
    "login",
    "main",
    "mambauser",
    "manjaro",
    "march",
    "mark",
    "mason",
    "mcpuser",
    "media",
    "micromamba",
    "miles",
    "minecraft",
    "model",
    "mongodb",
    "mysql",
    "name",
    "nginx",
    "nixbld",
    "nixos",
    "nobody",
    "none",
    "nonroot",
    "null",
    "office",
    "ollama",
    "openai",
    "opencode",
    "openhands",
    "opensearch",
    "operator",
    "oracle",
    "owner",
    "page",
    "parrot",
    "path",
    "penny",
    "person",
    "pgsql",
    "pierce",
    "placeholder",
    "postgres",
    "postgresql",
    "project",
    "projects",
    "python",
    "rails",
    "rancher",
    "raspberry",
    "redacted",
    "redis",
    "remote",
    "result",
    "results",
    "rich",
    "robin",
    "rocky",
    "root",
    "rose",
    "ruby",
    "rust",
    "sagemaker-user",
    "sandbox",
    "server",
    "service",
    "shell",
    "solr",
    "someone",
    "sonarqube",
    "source",
    "spark",
    "staff",
    "steam",
    "student",
    "summer",
    "support",
    "suse",
    "swe-agent",
    "sweagent",
    "swebench",
    "system",
    "task",
    "temp",
    "terminal-bench",
    "test",
    "tester",
    "tomcat",
    "tool",
    "username",
    "users",
    "vagrant",
    "will",
    "windsurf",
    "work",
    "workspace",
    "www-data",
    "zookeeper",
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

    /// Adds the name of a user, unless it is a common one. Returns false if there are too many.
    pub(super) fn learn(&mut self, name: &str) -> bool {
        let name = name.replace("%20", " ").to_lowercase();
        let letters = name.chars().filter(|c| c.is_alphabetic()).count();
        let is_common = COMMON.binary_search(&name.as_str()).is_ok();
        if letters < SHORTEST || name.len() > LONGEST || is_common {
            return true;
        }
        if self.names.len() >= MOST {
            return self.names.contains(&name);
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
        true
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
