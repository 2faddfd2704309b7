// Pure. The search tree as foldable rows: nodes in order of exploration, indented at branches.
import { counted } from "../../domain/format";
import type { TreeRow } from "../../generated";
import { visibleLine } from "../../components/visible/visible";

/** A node as a row of the list. */
export interface Row {
  /** Index of the node. */
  index: number;
  node: TreeRow;
  /** Number of branch points above it. */
  level: number;
  /** Several branches continue from here. */
  parts: boolean;
  /** It starts a branch with further nodes, so it can be folded. */
  folds: boolean;
  open: boolean;
  /** Number of nodes below it. */
  below: number;
  /** On the final path. */
  onWay: boolean;
}

/** The structure of all nodes, computed once. */
export interface TreeShape {
  nodes: readonly TreeRow[];
  children: readonly (readonly number[])[];
  below: readonly number[];
  onWay: readonly boolean[];
}

export function buildTree(nodes: readonly TreeRow[]): TreeShape {
  const children: number[][] = nodes.map(() => []);
  const below: number[] = nodes.map(() => 0);
  const onWay = nodes.map((node) => node.step !== null);
  nodes.forEach((node, at) => {
    if (node.parent !== null && node.parent < at) children[node.parent]?.push(at);
  });
  // Children come after their parents.
  for (let at = nodes.length - 1; at > 0; at--) {
    const parent = nodes[at]?.parent ?? null;
    if (parent === null || parent >= at) continue;
    below[parent] = (below[parent] ?? 0) + 1 + (below[at] ?? 0);
    if (onWay[at]) onWay[parent] = true;
  }
  return { nodes, children, below, onWay };
}

/** The visible rows, without those below a folded one. Not recursive, because runs are long. */
export function rows(tree: TreeShape, folded: ReadonlySet<number>): Row[] {
  const found: Row[] = [];
  const open: [index: number, level: number, begins: boolean][] =
    tree.nodes.length > 0 ? [[0, 0, true]] : [];
  for (let next = open.pop(); next; next = open.pop()) {
    const [index, level, begins] = next;
    const node = tree.nodes[index];
    const children = tree.children[index] ?? [];
    if (!node) continue;
    const parts = children.length > 1;
    const folds = children.length > 0 && (begins || parts);
    const isOpen = !folded.has(index);
    found.push({
      index,
      node,
      level,
      parts,
      folds,
      open: isOpen,
      below: tree.below[index] ?? 0,
      onWay: tree.onWay[index] ?? false,
    });
    if (isOpen)
      for (const child of children.toReversed()) open.push([child, level + (parts ? 1 : 0), parts]);
  }
  return found;
}

/** The set with the node toggled. */
export function toggled(folded: ReadonlySet<number>, index: number): Set<number> {
  const next = new Set(folded);
  if (!next.delete(index)) next.add(index);
  return next;
}

/** Folds all branches off the final path. */
export function sideBranches(tree: TreeShape): Set<number> {
  const folded = new Set<number>();
  tree.children.forEach((children, at) => {
    if (children.length < 2 || !tree.onWay[at]) return;
    for (const child of children)
      if (!tree.onWay[child] && (tree.children[child]?.length ?? 0) > 0) folded.add(child);
  });
  return folded;
}

/** Title of a node: name of the tool or beginning of the thought. */
export function title(node: TreeRow): string {
  const text = visibleLine(node.text.text.replace(/\s+/g, " ").trim());
  if (node.kind === "root") return text === "" ? "Start" : text;
  return text === ""
    ? node.kind === "thought"
      ? "(empty)"
      : "(no name)"
    : text + (node.kind === "thought" && !node.text.whole ? "…" : "");
}

/** Tags for the outcome of a node. */
export function nodeTags(node: TreeRow): { tone: "right" | "wrong" | "muted"; word: string }[] {
  const found: { tone: "right" | "wrong" | "muted"; word: string }[] = [];
  if (node.finished) found.push({ tone: "right", word: "✓ answered" });
  if (node.trouble !== null)
    found.push({ tone: "wrong", word: `✕ ${visibleLine(node.trouble).toLowerCase()}` });
  if (node.pruned) found.push({ tone: "muted", word: "⊘ pruned" });
  return found;
}

/** The row as read by screen readers. */
export function rowLabel(row: Row): string {
  const kind = { root: "", thought: "Thought: ", call: "Call of ", finish: "Call of " }[
    row.node.kind
  ];
  const way =
    row.node.kind === "root"
      ? ""
      : row.node.step === null
        ? ", on another branch"
        : `, on the final path, step ${row.node.step + 1}`;
  const ends = nodeTags(row.node).map((mark) => `, ${mark.word.slice(2)}`);
  return `${kind}${title(row.node)}${way}${ends.join("")}${row.folds && !row.open ? `, ${counted(row.below, "more step")} folded` : ""}`;
}

/** The nearest foldable node above. */
export function foldableAncestor(
  all: readonly Row[],
  tree: TreeShape,
  index: number,
): Row | undefined {
  const shown = new Map(all.map((row) => [row.index, row]));
  for (
    let at = tree.nodes[index]?.parent ?? null;
    at !== null;
    at = tree.nodes[at]?.parent ?? null
  ) {
    const row = shown.get(at);
    if (row?.folds) return row;
  }
  return undefined;
}
