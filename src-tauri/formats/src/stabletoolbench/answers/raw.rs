//! **Pure.** Raw answers: one file per run, with its whole search. Only the needed parts are
//! parsed, because the files repeat the same conversation many times.
use super::nodes::script_finishes;
use super::steps::{self, StepBuilder};
use super::tree::{SearchPath, SearchTree};
use crate::transcript::outline_of;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::json::{self, skim};
use touchstone_model::run::{Layout, Outline, Run, ScriptedEnd, StepKind, TreeKind};
use touchstone_model::value::Value;

/// Keys that do not become facts, because they are used otherwise or repeat other keys.
const TOLD: [&str; 5] = ["train_messages", "chain", "query", "final_answer", "total_tokens"];

/// Parses a raw answer completely.
pub fn read(bytes: &[u8]) -> Result<Run, ReadError> {
    Ok(run(Raw::read(text_of(bytes)?, true)?))
}

/// Parses the data that lists and search need, which excludes the offered functions.
pub fn outline(bytes: &[u8]) -> Result<Outline, ReadError> {
    Ok(outline_of(&run(Raw::read(text_of(bytes)?, false)?)))
}

/// Returns true if these keys are at the start of a raw answer.
pub(crate) fn is_head(keys: &[&str]) -> bool {
    let has = |key: &str| keys.contains(&key);
    (has("win") && (has("trys") || (has("tree") && has("max_length"))))
        || (has("valid_data") && has("train_messages"))
}

/// A raw answer, parsed as far as needed.
pub(super) struct Raw {
    pub(super) tried: SearchTree,
    /// Other keys of the file.
    facts: Vec<(String, Value)>,
    /// `answer_generation`, without the messages.
    pub(super) generation: Value,
    /// Last conversation in the file: the complete path that counts.
    pub(super) messages: Vec<Value>,
    /// True if the file marks the run as valid, which includes runs that gave up.
    pub(super) valid: bool,
}

impl Raw {
    /// Parses a file; the offered functions only if `functions` is true.
    pub(super) fn read(text: &str, functions: bool) -> Result<Self, ReadError> {
        let mut raw = Self {
            tried: SearchTree::default(),
            facts: Vec::new(),
            generation: Value::Map(Vec::new()),
            messages: Vec::new(),
            valid: false,
        };
        let Some(members) = skim::members(text) else { return Err(fault(text, None)) };
        let mut known = false;
        for (key, piece) in members {
            let read = || json::read_deep(piece).map_err(|error| fault(text, Some(error)));
            match key {
                "trys" => raw.tried = SearchTree::chains(read()?.items()),
                "tree" => {
                    let tree = read()?;
                    raw.tried = SearchTree::tree(tree.get("tree").unwrap_or(&tree));
                }
                "answer_generation" => raw.generation(text, piece, functions)?,
                "compare_candidates" => continue,
                key => {
                    raw.facts.push((key.to_owned(), read()?));
                    continue;
                }
            }
            known = true;
        }
        if known { Ok(raw) } else { Err(fault(text, None)) }
    }

    fn generation(&mut self, text: &str, piece: &str, functions: bool) -> Result<(), ReadError> {
        let read = |piece: &str| json::read_deep(piece).map_err(|error| fault(text, Some(error)));
        let mut kept = Vec::new();
        for (key, piece) in skim::members(piece).ok_or_else(|| fault(text, None))? {
            match key {
                "train_messages" => {
                    let last =
                        skim::items(piece).unwrap_or_default().pop().map(read).transpose()?;
                    self.messages = match last {
                        Some(Value::List(messages)) => messages,
                        _ => Vec::new(),
                    };
                }
                "function" if !functions => {}
                key => kept.push((Value::from(key), read(piece)?)),
            }
        }
        self.generation = Value::Map(kept);
        self.valid = self.generation.get("valid_data") == Some(&Value::Bool(true));
        Ok(())
    }

    /// Returns the path that counts.
    pub(super) fn chosen_path(&self) -> SearchPath {
        self.tried.choose_path(self.valid, &script(&self.messages).said)
    }
}

/// Returns the error of the whole file, which has the right line number; else that of the piece;
/// else that it is not a raw answer.
fn fault(text: &str, piece: Option<ReadError>) -> ReadError {
    json::read_deep(text).err().or(piece).unwrap_or_else(|| {
        let message = "Not a raw answer: it has neither `trys` nor `tree` nor `answer_generation`.";
        ReadError::new(ReadErrorKind::NotTranscript, message)
    })
}

/// Data from the conversation of the path that counts, which its nodes do not have.
#[derive(Default)]
struct Script<'a> {
    system: &'a str,
    user: &'a str,
    /// Thoughts and arguments, in node order.
    said: Vec<&'a str>,
    /// Indexes into these at which a message of the model begins.
    turns: Vec<usize>,
    /// Nudges, with the index of the piece that follows.
    nudges: Vec<(usize, &'a str)>,
}

fn script(messages: &[Value]) -> Script<'_> {
    let mut script = Script::default();
    for message in messages {
        let content = message.get("content").and_then(Value::text).unwrap_or_default();
        match message.get("role").and_then(Value::text) {
            Some("system") => script.system = content,
            Some("user") if script.user.is_empty() => script.user = content,
            Some("user") => script.nudges.push((script.said.len(), content)),
            Some("assistant") => {
                script.turns.push(script.said.len());
                script.said.extend((!content.is_empty()).then_some(content));
                script.said.extend(calls(message).map(|(_, _, arguments)| arguments));
            }
            _ => {}
        }
    }
    script
}

