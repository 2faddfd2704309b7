import { describe, expect, it } from "vitest";
import type { Agreement, Judged, Rater, Trust } from "../generated";
import {
  intervalText,
  isJudge,
  kappaText,
  notCounted,
  shownPair,
  agreementWithPeople,
} from "./trust";

const rater = (id: string, change: Partial<Rater> = {}): Rater => ({
  id,
  name: id,
  runs: 12,
  reviewed: 12,
  stale: 0,
  unread: 0,
  ...change,
});
const pair = (first: string, second: string, change: Partial<Agreement> = {}): Agreement => ({
  first: rater(first),
  second: rater(second),
  n: 12,
  same: 10,
  kappa: 9 / 13,
  interval: [0.34, 1],
  weighted: null,
  words: "good",
  few: false,
  said: ["right", "wrong"],
  table: [
    [7, 1],
    [1, 3],
  ],
  disagreements: [],
  disagreements_total: 2,
  ...change,
});
const trust = (...pairs: Agreement[]): Trust => ({
  raters: [],
  pairs,
  reviewed: 12,
  notes: [],
  unreadable: 0,
});
const judged = { judge: "sopr", model: "a:b", official: false } as Judged;

describe("numbers of agreement", () => {
  it("are said with two places, and none is 1 that is not", () => {
    expect([null, 1, 0.999, 9 / 13, 0, -0.001, -0.333].map(kappaText)).toEqual([
      "–",
      "1.00",
      ">0.99",
      "0.69",
      "0.00",
      "0.00",
      "−0.33",
    ]);
    expect([intervalText(null), intervalText([-0.1, 0.5])]).toEqual(["–", "−0.10 to 0.50"]);
  });
  it("say what does not count", () => {
    expect([
      notCounted(rater("x")),
      notCounted(rater("x", { stale: 2 })),
      notCounted(rater("x", { stale: 1, unread: 3 })),
    ]).toEqual(["", "2 stale", "1 stale, 3 without a verdict"]);
  });
});

describe("the pair that is shown", () => {
  const all = trust(
    pair("people", "score"),
    pair("people", "sopr:ours:m"),
    pair("score", "sopr:ours:m"),
  );
  it("is the chosen one, else people with a judge, else the first", () => {
    expect(shownPair(all, "score", "sopr:ours:m")?.first.id).toBe("score");
    expect(shownPair(all, "gone", "gone")?.second.id).toBe("sopr:ours:m");
    expect(shownPair(trust(pair("people", "score")), "", "")?.second.id).toBe("score");
    expect(shownPair(trust(), "", "")).toBeUndefined();
    expect(
      shownPair(
        trust(pair("people", "score"), pair("people", "stored:f1"), pair("score", "stored:f1")),
        "",
        "",
      )?.second.id,
    ).toBe("stored:f1");
    expect(["people", "score", "sopr:ours:m", "stored:f1"].map((id) => isJudge(rater(id)))).toEqual(
      [false, false, true, false],
    );
  });
});

describe("a judge beside its verdict", () => {
  it("says how far it agrees with people, and nothing where nobody knows", () => {
    expect(agreementWithPeople(trust(pair("people", "sopr:ours:a:b")), judged)?.text).toBe(
      "agreement with people: κ 0.69 of 12 runs, good",
    );
    expect(agreementWithPeople(trust(pair("people", "sopr:official:a:b")), judged)).toBeNull();
    expect(agreementWithPeople(undefined, judged)).toBeNull();
    const few = trust(
      pair("people", "sopr:ours:a:b", { n: 3, same: 2, words: "too few to tell", few: true }),
    );
    expect(agreementWithPeople(few, judged)?.text).toBe(
      "agreement with people: 2 of 3 equal, too few to tell",
    );
  });
});
