import { describe, expect, it } from "vitest";
import { evaluation } from "../testing/evaluate";
import { judging } from "../testing/judge";
import { launched, launchRun } from "../testing/launch";
import {
  describeActivity,
  evaluationsSummary,
  launchesSummary,
  judgingsSummary,
  formatSpent,
  formatUnpriced,
} from "./launches";

describe("launches in brief", () => {
  it("are nothing when none is at work", () =>
    expect([launchesSummary([]), launchesSummary([launched("a", { state: "done" })])]).toEqual([
      null,
      null,
    ]));
  it("are summed up, and lead to the newest that is at work", () => {
    const all = [
      launched("c", { state: "stopped", cost: 9 }),
      launched("b", { running: 2, cost: 0.4 }),
      launched("a", { running: 1, cost: 0.1, state: "stopping" }),
    ];
    expect(launchesSummary(all)).toEqual({ launch: "b", text: "3 running, 6 of 20 · $0.500" });
  });
  it("that only finish what is in flight are stopping", () =>
    expect(launchesSummary([launched("a", { state: "stopping" })])?.text).toContain("stopping"));
  it("without a known price say so, and never $0", () =>
    expect(launchesSummary([launched("a", { cost: 0, unpriced: 3 })])?.text).toContain(
      "cost unknown",
    ));
});

describe("evaluations in brief", () => {
  it("are nothing when none is at work", () =>
    expect([evaluationsSummary([]), evaluationsSummary([evaluation("a")])]).toEqual([null, null]));
  it.each([
    [
      [evaluation("b", { state: "running" }), evaluation("a")],
      { evaluation: "b", text: "evaluation running, 16 of 16" },
    ],
    [
      [evaluation("a", { state: "stopping", done: 3, failed: 0 })],
      { evaluation: "a", text: "evaluation stopping, 3 of 16" },
    ],
    [
      [evaluation("b", { state: "stopping" }), evaluation("a", { state: "running", done: 1 })],
      { evaluation: "b", text: "2 evaluations running, 19 of 32" },
    ],
  ])("are summed up, and lead to the newest that is at work", (all, brief) =>
    expect(evaluationsSummary(all)).toEqual(brief),
  );
});

describe("judging in brief", () => {
  it("is nothing when none is at work", () =>
    expect([judgingsSummary([]), judgingsSummary([judging("a", { state: "done" })])]).toEqual([
      null,
      null,
    ]));
  it.each([
    [
      [judging("a", { done: 2, failed: 1, skipped: 1 })],
      { judging: "a", text: "judging running, 4 of 9 · $0.0100" },
    ],
    [
      [judging("b", { state: "stopping" }), judging("a", { unpriced: true, cost: 0 })],
      { judging: "b", text: "2 judgings running, 0 of 18 · $0.0100" },
    ],
    [
      [judging("a", { state: "stopping", cost: 0, unpriced: true })],
      { judging: "a", text: "judging stopping, 0 of 9 · cost unknown" },
    ],
  ])("is summed up with what it costs, and leads to the newest that is at work", (all, brief) =>
    expect(judgingsSummary(all)).toEqual(brief),
  );
});

describe("money", () => {
  it.each([
    [{ cost: 0.42, max_cost: null, unpriced: 0 }, "$0.420", ""],
    [
      { cost: 0.42, max_cost: 5, unpriced: 1 },
      "$0.420 of $5.00",
      "without 1 reply of unknown cost",
    ],
    [{ cost: 0, max_cost: null, unpriced: 2 }, "unknown", "without 2 replies of unknown cost"],
    [{ cost: 0, max_cost: null, unpriced: 0 }, "$0.00", ""],
  ])("of %j is %s", (launch, words, rest) =>
    expect([formatSpent(launch), formatUnpriced(launch)]).toEqual([words, rest]),
  );
});

describe("what a run at work does", () => {
  it.each([
    [launchRun(1), "turn 2 · asking claude"],
    [launchRun(1, { turn: 0, doing: null }), "starting"],
    [launchRun(1, { state: "waiting" }), ""],
  ])("is told in a line", (run, words) => expect(describeActivity(run)).toBe(words));
});