/// Returns id, name and arguments of the calls of a message, in the old and the new form.
pub(super) fn calls(message: &Value) -> impl Iterator<Item = (Option<&str>, &str, &str)> {
    let old = message.get("function_call").filter(|call| matches!(call, Value::Map(_)));
    let new = message.get("tool_calls").map_or(&[][..], Value::items);
    old.into_iter().chain(new).map(|call| {
        let function = call.get("function").unwrap_or(call);
        let text = |key: &str| function.get(key).and_then(Value::text).unwrap_or_default();
        (call.get("id").and_then(Value::text), text("name"), text("arguments"))
    })
}

fn run(raw: Raw) -> Run {
    let way = raw.chosen_path();
    let Raw { mut tried, facts, generation, messages, .. } = raw;
    let script = script(&messages);
    let said = |key: &str| generation.get(key);
    let mut telling = StepBuilder::default();
    telling.say(StepKind::System, script.system, false);
    let query = said("query").and_then(Value::text).unwrap_or_default();
    telling.say(
        StepKind::User,
        if script.user.trim().is_empty() { query } else { script.user },
        false,
    );
    let mut nudges = script.nudges.iter().peekable();
    let mut thought = false;
    for (count, at) in way.path.iter().enumerate() {
        while let Some((_, text)) = nudges.next_if(|(before, _)| *before <= count) {
            telling.say(StepKind::User, text, true);
        }
        let Some(node) = tried.nodes.get_mut(*at as usize) else { continue };
        // Without a conversation, a call that follows a thought belongs to the same message.
        let begins = if script.turns.is_empty() {
            !(thought && node.kind != TreeKind::Thought)
        } else {
            script.turns.contains(&count) || count == 0
        };
        if begins {
            telling.begin_turn();
        }
        thought = node.kind == TreeKind::Thought;
        telling.node(node);
    }
    let mut run =
        Run { layout: Layout::RawAnswer, steps: telling.into_steps(), facts, ..Run::default() };
    if let Some(tokens) = said("total_tokens") {
        let usage = Value::Map(vec![(Value::from("total_tokens"), tokens.clone())]);
        run.facts.push(("run.usage".to_owned(), usage));
    }
    for (key, value) in generation.entries() {
        if let Some(key) = key.text().filter(|key| !TOLD.contains(key)) {
            run.facts.push((key.to_owned(), value.clone()));
        }
    }
    if let Some(rule) = &way.chosen_by {
        run.notes.push(format!("The file does not mark its final path. The steps show {rule}."));
    }
    let answer = said("final_answer").cloned().unwrap_or_default();
    let nodes = way.path.iter().filter_map(|at| tried.nodes.get(*at as usize));
    run.scripted = Some(ScriptedEnd { finishes: script_finishes(nodes), answer: answer.clone() });
    steps::conclude(&mut run, tried.into_tree(way.chosen_by), &way.path, &answer);
    run
}

/// Identity of a run, from its path: `<model>/<set>/<id>_<method>.json`, or
/// `<set>/<id>_<model>_<method>.json` in older files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinates {
    /// `<set>/<id>`, or the id alone.
    pub task: String,
    /// `CoT@1`, `DFS_woFilter_w2`.
    pub method: String,
    /// Model, if it is in the path.
    pub model: Option<String>,
}

/// Parses a path relative to the output directory, with `/` between its parts.
pub fn coordinates(path: &str) -> Option<Coordinates> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (id, rest) = name.strip_suffix(".json")?.split_once('_')?;
    let begins = |method: &&str| {
        rest.strip_prefix(*method).is_some() || rest.contains(&format!("_{method}"))
    };
    let method = ["CoT@", "DFS_", "DFS"].iter().find(|method| begins(method))?;
    let at = if rest.starts_with(method) { 0 } else { rest.find(&format!("_{method}"))? + 1 };
    let (named, method) = rest.split_at(at);
    if id.is_empty() {
        return None;
    }
    let mut folders = folder.rsplit('/').filter(|folder| !folder.is_empty());
    let set = folders.next();
    let model = Some(named.trim_end_matches('_'))
        .filter(|named| !named.is_empty())
        .or_else(|| folders.next());
    Some(Coordinates {
        task: set.map_or_else(|| id.to_owned(), |set| format!("{set}/{id}")),
        method: method.to_owned(),
        model: model.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_answer_says_its_query_its_method_and_its_model() {
        for (path, task, method, model) in [
            (
                "virtual_chatgpt_cot/G1_instruction/588_CoT@1.json",
                "G1_instruction/588",
                "CoT@1",
                Some("virtual_chatgpt_cot"),
            ),
            ("a/b/m/G3_tool/7_DFS_woFilter_w2.json", "G3_tool/7", "DFS_woFilter_w2", Some("m")),
            (
                "G1_answer/10_ChatGPT_DFS_woFilter_w2.json",
                "G1_answer/10",
                "DFS_woFilter_w2",
                Some("ChatGPT"),
            ),
            ("G1_tool/9_CoT@3.json", "G1_tool/9", "CoT@3", None),
            ("9_CoT@3.json", "9", "CoT@3", None),
        ] {
            let at = coordinates(path).unwrap();
            assert_eq!(
                (at.task.as_str(), at.method.as_str(), at.model.as_deref()),
                (task, method, model),
                "{path}"
            );
        }
        for path in [
            "a/588.json",
            "588_CoT@1.yaml",
            "_CoT@1.json",
            "G1_instruction_converted.json",
            "x_y.json",
            "",
        ] {
            assert_eq!(coordinates(path), None, "{path}");
        }
    }
}
