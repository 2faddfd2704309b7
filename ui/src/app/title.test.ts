import { expect, it } from "vitest";
import { runRow } from "../testing/fakeBackend";
import { OVERVIEW, RUNS, runRoute } from "./route";
import { pageTitle } from "./title";

const RUN = runRow(0, {
  task: "churn",
  variation: 1,
  variation_name: null,
  repeat: 2,
  system: "promptql",
  model: "o1",
});

it.each([
  [OVERVIEW, "b", undefined, "Overview – b – Touchstone"],
  [{ ...RUNS, q: " model:o1 " }, "b", undefined, "Runs: model:o1 – b – Touchstone"],
  [{ place: "start" as const }, null, undefined, "Start – Touchstone"],
  [runRoute("r0"), "b", RUN, "churn variation 1 run 2 · promptql · o1 – b – Touchstone"],
  [runRoute("r0"), "b", { ...RUN, task: null, path: "x/y.yaml" }, "x/y.yaml – b – Touchstone"],
  [
    runRoute("r0"),
    "b",
    { ...RUN, task: null, prompt: "Fix x.", path: "a.jsonl#1" },
    "Fix x. – b – Touchstone",
  ],
  [{ ...runRoute("r0"), q: "state:error" }, "b", undefined, "Run – b – Touchstone"],
  [{ ...RUNS, q: "a\u202eb" }, "b", undefined, "Runs: a‹U+202E›b – b – Touchstone"],
])("the title of %j says place, run and folder", (route, folder, run, title) =>
  expect(pageTitle(route, folder, run)).toBe(title),
);
