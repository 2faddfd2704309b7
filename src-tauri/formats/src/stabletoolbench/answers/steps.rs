//! **Pure.** Converts the nodes of the path that counts to the steps of a run, as in every other
//! layout.
use super::{FINISH, Finish, finish};
use crate::transcript::build::part;
use crate::transcript::sink::Role;
use touchstone_model::json;
use touchstone_model::run::{Answer, Run, Step, StepKind, Tree, TreeKind, TreeNode};
use touchstone_model::value::Value;

/// Outcome text of a call that gave up.
pub(super) const GAVE_UP: &str = "Gave up";

/// Reason of a missing answer in a run that gave up.
pub const GAVE_UP_REASON: &str = "Gave up without an answer.";

/// Builder of steps.
#[derive(Default)]
pub(super) struct StepBuilder {
    steps: Vec<Step>,
    turn: u32,
}

impl StepBuilder {
    /// Adds a message of the system or the user, unless it is empty.
    pub(super) fn say(&mut self, kind: StepKind, text: &str, nudge: bool) {
        if text.trim().is_empty() {
            return;
        }
        if kind == StepKind::User {
            self.turn += 1;
        }
        let parts = vec![part("message", Role::Message, Value::from(text))];
        self.push(Step { kind, nudge, parts, ..Step::default() });
    }

    /// Begins a message of the model: the following nodes belong to one turn.
    pub(super) fn begin_turn(&mut self) {
        self.turn += 1;
    }

    /// Adds a node of the path and stores its step index in the node.
    pub(super) fn node(&mut self, node: &mut TreeNode) {
        let step = match node.kind {
            TreeKind::Root => return,
            TreeKind::Thought => Step {
                kind: StepKind::Assistant,
                parts: vec![part("message", Role::Message, Value::from(node.text.as_str()))],
                ..Step::default()
            },
            TreeKind::Call | TreeKind::Finish => call(node),
        };
        node.step = u32::try_from(self.steps.len()).ok();
        self.push(step);
    }

    fn push(&mut self, step: Step) {
        self.steps.push(Step { turn: self.turn.max(1), ..step });
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

fn call(node: &TreeNode) -> Step {
    let input = node.input.as_deref().unwrap_or_default();
    let mut parts = match json::embedded(input) {
        Some(Value::Map(entries)) => {
            let label = |key: &Value| key.text().unwrap_or("?").to_owned();
            entries.into_iter().map(|(key, value)| part(&label(&key), Role::Param, value)).collect()
        }
        _ if input.trim().is_empty() => Vec::new(),
        _ => vec![part("arguments", Role::Param, Value::from(input))],
    };
    let output = node.output.as_deref().filter(|output| !output.is_empty());
    parts.extend(output.map(|output| part("result", Role::Result, Value::from(output))));
    let gave_up = node.trouble.as_deref() == Some(GAVE_UP);
    Step {
        kind: StepKind::ToolCall,
        title: (!node.text.is_empty()).then(|| node.text.clone()),
        // A call of `Finish` needs no result.
        failed: (node.output.is_some() || node.kind == TreeKind::Finish)
            .then_some(node.trouble.is_some() && !gave_up),
        parts,
        ..Step::default()
    }
}

/// Builds the node of a call.
pub(super) fn call_node(
    name: &str,
    input: Option<String>,
    output: Option<String>,
    parent: Option<u32>,
) -> TreeNode {
    let kind = if name == FINISH { TreeKind::Finish } else { TreeKind::Call };
    let (mut trouble, mut finished) = (None, false);
    if kind == TreeKind::Finish {
        match finish::arguments(input.as_deref().unwrap_or_default()) {
            Finish::Answer(_) => finished = true,
            Finish::GaveUp => trouble = Some(GAVE_UP.to_owned()),
            Finish::Nothing => trouble = Some("Finished without an answer".to_owned()),
        }
    } else if output.as_deref().is_some_and(says_error) {
        trouble = Some("Replied with an error".to_owned());
    }
    TreeNode {
        parent,
        kind,
        text: name.to_owned(),
        input,
        output,
        trouble,
        finished,
        ..TreeNode::default()
    }
}

/// Returns true for a reply with a nonempty `error`. Only its start is inspected, since the rest
/// may be cut.
fn says_error(reply: &str) -> bool {
    let after = |text: &str, word: &str| {
        text.trim_start().strip_prefix(word).map(|rest| rest.trim_start().to_owned())
    };
    let head: String = reply.chars().take(64).collect();
    let Some(value) = after(&head, "{")
        .and_then(|rest| after(&rest, "\"error\"").or_else(|| after(&rest, "'error'")))
        .and_then(|rest| after(&rest, ":"))
    else {
        return false;
    };
    !["\"\"", "''", "null", "None", "false", "False"].iter().any(|empty| value.starts_with(empty))
}

/// Completes the run: sets the answer from the file, else from the last call of `Finish`, or the
/// reason of its absence.
pub(super) fn conclude(run: &mut Run, tree: Tree, path: &[u32], said: &Value) {
    let last = path
        .iter()
        .rev()
        .filter_map(|at| tree.nodes.get(*at as usize))
        .find(|node| node.kind == TreeKind::Finish);
    let call = last.map(|node| finish::arguments(node.input.as_deref().unwrap_or_default()));
    let (end, source) = match (finish::final_answer(said), call) {
        (Finish::Nothing, Some(call)) => (call, finish::ARGUMENTS),
        (end, _) => (end, "final_answer"),
    };
    let reason = match end {
        Finish::Answer(value) => {
            run.answer = Some(Answer { value, source: source.to_owned(), lenient: false });
            None
        }
        Finish::GaveUp => Some(GAVE_UP_REASON),
        Finish::Nothing if last.is_some() => Some("Finished without an answer."),
        Finish::Nothing => Some("Ended without a call of Finish."),
    };
    if let Some(reason) = reason {
        run.facts.push(("run.reason".to_owned(), Value::from(reason)));
    }
    if branches(&tree.nodes) {
        run.tree = Some(tree);
    }
}

/// Returns true if any node has several children.
fn branches(nodes: &[TreeNode]) -> bool {
    let mut followed = vec![false; nodes.len()];
    for parent in nodes.iter().filter_map(|node| node.parent) {
        if let Some(seen) = followed.get_mut(parent as usize)
            && std::mem::replace(seen, true)
        {
            return true;
        }
    }
    false
}

/// Returns the length of a list of nodes, which is the index of the next one.
pub(super) fn next_index(nodes: &[TreeNode]) -> u32 {
    u32::try_from(nodes.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_an_error_when_its_error_says_something() {
        for (reply, error) in [
            (r#"{"error": "", "response": "x"}"#, false),
            (r#"{"error": "Timeout error...", "response": ""}"#, true),
            (r#"{ "error" : "cut"#, true),
            (r#"{"error": null}"#, false),
            ("{'error': '', 'response': 1}", false),
            (r#"{"response": "error"}"#, false),
            ("", false),
        ] {
            assert_eq!(says_error(reply), error, "{reply}");
        }
    }
}
