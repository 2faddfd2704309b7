import { expect, it } from "vitest";
import {
  filterOf,
  finishedOnly,
  formatOrder,
  isFinishedOnly,
  parseOrder,
  progressText,
  queueSummary,
  verdictsText,
  withUnfinished,
} from "./reviewQueue";

it("an order is read as it is written, and anything else is none", () => {
  for (const word of ["list", "unreviewed", "random.42"]) {
    const order = parseOrder(word);
    expect(order === null ? null : formatOrder(order)).toBe(word);
  }
  for (const word of [null, "", "random", "random.x", "random.-1", "Random.1"])
    expect(parseOrder(word)).toBeNull();
});

it("a selection becomes a filter of whole paths, unless it is too large for one", () => {
  expect(filterOf(["a/b-run1.yaml", "last 20_run_1", "x.json#5"])).toBe(
    'file:a/b-run1.yaml,"last 20_run_1","x.json#5"',
  );
  const many = (n: number) => Array.from({ length: n }, (_, at) => `r${at}.yaml`);
  expect(filterOf(many(64))).not.toBeNull();
  expect(filterOf(many(65))).toBeNull();
  expect(filterOf(["x".repeat(8_000)])).toBeNull();
  expect(filterOf([])).toBeNull();
});

it("progress names what was said, and leaves out what was not", () => {
  const progress = { total: 1_200, reviewed: 8, right: 6, partly: 0, wrong: 1 };
  expect(progressText(progress)).toBe("8 of 1,200 reviewed");
  expect(verdictsText(progress)).toBe("6 right, 1 wrong");
  expect(verdictsText({ right: 0, partly: 0, wrong: 0 })).toBe("");
});

it("the summary of a queue counts the verdicts that were given in it", () => {
  expect(queueSummary(["right", "wrong", "right"])).toBe("Reviewed 3 runs: 2 right, 1 wrong.");
  expect(queueSummary(["partly"])).toBe("Reviewed 1 run: 1 partly right.");
  expect(queueSummary([])).toBe("");
});

it("leaves unfinished runs out of a queue, unless its filter asks for states", () => {
  for (const [q, finished] of [
    ["", "state:answered,no_answer"],
    ["model:o1", "model:o1 state:answered,no_answer"],
    ["-state:error", "-state:error"],
    ["model:o1 (state:error or x)", "model:o1 (state:error or x)"],
  ] as const) {
    expect(finishedOnly(q)).toBe(finished);
    expect(withUnfinished(finished)).toBe(q);
  }
  expect(isFinishedOnly("state:error")).toBe(false);
});
