//! **Pure.** Sessions of Gemini CLI.
mod message;
mod session;
#[cfg(test)]
mod tests;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::pieces;
use crate::run::Identity;
use crate::sessions::{Session, finish, has_extension, objects, parse};
use crate::source::Input;
use session::Conversation;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct GeminiCli;

impl Format for GeminiCli {
    fn name(&self) -> &'static str {
        "gemini_cli"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn files(&self) -> &'static str {
        "session-*.jsonl, session-*.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("gemini_cli.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list)?;
        (head.has(&["sessionId", "projectHash"])).then_some(Detected::Run)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let bytes = input.read_all()?;
        let mut conversation = Conversation::default();
        let mut error = None;
        let text = pieces::text(bytes.clone()).unwrap_or_default();
        if let Some(whole @ Value::Map(_)) = parse(&text) {
            conversation.add(&whole);
        } else {
            let (objects, odd) = objects(&bytes);
            let mut count = 0_usize;
            for record in objects {
                conversation.add(&record);
                count += 1;
            }
            if count == 0 {
                return Err(pieces::cut_off());
            }
            if count == 1 && odd > 0 {
                error = Some(pieces::cut_off());
            }
        }
        let member = conversation.id();
        let mut run = conversation.into_run(&input);
        run.identity = identity(&input, run.facts.iter().any(|fact| *fact == sub_agent()));
        Ok(Box::new(Session { member, run: Some(finish(run)), error }))
    }
}

/// Returns the fact that marks the session of a sub-agent.
fn sub_agent() -> (String, Value) {
    ("kind".to_owned(), Value::from("subagent"))
}

/// Returns the identity of a run: the file of a sub-agent, in a folder that has the id of its
/// session as its name, stands for that session.
fn identity(input: &Input<'_>, is_sub_agent: bool) -> Option<Identity> {
    let key = |path: &str| format!("gemini_cli/{path}");
    if !is_sub_agent {
        return Some(Identity { key: key(input.path), rank: 1.0 });
    }
    let (folder, session) = match input.parent().rsplit_once('/') {
        Some((folder, session)) => (format!("{folder}/"), session),
        None => (String::new(), input.parent()),
    };
    let end = format!("-{}", session.get(..8)?);
    let names = input.folder.list(folder.trim_end_matches('/'));
    let is_session = |name: &&String| {
        let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
        let is_json = has_extension(name, "jsonl") || has_extension(name, "json");
        is_json && name.starts_with("session-") && stem.ends_with(&end)
    };
    let name = names.iter().find(is_session)?;
    Some(Identity { key: key(&format!("{folder}{name}")), rank: 0.0 })
}
