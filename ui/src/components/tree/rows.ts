// Pure. Rows of a tree on screen, given the open branches.
import { unquote, type Node } from "./parse";

export interface TreeRow {
  /** Identifies the node: positions from the root, joined by dots. */
  path: string;
  depth: number;
  /** Key or index within the parent; empty for the root. */
  name: string;
  node: Node;
  open: boolean;
  /** Number of hidden children, for a row that stands for them. */
  more: number;
}

/** Children shown per branch before the rest is hidden behind a row. */
export const FIRST_CHILDREN = 100;

/** Branches open by default: level by level, within about `budget` rows. */
export function openAtFirst(root: Node, budget: number): Set<string> {
  const open = new Set<string>();
  let level: [string, Node][] = [["", root]];
  let rows = 1;
  while (level.length > 0) {
    const branches = level.filter(([, node]) => size(node) > 0);
    const added = branches.reduce((sum, [, node]) => sum + size(node), 0);
    if (branches.length === 0 || (rows + added > budget && open.size > 0)) break;
    branches.forEach(([path]) => open.add(path));
    rows += added;
    level =
      rows > budget
        ? []
        : branches.flatMap(([path, node]) =>
            children(node).map((child, i): [string, Node] => [step(path, i), child]),
          );
  }
  return open;
}

/** The rows from top to bottom. `shown` overrides the number of visible children per branch. */
export function treeRows(
  root: Node,
  open: ReadonlySet<string>,
  shown: ReadonlyMap<string, number>,
): TreeRow[] {
  const rows: TreeRow[] = [];
  const todo: TreeRow[] = [
    { path: "", depth: 0, name: "", node: root, open: open.has(""), more: 0 },
  ];
  for (let row = todo.pop(); row; row = todo.pop()) {
    rows.push(row);
    if (!row.open || row.more > 0) continue;
    const { path, depth, node } = row;
    const items = children(node);
    const limit = Math.min(items.length, shown.get(path) ?? FIRST_CHILDREN);
    if (limit < items.length)
      todo.push({
        path,
        depth: depth + 1,
        name: "",
        node,
        open: false,
        more: items.length - limit,
      });
    for (let i = limit - 1; i >= 0; i--) {
      const child = items[i];
      if (!child) continue;
      const at = step(path, i);
      todo.push({
        path: at,
        depth: depth + 1,
        name: node.kind === "object" ? (node.keys[i] ?? "") : String(i),
        node: child,
        open: open.has(at),
        more: 0,
      });
    }
  }
  return rows;
}

/** The set with the key toggled. */
export function flipped(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** Shows five times as many children of a branch. */
export function moreOf(
  shown: ReadonlyMap<string, number>,
  path: string,
): ReadonlyMap<string, number> {
  return new Map(shown).set(path, (shown.get(path) ?? FIRST_CHILDREN) * 5);
}

/** Number of children. */
export function size(node: Node): number {
  return node.kind === "leaf" ? 0 : node.items.length;
}

/** A closed branch in one line: its size and its beginning. */
export function summary(node: Node, width = 60): string {
  if (node.kind === "leaf") return node.leaf === "string" ? unquote(node.raw) : node.raw;
  if (size(node) === 0) return node.kind === "list" ? "[]" : "{}";
  const bits: string[] = [];
  for (let i = 0, length = 0; i < node.items.length && length < width; i++) {
    const item = node.items[i];
    if (!item) break;
    const text = item.kind === "leaf" ? item.raw : item.kind === "list" ? "[…]" : "{…}";
    const bit = node.kind === "object" ? `${node.keys[i] ?? ""}: ${text}` : text;
    length += bit.length + 2;
    bits.push(length > width ? `${bit.slice(0, Math.max(1, width - length + bit.length))}…` : bit);
  }
  const rest = bits.length < size(node) ? ", …" : "";
  return node.kind === "list" ? `[${bits.join(", ")}${rest}]` : `{${bits.join(", ")}${rest}}`;
}

function children(node: Node): Node[] {
  return node.kind === "leaf" ? [] : node.items;
}

function step(path: string, i: number): string {
  return path === "" ? String(i) : `${path}.${i}`;
}
