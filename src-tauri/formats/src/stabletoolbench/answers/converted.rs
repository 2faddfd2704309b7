//! **Pure.** Reads one converted answer, an entry of a file of many, in all forms that programs
//! write.
use super::details::{self, Node};
use super::steps::{self, StepBuilder, call_node, next_index};
use crate::transcript::outline_of;
use touchstone_model::json;
use touchstone_model::run::{
    Layout, Outline, Run, ScriptedEnd, StepKind, Tree, TreeKind, TreeNode,
};
use touchstone_model::value::Value;

/// Keys of an answer that do not become facts.
const TOLD: [&str; 2] = ["answer_details", "final_answer"];

/// Converts an entry to a run: `{query, available_tools, answer: {method, total_steps,
/// final_answer, answer_details}}`. An entry that consists of the inner object alone is accepted,
/// too.
pub fn run(id: &str, entry: &Value) -> Run {
    let answer =
        entry.get("answer").filter(|answer| matches!(answer, Value::Map(_))).unwrap_or(entry);
    let nodes = details::nodes(answer.get("answer_details").unwrap_or(&Value::Null));
    let (mut tree, path, asked) = tree(&nodes);
    let mut run =
        Run { layout: Layout::ConvertedAnswer, untold: nodes.is_empty(), ..Run::default() };
    let mut telling = StepBuilder::default();
    let query = entry.get("query").and_then(Value::text).unwrap_or_default();
    if let Some(system) = asked.0 {
        telling.say(StepKind::System, system, false);
    }
    telling.say(
        StepKind::User,
        if query.is_empty() { asked.1.unwrap_or_default() } else { query },
        false,
    );
    let mut thought = false;
    for at in &path {
        let Some(node) = tree.nodes.get_mut(*at as usize) else { continue };
        // A call that follows a thought belongs to the same message.
        if !(thought && node.kind != TreeKind::Thought) {
            telling.begin_turn();
        }
        thought = node.kind == TreeKind::Thought;
        telling.node(node);
    }
    run.steps = telling.into_steps();
    if !id.is_empty() {
        run.facts.push(("query_id".to_owned(), Value::from(id)));
    }
    let rest = answer.entries().iter().chain(if std::ptr::eq(answer, entry) {
        &[][..]
    } else {
        entry.entries()
    });
    for (key, value) in rest {
        if let Some(key) =
            key.text().filter(|key| !TOLD.contains(key) && !matches!(*key, "answer" | "query"))
        {
            run.facts.push((key.to_owned(), value.clone()));
        }
    }
    if nodes.iter().filter_map(Node::call).any(|call| call.cut) {
        run.notes.push("Calls in this file were cut by the program that wrote it.".to_owned());
    }
    let final_answer = answer.get("final_answer").unwrap_or(&Value::Null);
    let finishes = answer.get("answer_details").is_some_and(details::script_finishes);
    run.scripted = Some(ScriptedEnd { finishes, answer: final_answer.clone() });
    steps::conclude(&mut run, tree, &path, final_answer);
    run
}

/// Returns the data that lists and search need.
pub fn outline(id: &str, entry: &Value) -> Outline {
    outline_of(&run(id, entry))
}

/// Texts of the system and of the user, if not empty.
type PromptTexts<'a> = (Option<&'a str>, Option<&'a str>);

/// Returns the search tree, the path that counts, and the system and user texts. The path is the
/// first branch, as in the official scripts; a flat list is a single path.
fn tree<'a>(told: &[Node<'a>]) -> (Tree, Vec<u32>, PromptTexts<'a>) {
    let flat = told.len() > 1 && told.iter().all(|node| node.parent.is_none() && node.next == 0);
    let mut nodes = vec![TreeNode::default()];
    let mut path = Vec::new();
    let mut asked = (None, None);
    // Index in the tree of each node read so far.
    let mut places: Vec<u32> = Vec::with_capacity(told.len());
    let mut branching = false;
    for node in told {
        let before = if flat {
            places.last().copied()
        } else {
            node.parent.and_then(|at| places.get(at)).copied()
        };
        let parent = before.unwrap_or(0);
        branching |= node.next > 1;
        match (node.role, node.message.text()) {
            ("system", text) => asked.0 = asked.0.or(text),
            ("user", text) => asked.1 = asked.1.or(text),
            _ => {}
        }
        if matches!(node.role, "system" | "user") {
            places.push(parent);
            continue;
        }
        let at = next_index(&nodes);
        places.push(at);
        nodes.push(build_node(node, parent));
        if flat || node.on_first_path {
            path.push(at);
        }
    }
    let chosen_by = branching.then(|| "the first branch, as the official scripts go".to_owned());
    (Tree { nodes, chosen_by }, path, asked)
}

