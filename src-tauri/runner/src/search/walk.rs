//! **Pure.** Paths through the search tree: the conversation along a path, and the path that counts
//! in the end.
use super::finish::{self, Finish};
use super::{Code, Kind, Method, NextStep, Node, Search, SearchEnd, prompts};
use crate::conversation::{AssistantMessage, Turn};
use touchstone_model::value::Value;

/// Name sent to providers in place of an unknown function: some reject a conversation with the name
/// that the model made up.
const UNKNOWN: &str = "invalid_hallucination_function_name";

impl Search {
    /// Returns the nodes from the root, exclusive, to a node.
    pub fn path_to(&self, node: usize) -> Vec<usize> {
        let mut way = Vec::new();
        let mut at = node;
        while at != 0 {
            way.push(at);
            at = self.nodes[at].parent;
        }
        way.reverse();
        way
    }

    /// Returns the conversation for the next request, after the first user message.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = self.said_on_the_way(self.at);
        let another = self.another().or_else(|| {
            // Providers treat a conversation that ends with an assistant message as text to be
            // completed.
            let waits =
                matches!(turns.last(), Some(Turn::Assistant(said)) if said.calls.is_empty());
            waits.then(|| prompts::GO_ON.to_owned())
        });
        turns.extend(another.map(Turn::User));
        turns
    }

    fn said_on_the_way(&self, node: usize) -> Vec<Turn> {
        let way = self.path_to(node);
        let replies = way.chunk_by(|one, other| self.nodes[*one].reply == self.nodes[*other].reply);
        let said = replies.map(|reply| {
            let mut said = AssistantMessage::default();
            for at in reply {
                let node = &self.nodes[*at];
                said.kept.extend_from_slice(&node.kept);
                match &node.kind {
                    Kind::Root => {}
                    Kind::Thought(text) => said.text = (!text.is_empty()).then(|| text.clone()),
                    Kind::Call(call) => {
                        let mut call = call.clone();
                        if node.code == Some(Code::UNKNOWN) {
                            UNKNOWN.clone_into(&mut call.name);
                        }
                        said.calls.push(call);
                    }
                }
            }
            Turn::Assistant(said)
        });
        // A reply without text and calls is in the tree, but providers do not accept it.
        said.filter(
            |turn| !matches!(turn, Turn::Assistant(said) if *said == AssistantMessage::default()),
        )
        .collect()
    }

    /// Returns the hint for a node where other branches were tried already; it is not stored in the
    /// tree.
    fn another(&self) -> Option<String> {
        let children =
            self.nodes.iter().enumerate().skip(1).filter(|(_, node)| node.parent == self.at);
        if matches!(self.bounds.method, Method::Chain { .. }) {
            return None;
        }
        let tried: Vec<&Node> = children.filter_map(|(at, _)| self.first_call(at)).collect();
        (!tried.is_empty()).then(|| prompts::another(&tried))
    }

    /// Returns the first call on the path that begins with a node.
    fn first_call(&self, from: usize) -> Option<&Node> {
        let mut at = from;
        loop {
            let node = &self.nodes[at];
            if matches!(node.kind, Kind::Call(_)) {
                return Some(node);
            }
            at += 1 + self.nodes.get(at + 1..)?.iter().position(|child| child.parent == at)?;
        }
    }

    /// Returns the path that counts: the path to the answer, or to the current node. If the search
    /// ended without an answer, a rule chooses a path, and the second value explains it.
    pub fn chosen_path(&self) -> (Vec<usize>, Option<&'static str>) {
        let (node, why) = match self.next() {
            NextStep::Done(SearchEnd::Answered(node)) => (node, None),
            NextStep::Done(_) => match (self.bounds.method, self.gave_up.first()) {
                (Method::Tree { .. }, Some(node)) => {
                    (*node, Some("No way led to an answer. This is the first that was given up."))
                }
                (Method::Tree { .. }, None) => (
                    self.deepest(),
                    Some("No way led to an answer. This is the first of the longest."),
                ),
                (Method::Chain { tries }, _) => (
                    self.nodes.len() - 1,
                    (tries > 1).then_some("No try led to an answer. This is the last."),
                ),
            },
            NextStep::Run(_) => (self.nodes.len() - 1, None),
            NextStep::Ask => (self.at, None),
        };
        (self.path_to(node), why)
    }

    fn deepest(&self) -> usize {
        let most = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        self.nodes.iter().position(|node| node.depth == most).unwrap_or(0)
    }

    /// Returns the answer; a path that was given up has none.
    pub fn answer(&self) -> Option<Value> {
        let NextStep::Done(SearchEnd::Answered(node)) = self.next() else { return None };
        let Kind::Call(call) = &self.nodes[node].kind else { return None };
        match finish::read(&call.params) {
            Finish::Answer(answer) => Some(answer),
            _ => None,
        }
    }
}
