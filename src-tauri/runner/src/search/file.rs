//! **Pure.** Serialization of the search tree under `run.tree` of a transcript. A search that is
//! read continues as if it had not been interrupted.
use super::{Bounds, Code, Kind, Node, Search};
use crate::conversation::{Call, Outcome};
use crate::provider::Reply;
use crate::scalar_text::word;
use touchstone_model::value::Value;

impl Search {
    /// Serializes the tree. Each node has the index of its parent, from 1, where 0 is the root.
    /// Nodes on the chosen path also have the index of their conversation item.
    pub fn to_value(&self) -> Value {
        let (way, why) = self.chosen_path();
        let number = |number: usize| Value::Number(number.to_string());
        // Item 0 is the user message.
        let item = |at: usize| way.iter().position(|node| *node == at).map(|place| place + 1);
        let node = |(at, node): (usize, &Node)| {
            let mut entries: Vec<(Value, Value)> = Vec::new();
            let mut put = |key: &str, value: Value| entries.push((key.into(), value));
            put("parent", number(node.parent));
            put("reply", Value::Number(node.reply.to_string()));
            match &node.kind {
                Kind::Root => {}
                Kind::Thought(text) => put("thought", Value::Text(text.clone())),
                Kind::Call(call) => {
                    put("call", Value::Text(call.name.clone()));
                    put("id", Value::Text(call.id.clone()));
                    put("params", call.params.clone());
                    match &call.outcome {
                        Some(Outcome::Result(value)) => put("result", value.clone()),
                        Some(Outcome::Error(value)) => put("error", value.clone()),
                        None => {}
                    }
                }
            }
            if let Some(seconds) = node.seconds {
                put("seconds", Value::Number(format!("{}", (seconds * 1e3).round() / 1e3)));
            }
            if let Some(code) = node.code {
                put("code", Value::Number(code.0.to_string()));
                if let Some(trouble) = code.error_label() {
                    put("trouble", trouble.into());
                }
            }
            if node.pruned {
                put("pruned", Value::Bool(true));
            }
            if node.code == Some(Code::ANSWERED) {
                put("finished", Value::Bool(true));
            }
            if !node.kept.is_empty() {
                put("thinking", Value::List(node.kept.clone()));
            }
            if let Some(item) = item(at) {
                put("item", number(item));
            }
            Value::Map(entries)
        };
        let nodes = self.nodes.iter().enumerate().skip(1).map(node).collect();
        let mut tree = Vec::new();
        if let Some(why) = why {
            tree.push(("chosen_by".into(), why.into()));
        }
        tree.push(("nodes".into(), Value::List(nodes)));
        Value::Map(tree)
    }

    /// Parses a serialized tree. Returns `None` if the tree cannot result from a search with these
    /// bounds, because it was edited or the bounds have changed.
    pub fn read(tree: &Value, bounds: Bounds) -> Option<Self> {
        let mut search = Self::new(bounds);
        let nodes = tree.get("nodes").map_or(&[][..], Value::items);
        for reply in nodes.chunk_by(|one, other| one.get("reply") == other.get("reply")) {
            if search.next() != super::NextStep::Ask {
                return None;
            }
            let first = search.nodes.len();
            // Names that were unknown then are recognized by their status code.
            let mut unknown =
                reply.iter().filter_map(|node| Some((node.get("call")?.text()?, code(node)?)));
            let unknown: Vec<&str> = unknown
                .by_ref()
                .filter(|(_, code)| *code == Code::UNKNOWN)
                .map(|(name, _)| name)
                .collect();
            search.add_reply(&parse_reply(reply)?, |name| !unknown.contains(&name));
            for (at, node) in reply.iter().enumerate() {
                let at = first + at;
                if search.nodes.get(at)?.parent.to_string() != word(node.get("parent")?)? {
                    return None;
                }
                if let (Some(outcome), Some(code)) = (outcome(node), code(node)) {
                    let seconds =
                        node.get("seconds").and_then(|seconds| word(seconds)?.parse().ok());
                    search.add_outcome(at, outcome, code, seconds);
                }
            }
            if search.nodes.len() != first + reply.len() {
                return None;
            }
        }
        Some(search)
    }
}

fn parse_reply(nodes: &[Value]) -> Option<Reply> {
    let mut reply = Reply::default();
    for node in nodes {
        reply.kept.extend(node.get("thinking").map_or(&[][..], Value::items).iter().cloned());
        if let Some(text) = node.get("thought") {
            reply.text = Some(text.text()?.to_owned());
            continue;
        }
        let text = |key: &str| node.get(key).and_then(word);
        let params = node.get("params").cloned().unwrap_or(Value::Map(Vec::new()));
        reply.calls.push(Call { id: text("id")?, name: text("call")?, params, outcome: None });
    }
    Some(reply)
}

fn outcome(node: &Value) -> Option<Outcome> {
    match node.get("error") {
        Some(error) => Some(Outcome::Error(error.clone())),
        None => node.get("result").cloned().map(Outcome::Result),
    }
}

fn code(node: &Value) -> Option<Code> {
    word(node.get("code")?)?.parse().ok().map(Code)
}
