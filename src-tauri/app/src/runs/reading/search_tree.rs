//! **Pure.** Converts the search tree of a run for the page: every node with the beginning of its
//! texts, bounded in size.
use super::PartId;
use super::pieces::short;
use touchstone_api::{TreeBrief, TreeRow, TreeRowKind, TreeText, TreeView};
use touchstone_model::run::{Run, Tree, TreeKind, TreeNode};

/// Maximum number of nodes shown; further ones are only counted.
const MAX_NODES: usize = 10_000;
/// Maximum bytes shown of a text of a node.
const MAX_TEXT: usize = 160;
/// Maximum bytes of a selection rule or an error text. Neither comes from files.
const MAX_WORDS: usize = 200;

/// Returns the numbers of the search tree; `None` if there is none.
pub(super) fn brief(run: &Run) -> Option<TreeBrief> {
    let tree = run.tree.as_ref()?;
    let tried = |node: &&TreeNode| node.kind != TreeKind::Root;
    Some(TreeBrief {
        tried: count(tree.nodes.iter().filter(tried).count()),
        on_way: count(tree.nodes.iter().filter(tried).filter(|node| node.step.is_some()).count()),
        chosen_by: tree.chosen_by.as_ref().map(|rule| short(rule, MAX_WORDS)),
    })
}

/// Returns the nodes of the search tree.
pub(super) fn view(version: &str, tree: Option<&Tree>) -> TreeView {
    let nodes = tree.map_or(&[][..], |tree| &tree.nodes);
    let rows = nodes.iter().take(MAX_NODES).enumerate().map(|(at, node)| row(at, node)).collect();
    TreeView { version: version.to_owned(), total: count(nodes.len()), nodes: rows }
}

/// Returns a text of a node, by its part number.
pub(super) fn text(run: &Run, node: usize, part: usize) -> Option<&str> {
    let node = run.tree.as_ref()?.nodes.get(node)?;
    match part {
        0 => Some(&node.text),
        1 => node.input.as_deref(),
        2 => node.output.as_deref(),
        _ => None,
    }
}

fn row(at: usize, node: &TreeNode) -> TreeRow {
    let told = |part: usize, text: &str| {
        let shown = &text[..text.floor_char_boundary(MAX_TEXT)];
        TreeText {
            part: PartId::Node(at, part).to_string(),
            bytes: text.len() as u64,
            text: shown.to_owned(),
            whole: shown.len() == text.len(),
        }
    };
    TreeRow {
        // A parent precedes its children, so it is never cut off.
        parent: node.parent,
        kind: match node.kind {
            TreeKind::Root => TreeRowKind::Root,
            TreeKind::Thought => TreeRowKind::Thought,
            TreeKind::Call => TreeRowKind::Call,
            TreeKind::Finish => TreeRowKind::Finish,
        },
        text: told(0, &node.text),
        input: node.input.as_deref().map(|text| told(1, text)),
        output: node.output.as_deref().map(|text| told(2, text)),
        trouble: node.trouble.as_ref().map(|words| short(words, MAX_WORDS)),
        pruned: node.pruned,
        finished: node.finished,
        step: node.step,
    }
}

fn count(nodes: usize) -> u32 {
    u32::try_from(nodes).unwrap_or(u32::MAX)
}
