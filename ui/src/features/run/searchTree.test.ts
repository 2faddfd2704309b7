import { describe, expect, it } from "vitest";
import type { TreeRow } from "../../generated";
import {
  foldableAncestor,
  sideBranches,
  nodeTags,
  rows,
  buildTree,
  rowLabel,
  title,
} from "./searchTree";

export const node = (
  parent: number | null,
  text: string,
  change: Partial<TreeRow> = {},
): TreeRow => ({
  parent,
  kind: "call",
  text: { part: "n", bytes: text.length, text, whole: true },
  input: null,
  output: null,
  trouble: null,
  pruned: false,
  finished: false,
  step: null,
  ...change,
});
/** Start ─┬─ a ─ b ─┬─ c ; d ─ e (the final path). */
const NODES = [
  node(null, "", { kind: "root" }),
  node(0, "a"),
  node(1, "b", { pruned: false }),
  node(2, "c", { pruned: true, trouble: "Gave up" }),
  node(2, "c2"),
  node(0, "d", { step: 2 }),
  node(5, "e", { step: 3, finished: true }),
];
const told = (folded = new Set<number>()) =>
  rows(buildTree(NODES), folded).map(
    (row) => `${" ".repeat(row.level)}${title(row.node)}${row.folds ? (row.open ? "-" : "+") : ""}`,
  );

describe("what was tried", () => {
  it("is indented where the way parts, and a chain stays where it is", () => {
    expect(told()).toEqual(["Start-", " a-", " b-", "  c", "  c2", " d-", " e"]);
  });
  it("folds what lies below, and all that is not on the way at once", () => {
    expect(told(new Set([1]))).toEqual(["Start-", " a+", " d-", " e"]);
    expect([...sideBranches(buildTree(NODES))]).toEqual([1]);
    expect(rows(buildTree(NODES), new Set([1])).find((row) => row.index === 1)?.below).toBe(3);
  });
  it("says how each ended in words and signs, and whether it counts", () => {
    expect(nodeTags(NODES[3]!).map((mark) => mark.word)).toEqual(["✕ gave up", "⊘ pruned"]);
    const all = rows(buildTree(NODES), new Set([1]));
    expect(rowLabel(all[1]!)).toBe("Call of a, on another branch, 3 more steps folded");
    expect(rowLabel(all[3]!)).toBe("Call of e, on the final path, step 4, answered");
  });
  it("leads to the head of the way a node is on", () => {
    const all = rows(buildTree(NODES), new Set());
    expect(foldableAncestor(all, buildTree(NODES), 6)?.index).toBe(5);
    expect(foldableAncestor(all, buildTree(NODES), 5)?.index).toBe(0);
    expect(foldableAncestor(all, buildTree(NODES), 0)).toBeUndefined();
  });
  it("takes a long chain, nothing, and parents that cannot be", () => {
    const chain = Array.from({ length: 20_000 }, (_, at) =>
      node(at === 0 ? null : at - 1, `n${at}`),
    );
    expect(rows(buildTree(chain), new Set()).length).toBe(20_000);
    expect(rows(buildTree([]), new Set())).toEqual([]);
    expect(rows(buildTree([node(null, "r"), node(7, "x"), node(1, "y")]), new Set()).length).toBe(
      1,
    );
  });
});
