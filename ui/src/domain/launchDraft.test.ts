import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BLANK_DRAFT,
  parseDollars,
  draftForRuns,
  draftToRerun,
  toggled,
  nextMissingChoice,
  MAX_CONCURRENCY,
  MAX_REPEATS,
  MAX_STEPS,
  readDraft,
  launchRequest,
  parseCount,
  withSoleChoices,
  writeDraft,
  type LaunchDraft,
} from "./launchDraft";
import type { RunRow } from "../generated";
import { choice, OPTIONS } from "../testing/launch";

const names = fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 4 });
export const draft: fc.Arbitrary<LaunchDraft> = fc.record({
  runs: fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,12}$/), { maxLength: 4 }),
  cells: fc.uniqueArray(
    fc.record({
      task: fc.string({ unit: "binary", minLength: 1 }),
      variation: fc.option(fc.nat(999_999)),
      system: fc.string({ unit: fc.constantFrom("a", "|", "%", "7C", "é"), minLength: 1 }),
      model: fc.string({ unit: "binary", minLength: 1 }),
    }),
    { maxLength: 3, selector: (cell) => JSON.stringify(cell) },
  ),
  find: fc.string({ unit: "binary" }),
  tasks: names,
  systems: names,
  models: names,
  variations: fc.uniqueArray(fc.nat(999_999), { maxLength: 4 }),
  repeats: fc.option(fc.integer({ min: 1, max: MAX_REPEATS })),
  startOver: fc.boolean(),
  anyway: fc.boolean(),
  concurrency: fc.option(fc.integer({ min: 1, max: MAX_CONCURRENCY })),
  maxCost: fc.option(fc.integer({ min: 1, max: 9_999_999 }).map((cents) => cents / 100)),
  method: fc.constantFrom("", "CoT@1", "DFS_woFilter_w2"),
  offer: fc.constantFrom("", "all", "query", "top-20"),
  steps: fc.option(fc.integer({ min: 1, max: MAX_STEPS })),
  userModel: fc.string({ unit: "binary" }),
  queries: fc.option(fc.integer({ min: 1, max: MAX_STEPS })),
});
const written = (one: LaunchDraft) => {
  const asked = new URLSearchParams();
  writeDraft(one, asked);
  return asked.toString();
};

it("ended runs start over, and unfinished ones are continued", () => {
  const run = (id: string, state: RunRow["state"]) => ({ id, state });
  const over = (...runs: Parameters<typeof draftToRerun>[0]) => draftToRerun(runs).startOver;
  expect(draftToRerun([run("a", "answered")]).runs).toEqual(["a"]);
  expect(over(run("a", "answered"), run("b", "no_answer"))).toBe(true);
  expect(over(run("a", "answered"), run("b", "waiting"))).toBe(false);
  expect(over(run("a", "error"))).toBe(false);
});

describe("a draft in the address", () => {
  it("reads back the same", () => {
    fc.assert(
      fc.property(
        draft,
        (one) => void expect(readDraft(new URLSearchParams(written(one)))).toEqual(one),
      ),
    );
  });
  it("leaves out what is as usual", () => {
    expect(written(BLANK_DRAFT)).toBe("");
    expect(written(draftForRuns(["a", "b"]))).toBe("runs=a%2Cb");
  });
  it("of any other shape is some draft and never a crash", () => {
    fc.assert(
      fc.property(
        fc.webQueryParameters(),
        (query) => void launchRequest(readDraft(new URLSearchParams(query)), OPTIONS),
      ),
    );
    expect(
      readDraft(new URLSearchParams("repeat=0&at=-1&max=0&variation=a,1,,1&over=yes")),
    ).toEqual({ ...BLANK_DRAFT, variations: [1] });
  });
});

