//! **Pure.** The search of a raw answer, as a sequence of attempts or a tree, and the choice of the
//! path that counts.
use super::steps::{GAVE_UP, call_node, next_index};
use touchstone_model::node::Node;
use touchstone_model::run::{Tree, TreeKind, TreeNode};
use touchstone_model::value::Value;

/// All attempts of a run. An action and its input are one node.
#[derive(Debug, Default)]
pub(super) struct SearchTree {
    pub(super) nodes: Vec<TreeNode>,
    /// True for separate attempts instead of one tree.
    tries: bool,
}

/// A path through the tree, from the first node to the last.
#[derive(Debug, Default)]
pub(super) struct SearchPath {
    pub(super) path: Vec<u32>,
    /// Rule that chose it, if the file does not determine it.
    pub(super) chosen_by: Option<String>,
}

impl SearchTree {
    /// Converts a tree, given its root.
    pub(super) fn tree(root: &Value) -> Self {
        let mut tried = Self { nodes: vec![TreeNode::default()], tries: false };
        tried.grow(0, children(root));
        tried
    }

    /// Converts chains, each of which is an attempt from scratch.
    pub(super) fn chains(chains: &[Value]) -> Self {
        let mut tried = Self { nodes: vec![TreeNode::default()], tries: true };
        for (at, one) in chains.iter().enumerate() {
            let mut parent = 0;
            if chains.len() > 1 {
                parent = next_index(&tried.nodes);
                let text = format!("Try {}", at + 1);
                tried.nodes.push(TreeNode { parent: Some(0), text, ..TreeNode::default() });
            }
            let mut action = None;
            for node in one.get("chain").map_or(&[][..], Value::items) {
                (parent, action) = tried.add(parent, action, node);
            }
        }
        tried
    }

    /// Adds all descendants of a node. Not recursive, since trees are as deep as runs are long.
    fn grow(&mut self, root: u32, first: &[Value]) {
        let mut open: Vec<(u32, Option<u32>, &Value)> =
            first.iter().rev().map(|node| (root, None, node)).collect();
        while let Some((parent, action, node)) = open.pop() {
            let (parent, action) = self.add(parent, action, node);
            open.extend(children(node).iter().rev().map(|child| (parent, action, child)));
        }
    }

    /// Adds a node. Returns the parent for its children, and the action that expects an input.
    fn add(&mut self, parent: u32, action: Option<u32>, node: &Value) -> (u32, Option<u32>) {
        let text = |key: &str| node.get(key).and_then(Value::text);
        let description = text("description").unwrap_or_default();
        let pruned = node.get("pruned") == Some(&Value::Bool(true));
        let at = next_index(&self.nodes);
        match text("node_type") {
            Some("Action") => {
                self.nodes
                    .push(TreeNode { pruned, ..call_node(description, None, None, Some(parent)) });
                return (at, Some(at));
            }
            Some("Action Input") => {
                let before = action.and_then(|at| self.nodes.get(at as usize));
                // The second input of an action is a separate call.
                let again = before.is_some_and(|node| node.input.is_some());
                let name = before.map(|node| node.text.clone()).unwrap_or_default();
                let above = if again { before.and_then(|node| node.parent) } else { Some(parent) };
                let (input, output) =
                    (Some(description.to_owned()), text("observation").map(str::to_owned));
                let mut call = TreeNode { pruned, ..call_node(&name, input, output, above) };
                judge(&mut call, node.get("observation_code").and_then(Node::word));
                if let Some(place) = action.filter(|_| !again)
                    && let Some(waiting) = self.nodes.get_mut(place as usize)
                {
                    call.parent = waiting.parent;
                    call.pruned |= waiting.pruned;
                    *waiting = call;
                    return (place, Some(place));
                }
                self.nodes.push(call);
            }
            _ => self.nodes.push(TreeNode {
                parent: Some(parent),
                kind: TreeKind::Thought,
                text: description.to_owned(),
                pruned,
                ..TreeNode::default()
            }),
        }
        (at, None)
    }

