//! **Pure.** Search for an answer along several paths: the tree of steps, and the next step. The
//! same replies and outcomes always lead to the same tree. Owns no request, no tool and no file.
mod file;
pub mod finish;
mod method;
pub mod names;
pub mod observe;
pub mod prompts;
mod walk;

pub use method::Method;
pub use observe::Code;

use super::conversation::{Call, Outcome};
use super::provider::Reply;
use finish::{FINISH, Finish};
use std::collections::HashSet;
use touchstone_model::value::Value;

/// A method with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Search method.
    pub method: Method,
    /// Maximum depth of a path: a thought counts one, a call counts two.
    pub steps: u32,
    /// Maximum number of model replies in one run.
    pub queries: u32,
}

/// A node of the search tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Index of the parent; the root is its own parent.
    pub parent: usize,
    /// Number of the reply that contained it, from 1; 0 for the root.
    pub reply: u32,
    /// Content of the node.
    pub kind: Kind,
    /// Depth below the root, in steps.
    pub depth: u32,
    /// Status of the call; `None` for other nodes and while the call is running.
    pub code: Option<Code>,
    /// Duration of the call in seconds.
    pub seconds: Option<f64>,
    /// True if the path ends here.
    pub pruned: bool,
    /// Provider blocks to send back with the reply that begins at this node.
    pub kept: Vec<Value>,
}

/// Content of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The root.
    Root,
    /// Text of the model.
    Thought(String),
    /// A call.
    Call(Call),
}

/// The next step of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Request a reply from the model.
    Ask,
    /// Run the calls at these nodes.
    Run(Vec<usize>),
    /// Stop: the search has ended.
    Done(SearchEnd),
}

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// An answer was given at this node.
    Answered(usize),
    /// All paths were followed to their end.
    Exhausted,
    /// The limit of replies was reached.
    Spent,
}

/// Levels to go back after a path that was given up.
const BACK: u32 = 2;

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    bounds: Bounds,
    nodes: Vec<Node>,
    /// Number of replies received.
    asked: u32,
    /// Node that the next reply follows.
    at: usize,
    /// First and last node of the last reply, while some of its calls have no outcome.
    under_way: Option<(usize, usize)>,
    /// Nodes with untried branches, deepest last, and their number of tried branches.
    open: Vec<(usize, u32)>,
    /// Number of failed attempts.
    tries: u32,
    gave_up: Vec<usize>,
    end: Option<SearchEnd>,
    ids: HashSet<String>,
}

impl Search {
    /// Creates a search without any replies.
    pub fn new(bounds: Bounds) -> Self {
        let root = Node {
            parent: 0,
            reply: 0,
            kind: Kind::Root,
            depth: 0,
            code: None,
            seconds: None,
            pruned: false,
            kept: Vec::new(),
        };
        Self {
            bounds,
            nodes: vec![root],
            asked: 0,
            at: 0,
            under_way: None,
            open: vec![(0, 0)],
            tries: 0,
            gave_up: Vec::new(),
            end: None,
            ids: HashSet::new(),
        }
    }

    /// Returns all nodes; parents come before their children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of replies received.
    pub fn reply_count(&self) -> u32 {
        self.asked
    }

    /// Returns the next step.
    pub fn next(&self) -> NextStep {
        if let Some(end) = self.end {
            return NextStep::Done(end);
        }
        match self.under_way {
            Some((first, last)) => {
                let is_open = |at: &usize| matches!(&self.nodes[*at].kind, Kind::Call(call) if call.outcome.is_none());
                NextStep::Run((first..=last).filter(is_open).collect())
            }
            None => NextStep::Ask,
        }
    }

    /// Adds a reply. `knows` returns true if a function of that name exists.
    pub fn add_reply(&mut self, reply: &Reply, knows: impl Fn(&str) -> bool) {
        self.asked = self.asked.saturating_add(1);
        let is_tree = matches!(self.bounds.method, Method::Tree { .. });
        if is_tree && self.asked >= self.bounds.queries {
            // The original counts the reply that reaches the limit, but ignores its content.
            self.end = Some(SearchEnd::Spent);
            return;
        }
        let (mut parent, first) = (self.at, self.nodes.len());
        // An empty reply is stored as an empty thought, which makes every reply advance the depth.
        if reply.text.is_some() || reply.calls.is_empty() {
            let text = reply.text.clone().unwrap_or_default();
            parent = self.add(parent, Kind::Thought(text), 1);
        }
        for call in &reply.calls {
            let mut call = Call { id: self.fresh(&call.id), outcome: None, ..call.clone() };
            let (code, outcome) = resolve_without_tool(&call, &knows);
            call.outcome = outcome;
            parent = self.add(parent, Kind::Call(call), 2);
            self.nodes[parent].code = code;
            // Calls after the end of a path are not run.
            if matches!(code, Some(Code::ANSWERED | Code::GAVE_UP)) {
                break;
            }
        }
        self.nodes[first].kept.clone_from(&reply.kept);
        self.under_way = Some((first, parent));
        self.settle();
    }

