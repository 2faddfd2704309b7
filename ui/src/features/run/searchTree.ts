// Pure. What a run tried, as rows that fold: nodes in the order in which they were tried, indented where the way parts.
import { counted } from "../../domain/format";
import type { TreeRow } from "../../generated/TreeRow";
import { visibleLine } from "../../components/visible/visible";

/** A node as a row of the list. */
export interface Row {
  /** Place of the node among all nodes. */
  index: number;
  node: TreeRow;
  /** How often the way parted before it. */
  level: number;
  /** More than one way goes on from here. */
  parts: boolean;
  /** It begins a way, and more follows: it can be folded. */
  folds: boolean;
  open: boolean;
  /** How many nodes lie below it. */
  below: number;
  /** On the way that counts. */
  onWay: boolean;
}

/** The shape of all nodes, worked out once. */
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
  // Those below stand after those above.
  for (let at = nodes.length - 1; at > 0; at--) {
    const parent = nodes[at]?.parent ?? null;
    if (parent === null || parent >= at) continue;
    below[parent] = (below[parent] ?? 0) + 1 + (below[at] ?? 0);
    if (onWay[at]) onWay[parent] = true;
  }
  return { nodes, children, below, onWay };
}

/** The rows in sight, those below a folded one left out. Does not recurse, for runs are long. */
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

/** With this node folded, or unfolded when it was. */
export function toggled(folded: ReadonlySet<number>, index: number): Set<number> {
  const next = new Set(folded);
  if (!next.delete(index)) next.add(index);
  return next;
}

/** Everything folded that leaves the way that counts. */
export function sideBranches(tree: TreeShape): Set<number> {
  const folded = new Set<number>();
  tree.children.forEach((children, at) => {
    if (children.length < 2 || !tree.onWay[at]) return;
    for (const child of children)
      if (!tree.onWay[child] && (tree.children[child]?.length ?? 0) > 0) folded.add(child);
  });
  return folded;
}

/** What a node is, in a word or a few: the name of a tool, the beginning of a thought. */
export function title(node: TreeRow): string {
  const text = visibleLine(node.text.text.replace(/\s+/g, " ").trim());
  if (node.kind === "root") return text === "" ? "Start" : text;
  return text === ""
    ? node.kind === "thought"
      ? "(nothing said)"
      : "(no name)"
    : text + (node.kind === "thought" && !node.text.whole ? "…" : "");
}

/** How it ended, where that is worth a word. */
export function nodeTags(node: TreeRow): { tone: "right" | "wrong" | "muted"; word: string }[] {
  const found: { tone: "right" | "wrong" | "muted"; word: string }[] = [];
  if (node.finished) found.push({ tone: "right", word: "✓ answered" });
  if (node.trouble !== null)
    found.push({ tone: "wrong", word: `✕ ${visibleLine(node.trouble).toLowerCase()}` });
  if (node.pruned) found.push({ tone: "muted", word: "⊘ pruned" });
  return found;
}

/** All of a row, as it is read out. */
export function rowLabel(row: Row): string {
  const kind = { root: "", thought: "Thought: ", call: "Call of ", finish: "Call of " }[
    row.node.kind
  ];
  const way =
    row.node.kind === "root"
      ? ""
      : row.node.step === null
        ? ", beside the way that counts"
        : `, on the way that counts, step ${row.node.step + 1}`;
  const ends = nodeTags(row.node).map((mark) => `, ${mark.word.slice(2)}`);
  return `${kind}${title(row.node)}${way}${ends.join("")}${row.folds && !row.open ? `, ${counted(row.below, "more step")} folded` : ""}`;
}

/** The nearest node above that can be folded. */
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
