//! **Pure.** Looking for an answer in more than one way: what was tried as a tree, and what comes
//! next. The same replies and outcomes always lead to the same tree. Owns no request, no tool and
//! no file.
mod file;
pub mod finish;
mod method;
pub mod names;
pub mod observe;
mod walk;
pub mod words;

pub use method::Method;
pub use observe::Code;

use super::provider::Reply;
use super::talk::{Call, Outcome};
use finish::{FINISH, Finish};
use std::collections::HashSet;
use touchstone_formats::value::Value;

/// A method with its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How it goes on.
    pub method: Method,
    /// How deep a way may be: a thought counts one, a call counts two.
    pub steps: u32,
    /// Replies of one run.
    pub queries: u32,
}

/// Something that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Place of its parent; the root is its own.
    pub parent: usize,
    /// Number of the reply it came with, from 1; 0 for the root.
    pub reply: u32,
    /// What it is.
    pub kind: Kind,
    /// How many steps lead to it.
    pub depth: u32,
    /// How the call ended; none for anything else and while it has not.
    pub code: Option<Code>,
    /// Seconds the call took.
    pub seconds: Option<f64>,
    /// Nothing follows.
    pub pruned: bool,
    /// Blocks that the provider wants back with the reply that begins here.
    pub kept: Vec<Value>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Where everything begins.
    Root,
    /// What the model said.
    Thought(String),
    /// A call.
    Call(Call),
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The model is asked.
    Ask,
    /// These calls are run.
    Run(Vec<usize>),
    /// It is over.
    Done(End),
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With an answer, at this node.
    Answered(usize),
    /// Every way was gone to its end.
    Exhausted,
    /// So many replies were not enough.
    Spent,
}

/// How far a way that found an answer or gave up backs up.
const BACK: u32 = 2;

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    bounds: Bounds,
    nodes: Vec<Node>,
    /// Replies so far.
    asked: u32,
    /// The node the next reply follows.
    at: usize,
    /// The nodes of the last reply, while not all of its calls have come back.
    under_way: Option<(usize, usize)>,
    /// Nodes from which ways are being tried, and how many were: the deepest last.
    open: Vec<(usize, u32)>,
    /// Tries that led nowhere.
    tries: u32,
    gave_up: Vec<usize>,
    end: Option<End>,
    ids: HashSet<String>,
}

impl Search {
    /// A search that has not begun.
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

    /// Everything that was tried; parents stand before their children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Replies so far.
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// What comes next.
    pub fn next(&self) -> Next {
        if let Some(end) = self.end {
            return Next::Done(end);
        }
        match self.under_way {
            Some((first, last)) => {
                let is_open = |at: &usize| matches!(&self.nodes[*at].kind, Kind::Call(call) if call.outcome.is_none());
                Next::Run((first..=last).filter(is_open).collect())
            }
            None => Next::Ask,
        }
    }

    /// Takes a reply in. `knows` says whether there is a function of that name.
    pub fn said(&mut self, reply: &Reply, knows: impl Fn(&str) -> bool) {
        self.asked = self.asked.saturating_add(1);
        let is_tree = matches!(self.bounds.method, Method::Tree { .. });
        if is_tree && self.asked >= self.bounds.queries {
            // The original counts the reply that reaches the bound and looks at none of it.
            self.end = Some(End::Spent);
            return;
        }
        let (mut parent, first) = (self.at, self.nodes.len());
        // A reply of nothing is a thought of nothing, so that every reply leads one step on.
        if reply.text.is_some() || reply.calls.is_empty() {
            let text = reply.text.clone().unwrap_or_default();
            parent = self.add(parent, Kind::Thought(text), 1);
        }
        for call in &reply.calls {
            let mut call = Call { id: self.fresh(&call.id), outcome: None, ..call.clone() };
            let (code, outcome) = settled(&call, &knows);
            call.outcome = outcome;
            parent = self.add(parent, Kind::Call(call), 2);
            self.nodes[parent].code = code;
            // What stands after the end of a way is not run.
            if matches!(code, Some(Code::ANSWERED | Code::GAVE_UP)) {
                break;
            }
        }
        self.nodes[first].kept.clone_from(&reply.kept);
        self.under_way = Some((first, parent));
        self.settle();
    }

    /// Takes in what came of a call.
    pub fn called(&mut self, at: usize, outcome: Outcome, code: Code, seconds: Option<f64>) {
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

    /// An id that no other call has: some models say the same one again and again.
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

    /// Goes on once every call of the last reply has come back.
    fn settle(&mut self) {
        let Some((_, last)) = self.under_way else { return };
        if !matches!(self.next(), Next::Run(open) if open.is_empty()) {
            return;
        }
        self.under_way = None;
        let node = &mut self.nodes[last];
        if node.code == Some(Code::ANSWERED) {
            self.end = Some(End::Answered(last));
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
            self.end = Some(End::Exhausted);
        } else if self.asked >= self.bounds.queries {
            self.end = Some(End::Spent);
        }
    }

    /// Goes back to the last point from which another way is to be tried. More than one step back
    /// skips points.
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
        self.end = Some(End::Exhausted);
    }
}

/// How a call ended that needs no tool.
fn settled(call: &Call, knows: impl Fn(&str) -> bool) -> (Option<Code>, Option<Outcome>) {
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