const USUAL = { user_model: null, method: null, offer: null, steps: null, queries: null };
describe("a request", () => {
  it("of just some runs has no matrix, and one of a matrix names no runs", () => {
    const whole: LaunchDraft = {
      ...BLANK_DRAFT,
      tasks: ["t"],
      systems: ["s"],
      models: ["m"],
      variations: [2, 0],
      repeats: 3,
      startOver: true,
      concurrency: 8,
    };
    expect(launchRequest(whole, OPTIONS)).toEqual({
      runs: [],
      cells: [],
      tasks: ["t"],
      systems: ["s"],
      models: ["m"],
      variations: [0, 2],
      repeats: 3,
      start_over: true,
      anyway: false,
      concurrency: 8,
      max_cost: null,
      shard: null,
      ...USUAL,
    });
    expect(launchRequest({ ...whole, runs: ["r1"] }, OPTIONS)).toEqual({
      runs: ["r1"],
      cells: [],
      tasks: [],
      systems: [],
      models: [],
      variations: [],
      repeats: null,
      start_over: true,
      anyway: false,
      concurrency: 8,
      max_cost: null,
      shard: null,
      ...USUAL,
    });
  });
  it("of just some cells has no matrix either, and runs that are named go before cells", () => {
    const cell = { task: "a|b", variation: null, system: "s", model: "m" };
    const cells = draftForRuns([], { cells: [cell], tasks: ["t"], systems: ["s"], models: ["m"] });
    expect(launchRequest(cells, OPTIONS)).toMatchObject({
      runs: [],
      cells: [cell],
      tasks: [],
      systems: [],
      models: [],
    });
    expect(launchRequest({ ...cells, runs: ["r1"] }, OPTIONS)).toMatchObject({
      runs: ["r1"],
      cells: [],
    });
    expect(nextMissingChoice(cells)).toBeNull();
    expect(withSoleChoices(cells, OPTIONS)).toEqual(cells);
    expect(written(draftForRuns([], { cells: [cell] }))).toBe("cell=s%7Cm%7C%7Ca%7Cb");
  });
  it("carries the limit of the workspace file, unless another was written", () => {
    expect(launchRequest(BLANK_DRAFT, { max_cost: 5 }).max_cost).toBe(5);
    expect(launchRequest({ ...BLANK_DRAFT, maxCost: 2 }, { max_cost: 5 }).max_cost).toBe(2);
  });
  it("needs a system and a model, or runs", () => {
    expect([
      nextMissingChoice(BLANK_DRAFT),
      nextMissingChoice({ ...BLANK_DRAFT, systems: ["s"] }),
      nextMissingChoice({ ...BLANK_DRAFT, models: ["m"] }),
      nextMissingChoice({ ...BLANK_DRAFT, systems: ["s"], models: ["m"] }),
      nextMissingChoice(draftForRuns(["r"])),
    ]).toEqual(["Choose a system and a model.", "Choose a model.", "Choose a system.", null, null]);
  });
  it("is filled with what there is no choice about, and with nothing that cannot be used", () => {
    const options = {
      ...OPTIONS,
      systems: [choice("promptql", "", "no"), choice("tool_calling")],
      models: [choice("a"), choice("b")],
    };
    expect(withSoleChoices(BLANK_DRAFT, options)).toEqual({
      ...BLANK_DRAFT,
      systems: ["tool_calling"],
    });
    expect(withSoleChoices(draftForRuns(["r"]), options)).toEqual(draftForRuns(["r"]));
  });
});

describe("what is typed", () => {
  it.each([
    ["", null],
    ["0", null],
    ["1", 1],
    [" 12 ", 12],
    ["1.5", null],
    ["-1", null],
    ["1001", null],
    ["x", null],
  ])("%j is so many: %j", (word, value) => expect(parseCount(word, 1_000)).toBe(value));
  it.each([
    ["", null],
    ["0", null],
    ["0.0", null],
    ["2", 2],
    ["2.50", 2.5],
    [".5", 0.5],
    ["-1", null],
    ["$2", null],
    ["1e3", null],
  ])("%j is so many dollars: %j", (word, value) => expect(parseDollars(word)).toBe(value));
  it("goes in and out of a list", () =>
    expect([toggled(["a"], "b"), toggled(["a", "b"], "a")]).toEqual([["a", "b"], ["b"]]));
});
