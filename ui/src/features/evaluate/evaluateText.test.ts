import { describe, expect, it } from "vitest";
import { evaluatePlan, evaluation } from "../../testing/evaluate";
import {
  reuseChoices,
  areThreads,
  groupByEvaluator,
  formatFigure,
  formatInterval,
  formatScore,
  metricWord,
  describeReused,
  describeFixes,
  formatPaid,
  formatPlan,
  describeMissing,
  evaluationState,
} from "./evaluateText";

describe("numbers of an evaluation", () => {
  it("have as many places as tell them apart, and none is made of what is none", () => {
    expect(
      [null, 0, 3, 0.5, 0.41233, 3.8541, 12.345, 250.25, 12_345.6, 0.00001].map(formatFigure),
    ).toEqual(["–", "0", "3", "0.5000", "0.4123", "3.8541", "12.35", "250.3", "12,346", "1.0e-5"]);
    expect([formatInterval(null), formatInterval([0.2, 0.8])]).toEqual(["–", "0.2000 to 0.8000"]);
  });
  it("of rows have three decimals, and words stay", () =>
    expect(
      [null, "4.0", "0.65", "0.36363636363636365", "-0.12345", "unsafe"].map(formatScore),
    ).toEqual(["–", "4.0", "0.65", "0.364", "-0.123", "unsafe"]));
  it("are called the mean and the pass rate of their evaluator", () =>
    expect(["f1", "binary_aggregate", "recall"].map((name) => metricWord("f1", name))).toEqual([
      "mean",
      "pass rate",
      "recall",
    ]));
  it("stand together by evaluator, in the order of the file", () => {
    const metric = (name: string) => ({ name, value: 1, interval: null, n: 1, left_out: 0 });
    const groups = groupByEvaluator(["a.b.x", "c.x", "a.b.y", "plain"].map(metric));
    expect(groups.map((group) => [group.evaluator, group.metrics.map((one) => one.short)])).toEqual(
      [
        ["a.b", ["x", "y"]],
        ["c", ["x"]],
        ["", ["plain"]],
      ],
    );
  });
});

describe("a data file", () => {
  it.each([
    [["messages"], true],
    [["id", "role", "content"], true],
    [["role"], false],
    [["messages", "response"], false],
    [["conversation", "messages"], false],
    [["query", "response"], false],
  ])("with the columns %j holds threads: %s", (columns, threads) =>
    expect(areThreads(columns)).toBe(threads),
  );
});

describe("what it takes", () => {
  it("says that nothing is asked, or from the least to the most", () => {
    expect(formatPlan(evaluatePlan())).toBe("No API calls");
    expect(formatPlan(evaluatePlan({ kept: 8 }))).toBe("No API calls: all replies are reused");
    expect(
      formatPlan(
        evaluatePlan({
          calls_least: 8,
          calls_most: 16,
          tokens_least: 1_200,
          tokens_most: 5_000,
          cost_least: null,
          cost_most: null,
        }),
      ),
    ).toBe("8 to 16 requests · about 1.2k to 5.0k tokens · cost unknown: the model has no price");
    expect([describeReused(0), describeReused(1), describeReused(3)]).toEqual([
      "",
      "1 existing reply reused",
      "3 existing replies reused",
    ]);
  });
  it("says how many requests where a target has yet to say what they are about", () =>
    expect(
      formatPlan(evaluatePlan({ calls_most: 12, tokens_least: null, tokens_most: null })),
    ).toBe("12 requests at most"));
  it("offers to ask once more what could not be read, where there is any", () => {
    expect(reuseChoices(0, "nothing").map(([one]) => one)).toEqual(["nothing", "all"]);
    expect(reuseChoices(0, "unread").map(([one]) => one)).toEqual(["nothing", "unread", "all"]);
    expect(reuseChoices(2, "nothing")[1]).toEqual([
      "unread",
      "reuse, but repeat 2 unreadable rounds",
    ]);
  });
  it("says what can be done about what is missing, where there is a file to be replaced", () => {
    expect(describeFixes(evaluation("e"))).toEqual([]);
    expect(describeFixes(evaluation("e", { missing: 1, unread: 1, file: null }))).toEqual([]);
    const both = describeFixes(evaluation("e", { missing: 1, unread: 1 }));
    expect(both).toHaveLength(2);
    expect(both[0]).toBe(
      "1 result is missing because of failed requests. Evaluate again and replace the file to request only these.",
    );
  });
  it("took what is known, and an unknown price is no nought", () => {
    expect(formatPaid(evaluation("e"))).toBe("no API calls");
    expect(formatPaid(evaluation("e", { calls: 3, tokens: 1_200, cost: 0.5, max_cost: 2 }))).toBe(
      "3 replies · 1.2k tokens · $0.500 of $2.00",
    );
    expect(formatPaid(evaluation("e", { calls: 3, tokens: 1_200, unpriced: true }))).toBe(
      "3 replies · 1.2k tokens · cost unknown",
    );
  });
});

describe("the state of an evaluation", () => {
  const view = (done: number, failed: number) => ({ state: "done" as const, done, failed });
  it("is not done well where nothing, or not all, has a result", () =>
    expect(
      [view(3, 0), view(2, 1), view(0, 3)].map((one) => Object.values(evaluationState(one))),
    ).toEqual([
      ["Done", "right"],
      ["Done", "part"],
      ["No results", "err"],
    ]));
  it("names the tone of a failure", () =>
    expect([
      evaluationState(view(0, 3)).tone,
      evaluationState({ state: "running", done: 0, failed: 3 }).word,
    ]).toEqual(["err", "Running"]));
  it("says the most frequent reason of missing results", () =>
    expect([
      describeMissing({ failed: 81, main_reason: "`response` is not text." }),
      describeMissing({ failed: 1, main_reason: null }),
    ]).toEqual([
      "81 without a result, not counted; most often: `response` is not text.",
      "1 without a result, not counted",
    ]));
});
