import { describe, expect, it } from "vitest";
import type { StoredResult } from "../generated";
import { runRow } from "../testing/fakeBackend";
import {
  countVerdicts,
  describeScorer,
  importedText,
  CLASSES,
  grade,
  scoreText,
  STANDINGS,
  STORED,
  scoreBadgeBesideState,
  scoreBadge,
  verdictsBadge,
  VERDICTS,
} from "./scores";

describe("a score", () => {
  it.each([
    [1, "1.00"],
    [0, "0.00"],
    [0.3, "0.30"],
    [0.625, "0.63"],
    [0.125, "0.13"],
    [0.996, ">0.99"],
    [0.9999, ">0.99"],
    [0.001, "<0.01"],
    [0.994, "0.99"],
  ])(
    "of %d is written %s: two places, half up, and only 1 is 1.00 and only 0 is 0.00",
    (score, text) => expect(scoreText(score)).toBe(text),
  );

  it("is right when it passes, whatever it is, and else part or all wrong by how much is right", () => {
    const tone = (score: number, passed: boolean | null) => grade(score, passed).tone;
    expect([
      tone(0.7, true),
      tone(0.7, false),
      tone(0.2, false),
      tone(1, null),
      tone(0.94, null),
      tone(0.4, null),
    ]).toEqual(["right", "part", "wrong", "right", "part", "wrong"]);
  });

  it("of another tool is neither right nor wrong where its file says nothing of passing", () => {
    expect(grade(0, null, true)).toMatchObject({ word: "Score", tone: "muted" });
    expect(grade(0, true, true).tone).toBe("right");
    expect(
      scoreBadge({ ...runRow(1), scoring: "scored", score: 0, passed: null, format: "langfuse" })
        ?.tone,
    ).toBe("muted");
  });

  it("is said with what went wrong, and never where there is none", () => {
    const of = (change: Parameters<typeof runRow>[1]) => scoreBadge(runRow(0, change));
    expect(
      of({
        scoring: "scored",
        score: 0.3,
        passed: false,
        class: "wrong_answer",
        score_reason: "3 of 10 rows right",
      }),
    ).toMatchObject({ tone: "wrong", score: "0.30", word: "Wrong", why: "3 of 10 rows right" });
    expect(
      of({ scoring: "scored", score: 0.9, passed: false, class: "wrong_answer" }),
    ).toMatchObject({ tone: "part", score: "0.90", word: "Partly right" });
    expect(of({ scoring: "scored", score: 0, passed: false, class: "no_answer" })).toMatchObject({
      tone: "wrong",
      score: "0.00",
      word: "No answer",
    });
    expect(of({ scoring: "scored", score: 1, passed: true, class: null })).toMatchObject({
      tone: "right",
      score: "1.00",
      word: "Right",
    });
    expect(of({ scoring: "error", score: null, class: "system_error" })).toMatchObject({
      tone: "err",
      score: "",
      word: "System error",
    });
    expect(of({ scoring: "no_expected", score: null })).toMatchObject({ tone: "muted", score: "" });
    expect(of({ scoring: null, score: null })).toBeNull();
  });

  it("does not say twice that nothing is expected, and says why where that cannot be read", () => {
    const of = (score_reason: string) =>
      scoreBadge(runRow(0, { scoring: "no_expected", score: null, score_reason }));
    expect(of("There is no expected output.")).toMatchObject({
      word: "No expected output",
      why: "",
    });
    expect(of("The expected output is not JSON.")).toMatchObject({
      why: "The expected output is not JSON.",
    });
    expect(scoreBadgeBesideState(runRow(0, { scoring: "not_ended", state: "waiting" }))).toBeNull();
  });

  it("has a word and a shape for everything there can be", () => {
    for (const look of [...Object.values(STANDINGS), ...Object.values(VERDICTS)])
      expect(look.word.length * look.icon.length).toBeGreaterThan(0);
    expect(new Set(Object.values(VERDICTS).map((look) => look.icon)).size).toBe(3);
    expect(new Set(Object.values(CLASSES)).size).toBe(Object.keys(CLASSES).length);
  });

  it("says of scores that others publish that they are compatible by name and rule", () => {
    expect(describeScorer("kendall_tau")).toContain("compatible with");
    expect(describeScorer("text: rouge1")).toContain("compatible with");
    expect(describeScorer("fields")).not.toContain("compatible");
    expect(describeScorer("judge:sopr")).not.toContain("compatible");
  });
});

describe("a stored verdict", () => {
  it.each([
    ["pass", "passes", "right"],
    ["fail", "does not pass", "wrong"],
    ["open", "no verdict", "muted"],
    ["none", "no result", "part"],
    ["error", "evaluator failed", "err"],
  ] as const)("of which %s came is said in words", (result, word, tone) =>
    expect(STORED[result]).toMatchObject({ word, tone }),
  );
  it.each([
    ["0.7027027027027026", "0.703"],
    ["1.0", "1.0"],
    ["0.5", "0.5"],
  ])("of %s is shown as %s", (score, text) =>
    expect(importedText({ word: null, score })).toBe(text),
  );
});

it("evaluators together pass a run only if none of them fails it", () => {
  const said = (...results: StoredResult[]) => {
    const badge = verdictsBadge(countVerdicts(results.map((result) => ({ result }))));
    return badge && `${badge.word} ${badge.tone}`;
  };
  expect([
    said("pass", "pass", "open"),
    said("pass", "fail", "error"),
    said("pass"),
    said("fail", "none"),
    said("error", "open"),
    said("open", "none"),
  ]).toEqual([
    "Passes 2 of 2 evaluators right",
    "Fails 1 of 2 evaluators wrong",
    "Passes its evaluator right",
    "Fails its evaluator wrong",
    "1 evaluator error err",
    null,
  ]);
});