fn build_node(node: &Node<'_>, parent: u32) -> TreeNode {
    if let Some(call) = node.call() {
        return call_node(&call.name, Some(call.arguments), call.response, Some(parent));
    }
    let raw = |key: &str| node.message.get(key).and_then(Value::text);
    match (node.role, raw("description")) {
        // Nodes that the original leaves over when it merges actions with their inputs.
        ("Action", Some(name)) => call_node(name, None, None, Some(parent)),
        ("Action Input", Some(input)) => call_node(
            "",
            Some(input.to_owned()),
            raw("observation").map(str::to_owned),
            Some(parent),
        ),
        (_, description) => {
            let text = description.or(node.message.text()).map(str::to_owned);
            let text = text.unwrap_or_else(|| json::write(node.message, false));
            TreeNode { parent: Some(parent), kind: TreeKind::Thought, text, ..TreeNode::default() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::run::RecordedState;

    fn read(text: &str) -> Run {
        run("7", &json::read(text).unwrap())
    }

    #[test]
    fn a_chain_is_told_as_steps_and_has_no_tree() {
        let run = read(
            r#"{"query": "How far?", "available_tools": [], "answer": {"method": "CoT@1", "total_steps": 5,
                "final_answer": "{\"return_type\": \"give_answer\", \"final_answer\": \"5 km\"}", "answer_details": [
                {"role": "system", "message": "", "next": [{"role": "user", "message": "", "next": [
                {"role": "assistant", "message": "Let me look.", "next": [
                {"role": "tool", "message": {"name": "way", "arguments": "{\"to\": \"B\"}", "response": "{\"error\": \"\", \"response\": 5}"}, "next": [
                {"role": "tool", "message": {"name": "Finish", "arguments": "{\"return_type\": \"give_answer\", \"final_answer\": \"5 km\"}",
                 "response": ""}, "next": []}
                ]}]}]}]}]}}"#,
        );
        let told: Vec<_> = run
            .steps
            .iter()
            .map(|step| (step.turn, step.kind, step.title.as_deref(), step.failed))
            .collect();
        assert_eq!(
            told,
            [
                (1, StepKind::User, None, None),
                (2, StepKind::Assistant, None, None),
                (2, StepKind::ToolCall, Some("way"), Some(false)),
                (3, StepKind::ToolCall, Some("Finish"), Some(false)),
            ]
        );
        assert_eq!(run.answer.as_ref().unwrap().value, Value::from("5 km"));
        assert_eq!(outline_of(&run).standing, RecordedState::Answered);
        assert!(run.tree.is_none());
        assert!(
            run.facts.iter().any(|(key, value)| key == "method" && value.text() == Some("CoT@1"))
        );
    }

    #[test]
    fn a_flat_list_is_one_way_and_a_fork_is_a_tree() {
        let flat = read(
            r#"{"query": "q", "answer": {"final_answer": "All of it.", "answer_details": [
                {"role": "system", "message": "Be brief.", "next": []}, {"role": "user", "message": "q", "next": []},
                {"role": "tool", "message": "{\"name\": \"a\", \"arguments\": {}, \"response\": \"r\"}", "next": []},
                {"role": "tool", "message": "{\"name\": \"b\", \"arguments\": {\"x\": 1}, \"response\": \"r\"}", "next": []}]}}"#,
        );
        assert_eq!(flat.steps.len(), 4);
        assert_eq!(outline_of(&flat).tools, ["a", "b"]);
        assert!(flat.tree.is_none());
        let fork = read(
            r#"{"query": "q", "answer": {"final_answer": "", "answer_details": [{"role": "user", "message": "", "next": [
                {"role": "tool", "message": {"name": "a", "arguments": "{}", "response": "{\"error\": \"no\"}"}, "next": []},
                {"role": "tool", "message": {"name": "b", "arguments": "{}", "response": "r"}, "next": []}]}]}}"#,
        );
        let tree = fork.tree.as_ref().unwrap();
        let told: Vec<_> =
            tree.nodes.iter().map(|node| (node.text.as_str(), node.parent, node.step)).collect();
        assert_eq!(told, [("", None, None), ("a", Some(0), Some(1)), ("b", Some(0), None)]);
        assert!(tree.chosen_by.is_some());
        let outline = outline_of(&fork);
        assert_eq!(
            (outline.standing, outline.reason.as_deref()),
            (RecordedState::NoAnswer, Some("Ended without a call of Finish."))
        );
        assert_eq!((outline.tool_calls, outline.failed_calls), (1, 1));
    }

    #[test]
    fn giving_up_is_no_answer_and_odd_entries_are_empty_runs() {
        let up =
            read(r#"{"answer": {"final_answer": "{\"return_type\": \"give_up_and_restart\"}"}}"#);
        assert_eq!(
            (up.answer.is_none(), outline_of(&up).reason.as_deref()),
            (true, Some("Gave up without an answer."))
        );
        for odd in [
            "null",
            "[]",
            "{}",
            r#"{"answer": null}"#,
            r#"{"answer": {"answer_details": [1, null, [[]]]}}"#,
        ] {
            assert_eq!(outline_of(&read(odd)).tool_calls, 0, "{odd}");
        }
    }
}
