import { describe, expect, it } from "vitest";
import type { PublishedRow } from "../../generated";
import {
  counted,
  firstMetric,
  judges,
  mean,
  own,
  printed,
  share,
  shown,
  standing,
} from "./published";

const figure = (value: number, deviation: number | null = null) => ({
  value,
  deviation,
  bold: false,
});
const row = (some: Partial<PublishedRow>): PublishedRow => ({
  source: "README.md, line 1",
  standing: "current",
  section: "S",
  metric: "SoPR",
  judge: "gpt-4o",
  against: null,
  system: "a",
  sets: [],
  average: figure(1),
  mean: 1,
  weighted: 1,
  average_is_mean: true,
  ...some,
});

describe("figures", () => {
  it("are written as they are, and what is missing is no zero", () => {
    expect([printed(figure(28, 1.9)), printed(figure(45.44)), printed(undefined)]).toEqual([
      "28.0 ± 1.9",
      "45.4",
      "–",
    ]);
    const ours = { value: 41.234, low: 33, high: 49.94, n: 120, of: 163 };
    expect([own(ours), own({ ...ours, low: null, high: null }), own(null)]).toEqual([
      "41.2 (33.0–49.9)",
      "41.2",
      "–",
    ]);
    expect([counted(ours), counted({ ...ours, n: 163 }), counted(null)]).toEqual([
      "n 120 of 163",
      "n 163",
      "",
    ]);
    expect([
      share({ count: 3, of: 4, percentage: 75, low: 30.06, high: 95.44 }),
      share(null),
    ]).toEqual(["3 of 4, 75.0 % (30.1–95.4)", "–"]);
    expect([
      mean({ value: 0.75, low: 0.5, high: 1, n: 2 }),
      mean({ value: 0.75, low: null, high: null, n: 1 }),
      mean(null),
    ]).toEqual(["0.75 (0.50–1.00)", "0.75", "–"]);
  });
});

describe("rows", () => {
  const rows = [
    row({}),
    row({ judge: null, standing: "hidden" }),
    row({ standing: "legacy", judge: null }),
    row({ metric: "FAC", judge: "f" }),
  ];
  it("are those of the measure, of the judge, and current unless older ones are asked for", () => {
    expect(shown(rows, "SoPR", "", false)).toEqual([rows[0]]);
    expect(shown(rows, "SoPR", "", true)).toEqual(rows.slice(0, 3));
    expect(shown(rows, "SoPR", "unknown", true)).toEqual(rows.slice(1, 3));
    expect(judges(rows, "SoPR")).toEqual(["gpt-4o", "unknown"]);
    expect(rows.map(standing)).toEqual([
      "",
      "hidden in the source (older judge)",
      "earlier results",
      "",
    ]);
  });
  it("begin with a measure that one's own runs have", () => {
    const told = {
      generation: 1,
      here: true,
      sets: [],
      rows,
      own: [],
      summaries: [],
      notes: [],
      misread: [],
    };
    const ours = {
      name: "a/b",
      metric: "FAC",
      scorer: "judge:fac",
      sets: [],
      mean: null,
      all: { value: 1, low: null, high: null, n: 1, of: 1 },
    };
    expect([
      firstMetric(undefined),
      firstMetric(told),
      firstMetric({ ...told, own: [ours] }),
    ]).toEqual(["SoPR", "SoPR", "FAC"]);
  });
});
