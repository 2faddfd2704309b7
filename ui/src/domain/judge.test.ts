import { expect, it } from "vitest";
import type { JudgePlan, JudgingView } from "../generated";
import { judge } from "../testing/judge";
import {
  describeJudge,
  judgeRequest,
  describeRates,
  searchJudges,
  judgeName,
  describeSelection,
  formatThreshold,
  formatEstimate,
} from "./judge";

const PLAN: JudgePlan = {
  model: "m",
  rounds: 3,
  runs: 2,
  unasked: 0,
  complete: 0,
  skipped: [],
  skipped_total: 0,
  forks_left_out: 0,
  calls_least: 6,
  calls_most: 12,
  tokens_least: 1_200,
  tokens_most: 5_000,
  cost_least: 0.01,
  cost_most: 0.04,
  unbound: null,
};

it("says what it takes from the least to the most, and never takes an unknown price for nothing", () => {
  expect(formatEstimate(PLAN)).toBe(
    "6 to 12 requests · about 1.2k to 5.0k tokens · about $0.0100 to $0.0400",
  );
  expect(
    formatEstimate({ ...PLAN, calls_least: 1, calls_most: 1, cost_least: null, cost_most: null }),
  ).toBe("1 request · about 1.2k to 5.0k tokens · cost unknown: the model has no price");
});

it("says an amount once where the least and the most read the same", () => {
  expect(
    formatEstimate({
      ...PLAN,
      calls_least: 7,
      calls_most: 7,
      tokens_least: 1_201,
      tokens_most: 1_202,
      cost_least: 0.000_001,
      cost_most: 0.000_04,
    }),
  ).toBe("7 requests · about 1.2k tokens · about <$0.0001");
});

it("names the runs that are not asked about", () => {
  expect(describeSelection(PLAN)).toBe("2 runs");
  expect(
    describeSelection({
      ...PLAN,
      runs: 1,
      unasked: 1,
      complete: 3,
      skipped_total: 4,
      forks_left_out: 2,
    }),
  ).toBe(
    "1 run · 1 without an answer, judged without a request · 3 already judged · 4 cannot be judged · 2 forks or continued runs left out",
  );
});

it("tells the rate with and without the runs that have no answer", () => {
  const view = (rates: JudgingView["rates"]) => ({ rates }) as JudgingView;
  expect(describeRates(view(null))).toBe("");
  expect(
    describeRates(
      view({
        runs: 4,
        without_answer: 1,
        mean: 0.5,
        spread: 0.047,
        mean_of_answered: 2 / 3,
        pairs: null,
        own: null,
        passed: null,
      }),
    ),
  ).toBe("mean 0.50 ± 0.05 of 4 runs; 0.67 of the 3 with an answer");
  expect(
    describeRates(
      view({
        runs: 3,
        without_answer: 0,
        mean: 0.5,
        spread: 0,
        mean_of_answered: 0.5,
        pairs: null,
        own: null,
        passed: null,
      }),
    ),
  ).toBe("mean 0.50 ± 0.00 of 3 runs");
});

it("tells of pairs how many were won", () => {
  const rates = {
    runs: 4,
    without_answer: 0,
    mean: 0.6,
    spread: 0,
    mean_of_answered: 0.6,
    pairs: { win: 0.5, lose: 0.25, tie: 0.25 },
    own: null,
    passed: null,
  };
  expect(describeRates({ rates } as JudgingView)).toBe(
    "50.0 % won, 25.0 % lost, 25.0 % tied, of 4 pairs",
  );
});

it("tells the mean on the scale of the judge with its interval, and how many pass", () => {
  const rates = {
    runs: 10,
    without_answer: 0,
    mean: 0.7,
    spread: 0.1,
    mean_of_answered: 0.7,
    pairs: null,
    own: { mean: 3.8, interval: [3.14, 4.36] as [number, number], told: "3.8 of 5" },
    passed: { passed: 7, runs: 10, interval: [0.397, 0.892] as [number, number] },
  };
  expect(describeRates({ rates } as JudgingView)).toBe(
    "mean 3.8 of 5 [3.1 to 4.4]; as a score 0.70 ± 0.10 of 10 runs; 7 of 10 pass [40 to 89 %]",
  );
});

it("says how a judge speaks, what it needs, and whose threshold counts", () => {
  const stars = judge("relevance", "Is it about that?", 1, false, {
    scale: "1–5",
    needs: "a question and an answer",
    threshold: "from 3 of 5",
  });
  expect(describeJudge(stars)).toBe(
    "scale: 1–5 · passes from 3 of 5 · needs a question and an answer",
  );
  expect(describeJudge({ ...stars, safety: true, suite_threshold: "from 4 of 5" })).toBe(
    "scale: 1–5 · passes from 4 of 5, set by the suites · needs a question and an answer · a local judge, not the hosted service",
  );
  expect(formatThreshold({ threshold: null, of_suite: false })).toBe("");
  expect(formatThreshold({ threshold: "up to 3 of 7", of_suite: true })).toBe(
    "up to 3 of 7, set by the suite",
  );
  expect(judgeName("judge:relevance 2")).toBe("relevance");
});

it("finds a judge by its name, by what it asks, and by what it belongs to", () => {
  const all = [
    judge("self_harm", "Does it speak for hurting oneself?", 1, false, { group: "Safety" }),
    judge("fluency", "How well is it written?", 1, false),
  ];
  const names = (typed: string) => searchJudges(all, typed).map((one) => one.name);
  expect([
    names("self harm"),
    names("WRITTEN well"),
    names("safety"),
    names("odd"),
    names(" "),
  ]).toEqual([["self_harm"], ["fluency"], ["self_harm"], [], ["self_harm", "fluency"]]);
});

it("sends the runs that are meant, or the filter", () => {
  const choices = {
    judge: "sopr",
    model: "m",
    rounds: null,
    official: false,
    again: false,
    max_cost: null,
    reference: "",
  };
  expect(judgeRequest({ runs: ["a"], filter: "", what: "this run" }, choices)).toEqual({
    ...choices,
    runs: ["a"],
    filter: "",
  });
});