    /// Records the outcome of a call. Does nothing if it has one already.
    pub fn add_outcome(&mut self, at: usize, outcome: Outcome, code: Code, seconds: Option<f64>) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        let Kind::Call(call) = &mut node.kind else { return };
        if call.outcome.is_some() {
            return;
        }
        call.outcome = Some(outcome);
        (node.code, node.seconds) = (Some(code), seconds);
        self.settle();
    }

    fn add(&mut self, parent: usize, kind: Kind, steps: u32) -> usize {
        let depth = self.nodes[parent].depth + steps;
        let (reply, kept) = (self.asked, Vec::new());
        self.nodes.push(Node {
            parent,
            reply,
            kind,
            depth,
            code: None,
            seconds: None,
            pruned: false,
            kept,
        });
        self.nodes.len() - 1
    }

    /// Returns a unique call id: some models repeat the same one.
    fn fresh(&mut self, id: &str) -> String {
        let base = if id.is_empty() { "call" } else { id };
        let mut fresh =
            if id.is_empty() { format!("{base}_{}", self.nodes.len()) } else { id.to_owned() };
        while !self.ids.insert(fresh.clone()) {
            fresh = format!("{base}_{}", self.nodes.len());
            if self.ids.contains(&fresh) {
                fresh = format!("{fresh}_{}", self.ids.len());
            }
        }
        fresh
    }

    /// Determines the next node once every call of the last reply has an outcome.
    fn settle(&mut self) {
        let Some((_, last)) = self.under_way else { return };
        if !matches!(self.next(), NextStep::Run(open) if open.is_empty()) {
            return;
        }
        self.under_way = None;
        let node = &mut self.nodes[last];
        if node.code == Some(Code::ANSWERED) {
            self.end = Some(SearchEnd::Answered(last));
            return;
        }
        let gave_up = node.code == Some(Code::GAVE_UP);
        node.pruned = gave_up || node.depth >= self.bounds.steps;
        let pruned = node.pruned;
        if gave_up {
            self.gave_up.push(last);
        }
        match self.bounds.method {
            Method::Chain { tries } => self.follow(last, pruned, tries),
            Method::Tree { width } if pruned => self.back_up(if gave_up { BACK } else { 1 }, width),
            Method::Tree { .. } => {
                self.open.push((last, 0));
                self.at = last;
            }
        }
    }

    fn follow(&mut self, last: usize, pruned: bool, tries: u32) {
        self.at = if pruned { 0 } else { last };
        self.tries += u32::from(pruned);
        if pruned && self.tries >= tries {
            self.end = Some(SearchEnd::Exhausted);
        } else if self.asked >= self.bounds.queries {
            self.end = Some(SearchEnd::Spent);
        }
    }

    /// Returns to the last node with an untried branch, and ends the search if there is none. More
    /// than one step back skips nodes.
    fn back_up(&mut self, mut steps: u32, width: u32) {
        while let Some((node, tried)) = self.open.last_mut() {
            if steps > 1 {
                steps -= 1;
            } else {
                *tried += 1;
                if *tried < width {
                    self.at = *node;
                    return;
                }
            }
            self.open.pop();
        }
        self.end = Some(SearchEnd::Exhausted);
    }
}

/// Returns the status and outcome of a call that needs no tool: `Finish`, and unknown functions.
fn resolve_without_tool(
    call: &Call,
    knows: impl Fn(&str) -> bool,
) -> (Option<Code>, Option<Outcome>) {
    if call.name == FINISH {
        let (code, outcome) = match finish::read(&call.params) {
            Finish::Answer(_) => (Code::ANSWERED, Outcome::Result("The answer was given.".into())),
            Finish::GiveUp => (Code::GAVE_UP, Outcome::Result("This way was given up.".into())),
            Finish::Unusable(why) => (Code::UNUSABLE, Outcome::Error(why.into())),
        };
        return (Some(code), Some(outcome));
    }
    if knows(&call.name) {
        return (None, None);
    }
    (
        Some(Code::UNKNOWN),
        Some(Outcome::Error(Value::Text(format!("There is no function named `{}`.", call.name)))),
    )
}

#[cfg(test)]
mod tests;
