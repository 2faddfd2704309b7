import { describe, expect, it } from "vitest";
import { CHANGES, trendChange, trendPoint } from "../testing/history";
import {
  aboutClaims,
  changed,
  changeRows,
  changeText,
  measureText,
  outcomeText,
  pointFigure,
  seriesText,
  taskOf,
  withTask,
} from "./history";

describe("filters of a task", () => {
  it("replaces the task and keeps all else", () => {
    expect(withTask("model:o1", "refunds")).toBe("model:o1 task:refunds");
    expect(withTask('task:"a \\" b" model:o1', "c")).toBe("model:o1 task:c");
    expect(withTask("model:o1 task:a,b x", "")).toBe("model:o1  x");
    expect(withTask("-task:a", "b")).toBe("-task:a task:b");
  });
  it("finds the task of a filter", () => {
    expect(taskOf('model:o1 task:"a b"')).toBe('"a b"');
    expect(taskOf("-task:a subtask:b")).toBe("");
  });
});

describe("words", () => {
  it("never says a change that is not shown", () => {
    expect(changeText(trendChange())).toBe("worse: −0.50 (−0.80 to −0.20)");
    expect(changeText(trendChange({ shown: "unclear", low: null }))).toBe("no change shown: −0.50");
    expect(changeText(trendChange({ pairs: 0 }))).toBe("no task in common");
    expect(changeText(trendChange({ pairs: 0, not_comparable: 12 }))).toBe(
      "none comparable: 12 tasks with another text, expected output or scorer",
    );
  });
  it("says where a series begins", () => {
    expect(seriesText(trendPoint(1))).toBe("");
    expect(seriesText(trendPoint(1, { new_series: 1 }))).toBe(
      "Not compared before: 1 task with another text, expected output or scorer",
    );
  });
  it("counts the tasks that need more time, and knows no amount that is missing", () => {
    const { score, seconds, cost } = CHANGES.groups[0] ?? {
      score: null,
      seconds: null,
      cost: null,
    };
    expect(measureText(score, "score")).toBe("worse: −0.50 (−0.80 to −0.20), in 6 of 12");
    expect(measureText(seconds && { ...seconds, shown: "unclear" }, "seconds")).toBe(
      "no change shown: +3.0 s (+1.0 s to +5.0 s), slower in 9 of 12",
    );
    expect(measureText(cost, "cost")).toBe("–");
  });
  it("counts each changed task once and lists the worst first", () => {
    const [group] = CHANGES.groups;
    expect(group && changed(group, "failed", "errors")).toBe(2);
    expect(changeRows(CHANGES.groups).map((row) => row.task.change)).toEqual([
      "failed",
      "errors",
      "fixed",
    ]);
  });
  it("tells runs without a score from failed ones", () => {
    expect(outcomeText(null)).toBe("no run");
    expect(outcomeText({ runs: 2, score: null, passed: 0, decided: 0 })).toBe("2 runs, no score");
    expect(outcomeText({ runs: 3, score: 0.4, passed: 1, decided: 3 })).toBe("1 of 3 passed");
    expect(outcomeText({ runs: 3, score: 0.4, passed: 0, decided: 0 })).toBe("0.40");
  });
  it("divides the 5 % among all comparisons", () => {
    expect(aboutClaims(20, "day")).toContain("the 20 comparisons here (0.25 %)");
    expect(aboutClaims(0, "tag")).toContain("no change is told");
    expect(aboutClaims(1, "day")).toContain("95 % interval");
  });
  it("has no figure for a measure that no run has", () => {
    expect(pointFigure(trendPoint(0), "seconds")).toBeNull();
    expect(pointFigure(trendPoint(0), "score")).toMatchObject({ value: 0.75, unknown: 1 });
  });
});