    /// Returns the path that counts. `messages` holds the thoughts and arguments of the file's own
    /// conversation.
    pub(super) fn choose_path(&self, valid: bool, messages: &[&str]) -> SearchPath {
        let leaves = self.leaves();
        let certain = |leaf: u32| SearchPath { path: self.path(leaf), chosen_by: None };
        let by_rule = |leaf: Option<u32>, rule: String| {
            let path = leaf.map(|leaf| self.path(leaf)).unwrap_or_default();
            SearchPath { path, chosen_by: (leaves.len() > 1).then_some(rule) }
        };
        if let Some(leaf) = self.find(|node| node.finished).filter(|_| valid) {
            return certain(leaf);
        }
        let up = || leaves.iter().copied().filter(|leaf| self.gave_up(*leaf));
        if valid && let Some(leaf) = up().find(|leaf| self.says(*leaf, messages)) {
            return certain(leaf);
        }
        if self.tries {
            return by_rule(leaves.last().copied(), format!("the last of {} tries", leaves.len()));
        }
        if let Some(leaf) = up().next().filter(|_| valid) {
            return by_rule(Some(leaf), "the first path that was given up".to_owned());
        }
        let depths = self.depths();
        let deep = |leaf: &u32| depths.get(*leaf as usize).copied();
        let deepest = leaves.iter().filter_map(deep).max();
        let leaf = leaves.iter().copied().find(|leaf| deep(leaf) == deepest);
        by_rule(leaf, format!("the first of the longest of {} paths", leaves.len()))
    }

    pub(super) fn into_tree(self, chosen_by: Option<String>) -> Tree {
        Tree { nodes: self.nodes, chosen_by }
    }

    fn find(&self, fits: impl Fn(&TreeNode) -> bool) -> Option<u32> {
        self.nodes.iter().position(fits).and_then(|at| u32::try_from(at).ok())
    }

    fn gave_up(&self, at: u32) -> bool {
        self.nodes.get(at as usize).is_some_and(|node| node.trouble.as_deref() == Some(GAVE_UP))
    }

    /// Returns the nodes without children, in order.
    fn leaves(&self) -> Vec<u32> {
        let mut leaf = vec![true; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(|node| node.parent) {
            if let Some(leaf) = leaf.get_mut(parent as usize) {
                *leaf = false;
            }
        }
        leaf.iter().zip(0..).filter_map(|(leaf, at)| leaf.then_some(at)).collect()
    }

    /// Returns the path from the root, which is omitted, to a node.
    fn path(&self, to: u32) -> Vec<u32> {
        let mut path: Vec<u32> = std::iter::successors(Some(to), |at| {
            self.nodes.get(*at as usize).and_then(|node| node.parent)
        })
        .collect();
        path.reverse();
        path.retain(|at| {
            self.nodes.get(*at as usize).is_some_and(|node| node.kind != TreeKind::Root)
        });
        path
    }

    fn depths(&self) -> Vec<u32> {
        let mut depths = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let above = node.parent.and_then(|at| depths.get(at as usize)).copied();
            depths.push(above.map_or(0, |depth: u32| depth + 1));
        }
        depths
    }

    fn says(&self, leaf: u32, messages: &[&str]) -> bool {
        let path = self.path(leaf);
        let said = path.iter().filter_map(|at| self.nodes.get(*at as usize));
        said.map(|node| node.input.as_deref().unwrap_or(&node.text)).eq(messages.iter().copied())
    }
}

fn children(node: &Value) -> &[Value] {
    node.get("children").map_or(&[][..], Value::items)
}

/// Applies the code of an observation to a call; without a known code, the judgement of `call_node`
/// by text remains.
fn judge(call: &mut TreeNode, code: Option<&str>) {
    let trouble = match code {
        Some("1") => "Unknown function",
        Some("2") => "Finished without an answer",
        Some("3") => {
            (call.trouble, call.finished) = (None, true);
            return;
        }
        Some("4") => GAVE_UP,
        Some("5") => "Took too long",
        Some("6") => "API does not work",
        Some("7") => "Not authorized",
        Some("8") => "Not subscribed",
        Some("9") => "Too many requests",
        Some("10") => "Rate limit",
        Some("11") => "Replied with an error message",
        Some("12") => "No usable reply",
        _ => return,
    };
    call.trouble = Some(trouble.to_owned());
    call.finished = false;
}
