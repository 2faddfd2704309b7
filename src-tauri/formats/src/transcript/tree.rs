//! **Pure.** The search tree of a run, stored under `run.tree` in Touchstone's transcripts.
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::run::{Run, StepKind, Tree, TreeKind, TreeNode};
use touchstone_model::value::Value;

/// Maximum number of nodes that are read.
const MOST: usize = 100_000;

/// Parses the tree. Returns `None` if the value has another form, or if a node comes before its
/// parent.
pub(crate) fn read(value: &Value) -> Option<Tree> {
    let Some(Value::List(written)) = value.get("nodes") else { return None };
    let mut nodes = vec![TreeNode::default()];
    for entry in written.iter().take(MOST) {
        let parent =
            parse_index(entry, "parent").filter(|parent| (*parent as usize) < nodes.len())?;
        nodes.push(node(entry, parent)?);
    }
    let chosen_by = value.get("chosen_by").and_then(Value::text).map(str::to_owned);
    Some(Tree { nodes, chosen_by })
}

fn node(entry: &Value, parent: u32) -> Option<TreeNode> {
    let shown = |key: &str| match entry.get(key)? {
        Value::Text(text) => Some(text.clone()),
        other => Some(json::write(other, false)),
    };
    let is = |key: &str| entry.get(key) == Some(&Value::Bool(true));
    let (kind, text) = match (shown("call"), shown("thought")) {
        (Some(name), _) if name == "Finish" => (TreeKind::Finish, name),
        (Some(name), _) => (TreeKind::Call, name),
        (None, thought) => (TreeKind::Thought, thought?),
    };
    Some(TreeNode {
        parent: Some(parent),
        kind,
        text,
        input: shown("params"),
        output: shown("error").or_else(|| shown("result")),
        trouble: shown("trouble"),
        pruned: is("pruned"),
        finished: is("finished"),
        step: parse_index(entry, "item"),
    })
}

fn parse_index(entry: &Value, key: &str) -> Option<u32> {
    entry.get(key)?.word()?.parse().ok()
}

/// Clears the step references of nodes that do not match the step, which happens when the
/// conversation was edited.
pub(crate) fn check_places(run: &mut Run) {
    let Some(tree) = &mut run.tree else { return };
    for node in &mut tree.nodes {
        let step = node.step.and_then(|step| run.steps.get(step as usize));
        let fits = step.is_some_and(|step| match node.kind {
            TreeKind::Root => false,
            TreeKind::Thought => step.kind == StepKind::Assistant,
            TreeKind::Call | TreeKind::Finish => step.title.as_deref() == Some(node.text.as_str()),
        });
        node.step = node.step.filter(|_| fits);
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::transcript::outline_of;
    use touchstone_model::run::RecordedState;

    const FILE: &str = r#"
conversation:
- user_message: How many?
- assistant_message: I look.
- tool_call: {id: c1, name: count_for_x, params: {a: 1}, result: '{"error": "", "response": 2}', turn: 1}
- tool_call: {id: c2, name: Finish, params: {return_type: give_answer, final_answer: two},
       result: The answer was given., turn: 2}
answer: two
run:
  method: DFS_woFilter_w2
  finished: '2025-02-21T00:12:07Z'
  tree:
    nodes:
    - {parent: 0, reply: 1, call: nope, id: c0, params: '[', error: 'There is none.', code: 1, trouble: Unknown function, pruned: true}
    - {parent: 0, reply: 2, thought: I look., item: 1}
    - {parent: 2, reply: 2, call: count_for_x, id: c1, params: {a: 1}, result: '{"error": "", "response": 2}', code: 0, item: 2}
    - {parent: 3, reply: 3, call: Finish, id: c2, params: {return_type: give_answer, final_answer: two},
       result: The answer was given., code: 3, finished: true, item: 3}
"#;

    #[test]
    fn a_tree_is_read_with_the_places_of_its_nodes_in_the_steps() {
        let run = read(FILE.as_bytes()).unwrap();
        let tree = run.tree.as_ref().unwrap();
        let shown: Vec<_> = tree
            .nodes
            .iter()
            .map(|node| (node.parent, node.kind, node.text.as_str(), node.step))
            .collect();
        assert_eq!(
            shown,
            [
                (None, TreeKind::Root, "", None),
                (Some(0), TreeKind::Call, "nope", None),
                (Some(0), TreeKind::Thought, "I look.", Some(1)),
                (Some(2), TreeKind::Call, "count_for_x", Some(2)),
                (Some(3), TreeKind::Finish, "Finish", Some(3)),
            ]
        );
        let nope = &tree.nodes[1];
        assert_eq!(
            (nope.input.as_deref(), nope.output.as_deref()),
            (Some("["), Some("There is none."))
        );
        assert_eq!(
            (nope.trouble.as_deref(), nope.pruned, tree.nodes[4].finished),
            (Some("Unknown function"), true, true)
        );
        assert!(run.facts.iter().all(|(key, _)| key != "run.tree"));
    }

    #[test]
    fn a_search_that_has_finished_waits_for_nobody() {
        assert_eq!(outline_of(&read(FILE.as_bytes()).unwrap()).standing, RecordedState::Answered);
        let without = FILE.replace("answer: two\nrun", "run");
        assert_eq!(
            outline_of(&read(without.as_bytes()).unwrap()).standing,
            RecordedState::NoAnswer
        );
        let open = without.replace("  finished: '2025-02-21T00:12:07Z'\n", "");
        assert_eq!(outline_of(&read(open.as_bytes()).unwrap()).standing, RecordedState::Waiting);
    }

    #[test]
    fn foreign_trees_stay_facts_and_edited_indices_are_dropped() {
        for (from, to) in [
            ("parent: 3,", "parent: 9,"),
            ("thought: I look., item", "idea: x, item"),
            ("    nodes:\n", "    noodles:\n"),
        ] {
            let run = read(FILE.replace(from, to).as_bytes()).unwrap();
            assert!(
                run.tree.is_none() && run.facts.iter().any(|(key, _)| key == "run.tree"),
                "{from}"
            );
        }
        let run = read(FILE.replace("name: count_for_x", "name: other").as_bytes()).unwrap();
        assert_eq!(run.tree.unwrap().nodes[3].step, None);
    }
}
